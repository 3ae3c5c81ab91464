"""The two parameterizations that do not work: 000 §3.2.1, eqns 10 and 11.

Both write the same probability without co-occurrence rates, and give each factor parameters of its own.

    (10)  ∏ P(yᵢ, yᵢ₊₁ | x) / ∏ P(yⱼ | x)        the denominator is a parameter: it is driven to zero
    (11)  P(y₁, y₂ | x) ∏ P(yᵢ₊₁ | yᵢ, x)        local conditional probabilities: label bias

Data are simulated as for the label bias. For (10) the first symbol tells the sequences apart and the middle
one, whose label stands in the denominator, does not. For (11) the middle one does: once as the second symbol,
which the first factor still sees, and once as the third, with a label in front that says nothing.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise, product
from math import inf, log

import numpy as np
from scipy.optimize import minimize

from corate import EmpiricalCRF
from corate.arrays import Float
from corate.evaluation.significance import outcomes
from experiments.label_bias import EMISSIONS, N_TEST, N_TRAIN, SEQUENCES
from experiments.published import with_papers
from lab import terminal
from lab.corpora import Part
from lab.store import Record
from lab.tables import Table, figure

# Label sequences, and how many thousands of each are drawn for training.
FIRST_DECIDES = ((["I", "R1", "B"], 1.2), (["O", "R2", "B"], 0.8))
SECOND_DECIDES = tuple((labels, 1.0) for labels in SEQUENCES)
THIRD_DECIDES = tuple((["S", *labels], 1.0) for labels in SEQUENCES)
SYMBOLS_OF = {**EMISSIONS, "S": "s"}
STEPS = (0, 5, 10, 20, 40, 80)
SEED = 0

Tokens = Sequence[str]
Tally = Counter[tuple[str, ...]]
Score = Callable[[Tokens, Tokens], float]  # the log of a label sequence's score


def simulate(kinds: Sequence[tuple[list[str], float]], n: int, rng: random.Random) -> Part:
    drawn = [(labels, round(n * share)) for labels, share in kinds]
    return Part.of(
        ([rng.choice(SYMBOLS_OF[label]) for label in labels], labels)
        for labels, times in drawn
        for _ in range(times)
    )


class Frequencies:
    """Relative frequencies of labels, of label pairs given words, and of labels given the one before."""

    def __init__(self, part: Part) -> None:
        self.unary: Tally = Counter()  # word, label
        self.middle: Tally = Counter()  # neither first nor last: the denominator of (10)
        self.pair: Tally = Counter()  # two words, two labels
        self.given: Tally = Counter()  # label before, word, label
        for words, labels in zip(part.words, part.labels, strict=True):
            tokens = list(zip(words, labels, strict=True))
            self.unary.update(tokens)
            self.middle.update(tokens[1:-1])
            self.pair.update((x, x2, y, y2) for (x, y), (x2, y2) in pairwise(tokens))
            self.given.update((y, x2, y2) for (_, y), (x2, y2) in pairwise(tokens))
        self.totals: Counter[tuple[str, ...]] = Counter()
        for name in ("unary", "pair", "given"):
            for key, n in getattr(self, name).items():
                self.totals[self.condition(name, key)] += n

    @staticmethod
    def condition(name: str, key: tuple[str, ...]) -> tuple[str, ...]:
        """Of a table: the words of a key (and, if given, the label before)."""
        return (name, *key[: 2 if len(key) > 2 else 1])

    def p(self, name: str, *key: str) -> float:
        """The share of a key among those with the same condition."""
        total = self.totals[self.condition(name, key)]
        times: int = getattr(self, name)[key]
        return times / total if total else 0.0


class Equation10:
    """log ψ(y, x) = θ(y, x) − log Σ exp θ(·, x); the likelihood grows as #(y, x) log ψ(y, x) falls.

    The pair factors are at their optimum, P̃(y, y′ | x, x′), from the start: only ψ is left to move.
    """

    def __init__(self, part: Part) -> None:
        self.counts = Frequencies(part)
        self.seen = sorted(self.counts.unary)
        self.start = np.log([self.counts.p("unary", *key) for key in self.seen])
        self.wanted = np.array([self.counts.middle[key] for key in self.seen], float)
        _, self.firsts, self.word_of = np.unique(
            [word for word, _ in self.seen], return_index=True, return_inverse=True
        )
        self.of_word = np.add.reduceat(self.wanted, self.firsts)[self.word_of]
        self.pairs = sum(n * log(self.counts.p("pair", *key)) for key, n in self.counts.pair.items())
        self.n = len(part.words)

    def log_psi(self, theta: Float) -> Float:
        return np.asarray(theta - np.logaddexp.reduceat(theta, self.firsts)[self.word_of])

    def loss(self, theta: Float) -> tuple[float, Float]:
        """Minus the log of (10) on the training data, a sequence's share of it, and its slope."""
        log_psi = self.log_psi(theta)
        value = (float(self.wanted @ log_psi) - self.pairs) / self.n
        return value, (self.wanted - self.of_word * np.exp(log_psi)) / self.n

    def lbfgs(self) -> str:
        """What the optimiser says of it."""
        found = minimize(self.loss, self.start, jac=True, method="L-BFGS-B")
        steps = f"{found.nit} step{'' if found.nit == 1 else 's'}"
        return f"{'converged' if found.success else 'gave up'} after {steps}"

    def after(self, steps: int) -> Float:
        """θ after so many steps up the slope, from the empirical probabilities on."""
        theta = self.start
        for _ in range(steps):
            theta = theta - self.loss(theta)[1]
        return theta

    def score(self, theta: Float) -> Score:
        psi = dict(zip(self.seen, self.log_psi(theta).tolist(), strict=True))

        def of(words: Tokens, labels: Tokens) -> float:
            tokens = list(zip(words, labels, strict=True))
            pairs = [self.counts.p("pair", x, x2, y, y2) for (x, y), (x2, y2) in pairwise(tokens)]
            return _log_product(pairs) - sum((psi.get(token, 0.0) for token in tokens[1:-1]), 0.0)

        return of


def equation_11(part: Part) -> Score:
    counts = Frequencies(part)

    def of(words: Tokens, labels: Tokens) -> float:
        first = counts.p("pair", words[0], words[1], labels[0], labels[1])
        later = zip(labels[1:], words[2:], labels[2:], strict=False)
        return _log_product([first, *(counts.p("given", *key) for key in later)])

    return of


def _log_product(factors: Sequence[float]) -> float:
    return sum(map(log, factors)) if all(factors) else -inf


def judge(score: Score, test: Part) -> tuple[float, float]:
    """Accuracy in percent, and log Z, the mean of the log of all label sequences' scores together."""
    labels = sorted(test.label_set())
    best: dict[tuple[str, ...], tuple[str, ...]] = {}
    log_z: dict[tuple[str, ...], float] = {}
    for words in set(map(tuple, test.words)):
        scores = {y: score(words, y) for y in product(labels, repeat=len(words))}
        best[words] = max(scores, key=scores.__getitem__)
        log_z[words] = float(np.logaddexp.reduce(list(scores.values())))
    predicted = [list(best[tuple(words)]) for words in test.words]
    zs = [log_z[tuple(words)] for words in test.words]
    return 100 * outcomes(test.labels, predicted).accuracy, sum(zs) / len(zs)


def empirical(train: Part, test: Part) -> float:
    """Accuracy of EP1, with co-occurrence rates: what the two are compared with."""
    crf = EmpiricalCRF(unknown="mean", pair="word").fit(train.words, train.labels)
    return 100 * crf.score(test.words, test.labels)


def collect(options: argparse.Namespace) -> Record:
    return {
        "experiment": "parameterizations",
        "equation_10": _collect_10(),
        "equation_11": [_collect_11(kinds) for kinds in (SECOND_DECIDES, THIRD_DECIDES)],
    }


def _collect_10() -> Record:
    rng = random.Random(SEED)
    train, test = simulate(FIRST_DECIDES, N_TRAIN, rng), simulate(FIRST_DECIDES, N_TEST, rng)
    model = Equation10(train)
    steps = []
    for n in STEPS:
        theta = model.after(n)
        accuracy, log_z = judge(model.score(theta), test)
        psi = np.exp(model.log_psi(theta))
        steps.append(
            {
                "steps": n,
                "log_likelihood": -model.loss(theta)[0],
                "deviation": float(np.abs(psi - np.exp(model.start)).max()),
                "log_z": log_z,
                "overall": accuracy,
            }
        )
    return {"lbfgs": model.lbfgs(), "steps": steps, "ep1": empirical(train, test)}


def _collect_11(kinds: Sequence[tuple[list[str], float]]) -> Record:
    rng = random.Random(SEED)
    train, test = simulate(kinds, N_TRAIN, rng), simulate(kinds, N_TEST, rng)
    return {
        "sequences": [" ".join(labels) for labels, _ in kinds],
        "equation_11": judge(equation_11(train), test)[0],
        "ep1": empirical(train, test),
    }


HEADS = {
    "log_likelihood": ("log “likelihood”", "{:.2f}"),
    "deviation": ("largest |ψ − P̃|", "{:.3f}"),
    "log_z": ("log Z", "{:.2f}"),
    "overall": ("accuracy, %", "{:.2f}"),
}

NOTES = """
000 §3.2.1, eqns 10 and 11.
A probability would have log likelihoods below 0 and log Z = 0. The denominator of (10) is rewarded for being
small: there is no maximum, the score stops being a probability, and the label that is most frequent with the
word wins whatever stands beside it. (11) is a probability and has a closed form; it is blind to a word once
the label before allows one successor only.
"""


def tables(found: Record) -> list[Table]:
    ten, eleven = found["equation_10"], found["equation_11"]
    steps = [
        (
            f"after {step['steps']} steps",
            [figure(found, form, "equation_10", "steps", i, key) for key, (_, form) in HEADS.items()],
        )
        for i, step in enumerate(ten["steps"])
    ]
    chains = [
        (
            " or ".join(chain["sequences"]),
            [figure(found, "{:.2f}", "equation_11", i, key) for key in ("equation_11", "ep1")],
        )
        for i, chain in enumerate(eleven)
    ]
    caption = (
        f"Equation 10, from the empirical probabilities on (L-BFGS {ten['lbfgs']}; EP1: {ten['ep1']:.2f})"
    )
    return [
        Table(caption, ["training", *(head for head, _ in HEADS.values())], steps),
        Table("Equation 11: accuracy, %", ["data", "equation 11", "EP1"], chains),
    ]


def main() -> None:
    parser = terminal.arguments(__doc__, "experiments.parameterizations", data=terminal.OWN_DATA)
    terminal.show(parser, collect, tables, with_papers(NOTES))


if __name__ == "__main__":
    terminal.run(main)
