// Log-linear chains: log Z of every chain and the expected number of times that every feature fires
// (models/loglinear/features.py says what a feature is, expectations.py holds the NumPy twin).
//
// Most label pairs have no feature, so that exp(weight) is 1: sums over a pair of labels are those over all
// pairs as if each had 1, plus what the pairs with a feature have more or less. That is quick, and loses digits
// where nearly all is taken away again; such chains are done once more in logarithms.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lattice/decode.h"

#include "models/transitions.h"

namespace corate {

class ChainKernel {
  public:
    ChainKernel(const Chains &x, const ChainFeatures &f, const Transitions &transitions, const double *weights)
        : x_(x), f_(f), t_(transitions), w_(weights), n_(f.n_labels),
          together_(transitions.dense ? n_ * n_ : f.n_transitions), more_(f.n_transitions), change_(n_ * n_) {}

    // Adds the expectations of chain s to `expected`; those of transitions wait for `finish`.
    double operator()(int64_t s, double *expected) {
        const int64_t begin = x_.sentences[s], end = x_.sentences[s + 1];
        if (begin == end) return 0.0;
        double log_z;
        scores(begin, end);
        if (!t_.safe || !quick(begin, end, x_.times[s], expected, log_z))
            log_z = exact(begin, end, x_.times[s], expected);
        return log_z;
    }

    void finish(double *expected) {
        double *out = expected + f_.n_state;
        for (int64_t k = 0; k < f_.n_transitions; ++k) {
            const int64_t cell = f_.left[k] * n_ + f_.right[k];
            const double together = together_[t_.dense ? cell : k];
            out[k] += (together == 0.0 ? 0.0 : together * t_.exp_weight[cell]) + more_[k]; // exp may be infinite
        }
    }

  private:
    // An edge's own changes: by how much exp(score) of a label pair differs from that of its transition.
    struct Change {
        int32_t left, right;
        double surplus;
    };

    // Visits the state features that may fire at a position.
    template <class Visit> void states_at(int64_t position, Visit visit) const {
        for (int64_t a = x_.first[position]; a < x_.first[position + 1]; ++a)
            for (int64_t k = f_.state_first[x_.attributes[a]]; k < f_.state_first[x_.attributes[a] + 1]; ++k) visit(k);
    }

    // Visits the pair features that may fire at the edge into a position, with their label pairs.
    template <class Visit> void pairs_at(int64_t position, Visit visit) const {
        for (int64_t a = x_.pair_first[position]; a < x_.pair_first[position + 1]; ++a) {
            const int32_t attribute = x_.pair_attributes[a];
            for (int64_t k = f_.pair_first[attribute]; k < f_.pair_first[attribute + 1]; ++k)
                visit(k, f_.pair_left[k], f_.pair_right[k]);
        }
    }

    // score(y) = Σ weights of the features that fire with y.
    void scores(int64_t begin, int64_t end) {
        score_.assign((end - begin) * n_, 0.0);
        for (int64_t i = begin; i < end; ++i) {
            double *own = score_.data() + (i - begin) * n_;
            states_at(i, [&](int64_t k) { own[f_.state_labels[k]] += w_[k]; });
            if (x_.groups != nullptr) {
                const uint8_t *allowed = x_.allowed + x_.groups[i] * n_;
                for (int64_t y = 0; y < n_; ++y)
                    if (!allowed[y]) own[y] = kImpossible;
            }
        }
    }

    // Σ weights of the pair features of the edge into position i, in change_; the label pairs in `touched_`.
    void pair_weights(int64_t i) {
        touched_.clear();
        pairs_at(i, [&](int64_t k, int32_t left, int32_t right) {
            touched_.push_back(left * n_ + right);
            change_[touched_.back()] += w_[f_.n_state + f_.n_transitions + k];
        });
    }

    bool changes(int64_t begin, int64_t end) {
        changes_.clear();
        change_first_.assign(end - begin + 1, 0);
        bool safe = true;
        for (int64_t i = begin + 1; i < end; ++i) {
            pair_weights(i);
            for (const int64_t cell : touched_) {
                if (change_[cell] == 0.0) continue; // seen before, or nothing
                safe &= std::abs(change_[cell]) <= kMostWeight;
                changes_.push_back(
                    {int32_t(cell / n_), int32_t(cell % n_), t_.exp_weight[cell] * std::expm1(change_[cell])});
                change_[cell] = 0.0;
            }
            change_first_[i - begin + 1] = changes_.size();
        }
        return safe;
    }

    bool quick(int64_t begin, int64_t end, double times, double *expected, double &log_z) {
        const int64_t length = end - begin;
        if (!changes(begin, end) || !all_forward(length, log_z)) return false;
        // What is found stays aside until the whole chain has turned out to be safe.
        beta_.resize(length * n_);
        double *beta = beta_.data() + (length - 1) * n_;
        std::fill(beta, beta + n_, 1.0);
        for (int64_t k = length - 1; k > 0; --k) {
            beta = beta_.data() + k * n_;
            onward(k, beta);
            if (!backward(k, beta - n_)) return false;
        }
        for (int64_t k = 0; k < length; ++k) {
            const double *alpha = alpha_.data() + k * n_;
            beta = beta_.data() + k * n_;
            if (k > 0) {
                onward(k, beta);
                edges(begin + k, k, alpha - n_, times, expected);
            }
            for (int64_t y = 0; y < n_; ++y) beta[y] *= alpha[y] * times;
            add_states(begin + k, beta, expected);
        }
        return true;
    }

    // α of all positions, each divided by its sum.
    bool all_forward(int64_t length, double &log_z) {
        alpha_.resize(length * n_);
        scale_.resize(length);
        log_z = 0.0;
        for (int64_t k = 0; k < length; ++k) {
            double *own = score_.data() + k * n_, *alpha = alpha_.data() + k * n_;
            const double top = *std::max_element(own, own + n_);
            if (!std::isfinite(top)) return false;
            for (int64_t y = 0; y < n_; ++y) own[y] = std::exp(own[y] - top); // from here on, exp(score)
            if (k == 0) std::fill(alpha, alpha + n_, 1.0);
            else if (!forward(k, alpha - n_, alpha)) return false;
            double total = 0.0;
            for (int64_t y = 0; y < n_; ++y) total += alpha[y] *= own[y];
            if (!(total > 0.0) || !std::isfinite(total)) return false;
            for (int64_t y = 0; y < n_; ++y) alpha[y] /= total;
            scale_[k] = total;
            log_z += top + std::log(total);
        }
        return true;
    }

    // out(y′) = Σ_y v(y) matrix(y, y′), where most of v may be 0.
    void multiply(const double *v, const double *matrix, double *out) const {
        std::fill(out, out + n_, 0.0);
        for (int64_t i = 0; i < n_; ++i) {
            const double a = v[i], *row = matrix + i * n_;
            if (a != 0.0)
                for (int64_t j = 0; j < n_; ++j) out[j] += a * row[j];
        }
    }

    // α(y′) before its own score: Σ_y α(y) exp(pair score of y, y′). α sums to 1.
    bool forward(int64_t k, const double *before, double *alpha) {
        if (t_.dense) {
            multiply(before, t_.exp_weight.data(), alpha);
        } else {
            double least = 1.0;
            for (int64_t j = 0; j < n_; ++j) {
                double sum = 1.0;
                for (int64_t c = t_.column_first[j]; c < t_.column_first[j + 1]; ++c)
                    sum += before[t_.column_left[c]] * t_.column_surplus[c];
                least = std::min(least, alpha[j] = sum);
            }
            if (least < kTrusted) return false;
        }
        return change(k, alpha, [&](const Change &c) { return std::pair(c.right, before[c.left]); });
    }

    // q(y′) = exp(score) β(y′) / scale, in onward_.
    void onward(int64_t k, const double *beta) {
        onward_.resize(n_);
        const double *own = score_.data() + k * n_;
        for (int64_t y = 0; y < n_; ++y) onward_[y] = own[y] * beta[y] / scale_[k];
    }

    // β(y) = Σ_y′ exp(pair score of y, y′) q(y′).
    bool backward(int64_t k, double *beta) {
        if (t_.dense) {
            multiply(onward_.data(), t_.transposed.data(), beta);
        } else {
            double total = 0.0;
            for (int64_t j = 0; j < n_; ++j) total += onward_[j];
            double least = total;
            for (int64_t i = 0; i < n_; ++i) {
                double sum = total;
                for (int64_t c = t_.row_first[i]; c < t_.row_first[i + 1]; ++c)
                    sum += t_.surplus[c] * onward_[f_.right[c]];
                least = std::min(least, beta[i] = sum);
            }
            if (least < kTrusted * total) return false;
        }
        return change(k, beta, [&](const Change &c) { return std::pair(c.left, onward_[c.right]); });
    }

    template <class End> bool change(int64_t k, double *values, End end) {
        const int64_t first = change_first_[k], last = change_first_[k + 1];
        if (first == last) return true;
        before_.assign(values, values + n_);
        for (int64_t c = first; c < last; ++c) {
            const auto [place, factor] = end(changes_[c]);
            values[place] += factor * changes_[c].surplus;
        }
        for (int64_t y = 0; y < n_; ++y)
            if (values[y] < kTrusted * before_[y]) return false;
        return true;
    }

    // Expected label pairs of the edge into a position: α(y) exp(pair score) q(y′).
    void edges(int64_t position, int64_t k, const double *before, double times, double *expected) {
        for (int64_t y = 0; y < n_; ++y) onward_[y] *= times;
        if (t_.dense) {
            for (int64_t i = 0; i < n_; ++i) {
                const double a = before[i];
                double *row = together_.data() + i * n_;
                if (a != 0.0)
                    for (int64_t j = 0; j < n_; ++j) row[j] += a * onward_[j];
            }
        } else {
            for (int64_t i = 0; i < n_; ++i) {
                const double a = before[i];
                for (int64_t c = t_.row_first[i]; c < t_.row_first[i + 1]; ++c)
                    together_[c] += a * onward_[f_.right[c]];
            }
        }
        if (x_.pair_first[position] == x_.pair_first[position + 1]) return;
        for (int64_t c = change_first_[k]; c < change_first_[k + 1]; ++c) {
            const Change &each = changes_[c];
            const int64_t cell = each.left * n_ + each.right, transition = find(each.left, each.right);
            change_[cell] = each.surplus;
            if (transition >= 0) more_[transition] += before[each.left] * each.surplus * onward_[each.right];
        }
        double *out = expected + f_.n_state + f_.n_transitions;
        pairs_at(position, [&](int64_t p, int32_t left, int32_t right) {
            const int64_t cell = left * n_ + right;
            out[p] += before[left] * (t_.exp_weight[cell] + change_[cell]) * onward_[right];
        });
        for (int64_t c = change_first_[k]; c < change_first_[k + 1]; ++c)
            change_[changes_[c].left * n_ + changes_[c].right] = 0.0;
    }

    void add_states(int64_t position, const double *probability, double *expected) {
        states_at(position, [&](int64_t k) { expected[k] += probability[f_.state_labels[k]]; });
    }

    int64_t find(int32_t left, int32_t right) const {
        const int32_t *begin = std::lower_bound(f_.left, f_.left + f_.n_transitions, left);
        const int32_t *end = std::upper_bound(begin, f_.left + f_.n_transitions, left);
        const int32_t *place = std::lower_bound(f_.right + (begin - f_.left), f_.right + (end - f_.left), right);
        return place != f_.right + (end - f_.left) && *place == right ? place - f_.right : -1;
    }

    // The same in logarithms, whatever the weights.
    double exact(int64_t begin, int64_t end, double times, double *expected) {
        const int64_t length = end - begin;
        scores(begin, end);
        terms_.resize(n_);
        log_forward(begin, length);
        const double *last = alpha_.data() + (length - 1) * n_;
        const double log_z = log_sum_exp(last, last + n_);
        log_backward(length);
        onward_.resize(n_);
        for (int64_t k = 0; k < length; ++k) {
            const double *alpha = alpha_.data() + k * n_, *beta = beta_.data() + k * n_;
            for (int64_t y = 0; y < n_; ++y) onward_[y] = times * std::exp(alpha[y] + beta[y] - log_z);
            add_states(begin + k, onward_.data(), expected);
            if (k > 0) add_edges(begin + k, k, times, log_z, expected);
        }
        return log_z;
    }

    // The scores of label pairs, in pair_, and α.
    void log_forward(int64_t begin, int64_t length) {
        pair_.resize(std::max<int64_t>(0, length - 1) * n_ * n_);
        alpha_.assign(score_.begin(), score_.end());
        for (int64_t k = 1; k < length; ++k) {
            double *pair = pair_.data() + (k - 1) * n_ * n_;
            std::copy(t_.log_weight.begin(), t_.log_weight.end(), pair);
            pair_weights(begin + k);
            for (const int64_t cell : touched_) pair[cell] += change_[cell], change_[cell] = 0.0;
            const double *before = alpha_.data() + (k - 1) * n_;
            for (int64_t j = 0; j < n_; ++j) {
                for (int64_t i = 0; i < n_; ++i) terms_[i] = before[i] + pair[i * n_ + j];
                alpha_[k * n_ + j] += log_sum_exp(terms_.data(), terms_.data() + n_);
            }
        }
    }

    void log_backward(int64_t length) {
        beta_.assign(length * n_, 0.0);
        for (int64_t k = length - 1; k > 0; --k) {
            const double *pair = pair_.data() + (k - 1) * n_ * n_;
            const double *own = score_.data() + k * n_, *beta = beta_.data() + k * n_;
            for (int64_t i = 0; i < n_; ++i) {
                for (int64_t j = 0; j < n_; ++j) terms_[j] = pair[i * n_ + j] + own[j] + beta[j];
                beta_[(k - 1) * n_ + i] = log_sum_exp(terms_.data(), terms_.data() + n_);
            }
        }
    }

    // Expected label pairs of the edge into a position: exp[α(y) + pair score + score(y′) + β(y′)] / Z.
    void add_edges(int64_t position, int64_t k, double times, double log_z, double *expected) {
        const double *before = alpha_.data() + (k - 1) * n_, *pair = pair_.data() + (k - 1) * n_ * n_;
        const double *own = score_.data() + k * n_, *beta = beta_.data() + k * n_;
        const auto joint = [&](int32_t i, int32_t j) {
            return times * std::exp(before[i] + pair[i * n_ + j] + own[j] + beta[j] - log_z);
        };
        for (int64_t t = 0; t < f_.n_transitions; ++t) more_[t] += joint(f_.left[t], f_.right[t]);
        double *out = expected + f_.n_state + f_.n_transitions;
        pairs_at(position, [&](int64_t p, int32_t left, int32_t right) { out[p] += joint(left, right); });
    }

    const Chains &x_;
    const ChainFeatures &f_;
    const Transitions &t_;
    const double *w_;
    const int64_t n_;
    std::vector<double> together_, more_; // Σ α(y) q(y′) of label pairs, and what edges of their own add
    std::vector<double> change_;          // labels × labels, 0 between uses
    std::vector<int64_t> touched_, change_first_;
    std::vector<Change> changes_;
    std::vector<double> score_, alpha_, beta_, scale_, onward_, before_, pair_, terms_;
};

} // namespace corate
