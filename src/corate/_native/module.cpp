// Python's door to the kernels: checks shapes, releases the GIL, shares sentences among threads.

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "decode.h"

namespace nb = nanobind;
using namespace corate;

template <class T> using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr int64_t kMostPaths = 1'000'000; // also keeps n × positions far from overflow

static void require(bool holds, const char *message) {
    if (!holds) throw std::invalid_argument(message);
}

static Lattice view(In<int64_t> sentences, In<int64_t> positions, In<int32_t> labels, In<double> scores,
                    Matrix pair, In<int64_t> edges, In<double> edge_scores) {
    require(sentences.size() > 0 && positions.size() > 0, "offsets need at least one entry");
    require(labels.size() == scores.size(), "as many labels as scores are needed");
    require(edges.size() == positions.size(), "as many edge offsets as position offsets are needed");
    require(pair.shape(0) == pair.shape(1), "the pair scores must be a square matrix");
    Lattice x{sentences.data(),
              positions.data(),
              labels.data(),
              scores.data(),
              pair.data(),
              edges.data(),
              edge_scores.data(),
              int64_t(sentences.size()) - 1,
              int64_t(positions.size()) - 1,
              int64_t(labels.size()),
              int64_t(pair.shape(0)),
              int64_t(edge_scores.size())};
    x.check();
    return x;
}

// Each thread takes the next block of sentences. A sentence's result depends on the sentence alone.
template <class Kernel, class Run> static void for_each_sentence(int64_t n, int n_threads, Run run) {
    constexpr int64_t block = 16;
    std::atomic<int64_t> next{0};
    std::exception_ptr error;
    std::mutex guard;
    auto work = [&] {
        try {
            Kernel kernel;
            for (int64_t begin; (begin = next.fetch_add(block)) < n;)
                for (int64_t s = begin; s < std::min(n, begin + block); ++s) run(kernel, s);
        } catch (...) {
            std::lock_guard lock(guard);
            error = std::current_exception();
        }
    };
    std::vector<std::thread> threads;
    try {
        for (int64_t t = 1; t < std::min<int64_t>(n_threads, (n + block - 1) / block); ++t)
            threads.emplace_back(work);
    } catch (const std::system_error &) {
        // No more threads to be had: those that there are do the work.
    }
    work();
    for (auto &thread : threads) thread.join();
    if (error) std::rethrow_exception(error);
}

NB_MODULE(_kernels, m) {
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
