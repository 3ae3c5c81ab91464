"""Lattices: sentences → evidence → what is decoded, narrowed to the candidates that have a chance.

A trained model ranks a word that training knows when it first meets it, and keeps its candidates with their
scores; `evidence_of` does the same for any weights, or none, and keeps nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np

from corate._native import native
from corate.arrays import Float, Ids, Int, Mask, offsets_of, owners, ragged_arange
from corate.contexts.view_ids import WORD
from corate.lattice.lattice import Lattice
from corate.lattice.narrow import keep, max_marginals
from corate.lattice.triple_blocks import check_triples
from corate.models.tagger.candidates import Required, candidates, kinds_of_tokens, near_best
from corate.models.tagger.evidence import Evidence, PairEvidence, Rows, pair_scores
from corate.models.tagger.row_weights import RowWeights
from corate.models.tagger.settings import SETTINGS, Settings
from corate.models.tagger.weights import Weights
from corate.rates.rates import Rates
from corate.rates.smoothed import LabelRates
from corate.text.corpus import Column, Corpus


def evidence_of(
    rates: Rates,
    corpus: Corpus,
    n_threads: int = 1,
    gold: Ids | None = None,
    near: tuple[Weights, float] | None = None,
    everything: bool = True,
    settings: Settings = SETTINGS,
    all_labels: bool = False,
) -> Evidence:
    """Candidates of every token and the rates of their contexts.

    `gold` labels are candidates in any case, wherever their kind of token stands, or `all_labels`; `near`: of
    the others, those that are within a margin of the best one under some weights. Unless `everything` is
    asked for, tokens with one candidate are settled, and looked at no further."""
    chosen, kind_of = kinds_of_tokens(rates, corpus)
    required = Required.all(chosen.n_tokens, rates.n_labels) if all_labels else Required.of(gold, kind_of)
    kinds, prob = candidates(rates, chosen, required, n_threads, settings)
    if near is not None:
        weights, margin = near
        scores = kinds.scores(weights, rates.labels)
        kept = near_best(kinds, scores, margin, required, rates.n_labels)
        kinds, prob = kinds.keep(kept), prob[kept]
    given = prob[:, rates.groups.given]
    first, width = kinds.positions[:-1][kind_of], np.diff(kinds.positions)[kind_of]
    return _look_around(rates, corpus, kinds, kind_of, first, width, given, everything, n_threads)


def _look_around(
    rates: Rates,
    corpus: Corpus,
    kinds: Rows | RankedKinds,
    kind_of: Ids,
    first: Int,
    width: Int,
    given: Float,
    everything: bool,
    n_threads: int,
) -> Evidence:
    """Evidence of tokens whose kinds have the rows first … first + width − 1, with P(y | f) of parents."""
    positions, sources = offsets_of(width), ragged_arange(first, width)
    labels = kinds.labels[sources]
    around = rates.log_rates(
        rates.groups.around, corpus, positions, labels, (given, sources), not everything, n_threads
    )
    tokens = Rows(positions, labels, *around)
    return Evidence(corpus.offsets, kinds, kind_of, sources, tokens, rates.labels, rates.parents_of(corpus))


def narrowed(
    lattice: Lattice, margin: float, n_threads: int = 1, gold: Mask | None = None
) -> tuple[Lattice, Mask]:
    """The candidates whose best sequence is within a margin of the best one, or which are gold."""
    kept = max_marginals(lattice, n_threads) >= -margin
    kept = kept if gold is None else kept | gold
    return keep(lattice, kept), kept


@dataclass(frozen=True)
class RankedKinds:
    """Candidates of kinds of tokens, best ones only, and what the token alone says of them, weighed."""

    width: Int  # candidates of each kind
    labels: Ids
    own_scores: Float
    given: Float  # P(y | f) of the contexts that are parents of others

    def scores(self, weights: Weights, of_labels: LabelRates) -> Float:
        """Those under the weights of the model, which are known."""
        return self.own_scores

    @property
    def first(self) -> Int:
        return offsets_of(self.width)[:-1]

    def take(self, first: Int, width: Int) -> RankedKinds:
        rows = ragged_arange(first, width)
        return RankedKinds(width, self.labels[rows], self.own_scores[rows], self.given[rows])

    @classmethod
    def join(cls, parts: list[RankedKinds]) -> RankedKinds:
        if len(parts) == 1:
            return parts[0]
        names = ("width", "labels", "own_scores", "given")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class LatticeMaker:
    """Sentences → lattices, under given weights."""

    def __init__(
        self,
        rates: Rates,
        weights: Weights,
        settings: Settings = SETTINGS,
        exact: bool = False,
        rows: RowWeights | None = None,
    ) -> None:
        """`exact`: every label is a candidate of every token, and none is left out."""
        self.rates, self.weights, self.settings, self.exact = rates, weights, settings, exact
        self.rows = rows
        self._pair = pair_scores(weights, rates.labels) + (0.0 if rows is None else rows.pair)
        self._known: KnownWords | None = None
        of_words_alone = {atom.column for atom in rates.groups.alone.views} == {WORD.column}
        if of_words_alone and WORD.source in rates.counts.vocabularies:
            n_words = len(rates.tokens.encoder.lookup(WORD.source))
            self._known = KnownWords(n_words, len(rates.groups.given))

    def __getstate__(self) -> dict[str, Any]:
        """For copies: what was kept is found out anew."""
        return {name: getattr(self, name) for name in ("rates", "weights", "settings", "exact", "rows")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def lattice(self, corpus: Corpus, n_threads: int = 1) -> Lattice:
        """The candidates with their scores, up to pairs of labels."""
        shown = self._evidence(corpus, n_threads)
        return self._with_rows(shown, corpus, n_threads).lattice(self.weights, self._pair)

    def _with_rows(self, shown: Evidence, corpus: Corpus, n_threads: int) -> Evidence:
        if self.rows is None:
            return shown
        tokens = shown.tokens
        return replace(shown, rows=self.rows.scores(corpus, tokens.positions, tokens.labels, n_threads))

    def refined(self, lattice: Lattice, corpus: Corpus, n_threads: int = 1) -> Lattice:
        """The candidates that have a chance, with what contexts say of pairs of labels, and triples."""
        narrow, _ = narrowed(lattice, np.inf if self.exact else self.settings.path_margin, n_threads)
        return self._weighed(narrow, corpus, n_threads)

    def _weighed(self, narrow: Lattice, corpus: Corpus, n_threads: int) -> Lattice:
        check_triples(narrow)
        pairs = PairEvidence.of(self.rates, corpus, narrow, n_threads)
        return pairs.weighed(self.weights, narrow.scores, narrow.edge_scores)

    def with_labels(self, corpus: Corpus, labels: Ids, n_threads: int = 1) -> Lattice:
        """What is decoded, and the given labels of each token besides, if they were left out."""
        usual = self.refined(self.lattice(corpus, n_threads), corpus, n_threads)
        n = self.rates.n_labels
        usual_keys = owners(usual.positions) * n + usual.labels
        keys = np.arange(len(labels)) * n + labels
        if self.exact or np.isin(keys[labels >= 0], usual_keys).all():
            return usual
        every = replace(self.settings, n_candidates=n)
        wide = evidence_of(self.rates, corpus, n_threads, labels, None, True, every)
        lattice = self._with_rows(wide, corpus, n_threads).lattice(self.weights, self._pair)
        kept = np.isin(owners(lattice.positions) * n + lattice.labels, np.concatenate([usual_keys, keys]))
        return self._weighed(keep(lattice, kept), corpus, n_threads)

    def _evidence(self, corpus: Corpus, n_threads: int) -> Evidence:
        if self.exact:
            return evidence_of(self.rates, corpus, n_threads, settings=self.settings, all_labels=True)
        if not native():
            near = self.weights, self.settings.kind_margin
            return evidence_of(self.rates, corpus, n_threads, None, near, False, self.settings)
        kinds, kind_of = self._kinds(corpus, n_threads)
        first, width = kinds.first[kind_of], kinds.width[kind_of]
        return _look_around(self.rates, corpus, kinds, kind_of, first, width, kinds.given, False, n_threads)

    def _kinds(self, corpus: Corpus, n_threads: int) -> tuple[RankedKinds, Ids]:
        """The kinds of a corpus' tokens, and the kind of each token."""
        if self._known is None:
            chosen, kind_of = kinds_of_tokens(self.rates, corpus)
            return self._rank(chosen, n_threads), kind_of
        words = corpus.words
        ids = self.rates.tokens.encoder.ids(WORD, words.values)
        known, unknown = np.flatnonzero(ids >= 0), np.flatnonzero(ids < 0)
        if len(missing := known[self._known.is_missing(ids[known])]):
            new = self._rank(_alone([words.values[k] for k in missing.tolist()], corpus), n_threads)
            self._known.add(ids[missing], new)
        parts = [self._known.kinds(ids[known])]
        if len(unknown):
            parts.append(self._rank(_alone([words.values[k] for k in unknown.tolist()], corpus), n_threads))
        # Known words first: kinds are numbered in that order.
        number = np.empty(len(ids), np.int32)
        number[np.concatenate([known, unknown])] = np.arange(len(ids), dtype=np.int32)
        return RankedKinds.join(parts), number[words.codes]

    def _rank(self, kinds: Corpus, n_threads: int) -> RankedKinds:
        rates, settings = self.rates, self.settings
        rows, prob = candidates(rates, kinds, None, n_threads, settings)
        scores = rows.scores(self.weights, rates.labels)
        kept = near_best(rows, scores, settings.kind_margin, Required.none(), rates.n_labels)
        best = rows.keep(kept)
        return RankedKinds(
            np.diff(best.positions), best.labels, scores[kept], prob[kept][:, rates.groups.given]
        )


def _alone(words: list[str], corpus: Corpus) -> Corpus:
    """Each word as a token; further columns, which no context of the token alone looks at, are empty."""
    n = len(words)
    others = [Column(np.zeros(n, np.int32), [""]) for _ in corpus.columns[1:]]
    return Corpus((Column(np.arange(n, dtype=np.int32), words), *others), None, np.array([0, n]))


class KnownWords:
    """What words of the training vocabulary were found to be: rows that only ever grow.

    Threads may share it: rows are written before they can be found, and never change."""

    def __init__(self, n_words: int, n_given: int) -> None:
        self._first, self._width = np.zeros(n_words, np.int64), np.zeros(n_words, np.int64)
        self._n_rows = 0
        self._rows = RankedKinds(
            np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0), np.empty((0, n_given))
        )
        self._lock = Lock()

    def is_missing(self, ids: Ids) -> Mask:
        return np.equal(self._width[ids], 0)

    def kinds(self, ids: Ids) -> RankedKinds:
        first, width = self._first[ids], self._width[ids]
        return self._rows.take(first, width)

    def add(self, ids: Ids, new: RankedKinds) -> None:
        with self._lock:
            begin, end = self._n_rows, self._n_rows + len(new.labels)
            if end > len(self._rows.labels):
                self._rows = _enlarged(self._rows, 2 * end)
            self._rows.labels[begin:end] = new.labels
            self._rows.own_scores[begin:end] = new.own_scores
            self._rows.given[begin:end] = new.given
            self._n_rows = end
            self._first[ids] = begin + new.first
            self._width[ids] = new.width


def _enlarged(rows: RankedKinds, n: int) -> RankedKinds:
    def longer(old: Any) -> Any:
        made = np.empty((n, *old.shape[1:]), old.dtype)
        made[: len(old)] = old
        return made

    return RankedKinds(rows.width, longer(rows.labels), longer(rows.own_scores), longer(rows.given))
