/* Shortest paths by elimination in the (min, +) algebra (customisable contraction hierarchies,
   Dibbelt, Strasser and Wagner 2016; sweeps in memory order, Delling et al. 2013).

   Nodes are numbered by a fill-reducing order. To eliminate node k is to put a shortcut of
   length w_ik + w_jk between any two of its later neighbours: exactly the fill of a sparse
   factorisation, whose supernodes hold the shortcuts in dense blocks. Every shortest path then
   has one of the same length that first climbs in this order and then descends. So the
   distances from a source are known after one pass over the ancestors of the source, upwards,
   and one over all nodes, downwards, with no queue and LANES sources side by side.

   Each distance is a rounded sum along a walk, added in the order of the elimination tree and
   not from left to right; no sum passes more than twice the height of the tree additions. All
   candidates of a minimum are fixed by the graph and its order: the bits depend on neither
   threads nor the other lanes.

   The block of supernode s holds, row by row, first[s+1] − first[s] columns: its own nodes,
   both halves, then the nodes rows[row_start[s] ..] above them. */
#include "kernels.h"
#include <math.h>
#include <stdlib.h>

#define SWEPT_SOURCES 16
SHARED(SWEPT_SOURCES);
#define LANES SWEPT_SOURCES
typedef double Lanes __attribute__((ext_vector_type(LANES), aligned(8)));

#define AHEAD 24 /* nodes between asking for a distance and writing it out */

static inline void ask_for(const Lanes *lanes) {
    __builtin_prefetch(lanes);
    __builtin_prefetch((const char *)lanes + sizeof *lanes / 2);
}
static inline double lesser(double a, double b) { return a < b ? a : b; }
static inline Lanes lesser_lanes(Lanes a, Lanes b) { return a < b ? a : b; }

/* Eliminate the supernode's own nodes from its block. */
static void eliminate_own(double *block, int64_t own, int64_t all) {
    for (int64_t i = 1; i < own; i++) /* both halves: rows are read as columns */
        for (int64_t j = 0; j < i; j++) block[j * own + i] = block[i * own + j];
    for (int64_t k = 0; k < own; k++)
        for (int64_t i = k + 1; i < all; i++) {
            const double to = block[i * own + k];
            if (to == INFINITY) continue;
            const double *from = block + k * own;
            double *row = block + i * own;
            for (int64_t j = k + 1; j < own; j++) row[j] = lesser(row[j], to + from[j]);
        }
}

/* sums[j] = the least of block[i][k] + turned[k][j] over k, for j in from .. to-1. */
static void least_sums(const double *restrict row, const double *restrict turned, int64_t own,
                       int64_t below, int64_t from, int64_t to, double *restrict sums) {
    for (int64_t j = from; j < to; j++) sums[j] = INFINITY;
    int64_t k = 0;
    for (; k + 3 < own; k += 4) { /* four at a time: sums is read and written less often */
        const double a = row[k], b = row[k + 1], c = row[k + 2], d = row[k + 3];
        const double *one = turned + k * below, *two = one + below, *three = two + below,
                     *four = three + below;
        for (int64_t j = from; j < to; j++)
            sums[j] = lesser(sums[j], lesser(lesser(a + one[j], b + two[j]),
                                             lesser(c + three[j], d + four[j])));
    }
    for (; k < own; k++) {
        const double by = row[k], *next = turned + k * below;
        for (int64_t j = from; j < to; j++) sums[j] = lesser(sums[j], by + next[j]);
    }
}

/* The edges in their blocks, and infinity elsewhere. Returns 0, or OUTSIDE_PATTERN. */
static int32_t place_edges(int64_t supers, const int64_t *start, const int32_t *next,
                           const double *lengths, const int32_t *order, const int32_t *place,
                           const int32_t *first, const int64_t *row_start, const int32_t *rows,
                           const int64_t *block_start, double *shortcuts) {
    for (int64_t e = 0; e < block_start[supers]; e++) shortcuts[e] = INFINITY;
    for (int64_t s = 0; s < supers; s++) {
        const int64_t own = first[s + 1] - first[s];
        double *block = shortcuts + block_start[s];
        for (int32_t k = first[s]; k < first[s + 1]; k++)
            for (int64_t e = start[order[k]]; e < start[order[k] + 1]; e++) {
                const int32_t node = place[next[e]];
                if (node <= k) continue;
                int64_t at = node - first[s];
                if (node >= first[s + 1]) { /* its place among the nodes above */
                    int64_t low = row_start[s], high = row_start[s + 1];
                    while (low < high) {
                        const int64_t middle = (low + high) / 2;
                        if (rows[middle] < node) low = middle + 1;
                        else high = middle;
                    }
                    if (low == row_start[s + 1] || rows[low] != node) return OUTSIDE_PATTERN;
                    at = own + low - row_start[s];
                }
                double *length = block + at * own + (k - first[s]);
                *length = lesser(*length, lengths[e]);
            }
    }
    return 0;
}

/* Lower what supernode s leaves to those above it; owner, by node, is its supernode. */
static void pass_on(int64_t s, const int32_t *first, const int64_t *row_start,
                    const int32_t *rows, const int64_t *block_start, double *shortcuts,
                    const int32_t *owner, double *turned, double *sums, int64_t *at) {
    const int64_t own = first[s + 1] - first[s], below = row_start[s + 1] - row_start[s];
    const int32_t *mine = rows + row_start[s];
    const double *under = shortcuts + block_start[s] + own * own;
    for (int64_t i = 0; i < below; i++)
        for (int64_t k = 0; k < own; k++) turned[k * below + i] = under[i * own + k];
    for (int64_t a = 0, b; a < below; a = b) { /* a .. b-1 are nodes of supernode t */
        const int32_t t = owner[mine[a]], begin = first[t], wide = first[t + 1] - begin;
        const int32_t *theirs = rows + row_start[t];
        const int64_t last = row_start[t + 1] - row_start[t] - 1;
        double *target = shortcuts + block_start[t];
        for (b = a; b < below && mine[b] < first[t + 1]; b++) at[b] = mine[b] - begin;
        for (int64_t i = b, found = 0; i < below; i++) {
            while (found < last && theirs[found] < mine[i]) found++;
            at[i] = wide + found;
        }
        for (int64_t i = a; i < below; i++) {
            const int64_t to = i < b ? i : b;
            double *row = target + at[i] * wide;
            least_sums(under + i * own, turned, own, below, a, to, sums);
            for (int64_t j = a; j < to; j++) row[at[j]] = lesser(row[at[j]], sums[j]);
        }
    }
}

/* shortcuts: the lengths of all shortcuts. Node order[k] of the graph is eliminated k-th, and
   place[order[k]] = k. Returns 0, NO_MEMORY, or OUTSIDE_PATTERN for an edge in no block. */
EXPORT int32_t shortcut_lengths(
        int64_t n, int64_t supers, const int64_t *start HOLDS(n + 1) RISING,
        const int32_t *next HOLDS(start[n]) BELOW(n), const double *lengths HOLDS(start[n]),
        const int32_t *order HOLDS(n) BELOW(n), const int32_t *place HOLDS(n) BELOW(n),
        const int32_t *first HOLDS(supers + 1), const int64_t *row_start HOLDS(supers + 1),
        const int32_t *rows HOLDS(row_start[supers]) BELOW(n),
        const int64_t *block_start HOLDS(supers + 1),
        double *shortcuts HOLDS(block_start[supers])) {
    int64_t widest = 0, most = 0;
    for (int64_t s = 0; s < supers; s++) {
        const int64_t own = first[s + 1] - first[s], below = row_start[s + 1] - row_start[s];
        if (own * below > widest) widest = own * below;
        if (below > most) most = below;
    }
    int32_t *owner = malloc((size_t)(n + 1) * sizeof *owner);
    double *turned = malloc((size_t)(widest + most + 1) * sizeof *turned);
    int64_t *at = malloc((size_t)(most + 1) * sizeof *at);
    int32_t status = owner && turned && at ? 0 : NO_MEMORY;
    if (!status)
        status = place_edges(supers, start, next, lengths, order, place, first, row_start, rows,
                             block_start, shortcuts);
    if (!status) {
        for (int64_t s = 0; s < supers; s++)
            for (int32_t j = first[s]; j < first[s + 1]; j++) owner[j] = (int32_t)s;
        for (int64_t s = 0; s < supers; s++) {
            const int64_t own = first[s + 1] - first[s];
            eliminate_own(shortcuts + block_start[s], own,
                          own + row_start[s + 1] - row_start[s]);
            pass_on(s, first, row_start, rows, block_start, shortcuts, owner, turned,
                    turned + widest, at);
        }
    }
    free(owner), free(turned), free(at);
    return status;
}

/* What the nodes of a supernode know goes to the nodes above them. */
static void climb(Lanes *distance, int32_t start, int64_t own, int64_t below, const int32_t *mine,
                  const double *block) {
    Lanes *here = distance + start;
    for (int64_t k = 0; k < own; k++)
        for (int64_t j = k + 1; j < own; j++)
            here[j] = lesser_lanes(here[j], here[k] + block[j * own + k]);
    for (int64_t i = 0; i < below; i++) {
        const double *row = block + (own + i) * own;
        Lanes best = distance[mine[i]];
        for (int64_t k = 0; k < own; k++) best = lesser_lanes(best, here[k] + row[k]);
        distance[mine[i]] = best;
    }
}

/* The nodes of a supernode learn from those above them. */
static void descend(Lanes *distance, int32_t start, int64_t own, int64_t below,
                    const int32_t *mine, const double *block) {
    Lanes *here = distance + start;
    const double *under = block + own * own;
    int64_t k = 0;
    for (; k + 1 < own; k += 2) {
        Lanes one = here[k], two = here[k + 1];
        for (int64_t i = 0; i < below; i++) {
            const Lanes above = distance[mine[i]];
            one = lesser_lanes(one, above + under[i * own + k]);
            two = lesser_lanes(two, above + under[i * own + k + 1]);
        }
        here[k] = one, here[k + 1] = two;
    }
    for (; k < own; k++) {
        Lanes one = here[k];
        for (int64_t i = 0; i < below; i++)
            one = lesser_lanes(one, distance[mine[i]] + under[i * own + k]);
        here[k] = one;
    }
    for (k = own - 1; k > 0; k--)
        for (int64_t j = 0; j < k; j++)
            here[j] = lesser_lanes(here[j], here[k] + block[k * own + j]);
}

/* The supernode of a node. */
static int64_t supernode_of(int32_t node, int64_t supers, const int32_t *first) {
    int64_t low = 0, high = supers;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (first[middle] <= node) low = middle;
        else high = middle;
    }
    return low;
}

/* Up from the sources over their ancestors, each once and in order, then down to every node. */
static void sweep(Lanes *distance, int64_t supers, const int32_t *first, const int32_t *above,
                  const int64_t *row_start, const int32_t *rows, const int64_t *block_start,
                  const double *shortcuts, const int32_t *sources, int lanes) {
    int64_t at[LANES]; /* by source: the next supernode that it climbs, `supers` above the root */
    for (int l = 0; l < lanes; l++) at[l] = supernode_of(sources[l], supers, first);
    for (;;) {
        int64_t s = supers;
        for (int l = 0; l < lanes; l++)
            if (at[l] < s) s = at[l];
        if (s == supers) break;
        climb(distance, first[s], first[s + 1] - first[s], row_start[s + 1] - row_start[s],
              rows + row_start[s], shortcuts + block_start[s]);
        for (int l = 0; l < lanes; l++)
            if (at[l] == s) at[l] = above[s] > s ? above[s] : supers;
    }
    for (int64_t s = supers - 1; s >= 0; s--)
        descend(distance, first[s], first[s + 1] - first[s], row_start[s + 1] - row_start[s],
                rows + row_start[s], shortcuts + block_start[s]);
}

/* out[into[i]][v] = the distance from sources[i], a number in the order of elimination, to v,
   which is places[v] in it; for i in begin .. end-1. `room` has scratch for `threads` callers side
   by side, of which this one is number `caller`; best if it begins at a multiple of 64 bytes. */
#define SWEPT_GEODESICS(name, real)                                                                \
    EXPORT void name(                                                                              \
            int64_t begin, int64_t end, int64_t caller, int64_t n, int64_t supers,                 \
            const int32_t *first HOLDS(supers + 1), const int32_t *above HOLDS(supers),            \
            const int64_t *row_start HOLDS(supers + 1),                                            \
            const int32_t *rows HOLDS(row_start[supers]) BELOW(n),                                 \
            const int64_t *block_start HOLDS(supers + 1),                                          \
            const double *shortcuts HOLDS(block_start[supers]),                                    \
            const int32_t *places HOLDS(n) BELOW(n), const int32_t *sources HOLDS(count) BELOW(n), \
            const int64_t *into HOLDS(count) BELOW(COUNT(out) / n), int64_t count,                 \
            real *out HOLDS(n), int64_t threads,                                                   \
            double *room HOLDS(threads * n * LANES)) {                                             \
        if (caller < 0 || caller >= threads || begin < 0) return;                                  \
        if (end > count) end = count;                                                              \
        Lanes *distance = (Lanes *)(room + caller * n * LANES);                                    \
        for (; begin < end; begin += LANES) {                                                      \
            const int lanes = end - begin < LANES ? (int)(end - begin) : LANES;                    \
            real *found_rows[LANES];                                                               \
            for (int64_t v = 0; v < n; v++) distance[v] = (Lanes)INFINITY;                         \
            for (int l = 0; l < lanes; l++) {                                                      \
                distance[sources[begin + l]][l] = 0;                                               \
                found_rows[l] = out + into[begin + l] * n;                                         \
            }                                                                                      \
            sweep(distance, supers, first, above, row_start, rows, block_start, shortcuts,         \
                  sources + begin, lanes);                                                         \
            for (int64_t v = 0; v < n; v++) {                                                      \
                if (v + AHEAD < n) ask_for(distance + places[v + AHEAD]);                          \
                const Lanes found = distance[places[v]];                                           \
                for (int l = 0; l < lanes; l++) found_rows[l][v] = (real)found[l];                 \
            }                                                                                      \
        }                                                                                          \
    }

SWEPT_GEODESICS(swept_geodesics32, float)
SWEPT_GEODESICS(swept_geodesics64, double)
