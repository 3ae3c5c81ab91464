// Python's door to the rates of contexts and to their weights.

#include "bindings.h"
#include "rates.h"
#include "token_scores.h"
#include "weighing.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

using OutIds = nb::ndarray<int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

namespace {

Contexts contexts_of(In<int32_t> first_atom, In<int32_t> views, In<int32_t> offsets, In<int32_t> bits,
                     In<int32_t> parents, int64_t n_given, int64_t n_tables, int64_t n_views) {
    const int64_t n = int64_t(parents.size()), n_atoms = int64_t(views.size());
    require(int64_t(first_atom.size()) == n + 1 && n == n_tables, "a context is needed for every table");
    require(n_given >= 0, "contexts computed elsewhere cannot be fewer than none");
    require(int64_t(offsets.size()) == n_atoms && int64_t(bits.size()) == n_atoms, "an offset and bits are needed for every atom");
    require(first_atom.data()[0] == 0 && first_atom.data()[n] == n_atoms, "atom offsets must run from 0 to the number of atoms");
    for (int64_t j = 0; j < n; ++j) {
        require(first_atom.data()[j] <= first_atom.data()[j + 1], "atom offsets must not decrease");
        require(parents.data()[j] < n_given + j, "a context's parent must come before it");
        int64_t sum = 0;
        for (int32_t a = first_atom.data()[j]; a < first_atom.data()[j + 1]; ++a) {
            require(views.data()[a] >= 0 && views.data()[a] < n_views, "a view is out of range");
            require(bits.data()[a] > 0, "an atom needs bits");
            sum += bits.data()[a];
        }
        require(sum <= 63, "a key has too many bits");
    }
    return {first_atom.data(), views.data(), offsets.data(), bits.data(), parents.data(), n, n_given};
}

Tokens tokens_of(In<int64_t> first_id, In<int32_t> ids, In<int32_t> columns, In<int32_t> outside,
                 Codes codes) {
    const int64_t n_views = int64_t(columns.size()), n_tokens = int64_t(codes.shape(1));
    require(int64_t(first_id.size()) == n_views + 1 && int64_t(outside.size()) == n_views, "ids are needed for every view");
    require(first_id.data()[0] == 0 && first_id.data()[n_views] == int64_t(ids.size()), "id offsets must run from 0 to the number of ids");
    for (int64_t v = 0; v < n_views; ++v) {
        const int64_t n = first_id.data()[v + 1] - first_id.data()[v];
        require(n >= 0, "id offsets must not decrease");
        require(columns.data()[v] >= 0 && columns.data()[v] < int64_t(codes.shape(0)), "a view's column is out of range");
        const int32_t *begin = codes.data() + columns.data()[v] * n_tokens;
        for (int64_t t = 0; t < n_tokens; ++t) require(begin[t] >= 0 && begin[t] < n, "a code is out of range");
    }
    return {first_id.data(), ids.data(), columns.data(), outside.data(), codes.data(), n_tokens};
}

void check_offsets(In<int64_t> sentences, int64_t n_tokens) {
    require(sentences.size() > 0 && sentences.data()[0] == 0 && sentences.data()[sentences.size() - 1] == n_tokens,
            "sentence offsets must run from 0 to the number of tokens");
    for (size_t s = 0; s + 1 < sentences.size(); ++s)
        require(sentences.data()[s] <= sentences.data()[s + 1], "sentence offsets must not decrease");
}

void check_candidates(In<int64_t> positions, In<int32_t> labels, int64_t n_labels) {
    require(positions.size() > 0 && positions.data()[0] == 0, "position offsets must begin with 0");
    for (size_t i = 0; i + 1 < positions.size(); ++i)
        require(positions.data()[i] <= positions.data()[i + 1], "position offsets must not decrease");
    require(positions.data()[positions.size() - 1] == int64_t(labels.size()), "position offsets must end with the candidates");
    for (size_t c = 0; c < labels.size(); ++c)
        require(labels.data()[c] >= 0 && labels.data()[c] < n_labels, "a candidate's label is out of range");
}

Weighing weighing(In<float> rates, In<int8_t> buckets, In<int64_t> positions, In<int32_t> labels,
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

} // namespace


void bind_rates(nb::module_ &m) {
    // Several ids in one integer, the first in its highest bits; and back. counts.py has the twins.
    m.def("pack", [](const std::vector<In<int32_t>> &columns, const std::vector<int32_t> &bits, Out<int64_t> keys) {
        require(!columns.empty() && columns.size() == bits.size(), "bits are needed for every column");
        for (size_t k = 0; k < columns.size(); ++k) {
            require(columns[k].size() == keys.size(), "`keys` needs a place for every row");
            require(bits[k] > 0 && bits[k] < 32, "a field has 1 to 31 bits");
        }
        constexpr size_t block = 2048; // of rows, so that keys stay in the cache from column to column
        for (size_t begin = 0; begin < keys.size(); begin += block) {
            const size_t end = std::min(keys.size(), begin + block);
            std::fill(keys.data() + begin, keys.data() + end, 0);
            for (size_t k = 0; k < columns.size(); ++k)
                for (size_t i = begin; i < end; ++i)
                    keys.data()[i] = (keys.data()[i] << bits[k]) | columns[k].data()[i];
        }
    });

    m.def("unpack", [](In<int64_t> keys, const std::vector<int32_t> &bits, OutIds ids) {
        require(ids.shape(0) == keys.size() && ids.shape(1) == bits.size(), "`ids` needs a place for every field");
        for (int32_t b : bits) require(b > 0 && b < 32, "a field has 1 to 31 bits");
        for (size_t i = 0; i < keys.size(); ++i) {
            int64_t key = keys.data()[i];
            for (size_t k = bits.size(); k-- > 0; key >>= bits[k])
                ids.data()[i * bits.size() + k] = int32_t(key & ((int64_t(1) << bits[k]) - 1));
        }
    });

    nb::class_<Tables>(m, "Tables")
        .def("__init__", [](Tables *made, const std::vector<Codes> &ids, const std::vector<In<int64_t>> &counts,
                            const std::vector<std::vector<int32_t>> &bits) {
            require(ids.size() == counts.size() && ids.size() == bits.size(), "ids, counts and bits are needed for every table");
            Tables tables;
            int64_t n_values = 0, n_rows = 0;
            for (const auto &table : ids) {
                n_values += Tables::n_values(table.data(), int64_t(table.shape(0)), int64_t(table.shape(1)));
                n_rows += int64_t(table.shape(0));
            }
            tables.reserve(n_values, n_rows);
            for (size_t t = 0; t < ids.size(); ++t) {
                require(ids[t].shape(0) == counts[t].size(), "a count is needed for every row");
                require(ids[t].shape(1) == bits[t].size() + 1 && !bits[t].empty(), "bits are needed for every field");
                int32_t sum = 0;
                for (int32_t b : bits[t]) {
                    require(b > 0 && b < 32, "a field has 1 to 31 bits");
                    sum += b;
                }
                require(sum <= 63, "a key has too many bits");
                tables.append(ids[t].data(), counts[t].data(), int64_t(ids[t].shape(0)), int64_t(ids[t].shape(1)), bits[t].data());
            }
            tables.finish();
            new (made) Tables(std::move(tables));
        })
        .def("add", [](Tables &tables, int64_t t, Codes ids, In<int64_t> counts, const std::vector<int32_t> &bits) {
            require(t >= 0 && t < tables.n_tables(), "a table is out of range");
            require(ids.shape(0) == counts.size(), "a count is needed for every row");
            require(ids.shape(1) == bits.size() + 1 && !bits.empty(), "bits are needed for every field");
            tables.add(t, ids.data(), counts.data(), int64_t(ids.shape(0)), int64_t(ids.shape(1)), bits.data());
        })
        .def("rows", [](const Tables &tables, int64_t t, int64_t key) {
            require(t >= 0 && t < tables.n_tables(), "a table is out of range");
            std::vector<std::pair<int32_t, int64_t>> rows;
            const int64_t k = key < 0 ? -1 : tables.find(t, key);
            for (int64_t r = 0; k >= 0 && r < tables.value(k).n_rows; ++r) {
                const Tables::Row &row = *tables.row(tables.value(k).first_row + r);
                rows.emplace_back(row.label, row.count);
            }
            return rows;
        });

    m.def("candidates", [](const Tables &tables, const Tables *without, In<int32_t> first_atom, In<int32_t> views, In<int32_t> offsets,
                           In<int32_t> bits, In<int32_t> parents, In<int64_t> first_id, In<int32_t> ids,
                           In<int32_t> columns, In<int32_t> outside, Codes codes, In<double> prior,
                           In<double> log_prior, double alpha, In<int32_t> ranked, In<int32_t> likely, In<int64_t> first_required,
                           In<int32_t> required, int64_t pool,
                           int64_t most, double weight, double prior_weight, double margin, double enough, Out<int32_t> n_kept,
                           Out<int32_t> labels, Out<double> prob, Out<float> rates, Out<int8_t> buckets,
                           int n_threads) {
        const Tokens tokens = tokens_of(first_id, ids, columns, outside, codes);
        const Contexts contexts = contexts_of(first_atom, views, offsets, bits, parents, 0, tables.n_tables(), int64_t(columns.size()));
        const int64_t n = tokens.n_tokens, n_own = contexts.n_contexts, n_labels = int64_t(prior.size());
        require(log_prior.size() == prior.size(), "a log prior is needed for every prior");
        require(n_labels > 0 && pool > 0 && most > 0, "labels, pool and candidates must be at least 1");
        require(!without || without->n_tables() == tables.n_tables(), "as many tables to subtract are needed");
        require(first_required.size() == 0 || int64_t(first_required.size()) == n + 1, "required labels are needed for every token");
        for (int64_t t = 0; t < n && first_required.size() > 0; ++t) {
            const int64_t begin = first_required.data()[t], end = first_required.data()[t + 1];
            require(0 <= begin && begin <= end && end <= int64_t(required.size()) && end - begin <= most, "offsets of required labels are out of range");
            for (int64_t r = begin; r < end; ++r)
                require(required.data()[r] >= 0 && required.data()[r] < n_labels && (r == begin || required.data()[r - 1] < required.data()[r]), "required labels must ascend");
        }
        require(int64_t(likely.size()) >= std::min(pool, n_labels), "the pool needs that many likely labels");
        for (size_t r = 0; r < ranked.size(); ++r)
            require(ranked.data()[r] >= 0 && ranked.data()[r] < n_own, "a ranked context is out of range");
        for (size_t r = 0; r < likely.size(); ++r)
            require(likely.data()[r] >= 0 && likely.data()[r] < n_labels, "a likely label is out of range");
        require(tables.most_label() < n_labels, "a counted label is out of range");
        require(int64_t(n_kept.size()) == n && int64_t(labels.size()) == n * most, "`labels` needs `most` places a token");
        require(int64_t(prob.size()) == n * most * n_own && prob.size() == rates.size(), "`rates` needs a place for every context");
        require(int64_t(buckets.size()) == n * n_own, "`buckets` needs a place for every context");
        nb::gil_scoped_release release;
        for_each_sentence<Candidates>(n, n_threads, [&](Candidates &kernel, int64_t t) {
            kernel.rates.tables = &tables, kernel.rates.without = without;
            kernel.first_required = first_required.size() ? first_required.data() : nullptr, kernel.required = required.data();
            kernel.rates.contexts = &contexts, kernel.rates.tokens = &tokens;
            kernel.rates.prior = prior.data(), kernel.rates.log_prior = log_prior.data(), kernel.rates.alpha = alpha;
            kernel.ranked = ranked.data(), kernel.likely = likely.data(), kernel.n_ranked = int64_t(ranked.size());
            kernel.n_labels = n_labels, kernel.pool = pool, kernel.most = most;
            kernel.weight = weight, kernel.prior_weight = prior_weight, kernel.margin = margin, kernel.enough = enough;
            n_kept.data()[t] = int32_t(kernel(t, labels.data() + t * most, prob.data() + t * most * n_own,
                                              rates.data() + t * most * n_own, buckets.data() + t * n_own));
        });
    }, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());

    m.def("log_rates", [](const Tables &tables, const Tables *without, In<int32_t> first_atom,
                          In<int32_t> views, In<int32_t> offsets, In<int32_t> bits, In<int32_t> parents,
                          int64_t n_given, In<int64_t> first_id, In<int32_t> ids, In<int32_t> columns,
                          In<int32_t> outside, Codes codes, In<int64_t> sentences, In<int64_t> positions,
                          In<int32_t> labels, In<double> prior, In<double> log_prior, double alpha, In<double> given,
                          In<int64_t> sources, bool skip_single, Out<float> rates,
                          Out<int8_t> buckets, int n_threads) {
        const Tokens tokens = tokens_of(first_id, ids, columns, outside, codes);
        const Contexts contexts = contexts_of(first_atom, views, offsets, bits, parents, n_given, tables.n_tables(), int64_t(columns.size()));
        require(!without || without->n_tables() == tables.n_tables(), "as many tables to subtract are needed");
        const int64_t n_own = contexts.n_contexts, n_positions = int64_t(positions.size()) - 1;
        require(log_prior.size() == prior.size(), "a log prior is needed for every prior");
        check_candidates(positions, labels, int64_t(prior.size()));
        require(n_positions == tokens.n_tokens, "a position is needed for every token");
        check_offsets(sentences, n_positions);
        require(n_given == 0 || sources.size() == labels.size(), "a source is needed for every candidate");
        for (size_t c = 0; n_given > 0 && c < sources.size(); ++c)
            require(sources.data()[c] >= 0 && (sources.data()[c] + 1) * n_given <= int64_t(given.size()), "a source is out of range");
        require(int64_t(rates.size()) == int64_t(labels.size()) * n_own,
                "`rates` needs a place for every candidate and context");
        require(int64_t(buckets.size()) == n_positions * n_own, "`buckets` needs a place for every context");
        nb::gil_scoped_release release;
        struct Kernel {
            LogRates rates;
            std::vector<int64_t> which;
            std::vector<const double *> given;
            std::vector<double> prob;
        };
        for_each_sentence<Kernel>(int64_t(sentences.size()) - 1, n_threads, [&](Kernel &kernel, int64_t s) {
            kernel.rates.tables = &tables, kernel.rates.without = without;
            kernel.rates.contexts = &contexts, kernel.rates.tokens = &tokens;
            kernel.rates.prior = prior.data(), kernel.rates.log_prior = log_prior.data(), kernel.rates.alpha = alpha;
            const int64_t begin = sentences.data()[s], end = sentences.data()[s + 1];
            kernel.which.clear();
            for (int64_t i = begin; i < end; ++i)
                if (!skip_single || positions.data()[i + 1] - positions.data()[i] != 1) kernel.which.push_back(i);
            kernel.rates.look_up(kernel.which.data(), int64_t(kernel.which.size()), begin, end);
            for (size_t t = 0; t < kernel.which.size(); ++t) {
                const int64_t i = kernel.which[t], c = positions.data()[i], n = positions.data()[i + 1] - c;
                kernel.prob.resize(n * n_own);
                kernel.given.resize(n);
                for (int64_t k = 0; k < n && n_given > 0; ++k)
                    kernel.given[k] = given.data() + sources.data()[c + k] * n_given;
                kernel.rates(int64_t(t), labels.data() + c, n, kernel.given.data(), kernel.prob.data(),
                             rates.data() + c * n_own, buckets.data() + i * n_own);
            }
        });
    }, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());

    m.def("score_tokens", [](const Tables &tables, In<int32_t> first_atom, In<int32_t> views, In<int32_t> offsets,
                             In<int32_t> bits, In<int32_t> parents, int64_t n_given, In<int64_t> first_id,
                             In<int32_t> ids, In<int32_t> columns, In<int32_t> outside, Codes codes,
                             In<int64_t> sentences, In<int64_t> kind_first, In<int32_t> kind_labels,
                             In<double> kind_scores, In<double> given, In<int32_t> kind_of, In<int64_t> positions,
                             In<double> prior, In<double> log_prior, double alpha, Matrix by_bucket, Matrix by_label,
                             In<double> start, In<double> end, Out<int32_t> labels, Out<double> scores, int n_threads) {
        const Tokens tokens = tokens_of(first_id, ids, columns, outside, codes);
        const Contexts contexts = contexts_of(first_atom, views, offsets, bits, parents, n_given, tables.n_tables(), int64_t(columns.size()));
        const int64_t n_tokens = tokens.n_tokens, n_rows = int64_t(kind_labels.size()), n_labels = int64_t(prior.size());
        require(log_prior.size() == prior.size() && start.size() == prior.size() && end.size() == prior.size(), "numbers are needed for every label");
        require(by_bucket.shape(0) > size_t(bucket(INT64_MAX)) && int64_t(by_label.shape(0)) == n_labels, "weights are needed for every bucket and label");
        require(int64_t(by_bucket.shape(1)) == contexts.n_contexts && by_label.shape(1) == by_bucket.shape(1), "weights are needed for every context");
        check_offsets(sentences, n_tokens);
        require(int64_t(kind_scores.size()) == n_rows && int64_t(given.size()) == n_rows * n_given, "a score and probabilities are needed for every row");
        for (int64_t r = 0; r < n_rows; ++r)
            require(kind_labels.data()[r] >= 0 && kind_labels.data()[r] < n_labels, "a candidate's label is out of range");
        require(int64_t(kind_of.size()) == n_tokens && int64_t(positions.size()) == n_tokens + 1, "a kind and a position are needed for every token");
        require(positions.data()[0] == 0 && positions.data()[n_tokens] == int64_t(labels.size()) && labels.size() == scores.size(), "positions must run from 0 to the candidates");
        for (int64_t i = 0; i < n_tokens; ++i) {
            const int64_t n = positions.data()[i + 1] - positions.data()[i];
            require(kind_of.data()[i] >= 0 && kind_of.data()[i] < int64_t(kind_first.size()), "a kind is out of range");
            const int64_t row = kind_first.data()[kind_of.data()[i]];
            require(n > 0 && row >= 0 && row + n <= n_rows, "a kind's rows are out of range");
        }
        nb::gil_scoped_release release;
        for_each_sentence<TokenScores>(int64_t(sentences.size()) - 1, n_threads, [&](TokenScores &kernel, int64_t s) {
            kernel.rates.tables = &tables, kernel.rates.without = nullptr;
            kernel.rates.contexts = &contexts, kernel.rates.tokens = &tokens;
            kernel.rates.prior = prior.data(), kernel.rates.log_prior = log_prior.data(), kernel.rates.alpha = alpha;
            kernel.kinds = {kind_first.data(), kind_labels.data(), kind_scores.data(), given.data()};
            kernel.kind_of = kind_of.data(), kernel.positions = positions.data();
            kernel.by_bucket = by_bucket.data(), kernel.by_label = by_label.data();
            kernel.start = start.data(), kernel.end = end.data();
            kernel(sentences.data()[s], sentences.data()[s + 1], labels.data(), scores.data());
        });
    });

    m.def("pair_rates", [](const Tables &tables, const Tables *without, In<int32_t> first_atom, In<int32_t> views, In<int32_t> offsets, In<int32_t> bits, In<int32_t> parents, In<int64_t> first_id, In<int32_t> ids, In<int32_t> columns, In<int32_t> outside, Codes codes, In<int64_t> sentences, In<int64_t> positions, In<int32_t> labels, In<int64_t> edges, In<double> prior, Matrix pair, double alpha, bool skip_single, Out<double> rates, int n_threads) {
        const Tokens tokens = tokens_of(first_id, ids, columns, outside, codes);
        const Contexts contexts = contexts_of(first_atom, views, offsets, bits, parents, 0, tables.n_tables(), int64_t(columns.size()));
        require(!without || without->n_tables() == tables.n_tables(), "as many tables to subtract are needed");
        const int64_t n_labels = int64_t(prior.size());
        require(n_labels <= 46'340 && tables.most_label() < n_labels * n_labels, "a counted pair of labels is out of range");
        require(int64_t(pair.shape(0)) == n_labels && int64_t(pair.shape(1)) == n_labels, "a pair rate is needed for every two labels");
        const std::vector<double> scores(labels.size());
        const Lattice x{sentences.data(), positions.data(), labels.data(), scores.data(), nullptr, edges.data(), nullptr,
                        int64_t(sentences.size()) - 1, int64_t(positions.size()) - 1, int64_t(labels.size()), n_labels,
                        edges.size() ? edges.data()[edges.size() - 1] : 0};
        require(sentences.size() > 0 && positions.size() > 0 && edges.size() == positions.size(), "offsets are missing");
        x.check();
        require(x.n_positions == tokens.n_tokens, "a position is needed for every token");
        require(int64_t(rates.size()) == x.n_edge_scores * contexts.n_contexts, "`rates` needs a place for every edge and context");
        nb::gil_scoped_release release;
        struct Kernel {
            PairLogRates rates;
            std::vector<int64_t> which;
        };
        for_each_sentence<Kernel>(x.n_sentences, n_threads, [&](Kernel &kernel, int64_t s) {
            PairLogRates &r = kernel.rates;
            r.tables = &tables, r.without = without, r.contexts = &contexts, r.tokens = &tokens;
            r.prior = prior.data(), r.pair = pair.data(), r.n_labels = n_labels, r.alpha = alpha;
            kernel.which.clear();
            for (int64_t i = x.sentences[s] + 1; i < x.sentences[s + 1]; ++i)
                if (x.edges[i + 1] - x.edges[i] > skip_single) kernel.which.push_back(i);
            r.look_up(kernel.which.data(), int64_t(kernel.which.size()), x.sentences[s], x.sentences[s + 1]);
            for (size_t t = 0; t < kernel.which.size(); ++t) {
                const int64_t i = kernel.which[t];
                r(int64_t(t), x.labels + x.positions[i - 1], x.width(i - 1), x.labels + x.positions[i], x.width(i),
                  rates.data() + x.edges[i] * contexts.n_contexts);
            }
        });
    }, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());

    m.def("weigh", [](In<float> rates, In<int8_t> buckets, In<int64_t> positions, In<int32_t> labels,
                      Matrix by_bucket, Matrix by_label, bool skip_single, Out<double> scores) {
        require(by_bucket.shape(1) == by_label.shape(1), "weights of as many contexts are needed");
        const Weighing x = weighing(rates, buckets, positions, labels, int64_t(by_bucket.shape(0)),
                                    int64_t(by_label.shape(0)), int64_t(by_label.shape(1)));
        require(scores.size() == labels.size(), "`scores` needs a place for every candidate");
        nb::gil_scoped_release release;
        x.weigh(by_bucket.data(), by_label.data(), skip_single, scores.data());
    });

    m.def("unweigh", [](In<float> rates, In<int8_t> buckets, In<int64_t> positions, In<int32_t> labels,
                        In<double> surplus, OutMatrix by_bucket, OutMatrix by_label) {
        require(by_bucket.shape(1) == by_label.shape(1), "weights of as many contexts are needed");
        const Weighing x = weighing(rates, buckets, positions, labels, int64_t(by_bucket.shape(0)),
                                    int64_t(by_label.shape(0)), int64_t(by_label.shape(1)));
        require(surplus.size() == labels.size(), "a surplus is needed for every candidate");
        nb::gil_scoped_release release;
        x.unweigh(surplus.data(), by_bucket.data(), by_label.data());
    });
}
