// Which processor features the scanners may use. The choice is made once, when the program runs,
// so that one build serves every machine.
#pragma once

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
#define MOLREC_AVX2 1
// On every function that holds AVX2 code: it must be inlined into or called from such only.
#define MOLREC_TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define MOLREC_TARGET_INLINE MOLREC_TARGET __attribute__((always_inline)) inline
#else
#define MOLREC_AVX2 0
#endif

namespace molrec {

enum SimdLevel : int { portable = 0, avx2 = 1 };

// What this machine can do.
int best_simd();
// What the scanners use now: the best, unless set otherwise.
int simd_level();
// Use at most this level from now on; returns the one before.
int set_simd(int level);

}  // namespace molrec
