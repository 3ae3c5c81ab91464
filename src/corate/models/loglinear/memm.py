"""MEMM: maximum entropy Markov model (McCallum & Freitag 2000; 004 §0.9).

    P(y | x) = ∏ᵢ P(yᵢ | yᵢ₋₁, xᵢ),   P(y | y′, x) = exp(Σ wₖ fₖ(x, y)) / Z(x, y′)           004 eqns 27, 28

Every label y′ (and the start of a sentence) has a maximum entropy model of its own, over the labels that
followed it in training. A label with one successor gives it probability 1 whatever the word is: the label
bias problem, which the papers' models do not have. With many labels it is a disaster: rare labels have few
successors, and the best path stays among them. The usual remedy is one model for all, in which y′ is a
feature among others: P(y | y′, x) ∝ exp(Σ wₖ fₖ(x, y) + w(y′, y)), over all labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from corate.arrays import Float, Ids, check_room, offsets_of, ragged_arange
from corate.contexts.template import Context
from corate.errors import InputError
from corate.lattice.lattice import Lattice
from corate.models.base import MOST_SCORES
from corate.models.loglinear.attributes import Sparse
from corate.models.loglinear.base import FittedModel
from corate.models.loglinear.chains import Chains
from corate.models.loglinear.expectations import penalised, state_scores, transition_scores
from corate.models.loglinear.features import Features, observed
from corate.models.loglinear.optimise import TOLERANCE, Search, minimise
from corate.models.loglinear.pieces import row_numbers
from corate.rates.empirical import LOG_ZERO
from corate.text.corpus import Corpus

MODELS = ("own", "shared")
START = "^"  # how the start of a sentence is called among labels


class MEMM(FittedModel):
    """Maximum entropy models of the next label, given the label before it.

    Parameters
    ----------
    models : {"own", "shared"}
        A model for each label before (004 eqn 28), or one model in which that label is a feature.
    c2, contexts, max_iterations, tolerance, numbers, n_jobs :
        As for `LinearChainCRF`, but that there are no contexts of label pairs (`pair:`).

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
        models: str = "own",
        c2: float = 1.0,
        contexts: Sequence[str] | None = None,
        max_iterations: int = 1000,
        tolerance: float = TOLERANCE,
        numbers: str = "refuse",
        n_jobs: int = 1,
    ) -> None:
        self.models = models
        super().__init__(c2, contexts, max_iterations, tolerance, numbers, n_jobs)

    def _split(self, contexts: Sequence[Context]) -> tuple[list[Context], list[Context]]:
        """In models of their own every context is one of label pairs; in a shared one, none is."""
        if any(context.pair for context in contexts):
            raise InputError(
                "a context of label pairs: a MEMM decides on every context itself, leave `pair:` out"
            )
        return ([], list(contexts)) if self.models == "own" else (list(contexts), [])

    def _framed(self, chains: Chains, labels: Ids, n_labels: int) -> tuple[Chains, Ids]:
        """Every chain begins with a position of its own that has the label START."""
        offsets = chains.offsets + np.arange(chains.n_chains + 1)
        is_word = np.ones(int(offsets[-1]), bool)
        is_word[offsets[:-1]] = False
        framed = np.full(len(is_word), n_labels, np.int32)
        framed[is_word] = labels
        place = np.flatnonzero(is_word)
        states, pairs = (rows.spread(place, len(framed)) for rows in (chains.states, chains.pairs))
        return Chains.of(offsets, states, pairs), framed

    def _search(self, features: Features, chains: Chains, labels: Ids, start: Float, search: Search) -> Float:
        """Each position is a chain of its own. It has its attributes; the label before as one more; and each
        (pair attribute, label before) as one. In this order the features are those of the whole chains."""
        n, n_attributes = features.n_labels - 1, len(features.state_offsets) - 1
        keys, number = np.unique(features.pair_attributes * (n + 1) + features.pair_left, return_inverse=True)
        n_states, n_transitions, _ = features.sizes
        by_label = n_states + np.searchsorted(features.left, np.arange(n + 1))
        by_pair = n_states + n_transitions + np.searchsorted(number.reshape(-1), np.arange(len(keys) + 1))
        none = np.empty(0, np.int32)
        local = Features(
            n,
            np.concatenate([features.state_offsets[:-1], by_label, by_pair]),
            np.concatenate([features.state_labels, features.right, features.pair_right]),
            none,
            none,
            np.zeros(1, np.int64),
            none,
            none,
        )
        place = chains.edges()
        before = labels[place - 1].astype(np.int64)
        states, pairs = chains.states.select(place), chains.pairs.select(place)
        both = np.searchsorted(keys, pairs.ids * np.int64(n + 1) + before[pairs.owners])
        owners = np.concatenate([states.owners, np.arange(len(place)), pairs.owners])
        ids = np.concatenate([states.ids, n_attributes + before, n_attributes + n + 1 + both])
        order = np.argsort(owners, kind="stable")
        lengths = np.bincount(owners, minlength=len(place))
        rows = Sparse(offsets_of(lengths), ids[order].astype(np.int32))
        number, first = row_numbers(rows)
        pieces = Chains.of(np.arange(len(first) + 1, dtype=np.int64), rows.select(first))
        pieces = replace(
            pieces.counting(np.bincount(number).astype(np.float64)),
            groups=before[first].astype(np.int32),
            allowed=_successors(features, self.models == "shared").astype(np.uint8),
        )
        seen = observed(features, chains, labels)
        likelihood = penalised(local, pieces, seen, self.c2, self._n_threads())
        return minimise(likelihood, start, search, type(self).__name__)

    def _batch_tokens(self) -> int:
        return max(1, min(super()._batch_tokens(), MOST_SCORES // len(self.classes_) ** 2))

    def _lattice(self, corpus: Corpus) -> Lattice:
        """Scores of first positions are log P(y | START, x), those of edges log P(y | y′, x)."""
        chains, n, n_positions = self._chains(corpus), len(self.classes_), corpus.n_tokens
        check_room(n_positions * n * n, f"pairs of {n:,} labels at every token")
        is_edge = np.zeros(n_positions, bool)
        is_edge[chains.edges()] = True
        edges = offsets_of(np.where(is_edge, n * n, 0))
        first, edge_scores = np.zeros((n_positions, n)), np.empty(int(edges[-1]))
        step = max(1, MOST_SCORES // n**2)  # positions at a time: each takes some times its scores
        for begin in range(0, n_positions, step):
            here = np.arange(begin, min(begin + step, n_positions))
            scores = self._log_probs(chains.states.select(here), chains.pairs.select(here))
            first[here] = np.where(is_edge[here, None], 0.0, scores[:, n, :])
            edge_scores[edges[begin] : edges[here[-1] + 1]] = scores[is_edge[here], :n, :].reshape(-1)
        return Lattice(
            corpus.offsets,
            np.arange(n_positions + 1, dtype=np.int64) * n,
            np.tile(np.arange(n, dtype=np.int32), n_positions),
            first.reshape(-1),
            np.zeros((n, n)),
            edges,
            edge_scores,
        )

    def _log_probs(self, states: Sparse, pairs: Sparse) -> Float:
        """Positions × labels before and START × labels: log P(y | y′, x)."""
        features, n = self.features_, len(self.classes_)
        by_label = transition_scores(features, self.weights_)[:, :n]
        scores = by_label + state_scores(features, states, self.weights_)[:, None, :n]
        if len(pairs.ids):
            lengths = np.diff(features.pair_offsets)[pairs.ids]
            rows = ragged_arange(features.pair_offsets[:-1][pairs.ids], lengths)
            cells = np.repeat(pairs.owners, lengths) * (n + 1) * n
            cells += features.pair_left[rows].astype(np.int64) * n + features.pair_right[rows]
            weight = features.split(self.weights_)[2][rows]
            scores += np.bincount(cells, weights=weight, minlength=scores.size).reshape(scores.shape)
        follows = _successors(features, self._fitted_params["models"] == "shared")
        return log_softmax(np.where(follows, scores, -np.inf))

    def _check_params(self) -> None:
        super()._check_params()
        if self.models not in MODELS:
            raise InputError(f"models={self.models!r}: choose from {', '.join(map(repr, MODELS))}")


def _successors(features: Features, shared: bool) -> npt.NDArray[np.bool_]:
    """Which labels may follow each label, and the start: those that did, or all where the model is shared."""
    follows = np.full((features.n_labels, features.n_labels - 1), shared)
    follows[features.left, features.right] = True
    return follows


def log_softmax(scores: Float) -> Float:
    """Normalised over the last axis; what is impossible, and rows in which all is, LOG_ZERO."""
    top = scores.max(axis=2, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    total = np.exp(scores - top).sum(axis=2, keepdims=True)
    scores = scores - top - np.log(np.where(total > 0, total, 1.0))
    return np.where(np.isfinite(scores), scores, LOG_ZERO)
