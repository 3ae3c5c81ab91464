"""SeparateCRF: separate training (003). Each factor is a maximum entropy model with its own objective.

    P(y | x) = ∏ᵢ u(yᵢ | xᵢ) · ∏ᵢ CR(yᵢ₋₁; yᵢ | x),   CR(y; y′ | x) = v(y, y′ | x, x′) / (u(y | x) u(y′ | x′))

    u(y | x)          ∝ exp(Σ weights of the attributes of x with y)
    v(y, y′ | x, x′)  ∝ exp(weights of (y, y′), of the attributes of x with y and of x′ with y′), over pairs

or, as in 003's experiments, with a pair factor that looks at labels alone (`pair="label"`), whose weights
follow from counts (label_pairs.py): CR(y; y′) = v(y, y′) / (v(y) v(y′)).

The partition function of a factor depends on its attributes alone: it is computed once for all edges (or
positions) that have the same ones. Nothing is normalised along the sentence, and no label decides what the
next one may be: there is no label bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from corate.arrays import Float, rounded
from corate.contexts.defaults import LAFFERTY
from corate.errors import InputError
from corate.lattice.lattice import Lattice
from corate.models.explanation import Explanation
from corate.models.loglinear.attributes import Sparse
from corate.models.loglinear.base import FittedModel, Known
from corate.models.loglinear.chains import Chains
from corate.models.loglinear.expectations import lattice as chain_lattice
from corate.models.loglinear.expectations import penalised, state_scores, transition_scores
from corate.models.loglinear.features import Features, observed, seen_features
from corate.models.loglinear.label_pairs import weights_of
from corate.models.loglinear.naming import feature_names
from corate.models.loglinear.optimise import (
    CONVERGED,
    INTERRUPTED,
    LIMIT,
    TOLERANCE,
    Report,
    Search,
    minimise,
)
from corate.models.loglinear.pieces import distinct_edges, edge_chains, single_positions
from corate.models.loglinear.restore import (
    checked_weights,
    feature_arrays,
    feature_members,
    restored_features,
)
from corate.storage.modelfile import Contents
from corate.text.corpus import Corpus


class SeparateCRF(FittedModel):
    """A CRF whose unary and pair factors are trained separately.

    Parameters
    ----------
    pair : {"label", "word"}
        Pair factors by labels alone, which costs nothing; or by the attributes of both words too.
    c2, contexts, max_iterations, tolerance, numbers, n_jobs :
        As for `LinearChainCRF`. Contexts that begin with `pair:` are further features of the pair
        factor; they need pair="word".

    Examples
    --------
    >>> from corate import SeparateCRF
    >>> crf = SeparateCRF(c2=0.1).fit([["the", "dog", "barks"]], [["DET", "NOUN", "VERB"]])
    >>> crf.predict([["the", "dog"]])
    [['DET', 'NOUN']]
    """

    word_contexts = ("bias", *LAFFERTY)
    sides = 2
    more_members = ("unary", *sorted(feature_members("unary")))

    def __init__(
        self,
        pair: str = "label",
        c2: float = 1.0,
        contexts: Sequence[str] | None = None,
        max_iterations: int = 1000,
        tolerance: float = TOLERANCE,
        numbers: str = "refuse",
        n_jobs: int = 1,
    ) -> None:
        self.pair = pair
        super().__init__(c2, contexts, max_iterations, tolerance, numbers, n_jobs)

    def fit(self, X: Any, y: Any = None, progress: Report | None = None) -> SeparateCRF:
        """Fit u, then v, to sentences `X`, `y`; `training_log_` and `progress` have the one after the
        other."""
        known, chains, labels = self._prepare(X, y)
        n, n_attributes = len(known.classes), len(known.attributes)
        alone = Chains.of(chains.offsets, chains.states)
        unary = seen_features(alone, labels, n, n_attributes, transitions=False)
        looked_at = self._looked_at(chains, known)
        edges, edge_labels = edge_chains(looked_at, labels, n_attributes)
        pair = seen_features(edges, edge_labels, n, 2 * n_attributes, len(known.pair_attributes))
        of_unary = Search(self.max_iterations, self.tolerance, _named(progress, "unary"))
        u = self._fit_factor(unary, single_positions(alone), observed(unary, alone, labels), of_unary)
        of_pair = Search(self.max_iterations, self.tolerance, _named(progress, "pair"))
        seen = observed(pair, edges, edge_labels)
        if self.pair == "label":
            v, of_pair.objective = weights_of(seen, n * n - len(pair), self.c2)
            v = rounded(v)
        else:
            v = self._fit_factor(pair, distinct_edges(chains, n_attributes), seen, of_pair)
        self.unary_features_, self.unary_weights_ = unary, u
        self._set_learned(known, pair, v)
        self.objective_ = of_unary.objective + of_pair.objective
        self.ended_ = max(of_unary.ended, of_pair.ended, key=(CONVERGED, LIMIT, INTERRUPTED).index)
        self.training_log_ = [
            entry | {"factor": name}
            for name, s in (("unary", of_unary), ("pair", of_pair))
            for entry in s.log
        ]
        return self

    def _looked_at(self, chains: Chains, known: Known) -> Chains:
        """What the pair factor is told of a sentence."""
        if self.pair == "word":
            return chains
        if len(known.pair_attributes):
            raise InputError(
                "a context that begins with 'pair:' is for pair=\"word\": leave it out, or say so"
            )
        return Chains.of(chains.offsets, Sparse.none(chains.n_positions))

    def _fit_factor(self, features: Features, pieces: Chains, seen: Float, search: Search) -> Float:
        likelihood = penalised(features, pieces, seen, self.c2, self._n_threads())
        return minimise(likelihood, np.zeros(len(features)), search, type(self).__name__)

    # Decoding ----------------------------------------------------------------------------------------

    def _lattice(self, corpus: Corpus) -> Lattice:
        chains = self._chains(corpus)
        u = state_scores(self.unary_features_, chains.states, self.unary_weights_)
        u -= np.logaddexp.reduce(u, axis=1)[:, None]
        return (
            self._by_labels(chains, u)
            if self._fitted_params["pair"] == "label"
            else self._by_words(chains, u)
        )

    def _by_labels(self, chains: Chains, u: Float) -> Lattice:
        """log u; log CR(y; y′) = log v(y, y′) − log v(y) − log v(y′), v(y) the share of y among both ends.

        Not among the one end where it stands: a label that never begins an edge would have a share of nearly
        nothing there, and a rate as if it liked to.
        """
        v = transition_scores(self.features_, self.weights_)
        v -= np.logaddexp.reduce(v, axis=None)
        ends = np.logaddexp(np.logaddexp.reduce(v, axis=1), np.logaddexp.reduce(v, axis=0)) - np.log(2)
        rates = v - ends[:, None] - ends
        bare = Chains.of(chains.offsets, Sparse.none(chains.n_positions))
        made = chain_lattice(self.features_, bare, self.weights_)
        return replace(made, scores=u.reshape(-1), pair_scores=rates)

    def _by_words(self, chains: Chains, u: Float) -> Lattice:
        """log u (1 − number of edges) and the parts of log v that look at one label; log v of pairs."""
        n_tokens, n_attributes = chains.n_positions, len(self.attributes_)
        moved = Sparse(chains.states.offsets, chains.states.ids + np.int32(n_attributes))
        right = np.zeros(n_tokens, bool)  # ends of edges
        right[chains.edges()] = True
        left = np.append(right[1:], False)
        scores = u * (1.0 - right - left)[:, None]
        scores += np.where(left[:, None], state_scores(self.features_, chains.states, self.weights_), 0.0)
        scores += np.where(right[:, None], state_scores(self.features_, moved, self.weights_), 0.0)
        without = Chains.of(chains.offsets, Sparse.none(n_tokens), chains.pairs)
        made = chain_lattice(self.features_, without, self.weights_)
        made.scores[:] = scores.reshape(-1)
        return made

    def _check_params(self) -> None:
        super()._check_params()
        if self.pair not in ("label", "word"):
            raise InputError(f"pair={self.pair!r}: choose from 'label', 'word'")

    def named_weights(self) -> dict[tuple[str, ...], float]:
        """The weights of v; those of attributes at the left of an edge begin with `left:`.

        Those of u are in `unary_weights_`, in the order of `unary_features_`.
        """
        self._check_fitted()
        names = self.attributes_.names()
        both = [*(f"left:{name}" for name in names), *names]
        found = feature_names(self.features_, both, self.pair_attributes_.names(), self.classes_)
        return dict(zip(found, self.weights_.tolist(), strict=True))

    def explain(self, tokens: Sequence[Any]) -> list[Explanation]:
        raise InputError("SeparateCRF does not explain its labels: its factors are quotients of two models")

    # On disk -----------------------------------------------------------------------------------------

    def _state(self) -> Contents:
        state = super()._state()
        arrays = {
            **state.arrays,
            **feature_arrays("unary", self.unary_features_),
            "unary": self.unary_weights_,
        }
        return Contents(state.header, state.texts, arrays)

    def _restore_more(self, state: Contents) -> None:
        self.unary_features_ = restored_features(state, "unary", len(self.classes_))
        shape = len(self.unary_features_.state_offsets), len(self.unary_features_.pair_offsets)
        if shape != (len(self.attributes_) + 1, 1):
            raise ValueError("features do not fit the attributes")
        if any(self.unary_features_.sizes[1:]):
            raise ValueError("features of label pairs where there should be none")
        self.unary_weights_ = checked_weights(state.arrays["unary"], len(self.unary_features_))


def _named(progress: Report | None, factor: str) -> Report | None:
    return None if progress is None else lambda entry: progress(entry | {"factor": factor})
