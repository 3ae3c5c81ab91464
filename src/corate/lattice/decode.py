"""Decoding: best labels, marginals, n-best, all in log space, over a batch of sentences.

Each function has two implementations that give the same result: a C++ kernel, and a NumPy reference that
says what the kernel does. Ties go to the lower label, read from the last position back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corate._native import kernels, native
from corate.arrays import Float, Ids, Int, owners
from corate.errors import InputError
from corate.lattice.lattice import Lattice
from corate.lattice.triple_blocks import expand, triple_ends

IMPOSSIBLE = -np.inf
MOST_PATHS = 1_000_000

Step = tuple[float, tuple[int, ...]]  # score and candidates of a path, in the n-best reference


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


def viterbi(x: Lattice, n_threads: int = 1) -> Paths:
    """The best label sequence of every sentence."""
    path, best = np.empty(x.n_positions, np.int64), np.zeros(x.n_sentences)
    if x.triples is not None:
        if native():
            assert x.triple_scores is not None
            kernels.viterbi2(*x.arrays(), x.triples, x.triple_scores, path, best, n_threads)
            return Paths(path, best)
        wide = expand(x)
        found = viterbi(wide.lattice)
        return Paths(wide.right[found.candidates], found.scores)
    if native():
        kernels.viterbi(*x.arrays(), path, best, n_threads)
    else:
        for s in range(x.n_sentences):
            best[s] = _viterbi(x, x.span(s), path)
    return Paths(path, best)


def marginals(x: Lattice, n_threads: int = 1) -> Marginals:
    """P(label at position | sentence) of every candidate, by forward–backward."""
    if x.triples is not None:
        found = posteriors(x, n_threads)
        return Marginals(found.probabilities, found.log_z)
    probabilities, log_z = np.empty(len(x.labels)), np.zeros(x.n_sentences)
    if native():
        kernels.marginals(*x.arrays(), probabilities, log_z, n_threads)
    else:
        for s in range(x.n_sentences):
            log_z[s] = _forward_backward(x, x.span(s), probabilities)
    return Marginals(probabilities, log_z)


@dataclass(frozen=True)
class Posteriors(Marginals):
    """Probabilities of all that a lattice of the second order has scores for."""

    edges: Float
    triples: Float


def posteriors(x: Lattice, n_threads: int = 1) -> Posteriors:
    """Marginals of candidates, of edges and of triples, in lattices of the second order."""
    assert x.triples is not None
    assert x.triple_scores is not None
    probabilities, log_z = np.empty(len(x.labels)), np.zeros(x.n_sentences)
    edges, triples = np.empty(len(x.edge_scores)), np.empty(len(x.triple_scores))
    if native():
        failed = np.zeros(x.n_sentences, np.int8)
        kernels.posteriors2(
            *x.arrays(), x.triples, x.triple_scores, probabilities, edges, triples, log_z, failed, n_threads
        )
        if not failed.any():
            return Posteriors(np.minimum(probabilities, 1.0), log_z, edges, triples)
    return _posteriors(x, n_threads)


def _posteriors(x: Lattice, n_threads: int) -> Posteriors:
    """The same by way of the expanded lattice, in logarithms: for any numbers, and slower."""
    assert x.triples is not None
    assert x.triple_scores is not None
    wide = expand(x)
    states = marginals(wide.lattice, n_threads)
    probabilities: Float = np.zeros(len(x.labels))
    np.add.at(probabilities, wide.right, states.probabilities)
    edges, triples = np.zeros(len(x.edge_scores)), np.zeros(len(x.triple_scores))
    starts = set(x.sentences.tolist())
    for s in range(x.n_sentences):
        joint = _edge_marginals(wide.lattice, x.span(s))
        for i in x.span(s)[1:]:
            m, n = x.positions[i] - x.positions[i - 1], x.positions[i + 1] - x.positions[i]
            pairs = states.probabilities[wide.lattice.candidates(i)].reshape(n, m)
            edges[x.edges[i] : x.edges[i + 1]] = pairs.T.ravel()
            if i - 1 not in starts:  # states (p, o) × states (q, p′)
                both = next(joint).reshape(m, -1, n, m)
                third = np.einsum("poqp->opq", both)
                triples[x.triples[i] : x.triples[i + 1]] = third.ravel()
            else:
                next(joint)
    return Posteriors(np.minimum(probabilities, 1.0), states.log_z, edges, triples)


def nbest(x: Lattice, n: int, n_threads: int = 1) -> Paths:
    """The n best label sequences of every sentence, best first; fewer where fewer are possible."""
    check_n(n)
    if x.triples is not None:
        wide = expand(x)
        found = nbest(wide.lattice, n, n_threads)
        there = found.candidates >= 0
        return Paths(np.where(there, wide.right[np.maximum(found.candidates, 0)], -1), found.scores)
    paths, best = np.full((n, x.n_positions), -1, np.int64), np.full((n, x.n_sentences), IMPOSSIBLE)
    if native():
        kernels.nbest(*x.arrays(), paths.reshape(-1), best.reshape(-1), n, n_threads)
    else:
        for s in range(x.n_sentences):
            _nbest(x, x.span(s), n, paths, best[:, s])
    return Paths(paths, best)


def check_n(n: object) -> None:
    if not isinstance(n, int) or not 1 <= n <= MOST_PATHS:
        raise InputError(f"n={n!r}: ask for 1 to {MOST_PATHS:,} sequences")


def sequence_scores(x: Lattice, labels: npt.NDArray[np.integer], n_threads: int = 1) -> Float:
    """Score of the given labels (one for each position); −∞ where one of them is not a candidate."""
    wanted, score = labels.astype(np.int32), np.zeros(x.n_sentences)
    if native():
        kernels.sequence_scores(*x.arrays(), wanted, score, n_threads)
    else:
        for s in range(x.n_sentences):
            score[s] = _sequence_score(x, x.span(s), wanted)
    if x.triples is not None:
        assert x.triple_scores is not None
        ends = triple_ends(x, x.triples)
        place = owners(x.positions)[ends[2]]
        chosen = np.all([x.labels[end] == wanted[place - 2 + k] for k, end in enumerate(ends)], axis=0)
        sentence = np.searchsorted(x.sentences, place[chosen], side="right") - 1
        score += np.bincount(sentence, weights=x.triple_scores[chosen], minlength=x.n_sentences)
    return score


# The reference implementations -----------------------------------------------------------------------


def _viterbi(x: Lattice, span: range, path: Int) -> float:
    """g(q) = score(q) + max_p [g(p) + edge(p, q)], then back along the best choices."""
    if not span:
        return 0.0
    gain = x.scores[x.candidates(span[0])]
    back: list[Int] = []
    for i in span[1:]:
        total = gain[:, None] + x.edge(i)
        back.append(total.argmax(axis=0))
        gain = total.max(axis=0) + x.scores[x.candidates(i)]
    q = int(gain.argmax())
    path[span[-1]] = x.positions[span[-1]] + q
    for i in reversed(span[:-1]):
        q = int(back.pop()[q])
        path[i] = x.positions[i] + q
    return float(gain.max())


def _sequence_score(x: Lattice, span: range, labels: Ids) -> float:
    """Σ score(yᵢ) + Σ edge(yᵢ₋₁, yᵢ)."""
    score, before = 0.0, -1
    for i in span:
        found = np.flatnonzero(x.labels[x.candidates(i)] == labels[i])
        if not len(found):
            return IMPOSSIBLE
        q = int(found[0])
        if before >= 0:
            score += float(x.edge(i)[before, q])
        score += float(x.scores[x.candidates(i)][q])
        before = q
    return score


def _log_sum_exp(v: Float, axis: int) -> Float:
    top = v.max(axis=axis, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray((shift + np.log(np.exp(v - shift).sum(axis=axis, keepdims=True))).squeeze(axis))


def _normalise(v: Float) -> tuple[Float, float]:
    """v − log Σ exp v, and that sum. The largest is subtracted first, which is exact for its neighbours."""
    top = float(v.max())
    if top == IMPOSSIBLE:
        return v, top
    rest = float(_log_sum_exp(v - top, 0))
    return (v - top) - rest, top + rest


def _forward_backward(x: Lattice, span: range, probabilities: Float) -> float:
    """α(q) = score(q) + log Σ_p exp[α(p) + edge(p, q)], β from the right; both normalised everywhere."""
    log_z = 0.0
    forward: list[Float] = []
    for i in span:
        alpha = x.scores[x.candidates(i)]
        if forward:
            alpha = alpha + _log_sum_exp(forward[-1][:, None] + x.edge(i), 0)
        alpha, total = _normalise(alpha)
        forward.append(alpha)
        log_z += total
    beta: Float | None = None
    for i in reversed(span):
        if beta is None:
            beta = np.zeros_like(forward[-1])
        else:
            here = x.candidates(i + 1)
            beta, _ = _normalise(_log_sum_exp(x.edge(i + 1) + x.scores[here] + beta, 1))
        probabilities[x.candidates(i)] = np.exp(_normalise(forward.pop() + beta)[0])
    return log_z


def _edge_marginals(x: Lattice, span: range) -> Iterator[Float]:
    """P(y, y′) ∝ exp[α(y) + edge(y, y′) + score(y′) + β(y′)], from the first edge to the last."""
    own = [x.scores[x.candidates(i)] for i in span]
    forward = own[:1]
    for k, i in enumerate(span[1:], 1):
        forward.append(_normalise(own[k] + _log_sum_exp(forward[-1][:, None] + x.edge(i), 0))[0])
    found = []
    beta = np.zeros_like(own[-1]) if own else np.empty(0)
    for k in range(len(own) - 1, 0, -1):
        onward = x.edge(span[k]) + own[k] + beta
        joint = forward[k - 1][:, None] + onward
        found.append(np.exp(_normalise(joint.ravel())[0]).reshape(joint.shape))
        beta = _normalise(_log_sum_exp(onward, 1))[0]
    return reversed(found)


def _nbest(x: Lattice, span: range, n: int, paths: Int, scores: Float) -> None:
    """The n best paths into each candidate, from the n best into each candidate before it."""
    if not span:
        scores[0] = 0.0
        return
    beam: list[list[Step]] = [
        [(float(score), (q,))] for q, score in enumerate(x.scores[x.candidates(span[0])])
    ]
    for i in span[1:]:
        edge, own = x.edge(i), x.scores[x.candidates(i)]
        beam = [
            _best(
                [(score + edge[path[-1], q] + own[q], (*path, q)) for steps in beam for score, path in steps],
                n,
            )
            for q in range(len(own))
        ]
    for rank, (score, path) in enumerate(_best([step for steps in beam for step in steps], n)):
        scores[rank] = score
        paths[rank, span.start : span.stop] = x.positions[span.start : span.stop] + path


def _best(steps: list[Step], n: int) -> list[Step]:
    possible = [step for step in steps if step[0] > IMPOSSIBLE]
    return sorted(possible, key=lambda step: (-step[0], step[1][::-1]))[:n]
