// Rows like those of a text that was scanned before but for some numbers: only these are read.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "bindings.hpp"
#include "buffer.hpp"
#include "fixed_field.hpp"
#include "marks.hpp"
#include "unlocked.hpp"

namespace nb = nanobind;

namespace molrec {
namespace {

struct Field {
    std::size_t start;
    std::size_t stop;
    nb::object array{};
    double* data = nullptr;
};

// The lines of a text that begin so, each with its end.
std::vector<std::string_view> rows_of(const Buffer& text, const Marks& marks) {
    std::vector<std::string_view> rows;
    for (const char* p = text.begin(); p != text.end();) {
        const auto* end = static_cast<const char*>(
            std::memchr(p, '\n', static_cast<std::size_t>(text.end() - p)));
        if (marks.begin(p, end)) rows.emplace_back(p, static_cast<std::size_t>(end + 1 - p));
        p = end + 1;
    }
    return rows;
}

struct Scan {
    std::vector<Field>& fields;
    const Marks& marks;
    const std::vector<std::string_view>& like;
    std::size_t first;   // the columns from this one on may differ,
    std::size_t behind;  // up to this one
    std::size_t row = 0;
    std::vector<Other> others{};

    // Whether all rows are like those of the other text, taken again and again from its first to its last.
    bool run(const char* begin, const char* end) {
        const char* const last = end - begin >= 8 ? end - 8 : begin - 1;
        std::int64_t line = 0;
        std::size_t next = 0;
        for (const char* p = begin; p != end; ++line) {
            const std::string_view due = like[next];
            if (is_like(p, end, due)) {
                if (!read(p, last)) return false;
                ++row;
                if (++next == like.size()) next = 0;
                p += due.size();
                continue;
            }
            const auto* line_end =
                static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
            if (marks.begin(p, line_end)) return false;
            const char* const stop = line_end != p && line_end[-1] == '\r' ? line_end - 1 : line_end;
            others.push_back({line, p - begin, stop - begin});
            p = line_end + 1;
        }
        return next == 0;
    }

    bool is_like(const char* p, const char* end, std::string_view due) const {
        return due.size() > behind && static_cast<std::size_t>(end - p) >= due.size() &&
               std::memcmp(p, due.data(), first) == 0 &&
               std::memcmp(p + behind, due.data() + behind, due.size() - behind) == 0;
    }

    bool read(const char* p, const char* last) const {
        for (const Field& field : fields) {
            const char* start = p + field.start;
            const char* stop = p + field.stop;
            double& value = field.data[row];
            if (read_aligned(start, stop, last, value)) continue;
            trim(start, stop);
            if (start == stop || read_real(start, stop, last, value) != Status::ok) return false;
        }
        return true;
    }
};

}  // namespace

nb::object scan_again(nb::handle data, nb::handle like, nb::list layout, nb::list marked) {
    const Buffer buffer(data);
    const Buffer other(like);
    const Marks marks(marked);
    std::vector<Field> fields;
    for (nb::handle entry : layout) {
        const auto parts = nb::cast<nb::tuple>(entry);
        Field field{nb::cast<std::size_t>(parts[0]), nb::cast<std::size_t>(parts[1])};
        // So a line end that stands too early lies in one of them.
        if (field.start > field.stop || (!fields.empty() && field.start != fields.back().stop)) {
            throw nb::value_error("a field begins where the one before it ends");
        }
        fields.push_back(std::move(field));
    }
    if (fields.empty() || marks.longest() > fields[0].start) {
        throw nb::value_error("fields that stand behind the marks are due");
    }
    for (const Buffer* text : {&buffer, &other}) {
        if (text->size() == 0 || text->end()[-1] != '\n') return nb::none();
    }
    std::vector<std::string_view> rows;
    {
        const Unlocked unlocked(other.size());
        rows = rows_of(other, marks);
    }
    if (rows.empty()) return nb::none();
    const std::size_t capacity = buffer.size() / std::ranges::min(rows, {}, &std::string_view::size).size();

    const nb::object empty = nb::module_::import_("numpy").attr("empty");
    for (Field& field : fields) {
        field.array = empty(capacity, "f8");
        field.data = nb::cast<nb::ndarray<double, nb::ndim<1>>>(field.array).data();
    }
    Scan scan{fields, marks, rows, fields.front().start, fields.back().stop};
    bool same;
    {
        const Unlocked unlocked(buffer.size());
        same = scan.run(buffer.begin(), buffer.end());
    }
    if (!same) return nb::none();
    nb::list columns;
    for (const Field& field : fields) {
        columns.append(field.array[nb::slice(nb::none(), nb::int_(scan.row), nb::none())]);
    }
    return nb::make_tuple(columns, scan.row, array_of(scan.others));
}

}  // namespace molrec
