"""Rates: what counts say of labels, at the tokens of sentences; formulas: smoothed.py, look-up: lookup.py;
reference.py applies the ones to the other, as the kernels do.

A context that lies wholly beyond the sentence says nothing: the start and the end have rates of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from corate._native import kernels, native
from corate.arrays import Float, Ids, Int
from corate.contexts.template import Context
from corate.contexts.values import Encoder
from corate.counts.counts import Counts
from corate.counts.events import Events
from corate.counts.names import table_of
from corate.counts.unread import UnreadTables
from corate.rates import reference
from corate.rates.groups import Group, Groups
from corate.rates.lookup import ContextTables, Index, PartIndex, TokenIds
from corate.rates.smoothed import SMOOTHING, LabelRates, Smoothing
from corate.text.corpus import Corpus

Buckets = npt.NDArray[np.int8]
Values = npt.NDArray[np.float32]  # rates of contexts: there are many of them

HeadsOf = Callable[[Corpus], Int]
NOT_GIVEN = np.empty((0, 0)), np.empty(0, np.int64)


class Rates:
    """Smoothed rates of labels with contexts, with each other, and with the ends of sentences."""

    def __init__(
        self,
        counts: Counts,
        contexts: Sequence[Context],
        smoothing: Smoothing = SMOOTHING,
        heads_of: HeadsOf | None = None,
    ) -> None:
        """`heads_of`: the parents of a corpus' tokens, where labels hang on trees."""
        self.heads_of = heads_of
        self._set(counts, list(contexts), smoothing, Groups.of(counts, contexts))

    def _set(
        self,
        counts: Counts,
        templates: list[Context],
        smoothing: Smoothing,
        groups: Groups,
        index: Index | None = None,
        left_out: Counts | None = None,
        n_changed: int = 0,
    ) -> None:
        self.counts, self.templates, self.smoothing, self.groups = counts, templates, smoothing, groups
        self.n_labels = len(counts.labels)
        self.labels = LabelRates(counts, left_out, smoothing)
        self._index_made, self._left_out, self._n_changed = index, left_out, n_changed
        self._all_pair_rates: kernels.PairRates | None = None

    @property
    def contexts(self) -> list[Context]:
        return self.groups.contexts

    def parents_of(self, corpus: Corpus) -> Int | None:
        """The place of each token's parent, −1 for a root; None where labels follow one another."""
        return None if self.heads_of is None else self.heads_of(corpus)

    def count(self, part: Corpus) -> Counts:
        """The counts of sentences that are among those counted, under the same ids."""
        known = self.counts.labels, Encoder(self.counts.vocabularies)
        return Events(part, tuple(self.counts.tables), known, self.parents_of(part)).count()

    def without(self, part: Counts) -> Rates:
        """Rates of the same counts without some, which are under the same ids."""
        if not native():
            return Rates(self.counts.without(part), self.templates, self.smoothing, self.heads_of)
        made = Rates.__new__(Rates)
        made.heads_of = self.heads_of
        made._set(self.counts, self.templates, self.smoothing, self.groups, self._index, part)
        return made

    def plus(self, counts: Counts, changed: Counts, sign: int) -> Rates | None:
        """Rates of counts that differ from these by those that were added (sign 1) or taken away (−1).

        Only what they touch is looked at. None where that is not worth it, or not possible: labels have
        changed, or there is too much that is new.
        """
        n_changed = self._n_changed + changed.n_events
        if not native() or counts.labels != self.counts.labels or 2 * n_changed > counts.n_events:
            return None
        index = self._index.plus(changed, sign)
        if index is None:
            return None
        made = Rates.__new__(Rates)
        made.heads_of = self.heads_of
        made._set(counts, self.templates, self.smoothing, self.groups, index, None, n_changed)
        return made

    def __getstate__(self) -> dict[str, Any]:
        """For copies: what can be made anew is left out."""
        counts = self.counts if self._left_out is None else self.counts.without(self._left_out)
        kept = {"contexts": self.templates, "smoothing": self.smoothing, "heads_of": self.heads_of}
        return {"counts": counts, **kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    # Look-up -----------------------------------------------------------------------------------------

    @property
    def _index(self) -> Index:
        if self._index_made is None:
            self._index_made = Index.of(self.counts, self.groups)
        return self._index_made

    @cached_property
    def _tokens(self) -> TokenIds:
        """For NumPy, which looks at the counts themselves."""
        return TokenIds(Encoder(self.counts.vocabularies))

    @cached_property
    def _part_index(self) -> PartIndex | None:
        """Where counts are in a file of which only what is asked for is to be read."""
        tables = self.counts.tables
        return PartIndex(self.counts, tables) if isinstance(tables, UnreadTables) else None

    def _parts(self) -> PartIndex | None:
        """What tokens are looked up in, if it is not the index of all."""
        return self._part_index if self._index_made is None and self._left_out is None else None

    @property
    def tokens(self) -> TokenIds:
        if not native():
            return self._tokens
        parts = self._parts()
        return self._index.tokens if parts is None else parts.tokens

    def prepare(self, corpus: Corpus) -> None:
        """Read all counts, if these tokens ask for so many that this is quicker."""
        parts = self._parts()
        if native() and parts is not None and not parts.is_for(corpus):
            self._index_made = Index.of(self.counts, self.groups)

    @cached_property
    def _left_out_tables(self) -> dict[Group, kernels.Tables]:
        return {} if self._left_out is None else self._index.minus(self._left_out)

    def native_tokens(self, group: Group, corpus: Corpus) -> kernels.Tokens:
        return kernels.Tokens(*self.tokens.arrays(group, corpus), corpus.offsets)

    @cached_property
    def _native_rates(self) -> dict[Group, kernels.LogRates]:
        return {}

    def native_rates(self, group: Group, corpus: Corpus) -> kernels.LogRates:
        """The kernel that knows the rates of a group's contexts, at these tokens if not at all."""
        prior, alpha, bounds = self.labels.prior, self.smoothing.alpha, list(self.smoothing.bounds)
        if (parts := self._parts()) is not None:
            return kernels.LogRates(group.native, parts.tables(group, corpus), None, prior, alpha, bounds)
        if group not in self._native_rates:
            tables = self._index[group], self._left_out_tables.get(group)
            self._native_rates[group] = kernels.LogRates(group.native, *tables, prior, alpha, bounds)
        return self._native_rates[group]

    def _native_pair_rates(self, corpus: Corpus) -> kernels.PairRates:
        group = self.groups.of_pairs
        prior, pair, alpha = self.labels.prior, self.labels.pair, self.smoothing.alpha
        if (parts := self._parts()) is not None:
            return kernels.PairRates(group.native, parts.tables(group, corpus), None, prior, pair, alpha)
        if self._all_pair_rates is None:
            tables = self._index[group], self._left_out_tables.get(group)
            self._all_pair_rates = kernels.PairRates(group.native, *tables, prior, pair, alpha)
        return self._all_pair_rates

    def tables(self, group: Group) -> ContextTables:
        """The tables that NumPy looks values up in, with what is left out left out."""
        counts = self.counts if self._left_out is None else self.counts.without(self._left_out)
        return ContextTables(group, counts)

    def seen_with(self, group: Group, j: int, query: int) -> dict[int, int]:
        """How often each label was seen with a value of a context; {} for one that was never seen."""
        return dict(self._index[group].rows(j, query)) if native() else self.tables(group).rows(j, query)

    @cached_property
    def n_values(self) -> Int:
        """How many values of each context of the token alone training saw."""
        tables = (self.counts.tables[table_of(context)] for context in self.groups.alone.contexts)
        return np.array([table.n_values for table in tables], np.int64)

    # Rates -------------------------------------------------------------------------------------------

    def log_rates(
        self,
        group: Group,
        corpus: Corpus,
        positions: Int,
        labels: Ids,
        given: tuple[Float, Int] = NOT_GIVEN,
        skip_single: bool = False,
        n_threads: int = 1,
    ) -> tuple[Values, Buckets]:
        """candidates × contexts: log CR(y; f | parent(f)); positions × contexts: the bucket of #(f).

        `given` are rows of P(y | f) for the contexts that are computed elsewhere, and the row of each
        candidate. With `skip_single` positions that have one candidate get zeros."""
        if native():
            tokens, rates = self.native_tokens(group, corpus), self.native_rates(group, corpus)
            return rates(tokens, positions, labels, *given, skip_single, n_threads)
        return reference.log_rates(self, group, corpus, positions, labels, given, skip_single)

    def pair_rates(
        self,
        corpus: Corpus,
        positions: Int,
        labels: Ids,
        edges: Int,
        skip_single: bool = False,
        n_threads: int = 1,
    ) -> Float:
        """edges × pair contexts: log CR(y; y′ | f) − log CR(y; y′).

        `edges[i]:edges[i + 1]` is the block of the edge into position i, left candidates × right ones. With
        `skip_single` edges without a rival get zeros."""
        group = self.groups.of_pairs
        if not group.contexts:
            return np.zeros((int(edges[-1]), 0))
        if native():
            tokens = self.native_tokens(group, corpus)
            return self._native_pair_rates(corpus)(tokens, positions, labels, edges, skip_single, n_threads)
        return reference.pair_rates(self, corpus, positions, labels, edges, skip_single)
