#include "simd.hpp"

#include <algorithm>
#include <atomic>

namespace molrec {
namespace {

std::atomic<int>& chosen() {
    static std::atomic<int> level{best_simd()};
    return level;
}

}  // namespace

int best_simd() {
#if MOLREC_AVX2
    __builtin_cpu_init();
    const bool able = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") &&
                      __builtin_cpu_supports("lzcnt");
    return able ? avx2 : portable;
#else
    return portable;
#endif
}

int simd_level() { return chosen().load(std::memory_order_relaxed); }

int set_simd(int level) {
    level = std::clamp(level, static_cast<int>(portable), best_simd());
    return chosen().exchange(level, std::memory_order_relaxed);
}

}  // namespace molrec
