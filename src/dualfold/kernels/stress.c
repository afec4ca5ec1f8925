/* Stress of points against given distances, row by row, and the forces on the points:

     force_i = Σ_j w_ij (1 − δ_ij/d_ij)(y_i − y_j),   half the gradient of Σ_{i<j} w_ij (d_ij − δ_ij)².

   Coordinates lie apart (width × n), so that lanes load them at once; sums go over PAIR_LANES
   fixed lanes. A distance that is NaN is missing. Points in one place exert no force on each
   other; where their distance should not be 0 they are counted. */
#include "kernels.h"
#include <math.h>
#include <stdlib.h>

enum { PAIR_LANES = 8, ROW_SUMS = 4, FEW_COORDINATES = 3 };
SHARED(ROW_SUMS);

/* The ratio 1 − δ/d of `lanes` pairs from j on, times their weights, for squared distances; what
   the pairs add to the sums of the row. */
static inline __attribute__((always_inline)) void add_pairs(
        const double *square, const double *restrict D, const double *restrict W, const int gaps,
        int64_t j, const int lanes, double *ratio, double (*sums)[PAIR_LANES]) {
    for (int l = 0; l < lanes; l++) {
        const double length = sqrt(square[l]), given = D[j + l];
        const double known = gaps && given != given ? 0 : 1;
        const double weight = W ? (gaps && known == 0 ? 0 : W[j + l]) : known;
        const double off = length - (gaps && known == 0 ? 0 : given);
        ratio[l] = square[l] > 0 ? weight * off / length : 0;
        sums[0][l] += weight * off * off;
        sums[1][l] += weight * fabs(off);
        sums[2][l] += weight * square[l];
        sums[3][l] += square[l] == 0 && off < 0 && weight > 0 ? 1 : 0;
    }
}

static inline __attribute__((always_inline)) void add_block(
        const double *restrict y, const int64_t width, int64_t n, const double *restrict C,
        const double *restrict D, const double *restrict W, const int gaps, int64_t j,
        const int lanes, double (*sums)[PAIR_LANES], double (*force)[PAIR_LANES]) {
    double square[PAIR_LANES] = {0}, ratio[PAIR_LANES] = {0};
    for (int64_t c = 0; c < width; c++)
        for (int l = 0; l < lanes; l++) {
            const double apart = y[c] - C[c * n + j + l];
            square[l] += apart * apart;
        }
    add_pairs(square, D, W, gaps, j, lanes, ratio, sums);
    for (int64_t c = 0; c < width; c++)
        for (int l = 0; l < lanes; l++) force[c][l] += ratio[l] * (y[c] - C[c * n + j + l]);
}

static inline __attribute__((always_inline)) void row_of_stress(
        const double *restrict y, const int64_t width, int64_t n, const double *restrict C,
        const double *restrict D, const double *restrict W, const int gaps,
        double (*force)[PAIR_LANES], double *row_sums, double *row_force) {
    double sums[ROW_SUMS][PAIR_LANES] = {{0}};
    for (int64_t c = 0; c < width; c++)
        for (int l = 0; l < PAIR_LANES; l++) force[c][l] = 0;
    int64_t j = 0;
    for (; j + PAIR_LANES <= n; j += PAIR_LANES)
        add_block(y, width, n, C, D, W, gaps, j, PAIR_LANES, sums, force);
    add_block(y, width, n, C, D, W, gaps, j, (int)(n - j), sums, force);
    for (int s = 0; s < ROW_SUMS; s++) {
        row_sums[s] = 0;
        for (int l = 0; l < PAIR_LANES; l++) row_sums[s] += sums[s][l];
    }
    for (int64_t c = 0; c < width; c++) {
        row_force[c] = 0;
        for (int l = 0; l < PAIR_LANES; l++) row_force[c] += force[c][l];
    }
}

static inline __attribute__((always_inline)) void row_of_few(
        const double *y, const int64_t width, int64_t n, const double *C, const double *D,
        const double *W, const int gaps, double *row_sums, double *row_force) {
    double force[FEW_COORDINATES][PAIR_LANES];
    row_of_stress(y, width, n, C, D, W, gaps, force, row_sums, row_force);
}

static inline __attribute__((always_inline)) void row_of_any_width(
        const double *y, int64_t width, int64_t n, const double *C, const double *D,
        const double *W, const int gaps, double (*force)[PAIR_LANES], double *row_sums,
        double *row_force) {
    switch (width) {
    case 1: row_of_few(y, 1, n, C, D, W, gaps, row_sums, row_force); break;
    case 2: row_of_few(y, 2, n, C, D, W, gaps, row_sums, row_force); break;
    case 3: row_of_few(y, 3, n, C, D, W, gaps, row_sums, row_force); break;
    default: row_of_stress(y, width, n, C, D, W, gaps, force, row_sums, row_force);
    }
}

/* queries: last × width, of which the rows first .. last-1 are done; C: width × n, the points;
   D, W: last × n, given distances and weights of pairs (no W: 1). gaps: whether D holds NaN.
   sums: of each row, Σ w(d − δ)², Σ w|d − δ|, Σ w d², and how many points lie in one place
   with it that should not. */
EXPORT int32_t stress_rows(
        int64_t first, int64_t last, int64_t n, int64_t width, int32_t gaps,
        const double *queries HOLDS(last * width), const double *C HOLDS(width * n),
        const double *D HOLDS(last * n), const double *OPTIONAL W HOLDS(last * n),
        double *sums HOLDS(last * ROW_SUMS), double *force HOLDS(last * width)) {
    double(*scratch)[PAIR_LANES] = malloc((size_t)(width + 1) * sizeof *scratch);
    if (!scratch) return NO_MEMORY;
    for (int64_t i = first; i < last; i++) {
        const double *y = queries + i * width, *row = D + i * n;
        double *row_sums = sums + i * ROW_SUMS, *row_force = force + i * width;
        if (W)
            row_of_any_width(y, width, n, C, row, W + i * n, 1, scratch, row_sums, row_force);
        else if (gaps)
            row_of_any_width(y, width, n, C, row, 0, 1, scratch, row_sums, row_force);
        else
            row_of_any_width(y, width, n, C, row, 0, 0, scratch, row_sums, row_force);
    }
    free(scratch);
    return 0;
}
