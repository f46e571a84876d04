// What the module offers to Python; each function is the twin of one in text/_fallback*.py.
#pragma once

#include <cstdint>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace molrec {

nanobind::tuple scan_table(nanobind::handle data, const std::string& kinds, std::int64_t rows,
                           unsigned dialect);
nanobind::tuple scan_numbers(nanobind::handle data, unsigned dialect, std::int64_t limit);
nanobind::tuple scan_fixed(nanobind::handle data, nanobind::list layout, std::int64_t rows,
                           nanobind::list marked);
nanobind::object scan_again(nanobind::handle data, nanobind::handle like, nanobind::list layout,
                            nanobind::list marked);
nanobind::tuple find_line(nanobind::handle data, std::size_t start, nanobind::list marked);
nanobind::tuple skip_lines(nanobind::handle data, std::size_t start, std::uint64_t count);
nanobind::list find_runs(nanobind::handle data, std::size_t start, std::uint64_t head,
                         std::uint64_t body, std::size_t most);
std::uint64_t count_lines(nanobind::handle data);
nanobind::bytes format_table(nanobind::list columns, nanobind::list styles,
                             nanobind::bytes separator, nanobind::bytes terminator,
                             nanobind::list widths);
nanobind::bytes format_grid(nanobind::list fields, std::size_t row, std::size_t per_line,
                            std::size_t width, int decimals, nanobind::bytes head);
nanobind::bytes join(nanobind::list pieces);
nanobind::bytes shuffle(nanobind::handle data, std::size_t itemsize);
nanobind::bytes unshuffle(nanobind::handle data, std::size_t itemsize);
nanobind::tuple quantize(
    nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig> values, double step,
    std::size_t groups);
double parse_real_text(nanobind::bytes text, unsigned dialect);
std::int64_t parse_integer_text(nanobind::bytes text);

}  // namespace molrec
