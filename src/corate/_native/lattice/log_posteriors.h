// Forward–backward of label triples in logarithms: for any numbers, and slower; reference.py has the twin.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "lattice/second_order.h"

namespace corate {

// log Σ exp, kept as the largest term and the sum of the others beside it.
struct LogSum {
    double top = kImpossible, sum = 0.0;

    void add(double v) {
        if (v == kImpossible) return;
        if (v > top) sum = sum * std::exp(top - v) + 1.0, top = v;
        else sum += std::exp(v - top);
    }
    double log() const { return top == kImpossible ? top : top + std::log(sum); }
};

class LogForwardBackward2 {
  public:
    // All is 0, and log Z −∞, where no sequence is possible.
    void operator()(const Lattice &x, const Triples &triples, int64_t s, const Posteriors &out, double &log_z) {
        const int64_t first = x.sentences[s], last = x.sentences[s + 1];
        log_z = 0.0;
        if (first == last) return;
        clear(x, triples, first, last, out);
        if (last - first == 1) {
            log_z = normalise(x.scores + x.positions[first], x.width(first), out.candidates + x.positions[first]);
            return;
        }
        const int64_t begin = x.edges[first + 1], size = x.edges[last] - begin;
        for (auto *room : {&rooms_[0], &rooms_[1]}) room->assign(size, 0.0);
        alpha_ = {rooms_[0].data(), begin}, beta_ = {rooms_[1].data(), begin};
        for (int64_t i = first + 1; i < last && log_z > kImpossible; ++i) log_z += forward(x, triples, first, i);
        if (log_z == kImpossible) return;
        for (int64_t i = last - 1; i > first; --i) {
            edge(x, i, out);
            if (i > first + 1) backward(x, triples, i, out);
        }
        for (int64_t p = x.positions[first], e = begin; p < x.positions[first + 1]; ++p)
            for (int64_t q = 0; q < x.width(first + 1); ++q) out.candidates[p] += out.edges[e++];
    }

  private:
    static void clear(const Lattice &x, const Triples &t, int64_t first, int64_t last, const Posteriors &out) {
        std::fill(out.candidates + x.positions[first], out.candidates + x.positions[last], 0.0);
        std::fill(out.edges + x.edges[first], out.edges + x.edges[last], 0.0);
        if (out.triples) std::fill(out.triples + t.first[first], out.triples + t.first[last], 0.0);
    }

    // out = exp(v − log Σ exp v), and that sum.
    static double normalise(const double *v, int64_t n, double *out) {
        LogSum total;
        for (int64_t k = 0; k < n; ++k) total.add(v[k]);
        const double log = total.log();
        for (int64_t k = 0; k < n; ++k) out[k] = log == kImpossible ? 0.0 : std::exp(v[k] - log);
        return log;
    }

    // α(p, q) = edge(p, q) + score(q) + log Σ_o exp[α(o, p) + triple(o, p, q)], less its sum, which is given back.
    double forward(const Lattice &x, const Triples &triples, int64_t first, int64_t i) {
        const auto [n, m, l] = Widths(x, first, i);
        double *here = alpha_ + x.edges[i];
        LogSum total;
        for (int64_t p = 0; p < m; ++p)
            for (int64_t q = 0; q < n; ++q) {
                LogSum into;
                if (i == first + 1) into.add(x.scores[x.positions[first] + p]);
                for (int64_t o = 0; o < l; ++o)
                    into.add(alpha_[x.edges[i - 1] + o * m + p] +
                             triples.scores[triples.first[i] + (o * m + p) * n + q]);
                here[p * n + q] = into.log() + x.edge_scores[x.edges[i] + p * n + q] + x.scores[x.positions[i] + q];
                total.add(here[p * n + q]);
            }
        const double sum = total.log();
        if (sum > kImpossible)
            for (int64_t e = 0; e < m * n; ++e) here[e] -= sum;
        return sum;
    }

    // P(p, q) ∝ exp[α(p, q) + β(p, q)], and P(q) of the edge's right end.
    void edge(const Lattice &x, int64_t i, const Posteriors &out) {
        const int64_t n = x.width(i), m = x.width(i - 1);
        double *pair = out.edges + x.edges[i];
        for (int64_t e = 0; e < m * n; ++e) pair[e] = alpha_[x.edges[i] + e] + beta_[x.edges[i] + e];
        normalise(pair, m * n, pair);
        for (int64_t e = 0; e < m * n; ++e) out.candidates[x.positions[i] + e % n] += pair[e];
    }

    // With v = triple(o, p, q) + edge(p, q) + score(q) + β(p, q): β(o, p) = log Σ_q exp v, less the sum of all;
    // P(o, p, q) ∝ exp[α(o, p) + v].
    void backward(const Lattice &x, const Triples &triples, int64_t i, const Posteriors &out) {
        const auto [n, m, l] = Widths(x, i - 2, i);
        const double *t = triples.scores + triples.first[i], *a = alpha_ + x.edges[i - 1];
        double *left = beta_ + x.edges[i - 1], *third = out.triples ? out.triples + triples.first[i] : nullptr;
        LogSum total;
        for (int64_t e = 0; e < l * m; ++e, t += n) {
            LogSum sum;
            for (int64_t q = 0; q < n; ++q) {
                const int64_t right = x.edges[i] + (e % m) * n + q;
                const double v = t[q] + x.edge_scores[right] + x.scores[x.positions[i] + q] + beta_[right];
                sum.add(v);
                if (third) *third++ = a[e] + v;
            }
            left[e] = sum.log();
            total.add(left[e]);
        }
        for (int64_t e = 0; e < l * m && total.top > kImpossible; ++e) left[e] -= total.log();
        if (third) normalise(third - l * m * n, l * m * n, third - l * m * n);
    }

    std::vector<double> rooms_[2];
    Part alpha_{}, beta_{}; // by edge of the whole lattice
};

} // namespace corate
