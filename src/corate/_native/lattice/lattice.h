// A batch of sentences as arrays (see lattice.py, which draws them). No ownership, no policy.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>

namespace corate {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

// Part of a longer array, under the indices of the whole; `begin` is the index of its first entry.
struct Part {
    double *data;
    int64_t begin;

    double &operator[](int64_t k) const { return data[k - begin]; }
    double *operator+(int64_t k) const { return data + (k - begin); }
};

struct Lattice {
    const int64_t *sentences;  // n_sentences + 1: first position of each sentence
    const int64_t *positions;  // n_positions + 1: first candidate of each position
    const int32_t *labels;     // label of each candidate
    const double *scores;      // unary score of each candidate
    const double *pair;        // n_labels × n_labels: pair score shared by all edges
    const int64_t *edges;      // n_positions + 1: block of the edge into a position; empty: `pair` holds
    const double *edge_scores; // blocks, candidates of the left position × candidates of the right one
    int64_t n_sentences, n_positions, n_candidates, n_labels, n_edge_scores;

    int64_t width(int64_t position) const { return positions[position + 1] - positions[position]; }

    // Calls visit(q, score of the edge p → q) for every candidate q of `position`.
    template <class Visit> void edges_from(int64_t p, int64_t position, Visit visit) const {
        const int64_t begin = positions[position], n = width(position);
        if (edges[position + 1] > edges[position]) {
            const double *row = edge_scores + edges[position] + (p - positions[position - 1]) * n;
            for (int64_t j = 0; j < n; ++j) visit(begin + j, row[j]);
        } else {
            const double *row = pair + int64_t(labels[p]) * n_labels;
            for (int64_t j = 0; j < n; ++j) visit(begin + j, row[labels[begin + j]]);
        }
    }

    double edge(int64_t p, int64_t q, int64_t position) const {
        if (edges[position + 1] > edges[position])
            return edge_scores[edges[position] + (p - positions[position - 1]) * width(position) +
                               (q - positions[position])];
        return pair[int64_t(labels[p]) * n_labels + labels[q]];
    }

    // How many scores a block holds: one for each choice of candidates of a position and of the `n_before` before it;
    // none where the sentence, which begins at `first`, does not reach so far.
    int64_t block_size(int64_t first, int64_t position, int64_t n_before) const {
        if (position - n_before < first) return 0;
        int64_t size = width(position);
        for (int64_t k = 1; k <= n_before; ++k)
            if (__builtin_mul_overflow(size, width(position - k), &size))
                throw std::invalid_argument("there are too many candidates side by side");
        return size;
    }

    // Where the blocks of all positions begin, if each has one; n_positions + 1 places.
    void block_offsets(int64_t n_before, int64_t *out) const {
        out[0] = 0;
        for (int64_t s = 0; s < n_sentences; ++s)
            for (int64_t i = sentences[s]; i < sentences[s + 1]; ++i)
                if (__builtin_add_overflow(out[i], block_size(sentences[s], i, n_before), &out[i + 1]))
                    throw std::invalid_argument("there are too many candidates side by side");
    }

    // Everything that the loops rely on, so that no array, however wrong, makes them read elsewhere.
    void check() const {
        if (sentences[0] != 0 || sentences[n_sentences] != n_positions)
            throw std::invalid_argument("sentence offsets must run from 0 to the number of positions");
        if (positions[0] != 0 || positions[n_positions] != n_candidates)
            throw std::invalid_argument("position offsets must run from 0 to the number of candidates");
        if (edges[0] != 0 || edges[n_positions] != n_edge_scores)
            throw std::invalid_argument("edge offsets must run from 0 to the number of edge scores");
        for (int64_t s = 0; s < n_sentences; ++s) check_sentence(s);
        for (int64_t c = 0; c < n_candidates; ++c)
            if (labels[c] < 0 || labels[c] >= n_labels)
                throw std::invalid_argument("a candidate's label is out of range");
    }

  private:
    void check_sentence(int64_t s) const {
        if (sentences[s + 1] < sentences[s]) throw std::invalid_argument("sentence offsets must not decrease");
        for (int64_t i = sentences[s]; i < sentences[s + 1]; ++i) {
            if (i >= n_positions || positions[i + 1] <= positions[i] || positions[i + 1] > n_candidates)
                throw std::invalid_argument("every position needs at least one candidate");
            const int64_t block = edges[i + 1] - edges[i];
            if (block != 0 && block != block_size(sentences[s], i, 1))
                throw std::invalid_argument("an edge block must hold a score for each pair of candidates");
        }
    }
};

} // namespace corate
