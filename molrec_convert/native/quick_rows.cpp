#include "quick_rows.hpp"

#include <algorithm>

#include "quick_columns.hpp"
#include "simd.hpp"
#include "token_index.hpp"
#include "token_reader.hpp"

namespace molrec {

#if MOLREC_AVX2

namespace {

std::size_t read_column(const Column& column, const Tokens& tokens, std::size_t row,
                        unsigned dialect) {
    switch (column.kind) {
        case 'd': return read_numbers(tokens, dialect, column.real + row);
        case 'i': return read_numbers(tokens, dialect, column.integer + row);
        case 'u': return read_numbers(tokens, dialect, column.natural + row);
        case 's': read_words(tokens, *column.words, column.code + row); return tokens.rows;
        default: return tokens.rows;
    }
}

// How many of the first lines have `width` tokens each.
std::size_t count_even_rows(const TokenIndex& index, std::size_t width, std::size_t rows) {
    const std::uint32_t* bound = index.bounds();
    rows = std::min({rows, index.line_count(), index.tokens() / width});
    for (std::size_t row = 0; row < rows; ++row) {
        const std::uint32_t feed = index.lines()[row];
        bound += 2 * width;
        if (bound[-1] > feed || bound[0] < feed) return row;
    }
    return rows;
}

}  // namespace

QuickRows::QuickRows(const std::vector<Column>& columns, unsigned dialect, const char* begin)
    : columns_(columns), dialect_(dialect), begin_(begin) {
    if (!columns.empty() && simd_level() >= avx2) {
        index_ = std::make_unique_for_overwrite<TokenIndex>();
    }
}

std::int64_t QuickRows::read(const char*& p, const char* end, std::size_t row, std::int64_t rows) {
    std::int64_t done = 0;
    if (index_ == nullptr || p - begin_ < reach) return done;
    while (done < rows && p != end) {
        const std::int64_t more =
            read_piece(p, end, row + static_cast<std::size_t>(done), rows - done);
        if (more == 0) break;
        done += more;
    }
    return done;
}

std::int64_t QuickRows::read_piece(const char*& p, const char* end, std::size_t row,
                                   std::int64_t rows) {
    const std::size_t width = columns_.size();
    index_->build(p, end, false);
    std::size_t good = count_even_rows(*index_, width, static_cast<std::size_t>(rows));
    for (std::size_t k = 0; k < width; ++k) {
        const Tokens tokens{p, index_->bounds() + 2 * k, 2 * width, good};
        good = read_column(columns_[k], tokens, row, dialect_);
    }
    if (good != 0) p += index_->lines()[good - 1] + 1;
    return static_cast<std::int64_t>(good);
}

#else

class TokenIndex {};

QuickRows::QuickRows(const std::vector<Column>& columns, unsigned dialect, const char* begin)
    : columns_(columns), dialect_(dialect), begin_(begin) {}

std::int64_t QuickRows::read(const char*&, const char*, std::size_t, std::int64_t) { return 0; }

#endif

QuickRows::~QuickRows() = default;

}  // namespace molrec
