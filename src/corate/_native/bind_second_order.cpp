// Python's door to label triples.

#include "bindings.h"
#include "second_order.h"

void bind_second_order(nb::module_ &m) {
    m.def("max_marginals", [](In<int64_t> sentences, In<int64_t> positions, In<int32_t> labels, In<double> scores,
                              Matrix pair, In<int64_t> edges, In<double> edge_scores, Out<double> margins,
                              int n_threads) {
        const Lattice x = view(sentences, positions, labels, scores, pair, edges, edge_scores);
        require(int64_t(margins.size()) == x.n_candidates, "`margins` needs a place for every candidate");
        nb::gil_scoped_release release;
        for_each_sentence<MaxMarginals>(x.n_sentences, n_threads, [&](MaxMarginals &kernel, int64_t s) {
            kernel(x, s, margins.data());
        });
    });

    // The score of every edge, of a lattice whose edges all have blocks: that of the two labels.
    m.def("edge_blocks", [](In<int64_t> sentences, In<int64_t> positions, In<int32_t> labels, Matrix pair,
                            In<int64_t> edges, Out<double> edge_scores) {
        const std::vector<double> scores(labels.size());
        const In<double> some(scores.data(), {scores.size()});
        const Lattice x = view(sentences, positions, labels, some, pair, edges, In<double>(edge_scores.data(), {edge_scores.size()}));
        nb::gil_scoped_release release;
        double *out = edge_scores.data();
        for (int64_t s = 0; s < x.n_sentences; ++s)
            for (int64_t i = x.sentences[s] + 1; i < x.sentences[s + 1]; ++i) {
                if (x.edges[i + 1] - x.edges[i] != x.width(i - 1) * x.width(i)) throw std::invalid_argument("every edge needs its block");
                for (int64_t p = x.positions[i - 1]; p < x.positions[i]; ++p)
                    for (int64_t q = x.positions[i]; q < x.positions[i + 1]; ++q)
                        *out++ = x.pair[x.labels[p] * x.n_labels + x.labels[q]];
            }
    });

    nb::class_<TripleRates>(m, "TripleRates")
        .def("__init__", [](TripleRates *made, int64_t n_labels, In<int64_t> pairs, In<double> unseen, In<int64_t> first_row, In<int32_t> row_labels, In<double> row_rates) {
            require(n_labels >= 0 && n_labels <= 46'340, "there are too many labels");
            require(first_row.size() == pairs.size() + 1 && unseen.size() == pairs.size(), "rows are needed for every pair");
            require(row_rates.size() == row_labels.size(), "a rate is needed for every row");
            require(first_row.data()[0] == 0 && first_row.data()[pairs.size()] == int64_t(row_labels.size()), "row offsets must run from 0 to the number of rows");
            for (size_t k = 0; k < pairs.size(); ++k) {
                require(pairs.data()[k] >= (k ? pairs.data()[k - 1] + 1 : 0) && pairs.data()[k] < n_labels * n_labels, "pairs must ascend");
                require(first_row.data()[k] <= first_row.data()[k + 1], "row offsets must not decrease");
            }
            for (size_t r = 0; r < row_labels.size(); ++r)
                require(row_labels.data()[r] >= 0 && row_labels.data()[r] < n_labels, "a label is out of range");
            TripleRates rates{n_labels, {}, {}};
            for (size_t k = 0; k < pairs.size(); ++k)
                rates.pairs.push_back({pairs.data()[k], first_row.data()[k], first_row.data()[k + 1] - first_row.data()[k], unseen.data()[k]});
            for (size_t r = 0; r < row_labels.size(); ++r) rates.rows.push_back({row_rates.data()[r], row_labels.data()[r]});
            rates.finish();
            new (made) TripleRates(std::move(rates));
        })
        // Fills the rates of every triple of candidates.
        .def("__call__", [](const TripleRates &rates, In<int64_t> sentences, In<int64_t> positions, In<int32_t> labels, In<int64_t> triples, Out<double> out, int n_threads) {
            const std::vector<int64_t> no_edges(positions.size(), 0);
            const std::vector<double> scores(labels.size());
            const Lattice x{sentences.data(), positions.data(), labels.data(), scores.data(), nullptr, no_edges.data(), nullptr,
                            int64_t(sentences.size()) - 1, int64_t(positions.size()) - 1, int64_t(labels.size()), rates.n_labels, 0};
            require(sentences.size() > 0 && positions.size() > 0, "offsets need at least one entry");
            x.check();
            require(triples.size() == positions.size(), "triple offsets are needed for every position");
            require(triples.data()[0] == 0 && triples.data()[x.n_positions] == int64_t(out.size()),
                    "triple offsets must run from 0 to the number of triples");
            for (int64_t s = 0; s < x.n_sentences; ++s)
                for (int64_t i = x.sentences[s]; i < x.sentences[s + 1]; ++i) {
                    const int64_t full = i < x.sentences[s] + 2 ? 0 : x.width(i - 2) * x.width(i - 1) * x.width(i);
                    require(triples.data()[i + 1] - triples.data()[i] == full, "a triple block has another size");
                }
            nb::gil_scoped_release release;
            for_each_sentence<SentenceTriples>(x.n_sentences, n_threads, [&](SentenceTriples &kernel, int64_t s) {
                kernel(rates, x, s, out.data() + triples.data()[x.sentences[s]]);
            });
        });

    m.def("viterbi2", [](In<int64_t> sentences, In<int64_t> positions, In<int32_t> labels, In<double> scores,
                         Matrix pair, In<int64_t> edges, In<double> edge_scores, In<int64_t> first,
                         In<double> triple_scores, Out<int64_t> path, Out<double> best, int n_threads) {
        const Lattice x = view(sentences, positions, labels, scores, pair, edges, edge_scores);
        require(first.size() == positions.size(), "triple offsets are needed for every position");
        const Triples triples{first.data(), triple_scores.data(), int64_t(triple_scores.size())};
        triples.check(x);
        require(int64_t(path.size()) == x.n_positions, "`path` needs a place for every position");
        require(int64_t(best.size()) == x.n_sentences, "`best` needs a place for every sentence");
        nb::gil_scoped_release release;
        for_each_sentence<Viterbi2>(x.n_sentences, n_threads, [&](Viterbi2 &kernel, int64_t s) {
            best.data()[s] = kernel(x, triples, s, path.data());
        });
    });

    // Writes 1 into `failed` for sentences whose numbers left their range: those are for the exact method.
    m.def("posteriors2", [](In<int64_t> sentences, In<int64_t> positions, In<int32_t> labels, In<double> scores,
                            Matrix pair, In<int64_t> edges, In<double> edge_scores, In<int64_t> first,
                            In<double> triple_scores, Out<double> marginals, Out<double> pairs, Out<double> thirds,
                            Out<double> log_z, Out<int8_t> failed, int n_threads) {
        const Lattice x = view(sentences, positions, labels, scores, pair, edges, edge_scores);
        require(first.size() == positions.size(), "triple offsets are needed for every position");
        const Triples triples{first.data(), triple_scores.data(), int64_t(triple_scores.size())};
        triples.check(x);
        require(int64_t(marginals.size()) == x.n_candidates, "`marginals` needs a place for every candidate");
        require(int64_t(pairs.size()) == x.n_edge_scores && int64_t(thirds.size()) == triples.n_scores,
                "`pairs` and `thirds` need a place for every edge and triple");
        require(int64_t(log_z.size()) == x.n_sentences && int64_t(failed.size()) == x.n_sentences,
                "`log_z` and `failed` need a place for every sentence");
        nb::gil_scoped_release release;
        for_each_sentence<ForwardBackward2>(x.n_sentences, n_threads, [&](ForwardBackward2 &kernel, int64_t s) {
            failed.data()[s] = !kernel(x, triples, s, marginals.data(), pairs.data(), thirds.data(), log_z.data()[s]);
        });
    });
}
