"""Decoding in NumPy: what the kernels do, sentence by sentence, in as few lines as it takes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from corate.arrays import Float, Ids, Int
from corate.lattice.lattice import IMPOSSIBLE, Lattice

Step = tuple[float, tuple[int, ...]]  # score and candidates of a path, in n-best


def viterbi(x: Lattice) -> tuple[Int, Float]:
    """The best candidate of each position, and the score of each sentence."""
    path, best = np.empty(x.n_positions, np.int64), np.zeros(x.n_sentences)
    for s in range(x.n_sentences):
        best[s] = _viterbi(x, x.span(s), path)
    return path, best


def marginals(x: Lattice) -> tuple[Float, Float]:
    """The probability of each candidate, and log Z of each sentence."""
    probabilities, log_z = np.empty(len(x.labels)), np.zeros(x.n_sentences)
    for s in range(x.n_sentences):
        log_z[s] = _forward_backward(x, x.span(s), probabilities)
    return probabilities, log_z


def nbest(x: Lattice, n: int) -> tuple[Int, Float]:
    """n × positions candidates, −1 where there are fewer than n sequences; n × sentences scores."""
    paths, best = np.full((n, x.n_positions), -1, np.int64), np.full((n, x.n_sentences), IMPOSSIBLE)
    for s in range(x.n_sentences):
        _nbest(x, x.span(s), n, paths, best[:, s])
    return paths, best


def sequence_scores(x: Lattice, labels: Ids) -> Float:
    """The score of these labels in each sentence."""
    return np.array([_sequence_score(x, x.span(s), labels) for s in range(x.n_sentences)], np.float64)


def max_marginals(x: Lattice) -> Float:
    """Best score of a label sequence through each candidate, minus that of the best one at all."""
    margins = np.zeros(len(x.labels))
    for s in range(x.n_sentences):
        _max_marginals(x, x.span(s), margins)
    return margins


def pairs_and_triples(x: Lattice, wide: Lattice, probabilities: Float) -> tuple[Float, Float]:
    """Marginals of edges and triples, of those of the states of the expanded lattice."""
    assert x.triples is not None
    edges, triples = np.zeros(len(x.edge_scores)), np.zeros(int(x.triples[-1]))
    for s in range(x.n_sentences):
        joint = _edge_marginals(wide, x.span(s))
        for i in x.span(s)[1:]:
            m, n = x.positions[i] - x.positions[i - 1], x.positions[i + 1] - x.positions[i]
            pairs, both = probabilities[wide.candidates(i)].reshape(n, m), next(joint)
            edges[x.edges[i] : x.edges[i + 1]] = pairs.T.ravel()
            if i - 1 > x.span(s).start:  # states (p, o) × states (q, p′)
                third = np.einsum("poqp->opq", both.reshape(m, -1, n, m))
                triples[x.triples[i] : x.triples[i + 1]] = third.ravel()
    return edges, triples


# One sentence ----------------------------------------------------------------------------------------


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


def _max_marginals(x: Lattice, span: range, margins: Float) -> None:
    """g(q) as in Viterbi, and the same from the right; their sum is the best through q."""
    into: list[Float] = []
    for i in span:
        own = x.scores[x.candidates(i)]
        into.append(own + (into[-1][:, None] + x.edge(i)).max(axis=0) if into else own)
    best = into[-1].max() if into else 0.0
    out: Float | None = None
    for i in reversed(span):
        if out is None:
            out = np.zeros(len(into[-1]))
        else:
            out = (x.edge(i + 1) + x.scores[x.candidates(i + 1)] + out).max(axis=1)
        margins[x.candidates(i)] = into.pop() + out - best if np.isfinite(best) else 0.0


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
