/* Square matrices made symmetric, block by block: a transposed pass row by row would
   miss the cache at each entry. */
#include "kernels.h"

enum { SIDE = 32 };

/* A_ij and A_ji of the n² numbers A both become A_ij (i > j) times `lower` plus A_ji
   times `upper`. */
EXPORT void both_halves(int64_t n, double *A, double lower, double upper) {
    for (int64_t i0 = 0; i0 < n; i0 += SIDE)
        for (int64_t j0 = 0; j0 <= i0; j0 += SIDE)
            for (int64_t i = i0; i < n && i < i0 + SIDE; i++)
                for (int64_t j = j0; j < i && j < j0 + SIDE; j++)
                    A[j * n + i] = A[i * n + j] = lower * A[i * n + j] + upper * A[j * n + i];
}
