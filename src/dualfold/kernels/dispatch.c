/* Which level of the x86-64 instruction set this processor and its operating
   system support: 2, 3 (AVX2, FMA, BMI) or 4 (AVX-512 F/BW/CD/DQ/VL). */
#include "kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>

EXPORT int32_t instruction_level(void) {
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 2;
    const int osxsave = c >> 27 & 1, avx = c >> 28 & 1, fma = c >> 12 & 1;
    const int f16c = c >> 29 & 1, movbe = c >> 22 & 1;
    if (!osxsave || !avx) return 2;
    uint32_t low, high; /* which registers the operating system saves */
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 0x6) != 0x6) return 2;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 2;
    const int bmi1 = b >> 3 & 1, avx2 = b >> 5 & 1, bmi2 = b >> 8 & 1;
    if (!(fma && f16c && movbe && bmi1 && avx2 && bmi2)) return 2;
    const uint32_t wanted = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
    if ((low & 0xe6) != 0xe6 || (b & wanted) != wanted) return 3;
    return 4;
}
#else
EXPORT int32_t instruction_level(void) { return 0; }
#endif
