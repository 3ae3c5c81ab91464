"""What events are worth to the Tagger, so that those worth least go first when it has to be smaller.

Without an event its label falls back to what the context's parent says. In other text like that of training
that costs, in the letters of evidence.py and smoothed.py,

    worth(f, y)     = λ_{j,b} (#(f, y) − d) min(1, log [P(y | f) / P₋(y | f)])
    worth(f, y, y′) = |τₛ| (#(f, y, y′) − d) min(1, |log CR(y; y′ | f) − log CR(y; y′)|)

    P₋(y | f) = a₋ P(y | parent(f)) / (#(f) − #(f, y) + a₋)      without (f, y); a₋ = α (labels seen − 1)
    d = n₁ / (n₁ + 2 n₂)                           n_k: events of the context that were counted k times

What was counted n times is expected n − d times (Ney, Essen and Kneser 1994). No event is worth more than 1
at a place, for others speak there, too: with more, many that agree about a word keep out those that decide
(docs/changing.md has what that brought). δ stays out, for an event speaks of its label's rivals, too. Events
go in the order of worth by bytes. All is from counts and weights; no text is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from corate.arrays import Float, Ids, Int, pack, starts_of_runs
from corate.contexts.template import Atom, Context
from corate.contexts.values import OUTSIDE, Encoder
from corate.contexts.view_ids import WORD
from corate.counts.counts import Counts
from corate.counts.names import WORD_LABEL, table_of
from corate.counts.table import Table
from corate.models.tagger.weights import Weights
from corate.rates.rates import Rates
from corate.rates.smoothed import smooth

ID_BYTES, COUNT_BYTES = 4, 8  # in a row of a table
MOST = 1.0  # that an event is worth at a place
PARTS = 256  # of all bytes: no more is dropped in vain


@dataclass(frozen=True)
class Values:
    """The rows of a context's table by value: keys ascend, and rows of one value follow one another."""

    table: Table
    keys: Int  # distinct
    first_row: Int  # of each value
    place: Int  # of each row, its value

    @classmethod
    def of_table(cls, table: Table, widths: Sequence[int]) -> Values:
        key = pack(table.ids.T[: len(widths)], widths)
        first = starts_of_runs(key)
        place = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(key))))
        return cls(table, key[first], first, place)

    @cached_property
    def total(self) -> Int:
        """#(f)."""
        ends = np.append(0, np.cumsum(self.table.n))
        return np.asarray(ends[self.first_row + self.n_rows] - ends[self.first_row], np.int64)

    @cached_property
    def n_rows(self) -> Int:
        return np.diff(np.append(self.first_row, len(self.place)))

    def margin(self, labels: Ids) -> Float:
        """Of each row, the sum over the rows of its value that have the same of some labels."""
        _, which = np.unique(self.place * (int(labels.max(initial=0)) + 1) + labels, return_inverse=True)
        return np.asarray(np.bincount(which, self.table.n)[which], np.float64)

    def of(self, value: Int, numbers: Int) -> Int:
        """Numbers of values that are given by their places; whatever it is for −1."""
        return numbers[value] if len(numbers) else np.zeros(len(value), np.int64)

    def find(self, keys: Int, labels: Ids, n_labels: int) -> tuple[Int, Int]:
        """The place of each value and its row with a label, −1 where there is none."""
        if not len(self.keys):
            nowhere = np.full(len(keys), -1)
            return nowhere, nowhere
        value = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        value = np.where(self.keys[value] == keys, value, -1)
        rows = self.place * n_labels + self.table.field(-1)
        row = np.minimum(np.searchsorted(rows, value * n_labels + labels), len(rows) - 1)
        return value, np.where((value >= 0) & (rows[row] == value * n_labels + labels), row, -1)


class Worth:
    """Of all values of all contexts of a model."""

    def __init__(self, rates: Rates, weights: Weights) -> None:
        self._rates, self._weights, self._counts = rates, weights, rates.counts
        self._encoder = Encoder(self._counts.vocabularies)
        groups = rates.groups
        self._values = [self._values_of(context) for context in groups.contexts]
        self._pairs = [self._values_of(context) for context in groups.of_pairs.contexts]
        self._parent_keys: list[Int] = []  # of each value
        self._above: list[Float] = []  # of each row, P(y | parent(f))
        for j, values in enumerate(self._values):  # parents before children
            self._parent_keys.append(self._keys_of_parents(j))
            keys = self._parent_keys[j][values.place]
            self._above.append(self._prob(groups.parents[j], keys, values.table.field(-1)))

    def _values_of(self, context: Context) -> Values:
        return Values.of_table(self._counts.tables[table_of(context)], self._widths(context))

    def _widths(self, context: Context) -> list[int]:
        return [self._rates.groups.bits[atom.source] for atom in context.atoms]

    # P(y | f) ----------------------------------------------------------------------------------------

    def _prob(self, j: int, keys: Int, labels: Ids) -> Float:
        """P(y | f) of values of context j with labels; P(y) where j is −1, or the value is not there."""
        prob = self._rates.labels.prior[labels]
        if j < 0:
            return prob
        values = self._values[j]
        value, row = values.find(keys, labels, self._rates.n_labels)
        there, n, above = value >= 0, np.zeros(len(keys)), prob
        n[row >= 0], above[row >= 0] = values.table.n[row[row >= 0]], self._above[j][row[row >= 0]]
        unseen = np.flatnonzero(there & (row < 0))
        if len(unseen):  # with this label; so with its parent, perhaps
            parent = self._rates.groups.parents[j]
            above[unseen] = self._prob(parent, self._parent_keys[j][value[unseen]], labels[unseen])
        total, n_seen = np.where(there, values.of(value, values.total), 0), values.of(value, values.n_rows)
        return np.asarray(smooth(n, total, self._rates.smoothing.alpha * n_seen, above), np.float64)

    def _keys_of_parents(self, j: int) -> Int:
        """Of each value of context j, the key of the one that it falls back to; −1 where it is not known."""
        values, groups = self._values[j], self._rates.groups
        ids, atoms = values.table.ids[values.first_row], groups.contexts[j].atoms
        nowhere = np.full(len(values.keys), -1)
        if groups.parents[j] < 0:
            return nowhere
        parent = groups.contexts[groups.parents[j]]
        columns = []
        for atom in parent.atoms:
            k = next(
                k for k, own in enumerate(atoms) if (own.offset, own.column) == (atom.offset, atom.column)
            )
            if atom in atoms:
                columns.append(ids[:, atoms.index(atom)])
            elif atom.column or WORD_LABEL not in self._counts.tables:
                return nowhere
            else:
                columns.append(self._shorter(atoms[k].at(0), atom.at(0))[ids[:, k]])
        keys = pack([np.maximum(column, 0) for column in columns], self._widths(parent))
        return np.where(np.min(columns, axis=0) < 0, -1, keys)

    def _shorter(self, view: Atom, shorter: Atom) -> Ids:
        """Of each value of a view of words, the value of a shorter one, as its most frequent word has it."""
        words, table = self._counts.vocabularies[WORD.source], self._counts.tables[WORD_LABEL]
        order = np.argsort(np.bincount(table.field(0), table.n, len(words)), kind="stable")
        ids, found = self._encoder.ids(view, words), self._encoder.ids(shorter, words)
        made = np.full(len(self._counts.vocabularies[view.source]) + 1, -1, np.int32)  # one more, for −1
        made[ids[order]] = found[order]
        made[self._encoder.id_of(view, OUTSIDE)] = self._encoder.id_of(shorter, OUTSIDE)
        return made[:-1]

    # Worth -------------------------------------------------------------------------------------------

    def tables(self) -> Iterator[tuple[str, Table, Float]]:
        """Of each context its table, and what each row is worth."""
        groups = self._rates.groups
        for j, (context, values) in enumerate(zip(groups.contexts, self._values, strict=True)):
            yield table_of(context), values.table, _expected(values.table) * self._of_labels(j)
        for j, (context, values) in enumerate(zip(groups.of_pairs.contexts, self._pairs, strict=True)):
            each = np.minimum(MOST, np.abs(self._of_pairs(values)))
            yield (
                table_of(context),
                values.table,
                _expected(values.table) * abs(self._weights.pairs[j]) * each,
            )

    def _of_labels(self, j: int) -> Float:
        """λ min(1, log [P(y | f) / P₋(y | f)]) of each row."""
        values, above, smoothing = self._values[j], self._above[j], self._rates.smoothing
        n, total, n_seen = values.table.n, values.total[values.place], values.n_rows[values.place]
        prob = smooth(n, total, smoothing.alpha * n_seen, above)
        without = smooth(0, total - n, smoothing.alpha * (n_seen - 1), above)
        weight = self._weights.contexts[smoothing.buckets(values.total), j][values.place]
        return np.asarray(weight * np.minimum(MOST, np.log(prob / without)), np.float64)

    def _of_pairs(self, values: Values) -> Float:
        """log CR(y; y′ | f) − log CR(y; y′) of each row."""
        n, first, second = values.table.n, values.table.field(-2), values.table.field(-1)
        prior, pair = self._rates.labels.prior, self._rates.labels.pair[first, second]
        a, total = self._rates.smoothing.alpha * values.n_rows[values.place], values.total[values.place]
        joint = n + a * prior[first] * prior[second] * np.exp(pair)
        before = values.margin(first) + a * prior[first]
        after = values.margin(second) + a * prior[second]
        return np.asarray(np.log(joint * (total + a) / (before * after)) - pair, np.float64)


def _expected(table: Table) -> Float:
    """#(f, y) − d."""
    once, twice = np.count_nonzero(table.n == 1), np.count_nonzero(table.n == 2)
    return np.asarray(table.n - once / max(1, once + 2 * twice), np.float64)


class Cut(NamedTuple):
    counts: Counts
    below: int  # all events that were counted so often are there


def shrunk(counts: Counts, worth: Worth, fits: Callable[[Cut], bool]) -> Cut | None:
    """Without the events that are worth least for their bytes, until the counts fit; None if they never do.

    How many is found by halves of bytes, up to a small part of them."""
    tables = [*worth.tables()]
    n_bytes = [np.full(len(each), _row_bytes(table)) for _, table, each in tables]
    by_bytes = [each / n for (_, _, each), n in zip(tables, n_bytes, strict=True)]
    order = np.argsort(np.concatenate(by_bytes), kind="stable")
    bytes_gone = np.append(0, np.cumsum(np.concatenate(n_bytes)[order]))
    bounds = np.cumsum([len(each) for _, _, each in tables])[:-1]
    most_gone = np.maximum.accumulate(
        np.append(1, np.concatenate([table.n for _, table, _ in tables])[order])
    )

    def without(n_events: int) -> Cut:
        kept = np.ones(len(order), bool)
        kept[order[:n_events]] = False
        parts = zip(tables, np.split(kept, bounds), strict=True)
        cut = {name: table.only(part) for (name, table, _), part in parts}
        left = Counts(counts.vocabularies, {**counts.tables, **cut}, counts.n_sentences)
        return Cut(left.compact(), int(most_gone[n_events]) + 1)

    few, enough, best = 0, len(order), without(len(order))
    if not fits(best):
        return None
    while bytes_gone[enough] - bytes_gone[few] > bytes_gone[-1] // PARTS:
        middle = int(np.searchsorted(bytes_gone, (bytes_gone[few] + bytes_gone[enough]) // 2))
        if middle in (few, enough):
            break
        if fits(tried := without(middle)):
            enough, best = middle, tried
        else:
            few = middle
    return best


def _row_bytes(table: Table) -> int:
    return ID_BYTES * int(table.ids.shape[1]) + COUNT_BYTES
