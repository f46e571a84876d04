// Numbers out of tokens whose bounds are known, without a branch that depends on their digits.
//
// The 16 or 32 bytes that end where the token ends are loaded at once, so that the last digit
// always lies in the last byte: what stands before the token is masked, not skipped. A second load,
// one byte earlier, holds the same text moved by one place: the digits before the point are taken
// from it, those behind the point from the first, and the point is gone. Three multiplications of
// neighbours then join all digits. What this does not understand is left to the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simd.hpp"

#if MOLREC_AVX2
#include <immintrin.h>

#include "number.hpp"
#include "scaling.hpp"

namespace molrec {

// So many bytes before the begin of a token must be readable.
inline constexpr std::ptrdiff_t reach = 32;

namespace detail {

// 32 bytes from here + n let the last n of 32 pass, 16 bytes the last n - 16 of 16.
alignas(64) inline constexpr unsigned char last_bytes[64] = {
    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
};

MOLREC_TARGET_INLINE __m256i load_32(const void* p) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
MOLREC_TARGET_INLINE __m128i load_16(const void* p) {
    return _mm_loadu_si128(static_cast<const __m128i*>(p));
}
MOLREC_TARGET_INLINE __m128i low_half(__m256i wide) { return _mm256_castsi256_si128(wide); }

}  // namespace detail

// What each token is compared with, and the weights of neighbours: 10, 100 and 10000, each with 1.
struct Constants {
    __m256i point, zero, nine, tens, hundreds, myriads;
};

// Compilers think it cheap to make a constant anew for each token. Hiding where it comes from keeps
// it in a register.
MOLREC_TARGET_INLINE __m256i keep(__m256i constant) {
    asm("" : "+x"(constant));
    return constant;
}

MOLREC_TARGET_INLINE Constants make_constants() {
    return {keep(_mm256_set1_epi8('.')),         keep(_mm256_set1_epi8('0')),
            keep(_mm256_set1_epi8(9)),           keep(_mm256_set1_epi16(0x010a)),
            keep(_mm256_set1_epi32(0x00010064)), keep(_mm256_set1_epi32(0x00012710))};
}

namespace detail {

struct Digits {
    std::uint64_t value;
    unsigned decimals;
};

// Two values of eight digits as one of sixteen.
MOLREC_TARGET_INLINE std::uint64_t join_eights(__m128i eights) {
    const auto both = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
    return (both & 0xffffffff) * 100000000 + (both >> 32);
}

// The value of 16 digits, one a byte; false when one is none.
MOLREC_TARGET_INLINE bool join_16(__m128i digits, const Constants& k, std::uint64_t& value) {
    const __m128i excess = _mm_subs_epu8(digits, low_half(k.nine));
    const __m128i pairs = _mm_maddubs_epi16(digits, low_half(k.tens));
    const __m128i fours = _mm_madd_epi16(pairs, low_half(k.hundreds));
    const __m128i packed = _mm_packus_epi32(fours, fours);
    value = join_eights(_mm_madd_epi16(packed, low_half(k.myriads)));
    return _mm_testz_si128(excess, excess);
}

// The value of 32 digits, one a byte; false when one is none, or for more than 64 bits surely hold.
MOLREC_TARGET_INLINE bool join_32(__m256i digits, const Constants& k, std::uint64_t& value) {
    const __m256i excess = _mm256_subs_epu8(digits, k.nine);
    const __m256i pairs = _mm256_maddubs_epi16(digits, k.tens);
    const __m256i fours = _mm256_madd_epi16(pairs, k.hundreds);
    const __m256i packed = _mm256_packus_epi32(fours, fours);
    const __m256i eights = _mm256_madd_epi16(packed, k.myriads);
    const std::uint64_t head = join_eights(low_half(eights));
    value = head * 10000000000000000u + join_eights(_mm256_extracti128_si256(eights, 1));
    return _mm256_testz_si256(excess, excess) && head < 1000;
}

// Read digits with at most one point: `size` bytes before `end`, 1 to 16, of which at most 15 may
// be digits, so that a double holds their value.
MOLREC_TARGET_INLINE bool read_short(const char* end, std::uint32_t size, const Constants& k,
                                     Digits& out) {
    const __m128i text = load_16(end - 16);
    const __m128i moved = load_16(end - 17);
    const __m128i is_point = _mm_cmpeq_epi8(text, low_half(k.point));
    // From the highest bit on: the last byte, the one before, …
    std::uint32_t points = static_cast<std::uint32_t>(_mm_movemask_epi8(is_point)) << 16;
    points &= ~0u << (32 - size);
    // How many bytes follow the last point, 32 without one. Another point is no digit.
    const unsigned behind = _lzcnt_u32(points);
    const unsigned count = size - (points != 0);
    const __m128i joined = _mm_blendv_epi8(moved, text, load_16(last_bytes + 16 + behind));
    const __m128i digits = _mm_and_si128(_mm_sub_epi8(joined, low_half(k.zero)),
                                         load_16(last_bytes + 16 + count));
    out.decimals = behind % 32;
    return join_16(digits, k, out.value) && count - 1 < 15;
}

// The same for 1 to 32 bytes and the digits that 64 bits hold.
MOLREC_TARGET_INLINE bool read_long(const char* end, std::uint32_t size, const Constants& k,
                                    Digits& out) {
    const __m256i text = load_32(end - 32);
    const __m256i moved = load_32(end - 33);
    const __m256i is_point = _mm256_cmpeq_epi8(text, k.point);
    std::uint32_t points = static_cast<std::uint32_t>(_mm256_movemask_epi8(is_point));
    points &= ~0u << (32 - size);
    const unsigned behind = _lzcnt_u32(points);
    const unsigned count = size - (points != 0);
    const __m256i joined = _mm256_blendv_epi8(moved, text, load_32(last_bytes + behind));
    const __m256i digits = _mm256_and_si256(_mm256_sub_epi8(joined, k.zero),
                                            load_32(last_bytes + count));
    out.decimals = behind % 32;
    return join_32(digits, k, out.value) && count != 0;
}

// 1 for '-', else 0. A comparison would end in a byte-wide register write, which waits for what
// that register held: the last token's result.
MOLREC_TARGET_INLINE std::uint32_t count_minus(const char* p) {
    const std::uint32_t difference = static_cast<unsigned char>(*p) ^ static_cast<unsigned>('-');
    return (difference - 1) >> 31;
}

MOLREC_TARGET_INLINE double with_sign(double magnitude, std::uint32_t negative) {
    std::uint64_t bits;
    std::memcpy(&bits, &magnitude, 8);
    bits ^= static_cast<std::uint64_t>(negative) << 63;
    std::memcpy(&magnitude, &bits, 8);
    return magnitude;
}

MOLREC_TARGET_INLINE double as_double(std::uint64_t value) {
    return static_cast<double>(static_cast<std::int64_t>(value));
}

// value × 10^power where both are exact doubles: the one operation rounds once (Clinger 1990).
MOLREC_TARGET_INLINE bool scale_exact(std::uint64_t value, int power, double& magnitude) {
    if (value > 1ull << 53 || power < -22 || power > 22) return false;
    magnitude = power < 0 ? as_double(value) / power_of_ten[-power]
                          : as_double(value) * power_of_ten[power];
    return true;
}

MOLREC_TARGET_INLINE bool scale_rounded(std::uint64_t value, int power, double& magnitude) {
    std::uint64_t bits;
    if (value == 0 || power < least_power || power > greatest_power) return false;
    if (!scale_decimal(value, power, bits)) return false;
    std::memcpy(&magnitude, &bits, 8);
    return true;
}

// "e-05" and the like before `end`; as much as most programs print.
MOLREC_TARGET_INLINE bool read_exponent(const char* end, unsigned dialect, int& power) {
    const char letter = end[-4] | 0x20;
    const unsigned tens = static_cast<unsigned char>(end[-2] - '0');
    const unsigned ones = static_cast<unsigned char>(end[-1] - '0');
    const bool minus = end[-3] == '-';
    power = static_cast<int>(tens * 10 + ones);
    if (minus) power = -power;
    return (letter == 'e' || (dialect & fortran) != 0) && (minus || end[-3] == '+') && tens < 10 &&
           ones < 10;
}

// The part of quick_real for tokens that end in an exponent.
MOLREC_TARGET_INLINE bool quick_scientific(const char* end, std::uint32_t size, unsigned dialect,
                                           const Constants& k, double& magnitude) {
    int power;
    Digits digits;
    if (!read_exponent(end, dialect, power)) return false;
    end -= 4;
    size -= 4;
    if (size <= 16 && read_short(end, size, k, digits)) [[likely]] {
        power -= static_cast<int>(digits.decimals);
        return scale_exact(digits.value, power, magnitude) ||
               scale_rounded(digits.value, power, magnitude);
    }
    if (size > 32 || !read_long(end, size, k, digits)) return false;
    power -= static_cast<int>(digits.decimals);
    return scale_rounded(digits.value, power, magnitude) ||
           scale_exact(digits.value, power, magnitude);
}

}  // namespace detail

// Read the token of `size` bytes at `begin`; false leaves it to parse_real.
MOLREC_TARGET_INLINE bool quick_real(const char* begin, std::uint32_t size, unsigned dialect,
                                     const Constants& k, double& value) {
    const std::uint32_t negative = detail::count_minus(begin);
    const char* const end = begin + size;
    size -= negative;
    double magnitude;
    detail::Digits digits;
    // 'd' and 'e' differ in their lowest bit.
    if (size > 4 && (end[-4] | 0x21) == 'e') {
        if (!detail::quick_scientific(end, size, dialect, k, magnitude)) return false;
    } else if (size - 1 < 16 && detail::read_short(end, size, k, digits)) [[likely]] {
        magnitude = detail::as_double(digits.value) / power_of_ten[digits.decimals];
    } else {
        if (size - 1 >= 32 || !detail::read_long(end, size, k, digits)) return false;
        const int power = -static_cast<int>(digits.decimals);
        if (!detail::scale_rounded(digits.value, power, magnitude) &&
            !detail::scale_exact(digits.value, power, magnitude)) {
            return false;
        }
    }
    value = detail::with_sign(magnitude, negative);
    return true;
}

// Read an unsigned integer of 1 to 16 digits; false leaves it to the whole-token parsers.
MOLREC_TARGET_INLINE bool quick_natural(const char* begin, std::uint32_t size, const Constants& k,
                                        std::uint64_t& value) {
    if (size - 1 >= 16) return false;
    const __m128i text = detail::load_16(begin + size - 16);
    const __m128i digits = _mm_and_si128(_mm_sub_epi8(text, detail::low_half(k.zero)),
                                         detail::load_16(detail::last_bytes + 16 + size));
    return detail::join_16(digits, k, value);
}

MOLREC_TARGET_INLINE bool quick_integer(const char* begin, std::uint32_t size, const Constants& k,
                                        std::int64_t& value) {
    const std::uint32_t negative = detail::count_minus(begin);
    std::uint64_t natural;
    if (!quick_natural(begin + negative, size - negative, k, natural)) return false;
    const auto sign = -static_cast<std::int64_t>(negative);
    value = (static_cast<std::int64_t>(natural) ^ sign) - sign;
    return true;
}

}  // namespace molrec
#endif
