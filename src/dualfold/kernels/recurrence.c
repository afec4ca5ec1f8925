/* One step of a three-term recurrence with a sparse matrix on a block of vectors:

       Z <- scale * (A X - centre * X) - weight * Z        (rows first .. last-1)

   X and Z are row-major, `width` numbers a row. Rows are independent, so threads may
   share the work by ranges of rows and get the same bits. */
#include "kernels.h"

enum { WIDEST = 8 }; /* vectors in a block */
SHARED(WIDEST);

static inline __attribute__((always_inline)) void rows_of_block(
    int64_t first, int64_t last, const int64_t width, const int32_t *restrict start,
    const int32_t *restrict column, const double *restrict entry, double scale,
    double centre, double weight, const double *restrict X, double *restrict Z) {
    for (int64_t i = first; i < last; i++) {
        double sum[WIDEST] = {0};
        for (int32_t e = start[i]; e < start[i + 1]; e++) {
            const double a = entry[e];
            const double *x = X + (int64_t)column[e] * width;
            for (int64_t k = 0; k < width; k++) sum[k] += a * x[k];
        }
        const double *x = X + i * width;
        double *z = Z + i * width;
        for (int64_t k = 0; k < width; k++)
            z[k] = scale * (sum[k] - centre * x[k]) - weight * z[k];
    }
}

EXPORT int32_t sparse_recurrence(
        int64_t first, int64_t last, int64_t width,
        const int32_t *start HOLDS(last + 1) RISING,
        const int32_t *column HOLDS(start[last]) BELOW(COUNT(X) / width),
        const double *entry HOLDS(start[last]), double scale, double centre, double weight,
        const double *X HOLDS(last * width), double *Z HOLDS(last * width)) {
    switch (width) { /* a width known to the compiler keeps the sums in registers */
#define WIDTH(w)                                                                         \
    case w:                                                                              \
        rows_of_block(first, last, w, start, column, entry, scale, centre, weight, X, Z); \
        return 0;
        WIDTH(1) WIDTH(2) WIDTH(3) WIDTH(4) WIDTH(5) WIDTH(6) WIDTH(7) WIDTH(8)
    }
    return 1;
}
