// The byte shuffle of HDF5: all first bytes, then all second bytes, …; a remainder that fills no
// item stays at the end as it is.
#include <cstdint>
#include <cstring>

#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "buffer.hpp"
#include "byte_vectors.hpp"
#include "unlocked.hpp"

namespace nb = nanobind;

namespace molrec {
namespace {

#if MOLREC_BYTE_VECTORS
// Sixteen items of `size` bytes in as many registers. One round sends every byte to the place whose
// number is its own, rotated by one bit; so four rounds bring the number of the byte in its item
// before that of the item, and as many as the former has bits bring it back.
template <std::size_t size>
void interleave(Bytes v[size], int rounds) {
    for (int round = 0; round < rounds; ++round) {
        Bytes w[size];
        for (std::size_t i = 0; i < size / 2; ++i) {
            w[2 * i] = low_halves(v[i], v[i + size / 2]);
            w[2 * i + 1] = high_halves(v[i], v[i + size / 2]);
        }
        for (std::size_t i = 0; i < size; ++i) v[i] = w[i];
    }
}

template <std::size_t size>
std::size_t shuffle_sixteens(const char* from, char* to, std::size_t items) {
    std::size_t i = 0;
    for (; i + 16 <= items; i += 16) {
        Bytes v[size];
        for (std::size_t k = 0; k < size; ++k) v[k] = load(from + i * size + k * 16);
        interleave<size>(v, 4);
        for (std::size_t k = 0; k < size; ++k) store(to + k * items + i, v[k]);
    }
    return i;
}

template <std::size_t size>
std::size_t unshuffle_sixteens(const char* from, char* to, std::size_t items) {
    constexpr int bits = size == 2 ? 1 : size == 4 ? 2 : 3;
    std::size_t i = 0;
    for (; i + 16 <= items; i += 16) {
        Bytes v[size];
        for (std::size_t k = 0; k < size; ++k) v[k] = load(from + k * items + i);
        interleave<size>(v, bits);
        for (std::size_t k = 0; k < size; ++k) store(to + i * size + k * 16, v[k]);
    }
    return i;
}
#else
template <std::size_t size>
std::size_t shuffle_sixteens(const char*, char*, std::size_t) { return 0; }

template <std::size_t size>
std::size_t unshuffle_sixteens(const char*, char*, std::size_t) { return 0; }
#endif

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
    switch (size) {
        case 2: gather(from, to, shuffle_sixteens<2>(from, to, items), items, 2); break;
        case 4: gather(from, to, shuffle_sixteens<4>(from, to, items), items, 4); break;
        case 8: gather(from, to, shuffle_sixteens<8>(from, to, items), items, 8); break;
        default: gather(from, to, 0, items, size);
    }
}

void unshuffle_bytes(const char* from, char* to, std::size_t items, std::size_t size) {
    switch (size) {
        case 2: scatter(from, to, unshuffle_sixteens<2>(from, to, items), items, 2); break;
        case 4: scatter(from, to, unshuffle_sixteens<4>(from, to, items), items, 4); break;
        case 8: scatter(from, to, unshuffle_sixteens<8>(from, to, items), items, 8); break;
        default: scatter(from, to, 0, items, size);
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
        const Unlocked unlocked(buffer.size());
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
