// Many lines of a table at once, where the processor can: first the bounds of all tokens of a
// piece of text, then one column after the other, whose tokens resemble each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "column.hpp"

namespace molrec {

class TokenIndex;

class QuickRows {
public:
    // No byte before `begin` is ever read.
    QuickRows(const std::vector<Column>& columns, unsigned dialect, const char* begin);
    ~QuickRows();

    // Read up to `rows` lines of [p, end), which ends in '\n', into the columns from `row` on, and
    // move p behind them. Stops before a line that is wrong or not understood, and now and then
    // before a good one: the caller reads that line and may then ask again.
    std::int64_t read(const char*& p, const char* end, std::size_t row, std::int64_t rows);

private:
    std::int64_t read_piece(const char*& p, const char* end, std::size_t row, std::int64_t rows);

    const std::vector<Column>& columns_;
    unsigned dialect_;
    const char* begin_;
    std::unique_ptr<TokenIndex> index_;
};

}  // namespace molrec
