// Registers of sixteen bytes and how two of them interleave, on processors that all have them.
#pragma once

#if defined(__SSE2__) || defined(_M_X64)
#define MOLREC_BYTE_VECTORS 1
#include <emmintrin.h>

namespace molrec {

using Bytes = __m128i;

inline Bytes load(const char* from) { return _mm_loadu_si128(reinterpret_cast<const Bytes*>(from)); }
inline void store(char* to, Bytes v) { _mm_storeu_si128(reinterpret_cast<Bytes*>(to), v); }
inline Bytes low_halves(Bytes a, Bytes b) { return _mm_unpacklo_epi8(a, b); }
inline Bytes high_halves(Bytes a, Bytes b) { return _mm_unpackhi_epi8(a, b); }

}  // namespace molrec
#elif defined(__aarch64__) && defined(__ARM_NEON)
#define MOLREC_BYTE_VECTORS 1
#include <arm_neon.h>

namespace molrec {

using Bytes = uint8x16_t;

inline Bytes load(const char* from) { return vld1q_u8(reinterpret_cast<const unsigned char*>(from)); }
inline void store(char* to, Bytes v) { vst1q_u8(reinterpret_cast<unsigned char*>(to), v); }
inline Bytes low_halves(Bytes a, Bytes b) { return vzip1q_u8(a, b); }
inline Bytes high_halves(Bytes a, Bytes b) { return vzip2q_u8(a, b); }

}  // namespace molrec
#else
#define MOLREC_BYTE_VECTORS 0
#endif
