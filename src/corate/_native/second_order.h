// Label triples: a lattice whose edges all have blocks, and triple scores behind them; second_order.py has the twins.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "keys.h"
#include "labels.h"
#include "lattice.h"

namespace corate {

// Largest score of a label sequence through each candidate, minus that of the best one: 0 on the best path.
class MaxMarginals {
  public:
    void operator()(const Lattice &x, int64_t s, double *margins) {
        const int64_t first = x.sentences[s], last = x.sentences[s + 1];
        if (first == last) return;
        const int64_t base = x.positions[first], n = x.positions[last] - base;
        gain_.assign(n, kImpossible);
        const Part gain{gain_.data(), base};
        for (int64_t q = base; q < x.positions[first + 1]; ++q) gain[q] = x.scores[q];
        for (int64_t i = first + 1; i < last; ++i) {
            for (int64_t p = x.positions[i - 1]; p < x.positions[i]; ++p) {
                const double g = gain[p];
                x.edges_from(p, i, [&](int64_t q, double e) { gain[q] = std::max(gain[q], g + e); });
            }
            for (int64_t q = x.positions[i]; q < x.positions[i + 1]; ++q) gain[q] += x.scores[q];
        }
        const double best = *std::max_element(gain + x.positions[last - 1], gain + x.positions[last]);
        for (int64_t q = x.positions[last - 1]; q < x.positions[last]; ++q) margins[q] = 0.0;
        for (int64_t i = last - 1; i > first; --i)
            for (int64_t p = x.positions[i - 1]; p < x.positions[i]; ++p) {
                double out = kImpossible;
                x.edges_from(p, i, [&](int64_t q, double e) { out = std::max(out, e + x.scores[q] + margins[q]); });
                margins[p] = out;
            }
        for (int64_t q = base; q < base + n; ++q) margins[q] = best == kImpossible ? 0.0 : gain[q] + margins[q] - best;
    }

  private:
    std::vector<double> gain_;
};

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
                const bool has = i >= x.sentences[s] + 2;
                const int64_t full = has ? x.width(i - 2) * x.width(i - 1) * x.width(i) : 0;
                if (first[i + 1] - first[i] != full) throw std::invalid_argument("a triple block has another size");
                const int64_t edge = i > x.sentences[s] ? x.width(i - 1) * x.width(i) : 0;
                if (x.edges[i + 1] - x.edges[i] != edge) throw std::invalid_argument("every edge needs its block");
            }
    }
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
        for (int64_t i = first + 1; i < last; ++i) {
            const int64_t n = x.width(i), m = x.width(i - 1), l = i > first + 1 ? x.width(i - 2) : 0;
            const double *own = x.scores + x.positions[i], *edge = x.edge_scores + x.edges[i];
            double *here = gain + x.edges[i];
            if (i == first + 1) {
                for (int64_t p = 0; p < m; ++p)
                    for (int64_t q = 0; q < n; ++q)
                        here[p * n + q] = x.scores[x.positions[first] + p] + edge[p * n + q] + own[q];
                continue;
            }
            const double *before = gain + x.edges[i - 1], *triple = triples.scores + triples.first[i];
            std::fill(here, here + m * n, kImpossible);
            for (int64_t o = 0; o < l; ++o)
                for (int64_t p = 0; p < m; ++p)
                    for (int64_t q = 0; q < n; ++q)
                        here[p * n + q] = std::max(here[p * n + q], before[o * m + p] + triple[(o * m + p) * n + q]);
            for (int64_t p = 0; p < m; ++p)
                for (int64_t q = 0; q < n; ++q) here[p * n + q] += edge[p * n + q] + own[q];
        }
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

  private:
    std::vector<double> gain_;
};

// Forward–backward with plain products, scaled at every position. Fills P(y), P(y, y′) and P(y, y′, y″) of every
// candidate, edge and triple; false where the numbers leave their range.
class ForwardBackward2 {
  public:
    static constexpr double kSmallest = 1e-150;

    bool operator()(const Lattice &x, const Triples &triples, int64_t s, double *marginals, double *edges,
                    double *thirds, double &log_z) {
        const int64_t first = x.sentences[s], last = x.sentences[s + 1];
        log_z = 0.0;
        if (first == last) return true;
        const int64_t base = x.positions[first];
        own_.resize(x.positions[last] - base);
        const Part own{own_.data(), base};
        for (int64_t i = first; i < last; ++i) {
            const int64_t begin = x.positions[i], end = x.positions[i + 1];
            const double top = *std::max_element(x.scores + begin, x.scores + end);
            if (!std::isfinite(top)) return false;
            log_z += top;
            for (int64_t q = begin; q < end; ++q) own[q] = std::exp(x.scores[q] - top);
        }
        if (last - first == 1) {
            const int64_t end = x.positions[last];
            double sum = 0.0;
            for (int64_t q = base; q < end; ++q) sum += own[q];
            for (int64_t q = base; q < end; ++q) marginals[q] = own[q] / sum;
            log_z += std::log(sum);
            return true;
        }
        const int64_t edge_base = x.edges[first + 1], triple_base = triples.first[first + 1];
        const int64_t n_edges = x.edges[last] - edge_base, n_triples = triples.first[last] - triple_base;
        step_.resize(n_edges);
        alpha_.resize(n_edges);
        beta_.resize(n_edges);
        triple_.resize(n_triples);
        const Part step{step_.data(), edge_base}, alpha{alpha_.data(), edge_base}, beta{beta_.data(), edge_base};
        const Part triple{triple_.data(), triple_base};
        for (int64_t e = edge_base; e < x.edges[last]; ++e) step[e] = std::exp(x.edge_scores[e]);
        for (int64_t t = triple_base; t < triples.first[last]; ++t) triple[t] = std::exp(triples.scores[t]);
        for (int64_t i = first + 1; i < last; ++i) {
            const int64_t n = x.width(i), m = x.width(i - 1), l = i > first + 1 ? x.width(i - 2) : 0;
            double *here = alpha + x.edges[i];
            std::fill(here, here + m * n, 0.0);
            if (i == first + 1)
                for (int64_t p = 0; p < m; ++p) std::fill(here + p * n, here + (p + 1) * n, own[base + p]);
            const double *before = i == first + 1 ? nullptr : alpha + x.edges[i - 1], *t = triple + triples.first[i];
            for (int64_t o = 0; o < l; ++o)
                for (int64_t p = 0; p < m; ++p, t += n)
                    for (int64_t q = 0; q < n; ++q) here[p * n + q] += before[o * m + p] * t[q];
            double sum = 0.0;
            for (int64_t p = 0; p < m; ++p)
                for (int64_t q = 0; q < n; ++q) {
                    double &a = here[p * n + q];
                    double &w = step[x.edges[i] + p * n + q];
                    w *= own[x.positions[i] + q]; // from here on, the edge and its right end together
                    a *= w;
                    sum += a;
                }
            if (!(sum > kSmallest) || !std::isfinite(sum)) return false;
            for (int64_t e = 0; e < m * n; ++e) here[e] /= sum;
            log_z += std::log(sum);
        }
        std::fill(beta + x.edges[last - 1], beta + x.edges[last], 1.0);
        for (int64_t i = last - 1; i > first; --i) {
            const int64_t n = x.width(i), m = x.width(i - 1), l = i > first + 1 ? x.width(i - 2) : 0;
            const double *here = beta + x.edges[i], *a = alpha + x.edges[i], *w = step + x.edges[i];
            double joint = 0.0;
            for (int64_t e = 0; e < m * n; ++e) joint += a[e] * here[e];
            if (!(joint > kSmallest) || !std::isfinite(joint)) return false;
            double *right = marginals + x.positions[i], *pair = edges + x.edges[i];
            std::fill(right, right + n, 0.0);
            for (int64_t p = 0; p < m; ++p)
                for (int64_t q = 0; q < n; ++q) {
                    pair[p * n + q] = a[p * n + q] * here[p * n + q] / joint;
                    right[q] += pair[p * n + q];
                }
            if (i == first + 1) {
                for (int64_t p = 0; p < m; ++p) {
                    marginals[base + p] = 0.0;
                    for (int64_t q = 0; q < n; ++q) marginals[base + p] += pair[p * n + q];
                }
                break;
            }
            const double *before = alpha + x.edges[i - 1], *t = triple + triples.first[i];
            double *left = beta + x.edges[i - 1], *third = thirds + triples.first[i];
            double sum = 0.0, all = 0.0;
            for (int64_t o = 0; o < l; ++o)
                for (int64_t p = 0; p < m; ++p, t += n, third += n) {
                    double out = 0.0;
                    for (int64_t q = 0; q < n; ++q) {
                        const double v = t[q] * w[p * n + q] * here[p * n + q];
                        third[q] = before[o * m + p] * v;
                        out += v;
                        all += third[q];
                    }
                    left[o * m + p] = out;
                    sum += out;
                }
            if (!(all > kSmallest) || !std::isfinite(sum) || !(sum > 0)) return false;
            third = thirds + triples.first[i];
            for (int64_t k = 0; k < l * m * n; ++k) third[k] /= all;
            for (int64_t e = 0; e < l * m; ++e) left[e] /= sum;
        }
        return true;
    }

  private:
    std::vector<double> own_, step_, alpha_, beta_, triple_;
};

} // namespace corate
