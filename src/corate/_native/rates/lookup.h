// Where the values of contexts are found among counts, and what is left of those after a subtraction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "labels.h"
#include "rates/tables.h"

namespace corate {

// What each context looks at: views of tokens at offsets.
struct Contexts {
    std::vector<int32_t> first_atom;           // n_contexts + 1
    std::vector<int32_t> views, offsets, bits; // of each atom
    std::vector<int32_t> parents; // n_contexts: an earlier one, or −1; those before n_given were computed elsewhere
    int64_t n_given;

    int64_t size() const { return int64_t(parents.size()); }
};

// The tokens: for each view the id of its value at each, by way of the codes of the view's column.
struct Tokens {
    const int64_t *first_id; // n_views + 1
    const int32_t *ids;      // of each code of the view's column; −1: unseen
    const int32_t *columns;  // of each view
    const int32_t *outside;  // of each view, the id beyond the sentence, or −1
    const int32_t *codes;    // columns × tokens
    const int64_t *sentences;
    int64_t n_views, n_tokens, n_sentences;

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

// The counts that contexts are looked up in.
struct Counted {
    const Contexts *contexts;
    const Tables *tables, *without; // `without`: counts to be subtracted, or none
};

// The labels that were seen with a value of a context.
struct LabelCounts {
    const Tables::Row *rows = nullptr;
    int64_t n = 0, n_seen = 0, total = 0; // n_seen: rows whose count is not 0
    int32_t only = -1;                    // perhaps the one label that there is
    const uint32_t *dense = nullptr;      // perhaps the counts of all labels below `width`
    int64_t width = 0;
    const LabelCounts *less = nullptr; // perhaps rows whose counts are to be subtracted from these

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

class Lookup {
  public:
    explicit Lookup(const Counted &counted) : counted_(counted) {}

    // Looks up all contexts at some tokens of a sentence; place(k, j) is that of context j at the k-th of them, or −1.
    void look_up(const Tokens &tokens, const std::vector<int64_t> &which, int64_t begin, int64_t end) {
        searches_.clear();
        for (int64_t token : which)
            for (int64_t j = 0; j < counted_.contexts->size(); ++j)
                searches_.push_back({j, tokens.key(*counted_.contexts, j, token, begin, end)});
        counted_.tables->find(searches_);
    }

    int64_t place(int64_t k, int64_t j) const { return searches_[k * counted_.contexts->size() + j].place; }

  protected:
    const Contexts &contexts() const { return *counted_.contexts; }
    const Tables &tables() const { return *counted_.tables; }
    bool subtracts() const { return counted_.without; }

    // Rows whose counts are asked for by label.
    LabelCounts rows_of(int64_t j, int64_t place) {
        if (place < 0) return {};
        const LabelCounts all = whole(tables(), place);
        const int64_t other = counted_.without ? counted_.without->find(j, tables().value(place).key) : -1;
        return other < 0 ? all : rest(place, all, whole(*counted_.without, other));
    }

    // The same rows one by one, with what is left of their counts.
    LabelCounts listed(int64_t j, int64_t place) {
        const LabelCounts rows = rows_of(j, place);
        if (!rows.less && (rows.only < 0 || rows.total == rows.rows[0].count)) return rows;
        left_.assign(rows.rows, rows.rows + rows.n);
        if (rows.only >= 0) left_[0].count = uint32_t(rows.total);
        int64_t row = 0;
        for (int64_t r = 0; rows.less && r < rows.less->n; ++r) {
            row = rows.next(row, rows.less->rows[r].label);
            left_[row].count -= rows.less->rows[r].count;
        }
        return {left_.data(), rows.n, rows.n_seen, rows.total};
    }

  private:
    static LabelCounts whole(const Tables &tables, int64_t place) {
        const Tables::Value &value = tables.value(place);
        const int64_t n = value.n_rows;
        const int32_t only = n == 1 ? value.more : -1;
        return {tables.rows(place), n, n, value.total, only, tables.dense(value), tables.width()};
    }

    // What is left after some are subtracted.
    [[gnu::noinline]] LabelCounts rest(int64_t place, LabelCounts rows, const LabelCounts &taken) {
        constexpr int64_t many = 16; // for which it is kept how many labels are gone
        if (rows.n < many) {
            rows.n_seen -= n_gone(rows, taken);
        } else {
            const auto [known, is_new] = gone_.try_emplace(place);
            if (is_new) known->second = n_gone(rows, taken);
            rows.n_seen -= known->second;
        }
        rows.total -= taken.total;
        if (rows.only >= 0) return rows; // of which the total is the count
        taken_ = taken;
        rows.less = &taken_;
        return rows;
    }

    // How many labels have nothing left.
    static int64_t n_gone(const LabelCounts &rows, const LabelCounts &taken) {
        int64_t row = 0, n = 0;
        for (int64_t r = 0; r < taken.n; ++r) {
            const Tables::Row &less = taken.rows[r];
            row = rows.next(row, less.label);
            if (row >= rows.n || rows.rows[row].label != less.label || rows.rows[row].count < less.count)
                throw std::invalid_argument("events to be subtracted were never counted");
            n += rows.rows[row].count == less.count;
        }
        return n;
    }

    Counted counted_;
    std::unordered_map<int64_t, int64_t> gone_;
    LabelCounts taken_;
    std::vector<Tables::Row> left_;
    std::vector<Tables::Search> searches_;
};

} // namespace corate
