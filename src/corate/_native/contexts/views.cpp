// Python's door to views of words.

#include <map>
#include <string>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "contexts/views.h"
#include "text/bound.h"

namespace {

struct BoundSpelling : Spelling {
    BoundSpelling(Chars text, Chars lower, Chars kinds, In<int64_t> first)
        : Spelling{letters(text), letters(lower), letters(kinds), first.data(), int64_t(first.size()) - 1},
          kept(text, lower, kinds, first) {
        require_words(text, first);
        require(text.size() == lower.size() && text.size() == kinds.size(), "the spellings must have equal lengths");
    }

    Kept kept;
};

View view_of(const std::string &name, size_t length, size_t head) {
    using Kind = View::Kind;
    static const std::map<std::string, Kind> kinds{{"word", Kind::word},     {"lower", Kind::lower},
                                                   {"prefix", Kind::prefix}, {"suffix", Kind::suffix},
                                                   {"tail", Kind::tail},     {"shape", Kind::shape}};
    const auto found = kinds.find(name);
    require(found != kinds.end(), "no such view");
    return {found->second, length, head};
}

// The id of each word's view, −1 where the vocabulary does not have it.
Array<int32_t> view_ids(const Vocabulary &values, const BoundSpelling &words, const View &view) {
    auto ids = fresh<int32_t>(words.n_words);
    nb::gil_scoped_release release;
    values.find(
        words.n_words, [&](int64_t k, std::vector<char32_t> &room) { return words.view(view, k, room); }, ids.data());
    return ids;
}

// The distinct views of words, sorted, and which one each word has.
std::pair<nb::list, Array<int32_t>> distinct_views(const BoundSpelling &words, const View &view) {
    auto ids = fresh<int32_t>(words.n_words);
    Vocabulary values;
    std::vector<int32_t> order;
    {
        nb::gil_scoped_release release;
        std::vector<char32_t> room;
        for (int64_t k = 0; k < words.n_words; ++k) ids.data()[k] = values.insert(words.view(view, k, room));
        order = values.sorted();
        std::vector<int32_t> rank(order.size());
        for (size_t r = 0; r < order.size(); ++r) rank[order[r]] = int32_t(r);
        for (int64_t k = 0; k < words.n_words; ++k) ids.data()[k] = rank[ids.data()[k]];
    }
    nb::list sorted;
    for (const int32_t id : order) sorted.append(string_of(values.value(id)));
    return {sorted, ids};
}

} // namespace

void bind_views(nb::module_ &m) {
    nb::class_<View>(m, "View").def("__init__", [](View *made, const std::string &name, size_t length, size_t head) {
        new (made) View(view_of(name, length, head));
    });
    nb::class_<BoundSpelling>(m, "Spelling").def(nb::init<Chars, Chars, Chars, In<int64_t>>());
    m.def("view_ids", view_ids);
    m.def("distinct_views", distinct_views);
}
