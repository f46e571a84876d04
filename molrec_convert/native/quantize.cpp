// Rounding to whole multiples of a power of two, half to even, in one pass; numpy takes eight.
#include <cmath>
#include <cstddef>
#include <limits>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "bindings.hpp"
#include "unlocked.hpp"

namespace nb = nanobind;

namespace molrec {
namespace {

constexpr double most_quanta = 4503599627370496.0;  // 2^52: reals from here on are whole
constexpr std::size_t gigabyte_of_text = 8;         // as many bytes of text take as long as one of reals

// Adding 2^52 leaves no room for fractions, so that the addition rounds.
double to_whole(double value) {
    const double shift = std::copysign(most_quanta, value);
    return std::copysign((value + shift) - shift, value);
}

double round_group(const double* from, double* to, std::size_t count, double step) {
    const double inverse = 1.0 / step;  // exact: both are powers of two
    double largest = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
        const double value = from[i];
        const double quanta = value * inverse;
        const double size = std::fabs(value);
        // False for what is not a number, too.
        to[i] = std::fabs(quanta) < most_quanta ? to_whole(quanta) * step : value;
        largest = size <= std::numeric_limits<double>::max() && size > largest ? size : largest;
    }
    return largest;
}

}  // namespace

nb::tuple quantize(nb::ndarray<const double, nb::ndim<1>, nb::c_contig> values, double step,
                   std::size_t groups) {
    const std::size_t count = values.shape(0);
    if (groups == 0 || count % groups != 0) throw nb::value_error("the groups are not even");
    const nb::object empty = nb::module_::import_("numpy").attr("empty");
    nb::object stored = empty(count, "f8"), largest = empty(groups, "f8");
    double* const to = nb::cast<nb::ndarray<double, nb::ndim<1>>>(stored).data();
    double* const sizes = nb::cast<nb::ndarray<double, nb::ndim<1>>>(largest).data();
    {
        const Unlocked unlocked(count * sizeof(double) / gigabyte_of_text);
        const std::size_t each = count / groups;
        for (std::size_t k = 0; k < groups; ++k) {
            sizes[k] = round_group(values.data() + k * each, to + k * each, each, step);
        }
    }
    return nb::make_tuple(stored, largest);
}

}  // namespace molrec
