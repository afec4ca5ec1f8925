/* Sums that compare given distances with those between embedded points. */
#include "kernels.h"
#include <math.h>

enum { LANES = 16, SUMS = 5 };

/* sums += (x, y, xx, xy, yy) over columns first..last, x = given − shift[0] and
   y = |point i − point j| − shift[1]; in LANES fixed lanes. */
#define RANGE_SUMS(name, real)                                                           \
    static void name(int64_t n, int64_t width, const real *given, const double *points,  \
                     int64_t i, int64_t first, int64_t last, const double *shift,        \
                     double sums[SUMS][LANES]) {                                         \
        for (int64_t j = first; j < last; j += LANES) {                                  \
            const int64_t lanes = last - j < LANES ? last - j : LANES;                   \
            double square[LANES] = {0};                                                  \
            for (int64_t k = 0; k < width; k++) {                                        \
                const double own = points[k * n + i], *other = points + k * n + j;       \
                if (lanes == LANES)                                                      \
                    for (int l = 0; l < LANES; l++)                                      \
                        square[l] += (own - other[l]) * (own - other[l]);                \
                else                                                                     \
                    for (int l = 0; l < lanes; l++)                                      \
                        square[l] += (own - other[l]) * (own - other[l]);                \
            }                                                                            \
            double x[LANES] = {0}, y[LANES] = {0};                                       \
            if (lanes == LANES)                                                          \
                for (int l = 0; l < LANES; l++)                                          \
                    x[l] = given[j + l] - shift[0], y[l] = sqrt(square[l]) - shift[1];   \
            else                                                                         \
                for (int l = 0; l < lanes; l++)                                          \
                    x[l] = given[j + l] - shift[0], y[l] = sqrt(square[l]) - shift[1];   \
            for (int l = 0; l < LANES; l++) {                                            \
                sums[0][l] += x[l], sums[1][l] += y[l];                                  \
                sums[2][l] += x[l] * x[l], sums[3][l] += x[l] * y[l];                    \
                sums[4][l] += y[l] * y[l];                                               \
            }                                                                            \
        }                                                                                \
    }
RANGE_SUMS(range_sums32, float)
RANGE_SUMS(range_sums64, double)

/* out: count × SUMS, one row for each of the points start..start+count against all
   others. given: their rows (count × n); points: width × n. */
#define DISTANCE_SUMS(name, real, range)                                                 \
    EXPORT void name(int64_t n, int64_t width, int64_t start, int64_t count,             \
                     const real *given, const double *points, const double *shift,       \
                     double *out) {                                                      \
        for (int64_t r = 0; r < count; r++) {                                            \
            double sums[SUMS][LANES] = {0};                                              \
            const int64_t i = start + r;                                                 \
            range(n, width, given + r * n, points, i, 0, i, shift, sums);                \
            range(n, width, given + r * n, points, i, i + 1, n, shift, sums);            \
            for (int s = 0; s < SUMS; s++) {                                             \
                out[r * SUMS + s] = 0;                                                   \
                for (int l = 0; l < LANES; l++) out[r * SUMS + s] += sums[s][l];         \
            }                                                                            \
        }                                                                                \
    }
DISTANCE_SUMS(distance_sums32, float, range_sums32)
DISTANCE_SUMS(distance_sums64, double, range_sums64)
