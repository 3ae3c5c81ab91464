// Smoothed log co-occurrence rates of candidate labels given contexts; rates.py holds the NumPy twins.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "labels.h"
#include "tables.h"

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

// What each context looks at: views of tokens at offsets.
struct Contexts {
    const int32_t *first_atom; // n_contexts + 1
    const int32_t *views, *offsets, *bits; // of each atom
    const int32_t *parents;  // n_contexts: an earlier one, or −1; those before n_given were computed elsewhere
    int64_t n_contexts, n_given;
};

// The tokens: for each view the id of its value at each, by way of the codes of the view's column.
struct Tokens {
    const int64_t *first_id; // n_views + 1
    const int32_t *ids;      // of each code of the view's column; −1: unseen
    const int32_t *columns;  // of each view
    const int32_t *outside;  // of each view, the id beyond the sentence, or −1
    const int32_t *codes;    // columns × tokens
    int64_t n_tokens;

    // −1 where a part of it is unseen, or all of it lies beyond the sentence.
    int64_t key(const Contexts &contexts, int64_t j, int64_t token, int64_t begin, int64_t end) const {
        int64_t key = 0;
        bool inside = false;
        for (int32_t a = contexts.first_atom[j]; a < contexts.first_atom[j + 1]; ++a) {
            const int32_t view = contexts.views[a];
            const int64_t place = token + contexts.offsets[a];
            int32_t id = outside[view];
            if (place >= begin && place < end) {
                id = ids[first_id[view] + codes[columns[view] * n_tokens + place]];
                inside = true;
            }
            if (id < 0) return -1;
            key = (key << contexts.bits[a]) | id;
        }
        return inside ? key : -1;
    }
};

// The bucket of a context's own count: 0, 1, 2–3, 4–10, 11–100, more.
inline int8_t bucket(int64_t n) { return n < 1 ? 0 : n < 2 ? 1 : n < 4 ? 2 : n < 11 ? 3 : n < 101 ? 4 : 5; }

// Where contexts are looked up, and what is left of their counts after a subtraction.
class Lookup {
  public:
    const Tables *tables, *without; // `without`: counts to be subtracted, or none
    const Contexts *contexts;
    const Tokens *tokens;

    // Looks up all contexts at some tokens of the sentence begin … end − 1; place(k, j) is that of context j at the
    // k-th of them, or −1.
    void look_up(const int64_t *which, int64_t n, int64_t begin, int64_t end) {
        searches_.clear();
        for (int64_t k = 0; k < n; ++k)
            for (int64_t j = 0; j < contexts->n_contexts; ++j)
                searches_.push_back({j, tokens->key(*contexts, j, which[k], begin, end)});
        tables->find(searches_);
    }

    int64_t place(int64_t k, int64_t j) const { return searches_[k * contexts->n_contexts + j].place; }

  protected:
    struct Rows {
        const Tables::Row *rows = nullptr;
        int64_t n = 0, n_labels = 0, total = 0; // n_labels: rows whose count is not 0
        int32_t only = -1;                      // perhaps the one label that there is
        const uint32_t *dense = nullptr;        // perhaps the counts of all labels below `width`
        int64_t width = 0;
        const Rows *less = nullptr;             // perhaps rows whose counts are to be subtracted from these

        // The first row from `from` on whose label is not below.
        int64_t next(int64_t from, int32_t label) const {
            int64_t left = n - from;
            for (; left > 1; left -= left / 2) // without branches, which no processor can foresee
                from += (left / 2) * (rows[from + left / 2 - 1].label < label);
            return from + (left == 1 && rows[from].label < label);
        }

        // counts[c] = the count of labels[c].
        void counts(const int32_t *labels, int64_t n_wanted, double *counts) const {
            find(labels, n_wanted, counts);
            if (!less) return;
            constexpr int64_t together = 8;
            double taken[together];
            for (int64_t c = 0; c < n_wanted; c += together) {
                const int64_t m = std::min(together, n_wanted - c);
                less->find(labels + c, m, taken);
                for (int64_t k = 0; k < m; ++k) counts[c + k] -= taken[k];
            }
        }

      private:
        void find(const int32_t *labels, int64_t n_wanted, double *counts) const {
            if (only >= 0) {
                for (int64_t c = 0; c < n_wanted; ++c) counts[c] = labels[c] == only ? double(total) : 0.0;
            } else if (dense) {
                for (int64_t c = 0; c < n_wanted; ++c) counts[c] = labels[c] < width ? double(dense[labels[c]]) : 0.0;
            } else {
                std::fill_n(counts, n_wanted, 0.0);
                pick(rows, n, labels, n_wanted, counts, [](const Tables::Row &row) { return double(row.count); });
            }
        }
    };

    // Rows whose counts are asked for by label.
    Rows rows_of(int64_t j, int64_t place) {
        if (place < 0) return {};
        const Rows all = whole(*tables, place);
        const int64_t other = without ? without->find(j, tables->value(place).key) : -1;
        return other < 0 ? all : rest(place, all, whole(*without, other));
    }

    // The same rows one by one, with what is left of their counts.
    Rows listed(int64_t j, int64_t place) {
        const Rows rows = rows_of(j, place);
        if (!rows.less && (rows.only < 0 || rows.total == rows.rows[0].count)) return rows;
        left_.assign(rows.rows, rows.rows + rows.n);
        if (rows.only >= 0) left_[0].count = uint32_t(rows.total);
        int64_t row = 0;
        for (int64_t r = 0; rows.less && r < rows.less->n; ++r) {
            row = rows.next(row, rows.less->rows[r].label);
            left_[row].count -= rows.less->rows[r].count;
        }
        return {left_.data(), rows.n, rows.n_labels, rows.total};
    }

  private:
    static Rows whole(const Tables &tables, int64_t place) {
        const Tables::Value &value = tables.value(place);
        const int64_t n = value.n_rows;
        return {tables.row(value.first_row), n, n, value.total, n == 1 ? value.more : -1, tables.dense(value), tables.width()};
    }

    // What is left after some are subtracted.
    [[gnu::noinline]] Rows rest(int64_t place, Rows rows, const Rows &taken) {
        constexpr int64_t many = 16; // for which it is kept how many labels are gone
        if (rows.n < many) {
            rows.n_labels -= n_gone(rows, taken);
        } else {
            const auto [known, is_new] = gone_.try_emplace(place);
            if (is_new) known->second = n_gone(rows, taken);
            rows.n_labels -= known->second;
        }
        rows.total -= taken.total;
        if (rows.only >= 0) return rows; // of which the total is the count
        taken_ = taken;
        rows.less = &taken_;
        return rows;
    }

    // How many labels have nothing left.
    static int64_t n_gone(const Rows &rows, const Rows &taken) {
        int64_t row = 0, n = 0;
        for (int64_t r = 0; r < taken.n; ++r) {
            row = rows.next(row, taken.rows[r].label);
            if (row >= rows.n || rows.rows[row].label != taken.rows[r].label || rows.rows[row].count < taken.rows[r].count)
                throw std::invalid_argument("events to be subtracted were never counted");
            n += rows.rows[row].count == taken.rows[r].count;
        }
        return n;
    }

    std::unordered_map<int64_t, int64_t> gone_;
    Rows taken_;
    std::vector<Tables::Row> left_;
    std::vector<Tables::Search> searches_;
};

// P(y | f) = (#(f, y) + a P(y | parent)) / (#(f) + a), a = α · labels seen with f;
// log CR(y; f | parent) = log P(y | f) − log P(y | parent).
class LogRates : public Lookup {
  public:
    const double *prior, *log_prior;
    double alpha;

    // Rates of the candidates of the k-th token that was looked up. given: P(y | f) of the contexts computed
    // elsewhere, of each candidate a row; prob, rates: candidates × own contexts; buckets: own contexts.
    void operator()(int64_t k, const int32_t *labels, int64_t n, const double *const *given, double *prob,
                    float *rates, int8_t *buckets) {
        const int64_t n_own = contexts->n_contexts, n_given = contexts->n_given;
        counts_.resize(n);
        for (int64_t j = 0; j < n_own; ++j) {
            const int64_t p = contexts->parents[j];
            const Rows rows = rows_of(j, place(k, j));
            buckets[j] = bucket(rows.total);
            auto above = [&](int64_t c) {
                return p < 0 ? prior[labels[c]] : p < n_given ? given[c][p] : prob[c * n_own + p - n_given];
            };
            if (!rows.total) {
                for (int64_t c = 0; c < n; ++c) {
                    prob[c * n_own + j] = above(c);
                    rates[c * n_own + j] = 1.0f;
                }
                continue;
            }
            rows.counts(labels, n, counts_.data());
            const double a = alpha * double(rows.n_labels), norm = double(rows.total) + a;
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
        const Rows rows = listed(j, place(k, j));
        for (int64_t r = 0; r < rows.n; ++r)
            if (rows.rows[r].count > 0) visit(rows.rows[r].label);
        const double a = alpha * double(rows.n_labels);
        return rows.total ? a / (double(rows.total) + a) : 1.0;
    }

  private:
    std::vector<double> counts_;
};

// log CR(y; y′ | f) − log CR(y; y′) of an edge, in whose tables y · L + y′ is the label. The joint probability is
// smoothed with that of the labels alone, its margins with theirs: the same f in all three.
//     P(y, y′ | f) = (#(f, y, y′) + a P(y, y′)) / (#(f) + a),  P(y | f) = (#(f, y) + a P(y)) / (#(f) + a),  a = α · pairs seen with f
// so that the rate is the logarithm of
//     (#(f) + a) / (a e(y) e(y′)) · (1 + #(f, y, y′) / (a P(y, y′))),  e(y) = 1 + #(f, y) / (a P(y))
class PairLogRates : public Lookup {
  public:
    const double *prior, *pair; // P(y); log CR(y; y′), L × L
    int64_t n_labels;
    double alpha;

    // rates: left candidates × right candidates × contexts, of the edge into the k-th token that was looked up.
    void operator()(int64_t k, const int32_t *left, int64_t m, const int32_t *right, int64_t n, double *rates) {
        const int64_t n_own = contexts->n_contexts;
        pairs_.resize(m * n);
        counts_.resize(m * n);
        ratios_.resize(m * n);
        ends_.resize(m + n);
        for (int64_t p = 0; p < m; ++p)
            for (int64_t q = 0; q < n; ++q) pairs_[p * n + q] = int32_t(left[p] * n_labels + right[q]);
        for (int64_t j = 0; j < n_own; ++j) {
            const Rows rows = listed(j, place(k, j));
            if (!rows.total) {
                for (int64_t e = 0; e < m * n; ++e) rates[e * n_own + j] = 0.0;
                continue;
            }
            const double a = alpha * double(rows.n_labels), scale = (double(rows.total) + a) / a;
            margins(place(k, j), rows, left, m, right, n);
            for (int64_t p = 0; p < m; ++p) ends_[p] = 1.0 + ends_[p] / (a * prior[left[p]]);
            for (int64_t q = 0; q < n; ++q) ends_[m + q] = 1.0 + ends_[m + q] / (a * prior[right[q]]);
            rows.counts(pairs_.data(), m * n, counts_.data());
            for (int64_t p = 0, e = 0; p < m; ++p)
                for (int64_t q = 0; q < n; ++q, ++e) {
                    double ratio = scale / (ends_[p] * ends_[m + q]);
                    if (counts_[e] > 0)
                        ratio *= 1.0 + counts_[e] / (a * prior[left[p]] * prior[right[q]] * std::exp(pair[pairs_[e]]));
                    ratios_[e] = float(ratio);
                }
            for (int64_t e = 0; e < m * n; ++e) ratios_[e] = quick_log(ratios_[e]);
            for (int64_t e = 0; e < m * n; ++e) rates[e * n_own + j] = ratios_[e];
        }
    }

  private:
    // #(f, y, ·) of the left labels and #(f, ·, y′) of the right ones, into `ends_`. Values that have many rows are few
    // and come often: for these the sums of all labels are kept.
    void margins(int64_t place, const Rows &rows, const int32_t *left, int64_t m, const int32_t *right, int64_t n) {
        const uint32_t width = uint32_t(n_labels);
        if (rows.n < std::max<int64_t>(16, n_labels / 8)) {
            std::fill(ends_.begin(), ends_.end(), 0.0);
            for (int64_t r = 0; r < rows.n; ++r) {
                const int32_t y = int32_t(uint32_t(rows.rows[r].label) / width), z = rows.rows[r].label - y * int32_t(width);
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
    const double *sums_of(int64_t place, const Rows &rows) {
        const double *&known = known_[place];
        if (known) return known;
        auto make = [&] {
            std::vector<double> sums(2 * n_labels);
            for (int64_t r = 0; r < rows.n; ++r) {
                sums[rows.rows[r].label / n_labels] += rows.rows[r].count;
                sums[n_labels + rows.rows[r].label % n_labels] += rows.rows[r].count;
            }
            return sums;
        };
        // With something subtracted, rows are of this call alone.
        return known = (without ? own_.emplace_back(make()) : tables->note(place, make)).data();
    }

    std::unordered_map<int64_t, const double *> known_;
    std::deque<std::vector<double>> own_;
    std::vector<int32_t> pairs_;
    std::vector<double> ends_, counts_;
    std::vector<float> ratios_;
};

// Candidate labels of one word: those seen with it, with its tails and so on until there are enough; of these the
// best by the sum of their rates.
class Candidates {
  public:
    LogRates rates;
    const int32_t *ranked; // contexts whose labels are looked at, one after another
    const int32_t *likely; // labels, most frequent first
    const int64_t *first_required; // of each token, or null
    const int32_t *required;       // labels that are candidates in any case, ascending
    int64_t n_ranked, n_labels, pool, most;
    double weight, prior_weight, margin;
    double enough; // share of P(y | f) that may be left to further labels

    // Writes at most `most` labels, ascending, and returns how many; prob, rates: of each a row; buckets.
    int64_t operator()(int64_t token, int32_t *labels, double *prob, float *values, int8_t *buckets) {
        const int64_t n_own = rates.contexts->n_contexts;
        rates.look_up(&token, 1, token, token + 1);
        pool_.clear();
        double left = 1.0;
        for (int64_t r = 0; r < n_ranked && left > enough && int64_t(pool_.size()) < std::min(pool, n_labels); ++r) {
            const size_t before = pool_.size();
            left = rates.seen(0, ranked[r], [&](int32_t y) { pool_.push_back(y); });
            if (pool_.size() == before) continue;
            std::sort(pool_.begin(), pool_.end());
            pool_.erase(std::unique(pool_.begin(), pool_.end()), pool_.end());
        }
        if (pool_.empty()) pool_.assign(likely, likely + std::min(pool, n_labels));
        const int32_t *must = first_required ? required + first_required[token] : nullptr;
        const int32_t *must_end = first_required ? required + first_required[token + 1] : nullptr;
        pool_.insert(pool_.end(), must, must_end);
        std::sort(pool_.begin(), pool_.end());
        pool_.erase(std::unique(pool_.begin(), pool_.end()), pool_.end());
        const int64_t n = int64_t(pool_.size());
        prob_.resize(n * n_own);
        values_.resize(n * n_own);
        rates(0, pool_.data(), n, nullptr, prob_.data(), values_.data(), buckets);
        scores_.resize(n);
        order_.resize(n);
        for (int64_t c = 0; c < n; ++c) {
            double sum = 0.0;
            for (int64_t j = 0; j < n_own; ++j) sum += values_[c * n_own + j];
            scores_[c] = sum * weight + prior_weight * rates.log_prior[pool_[c]];
            order_[c] = c;
        }
        auto better = [&](int64_t a, int64_t b) { return scores_[a] != scores_[b] ? scores_[a] > scores_[b] : a < b; };
        std::sort(order_.begin(), order_.end(), better);
        const double lowest = scores_[order_[0]] - margin;
        int64_t end = 0;
        for (int64_t k = 0, free = most - (must_end - must); k < n; ++k) {
            const int64_t c = order_[k];
            if (std::binary_search(must, must_end, pool_[c])) order_[end++] = c;
            else if (free > 0 && scores_[c] >= lowest) order_[end++] = c, --free;
        }
        std::sort(order_.begin(), order_.begin() + end);
        for (int64_t k = 0; k < end; ++k) {
            const int64_t c = order_[k];
            labels[k] = pool_[c];
            std::copy_n(prob_.data() + c * n_own, n_own, prob + k * n_own);
            std::copy_n(values_.data() + c * n_own, n_own, values + k * n_own);
        }
        return end;
    }

  private:
    std::vector<int32_t> pool_;
    std::vector<double> prob_, scores_;
    std::vector<float> values_;
    std::vector<int64_t> order_;
};

} // namespace corate
