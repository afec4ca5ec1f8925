/* Shared by the fill-reducing ordering: a graph is compressed rows without the
   diagonal, both directions of every edge stored. */
#ifndef DUALFOLD_SPARSE_ORDER_H
#define DUALFOLD_SPARSE_ORDER_H
#include "kernels.h"

/* What an ordering may cost, and what it has been seen to cost so far. */
typedef struct {
    double most;  /* multiply-adds allowed for the numeric factorisation */
    double spent; /* multiply-adds the ordering is already committed to */
} Budget;

/* Minimum-degree order of the first `inner` of n nodes (the others, the halo, are
   eliminated later but count in the degrees). order[k] = the node placed k-th. */
int minimum_degree(int32_t n, int32_t inner, const int32_t *start, const int32_t *next,
                   int32_t *order, Budget *budget);

/* A vertex separator of a connected graph: side[v] in {0, 1, 2 = separator}.
   Returns the size of the separator, or NO_MEMORY. */
int bisect(int32_t n, const int32_t *start, const int32_t *next, int8_t *side);

/* Does a separator of the whole graph say that no order will keep within the budget?
   The one found may be twice the smallest, so its clique must cost eight times too much. */
int hopeless(int32_t n, const int32_t *start, const int32_t *next, Budget *budget);

/* Multiply-adds of eliminating `count` columns whose last has `below` entries below. */
static inline double elimination_cost(double count, double below) {
    const double a = below, b = below + count - 1;
    return (b * (b + 1) * (b + 2) - (a - 1) * a * (a + 1)) / 6; /* sum of m(m+1)/2, m = a..b */
}
#endif
