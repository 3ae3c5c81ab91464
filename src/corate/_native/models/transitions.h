// Log-linear chains as arrays: which features there are, which attributes stand where; exp(weight) of transitions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lattice/decode.h"

namespace corate {

struct ChainFeatures {
    const int64_t *state_first; // n_attributes + 1: the features of each attribute
    const int32_t *state_labels;
    const int32_t *left, *right; // of each transition, sorted
    const int64_t *pair_first;   // n_pair_attributes + 1
    const int32_t *pair_left, *pair_right;
    int64_t n_state, n_transitions, n_pairs;
    int64_t n_labels;
};

struct Chains {
    const int64_t *sentences; // n_sentences + 1: first position of each chain
    const int64_t *first;     // n_positions + 1: the attributes of each position
    const int32_t *attributes;
    const int64_t *pair_first; // n_positions + 1: the pair attributes of the edge into each position
    const int32_t *pair_attributes;
    const double *times;    // how often each chain counts
    const int32_t *groups;  // of each position: a row of `allowed`; null where every label is allowed
    const uint8_t *allowed; // groups × labels
};

constexpr double kTrusted = 1e-6;     // the part of a sum that must be left for its digits to be trusted
constexpr double kMostWeight = 300.0; // of a transition; exp of more is for logarithms
constexpr int64_t kFewLabels = 16;    // as many labels are looked at one and all

// exp(weight) of transitions, in the orders that the loops want.
class Transitions {
  public:
    Transitions(const ChainFeatures &f, const double *weights) : n(f.n_labels) {
        const double *w = weights + f.n_state;
        dense = n <= kFewLabels || 3 * f.n_transitions > n * n;
        safe = std::all_of(w, w + f.n_transitions, [](double v) { return std::abs(v) <= kMostWeight; });
        log_weight.assign(n * n, 0.0);
        for (int64_t k = 0; k < f.n_transitions; ++k) log_weight[f.left[k] * n + f.right[k]] = w[k];
        exp_weight.resize(n * n);
        for (int64_t c = 0; c < n * n; ++c) exp_weight[c] = log_weight[c] == 0.0 ? 1.0 : std::exp(log_weight[c]);
        if (dense) transpose();
        else index(f, w);
    }

    int64_t n;
    bool dense, safe;
    std::vector<double> log_weight, exp_weight, transposed; // n × n
    std::vector<int64_t> row_first, column_first;
    std::vector<double> surplus, column_surplus; // exp(weight) − 1
    std::vector<int32_t> column_left;

  private:
    void transpose() {
        transposed.resize(n * n);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < n; ++j) transposed[j * n + i] = exp_weight[i * n + j];
    }

    // The transitions by their left and by their right label.
    void index(const ChainFeatures &f, const double *w) {
        row_first.assign(n + 1, 0);
        column_first.assign(n + 1, 0);
        surplus.resize(f.n_transitions);
        for (int64_t k = 0; k < f.n_transitions; ++k) {
            ++row_first[f.left[k] + 1];
            ++column_first[f.right[k] + 1];
            surplus[k] = std::expm1(w[k]);
        }
        for (int64_t i = 0; i < n; ++i) row_first[i + 1] += row_first[i], column_first[i + 1] += column_first[i];
        std::vector<int64_t> next(column_first.begin(), column_first.end() - 1);
        column_left.resize(f.n_transitions);
        column_surplus.resize(f.n_transitions);
        for (int64_t k = 0; k < f.n_transitions; ++k) {
            const int64_t place = next[f.right[k]]++;
            column_left[place] = f.left[k];
            column_surplus[place] = surplus[k];
        }
    }
};

} // namespace corate
