// Where distinct numbers stand in an array. To look one up waits for memory twice: many are best looked up in turns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace corate {

class KeyIndex {
  public:
    // Of n keys, key(0), key(1), …, which ascend from 0 or more. If they are small, they may be slots themselves.
    template <class Key> void build(int64_t n, bool is_direct, Key key) {
        if (n >= int64_t(UINT32_MAX)) throw std::invalid_argument("there are too many keys");
        is_direct_ = is_direct;
        if (!is_direct)
            while (int64_t(1) << (64 - shift_) < 2 * n) --shift_;
        const size_t n_direct = n ? size_t(key(n - 1)) + 2 : 1; // one more, which is free
        slots_.assign(is_direct ? n_direct : size_t(1) << (64 - shift_), 0);
        for (int64_t k = 0; k < n; ++k) {
            size_t place = slot(key(k));
            while (slots_[place]) place = next(place);
            slots_[place] = uint32_t(k + 1);
        }
    }

    void prefetch(int64_t key) const { __builtin_prefetch(&slots_[slot(key)]); }

    // Where the key is, if it is anywhere: most often.
    int64_t likely(int64_t key) const { return int64_t(slots_[slot(key)]) - 1; }

    // Where the key is among those that the index was built of, or −1.
    template <class Key> int64_t find(int64_t wanted, Key key) const {
        for (size_t place = slot(wanted);; place = next(place)) {
            const int64_t found = int64_t(slots_[place]) - 1;
            if (found < 0 || key(found) == wanted) return found;
        }
    }

  private:
    size_t slot(int64_t key) const {
        if (is_direct_) return std::min(size_t(key), slots_.size() - 1);
        return size_t(uint64_t(key) * 0x9e3779b97f4a7c15u >> shift_);
    }
    size_t next(size_t place) const { return (place + 1) & (slots_.size() - 1); }

    std::vector<uint32_t> slots_ = {0, 0}; // places from 1 on, 0: free; unless direct, a power of two, half of it free
    int32_t shift_ = 63;
    bool is_direct_ = false;
};

} // namespace corate
