// What threads.h promises; test_threads.py compiles and runs it.

#include <sys/resource.h>

#include <cstdio>
#include <stdexcept>
#include <string>

#include "threads.h"

using namespace corate;

// Every k is done once, whatever the number of threads.
static bool all_done(int64_t n, int64_t block, int n_threads) {
    std::vector<int> done(n, 0);
    for_each<Nothing>(n, block, n_threads, [&](Nothing, int64_t k) { ++done[k]; });
    return std::all_of(done.begin(), done.end(), [](int times) { return times == 1; });
}

// An exception of any thread is thrown by the caller, and once.
static bool throws(int64_t where, int n_threads) {
    try {
        for_each<Nothing>(1000, 1, n_threads, [&](Nothing, int64_t k) {
            if (k >= where) throw std::out_of_range("of " + std::to_string(where));
        });
    } catch (const std::out_of_range &error) {
        return error.what() == "of " + std::to_string(where);
    }
    return false;
}

// A worker that cannot be made is an error as any other.
struct Unmade {
    Unmade() { throw std::bad_alloc(); }
};

static bool throws_unmade(int n_threads) {
    try {
        for_each<Unmade>(100, 1, n_threads, [](Unmade &, int64_t) {});
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

// No memory for the stacks of threads, or for few of them.
static bool few_threads() {
    const rlimit little{rlim_t(64) << 20, rlim_t(64) << 20};
    return setrlimit(RLIMIT_AS, &little) == 0 && all_done(10'000, 1, 1000);
}

int main() {
    bool holds = true;
    auto check = [&](bool passed, const char *what) {
        if (!passed) std::printf("%s\n", what), holds = false;
    };
    for (int n_threads : {-1, 0, 1, 2, 7}) {
        for (int64_t n : {0, 1, 15, 16, 17, 1000}) check(all_done(n, 16, n_threads), "not all was done, or twice");
        for (int64_t where : {0, 1, 999}) check(throws(where, n_threads), "an exception was lost");
        check(throws_unmade(n_threads), "an exception of a worker was lost");
    }
    check(few_threads(), "without threads the work was not done");
    return holds ? 0 : 1;
}
