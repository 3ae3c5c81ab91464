// Python's door to log-linear chains.

#include <nanobind/stl/pair.h>

#include "bindings.h"
#include "models/chains.h"

namespace {

struct BoundFeatures : ChainFeatures {
    BoundFeatures(int64_t n_labels, In<int64_t> state_first, In<int32_t> state_labels, In<int32_t> left,
                  In<int32_t> right, In<int64_t> pair_first, In<int32_t> pair_left, In<int32_t> pair_right)
        : ChainFeatures{state_first.data(),
                        state_labels.data(),
                        left.data(),
                        right.data(),
                        pair_first.data(),
                        pair_left.data(),
                        pair_right.data(),
                        int64_t(state_labels.size()),
                        int64_t(left.size()),
                        int64_t(pair_left.size()),
                        n_labels},
          n_attributes(int64_t(state_first.size()) - 1), n_pair_attributes(int64_t(pair_first.size()) - 1),
          kept(state_first, state_labels, left, right, pair_first, pair_left, pair_right) {
        require(n_labels > 0, "at least one label is needed");
        require_pairs(n_labels);
        require_offsets(state_first, n_state, "feature offsets must run from 0 to the number of features");
        require_offsets(pair_first, n_pairs, "feature offsets must run from 0 to the number of features");
        for (const auto &labels : {state_labels, left, right, pair_left, pair_right})
            require_ids(labels, n_labels, "a label is out of range");
        require(left.size() == right.size() && pair_left.size() == pair_right.size(), "label pairs need two labels");
        for (int64_t k = 1; k < n_transitions; ++k)
            require(std::pair(left.data()[k - 1], right.data()[k - 1]) < std::pair(left.data()[k], right.data()[k]),
                    "transitions must be sorted");
    }

    int64_t size() const { return n_state + n_transitions + n_pairs; }

    int64_t n_attributes, n_pair_attributes;
    Kept kept;
};

int64_t most(In<int32_t> ids) {
    const int32_t *end = ids.data() + ids.size();
    return ids.size() ? *std::max_element(ids.data(), end) : -1;
}

struct BoundChains : Chains {
    BoundChains(In<int64_t> sentences, In<int64_t> first, In<int32_t> attributes, In<int64_t> pair_first,
                In<int32_t> pair_attributes, In<double> times, In<int32_t> groups, InMatrix<uint8_t> allowed)
        : Chains{sentences.data(),
                 first.data(),
                 attributes.data(),
                 pair_first.data(),
                 pair_attributes.data(),
                 times.data(),
                 groups.size() ? groups.data() : nullptr,
                 allowed.data()},
          n_chains(int64_t(sentences.size()) - 1), n_positions(int64_t(first.size()) - 1),
          n_allowed(int64_t(allowed.shape(1))), most_attribute(most(attributes)),
          most_pair_attribute(most(pair_attributes)),
          kept(sentences, first, attributes, pair_first, pair_attributes, times, groups, allowed) {
        require_offsets(sentences, n_positions, "chain offsets must run from 0 to the number of positions");
        require_offsets(first, attributes.size(), "attribute offsets must run from 0 to the number of attributes");
        require_offsets(pair_first, pair_attributes.size(), "pair offsets must run from 0 to the number of pairs");
        require(pair_first.size() == first.size(), "pair attributes are needed for every position");
        require_ids(attributes, most_attribute + 1, "an attribute is out of range");
        require_ids(pair_attributes, most_pair_attribute + 1, "a pair attribute is out of range");
        require(int64_t(times.size()) == n_chains, "`times` needs a place for every chain");
        require(!this->groups || int64_t(groups.size()) == n_positions, "a group is needed for every position");
        require_ids(groups, int64_t(allowed.shape(0)), "a group is out of range");
    }

    void check(const BoundFeatures &f) const {
        require(most_attribute < f.n_attributes, "an attribute is out of range");
        require(most_pair_attribute < f.n_pair_attributes, "a pair attribute is out of range");
        require(!groups || n_allowed == f.n_labels, "it must be said of every label whether it is allowed");
    }

    int64_t n_chains, n_positions, n_allowed, most_attribute, most_pair_attribute;
    Kept kept;
};

// Blocks of chains of about equal lengths: the first chain of each. What is found in them is added up one by one, so
// that sums do not depend on the number of threads.
std::vector<int64_t> blocks_of(const BoundChains &x) {
    constexpr int64_t most_blocks = 8, positions = 2048;
    const int64_t n_blocks = std::clamp<int64_t>(x.n_positions / positions, 1, most_blocks);
    std::vector<int64_t> bounds(n_blocks + 1, x.n_chains);
    bounds[0] = 0;
    for (int64_t b = 1; b < n_blocks; ++b)
        bounds[b] = std::lower_bound(x.sentences, x.sentences + x.n_chains, x.n_positions * b / n_blocks) - x.sentences;
    return bounds;
}

// log Z of every chain, and how often each feature is expected to fire in all of them.
std::pair<Array<double>, Array<double>> chain_expectations(const BoundFeatures &f, const BoundChains &x,
                                                           In<double> weights, int n_threads) {
    x.check(f);
    require(int64_t(weights.size()) == f.size(), "a weight is needed for every feature");
    auto log_z = fresh<double>(x.n_chains), expected = fresh<double>(f.size());
    nb::gil_scoped_release release;
    const Transitions transitions(f, weights.data());
    const std::vector<int64_t> bounds = blocks_of(x);
    const int64_t n_blocks = int64_t(bounds.size()) - 1;
    std::vector<std::vector<double>> found(n_blocks);
    for_each<Nothing>(n_blocks, 1, n_threads, [&](Nothing, int64_t b) {
        found[b].assign(f.size(), 0.0);
        ChainKernel kernel(x, f, transitions, weights.data());
        for (int64_t s = bounds[b]; s < bounds[b + 1]; ++s) log_z.data()[s] = kernel(s, found[b].data());
        kernel.finish(found[b].data());
    });
    std::fill_n(expected.data(), f.size(), 0.0);
    for (const auto &part : found)
        for (int64_t k = 0; k < f.size(); ++k) expected.data()[k] += part[k];
    return {log_z, expected};
}

} // namespace

void bind_chains(nb::module_ &m) {
    nb::class_<BoundFeatures>(m, "Features")
        .def(nb::init<int64_t, In<int64_t>, In<int32_t>, In<int32_t>, In<int32_t>, In<int64_t>, In<int32_t>,
                      In<int32_t>>());
    nb::class_<BoundChains>(m, "Chains")
        .def(nb::init<In<int64_t>, In<int64_t>, In<int32_t>, In<int64_t>, In<int32_t>, In<double>, In<int32_t>,
                      InMatrix<uint8_t>>());
    m.def("chain_expectations", chain_expectations);
}
