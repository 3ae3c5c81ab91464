// Counts of contexts with labels, for look-up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "keys.h"

namespace corate {

// #(f, y) of several contexts, for look-up: values of a context by their packed ids, and labels with their counts.
class Tables {
  public:
    // All that is asked of a value at once, side by side.
    struct Value {
        int64_t key, first_row, total; // total: #(f)
        uint32_t n_rows;
        int32_t more; // with one row, its label; with many, its place among those whose counts stand by label, or −1
    };
    struct Row {
        int32_t label;
        uint32_t count;
    };

    // Appends the table of one context: sorted rows of `n_fields` ids of which the last is the label, packed into
    // keys with the given numbers of bits.
    void append(const int32_t *ids, const int64_t *counts, int64_t n_rows, int64_t n_fields, const int32_t *bits) {
        Table table{int64_t(values_.size())};
        for (int64_t r = 0; r < n_rows; ++r, ids += n_fields) {
            const int64_t key = pack(ids, n_fields, bits);
            const bool first = int64_t(values_.size()) == table.first;
            if (first || values_.back().key != key) {
                if (!first && values_.back().key > key) throw std::invalid_argument("rows must be sorted");
                values_.push_back({key, int64_t(rows_.size()), 0, 0, -1});
            }
            if (counts[r] < 0 || counts[r] > int64_t(UINT32_MAX)) throw std::invalid_argument("a count is beyond 32 bits");
            if (ids[n_fields - 1] < 0) throw std::invalid_argument("a label is negative");
            rows_.push_back({ids[n_fields - 1], uint32_t(counts[r])});
            Value &value = values_.back();
            value.total += counts[r];
            value.more = ++value.n_rows == 1 ? ids[n_fields - 1] : -1;
            most_label_ = std::max(most_label_, ids[n_fields - 1]);
        }
        table.index.build(int64_t(values_.size()) - table.first, n_fields == 2, [&](int64_t k) { return values_[table.first + k].key; });
        tables_.push_back(std::move(table));
    }

    void reserve(int64_t n_values, int64_t n_rows) {
        values_.reserve(n_values);
        rows_.reserve(n_rows);
    }

    // Of sorted rows, how many differ in more than their labels.
    static int64_t n_values(const int32_t *ids, int64_t n_rows, int64_t n_fields) {
        int64_t n = n_rows > 0;
        for (const int32_t *row = ids + n_fields; row < ids + n_rows * n_fields; row += n_fields)
            n += !std::equal(row, row + n_fields - 1, row - n_fields);
        return n;
    }

    // No table comes after this.
    void finish() {
        width_ = int64_t(most_label_) + 1;
        const int64_t many = std::max(kMany, width_ / kSparse);
        for (Value &value : values_) {
            if (value.n_rows < many || n_dense_ == INT32_MAX) continue;
            value.more = n_dense_++;
            dense_.resize(size_t(n_dense_ * width_));
            uint32_t *counts = dense_.data() + value.more * width_;
            for (int64_t r = value.first_row; r < value.first_row + value.n_rows; ++r) counts[rows_[r].label] = rows_[r].count;
        }
    }

    // Adds to the counts of table t (or takes away from them) what sorted rows say. A key that changes gets new rows
    // at the end, which `changed` leads to; its old ones are looked at no more.
    void add(int64_t t, const int32_t *ids, const int64_t *counts, int64_t n_rows, int64_t n_fields, const int32_t *bits) {
        for (int64_t r = 0, end; r < n_rows; r = end) {
            const int64_t key = pack(ids + r * n_fields, n_fields, bits);
            for (end = r + 1; end < n_rows && pack(ids + end * n_fields, n_fields, bits) == key;) ++end;
            const int64_t old = find(t, key);
            int64_t o = old < 0 ? 0 : values_[old].first_row, total = 0;
            const int64_t last = old < 0 ? 0 : o + values_[old].n_rows;
            std::vector<Row> merged;
            auto push = [&](int32_t label, int64_t n) {
                if (label < 0 || n < 0 || n > int64_t(UINT32_MAX)) throw std::invalid_argument("a count is beyond 32 bits, or a label negative");
                most_label_ = std::max(most_label_, label);
                total += n;
                if (n > 0) merged.push_back({label, uint32_t(n)});
            };
            for (int64_t q = r; q < end || o < last;) {
                const int32_t theirs = q < end ? ids[q * n_fields + n_fields - 1] : INT32_MAX;
                const int32_t mine = o < last ? rows_[o].label : INT32_MAX;
                push(std::min(mine, theirs), (mine <= theirs ? int64_t(rows_[o].count) : 0) + (theirs <= mine ? counts[q] : 0));
                o += mine <= theirs;
                q += theirs <= mine;
            }
            tables_[t].changed[key] = merged.empty() ? -1 : int64_t(values_.size());
            values_.push_back({key, int64_t(rows_.size()), total, uint32_t(merged.size()), merged.size() == 1 ? merged[0].label : -1});
            rows_.insert(rows_.end(), merged.begin(), merged.end());
        }
    }

    int64_t n_tables() const { return int64_t(tables_.size()); }
    int32_t most_label() const { return most_label_; }
    const Value &value(int64_t place) const { return values_[place]; }
    const Row *row(int64_t r) const { return rows_.data() + r; }

    // The counts of all labels below `width`, of a value with many; null for others.
    const uint32_t *dense(const Value &value) const {
        return value.n_rows > 1 && value.more >= 0 ? dense_.data() + value.more * width_ : nullptr;
    }
    int64_t width() const { return width_; }

    // What a reader has found out of a value's rows, for all readers after it.
    template <class Make> const std::vector<double> &note(int64_t place, Make make) const {
        const std::lock_guard lock(notes_->guard);
        std::vector<double> &note = notes_->of[place];
        if (note.empty()) note = make();
        return note;
    }

    // A key that is looked up. Every step waits for memory, so that many searches are best done in turns.
    struct Search {
        int64_t table, key; // key −1: there is nothing to look for
        int64_t place = -1;
    };

    // Leaves each search with the place of its key, or −1.
    void find(std::vector<Search> &searches) const {
        for (const Search &search : searches)
            if (search.key >= 0) tables_[search.table].index.prefetch(search.key);
        for (const Search &search : searches) {
            if (search.key < 0) continue;
            const Table &table = tables_[search.table];
            __builtin_prefetch(values_.data() + table.first + std::max<int64_t>(0, table.index.likely(search.key)));
        }
        for (Search &search : searches) {
            search.place = find(search.table, search.key);
            if (search.place >= 0 && values_[search.place].n_rows > 1) // a search among rows begins in their middle
                __builtin_prefetch(rows_.data() + values_[search.place].first_row + values_[search.place].n_rows / 2);
        }
    }

    int64_t find(int64_t t, int64_t key) const {
        if (key < 0) return -1;
        const Table &table = tables_[t];
        if (!table.changed.empty())
            if (const auto found = table.changed.find(key); found != table.changed.end()) return found->second;
        const int64_t found = table.index.find(key, [&](int64_t k) { return values_[table.first + k].key; });
        return found < 0 ? -1 : table.first + found;
    }

  private:
    // The counts of a value with many labels stand by label; many are at least so many, and one of so many of all.
    static constexpr int64_t kMany = 16, kSparse = 32;

    struct Table {
        int64_t first; // its first value
        KeyIndex index{};
        std::unordered_map<int64_t, int64_t> changed{}; // places of keys that were added to since; −1: nothing is left
    };

    static int64_t pack(const int32_t *ids, int64_t n_fields, const int32_t *bits) {
        int64_t key = 0;
        for (int64_t k = 0; k + 1 < n_fields; ++k) {
            if (ids[k] < 0 || ids[k] >> std::min(bits[k], 31)) throw std::invalid_argument("an id has too many bits");
            key = (key << bits[k]) | ids[k];
        }
        return key;
    }

    struct Notes {
        std::mutex guard;
        std::unordered_map<int64_t, std::vector<double>> of;
    };

    std::unique_ptr<Notes> notes_ = std::make_unique<Notes>();
    std::vector<Table> tables_;
    std::vector<Value> values_;
    std::vector<Row> rows_;
    std::vector<uint32_t> dense_;
    int64_t width_ = 0;
    int32_t n_dense_ = 0, most_label_ = -1;
};

} // namespace corate
