/* How the numeric work is divided among threads and how much scratch each part needs. */
#include <stdlib.h>
#include "sparse_order.h"

static double super_cost(const int32_t *first, const int64_t *row_start, int64_t s) {
    return elimination_cost(first[s + 1] - first[s], (double)(row_start[s + 1] - row_start[s]));
}

/* Highest stack of leftovers while part `which` is worked through in order. */
static int64_t stack_height(int32_t which, int64_t supers, const int32_t *above,
                            const int64_t *row_start, const int32_t *part, int64_t *freed) {
    int64_t height = 0, peak = 0;
    for (int64_t s = 0; s < supers; s++) {
        if (part[s] != which) continue;
        const int64_t below = row_start[s + 1] - row_start[s], size = below * below;
        if (height + size > peak) peak = height + size;
        height -= freed[s];
        if (above[s] < 0 || part[above[s]] != which) continue;
        height += size;
        freed[above[s]] += size;
    }
    return peak;
}

/* part[s] = 0 .. parts-1 for subtrees that threads may take side by side, parts for what
   is above them all. hand_at[s] = where a leftover that crosses parts is kept (their total
   in hand_at[supers]), stacks[p] = scratch of part p, flops[p] its multiply-adds.
   Returns parts (at most `wanted`), or -1 without memory. */
EXPORT int64_t ldl_plan(
        int64_t supers, int64_t wanted, const int32_t *first HOLDS(supers + 1),
        const int32_t *above HOLDS(supers), const int64_t *row_start HOLDS(supers + 1),
        int32_t *part HOLDS(supers), int64_t *hand_at HOLDS(supers + 1),
        int64_t *stacks HOLDS(wanted + 1), double *flops HOLDS(wanted + 1)) {
    double *below = malloc((size_t)(supers + 1) * sizeof *below);
    int64_t *freed = calloc((size_t)(supers + 1), sizeof *freed);
    int64_t parts = -1;
    if (below && freed) {
        double total = 0;
        for (int64_t s = 0; s < supers; s++) total += below[s] = super_cost(first, row_start, s);
        for (int64_t s = 0; s < supers; s++)
            if (above[s] >= 0) below[above[s]] += below[s];
        const double limit = 2 * total / (double)wanted;
        double filled = 0;
        parts = 0;
        for (int64_t s = 0; s < supers; s++) { /* roots of parts, in order */
            part[s] = -1;
            if (below[s] > limit || (above[s] >= 0 && below[above[s]] <= limit)) continue;
            if ((parts == 0 || filled + below[s] > limit) && parts < wanted) {
                parts++;
                filled = 0;
            }
            filled += below[s];
            part[s] = (int32_t)(parts - 1);
        }
        int64_t handed = 0;
        for (int64_t p = 0; p <= parts; p++) flops[p] = 0;
        for (int64_t s = supers - 1; s >= 0; s--) {
            if (part[s] < 0) /* inside the subtree of a root, else above them all */
                part[s] = above[s] >= 0 && below[s] <= limit ? part[above[s]] : (int32_t)parts;
            flops[part[s]] += super_cost(first, row_start, s);
            hand_at[s] = handed;
            const int64_t rows = row_start[s + 1] - row_start[s];
            if (above[s] >= 0 && part[above[s]] != part[s]) handed += rows * rows;
        }
        hand_at[supers] = handed;
        for (int32_t p = 0; p <= parts; p++)
            stacks[p] = stack_height(p, supers, above, row_start, part, freed);
    }
    free(below);
    free(freed);
    return parts;
}
