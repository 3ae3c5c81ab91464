"""MEMM: maximum entropy Markov model (McCallum & Freitag 2000; 004 §0.9).

    P(y | x) = ∏ᵢ P(yᵢ | yᵢ₋₁, xᵢ),   P(y | y′, x) = exp(Σ wₖ fₖ(x, y)) / Z(x, y′)           004 eqns 27, 28

Every label y′ (and the start of a sentence) has a maximum entropy model of its own, over the labels that
followed it in training. A label with one successor gives it probability 1 whatever the word is: the label
bias problem, which the papers' models do not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from corate import loglinear
from corate.attributes import Sparse
from corate.contexts import Context
from corate.corpus import Corpus
from corate.errors import InputError
from corate.factors import LOG_ZERO
from corate.fitted import FittedModel
from corate.lattice import Float, Ids, Int, Lattice, offsets_of, ragged_arange
from corate.loglinear import Chains, Features, observed, penalised
from corate.optimise import TOLERANCE, Search, minimise
from corate.pieces import row_numbers

START = "^"  # how the start of a sentence is called among labels


class MEMM(FittedModel):
    """Maximum entropy models of the next label, one for each label before it.

    Parameters
    ----------
    c2, contexts, max_iterations, tolerance, numbers, n_jobs : as for `LinearChainCRF`; contexts of label
        pairs (`pair:`) are none, since here every context is one.

    Examples
    --------
    >>> from corate import MEMM
    >>> model = MEMM(c2=0.1).fit([["the", "dog", "barks"]], [["DET", "NOUN", "VERB"]])
    >>> model.predict([["the", "dog"]])
    [['DET', 'NOUN']]
    """

    extra_labels = (START,)

    def __init__(
        self,
        c2: float = 1.0,
        contexts: Sequence[str] | None = None,
        max_iterations: int = 1000,
        tolerance: float = TOLERANCE,
        numbers: str = "refuse",
        n_jobs: int = 1,
    ) -> None:
        self.c2 = c2
        self.contexts = contexts
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.numbers = numbers
        self.n_jobs = n_jobs

    def _split(self, contexts: Sequence[Context]) -> tuple[list[Context], list[Context]]:
        """None of single labels: what a token looks like is a feature of its label and the one before."""
        if any(context.pair for context in contexts):
            raise InputError("a context of label pairs: in a MEMM every context is one, leave `pair:` out")
        return [], list(contexts)

    def _framed(self, chains: Chains, labels: Ids, n_labels: int) -> tuple[Chains, Ids]:
        """Every chain begins with a position of its own that has the label START."""
        offsets = chains.offsets + np.arange(chains.n_chains + 1)
        place = np.ones(int(offsets[-1]), bool)
        place[offsets[:-1]] = False
        framed = np.full(int(offsets[-1]), n_labels, np.int32)
        framed[place] = labels
        pairs = chains.pairs.spread(np.flatnonzero(place), len(framed))
        return Chains.of(offsets, Sparse.none(len(framed)), pairs), framed

    def _search(self, features: Features, chains: Chains, labels: Ids, start: Float, search: Search) -> Float:
        """Each position is a chain of its own, and looks at (attribute, label before) as one attribute."""
        n = features.n_labels - 1
        place = chains.edges()
        before = labels[place - 1].astype(np.int64)
        keys, number = np.unique(features.pair_attributes * (n + 1) + features.pair_left, return_inverse=True)
        local = Features(
            n,
            np.concatenate(
                [
                    np.searchsorted(features.left, np.arange(n + 1)),
                    len(features.left) + np.searchsorted(number.reshape(-1), np.arange(len(keys) + 1)),
                ]
            ),
            np.concatenate([features.right, features.pair_right]),
            *(np.empty(0, np.int32),) * 2,
            np.zeros(1, np.int64),
            *(np.empty(0, np.int32),) * 2,
        )
        pairs = chains.pairs.select(place)
        composite = np.searchsorted(keys, pairs.ids * np.int64(n + 1) + before[pairs.owners]) + n + 1
        states = _with_first(pairs, composite, before)
        number, first = row_numbers(states)
        pieces = Chains.of(np.arange(len(first) + 1, dtype=np.int64), states.select(first))
        pieces = replace(
            pieces.counting(np.bincount(number).astype(np.float64)),
            groups=before[first].astype(np.int32),
            allowed=self._successors(features).astype(np.uint8),
        )
        seen = observed(features, chains, labels)
        likelihood = penalised(local, pieces, seen, self.c2, self._n_threads())
        return minimise(likelihood, start, search, type(self).__name__)

    def _pieces(self, chains: Chains) -> Chains:
        raise NotImplementedError  # `_search` needs the labels too

    @staticmethod
    def _successors(features: Features) -> npt.NDArray[np.bool_]:
        """Which labels followed each label, and the start."""
        follows = np.zeros((features.n_labels, features.n_labels - 1), bool)
        follows[features.left, features.right] = True
        return follows

    def _lattice(self, corpus: Corpus) -> Lattice:
        """Scores of first positions are log P(y | START, x), those of edges log P(y | y′, x)."""
        chains, features = self._chains(corpus), self.features_
        n, n_positions = len(self.classes_), corpus.n_tokens
        scores = np.broadcast_to(
            loglinear.transition_scores(features, self.weights_)[:, :n], (n_positions, n + 1, n)
        )
        lengths = np.diff(features.pair_offsets)[chains.pairs.ids]
        rows = ragged_arange(features.pair_offsets[:-1][chains.pairs.ids], lengths)
        cells = np.repeat(chains.pairs.owners, lengths) * (n + 1) * n
        cells += features.pair_left[rows].astype(np.int64) * n + features.pair_right[rows]
        weight = features.split(self.weights_)[2][rows]
        added = np.bincount(cells, weights=weight, minlength=scores.size).reshape(scores.shape)
        scores = np.where(self._successors(features), scores + added, -np.inf)
        top = scores.max(axis=2, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0)
        total = np.exp(scores - top).sum(axis=2, keepdims=True)
        scores = scores - top - np.log(np.where(total > 0, total, 1.0))
        scores = np.where(np.isfinite(scores), scores, LOG_ZERO)
        is_edge = np.zeros(n_positions, bool)
        is_edge[chains.edges()] = True
        return Lattice(
            corpus.offsets,
            np.arange(n_positions + 1, dtype=np.int64) * n,
            np.tile(np.arange(n, dtype=np.int32), n_positions),
            np.where(is_edge[:, None], 0.0, scores[:, n, :]).reshape(-1),
            np.zeros((n, n)),
            offsets_of(np.where(is_edge, n * n, 0)),
            np.ascontiguousarray(scores[is_edge, :n, :]).reshape(-1),
        )


def _with_first(rows: Sparse, ids: Int, first: Int) -> Sparse:
    """Rows with other ids, each begun by one more."""
    n = len(first)
    offsets = rows.offsets + np.arange(n + 1)
    made = np.empty(int(offsets[-1]), np.int32)
    made[offsets[:-1]] = first
    rest = np.ones(len(made), bool)
    rest[offsets[:-1]] = False
    made[rest] = ids
    return Sparse(offsets, made)
