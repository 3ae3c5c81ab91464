"""Theorem 1 of 000 (§3.4.2): is the closed form a maximum likelihood estimate of standard training?

Where the empirical pair marginals agree with the unary ones it is; elsewhere it is not (docs/mathematics.md
proves it in a few lines). Three experiments: the example of §3.4.3 and the extension that is described there;
random data, in which words occur in many places, beside data in which every word has its own; and the test
time problem under a penalty, of which §3.4.3 says that it may be left.
"""

from __future__ import annotations

import argparse
import random
import warnings
from collections.abc import Sequence
from itertools import pairwise
from math import exp

import numpy as np

from corate import EmpiricalCRF, LinearChainCRF
from corate.lattice import decode
from corate.models.empirical.factors import EmpiricalFactors
from corate.text.tokens import as_corpus
from experiments import test_time_problem as ttp
from experiments.published import with_papers
from lab import terminal
from lab.corpora import Part
from lab.store import Record
from lab.tables import Table, figure

N_DRAWN, N_SENTENCES = 12, 12
PENALTY, TOLERANCE = 1e-7, 1e-9
C2 = (1e-6, 1e-4, 1e-3, 1e-2, 0.1, 1.0)
FEATURES = {
    "the paper's: words and word pairs": (["word", "pair:word-1,word"], False, TOLERANCE),
    "the same, stopped as CRF++ stops": (["word", "pair:word-1,word"], False, ttp.TOLERANCE),
    "words and label pairs": (["word"], True, TOLERANCE),
}
NOTES = """
000 §3.4.2, §3.4.3. Gap: −log L of the closed form above that of the optimum, in nats. Z: what the closed
form's factors sum to, 1 if they are a distribution; our models divide by it. Disagreement: the largest
|Σ P̃(y, y′ | x, x′) − P̃(y | x)| of the data, on either side.
"""


def example(extended: bool) -> Part:
    """000 §3.4.3: 4 × abcd:0000, 1 × abcd:0110; extended by ab:00, bc:00 and cd:00."""
    words, labels = ttp.examples()
    more = [list(pair) for pair in ("ab", "bc", "cd")] if extended else []
    return Part([*words, *more], [*labels, *([["0", "0"]] * len(more))])


def drawn(seed: int, places: bool) -> Part:
    """Random labels for random words; `places`: every word has a place of its own, and marginals agree."""
    rng = random.Random(seed)
    lengths = [4 if places else rng.randint(2, 4) for _ in range(N_SENTENCES)]
    words = [list("abcd") if places else [rng.choice("abc") for _ in range(n)] for n in lengths]
    return Part(words, [[rng.choice("01") for _ in range(n)] for n in lengths])


def disagreement(part: Part) -> float:
    """max |Σ_y′ P̃(y, y′ | x, x′) − P̃(y | x)|, and the same with y summed out."""
    unary: dict[str, list[str]] = {}
    pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for words, labels in zip(part.words, part.labels, strict=True):
        for word, label in zip(words, labels, strict=True):
            unary.setdefault(word, []).append(label)
        for both, of_both in zip(pairwise(words), pairwise(labels), strict=True):
            pairs.setdefault(both, []).append(of_both)
    return max(
        abs(_share([labels[side] for labels in seen], y) - _share(unary[both[side]], y))
        for both, seen in pairs.items()
        for side in (0, 1)
        for y in "01"
    )


def _share(labels: Sequence[str], label: str) -> float:
    return labels.count(label) / len(labels)


def compare(part: Part) -> Record:
    """The closed form and the optimum of standard training on the same data."""
    ep = EmpiricalCRF(pair="word").fit(part.words, part.labels)
    log_z = decode.marginals(EmpiricalFactors(ep.counts_, contexts=()).lattice(as_corpus(part.words))).log_z
    of_ep = -float(np.sum(ep.log_prob(part.words, part.labels)))
    best = trained(part, *FEATURES["the paper's: words and word pairs"], PENALTY)
    optimum = -float(np.sum(best.log_prob(part.words, part.labels)))
    return {
        "ep": of_ep,
        "optimum": optimum,
        "gap": of_ep - optimum,
        "z_low": float(np.exp(log_z.min())),
        "z_high": float(np.exp(log_z.max())),
        "disagreement": disagreement(part),
    }


def trained(
    part: Part, contexts: Sequence[str], label_pairs: bool, tolerance: float, c2: float
) -> LinearChainCRF:
    crf = LinearChainCRF(
        c2=c2,
        contexts=contexts,
        label_pairs=label_pairs,
        all_states=True,
        all_transitions=True,
        tolerance=tolerance,
        max_iterations=5000,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without a penalty a search may end in a valley that never ends
        return crf.fit(part.words, part.labels)


def moved_from(initial: ttp.Weights, part: Part) -> float:
    """How much lower −log L is where L-BFGS ends that starts at these weights."""
    crf = LinearChainCRF(
        c2=ttp.PENALTY,
        contexts=[ttp.WORD, ttp.WORD_PAIR],
        label_pairs=False,
        all_states=True,
        all_transitions=True,
        tolerance=TOLERANCE,
        initial=initial,
    ).fit(part.words, part.labels)
    return float(crf.training_log_[0]["objective"] - crf.objective_)


def penalised(name: str) -> list[Record]:
    """The probability of [1,1] for [b,c] by penalty; above a half it is the answer, and wrong."""
    part, found = example(extended=False), []
    for c2 in C2:
        crf = trained(part, *FEATURES[name], c2)
        p = {y: exp(crf.log_prob([["b", "c"]], [list(y)])[0]) for y in ("00", "11")}
        found.append({"c2": c2, "p11": p["11"], "wrong": p["11"] > p["00"]})
    return found


def collect(options: argparse.Namespace) -> Record:
    extended = example(extended=True)
    starts = {
        "ep": ttp.weights_of(ttp.empirical, ttp.ep_pair),
        "ttp": ttp.weights_of(lambda word: np.ones(2), ttp.ttp_pair),
    }
    return {
        "experiment": "theorem",
        "example": {"as printed": compare(example(extended=False)), "extended": compare(extended)},
        "moved": {name: moved_from(start, extended) for name, start in starts.items()},
        "random": {
            "a place a word": [compare(drawn(seed, places=True)) for seed in range(N_DRAWN)],
            "words anywhere": [compare(drawn(seed, places=False)) for seed in range(N_DRAWN)],
        },
        "penalised": {name: penalised(name) for name in FEATURES},
    }


def tables(found: Record) -> list[Table]:
    heads = ("ep", "optimum", "gap", "z_low", "z_high", "disagreement")
    rows = [
        (f"example, {name}", [figure(found, "{:.3f}", "example", name, head) for head in heads])
        for name in found["example"]
    ]
    rows += [
        (f"{name} {i}", [figure(found, "{:.3f}", "random", name, i, head) for head in heads])
        for name, draws in found["random"].items()
        for i in range(len(draws))
    ]
    titles = ["data", "EP", "optimum", "gap", "Z, least", "Z, most", "disagreement"]
    by_c2 = [
        (name, [figure(found, "{:.3f}", "penalised", name, i, "p11") for i in range(len(C2))])
        for name in found["penalised"]
    ]
    return [
        Table("−log L of the closed form and of the optimum", titles, rows),
        Table("Probability of [1,1] for [b,c], by penalty c2", ["features", *map("{:g}".format, C2)], by_c2),
    ]


def main() -> None:
    parser = terminal.arguments(__doc__, "experiments.theorem", data=terminal.OWN_DATA)
    terminal.show(parser, collect, tables, with_papers(NOTES))


if __name__ == "__main__":
    terminal.run(main)
