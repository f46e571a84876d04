#include "decimal.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "number.hpp"

namespace molrec {
namespace {

struct Pairs {
    char text[200];
};

constexpr Pairs make_pairs() {
    Pairs pairs{};
    for (int i = 0; i < 100; ++i) {
        pairs.text[2 * i] = static_cast<char>('0' + i / 10);
        pairs.text[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
    return pairs;
}

constexpr Pairs pairs = make_pairs();

int count_digits(std::uint64_t value) {
    value |= 1;  // zero has one digit
    const int guess = (64 - std::countl_zero(value)) * 1233 >> 12;
    return guess + (guess < 20 && value >= integer_power_of_ten[guess]);
}

char* write_special(char* out, double value) {
    if (std::isnan(value)) {
        std::memcpy(out, "nan", 3);
        return out + 3;
    }
    if (value < 0) *out++ = '-';
    std::memcpy(out, "inf", 3);
    return out + 3;
}

// Lay out a positive number: `count` significant digits without trailing zeros, the first one
// worth 10^power.
char* lay_out(char* out, const char* digits, int count, int power, Layout layout) {
    const int limit = layout == Layout::python ? 16 : (count > 6 ? count : 6);
    if (power < -4 || power >= limit) {
        *out++ = digits[0];
        if (count > 1) {
            *out++ = '.';
            std::memcpy(out, digits + 1, static_cast<std::size_t>(count - 1));
            out += count - 1;
        }
        *out++ = 'e';
        *out++ = power < 0 ? '-' : '+';
        const int size = power < 0 ? -power : power;
        const int width = size >= 100 ? 3 : 2;
        write_digits_before(out + width, static_cast<std::uint64_t>(size), width);
        return out + width;
    }
    if (power < 0) {
        std::memcpy(out, "0.0000", 6);
        out += 1 - power;
        std::memcpy(out, digits, static_cast<std::size_t>(count));
        return out + count;
    }
    const int whole = power + 1;
    if (count > whole) {
        std::memcpy(out, digits, static_cast<std::size_t>(whole));
        out[whole] = '.';
        std::memcpy(out + whole + 1, digits + whole, static_cast<std::size_t>(count - whole));
        return out + count + 1;
    }
    std::memcpy(out, digits, static_cast<std::size_t>(count));
    std::memset(out + count, '0', static_cast<std::size_t>(whole - count));
    out += whole;
    if (layout == Layout::python) {
        std::memcpy(out, ".0", 2);
        out += 2;
    }
    return out;
}

// Try value = mantissa / 10^decimals with at most 15 digits. If the division gives the value
// back, the decimal text reads back to it; and no two decimals of 15 digits share a double, so
// after dropping trailing zeros no shorter text can do.
bool short_mantissa(double value, int decimals, std::uint64_t& mantissa) {
    const double scaled = value * power_of_ten[decimals];
    if (!(scaled < 999999999999999.0)) return false;
    const auto rounded = static_cast<std::int64_t>(scaled + 0.5);
    if (static_cast<double>(rounded) / power_of_ten[decimals] != value) return false;
    mantissa = static_cast<std::uint64_t>(rounded);
    return mantissa != 0;
}

bool find_short_mantissa(double value, DecimalsHint& hint, std::uint64_t& mantissa) {
    if (short_mantissa(value, hint.decimals, mantissa)) {
        if (hint.misses > 0) --hint.misses;
        return true;
    }
    // A column of full precision never takes this way: stop trying after a while.
    if (hint.misses >= 16) return false;
    for (const int decimals : {4, 6, 8, 10, 12, 15}) {
        if (short_mantissa(value, decimals, mantissa)) {
            hint.decimals = decimals;
            return true;
        }
    }
    hint.misses += 2;
    return false;
}

}  // namespace

void write_digits_before(char* end, std::uint64_t value, int width) {
    for (; width >= 2; width -= 2) {
        end -= 2;
        std::memcpy(end, pairs.text + 2 * (value % 100), 2);
        value /= 100;
    }
    if (width == 1) *--end = static_cast<char>('0' + value % 10);
}

char* write_natural(char* out, unsigned long long value) {
    const int width = count_digits(value);
    write_digits_before(out + width, value, width);
    return out + width;
}

char* write_integer(char* out, long long value) {
    auto magnitude = static_cast<unsigned long long>(value);
    if (value < 0) {
        *out++ = '-';
        magnitude = 0 - magnitude;
    }
    return write_natural(out, magnitude);
}

char* write_shortest(char* out, double value, Layout layout, DecimalsHint& hint) {
    if (!std::isfinite(value)) return write_special(out, value);
    if (std::signbit(value)) {
        *out++ = '-';
        value = -value;
    }
    if (value == 0) return lay_out(out, "0", 1, 0, layout);

    char digits[shortest_width];
    std::uint64_t mantissa;
    if (find_short_mantissa(value, hint, mantissa)) {
        int count = count_digits(mantissa);
        const int power = count - 1 - hint.decimals;
        write_digits_before(digits + count, mantissa, count);
        while (digits[count - 1] == '0') --count;
        return lay_out(out, digits, count, power, layout);
    }
    // d.ddde±xx
    char text[shortest_width];
    const auto result =
        std::to_chars(text, text + sizeof text, value, std::chars_format::scientific);
    const char* letter = result.ptr - 1;
    while (*letter != 'e') --letter;
    int power = 0;
    for (const char* p = letter + 2; p != result.ptr; ++p) power = power * 10 + (*p - '0');
    if (letter[1] == '-') power = -power;
    digits[0] = text[0];
    int count = 1;
    if (text[1] == '.') {
        const auto rest = static_cast<std::size_t>(letter - text - 2);
        std::memcpy(digits + 1, text + 2, rest);
        count += static_cast<int>(rest);
    }
    return lay_out(out, digits, count, power, layout);
}

char* write_fixed(char* out, double value, int decimals) {
    if (!std::isfinite(value)) return write_special(out, value);
#ifdef __SIZEOF_INT128__
    // value = fraction · 2^-shift, so value · 10^decimals can be rounded half to even exactly
    // in 128 bits: 53 bits times at most 10^17.
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int biased = static_cast<int>((bits >> 52) & 0x7ff);
    if (decimals <= 17 && biased < 1023 + 53) {
        __extension__ using Wide = unsigned __int128;
        const std::uint64_t low = bits & ((1ull << 52) - 1);
        const std::uint64_t fraction = biased == 0 ? low : low | (1ull << 52);
        const int shift = 1075 - (biased == 0 ? 1 : biased);
        const Wide scaled = static_cast<Wide>(fraction) * integer_power_of_ten[decimals];
        Wide quotient = 0;
        if (shift == 0) {
            quotient = scaled;
        } else if (shift < 120) {
            quotient = scaled >> shift;
            const Wide rest = scaled - (quotient << shift);
            const Wide half = static_cast<Wide>(1) << (shift - 1);
            if (rest > half || (rest == half && (quotient & 1))) ++quotient;
        }
        if (quotient < 10000000000000000000ull) {
            if (bits >> 63) *out++ = '-';
            const auto scaled_value = static_cast<std::uint64_t>(quotient);
            const std::uint64_t unit = integer_power_of_ten[decimals];
            out = write_natural(out, scaled_value / unit);
            if (decimals > 0) {
                *out++ = '.';
                write_digits_before(out + decimals, scaled_value % unit, decimals);
                out += decimals;
            }
            return out;
        }
    }
#endif
    const auto room = static_cast<std::ptrdiff_t>(fixed_width(decimals));
    return std::to_chars(out, out + room, value, std::chars_format::fixed, decimals).ptr;
}

}  // namespace molrec
