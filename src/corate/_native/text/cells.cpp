// Python's door to rows of columns and to vocabularies.

#include <nanobind/stl/pair.h>

#include "text/bound.h"
#include "text/cells.h"

namespace {

// A column's distinct strings, and the code of each row.
std::pair<nb::list, Array<int32_t>> column(const Cells &cells, int64_t k) {
    require(k >= 0 && k < cells.n_columns(), "a column is out of range");
    const Cells::Column &column = cells.column(k);
    nb::list values;
    for (int32_t id = 0; id < column.values.size(); ++id) values.append(string_of(column.values.value(id)));
    return {values, fresh(column.codes)};
}

} // namespace

void bind_cells(nb::module_ &m) {
    nb::class_<Vocabulary>(m, "Vocabulary").def("__init__", [](Vocabulary *made, Chars text, In<int64_t> first) {
        require_words(text, first);
        Vocabulary values(first.size());
        for (size_t k = 0; k + 1 < first.size(); ++k)
            require(values.insert(word(text, first, k)) == int32_t(k), "a value is there twice");
        new (made) Vocabulary(std::move(values));
    });

    nb::class_<Cells>(m, "Cells")
        .def("__init__",
             [](Cells *made, int64_t n_columns, uint32_t separator) {
                 require(n_columns > 0, "at least one column is needed");
                 new (made) Cells(n_columns, char32_t(separator));
             })
        .def("read",
             [](Cells &cells, Chars text, Chars forbidden) {
                 return cells.read({letters(text), text.size()}, {letters(forbidden), forbidden.size()});
             })
        .def("column", column)
        .def("offsets", [](const Cells &cells) { return fresh(cells.offsets()); })
        .def("__len__", [](const Cells &cells) { return cells.column(0).codes.size(); });
}
