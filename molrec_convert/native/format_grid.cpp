// The values of a grid as lines of fields, in the layout of volumetric files.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "bindings.hpp"
#include "scientific.hpp"
#include "unlocked.hpp"

namespace nb = nanobind;

namespace molrec {
namespace {

using Field = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;

struct Values {
    const char* data;
    std::ptrdiff_t stride;  // bytes

    double at(std::size_t point) const {
        double value;
        std::memcpy(&value, data + static_cast<std::ptrdiff_t>(point) * stride, sizeof value);
        return value;
    }
};

// Right-aligned in its field; what fills the field or more has a blank before it, unless it
// begins a line.
char* write_field(char* out, const Scientific& number, double value, std::size_t width,
                  bool begins) {
    char text[1024 + 16];
    const auto size = static_cast<std::size_t>(number.write(text, value) - text);
    const std::size_t blanks = size < width ? width - size : (begins ? 0 : 1);
    std::memset(out, ' ', blanks);
    std::memcpy(out + blanks, text, size);
    return out + blanks + size;
}

char* write_lines(char* p, const std::vector<Values>& fields, std::size_t points, std::size_t row,
                  std::size_t per_line, std::size_t width, const Scientific& number) {
    std::size_t in_line = 0;
    for (std::size_t start = 0; start < points; start += row) {
        for (std::size_t point = start; point < start + row; ++point) {
            for (const Values& field : fields) {
                if (in_line == per_line) {
                    *p++ = '\n';
                    in_line = 0;
                }
                p = write_field(p, number, field.at(point), width, in_line == 0);
                ++in_line;
            }
        }
        *p++ = '\n';
        in_line = 0;
    }
    return p;
}

}  // namespace

nb::bytes format_grid(nb::list columns, std::size_t row, std::size_t per_line, std::size_t width,
                      int decimals, nb::bytes head) {
    if (decimals < 0 || decimals > 1000) throw nb::value_error("decimals lie between 0 and 1000");
    if (per_line < 1) throw nb::value_error("a line has at least one value");
    std::vector<Field> arrays;
    std::vector<Values> fields;
    for (nb::handle column : columns) {
        arrays.push_back(nb::cast<Field>(column));
        fields.push_back({reinterpret_cast<const char*>(arrays.back().data()),
                          static_cast<std::ptrdiff_t>(arrays.back().stride(0) * sizeof(double))});
        if (arrays.back().shape(0) != arrays[0].shape(0)) {
            throw nb::value_error("the fields differ in length");
        }
    }
    const std::size_t points = arrays.empty() ? 0 : arrays[0].shape(0);
    if (points > 0 && (row == 0 || points % row != 0)) {
        throw nb::value_error("the points are no whole rows");
    }

    const std::string_view first(head.c_str(), head.size());
    const Scientific number(decimals);
    std::size_t room = first.size();
    {
        const Unlocked unlocked(points * fields.size() * width);
        std::size_t wide = 0;
        for (const Values& field : fields) {
            for (std::size_t k = 0; k < points; ++k) wide += Scientific::is_wide(field.at(k));
        }
        const std::size_t values = points * fields.size();
        const std::size_t rows = points > 0 ? points / row : 0;
        const std::size_t longest = scientific_width(decimals);  // of a wide one; a blank may precede
        room += (values - wide) * std::max(width, longest);
        room += wide * std::max(width, longest + 1);
        room += values / per_line + rows;
    }
    PyObject* text = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(room));
    if (text == nullptr) throw nb::python_error();
    char* const begin = PyBytes_AsString(text);
    std::memcpy(begin, first.data(), first.size());
    char* p = begin + first.size();
    {
        const Unlocked unlocked(room);
        p = write_lines(p, fields, points, row, per_line, width, number);
    }
    if (_PyBytes_Resize(&text, p - begin) != 0) throw nb::python_error();
    return nb::steal<nb::bytes>(text);
}

}  // namespace molrec
