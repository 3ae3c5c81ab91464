// Python's door to label triples.

#include "lattice/second_order.h"
#include "lattice/bound.h"
#include "lattice/log_posteriors.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

namespace {

struct BoundTriples : Triples {
    BoundTriples(const BoundLattice &lattice, In<int64_t> first, In<double> scores)
        : Triples{first.data(), scores.data(), int64_t(scores.size())}, x(lattice), kept(first, scores) {
        require(int64_t(first.size()) == x.n_positions + 1, "triple offsets are needed for every position");
        check(x);
    }

    BoundLattice x;
    Kept kept;
};

struct BoundTripleRates : TripleRates {
    BoundTripleRates(int64_t n, In<int64_t> keys, In<double> unseen, In<int64_t> first_row, In<int32_t> row_labels,
                     In<double> row_rates)
        : TripleRates{n, {}, {}} {
        require_pairs(n);
        require(first_row.size() == keys.size() + 1 && unseen.size() == keys.size(), "rows are needed for every pair");
        require(row_rates.size() == row_labels.size(), "a rate is needed for every row");
        require_offsets(first_row, int64_t(row_labels.size()), "row offsets must run from 0 to the number of rows");
        require_ids(row_labels, n, "a label is out of range");
        for (size_t k = 0; k < keys.size(); ++k) {
            const int64_t key = keys.data()[k], first = first_row.data()[k];
            require(key >= (k ? keys.data()[k - 1] + 1 : 0) && key < n * n, "pairs must ascend");
            pairs.push_back({key, first, first_row.data()[k + 1] - first, unseen.data()[k]});
        }
        for (size_t r = 0; r < row_labels.size(); ++r) rows.push_back({row_rates.data()[r], row_labels.data()[r]});
        finish();
    }
};

// The rates of every triple of candidates.
Array<double> triple_rates(const BoundTripleRates &rates, const BoundLattice &x, int n_threads) {
    require(x.n_labels <= rates.n_labels, "a candidate's label is out of range");
    std::vector<int64_t> first(x.n_positions + 1);
    x.block_offsets(2, first.data());
    auto out = fresh<double>(first.back());
    nb::gil_scoped_release release;
    for_each_sentence<SentenceTriples>(x.n_sentences, n_threads, [&](SentenceTriples &kernel, int64_t s) {
        kernel(rates, x, s, out.data() + first[x.sentences[s]]);
    });
    return out;
}

std::pair<Array<int64_t>, Array<double>> viterbi2(const BoundTriples &triples, int n_threads) {
    const Lattice &x = triples.x;
    auto path = fresh<int64_t>(x.n_positions);
    auto best = fresh<double>(x.n_sentences);
    nb::gil_scoped_release release;
    for_each_sentence<Viterbi2>(x.n_sentences, n_threads, [&](Viterbi2 &kernel, int64_t s) {
        best.data()[s] = kernel(x, triples, s, path.data());
    });
    return {path, best};
}

using Found = std::tuple<Array<double>, Array<double>, Array<double>, Array<double>>;

// The quick one; and for sentences whose numbers leave their range, the one in logarithms.
struct EitherForwardBackward2 {
    ForwardBackward2 quick;
    LogForwardBackward2 in_logs;
};

// P of candidates, log Z, P of edges and, if they are wanted, of triples.
Found posteriors2(const BoundTriples &triples, bool want_triples, int n_threads) {
    const Lattice &x = triples.x;
    auto candidates = fresh<double>(x.n_candidates), log_z = fresh<double>(x.n_sentences);
    auto edges = fresh<double>(x.n_edge_scores), thirds = fresh<double>(want_triples ? triples.n_scores : 0);
    const Posteriors out{candidates.data(), edges.data(), want_triples ? thirds.data() : nullptr};
    nb::gil_scoped_release release;
    for_each_sentence<EitherForwardBackward2>(x.n_sentences, n_threads, [&](EitherForwardBackward2 &kernel, int64_t s) {
        double &z = log_z.data()[s];
        if (!kernel.quick(x, triples, s, out, z)) kernel.in_logs(x, triples, s, out, z);
    });
    return Found{candidates, log_z, edges, thirds};
}

} // namespace

void bind_second_order(nb::module_ &m) {
    nb::class_<BoundTriples>(m, "Triples").def(nb::init<const BoundLattice &, In<int64_t>, In<double>>());
    nb::class_<BoundTripleRates>(m, "TripleRates")
        .def(nb::init<int64_t, In<int64_t>, In<double>, In<int64_t>, In<int32_t>, In<double>>())
        .def("__call__", triple_rates);
    m.def("viterbi2", viterbi2);
    m.def("posteriors2", posteriors2);
}
