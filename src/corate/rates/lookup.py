"""Many contexts at once: smoothed log co-occurrence rates of candidate labels (model.md §2).

    P(y)         = (#(y) + PRIOR_COUNT) / …
    P(y | f)     = (#(f, y) + a · P(y | parent(f))) / (#(f) + a),    a = α · number of labels seen with f
    log CR(y; f | parent(f)) = log P(y | f) − log P(y | parent(f));    0 for a context that training never saw
    CR(y; y′)    from #(y, y′) + ½ P(y) P(y′) √N, renormalised; the same with the start and the end
    CR(y; y″ | y′) = P(y″ | y, y′) / P(y″ | y′), the former smoothed with the latter
    CR(y; y′ | f)  the joint P(y, y′ | f) smoothed with P(y, y′), its margins with P(y) and P(y′)

The parent of a context is the nearest of those that it falls back to (`Context.parents`) among those in use;
without one it is nothing, and P(y | nothing) = P(y). A context says only what its parent does not: by the
chain rule of co-occurrence rates, CR(y; f) = CR(y; parent) · CR(y; f | parent), as f tells its parent.
Contexts come in two groups: those of the token alone, whose rates are the same wherever a word stands, and
those that look around. A context that lies wholly beyond the sentence says nothing: the start and the end
have rates of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from corate._native import kernels, native
from corate.arrays import KEY_BITS, MOST_LABELS, Float, Ids, Int, owners, pack, starts_of_runs
from corate.contexts.template import Atom, Context
from corate.contexts.values import OUTSIDE, column_of
from corate.contexts.view_ids import WORD, ColumnIds, VocabularyIds
from corate.counts.counts import Counts
from corate.counts.names import (
    FIRST_LABEL,
    LABEL,
    LABEL_PAIR,
    LABEL_TRIPLE,
    LAST_LABEL,
    fields,
    table_of,
    vocabulary_of,
)
from corate.counts.table import Table
from corate.errors import InputError
from corate.rates.triples import Triples
from corate.text.corpus import Corpus

Buckets = npt.NDArray[np.int8]
Values = npt.NDArray[np.float32]  # rates of contexts: there are many of them

ALPHA = 1.5  # how much of its own evidence a context gives to its parent
PRIOR_COUNT = 0.1
MOST_COLUMNS = 8  # that are kept in mind, with the ids of their values
PAIR_COUNT = 0.5
BUCKETS = (1, 2, 4, 11, 101)  # a context's own count falls into one of six buckets: 0, 1, 2–3, 4–10, …

# What rates make of tables of labels alone, and keep.
DERIVED = ("prior", "log_prior", "pair", "start", "end", "triple", "n_values")


def check_size(counts: Counts, contexts: Sequence[Context]) -> dict[str, int]:
    """The bits of each view's ids; InputError where labels or the values of a context are too many."""
    if len(counts.labels) > MOST_LABELS:
        raise InputError(f"{len(counts.labels):,} labels: corate takes {MOST_LABELS:,}")
    bits = {key: max(1, len(values)).bit_length() for key, values in counts.vocabularies.items()}
    for context in contexts:
        if sum(bits[atom.source] for atom in context.atoms) > KEY_BITS:
            raise InputError(f"the context {context} has too many values: leave one of its parts out")
    return bits


def is_alone(context: Context) -> bool:
    """Whether it looks at nothing but its own token."""
    return all(atom.offset == 0 for atom in context.atoms)


def in_order(contexts: Sequence[Context]) -> list[Context]:
    """Those of the token alone first, parents before children, otherwise as given."""
    known = set(contexts)
    done: dict[Context, None] = {}
    for context in sorted(contexts, key=lambda c: not is_alone(c)):
        ancestors = [parent for parent in context.parents() if parent in known]
        done.update(dict.fromkeys([*reversed(ancestors), context]))
    return list(done)


class Group:
    """Contexts that are looked up together, and how the kernel reads their values off the tokens.

    `given` are contexts whose P(y | f) is known already when these are looked up; they may be parents.
    """

    def __init__(self, contexts: Sequence[Context], given: Sequence[Context], bits: dict[str, int]) -> None:
        self.contexts, self.n_given = list(contexts), len(given)
        place = {context: j for j, context in enumerate([*given, *contexts])}
        nearest = (
            -1 if c.pair else next((place[p] for p in c.parents() if p in place), -1) for c in contexts
        )
        self.parents = np.fromiter(nearest, np.int32, len(contexts))
        atoms = list(chain.from_iterable(context.atoms for context in contexts))
        self.views = list(dict.fromkeys(Atom(a.view, 0, a.column) for a in atoms))
        index = {atom: v for v, atom in enumerate(self.views)}
        self.widths = [[bits[atom.source] for atom in context.atoms] for context in contexts]
        self.first_atom = np.cumsum([0, *(len(context.atoms) for context in contexts)], dtype=np.int32)
        self.atom_views = np.array([index[Atom(a.view, 0, a.column)] for a in atoms], np.int32)
        self.offsets = np.array([atom.offset for atom in atoms], np.int32)
        self.bits = np.array(list(chain.from_iterable(self.widths)), np.int32)

    def layout(self) -> tuple[Ids, Ids, Ids, Ids, Ids]:
        return self.first_atom, self.atom_views, self.offsets, self.bits, self.parents


class ContextTables:
    """The tables of a group's contexts, end to end, for NumPy; the kernel has its own."""

    def __init__(self, group: Group, counts: Counts) -> None:
        keys, first_rows, n_rows = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
        tables = [counts.tables[table_of(context)] for context in group.contexts]
        for table, widths in zip(tables, group.widths, strict=True):
            key = pack(table.ids.T[:-1], widths)
            first = starts_of_runs(key)
            keys.append(key[first])
            first_rows.append(first + n_rows)
            n_rows += len(key)
        self.first_key = np.cumsum([0, *map(len, keys[1:])], dtype=np.int64)
        self.keys = np.concatenate(keys)
        self.first_row = np.append(np.concatenate(first_rows), n_rows).astype(np.int64)
        self.row_labels = np.concatenate([np.empty(0, np.int32), *(table.field(-1) for table in tables)])
        self.row_counts = np.concatenate([np.empty(0, np.int64), *(table.n for table in tables)])
        ends = np.append(0, np.cumsum(self.row_counts))
        self.totals = ends[self.first_row[1:]] - ends[self.first_row[:-1]]

    def find(self, j: int, queries: Int) -> Int:
        """Place among all keys of each value of context j, −1 where training never saw it."""
        first, last = int(self.first_key[j]), int(self.first_key[j + 1])
        if first == last:
            return np.full(len(queries), -1)
        place = np.minimum(first + np.searchsorted(self.keys[first:last], queries), last - 1)
        return np.where(self.keys[place] == queries, place, -1)


def _native(group: Group, counts: Counts) -> kernels.Tables:
    tables = [counts.tables[table_of(context)] for context in group.contexts]
    ids = [
        _with_label_pair(table.ids, len(counts.labels)) if context.pair else table.ids
        for context, table in zip(group.contexts, tables, strict=True)
    ]
    return kernels.Tables(ids, [table.n for table in tables], group.widths)


def _with_label_pair(ids: Ids, n_labels: int) -> Ids:
    """Rows with two labels, as one number."""
    return np.column_stack([ids[:, :-2], ids[:, -2] * np.int32(n_labels) + ids[:, -1]])


class Rates:
    """Everything that counts say of labels: priors, rates of contexts, rates of label pairs and triples."""

    def __init__(
        self,
        counts: Counts,
        contexts: Sequence[Context],
        without: Counts | None = None,
        like: Rates | None = None,
    ) -> None:
        """`without`: counts of some of the same sentences, under the same ids, that are to be left out.
        `like`: rates of the same counts with nothing left out, whose look-up tables serve here too."""
        if without is not None and not native():
            counts, without, like = counts.without(without), None, None
        self.counts, self._without, self._like = counts, without, like
        self.n_labels = len(counts.labels)
        bits = check_size(counts, contexts)
        self.templates = list(contexts)
        self.contexts = in_order([context for context in contexts if not context.pair])
        alone = [context for context in self.contexts if is_alone(context)]
        self.alone = Group(alone, [], bits)
        self.around = Group(self.contexts[len(alone) :], alone, bits)
        self.of_pairs = Group([context for context in contexts if context.pair], [], bits)
        self._vocabularies: dict[str, VocabularyIds] = {} if like is None else like._vocabularies
        self._last: dict[tuple[str, int], ColumnIds] = {}  # columns looked at last: groups ask for the same
        self._outside: dict[str, int] = {}
        self._known: dict[str, Ids] = {} if like is None else like._known  # of views of known words
        self._bits, self._n_changed = bits, 0

    def __getstate__(self) -> dict[str, Any]:
        """For copies: what can be made anew is left out."""
        kept = {name: value for name, value in self.__dict__.items() if name != "_native"}
        return {**kept, "_last": {}, "_known": {}, "_vocabularies": {}}

    def follow(self, counts: Counts, changed: Counts, sign: int) -> bool:
        """Go over to counts that differ by those that were added (sign 1) or taken away (−1).

        Only what they touch is looked at. New values get ids behind the others'. False, and of no more
        use, where labels have changed or there is too much that is new: rates are then to be made anew.
        """
        self._n_changed += changed.n_events
        if not native() or counts.labels != self.counts.labels or 2 * self._n_changed > counts.n_events:
            return False
        ids: dict[str, Ids] = {}
        for source, values in changed.vocabularies.items():
            ids[source] = self.vocabulary(source).add(values)
            if len(self.vocabulary(source)) > 1 << self._bits[source]:
                return False
        for group in self._groups:
            tables = self.native(group)[0]
            for j, context in enumerate(group.contexts):
                name = table_of(context)
                renamed = changed.tables[name].rename(*(ids[vocabulary_of(field)] for field in fields(name)))
                rows = _with_label_pair(renamed.ids, self.n_labels) if context.pair else renamed.ids
                tables.add(j, rows, sign * renamed.n, group.widths[j])
        self.counts, self._last, self._known, self._outside = counts, {}, {}, {}
        for name in DERIVED:
            self.__dict__.pop(name, None)
        return True

    def _table(self, name: str) -> Table:
        """A table of labels alone, with what is left out left out."""
        table = self.counts.tables[name]
        return table if self._without is None else table - self._without.tables[name]

    def _tally(self, name: str, shape: tuple[int, ...]) -> Float:
        table, tally = self._table(name), np.zeros(shape)
        tally[tuple(table.ids.T)] = table.n
        return tally

    # Contexts ----------------------------------------------------------------------------------------

    def tables(self, group: Group) -> ContextTables:
        """The tables that NumPy looks values up in, with what is left out left out."""
        counts = self.counts if self._without is None else self.counts.without(self._without)
        return ContextTables(group, counts)

    @cached_property
    def prior(self) -> Float:
        """P(y)."""
        n = self._tally(LABEL, (self.n_labels,)) + PRIOR_COUNT
        prior: Float = n / n.sum()
        return prior

    @cached_property
    def log_prior(self) -> Float:
        return np.log(self.prior)

    @cached_property
    def _native(self) -> dict[Group, tuple[kernels.Tables, kernels.Tables | None]]:
        if self._like is None or self._without is None:
            return {group: (_native(group, self.counts), None) for group in self._groups}
        theirs = (self._like.native(group)[0] for group in self._like._groups)
        return {
            group: (tables, _native(group, self._without))
            for group, tables in zip(self._groups, theirs, strict=True)
        }

    @property
    def _groups(self) -> tuple[Group, Group, Group]:
        return self.alone, self.around, self.of_pairs

    def native(self, group: Group) -> tuple[kernels.Tables, kernels.Tables | None]:
        """The tables as the kernels read them, and those to be subtracted."""
        return self._native[group]

    def rows(self, group: Group, j: int, query: int) -> dict[int, int]:
        """How often each label was seen with a value of a context; {} for one that was never seen."""
        if native():
            return dict(self.native(group)[0].rows(j, query))
        tables = self.tables(group)
        place = int(tables.find(j, np.array([query]))[0])
        if query < 0 or place < 0:
            return {}
        rows = slice(int(tables.first_row[place]), int(tables.first_row[place + 1]))
        return dict(zip(tables.row_labels[rows].tolist(), tables.row_counts[rows].tolist(), strict=True))

    @cached_property
    def n_values(self) -> Int:
        """How many values of each context of the token alone training saw."""
        tables = (self.counts.tables[table_of(context)] for context in self.alone.contexts)
        return np.array([table.n_values for table in tables], np.int64)

    @property
    def parents(self) -> list[int]:
        """Of each of `contexts` its parent, −1 for none."""
        return [*self.alone.parents.tolist(), *self.around.parents.tolist()]

    @cached_property
    def n_below(self) -> Int:
        """How many contexts have each one in their chain: itself, those that fall back to it, and so on."""
        n = np.ones(len(self.contexts), np.int64)
        for j, parent in reversed([*enumerate(self.parents)]):  # parents come before children
            if parent >= 0:
                n[parent] += n[j]
        return n

    def vocabulary(self, source: str) -> VocabularyIds:
        """The values of a view, to look ids up."""
        if source not in self._vocabularies:
            self._vocabularies[source] = VocabularyIds(self.counts.vocabularies[source])
        return self._vocabularies[source]

    def ids(self, atom: Atom, values: Sequence[str]) -> Ids:
        """The id of each value's view, −1 where training never saw it."""
        key = atom.column, id(values)  # which lives as long as the entry
        found = self._last.get(key)
        if found is None:
            if len(self._last) >= MOST_COLUMNS:
                self._last.clear()
            are_words = atom.column == WORD.column and WORD.source in self.counts.vocabularies
            words = self.vocabulary(WORD.source) if are_words else None
            found = self._last[key] = ColumnIds(values, words, self._known)
        return found(atom, self.vocabulary(atom.source))

    def outside(self, atom: Atom) -> int:
        """The id of what lies beyond the sentence."""
        if atom.source not in self._outside:
            self._outside[atom.source] = self.vocabulary(atom.source).get(OUTSIDE)
        return self._outside[atom.source]

    def tokens(self, group: Group, corpus: Corpus) -> tuple[Int, Ids, Ids, Ids, Ids]:
        """What the kernel needs to know of the tokens: ids of each view, its column, ids beyond the sentence
        and the codes of all columns."""
        columns = {atom.column: column_of(corpus, atom) for atom in group.views}
        missing = next((column for column, found in columns.items() if found is None), None)
        if missing is not None and not missing.startswith('"') and corpus.n_tokens:
            n = len(corpus.columns)
            given = "words alone" if n == 1 else f"{n} columns"
            raise InputError(
                f"the model looks at {missing}, and the tokens have {given}: give them all columns, "
                "or train a model of words alone (--words-only)"
            )
        place = {name: k for k, name in enumerate(columns)}
        nothing = np.zeros(corpus.n_tokens, np.int32)
        codes = [nothing if found is None else found.codes for found in columns.values()]
        ids = []
        for atom in group.views:
            found = columns[atom.column]
            ids.append(np.full(1, -1, np.int32) if found is None else self.ids(atom, found.values))
        return (
            np.cumsum([0, *map(len, ids)], dtype=np.int64),
            np.concatenate([np.empty(0, np.int32), *ids]),
            np.array([place[atom.column] for atom in group.views], np.int32),
            np.array([self.outside(atom) for atom in group.views], np.int32),
            np.stack(codes) if codes else np.zeros((1, corpus.n_tokens), np.int32),
        )

    def queries(self, group: Group, corpus: Corpus) -> Int:
        """contexts × tokens: the value of each context at each token, −1 where a part of it is unseen or all
        of it lies beyond the sentence."""
        first_id, ids, columns, outside, codes = self.tokens(group, corpus)
        found = np.full((len(group.contexts), corpus.n_tokens), -1)
        for j, widths in enumerate(group.widths):
            parts, anywhere = [], np.zeros(corpus.n_tokens, bool)
            for a in range(int(group.first_atom[j]), int(group.first_atom[j + 1])):
                v = int(group.atom_views[a])
                place, inside = corpus.neighbours(int(group.offsets[a]))
                here = ids[int(first_id[v]) + codes[columns[v]][place]]
                parts.append(np.where(inside, here, outside[v]))
                anywhere |= inside
            seen = anywhere & (np.min(parts, axis=0) >= 0)
            found[j] = np.where(seen, pack([np.maximum(part, 0) for part in parts], widths), -1)
        return found

    def log_rates(
        self,
        group: Group,
        corpus: Corpus,
        positions: Int,
        labels: Ids,
        given: Float | None = None,
        sources: Int | None = None,
        skip_single: bool = False,
        n_threads: int = 1,
    ) -> tuple[Values, Buckets]:
        """candidates × contexts: log CR(y; f | parent(f)); positions × contexts: the bucket of #(f).

        `given[sources[c]]` are candidate c's P(y | f) for the contexts computed before. With `skip_single`
        positions that have one candidate get zeros."""
        n = len(group.contexts)
        rates = np.zeros((len(labels), n), np.float32)
        buckets = np.zeros((len(positions) - 1, n), np.int8)
        given = np.empty((0, 0)) if given is None else given
        sources = np.empty(0, np.int64) if sources is None else sources
        if native():
            kernels.log_rates(
                *self.native(group), *group.layout(), group.n_given, *self.tokens(group, corpus),
                corpus.offsets, positions, labels, self.prior, self.log_prior, ALPHA, given.reshape(-1),
                sources, skip_single, rates.reshape(-1), buckets.reshape(-1), n_threads,
            )  # fmt: skip
        else:
            prob = self._prob(group, corpus, positions, labels, given, sources, buckets)
            for j in range(n):
                rates[:, j] = np.log(prob[:, j] / self._above(group, j, labels, prob, given, sources))
            if skip_single:
                single = np.diff(positions) == 1
                buckets[single] = 0
                rates[np.repeat(single, np.diff(positions))] = 0.0
        return rates, buckets

    def _prob(
        self,
        group: Group,
        corpus: Corpus,
        positions: Int,
        labels: Ids,
        given: Float,
        sources: Int,
        buckets: Buckets,
    ) -> Float:
        """P(y | f), candidates × contexts, in NumPy: one context after another, parents first."""
        tables = self.tables(group)
        queries = self.queries(group, corpus)
        owner = owners(positions)
        n_rows = np.append(np.diff(tables.first_row), 0)
        total = np.append(tables.totals, 0)
        row_key = np.append(owners(tables.first_row) * self.n_labels + tables.row_labels, -1)
        row_counts = np.append(tables.row_counts, 0)
        prob = np.empty((len(labels), len(group.contexts)))
        for j in range(len(group.contexts)):
            above = self._above(group, j, labels, prob, given, sources)
            place = np.where(queries[j] >= 0, tables.find(j, queries[j]), -1)
            key = place[owner]
            row = np.searchsorted(row_key[:-1], key * self.n_labels + labels)
            n = np.where(row_key[row] == key * self.n_labels + labels, row_counts[row], 0)
            a = ALPHA * n_rows[key]
            prob[:, j] = np.where(key >= 0, (n + a * above) / np.maximum(total[key] + a, ALPHA), above)
            buckets[:, j] = np.digitize(np.where(place >= 0, total[place], 0), BUCKETS)
        return prob

    def _above(self, group: Group, j: int, labels: Ids, prob: Float, given: Float, sources: Int) -> Float:
        """P(y | parent) of context j."""
        parent = int(group.parents[j])
        if parent < 0:
            return self.prior[labels]
        return given[sources, parent] if parent < group.n_given else prob[:, parent - group.n_given]

    # Labels ------------------------------------------------------------------------------------------

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

        `edges[i]:edges[i + 1]` is the block of the edge into position i, left candidates × right ones.
        With `skip_single` edges without a rival get zeros."""
        group = self.of_pairs
        rates = np.zeros((int(edges[-1]), len(group.contexts)))
        if not group.contexts:
            return rates
        if native():
            kernels.pair_rates(
                *self.native(group), *group.layout(), *self.tokens(group, corpus), corpus.offsets, positions,
                labels, edges, self.prior, self.pair, ALPHA, skip_single, rates.reshape(-1), n_threads,
            )  # fmt: skip
            return rates
        queries = self.queries(group, corpus)
        for j, (context, widths) in enumerate(zip(group.contexts, group.widths, strict=True)):
            table = self._table(table_of(context))
            key = pack(table.ids.T[:-2], widths)
            for i in np.flatnonzero(np.diff(edges) > skip_single).tolist():
                rows = slice(*np.searchsorted(key, [queries[j, i], queries[j, i] + 1]).tolist())
                n = np.zeros((self.n_labels, self.n_labels))
                n[table.ids[rows, -2], table.ids[rows, -1]] = table.n[rows]
                if queries[j, i] < 0 or not n.any():
                    continue
                a = ALPHA * np.count_nonzero(n)
                before, here, after = positions[i - 1 : i + 2]
                ends = np.ix_(labels[before:here], labels[here:after])
                joint = (n + a * np.outer(self.prior, self.prior) * np.exp(self.pair))[ends]
                left, right = (n.sum(axis=axis) + a * self.prior for axis in (1, 0))
                rate = np.log(joint * (n.sum() + a) / np.outer(left, right)[ends]) - self.pair[ends]
                rates[edges[i] : edges[i + 1], j] = rate.ravel()
        return rates

    @cached_property
    def pair(self) -> Float:
        """log CR(y; y′), smoothed."""
        rate = self._tally(LABEL_PAIR, (self.n_labels, self.n_labels))
        share = PAIR_COUNT * np.sqrt(max(1, rate.sum()))
        for y in range(self.n_labels):  # row by row: with thousands of labels the matrix is large
            rate[y] += share * self.prior[y] * self.prior
        total = rate.sum()
        for y in range(self.n_labels):
            rate[y] = np.log(rate[y] / total) - self.log_prior[y] - self.log_prior
        return rate

    @cached_property
    def start(self) -> Float:
        """log CR(y; START)."""
        return self._boundary(FIRST_LABEL)

    @cached_property
    def end(self) -> Float:
        """log CR(y; END)."""
        return self._boundary(LAST_LABEL)

    def _boundary(self, name: str) -> Float:
        n = self._tally(name, (self.n_labels,))
        n = n + PAIR_COUNT * self.prior * np.sqrt(max(1, n.sum()))
        return np.asarray(np.log(n / n.sum()) - self.log_prior, np.float64)

    @cached_property
    def triple(self) -> Triples:
        return Triples(self._table(LABEL_TRIPLE), self.pair, self.log_prior, ALPHA)
