// Python's door to strings in lists of lists: for these the GIL is kept.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "bindings.h"
#include "text/strings.h"

namespace {

// The distinct strings of all lists, and the number of each of the n strings; nothing if one is no plain string, or the
// parts are no lists or tuples of n strings together.
std::optional<std::pair<nb::list, Array<int32_t>>> number_strings(nb::list parts, size_t n) {
    constexpr Py_ssize_t ahead = 8; // strings are somewhere in memory: they are sent for before their turn
    auto codes = fresh<int32_t>(n);
    Numbers number;
    size_t t = 0;
    for (nb::handle part : parts) {
        PyObject *items = part.ptr();
        if (!PyList_CheckExact(items) && !PyTuple_CheckExact(items)) return std::nullopt;
        const Py_ssize_t length = PySequence_Fast_GET_SIZE(items);
        PyObject **strings = PySequence_Fast_ITEMS(items);
        if (size_t(length) > n - t) return std::nullopt;
        for (Py_ssize_t i = 0; i < length; ++i) {
            if (i + ahead < length) __builtin_prefetch(strings[i + ahead]);
            if (!PyUnicode_CheckExact(strings[i])) return std::nullopt;
            codes.data()[t++] = number(strings[i]);
        }
    }
    if (t != n) return std::nullopt;
    return std::pair(number.values, codes);
}

// values[codes[t]] of the tokens t of each sentence.
nb::list strings_of(nb::tuple values, In<int32_t> codes, In<int64_t> offsets) {
    require_offsets(offsets, int64_t(codes.size()), "offsets must run from 0 to the number of tokens");
    require_ids(codes, int64_t(nb::len(values)), "a code is out of range");
    nb::list sentences;
    for (size_t s = 0; s + 1 < offsets.size(); ++s) {
        const int64_t begin = offsets.data()[s], end = offsets.data()[s + 1];
        nb::object sentence = nb::steal(PyList_New(end - begin));
        if (!sentence.is_valid()) throw nb::python_error();
        for (int64_t t = begin; t < end; ++t)
            PyList_SET_ITEM(sentence.ptr(), t - begin, Py_NewRef(PyTuple_GET_ITEM(values.ptr(), codes.data()[t])));
        sentences.append(sentence);
    }
    return sentences;
}

} // namespace

void bind_strings(nb::module_ &m) {
    m.def("number_strings", number_strings);
    m.def("strings_of", strings_of);
}
