// Label triples: a lattice whose edges all have blocks, and triple scores behind them; reference.py has the twins.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "keys.h"
#include "labels.h"
#include "lattice/lattice.h"

namespace corate {

// log CR(y; y″ | y′) = log P(y″ | y, y′) − log P(y″ | y′), the former smoothed with the latter.
struct TripleRates {
    struct Row {
        double rate;
        int32_t label; // y″, ascending within a pair
    };
    struct Pair {
        int64_t key; // y · n_labels + y′
        int64_t first_row, n_rows;
        double unseen; // log CR of every y″ that has no row
    };

    int64_t n_labels;
    std::vector<Pair> pairs;
    std::vector<Row> rows;
    KeyIndex index{};

    void finish() {
        index.build(int64_t(pairs.size()), false, [&](int64_t k) { return pairs[k].key; });
    }

    // out[q] = the rates of labels after the k-th pair, −1 for one that was never seen: after it, nothing is known.
    void operator()(int64_t k, const int32_t *labels, int64_t n, double *out) const {
        std::fill_n(out, n, k < 0 ? 0.0 : pairs[k].unseen);
        if (k < 0) return;
        const Pair &pair = pairs[k];
        pick(rows.data() + pair.first_row, pair.n_rows, labels, n, out, [](const Row &row) { return row.rate; });
    }
};

// Rates of all triples of a sentence: candidates two before × one before × here, of one position after another.
class SentenceTriples {
  public:
    void operator()(const TripleRates &rates, const Lattice &x, int64_t s, double *out) {
        found_.clear();
        each(x, s, [&](int64_t, int32_t y, int32_t z) {
            found_.push_back(y * rates.n_labels + z);
            rates.index.prefetch(found_.back());
        });
        for (int64_t &k : found_) {
            k = rates.index.find(k, [&](int64_t pair) { return rates.pairs[pair].key; });
            if (k >= 0) __builtin_prefetch(rates.rows.data() + rates.pairs[k].first_row);
        }
        size_t t = 0;
        each(x, s, [&](int64_t i, int32_t, int32_t) {
            rates(found_[t++], x.labels + x.positions[i], x.width(i), out);
            out += x.width(i);
        });
    }

  private:
    // Visits the two labels before each position, of all that there may be.
    template <class Visit> static void each(const Lattice &x, int64_t s, Visit visit) {
        for (int64_t i = x.sentences[s] + 2; i < x.sentences[s + 1]; ++i)
            for (int64_t o = x.positions[i - 2]; o < x.positions[i - 1]; ++o)
                for (int64_t p = x.positions[i - 1]; p < x.positions[i]; ++p) visit(i, x.labels[o], x.labels[p]);
    }

    std::vector<int64_t> found_;
};

struct Triples {
    const int64_t *first; // n_positions + 1: block of the triples that end at a position
    const double *scores; // candidates two before × one before × here
    int64_t n_scores;

    void check(const Lattice &x) const {
        if (first[0] != 0 || first[x.n_positions] != n_scores)
            throw std::invalid_argument("triple offsets must run from 0 to the number of triple scores");
        for (int64_t s = 0; s < x.n_sentences; ++s)
            for (int64_t i = x.sentences[s]; i < x.sentences[s + 1]; ++i) {
                if (first[i + 1] - first[i] != x.block_size(x.sentences[s], i, 2))
                    throw std::invalid_argument("a triple block has another size");
                if (x.edges[i + 1] - x.edges[i] != x.block_size(x.sentences[s], i, 1))
                    throw std::invalid_argument("every edge needs its block");
            }
    }
};

// Widths of a position, of the one before it and, from the third of a sentence on, of the one before that.
struct Widths {
    Widths(const Lattice &x, int64_t first, int64_t i)
        : n(x.width(i)), m(x.width(i - 1)), l(i > first + 1 ? x.width(i - 2) : 0) {}
    int64_t n, m, l;
};

// g(p, q) = score(q) + edge(p, q) + max_o [g(o, p) + triple(o, p, q)]; ties go to the lower label, from the end back.
class Viterbi2 {
  public:
    double operator()(const Lattice &x, const Triples &triples, int64_t s, int64_t *path) {
        const int64_t first = x.sentences[s], last = x.sentences[s + 1];
        if (first == last) return 0.0;
        if (last - first == 1) {
            const double *begin = x.scores + x.positions[first], *end = x.scores + x.positions[last];
            path[first] = std::max_element(begin, end) - x.scores;
            return x.scores[path[first]];
        }
        const int64_t base = x.edges[first + 1];
        gain_.resize(x.edges[last] - base);
        const Part gain{gain_.data(), base}; // indexed as edge scores are
        begin(x, first, gain + base);
        for (int64_t i = first + 2; i < last; ++i) prolong(x, triples, i, gain);
        return go_back(x, triples, first, last, gain, path);
    }

  private:
    static void begin(const Lattice &x, int64_t first, double *gain) {
        const double *edge = x.edge_scores + x.edges[first + 1];
        for (int64_t p = x.positions[first]; p < x.positions[first + 1]; ++p)
            for (int64_t q = x.positions[first + 1]; q < x.positions[first + 2]; ++q)
                *gain++ = x.scores[p] + *edge++ + x.scores[q];
    }

    static void prolong(const Lattice &x, const Triples &triples, int64_t i, const Part &gain) {
        const auto [n, m, l] = Widths(x, i - 2, i);
        const double *own = x.scores + x.positions[i], *edge = x.edge_scores + x.edges[i];
        const double *before = gain + x.edges[i - 1], *triple = triples.scores + triples.first[i];
        double *here = gain + x.edges[i];
        std::fill(here, here + m * n, kImpossible);
        for (int64_t o = 0; o < l; ++o)
            for (int64_t p = 0; p < m; ++p)
                for (int64_t q = 0; q < n; ++q)
                    here[p * n + q] = std::max(here[p * n + q], before[o * m + p] + triple[(o * m + p) * n + q]);
        for (int64_t p = 0; p < m; ++p)
            for (int64_t q = 0; q < n; ++q) here[p * n + q] += edge[p * n + q] + own[q];
    }

    static double go_back(const Lattice &x, const Triples &triples, int64_t first, int64_t last, const Part &gain,
                          int64_t *path) {
        int64_t m = x.width(last - 2), n = x.width(last - 1), p = 0, q = 0;
        const double *end = gain + x.edges[last - 1];
        for (int64_t v = 0; v < n; ++v)
            for (int64_t u = 0; u < m; ++u)
                if (end[u * n + v] > end[p * n + q]) p = u, q = v;
        const double best = end[p * n + q];
        path[last - 1] = x.positions[last - 1] + q;
        path[last - 2] = x.positions[last - 2] + p;
        for (int64_t i = last - 1; i >= first + 2; --i) {
            const int64_t l = x.width(i - 2);
            m = x.width(i - 1), n = x.width(i);
            const double *before = gain + x.edges[i - 1], *triple = triples.scores + triples.first[i];
            int64_t o = 0;
            double top = kImpossible;
            for (int64_t u = 0; u < l; ++u)
                if (const double v = before[u * m + p] + triple[(u * m + p) * n + q]; v > top) top = v, o = u;
            path[i - 2] = x.positions[i - 2] + o;
            q = p, p = o;
        }
        return best;
    }

    std::vector<double> gain_;
};

// P(y), P(y, y′) and P(y, y′, y″) of every candidate, edge and triple.
struct Posteriors {
    double *candidates, *edges, *triples; // no triples: nullptr
};

// Forward–backward with plain products, scaled at every position; false where the numbers leave their range.
class ForwardBackward2 {
  public:
    bool operator()(const Lattice &x, const Triples &triples, int64_t s, const Posteriors &out, double &log_z) {
        const int64_t first = x.sentences[s], last = x.sentences[s + 1];
        log_z = 0.0;
        if (first == last) return true;
        if (!exp_scores(x, first, last, log_z)) return false;
        if (last - first == 1) {
            log_z += std::log(alone(x, first, out.candidates));
            return true;
        }
        exp_blocks(x, triples, first, last);
        for (int64_t i = first + 1; i < last; ++i) {
            const double sum = forward(x, triples, first, i);
            if (!in_range(sum)) return false;
            log_z += std::log(sum);
        }
        std::fill(beta_ + x.edges[last - 1], beta_ + x.edges[last], 1.0);
        for (int64_t i = last - 1; i > first; --i) {
            if (!edge(x, i, out)) return false;
            if (i > first + 1 && !backward(x, triples, i, out.triples)) return false;
        }
        first_of(x, first, out);
        return true;
    }

  private:
    static constexpr double kSmallest = 1e-150;

    static bool in_range(double sum) { return sum > kSmallest && std::isfinite(sum); }

    // exp(score), the best of each position being 1; log_z gets what they are divided by.
    bool exp_scores(const Lattice &x, int64_t first, int64_t last, double &log_z) {
        own_ = room(0, x.positions[first], x.positions[last]);
        for (int64_t i = first; i < last; ++i) {
            const int64_t begin = x.positions[i], end = x.positions[i + 1];
            const double top = *std::max_element(x.scores + begin, x.scores + end);
            if (!std::isfinite(top)) return false;
            log_z += top;
            for (int64_t q = begin; q < end; ++q) own_[q] = std::exp(x.scores[q] - top);
        }
        return true;
    }

    double alone(const Lattice &x, int64_t position, double *marginals) {
        const int64_t begin = x.positions[position], end = x.positions[position + 1];
        double sum = 0.0;
        for (int64_t q = begin; q < end; ++q) sum += own_[q];
        for (int64_t q = begin; q < end; ++q) marginals[q] = own_[q] / sum;
        return sum;
    }

    void exp_blocks(const Lattice &x, const Triples &triples, int64_t first, int64_t last) {
        const int64_t begin = x.edges[first + 1], end = x.edges[last];
        step_ = room(1, begin, end);
        alpha_ = room(2, begin, end);
        beta_ = room(3, begin, end);
        triple_ = room(4, triples.first[first + 1], triples.first[last]);
        for (int64_t e = begin; e < end; ++e) step_[e] = std::exp(x.edge_scores[e]);
        for (int64_t t = triple_.begin; t < triples.first[last]; ++t) triple_[t] = std::exp(triples.scores[t]);
    }

    // α(p, q) = w(p, q) Σ_o α(o, p) triple(o, p, q), divided by its sum, which is given back.
    double forward(const Lattice &x, const Triples &triples, int64_t first, int64_t i) {
        const auto [n, m, l] = Widths(x, first, i);
        double *here = alpha_ + x.edges[i];
        std::fill(here, here + m * n, 0.0);
        if (i == first + 1)
            for (int64_t p = 0; p < m; ++p) std::fill(here + p * n, here + (p + 1) * n, own_[x.positions[first] + p]);
        const double *before = i == first + 1 ? nullptr : alpha_ + x.edges[i - 1], *t = triple_ + triples.first[i];
        for (int64_t o = 0; o < l; ++o)
            for (int64_t p = 0; p < m; ++p, t += n)
                for (int64_t q = 0; q < n; ++q) here[p * n + q] += before[o * m + p] * t[q];
        double sum = 0.0;
        for (int64_t p = 0; p < m; ++p)
            for (int64_t q = 0; q < n; ++q) {
                double &a = here[p * n + q];
                double &w = step_[x.edges[i] + p * n + q];
                w *= own_[x.positions[i] + q]; // from here on, the edge and its right end together
                a *= w;
                sum += a;
            }
        for (int64_t e = 0; e < m * n; ++e) here[e] /= sum;
        return sum;
    }

    // P(p, q) ∝ α(p, q) β(p, q), and P(q) of the edge's right end.
    bool edge(const Lattice &x, int64_t i, const Posteriors &out) {
        const int64_t n = x.width(i), m = x.width(i - 1);
        const double *here = beta_ + x.edges[i], *a = alpha_ + x.edges[i];
        double joint = 0.0;
        for (int64_t e = 0; e < m * n; ++e) joint += a[e] * here[e];
        if (!in_range(joint)) return false;
        double *right = out.candidates + x.positions[i], *pair = out.edges + x.edges[i];
        std::fill(right, right + n, 0.0);
        for (int64_t p = 0; p < m; ++p)
            for (int64_t q = 0; q < n; ++q) {
                pair[p * n + q] = a[p * n + q] * here[p * n + q] / joint;
                right[q] += pair[p * n + q];
            }
        return true;
    }

    // P(o, p, q) ∝ α(o, p) v and β(o, p) ∝ Σ_q v, where v = triple(o, p, q) w(p, q) β(p, q).
    bool backward(const Lattice &x, const Triples &triples, int64_t i, double *thirds) {
        const auto [n, m, l] = Widths(x, i - 2, i);
        const double *here = beta_ + x.edges[i], *w = step_ + x.edges[i];
        const double *before = alpha_ + x.edges[i - 1], *t = triple_ + triples.first[i];
        double *left = beta_ + x.edges[i - 1], *third = thirds ? thirds + triples.first[i] : nullptr;
        double sum = 0.0, all = 0.0;
        for (int64_t o = 0; o < l; ++o)
            for (int64_t p = 0; p < m; ++p, t += n) {
                double out = 0.0;
                for (int64_t q = 0; q < n; ++q) {
                    const double v = t[q] * w[p * n + q] * here[p * n + q], joint = before[o * m + p] * v;
                    if (third) *third++ = joint;
                    out += v;
                    all += joint;
                }
                left[o * m + p] = out;
                sum += out;
            }
        if (!(all > kSmallest) || !std::isfinite(sum) || !(sum > 0)) return false;
        for (int64_t k = 1; third && k <= l * m * n; ++k) third[-k] /= all;
        for (int64_t e = 0; e < l * m; ++e) left[e] /= sum;
        return true;
    }

    // P(y) of the first position, which is no edge's right end.
    static void first_of(const Lattice &x, int64_t first, const Posteriors &out) {
        const double *pair = out.edges + x.edges[first + 1];
        for (int64_t p = x.positions[first]; p < x.positions[first + 1]; ++p) {
            out.candidates[p] = 0.0;
            for (int64_t q = 0; q < x.width(first + 1); ++q) out.candidates[p] += *pair++;
        }
    }

    Part room(int k, int64_t begin, int64_t end) {
        rooms_[k].resize(end - begin);
        return {rooms_[k].data(), begin};
    }

    std::vector<double> rooms_[5];
    Part own_{}, step_{}, alpha_{}, beta_{}, triple_{}; // by candidate, edge and triple of the whole lattice
};

} // namespace corate
