// Candidate labels of a token by itself: those seen with its contexts, one context after another, until there are
// enough; of these the best by the sum of their rates. Which contexts, how many and how good: `CandidateRule`, which
// models/tagger/candidates.py makes, and where the NumPy twin is.
#pragma once

#include "rates/log_rates.h"

namespace corate {

struct CandidateRule {
    std::vector<int32_t> ranked; // contexts whose labels are looked at, one after another
    std::vector<int32_t> likely; // labels, most frequent first, for tokens of which nothing was seen
    int64_t pool;                // labels that are enough
    double weight, prior_weight; // score(y) = weight · Σⱼ log CR(y; fⱼ | parent) + prior_weight · log P(y)
    double margin;               // how far below the best one a candidate may be
    double enough;               // share of P(y | f) that may be left to further labels
};

class Candidates {
  public:
    Candidates(const LogRatesOf &of, const CandidateRule &rule) : rates_(of), rule_(rule), prior_(of.prior) {}

    struct Required { // labels that are candidates in any case, ascending
        const int32_t *begin, *end;
        int64_t size() const { return end - begin; }
        bool has(int32_t label) const { return std::binary_search(begin, end, label); }
    };

    // Writes at most `most` labels, ascending, and returns how many; prob, values: of each a row; buckets.
    int64_t operator()(const Tokens &tokens, int64_t token, Required required, int64_t most, int64_t n_contexts,
                       int32_t *labels, double *prob, float *values, int8_t *buckets) {
        which_.assign(1, token);
        rates_.look_up(tokens, which_, token, token + 1);
        fill_pool(required);
        const int64_t n = int64_t(pool_.size());
        prob_.resize(n * n_contexts);
        values_.resize(n * n_contexts);
        rates_(0, pool_.data(), n, nullptr, prob_.data(), values_.data(), buckets);
        const int64_t n_kept = choose(required, most, n_contexts);
        for (int64_t k = 0; k < n_kept; ++k) {
            const int64_t c = order_[k];
            labels[k] = pool_[c];
            std::copy_n(prob_.data() + c * n_contexts, n_contexts, prob + k * n_contexts);
            std::copy_n(values_.data() + c * n_contexts, n_contexts, values + k * n_contexts);
        }
        return n_kept;
    }

  private:
    void fill_pool(Required required) {
        const int64_t wanted = std::min(rule_.pool, int64_t(prior_.size()));
        pool_.clear();
        double left = 1.0;
        for (int32_t j : rule_.ranked) {
            if (left <= rule_.enough || int64_t(pool_.size()) >= wanted) break;
            left = rates_.seen(0, j, [&](int32_t y) { pool_.push_back(y); });
            sort_pool();
        }
        if (pool_.empty()) pool_.assign(rule_.likely.begin(), rule_.likely.begin() + wanted);
        pool_.insert(pool_.end(), required.begin, required.end);
        sort_pool();
    }

    void sort_pool() {
        std::sort(pool_.begin(), pool_.end());
        pool_.erase(std::unique(pool_.begin(), pool_.end()), pool_.end());
    }

    // Leaves the best ones, and those required, at the beginning of `order_`.
    int64_t choose(Required required, int64_t most, int64_t n_contexts) {
        const int64_t n = int64_t(pool_.size());
        scores_.resize(n);
        order_.resize(n);
        for (int64_t c = 0; c < n; ++c) {
            double sum = 0.0;
            for (int64_t j = 0; j < n_contexts; ++j) sum += values_[c * n_contexts + j];
            scores_[c] = sum * rule_.weight + rule_.prior_weight * std::log(prior_[pool_[c]]);
            order_[c] = c;
        }
        auto better = [&](int64_t a, int64_t b) { return scores_[a] != scores_[b] ? scores_[a] > scores_[b] : a < b; };
        std::sort(order_.begin(), order_.end(), better);
        const double lowest = scores_[order_[0]] - rule_.margin;
        int64_t end = 0;
        for (int64_t k = 0, free = most - required.size(); k < n; ++k) {
            const int64_t c = order_[k];
            if (required.has(pool_[c])) order_[end++] = c;
            else if (free > 0 && scores_[c] >= lowest) order_[end++] = c, --free;
        }
        std::sort(order_.begin(), order_.begin() + end);
        return end;
    }

    LogRates rates_;
    const CandidateRule &rule_;
    const std::vector<double> &prior_;
    std::vector<int32_t> pool_;
    std::vector<double> prob_, scores_;
    std::vector<float> values_;
    std::vector<int64_t> order_, which_;
};

} // namespace corate
