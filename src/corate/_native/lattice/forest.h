// Sums and maxima over labels that hang on trees, with scores of triples along parents: lattice/forest.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "lattice/lattice.h"

namespace corate {

struct Forest {
    const int64_t *sentences, *positions, *left; // left: the parent of each position, −1 for a root
    const double *scores;
    const int64_t *edges; // blocks, candidates of the parent × own ones
    const double *edge_scores;
    const int64_t *triples; // blocks, candidates of the grandparent × of the parent × own ones; none: all 0
    const double *triple_scores;
    int64_t n_sentences, n_positions, n_candidates, n_edges, n_triples;

    int64_t width(int64_t v) const { return v < 0 ? 1 : positions[v + 1] - positions[v]; }
    int64_t up(int64_t v) const { return v < 0 ? -1 : left[v]; }
    double score(int64_t v, int64_t q) const { return scores[positions[v] + q]; }
    double edge(int64_t v, int64_t p, int64_t q) const { return edge_scores[edges[v] + p * width(v) + q]; }
    double triple(int64_t v, int64_t g, int64_t p, int64_t q) const {
        if (!n_triples || up(left[v]) < 0) return 0.0;
        return triple_scores[triples[v] + (g * width(left[v]) + p) * width(v) + q];
    }

    // Parents before children; everything that the loops rely on is checked.
    std::vector<int64_t> order() const {
        if (sentences[0] != 0 || sentences[n_sentences] != n_positions || positions[0] != 0 ||
            positions[n_positions] != n_candidates || edges[0] != 0 || edges[n_positions] != n_edges ||
            triples[0] != 0 || triples[n_positions] != n_triples)
            throw std::invalid_argument("offsets must run from 0 to the number of what they cut");
        std::vector<int64_t> first(n_positions + 1, 0), next, made;
        for (int64_t s = 0; s < n_sentences; ++s)
            for (int64_t v = sentences[s]; v < sentences[s + 1]; ++v) {
                if (v >= n_positions || positions[v] >= positions[v + 1])
                    throw std::invalid_argument("every position needs a candidate");
                if (left[v] < -1 || (left[v] >= 0 && (left[v] < sentences[s] || left[v] >= sentences[s + 1])))
                    throw std::invalid_argument("a parent is outside its sentence");
                if (left[v] >= 0) ++first[left[v] + 1];
            }
        for (int64_t v = 0; v < n_positions; ++v) first[v + 1] += first[v];
        std::vector<int64_t> children(first[n_positions]), filled(first.begin(), first.end() - 1);
        for (int64_t v = 0; v < n_positions; ++v) {
            if (left[v] >= 0) children[filled[left[v]]++] = v;
            else made.push_back(v);
        }
        for (size_t k = 0; k < made.size(); ++k)
            for (int64_t c = first[made[k]]; c < first[made[k] + 1]; ++c) made.push_back(children[c]);
        if (int64_t(made.size()) != n_positions) throw std::invalid_argument("parents go round in a circle");
        for (int64_t v = 0; v < n_positions; ++v) {
            const int64_t p = left[v], g = up(p), pairs = p < 0 ? 0 : width(p) * width(v);
            if (edges[v + 1] - edges[v] != pairs) throw std::invalid_argument("an edge block has another size");
            if (n_triples && triples[v + 1] - triples[v] != (g < 0 ? 0 : width(g) * pairs))
                throw std::invalid_argument("a triple block has another size");
        }
        return made;
    }
};

struct ForestResult {
    double *candidates, *log_z, *edges, *triples; // P, or how far below the best; sums (or maxima) of sentences
    int64_t *path;                                // the best candidates, where maxima are asked for
};

// inside(q, p) = score(q) + edge(p, q) + Σ over children of up(q, p);  up(p, g) = ⊕_q [inside(q, p) + triple(g, p, q)]
// outside(q, p) = ⊕_g [triple(g, p, q) + down(p, g)];  down(p, g) of a child = inside + outside of its parent − its up
template <bool kMax> class ForestPass {
  public:
    void operator()(const Forest &x, const ForestResult &out) {
        const std::vector<int64_t> order = x.order();
        const int64_t n = x.n_positions;
        std::vector<int64_t> in_first(n + 1, 0), up_first(n + 1, 0);
        for (int64_t v = 0; v < n; ++v) {
            const int64_t p = x.left[v];
            in_first[v + 1] = in_first[v] + x.width(v) * x.width(p);
            up_first[v + 1] = up_first[v] + (p < 0 ? 0 : x.width(p) * x.width(x.up(p)));
        }
        std::vector<double> inside(in_first[n], 0.0), outside(in_first[n], 0.0), up(up_first[n]), down(up_first[n]);
        std::vector<double> total(n, 0.0); // of the tree that a position belongs to
        std::fill(out.log_z, out.log_z + x.n_sentences, 0.0);
        for (auto at = order.rbegin(); at != order.rend(); ++at) {
            const int64_t v = *at, p = x.left[v], g = x.up(p), kv = x.width(v), kp = x.width(p), kg = x.width(g);
            double *in = inside.data() + in_first[v];
            for (int64_t q = 0; q < kv; ++q)
                for (int64_t i = 0; i < kp; ++i) in[q * kp + i] += x.score(v, q) + (p < 0 ? 0.0 : x.edge(v, i, q));
            if (p < 0) {
                total[v] = combine(kv, [&](int64_t q) { return in[q]; });
                continue;
            }
            double *mine = up.data() + up_first[v], *theirs = inside.data() + in_first[p];
            for (int64_t i = 0; i < kp; ++i)
                for (int64_t h = 0; h < kg; ++h) {
                    mine[i * kg + h] = combine(kv, [&](int64_t q) { return in[q * kp + i] + x.triple(v, h, i, q); });
                    theirs[i * kg + h] += mine[i * kg + h];
                }
        }
        for (int64_t s = 0; s < x.n_sentences; ++s)
            for (int64_t v = x.sentences[s]; v < x.sentences[s + 1]; ++v)
                if (x.left[v] < 0) out.log_z[s] += total[v];
        for (const int64_t v : order) {
            const int64_t p = x.left[v], g = x.up(p), kv = x.width(v), kp = x.width(p), kg = x.width(g);
            const double *in = inside.data() + in_first[v];
            double *around = outside.data() + in_first[v];
            if (p >= 0) {
                total[v] = total[p];
                double *mine = down.data() + up_first[v];
                for (int64_t k = 0; k < kp * kg; ++k) {
                    const double own = up[up_first[v] + k];
                    mine[k] =
                        own == kImpossible ? kImpossible : inside[in_first[p] + k] + outside[in_first[p] + k] - own;
                }
                for (int64_t q = 0; q < kv; ++q)
                    for (int64_t i = 0; i < kp; ++i)
                        around[q * kp + i] =
                            combine(kg, [&](int64_t h) { return mine[i * kg + h] + x.triple(v, h, i, q); });
                for (int64_t i = 0; i < kp; ++i)
                    for (int64_t q = 0; q < kv; ++q) {
                        out.edges[x.edges[v] + i * kv + q] = found(in[q * kp + i] + around[q * kp + i], total[v]);
                        if (x.n_triples && g >= 0)
                            for (int64_t h = 0; h < kg; ++h)
                                out.triples[x.triples[v] + (h * kp + i) * kv + q] =
                                    found(in[q * kp + i] + x.triple(v, h, i, q) + mine[i * kg + h], total[v]);
                    }
            }
            for (int64_t q = 0; q < kv; ++q)
                out.candidates[x.positions[v] + q] =
                    found(combine(kp, [&](int64_t i) { return in[q * kp + i] + around[q * kp + i]; }), total[v]);
            if (kMax) {
                const int64_t i = p < 0 ? 0 : out.path[p] - x.positions[p],
                              h = g < 0 ? 0 : out.path[g] - x.positions[g];
                int64_t best = 0;
                for (int64_t q = 1; q < kv; ++q)
                    if (in[q * kp + i] + triple(x, v, h, i, q) > in[best * kp + i] + triple(x, v, h, i, best)) best = q;
                out.path[v] = x.positions[v] + best;
            }
        }
    }

  private:
    static double triple(const Forest &x, int64_t v, int64_t h, int64_t i, int64_t q) {
        return x.left[v] < 0 ? 0.0 : x.triple(v, h, i, q);
    }

    static double found(double value, double total) {
        if (kMax) return total == kImpossible ? 0.0 : value - total;
        return total == kImpossible ? 0.0 : std::exp(value - total);
    }

    template <class Value> static double combine(int64_t n, Value value) {
        double top = value(0);
        for (int64_t k = 1; k < n; ++k) top = std::max(top, value(k));
        if (kMax || top == kImpossible || n == 1) return top;
        double sum = 0.0;
        for (int64_t k = 0; k < n; ++k) sum += std::exp(value(k) - top);
        return top + std::log(sum);
    }
};

} // namespace corate
