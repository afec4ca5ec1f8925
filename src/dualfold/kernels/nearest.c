/* Nearest neighbours: true distances, the heaps that hold the best of them, and
   the scan that finds every pair whose float32 lower bound is not too large.

   True distances come from `square_between` (squares.h) alone.
   The scan may use fused multiply-adds: its sums are only ever compared with
   thresholds that allow for the rounding of any order of summation. */
#include "kernels.h"
#include "squares.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

SHARED(SQUARE_LANES);

static double square_between(const void *x, const void *y, int64_t i, int64_t j,
                             int64_t width, int32_t wide, double limit) {
    return wide ? square_between64((const double *)x + i * width,
                                   (const double *)y + j * width, width, limit)
                : square_between32((const float *)x + i * width,
                                   (const float *)y + j * width, width, limit);
}

/* distances[p] = |x[rows[p]] - y[columns[p]]| */
#define PAIR_DISTANCES(name, real, wide)                                                \
    EXPORT void name(                                                                       \
            const real *x HOLDS(0), const real *y HOLDS(0), int64_t width,                  \
            const int32_t *rows HOLDS(count) BELOW(COUNT(x) / width),                       \
            const int32_t *columns HOLDS(count) BELOW(COUNT(y) / width), int64_t count,     \
            double *distances HOLDS(count)) {                                               \
        for (int64_t p = 0; p < count; p++)                                             \
            distances[p] =                                                              \
                sqrt(square_between(x, y, rows[p], columns[p], width, wide, INFINITY)); \
    }
PAIR_DISTANCES(pair_distances32, float, 0)
PAIR_DISTANCES(pair_distances64, double, 1)

/* ---- heaps: the worst of the best k on top, ordered by (distance, index) ---- */
static int after(double d, int32_t i, double e, int32_t j) {
    return d > e || (d == e && i > j);
}

static void sift(double *distance, int32_t *index, int64_t size, int64_t at, double d,
                 int32_t i) {
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= size) break;
        if (child + 1 < size &&
            after(distance[child + 1], index[child + 1], distance[child], index[child]))
            child++;
        if (!after(distance[child], index[child], d, i)) break;
        distance[at] = distance[child], index[at] = index[child], at = child;
    }
    distance[at] = d, index[at] = i;
}

/* Heaps start full of (infinity, INT32_MAX). Sorting leaves each row ascending. */
EXPORT void sort_heaps(
        double *distances HOLDS(last * k), int32_t *indices HOLDS(last * k), int64_t first,
        int64_t last, int64_t k) {
    for (int64_t r = first; r < last; r++) {
        double *distance = distances + r * k;
        int32_t *index = indices + r * k;
        for (int64_t size = k - 1; size > 0; size--) {
            const double d = distance[size];
            const int32_t i = index[size];
            distance[size] = distance[0], index[size] = index[0];
            sift(distance, index, size, 0, d, i);
        }
    }
}

/* ---- what a row may still accept, in the units of the scan ---- */
/* (d·scale + slack)²(1 + spread), rounded up: see dualfold.graph.lower_bounds. */
static float threshold(double d, double scale, double slack, double spread) {
    const double reach = d * scale * (1 + 1e-9) + slack;
    const double square = reach * reach * (1 + spread) * (1 + 1e-6) + 1e-36;
    return square < 1e37 ? (float)square : INFINITY;
}

EXPORT void thresholds(
        const double *reach HOLDS(count), const double *slack HOLDS(count), double scale,
        double spread, int64_t count, float *out HOLDS(count)) {
    for (int64_t r = 0; r < count; r++)
        out[r] = threshold(reach[r], scale, slack[r], spread);
}

typedef struct {
    const int32_t *names;  /* position in the scan -> row of the data */
    double *distance;      /* heaps, by row of the data */
    int32_t *index;
    double *reach;         /* by position: nothing farther is wanted */
    float *allowed;        /* by position: the same in the units of the scan */
    const double *slack;
} Side;

static void offer(Side *side, int64_t k, int32_t position, int32_t name, double d,
                  double scale, double spread) {
    double *distance = side->distance + (int64_t)side->names[position] * k;
    int32_t *index = side->index + (int64_t)side->names[position] * k;
    if (d > side->reach[position] || !after(distance[0], index[0], d, name)) return;
    sift(distance, index, k, 0, d, name);
    if (distance[0] < side->reach[position]) {
        side->reach[position] = distance[0];
        side->allowed[position] = threshold(distance[0], scale, side->slack[position], spread);
    }
}

/* Give each found pair its true distance and offer it to its row, and to its
   column too when `mutual`. */
static void settle(const void *x, const void *y, int64_t width, int32_t wide,
                   const int32_t *rows, const int32_t *columns, const float *bounds,
                   int64_t count, int64_t k, double scale, double spread, int32_t mutual,
                   Side row, Side column) {
    for (int64_t p = 0; p < count; p++) {
        const int32_t r = rows[p], c = columns[p];
        if (p + 4 < count) {
            const int64_t size = wide ? 8 : 4;
            const char *next = (const char *)y + column.names[columns[p + 4]] * width * size;
            __builtin_prefetch(next);
            __builtin_prefetch(next + 64);
        }
        if (bounds[p] > row.allowed[r] && !(mutual && bounds[p] <= column.allowed[c])) continue;
        double limit = row.reach[r];
        if (mutual && column.reach[c] > limit) limit = column.reach[c];
        limit *= limit * (1 + 1e-14);
        const double d = sqrt(
            square_between(x, y, row.names[r], column.names[c], width, wide, limit));
        offer(&row, k, r, column.names[c], d, scale, spread);
        if (mutual) offer(&column, k, c, row.names[r], d, scale, spread);
    }
}

#define SETTLE(name, real, wide)                                                           \
    EXPORT void name(                                                                       \
            const real *x HOLDS(0), const real *y HOLDS(0), int64_t width,                  \
            const int32_t *rows HOLDS(count) BELOW(COUNT(row_names)),                       \
            const int32_t *columns HOLDS(count) BELOW(COUNT(column_names)),                 \
            const float *bounds HOLDS(count), int64_t count, int64_t k, double scale,       \
            double spread, int32_t mutual, const int32_t *row_names HOLDS(0),               \
            double *distance HOLDS(COUNT(x) / width * k),                                   \
            int32_t *index HOLDS(COUNT(x) / width * k),                                     \
            double *reach HOLDS(COUNT(row_names)),                                          \
            float *allowed HOLDS(COUNT(row_names)),                                         \
            const double *slack HOLDS(COUNT(row_names)),                                    \
            const int32_t *column_names HOLDS(0)) {                                         \
        const Side row = {row_names, distance, index, reach, allowed, slack};              \
        const Side column = {column_names, distance, index, reach, allowed, slack};        \
        settle(x, y, width, wide, rows, columns, bounds, count, k, scale, spread, mutual,  \
               row, column);                                                               \
    }
SETTLE(settle32, float, 0)
SETTLE(settle64, double, 1)
