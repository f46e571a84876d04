#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "number.hpp"
#include "simd.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace molrec {

double parse_real_text(nb::bytes text, unsigned dialect) {
    double value;
    const char* begin = text.c_str();
    if (parse_real(begin, begin + text.size(), dialect, value) != Status::ok) {
        throw nb::value_error("not a number");
    }
    return value;
}

std::int64_t parse_integer_text(nb::bytes text) {
    std::int64_t value;
    const char* begin = text.c_str();
    switch (parse_signed(begin, begin + text.size(), value)) {
        case Status::ok: return value;
        case Status::range: throw std::overflow_error("out of range");
        default: throw nb::value_error("not an integer");
    }
}

}  // namespace molrec

NB_MODULE(_native, m) {
    m.doc() = "Numbers in text, read and printed at memory speed";
    m.def("scan_table", &molrec::scan_table, "data"_a, "kinds"_a, "rows"_a, "dialect"_a);
    m.def("scan_numbers", &molrec::scan_numbers, "data"_a, "dialect"_a, "limit"_a);
    m.def("scan_fixed", &molrec::scan_fixed, "data"_a, "layout"_a, "rows"_a, "marked"_a);
    m.def("scan_again", &molrec::scan_again, "data"_a, "like"_a, "layout"_a, "marked"_a);
    m.def("find_line", &molrec::find_line, "data"_a, "start"_a, "marked"_a);
    m.def("skip_lines", &molrec::skip_lines, "data"_a, "start"_a, "count"_a);
    m.def("find_runs", &molrec::find_runs, "data"_a, "start"_a, "head"_a, "body"_a, "most"_a);
    m.def("count_lines", &molrec::count_lines, "data"_a);
    m.def("format_table", &molrec::format_table, "columns"_a, "styles"_a, "separator"_a,
          "terminator"_a, "widths"_a = nb::list());
    m.def("format_grid", &molrec::format_grid, "fields"_a, "row"_a, "per_line"_a, "width"_a,
          "decimals"_a, "head"_a);
    m.def("join", &molrec::join, "pieces"_a);
    m.def("shuffle", &molrec::shuffle, "data"_a, "itemsize"_a);
    m.def("unshuffle", &molrec::unshuffle, "data"_a, "itemsize"_a);
    m.def("quantize", &molrec::quantize, "values"_a, "step"_a, "groups"_a);
    m.def("parse_real", &molrec::parse_real_text, "text"_a, "dialect"_a);
    m.def("parse_integer", &molrec::parse_integer_text, "text"_a);
    m.def("_set_simd", &molrec::set_simd, "level"_a);
}
