// Digits times a power of ten, rounded correctly to binary64 without a big integer.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace molrec {

// A power of five as fraction × 2^(exponent - 127), the fraction cut (not rounded) to 128 bits
// with the highest one set.
struct PowerOfFive {
    std::uint64_t high;
    std::uint64_t low;
    std::int64_t exponent;
};

inline constexpr int least_power = -64;
inline constexpr int greatest_power = 48;

namespace detail {

__extension__ using Wide = unsigned __int128;

// An integer of 384 bits, the lowest limb first: 2^320 / 5^64 still has more than 128.
using Limbs = std::array<std::uint64_t, 6>;

constexpr void multiply_by_five(Limbs& limbs) {
    Wide carry = 0;
    for (std::uint64_t& limb : limbs) {
        carry += static_cast<Wide>(limb) * 5;
        limb = static_cast<std::uint64_t>(carry);
        carry >>= 64;
    }
}

// Cutting after each division gives the same integer as cutting once after all of them.
constexpr void divide_by_five(Limbs& limbs) {
    Wide rest = 0;
    for (std::size_t k = limbs.size(); k-- > 0;) {
        rest = rest << 64 | limbs[k];
        limbs[k] = static_cast<std::uint64_t>(rest / 5);
        rest %= 5;
    }
}

constexpr std::uint64_t bits_from(const Limbs& limbs, int position) {
    const auto k = static_cast<std::size_t>(position / 64);
    const int shift = position % 64;
    std::uint64_t word = limbs[k] >> shift;
    if (shift != 0 && k + 1 < limbs.size()) word |= limbs[k + 1] << (64 - shift);
    return word;
}

// limbs × 2^-scale, which has at least 128 bits.
constexpr PowerOfFive normalize(const Limbs& limbs, int scale) {
    int top = static_cast<int>(limbs.size()) * 64 - 1;
    while ((limbs[static_cast<std::size_t>(top / 64)] >> (top % 64) & 1) == 0) --top;
    return {bits_from(limbs, top - 63), bits_from(limbs, top - 127), top - scale};
}

constexpr auto make_powers() {
    std::array<PowerOfFive, greatest_power - least_power + 1> powers{};
    Limbs up{0, 0, 1};  // 2^128
    for (int q = 0; q <= greatest_power; ++q) {
        powers[static_cast<std::size_t>(q - least_power)] = normalize(up, 128);
        multiply_by_five(up);
    }
    Limbs down{0, 0, 0, 0, 0, 1};  // 2^320
    for (int q = -1; q >= least_power; --q) {
        divide_by_five(down);
        powers[static_cast<std::size_t>(q - least_power)] = normalize(down, 320);
    }
    return powers;
}

inline constexpr auto powers_of_five = make_powers();

}  // namespace detail

// mantissa × 10^power into `bits`, for a mantissa that is not 0 and a power in the table (then the
// result is a normal number). False in the rare case that the cut of the table's fraction leaves
// the rounding open.
//
// After Lemire, "Number parsing at a gigabyte per second" (2021), with a simpler check of
// exactness: the true product lies in [found, found + 2) units of its second word. Only when that
// range holds the middle between two doubles there is a doubt.
inline bool scale_decimal(std::uint64_t mantissa, int power, std::uint64_t& bits) {
    using detail::Wide;
    const PowerOfFive& five = detail::powers_of_five[static_cast<std::size_t>(power - least_power)];
    const int zeros = std::countl_zero(mantissa);
    mantissa <<= zeros;
    const Wide coarse = static_cast<Wide>(mantissa) * five.high;
    const Wide fine = static_cast<Wide>(mantissa) * five.low;
    const Wide product = coarse + (fine >> 64);
    const auto first = static_cast<std::uint64_t>(product >> 64);
    const auto second = static_cast<std::uint64_t>(product);

    const auto top = static_cast<int>(first >> 63);
    const int shift = 9 + top;  // leaves 53 bits and the one that decides the rounding
    if (second + 1 <= 1) [[unlikely]] {
        const std::uint64_t near = first + (second != 0);
        if (near << (63 - shift) == 1ull << 63) return false;
    }
    // The highest of the 53 bits adds one to the exponent field, as does a carry out of them.
    const std::int64_t exponent = five.exponent + power + 63 - zeros + top + 1022;
    bits = (static_cast<std::uint64_t>(exponent) << 52) + (((first >> shift) + 1) >> 1);
    return true;
}

}  // namespace molrec
