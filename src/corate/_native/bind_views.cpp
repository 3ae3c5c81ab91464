// Python's door to views of words and to vocabularies.

#include "bindings.h"
#include "cells.h"
#include "views.h"

#include <nanobind/stl/pair.h>

namespace {

using Chars = In<uint32_t>;

// Strings end to end with a mark after each, the last one's perhaps left out.
void check_words(Chars text, In<int64_t> first) {
    require(first.size() > 0 && first.data()[0] == 0, "offsets of words must begin with 0");
    for (size_t k = 0; k + 1 < first.size(); ++k)
        require(first.data()[k] < first.data()[k + 1], "offsets of words must increase");
    require(first.data()[first.size() - 1] <= int64_t(text.size()) + 1, "words reach beyond the text");
}

const char32_t *letters(Chars text) { return reinterpret_cast<const char32_t *>(text.data()); }

Spellings spellings(Chars text, Chars lower, Chars kinds, In<int64_t> first) {
    check_words(text, first);
    require(text.size() == lower.size() && text.size() == kinds.size(), "the spellings must have equal lengths");
    return {letters(text), letters(lower), letters(kinds), first.data(), int64_t(first.size()) - 1};
}

View view_of(int which) {
    require(which >= 0 && which <= int(View::shape), "no such view");
    return View(which);
}

// Strings end to end with a mark between them, as UTF-32.
class Joined {
  public:
    void add(Text value) {
        if (n_++) letters_.push_back(U'\0');
        letters_.insert(letters_.end(), value.begin(), value.end());
    }
    nb::bytes bytes() const {
        return nb::bytes(reinterpret_cast<const char *>(letters_.data()), letters_.size() * sizeof(char32_t));
    }

  private:
    std::vector<char32_t> letters_;
    size_t n_ = 0;
};

} // namespace

void bind_views(nb::module_ &m) {
    nb::class_<Vocabulary>(m, "Vocabulary")
        .def("__init__", [](Vocabulary *made, Chars text, In<int64_t> first) {
            check_words(text, first);
            Vocabulary values(first.size());
            for (size_t k = 0; k + 1 < first.size(); ++k) {
                const int64_t begin = first.data()[k], end = first.data()[k + 1] - 1;
                require(values.insert({letters(text) + begin, size_t(end - begin)}) == int32_t(k), "a value is there twice");
            }
            new (made) Vocabulary(std::move(values));
        })
        .def("__len__", &Vocabulary::size)
        // Ids of values, of which those that are not there get new ones.
        .def("add", [](Vocabulary &values, Chars text, In<int64_t> first, Out<int32_t> ids) {
            check_words(text, first);
            require(ids.size() + 1 == first.size(), "`ids` needs a place for every value");
            for (size_t k = 0; k < ids.size(); ++k) {
                const int64_t begin = first.data()[k], end = first.data()[k + 1] - 1;
                ids.data()[k] = values.insert({letters(text) + begin, size_t(end - begin)});
            }
        })
        // The id of each word's view, −1 where it has none.
        .def("ids", [](const Vocabulary &values, Chars text, Chars lower, Chars kinds, In<int64_t> first, int which,
                       size_t length, Out<int32_t> ids) {
            const Spellings words = spellings(text, lower, kinds, first);
            const View view = view_of(which);
            require(int64_t(ids.size()) == words.n_words, "`ids` needs a place for every word");
            nb::gil_scoped_release release;
            values.ids(words, view, length, ids.data());
        });

    // The distinct views of words, sorted, end to end with a mark between them; `ids` says which one each word has.
    m.def("distinct_views", [](Chars text, Chars lower, Chars kinds, In<int64_t> first, int which, size_t length,
                               Out<int32_t> ids) {
        const Spellings words = spellings(text, lower, kinds, first);
        const View view = view_of(which);
        require(int64_t(ids.size()) == words.n_words, "`ids` needs a place for every word");
        Joined joined;
        {
            nb::gil_scoped_release release;
            Vocabulary values;
            std::vector<char32_t> room;
            for (int64_t k = 0; k < words.n_words; ++k)
                ids.data()[k] = values.insert(words.view(view, length, k, room));
            const std::vector<int32_t> order = values.sorted();
            std::vector<int32_t> rank(order.size());
            for (size_t r = 0; r < order.size(); ++r) {
                rank[order[r]] = int32_t(r);
                joined.add(values.value(order[r]));
            }
            for (int64_t k = 0; k < words.n_words; ++k) ids.data()[k] = rank[ids.data()[k]];
        }
        return joined.bytes();
    });

    nb::class_<Cells>(m, "Cells")
        .def("__init__", [](Cells *made, int64_t n_columns, uint32_t separator) {
            require(n_columns > 0, "at least one column is needed");
            new (made) Cells(n_columns, char32_t(separator));
        })
        .def("read", [](Cells &cells, Chars text, Chars forbidden) {
            return cells.read({letters(text), text.size()}, {letters(forbidden), forbidden.size()});
        })
        // The distinct strings of a column end to end; the code of each row goes to `codes`.
        .def("column", [](const Cells &cells, int64_t k, Out<int32_t> codes) {
            require(k >= 0 && k < cells.n_columns(), "a column is out of range");
            const Cells::Column &column = cells.column(k);
            require(codes.size() == column.codes.size(), "`codes` needs a place for every row");
            std::copy(column.codes.begin(), column.codes.end(), codes.data());
            Joined joined;
            for (int32_t id = 0; id < column.values.size(); ++id) joined.add(column.values.value(id));
            return joined.bytes();
        })
        .def("offsets", [](const Cells &cells, Out<int64_t> offsets) {
            require(offsets.size() == cells.offsets().size(), "`offsets` needs a place for every sentence");
            std::copy(cells.offsets().begin(), cells.offsets().end(), offsets.data());
        })
        .def_prop_ro("size", [](const Cells &cells) {
            return std::pair(int64_t(cells.column(0).codes.size()), int64_t(cells.offsets().size()) - 1);
        });
}
