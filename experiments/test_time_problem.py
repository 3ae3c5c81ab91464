"""The test time problem: 000 §3.4.3, §4.2 and §4.3.

Training data: 4 × ([a,b,c,d] : [0,0,0,0]) and 1 × ([a,b,c,d] : [0,1,1,0]); [b,c] is to be labelled. Two sets
of parameters, ep (empirical training) and ttp, both maximise the likelihood of standard training, but ttp, in
which some pair factors have swallowed the unary probabilities, mislabels [b,c].
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise, product

import numpy as np

from corate import EmpiricalCRF, LinearChainCRF
from corate.arrays import Float
from corate.lattice import decode
from corate.lattice.lattice import Lattice
from corate.models.empirical.factors import EmpiricalFactors
from corate.text.tokens import as_corpus
from experiments.published import TEST_TIME_OBJECTIVE, TTP_SCORES, with_papers
from lab import terminal
from lab.store import Record
from lab.tables import Cell, Table, figure, published

TRAIN_WORDS, TEST_WORDS = "abcd", "bc"
TRAINING = {"0000": 4, "0110": 1}  # labels of the training words, and how often they occur
LABELS = "01"
N = sum(TRAINING.values())
OPTIMUM = -4 * math.log(4 / 5) - math.log(1 / 5)
STEPS = 40  # from one point to another

# Of the CRF: CRF++'s -c 1e8 as c2, and its -e 1e-5, for which it stops at the published objective.
PENALTY, TOLERANCE = 1 / (2 * 1e8), 1e-5
WORD, WORD_PAIR = "word", "pair:word-1,word"
VANISHING = -30.0  # the logarithm of a factor that is zero: a CRF's weights are finite

Weights = dict[tuple[str, ...], float]
LatticeOf = Callable[[str], Lattice]


def examples() -> tuple[list[list[str]], list[list[str]]]:
    return [list(TRAIN_WORDS)] * N, [list(labels) for labels, n in TRAINING.items() for _ in range(n)]


def marginal(weights: Mapping[str, float], words: str) -> Float:
    """Of label sequences of the training words: the sums for the labels of neighbouring words among them."""
    first = TRAIN_WORDS.index(words)
    sums = np.zeros((2,) * len(words))
    for labels, weight in weights.items():
        sums[tuple(map(int, labels[first : first + len(words)]))] += weight
    return sums


def empirical(words: str) -> Float:
    """P̃(y | x) of one word, P̃(y, y′ | x, x′) of two; every word occurs at one position only."""
    return marginal({labels: n / N for labels, n in TRAINING.items()}, words)


def ep(words: str) -> Lattice:
    """ψ = P̃(y | x), φ = CR(y; y′ | x, x′), as EmpiricalCRF counts them (eqns 12, 13)."""
    crf = EmpiricalCRF(pair="word").fit(*examples())
    return EmpiricalFactors(crf.counts_, contexts=()).lattice(as_corpus([list(words)]))


def ep_pair(left: str, right: str) -> Float:
    """CR(y; y′ | x, x′), 1 where nothing was observed: ψ is 0 there."""
    expected = np.outer(empirical(left), empirical(right))
    return np.divide(empirical(left + right), expected, out=np.ones((2, 2)), where=expected > 0)


def ttp_pair(left: str, right: str) -> Float:
    """φ(a,b) = P̃(y, y′ | ab), φ(b,c) = CR(y; y′ | bc), φ(c,d) = P̃(y, y′ | cd) (eqns 18–20)."""
    return ep_pair(left, right) if (left, right) == ("b", "c") else empirical(left + right)


def ttp(words: str) -> Lattice:
    """ψ = 1 everywhere, φ as above; every position has both labels."""
    n = len(words)
    with np.errstate(divide="ignore"):
        blocks = np.log([ttp_pair(*pair) for pair in pairwise(words)])
    return Lattice(
        sentences=np.array([0, n]),
        positions=np.arange(0, 2 * n + 1, 2),
        labels=np.tile(np.arange(2, dtype=np.int32), n),
        scores=np.zeros(2 * n),
        pair_scores=np.zeros((2, 2)),
        edges=np.array([0, *range(0, 4 * n, 4)]),  # no edge into the first position
        edge_scores=blocks.reshape(-1),
    )


def sequences(words: str) -> list[str]:
    return ["".join(y) for y in product(LABELS, repeat=len(words))]


def scores_of(lattice: Lattice, words: str) -> dict[str, float]:
    """∏ ψ ∏ φ of every label sequence."""
    logs = {y: decode.sequence_scores(lattice, np.array(list(map(int, y))))[0] for y in sequences(words)}
    return {y: float(np.exp(log)) for y, log in logs.items()}


def normalised(scores: Mapping[str, float]) -> dict[str, float]:
    total = sum(scores.values())
    return {y: value / total for y, value in scores.items()}


def objective_of(p: Mapping[str, float]) -> float:
    """−log likelihood of the training data."""
    return -sum(n * float(np.log(p[labels])) for labels, n in TRAINING.items())


@dataclass(frozen=True)
class Findings:
    z: float | None  # Z(X) of the training sentence; None if a model gives probabilities only
    objective: float  # −log likelihood of the training data
    unary_deviation: float  # largest |P̂(y | x) − P̃(y | x)|: condition (16) holds if it is 0
    pair_deviation: float  # largest |P̂(y, y′ | x, x′) − P̃(y, y′ | x, x′)|: condition (17)
    scores: dict[str, float]  # of the label sequences of [b,c]
    probabilities: dict[str, float]  # of the same
    prediction: str


def findings(z: float | None, p: dict[str, float], scores: dict[str, float], prediction: str) -> Findings:
    """From the probabilities of the training sentence's label sequences, and the scores of those of [b,c]."""

    def deviation(places: Sequence[str]) -> float:
        return max(float(np.abs(marginal(p, words) - empirical(words)).max()) for words in places)

    pairs = [left + right for left, right in pairwise(TRAIN_WORDS)]
    return Findings(
        z, objective_of(p), deviation(TRAIN_WORDS), deviation(pairs), scores, normalised(scores), prediction
    )


def find(lattice_of: LatticeOf) -> Findings:
    """Everything by enumerating the 2⁴ label sequences, except the prediction, which is Viterbi's."""
    train, test = lattice_of(TRAIN_WORDS), lattice_of(TEST_WORDS)
    scores = scores_of(train, TRAIN_WORDS)
    best = "".join(LABELS[label] for label in decode.viterbi(test).labels(test))
    return findings(sum(scores.values()), normalised(scores), scores_of(test, TEST_WORDS), best)


def find_trained(initial: Weights | None) -> Findings:
    """A CRF with a parameter for every word and label, every word pair and label pair, as CRF++ has them.

    Trained by L-BFGS from these weights, or from zeros, with a penalty that does not matter.
    """
    crf = LinearChainCRF(
        c2=PENALTY,
        contexts=[WORD, WORD_PAIR],
        label_pairs=False,
        all_states=True,
        all_transitions=True,
        tolerance=TOLERANCE,
        initial=initial,
    )
    crf.fit(*examples())

    def probabilities(words: str) -> dict[str, float]:
        return {y: math.exp(crf.log_prob([list(words)], [list(y)])[0]) for y in sequences(words)}

    (best,) = crf.predict([list(TEST_WORDS)])
    return findings(None, probabilities(TRAIN_WORDS), probabilities(TEST_WORDS), "".join(best))


def weights_of(unary: Callable[[str], Float], pair: Callable[[str, str], Float]) -> Weights:
    """The logarithms of factors by the names of a CRF's features; a zero becomes `VANISHING`."""
    factors = {f"{WORD}={word}": unary(word) for word in TRAIN_WORDS}
    factors |= {f"{WORD_PAIR}={left}/{right}": pair(left, right) for left, right in pairwise(TRAIN_WORDS)}
    with np.errstate(divide="ignore"):
        return {
            (name, *(LABELS[y] for y in labels)): max(float(np.log(factor)), VANISHING)
            for name, table in factors.items()
            for labels, factor in np.ndenumerate(table)
        }


def on_the_way(t: float) -> tuple[float, dict[str, float]]:
    """−log likelihood, and the probabilities of labels of [b,c], at (1 − t) ep + t ttp.

    Parameters are logarithms of factors, so a sequence's score there is score_ep¹⁻ᵗ · score_ttpᵗ.
    """

    def shares(words: str) -> dict[str, float]:
        at_ep, at_ttp = scores_of(ep(words), words), scores_of(ttp(words), words)
        return normalised({y: at_ep[y] ** (1 - t) * at_ttp[y] ** t for y in at_ep})

    return objective_of(shares(TRAIN_WORDS)), shares(TEST_WORDS)


POINTS = {
    "ep": "ep: counted", "ttp": "ttp", "zero": "CRF from 0", "at-ep": "CRF from ep", "at-ttp": "CRF from ttp"
}  # fmt: skip
NOTES = """
4 × ([a,b,c,d] : [0,0,0,0]), 1 × ([a,b,c,d] : [0,1,1,0]); published in 000 §3.4.2, §3.4.3, §4.2, §4.3.
The optimum is −4 log 4/5 − log 1/5 = 2.502012; the published 2.50202 is what CRF++ printed.
All are maximum likelihood estimates, but only ep labels [b,c] as 4 of the 5 training sequences have it.
CRF from …: LinearChainCRF started there; it stays where it is, and from zeros finds a third maximum.
Started at 0, CRF++ 0.58 labels [b,c] as [1,1] with probability 0.757: how far along the flat valley an
optimiser gets depends on its steps.
"""
PUBLISHED: dict[str, Record] = {
    "ep": {"source": "000 §3.4.2", "prediction": "00"},
    "ttp": {"source": "000 §3.4.3", "prediction": "11", "z": 1, "scores": TTP_SCORES},
    "at-ep": {"source": "000 §4.3", "objective": TEST_TIME_OBJECTIVE, "prediction": "00"},
    "at-ttp": {"source": "000 §4.2", "objective": TEST_TIME_OBJECTIVE, "prediction": "11"},
    "zero": {"source": "000 §4.3", "objective": TEST_TIME_OBJECTIVE, "prediction": "11"},
}


def points() -> dict[str, Findings]:
    """The two of the papers, and where a CRF ends that is trained from them, and from zeros."""
    return {
        "ep": find(ep),
        "ttp": find(ttp),
        "at-ep": find_trained(weights_of(empirical, ep_pair)),
        "at-ttp": find_trained(weights_of(lambda word: np.ones(2), ttp_pair)),
        "zero": find_trained(None),
    }


def collect(options: argparse.Namespace) -> Record:
    path = [(t, *on_the_way(t)) for t in (step / STEPS for step in range(STEPS + 1))]
    return {
        "experiment": "test_time_problem",
        "optimum": OPTIMUM,
        "points": {name: asdict(found) for name, found in points().items()},
        "path": [{"t": t, "objective": objective, "p11": p["11"]} for t, objective, p in path],
        "published": PUBLISHED,
    }


def tables(found: Record) -> list[Table]:
    rows = []
    for name, point in found["points"].items():
        deviations = ("unary_deviation", "pair_deviation")
        cells = [figure(found, "{:.5f}", "points", name, "objective")]
        cells.append(published(found, "{:.5f}", "published", name, "objective"))
        cells.append(figure(found, "{:.4g}", "points", name, "z"))
        cells += [figure(found, "{:.1e}", "points", name, deviation) for deviation in deviations]
        for y in ("00", "11"):
            cells.append(figure(found, "{:.2f}", "points", name, "scores", y))
            cells.append(published(found, "{:.2f}", "published", name, "scores", y))
        cells += [figure(found, "{:.4f}", "points", name, "probabilities", y) for y in ("00", "11")]
        cells.append(Cell(as_list(point["prediction"])))
        cells.append(Cell(as_list(found["published"][name]["prediction"]), note="published"))
        rows.append((POINTS[name], cells))
    groups = [("−log L", 2), ("Z", 1), ("misses by", 2)]
    groups += [("score [0,0]", 2), ("score [1,1]", 2), ("probability", 2), ("[b,c] is", 2)]
    heads = ["parameters", "here", "publ.", "", "eqn 16", "eqn 17", *["here", "publ."] * 2]
    caption = "Maxima of the likelihood L (the optimum is 2.502012; 2.50202 is what CRF++ printed)"
    return [Table(caption, [*heads, "[0,0]", "[1,1]", "here", "publ."], rows, groups)]


def as_list(labels: str) -> str:
    return f"[{','.join(labels)}]"


def main() -> None:
    parser = terminal.arguments(__doc__, "experiments.test_time_problem", data=terminal.OWN_DATA)
    terminal.show(parser, collect, tables, with_papers(NOTES))


if __name__ == "__main__":
    terminal.run(main)
