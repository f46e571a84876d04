// Doubles in scientific notation with a fixed number of digits, as C's %E prints them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace molrec {

// Room for one number: sign, digit, point, decimals and an exponent of three digits.
inline std::size_t scientific_width(int decimals) { return static_cast<std::size_t>(decimals) + 8; }

class Scientific {
public:
    // Decimals from 0 to 1000.
    explicit Scientific(int decimals);
    char* write(char* out, double value) const;
    // Whether the exponent may take three digits.
    static bool is_wide(double value) {
        const double size = value < 0 ? -value : value;
        return size >= 1e99 || (size < 1e-98 && size != 0);
    }

private:
    bool fast_digits(double size, std::uint64_t& digits, int& power) const;

    static constexpr int farthest = 300;
    int decimals_;
    double least_ = 0;  // 10^decimals: the least integer of the wanted number of digits
    std::array<double, 2 * farthest + 1> powers_;
};

}  // namespace molrec
