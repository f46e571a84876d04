// Where the tokens and lines of a piece of text lie, found 64 bytes at a time. Looking for the
// end of one token after the other costs a wrong guess of the processor for most of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simd.hpp"

#if MOLREC_AVX2
#include <immintrin.h>

namespace molrec {

class TokenIndex {
public:
    static constexpr std::size_t longest = 8192;  // with its text it stays in the nearest cache

    // Offsets: each token's begin and end in turn, then one behind all text.
    const std::uint32_t* bounds() const { return bounds_; }
    std::size_t tokens() const { return tokens_; }
    // Offsets of all '\n'.
    const std::uint32_t* lines() const { return lines_; }
    std::size_t line_count() const { return line_count_; }

    // Index [text, end) or the first `longest` bytes of it. A '\r' parts tokens; where one is no
    // part of a line end the index stops short of it, unless `loose` says that this is no matter.
    MOLREC_TARGET void build(const char* text, const char* end, bool loose) {
        const auto size = static_cast<std::size_t>(end - text);
        const std::size_t limit = size < longest ? size : longest;
        std::uint32_t* bound = bounds_;
        std::uint32_t* line = lines_;
        std::uint64_t in_blank = 1;  // whether the byte before is a blank
        for (std::size_t at = 0; at < limit; at += 64) {
            Masks masks;
            if (limit - at >= 64) {
                masks = classify(text + at);
            } else {
                alignas(32) char rest[64];
                std::memset(rest, ' ', 64);
                std::memcpy(rest, text + at, limit - at);
                masks = classify(rest);
            }
            if (masks.returns != 0 && !loose) {
                const char* const next = text + at + 64;
                const std::uint64_t feed = next < end && *next == '\n';
                if ((masks.returns & ~(masks.feeds >> 1 | feed << 63)) != 0) break;
            }
            const std::uint64_t changes = masks.blanks ^ (masks.blanks << 1 | in_blank);
            in_blank = masks.blanks >> 63;
            bound = spread<24>(changes, static_cast<std::uint32_t>(at), bound);
            line = spread<4>(masks.feeds, static_cast<std::uint32_t>(at), line);
        }
        *bound = UINT32_MAX;
        tokens_ = static_cast<std::size_t>(bound - bounds_) / 2;
        line_count_ = static_cast<std::size_t>(line - lines_);
    }

private:
    struct Masks {
        std::uint64_t blanks;   // ' ', '\t', '\n', '\r'
        std::uint64_t feeds;    // '\n'
        std::uint64_t returns;  // '\r'
    };

    MOLREC_TARGET_INLINE static std::uint64_t mask_of(__m256i low, __m256i high) {
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(low)) |
               static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(high)))
                   << 32;
    }

    MOLREC_TARGET_INLINE static std::uint64_t equal(__m256i low, __m256i high, char c) {
        const __m256i same = _mm256_set1_epi8(c);
        return mask_of(_mm256_cmpeq_epi8(low, same), _mm256_cmpeq_epi8(high, same));
    }

    MOLREC_TARGET_INLINE static Masks classify(const char* p) {
        const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
        const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32));
        // The four blanks differ in their low four bits: look up by these the one character
        // that would be a blank. 15 and 0 stand where there is none.
        const __m256i blank_of = _mm256_setr_epi8(
            ' ', 15, 15, 15, 15, 15, 15, 15, 15, '\t', '\n', 15, 15, '\r', 15, 0,
            ' ', 15, 15, 15, 15, 15, 15, 15, 15, '\t', '\n', 15, 15, '\r', 15, 0);
        return {mask_of(_mm256_cmpeq_epi8(_mm256_shuffle_epi8(blank_of, low), low),
                        _mm256_cmpeq_epi8(_mm256_shuffle_epi8(blank_of, high), high)),
                equal(low, high, '\n'), equal(low, high, '\r')};
    }

    // Write the place of each bit. The first `Usual` are written whether they are there or not,
    // which spares a guess how many there are.
    template <int Usual>
    MOLREC_TARGET_INLINE static std::uint32_t* spread(std::uint64_t bits, std::uint32_t base,
                                                      std::uint32_t* out) {
        const int count = static_cast<int>(_mm_popcnt_u64(bits));
#pragma GCC unroll 24
        for (int k = 0; k < Usual; ++k) {
            out[k] = base + static_cast<std::uint32_t>(_tzcnt_u64(bits));
            bits = _blsr_u64(bits);
        }
        for (int k = Usual; k < count; ++k) {
            out[k] = base + static_cast<std::uint32_t>(_tzcnt_u64(bits));
            bits = _blsr_u64(bits);
        }
        return out + count;
    }

    std::size_t tokens_ = 0;
    std::size_t line_count_ = 0;
    std::uint32_t bounds_[longest + 64];
    std::uint32_t lines_[longest + 64];
};

}  // namespace molrec
#endif
