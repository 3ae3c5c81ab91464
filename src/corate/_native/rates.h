// Smoothed log co-occurrence rates of candidate labels given contexts; rates.py holds the NumPy twin.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "lattice.h"

namespace corate {

struct Tables {
    const int64_t *first_key;  // n_tables + 1: first key of each table
    const int64_t *keys;       // context values, ascending within a table
    const int64_t *first_row;  // n_keys + 1: first row of each key
    const int32_t *row_labels; // ascending within a key
    const int64_t *row_counts;
    const int64_t *totals; // n_keys: sum of the key's counts
    int64_t n_tables, n_keys, n_rows;

    void check() const {
        if (first_key[0] != 0 || first_key[n_tables] != n_keys || first_row[0] != 0 || first_row[n_keys] != n_rows)
            throw std::invalid_argument("table offsets must run from 0 to the number of keys and rows");
        for (int64_t t = 0; t < n_tables; ++t)
            if (first_key[t + 1] < first_key[t]) throw std::invalid_argument("table offsets must not decrease");
        for (int64_t k = 0; k < n_keys; ++k)
            if (first_row[k + 1] < first_row[k]) throw std::invalid_argument("row offsets must not decrease");
    }

    // The key's place in table t, or −1.
    int64_t find(int64_t t, int64_t key) const {
        const int64_t *begin = keys + first_key[t], *end = keys + first_key[t + 1];
        const int64_t *found = std::lower_bound(begin, end, key);
        return found != end && *found == key ? found - keys : -1;
    }
};

// The bucket of a context's own count: 0, 1, 2–3, 4–10, 11–100, more.
inline int8_t bucket(int64_t n) { return n < 1 ? 0 : n < 2 ? 1 : n < 4 ? 2 : n < 11 ? 3 : n < 101 ? 4 : 5; }

// P(y | f) = (#(f, y) + a P(y | parent)) / (#(f) + a), a = α · labels seen with f; log CR = log P(y | f) − log P(y).
class LogRates {
  public:
    // places: contexts × positions, where each context's value is among the keys, or −1; buckets: positions × contexts; rates: candidates × contexts.
    void operator()(const Tables &tables, const int64_t *positions, const int32_t *labels, int64_t n_positions,
                    const int32_t *parents, const double *prior, const double *log_prior, double alpha,
                    const int64_t *places, int64_t i, double *rates, int8_t *buckets) {
        const int64_t begin = positions[i], n = positions[i + 1] - begin;
        prob_.resize((tables.n_tables + 1) * n);
        double *own = prob_.data() + tables.n_tables * n; // the prior of each candidate
        for (int64_t c = 0; c < n; ++c) own[c] = prior[labels[begin + c]];
        for (int64_t t = 0; t < tables.n_tables; ++t) {
            double *prob = prob_.data() + t * n;
            const double *parent = parents[t] < 0 ? own : prob_.data() + parents[t] * n;
            double *rate = rates + begin * tables.n_tables + t; // one of each candidate, n_tables apart
            const int64_t k = places[t * n_positions + i];
            if (k < 0) {
                buckets[i * tables.n_tables + t] = 0;
                for (int64_t c = 0; c < n; ++c) prob[c] = parent[c], rate[c * tables.n_tables] = 0.0;
                continue;
            }
            int64_t row = tables.first_row[k];
            const int64_t end = tables.first_row[k + 1];
            const double a = alpha * double(end - row), norm = double(tables.totals[k]) + a;
            buckets[i * tables.n_tables + t] = bucket(tables.totals[k]);
            for (int64_t c = 0; c < n; ++c) {
                row = std::lower_bound(tables.row_labels + row, tables.row_labels + end, labels[begin + c]) -
                      tables.row_labels;
                const bool seen = row < end && tables.row_labels[row] == labels[begin + c];
                prob[c] = ((seen ? double(tables.row_counts[row]) : 0.0) + a * parent[c]) / norm;
                rate[c * tables.n_tables] = std::log(prob[c]) - log_prior[labels[begin + c]];
            }
        }
    }

  private:
    std::vector<double> prob_;
};

// Rates of candidates, with the weights that they get: λ by bucket and context, δ by label and context.
struct Weighing {
    const double *rates;    // candidates × contexts
    const int8_t *buckets;  // positions × contexts
    const int64_t *positions;
    const int32_t *labels;
    int64_t n_positions, n_contexts;

    // score(c) += Σⱼ (λ[b, j] + δ[y, j]) · rate(c, j)
    void weigh(const double *by_bucket, const double *by_label, double *scores) const {
        std::vector<double> here(n_contexts);
        for (int64_t i = 0; i < n_positions; ++i) {
            for (int64_t j = 0; j < n_contexts; ++j)
                here[j] = by_bucket[buckets[i * n_contexts + j] * n_contexts + j];
            for (int64_t c = positions[i]; c < positions[i + 1]; ++c) {
                const double *rate = rates + c * n_contexts, *own = by_label + labels[c] * n_contexts;
                double sum = 0.0;
                for (int64_t j = 0; j < n_contexts; ++j) sum += (here[j] + own[j]) * rate[j];
                scores[c] += sum;
            }
        }
    }

    // The gradient of Σ surplus(c) · score(c) in λ and δ.
    void unweigh(const double *surplus, double *by_bucket, double *by_label) const {
        std::vector<double> here(n_contexts);
        for (int64_t i = 0; i < n_positions; ++i) {
            std::fill(here.begin(), here.end(), 0.0);
            for (int64_t c = positions[i]; c < positions[i + 1]; ++c) {
                const double *rate = rates + c * n_contexts;
                double *own = by_label + labels[c] * n_contexts;
                for (int64_t j = 0; j < n_contexts; ++j) {
                    const double g = surplus[c] * rate[j];
                    own[j] += g;
                    here[j] += g;
                }
            }
            for (int64_t j = 0; j < n_contexts; ++j)
                by_bucket[buckets[i * n_contexts + j] * n_contexts + j] += here[j];
        }
    }
};

} // namespace corate
