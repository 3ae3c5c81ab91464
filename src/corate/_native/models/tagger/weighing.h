// Rates under weights, and the gradient in the weights; `Rows` of models/tagger/evidence.py holds the NumPy twins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace corate {

// Rates of candidates, with the weights that they get: λ by bucket and context, δ by label and context.
struct Weighing {
    const float *rates;    // candidates × contexts
    const int8_t *buckets; // positions × contexts
    const int64_t *positions;
    const int32_t *labels;
    int64_t n_positions, n_contexts;

    // score(c) += Σⱼ (λ[b, j] + δ[y, j]) · rate(c, j).
    void weigh(const double *by_bucket, const double *by_label, double *scores) const {
        std::vector<double> here(n_contexts);
        for (int64_t i = 0; i < n_positions; ++i) {
            for (int64_t j = 0; j < n_contexts; ++j) here[j] = by_bucket[buckets[i * n_contexts + j] * n_contexts + j];
            for (int64_t c = positions[i]; c < positions[i + 1]; ++c) {
                const float *rate = rates + c * n_contexts;
                const double *own = by_label + labels[c] * n_contexts;
                double sum = 0.0;
                for (int64_t j = 0; j < n_contexts; ++j) sum += (here[j] + own[j]) * rate[j];
                scores[c] += sum;
            }
        }
    }

    // The gradient of Σ surplus(c) · score(c) in λ and δ; an only candidate has no surplus.
    void add_gradient(const double *surplus, double *by_bucket, double *by_label) const {
        std::vector<double> here(n_contexts);
        for (int64_t i = 0; i < n_positions; ++i) {
            if (positions[i + 1] - positions[i] == 1) continue;
            std::fill(here.begin(), here.end(), 0.0);
            for (int64_t c = positions[i]; c < positions[i + 1]; ++c) {
                const float *rate = rates + c * n_contexts;
                double *own = by_label + labels[c] * n_contexts;
                for (int64_t j = 0; j < n_contexts; ++j) {
                    const double g = surplus[c] * rate[j];
                    own[j] += g;
                    here[j] += g;
                }
            }
            for (int64_t j = 0; j < n_contexts; ++j) by_bucket[buckets[i * n_contexts + j] * n_contexts + j] += here[j];
        }
    }
};

} // namespace corate
