"""Row weights: with few data, a number beside each row of counts, as a CRF would learn it.

    score(y at i) = … + Σⱼ w(fⱼ, y),    score(y, y′) = … + w(y, y′)

Rates are estimated context by context, and contexts that repeat each other are counted twice; a CRF weighs
them against each other, but has no more than the text to learn from. Each is wrong where the other is right.
So with few data both are pooled, a geometric mean of two distributions over sequences of labels:

    P(y | x) ∝ P_rates(y | x)^(1 − r) · P_CRF(y | x)^r,    r = r₀ / (1 + √(tokens / n₀)) · (1 − tokens / most)

The features of the CRF are the rows of the counts: (f, y) of every context, and (y, y′). What is stored is
r · w, and the other weights as (1 − r) λ. The share r falls as there is more text, and is nothing in the end.
Rows that are forgotten take their weights with them; new ones have none.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from corate._native import kernels, native
from corate.arrays import Float, Ids, Int, dot, offsets_of, owners, pack, places_among
from corate.contexts.template import Context
from corate.counts.counts import Counts
from corate.counts.names import LABEL_PAIR, fields, keys_of_tables, table_of, vocabulary_of
from corate.counts.table import Table
from corate.models.loglinear.attributes import Sparse
from corate.models.loglinear.base import labelled_chains
from corate.models.loglinear.expectations import expectations
from corate.models.loglinear.features import Features, observed
from corate.models.loglinear.lbfgs import Objective, Point, descend
from corate.models.tagger.settings import SETTINGS, Settings
from corate.models.tagger.weights import MOST_WEIGHT, some_common
from corate.rates.groups import Group, in_order
from corate.rates.rates import Rates
from corate.text.corpus import Corpus
from corate.text.passages import Passages, beginning_between

UNIT = 2.0**-16  # weights are whole multiples of it, and stored as such


def share(rates: Rates, n_tokens: int, settings: Settings = SETTINGS) -> float:
    """r: what the CRF has to say beside the rates; 0 where it is not worth its while."""
    work = n_tokens * rates.n_labels**2
    if n_tokens >= settings.rows_tokens or work > settings.rows_work or rates.heads_of is not None:
        return 0.0
    most = settings.rows_share_common if some_common(rates) else settings.rows_share
    falling = 1 + (n_tokens / settings.rows_half_tokens) ** 0.5
    return float(most / falling * (1 - n_tokens / settings.rows_tokens))


def row_tables(contexts: Sequence[Context]) -> list[str]:
    """The tables whose rows have weights: those of contexts, as rates order them, and of label pairs."""
    return [*map(table_of, in_order([c for c in contexts if not c.pair])), LABEL_PAIR]


def n_rows(counts: Counts, contexts: Sequence[Context]) -> int:
    return sum(len(counts.tables[name].n) for name in row_tables(contexts))


def fit_rows(
    text: Passages, rates: Rates, r: float, n_threads: int = 1, settings: Settings = SETTINGS
) -> Ids:
    """r · w of every row of `row_tables`, one table after another, in units: a CRF fitted to all of the text.

        −Σ log P(y | x) + c₁ Σ √(w² + ε²) + c₂ ‖w‖²

    as CRFsuite's L-BFGS, with a bend of the width ε in place of the corner of |w|.
    """
    features, attributes = _features(rates)
    corpus = beginning_between(text, 0, text.n_tokens).with_keys(keys_of_tables(rates.counts.tables))
    assert corpus.labels is not None
    labels = corpus.labels.encode(rates.counts.labels)
    none = Sparse.none(corpus.n_tokens)
    chains, labels = labelled_chains(corpus, labels, attributes(corpus), none)
    seen = observed(features, chains, labels)

    def objective(weights: Float) -> tuple[float, Float]:
        log_z, gradient = expectations(features, chains, weights, n_threads)
        size = np.sqrt(weights**2 + settings.rows_bend**2)
        value = float(np.add.reduce(log_z)) - dot(weights, seen) + settings.rows_l2 * dot(weights, weights)
        value += settings.rows_l1 * float(np.add.reduce(size))
        gradient += (2 * settings.rows_l2 + settings.rows_l1 / size) * weights - seen
        return value, gradient

    return in_units(r * _minimum(objective, len(features), settings))


def in_units(weights: Float) -> Ids:
    return np.rint(weights / UNIT).astype(np.int32)


def _minimum(objective: Objective, n: int, settings: Settings) -> Float:
    start = np.zeros(n)
    values: list[float] = []
    for point in descend(objective, Point(start, *objective(start))):
        values.append(point.value)
        enough = len(values) > 10 and values[-11] - values[-1] < settings.rows_tolerance * abs(values[-1])
        if enough or len(values) > settings.rows_steps:
            break
    return point.weights


class _Attributes:
    """The values of contexts that were counted, one context after another, as attributes of positions."""

    def __init__(self, rates: Rates) -> None:
        self._groups = [group for group in (rates.groups.alone, rates.groups.around) if group.contexts]
        self._rates = rates
        self._keys = [
            np.unique(_keys(rates.counts.tables[table_of(context)], widths))
            for group in self._groups
            for context, widths in zip(group.contexts, group.widths, strict=True)
        ]
        self.offsets = offsets_of(np.array([len(keys) for keys in self._keys], np.int64))

    def __call__(self, corpus: Corpus) -> Sparse:
        queries = np.vstack([self._rates.tokens.queries(group, corpus) for group in self._groups])
        found = np.stack([places_among(keys, q) for keys, q in zip(self._keys, queries, strict=True)], axis=1)
        return Sparse.of(np.where(found >= 0, found + self.offsets[:-1], -1))


def _features(rates: Rates) -> tuple[Features, _Attributes]:
    """A feature for each row of `row_tables`, in their order."""
    attributes, tables = _Attributes(rates), rates.counts.tables
    groups = (rates.groups.alone, rates.groups.around)
    widths = [each for group in groups for each in group.widths]
    own = [tables[table_of(context)] for context in rates.contexts]
    n_rows = [
        np.unique(_keys(table, bits), return_counts=True)[1] for table, bits in zip(own, widths, strict=True)
    ]
    labels = np.concatenate([table.field(table.ids.shape[1] - 1) for table in own])
    none = np.empty(0, np.int32)
    pair = tables[LABEL_PAIR]
    ends = np.ascontiguousarray(pair.field(0)), np.ascontiguousarray(pair.field(1))
    offsets = offsets_of(np.concatenate(n_rows))
    labels = np.ascontiguousarray(labels)
    return Features(rates.n_labels, offsets, labels, *ends, np.zeros(1, np.int64), none, none), attributes


def _keys(table: Table, widths: Sequence[int]) -> Int:
    """The value of each row, in one integer; they order as rows do."""
    return pack([table.field(k) for k in range(len(widths))], widths)


@dataclass(frozen=True)
class RowWeights:
    """Weights of the rows of some counts, ready to be looked up."""

    rates: Rates
    vector: Ids  # of `row_tables`, one after another, in units

    def __getstate__(self) -> dict[str, Any]:
        """A copy makes its own of what follows from them."""
        return {"rates": self.rates, "vector": self.vector}

    @cached_property
    def tables(self) -> dict[str, Ids]:
        names = [*map(table_of, self.rates.contexts), LABEL_PAIR]  # those of `row_tables`
        sizes = [len(self.rates.counts.tables[name].n) for name in names]
        return dict(zip(names, np.split(self.vector, np.cumsum(sizes)[:-1]), strict=True))

    @cached_property
    def pair(self) -> Float:
        """w(y, y′), labels × labels."""
        table = self.rates.counts.tables[LABEL_PAIR]
        made = np.zeros((self.rates.n_labels, self.rates.n_labels))
        made[table.field(0), table.field(1)] = UNIT * self.tables[LABEL_PAIR]
        return made

    @cached_property
    def _groups(self) -> list[tuple[Group, list[Table], list[Float]]]:
        """Of each group the rows that have a weight."""
        made = []
        for group in (self.rates.groups.alone, self.rates.groups.around):
            names = [table_of(context) for context in group.contexts]
            kept = [self.tables[name] != 0 for name in names]
            rows = [self.rates.counts.tables[n].only(k) for n, k in zip(names, kept, strict=True)]
            weights = [UNIT * self.tables[n][k] for n, k in zip(names, kept, strict=True)]
            if names:
                made.append((group, rows, weights))
        return made

    @cached_property
    def _kernels(self) -> list[tuple[Group, kernels.RowScores]]:
        made = []
        for group, rows, weights in self._groups:
            ids, n = [np.ascontiguousarray(t.ids) for t in rows], [np.ones(len(t.n), np.int64) for t in rows]
            tables = kernels.Tables(ids, n, group.widths)
            made.append((group, kernels.RowScores(group.native, tables, np.concatenate(weights))))
        return made

    def scores(self, corpus: Corpus, positions: Int, labels: Ids, n_threads: int = 1) -> Float:
        """Σⱼ w(fⱼ, y) of every candidate."""
        if not native():
            return np.asarray(self.terms(corpus, positions, labels).sum(axis=1), np.float64)
        total = np.zeros(len(labels))
        for group, kernel in self._kernels:
            total += kernel(self.rates.native_tokens(group, corpus), positions, labels, n_threads)
        return total

    def terms(self, corpus: Corpus, positions: Int, labels: Ids) -> Float:
        """candidates × contexts: w(fⱼ, y)."""
        owner, n, columns = owners(positions), self.rates.n_labels, []
        for group, rows, weights in self._groups:
            queries = self.rates.tokens.queries(group, corpus)
            for q, table, w, bits in zip(queries, rows, weights, group.widths, strict=True):
                values, number = np.unique(_keys(table, bits), return_inverse=True)
                place = places_among(values, q)[owner]
                row = places_among(number.reshape(-1) * n + table.field(len(bits)), place * n + labels)
                there = (place >= 0) & (row >= 0)
                columns.append(np.where(there, np.append(w, 0.0)[np.where(there, row, -1)], 0.0))
        return np.stack(columns, axis=1)


def moved(vector: Ids, old: Counts, new: Counts, contexts: Sequence[Context]) -> Ids:
    """The weights of rows of some counts for those of other counts: rows that are new have none."""
    parts, first = [], 0
    names = row_tables(contexts)
    vocabularies = {vocabulary_of(field) for name in names for field in fields(name)}
    place = {name: _places(old.vocabularies[name], new.vocabularies[name]) for name in vocabularies}
    for name in names:
        table, other = old.tables[name], new.tables[name]
        w = vector[first : first + len(table.n)]
        first += len(table.n)
        columns = [place[vocabulary_of(field)][table.field(k)] for k, field in enumerate(fields(name))]
        there = np.flatnonzero((np.stack(columns) >= 0).all(axis=0))
        rows = np.stack([column[there] for column in columns], axis=1).astype(np.int32)
        places, found = other.find(rows)  # vocabularies are sorted: rows keep their order
        made = np.zeros(len(other.n), np.int32)
        made[places[found]] = w[there[found]]
        parts.append(made)
    return np.concatenate(parts)


def _places(old: Sequence[str], new: Sequence[str]) -> Ids:
    """The new id of each old one, −1 where it has none; both vocabularies are sorted."""
    if old is new:
        return np.arange(len(old), dtype=np.int32)
    kept, known = np.ones(len(old), bool), np.ones(len(new), bool)
    kept[[bisect_left(old, value) for value in {*old}.difference(new)]] = False
    known[[bisect_left(new, value) for value in {*new}.difference(old)]] = False
    places = np.full(len(old), -1, np.int32)
    places[kept] = np.flatnonzero(known)
    return places


def mean_rows(
    each: Sequence[tuple[Ids | None, Counts]],
    shares: Sequence[float],
    counts: Counts,
    contexts: Sequence[Context],
) -> Ids | None:
    """The mean over models, by their shares; rows that a model lacks, or all of them, weigh nothing there."""
    found = [
        (moved(vector, own, counts, contexts).astype(np.float64), part)
        for (vector, own), part in zip(each, shares, strict=True)
        if vector is not None
    ]
    if not found:
        return None
    # In whatever order the models come: small and large terms are added in one order.
    terms = np.sort(np.stack([vector * part for vector, part in found]), axis=0)
    return np.asarray(np.rint(np.add.reduce(terms, axis=0)), np.int32)


def checked_rows(rows: Any, rates: Rates) -> Ids | None:
    """Row weights from a file; None where there are none."""
    if rows is None:
        return None
    if rows.dtype != np.int32 or rows.shape != (n_rows(rates.counts, rates.templates),):
        raise ValueError("the weights of rows do not fit the counts")
    if not (np.abs(rows * UNIT) <= MOST_WEIGHT).all():
        raise ValueError(f"the weight of a row is not a number between -{MOST_WEIGHT} and {MOST_WEIGHT}")
    return np.asarray(rows)
