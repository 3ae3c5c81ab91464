// Python's door to labels on trees.

#include "lattice/forest.h"
#include "bindings.h"

#include <nanobind/stl/tuple.h>

namespace {

using Found = std::tuple<Array<double>, Array<double>, Array<double>, Array<double>, Array<int64_t>>;

Found forest(In<int64_t> sentences, In<int64_t> positions, In<int64_t> left, In<double> scores, In<int64_t> edges,
             In<double> edge_scores, In<int64_t> triples, In<double> triple_scores, bool maximum) {
    require(sentences.size() > 0 && positions.size() > 0, "offsets need at least one entry");
    require(edges.size() == positions.size() && triples.size() == positions.size() &&
                left.size() + 1 == positions.size(),
            "offsets and parents are needed for every position");
    const Forest x{sentences.data(),
                   positions.data(),
                   left.data(),
                   scores.data(),
                   edges.data(),
                   edge_scores.data(),
                   triples.data(),
                   triple_scores.data(),
                   int64_t(sentences.size()) - 1,
                   int64_t(positions.size()) - 1,
                   int64_t(scores.size()),
                   int64_t(edge_scores.size()),
                   int64_t(triple_scores.size())};
    auto candidates = fresh<double>(x.n_candidates), log_z = fresh<double>(x.n_sentences);
    auto pairs = fresh<double>(x.n_edges), thirds = fresh<double>(x.n_triples);
    auto path = fresh<int64_t>(x.n_positions);
    const ForestResult out{candidates.data(), log_z.data(), pairs.data(), thirds.data(), path.data()};
    {
        nb::gil_scoped_release release;
        if (maximum) ForestPass<true>()(x, out);
        else ForestPass<false>()(x, out);
    }
    return Found{candidates, log_z, pairs, thirds, path};
}

} // namespace

void bind_forest(nb::module_ &m) { m.def("forest", forest); }
