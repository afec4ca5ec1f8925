/* The Schur matrix of maximum variance unfolding, rows first to last:
   out[e, f] = (b_e' K b_f)(b_e' R b_f) for f <= e, with b_e = e_i - e_j.
   K and R are symmetric n x n. Row e of both is differenced once and then read at the
   ends of every edge: two arrays of n doubles that stay in the nearest cache. */
#include "kernels.h"

#include <stdlib.h>

EXPORT int32_t edge_products(
        int64_t n, int64_t m, int64_t first, int64_t last,
        const int32_t *from HOLDS(last) BELOW(n), const int32_t *to HOLDS(last) BELOW(n),
        const double *K HOLDS(n * n), const double *R HOLDS(n * n), double *out HOLDS(m * last)) {
    double *p = malloc(2 * (size_t)n * sizeof *p);
    if (!p) return NO_MEMORY;
    double *q = p + n;
    for (int64_t e = first; e < last; e++) {
        const double *ki = K + from[e] * n, *kj = K + to[e] * n;
        const double *ri = R + from[e] * n, *rj = R + to[e] * n;
        for (int64_t c = 0; c < n; c++) {
            p[c] = ki[c] - kj[c];
            q[c] = ri[c] - rj[c];
        }
        double *row = out + e * m;
        for (int64_t f = 0; f <= e; f++)
            row[f] = (p[from[f]] - p[to[f]]) * (q[from[f]] - q[to[f]]);
    }
    free(p);
    return 0;
}
