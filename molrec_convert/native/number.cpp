#include "number.hpp"

#include <charconv>
#include <limits>
#include <string>

#ifndef __cpp_lib_to_chars
#error "std::from_chars for double is needed; without it the numpy twin of this module serves"
#endif

namespace molrec {
namespace {

bool same_word(const char* begin, const char* end, const char* word) {
    for (; begin != end && *word != '\0'; ++begin, ++word) {
        if ((*begin | 0x20) != *word) return false;
    }
    return begin == end && *word == '\0';
}

const char* skip_digits(const char* p, const char* end) {
    while (p != end && is_digit(*p)) ++p;
    return p;
}

// Where the pieces of a decimal lie: [begin, mantissa_end) digits with a point, then the
// exponent's sign and digits in [exponent, end).
struct Decimal {
    const char* begin;
    const char* mantissa_end;
    const char* exponent;
    const char* end;
    bool plain;  // spelled as std::from_chars wants it
};

bool split_decimal(const char* p, const char* end, unsigned dialect, Decimal& out) {
    out.begin = p;
    out.end = end;
    out.plain = true;
    const char* q = skip_digits(p, end);
    std::ptrdiff_t digits = q - p;
    if (q != end && *q == '.') {
        const char* fraction = q + 1;
        q = skip_digits(fraction, end);
        digits += q - fraction;
    }
    if (digits == 0) return false;
    out.mantissa_end = out.exponent = q;
    if (q == end) return true;

    const char letter = *q | 0x20;
    if (letter == 'e') {
        ++q;
    } else if ((dialect & fortran) && letter == 'd') {
        out.plain = false;
        ++q;
    } else if ((dialect & fortran) && (*q == '+' || *q == '-')) {
        // Fortran drops the letter only when the exponent takes all three digits of its field.
        if (end - q != 4) return false;
        out.plain = false;
    } else if ((dialect & mathematica) && end - q > 2 && q[0] == '*' && q[1] == '^') {
        out.plain = false;
        q += 2;
    } else {
        return false;
    }
    out.exponent = q;
    if (q != end && (*q == '+' || *q == '-')) ++q;
    return q != end && skip_digits(q, end) == end;
}

// Decides between zero and infinity once the magnitude is known to be out of range: the power
// of ten of the first digit that is not zero, saturated.
bool overflows(const Decimal& text) {
    const char* point = text.begin;
    while (point != text.mantissa_end && *point != '.') ++point;
    const char* first = text.begin;
    while (first != text.mantissa_end && (*first == '0' || *first == '.')) ++first;
    const long long magnitude = first < point ? point - first : point - first + 1;

    const char* p = text.exponent;
    bool minus = false;
    if (p != text.end && (*p == '+' || *p == '-')) minus = *p++ == '-';
    long long power = 0;
    for (; p != text.end && power < (1ll << 56); ++p) power = power * 10 + (*p - '0');
    return magnitude + (minus ? -power : power) > 0;
}

bool all_zero(const Decimal& text) {
    for (const char* p = text.begin; p != text.mantissa_end; ++p) {
        if (*p != '0' && *p != '.') return false;
    }
    return true;
}

double convert(const Decimal& text) {
    double value = 0.0;
    std::from_chars_result result{};
    if (text.plain) {
        result = std::from_chars(text.begin, text.end, value);
    } else {
        std::string spelled(text.begin, text.mantissa_end);
        spelled += 'e';
        spelled.append(text.exponent, text.end);
        result = std::from_chars(spelled.data(), spelled.data() + spelled.size(), value);
    }
    if (result.ec == std::errc::result_out_of_range) {
        if (all_zero(text)) return 0.0;
        return overflows(text) ? std::numeric_limits<double>::infinity() : 0.0;
    }
    return value;
}

}  // namespace

Status parse_real(const char* begin, const char* end, unsigned dialect, double& value) {
    const char* p = begin;
    bool negative = false;
    if (p != end && (*p == '+' || *p == '-')) negative = *p++ == '-';
    double magnitude;
    Decimal text;
    if (split_decimal(p, end, dialect, text)) {
        magnitude = convert(text);
    } else if (same_word(p, end, "nan")) {
        magnitude = std::numeric_limits<double>::quiet_NaN();
    } else if (same_word(p, end, "inf") || same_word(p, end, "infinity")) {
        magnitude = std::numeric_limits<double>::infinity();
    } else {
        return Status::malformed;
    }
    value = negative ? -magnitude : magnitude;
    return Status::ok;
}

Status parse_unsigned(const char* begin, const char* end, std::uint64_t& value) {
    const char* p = begin;
    if (p != end && *p == '+') ++p;
    if (p == end || skip_digits(p, end) != end) return Status::malformed;
    const auto result = std::from_chars(p, end, value);
    return result.ec == std::errc() ? Status::ok : Status::range;
}

Status parse_signed(const char* begin, const char* end, std::int64_t& value) {
    const char* p = begin;
    if (p != end && (*p == '+' || *p == '-')) ++p;
    if (p == end || skip_digits(p, end) != end) return Status::malformed;
    const auto result = std::from_chars(*begin == '+' ? p : begin, end, value);
    return result.ec == std::errc() ? Status::ok : Status::range;
}

}  // namespace molrec
