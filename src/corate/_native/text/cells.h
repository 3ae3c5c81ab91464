// Plain rows of columns, read into codes; text/formats/quick_rows.py has the twin.
#pragma once

#include <cstdint>
#include <vector>

#include "text/vocabulary.h"

namespace corate {

// What Python's str.strip() strips: a cell of nothing else is empty.
inline bool is_blank(char32_t c) {
    return (c >= 0x9 && c <= 0xd) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

// The cells of all rows read so far: of each column the distinct strings, and a code a row.
class Cells {
  public:
    Cells(int64_t n_columns, char32_t separator) : columns_(n_columns), separator_(separator) {}

    struct Column {
        Vocabulary values;
        std::vector<int32_t> codes;
    };

    const Column &column(int64_t k) const { return columns_[k]; }
    int64_t n_columns() const { return int64_t(columns_.size()); }
    const std::vector<int64_t> &offsets() const { return offsets_; } // of sentences

    // Reads lines, the last of which is empty or ends a sentence. False, and nothing is read, unless all rows are
    // sound: as many cells as there are columns, none of them empty, and no return, nor a tab that separates nothing.
    bool read(Text text, Text forbidden) {
        rows_.clear();
        ends_.clear();
        size_t begin = 0;
        while (begin < text.size()) {
            const size_t end = std::min(text.find(U'\n', begin), text.size());
            if (end == begin) ends_.push_back(rows_.size() / columns_.size());
            else if (!split(text, begin, end, forbidden)) return false;
            begin = end + 1;
        }
        ends_.push_back(rows_.size() / columns_.size());
        const int64_t before = n_rows();
        for (size_t r = 0; r < rows_.size(); ++r) {
            Column &column = columns_[r % columns_.size()];
            column.codes.push_back(column.values.insert(rows_[r]));
        }
        for (size_t end : ends_)
            if (before + int64_t(end) > offsets_.back()) offsets_.push_back(before + int64_t(end));
        return true;
    }

  private:
    int64_t n_rows() const { return int64_t(columns_[0].codes.size()); }

    bool split(Text text, size_t begin, size_t end, Text forbidden) {
        const size_t first = rows_.size();
        bool solid = false;
        for (size_t k = begin; k <= end; ++k) {
            const char32_t c = k < end ? text[k] : separator_;
            if (c == separator_) {
                if (!solid || rows_.size() - first == columns_.size()) return false;
                rows_.push_back(text.substr(begin, k - begin));
                begin = k + 1;
                solid = false;
            } else if (c == U'\r' || (c == U'\t' && separator_ != U'\t')) {
                return false;
            } else {
                solid = solid || !is_blank(c);
            }
        }
        return rows_.size() - first == columns_.size() && rows_[first] != forbidden;
    }

    std::vector<Column> columns_;
    std::vector<int64_t> offsets_{0};
    char32_t separator_;
    std::vector<Text> rows_; // cells of the block that is read
    std::vector<size_t> ends_;
};

} // namespace corate
