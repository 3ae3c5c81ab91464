"""Models whose weights are fitted: what the log-linear ones share.

    contexts ──► attributes ──► features ──► chains that are normalised ──► L-BFGS ──► weights ──► Lattice

A child says over which chains its likelihood is normalised: whole sentences (CRF), pieces of them, single
positions. The objective is CRFsuite's, so that numbers compare:

    −Σ log P(y | x) + c1 Σ |w| + c2 ‖w‖²
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple, TypeVar

import numpy as np

from corate.arrays import Float, Ids
from corate.contexts.defaults import LAFFERTY, default_contexts
from corate.contexts.template import Context, parse_all
from corate.errors import InputError
from corate.lattice.lattice import Lattice
from corate.models.base import MOST_SCORES, Estimator
from corate.models.explanation import Explanation
from corate.models.loglinear.attributes import Attributes, Sparse
from corate.models.loglinear.chains import Chains
from corate.models.loglinear.expectations import lattice as chain_lattice
from corate.models.loglinear.expectations import penalised
from corate.models.loglinear.explain import explain
from corate.models.loglinear.features import Features, observed, seen_features
from corate.models.loglinear.naming import feature_names, starting_weights
from corate.models.loglinear.optimise import (
    CONVERGED,
    INTERRUPTED,
    LIMIT,
    TOLERANCE,
    Report,
    Search,
    minimise,
)
from corate.models.loglinear.restore import (
    checked_weights,
    feature_arrays,
    member_names,
    restored_attributes,
    restored_features,
    restored_objective,
    restored_texts,
)
from corate.models.model import check_names
from corate.storage.modelfile import Contents
from corate.text.corpus import UNLABELLED, Corpus
from corate.text.tokens import as_corpus

Self = TypeVar("Self", bound="FittedModel")
InitialWeights = Mapping[Any, float]  # by (attribute, label), (attribute, label, label) or ("", label, label)


class Known(NamedTuple):
    """What training has seen."""

    contexts: Sequence[Context]
    classes: list[str]
    words: list[str]
    attributes: Attributes
    pair_attributes: Attributes


class FittedModel(Estimator):
    """Base of models that are fitted by maximum likelihood with an L2 penalty."""

    initial: Any = None
    c1: float = 0.0  # penalty on |w|, where a model has one
    later_params: frozenset[str] = frozenset()  # that files of earlier versions lack
    all_states = all_transitions = False
    word_contexts: tuple[str, ...] = LAFFERTY  # what is looked at where tokens are words and nothing is named
    label_pairs = True  # whether a pair of labels alone is a feature
    extra_labels: tuple[str, ...] = ()  # that stand around sentences
    sides = (
        1  # features that each attribute has: 2 where one at the left of an edge is another than at the right
    )

    more_members: tuple[str, ...] = ()  # of the file, besides those that all have

    features_: Features
    weights_: Float
    objective_: float  # −Σ log P(y | x) + c1 Σ |w| + c2 ‖w‖² of the weights
    ended_: str  # how the search ended: "converged", at its "limit" of iterations, or "interrupted"
    training_log_: list[dict[str, Any]]  # iteration, objective, gradient_norm, seconds, dev_score
    attributes_: Attributes
    pair_attributes_: Attributes

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

    # Training ----------------------------------------------------------------------------------------

    def fit(self: Self, X: Any, y: Any = None, progress: Report | None = None) -> Self:
        """Fit the weights to labelled sentences `X`, `y`; `progress` is told of every iteration.

        Ctrl-C ends the search, and the best weights so far are kept.
        """
        return self._fit(X, y, Search(self.max_iterations, self.tolerance, progress))

    def _fit(self: Self, X: Any, y: Any, search: Search, dev: tuple[Any, Any] | None = None) -> Self:
        known, chains, labels = self._prepare(X, y)
        features = seen_features(
            chains,
            labels,
            len(known.classes) + len(self.extra_labels),
            len(known.attributes),
            len(known.pair_attributes),
            transitions=self.label_pairs,
            all_states=self.all_states,
            all_transitions=self.all_transitions,
        )
        names = [*known.classes, *self.extra_labels]
        start = starting_weights(self.initial, features, known.attributes, known.pair_attributes, names)
        if dev is not None:
            search.dev_score = self._dev_score(*dev, known, features)
        weights = self._search(features, chains, labels, start, search)
        self.objective_, self.training_log_, self.ended_ = search.objective, search.log, search.ended
        self._set_learned(known, features, weights)
        return self

    def fit_chunks(self: Self, chunks: Iterable[Corpus], progress: Report | None = None) -> Self:
        """Like `fit`, for `chunks` of sentences that arrive piece by piece; `progress` as there."""
        return self.fit(Corpus.join(list(chunks)), progress=progress)

    def _dev_score(self, X: Any, y: Any, known: Known, features: Features) -> Callable[[Float], float]:
        """The share of a development set's tokens that given weights label right."""
        trial = copy(self)
        trial._set_learned(known, features, np.zeros(len(features)))
        dev = trial._corpus(X, y)

        def score(weights: Float) -> float:
            trial.weights_ = weights
            return trial.score(dev)

        return score

    def _prepare(self, X: Any, y: Any) -> tuple[Known, Chains, Ids]:
        """Labelled sentences as chains of attributes, and their labels."""
        self._check_params()
        corpus = as_corpus(X, y, self.numbers)
        contexts = self._templates(corpus)
        classes, labels = encode_labels(corpus)
        state_contexts, pair_contexts = self._split(contexts)
        attributes, states = Attributes.of(corpus, state_contexts)
        pair_attributes, pairs = Attributes.of(corpus, pair_contexts)
        chains, labels = self._framed(*labelled_chains(corpus, labels, states, pairs), len(classes))
        return Known(contexts, classes, known_words(corpus), attributes, pair_attributes), chains, labels

    def _pieces(self, chains: Chains) -> Chains:
        """The chains over which the likelihood is normalised: whole sentences, unless a model has others."""
        return chains

    def _split(self, contexts: Sequence[Context]) -> tuple[list[Context], list[Context]]:
        """Contexts of single labels, and those of label pairs."""
        return [c for c in contexts if not c.pair], [c for c in contexts if c.pair]

    def _framed(self, chains: Chains, labels: Ids, n_labels: int) -> tuple[Chains, Ids]:
        """Chains with whatever a model puts around them."""
        return chains, labels

    def _search(self, features: Features, chains: Chains, labels: Ids, start: Float, search: Search) -> Float:
        seen = observed(features, chains, labels)  # the pieces have each factor of the chains once
        likelihood = penalised(features, self._pieces(chains), seen, self.c2, self._n_threads())
        return minimise(likelihood, start, search, type(self).__name__, self.c1)

    def _templates(self, corpus: Corpus) -> list[Context]:
        named = self._named_contexts(corpus)
        if named is not None:
            return named
        if corpus.keys:
            return default_contexts(corpus)
        return parse_all([*self.word_contexts, *(f"col{k}" for k in range(2, len(corpus.columns) + 1))])

    def _set_learned(self, known: Known, features: Features, weights: Float) -> None:
        self._contexts, self.classes_, self._words = list(known.contexts), known.classes, known.words
        self.attributes_, self.pair_attributes_ = known.attributes, known.pair_attributes
        self.features_, self.weights_ = features, weights
        self._remember_params()
        self._fitted_params |= {"contexts": tuple(map(str, known.contexts))}
        if "initial" in self._fitted_params:
            self._fitted_params["initial"] = None  # a matter of the search, not of the model

    # What the model says -----------------------------------------------------------------------------

    def known_words(self) -> set[str]:
        return set(self._words)

    def named_weights(self) -> dict[tuple[str, ...], float]:
        """The weights under readable names, as `initial` takes them.

        (attribute, label), (pair attribute, label, next label) and ("", label, next label).
        """
        self._check_fitted()
        classes = [*self.classes_, *self.extra_labels]
        states, pairs = self.attributes_.names(), self.pair_attributes_.names()
        names = feature_names(self.features_, states, pairs, classes)
        return dict(zip(names, self.weights_.tolist(), strict=True))

    def _chains(self, corpus: Corpus) -> Chains:
        return Chains.of(
            corpus.offsets, self.attributes_.encode(corpus), self.pair_attributes_.encode(corpus)
        )

    def _lattice(self, corpus: Corpus) -> Lattice:
        return chain_lattice(self.features_, self._chains(corpus), self.weights_)

    def _batch_tokens(self) -> int:
        scores = len(self.classes_) ** (2 if len(self.pair_attributes_) else 1)
        return min(super()._batch_tokens(), max(1, MOST_SCORES // scores))

    def explain(self, tokens: Sequence[Any]) -> list[Explanation]:
        """For every token of a sentence (`tokens`), the weights that made its label win, strongest first."""
        corpus = self._corpus([tokens])
        return explain(self, corpus, self._lattice(corpus), self._chains(corpus))

    # On disk -----------------------------------------------------------------------------------------

    def _state(self) -> Contents:
        texts = {"y": self.classes_, "words": self._words}
        arrays = {"weights": self.weights_, **feature_arrays("features", self.features_)}
        for kind, attributes in (("states", self.attributes_), ("pairs", self.pair_attributes_)):
            texts |= {f"{kind}/{source}": values for source, values in attributes.vocabularies.items()}
            arrays |= {f"{kind}/{k}": table for k, table in enumerate(attributes.tables)}
        ended = {} if self.ended_ == CONVERGED else {"ended": self.ended_}
        return Contents({"objective": self.objective_, **ended}, texts, arrays)

    def _restore(self, state: Contents) -> None:
        check_names("the header", {*state.header} - {"ended"}, {"model", "params", "objective"})
        self.ended_ = state.header.get("ended", CONVERGED)
        if self.ended_ not in (CONVERGED, LIMIT, INTERRUPTED):
            raise ValueError(f"the search is said to have ended as {self.ended_!r:.60}")
        found, expected = {*state.header["params"]}, {*self._param_names()} - {"n_jobs"}
        check_names("the parameters", found, expected - (self.later_params - found))
        contexts = parse_all(self.contexts)
        kinds = [*zip(("states", "pairs"), self._split(contexts), strict=True)]
        check_names("the members", {*state.texts, *state.arrays}, member_names(kinds) | {*self.more_members})
        parts = [restored_attributes(state, kind, some) for kind, some in kinds]
        classes, words = restored_texts(state, "y"), restored_texts(state, "words")
        features = restored_features(state, "features", len(classes), len(self.extra_labels))
        n_states = len(parts[0]) * self.sides
        if (len(features.state_offsets), len(features.pair_offsets)) != (n_states + 1, len(parts[1]) + 1):
            raise ValueError("features do not fit the attributes")
        known = Known(contexts, classes, words, parts[0], parts[1])
        self._set_learned(known, features, checked_weights(state.arrays["weights"], len(features)))
        self.objective_, self.training_log_ = restored_objective(state), []
        self._restore_more(state)

    def _restore_more(self, state: Contents) -> None:
        """What a model has besides."""

    def _check_params(self) -> None:
        if not isinstance(self.c2, (int, float, np.number)) or not 0 <= self.c2 < np.inf:
            raise InputError(f"c2={self.c2!r}: give a number from 0, the penalty on the squares of weights")
        check_whole("max_iterations", self.max_iterations)
        if not isinstance(self.tolerance, (int, float, np.number)) or not 0 <= self.tolerance < 1:
            raise InputError(f"tolerance={self.tolerance!r}: give a number from 0 to 1, such as 1e-5")
        self._check_numbers()
        if self.contexts is not None:
            parse_all(self.contexts)
        self._n_threads()


def check_whole(name: str, value: Any) -> None:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name}={value!r}: give a whole number from 1")


def encode_labels(corpus: Corpus) -> tuple[list[str], Ids]:
    """The distinct labels, sorted, and each token's place among them; −1 where it has none."""
    if corpus.labels is None:
        raise InputError("the sentences have no labels: there is nothing to learn from")
    classes = sorted({*corpus.labels.strings()} - {UNLABELLED})
    if not classes:
        raise InputError("no labelled token to learn from")
    return classes, corpus.labels.encode(classes)


def known_words(corpus: Corpus) -> list[str]:
    return [] if corpus.keys else sorted(set(corpus.words.strings()))


def labelled_chains(corpus: Corpus, labels: Ids, states: Sparse, pairs: Sparse) -> tuple[Chains, Ids]:
    """Sentences as chains; one with a token that has no label falls apart there."""
    if not len(labels) or labels.min() >= 0:
        return Chains.of(corpus.offsets, states, pairs), labels
    kept = np.flatnonzero(labels >= 0)
    begins = corpus.begins() | np.concatenate([[False], labels[:-1] < 0])
    first = np.flatnonzero(begins[kept])
    offsets = np.append(first, len(kept)).astype(np.int64)
    return Chains.of(offsets, states.select(kept), pairs.select(kept)), labels[kept]
