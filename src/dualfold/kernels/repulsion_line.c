/* Sums over all pairs of points on a line, as `repulsion_grid.h` has them on the plane: n numbers
   spread on `width` nodes, and φ and −½φ′ read from them. */
#define NUMBER double
#include "splines.h"

enum { OUTSIDE_LINE = 1 };

EXPORT int32_t spread_on_line(
        int64_t n, const double *Y HOLDS(n), double origin, double per_cell, int64_t width,
        double *grid HOLDS(width)) {
    for (int64_t i = 0; i < n; i++) {
        const double a = (Y[i] - origin) * per_cell;
        if (!spline_inside(a, width)) return OUTSIDE_LINE;
        const int64_t at = (int64_t)a;
        *(Weights *)(grid + at - 2) += spline_weights(a - (double)at);
    }
    return 0;
}

EXPORT int32_t read_from_line(
        int64_t first, int64_t last, const double *Y HOLDS(last), double origin, double per_cell,
        int64_t width, const double *grid HOLDS(width), double *phi HOLDS(last),
        double *push HOLDS(last)) {
    for (int64_t i = first; i < last; i++) {
        const double a = (Y[i] - origin) * per_cell;
        if (!spline_inside(a, width)) return OUTSIDE_LINE;
        const int64_t at = (int64_t)a;
        const Weights g = *(const Weights *)(grid + at - 2);
        phi[i] = lanes_sum(spline_weights(a - (double)at) * g);
        push[i] = -0.5 * per_cell * lanes_sum(spline_slopes(a - (double)at) * g);
    }
    return 0;
}
