// What the doors share: arrays that come in and go out, and checks. Objects are checked when they are made.
#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "lattice/lattice.h"
#include "threads.h"

namespace nb = nanobind;
using namespace corate;

template <class T> using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using InMatrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Matrix = InMatrix<double>;
using Chars = In<uint32_t>; // code points

inline void require(bool holds, const char *message) {
    if (!holds) throw std::invalid_argument(message);
}

inline void require_offsets(In<int64_t> offsets, int64_t last, const char *message) {
    require(offsets.size() > 0 && offsets.data()[0] == 0 && offsets.data()[offsets.size() - 1] == last, message);
    for (size_t k = 1; k < offsets.size(); ++k) require(offsets.data()[k - 1] <= offsets.data()[k], message);
}

// The ids are 0 … n − 1.
inline void require_ids(In<int32_t> ids, int64_t n, const char *message) {
    for (size_t k = 0; k < ids.size(); ++k) require(ids.data()[k] >= 0 && ids.data()[k] < n, message);
}

// The number of a pair of labels, y · n + y′, is to fit into an id.
inline void require_pairs(int64_t n_labels) {
    require(n_labels >= 0 && n_labels <= INT32_MAX && n_labels * n_labels <= INT32_MAX, "there are too many labels");
}

// Candidates of positions: offsets by position, and labels.
inline void require_candidates(In<int64_t> positions, In<int32_t> labels, int64_t n_positions, int64_t n_labels) {
    require(int64_t(positions.size()) == n_positions + 1 && positions.data()[0] == 0,
            "a position is needed for every token");
    for (int64_t i = 0; i < n_positions; ++i)
        require(positions.data()[i] <= positions.data()[i + 1], "position offsets must not decrease");
    require(positions.data()[n_positions] == int64_t(labels.size()), "position offsets must end with the candidates");
    for (size_t c = 0; c < labels.size(); ++c)
        require(labels.data()[c] >= 0 && labels.data()[c] < n_labels, "a candidate's label is out of range");
}

// Bits that ids have in a key.
inline void require_bits(const std::vector<int32_t> &bits) {
    int64_t sum = 0;
    for (int32_t b : bits) {
        require(b > 0 && b < 32, "a field has 1 to 31 bits");
        sum += b;
    }
    require(sum <= 63, "a key has too many bits");
}

// The arrays that an object points into: they live as long as it does.
class Kept {
  public:
    template <class... Arrays> explicit Kept(const Arrays &...arrays) : arrays_{nb::ndarray<>(arrays.handle())...} {}

  private:
    std::vector<nb::ndarray<>> arrays_;
};

// A fresh array of NumPy's, for a kernel to fill. (NumPy asks for large pages, which `new` does not.)
template <class T> using Array = nb::ndarray<nb::numpy, T, nb::c_contig>;

template <class T, class Shape> Array<T> fresh(const Shape &shape) {
    static std::pair<nb::object, nb::object> *numpy = nullptr; // for ever: it cannot be let go after Python's end
    if (!numpy) { // made while the GIL is held; a guard of C++ could be waited for by who holds the GIL
        const nb::module_ m = nb::module_::import_("numpy");
        const char kind = std::is_floating_point_v<T> ? 'f' : std::is_same_v<T, bool> ? 'b' : 'i';
        const std::string name = kind + std::to_string(sizeof(T));
        numpy = new std::pair<nb::object, nb::object>(m.attr("empty"), m.attr("dtype")(name.c_str()));
    }
    return nb::cast<Array<T>>(numpy->first(shape, numpy->second));
}
template <class T> Array<T> fresh(int64_t n, int64_t m) { return fresh<T>(nb::make_tuple(n, m)); }
template <class T> Array<T> fresh(const std::vector<T> &values) {
    Array<T> made = fresh<T>(int64_t(values.size()));
    std::copy(values.begin(), values.end(), made.data());
    return made;
}

void bind_chains(nb::module_ &m);
void bind_decode(nb::module_ &m);
void bind_forest(nb::module_ &m);
void bind_packing(nb::module_ &m);
void bind_rates(nb::module_ &m);
void bind_weighing(nb::module_ &m);
void bind_counts(nb::module_ &m);
void bind_second_order(nb::module_ &m);
void bind_strings(nb::module_ &m);
void bind_views(nb::module_ &m);
void bind_cells(nb::module_ &m);
