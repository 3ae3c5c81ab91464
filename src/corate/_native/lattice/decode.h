// Viterbi, forward–backward and n-best over one sentence of a lattice; reference.py holds the NumPy twins.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "lattice/lattice.h"

namespace corate {

// g(q) = score(q) + max_p [g(p) + edge(p, q)] of all candidates of the sentence first … last − 1, which is not empty.
inline Part best_into(const Lattice &x, int64_t first, int64_t last, std::vector<double> &room) {
    const int64_t base = x.positions[first];
    room.assign(x.positions[last] - base, kImpossible);
    const Part gain{room.data(), base}; // indexed by candidate
    for (int64_t q = base; q < x.positions[first + 1]; ++q) gain[q] = x.scores[q];
    for (int64_t i = first + 1; i < last; ++i) {
        for (int64_t p = x.positions[i - 1]; p < x.positions[i]; ++p) {
            const double g = gain[p];
            x.edges_from(p, i, [&](int64_t q, double e) { gain[q] = std::max(gain[q], g + e); });
        }
        for (int64_t q = x.positions[i]; q < x.positions[i + 1]; ++q) gain[q] += x.scores[q];
    }
    return gain;
}

// The best path. Back-pointers are recomputed on it alone; the first of equal candidates wins, so ties go to the
// lower label.
class Viterbi {
  public:
    double operator()(const Lattice &x, int64_t s, int64_t *path) {
        const int64_t first = x.sentences[s], last = x.sentences[s + 1];
        if (first == last) return 0.0;
        const Part gain = best_into(x, first, last, gain_);
        int64_t q = first_best(x.positions[last - 1], x.positions[last], [&](int64_t c) { return gain[c]; });
        const double best = gain[q];
        path[last - 1] = q;
        for (int64_t i = last - 1; i > first; --i) {
            q = first_best(x.positions[i - 1], x.positions[i], [&](int64_t p) { return gain[p] + x.edge(p, q, i); });
            path[i - 1] = q;
        }
        return best;
    }

  private:
    template <class Score> static int64_t first_best(int64_t begin, int64_t end, Score score) {
        int64_t best = begin;
        double top = score(begin);
        for (int64_t c = begin + 1; c < end; ++c)
            if (const double v = score(c); v > top) top = v, best = c;
        return best;
    }

    std::vector<double> gain_;
};

// Largest score of a label sequence through each candidate, minus that of the best one: 0 on the best path.
class MaxMarginals {
  public:
    void operator()(const Lattice &x, int64_t s, double *margins) {
        const int64_t first = x.sentences[s], last = x.sentences[s + 1];
        if (first == last) return;
        const Part gain = best_into(x, first, last, gain_);
        const double best = *std::max_element(gain + x.positions[last - 1], gain + x.positions[last]);
        for (int64_t q = x.positions[last - 1]; q < x.positions[last]; ++q) margins[q] = 0.0;
        for (int64_t i = last - 1; i > first; --i)
            for (int64_t p = x.positions[i - 1]; p < x.positions[i]; ++p) {
                double out = kImpossible;
                x.edges_from(p, i, [&](int64_t q, double e) { out = std::max(out, e + x.scores[q] + margins[q]); });
                margins[p] = out;
            }
        for (int64_t q = x.positions[first]; q < x.positions[last]; ++q)
            margins[q] = best == kImpossible ? 0.0 : gain[q] + margins[q] - best;
    }

  private:
    std::vector<double> gain_;
};

// log Σ exp over a contiguous run of values.
inline double log_sum_exp(const double *begin, const double *end) {
    const double top = *std::max_element(begin, end);
    if (top == kImpossible) return kImpossible;
    double sum = 0.0;
    for (const double *v = begin; v != end; ++v) sum += std::exp(*v - top);
    return top + std::log(sum);
}

// α and β, each normalised at every position: their sum is as exact at the millionth token as at the first.
// log Z is the sum of α's normalisers.
class ForwardBackward {
  public:
    double operator()(const Lattice &x, int64_t s, double *marginals) {
        const int64_t first = x.sentences[s], last = x.sentences[s + 1];
        if (first == last) return 0.0;
        const int64_t base = x.positions[first], n = x.positions[last] - base;
        alpha_.resize(n);
        beta_.resize(n);
        const Part alpha{alpha_.data(), base}, beta{beta_.data(), base};

        double log_z = 0.0;
        for (int64_t i = first; i < last; ++i) {
            for (int64_t q = x.positions[i]; q < x.positions[i + 1]; ++q)
                alpha[q] = x.scores[q] + (i == first ? 0.0 : inward(x, i, q, alpha));
            log_z += normalise(alpha + x.positions[i], alpha + x.positions[i + 1]);
        }
        for (int64_t q = x.positions[last - 1]; q < x.positions[last]; ++q) beta[q] = 0.0;
        for (int64_t i = last - 1; i > first; --i) {
            for (int64_t p = x.positions[i - 1]; p < x.positions[i]; ++p) beta[p] = outward(x, i, p, beta);
            normalise(beta + x.positions[i - 1], beta + x.positions[i]);
        }
        for (int64_t i = first; i < last; ++i) {
            double *m = marginals + x.positions[i], *end = marginals + x.positions[i + 1];
            for (int64_t q = x.positions[i]; q < x.positions[i + 1]; ++q) marginals[q] = alpha[q] + beta[q];
            normalise(m, end);
            for (; m != end; ++m) *m = std::exp(*m);
        }
        return log_z;
    }

  private:
    double inward(const Lattice &x, int64_t i, int64_t q, const Part &alpha) {
        terms_.clear();
        for (int64_t p = x.positions[i - 1]; p < x.positions[i]; ++p) terms_.push_back(alpha[p] + x.edge(p, q, i));
        return log_sum_exp(terms_.data(), terms_.data() + terms_.size());
    }

    double outward(const Lattice &x, int64_t i, int64_t p, const Part &beta) {
        terms_.clear();
        x.edges_from(p, i, [&](int64_t q, double e) { terms_.push_back(e + x.scores[q] + beta[q]); });
        return log_sum_exp(terms_.data(), terms_.data() + terms_.size());
    }

    // The largest is subtracted first: that is exact for its neighbours, however large they are.
    static double normalise(double *begin, double *end) {
        const double top = *std::max_element(begin, end);
        if (top == kImpossible) return kImpossible;
        for (double *v = begin; v != end; ++v) *v -= top;
        const double rest = log_sum_exp(begin, end);
        for (double *v = begin; v != end; ++v) *v -= rest;
        return top + rest;
    }

    std::vector<double> alpha_, beta_, terms_;
};

// Σ score(y_i) + Σ edge(y_i-1, y_i) of given labels; impossible where one of them is no candidate.
inline double sequence_score(const Lattice &x, int64_t s, const int32_t *labels) {
    double score = 0.0;
    int64_t before = -1;
    for (int64_t i = x.sentences[s]; i < x.sentences[s + 1]; ++i) {
        const int32_t *begin = x.labels + x.positions[i], *end = x.labels + x.positions[i + 1];
        const int32_t *found = std::find(begin, end, labels[i]);
        if (found == end) return kImpossible;
        const int64_t q = found - x.labels;
        if (before >= 0) score += x.edge(before, q, i);
        score += x.scores[q];
        before = q;
    }
    return score;
}

// The n best paths into every candidate, from the n best into each candidate before it.
// Order: higher score, then lower label, read from the last position back.
class NBest {
  public:
    // paths: n × n_positions candidates, scores: n × n_sentences; unused places keep what they hold.
    void operator()(const Lattice &x, int64_t s, int64_t n, int64_t *paths, double *scores) {
        const int64_t first = x.sentences[s], last = x.sentences[s + 1];
        if (first == last) {
            scores[s] = 0.0;
            return;
        }
        const int64_t base = x.positions[first];
        beams_.assign(x.positions[last] - base, {});
        auto beam = [&](int64_t candidate) -> std::vector<Step> & { return beams_[candidate - base]; };
        for (int64_t q = base; q < x.positions[first + 1]; ++q)
            if (x.scores[q] != kImpossible) beam(q).push_back({x.scores[q], -1, -1});
        for (int64_t i = first + 1; i < last; ++i)
            for (int64_t q = x.positions[i]; q < x.positions[i + 1]; ++q) {
                collect(
                    x.positions[i - 1], x.positions[i], beam, [&](int64_t p) { return x.edge(p, q, i); }, x.scores[q],
                    n);
                beam(q) = steps_;
            }
        collect(x.positions[last - 1], x.positions[last], beam, [](int64_t) { return 0.0; }, 0.0, n);
        for (size_t k = 0; k < steps_.size(); ++k) {
            scores[int64_t(k) * x.n_sentences + s] = steps_[k].score;
            int64_t candidate = steps_[k].candidate, rank = steps_[k].rank;
            for (int64_t i = last - 1; i >= first; --i) {
                paths[int64_t(k) * x.n_positions + i] = candidate;
                const Step &step = beam(candidate)[rank];
                candidate = step.candidate, rank = step.rank;
            }
        }
    }

  private:
    struct Step {
        double score;
        int64_t candidate, rank; // the path that this one prolongs
    };

    // Scores are added in the order in which Viterbi adds them, so that the best path is the same.
    template <class Beam, class Edge>
    void collect(int64_t begin, int64_t end, Beam beam, Edge edge, double own, int64_t n) {
        steps_.clear();
        for (int64_t p = begin; p < end && own != kImpossible; ++p) {
            const double e = edge(p);
            if (e == kImpossible) continue;
            const auto &paths = beam(p);
            for (size_t rank = 0; rank < paths.size(); ++rank)
                steps_.push_back({paths[rank].score + e + own, p, int64_t(rank)});
        }
        auto better = [](const Step &a, const Step &b) {
            if (a.score != b.score) return a.score > b.score;
            return a.candidate != b.candidate ? a.candidate < b.candidate : a.rank < b.rank;
        };
        const size_t kept = std::min(steps_.size(), size_t(n));
        std::partial_sort(steps_.begin(), steps_.begin() + kept, steps_.end(), better);
        steps_.resize(kept);
    }

    std::vector<std::vector<Step>> beams_;
    std::vector<Step> steps_;
};

} // namespace corate
