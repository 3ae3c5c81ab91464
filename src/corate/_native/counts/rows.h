// Rows of ids in sorted tables; counts/table.py holds the NumPy twins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace corate {

struct Rows {
    const int32_t *ids; // n × n_fields
    int64_t n, n_fields;

    const int32_t *row(int64_t r) const { return ids + r * n_fields; }

    bool before(int64_t r, const int32_t *other) const {
        return std::lexicographical_compare(row(r), row(r + 1), other, other + n_fields);
    }

    // Whether every row is greater than the one before it; and the highest id of each field: 0 where there is none, −1
    // for a field with a negative id.
    std::pair<bool, std::vector<int32_t>> check() const {
        std::vector<uint32_t> most(n_fields, 0); // of which a negative id is beyond all others
        bool ascend = true;
        for (int64_t r = 0; r < n; ++r) {
            for (int64_t k = 0; k < n_fields; ++k) most[k] = std::max(most[k], uint32_t(row(r)[k]));
            ascend = ascend && (r == 0 || before(r - 1, row(r)));
        }
        std::vector<int32_t> highest;
        for (const uint32_t each : most) highest.push_back(each > uint32_t(INT32_MAX) ? -1 : int32_t(each));
        return {ascend, highest};
    }

    // The first place from `place` on whose row is not before the sought one. Strides double: that is quick for few
    // rows and for many.
    int64_t place_of(const int32_t *sought, int64_t place) const {
        int64_t stride = 1, end = place;
        while (end < n && before(end, sought)) {
            place = end + 1;
            end = place + stride;
            stride *= 2;
        }
        end = std::min(end, n);
        while (place < end) {
            const int64_t middle = place + (end - place) / 2;
            if (before(middle, sought)) place = middle + 1;
            else end = middle;
        }
        return place;
    }

    bool has(int64_t place, const int32_t *sought) const {
        return place < n && std::equal(sought, sought + n_fields, row(place));
    }
};

} // namespace corate
