// Lines of blank separated tokens into one array a column.
#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "bindings.hpp"
#include "buffer.hpp"
#include "column.hpp"
#include "fault.hpp"
#include "number.hpp"
#include "quick_rows.hpp"
#include "unlocked.hpp"

namespace nb = nanobind;

namespace molrec {
namespace {

template <class T>
T* new_column(nb::list& out, const nb::object& empty, std::size_t rows, const char* dtype) {
    nb::object array = empty(rows, dtype);
    T* data = nb::cast<nb::ndarray<T, nb::ndim<1>, nb::c_contig>>(array).data();
    out.append(array);
    return data;
}

// Say what is wrong with the line at `line`: its number of tokens first, then its first bad one.
Fault diagnose(const std::vector<Column>& columns, const char* line, bool terminated,
               std::int64_t row, std::int64_t rows, unsigned dialect) {
    Fault fault;
    fault.row = row;
    fault.due = static_cast<std::int64_t>(columns.size());
    std::vector<std::pair<const char*, const char*>> tokens;
    for (const char* p = skip_blanks(line); !at_line_end(p); p = skip_blanks(p)) {
        const char* end = find_token_end(p);
        tokens.emplace_back(p, end);
        p = end;
    }
    fault.found = static_cast<std::int64_t>(tokens.size());
    if (!terminated && tokens.size() < columns.size()) {
        fault.kind = Fault::end;
        fault.due = rows;
        return fault;
    }
    fault.kind = Fault::columns;
    if (tokens.size() != columns.size()) return fault;
    for (std::size_t k = 0; k < columns.size(); ++k) {
        const auto [begin, end] = tokens[k];
        double real;
        std::int64_t integer;
        std::uint64_t natural;
        Status status = Status::ok;
        switch (columns[k].kind) {
            case 'd': status = parse_real(begin, end, dialect, real); break;
            case 'i': status = parse_signed(begin, end, integer); break;
            case 'u': status = parse_unsigned(begin, end, natural); break;
            default: break;
        }
        if (status == Status::ok) continue;
        fault.kind = status == Status::range ? Fault::range : Fault::number;
        fault.column = static_cast<std::int64_t>(k);
        fault.letter = columns[k].kind;
        fault.token.assign(begin, end);
        break;
    }
    return fault;
}

// Read one line that surely ends in '\n'; nullptr when anything about it is wrong. `last` is the
// last place where eight bytes may be read at once.
inline const char* scan_line(const std::vector<Column>& columns, const char* p, const char* last,
                             std::size_t row, unsigned dialect) {
    for (const Column& column : columns) {
        p = skip_blanks(p);
        if (at_line_end(p)) return nullptr;
        const char* q;
        switch (column.kind) {
            case 'd':
                q = fast_real(p, last, column.real[row]);
                if (q == nullptr || !at_token_end(q)) {
                    q = find_token_end(p);
                    if (parse_real(p, q, dialect, column.real[row]) != Status::ok) return nullptr;
                }
                break;
            case 'i':
                q = fast_signed(p, last, column.integer[row]);
                if (q == nullptr || !at_token_end(q)) {
                    q = find_token_end(p);
                    if (parse_signed(p, q, column.integer[row]) != Status::ok) return nullptr;
                }
                break;
            case 'u':
                q = fast_digits(p, last, column.natural[row]);
                if (q == nullptr || !at_token_end(q)) {
                    q = find_token_end(p);
                    if (parse_unsigned(p, q, column.natural[row]) != Status::ok) return nullptr;
                }
                break;
            case 's':
                q = find_token_end(p);
                column.code[row] = column.words->code(p, q);
                break;
            default:
                q = find_token_end(p);
        }
        p = q;
    }
    p = skip_blanks(p);
    if (*p == '\n') return p + 1;
    return at_line_end(p) ? p + 2 : nullptr;
}

// The last place in [begin, end) from where eight bytes can be read.
const char* last_word(const char* begin, const char* end) {
    return end - begin >= 8 ? end - 8 : begin - 1;
}

struct Scan {
    const std::vector<Column>& columns;
    std::int64_t rows;
    unsigned dialect;
    std::int64_t row = 0;
    Fault fault{};
    std::size_t consumed = 0;
    bool terminated = true;
    std::string tail{};  // words may point into it

    void run(const char* begin, const char* end) {
        // Up to the last '\n' no loop needs to look for the end of the data. What follows it is
        // one line without an end: it is given one in a copy.
        const char* body_end = end;
        while (body_end != begin && body_end[-1] != '\n') --body_end;
        const char* const last = last_word(begin, end);
        QuickRows quick(columns, dialect, begin);
        const char* p = begin;
        while (row < rows && p != body_end) {
            row += quick.read(p, body_end, static_cast<std::size_t>(row), rows - row);
            if (row == rows || p == body_end) break;
            const char* next = scan_line(columns, p, last, static_cast<std::size_t>(row), dialect);
            if (next == nullptr) {
                fault = diagnose(columns, p, true, row, rows, dialect);
                return;
            }
            p = next;
            ++row;
        }
        if (row < rows) {
            run_tail(body_end, end);
            p = end;
        }
        consumed = static_cast<std::size_t>(p - begin);
    }

    void run_tail(const char* begin, const char* end) {
        terminated = false;
        if (begin != end) {
            tail.assign(begin, end);
            if (tail.back() == '\r') tail.pop_back();
            tail += '\n';
            const char* const last = last_word(tail.data(), tail.data() + tail.size());
            if (!scan_line(columns, tail.data(), last, static_cast<std::size_t>(row), dialect)) {
                fault = diagnose(columns, tail.data(), false, row, rows, dialect);
                return;
            }
            ++row;
        }
        if (row < rows) {
            fault.kind = Fault::end;
            fault.row = row;
            fault.due = rows;
        }
    }
};

}  // namespace

nb::tuple scan_table(nb::handle data, const std::string& kinds, std::int64_t rows,
                     unsigned dialect) {
    if (rows < 0) throw nb::value_error("rows must not be negative");
    const Buffer buffer(data);
    // A header may claim any number of rows: no array is longer than the data could fill.
    const std::size_t shortest = std::max<std::size_t>(1, 2 * kinds.size());
    const std::size_t capacity =
        std::min(static_cast<std::size_t>(rows), buffer.size() / shortest + 1);

    nb::list arrays;
    std::vector<Column> columns;
    std::deque<Interner> words;
    const nb::object empty = nb::module_::import_("numpy").attr("empty");
    for (const char kind : kinds) {
        Column column{kind};
        switch (kind) {
            case 'd': column.real = new_column<double>(arrays, empty, capacity, "f8"); break;
            case 'i':
                column.integer = new_column<std::int64_t>(arrays, empty, capacity, "i8");
                break;
            case 'u':
                column.natural = new_column<std::uint64_t>(arrays, empty, capacity, "u8");
                break;
            case 's':
                column.code = new_column<std::int32_t>(arrays, empty, capacity, "i4");
                column.words = &words.emplace_back();
                break;
            case '-': arrays.append(nb::none()); break;
            default: throw nb::value_error("a column kind is one of d, i, u, s, -");
        }
        columns.push_back(column);
    }

    Scan scan{columns, rows, dialect};
    {
        const Unlocked unlocked(buffer.size());
        scan.run(buffer.begin(), buffer.end());
    }
    if (scan.fault.kind != Fault::none) raise_fault(scan.fault);

    nb::list result;
    std::size_t next_words = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
        if (columns[k].kind != 's') {
            result.append(arrays[k]);
            continue;
        }
        nb::list tokens;
        for (const auto& token : words[next_words++].tokens()) {
            tokens.append(nb::bytes(token.data(), token.size()));
        }
        result.append(nb::make_tuple(arrays[k], tokens));
    }
    return nb::make_tuple(result, scan.consumed, scan.terminated);
}

}  // namespace molrec
