// Python's door to the kernels: checks shapes, releases the GIL, shares sentences among threads.

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "decode.h"
#include "rates.h"

namespace nb = nanobind;
using namespace corate;

template <class T> using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
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

static Weighing weighing(In<double> rates, In<int8_t> buckets, In<int64_t> positions, In<int32_t> labels,
                         int64_t n_buckets, int64_t n_labels, int64_t n_contexts) {
    require(positions.size() > 0 && positions.data()[0] == 0, "position offsets must begin with 0");
    const Weighing x{rates.data(),     buckets.data(), positions.data(),
                     labels.data(), int64_t(positions.size()) - 1, n_contexts};
    require(positions.data()[x.n_positions] == int64_t(labels.size()), "position offsets must end with the candidates");
    for (int64_t i = 0; i < x.n_positions; ++i)
        require(positions.data()[i] <= positions.data()[i + 1], "position offsets must not decrease");
    require(int64_t(rates.size()) == int64_t(labels.size()) * n_contexts, "a rate is needed for every candidate");
    require(int64_t(buckets.size()) == x.n_positions * n_contexts, "a bucket is needed for every position");
    for (size_t i = 0; i < buckets.size(); ++i)
        require(buckets.data()[i] >= 0 && buckets.data()[i] < n_buckets, "a bucket is out of range");
    for (size_t c = 0; c < labels.size(); ++c)
        require(labels.data()[c] >= 0 && labels.data()[c] < n_labels, "a candidate's label is out of range");
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
    m.def("log_rates", [](In<int64_t> first_key, In<int64_t> keys, In<int64_t> first_row, In<int32_t> row_labels,
                          In<int64_t> row_counts, In<int64_t> totals, In<int64_t> positions, In<int32_t> labels, In<int32_t> parents,
                          In<double> prior, In<double> log_prior, double alpha, In<int64_t> queries,
                          Out<double> rates, Out<int8_t> buckets, int n_threads) {
        require(first_key.size() > 0 && first_row.size() == keys.size() + 1, "table offsets are missing");
        require(row_labels.size() == row_counts.size(), "as many labels as counts are needed");
        require(totals.size() == keys.size(), "a total is needed for every key");
        const Tables tables{first_key.data(),  keys.data(),
                            first_row.data(),  row_labels.data(),
                            row_counts.data(), totals.data(),
                            int64_t(first_key.size()) - 1, int64_t(keys.size()), int64_t(row_labels.size())};
        tables.check();
        require(positions.size() > 0 && positions.data()[0] == 0, "position offsets must begin with 0");
        const int64_t n_positions = int64_t(positions.size()) - 1, n_candidates = int64_t(labels.size());
        for (int64_t i = 0; i < n_positions; ++i)
            require(positions.data()[i] <= positions.data()[i + 1], "position offsets must not decrease");
        require(positions.data()[n_positions] == n_candidates, "position offsets must end with the candidates");
        const int64_t n_labels = int64_t(prior.size());
        require(log_prior.size() == prior.size(), "a log prior is needed for every prior");
        for (int64_t c = 0; c < n_candidates; ++c)
            require(labels.data()[c] >= 0 && labels.data()[c] < n_labels, "a candidate's label is out of range");
        require(int64_t(parents.size()) == tables.n_tables, "a parent is needed for every table");
        for (int64_t t = 0; t < tables.n_tables; ++t)
            require(parents.data()[t] < t, "a table's parent must come before it");
        require(int64_t(queries.size()) == tables.n_tables * n_positions, "a query is needed for every position");
        require(int64_t(buckets.size()) == tables.n_tables * n_positions, "`buckets` has another size than the queries");
        require(int64_t(rates.size()) == tables.n_tables * n_candidates, "`rates` needs a place for every candidate");
        nb::gil_scoped_release release;
        // All look-ups of one table together: the middle of its keys stays in the cache.
        std::vector<int64_t> places(queries.size());
        struct None {};
        for_each_sentence<None>(tables.n_tables, n_threads, [&](None &, int64_t t) {
            for (int64_t i = t * n_positions; i < (t + 1) * n_positions; ++i)
                places[i] = queries.data()[i] < 0 ? -1 : tables.find(t, queries.data()[i]);
        });
        for_each_sentence<LogRates>(n_positions, n_threads, [&](LogRates &kernel, int64_t i) {
            kernel(tables, positions.data(), labels.data(), n_positions, parents.data(), prior.data(),
                   log_prior.data(), alpha, places.data(), i, rates.data(), buckets.data());
        });
    });

    m.def("weigh", [](In<double> rates, In<int8_t> buckets, In<int64_t> positions, In<int32_t> labels,
                      Matrix by_bucket, Matrix by_label, Out<double> scores) {
        require(by_bucket.shape(1) == by_label.shape(1), "weights of as many contexts are needed");
        const Weighing x = weighing(rates, buckets, positions, labels, int64_t(by_bucket.shape(0)),
                                    int64_t(by_label.shape(0)), int64_t(by_label.shape(1)));
        require(scores.size() == labels.size(), "`scores` needs a place for every candidate");
        nb::gil_scoped_release release;
        x.weigh(by_bucket.data(), by_label.data(), scores.data());
    });

    m.def("unweigh", [](In<double> rates, In<int8_t> buckets, In<int64_t> positions, In<int32_t> labels,
                        In<double> surplus, OutMatrix by_bucket, OutMatrix by_label) {
        require(by_bucket.shape(1) == by_label.shape(1), "weights of as many contexts are needed");
        const Weighing x = weighing(rates, buckets, positions, labels, int64_t(by_bucket.shape(0)),
                                    int64_t(by_label.shape(0)), int64_t(by_label.shape(1)));
        require(surplus.size() == labels.size(), "a surplus is needed for every candidate");
        nb::gil_scoped_release release;
        x.unweigh(surplus.data(), by_bucket.data(), by_label.data());
    });

    m.def("edge_expectation", [](In<int64_t> sentences, In<int64_t> positions, In<int32_t> labels,
                                 In<double> scores, Matrix pair, In<int64_t> edges, In<double> edge_scores,
                                 Matrix values, Out<double> marginals, Out<double> log_z, Out<double> expected,
                                 int n_threads) {
        const Lattice x = view(sentences, positions, labels, scores, pair, edges, edge_scores);
        require(int64_t(values.shape(0)) == x.n_labels && values.shape(1) == values.shape(0),
                "a value is needed for every pair of labels");
        require(int64_t(marginals.size()) == x.n_candidates, "`marginals` needs a place for every candidate");
        require(int64_t(log_z.size()) == x.n_sentences, "`log_z` needs a place for every sentence");
        require(int64_t(expected.size()) == x.n_sentences, "`expected` needs a place for every sentence");
        nb::gil_scoped_release release;
        std::vector<double> exp_pair(x.n_edge_scores == 0 ? size_t(x.n_labels * x.n_labels) : 0);
        std::transform(x.pair, x.pair + exp_pair.size(), exp_pair.begin(), [](double v) { return std::exp(v); });
        const auto in_range = [](double v) {
            return v > LinearForwardBackward::kSmallest && v < 1 / LinearForwardBackward::kSmallest;
        };
        if (!std::all_of(exp_pair.begin(), exp_pair.end(), in_range)) exp_pair.clear();
        struct Kernels {
            LinearForwardBackward quick;
            ForwardBackward exact;
        };
        for_each_sentence<Kernels>(x.n_sentences, n_threads, [&](Kernels &kernel, int64_t s) {
            double &z = log_z.data()[s], &e = expected.data()[s];
            if (exp_pair.empty() ||
                !kernel.quick(x, s, exp_pair.data(), values.data(), marginals.data(), z, e)) {
                z = kernel.exact(x, s, marginals.data());
                e = kernel.exact.expectation(x, s, values.data());
            }
        });
    });

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
