// Doubles as decimal text: shortest digits that read back, or a fixed number of decimals.
#pragma once

#include <cstddef>
#include <cstdint>

namespace molrec {

// Room for one number of either shortest layout.
inline constexpr std::size_t shortest_width = 32;

enum class Layout {
    general,  // C's %g with as many digits as needed
    python,   // repr(float)
};

// Digits after the point that the last number of a column took: most columns keep theirs.
struct DecimalsHint {
    int decimals = 6;
    int misses = 0;
};

char* write_shortest(char* out, double value, Layout layout, DecimalsHint& hint);

// Room for one number with this many decimals.
inline std::size_t fixed_width(int decimals) { return 320 + static_cast<std::size_t>(decimals); }
char* write_fixed(char* out, double value, int decimals);

char* write_integer(char* out, long long value);
char* write_natural(char* out, unsigned long long value);

// Exactly `width` digits ending just before `end`.
void write_digits_before(char* end, std::uint64_t value, int width);

}  // namespace molrec
