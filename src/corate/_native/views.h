// Views of words and their ids in vocabularies; contexts.py has the twins. A string is a run of code points.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace corate {

using Text = std::basic_string_view<char32_t>;

enum class View : int { word, lower, prefix, suffix, tail, shape };

constexpr size_t kHeadLength = 2; // of the shape that is behind a tail

// Words end to end with a mark after each, spelt three times letter by letter: as they are, in lower case, and with
// each letter's kind.
struct Spellings {
    const char32_t *text, *lower, *kinds;
    const int64_t *first; // n_words + 1: where each word begins
    int64_t n_words;

    // The view of a word, with at most `length` letters; `room` is for those that are no part of the word.
    Text view(View which, size_t length, int64_t k, std::vector<char32_t> &room) const {
        const int64_t begin = first[k];
        const size_t n = size_t(first[k + 1] - begin - 1), some = std::min(n, length);
        switch (which) {
        case View::word: return {text + begin, n};
        case View::lower: return {lower + begin, n};
        case View::prefix: return {text + begin, some};
        case View::suffix: return {text + begin + n - some, some};
        case View::tail:
            room.assign(lower + begin + n - some, lower + begin + n);
            room.push_back(U' ');
            collapse(kinds + begin, n, room.size() + kHeadLength, room);
            return {room.data(), room.size()};
        case View::shape:
            room.clear();
            collapse(kinds + begin, n, length, room);
            return {room.data(), room.size()};
        }
        throw std::invalid_argument("no such view");
    }

  private:
    // Runs of equal kinds count once.
    static void collapse(const char32_t *kinds, size_t n, size_t most, std::vector<char32_t> &room) {
        for (size_t i = 0; i < n && room.size() < most; ++i)
            if (i == 0 || kinds[i] != kinds[i - 1]) room.push_back(kinds[i]);
    }
};

// Distinct strings, numbered as they come.
class Vocabulary {
  public:
    explicit Vocabulary(size_t n_expected = 0) { spread(n_expected); }

    int32_t size() const { return int32_t(first_.size()) - 1; }
    Text value(int32_t id) const { return {chars_.data() + first_[id], size_t(first_[id + 1] - first_[id])}; }

    // −1 where there is no such string.
    int32_t find(Text wanted) const { return slots_[slot(wanted, hash(wanted))].id; }

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

    // Ids of a view of all words. Looking up waits for memory twice: the words of a block wait together.
    void ids(const Spellings &words, View which, size_t length, int32_t *out) const {
        constexpr int64_t block = 16;
        std::vector<char32_t> rooms[block];
        Text values[block];
        uint32_t hashes[block];
        for (int64_t begin = 0; begin < words.n_words; begin += block) {
            const int64_t n = std::min(block, words.n_words - begin);
            for (int64_t k = 0; k < n; ++k) {
                values[k] = words.view(which, length, begin + k, rooms[k]);
                hashes[k] = hash(values[k]);
                __builtin_prefetch(&slots_[hashes[k] & (slots_.size() - 1)]);
            }
            for (int64_t k = 0; k < n; ++k)
                if (const Slot &likely = slots_[hashes[k] & (slots_.size() - 1)]; likely.id >= 0)
                    __builtin_prefetch(&first_[likely.id]);
            for (int64_t k = 0; k < n; ++k) out[begin + k] = slots_[slot(values[k], hashes[k])].id;
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
