// Distinct strings, numbered as they come. A string is a run of code points.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace corate {

using Text = std::basic_string_view<char32_t>;

// Distinct strings, numbered as they come.
class Vocabulary {
  public:
    explicit Vocabulary(size_t n_expected = 0) { spread(n_expected); }

    int32_t size() const { return int32_t(first_.size()) - 1; }
    Text value(int32_t id) const { return {chars_.data() + first_[id], size_t(first_[id + 1] - first_[id])}; }

    // The number of the string, which is a new one if need be.
    int32_t insert(Text value) {
        const uint32_t h = hash(value);
        size_t place = slot(value, h);
        if (slots_[place].id >= 0) return slots_[place].id;
        if (2 * (first_.size() + 1) > slots_.size()) {
            spread(2 * first_.size());
            place = slot(value, h);
        }
        const int32_t id = size();
        chars_.insert(chars_.end(), value.begin(), value.end());
        first_.push_back(int64_t(chars_.size()));
        slots_[place] = {h, id};
        return id;
    }

    // Ids of n strings, string(k, room) each, −1 where there is none; `room` is for a string that stands nowhere else.
    // Looking up waits for memory twice: the strings of a block wait together.
    template <class String> void find(int64_t n, String string, int32_t *out) const {
        constexpr int64_t block = 16;
        std::vector<char32_t> rooms[block];
        Text values[block];
        uint32_t hashes[block];
        for (int64_t begin = 0; begin < n; begin += block) {
            const int64_t here = std::min(block, n - begin);
            for (int64_t k = 0; k < here; ++k) {
                values[k] = string(begin + k, rooms[k]);
                hashes[k] = hash(values[k]);
                __builtin_prefetch(&slots_[hashes[k] & (slots_.size() - 1)]);
            }
            for (int64_t k = 0; k < here; ++k)
                if (const Slot &likely = slots_[hashes[k] & (slots_.size() - 1)]; likely.id >= 0)
                    __builtin_prefetch(&first_[likely.id]);
            for (int64_t k = 0; k < here; ++k) out[begin + k] = slots_[slot(values[k], hashes[k])].id;
        }
    }

    // Numbers in the order of the strings, of each number here.
    std::vector<int32_t> sorted() const {
        std::vector<int32_t> order(size());
        for (int32_t id = 0; id < size(); ++id) order[id] = id;
        std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return value(a) < value(b); });
        return order;
    }

  private:
    struct Slot {
        uint32_t hash;
        int32_t id; // −1: free
    };

    static uint32_t hash(Text value) {
        uint64_t h = 0xcbf29ce484222325u; // FNV-1a, over code points
        for (char32_t c : value) h = (h ^ c) * 0x100000001b3u;
        return uint32_t(h ^ (h >> 32));
    }

    // Where the string is, or would be put.
    size_t slot(Text wanted, uint32_t h) const {
        size_t place = h & (slots_.size() - 1);
        while (slots_[place].id >= 0 && (slots_[place].hash != h || value(slots_[place].id) != wanted))
            place = (place + 1) & (slots_.size() - 1);
        return place;
    }

    // Room for n strings, at least twice as many slots.
    void spread(size_t n) {
        size_t n_slots = 16;
        while (n_slots < 2 * (n + 1)) n_slots *= 2;
        std::vector<Slot> before(n_slots, Slot{0, -1});
        before.swap(slots_);
        for (const Slot &old : before) {
            if (old.id < 0) continue;
            size_t place = old.hash & (n_slots - 1);
            while (slots_[place].id >= 0) place = (place + 1) & (n_slots - 1);
            slots_[place] = old;
        }
    }

    std::vector<char32_t> chars_;
    std::vector<int64_t> first_{0};
    std::vector<Slot> slots_;
};

} // namespace corate
