// Tokens of one kind that follow each other at even distances in an index, read in one go.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interner.hpp"
#include "simd.hpp"

#if MOLREC_AVX2

namespace molrec {

// The tokens of one column: `bound` points at the offsets of the first one's begin and end, those
// of the next row lie `stride` further.
struct Tokens {
    const char* text;
    const std::uint32_t* bound;
    std::size_t stride;
    std::size_t rows;

    const char* begin(std::size_t row) const { return text + bound[row * stride]; }
    const char* end(std::size_t row) const { return text + bound[row * stride + 1]; }
};

// These return how many tokens they read before one that is no such number.
std::size_t read_numbers(const Tokens& tokens, unsigned dialect, double* out);
std::size_t read_numbers(const Tokens& tokens, unsigned dialect, std::int64_t* out);
std::size_t read_numbers(const Tokens& tokens, unsigned dialect, std::uint64_t* out);

void read_words(const Tokens& tokens, Interner& words, std::int32_t* out);

}  // namespace molrec
#endif
