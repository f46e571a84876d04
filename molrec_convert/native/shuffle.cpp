// The byte shuffle of HDF5: all first bytes, then all second bytes, …; a remainder that fills no
// item stays at the end as it is.
#include <cstdint>
#include <cstring>

#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "buffer.hpp"

namespace nb = nanobind;

namespace molrec {
namespace {

// Transpose an 8 × 8 matrix of bytes held in eight words; symmetric, so it is its own inverse
// and the byte order of the machine does not matter as long as loads and stores agree.
void transpose(std::uint64_t w[8]) {
    const auto swap = [&](int i, int j, int shift, std::uint64_t mask) {
        const std::uint64_t t = ((w[i] >> shift) ^ w[j]) & mask;
        w[i] ^= t << shift;
        w[j] ^= t;
    };
    for (int i = 0; i < 4; ++i) swap(i, i + 4, 32, 0x00000000ffffffffull);
    for (const int i : {0, 1, 4, 5}) swap(i, i + 2, 16, 0x0000ffff0000ffffull);
    for (const int i : {0, 2, 4, 6}) swap(i, i + 1, 8, 0x00ff00ff00ff00ffull);
}

void gather(const char* from, char* to, std::size_t first, std::size_t items, std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) {
        for (std::size_t i = first; i < items; ++i) to[k * items + i] = from[i * size + k];
    }
}

void scatter(const char* from, char* to, std::size_t first, std::size_t items, std::size_t size) {
    for (std::size_t i = first; i < items; ++i) {
        for (std::size_t k = 0; k < size; ++k) to[i * size + k] = from[k * items + i];
    }
}

void shuffle_bytes(const char* from, char* to, std::size_t items, std::size_t size) {
    std::size_t i = 0;
    if (size == 8) {
        std::uint64_t w[8];
        for (; i + 8 <= items; i += 8) {
            std::memcpy(w, from + i * 8, 64);
            transpose(w);
            for (std::size_t k = 0; k < 8; ++k) std::memcpy(to + k * items + i, &w[k], 8);
        }
    }
    switch (size) {
        case 2: gather(from, to, i, items, 2); break;
        case 4: gather(from, to, i, items, 4); break;
        default: gather(from, to, i, items, size);
    }
}

void unshuffle_bytes(const char* from, char* to, std::size_t items, std::size_t size) {
    std::size_t i = 0;
    if (size == 8) {
        std::uint64_t w[8];
        for (; i + 8 <= items; i += 8) {
            for (std::size_t k = 0; k < 8; ++k) std::memcpy(&w[k], from + k * items + i, 8);
            transpose(w);
            std::memcpy(to + i * 8, w, 64);
        }
    }
    switch (size) {
        case 2: scatter(from, to, i, items, 2); break;
        case 4: scatter(from, to, i, items, 4); break;
        default: scatter(from, to, i, items, size);
    }
}

template <class Move>
nb::bytes rearrange(nb::handle data, std::size_t itemsize, Move move) {
    if (itemsize == 0) throw nb::value_error("itemsize must be at least 1");
    const Buffer buffer(data);
    nb::object out = nb::steal(
        PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(buffer.size())));
    if (!out.is_valid()) throw nb::python_error();
    char* const to = PyBytes_AsString(out.ptr());
    const std::size_t items = buffer.size() / itemsize;
    const std::size_t whole = items * itemsize;
    {
        nb::gil_scoped_release unlocked;
        if (items > 0) move(buffer.begin(), to, items, itemsize);
        std::memcpy(to + whole, buffer.begin() + whole, buffer.size() - whole);
    }
    return nb::borrow<nb::bytes>(out);
}

}  // namespace

nb::bytes shuffle(nb::handle data, std::size_t itemsize) {
    return rearrange(data, itemsize, shuffle_bytes);
}

nb::bytes unshuffle(nb::handle data, std::size_t itemsize) {
    return rearrange(data, itemsize, unshuffle_bytes);
}

}  // namespace molrec
