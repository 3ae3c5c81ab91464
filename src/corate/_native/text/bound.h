// Strings as Python hands them over: code points end to end.
#pragma once

#include "bindings.h"
#include "text/vocabulary.h"

inline const char32_t *letters(Chars text) { return reinterpret_cast<const char32_t *>(text.data()); }

// Strings end to end with a mark after each, the last one's perhaps left out.
inline void require_words(Chars text, In<int64_t> first) {
    require(first.size() > 0 && first.data()[0] == 0, "offsets of words must begin with 0");
    for (size_t k = 0; k + 1 < first.size(); ++k)
        require(first.data()[k] < first.data()[k + 1], "offsets of words must increase");
    require(first.data()[first.size() - 1] <= int64_t(text.size()) + 1, "words reach beyond the text");
}

inline Text word(Chars text, In<int64_t> first, size_t k) {
    const int64_t begin = first.data()[k], end = first.data()[k + 1] - 1;
    return {letters(text) + begin, size_t(end - begin)};
}

inline nb::object string_of(Text value) {
    nb::object made =
        nb::steal(PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, value.data(), Py_ssize_t(value.size())));
    if (!made.is_valid()) throw nb::python_error();
    return made;
}
