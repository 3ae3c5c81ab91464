// Scores of candidates under a trained model's weights; tagger_scores.py tells its NumPy twin.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rates.h"

namespace corate {

// Candidates of kinds of tokens, with what the token alone says of them.
struct Kinds {
    const int64_t *first;  // n_kinds: the first row of each
    const int32_t *labels; // of each row
    const double *scores, *given; // given: P(y | f) of the contexts that are parents of others
};

// score(y at i) = that of its kind + Σⱼ (λ_{j,b} + δ_{j,y}) log CR(y; fⱼ(x, i)), where there is another candidate.
class TokenScores {
  public:
    LogRates rates;
    Kinds kinds;
    const int32_t *kind_of;       // of each token
    const int64_t *positions;     // n_tokens + 1: the first candidate of each token
    const double *by_bucket, *by_label; // λ, δ: buckets × contexts, labels × contexts
    const double *start, *end; // of each label, what it adds at the first and at the last token

    // Fills labels and scores of the candidates of the sentence first … last − 1.
    void operator()(int64_t first, int64_t last, int32_t *labels, double *scores) {
        if (first == last) return;
        which_.clear();
        for (int64_t i = first; i < last; ++i) {
            const int64_t c = positions[i], n = positions[i + 1] - c, row = kinds.first[kind_of[i]];
            std::copy_n(kinds.labels + row, n, labels + c);
            std::copy_n(kinds.scores + row, n, scores + c);
            if (n > 1) which_.push_back(i);
        }
        rates.look_up(which_.data(), int64_t(which_.size()), first, last);
        for (size_t k = 0; k < which_.size(); ++k) add(int64_t(k), labels, scores);
        for (int64_t c = positions[first]; c < positions[first + 1]; ++c) scores[c] += start[labels[c]];
        for (int64_t c = positions[last - 1]; c < positions[last]; ++c) scores[c] += end[labels[c]];
    }

  private:
    void add(int64_t k, const int32_t *labels, double *scores) {
        const int64_t n_own = rates.contexts->n_contexts, n_given = rates.contexts->n_given;
        const int64_t i = which_[k], c = positions[i], n = positions[i + 1] - c;
        prob_.resize(n * n_own);
        values_.resize(n * n_own);
        given_.resize(n);
        buckets_.resize(n_own);
        here_.resize(n_own);
        for (int64_t q = 0; q < n; ++q) given_[q] = kinds.given + (kinds.first[kind_of[i]] + q) * n_given;
        rates(k, labels + c, n, given_.data(), prob_.data(), values_.data(), buckets_.data());
        for (int64_t j = 0; j < n_own; ++j) here_[j] = by_bucket[buckets_[j] * n_own + j];
        for (int64_t q = 0; q < n; ++q) {
            const double *own = by_label + labels[c + q] * n_own;
            double sum = 0.0;
            for (int64_t j = 0; j < n_own; ++j) sum += (here_[j] + own[j]) * values_[q * n_own + j];
            scores[c + q] += sum;
        }
    }

    std::vector<int64_t> which_;
    std::vector<const double *> given_;
    std::vector<double> prob_, here_;
    std::vector<float> values_;
    std::vector<int8_t> buckets_;
};

} // namespace corate
