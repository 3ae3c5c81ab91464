// Python's door to strings in lists of lists: for these the GIL is kept.

#include "bindings.h"
#include "strings.h"

void bind_strings(nb::module_ &m) {
    // The distinct strings of all lists, and the number of each string; None if one is no plain string, or a part no
    // list or tuple of as many as there is room for.
    m.def("number_strings", [](nb::list parts, Out<int32_t> codes) -> nb::object {
        constexpr Py_ssize_t ahead = 8; // strings are somewhere in memory: they are sent for before their turn
        Numbers number;
        size_t t = 0;
        for (nb::handle part : parts) {
            PyObject *items = part.ptr();
            if (!PyList_CheckExact(items) && !PyTuple_CheckExact(items)) return nb::none();
            const Py_ssize_t n = PySequence_Fast_GET_SIZE(items);
            PyObject **strings = PySequence_Fast_ITEMS(items);
            if (size_t(n) > codes.size() - t) return nb::none();
            for (Py_ssize_t i = 0; i < n; ++i) {
                if (i + ahead < n) __builtin_prefetch(strings[i + ahead]);
                if (!PyUnicode_CheckExact(strings[i])) return nb::none();
                codes.data()[t++] = number(strings[i]);
            }
        }
        if (t != codes.size()) return nb::none();
        return std::move(number.values);
    });

    // values[codes[t]] of the tokens t of each sentence.
    m.def("strings_of", [](nb::tuple values, In<int32_t> codes, In<int64_t> offsets) {
        const int64_t n_tokens = int64_t(codes.size()), n_values = int64_t(nb::len(values));
        require(offsets.size() > 0 && offsets.data()[0] == 0 && offsets.data()[offsets.size() - 1] == n_tokens, "offsets must run from 0 to the number of tokens");
        for (int64_t t = 0; t < n_tokens; ++t)
            require(codes.data()[t] >= 0 && codes.data()[t] < n_values, "a code is out of range");
        for (size_t s = 0; s + 1 < offsets.size(); ++s)
            require(offsets.data()[s] <= offsets.data()[s + 1], "offsets must not decrease");
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
    });
}
