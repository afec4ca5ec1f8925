/* What all pairs of a row say together: sums, binned densities, sums by class.
   Rows of distances come in tiles; `self` is where a row meets itself. Sums go over
   SUM_LANES fixed lanes, so the bits do not depend on the instruction set. */
#include "kernels.h"

enum { SUM_LANES = 16, PAIR_SUMS = 9, COLUMN_STRIP = 64 };
SHARED(PAIR_SUMS);

/* With x = before − shift[0], y = after − shift[1] and e = before − scale·after:
   Σ(x, y, xx, xy, yy, ee, e·after, after², before²). */
static void add_range(const double *before, const double *after, int64_t first, int64_t last,
                      const double *shift, double scale, double sums[PAIR_SUMS][SUM_LANES]) {
    for (int64_t j = first; j < last; j += SUM_LANES) {
        const int64_t lanes = last - j < SUM_LANES ? last - j : SUM_LANES;
        for (int64_t l = 0; l < lanes; l++) {
            const double b = before[j + l], a = after[j + l], e = b - scale * a;
            const double x = b - shift[0], y = a - shift[1];
            sums[0][l] += x, sums[1][l] += y;
            sums[2][l] += x * x, sums[3][l] += x * y, sums[4][l] += y * y;
            sums[5][l] += e * e, sums[6][l] += e * a, sums[7][l] += a * a, sums[8][l] += b * b;
        }
    }
}

/* before, after: count × n; out: count × PAIR_SUMS. */
EXPORT void pair_sums(
        const double *before HOLDS(count * n), const double *after HOLDS(count * n), int64_t n,
        int64_t count, const int32_t *self HOLDS(count) BELOW(n), const double *shift HOLDS(2),
        double scale, double *out HOLDS(count * PAIR_SUMS)) {
    for (int64_t r = 0; r < count; r++) {
        double sums[PAIR_SUMS][SUM_LANES] = {0};
        add_range(before + r * n, after + r * n, 0, self[r], shift, scale, sums);
        add_range(before + r * n, after + r * n, self[r] + 1, n, shift, scale, sums);
        for (int s = 0; s < PAIR_SUMS; s++) {
            out[r * PAIR_SUMS + s] = 0;
            for (int l = 0; l < SUM_LANES; l++) out[r * PAIR_SUMS + s] += sums[s][l];
        }
    }
}

/* The sums of pair_sums over the rows of a tile, column by column: out, (n − first) × PAIR_SUMS,
   has those of the columns first .. n. A pair that is met once counts for both its points. */
EXPORT void pair_column_sums(
        const double *before HOLDS(count * n), const double *after HOLDS(count * n), int64_t n,
        int64_t count, int64_t first, const double *shift HOLDS(2), double scale,
        double *out HOLDS((n - first) * PAIR_SUMS)) {
    for (int64_t j = first; j < n; j += COLUMN_STRIP) {
        const int64_t columns = n - j < COLUMN_STRIP ? n - j : COLUMN_STRIP;
        double sums[PAIR_SUMS][COLUMN_STRIP] = {0};
        for (int64_t r = 0; r < count; r++)
            for (int64_t l = 0; l < columns; l++) {
                const double b = before[r * n + j + l], a = after[r * n + j + l];
                const double e = b - scale * a, x = b - shift[0], y = a - shift[1];
                sums[0][l] += x, sums[1][l] += y;
                sums[2][l] += x * x, sums[3][l] += x * y, sums[4][l] += y * y;
                sums[5][l] += e * e, sums[6][l] += e * a, sums[7][l] += a * a, sums[8][l] += b * b;
            }
        for (int64_t l = 0; l < columns; l++)
            for (int s = 0; s < PAIR_SUMS; s++) out[(j - first + l) * PAIR_SUMS + s] = sums[s][l];
    }
}

static int64_t bin_of(double value, double per_bin, int64_t bins) {
    const double at = value * per_bin; /* below 0 and NaN have no bin of their own */
    return at < (double)bins ? (at > 0 ? (int64_t)at : 0) : bins - 1;
}

/* histogram: bins × bins; [b][a] counts pairs with before in bin b and after in bin a,
   bins of equal width from 0 on, the last one closed. */
EXPORT void pair_histogram(
        const double *before HOLDS(count * n), const double *after HOLDS(count * n), int64_t n,
        int64_t count, const int32_t *self HOLDS(count), double before_bins, double after_bins,
        int64_t bins, int64_t *histogram HOLDS(bins * bins)) {
    for (int64_t r = 0; r < count; r++)
        for (int64_t l = 0; l < n; l++)
            if (l != self[r])
                histogram[bin_of(before[r * n + l], before_bins, bins) * bins +
                          bin_of(after[r * n + l], after_bins, bins)]++;
}

/* out: count × classes, the sum of a row's distances to each class; columns of class c
   are starts[c] .. starts[c + 1], self taken out. */
EXPORT void class_sums(
        const double *distances HOLDS(count * n), int64_t n, int64_t count,
        const int32_t *self HOLDS(count),
        const int64_t *starts HOLDS(classes + 1) RISING BELOW(n + 1), int64_t classes,
        double *out HOLDS(count * classes)) {
    for (int64_t r = 0; r < count; r++)
        for (int64_t c = 0; c < classes; c++) {
            double sum[SUM_LANES] = {0}, total = 0;
            const double *row = distances + r * n;
            int64_t j = starts[c];
            const int64_t last = starts[c + 1];
            for (; j + SUM_LANES <= last; j += SUM_LANES) {
                if (self[r] >= j && self[r] < j + SUM_LANES) {
                    for (int64_t l = 0; l < SUM_LANES; l++)
                        if (j + l != self[r]) sum[l] += row[j + l];
                    continue;
                }
                for (int l = 0; l < SUM_LANES; l++) sum[l] += row[j + l];
            }
            for (int64_t l = 0; j + l < last; l++)
                if (j + l != self[r]) sum[l] += row[j + l];
            for (int l = 0; l < SUM_LANES; l++) total += sum[l];
            out[r * classes + c] = total;
        }
}
