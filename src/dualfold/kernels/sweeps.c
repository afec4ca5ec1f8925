/* Shortest paths over the shortcuts of elimination.c, by sweeps in memory order (Delling,
   Goldberg, Nowatzyk and Werneck 2013).

   The distances from a source are known after one pass over the ancestors of the source,
   upwards, and one over all nodes, downwards: with no queue, and LANES sources side by side. Or
   one source, whose way down is divided among threads: above the subtrees first, then the
   subtrees side by side.

   Each distance is a rounded sum along a walk, added in the order of the elimination tree and
   not from left to right; no sum passes more than twice the height of the tree additions. All
   candidates of a minimum are fixed by the graph and its order: the bits depend on neither
   threads nor the other lanes. */
#include "kernels.h"
#include <math.h>
#include <stddef.h>

#define SWEPT_SOURCES 16
SHARED(SWEPT_SOURCES);
#define LANES SWEPT_SOURCES
typedef double Lanes __attribute__((ext_vector_type(LANES), aligned(8)));

/* Columns of one source that are lowered together. The last ones of a block read beyond it. */
#define SWEPT_COLUMNS 8
SHARED(SWEPT_COLUMNS);
typedef double Columns __attribute__((ext_vector_type(SWEPT_COLUMNS), aligned(8)));

/* Nodes whose distances are in registers while those above them pass by. */
#if defined(__AVX512F__)
#define TOGETHER 4
#else
#define TOGETHER 2
#endif

#define AHEAD 24 /* nodes between asking for a distance and writing it out */
#define LEAD 8192 /* bytes of shortcuts between asking for a shortcut and adding it */
enum { LINE = 64 };

static inline void ask_for(const void *place, size_t size) {
    __builtin_prefetch(place);
    if (size > LINE) __builtin_prefetch((const char *)place + LINE);
}
static inline double lesser(double a, double b) { return a < b ? a : b; }
static inline Lanes lesser_lanes(Lanes a, Lanes b) { return a < b ? a : b; }
static inline Columns lesser_columns(Columns a, Columns b) { return a < b ? a : b; }

typedef struct {
    int64_t supers;
    const int32_t *first, *above;
    const int64_t *row_start;
    const int32_t *rows;
    const int64_t *block_start;
    const double *shortcuts;
} Tree;

static int64_t own_of(const Tree *t, int64_t s) { return t->first[s + 1] - t->first[s]; }
static int64_t below_of(const Tree *t, int64_t s) { return t->row_start[s + 1] - t->row_start[s]; }

/* Distances of ancestors of the sources on the way up: those of supernode s begin at where[s]. */
typedef struct {
    const int32_t *owner; /* by node, its supernode */
    int32_t *where, *listed;
    Lanes *distance;
} Climb;

/* Distances on the way down, of the nodes on the way from the root to one supernode alone: those
   of supernode s begin at depth[s], and stacked[e] is the place of node rows[e]. */
typedef struct {
    const int32_t *depth, *stacked;
    Lanes *distance;
} Stack;

/* What the nodes of a supernode know goes to the nodes above them. */
static void climb(const Tree *t, int64_t s, const Climb *up) {
    const int64_t own = own_of(t, s), below = below_of(t, s);
    const int32_t *mine = t->rows + t->row_start[s];
    const double *block = t->shortcuts + t->block_start[s];
    Lanes *here = up->distance + up->where[s];
    for (int64_t i = 1; i < own + below; i++) {
        const double *row = block + i * own;
        const int32_t node = i < own ? 0 : mine[i - own], target = up->owner[node];
        Lanes *to = i < own ? here + i
                            : up->distance + up->where[target] + (node - t->first[target]);
        Lanes best = *to;
        for (int64_t k = 0; k < own && k < i; k++) best = lesser_lanes(best, here[k] + row[k]);
        *to = best;
    }
}

/* Nodes begin .. begin+count-1 of a supernode learn from all later ones and from what they knew,
   if anything. With each shortcut one at `soon` is asked for. */
static inline __attribute__((always_inline)) void learn(
        const int count, int64_t begin, int64_t own, int64_t below, const int32_t *mine,
        const double *block, const Lanes *distance, const Lanes *known, Lanes *here,
        uintptr_t soon) {
    const uintptr_t bytes = (uintptr_t)count * sizeof *block;
    Lanes best[TOGETHER];
#pragma clang loop unroll(full)
    for (int c = 0; c < count; c++) best[c] = known ? known[begin + c] : (Lanes)INFINITY;
    const double *length = block + own * own + begin;
    for (int64_t i = 0; i < below; i++, length += own, soon += bytes) {
        __builtin_prefetch((const void *)soon);
        const Lanes above = distance[mine[i]];
#pragma clang loop unroll(full)
        for (int c = 0; c < count; c++) best[c] = lesser_lanes(best[c], above + length[c]);
    }
    length = block + (begin + count) * own + begin;
    for (int64_t j = begin + count; j < own; j++, length += own, soon += bytes) {
        __builtin_prefetch((const void *)soon);
        const Lanes later = here[j];
#pragma clang loop unroll(full)
        for (int c = 0; c < count; c++) best[c] = lesser_lanes(best[c], later + length[c]);
    }
#pragma clang loop unroll(full)
    for (int c = count - 1; c >= 0; c--) {
#pragma clang loop unroll(full)
        for (int d = count - 1; d > c; d--)
            best[c] = lesser_lanes(best[c], best[d] + block[(begin + d) * own + begin + c]);
        here[begin + c] = best[c];
    }
}

/* The nodes of a supernode learn from those above them. */
static void descend(const Tree *t, int64_t s, const Stack *down, const Lanes *known) {
    const int64_t own = own_of(t, s), below = below_of(t, s);
    const int32_t *mine = down->stacked + t->row_start[s];
    const double *block = t->shortcuts + t->block_start[s];
    const Lanes *distance = down->distance;
    Lanes *here = down->distance + down->depth[s];
    /* Blocks are read from the last on, each once: the LEAD before this one are asked for. */
    const uintptr_t column = (uintptr_t)(own + below) * sizeof *block;
    uintptr_t soon = (uintptr_t)block - (uintptr_t)own * column - LEAD;
    int64_t k = own;
    for (; k >= TOGETHER; k -= TOGETHER, soon += column * TOGETHER)
        learn(TOGETHER, k - TOGETHER, own, below, mine, block, distance, known, here, soon);
    if (k == 3) learn(TOGETHER - 1, 0, own, below, mine, block, distance, known, here, soon);
    if (k == 2) learn(2, 0, own, below, mine, block, distance, known, here, soon);
    if (k == 1) learn(1, 0, own, below, mine, block, distance, known, here, soon);
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

/* The first of the supernodes where sources are on their way up, and each of these one further;
   `supers` when all are above the root. */
static int64_t next_climbed(const Tree *t, int64_t *at, int lanes) {
    int64_t s = t->supers;
    for (int l = 0; l < lanes; l++)
        if (at[l] < s) s = at[l];
    for (int l = 0; l < lanes; l++)
        if (at[l] == s && s < t->supers) at[l] = t->above[s] > s ? t->above[s] : t->supers;
    return s;
}

/* Up from the sources over their ancestors, each once and in order; how many these are. Their
   supernodes are listed. */
static int64_t climb_all(const Tree *t, const Climb *up, const int32_t *sources, int lanes) {
    int64_t begin[LANES], at[LANES], count = 0;
    int32_t nodes = 0;
    for (int l = 0; l < lanes; l++)
        at[l] = begin[l] = supernode_of(sources[l], t->supers, t->first);
    for (int64_t s; (s = next_climbed(t, at, lanes)) < t->supers;) {
        up->listed[count++] = (int32_t)s;
        up->where[s] = nodes;
        for (int64_t k = 0; k < own_of(t, s); k++) up->distance[nodes++] = (Lanes)INFINITY;
    }
    for (int l = 0; l < lanes; l++)
        up->distance[up->where[begin[l]] + (sources[l] - t->first[begin[l]])][l] = 0;
    for (int64_t c = 0; c < count; c++) climb(t, up->listed[c], up);
    return count;
}

/* out[into[i]][v] = the distance from sources[i], a number in the order of elimination, to v,
   which is places[v] in it; for i in begin .. end-1. Of the tree: owner[k] is the supernode of
   node k, depth[s] + k − first[s] the number of its nodes above node k of s, and stacked[e] that
   of rows[e]; these are less than `height`. A source and others have at most `climbed` nodes above
   them. `found`, `room` and `listed` have scratch for `threads` callers side by side, of which this
   one is number `caller`; best if `found` and `room` begin at multiples of LINE. */
#define SWEPT_GEODESICS(name, real)                                                                \
    typedef real Found_##real __attribute__((ext_vector_type(LANES), aligned(sizeof(real))));      \
    typedef real Lined_##real __attribute__((ext_vector_type(LANES), aligned(LINE)));              \
    EXPORT void name(                                                                              \
            int64_t begin, int64_t end, int64_t caller, int64_t n, int64_t supers,                 \
            const int32_t *first HOLDS(supers + 1), const int32_t *above HOLDS(supers),            \
            const int64_t *row_start HOLDS(supers + 1),                                            \
            const int32_t *rows HOLDS(row_start[supers]) BELOW(n),                                 \
            const int64_t *block_start HOLDS(supers + 1),                                          \
            const double *shortcuts HOLDS(block_start[supers]),                                    \
            const int32_t *owner HOLDS(n) BELOW(supers),                                           \
            const int32_t *depth HOLDS(supers) BELOW(height),                                      \
            const int32_t *stacked HOLDS(row_start[supers]) BELOW(height),                         \
            const int32_t *places HOLDS(n) BELOW(n), const int32_t *sources HOLDS(count) BELOW(n), \
            const int64_t *into HOLDS(count) BELOW(COUNT(out) / n), int64_t count,                 \
            real *out HOLDS(n), int64_t threads, int64_t height, int64_t climbed,                  \
            real *found HOLDS(threads * n * LANES),                                                \
            double *room HOLDS(threads * (height + climbed) * LANES),                              \
            int32_t *listed HOLDS(threads * supers * 2)) {                                         \
        if (caller < 0 || caller >= threads || begin < 0) return;                                  \
        if (end > count) end = count;                                                              \
        const Tree tree = {supers, first, above, row_start, rows, block_start, shortcuts};         \
        Lanes *mine = (Lanes *)room + caller * (height + climbed);                                 \
        const Stack down = {depth, stacked, mine};                                                 \
        const Climb up = {owner, listed + caller * supers * 2, listed + (caller * 2 + 1) * supers, \
                          mine + height};                                                          \
        Found_##real *result = (Found_##real *)found + caller * n;                                 \
        const int lined = (uintptr_t)found % LINE == 0; /* then past the caches */                 \
        for (; begin < end; begin += LANES) {                                                      \
            const int lanes = end - begin < LANES ? (int)(end - begin) : LANES;                    \
            int64_t left = climb_all(&tree, &up, sources + begin, lanes);                          \
            for (int64_t s = supers - 1; s >= 0; s--) {                                            \
                const int known = left > 0 && up.listed[left - 1] == s;                            \
                left -= known;                                                                     \
                descend(&tree, s, &down, known ? up.distance + up.where[s] : NULL);                \
                for (int32_t k = first[s]; k < first[s + 1]; k++) {                                \
                    const Lined_##real here = __builtin_convertvector(                             \
                            down.distance[depth[s] + k - first[s]], Lined_##real);                 \
                    if (lined) __builtin_nontemporal_store(here, (Lined_##real *)(result + k));    \
                    else result[k] = here;                                                         \
                }                                                                                  \
            }                                                                                      \
            real *rows_found[LANES];                                                               \
            for (int l = 0; l < lanes; l++) rows_found[l] = out + into[begin + l] * n;             \
            for (int64_t v = 0; v < n; v++) {                                                      \
                if (v + AHEAD < n) ask_for(result + places[v + AHEAD], sizeof *result);            \
                const Found_##real here = result[places[v]];                                       \
                for (int l = 0; l < lanes; l++) rows_found[l][v] = here[l];                        \
            }                                                                                      \
        }                                                                                          \
    }

SWEPT_GEODESICS(swept_geodesics32, float)
SWEPT_GEODESICS(swept_geodesics64, double)

/* Up from one source over its ancestors; all other nodes are out of reach so far. */
static void climb_from(const Tree *t, double *distance, int64_t n, int32_t source) {
    for (int64_t k = 0; k < n; k++) distance[k] = INFINITY;
    distance[source] = 0;
    for (int64_t s = supernode_of(source, t->supers, t->first);;) {
        const int64_t own = t->first[s + 1] - t->first[s];
        const double *row = t->shortcuts + t->block_start[s];
        double *here = distance + t->first[s];
        for (int64_t i = 0; i < own + t->row_start[s + 1] - t->row_start[s]; i++, row += own) {
            double *to = i < own ? here + i : distance + t->rows[t->row_start[s] + i - own];
            for (int64_t k = 0; k < own && k < i; k++) *to = lesser(*to, here[k] + row[k]);
        }
        if (t->above[s] <= s || t->above[s] >= t->supers) return;
        s = t->above[s];
    }
}

/* The nodes of a supernode learn from those above them, for one source. */
static void descend_one(const Tree *t, int64_t s, double *distance) {
    const int64_t own = own_of(t, s), below = below_of(t, s);
    const int32_t *mine = t->rows + t->row_start[s];
    const double *block = t->shortcuts + t->block_start[s];
    double *here = distance + t->first[s];
    uintptr_t soon = (uintptr_t)block - (uintptr_t)(own * (own + below)) * sizeof *block - LEAD;
    for (int64_t k = 0; k < own; k += SWEPT_COLUMNS) {
        Columns best = INFINITY;
        const double *length = block + own * own + k;
        for (int64_t i = 0; i < below; i++, length += own, soon += sizeof best) {
            __builtin_prefetch((const void *)soon);
            best = lesser_columns(best, *(const Columns *)length + distance[mine[i]]);
        }
        for (int64_t c = k; c < own && c < k + SWEPT_COLUMNS; c++)
            here[c] = lesser(here[c], best[c - k]);
    }
    for (int64_t j = own - 1; j > 0; j--)
        for (int64_t k = 0; k < j; k++) here[k] = lesser(here[k], here[j] + block[j * own + k]);
}

/* The distances from one source to the nodes of the supernodes of part `which`: those above
   all subtrees, `parts`, first, then the parts before it in any order. out[order[k]] is that of
   the k-th node, distance[k]. The shortcuts end in SWEPT_COLUMNS numbers that are not used. */
#define SWEPT_FROM_ONE(name, real)                                                                 \
    EXPORT void name(                                                                              \
            int64_t which, int64_t parts, int64_t source, int64_t n, int64_t supers,               \
            const int32_t *first HOLDS(supers + 1), const int32_t *above HOLDS(supers),            \
            const int64_t *row_start HOLDS(supers + 1),                                            \
            const int32_t *rows HOLDS(row_start[supers]) BELOW(n),                                 \
            const int64_t *block_start HOLDS(supers + 1),                                          \
            const double *shortcuts HOLDS(block_start[supers] + SWEPT_COLUMNS),                    \
            const int32_t *part HOLDS(supers), const int32_t *order HOLDS(n) BELOW(COUNT(out)),    \
            double *distance HOLDS(n), real *out HOLDS(n)) {                                       \
        if (source < 0 || source >= n) return;                                                     \
        const Tree tree = {supers, first, above, row_start, rows, block_start, shortcuts};         \
        if (which == parts) climb_from(&tree, distance, n, (int32_t)source);                       \
        for (int64_t s = supers - 1; s >= 0; s--) {                                                \
            if (part[s] != which) continue;                                                        \
            descend_one(&tree, s, distance);                                                       \
            for (int32_t k = first[s]; k < first[s + 1]; k++) out[order[k]] = (real)distance[k];   \
        }                                                                                          \
    }

SWEPT_FROM_ONE(swept_from_one32, float)
SWEPT_FROM_ONE(swept_from_one64, double)
