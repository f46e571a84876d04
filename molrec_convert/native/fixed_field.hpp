// Numbers in the columns of a line, and the lines between rows: what the scanners of fixed columns share.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "number.hpp"

namespace molrec {

// A line that is no row, and where its text lies.
struct Other {
    std::int64_t line, start, stop;
};

inline void trim(const char*& start, const char*& stop) {
    while (start != stop && is_blank(*start)) ++start;
    while (start != stop && is_blank(stop[-1])) --stop;
}

// Read a plain decimal that ends with its field of 1 to 8 columns, as -12.345 does, at once: blanks, a sign, digits
// and a point among them. False asks for another way.
inline bool read_aligned(const char* start, const char* stop, const char* last, double& value) {
    constexpr std::uint64_t ones = 0x0101010101010101ull;
    constexpr std::uint64_t tops = 0x80 * ones;
    const auto width = static_cast<unsigned>(stop - start);
    if (width - 1 > 7 || start > last) return false;
    // The field is moved to the last bytes, with blanks before it; below 8 * n bits lie n bytes.
    const unsigned left = 64 - 8 * width;
    const std::uint64_t text =
        ((load_digits(start) ^ '0' * ones) << left) | (' ' * ones & ((1ull << left) - 1));
    if ((text & tops) != 0) return false;
    const std::uint64_t digits = text ^ '0' * ones;
    const std::uint64_t others = (digits + 0x76 * ones) & tops;
    const auto before = static_cast<unsigned>(std::countr_one(others | ~tops)) & ~7u;
    if (before == 64) return false;
    const std::uint64_t behind = others >> before;
    const auto whole = static_cast<unsigned>(std::countr_zero(behind)) & ~7u;
    const unsigned point = before + whole;
    if (behind == 0 || (behind & (behind - 1)) != 0 || ((text >> point) & 0xff) != '.') return false;
    // Before the digits stand blanks, or blanks and a sign.
    const std::uint64_t head = (1ull << before) - 1;
    const std::uint64_t odd = (text ^ ' ' * ones) & head;
    const std::uint64_t sign = (static_cast<std::uint64_t>(' ' ^ '-') << before) >> 8;
    if (((odd != 0) & (odd != sign)) != 0) return false;
    const std::uint64_t below = (1ull << point) - 1;
    const std::uint64_t joined = ((digits & below & ~head) << 8) | (digits & ~below & ~(0xffull << point));
    const double magnitude =
        static_cast<double>(static_cast<std::int64_t>(join_eight(joined))) / power_of_ten[7 - point / 8];
    value = with_sign(magnitude, odd != 0);
    return true;
}

// A number may be glued to what stands in the next field: then the fast way reads too far.
inline Status read_real(const char* p, const char* stop, const char* last, double& value) {
    if (fast_real(p, last, value) == stop) return Status::ok;
    return parse_real(p, stop, 0, value);
}

inline nanobind::object array_of(const std::vector<Other>& others) {
    namespace nb = nanobind;
    const nb::object empty = nb::module_::import_("numpy").attr("empty");
    nb::object array = empty(nb::make_tuple(others.size(), 3), "i8");
    if (!others.empty()) {
        auto view = nb::cast<nb::ndarray<std::int64_t, nb::ndim<2>, nb::c_contig>>(array);
        std::memcpy(view.data(), others.data(), others.size() * sizeof(Other));
    }
    return array;
}

}  // namespace molrec
