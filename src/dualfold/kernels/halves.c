/* Square matrices made symmetric, block by block: a transposed pass row by row would
   miss the cache at each entry. */
#include "kernels.h"

enum { SIDE = 32 };
#define LOWER_HALF(n, i, j)                                                                    \
    for (int64_t i0 = 0; i0 < (n); i0 += SIDE)                                                 \
        for (int64_t j0 = 0; j0 <= i0; j0 += SIDE)                                             \
            for (int64_t i = i0; i < (n) && i < i0 + SIDE; i++)                                \
                for (int64_t j = j0; j <= i && j < j0 + SIDE; j++)

/* (A + Aᵀ)/2 in the place of A, n². */
EXPORT void average_halves(
        int64_t n, double *A HOLDS(n * n)) {
    LOWER_HALF(n, i, j) A[j * n + i] = A[i * n + j] = 0.5 * (A[i * n + j] + A[j * n + i]);
}

/* A − count·xxᵀ in the place of A, n², of which only the lower half is read. */
EXPORT void take_off_mean(
        int64_t n, double *A HOLDS(n * n), double count, const double *x HOLDS(n)) {
    LOWER_HALF(n, i, j) A[j * n + i] = A[i * n + j] -= count * x[i] * x[j];
}
