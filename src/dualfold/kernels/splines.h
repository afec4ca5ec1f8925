/* B-splines of order 6 (degree 5): the weights of six nodes for a place between them.

   Six weights and two zeros are one register. Against order 4 the same error takes a grid of
   three fifths of the nodes. NUMBER is float or double. */
#ifndef DUALFOLD_SPLINES_H
#define DUALFOLD_SPLINES_H
#include "kernels.h"

enum { SPLINE = 6, SPLINE_LANES = 8 };

typedef NUMBER Weights __attribute__((vector_size(SPLINE_LANES * sizeof(NUMBER)),
                                      aligned(sizeof(NUMBER))));

/* Coefficients of one power, for the six nodes. */
#define POWER(a, b, c, d, e, f)                                                        \
    ((Weights){(NUMBER)(a / 120.0), (NUMBER)(b / 120.0), (NUMBER)(c / 120.0),              \
               (NUMBER)(d / 120.0), (NUMBER)(e / 120.0), (NUMBER)(f / 120.0), 0, 0})

static inline __attribute__((always_inline)) Weights spline_weights(NUMBER t) {
    Weights w = POWER(-1, 5, -10, 10, -5, 1);
    w = w * t + POWER(5, -20, 30, -20, 5, 0);
    w = w * t + POWER(-10, 20, 0, -20, 10, 0);
    w = w * t + POWER(10, 20, -60, 20, 10, 0);
    w = w * t + POWER(-5, -50, 0, 50, 5, 0);
    return w * t + POWER(1, 26, 66, 26, 1, 0);
}

static inline __attribute__((always_inline)) Weights spline_slopes(NUMBER t) {
    Weights w = POWER(-5, 25, -50, 50, -25, 5);
    w = w * t + POWER(20, -80, 120, -80, 20, 0);
    w = w * t + POWER(-30, 60, 0, -60, 30, 0);
    w = w * t + POWER(20, 40, -120, 40, 20, 0);
    return w * t + POWER(-5, -50, 0, 50, 5, 0);
}

static inline __attribute__((always_inline)) NUMBER lanes_sum(Weights w) {
    return ((w[0] + w[4]) + (w[2] + w[6])) + ((w[1] + w[5]) + (w[3] + w[7]));
}

/* Places are (y − origin)·per_cell, in nodes, and the first weight is of the node two before. Those
   without nodes for all lanes are refused. */
static inline int spline_inside(double place, int64_t nodes) {
    return place >= 2 && place < (double)(nodes - SPLINE_LANES + 3);
}
#endif
