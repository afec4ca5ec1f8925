/* Sums over all pairs, none left out: φ_i = Σ_{j≠i} 1/(1 + ‖y_i − y_j‖²) and the push
   Σ_j (y_i − y_j)/(1 + ‖y_i − y_j‖²)². Coordinates lie apart (width × n), so that lanes load
   them at once; sums go over PAIR_LANES fixed lanes. */
#include "kernels.h"

enum { PAIR_LANES = 16 };

/* Adds `lanes` pairs from point j on; the lane `skip` (a row's own) adds nothing, so that no sum
   holds its 1, beside which small terms would be lost. */
static inline __attribute__((always_inline)) void add_lanes(
        const double *restrict y, const int64_t width, int64_t n, const double *restrict C,
        int64_t j, const int lanes, int64_t skip, double *near, double (*away)[PAIR_LANES]) {
    for (int l = 0; l < lanes; l++) {
        double apart[3], square = 1;
        for (int64_t c = 0; c < width; c++) {
            apart[c] = y[c] - C[c * n + j + l];
            square += apart[c] * apart[c];
        }
        const double k = l == skip ? 0 : 1 / square;
        near[l] += k;
        for (int64_t c = 0; c < width; c++) away[c][l] += k * k * apart[c];
    }
}

static inline __attribute__((always_inline)) void pushed(
        const double *restrict y, const int64_t width, int64_t n, int64_t self,
        const double *restrict C, double *phi, double *push) {
    double near[PAIR_LANES] = {0}, away[3][PAIR_LANES] = {{0}};
    int64_t j = 0;
    for (; j + PAIR_LANES <= n; j += PAIR_LANES)
        if (self >= j && self < j + PAIR_LANES)
            add_lanes(y, width, n, C, j, PAIR_LANES, self - j, near, away);
        else
            add_lanes(y, width, n, C, j, PAIR_LANES, -1, near, away);
    add_lanes(y, width, n, C, j, (int)(n - j), self - j, near, away);
    *phi = 0;
    for (int l = 0; l < PAIR_LANES; l++) *phi += near[l];
    for (int64_t c = 0; c < width; c++) {
        push[c] = 0;
        for (int l = 0; l < PAIR_LANES; l++) push[c] += away[c][l];
    }
}

static void pushed_wide(const double *y, int64_t width, int64_t n, int64_t self, const double *C,
                        double *phi, double *push) {
    *phi = 0;
    for (int64_t c = 0; c < width; c++) push[c] = 0;
    for (int64_t j = 0; j < n; j++) {
        if (j == self) continue;
        double square = 1;
        for (int64_t c = 0; c < width; c++) square += (y[c] - C[c * n + j]) * (y[c] - C[c * n + j]);
        const double k = 1 / square;
        *phi += k;
        for (int64_t c = 0; c < width; c++) push[c] += k * k * (y[c] - C[c * n + j]);
    }
}

/* queries: last × width, of which the rows first .. last-1 are done; C: width × n, the points
   that push. same: whether query i is point i, which then does not push itself. */
EXPORT int32_t all_pairs_repulsion(
        int64_t first, int64_t last, int64_t n, int64_t width, int32_t same,
        const double *queries HOLDS(last * width), const double *C HOLDS(width * n),
        double *phi HOLDS(last), double *push HOLDS(last * width)) {
    for (int64_t i = first; i < last; i++) {
        const double *y = queries + i * width;
        const int64_t self = same ? i : -1;
        switch (width) {
        case 1: pushed(y, 1, n, self, C, phi + i, push + i); break;
        case 2: pushed(y, 2, n, self, C, phi + i, push + 2 * i); break;
        case 3: pushed(y, 3, n, self, C, phi + i, push + 3 * i); break;
        default: pushed_wide(y, width, n, self, C, phi + i, push + width * i);
        }
    }
    return 0;
}
