#pragma once

#include <cstdint>

namespace molrec {

std::uint64_t count_newlines(const char* begin, const char* end);

}  // namespace molrec
