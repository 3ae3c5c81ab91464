"""Candidates: which labels a token may have, by what it is itself.

Tokens that contexts of the token alone cannot tell apart are of one *kind*. Labels that were seen with the
kind's contexts are pooled, the most specific context first, until there are enough; the best of them by equal
weights are the kind's candidates. Under a model's own weights fewer of them remain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from corate._native import kernels, native
from corate.arrays import (
    Float,
    Ids,
    Int,
    Mask,
    check_room,
    offsets_of,
    owners,
    pack,
    ragged_arange,
    starts_of_runs,
)
from corate.contexts.values import column_of
from corate.counts.table import Table
from corate.models.tagger.evidence import Rows
from corate.models.tagger.settings import SETTINGS, Settings
from corate.models.tagger.weights import equal_weight
from corate.rates.rates import Rates
from corate.rates.smoothed import left_over
from corate.text.corpus import Column, Corpus


@dataclass(frozen=True)
class Required:
    """Labels that are candidates of a kind in any case: offsets by kind, and labels, ascending."""

    offsets: Int
    labels: Ids

    @classmethod
    def none(cls) -> Required:
        return cls(np.empty(0, np.int64), np.empty(0, np.int32))

    @classmethod
    def of(cls, gold: Ids | None, kind_of: Ids) -> Required:
        """The gold labels of the tokens of each kind."""
        if gold is None:
            return cls.none()
        table = Table.of([kind_of[gold >= 0], gold[gold >= 0]])
        n = np.bincount(table.field(0), minlength=int(kind_of.max(initial=-1)) + 1)
        return cls(offsets_of(n), np.ascontiguousarray(table.field(1)))

    @classmethod
    def all(cls, n_kinds: int, n_labels: int) -> Required:
        """Every label of every kind."""
        check_room(n_kinds * n_labels, f"all {n_labels:,} labels of {n_kinds:,} kinds of tokens")
        return cls(n_labels * np.arange(n_kinds + 1), np.tile(np.arange(n_labels, dtype=np.int32), n_kinds))

    def keys(self, n_labels: int) -> Int:
        """kind · labels + label."""
        return owners(self.offsets) * n_labels + self.labels if len(self.offsets) else np.empty(0, np.int64)


def kinds_of_tokens(rates: Rates, corpus: Corpus) -> tuple[Corpus, Ids]:
    """One token of each kind, as a corpus; and the kind of every token."""
    views = rates.groups.alone.views
    columns = list(dict.fromkeys(atom.column for atom in views))
    found = [column for atom in views if (column := column_of(corpus, atom)) is not None]
    if len(columns) == 1 and found and not corpus.keys:
        k = [column is found[0] for column in corpus.columns].index(True)
        n = len(found[0].values)
        others = [Column(np.zeros(n, np.int32), [""]) for _ in corpus.columns]
        others[k] = Column(np.arange(n, dtype=np.int32), found[0].values)
        return Corpus(tuple(others), None, np.array([0, n]), corpus.keys), found[0].codes
    distinct = {id(column): column for column in found}.values()
    bits = [max(1, len(column.values)).bit_length() for column in distinct]
    if sum(bits) > 63:  # too many parts to compare at once: each token is a kind of its own
        return corpus, np.arange(corpus.n_tokens, dtype=np.int32)
    key = pack((column.codes for column in distinct), bits) + np.zeros(corpus.n_tokens, np.int64)
    _, first, kind_of = np.unique(key, return_index=True, return_inverse=True)
    chosen = tuple(Column(column.codes[first], column.values) for column in corpus.columns)
    return Corpus(chosen, None, np.array([0, len(first)]), corpus.keys), kind_of.astype(np.int32)


def near_best(kinds: Rows, scores: Float, margin: float, required: Required, n_labels: int) -> Mask:
    """Candidates that are within a margin of the best one of their kind, or required."""
    if not len(scores):
        return np.zeros(0, bool)
    owner = owners(kinds.positions)
    near: Mask = scores >= np.maximum.reduceat(scores, kinds.positions[:-1])[owner] - margin
    if len(required.offsets):
        near |= np.isin(owner * n_labels + kinds.labels, required.keys(n_labels))
    return near


def candidates(
    rates: Rates,
    kinds: Corpus,
    required: Required | None = None,
    n_threads: int = 1,
    settings: Settings = SETTINGS,
) -> tuple[Rows, Float]:
    """Candidate labels of each kind with the rates of its own contexts, and P(y | f) beside them."""
    required = required or Required.none()
    most = max(settings.n_candidates, int(np.diff(required.offsets).max(initial=0)))
    if not native():
        return _in_numpy(rates, kinds, required, most, settings)
    tokens = rates.native_tokens(rates.groups.alone, kinds)
    kernel = rates.native_rates(rates.groups.alone, kinds)
    n_kept, labels, prob, values, buckets = kernel.candidates(
        tokens, _rule(rates, settings), required.offsets, required.labels, most, n_threads
    )
    kept = np.arange(most) < n_kept[:, None]
    return Rows(offsets_of(n_kept.astype(np.int64)), labels[kept], values[kept], buckets), prob[kept]


def _rule(rates: Rates, settings: Settings) -> kernels.CandidateRule:
    numbers = equal_weight(rates, settings), settings.prior_weight, settings.pool_margin, settings.enough
    return kernels.CandidateRule(_ranked(rates), _likely(rates, settings), settings.pool, *numbers)


def _ranked(rates: Rates) -> Ids:
    """Contexts, the most specific one first: the one with most values."""
    return np.argsort(-rates.n_values, kind="stable").astype(np.int32)


def _likely(rates: Rates, settings: Settings) -> Ids:
    """The most frequent labels, for kinds of which nothing was seen."""
    return np.argsort(-rates.labels.prior, kind="stable")[: settings.pool].astype(np.int32)


def _in_numpy(
    rates: Rates, kinds: Corpus, required: Required, most: int, settings: Settings
) -> tuple[Rows, Float]:
    """What the kernel in _native/models/tagger/candidates.h does."""
    group, n_kinds, n_labels = rates.groups.alone, kinds.n_tokens, rates.n_labels
    must = required.keys(n_labels)
    pairs = _union(_pools(rates, kinds, settings), must)
    positions = offsets_of(np.bincount(pairs // n_labels, minlength=n_kinds))
    labels = (pairs % n_labels).astype(np.int32)
    values, buckets = rates.log_rates(group, kinds, positions, labels)
    log_prior = rates.labels.log_prior[labels]
    score = values.sum(axis=1) * equal_weight(rates, settings) + settings.prior_weight * log_prior
    owner, forced = owners(positions), np.isin(pairs, must)
    order = np.lexsort((-score, owner))
    top = score[order[positions[:-1]]]
    free = most - np.bincount(owner[forced], minlength=n_kinds)
    unforced = ~forced[order]
    before: Int = np.cumsum(unforced) - unforced  # the free ones before each
    rank: Int = before - before[positions[:-1]][owner]
    near = score[order] >= top[owner] - settings.pool_margin
    kept = np.sort(order[forced[order] | ((rank < free[owner]) & near)])
    width = np.bincount(owner[kept], minlength=n_kinds)
    rows = Rows(offsets_of(width), labels[kept], values[kept], buckets)
    prob = np.exp(rows.rates.astype(np.float64))
    for j, parent in enumerate(group.parents.tolist()):
        prob[:, j] *= rates.labels.prior[rows.labels] if parent < 0 else prob[:, parent]
    return rows, prob


def _pools(rates: Rates, kinds: Corpus, settings: Settings) -> Int:
    """kind · labels + label of the labels seen with each kind's contexts, one after another, until there are
    enough; the likely ones where none was seen."""
    group, n_labels, n_kinds = rates.groups.alone, rates.n_labels, kinds.n_tokens
    tables, queries = rates.tables(group), rates.tokens.queries(group, kinds)
    alpha = rates.smoothing.alpha
    pairs = np.empty(0, np.int64)
    left = np.ones(n_kinds)  # what P(y | f) leaves to further labels
    for j in _ranked(rates).tolist():
        short = np.bincount(pairs // n_labels, minlength=n_kinds) < min(settings.pool, n_labels)
        asked = np.flatnonzero(short & (left > settings.enough))
        left[asked] = 1.0
        place = tables.find(j, queries[j, asked])
        asked, place = asked[place >= 0], place[place >= 0]
        n_rows = np.diff(tables.first_row)[place]
        left[asked] = left_over(tables.totals[place], alpha * n_rows)
        rows = ragged_arange(tables.first_row[place], n_rows)
        pairs = _union(pairs, np.repeat(asked, n_rows) * n_labels + tables.row_labels[rows])
    empty = np.flatnonzero(np.bincount(pairs // n_labels, minlength=n_kinds) == 0)
    return _union(pairs, (empty[:, None] * n_labels + _likely(rates, settings)).ravel())


def _union(sorted_keys: Int, more: Int) -> Int:
    keys = np.concatenate([sorted_keys, more])
    keys.sort()
    return keys[starts_of_runs(keys)]
