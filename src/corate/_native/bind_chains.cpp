// Python's door to log-linear chains.

#include "bindings.h"
#include "chains.h"

namespace {

// Blocks of chains are added up one by one, so that sums do not depend on the number of threads.
constexpr int64_t kMostBlocks = 8, kBlockPositions = 2048;

void check_offsets(In<int64_t> offsets, int64_t last, const char *message) {
    require(offsets.size() > 0 && offsets.data()[0] == 0 && offsets.data()[offsets.size() - 1] == last, message);
    for (size_t k = 1; k < offsets.size(); ++k) require(offsets.data()[k - 1] <= offsets.data()[k], message);
}

void check_ids(In<int32_t> ids, int64_t n, const char *message) {
    for (size_t k = 0; k < ids.size(); ++k) require(ids.data()[k] >= 0 && ids.data()[k] < n, message);
}

} // namespace

void bind_chains(nb::module_ &m) {
    m.def("chain_expectations",
          [](In<int64_t> sentences, In<int64_t> first, In<int32_t> attributes, In<int64_t> pair_first,
             In<int32_t> pair_attributes, In<double> times, In<int32_t> groups, In<uint8_t> allowed,
             In<int64_t> state_first, In<int32_t> state_labels, In<int32_t> left, In<int32_t> right,
             In<int64_t> feature_pair_first, In<int32_t> pair_left, In<int32_t> pair_right, int64_t n_labels,
             In<double> weights, Out<double> log_z, Out<double> expected, int n_threads) {
        const int64_t n_sentences = int64_t(sentences.size()) - 1, n_positions = int64_t(first.size()) - 1;
        check_offsets(sentences, n_positions, "chain offsets must run from 0 to the number of positions");
        check_offsets(first, attributes.size(), "attribute offsets must run from 0 to the number of attributes");
        check_offsets(pair_first, pair_attributes.size(), "pair offsets must run from 0 to the number of pairs");
        check_offsets(state_first, state_labels.size(), "feature offsets must run from 0 to the number of features");
        check_offsets(feature_pair_first, pair_left.size(), "feature offsets must run from 0 to their number");
        require(pair_first.size() == first.size(), "pair attributes are needed for every position");
        require(n_labels > 0 && n_labels < 46341, "the number of labels is out of range");
        check_ids(attributes, int64_t(state_first.size()) - 1, "an attribute is out of range");
        check_ids(pair_attributes, int64_t(feature_pair_first.size()) - 1, "a pair attribute is out of range");
        for (const auto &labels : {state_labels, left, right, pair_left, pair_right})
            check_ids(labels, n_labels, "a label is out of range");
        require(left.size() == right.size() && pair_left.size() == pair_right.size(), "label pairs need two labels");
        for (size_t k = 1; k < left.size(); ++k)
            require(left.data()[k - 1] < left.data()[k] ||
                        (left.data()[k - 1] == left.data()[k] && right.data()[k - 1] < right.data()[k]),
                    "transitions must be sorted");
        const int64_t n_features = state_labels.size() + left.size() + pair_left.size();
        require(int64_t(weights.size()) == n_features && int64_t(expected.size()) == n_features,
                "a weight and a place are needed for every feature");
        require(int64_t(times.size()) == n_sentences && int64_t(log_z.size()) == n_sentences,
                "`times` and `log_z` need a place for every chain");
        require(groups.size() == 0 || int64_t(groups.size()) == n_positions, "a group is needed for every position");
        check_ids(groups, int64_t(allowed.size()) / n_labels, "a group is out of range");

        const ChainFeatures f{state_first.data(), state_labels.data(), left.data(), right.data(),
                              feature_pair_first.data(), pair_left.data(), pair_right.data(),
                              int64_t(state_labels.size()), int64_t(left.size()), int64_t(pair_left.size()), n_labels};
        const Chains x{sentences.data(), first.data(), attributes.data(), pair_first.data(), pair_attributes.data(),
                       times.data(), groups.size() ? groups.data() : nullptr, allowed.data()};
        nb::gil_scoped_release release;
        const Transitions transitions(f, weights.data());
        const int64_t n_blocks = std::clamp<int64_t>(n_positions / kBlockPositions, 1, kMostBlocks);
        std::vector<int64_t> bounds(n_blocks + 1, n_sentences);
        for (int64_t b = 0; b < n_blocks; ++b)
            bounds[b] = std::lower_bound(x.sentences, x.sentences + n_sentences, n_positions * b / n_blocks) - x.sentences;
        bounds[0] = 0;
        std::vector<std::vector<double>> found(n_blocks);
        std::atomic<int64_t> next{0};
        std::exception_ptr error;
        std::mutex guard;
        auto work = [&] {
            try {
                for (int64_t b; (b = next.fetch_add(1)) < n_blocks;) {
                    found[b].assign(n_features, 0.0);
                    ChainKernel kernel(x, f, transitions, weights.data());
                    for (int64_t s = bounds[b]; s < bounds[b + 1]; ++s) log_z.data()[s] = kernel(s, found[b].data());
                    kernel.finish(found[b].data());
                }
            } catch (...) {
                std::lock_guard lock(guard);
                error = std::current_exception();
            }
        };
        std::vector<std::thread> threads;
        try {
            for (int64_t t = 1; t < std::min<int64_t>(n_threads, n_blocks); ++t) threads.emplace_back(work);
        } catch (const std::system_error &) {
            // No more threads to be had: those that there are do the work.
        }
        work();
        for (auto &thread : threads) thread.join();
        if (error) std::rethrow_exception(error);
        double *out = expected.data();
        std::fill(out, out + n_features, 0.0);
        for (const auto &part : found)
            for (int64_t k = 0; k < n_features; ++k) out[k] += part[k];
    });
}
