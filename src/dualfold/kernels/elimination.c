/* Shortest paths by elimination in the (min, +) algebra (customisable contraction hierarchies,
   Dibbelt, Strasser and Wagner 2016): the shortcuts. sweeps.c has the distances.

   Nodes are numbered by a fill-reducing order. To eliminate node k is to put a shortcut of
   length w_ik + w_jk between any two of its later neighbours: exactly the fill of a sparse
   factorisation, whose supernodes hold the shortcuts in dense blocks. Every shortest path then
   has one of the same length that first climbs in this order and then descends.

   The block of supernode s holds, row by row, first[s+1] − first[s] columns: its own nodes,
   both halves, then the nodes rows[row_start[s] ..] above them.

   Threads. part[s] = 0 .. parts-1 for subtrees, `parts` for what is above them all. Subtrees are
   eliminated side by side; then each supernode above them takes what all subtrees leave to it;
   then those are eliminated in turn, each by ranges of its rows. No two calls side by side write
   to the same place, and a minimum does not depend on the order of its candidates, so the bits
   depend on neither threads nor parts. */
#include "kernels.h"
#include <math.h>
#include <stdlib.h>

/* Rows and vectors of sums that are in registers together; columns of sums that are kept until
   they lower the shortcuts. */
#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif
#define VECTORS 2
#define ROWS 4
#define TILE (LANES * VECTORS)
#define SUM_COLUMNS 64

#define AHEAD 8 /* nodes between asking for the places of edges and using them */

typedef double Vector __attribute__((ext_vector_type(LANES), aligned(8)));

static inline double lesser(double a, double b) { return a < b ? a : b; }
static inline Vector lesser_vector(Vector a, Vector b) { return a < b ? a : b; }

/* The tree with its shortcuts, and scratch of one call. */
typedef struct {
    const int32_t *first;
    const int64_t *row_start;
    const int32_t *rows;
    const int64_t *block_start;
    const int32_t *owner; /* by node, its supernode */
    double *shortcuts;
    double *turned, *sums; /* of SUM_COLUMNS columns: rows of s as columns, and least sums */
    int64_t at[SUM_COLUMNS];
} Tree;

static int64_t own_of(const Tree *t, int64_t s) { return t->first[s + 1] - t->first[s]; }
static int64_t below_of(const Tree *t, int64_t s) { return t->row_start[s + 1] - t->row_start[s]; }

/* Scratch for supernodes first .. last-1; NO_MEMORY where there is none. */
static int32_t allocate_scratch(Tree *t, int64_t first, int64_t last) {
    int64_t widest = 0, most = 0;
    for (int64_t s = first; s < last; s++) {
        if (own_of(t, s) > widest) widest = own_of(t, s);
        if (below_of(t, s) > most) most = below_of(t, s);
    }
    t->turned = malloc((size_t)((widest + most) * SUM_COLUMNS + 1) * sizeof *t->turned);
    t->sums = t->turned ? t->turned + widest * SUM_COLUMNS : NULL;
    return t->turned ? 0 : NO_MEMORY;
}
static void discard_scratch(Tree *t) { free(t->turned); }

/* Eliminate the supernode's own nodes from rows begin .. end-1 of its block; from its own rows
   first, which the others need. */
static void eliminate_own(double *block, int64_t own, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && i < own; i++) /* both halves: rows are read as columns */
        for (int64_t j = 0; j < i; j++) block[j * own + i] = block[i * own + j];
    for (int64_t i = begin; i < end; i++) {
        double *restrict row = block + i * own;
        const int64_t before = own < i ? own : i;
        int64_t k = 0;
        for (; k + 3 < before; k += 4) { /* four at a time: the row is read less often */
            const double *restrict one = block + k * own, *restrict two = one + own,
                         *restrict three = two + own, *restrict four = three + own;
            const double a = row[k], b = lesser(row[k + 1], a + one[k + 1]),
                         c = lesser(row[k + 2], lesser(a + one[k + 2], b + two[k + 2])),
                         d = lesser(lesser(row[k + 3], a + one[k + 3]),
                                    lesser(b + two[k + 3], c + three[k + 3]));
            row[k + 1] = b, row[k + 2] = c, row[k + 3] = d;
            for (int64_t j = k + 4; j < own; j++)
                row[j] = lesser(row[j], lesser(lesser(a + one[j], b + two[j]),
                                               lesser(c + three[j], d + four[j])));
        }
        for (; k < before; k++) {
            const double to = row[k], *restrict from = block + k * own;
            for (int64_t j = k + 1; j < own; j++) row[j] = lesser(row[j], to + from[j]);
        }
    }
}

/* sums[r][j] = the least of under[r][k] + turned[k][j] over k, for `count` rows r; for `width`
   columns j and those that fill up a tile. */
static inline __attribute__((always_inline)) void least_sums(
        const int count, const double *restrict under, int64_t own, const double *restrict turned,
        int64_t width, double *restrict sums) {
    for (int64_t j = 0; j < width; j += TILE) {
        Vector best[ROWS][VECTORS];
#pragma clang loop unroll(full)
        for (int r = 0; r < count; r++)
#pragma clang loop unroll(full)
            for (int v = 0; v < VECTORS; v++) best[r][v] = (Vector)INFINITY;
        for (int64_t k = 0; k < own; k++) {
            const Vector *next = (const Vector *)(turned + k * SUM_COLUMNS + j);
#pragma clang loop unroll(full)
            for (int r = 0; r < count; r++)
#pragma clang loop unroll(full)
                for (int v = 0; v < VECTORS; v++)
                    best[r][v] = lesser_vector(best[r][v], next[v] + under[r * own + k]);
        }
#pragma clang loop unroll(full)
        for (int r = 0; r < count; r++)
#pragma clang loop unroll(full)
            for (int v = 0; v < VECTORS; v++)
                *(Vector *)(sums + r * SUM_COLUMNS + j + v * LANES) = best[r][v];
    }
}

/* Lower the shortcuts between nodes a .. b-1 above s, of one supernode, and those of
   begin .. end-1 that are not before them; sums has a row for each of these, from the node
   `panel` on. */
static void lower(Tree *t, int64_t s, int64_t a, int64_t b, int64_t begin, int64_t end,
                  int64_t panel) {
    const int32_t *mine = t->rows + t->row_start[s];
    const int32_t target = t->owner[mine[a]], start = t->first[target];
    const int64_t wide = own_of(t, target), last = below_of(t, target) - 1;
    const int32_t *theirs = t->rows + t->row_start[target];
    double *block = t->shortcuts + t->block_start[target];
    for (int64_t j = a; j < b; j++) t->at[j - a] = mine[j] - start;
    int64_t found = 0;
    for (int64_t i = begin > a ? begin : a; i < end; i++) {
        int64_t place = mine[i] - start;
        if (place >= wide) {
            while (found < last && theirs[found] < mine[i]) found++;
            place = wide + found;
        }
        const int64_t count = i < b ? i - a : b - a;
        double *row = block + place * wide;
        const double *sums = t->sums + (i - begin) * SUM_COLUMNS + a - panel;
        for (int64_t j = 0; j < count; j++) row[t->at[j]] = lesser(row[t->at[j]], sums[j]);
    }
}

/* Lower what s leaves between nodes a .. b-1 above it and those of begin .. end-1 that are not
   before them. */
static void pass_on(Tree *t, int64_t s, int64_t a, int64_t b, int64_t begin, int64_t end) {
    const int64_t own = own_of(t, s);
    const int32_t *mine = t->rows + t->row_start[s];
    const double *under = t->shortcuts + t->block_start[s] + own * own;
    for (int64_t panel = a, next; panel < b; panel = next) {
        next = panel + SUM_COLUMNS < b ? panel + SUM_COLUMNS : b;
        const int64_t from = begin > panel ? begin : panel;
        for (int64_t j = 0; panel + j < next || j % TILE; j++)
            for (int64_t k = 0; k < own; k++)
                t->turned[k * SUM_COLUMNS + j] =
                        panel + j < next ? under[(panel + j) * own + k] : INFINITY;
        int64_t i = from;
        for (; i + ROWS <= end; i += ROWS) {
            const int64_t width = i + ROWS < next ? i + ROWS - panel : next - panel;
            least_sums(ROWS, under + i * own, own, t->turned, width,
                       t->sums + (i - from) * SUM_COLUMNS);
        }
        for (; i < end; i++)
            least_sums(1, under + i * own, own, t->turned, next - panel,
                       t->sums + (i - from) * SUM_COLUMNS);
        for (int64_t begin_target = panel; begin_target < next;) {
            const int32_t last = t->first[t->owner[mine[begin_target]] + 1];
            int64_t end_target = begin_target;
            while (end_target < next && mine[end_target] < last) end_target++;
            lower(t, s, begin_target, end_target, from, end, panel);
            begin_target = end_target;
        }
    }
}

/* Ask for the edges of node k of the order, for their places, and for where they begin: rows of
   the graph lie anywhere in it. */
static void ask_for_edges(int64_t k, int64_t n, const int64_t *start, const int32_t *next,
                          const double *lengths, const int32_t *order, const int32_t *place) {
    if (k + 4 * AHEAD < n) __builtin_prefetch(start + order[k + 4 * AHEAD]);
    if (k + 2 * AHEAD < n) {
        const int64_t soon = start[order[k + 2 * AHEAD]];
        __builtin_prefetch(next + soon);
        __builtin_prefetch(lengths + soon);
        __builtin_prefetch(lengths + soon + 8);
    }
    if (k + AHEAD < n)
        for (int64_t e = start[order[k + AHEAD]]; e < start[order[k + AHEAD] + 1]; e++)
            __builtin_prefetch(place + next[e]);
}

/* The edges of supernodes begin .. end-1 in their blocks, and infinity elsewhere. Node order[k]
   of the graph is eliminated k-th, and place[order[k]] = k. Returns 0, or OUTSIDE_PATTERN for an
   edge in no block. */
EXPORT int32_t shortcut_edges(
        int64_t begin, int64_t end, int64_t n, int64_t supers,
        const int64_t *start HOLDS(n + 1) RISING, const int32_t *next HOLDS(start[n]) BELOW(n),
        const double *lengths HOLDS(start[n]), const int32_t *order HOLDS(n) BELOW(n),
        const int32_t *place HOLDS(n) BELOW(n), const int32_t *first HOLDS(supers + 1),
        const int64_t *row_start HOLDS(supers + 1),
        const int32_t *rows HOLDS(row_start[supers]) BELOW(n),
        const int64_t *block_start HOLDS(supers + 1),
        double *shortcuts HOLDS(block_start[supers])) {
    for (int64_t s = begin < 0 ? 0 : begin; s < end && s < supers; s++) {
        const int64_t own = first[s + 1] - first[s];
        double *block = shortcuts + block_start[s];
        for (int64_t e = 0; e < block_start[s + 1] - block_start[s]; e++) block[e] = INFINITY;
        for (int32_t k = first[s]; k < first[s + 1]; k++) {
            ask_for_edges(k, n, start, next, lengths, order, place);
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
    }
    return 0;
}

/* Eliminate the subtrees that are part `which`; what they leave to other parts stays with them.
   Returns 0 or NO_MEMORY. */
EXPORT int32_t shortcuts_in_part(
        int64_t which, int64_t n, int64_t supers, const int32_t *first HOLDS(supers + 1),
        const int64_t *row_start HOLDS(supers + 1),
        const int32_t *rows HOLDS(row_start[supers]) BELOW(n),
        const int64_t *block_start HOLDS(supers + 1), const int32_t *owner HOLDS(n) BELOW(supers),
        const int32_t *part HOLDS(supers), double *shortcuts HOLDS(block_start[supers])) {
    (void)n; /* what the conditions of the arrays are about */
    Tree t = {first, row_start, rows, block_start, owner, shortcuts, NULL, NULL, {0}};
    const int32_t status = allocate_scratch(&t, 0, supers);
    for (int64_t s = 0; s < supers && !status; s++) {
        if (part[s] != which) continue;
        const int64_t own = own_of(&t, s), below = below_of(&t, s);
        eliminate_own(shortcuts + block_start[s], own, 0, own + below);
        int64_t inside = below; /* what is above all parts comes last */
        while (inside > 0 && part[owner[rows[row_start[s] + inside - 1]]] != which) inside--;
        pass_on(&t, s, 0, inside, 0, below);
    }
    discard_scratch(&t);
    return status;
}

/* Lower the shortcuts of supernode `target`, of part `parts`, by what the other parts leave to
   it. Returns 0 or NO_MEMORY. */
EXPORT int32_t shortcuts_from_parts(
        int64_t target, int64_t n, int64_t supers, const int32_t *first HOLDS(supers + 1),
        const int64_t *row_start HOLDS(supers + 1),
        const int32_t *rows HOLDS(row_start[supers]) BELOW(n),
        const int64_t *block_start HOLDS(supers + 1), const int32_t *owner HOLDS(n) BELOW(supers),
        const int32_t *part HOLDS(supers), double *shortcuts HOLDS(block_start[supers])) {
    (void)n; /* what the conditions of the arrays are about */
    if (target < 0 || target >= supers) return 0;
    Tree t = {first, row_start, rows, block_start, owner, shortcuts, NULL, NULL, {0}};
    const int32_t status = allocate_scratch(&t, 0, target);
    for (int64_t s = 0; s < target && !status; s++) {
        const int64_t below = below_of(&t, s);
        const int32_t *mine = rows + row_start[s];
        if (part[s] == part[target] || !below || mine[below - 1] < first[target]) continue;
        int64_t a = 0, high = below - 1; /* the first of them that is not before the target */
        while (a < high) {
            const int64_t middle = (a + high) / 2;
            if (mine[middle] < first[target]) a = middle + 1;
            else high = middle;
        }
        int64_t b = a;
        while (b < below && mine[b] < first[target + 1]) b++;
        pass_on(&t, s, a, b, a, below);
    }
    discard_scratch(&t);
    return status;
}

/* Eliminate the nodes of supernode s from rows begin .. end-1 of its block. */
EXPORT void shortcuts_in_rows(
        int64_t begin, int64_t end, int64_t s, int64_t supers,
        const int32_t *first HOLDS(supers + 1), const int64_t *row_start HOLDS(supers + 1),
        const int64_t *block_start HOLDS(supers + 1),
        double *shortcuts HOLDS(block_start[supers])) {
    if (s < 0 || s >= supers) return;
    const int64_t own = first[s + 1] - first[s], all = own + row_start[s + 1] - row_start[s];
    eliminate_own(shortcuts + block_start[s], own, begin < 0 ? 0 : begin, end < all ? end : all);
}

/* Lower what supernode s leaves between the nodes begin .. end-1 above it and those before them.
   Returns 0 or NO_MEMORY. */
EXPORT int32_t shortcuts_from_rows(
        int64_t begin, int64_t end, int64_t s, int64_t n, int64_t supers,
        const int32_t *first HOLDS(supers + 1), const int64_t *row_start HOLDS(supers + 1),
        const int32_t *rows HOLDS(row_start[supers]) BELOW(n),
        const int64_t *block_start HOLDS(supers + 1), const int32_t *owner HOLDS(n) BELOW(supers),
        double *shortcuts HOLDS(block_start[supers])) {
    (void)n; /* what the conditions of the arrays are about */
    if (s < 0 || s >= supers || begin < 0) return 0;
    Tree t = {first, row_start, rows, block_start, owner, shortcuts, NULL, NULL, {0}};
    const int32_t status = allocate_scratch(&t, s, s + 1);
    if (end > below_of(&t, s)) end = below_of(&t, s);
    if (!status) pass_on(&t, s, 0, end, begin, end);
    discard_scratch(&t);
    return status;
}
