// Lines whose fields stand in fixed columns into one array a field.
#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "bindings.hpp"
#include "buffer.hpp"
#include "fault.hpp"
#include "fixed_field.hpp"
#include "interner.hpp"
#include "lines.hpp"
#include "marks.hpp"
#include "unlocked.hpp"

namespace nb = nanobind;

namespace molrec {
namespace {

struct Field {
    std::size_t start;
    std::size_t stop;
    char kind;
    nb::object array{};
    void* data = nullptr;
    Interner* words = nullptr;
    std::vector<char> valid{};  // empty as long as no field was blank

    template <class T>
    T& at(std::size_t row) const {
        return static_cast<T*>(data)[row];
    }
};

struct Scan {
    std::vector<Field>& fields;
    const Marks& marks;
    std::int64_t rows;  // -1: all there are
    std::size_t capacity;
    std::int64_t row = 0;
    std::int64_t line = 0;
    std::vector<Other> others{};
    Fault fault{};
    std::size_t consumed = 0;
    bool terminated = true;
    std::string tail{};  // words may point into it

    bool done() const { return rows >= 0 && row == rows; }

    void run(const char* begin, const char* end) {
        // What follows the last '\n' is one line without an end: it is given one in a copy.
        const char* body_end = end;
        while (body_end != begin && body_end[-1] != '\n') --body_end;
        const char* const last = end - begin >= 8 ? end - 8 : begin - 1;
        const char* p = begin;
        while (!done() && p != body_end) {
            const auto* line_end =
                static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
            if (!take(p, line_end, last, p - begin)) return;
            p = line_end + 1;
        }
        if (!done() && body_end != end) {
            terminated = false;
            tail.assign(body_end, end);
            tail.append(8, '\n');
            const char* const line_end = tail.data() + (end - body_end);
            if (!take(tail.data(), line_end, line_end, body_end - begin)) return;
            p = end;
        }
        consumed = static_cast<std::size_t>(p - begin);
        if (rows >= 0 && row < rows) {
            fault.kind = Fault::end;
            fault.row = row;
            fault.due = rows;
        }
    }

    // Take one line, which lies at `place` of the data; false where it is wrong.
    bool take(const char* p, const char* end, const char* last, std::ptrdiff_t place) {
        if (end != p && end[-1] == '\r') --end;
        if (marks.empty() || marks.begin(p, end)) {
            for (std::size_t k = 0; k < fields.size(); ++k) {
                if (!read(fields[k], p, end, last)) {
                    fault.column = static_cast<std::int64_t>(k);
                    return false;
                }
            }
            ++row;
        } else {
            others.push_back({line, place, place + (end - p)});
        }
        ++line;
        return true;
    }

    bool read(Field& field, const char* p, const char* end, const char* last) {
        const auto length = static_cast<std::size_t>(end - p);
        const char* stop = p + std::min(length, field.stop);
        const char* start = p + std::min(length, field.start);
        const auto k = static_cast<std::size_t>(row);
        if (field.kind == 'r') {
            field.at<std::int32_t>(k) = field.words->code(start, stop);
            return true;
        }
        if (field.kind == 'd' && read_aligned(start, stop, last, field.at<double>(k))) return true;
        trim(start, stop);
        if (field.kind == 's') {
            field.at<std::int32_t>(k) = field.words->code(start, stop);
            return true;
        }
        if (start == stop) {
            if (field.valid.empty()) field.valid.assign(capacity, 1);
            field.valid[k] = 0;
            std::memset(static_cast<char*>(field.data) + 8 * k, 0, 8);
            return true;
        }
        Status status;
        switch (field.kind) {
            case 'd': status = read_real(start, stop, last, field.at<double>(k)); break;
            case 'i': status = read_signed(start, stop, last, field.at<std::int64_t>(k)); break;
            default: status = read_unsigned(start, stop, last, field.at<std::uint64_t>(k)); break;
        }
        if (status == Status::ok) return true;
        fault.kind = status == Status::range ? Fault::range : Fault::number;
        fault.row = row;
        fault.found = line;
        fault.due = static_cast<std::int64_t>(fields.size());
        fault.letter = field.kind;
        fault.token.assign(start, stop);
        return false;
    }

    static Status read_signed(const char* p, const char* stop, const char* last,
                              std::int64_t& value) {
        if (fast_signed(p, last, value) == stop) return Status::ok;
        return parse_signed(p, stop, value);
    }
    static Status read_unsigned(const char* p, const char* stop, const char* last,
                                std::uint64_t& value) {
        if (fast_digits(p, last, value) == stop) return Status::ok;
        return parse_unsigned(p, stop, value);
    }
};

const char* dtype_of(char kind) {
    switch (kind) {
        case 'd': return "f8";
        case 'i': return "i8";
        case 'u': return "u8";
        case 's':
        case 'r': return "i4";
        default: throw nb::value_error("a field's kind is one of d, i, u, s, r");
    }
}

nb::object words_of(const Field& field) {
    nb::list words;
    for (const auto& word : field.words->tokens()) {
        words.append(nb::bytes(word.data(), word.size()));
    }
    return words;
}

nb::object mask_of(const Field& field, const nb::object& empty, std::size_t rows) {
    if (field.valid.empty()) return nb::none();
    nb::object mask = empty(rows, "?");
    auto view = nb::cast<nb::ndarray<bool, nb::ndim<1>, nb::c_contig>>(mask);
    if (rows > 0) std::memcpy(view.data(), field.valid.data(), rows);
    return mask;
}

}  // namespace

nb::tuple scan_fixed(nb::handle data, nb::list layout, std::int64_t rows, nb::list marked) {
    if (rows < -1) throw nb::value_error("rows must not be negative");
    const Buffer buffer(data);
    const Marks marks(marked);
    // A header may claim any number of rows: no array is longer than the data could fill.
    std::size_t capacity;
    {
        const Unlocked unlocked(buffer.size());
        capacity = static_cast<std::size_t>(count_newlines(buffer.begin(), buffer.end())) + 1;
    }
    if (rows >= 0) capacity = std::min(capacity, static_cast<std::size_t>(rows));

    const nb::object empty = nb::module_::import_("numpy").attr("empty");
    std::vector<Field> fields;
    std::deque<Interner> words;
    for (nb::handle entry : layout) {
        const auto parts = nb::cast<nb::tuple>(entry);
        const auto kind = nb::cast<nb::str>(parts[2]);
        Field field{nb::cast<std::size_t>(parts[0]), nb::cast<std::size_t>(parts[1]), *kind.c_str()};
        if (field.start > field.stop) throw nb::value_error("a field ends before it begins");
        field.array = empty(capacity, dtype_of(field.kind));
        if (field.kind == 's' || field.kind == 'r') {
            field.data = nb::cast<nb::ndarray<std::int32_t, nb::ndim<1>>>(field.array).data();
            field.words = &words.emplace_back();
        } else {
            field.data = nb::cast<nb::ndarray<nb::ndim<1>>>(field.array).data();
        }
        fields.push_back(std::move(field));
    }

    Scan scan{fields, marks, rows, capacity};
    {
        const Unlocked unlocked(buffer.size());
        scan.run(buffer.begin(), buffer.end());
    }
    if (scan.fault.kind != Fault::none) raise_fault(scan.fault);

    const auto found = static_cast<std::size_t>(scan.row);
    nb::list columns;
    nb::list masks;
    for (Field& field : fields) {
        nb::object column = field.array[nb::slice(nb::none(), nb::int_(found), nb::none())];
        columns.append(field.words == nullptr ? column : nb::make_tuple(column, words_of(field)));
        masks.append(mask_of(field, empty, found));
    }
    return nb::make_tuple(columns, masks, found, scan.consumed, scan.terminated,
                          array_of(scan.others));
}

}  // namespace molrec
