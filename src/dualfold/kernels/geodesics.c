/* Shortest paths over a sparse symmetric graph, LANES sources side by side.

   Neighbouring sources see almost the same wave. So sources are taken in patches of
   the graph, one a lane of a vector, and a node is visited for all of them at once:
   its vector of distances goes along each edge with one addition and one comparison.
   A node whose vector got better waits for its (next) visit, ranked by its least
   lane; the ranks are held loosely, in a queue up to a moving threshold and a pile
   of the rest. Patches of 16 on 10-neighbour graphs cost 1.1 (a roll) to 2.1
   (MNIST) visits a node instead of the 16 of Dijkstra, and no heap.

   Sources that lie far apart share a wave on graphs that are crossed in a few steps. A
   node is then ranked by the least of the lanes that got better: the waves arrive at
   different times, and a rank by the first of them would send the later ones around in
   no order (a roll of 200,000 points: 163 visits a node instead of 14; in patches it is
   the other way round, 2.0 instead of 1.2). Where they share nothing they are taken one
   at a time, by the same code with one lane, whose distances fit into the cache.

   Any order of visits gives the same bits. When nothing waits any more, each distance
   is the least rounded left-to-right sum along a path, because rounded addition is
   monotone; Dijkstra's algorithm in the same precision finds just that. */
#include "kernels.h"
#include <math.h>
#include <stdlib.h>

#define PATCH 16
SHARED(PATCH);
enum { TILE = 64, IDLE = -1, NEAR = -2 };

#define LANES PATCH
#define RANKED(better, by) (by)
#define NAME(x) x##_patch
#include "geodesics_lanes.h"
#undef RANKED
#undef NAME
#define RANKED(better, by) ((better) ? (by) : (NAME(Lanes))INFINITY)
#define NAME(x) x##_scattered
#include "geodesics_lanes.h"
#undef LANES
#undef RANKED
#undef NAME
#define LANES 1
#define RANKED(better, by) (by)
#define NAME(x) x##_one
#include "geodesics_lanes.h"

/* order: a numbering whose runs of PATCH nodes are patches, each grown breadth-first
   from a node on the rim of those before it. Returns 0 when memory ran out. */
EXPORT int32_t patches(
        int32_t n, const int64_t *indptr HOLDS(n + 1) RISING,
        const int32_t *indices HOLDS(indptr[n]) BELOW(n), int32_t *order HOLDS(n)) {
    char *taken = calloc((size_t)n, 1), *seen = calloc((size_t)n, 1);
    int32_t *rim = malloc((size_t)n * sizeof(int32_t)), unseen = 0;
    int64_t count = 0, rim_count = 0, next = 0;
    const int32_t ok = taken && seen && rim;
    while (ok && count < n) {
        while (next < rim_count && taken[rim[next]]) next++;
        while (unseen < n && taken[unseen]) unseen++;
        const int32_t seed = next < rim_count ? rim[next] : unseen;
        int64_t at = count;
        const int64_t full = count + PATCH < n ? count + PATCH : n;
        order[count++] = seed, taken[seed] = 1;
        for (; at < count; at++)
            for (int64_t e = indptr[order[at]]; e < indptr[order[at] + 1]; e++) {
                const int32_t node = indices[e];
                if (taken[node]) continue;
                if (count < full)
                    order[count++] = node, taken[node] = 1;
                else if (!seen[node])
                    rim[rim_count++] = node, seen[node] = 1;
            }
    }
    free(taken), free(seen), free(rim);
    return ok;
}

/* The smaller of d_ij and d_ji in both places, for rows first..last and columns not
   before them: chunks of rows touch different pairs. */
#define SYMMETRIC_LEAST(name, real)                                                      \
    EXPORT void name(                                                                       \
            int64_t n, int64_t first, int64_t last, real *d HOLDS(n * n)) {                 \
        for (int64_t r = first; r < last; r += TILE)                                     \
            for (int64_t c = r; c < n; c += TILE)                                        \
                for (int64_t i = r; i < r + TILE && i < last; i++)                       \
                    for (int64_t j = c > i ? c : i + 1; j < c + TILE && j < n; j++) {    \
                        real *there = d + i * n + j, *back = d + j * n + i;              \
                        *there = *back = *there < *back ? *there : *back;                \
                    }                                                                    \
    }
SYMMETRIC_LEAST(symmetric_least32, float)
SYMMETRIC_LEAST(symmetric_least64, double)
