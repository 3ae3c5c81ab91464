"""The label bias problem: the rib/rob example of 002 §II-B3 and §III-C, the simulation of 000 §4.4.

A conditional Markov model (CMM) multiplies p(y′ | y, x′): where a label has one successor only, this is 1
whatever x′ is, and the word is not looked at. Co-occurrence rates have no such local condition on a label.
"""

from __future__ import annotations

import argparse
import math
import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from statistics import mean, stdev
from typing import Any

import numpy as np

from corate import EmpiricalCRF
from corate.evaluation.significance import Outcomes, outcomes
from experiments.measure import DONE, comparisons
from experiments.models import MODELS, title_of
from experiments.published import LABEL_BIAS, with_papers
from lab import terminal
from lab.corpora import Part
from lab.store import Record, pack
from lab.tables import Table, figure, published

# A label emits its own symbol with probability 29/32, each of the other three with 1/32.
SYMBOLS = "riob"
SYMBOL_OF = {"R1": "r", "R2": "r", "I": "i", "O": "o", "B": "b"}
EMISSIONS = {label: own * 28 + SYMBOLS for label, own in SYMBOL_OF.items()}
SEQUENCES = (["R1", "I", "B"], ["R2", "O", "B"])
N_TRAIN, N_TEST, ROUNDS = 1000, 250, 10
CMM = "cmm"
ANSWERS = ("YOB", "XIB")
TRAINED = ("separate", "crf-tuned", "pw", "hmm", "memm", "maxent")
ROWS = {"EP1": "ep1", "EP2": "ep2", "ECRN": "ecrn", "CRF++": "crf-tuned", "PW": "pw", "MEMM": "memm"}

# Only the middle symbol tells the two sequences apart. It is the own one 29 times in 32, and 2 times in 32 it
# says nothing and half of the guesses are right: 30/32. In a wrong sequence, one label of three (B) is right.
OPTIMUM = 30 / 32 + 2 / 32 * 1 / 3
# A model that does not look at the middle symbol takes every other sequence for the wrong one.
BLIND = 1 / 2 + 1 / 2 * 1 / 3

RIB_ROB = (("rib", "XIB", 11), ("rob", "YOB", 9), ("rob", "XIB", 1))
RIB_ROB_PUBLISHED = {"ecrn": {"YOB": "9/10", "XIB": "1/10"}, CMM: {"YOB": "9/21", "XIB": "12/21"}}

NOTES = f"""
{N_TRAIN} training pairs and {N_TEST} test pairs for each of two label sequences (000 §4.4), {ROUNDS} rounds.
rib/rob (002): 11 × (rib : XIB), 9 × (rob : YOB), 1 × (rob : XIB).
Seeds 0 to {ROUNDS - 1}; s.d. is the standard deviation of one round, that of the mean is a third of it.
No model can expect more than {OPTIMUM:.2%}; one that is blind to the middle symbol gets {BLIND:.2%}.
EP1 and ECRN are given both words in φ, as in 000 eqn 13; they differ at unknown words only, and there are
  none here: their figures must be equal. "Label pairs" is the form that the papers take for POS and NER.
MaxEnt labels every symbol for itself: it reads the middle one and guesses the first.
The counted CMM is 002 eqn 2 by relative frequencies, the MEMM the same as a maximum entropy model.
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


def rib_rob() -> dict[str, dict[str, float | Fraction]]:
    """p(YOB | rob) and p(XIB | rob) of every model that gives probabilities."""
    part = Part.of((list(words), list(labels)) for words, labels, n in RIB_ROB for _ in range(n))
    found: dict[str, dict[str, float | Fraction]] = {}
    for key, crf in models().items():
        crf.fit(part.words, part.labels)
        found[key] = {y: math.exp(crf.log_prob([list("rob")], [list(y)])[0]) for y in ANSWERS}
    cmm = ConditionalMarkov(part)
    return found | {CMM: {y: cmm.prob("rob", y) for y in ANSWERS}}


def simulate(n: int, rng: random.Random) -> Part:
    """n pairs for each of the two label sequences."""
    return Part.of(
        ([rng.choice(EMISSIONS[label]) for label in labels], labels) for labels in SEQUENCES for _ in range(n)
    )


def models() -> dict[str, Any]:
    return {
        "ep1": EmpiricalCRF(unknown="mean", pair="word"),
        "ep1-label": EmpiricalCRF(unknown="mean", pair="label"),
        "ecrn": EmpiricalCRF(unknown="signature", pair="word"),
        "ep2": EmpiricalCRF(unknown="maxent", pair="word"),
        **{key: MODELS[key].made() for key in TRAINED},
    }


def one_round(seed: int) -> dict[str, Outcomes]:
    """What every model has right."""
    rng = random.Random(seed)
    train, test = simulate(N_TRAIN, rng), simulate(N_TEST, rng)
    fitted = {key: crf.fit(train.words, train.labels) for key, crf in models().items()}
    fitted[CMM] = ConditionalMarkov(train)
    return {key: outcomes(test.labels, crf.predict(test.words)) for key, crf in fitted.items()}


def collect(options: argparse.Namespace) -> Record:
    rounds = [one_round(seed) for seed in range(ROUNDS)]
    records = {key: _pooled([each[key] for each in rounds]) for key in rounds[0]}
    lengths = np.concatenate([each[CMM].lengths for each in rounds]).tolist()
    return {
        "experiment": "label_bias",
        "rounds": ROUNDS,
        "optimum": 100 * OPTIMUM,
        "blind": 100 * BLIND,
        "models": records,
        "lengths": lengths,
        "comparisons": comparisons(records, lengths),
        "rib_rob": {key: {y: float(p) for y, p in of.items()} for key, of in rib_rob().items()},
        "rib_rob_published": RIB_ROB_PUBLISHED,
        "published": LABEL_BIAS,
    }


def _pooled(rounds: Sequence[Outcomes]) -> Record:
    rates = [100 * each.accuracy for each in rounds]
    return {
        "status": DONE,
        "rounds": rates,
        "overall": mean(rates),
        "deviation": stdev(rates),
        "right": pack(np.concatenate([each.right for each in rounds])),
        "spans": None,
    }


def tables(found: Record) -> list[Table]:
    """Right labels of the simulation, and what "rob" is, published beside ours."""
    methods = {ROWS.get(method, method): method for method in found["published"]}
    rows = []
    for key in [*found["models"], *(key for key in methods if key not in found["models"])]:
        cells = [figure(found, "{:.2f}", "models", key, metric) for metric in ("overall", "deviation")]
        cells.append(published(found, "{:.1f}", "published", methods.get(key, ""), "overall"))
        for answer in ANSWERS:
            cells.append(figure(found, "{:.4f}", "rib_rob", key, answer))
            cells.append(published(found, "{}", "rib_rob_published", key, answer))
        rows.append((title_of(key), cells))
    groups = [("labels right, %", 3), *((f"p({answer} | rob)", 2) for answer in ANSWERS)]
    caption = "Label bias; published: 000 Tab. 1, 002 Tab. II, §II-B3, §III-C"
    return [
        Table(caption, ["model", "mean", "s.d. of a round", "publ.", *["here", "publ."] * 2], rows, groups)
    ]


def main() -> None:
    parser = terminal.arguments(__doc__, "experiments.label_bias", data=terminal.OWN_DATA)
    terminal.show(parser, collect, tables, with_papers(NOTES))


if __name__ == "__main__":
    terminal.run(main)
