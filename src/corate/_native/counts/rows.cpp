// Python's door to rows of ids in sorted tables.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "counts/rows.h"

namespace {

using InRows = InMatrix<int32_t>;

Rows rows_of(InRows table) { return {table.data(), int64_t(table.shape(0)), int64_t(table.shape(1))}; }

std::pair<bool, std::vector<int32_t>> check_rows(InRows table) {
    const Rows rows = rows_of(table);
    nb::gil_scoped_release release;
    return rows.check();
}

// Of each sought row, where it stands in the table or would have to be put, and whether it is there; both are sorted.
std::pair<Array<int64_t>, Array<bool>> find_rows(InRows table, InRows sought) {
    const Rows here = rows_of(table), wanted = rows_of(sought);
    require(wanted.n_fields == here.n_fields, "rows need the same number of fields");
    auto places = fresh<int64_t>(wanted.n);
    auto found = fresh<bool>(wanted.n);
    nb::gil_scoped_release release;
    int64_t place = 0;
    for (int64_t q = 0; q < wanted.n; ++q) {
        places.data()[q] = place = here.place_of(wanted.row(q), place);
        found.data()[q] = here.has(place, wanted.row(q));
    }
    return {places, found};
}

// A table with rows put in, each before the place that `find_rows` gave it.
std::pair<Array<int32_t>, Array<int64_t>> insert_rows(InRows table, In<int64_t> n, InRows rows, In<int64_t> n_of_rows,
                                                      In<int64_t> places) {
    const Rows old = rows_of(table), put = rows_of(rows);
    require(put.n_fields == old.n_fields, "rows need the same number of fields");
    require(int64_t(n.size()) == old.n && int64_t(n_of_rows.size()) == put.n && int64_t(places.size()) == put.n,
            "a count and a place are needed for every row");
    int64_t last = 0;
    for (int64_t q = 0; q < put.n; last = places.data()[q++])
        require(last <= places.data()[q] && places.data()[q] <= old.n, "places must be sorted and within the table");
    auto ids = fresh<int32_t>(old.n + put.n, old.n_fields);
    auto counts = fresh<int64_t>(old.n + put.n);
    nb::gil_scoped_release release;
    int32_t *out = ids.data();
    int64_t *n_out = counts.data();
    for (int64_t q = 0, from = 0; q <= put.n; ++q) {
        const int64_t to = q < put.n ? places.data()[q] : old.n;
        out = std::copy(old.row(from), old.row(to), out);
        n_out = std::copy(n.data() + from, n.data() + to, n_out);
        from = to;
        if (q == put.n) break;
        out = std::copy(put.row(q), put.row(q + 1), out);
        *n_out++ = n_of_rows.data()[q];
    }
    return {ids, counts};
}

} // namespace

void bind_counts(nb::module_ &m) {
    m.def("check_rows", check_rows);
    m.def("find_rows", find_rows);
    m.def("insert_rows", insert_rows);
}
