// Python's door to the kernels: checks shapes, releases the GIL, shares sentences among threads.

#include "bindings.h"
#include "decode.h"

NB_MODULE(_kernels, m) {
    nb::set_leak_warnings(false); // a model that lives until Python ends is no leak
    bind_chains(m);
    bind_counts(m);
    bind_rates(m);
    bind_second_order(m);
    bind_strings(m);
    bind_views(m);

    m.def("viterbi", [](In<int64_t> sentences, In<int64_t> positions, In<int32_t> labels, In<double> scores,
                        Matrix pair, In<int64_t> edges, In<double> edge_scores, Out<int64_t> path,
                        Out<double> best, int n_threads) {
        const Lattice x = view(sentences, positions, labels, scores, pair, edges, edge_scores);
        require(int64_t(path.size()) == x.n_positions, "`path` needs a place for every position");
        require(int64_t(best.size()) == x.n_sentences, "`best` needs a place for every sentence");
        nb::gil_scoped_release release;
        for_each_sentence<Viterbi>(x.n_sentences, n_threads, [&](Viterbi &kernel, int64_t s) {
            best.data()[s] = kernel(x, s, path.data());
        });
    });

    m.def("marginals", [](In<int64_t> sentences, In<int64_t> positions, In<int32_t> labels, In<double> scores,
                          Matrix pair, In<int64_t> edges, In<double> edge_scores, Out<double> marginals,
                          Out<double> log_z, int n_threads) {
        const Lattice x = view(sentences, positions, labels, scores, pair, edges, edge_scores);
        require(int64_t(marginals.size()) == x.n_candidates, "`marginals` needs a place for every candidate");
        require(int64_t(log_z.size()) == x.n_sentences, "`log_z` needs a place for every sentence");
        nb::gil_scoped_release release;
        for_each_sentence<ForwardBackward>(x.n_sentences, n_threads, [&](ForwardBackward &kernel, int64_t s) {
            log_z.data()[s] = kernel(x, s, marginals.data());
        });
    });

    m.def("sequence_scores", [](In<int64_t> sentences, In<int64_t> positions, In<int32_t> labels,
                                In<double> scores, Matrix pair, In<int64_t> edges, In<double> edge_scores,
                                In<int32_t> wanted, Out<double> score, int n_threads) {
        const Lattice x = view(sentences, positions, labels, scores, pair, edges, edge_scores);
        require(int64_t(wanted.size()) == x.n_positions, "a label is needed for every position");
        require(int64_t(score.size()) == x.n_sentences, "`score` needs a place for every sentence");
        nb::gil_scoped_release release;
        struct None {};
        for_each_sentence<None>(x.n_sentences, n_threads, [&](None &, int64_t s) {
            score.data()[s] = sequence_score(x, s, wanted.data());
        });
    });

    m.def("nbest", [](In<int64_t> sentences, In<int64_t> positions, In<int32_t> labels, In<double> scores,
                      Matrix pair, In<int64_t> edges, In<double> edge_scores, Out<int64_t> paths,
                      Out<double> best, int64_t n, int n_threads) {
        const Lattice x = view(sentences, positions, labels, scores, pair, edges, edge_scores);
        require(n > 0 && n <= kMostPaths, "n must be between 1 and a million");
        require(int64_t(paths.size()) == n * x.n_positions, "`paths` needs n places for every position");
        require(int64_t(best.size()) == n * x.n_sentences, "`best` needs n places for every sentence");
        nb::gil_scoped_release release;
        for_each_sentence<NBest>(x.n_sentences, n_threads, [&](NBest &kernel, int64_t s) {
            kernel(x, s, n, paths.data(), best.data());
        });
    });
}
