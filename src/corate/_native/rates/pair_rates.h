// log CR(y; y′ | f) − log CR(y; y′) of an edge. The joint probability is smoothed with that of the labels alone, its
// margins with theirs: the same f in all three.
//     P(y, y′ | f) = (#(f, y, y′) + a P(y, y′)) / (#(f) + a),  P(y | f) = (#(f, y) + a P(y)) / (#(f) + a),
//     a = α · pairs seen with f
// so that the rate is the logarithm of
//     (#(f) + a) / (a e(y) e(y′)) · (1 + #(f, y, y′) / (a P(y, y′))),  e(y) = 1 + #(f, y) / (a P(y))
#pragma once

#include <cmath>
#include <deque>

#include "rates/log_rates.h"

namespace corate {

struct PairRatesOf {
    Counted counted;                 // y · L + y′ is the label in its tables
    std::vector<double> prior, pair; // P(y); log CR(y; y′), L × L
    double alpha;

    int64_t n_labels() const { return int64_t(prior.size()); }
};

class PairRates : public Lookup {
  public:
    explicit PairRates(const PairRatesOf &of) : Lookup(of.counted), of_(of) {}

    // rates: left candidates × right candidates × contexts, of the edge into the k-th token that was looked up.
    void operator()(int64_t k, const int32_t *left, int64_t m, const int32_t *right, int64_t n, double *rates) {
        const int64_t n_own = contexts().size();
        pairs_.resize(m * n);
        for (int64_t p = 0; p < m; ++p)
            for (int64_t q = 0; q < n; ++q) pairs_[p * n + q] = int32_t(left[p] * of_.n_labels() + right[q]);
        for (int64_t j = 0; j < n_own; ++j) {
            const LabelCounts rows = listed(j, place(k, j));
            if (!rows.total) {
                for (int64_t e = 0; e < m * n; ++e) rates[e * n_own + j] = 0.0;
                continue;
            }
            fill_margins(place(k, j), rows, left, m, right, n);
            fill_ratios(rows, left, m, right, n);
            for (int64_t e = 0; e < m * n; ++e) rates[e * n_own + j] = ratios_[e];
        }
    }

  private:
    void fill_ratios(const LabelCounts &rows, const int32_t *left, int64_t m, const int32_t *right, int64_t n) {
        counts_.resize(m * n);
        ratios_.resize(m * n);
        const double a = of_.alpha * double(rows.n_seen), scale = (double(rows.total) + a) / a;
        for (int64_t p = 0; p < m; ++p) ends_[p] = 1.0 + ends_[p] / (a * of_.prior[left[p]]);
        for (int64_t q = 0; q < n; ++q) ends_[m + q] = 1.0 + ends_[m + q] / (a * of_.prior[right[q]]);
        rows.counts(pairs_.data(), m * n, counts_.data());
        for (int64_t p = 0, e = 0; p < m; ++p)
            for (int64_t q = 0; q < n; ++q, ++e) {
                double ratio = scale / (ends_[p] * ends_[m + q]);
                if (counts_[e] > 0)
                    ratio *= 1.0 + counts_[e] /
                                       (a * of_.prior[left[p]] * of_.prior[right[q]] * std::exp(of_.pair[pairs_[e]]));
                ratios_[e] = float(ratio);
            }
        for (int64_t e = 0; e < m * n; ++e) ratios_[e] = quick_log(ratios_[e]);
    }

    // #(f, y, ·) of the left labels and #(f, ·, y′) of the right ones, into `ends_`. Values that have many rows are few
    // and come often: for these the sums of all labels are kept.
    void fill_margins(int64_t place, const LabelCounts &rows, const int32_t *left, int64_t m, const int32_t *right,
                      int64_t n) {
        ends_.assign(m + n, 0.0);
        const uint32_t width = uint32_t(of_.n_labels());
        if (rows.n < std::max<int64_t>(16, of_.n_labels() / 8)) {
            for (int64_t r = 0; r < rows.n; ++r) {
                const int32_t y = int32_t(uint32_t(rows.rows[r].label) / width),
                              z = rows.rows[r].label - y * int32_t(width);
                for (int64_t p = 0; p < m; ++p) ends_[p] += left[p] == y ? rows.rows[r].count : 0.0;
                for (int64_t q = 0; q < n; ++q) ends_[m + q] += right[q] == z ? rows.rows[r].count : 0.0;
            }
            return;
        }
        const double *sums = sums_of(place, rows);
        for (int64_t p = 0; p < m; ++p) ends_[p] = sums[left[p]];
        for (int64_t q = 0; q < n; ++q) ends_[m + q] = sums[width + right[q]];
    }

    // Of all left labels, and then of all right ones.
    const double *sums_of(int64_t place, const LabelCounts &rows) {
        const double *&known = known_[place];
        if (known) return known;
        auto make = [&] {
            const int64_t n_labels = of_.n_labels();
            std::vector<double> sums(2 * n_labels);
            for (int64_t r = 0; r < rows.n; ++r) {
                sums[rows.rows[r].label / n_labels] += rows.rows[r].count;
                sums[n_labels + rows.rows[r].label % n_labels] += rows.rows[r].count;
            }
            return sums;
        };
        // With something subtracted, rows are of this call alone.
        return known = (subtracts() ? own_.emplace_back(make()) : tables().note(place, make)).data();
    }

    const PairRatesOf &of_;
    std::unordered_map<int64_t, const double *> known_;
    std::deque<std::vector<double>> own_;
    std::vector<int32_t> pairs_;
    std::vector<double> ends_, counts_;
    std::vector<float> ratios_;
};

} // namespace corate
