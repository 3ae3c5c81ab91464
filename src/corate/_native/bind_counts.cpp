// Rows of ids in sorted tables; counts.py holds the NumPy twin.

#include <algorithm>
#include <vector>

#include "bindings.h"

using Rows = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutRows = nb::ndarray<int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void bind_counts(nb::module_ &m) {
    // Whether every row is greater than the one before it; `highest` of each field, −1 for one with a negative id.
    m.def("check_rows", [](Rows table, Out<int32_t> highest) {
        const size_t n = table.shape(0), n_fields = table.shape(1);
        require(highest.size() == n_fields, "a place is needed for every field");
        nb::gil_scoped_release release;
        std::vector<uint32_t> most(n_fields, 0); // of which a negative id is beyond all others
        bool ascends = true;
        const int32_t *row = table.data();
        for (size_t r = 0; r < n; ++r, row += n_fields) {
            for (size_t k = 0; k < n_fields; ++k) most[k] = std::max(most[k], uint32_t(row[k]));
            ascends = ascends && (r == 0 || std::lexicographical_compare(row - n_fields, row, row, row + n_fields));
        }
        for (size_t k = 0; k < n_fields; ++k) highest.data()[k] = most[k] > uint32_t(INT32_MAX) ? -1 : int32_t(most[k]);
        return ascends;
    });

    // Of each sought row, where it stands in the table or would have to be put; both are sorted.
    m.def("find_rows", [](Rows table, Rows sought, Out<int64_t> places, Out<uint8_t> found) {
        const int64_t n = int64_t(table.shape(0)), n_fields = int64_t(table.shape(1)), n_sought = int64_t(sought.shape(0));
        require(int64_t(sought.shape(1)) == n_fields, "rows need the same number of fields");
        require(int64_t(places.size()) == n_sought && int64_t(found.size()) == n_sought, "a place is needed for every row");
        nb::gil_scoped_release release;
        auto before = [&](int64_t r, const int32_t *row) {
            const int32_t *here = table.data() + r * n_fields;
            return std::lexicographical_compare(here, here + n_fields, row, row + n_fields);
        };
        int64_t place = 0;
        for (int64_t q = 0; q < n_sought; ++q) {
            const int32_t *row = sought.data() + q * n_fields;
            // Strides that double, from the last place on: quick for few rows and for many.
            int64_t stride = 1, end = place;
            while (end < n && before(end, row)) {
                place = end + 1;
                end = place + stride;
                stride *= 2;
            }
            end = std::min(end, n);
            while (place < end) {
                const int64_t middle = place + (end - place) / 2;
                if (before(middle, row)) place = middle + 1;
                else end = middle;
            }
            places.data()[q] = place;
            found.data()[q] = place < n && std::equal(row, row + n_fields, table.data() + place * n_fields);
        }
    });

    // A table with rows put in, each before the place that `find_rows` gave it.
    m.def("insert_rows", [](Rows table, In<int64_t> n, Rows rows, In<int64_t> n_of_rows, In<int64_t> places, OutRows made, Out<int64_t> n_made) {
        const int64_t n_fields = int64_t(table.shape(1)), n_rows = int64_t(table.shape(0)), n_new = int64_t(rows.shape(0));
        require(int64_t(rows.shape(1)) == n_fields && int64_t(made.shape(1)) == n_fields, "rows need the same number of fields");
        require(int64_t(n.size()) == n_rows && int64_t(n_of_rows.size()) == n_new && int64_t(places.size()) == n_new, "a count and a place are needed for every row");
        require(int64_t(made.shape(0)) == n_rows + n_new && int64_t(n_made.size()) == n_rows + n_new, "a place is needed for every row");
        int64_t last = 0;
        for (int64_t q = 0; q < n_new; last = places.data()[q++])
            require(last <= places.data()[q] && places.data()[q] <= n_rows, "places must be sorted and within the table");
        nb::gil_scoped_release release;
        int32_t *out = made.data();
        int64_t *n_out = n_made.data();
        for (int64_t q = 0, from = 0; q <= n_new; ++q) {
            const int64_t to = q < n_new ? places.data()[q] : n_rows;
            out = std::copy(table.data() + from * n_fields, table.data() + to * n_fields, out);
            n_out = std::copy(n.data() + from, n.data() + to, n_out);
            from = to;
            if (q == n_new) break;
            out = std::copy(rows.data() + q * n_fields, rows.data() + (q + 1) * n_fields, out);
            *n_out++ = n_of_rows.data()[q];
        }
    });
}
