"""Many contexts at once: smoothed log co-occurrence rates of candidate labels (model.md §2).

    P(y)         = (#(y) + PRIOR_COUNT) / …
    P(y | f)     = (#(f, y) + a · P(y | parent(f))) / (#(f) + a),    a = α · number of labels seen with f
    log CR(y; f) = log P(y | f) − log P(y);    0 for a context that training never saw
    CR(y; y′)    from #(y, y′) + ½ P(y) P(y′) √N, renormalised; the same with the start and the end

The parent of a context is the nearest of those that it falls back to (`Context.parents`) among those in use.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from corate._native import HAS_KERNELS
from corate.contexts import Context, view
from corate.corpus import Corpus
from corate.counts import KEY_BITS, LABEL_PAIR, OUTSIDE, WORD_LABEL, Counts, Table, pack, starts_of_runs
from corate.errors import InputError

if HAS_KERNELS:
    from corate._native import kernels

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int32]
Buckets = npt.NDArray[np.int8]

ALPHA = 0.4  # how much of its own evidence a context gives to its parent
PRIOR_COUNT = 0.1
PAIR_COUNT = 0.5
BUCKETS = (1, 2, 4, 11, 101)  # a context's own count falls into one of six buckets: 0, 1, 2–3, 4–10, …

WORD = Context.parse("word")


def table_of(context: Context) -> str:
    """`word-1,shape` → the name of its table, `word-1.shape.y`."""
    return ".".join([*map(str, context.atoms), "y"])


def in_order(contexts: Sequence[Context]) -> list[Context]:
    """Parents before children, otherwise as given."""
    known = set(contexts)
    done: dict[Context, None] = {}
    for context in contexts:
        ancestors = [parent for parent in context.parents() if parent in known]
        done.update(dict.fromkeys([*reversed(ancestors), context]))
    return list(done)


class ContextTables:
    """The tables of several contexts, end to end, as the kernel reads them."""

    def __init__(
        self, contexts: Sequence[Context], tables: Sequence[Table], widths: Sequence[Sequence[int]]
    ) -> None:
        self.contexts = list(contexts)
        place = {context: j for j, context in enumerate(contexts)}
        nearest = [next((place[p] for p in c.parents() if p in place), -1) for c in contexts]
        self.parents = np.array(nearest, np.int32)
        keys, first_rows, n_rows = [], [], 0
        for table, bits in zip(tables, widths, strict=True):
            key = pack(table.ids.T[:-1], bits)
            first = starts_of_runs(key)
            keys.append(key[first])
            first_rows.append(first + n_rows)
            n_rows += len(key)
        self.first_key = np.cumsum([0, *map(len, keys)], dtype=np.int64)
        self.keys = np.concatenate(keys)
        self.first_row = np.append(np.concatenate(first_rows), n_rows).astype(np.int64)
        self.row_labels = np.concatenate([table.field(-1) for table in tables])
        self.row_counts = np.concatenate([table.n for table in tables])
        ends = np.append(0, np.cumsum(self.row_counts))
        self.totals = ends[self.first_row[1:]] - ends[self.first_row[:-1]]

    def find(self, j: int, queries: Int) -> Int:
        """Place among all keys of each value of context j, −1 where training never saw it."""
        first, last = int(self.first_key[j]), int(self.first_key[j + 1])
        if first == last:
            return np.full(len(queries), -1)
        place = np.minimum(first + np.searchsorted(self.keys[first:last], queries), last - 1)
        return np.where(self.keys[place] == queries, place, -1)


def _queries(columns: Sequence[Int], bits: Sequence[int]) -> Int:
    """Values of a context from those of its parts; −1 where one of them is −1."""
    return np.where(np.min(columns, axis=0) < 0, -1, pack(columns, bits))


class Rates:
    """Everything that counts say of labels: priors, rates of contexts, rates of label pairs."""

    def __init__(self, counts: Counts, contexts: Sequence[Context], like: Rates | None = None) -> None:
        """`like` are rates of counts with the same vocabularies, whose look-up tables can serve here too."""
        self.counts = counts
        self.contexts = in_order(contexts)
        self.n_labels = len(counts.labels)
        table = counts.tables[WORD_LABEL]
        n = np.bincount(table.field(-1), weights=table.n, minlength=self.n_labels) + PRIOR_COUNT
        self.prior: Float = n / n.sum()
        self.log_prior: Float = np.log(self.prior)
        self._bits = {key: max(1, len(values)).bit_length() for key, values in counts.vocabularies.items()}
        for context in self.contexts:
            if sum(self._bits[atom.view] for atom in context.atoms) > KEY_BITS:
                raise InputError(f"the context {context} has too many values: leave one of its parts out")
        self._index: dict[str, dict[str, int]] = {} if like is None else like._index

    # Contexts ----------------------------------------------------------------------------------------

    @cached_property
    def tables(self) -> ContextTables:
        return self._tables_of(self.contexts)

    @cached_property
    def word_tables(self) -> ContextTables:
        """Those of contexts that look at the word itself only, and in any case that of the word."""
        alone = [context for context in self.contexts if context.is_word_alone]
        return self._tables_of(in_order([*alone, WORD]))

    def _tables_of(self, contexts: Sequence[Context]) -> ContextTables:
        tables = [self.counts.tables[table_of(context)] for context in contexts]
        return ContextTables(contexts, tables, [self._widths(context) for context in contexts])

    def _widths(self, context: Context) -> list[int]:
        return [self._bits[atom.view] for atom in context.atoms]

    def index(self, name: str) -> dict[str, int]:
        """Ids of a view's values."""
        if name not in self._index:
            self._index[name] = {value: i for i, value in enumerate(self.counts.vocabularies[name])}
        return self._index[name]

    def queries(self, corpus: Corpus, contexts: Sequence[Context]) -> Int:
        """contexts × tokens: the value of each context at each token, −1 where a part of it is unseen."""
        ids: dict[str, Int] = {}
        for name in {atom.view for context in contexts for atom in context.atoms}:
            get = self.index(name).get
            ids[name] = np.array([get(value, -1) for value in map(view(name), corpus.words.values)], np.int64)
        atoms = {atom for context in contexts for atom in context.atoms}
        at = {atom: ids[atom.view][corpus.words.codes] for atom in atoms}
        for offset in {atom.offset for atom in atoms} - {0}:
            place, inside = corpus.neighbours(offset)
            for atom in atoms:
                if atom.offset == offset:
                    beyond = self.index(atom.view).get(OUTSIDE, -1)
                    at[atom] = np.where(inside, at[atom][place], beyond)
        rows = [_queries([at[atom] for atom in context.atoms], self._widths(context)) for context in contexts]
        return np.stack(rows) if rows else np.empty((0, corpus.n_tokens), np.int64)

    def log_rates(
        self,
        tables: ContextTables,
        queries: Int,
        positions: Int,
        labels: Ids,
        n_threads: int = 1,
        kernel: str | None = None,
    ) -> tuple[Float, Buckets]:
        """candidates × contexts: log CR(y; f); positions × contexts: the bucket of #(f)."""
        n = len(tables.contexts)
        rates, buckets = np.zeros((len(labels), n)), np.zeros((len(positions) - 1, n), np.int8)
        if HAS_KERNELS and kernel != "numpy":
            kernels.log_rates(
                tables.first_key, tables.keys, tables.first_row, tables.row_labels, tables.row_counts,
                tables.totals, positions, labels, tables.parents, self.prior, self.log_prior, ALPHA,
                np.ascontiguousarray(queries).reshape(-1), rates.reshape(-1), buckets.reshape(-1), n_threads,
            )  # fmt: skip
        else:
            self._log_rates(tables, queries, positions, labels, rates, buckets)
        return rates, buckets

    def _log_rates(
        self, tables: ContextTables, queries: Int, positions: Int, labels: Ids, rates: Float, buckets: Buckets
    ) -> None:
        """The same in NumPy: one context after another, parents first."""
        if not len(tables.row_labels):
            return
        owner = np.repeat(np.arange(len(positions) - 1), np.diff(positions))
        n_rows = np.diff(tables.first_row)
        total = tables.totals
        row_key = np.repeat(np.arange(len(n_rows)), n_rows) * self.n_labels + tables.row_labels
        prob = np.empty((len(tables.contexts), len(labels)))
        for j, parent in enumerate(tables.parents.tolist()):
            above = self.prior[labels] if parent < 0 else prob[parent]
            place = tables.find(j, queries[j])
            seen = (place >= 0)[owner]
            key = place[owner]
            row = np.minimum(np.searchsorted(row_key, key * self.n_labels + labels), len(row_key) - 1)
            n = np.where(row_key[row] == key * self.n_labels + labels, tables.row_counts[row], 0)
            a = ALPHA * n_rows[key]
            prob[j] = np.where(seen, (n + a * above) / (total[key] + a), above)
            rates[:, j] = np.where(seen, np.log(prob[j]) - self.log_prior[labels], 0.0)
            buckets[:, j] = np.digitize(np.where(place >= 0, total[place], 0), BUCKETS)

    # Label pairs -------------------------------------------------------------------------------------

    @cached_property
    def pair(self) -> Float:
        """log CR(y; y′), smoothed."""
        pairs = self.counts.tables[LABEL_PAIR]
        joint = np.zeros((self.n_labels, self.n_labels))
        joint[pairs.field(0), pairs.field(1)] = pairs.n
        joint += PAIR_COUNT * np.outer(self.prior, self.prior) * np.sqrt(max(1, pairs.n.sum()))
        rate: Float = np.log(joint / joint.sum()) - self.log_prior[:, None] - self.log_prior[None, :]
        return rate

    @cached_property
    def start(self) -> Float:
        """log CR(y; START)."""
        return self._boundary("word-1.y")

    @cached_property
    def end(self) -> Float:
        """log CR(y; END)."""
        return self._boundary("word+1.y")

    def _boundary(self, name: str) -> Float:
        """Labels whose neighbour is OUTSIDE."""
        table = self.counts.tables[name]
        rows = table.field(0) == self.index("word").get(OUTSIDE, -1)
        n = np.bincount(table.field(1)[rows], weights=table.n[rows], minlength=self.n_labels)
        n = n + PAIR_COUNT * self.prior * np.sqrt(max(1, n.sum()))
        return np.asarray(np.log(n / n.sum()) - self.log_prior, np.float64)
