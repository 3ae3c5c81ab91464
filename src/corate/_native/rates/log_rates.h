// Smoothed log co-occurrence rates of candidate labels given contexts; rates/reference.py holds the NumPy twin, smoothed.py the formula.
//     P(y | f) = (#(f, y) + a P(y | parent)) / (#(f) + a),  a = α · labels seen with f
//     log CR(y; f | parent) = log P(y | f) − log P(y | parent)
#pragma once

#include <bit>
#include <cmath>

#include "rates/lookup.h"

namespace corate {

// log x of a positive number, to the precision of a float; a compiler does several at a time.
//     x = 2^e m with √½ ≤ m < √2;  log x = e log 2 + 2 artanh s,  s = (m − 1) / (m + 1)
inline float quick_log(float x) {
    constexpr int32_t root = 0x3f3504f3; // √½, bit by bit
    const int32_t bits = std::bit_cast<int32_t>(x), e = (bits - root) >> 23;
    const float m = std::bit_cast<float>(bits - (e << 23)), s = (m - 1.0f) / (m + 1.0f), t = s * s;
    const float series = 1.0f + t * (1.0f / 3 + t * (1.0f / 5 + t * (1.0f / 7 + t * (1.0f / 9))));
    return float(e) * 0.6931471805599453f + 2.0f * s * series;
}

struct LogRatesOf {
    Counted counted;
    std::vector<double> prior; // P(y)
    double alpha;
    std::vector<int64_t> bounds; // a count is in the bucket of how many bounds it reaches
};

class LogRates : public Lookup {
  public:
    explicit LogRates(const LogRatesOf &of) : Lookup(of.counted), of_(of) {}

    // Rates of the candidates of the k-th token that was looked up. given: P(y | f) of the contexts computed
    // elsewhere, of each candidate a row; prob, rates: candidates × own contexts; buckets: own contexts.
    void operator()(int64_t k, const int32_t *labels, int64_t n, const double *const *given, double *prob, float *rates,
                    int8_t *buckets) {
        const int64_t n_own = contexts().size(), n_given = contexts().n_given;
        counts_.resize(n);
        for (int64_t j = 0; j < n_own; ++j) {
            const int64_t p = contexts().parents[j];
            const LabelCounts rows = rows_of(j, place(k, j));
            buckets[j] = bucket(rows.total);
            auto above = [&](int64_t c) {
                return p < 0 ? of_.prior[labels[c]] : p < n_given ? given[c][p] : prob[c * n_own + p - n_given];
            };
            if (!rows.total) {
                for (int64_t c = 0; c < n; ++c) {
                    prob[c * n_own + j] = above(c);
                    rates[c * n_own + j] = 1.0f;
                }
                continue;
            }
            rows.counts(labels, n, counts_.data());
            const double a = of_.alpha * double(rows.n_seen), norm = double(rows.total) + a;
            for (int64_t c = 0; c < n; ++c) {
                const double before = above(c), p_y = (counts_[c] + a * before) / norm;
                prob[c * n_own + j] = p_y;
                rates[c * n_own + j] = float(p_y / before);
            }
        }
        for (int64_t r = 0; r < n * n_own; ++r) rates[r] = quick_log(rates[r]);
    }

    // The labels seen with a context at the k-th token; returns the share of P(y | f) that is left to all others.
    template <class Visit> double seen(int64_t k, int64_t j, Visit visit) {
        const LabelCounts rows = listed(j, place(k, j));
        for (int64_t r = 0; r < rows.n; ++r)
            if (rows.rows[r].count > 0) visit(rows.rows[r].label);
        const double a = of_.alpha * double(rows.n_seen);
        return rows.total ? a / (double(rows.total) + a) : 1.0;
    }

  private:
    int8_t bucket(int64_t n) const {
        int8_t found = 0;
        for (int64_t bound : of_.bounds) found += n >= bound;
        return found;
    }

    const LogRatesOf &of_;
    std::vector<double> counts_;
};

} // namespace corate
