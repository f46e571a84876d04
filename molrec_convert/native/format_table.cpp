// One array a column into lines of text.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "decimal.hpp"
#include "unlocked.hpp"

namespace nb = nanobind;

namespace molrec {
namespace {

using Array = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

enum class Kind { general, python, fixed, i64, u64, i32, boolean, words };

struct Column {
    Kind kind;
    Array array;
    const char* data;
    std::ptrdiff_t stride;  // bytes
    int decimals = 0;
    std::size_t least = 0;  // columns of text, filled up with blanks on the left
    DecimalsHint hint{};
    std::vector<std::string_view> words{};

    template <class T>
    T at(std::size_t row) const {
        T value;
        std::memcpy(&value, data + static_cast<std::ptrdiff_t>(row) * stride, sizeof value);
        return value;
    }

    std::size_t width() const {
        std::size_t longest = least;
        if (kind == Kind::fixed) return std::max(longest, fixed_width(decimals));
        for (const auto& word : words) longest = std::max(longest, word.size());
        return std::max(longest, shortest_width);
    }
};

class Text {
public:
    ~Text() { std::free(data_); }
    // A place with room for n bytes behind what is written so far.
    char* room(char* p, std::size_t n) {
        const auto used = static_cast<std::size_t>(p - data_);
        if (capacity_ - used >= n) return p;
        capacity_ = std::max(capacity_ * 2, used + n);
        void* grown = std::realloc(data_, capacity_);
        if (grown == nullptr) throw std::bad_alloc();
        data_ = static_cast<char*>(grown);
        return data_ + used;
    }
    char* data() const { return data_; }

private:
    char* data_ = nullptr;
    std::size_t capacity_ = 0;
};

Column make_column(nb::handle source, nb::handle style) {
    const bool words = nb::isinstance<nb::tuple>(source);
    nb::handle codes = words ? nb::handle(nb::borrow<nb::tuple>(source)[0].ptr()) : source;
    Array array = nb::cast<Array>(codes);
    Column column{Kind::words, array, static_cast<const char*>(array.data()),
                  static_cast<std::ptrdiff_t>(array.stride(0) * (array.itemsize()))};
    const auto dtype = array.dtype();
    if (words) {
        if (dtype != nb::dtype<std::int32_t>()) throw nb::type_error("codes must be int32");
        for (nb::handle token : nb::borrow<nb::list>(nb::borrow<nb::tuple>(source)[1])) {
            const auto text = nb::cast<nb::bytes>(token);
            column.words.emplace_back(text.c_str(), text.size());
        }
    } else if (dtype == nb::dtype<double>()) {
        if (nb::isinstance<nb::int_>(style)) {
            column.kind = Kind::fixed;
            column.decimals = nb::cast<int>(style);
            if (column.decimals < 0 || column.decimals > 1000) {
                throw nb::value_error("decimals lie between 0 and 1000");
            }
        } else {
            const std::string name = style.is_none() ? "g" : nb::cast<std::string>(style);
            if (name != "g" && name != "r") throw nb::value_error("a style is 'g', 'r' or an int");
            column.kind = name == "g" ? Kind::general : Kind::python;
        }
    } else if (dtype == nb::dtype<std::int64_t>()) {
        column.kind = Kind::i64;
    } else if (dtype == nb::dtype<std::uint64_t>()) {
        column.kind = Kind::u64;
    } else if (dtype == nb::dtype<std::int32_t>()) {
        column.kind = Kind::i32;
    } else if (dtype == nb::dtype<bool>()) {
        column.kind = Kind::boolean;
    } else {
        throw nb::type_error("a column is float64, int64, uint64, int32, bool or coded words");
    }
    return column;
}

void check_codes(const Column& column, std::size_t rows) {
    if (column.kind != Kind::words) return;
    const auto words = static_cast<std::int64_t>(column.words.size());
    for (std::size_t row = 0; row < rows; ++row) {
        const auto code = column.at<std::int32_t>(row);
        if (code < 0 || code >= words) throw nb::index_error("a code names no word");
    }
}

char* write_cell(char* out, Column& column, std::size_t row) {
    switch (column.kind) {
        case Kind::general:
            return write_shortest(out, column.at<double>(row), Layout::general, column.hint);
        case Kind::python:
            return write_shortest(out, column.at<double>(row), Layout::python, column.hint);
        case Kind::fixed: return write_fixed(out, column.at<double>(row), column.decimals);
        case Kind::i64: return write_integer(out, column.at<std::int64_t>(row));
        case Kind::u64: return write_natural(out, column.at<std::uint64_t>(row));
        case Kind::i32: return write_integer(out, column.at<std::int32_t>(row));
        case Kind::boolean: *out = column.at<char>(row) ? 'T' : 'F'; return out + 1;
        case Kind::words: break;
    }
    const auto& word = column.words[static_cast<std::size_t>(column.at<std::int32_t>(row))];
    std::memcpy(out, word.data(), word.size());
    return out + word.size();
}

char* write_aligned(char* out, Column& column, std::size_t row) {
    const auto size = static_cast<std::size_t>(write_cell(out, column, row) - out);
    if (size >= column.least) return out + size;
    std::memmove(out + column.least - size, out, size);
    std::memset(out, ' ', column.least - size);
    return out + column.least;
}

}  // namespace

nb::bytes format_table(nb::list columns, nb::list styles, nb::bytes separator,
                       nb::bytes terminator, nb::list widths) {
    if (columns.size() != styles.size()) throw nb::value_error("each column needs one style");
    const bool aligned = widths.size() > 0;
    if (aligned && columns.size() != widths.size()) {
        throw nb::value_error("each column needs one width");
    }
    std::vector<Column> table;
    for (std::size_t k = 0; k < columns.size(); ++k) {
        table.push_back(make_column(columns[k], styles[k]));
        if (aligned) table[k].least = nb::cast<std::size_t>(widths[k]);
        if (table[k].array.shape(0) != table[0].array.shape(0)) {
            throw nb::value_error("the columns differ in length");
        }
    }
    const std::size_t rows = table.empty() ? 0 : table[0].array.shape(0);
    const std::string_view between(separator.c_str(), separator.size());
    const std::string_view ending(terminator.c_str(), terminator.size());
    std::size_t width = ending.size();
    for (const Column& column : table) {
        check_codes(column, rows);
        width += column.width() + between.size();
    }

    Text text;
    char* p = text.room(nullptr, 4096 + width);
    {
        const Unlocked unlocked(rows * width);
        for (std::size_t row = 0; row < rows; ++row) {
            p = text.room(p, width);
            for (std::size_t k = 0; k < table.size(); ++k) {
                if (k > 0) {
                    std::memcpy(p, between.data(), between.size());
                    p += between.size();
                }
                p = write_aligned(p, table[k], row);
            }
            std::memcpy(p, ending.data(), ending.size());
            p += ending.size();
        }
    }
    return nb::bytes(text.data(), static_cast<std::size_t>(p - text.data()));
}

}  // namespace molrec
