// The one grammar of numbers in text: what Python's float() and int() accept for ASCII
// decimal text, without underscores, plus the exponent spellings a dialect asks for.
#pragma once

#include <bit>
#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Extended intermediate precision would spoil the exact fast path below.
static_assert(FLT_EVAL_METHOD == 0, "double arithmetic must round to double");

namespace molrec {

enum Dialect : unsigned {
    fortran = 1,      // 1.0D+02, and 1.0-101 where three digits push the letter out
    mathematica = 2,  // 1.5*^-5
};

enum class Status { ok, malformed, range };

// Whole tokens, any length; the reference the fast paths fall back on.
Status parse_real(const char* begin, const char* end, unsigned dialect, double& value);
Status parse_signed(const char* begin, const char* end, std::int64_t& value);
Status parse_unsigned(const char* begin, const char* end, std::uint64_t& value);

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Whether the line ends at p; a byte after '\r' must be readable.
inline bool at_line_end(const char* p) { return *p == '\n' || (*p == '\r' && p[1] == '\n'); }
inline bool at_token_end(const char* p) { return is_blank(*p) || at_line_end(p); }

inline const char* skip_blanks(const char* p) {
    while (is_blank(*p)) ++p;
    return p;
}

inline const char* find_token_end(const char* p) {
    while (!at_token_end(p)) ++p;
    return p;
}

inline constexpr std::uint64_t integer_power_of_ten[] = {
    1ull,
    10ull,
    100ull,
    1000ull,
    10000ull,
    100000ull,
    1000000ull,
    10000000ull,
    100000000ull,
    1000000000ull,
    10000000000ull,
    100000000000ull,
    1000000000000ull,
    10000000000000ull,
    100000000000000ull,
    1000000000000000ull,
    10000000000000000ull,
    100000000000000000ull,
    1000000000000000000ull,
    10000000000000000000ull,
};

// Powers of ten that are exact in binary64.
inline constexpr double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Eight bytes of text with the first character in the lowest byte, each digit as its value.
inline std::uint64_t load_digits(const char* p) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    if constexpr (std::endian::native == std::endian::big) {
        std::uint64_t swapped = 0;
        for (int i = 0; i < 8; ++i) swapped |= ((word >> (8 * i)) & 0xff) << (56 - 8 * i);
        word = swapped;
    }
    return word ^ 0x3030303030303030ull;
}

// How many of the first bytes are digits (0 to 8). A carry out of a byte that is no digit only
// spoils later bytes, which do not count.
inline unsigned leading_digits(std::uint64_t digits) {
    const std::uint64_t marks = ((digits + 0x7676767676767676ull) | digits) & 0x8080808080808080ull;
    return static_cast<unsigned>(std::countr_zero(marks)) >> 3;
}

// The value of eight digits.
inline std::uint64_t join_eight(std::uint64_t digits) {
    digits = digits * 10 + (digits >> 8);
    const std::uint64_t low = (digits & 0x000000ff000000ffull) * 0x000f424000000064ull;
    const std::uint64_t high = ((digits >> 16) & 0x000000ff000000ffull) * 0x0000271000000001ull;
    return (low + high) >> 32;
}

// The value of the first n digits, n from 0 to 7.
inline std::uint64_t join_some(std::uint64_t digits, unsigned n) {
    return join_eight((digits << 8) << (56 - 8 * n));
}

// Read an unsigned digit string of 1 to 15 digits at p, reading words no later than `last`.
// Returns where it stopped, or nullptr to ask for the whole-token parser.
inline const char* fast_digits(const char* p, const char* last, std::uint64_t& value) {
    if (p > last) return nullptr;
    std::uint64_t word = load_digits(p);
    unsigned n = leading_digits(word);
    if (n < 8) {
        if (n == 0) return nullptr;
        value = join_some(word, n);
        return p + n;
    }
    const std::uint64_t head = join_eight(word);
    p += 8;
    if (p > last) return nullptr;
    word = load_digits(p);
    n = leading_digits(word);
    if (n == 8) return nullptr;
    value = head * integer_power_of_ten[n] + join_some(word, n);
    return p + n;
}

inline const char* fast_signed(const char* p, const char* last, std::int64_t& value) {
    const bool negative = *p == '-';
    std::uint64_t digits;
    p = fast_digits(p + negative, last, digits);
    if (p == nullptr) return nullptr;
    value = negative ? -static_cast<std::int64_t>(digits) : static_cast<std::int64_t>(digits);
    return p;
}

// Signs come in no order, which a branch could not foresee.
inline double with_sign(double magnitude, bool negative) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) |
                                 static_cast<std::uint64_t>(negative) << 63);
}

// Read a plain decimal at p. Exact when mantissa and power of ten are both exact doubles: then
// one multiplication or division rounds once (Clinger 1990). Otherwise nullptr, as above. Looks
// at no more than 32 bytes.
inline const char* fast_real(const char* p, const char* last, double& value) {
    const bool negative = *p == '-';
    p += negative;
    if (p > last) return nullptr;
    std::uint64_t word = load_digits(p);
    unsigned n = leading_digits(word);
    if (n == 0 || n == 8) return nullptr;
    std::uint64_t mantissa = join_some(word, n);
    int exponent = 0;
    p += n;
    if (*p == '.') {
        if (++p > last) return nullptr;
        word = load_digits(p);
        n = leading_digits(word);
        if (n < 8) {
            mantissa = mantissa * integer_power_of_ten[n] + join_some(word, n);
            exponent = -static_cast<int>(n);
            p += n;
        } else {
            mantissa = mantissa * 100000000u + join_eight(word);
            p += 8;
            if (p > last) return nullptr;
            word = load_digits(p);
            n = leading_digits(word);
            // Up to 7 + 8 + 4 digits fit 64 bits.
            if (n > 4) return nullptr;
            mantissa = mantissa * integer_power_of_ten[n] + join_some(word, n);
            exponent = -8 - static_cast<int>(n);
            p += n;
        }
    }
    if ((*p | 0x20) == 'e') {
        ++p;
        const bool minus = *p == '-';
        if (minus || *p == '+') ++p;
        if (!is_digit(*p)) return nullptr;
        int power = *p++ - '0';
        if (is_digit(*p)) power = power * 10 + (*p++ - '0');
        if (is_digit(*p)) return nullptr;
        exponent += minus ? -power : power;
    }
    if (mantissa > (1ull << 53) || exponent < -22 || exponent > 22) return nullptr;
    const double whole = static_cast<double>(static_cast<std::int64_t>(mantissa));
    const double magnitude =
        exponent < 0 ? whole / power_of_ten[-exponent] : whole * power_of_ten[exponent];
    value = with_sign(magnitude, negative);
    return p;
}

}  // namespace molrec
