"""The papers' factors ψ and φ of a batch of sentences, as a lattice (000 §3.3 and §3.7, 002 §III-D)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corate.contexts import Context
from corate.corpus import Corpus
from corate.counts import LABEL_PAIR, WORD_LABEL, WORD_PAIR, Counts, Table
from corate.factors import LOG_ZERO, Conditional, PairRates, label_log_prob, label_log_rate
from corate.lattice import Float, Ids, Int, Lattice, offsets_of, ragged_arange


class Candidates:
    """Candidate labels and scores of every distinct word of a batch, end to end."""

    def __init__(self, lengths: Int, labels: Ids, scores: Float) -> None:
        self.lengths, self.labels, self.scores = lengths, labels, scores
        self.offsets = offsets_of(lengths)

    def find(self, kind: Int, label: Ids, n_labels: int) -> Int:
        """Rank of each label among the candidates of its word, where it must be."""
        keys = np.repeat(np.arange(len(self.lengths)), self.lengths) * n_labels + self.labels
        return np.searchsorted(keys, kind * n_labels + label) - self.offsets[kind]


class Spelling:
    """One context of unknown words: P̃(y | f), from the events of all known words with the value f.

    A single view that is silent about a word (`ending` of "cat") is no feature of it; a joint value is.
    """

    def __init__(self, context: Context, words: Sequence[str], table: Table) -> None:
        values = context.values(words)
        self.context = context
        self.index = {value: i for i, value in enumerate(sorted(set(values) - {""}))}
        self.of_word = np.fromiter((self.index.get(value, -1) for value in values), np.int32, len(values))
        self.prob = Conditional.from_table(table.map(self.of_word, None), len(self.index))

    def ids(self, words: Sequence[str]) -> Int:
        """Id of each word's value, −1 where training never saw it."""
        return np.array([self.index.get(value, -1) for value in self.context.values(words)], np.int64)


class EmpiricalFactors:
    """ψ and φ of one set of counts."""

    def __init__(self, counts: Counts, contexts: Sequence[Context]) -> None:
        self.n_labels = len(counts.labels)
        self.index = {word: i for i, word in enumerate(counts.words)}
        table = counts.tables[WORD_LABEL]
        self.word = Conditional.from_table(table, len(counts.words))
        self.log_prior = label_log_prob(table, self.n_labels)
        self.label_rate = label_log_rate(counts.tables[LABEL_PAIR], self.log_prior)
        self.spelling = [Spelling(context, counts.words, table) for context in contexts]
        self._unknown: dict[tuple[int, ...], tuple[Ids, Float]] = {}
        self.pairs = self._pair_rates(counts.tables[WORD_PAIR]) if WORD_PAIR in counts.tables else []

    def _pair_rates(self, table: Table) -> list[PairRates]:
        """Rates given both words; then, for each context, rates in which it stands for an unknown word.

        Ids of context values follow those of the words, so that one table holds word–value, value–word and
        value–value pairs.
        """
        rates = [PairRates.from_table(table, self.word, self.word, self.n_labels)]
        n_words = len(self.index)
        for spelling in self.spelling:
            value = np.where(spelling.of_word < 0, -1, spelling.of_word + n_words)
            mixed = [table.map(*maps, None, None) for maps in ((None, value), (value, None), (value, value))]
            ids = np.concatenate([part.ids for part in mixed])
            whole = Table.of(list(ids.T), np.concatenate([part.n for part in mixed]))
            both = Conditional(
                np.concatenate([self.word.offsets[:-1], spelling.prob.offsets + self.word.offsets[-1]]),
                np.concatenate([self.word.labels, spelling.prob.labels]),
                np.concatenate([self.word.log_prob, spelling.prob.log_prob]),
                np.concatenate([self.word.support, spelling.prob.support]),
            )
            rates.append(PairRates.from_table(whole, both, both, self.n_labels))
        return rates

    def unknown_candidates(self, values: tuple[int, ...]) -> tuple[Ids, Float]:
        """log of ψ = 1/m Σⱼ P̃(y | fⱼ) over the m contexts that training saw; none: P̃(y)   (000 §3.7.1)."""
        if values not in self._unknown:
            seen = [(s.prob, s.prob.rows(v)) for s, v in zip(self.spelling, values, strict=True) if v >= 0]
            psi = np.zeros(self.n_labels)
            for prob, rows in seen:
                psi[prob.labels[rows]] += np.exp(prob.log_prob[rows]) / len(seen)
            if not seen:
                psi = np.exp(self.log_prior)
            labels = np.flatnonzero(psi).astype(np.int32)
            self._unknown[values] = labels, np.log(psi[labels])
        return self._unknown[values]

    def candidates(self, known: Int, values: Int, mu_oov: float) -> Candidates:
        """log ψ of distinct words, given their ids (−1: unknown) and the context ids of the unknown ones."""
        unknown = [self.unknown_candidates(tuple(row)) for row in values.tolist()]
        is_known = known >= 0
        lengths = np.zeros(len(known), np.int64)
        lengths[is_known] = np.diff(self.word.offsets)[known[is_known]]
        lengths[~is_known] = [len(labels) for labels, _ in unknown]
        offsets = offsets_of(lengths)
        labels, scores = np.empty(offsets[-1], np.int32), np.empty(offsets[-1])
        rows = ragged_arange(self.word.offsets[:-1][known[is_known]], lengths[is_known])
        places = ragged_arange(offsets[:-1][is_known], lengths[is_known])
        labels[places], scores[places] = self.word.labels[rows], self.word.log_prob[rows]
        places = ragged_arange(offsets[:-1][~is_known], lengths[~is_known])
        if unknown:
            labels[places] = np.concatenate([each for each, _ in unknown])
            scores[places] = mu_oov * np.concatenate([each for _, each in unknown])
        return Candidates(lengths, labels, scores)

    def lattice(self, corpus: Corpus, mu_oov: float = 1.0) -> Lattice:
        """Candidates and scores of every sentence; ψ of unknown words is raised to the power μ_oov."""
        words, codes = corpus.words.values, corpus.words.codes
        known = np.fromiter((self.index.get(word, -1) for word in words), np.int64, len(words))
        unknown_words = [word for word, i in zip(words, known.tolist(), strict=True) if i < 0]
        values = np.empty((len(unknown_words), len(self.spelling)), np.int64)
        for j, spelling in enumerate(self.spelling):
            values[:, j] = spelling.ids(unknown_words)
        candidates = self.candidates(known, values, mu_oov)
        lengths = candidates.lengths[codes]
        rows = ragged_arange(candidates.offsets[:-1][codes], lengths)
        edges, edge_scores = self._edges(corpus, known, values, candidates)
        return Lattice(
            corpus.offsets,
            offsets_of(lengths),
            candidates.labels[rows],
            candidates.scores[rows],
            self.label_rate,
            edges,
            edge_scores,
        )

    def _edges(self, corpus: Corpus, known: Int, values: Int, candidates: Candidates) -> tuple[Int, Float]:
        """Blocks of log φ = log CR(y; y′ | f, f′) for the edges whose pair (f, f′) training saw.

        Where a word is unknown, φ is the mean over its contexts, each rate taken as a whole (002 §III-D).
        """
        if not self.pairs:
            return np.zeros(corpus.n_tokens + 1, np.int64), np.empty(0)
        begins = np.zeros(corpus.n_tokens + 1, bool)
        begins[corpus.offsets] = True
        right = np.flatnonzero(~begins[:-1])
        kinds = corpus.words.codes.astype(np.int64)
        a, b = kinds[right - 1], kinds[right]
        touches_unknown = (known[a] < 0) | (known[b] < 0)
        found = []
        for j, rates in enumerate(self.pairs):
            ids = known
            if j > 0:
                ids = known.copy()
                value = values[:, j - 1]
                ids[known < 0] = np.where(value >= 0, value + len(self.index), -1)
            found.append(np.where(touches_unknown == (j > 0), rates.find(ids[a], ids[b]), -1))
        n_seen = np.sum([place >= 0 for place in found], axis=0)
        sizes = np.zeros(corpus.n_tokens, np.int64)
        sizes[right] = np.where(n_seen > 0, candidates.lengths[a] * candidates.lengths[b], 0)
        edges = offsets_of(sizes)
        total = np.zeros(edges[-1])
        for rates, place in zip(self.pairs, found, strict=True):
            seen = np.flatnonzero(place >= 0)
            rows_of = np.diff(rates.offsets)[place[seen]]
            rows = ragged_arange(rates.offsets[:-1][place[seen]], rows_of)
            edge = np.repeat(seen, rows_of)
            y = candidates.find(a[edge], rates.left[rows], self.n_labels)
            y_next = candidates.find(b[edge], rates.right[rows], self.n_labels)
            cell = edges[right[edge]] + y * candidates.lengths[b[edge]] + y_next
            total[cell] += np.exp(rates.log_rate[rows]) / n_seen[edge]
        scores = np.full(len(total), LOG_ZERO)
        np.log(total, out=scores, where=total > 0)
        return edges, scores
