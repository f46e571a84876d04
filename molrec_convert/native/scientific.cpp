#include "scientific.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <system_error>

#include "decimal.hpp"
#include "number.hpp"

namespace molrec {
namespace {

// Up to so many decimals the error of scaling in binary64 stays far below `doubt`.
constexpr int most_fast = 9;
constexpr double doubt = 1e-5;

char* write_exponent(char* out, int power) {
    *out++ = 'E';
    *out++ = power < 0 ? '-' : '+';
    const int size = power < 0 ? -power : power;
    const int width = size >= 100 ? 3 : 2;
    write_digits_before(out + width, static_cast<std::uint64_t>(size), width);
    return out + width;
}

}  // namespace

Scientific::Scientific(int decimals) : decimals_(decimals) {
    if (decimals <= most_fast) least_ = power_of_ten[decimals];
    for (int k = -farthest; k <= farthest; ++k) {
        const std::string text = "1e" + std::to_string(k);
        std::from_chars(text.data(), text.data() + text.size(), powers_[k + farthest]);
    }
}

// The digits as an integer and the power of the first one. Scaling rounds twice, in the power of
// ten and in the product: where the result lies so close to a half that this could matter, or out
// of range, false asks for exact arithmetic.
bool Scientific::fast_digits(double size, std::uint64_t& digits, int& power) const {
    if (!(size > 1e-280 && size < 1e280)) return false;
    const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(size) >> 52) - 1023;
    power = (exponent * 1233) >> 12;  // log10(2) = 0.30103
    double scaled = size * powers_[decimals_ - power + farthest];
    if (scaled >= 10 * least_) {
        scaled = size * powers_[decimals_ - ++power + farthest];
    } else if (scaled < least_) {
        scaled = size * powers_[decimals_ - --power + farthest];
    }
    digits = static_cast<std::uint64_t>(scaled);
    const double rest = scaled - static_cast<double>(digits);
    if (rest > 0.5 - doubt && rest < 0.5 + doubt) return false;
    digits += rest > 0.5;
    const auto least = static_cast<std::uint64_t>(least_);
    if (digits >= 10 * least) {
        digits = least;
        ++power;
    }
    return digits >= least;
}

char* Scientific::write(char* out, double value) const {
    if (std::isnan(value)) {
        std::memcpy(out, "nan", 3);
        return out + 3;
    }
    if (std::signbit(value)) {
        *out++ = '-';
        value = -value;
    }
    if (std::isinf(value)) {
        std::memcpy(out, "inf", 3);
        return out + 3;
    }
    std::uint64_t digits = 0;
    int power = 0;
    if (decimals_ <= most_fast && (value == 0 || fast_digits(value, digits, power))) {
        // One place to the right of where they belong, to move the first one in front of a point.
        write_digits_before(out + decimals_ + 2, digits, decimals_ + 1);
        out[0] = out[1];
        if (decimals_ > 0) out[1] = '.';
        return write_exponent(out + (decimals_ > 0 ? decimals_ + 2 : 1), power);
    }
    const auto room = static_cast<std::ptrdiff_t>(scientific_width(decimals_));
    char* const end =
        std::to_chars(out, out + room, value, std::chars_format::scientific, decimals_).ptr;
    char* letter = end - 1;
    while (*letter != 'e') --letter;
    *letter = 'E';
    return end;
}

}  // namespace molrec
