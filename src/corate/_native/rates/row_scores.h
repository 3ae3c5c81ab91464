// Sums of the weights that stand beside rows of counts; models/tagger/row_weights.py holds the NumPy twin.
//     Σⱼ w(fⱼ, y)
#pragma once

#include <vector>

#include "rates/lookup.h"

namespace corate {

// Tables as they were made, to which nothing was added: row r of all of them has weights[r].
struct RowScoresOf {
    Counted counted;
    std::vector<double> weights;
};

class RowScores : public Lookup {
  public:
    explicit RowScores(const RowScoresOf &of) : Lookup(of.counted), of_(of) {}

    // Adds to the scores of the candidates of the k-th token that was looked up.
    void operator()(int64_t k, const int32_t *labels, int64_t n, double *scores) {
        for (int64_t j = 0; j < contexts().size(); ++j) {
            if (place(k, j) < 0) continue;
            const Tables::Value &value = tables().value(place(k, j));
            const Tables::Row *rows = tables().rows(place(k, j));
            found_.assign(n, 0.0);
            pick(rows, value.n_rows, labels, n, found_.data(),
                 [&](const Tables::Row &row) { return of_.weights[value.first_row + (&row - rows)]; });
            for (int64_t c = 0; c < n; ++c) scores[c] += found_[c];
        }
    }

  private:
    const RowScoresOf &of_;
    std::vector<double> found_;
};

} // namespace corate
