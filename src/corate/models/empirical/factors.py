"""The papers' factors ψ and φ of a batch of sentences, as a lattice (000 §3.3 and §3.7, 002 §III-D)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corate.arrays import Float, Ids, Int, check_room, offsets_of, ragged_arange
from corate.contexts.template import Context
from corate.contexts.values import SILENT, Encoder, words_alone
from corate.counts.counts import Counts
from corate.counts.names import LABEL_PAIR, WORD_LABEL, WORD_PAIR
from corate.counts.table import Table
from corate.lattice.lattice import Lattice
from corate.rates.empirical import LOG_ZERO, Conditional, LabelRows, PairRates, label_log_prob, label_log_rate
from corate.text.corpus import Corpus


class Spelling:
    """One context of unknown words: P̃(y | f), from the events of all known words with the value f.

    A single view that is silent about a word (`ending` of "cat") is no feature of it; a joint value is.
    """

    def __init__(self, context: Context, words: Sequence[str], table: Table) -> None:
        self.context, self._view = context, context.as_view()
        encoded = Encoder.learn(words_alone(words), [self._view], unlisted=[SILENT])
        self._encoder = encoded.encoder
        self.of_word = encoded.ids[self._view.source]
        self.n_values = len(self._encoder.vocabularies[self._view.source])
        self.prob = Conditional.from_table(table.map(self.of_word, None), self.n_values)

    def ids(self, words: Sequence[str]) -> Ids:
        """Id of each word's value, −1 where training never saw it."""
        return self._encoder.ids(self._view, words)


@dataclass(frozen=True)
class Words:
    """The distinct words of a batch."""

    known: Int  # id of each among the known words, −1 where it is unknown
    values: Int  # unknown words × contexts: ids of their values, −1 where training never saw them


class EmpiricalFactors:
    """ψ and φ of one set of counts. What only unknown words need is derived when the first one comes."""

    def __init__(self, counts: Counts, contexts: Sequence[Context]) -> None:
        self.counts, self._contexts = counts, contexts
        self.n_labels = len(counts.labels)
        self.index = {word: i for i, word in enumerate(counts.words)}
        table = counts.tables[WORD_LABEL]
        self.word = Conditional.from_table(table, len(counts.words))
        self.log_prior = label_log_prob(table, self.n_labels)
        self.label_rate = label_log_rate(counts.tables[LABEL_PAIR], self.log_prior)
        self._unknown: dict[tuple[int, ...], tuple[Ids, Float]] = {}

    @cached_property
    def spelling(self) -> list[Spelling]:
        table = self.counts.tables[WORD_LABEL]
        return [Spelling(context, self.counts.words, table) for context in self._contexts]

    @cached_property
    def word_pairs(self) -> PairRates:
        """CR(y; y′ | x, x′) of known words   (000 eqn 13)."""
        return PairRates.from_table(self.counts.tables[WORD_PAIR], self.word)

    @cached_property
    def spelling_pairs(self) -> list[PairRates]:
        """For each context, CR(y; y′ | f, f′) where its value f stands for one word of a pair, or for both.

        Ids of context values follow those of the words.
        """
        table = self.counts.tables[WORD_PAIR]
        rates = []
        for spelling in self.spelling:
            value = np.where(spelling.of_word < 0, -1, spelling.of_word + len(self.index))
            mixed = table.map(None, value, None, None)
            mixed += table.map(value, None, None, None)
            mixed += table.map(value, value, None, None)
            rates.append(PairRates.from_table(mixed, self.word.followed_by(spelling.prob)))
        return rates

    def look_up(self, words: Sequence[str]) -> Words:
        get = self.index.get
        known = np.array([get(word, -1) for word in words], np.int64)
        unknown = [word for word, i in zip(words, known.tolist(), strict=True) if i < 0]
        values = np.empty((len(unknown), len(self._contexts)), np.int64)
        if unknown:
            for j, spelling in enumerate(self.spelling):
                values[:, j] = spelling.ids(unknown)
        return Words(known, values)

    def unknown_candidates(self, values: tuple[int, ...]) -> tuple[Ids, Float]:
        """log of ψ = 1/m Σⱼ P̃(y | fⱼ) over the m contexts that training saw; none: P̃(y)   (000 §3.7.1)."""
        if values not in self._unknown:
            seen = [(s.prob, s.prob.rows(v)) for s, v in zip(self.spelling, values, strict=True) if v >= 0]
            psi = np.zeros(self.n_labels)
            for prob, rows in seen:
                psi[prob.labels[rows]] += np.exp(prob.scores[rows]) / len(seen)
            if not seen:
                psi = np.exp(self.log_prior)
            labels = np.flatnonzero(psi).astype(np.int32)
            self._unknown[values] = labels, np.log(psi[labels])
        return self._unknown[values]

    def candidates(self, words: Words, mu_oov: float) -> LabelRows:
        """log ψ of the distinct words of a batch; at unknown words raised to the power μ_oov."""
        unknown = [self.unknown_candidates(tuple(row)) for row in words.values.tolist()]
        is_known = words.known >= 0
        known = words.known[is_known]
        lengths = np.zeros(len(is_known), np.int64)
        lengths[is_known] = self.word.lengths[known]
        lengths[~is_known] = [len(labels) for labels, _ in unknown]
        offsets = offsets_of(lengths)
        labels, scores = np.empty(offsets[-1], np.int32), np.empty(offsets[-1])
        rows = ragged_arange(self.word.offsets[known], lengths[is_known])
        places = ragged_arange(offsets[:-1][is_known], lengths[is_known])
        labels[places], scores[places] = self.word.labels[rows], self.word.scores[rows]
        if unknown:
            places = ragged_arange(offsets[:-1][~is_known], lengths[~is_known])
            labels[places] = np.concatenate([each for each, _ in unknown])
            scores[places] = mu_oov * np.concatenate([each for _, each in unknown])
        return LabelRows(offsets, labels, scores)

    def lattice(self, corpus: Corpus, mu_oov: float = 1.0) -> Lattice:
        """Candidates and scores of every sentence."""
        words, codes = self.look_up(corpus.words.values), corpus.words.codes
        candidates = self.candidates(words, mu_oov)
        lengths = candidates.lengths[codes]
        check_room(int(lengths.sum()), f"up to {self.n_labels:,} labels at every token")
        rows = ragged_arange(candidates.offsets[codes], lengths)
        edges, edge_scores = np.zeros(corpus.n_tokens + 1, np.int64), np.empty(0)
        if WORD_PAIR in self.counts.tables:
            edges, edge_scores = self._edges(corpus, words, candidates)
        return Lattice(
            corpus.offsets,
            offsets_of(lengths),
            candidates.labels[rows],
            candidates.scores[rows],
            self.label_rate,
            edges,
            edge_scores,
        )

    def _edges(self, corpus: Corpus, words: Words, candidates: LabelRows) -> tuple[Int, Float]:
        """Blocks of log φ = log CR(y; y′ | f, f′) for the edges whose pair (f, f′) training saw.

        Where a word is unknown, φ is the mean over its contexts, each rate taken as a whole (002 §III-D).
        """
        right = np.flatnonzero(~corpus.begins())
        a, b = corpus.words.codes[right - 1], corpus.words.codes[right]
        sources = self._pair_sources(words, a, b)
        n_seen = np.sum([place >= 0 for _, place in sources], axis=0)
        sizes = np.zeros(corpus.n_tokens, np.int64)
        sizes[right] = np.where(n_seen > 0, candidates.lengths[a] * candidates.lengths[b], 0)
        check_room(int(sizes.sum()), f"pairs of {self.n_labels:,} labels at every token")
        edges = offsets_of(sizes)
        total = np.zeros(edges[-1])
        for rates, place in sources:
            seen = np.flatnonzero(place >= 0)
            n_rows = np.diff(rates.offsets)[place[seen]]
            rows = ragged_arange(rates.offsets[place[seen]], n_rows)
            edge = np.repeat(seen, n_rows)
            y = candidates.find(a[edge], rates.left[rows]) - candidates.offsets[a[edge]]
            y_next = candidates.find(b[edge], rates.right[rows]) - candidates.offsets[b[edge]]
            cell = edges[right[edge]] + y * candidates.lengths[b[edge]] + y_next
            total[cell] += np.exp(rates.log_rate[rows]) / n_seen[edge]
        scores = np.full(len(total), LOG_ZERO)
        np.log(total, out=scores, where=total > 0)
        return edges, scores

    def _pair_sources(self, words: Words, a: Ids, b: Ids) -> list[tuple[PairRates, Int]]:
        """Rates of which the edges between words a and b are made, and the place in them (−1: not there)."""
        touches_unknown = (words.known[a] < 0) | (words.known[b] < 0)
        place = self.word_pairs.find(words.known[a], words.known[b])
        sources = [(self.word_pairs, place)]
        if touches_unknown.any():
            for j, rates in enumerate(self.spelling_pairs):
                ids, value = words.known.copy(), words.values[:, j]
                ids[ids < 0] = np.where(value >= 0, value + len(self.index), -1)
                place = np.where(touches_unknown, rates.find(ids[a], ids[b]), -1)
                sources.append((rates, place))
        return sources
