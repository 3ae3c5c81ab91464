"""Decoding on trees: the left neighbour of a position is its parent, wherever that stands.

    left            the parent of each position, −1 for a root
    edges, triples  as in other lattices, with parent and grandparent instead of one and two positions before

    inside(q, p)  = score(q) + edge(p, q) + Σ over children of up(q, p)
    up(p, g)      = ⊕_q [inside(q, p) + triple(g, p, q)]
    outside(q, p) = ⊕_g [triple(g, p, q) + down(p, g)]
    down(p, g)    = inside(p, g) + outside(p, g) of the parent − up(p, g)

⊕ is the logarithm of a sum, or a maximum. A chain, each position hanging on the one before it, is a tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corate._native import kernels, native
from corate.arrays import Float, Ids, Int
from corate.lattice.lattice import IMPOSSIBLE, Lattice
from corate.lattice.triple_blocks import edge_ends, triple_ends


class Passed(NamedTuple):
    """P of candidates, edges and triples, or how far below the best; ⊕ of each sentence; the best path."""

    candidates: Float
    log_z: Float
    edges: Float
    triples: Float
    path: Int


def with_blocks(x: Lattice) -> tuple[Int, Float]:
    """Offsets and scores of a block for every edge."""
    left, right, edges = edge_ends(x.sentences, x.positions, x.left)
    if len(x.edge_scores):
        return x.edges, x.edge_scores
    return edges, x.pair_scores[x.labels[left], x.labels[right]]


def passed(x: Lattice, maximum: bool) -> Passed:
    """Up and down the trees."""
    assert x.left is not None
    edges, edge_scores = with_blocks(x)
    triples = np.zeros(x.n_positions + 1, np.int64) if x.triples is None else x.triples
    triple_scores = np.empty(0) if x.triple_scores is None else x.triple_scores
    if native():
        arrays = x.sentences, x.positions, x.left, x.scores, edges, edge_scores, triples, triple_scores
        return Passed(*kernels.forest(*arrays, maximum))
    return _in_numpy(x, edges, edge_scores, triples, triple_scores, maximum)


def order_of(left: Int) -> list[int]:
    """Positions, parents before children."""
    depth = np.zeros(len(left), np.int64)
    above = left.copy()
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, left[above], -1)
    return [int(v) for v in np.argsort(depth, kind="stable")]


def _in_numpy(
    x: Lattice, edges: Int, edge_scores: Float, triples: Int, triple_scores: Float, maximum: bool
) -> Passed:
    """What the kernel in _native/lattice/forest.h does."""
    assert x.left is not None
    left, n = x.left, x.n_positions
    up_of = [int(left[p]) if p >= 0 else -1 for p in left.tolist()]
    width = [*np.diff(x.positions).tolist(), 1]  # the last is for what is not there
    inside = [np.zeros((width[v], width[left[v]])) for v in range(n)]
    triple = [
        triple_scores[triples[v] : triples[v + 1]].reshape(width[up_of[v]], width[left[v]], width[v])
        if len(triple_scores) and up_of[v] >= 0
        else np.zeros((width[up_of[v]], width[left[v]], width[v]))
        for v in range(n)
    ]
    up: list[Float] = [np.empty(0)] * n
    total = np.zeros(n)
    order = order_of(left)
    for v in reversed(order):
        inside[v] = inside[v] + x.scores[x.candidates(v)][:, None]
        if left[v] < 0:
            total[v] = _combine(inside[v], (0, 1), maximum)
            continue
        inside[v] = inside[v] + edge_scores[edges[v] : edges[v + 1]].reshape(width[left[v]], width[v]).T
        up[v] = _combine(np.transpose(triple[v], (2, 1, 0)) + inside[v][:, :, None], 0, maximum)
        inside[left[v]] = inside[left[v]] + up[v]
    found = Passed(
        np.empty(len(x.scores)), np.zeros(x.n_sentences), np.empty(len(edge_scores)),
        np.empty(len(triple_scores)), np.empty(n, np.int64),
    )  # fmt: skip
    for s in range(x.n_sentences):
        found.log_z[s] = sum(total[v] for v in x.span(s) if left[v] < 0)
    outside = [np.zeros_like(each) for each in inside]
    for v in order:
        p, g = int(left[v]), up_of[v]
        if p >= 0:
            total[v] = total[p]
            with np.errstate(invalid="ignore"):
                down = np.where(
                    up[v] == IMPOSSIBLE, IMPOSSIBLE, inside[p] + outside[p] - up[v]
                )  # parent × grand
            joint = triple[v] + down.T[:, :, None]  # grand × parent × own
            outside[v] = _combine(joint, 0, maximum).T
            found.edges[edges[v] : edges[v + 1]] = _found(inside[v] + outside[v], total[v], maximum).T.ravel()
            if len(triple_scores) and g >= 0:
                both = _found(joint + inside[v].T[None], total[v], maximum)
                found.triples[triples[v] : triples[v + 1]] = both.ravel()
        here = _combine(inside[v] + outside[v], 1, maximum)
        found.candidates[x.candidates(v)] = _found(here, total[v], maximum)
        i = found.path[p] - x.positions[p] if p >= 0 else 0
        h = found.path[g] - x.positions[g] if g >= 0 else 0
        found.path[v] = x.positions[v] + int((inside[v][:, i] + triple[v][h, i]).argmax())
    return found


def _combine(values: Float, axis: int | tuple[int, ...], maximum: bool) -> Float:
    top = values.max(axis=axis, keepdims=True)
    if maximum:
        return np.asarray(top.squeeze(axis))
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(
            (shift + np.log(np.exp(values - shift).sum(axis=axis, keepdims=True))).squeeze(axis)
        )


def _found(values: Float, total: float, maximum: bool) -> Float:
    if total == IMPOSSIBLE:
        return np.zeros_like(values)
    return values - total if maximum else np.exp(values - total)


def sequence_scores(x: Lattice, labels: Ids) -> Float:
    """Score of the given labels in each sentence; −∞ where one of them is not a candidate."""
    owner = np.repeat(np.arange(x.n_positions), np.diff(x.positions))
    right = x.labels == labels[owner]
    sentence = np.repeat(np.arange(x.n_sentences), np.diff(x.sentences))
    there = np.bincount(owner[right], minlength=x.n_positions) > 0
    score = np.bincount(sentence[owner[right]], x.scores[right], x.n_sentences).astype(np.float64)
    a, b, _ = edge_ends(x.sentences, x.positions, x.left)
    chosen = right[a] & right[b]
    score += np.bincount(sentence[owner[b[chosen]]], with_blocks(x)[1][chosen], x.n_sentences)
    if x.triples is not None and x.triple_scores is not None:
        ends = triple_ends(x, x.triples)
        chosen = np.all([right[end] for end in ends], axis=0)
        score += np.bincount(sentence[owner[ends[2][chosen]]], x.triple_scores[chosen], x.n_sentences)
    score[np.unique(sentence[~there])] = IMPOSSIBLE
    return score


Ranked = list[tuple[float, tuple[tuple[int, int], ...]]]  # scores with (position, own candidate) of a subtree


def nbest(x: Lattice, n: int) -> tuple[Int, Float]:
    """The n best label trees: n × positions candidates, −1 where there are fewer; n × sentences scores."""
    assert x.left is not None
    edges, edge_scores = with_blocks(x)
    width = [*np.diff(x.positions).tolist(), 1]  # the last is for what is not there
    # Of each position, by its own candidate and its parent's: the best trees below it, itself included.
    below: list[dict[tuple[int, int], Ranked]] = [{} for _ in range(x.n_positions)]
    for v in reversed(order_of(x.left)):
        parent = int(x.left[v])
        for q in range(width[v]):
            own: Ranked = [(float(x.scores[x.positions[v] + q]), ((v, q),))]
            for p in range(width[parent]):
                children = below[v].get((q, p), [(0.0, ())])
                below[v][q, p] = _joined([own, children], n)
        if parent < 0:
            continue
        grand = int(x.left[parent])
        edge = edge_scores[edges[v] : edges[v + 1]].reshape(width[parent], width[v])
        for p in range(width[parent]):
            for g in range(width[grand]):
                bonus = edge[p]
                if grand >= 0 and x.triples is not None and x.triple_scores is not None:
                    first = int(x.triples[v]) + (g * width[parent] + p) * width[v]
                    bonus = bonus + x.triple_scores[first : first + width[v]]
                ranked = [(s + float(bonus[q]), t) for q in range(width[v]) for s, t in below[v][q, p]]
                key = p, g
                others = below[parent].get(key)
                best = _top(ranked, n)
                below[parent][key] = best if others is None else _joined([others, best], n)
        below[v].clear()
    paths, scores = np.full((n, x.n_positions), -1, np.int64), np.full((n, x.n_sentences), IMPOSSIBLE)
    for s in range(x.n_sentences):
        roots = [v for v in x.span(s) if x.left[v] < 0]
        trees = [_top([each for ranked in below[v].values() for each in ranked], n) for v in roots]
        for rank, (score, chosen) in enumerate(_joined([[(0.0, ())], *trees], n)):
            scores[rank, s] = score
            for v, q in chosen:
                paths[rank, v] = x.positions[v] + q
    return paths, scores


def _joined(parts: list[Ranked], n: int) -> Ranked:
    """The n best of all choices of one from each part."""
    made: Ranked = parts[0]
    for part in parts[1:]:
        made = _top([(a + b, one + other) for a, one in made for b, other in part], n)
    return made


def _top(ranked: Ranked, n: int) -> Ranked:
    possible = [each for each in ranked if each[0] > IMPOSSIBLE]
    return sorted(possible, key=lambda each: (-each[0], sorted(each[1])))[:n]
