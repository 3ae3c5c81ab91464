// What the doors share: shapes of arrays, checks, threads.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "lattice.h"

namespace nb = nanobind;
using namespace corate;

template <class T> using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr int64_t kMostPaths = 1'000'000; // also keeps n × positions far from overflow

inline void require(bool holds, const char *message) {
    if (!holds) throw std::invalid_argument(message);
}

inline Lattice view(In<int64_t> sentences, In<int64_t> positions, In<int32_t> labels, In<double> scores,
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
template <class Make, class Run> void for_each_sentence(int64_t n, int n_threads, Make make, Run run) {
    constexpr int64_t block = 16;
    std::atomic<int64_t> next{0};
    std::exception_ptr error;
    std::mutex guard;
    auto work = [&] {
        try {
            auto kernel = make();
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

template <class Kernel, class Run> void for_each_sentence(int64_t n, int n_threads, Run run) {
    for_each_sentence(n, n_threads, [] { return Kernel(); }, run);
}

void bind_chains(nb::module_ &m);
void bind_counts(nb::module_ &m);
void bind_rates(nb::module_ &m);
void bind_second_order(nb::module_ &m);
void bind_strings(nb::module_ &m);
void bind_views(nb::module_ &m);
