"""Look-up: where the values of contexts at tokens are found among counts.

    token ──► ids of its views ──► key of a context's value ──► rows (label, count)
              (vocabularies)      (ids packed into 64 bits)    (tables)

Nothing here changes once it is made: counts that are added make another index, which shares what it can with
the old one, so that whoever reads the old one may go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from corate._native import kernels
from corate.arrays import Ids, Int, pack, starts_of_runs
from corate.contexts.template import Atom
from corate.contexts.values import OUTSIDE, Encoder, column_of, missing_column
from corate.counts.counts import Counts
from corate.counts.names import LABEL, fields, table_of, vocabulary_of
from corate.counts.table import Table
from corate.counts.unread import UnreadTables
from corate.rates.groups import Group, Groups
from corate.text.corpus import Corpus


class TokenArrays(NamedTuple):
    """The tokens as a group of contexts looks at them."""

    first_id: Int  # views + 1
    ids: Ids  # of each view, the id of each code of its column; −1: unseen
    columns: Ids  # of each view
    outside: Ids  # of each view, the id beyond the sentence; −1 where it has none
    codes: Ids  # columns × tokens


class TokenIds:
    """The tokens of sentences as groups of contexts look at them, under the ids of an encoder."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder

    def arrays(self, group: Group, corpus: Corpus) -> TokenArrays:
        columns = {atom.column: column_of(corpus, atom) for atom in group.views}
        missing = next((column for column, found in columns.items() if found is None), None)
        if missing is not None and not missing.startswith('"') and corpus.n_tokens:
            raise missing_column(Atom("word", 0, missing), corpus)
        place = {name: k for k, name in enumerate(columns)}
        nothing = np.zeros(corpus.n_tokens, np.int32)
        codes = [nothing if found is None else found.codes for found in columns.values()]
        ids = []
        for atom in group.views:
            found = columns[atom.column]
            ids.append(np.full(1, -1, np.int32) if found is None else self.encoder.ids(atom, found.values))
        return TokenArrays(
            np.cumsum([0, *map(len, ids)], dtype=np.int64),
            np.concatenate([np.empty(0, np.int32), *ids]),
            np.array([place[atom.column] for atom in group.views], np.int32),
            np.array([self.encoder.id_of(atom, OUTSIDE) for atom in group.views], np.int32),
            np.stack(codes) if codes else np.zeros((1, corpus.n_tokens), np.int32),
        )

    def queries(self, group: Group, corpus: Corpus) -> Int:
        """contexts × tokens: the value of each context at each token, −1 where a part of it is unseen or all
        of it lies beyond the sentence."""
        tokens = self.arrays(group, corpus)
        found = np.full((len(group.contexts), corpus.n_tokens), -1)
        for j, widths in enumerate(group.widths):
            parts, anywhere = [], np.zeros(corpus.n_tokens, bool)
            for a in range(int(group.first_atom[j]), int(group.first_atom[j + 1])):
                v = int(group.atom_views[a])
                place, inside = corpus.neighbours(int(group.offsets[a]))
                here = tokens.ids[int(tokens.first_id[v]) + tokens.codes[tokens.columns[v]][place]]
                parts.append(np.where(inside, here, tokens.outside[v]))
                anywhere |= inside
            seen = anywhere & (np.min(parts, axis=0) >= 0)
            found[j] = np.where(seen, pack([np.maximum(part, 0) for part in parts], widths), -1)
        return found


class Index:
    """An encoder, and tables of contexts under its ids, as the kernels read them."""

    def __init__(self, groups: Groups, encoder: Encoder, tables: Mapping[Group, kernels.Tables]) -> None:
        self.groups, self.tokens, self._tables = groups, TokenIds(encoder), tables

    @classmethod
    def of(cls, counts: Counts, groups: Groups) -> Index:
        n_labels = len(counts.labels)
        tables = {group: kernels.Tables(*_rows(group, counts, n_labels)) for group in groups.all}
        return cls(groups, Encoder(counts.vocabularies), tables)

    def __getitem__(self, group: Group) -> kernels.Tables:
        return self._tables[group]

    def minus(self, part: Counts) -> dict[Group, kernels.Tables]:
        """The tables of counts that are part of these, under the same ids, to be subtracted."""
        n_labels = len(part.labels)
        return {group: kernels.Tables(*_rows(group, part, n_labels)) for group in self.groups.all}

    def plus(self, changed: Counts, sign: int) -> Index | None:
        """With counts that were added (sign 1) or taken away (−1); only what they touch is looked at.

        New values get ids behind the others'. None where those do not fit the keys any more.
        """
        encoder, ids = self.tokens.encoder.plus(changed.vocabularies)
        if any(len(encoder.lookup(source)) > 1 << self.groups.bits[source] for source in ids):
            return None
        n_labels = len(encoder.lookup(LABEL))
        tables = {
            group: self[group].plus(*_rows(group, changed, n_labels, ids, sign)) for group in self.groups.all
        }
        return Index(self.groups, encoder, tables)


class PartIndex:
    """The same for counts that are not read from their file as a whole: tables of what tokens ask for."""

    most_tokens = 1000  # that are looked up like this, in all; for more, to read everything is quicker

    def __init__(self, counts: Counts, tables: UnreadTables) -> None:
        self.tokens = TokenIds(Encoder(counts.vocabularies))
        self._counts, self._tables, self._n_tokens = counts, tables, 0

    def is_for(self, corpus: Corpus) -> bool:
        """Whether these sentences are few, with those before them."""
        self._n_tokens += corpus.n_tokens
        return self._n_tokens <= self.most_tokens and not self._tables.is_read

    def tables(self, group: Group, corpus: Corpus) -> kernels.Tables:
        found = {}
        queries = self.tokens.queries(group, corpus)
        for context, asked, widths in zip(group.contexts, queries, group.widths, strict=True):
            keys = np.unique(asked[asked >= 0])
            found[table_of(context)] = self._tables.with_values(table_of(context), keys, widths)
        part = Counts(self._counts.vocabularies, found, self._counts.n_sentences)
        return kernels.Tables(*_rows(group, part, len(part.labels)))


def _rows(
    group: Group, counts: Counts, n_labels: int, ids: Mapping[str, Ids] | None = None, sign: int = 1
) -> tuple[list[Ids], list[Int], list[list[int]]]:
    """The rows of a group's tables, under other ids if they are given; two labels as one number."""
    tables = []
    for context in group.contexts:
        name = table_of(context)
        table = counts.tables[name]
        if ids is not None:
            table = table.rename(*(ids[vocabulary_of(field)] for field in fields(name)))
        tables.append(_with_label_pair(table, n_labels) if context.pair else table)
    return [table.ids for table in tables], [sign * table.n for table in tables], group.widths


def _with_label_pair(table: Table, n_labels: int) -> Table:
    joined = table.ids[:, -2] * np.int32(n_labels) + table.ids[:, -1]
    return Table(np.column_stack([table.ids[:, :-2], joined]), table.n)


class ContextTables:
    """The tables of a group's contexts, end to end, for NumPy."""

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
        return np.where((self.keys[place] == queries) & (queries >= 0), place, -1)

    def rows(self, j: int, query: int) -> dict[int, int]:
        """The counts of each label that was seen with a value of context j."""
        place = int(self.find(j, np.array([query]))[0])
        if place < 0:
            return {}
        rows = slice(int(self.first_row[place]), int(self.first_row[place + 1]))
        return dict(zip(self.row_labels[rows].tolist(), self.row_counts[rows].tolist(), strict=True))
