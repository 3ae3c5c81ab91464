// Python's strings: numbered as they come, and handed out again by their numbers; text/corpus.py has the twins.
#pragma once

#include <cstdint>
#include <vector>

#include <nanobind/nanobind.h>

namespace corate {

// Distinct strings in the order in which they came.
class Numbers {
  public:
    nanobind::list values;

    // The number of the string, a new one if need be.
    int32_t operator()(PyObject *string) {
        const Py_hash_t hash = PyObject_Hash(string); // which a string finds out once
        size_t place = size_t(hash) & (slots_.size() - 1);
        for (; slots_[place].number >= 0; place = (place + 1) & (slots_.size() - 1))
            if (slots_[place].hash == hash && same(slots_[place].string, string)) return slots_[place].number;
        const int32_t number = int32_t(nanobind::len(values));
        values.append(nanobind::handle(string));
        slots_[place] = {hash, string, number};
        if (2 * nanobind::len(values) > slots_.size()) spread();
        return number;
    }

  private:
    struct Slot {
        Py_hash_t hash = 0;
        PyObject *string = nullptr;
        int32_t number = -1; // −1: free
    };

    static bool same(PyObject *a, PyObject *b) { return a == b || PyUnicode_Compare(a, b) == 0; }

    void spread() {
        std::vector<Slot> before(2 * slots_.size());
        before.swap(slots_);
        for (const Slot &old : before) {
            if (old.number < 0) continue;
            size_t place = size_t(old.hash) & (slots_.size() - 1);
            while (slots_[place].number >= 0) place = (place + 1) & (slots_.size() - 1);
            slots_[place] = old;
        }
    }

    std::vector<Slot> slots_ = std::vector<Slot>(1024);
};

} // namespace corate
