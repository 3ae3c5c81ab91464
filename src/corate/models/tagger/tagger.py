"""Tagger: weighted co-occurrence rates of many contexts, the same way for known and unknown words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from corate.arrays import Float, Ids, check_room, rounded
from corate.contexts.defaults import WORDS, default_contexts
from corate.contexts.template import Context, parse_all
from corate.contexts.view_ids import place_of
from corate.counts.counts import Counts, add_up
from corate.counts.engines.base import Engine, Source
from corate.counts.engines.memory import Chunks, whole
from corate.counts.names import FIRST_LABEL, LABEL, LABEL_PAIR, LABEL_TRIPLE, LAST_LABEL, WORD_LABEL, table_of
from corate.errors import InputError
from corate.lattice.lattice import Lattice
from corate.models.counted import Arrays, CountedModel, Learned, WordEntry
from corate.models.counted_file import restore_parts
from corate.models.explanation import Explanation
from corate.models.tagger import fit as fitting
from corate.models.tagger.candidates import candidates
from corate.models.tagger.explain import explain
from corate.models.tagger.joint import feature_contexts
from corate.models.tagger.lattices import LatticeMaker
from corate.models.tagger.row_weights import RowWeights, checked_rows, fit_rows, mean_rows, moved, share
from corate.models.tagger.settings import SETTINGS
from corate.models.tagger.shrink import Cut, Worth, shrunk
from corate.models.tagger.weights import MOST_WEIGHT, Weights, mean_weights, some_common
from corate.rates.groups import key_bits
from corate.rates.rates import Rates
from corate.storage.modelfile import Opened, size_of
from corate.text.corpus import Corpus
from corate.text.passages import Passages
from corate.text.tokens import as_corpus

WEIGHTS = ("fitted", "fixed")
ROWS = "row_weights"  # a member of the file
NOTHING = "\U0010ffff"  # a value that no column has: not a character
LABELS_ALONE = (LABEL, FIRST_LABEL, LAST_LABEL, LABEL_PAIR, LABEL_TRIPLE)


class Tagger(CountedModel):
    """A CRF whose factors are counted: co-occurrence rates of labels with many contexts at once.

    Tokens are strings (words); or tuples of strings, the word and further columns such as its part of speech;
    or features, dicts and lists in the shapes that python-crfsuite and sklearn-crfsuite take, of which every
    key is a context. A label may be `_` or None: such a token is not counted.

    Parameters
    ----------
    weights : {"fitted", "fixed"}
        Exponents of the rates: contexts × (labels + 6) numbers or so, whatever the size of the corpus, fitted
        on folds of the training data; or constants, with which training is counting alone.
    contexts : list of str or None
        Names of context templates (`corate.read_contexts` reads them from a file).
        None takes those that fit the tokens: of words, of words and further columns, or the keys of features.
    numbers : {"refuse", "bin"}
        What to do with a feature whose value is a number: values are counted, so that it has to be binned.
    ledger : bool
        Whether the model keeps digests of what it has learned, so that it can refuse to learn it again,
        or to forget what it never learned.
    n_jobs : int
        Threads; results do not depend on it. −1 takes all cores.

    Examples
    --------
    >>> from corate import Tagger, load_sample
    >>> tagger = Tagger(weights="fixed").fit(*load_sample())
    >>> tagger.predict([["The", "neighbours", "repainted", "it", "."]])
    [['DET', 'NOUN', 'VERB', 'PRON', 'PUNCT']]
    """

    word_contexts = WORDS
    _says_no = True  # that a word has no capital tells as much as that it has one

    def __init__(
        self,
        weights: str = "fitted",
        contexts: Sequence[str] | None = None,
        numbers: str = "refuse",
        ledger: bool = True,
        n_jobs: int = 1,
    ) -> None:
        self.weights = weights
        self.contexts = contexts
        self.numbers = numbers
        self.ledger = ledger
        self.n_jobs = n_jobs

    row_weights_: Ids | None  # with few data; of `row_weights.row_tables`
    _rates: Rates | None  # derived from the counts; None where they have changed since

    # Training ----------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, progress: fitting.Progress | None = None) -> Tagger:
        """Count the events of labelled sentences `X`, `y`, and fit the weights if they are to be fitted.

        `progress` is called with the part of that work which is done, from 0 to 1."""
        self._check_params()
        return self._train(whole(self._training_corpus(X, y)), progress=progress)

    def fit_chunks(
        self,
        chunks: Iterable[Corpus],
        progress: fitting.Progress | None = None,
        engine: Engine = Chunks,
        min_count: int | None = None,
    ) -> Tagger:
        """Like `fit`, for `chunks` of sentences that need not fit into memory together, `progress` as there;
        the `engine` counts them. `min_count`: events of contexts that are counted less often are dropped, see
        `prune`."""
        self._check_params()
        prepared = (self._training_corpus(chunk, None) for chunk in chunks)
        return self._train(engine(prepared), min_count, progress=progress)

    def _looks_back(self, learning: Mapping[str, Any]) -> bool:
        return self.weights == "fitted"

    def _settle(self, source: Source) -> tuple[Context, ...]:
        first = source.first()
        if first.keys:  # others may have further keys: only all of them together tell
            source.text()
            first = source.first()
        return tuple(self._named_contexts(first) or self._default_contexts(first, source))

    def _tables_with(self, settled: tuple[Context, ...]) -> tuple[str, ...]:
        return _tables_of(settled)

    def _become(
        self,
        text: Passages | None,
        settled: tuple[Context, ...],
        counts: Counts,
        progress: fitting.Progress | None = None,
    ) -> None:
        rates = self._rates_of(counts, settled)
        if self.weights == "fitted":
            assert text is not None
            found, rows = self._fitted(text, rates, progress)
        else:
            found, rows = Weights.fixed(rates), None
        self._set_model(rates, settled, found, rows)

    def _fitted(
        self, text: Passages, rates: Rates, progress: fitting.Progress | None
    ) -> tuple[Weights, Ids | None]:
        """Weights, and with few data those of rows beside them."""
        found, r = fitting.fit(text, rates, self._n_threads(), progress), share(rates, text.n_tokens)
        if not r or not fitting.can_fit(text.n_sentences):
            return found, None
        return found.like(rounded((1 - r) * found.vector())), fit_rows(text, rates, r, self._n_threads())

    def _training_corpus(self, X: Any, y: Any) -> Corpus:
        return as_corpus(X, y, self.numbers, says_no=self._says_no)

    def _default_contexts(self, first: Corpus, source: Source) -> list[Context]:
        """Where none are named: of features, with fitted weights, those that the data choose."""
        if first.keys and self.weights == "fitted" and fitting.can_fit(source.text().n_sentences):
            return feature_contexts(source.text(), first.keys)
        return default_contexts(first)

    def _rates_of(self, counts: Counts, contexts: Sequence[Context]) -> Rates:
        return Rates(counts, contexts, SETTINGS.smoothing)

    def refit(self, X: Any, y: Any = None, progress: fitting.Progress | None = None) -> Tagger:
        """Fit the weights again, on sentences `X`, `y` that the model has learned; its counts stay as they
        are.

        The model keeps no text: after many updates, give it much of what it was taught. With all of it, in
        the order of training, the model becomes the one that `fit` would make. `progress` as there.
        """
        corpus, digests = self._batch(X, y)
        if self._fitted_params["weights"] != "fitted":
            raise InputError("the model has fixed weights: there is nothing to fit")
        if self.pruned_:
            raise InputError("the model was pruned: its counts do not know all of the sentences any more")
        if self.ledger_ is not None and not self.ledger_.known(digests).all():
            raise InputError("some of the sentences were never learned: weights are fitted on what was")
        part = self._count([corpus], tuple(self.counts_.tables)).counts
        self.counts_.without(part)  # which raises an error if they are not part of it
        self._rates = rates = self._rates_of(self.counts_, self._contexts)
        self.weights_, self.row_weights_ = self._fitted(corpus, rates, progress)
        return self

    def _set_model(
        self, rates: Rates, contexts: Sequence[Context], weights: Weights, rows: Ids | None = None
    ) -> None:
        self.counts_ = rates.counts
        self._rates = rates
        self.classes_ = list(rates.counts.labels)
        self._contexts = list(contexts)
        self._remember_params()
        self._fitted_params["contexts"] = tuple(map(str, contexts))
        self.weights_, self.row_weights_ = weights, rows

    def _replace_counts(self, counts: Counts, changed: Counts | None = None, sign: int = 1) -> None:
        weights, known = self.weights_, self._rates if changed is not None else None
        if known is not None and known.counts is not self.counts_:
            known = None  # a thread that was tagging has put down what it made of older counts
        if counts.labels != self.classes_:
            weights = weights.relabelled(self.classes_, counts.labels)
        rows = self.row_weights_
        if rows is not None:  # which are found by the ids of their counts
            rows, known = moved(rows, self.counts_, counts, self._contexts), None
        rates = None if known is None or changed is None else known.plus(counts, changed, sign)
        # All at once: another thread may be tagging. What it has read of the old model never changes.
        now = {"counts_": counts, "classes_": list(counts.labels), "weights_": weights, "row_weights_": rows}
        self.__dict__.update(now, _rates=rates)

    def _check_counts(self, counts: Counts) -> None:
        super()._check_counts(counts)
        key_bits(counts, self._contexts)

    def prune_to_size(self, most_bytes: int) -> Tagger:
        """Drop the events that the weights value least (shrink.py), until the model file has at most
        `most_bytes` bytes.

        A model that is small enough stays as it is. Another loses its ledger, too: it can then learn, but no
        longer forget.
        """
        self._check_fitted()
        if not isinstance(most_bytes, (int, np.integer)) or most_bytes < 1:
            raise InputError(f"most_bytes={most_bytes!r}: give a whole number of bytes")
        if size_of(self._contents()) <= most_bytes:
            return self
        cut = shrunk(
            self.counts_, Worth(self.rates(), self.weights_), lambda tried: self._fits(tried, most_bytes)
        )
        if cut is None:
            raise InputError(
                f"even without its contexts' events the model has more than {most_bytes:,} bytes: allow more"
            )
        self._replace_counts(cut.counts)
        self._set_pruned(cut.below)
        return self

    def _fits(self, cut: Cut, most_bytes: int) -> bool:
        tried = type(self).__new__(type(self))
        tried.__dict__.update(self.__dict__)
        tried._replace_counts(cut.counts)
        tried._set_pruned(cut.below)
        return size_of(tried._contents()) <= most_bytes

    # On disk -----------------------------------------------------------------------------------------

    def _n_values(self) -> list[int]:
        found: list[int] = self.rates().n_values.tolist()
        return found

    def _restore_parts(self, file: Opened) -> None:
        restore_parts(self, file)
        known = np.array(file.header["n_values"], np.int64)
        if len(known) != len(self.rates().groups.alone.contexts):
            raise ValueError(f"{len(known)} numbers of values are not those of the contexts")
        self.rates().n_values = known

    def _tables(self) -> tuple[str, ...]:
        return _tables_of(parse_all(self.contexts))

    def _set_learned(self, counts: Counts, learned: Learned, arrays: Arrays) -> None:
        vector = arrays.get("weights")
        if vector is None or vector.dtype != np.float64:
            raise ValueError("there are no weights")
        if not (np.abs(vector) <= MOST_WEIGHT).all():
            raise ValueError(f"a weight is not a number between -{MOST_WEIGHT} and {MOST_WEIGHT}")
        contexts = parse_all(self.contexts)
        if [*dict.fromkeys(map(str, contexts))] != [*(self.contexts or ())]:
            raise ValueError("a context is there twice, or under another name")
        if len({context.is_feature for context in contexts}) > 1:
            raise ValueError("some contexts look at words and some at features")
        rates = self._rates_of(counts, contexts)
        self._set_model(
            rates, contexts, Weights.from_vector(vector, rates), checked_rows(arrays.get(ROWS), rates)
        )

    @staticmethod
    def _mean(
        models: Sequence[Tagger], shares: Sequence[float], labels: Sequence[str]
    ) -> tuple[Learned, Arrays]:
        weights = mean_weights([(model.weights_, model.classes_) for model in models], shares, labels)
        each = [(model.row_weights_, model.counts_) for model in models]
        rows = mean_rows(each, shares, add_up([m.counts_ for m in models]), models[0]._contexts)
        return {}, {"weights": weights.vector(), **({} if rows is None else {ROWS: rows})}

    def _learned_arrays(self) -> Arrays:
        rows = {} if self.row_weights_ is None else {ROWS: self.row_weights_}
        return {"weights": self.weights_.vector(), **rows}

    # What the model says -----------------------------------------------------------------------------

    def rates(self) -> Rates:
        """Smoothed rates, derived from the counts."""
        self._check_fitted()
        counts, rates = self.counts_, self._rates
        if rates is None or rates.counts is not counts:
            rates = self._rates = self._rates_of(counts, self._contexts)
        return rates

    def _lattice_maker(self) -> LatticeMaker:
        """Made anew where rates or weights are new."""
        rates, weights, kept = self.rates(), self.weights_, self.__dict__.get("_last_maker")
        if (
            kept is None
            or kept.rates is not rates
            or kept.weights is not weights
            or kept.exact != self._exact
        ):
            rows = None if self.row_weights_ is None else RowWeights(rates, self.row_weights_)
            kept = self._last_maker = LatticeMaker(rates, weights, exact=self._exact, rows=rows)
        return kept

    def _derive(self) -> None:
        self._lattice_maker()

    def _lattice(self, corpus: Corpus) -> Lattice:
        n_labels = len(self.classes_) if self._exact else 2
        check_room(n_labels * corpus.n_tokens * len(self._contexts), f"{len(self._contexts)} contexts")
        self.rates().prepare(corpus)
        return self._lattice_maker().lattice(corpus, self._n_threads())

    def _refine(self, lattice: Lattice, corpus: Corpus) -> Lattice:
        return self._lattice_maker().refined(lattice, corpus, self._n_threads())

    def _lattice_with(self, corpus: Corpus, labels: Ids) -> Lattice:
        self.rates().prepare(corpus)
        return self._lattice_maker().with_labels(corpus, labels, self._n_threads())

    def _batch_tokens(self) -> int:
        values = len(self._contexts) * (len(self.classes_) if self._exact else 1)
        return min(super()._batch_tokens(), max(1, SETTINGS.most_values // values))

    def about_weights(self) -> str:
        """What was decided about the weights, in words."""
        rates = self.rates()
        if self._fitted_params["weights"] == "fixed":
            return "fixed"
        if np.array_equal(self.weights_.vector(), Weights.fixed(rates).vector()):
            return "fixed: there were too few sentences to fit them"
        middle = "the common ones" if some_common(rates) else "equal ones"
        times = fitting.strength(rates, self.counts_.n_tokens)
        how = f", {times:.1f} times as strongly as with much text" if times > 1 else ""
        beside = "" if self.row_weights_ is None else "; beside them those of a CRF, as there was little text"
        return f"fitted, drawn to {middle}{how}{beside}"

    def _of_counts_alone(self) -> Tagger:
        made = copy(self)
        made.row_weights_ = None
        made.__dict__.pop("_last_maker", None)
        return made

    def label_log_rates(self) -> Float:
        return self.rates().labels.pair

    def word_entries(self, word: str) -> list[WordEntry]:
        """P(y | f), smoothed, of the most specific view of the word that training saw."""
        rates = self.rates()
        if WORD_LABEL not in self.counts_.tables:
            raise InputError("the model knows no words: it was trained on features")
        n_columns = max(atom.n_columns for context in self._contexts for atom in context.atoms)
        rows, prob = candidates(rates, self._corpus([[(word, *[NOTHING] * (n_columns - 1))]]))
        seen = np.flatnonzero(rows.buckets[0])
        nearest = int(seen[rates.n_values[seen].argmax()]) if len(seen) else None
        table = self.counts_.tables[WORD_LABEL]
        known = table.field(0) == place_of(word, self.counts_.vocabularies["word"])
        times = dict(zip(table.field(1)[known].tolist(), table.n[known].tolist(), strict=True))
        probabilities = rates.labels.prior[rows.labels] if nearest is None else prob[:, nearest]
        entries = [
            WordEntry(
                self.classes_[y], times.get(y, 0) if times else None, p, p / float(rates.labels.prior[y])
            )
            for y, p in zip(rows.labels.tolist(), probabilities.tolist(), strict=True)
        ]
        return sorted(entries, key=lambda entry: -entry.probability)

    def explain(self, tokens: Sequence[Any]) -> list[Explanation]:
        """For every token of a sentence (`tokens`), the counts that made its label win, strongest first."""
        return explain(self._lattice_maker(), self._corpus([tokens]), self.classes_)

    def _check_params(self) -> None:
        if self.weights not in WEIGHTS:
            raise InputError(f"weights={self.weights!r}: choose from {', '.join(map(repr, WEIGHTS))}")
        self._check_numbers()
        if self.contexts is not None and all(context.pair for context in parse_all(self.contexts)):
            raise InputError(
                "contexts is empty, or has none but those of label pairs: name at least one other"
            )
        self._check_shared_params()


def _tables_of(contexts: Sequence[Context]) -> tuple[str, ...]:
    """Tables of labels alone, of words (to tell known ones from unknown ones) and of contexts."""
    words = () if any(context.is_feature for context in contexts) else (WORD_LABEL,)
    return tuple(dict.fromkeys([*LABELS_ALONE, *words, *map(table_of, contexts)]))
