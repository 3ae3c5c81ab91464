// Labels among rows that ascend by label.
#pragma once

#include <algorithm>
#include <cstdint>

namespace corate {

// out[c] = value(row) of the row that has labels[c]; where there is none, out stays as it is. No branch depends on the
// labels, which no processor can foresee.
template <class Row, class Value>
void pick(const Row *rows, int64_t n, const int32_t *labels, int64_t n_wanted, double *out, Value value) {
    constexpr int64_t few = 8;
    if (n <= few) {
        for (const Row *row = rows; row < rows + n; ++row)
            for (int64_t c = 0; c < n_wanted; ++c) out[c] = row->label == labels[c] ? value(*row) : out[c];
        return;
    }
    constexpr int64_t together = 8; // every step waits for memory: they wait together
    for (; n_wanted > 0; labels += together, out += together, n_wanted -= together) {
        const int64_t m = std::min(together, n_wanted);
        int64_t at[together] = {};
        for (int64_t left = n; left > 1; left -= left / 2)
            for (int64_t c = 0; c < m; ++c) at[c] += (left / 2) * (rows[at[c] + left / 2].label <= labels[c]);
        for (int64_t c = 0; c < m; ++c) out[c] = rows[at[c]].label == labels[c] ? value(rows[at[c]]) : out[c];
    }
}

} // namespace corate
