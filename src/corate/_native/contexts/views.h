// Views of words; contexts/views.py has the twins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "text/vocabulary.h"

namespace corate {

// What is looked at in a word: at most `length` letters of it, and behind a tail the first `head` of its shape.
struct View {
    enum class Kind { word, lower, prefix, suffix, tail, shape };

    Kind kind;
    size_t length, head;
};

// Words end to end with a mark after each, spelt three times letter by letter: as they are, in lower case, and with
// each letter's kind.
struct Spelling {
    const char32_t *text, *lower, *kinds;
    const int64_t *first; // n_words + 1: where each word begins
    int64_t n_words;

    // The view of a word; `room` is for those that are no part of the word.
    Text view(const View &which, int64_t k, std::vector<char32_t> &room) const {
        const int64_t begin = first[k];
        const size_t n = size_t(first[k + 1] - begin - 1), some = std::min(n, which.length);
        switch (which.kind) {
        case View::Kind::word: return {text + begin, n};
        case View::Kind::lower: return {lower + begin, n};
        case View::Kind::prefix: return {text + begin, some};
        case View::Kind::suffix: return {text + begin + n - some, some};
        case View::Kind::tail:
            room.assign(lower + begin + n - some, lower + begin + n);
            room.push_back(U' ');
            collapse(kinds + begin, n, room.size() + which.head, room);
            return {room.data(), room.size()};
        case View::Kind::shape:
            room.clear();
            collapse(kinds + begin, n, which.length, room);
            return {room.data(), room.size()};
        }
        throw std::invalid_argument("no such view");
    }

  private:
    // Runs of equal kinds count once.
    static void collapse(const char32_t *kinds, size_t n, size_t most, std::vector<char32_t> &room) {
        for (size_t i = 0; i < n && room.size() < most; ++i)
            if (i == 0 || kinds[i] != kinds[i - 1]) room.push_back(kinds[i]);
    }
};

} // namespace corate
