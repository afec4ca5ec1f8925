/* The one source of true distances, whichever road found the pair: differences and
   squares in double, summed over SQUARE_LANES fixed lanes, so the bits depend neither
   on the road, nor on the threads, nor on the instruction set. */
#ifndef DUALFOLD_SQUARES_H
#define DUALFOLD_SQUARES_H
#include <stdint.h>
#include <string.h>

enum { SQUARE_LANES = 32 };

/* The squared distance, or any partial sum above `limit`: partial sums of
   squares only grow, in floating point too, so such a pair is out for good. */
#define SQUARE_BETWEEN(name, real)                                                      \
    static inline double name(const real *x, const real *y, int64_t width, double limit) { \
        double sum[SQUARE_LANES] = {0};                                                 \
        int64_t c = 0;                                                                  \
        for (;;) {                                                                      \
            const int64_t next = c + 8 * SQUARE_LANES, stop = next <= width ? next : width; \
            for (; c + SQUARE_LANES <= stop; c += SQUARE_LANES)                         \
                for (int l = 0; l < SQUARE_LANES; l++) {                                \
                    const double apart = (double)x[c + l] - (double)y[c + l];           \
                    sum[l] += apart * apart;                                            \
                }                                                                       \
            const int last = width - c < SQUARE_LANES;                                  \
            if (last)                                                                   \
                for (int l = 0; c + l < width; l++) {                                   \
                    const double apart = (double)x[c + l] - (double)y[c + l];           \
                    sum[l] += apart * apart;                                            \
                }                                                                       \
            double folded[SQUARE_LANES];                                                \
            memcpy(folded, sum, sizeof folded);                                         \
            for (int half = SQUARE_LANES / 2; half; half /= 2)                          \
                for (int l = 0; l < half; l++) folded[l] += folded[l + half];           \
            if (last || folded[0] > limit) return folded[0];                            \
        }                                                                               \
    }
SQUARE_BETWEEN(square_between32, float)
SQUARE_BETWEEN(square_between64, double)

#endif
