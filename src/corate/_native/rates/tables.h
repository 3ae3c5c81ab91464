// Counts of contexts with labels, for look-up. Tables never change: what is added makes new ones, which share most of
// the old ones' memory, so that whoever reads the old ones may go on.
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

// Rows of one context's table: `n_fields` ids each, of which the last is the label, sorted; their counts; and how many
// bits each id but the last has in a key.
struct TableRows {
    const int32_t *ids;
    const int64_t *counts;
    int64_t n_rows, n_fields;
    const int32_t *bits;

    int32_t label(int64_t r) const { return ids[r * n_fields + n_fields - 1]; }

    int64_t key(int64_t r) const {
        int64_t key = 0;
        for (int64_t k = 0; k + 1 < n_fields; ++k) {
            const int32_t id = ids[r * n_fields + k];
            if (id < 0 || id >> std::min(bits[k], 31)) throw std::invalid_argument("an id has too many bits");
            key = (key << bits[k]) | id;
        }
        return key;
    }

    // How many rows differ in more than their labels.
    int64_t n_values() const {
        int64_t n = n_rows > 0;
        for (const int32_t *row = ids + n_fields; row < ids + n_rows * n_fields; row += n_fields)
            n += !std::equal(row, row + n_fields - 1, row - n_fields);
        return n;
    }
};

// #(f, y) of several contexts: values of a context by their packed ids, and labels with their counts.
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

    explicit Tables(const std::vector<TableRows> &tables) : base_(made(tables)) {}

    // These counts with others added; a negative count is taken away.
    Tables plus(const std::vector<TableRows> &tables) const {
        Tables sum(*this);
        auto changes = live_changes();
        for (size_t t = 0; t < tables.size(); ++t) add(int64_t(t), tables[t], *changes);
        sum.changes_ = std::move(changes);
        return sum;
    }

    int64_t n_tables() const { return int64_t(base_->tables.size()); }
    // Of tables to which nothing was added, else −1.
    int64_t n_rows() const { return changes_ ? -1 : int64_t(base_->store.rows.size()); }
    int32_t most_label() const { return std::max(base_->store.most_label, changes_ ? changes_->store.most_label : -1); }

    const Value &value(int64_t place) const {
        const int64_t n = base_->n_values();
        return place < n ? base_->store.values[place] : changes_->store.values[place - n];
    }
    const Row *rows(int64_t place) const { return store_of(place).rows.data() + value(place).first_row; }

    // The counts of all labels below `width`, of a value with many; null for others.
    const uint32_t *dense(const Value &value) const {
        return value.n_rows > 1 && value.more >= 0 ? base_->dense.data() + value.more * base_->width : nullptr;
    }
    int64_t width() const { return base_->width; }

    // What a reader has found out of a value's rows, for all readers after it.
    template <class Make> const std::vector<double> &note(int64_t place, Make make) const {
        return store_of(place).notes->get(place, make);
    }

    // A key that is looked up. Every step waits for memory, so that many searches are best done in turns.
    struct Search {
        int64_t table, key; // key −1: there is nothing to look for
        int64_t place = -1;
    };

    // Leaves each search with the place of its key, or −1.
    void find(std::vector<Search> &searches) const {
        for (const Search &search : searches)
            if (search.key >= 0) base_->tables[search.table].index.prefetch(search.key);
        for (const Search &search : searches) {
            if (search.key < 0) continue;
            const Table &table = base_->tables[search.table];
            const int64_t likely = std::max<int64_t>(0, table.index.likely(search.key));
            __builtin_prefetch(base_->store.values.data() + table.first + likely);
        }
        for (Search &search : searches) {
            search.place = find(search.table, search.key);
            if (search.place >= 0 && value(search.place).n_rows > 1) // a search among rows begins in their middle
                __builtin_prefetch(rows(search.place) + value(search.place).n_rows / 2);
        }
    }

    int64_t find(int64_t t, int64_t key) const {
        if (key < 0) return -1;
        if (changes_) {
            const auto &places = changes_->places[t];
            if (const auto found = places.find(key); found != places.end())
                return found->second < 0 ? -1 : base_->n_values() + found->second;
        }
        const Table &table = base_->tables[t];
        const std::vector<Value> &values = base_->store.values;
        const int64_t found = table.index.find(key, [&](int64_t k) { return values[table.first + k].key; });
        return found < 0 ? -1 : table.first + found;
    }

  private:
    // The counts of a value with many labels stand by label; many are at least so many, and one of so many of all.
    static constexpr int64_t kMany = 16, kSparse = 32;

    struct Notes {
        template <class Make> const std::vector<double> &get(int64_t place, Make make) {
            const std::lock_guard lock(guard);
            std::vector<double> &note = of[place];
            if (note.empty()) note = make();
            return note;
        }

        std::mutex guard;
        std::unordered_map<int64_t, std::vector<double>> of;
    };

    struct Store {
        std::vector<Value> values;
        std::vector<Row> rows;
        int32_t most_label = -1;
        std::unique_ptr<Notes> notes = std::make_unique<Notes>();

        void push(int32_t label, int64_t count) {
            if (label < 0 || count < 0 || count > int64_t(UINT32_MAX))
                throw std::invalid_argument("a count is beyond 32 bits, or a label negative");
            rows.push_back({label, uint32_t(count)});
            most_label = std::max(most_label, label);
            Value &value = values.back();
            value.total += count;
            value.more = ++value.n_rows == 1 ? label : -1;
        }
        void begin(int64_t key) { values.push_back({key, int64_t(rows.size()), 0, 0, -1}); }
    };

    struct Table {
        int64_t first; // its first value
        KeyIndex index{};
    };

    struct Base {
        Store store;
        std::vector<Table> tables;
        std::vector<uint32_t> dense;
        int64_t width = 0;

        int64_t n_values() const { return int64_t(store.values.size()); }
    };

    // Values that have been added to since the base was made.
    struct Changes {
        Store store;
        std::vector<std::unordered_map<int64_t, int64_t>> places; // of keys, by table; −1: nothing is left of them
    };

    const Store &store_of(int64_t place) const { return place < base_->n_values() ? base_->store : changes_->store; }

    static std::shared_ptr<const Base> made(const std::vector<TableRows> &tables) {
        auto base = std::make_shared<Base>();
        int64_t n_values = 0, n_rows = 0;
        for (const TableRows &rows : tables) n_values += rows.n_values(), n_rows += rows.n_rows;
        base->store.values.reserve(n_values);
        base->store.rows.reserve(n_rows);
        for (const TableRows &rows : tables) append(rows, *base);
        spread(*base);
        return base;
    }

    static void append(const TableRows &rows, Base &base) {
        std::vector<Value> &values = base.store.values;
        Table table{int64_t(values.size())};
        for (int64_t r = 0; r < rows.n_rows; ++r) {
            const int64_t key = rows.key(r);
            const bool first = int64_t(values.size()) == table.first;
            if (!first && values.back().key > key) throw std::invalid_argument("rows must be sorted");
            if (first || values.back().key != key) base.store.begin(key);
            base.store.push(rows.label(r), rows.counts[r]);
        }
        auto key = [&](int64_t k) { return values[table.first + k].key; };
        table.index.build(int64_t(values.size()) - table.first, rows.n_fields == 2, key);
        base.tables.push_back(std::move(table));
    }

    // Lets the counts of values with many labels stand by label.
    static void spread(Base &base) {
        base.width = int64_t(base.store.most_label) + 1;
        const int64_t many = std::max(kMany, base.width / kSparse);
        int32_t n_dense = 0;
        for (Value &value : base.store.values) {
            if (value.n_rows < many || n_dense == INT32_MAX) continue;
            value.more = n_dense++;
            base.dense.resize(size_t(n_dense * base.width));
            uint32_t *counts = base.dense.data() + value.more * base.width;
            const Row *rows = base.store.rows.data() + value.first_row;
            for (uint32_t r = 0; r < value.n_rows; ++r) counts[rows[r].label] = rows[r].count;
        }
    }

    // What has changed so far, without what has changed again since.
    std::shared_ptr<Changes> live_changes() const {
        auto made = std::make_shared<Changes>();
        made->places.resize(base_->tables.size());
        if (!changes_) return made;
        for (size_t t = 0; t < made->places.size(); ++t)
            for (const auto &[key, place] : changes_->places[t]) {
                made->places[t][key] = place < 0 ? -1 : int64_t(made->store.values.size());
                if (place < 0) continue;
                const Value &value = changes_->store.values[place];
                const Row *rows = changes_->store.rows.data() + value.first_row;
                made->store.begin(key);
                for (uint32_t r = 0; r < value.n_rows; ++r) made->store.push(rows[r].label, rows[r].count);
            }
        return made;
    }

    // The rows of each key that changes are merged with those it had before.
    void add(int64_t t, const TableRows &more, Changes &changes) const {
        for (int64_t r = 0, end; r < more.n_rows; r = end) {
            const int64_t key = more.key(r), old = find(t, key);
            for (end = r + 1; end < more.n_rows && more.key(end) == key;) ++end;
            const Row *mine = old < 0 ? nullptr : rows(old), *last = old < 0 ? nullptr : mine + value(old).n_rows;
            changes.store.begin(key);
            for (int64_t q = r; q < end || mine < last;) {
                const int32_t ours = mine < last ? mine->label : INT32_MAX,
                              theirs = q < end ? more.label(q) : INT32_MAX;
                const int64_t n = (ours <= theirs ? mine->count : 0) + (theirs <= ours ? more.counts[q] : 0);
                if (n != 0) changes.store.push(std::min(ours, theirs), n);
                mine += ours <= theirs;
                q += theirs <= ours;
            }
            const bool gone = changes.store.values.back().n_rows == 0;
            if (gone) changes.store.values.pop_back();
            changes.places[t][key] = gone ? -1 : int64_t(changes.store.values.size()) - 1;
        }
    }

    std::shared_ptr<const Base> base_;
    std::shared_ptr<const Changes> changes_; // null where there are none
};

} // namespace corate
