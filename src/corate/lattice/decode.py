"""Decoding: best labels, marginals, n-best, all in log space, over a batch of sentences.

Each function has two implementations that give the same result: a C++ kernel, and a NumPy reference that
says what the kernel does. Ties go to the lower label, read from the last position back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corate._native import kernels, native
from corate.arrays import Float, Ids, Int, owners
from corate.errors import InputError
from corate.lattice import reference
from corate.lattice.lattice import Lattice
from corate.lattice.triple_blocks import expand, triple_ends

MOST_PATHS = 1_000_000


@dataclass(frozen=True)
class Paths:
    """One label sequence for every sentence (or `n` of them, along the first axis)."""

    candidates: Int  # the chosen candidate of each position; −1 where there are fewer than n sequences
    scores: Float  # of each sentence; −∞ where no sequence is possible

    def labels(self, lattice: Lattice) -> Ids:
        return lattice.labels[self.candidates]


@dataclass(frozen=True)
class Marginals:
    probabilities: Float  # of each candidate; they sum to 1 at each position
    log_z: Float  # log of the sum over all label sequences, for each sentence


@dataclass(frozen=True)
class Posteriors(Marginals):
    """Probabilities of all that a lattice of the second order has scores for."""

    edges: Float
    triples: Float


def viterbi(x: Lattice, n_threads: int = 1) -> Paths:
    """The best label sequence of every sentence."""
    if x.triples is None:
        return Paths(*(kernels.viterbi(x.native, n_threads) if native() else reference.viterbi(x)))
    if native():
        return Paths(*kernels.viterbi2(x.native_triples, n_threads))
    wide = expand(x)
    found = viterbi(wide.lattice)
    return Paths(wide.right[found.candidates], found.scores)


def marginals(x: Lattice, n_threads: int = 1) -> Marginals:
    """P(label at position | sentence) of every candidate, by forward–backward."""
    if x.triples is not None:
        found = posteriors(x, n_threads, want_triples=False)
        return Marginals(found.probabilities, found.log_z)
    return Marginals(*(kernels.marginals(x.native, n_threads) if native() else reference.marginals(x)))


def posteriors(x: Lattice, n_threads: int = 1, want_triples: bool = True) -> Posteriors:
    """Marginals of candidates, edges and, if they are wanted, triples, in lattices of the second order."""
    if native():
        found = kernels.posteriors2(x.native_triples, want_triples, n_threads)
    else:  # by way of the expanded lattice
        wide = expand(x)
        states = marginals(wide.lattice, n_threads)
        both = reference.pairs_and_triples(x, wide.lattice, states.probabilities)
        probabilities: Float = np.zeros(len(x.labels))
        np.add.at(probabilities, wide.right, states.probabilities)
        found = probabilities, states.log_z, *both
    return Posteriors(np.minimum(found[0], 1.0), *found[1:])


def nbest(x: Lattice, n: int, n_threads: int = 1) -> Paths:
    """The n best label sequences of every sentence, best first; fewer where fewer are possible."""
    n = check_n(n)
    if x.triples is None:
        return Paths(*(kernels.nbest(x.native, n, n_threads) if native() else reference.nbest(x, n)))
    wide = expand(x)
    found = nbest(wide.lattice, n, n_threads)
    there = found.candidates >= 0
    return Paths(np.where(there, wide.right[np.maximum(found.candidates, 0)], -1), found.scores)


def check_n(n: object) -> int:
    """How many sequences are asked for, if it is a number that makes sense."""
    if not isinstance(n, int | np.integer) or not 1 <= n <= MOST_PATHS:
        raise InputError(f"n={n!r}: ask for 1 to {MOST_PATHS:,} sequences")
    return int(n)


def sequence_scores(x: Lattice, labels: npt.NDArray[np.integer], n_threads: int = 1) -> Float:
    """Score of the given labels (one for each position); −∞ where one of them is not a candidate."""
    wanted = labels.astype(np.int32)
    if native():
        score = kernels.sequence_scores(x.native, wanted, n_threads)
    else:
        score = reference.sequence_scores(x, wanted)
    if x.triples is not None:
        assert x.triple_scores is not None
        ends = triple_ends(x, x.triples)
        place = owners(x.positions)[ends[2]]
        chosen = np.all([x.labels[end] == wanted[place - 2 + k] for k, end in enumerate(ends)], axis=0)
        sentence = np.searchsorted(x.sentences, place[chosen], side="right") - 1
        score += np.bincount(sentence, weights=x.triple_scores[chosen], minlength=x.n_sentences)
    return score
