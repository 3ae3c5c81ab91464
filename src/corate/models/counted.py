"""Models that are counted: they add, subtract and merge exactly, since their counts do.

    fit(A + B) = fit(A).partial_fit(B) = fit(A) + fit(B),     fit(A + B).forget(B) = fit(A)

The stored counts are the truth; factors are derived from them when they are first asked for, and so are the
weights of EP2. Numbers that were learned besides (the Tagger's weights, a chosen μ_oov) are kept by
`partial_fit` and `forget`, and averaged by a merge, each model's by the number of its tokens.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from corate.contexts.template import Context
from corate.contexts.values import seen_columns
from corate.counts.counts import Counts, add_up
from corate.counts.engines.base import Counted, HeadsOf, Source, Task
from corate.counts.engines.memory import count_chunks
from corate.counts.invariants import check, check_counts
from corate.counts.ledger import NO_DIGESTS, Digests, Ledger, digests_of
from corate.counts.table import NEVER_COUNTED
from corate.errors import InputError, spoken
from corate.models import counted_file
from corate.models.base import Estimator
from corate.models.model import Model
from corate.storage.modelfile import Array, Contents
from corate.text.corpus import ABSENT, Corpus
from corate.text.passages import Passages

HINTS = {  # what to do about a parameter that differs
    "ledger": ": ledger=False (--no-ledger) leaves it out",
    "contexts": ": name the same ones when training",
}


class WordEntry(NamedTuple):
    """What a model knows of a word and one `label`: how often, how probable, how much above the usual."""

    label: str
    times: int | None  # how often the word had the label; None for a word that training never saw
    probability: float
    rate: float  # probability over that of the label anywhere


Self = TypeVar("Self", bound="Countable")
Own = TypeVar("Own", bound="CountedModel")
Counts_ = TypeVar("Counts_", bound="CountedModel")
Learned = dict[str, Any]
Arrays = dict[str, Array]


class Countable(Model):
    """Base of what is trained by counting. Children say which tables, and what they make of them.

    In all methods `X` is a list of sentences and `y` a list of their labels, or `X` a labelled `Corpus`.
    """

    counts_: Counts
    ledger_: Ledger | None  # None where it is left out
    pruned_: int  # events below this count have been dropped; 0 where none have
    ledger: bool
    _contexts: list[Context]  # what the trained model looks at
    _thing = "sentence"  # what is counted
    _on_trees = False  # whether labels hang on trees
    _heads_of: HeadsOf | None = None  # parents of tokens, where labels hang on trees

    # What a model says of itself ---------------------------------------------------------------------

    @abstractmethod
    def fit(self: Self, X: Any, y: Any = None) -> Self:
        """Count the events of labelled sentences."""

    @abstractmethod
    def _tables(self) -> tuple[str, ...]:
        """Names of the count tables that the model needs."""

    def _learned(self) -> Learned:
        """Learned numbers besides the counts, for the model file."""
        return {}

    def _learned_arrays(self) -> Arrays:
        """Learned arrays besides the counts, for the model file."""
        return {}

    @abstractmethod
    def _set_learned(self, counts: Counts, learned: Learned, arrays: Arrays) -> None:
        """Become the model of these counts and of what was learned, or raise ValueError."""

    @abstractmethod
    def _replace_counts(self, counts: Counts, changed: Counts | None = None, sign: int = 1) -> None:
        """Go over to other counts, which differ by those that were added or (sign −1) taken away, if told.
        What was learned besides stays."""

    @staticmethod
    @abstractmethod
    def _mean(
        models: Sequence[Any], shares: Sequence[float], labels: Sequence[str]
    ) -> tuple[Learned, Arrays]:
        """What models of the same parameters have learned besides, averaged; in whatever order they come."""

    # Adding and subtracting --------------------------------------------------------------------------

    def partial_fit(self: Self, X: Any, y: Any = None) -> Self:
        """Add the events of further sentences: the same counts as one `fit` on everything.

        Words and labels may be new. What was learned besides the counts stays as it is.
        """
        if not self._is_fitted():
            return self.fit(X, y)
        noted = None if self.ledger_ is None else self._contexts
        added, digests = self._count([self._labelled_sentences(X, y)], tuple(self.counts_.tables), noted)
        counts = self.counts_ + added
        self._check_counts(counts)
        ledger = None if self.ledger_ is None else self.ledger_ + Ledger.of(digests)
        self._replace_counts(counts, added)
        self.ledger_ = ledger
        return self

    def forget(self: Self, X: Any, y: Any = None, force: bool = False) -> Self:
        """Take sentences away that were learned, labels and all: what is left is as if they had never been.

        Sentences that were never learned are refused; `force` passes over them and forgets the others, if the
        model keeps a ledger to tell them by.
        """
        self._check_fitted()
        if self.pruned_:
            raise InputError("the model was pruned: what was dropped from it cannot be subtracted any more")
        corpus, digests = self._batch(X, y)
        if self.ledger_ is not None:
            counted, known = corpus.labelled(), self.ledger_.known(digests)
            if not known.all():
                if not force:
                    first = int(np.flatnonzero(counted)[np.flatnonzero(~known)[0]])
                    raise InputError(
                        f"{np.count_nonzero(~known):,} of {len(known):,} {self._thing}s were never learned, "
                        f"the first of them {_text(corpus, first)!r}: nothing is forgotten"
                    )
                counted[counted] = known
                corpus, digests = corpus.take(counted), digests[known]
                if not known.any():
                    return self
        taken = self._count([corpus], tuple(self.counts_.tables)).counts
        counts = self.counts_ - taken
        if not counts.n_tokens:
            raise InputError("nothing would be left of the model: remove its file instead")
        ledger = None if self.ledger_ is None else self.ledger_ - Ledger.of(digests)
        if ledger is None:
            _check_left(counts, self._on_trees)
        self._replace_counts(counts, taken, -1)
        self.ledger_ = ledger
        return self

    def _count(
        self, chunks: Iterable[Corpus], tables: Sequence[str], noted: Sequence[Context] | None = None
    ) -> Counted:
        """Count in memory; `noted`: see `Task`."""
        return count_chunks(chunks, Task(tables, noted, self._heads_of))

    def _check_counts(self, counts: Counts) -> None:
        """Refuse counts that the model could not work with."""
        check_counts(counts)

    def _check_shared_params(self) -> None:
        if not isinstance(self.ledger, (bool, np.bool_)):
            raise InputError(f"ledger={self.ledger!r}: say True or False")
        self._n_threads()

    def known(self, X: Any, y: Any = None) -> npt.NDArray[np.bool_]:
        """Which of the labelled sentences the model has learned, by its ledger."""
        self._check_fitted()
        if self.ledger_ is None:
            raise InputError("the model keeps no ledger: it cannot tell what it has learned")
        corpus, digests = self._batch(X, y)
        known = np.zeros(corpus.n_sentences, bool)
        known[corpus.labelled()] = self.ledger_.known(digests)
        return known

    def __add__(self: Self, other: Self) -> Self:
        return merge(self, other)

    def __radd__(self: Self, other: Any) -> Self:
        """For `sum([a, b, c])`, which begins with 0."""
        return merge(self) if isinstance(other, int) and other == 0 else NotImplemented

    def check_alike(self, other: Countable, ledger: bool = True) -> None:
        """Refuse to be merged with an `other` model of another class or of other parameters; `ledger` says
        whether ledgers count as well."""
        if type(self) is not type(other):
            raise InputError(f"{spoken(self)} and {spoken(other)} do not merge")
        for name, value in self._fitted_params.items():
            if name == "n_jobs" or (name == "ledger" and not ledger):
                continue
            if other._fitted_params[name] != value:
                hint = HINTS.get(name, "")
                raise InputError(
                    f"models with different {name} do not merge, "
                    f"{value!r:.80} and {other._fitted_params[name]!r:.80}{hint}"
                )

    def prune(self: Self, below: int = 2) -> Self:
        """Drop the events of contexts that were counted less than `below` times, and the ledger.

        What was seen once may give training text away. The model can then learn, but no longer forget.
        """
        self._check_fitted()
        self._check_below(below)
        counts = self.counts_.at_least(int(below))
        _check_left_after(below, counts)
        self._replace_counts(counts)
        self._set_pruned(int(below))
        return self

    def _check_below(self, below: Any) -> None:
        """Refuse to drop what was counted less than so many times."""
        if not isinstance(below, (int, np.integer)) or below < 2:
            raise InputError(f"below={below!r}: give a whole number from 2")

    def _set_pruned(self, below: int) -> None:
        self.ledger_, self._fitted_params = None, {**self._fitted_params, "ledger": False}
        self.pruned_ = max(self.pruned_, below)

    @abstractmethod
    def _labelled_sentences(self, X: Any, y: Any) -> Corpus:
        """What is to be added or taken away, if the model can count it."""

    def _batch(self, X: Any, y: Any) -> tuple[Corpus, Digests]:
        """Such sentences, and digests of those that have a label, if there is a ledger."""
        corpus = self._labelled_sentences(X, y)
        return corpus, self._digests(corpus, self._contexts, self.ledger_ is not None)

    def _start_ledger(self, digests: Digests) -> None:
        """What a first training has learned: these sentences, and nothing was pruned."""
        self.pruned_ = 0
        self.ledger_ = Ledger.of(digests) if self.ledger else None

    def _digests(self, corpus: Corpus, contexts: Sequence[Context], ledger: bool | None = None) -> Digests:
        """What the ledger is to have of some sentences; nothing where there is none."""
        keeps_one = self.ledger if ledger is None else ledger
        return digests_of(corpus, seen_columns(corpus, contexts)) if keeps_one else NO_DIGESTS

    # On disk -----------------------------------------------------------------------------------------

    def _n_values(self) -> list[int]:
        """Numbers of values that the model has to know before it reads tables."""
        return []

    def _state(self) -> Contents:
        return counted_file.contents(self)

    def _restore(self, state: Contents) -> None:
        counted_file.restore(self, state)


class CountedModel(Countable, Estimator):
    """Base of models of sentences whose training is counting."""

    @abstractmethod
    def label_log_rates(self) -> npt.NDArray[np.float64]:
        """log CR(y; y′) of every pair of labels."""

    @abstractmethod
    def word_entries(self, word: str) -> list[WordEntry]:
        """What the model knows of a word by itself, most probable label first."""

    def _train(self: Own, source: Source, min_count: int | None = None, **learning: Any) -> Own:
        """Become the model of these sentences, whoever counts them; `min_count` as `prune` has it, which for
        weights that need all counts comes afterwards."""
        if min_count is not None:
            self._check_below(min_count)
        settled, looks_back = self._settle(source), self._looks_back(learning)
        cut = 0 if looks_back or min_count is None else int(min_count)
        noted = settled if self.ledger and min_count is None else None
        task = Task(self._tables_with(settled), noted, self._heads_of, cut)
        counts, digests = source.count(task, keep=looks_back)
        if cut:
            _check_left_after(cut, counts)
        if not counts.n_tokens:
            raise InputError("no labelled token to learn from")
        check_counts(counts)
        self._become(source.text() if looks_back else None, settled, counts, **learning)
        self._start_ledger(digests)
        if cut:
            self._set_pruned(cut)
        elif min_count is not None:
            self.prune(min_count)
        return self

    def _settle(self, source: Source) -> tuple[Context, ...]:
        """Contexts that a training on these sentences is to look at, where it settles them itself."""
        return ()

    def _looks_back(self, learning: Mapping[str, Any]) -> bool:
        """Whether training looks at sentences again when they have been counted."""
        return False

    def _tables_with(self, settled: tuple[Context, ...]) -> tuple[str, ...]:
        """Names of the tables to count in a training that has settled this."""
        return self._tables()

    @abstractmethod
    def _become(self, text: Passages | None, settled: tuple[Context, ...], counts: Counts) -> None:
        """Become the model that `fit` makes of these sentences, whose counts are known: learn whatever is
        learned besides. The text is there if training looks back at it."""

    def about_weights(self) -> str | None:
        """What was decided about weights, in words; None where there are none."""
        return None

    def known_words(self) -> set[str]:
        return set(self.counts_.words)

    def _of_counts_alone(self: Counts_) -> Counts_:
        """A copy that remembers no sentence by anything but its counts, which can be subtracted."""
        return copy(self)

    def _labelled_sentences(self, X: Any, y: Any) -> Corpus:
        """Sentences to add or to take away, if the model can count them."""
        corpus = self._corpus(X, y)
        if corpus.labels is None:
            raise InputError("the sentences have no labels: there is nothing to count")
        seen_columns(corpus, self._contexts)  # which raises an error where one is missing
        if not corpus.labelled().any():
            raise InputError("no sentence has a label: there is nothing to count")
        return corpus


def keys_of(contexts: Iterable[Context]) -> list[str]:
    """The keys of features that contexts look at, sorted."""
    return sorted({atom.key for context in contexts for atom in context.atoms if atom.key})


def merge(*models: Self, ledger: bool = True) -> Self:
    """One model that has learned all that the models have: the same counts as training on everything at once.

    Whatever else was learned (fitted weights) becomes the mean over the models, by their numbers of tokens.
    The `models` must be of one class and have the same parameters. `ledger=False` leaves the ledger out.
    """
    if not models:
        raise InputError("there is nothing to merge: give at least one model")
    for model in models:
        if not isinstance(model, Countable):
            raise InputError(f"{spoken(model)} does not merge: its training is not counting")
        model._check_fitted()
    first = models[0]
    for other in models[1:]:
        first.check_alike(other, ledger)
    params = {**first._fitted_params, "n_jobs": first.n_jobs}
    params["ledger"] = params["ledger"] and ledger
    counts = add_up([model.counts_ for model in models])
    check_counts(counts)
    total = counts.n_tokens
    shares = [model.counts_.n_tokens / total for model in models]
    merged = type(first)(**params)
    merged.pruned_ = max(model.pruned_ for model in models)
    merged.ledger_ = None
    if params["ledger"]:
        digests = [model.ledger_.digests for model in models if model.ledger_ is not None]
        merged.ledger_ = Ledger.of(np.concatenate(digests))
    merged._set_learned(counts, *first._mean(models, shares, counts.labels))
    return merged


def _check_left_after(below: int, counts: Counts) -> None:
    if not counts.n_tokens:
        raise InputError(f"below={below!r}: nothing would be left of the model, give a smaller number")


def _check_left(counts: Counts, on_trees: bool) -> None:
    """Refuse what is left when parts of other sentences were taken away, which no ledger can tell."""
    try:
        check(counts, 0, on_trees)
    except ValueError as error:
        raise InputError(NEVER_COUNTED) from error


def _text(corpus: Corpus, sentence: int) -> str:
    """The beginning of a sentence, to tell which one is meant."""
    a, b = int(corpus.offsets[sentence]), int(corpus.offsets[sentence + 1])
    if corpus.keys:
        cells = zip(corpus.keys, (column.values[column.codes[a]] for column in corpus.columns), strict=True)
        return ", ".join(f"{key}={value}" for key, value in cells if value != ABSENT)[:80]
    words = [corpus.words.values[code] for code in corpus.words.codes[a:b][:8].tolist()]
    return " ".join(words) + (" …" if b - a > 8 else "")
