// Python's door to lattices and to decoding them.

#include <nanobind/stl/pair.h>

#include "lattice/bound.h"
#include "lattice/decode.h"

namespace {

std::pair<Array<int64_t>, Array<double>> viterbi(const BoundLattice &x, int n_threads) {
    auto path = fresh<int64_t>(x.n_positions);
    auto best = fresh<double>(x.n_sentences);
    nb::gil_scoped_release release;
    for_each_sentence<Viterbi>(x.n_sentences, n_threads,
                               [&](Viterbi &kernel, int64_t s) { best.data()[s] = kernel(x, s, path.data()); });
    return {path, best};
}

std::pair<Array<double>, Array<double>> marginals(const BoundLattice &x, int n_threads) {
    auto marginals = fresh<double>(x.n_candidates), log_z = fresh<double>(x.n_sentences);
    nb::gil_scoped_release release;
    for_each_sentence<ForwardBackward>(x.n_sentences, n_threads, [&](ForwardBackward &kernel, int64_t s) {
        log_z.data()[s] = kernel(x, s, marginals.data());
    });
    return {marginals, log_z};
}

Array<double> sequence_scores(const BoundLattice &x, In<int32_t> wanted, int n_threads) {
    require(int64_t(wanted.size()) == x.n_positions, "a label is needed for every position");
    auto scores = fresh<double>(x.n_sentences);
    nb::gil_scoped_release release;
    for_each_sentence<Nothing>(x.n_sentences, n_threads,
                               [&](Nothing, int64_t s) { scores.data()[s] = sequence_score(x, s, wanted.data()); });
    return scores;
}

std::pair<Array<int64_t>, Array<double>> nbest(const BoundLattice &x, int64_t n, int n_threads) {
    require(n > 0, "n must be at least 1");
    auto paths = fresh<int64_t>(n, x.n_positions);
    auto best = fresh<double>(n, x.n_sentences);
    nb::gil_scoped_release release;
    std::fill_n(paths.data(), paths.size(), -1);
    std::fill_n(best.data(), best.size(), kImpossible);
    for_each_sentence<NBest>(x.n_sentences, n_threads,
                             [&](NBest &kernel, int64_t s) { kernel(x, s, n, paths.data(), best.data()); });
    return {paths, best};
}

Array<double> max_marginals(const BoundLattice &x, int n_threads) {
    auto margins = fresh<double>(x.n_candidates);
    nb::gil_scoped_release release;
    for_each_sentence<MaxMarginals>(x.n_sentences, n_threads,
                                    [&](MaxMarginals &kernel, int64_t s) { kernel(x, s, margins.data()); });
    return margins;
}

// A block for every edge: their offsets, and the scores.
std::pair<Array<int64_t>, Array<double>> edge_blocks(const BoundLattice &x) {
    auto offsets = fresh<int64_t>(x.n_positions + 1);
    x.block_offsets(1, offsets.data());
    auto scores = fresh<double>(offsets.data()[x.n_positions]);
    nb::gil_scoped_release release;
    double *out = scores.data();
    for (int64_t s = 0; s < x.n_sentences; ++s)
        for (int64_t i = x.sentences[s] + 1; i < x.sentences[s + 1]; ++i)
            for (int64_t p = x.positions[i - 1]; p < x.positions[i]; ++p)
                x.edges_from(p, i, [&](int64_t, double score) { *out++ = score; });
    return {offsets, scores};
}

} // namespace

void bind_decode(nb::module_ &m) {
    nb::class_<BoundLattice>(m, "Lattice")
        .def(nb::init<In<int64_t>, In<int64_t>, In<int32_t>, In<double>, Matrix, In<int64_t>, In<double>>());
    m.def("viterbi", viterbi);
    m.def("marginals", marginals);
    m.def("sequence_scores", sequence_scores);
    m.def("nbest", nbest);
    m.def("max_marginals", max_marginals);
    m.def("edge_blocks", edge_blocks);
}
