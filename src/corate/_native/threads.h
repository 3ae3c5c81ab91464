// The one place that starts threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace corate {

// Calls run(worker, k) for k = 0 … n − 1. Each thread makes a worker of its own and takes the next block of some k's;
// what is done for a k must depend on k alone. The first exception ends the work and is thrown again here.
template <class Make, class Run> void for_each(int64_t n, int64_t block, int n_threads, Make make, Run run) {
    std::atomic<int64_t> next{0};
    std::exception_ptr error;
    std::mutex guard;
    auto work = [&] {
        try {
            auto worker = make();
            for (int64_t begin; (begin = next.fetch_add(block)) < n;)
                for (int64_t k = begin; k < std::min(n, begin + block); ++k) run(worker, k);
        } catch (...) {
            std::lock_guard lock(guard);
            if (!error) error = std::current_exception();
            next = n;
        }
    };
    {
        std::vector<std::jthread> others; // who are waited for at the end of the scope
        try {
            for (int64_t t = 1; t < std::min<int64_t>(n_threads, (n + block - 1) / block); ++t)
                others.emplace_back(work);
        } catch (const std::system_error &) {
            // No more threads to be had: those that there are do the work.
        }
        work();
    }
    if (error) std::rethrow_exception(error);
}

template <class Worker, class Run> void for_each(int64_t n, int64_t block, int n_threads, Run run) {
    for_each(n, block, n_threads, [] { return Worker(); }, run);
}

constexpr int64_t kSentences = 16; // that a thread takes at a time

template <class Make, class Run> void for_each_sentence(int64_t n, int n_threads, Make make, Run run) {
    for_each(n, kSentences, n_threads, make, run);
}

template <class Worker, class Run> void for_each_sentence(int64_t n, int n_threads, Run run) {
    for_each<Worker>(n, kSentences, n_threads, run);
}

struct Nothing {}; // of a worker that keeps nothing from one k to the next

} // namespace corate
