// Python's door to the rates of contexts. Objects are checked when they are made, and not again.

#include <memory>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "models/tagger/candidates.h"
#include "rates/pair_rates.h"
#include "rates/row_scores.h"

namespace {

using Ids = InMatrix<int32_t>;

template <class T> std::vector<T> copied(In<T> array) { return {array.data(), array.data() + array.size()}; }

template <class T, class... Sizes> Array<T> zeros(Sizes... sizes) {
    Array<T> made = fresh<T>(nb::make_tuple(int64_t(sizes)...));
    std::fill_n(made.data(), made.size(), T(0));
    return made;
}

std::vector<TableRows> table_rows(const std::vector<Ids> &ids, const std::vector<In<int64_t>> &counts,
                                  const std::vector<std::vector<int32_t>> &bits) {
    require(ids.size() == counts.size() && ids.size() == bits.size(),
            "ids, counts and bits are needed for every table");
    std::vector<TableRows> tables;
    for (size_t t = 0; t < ids.size(); ++t) {
        require(ids[t].shape(0) == counts[t].size(), "a count is needed for every row");
        require(ids[t].shape(1) == bits[t].size() + 1 && !bits[t].empty(), "bits are needed for every field");
        require_bits(bits[t]);
        const int64_t n_rows = int64_t(ids[t].shape(0)), n_fields = int64_t(ids[t].shape(1));
        tables.push_back({ids[t].data(), counts[t].data(), n_rows, n_fields, bits[t].data()});
    }
    return tables;
}

Contexts contexts_of(In<int32_t> first_atom, In<int32_t> views, In<int32_t> offsets, In<int32_t> bits,
                     In<int32_t> parents, int64_t n_given) {
    const Contexts x{copied(first_atom), copied(views), copied(offsets), copied(bits), copied(parents), n_given};
    const int32_t n_atoms = int32_t(x.views.size());
    require(int64_t(x.first_atom.size()) == x.size() + 1, "atoms are needed for every context");
    require(n_given >= 0, "contexts computed elsewhere cannot be fewer than none");
    require(offsets.size() == views.size() && bits.size() == views.size(),
            "an offset and bits are needed for every atom");
    require(x.first_atom.front() == 0 && x.first_atom.back() == n_atoms,
            "atom offsets must run from 0 to the number of atoms");
    for (int64_t j = 0; j < x.size(); ++j) {
        require(x.first_atom[j] <= x.first_atom[j + 1], "atom offsets must not decrease");
        require(x.parents[j] < n_given + j, "a context's parent must come before it");
        require_bits({x.bits.begin() + x.first_atom[j], x.bits.begin() + x.first_atom[j + 1]});
    }
    for (int32_t view : x.views) require(view >= 0, "a view is out of range");
    return x;
}

// Keeps the arrays that the tokens are in.
struct HeldTokens {
    In<int64_t> first_id;
    In<int32_t> ids, columns, outside;
    Ids codes;
    In<int64_t> sentences;

    void check() const {
        const int64_t n_views = int64_t(columns.size()), n_tokens = int64_t(codes.shape(1));
        require(int64_t(first_id.size()) == n_views + 1 && int64_t(outside.size()) == n_views,
                "ids are needed for every view");
        require(first_id.data()[0] == 0 && first_id.data()[n_views] == int64_t(ids.size()),
                "id offsets must run from 0 to the number of ids");
        for (int64_t v = 0; v < n_views; ++v) {
            const int64_t n = first_id.data()[v + 1] - first_id.data()[v];
            require(n >= 0, "id offsets must not decrease");
            require(columns.data()[v] >= 0 && columns.data()[v] < int64_t(codes.shape(0)),
                    "a view's column is out of range");
            const int32_t *begin = codes.data() + columns.data()[v] * n_tokens;
            for (int64_t t = 0; t < n_tokens; ++t) require(begin[t] >= 0 && begin[t] < n, "a code is out of range");
        }
        require(sentences.size() > 0 && sentences.data()[0] == 0 && sentences.data()[sentences.size() - 1] == n_tokens,
                "sentence offsets must run from 0 to the number of tokens");
        for (size_t s = 0; s + 1 < sentences.size(); ++s)
            require(sentences.data()[s] <= sentences.data()[s + 1], "sentence offsets must not decrease");
    }

    Tokens view() const {
        return {first_id.data(),
                ids.data(),
                columns.data(),
                outside.data(),
                codes.data(),
                sentences.data(),
                int64_t(columns.size()),
                int64_t(codes.shape(1)),
                int64_t(sentences.size()) - 1};
    }
};

Counted counted_of(const Contexts &contexts, const Tables &tables, const Tables *without) {
    require(contexts.size() == tables.n_tables(), "a table is needed for every context");
    require(!without || without->n_tables() == tables.n_tables(), "as many tables to subtract are needed");
    return {&contexts, &tables, without};
}

void check_views(const Counted &counted, const Tokens &tokens) {
    for (int32_t view : counted.contexts->views) require(view < tokens.n_views, "a view is out of range");
}

nb::tuple log_rates(const LogRatesOf &of, const HeldTokens &held, In<int64_t> positions, In<int32_t> labels,
                    Matrix given, In<int64_t> sources, bool skip_single, int n_threads) {
    const Tokens tokens = held.view();
    const int64_t n_own = of.counted.contexts->size(), n_given = of.counted.contexts->n_given;
    check_views(of.counted, tokens);
    require_candidates(positions, labels, tokens.n_tokens, int64_t(of.prior.size()));
    require(n_given == 0 || (sources.size() == labels.size() && int64_t(given.shape(1)) == n_given),
            "a source is needed for every candidate");
    for (size_t c = 0; n_given > 0 && c < sources.size(); ++c)
        require(sources.data()[c] >= 0 && sources.data()[c] < int64_t(given.shape(0)), "a source is out of range");
    const auto rates = zeros<float>(labels.size(), n_own);
    const auto buckets = zeros<int8_t>(tokens.n_tokens, n_own);
    struct Kernel {
        LogRates rates;
        std::vector<int64_t> which{};
        std::vector<const double *> given{};
        std::vector<double> prob{};
    };
    auto run = [&](Kernel &kernel, int64_t s) {
        const int64_t begin = tokens.sentences[s], end = tokens.sentences[s + 1];
        const int64_t *first = positions.data();
        kernel.which.clear();
        for (int64_t i = begin; i < end; ++i)
            if (!skip_single || first[i + 1] - first[i] != 1) kernel.which.push_back(i);
        kernel.rates.look_up(tokens, kernel.which, begin, end);
        for (size_t t = 0; t < kernel.which.size(); ++t) {
            const int64_t i = kernel.which[t], c = first[i], n = first[i + 1] - c;
            kernel.prob.resize(n * n_own);
            kernel.given.resize(n);
            for (int64_t k = 0; k < n && n_given > 0; ++k)
                kernel.given[k] = given.data() + sources.data()[c + k] * n_given;
            kernel.rates(int64_t(t), labels.data() + c, n, kernel.given.data(), kernel.prob.data(),
                         rates.data() + c * n_own, buckets.data() + i * n_own);
        }
    };
    {
        nb::gil_scoped_release release;
        for_each_sentence(tokens.n_sentences, n_threads, [&] { return Kernel{LogRates(of)}; }, run);
    }
    return nb::make_tuple(rates, buckets);
}

void check_required(In<int64_t> first, In<int32_t> labels, int64_t n_tokens, int64_t n_labels, int64_t most) {
    require(first.size() == 0 || int64_t(first.size()) == n_tokens + 1,
            "offsets of required labels are needed for every token");
    for (size_t t = 0; t + 1 < first.size(); ++t) {
        const int64_t begin = first.data()[t], end = first.data()[t + 1];
        require(0 <= begin && begin <= end && end <= int64_t(labels.size()) && end - begin <= most,
                "offsets of required labels are out of range");
        for (int64_t r = begin; r < end; ++r)
            require(labels.data()[r] >= 0 && labels.data()[r] < n_labels &&
                        (r == begin || labels.data()[r - 1] < labels.data()[r]),
                    "required labels must ascend");
    }
}

// Each token is one by itself. Labels, P(y | f) and rates have `most` places a token, of which the first are used.
nb::tuple candidates(const LogRatesOf &of, const HeldTokens &held, const CandidateRule &rule,
                     In<int64_t> first_required, In<int32_t> required, int64_t most, int n_threads) {
    const Tokens tokens = held.view();
    const int64_t n = tokens.n_tokens, n_own = of.counted.contexts->size(), n_labels = int64_t(of.prior.size());
    check_views(of.counted, tokens);
    require(most > 0 && of.counted.contexts->n_given == 0, "there is no place for a candidate");
    check_required(first_required, required, n, n_labels, most);
    require(int64_t(rule.likely.size()) >= std::min(rule.pool, n_labels), "the pool needs that many likely labels");
    for (int32_t j : rule.ranked) require(j >= 0 && j < n_own, "a ranked context is out of range");
    for (int32_t y : rule.likely) require(y >= 0 && y < n_labels, "a likely label is out of range");
    const auto n_kept = zeros<int32_t>(n), labels = zeros<int32_t>(n, most);
    const auto prob = zeros<double>(n, most, n_own);
    const auto values = zeros<float>(n, most, n_own);
    const auto buckets = zeros<int8_t>(n, n_own);
    auto run = [&](Candidates &kernel, int64_t t) {
        Candidates::Required must{nullptr, nullptr};
        if (first_required.size() > 0)
            must = {required.data() + first_required.data()[t], required.data() + first_required.data()[t + 1]};
        n_kept.data()[t] =
            int32_t(kernel(tokens, t, must, most, n_own, labels.data() + t * most, prob.data() + t * most * n_own,
                           values.data() + t * most * n_own, buckets.data() + t * n_own));
    };
    {
        nb::gil_scoped_release release;
        for_each_sentence(n, n_threads, [&] { return Candidates(of, rule); }, run);
    }
    return nb::make_tuple(n_kept, labels, prob, values, buckets);
}

// The block of the edge into position i is edges[i] … edges[i + 1], left candidates × right ones.
Array<double> pair_rates(const PairRatesOf &of, const HeldTokens &held, In<int64_t> positions, In<int32_t> labels,
                         In<int64_t> edges, bool skip_single, int n_threads) {
    const Tokens tokens = held.view();
    const int64_t n_own = of.counted.contexts->size();
    check_views(of.counted, tokens);
    require_candidates(positions, labels, tokens.n_tokens, of.n_labels());
    require(edges.size() == positions.size() && edges.data()[0] == 0, "an edge block is needed for every position");
    const int64_t *first = positions.data(), *blocks = edges.data();
    for (int64_t s = 0; s < tokens.n_sentences; ++s)
        for (int64_t i = tokens.sentences[s]; i < tokens.sentences[s + 1]; ++i) {
            const int64_t full = i == tokens.sentences[s] ? 0 : (first[i] - first[i - 1]) * (first[i + 1] - first[i]);
            require(blocks[i + 1] - blocks[i] == full, "an edge block must hold a score for each pair of candidates");
        }
    const auto rates = zeros<double>(blocks[tokens.n_tokens], n_own);
    struct Kernel {
        PairRates rates;
        std::vector<int64_t> which{};
    };
    auto run = [&](Kernel &kernel, int64_t s) {
        const int64_t begin = tokens.sentences[s], end = tokens.sentences[s + 1];
        kernel.which.clear();
        for (int64_t i = begin + 1; i < end; ++i)
            if (blocks[i + 1] - blocks[i] > skip_single) kernel.which.push_back(i);
        kernel.rates.look_up(tokens, kernel.which, begin, end);
        for (size_t t = 0; t < kernel.which.size(); ++t) {
            const int64_t i = kernel.which[t];
            kernel.rates(int64_t(t), labels.data() + first[i - 1], first[i] - first[i - 1], labels.data() + first[i],
                         first[i + 1] - first[i], rates.data() + blocks[i] * n_own);
        }
    };
    {
        nb::gil_scoped_release release;
        for_each_sentence(tokens.n_sentences, n_threads, [&] { return Kernel{PairRates(of)}; }, run);
    }
    return rates;
}

// Of every candidate the sum of the weights of its rows.
Array<double> row_scores(const RowScoresOf &of, const HeldTokens &held, In<int64_t> positions, In<int32_t> labels,
                         int n_threads) {
    const Tokens tokens = held.view();
    check_views(of.counted, tokens);
    require_candidates(positions, labels, tokens.n_tokens, int64_t(INT32_MAX));
    const auto scores = zeros<double>(labels.size());
    struct Kernel {
        RowScores rows;
        std::vector<int64_t> which{};
    };
    auto run = [&](Kernel &kernel, int64_t s) {
        const int64_t begin = tokens.sentences[s], end = tokens.sentences[s + 1];
        kernel.which.clear();
        for (int64_t i = begin; i < end; ++i) kernel.which.push_back(i);
        kernel.rows.look_up(tokens, kernel.which, begin, end);
        for (int64_t i = begin; i < end; ++i) {
            const int64_t c = positions.data()[i];
            kernel.rows(i - begin, labels.data() + c, positions.data()[i + 1] - c, scores.data() + c);
        }
    };
    {
        nb::gil_scoped_release release;
        for_each_sentence(tokens.n_sentences, n_threads, [&] { return Kernel{RowScores(of)}; }, run);
    }
    return scores;
}

void bind_tables(nb::module_ &m) {
    nb::class_<Tables>(m, "Tables")
        .def("__init__",
             [](Tables *made, const std::vector<Ids> &ids, const std::vector<In<int64_t>> &counts,
                const std::vector<std::vector<int32_t>> &bits) { new (made) Tables(table_rows(ids, counts, bits)); })
        // The sum of these and of others, which are sorted; these stay what they are.
        .def("plus",
             [](const Tables &tables, const std::vector<Ids> &ids, const std::vector<In<int64_t>> &counts,
                const std::vector<std::vector<int32_t>> &bits) {
                 require(int64_t(ids.size()) == tables.n_tables(), "rows are needed for every table");
                 return tables.plus(table_rows(ids, counts, bits));
             })
        .def("rows", [](const Tables &tables, int64_t t, int64_t key) {
            require(t >= 0 && t < tables.n_tables(), "a table is out of range");
            std::vector<std::pair<int32_t, int64_t>> rows;
            const int64_t place = tables.find(t, key);
            for (int64_t r = 0; place >= 0 && r < tables.value(place).n_rows; ++r)
                rows.emplace_back(tables.rows(place)[r].label, tables.rows(place)[r].count);
            return rows;
        });
}

void bind_what_is_looked_at(nb::module_ &m) {
    nb::class_<Contexts>(m, "Contexts")
        .def("__init__", [](Contexts *made, In<int32_t> first_atom, In<int32_t> views, In<int32_t> offsets,
                            In<int32_t> bits, In<int32_t> parents, int64_t n_given) {
            new (made) Contexts(contexts_of(first_atom, views, offsets, bits, parents, n_given));
        });
    nb::class_<HeldTokens>(m, "Tokens")
        .def("__init__", [](HeldTokens *made, In<int64_t> first_id, In<int32_t> ids, In<int32_t> columns,
                            In<int32_t> outside, Ids codes, In<int64_t> sentences) {
            const HeldTokens tokens{first_id, ids, columns, outside, codes, sentences};
            tokens.check();
            new (made) HeldTokens(tokens);
        });
}

void bind_rates_of_contexts(nb::module_ &m) {
    nb::class_<CandidateRule>(m, "CandidateRule")
        .def("__init__", [](CandidateRule *made, In<int32_t> ranked, In<int32_t> likely, int64_t pool, double weight,
                            double prior_weight, double margin, double enough) {
            new (made) CandidateRule{copied(ranked), copied(likely), pool, weight, prior_weight, margin, enough};
        });
    nb::class_<LogRatesOf>(m, "LogRates")
        .def(
            "__init__",
            [](LogRatesOf *made, const Contexts &contexts, const Tables &tables, const Tables *without,
               In<double> prior, double alpha, const std::vector<int64_t> &bounds) {
                const Counted counted = counted_of(contexts, tables, without);
                require(tables.most_label() < int64_t(prior.size()), "a counted label is out of range");
                new (made) LogRatesOf{counted, copied(prior), alpha, bounds};
            },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::arg(), nb::arg(),
            nb::arg().none(), nb::arg(), nb::arg(), nb::arg())
        .def("__call__", &log_rates)
        .def("candidates", &candidates);
    nb::class_<PairRatesOf>(m, "PairRates")
        .def(
            "__init__",
            [](PairRatesOf *made, const Contexts &contexts, const Tables &tables, const Tables *without,
               In<double> prior, Matrix pair, double alpha) {
                const Counted counted = counted_of(contexts, tables, without);
                const int64_t n = int64_t(prior.size());
                require(n * n <= int64_t(INT32_MAX) + 1 && tables.most_label() < n * n,
                        "a counted pair of labels is out of range");
                require(int64_t(pair.shape(0)) == n && int64_t(pair.shape(1)) == n,
                        "a pair rate is needed for every two labels");
                new (made) PairRatesOf{counted, copied(prior), {pair.data(), pair.data() + n * n}, alpha};
            },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::arg(), nb::arg(),
            nb::arg().none(), nb::arg(), nb::arg(), nb::arg())
        .def("__call__", &pair_rates);
    nb::class_<RowScoresOf>(m, "RowScores")
        .def(
            "__init__",
            [](RowScoresOf *made, const Contexts &contexts, const Tables &tables, In<double> weights) {
                require(tables.n_rows() == int64_t(weights.size()), "a weight is needed for every row");
                new (made) RowScoresOf{counted_of(contexts, tables, nullptr), copied(weights)};
            },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("__call__", &row_scores);
}

} // namespace

void bind_rates(nb::module_ &m) {
    bind_tables(m);
    bind_what_is_looked_at(m);
    bind_rates_of_contexts(m);
}
