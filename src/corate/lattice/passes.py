"""Forward, backward and Viterbi scores of every candidate, to look at; decoding has its own, quicker ways.

    α(q) = score(q) + log Σ_p exp[α(p) + edge(p, q)]        all that leads into q, itself included
    β(q) = log Σ_r exp[edge(q, r) + score(r) + β(r)]        all that follows
    δ(q) = score(q) + max_p [δ(p) + edge(p, q)]             the best that leads into q

α + β − log Z is the log of q's probability.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corate.arrays import Float
from corate.errors import InputError
from corate.lattice.lattice import Lattice
from corate.lattice.triple_blocks import check_expandable, expand


class Passes(NamedTuple):
    forward: Float
    backward: Float
    viterbi: Float


def passes(x: Lattice) -> Passes:
    """Of a lattice that holds one sentence."""
    if x.left is not None:
        raise InputError("a model on trees has no trellis: its labels are no chain")
    if x.triples is not None:
        return _of_second_order(x)
    made = Passes(*np.zeros((3, len(x.labels))))
    for i in range(x.n_positions):
        here = x.candidates(i)
        into = sums = np.zeros(1)
        if i:
            before = x.candidates(i - 1)
            sums = np.logaddexp.reduce(made.forward[before, None] + x.edge(i), axis=0)
            into = (made.viterbi[before, None] + x.edge(i)).max(axis=0)
        made.forward[here], made.viterbi[here] = x.scores[here] + sums, x.scores[here] + into
    for i in range(x.n_positions - 2, -1, -1):
        after = x.candidates(i + 1)
        onward = x.edge(i + 1) + x.scores[after] + made.backward[after]
        made.backward[x.candidates(i)] = np.logaddexp.reduce(onward, axis=1)
    return made


def _of_second_order(x: Lattice) -> Passes:
    """α and δ are sums and maxima over the pairs that end in q. What follows depends on the label before:
    β is the mean that leaves α + β − log Z the log of q's probability."""
    check_expandable(x)
    wide = expand(x)
    pairs = passes(wide.lattice)
    forward, viterbi, through = np.full((3, len(x.labels)), -np.inf)
    np.logaddexp.at(forward, wide.right, pairs.forward)
    np.maximum.at(viterbi, wide.right, pairs.viterbi)
    np.logaddexp.at(through, wide.right, pairs.forward + pairs.backward)
    backward = np.subtract(through, forward, out=np.full_like(through, -np.inf), where=forward > -np.inf)
    return Passes(forward, backward, viterbi)
