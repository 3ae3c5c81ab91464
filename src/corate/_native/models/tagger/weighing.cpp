// Python's door to rates under weights.

#include "models/tagger/weighing.h"

#include "bindings.h"

namespace {

// Candidates of positions with rates of contexts, and the arrays that they are in.
struct HeldRows {
    In<int64_t> positions;
    In<int32_t> labels;
    InMatrix<float> rates;
    InMatrix<int8_t> buckets;
    int64_t n_labels = 0, n_buckets = 0; // that are in use

    void check() {
        const int64_t n_positions = int64_t(positions.size()) - 1;
        require(n_positions >= 0, "offsets need at least one entry");
        require_candidates(positions, labels, n_positions, INT32_MAX);
        require(rates.shape(0) == labels.size(), "rates are needed for every candidate");
        require(int64_t(buckets.shape(0)) == n_positions && buckets.shape(1) == rates.shape(1),
                "a bucket is needed for every position");
        for (size_t c = 0; c < labels.size(); ++c) n_labels = std::max<int64_t>(n_labels, labels.data()[c] + 1);
        for (size_t b = 0; b < buckets.size(); ++b) {
            require(buckets.data()[b] >= 0, "a bucket is out of range");
            n_buckets = std::max<int64_t>(n_buckets, buckets.data()[b] + 1);
        }
    }

    template <class M> Weighing view(const M &by_bucket, const M &by_label) const {
        require(by_bucket.shape(1) == rates.shape(1) && by_label.shape(1) == rates.shape(1),
                "weights are needed for every context");
        require(int64_t(by_bucket.shape(0)) >= n_buckets && int64_t(by_label.shape(0)) >= n_labels,
                "weights are needed for every bucket and label");
        return {rates.data(),           buckets.data(), positions.data(), labels.data(), int64_t(positions.size()) - 1,
                int64_t(rates.shape(1))};
    }
};

} // namespace

void bind_weighing(nb::module_ &m) {
    nb::class_<HeldRows>(m, "Rows")
        .def("__init__",
             [](HeldRows *made, In<int64_t> positions, In<int32_t> labels, InMatrix<float> rates,
                InMatrix<int8_t> buckets) {
                 HeldRows rows{positions, labels, rates, buckets};
                 rows.check();
                 new (made) HeldRows(rows);
             })
        .def("weigh",
             [](const HeldRows &rows, Matrix by_bucket, Matrix by_label, Out<double> scores) {
                 require(scores.size() == rows.labels.size(), "`scores` needs a place for every candidate");
                 const Weighing x = rows.view(by_bucket, by_label);
                 nb::gil_scoped_release release;
                 x.weigh(by_bucket.data(), by_label.data(), scores.data());
             })
        .def("add_gradient", [](const HeldRows &rows, In<double> surplus, OutMatrix by_bucket, OutMatrix by_label) {
            require(surplus.size() == rows.labels.size(), "a surplus is needed for every candidate");
            const Weighing x = rows.view(by_bucket, by_label);
            nb::gil_scoped_release release;
            x.add_gradient(surplus.data(), by_bucket.data(), by_label.data());
        });
}
