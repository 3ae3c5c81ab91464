// Python's door to packed keys.

#include <nanobind/stl/vector.h>

#include "bindings.h"

using OutIds = nb::ndarray<int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Several ids in one integer, the first in its highest bits; and back. arrays.py has the twins.
void bind_packing(nb::module_ &m) {
    m.def("pack", [](const std::vector<In<int32_t>> &columns, const std::vector<int32_t> &bits, Out<int64_t> keys) {
        require(!columns.empty() && columns.size() == bits.size(), "bits are needed for every column");
        require_bits(bits);
        for (const auto &column : columns) require(column.size() == keys.size(), "`keys` needs a place for every row");
        constexpr size_t block = 2048; // of rows, so that keys stay in the cache from column to column
        for (size_t begin = 0; begin < keys.size(); begin += block) {
            const size_t end = std::min(keys.size(), begin + block);
            std::fill(keys.data() + begin, keys.data() + end, 0);
            for (size_t k = 0; k < columns.size(); ++k)
                for (size_t i = begin; i < end; ++i)
                    keys.data()[i] = (keys.data()[i] << bits[k]) | columns[k].data()[i];
        }
    });
    m.def("unpack", [](In<int64_t> keys, const std::vector<int32_t> &bits, OutIds ids) {
        require(ids.shape(0) == keys.size() && ids.shape(1) == bits.size(), "`ids` needs a place for every field");
        require_bits(bits);
        for (size_t i = 0; i < keys.size(); ++i) {
            int64_t key = keys.data()[i];
            for (size_t k = bits.size(); k-- > 0; key >>= bits[k])
                ids.data()[i * bits.size() + k] = int32_t(key & ((int64_t(1) << bits[k]) - 1));
        }
    });
}
