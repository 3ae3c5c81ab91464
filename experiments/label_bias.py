"""The label bias problem: the rib/rob example of 002 §II-B3 and §III-C, the simulation of 000 §4.4.

A conditional Markov model (CMM) multiplies p(y′ | y, x′): where a label has one successor only, this is 1
whatever x′ is, and the word is not looked at. Co-occurrence rates have no such local condition on a label.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from statistics import mean, stdev

import terminal
from corate import EmpiricalCRF
from corpora import Part
from published import LABEL_BIAS

# A label emits its own symbol with probability 29/32, each of the other three with 1/32.
SYMBOLS = "riob"
SYMBOL_OF = {"R1": "r", "R2": "r", "I": "i", "O": "o", "B": "b"}
EMISSIONS = {label: own * 28 + SYMBOLS for label, own in SYMBOL_OF.items()}
SEQUENCES = (["R1", "I", "B"], ["R2", "O", "B"])
N_TRAIN, N_TEST, ROUNDS = 1000, 250, 10
CMM = "CMM"

# Only the middle symbol tells the two sequences apart. It is the own one 29 times in 32, and 2 times in 32 it
# says nothing and half of the guesses are right: 30/32. In a wrong sequence, one label of three (B) is right.
OPTIMUM = 30 / 32 + 2 / 32 * 1 / 3
# A model that does not look at the middle symbol takes every other sequence for the wrong one.
BLIND = 1 / 2 + 1 / 2 * 1 / 3

RIB_ROB = (("rib", "XIB", 11), ("rob", "YOB", 9), ("rob", "XIB", 1))

NOTES = f"""
Seeds 0 to {ROUNDS - 1}; s.d. is the standard deviation of one round, that of the mean is a third of it.
No model can expect more than {OPTIMUM:.2%}; one that is blind to the middle symbol gets {BLIND:.2%}.
pair="word" is the papers' φ, given both words (000 eqn 13); pair="label" is what they take for POS and NER.
EP1 and ECRN differ at unknown words only, and there are none here: their figures must be equal.
CMM is the conditional Markov model by counting (002 eqn 2); EP2, CRF++, PW and MEMM are quoted, not run.
"""


class ConditionalMarkov:
    """p(y | x) = p(y₁ | x₁) ∏ᵢ p(yᵢ₊₁ | yᵢ, xᵢ₊₁), by relative frequencies (002 eqn 2)."""

    def __init__(self, part: Part) -> None:
        self.labels = sorted(part.label_set())
        self.counts: Counter[tuple[str, ...]] = Counter()
        for words, labels in zip(part.words, part.labels, strict=True):
            for before, word, label in zip(["", *labels], words, labels, strict=False):
                self.counts[before, word] += 1
                self.counts[before, word, label] += 1

    def prob(self, words: Sequence[str], labels: Sequence[str]) -> Fraction:
        p = Fraction(1)
        for before, word, label in zip(["", *labels], words, labels, strict=False):
            p *= Fraction(self.counts[before, word, label], max(1, self.counts[before, word]))
        return p

    def predict(self, X: Sequence[Sequence[str]]) -> list[list[str]]:
        best = {words: self._best(words) for words in set(map(tuple, X))}
        return [best[tuple(words)] for words in X]

    def _best(self, words: Sequence[str]) -> list[str]:
        best = max(product(self.labels, repeat=len(words)), key=lambda labels: self.prob(words, labels))
        return list(best)


def rib_rob() -> dict[str, tuple[float, Fraction]]:
    """p(YOB | rob) and p(XIB | rob): by ECRN, and by the conditional Markov model."""
    part = Part.of((list(words), list(labels)) for words, labels, n in RIB_ROB for _ in range(n))
    ecrn = EmpiricalCRF(unknown="signature", pair="word").fit(part.words, part.labels)
    cmm = ConditionalMarkov(part)
    return {
        y: (math.exp(ecrn.log_prob([list("rob")], [list(y)])[0]), cmm.prob("rob", y)) for y in ("YOB", "XIB")
    }


def simulate(n: int, rng: random.Random) -> Part:
    """n pairs for each of the two label sequences."""
    return Part.of(
        ([rng.choice(EMISSIONS[label]) for label in labels], labels) for labels in SEQUENCES for _ in range(n)
    )


def models() -> dict[str, EmpiricalCRF]:
    return {
        f'{name}, pair="{pair}"': EmpiricalCRF(unknown=unknown, pair=pair)
        for name, unknown in (("EP1", "mean"), ("ECRN", "signature"))
        for pair in ("word", "label")
    }


def one_round(seed: int) -> dict[str, float]:
    """Accuracy on labels of every model."""
    rng = random.Random(seed)
    train, test = simulate(N_TRAIN, rng), simulate(N_TEST, rng)
    predicted = {
        name: crf.fit(train.words, train.labels).predict(test.words) for name, crf in models().items()
    }
    predicted[CMM] = ConditionalMarkov(train).predict(test.words)
    return {name: accuracy(test.labels, labels) for name, labels in predicted.items()}


def accuracy(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    hits = [a == b for g, p in zip(gold, predicted, strict=True) for a, b in zip(g, p, strict=True)]
    return sum(hits) / len(hits)


def print_rib_rob() -> None:
    found = rib_rob()
    columns = [
        terminal.Column("ECRN", terminal.HERE, {y: f"{p:.12f}" for y, (p, _) in found.items()}),
        terminal.Column("ECRN", "002 §III-C", {"YOB": "9/10", "XIB": "1/10"}),
        terminal.Column("CMM", terminal.HERE, {y: f"{21 * p}/21" for y, (_, p) in found.items()}),
        terminal.Column("CMM", "002 §II-B3", {"YOB": "9/21", "XIB": "12/21"}),
    ]
    title = "rib/rob: 11 × (rib : XIB), 9 × (rob : YOB), 1 × (rob : XIB)"
    terminal.print_table(title, {"YOB": "p(YOB | rob)", "XIB": "p(XIB | rob)"}, columns)


def print_simulation(rounds: Sequence[dict[str, float]]) -> None:
    values = {name: [100 * each[name] for each in rounds] for name in rounds[0]}
    here = {name: f"{mean(v):.2f} ± {stdev(v):.2f}" for name, v in values.items()}
    published = [
        terminal.Column(
            "mean", table.source, _by_row(dict(zip(table.methods, table.rows["overall"], strict=True)))
        )
        for table in LABEL_BIAS
    ]
    rows = {name: name for name in [*values, "EP2", "CRF++", "PW"]} | {CMM: "CMM (published: MEMM)"}
    title = f"Accuracy on labels, %: 2 × {N_TRAIN} training pairs, 2 × {N_TEST} test pairs, {ROUNDS} rounds"
    terminal.print_table(title, rows, [terminal.Column("mean ± s.d.", terminal.HERE, here), *published])


def _by_row(figures: dict[str, float]) -> dict[str, str]:
    """The papers' factors are conditioned on both words (000 eqn 13): their figures belong to pair="word"."""
    row_of = {"EP1": 'EP1, pair="word"', "ECRN": 'ECRN, pair="word"', "MEMM": CMM}
    return {row_of.get(name, name): f"{figure}" for name, figure in figures.items()}


def main() -> None:
    terminal.simulated(__doc__, "label_bias.py").parse_args()
    print_rib_rob()
    print_simulation([one_round(seed) for seed in range(ROUNDS)])
    terminal.print_notes(NOTES)


if __name__ == "__main__":
    terminal.run(main)
