/* Rows of a sparse matrix times a few columns; the sums go from left to right, as SciPy's do. */
#include "kernels.h"

enum { PRODUCT_WIDTH = 8 };

static inline __attribute__((always_inline)) void rows_times(
        int64_t first, int64_t last, const int64_t *start, const int32_t *next,
        const double *values, const double *v, double *out, int64_t count, const int64_t width) {
    for (int64_t i = first; i < last; i++) {
        double sum[PRODUCT_WIDTH] = {0};
        for (int64_t t = start[i]; t < start[i + 1]; t++) {
            const double value = values[t], *restrict row = v + next[t] * count;
            for (int64_t c = 0; c < width; c++) sum[c] += value * row[c];
        }
        for (int64_t c = 0; c < width; c++) out[i * count + c] = sum[c];
    }
}

/* Rows [first, last) of the product; PRODUCT_WIDTH columns go through a row together. */
EXPORT void sparse_product(
        int64_t first, int64_t last, int64_t n, int64_t across, int64_t count,
        const int64_t *start HOLDS(n + 1) RISING,
        const int32_t *next HOLDS(start[n]) BELOW(across), const double *values HOLDS(start[n]),
        const double *v HOLDS(across * count), double *out HOLDS(n * count)) {
    (void)across; /* only the checks of a call need it */
    if (first < 0 || last > n || start[0] < 0) return;
#define OF_WIDTH(w) \
    case w: rows_times(first, last, start, next, values, v + c, out + c, count, w); break;
    for (int64_t c = 0; c < count; c += PRODUCT_WIDTH)
        switch (count - c) {
            OF_WIDTH(1) OF_WIDTH(2) OF_WIDTH(3) OF_WIDTH(4) OF_WIDTH(5) OF_WIDTH(6) OF_WIDTH(7)
        default: rows_times(first, last, start, next, values, v + c, out + c, count, PRODUCT_WIDTH);
        }
}
