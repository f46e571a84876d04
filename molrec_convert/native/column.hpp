// Where the tokens of one column of a table go.
#pragma once

#include <cstdint>

#include "interner.hpp"

namespace molrec {

struct Column {
    char kind;
    double* real = nullptr;
    std::int64_t* integer = nullptr;
    std::uint64_t* natural = nullptr;
    std::int32_t* code = nullptr;
    Interner* words = nullptr;
};

}  // namespace molrec
