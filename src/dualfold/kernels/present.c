/* Nearest neighbours by the sum of absolute differences over what is present in both rows.

   d = (sum of |x - y| over the present columns) * total / (weight of the present columns),
   total being the weight of all. NaN is absent. Without gaps this is the Manhattan distance;
   with columns over their ranges and categories as halves of 0 and 1 it is Gower's.
   Sums run over the columns in their order, so that d(x, y) and d(y, x) are the same bits. */
#include "kernels.h"
#include <math.h>

enum { PRESENT_LANES = 64, LOOKS = 8 };
SHARED(PRESENT_LANES);

/* Insert (d, j) into a row that ascends; equal ones that came before stay before. */
static void insert(double *distance, int32_t *index, int64_t k, double d, int32_t j) {
    int64_t at = k - 1;
    for (; at > 0 && distance[at - 1] > d; at--)
        distance[at] = distance[at - 1], index[at] = index[at - 1];
    distance[at] = d, index[at] = j;
}

/* panels: the n rows, LANES together, column by column, padded; gaps[c]: whether column c has
   any. skip: the place of the first query among the rows, or -1 where queries are others. */
EXPORT void present_nearest(
        const double *panels HOLDS((n + 63) / 64 * 64 * width), int64_t n, int64_t width,
        const double *queries HOLDS(count * width), int64_t count,
        const double *weights HOLDS(width), const int32_t *gaps HOLDS(width), int64_t skip,
        int64_t k, double *distances HOLDS(count * k), int32_t *indices HOLDS(count * k)) {
    double total = 0;
    for (int64_t c = 0; c < width; c++) total += weights[c];
    int64_t blocks = (n + PRESENT_LANES - 1) / PRESENT_LANES;
    for (int64_t s = 0; s < count * k; s++) distances[s] = INFINITY, indices[s] = -1;
    /* A panel stays in the cache while all queries meet it. */
    for (int64_t b = 0; b < blocks; b++) {
        const double *panel = panels + b * PRESENT_LANES * width;
        for (int64_t q = 0; q < count; q++) {
            const double *row = queries + q * width;
            double *best = distances + q * k;
            int32_t *who = indices + q * k;
            int64_t own = skip < 0 ? -1 : skip + q;
            double sum[PRESENT_LANES] = {0}, lost[PRESENT_LANES] = {0}, gone = 0;
            int far = 0;
            for (int64_t c = 0; c < width && !far; c++) {
                const double *x = panel + c * PRESENT_LANES;
                double v = row[c], w = weights[c];
                if (isnan(v)) {
                    gone += w;
                } else if (gaps[c]) {
                    for (int l = 0; l < PRESENT_LANES; l++) {
                        double d = fabs(v - x[l]);
                        int there = d == d;
                        sum[l] += there ? d : 0.0;
                        lost[l] += there ? 0.0 : w;
                    }
                } else {
                    for (int l = 0; l < PRESENT_LANES; l++) sum[l] += fabs(v - x[l]);
                }
                /* A sum only grows, and what is lost makes the distance larger still; the
                   worst of the best is met again by none of these rows. */
                if (c % LOOKS == LOOKS - 1) {
                    double limit = best[k - 1];
                    int near = 0;
                    for (int l = 0; l < PRESENT_LANES; l++) near += sum[l] <= limit;
                    far = near == 0;
                }
            }
            if (far) continue;
            int64_t first = b * PRESENT_LANES;
            int64_t last = n - first < PRESENT_LANES ? n - first : PRESENT_LANES;
            for (int l = 0; l < last; l++) {
                double away = gone + lost[l], d = sum[l];
                /* Rows with no column in common are as far as rows can be told to be. */
                if (away > 0) d = away < total ? d * (total / (total - away)) : INFINITY;
                if (first + l != own && d < best[k - 1])
                    insert(best, who, k, d, (int32_t)(first + l));
            }
        }
    }
}
