/* All inner products of two sets of short float32 vectors, never stored: each
   small block of them is compared with its thresholds while still in registers,
   and only the pairs that pass are written out. That is why it outruns a matrix
   product followed by a selection, which writes and reads every number once. */
#include "kernels.h"
#include "panels.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

SHARED(PANEL);

typedef struct {
    int32_t *rows, *columns;
    float *bounds;
    int64_t count;
} Found;

/* One panel against one panel: keep |a|² + |b|² - 2ab <= max(allowed). */
static void panel_pair(const float *a, const float *b, int64_t depth, const float *a_square,
                       const float *b_square, const float *a_allowed, const float *b_allowed,
                       int32_t first_row, int32_t first_column, int32_t n_columns,
                       int32_t upper, Found *found) {
    for (int c = 0; c < PANEL; c += COLUMNS)
        for (int r0 = 0; r0 < PANEL; r0 += ROWS) {
            Vector sum[ROWS][VECTORS];
            products(a + r0, b + c, depth, sum);
            uint64_t hits[ROWS], any = 0;
#pragma clang loop unroll(full)
            for (int r = 0; r < ROWS; r++) {
                hits[r] = 0;
                const Vector square = (Vector)a_square[r0 + r], row = (Vector)a_allowed[r0 + r];
#pragma clang loop unroll(full)
                for (int v = 0; v < VECTORS; v++) {
                    Vector allowed = row;
                    if (b_allowed)
                        allowed = __builtin_elementwise_max(row, load(b_allowed + c + v * LANES));
                    sum[r][v] = (square + load(b_square + c + v * LANES)) - 2.0f * sum[r][v];
                    const Mask mask = __builtin_convertvector(sum[r][v] <= allowed, Mask);
                    uint16_t bits = 0;
                    memcpy(&bits, &mask, sizeof mask < 2 ? sizeof mask : 2);
                    hits[r] |= (uint64_t)(bits & ((1u << LANES) - 1u)) << (v * LANES);
                }
                any |= hits[r];
            }
            if (!any) continue;
            for (int r = 0; r < ROWS; r++) {
                if (!hits[r]) continue;
                float values[COLUMNS];
                memcpy(values, sum[r], sizeof values);
                const int32_t row = first_row + r0 + r;
                for (uint64_t left = hits[r]; left; left &= left - 1) {
                    const int at = __builtin_ctzll(left);
                    const int32_t column = first_column + c + at;
                    if (column >= n_columns || (upper && column <= row)) continue;
                    found->rows[found->count] = row;
                    found->columns[found->count] = column;
                    found->bounds[found->count++] = values[at];
                }
            }
        }
}

/* Scan row panels [row_first, row_last) against column panels [column_first,
   column_last), from step *position on; stops when the buffers might overflow
   (the caller empties them and calls again) and returns the number of pairs found.
   Row panels go in groups small enough for the second-level cache. Padding: rows
   with allowed = -1, columns by n_columns. upper: only pairs column > row. */
EXPORT int64_t scan_panels(
        const float *a HOLDS(row_last * PANEL * depth),
        const float *b HOLDS(column_last * PANEL * depth), int64_t depth,
        const float *a_square HOLDS(row_last * PANEL),
        const float *b_square HOLDS(column_last * PANEL),
        const float *a_allowed HOLDS(row_last * PANEL),
        const float *OPTIONAL b_allowed HOLDS(column_last * PANEL), int64_t row_first,
        int64_t row_last, int64_t column_first, int64_t column_last, int64_t n_columns,
        int32_t upper, int32_t *rows HOLDS(capacity), int32_t *columns HOLDS(capacity),
        float *bounds HOLDS(capacity), int64_t capacity, int64_t *position HOLDS(1)) {
    int64_t group = 131072 / (PANEL * depth);
    if (group < 1) group = 1;
    if (group > capacity / (PANEL * PANEL)) group = capacity / (PANEL * PANEL);
    const int64_t across = column_last - column_first;
    const int64_t groups = (row_last - row_first + group - 1) / group;
    Found found = {rows, columns, bounds, 0};
    int64_t step = *position;
    for (; step < groups * across; step++) {
        if (capacity - found.count < group * PANEL * PANEL) break;
        const int64_t j = column_first + step % across;
        const int64_t start = row_first + step / across * group;
        const int64_t stop = start + group < row_last ? start + group : row_last;
        for (int64_t i = start; i < stop; i++) {
            if (upper && i > j) continue;
            panel_pair(a + i * PANEL * depth, b + j * PANEL * depth, depth,
                       a_square + i * PANEL, b_square + j * PANEL, a_allowed + i * PANEL,
                       b_allowed ? b_allowed + j * PANEL : NULL, (int32_t)(i * PANEL),
                       (int32_t)(j * PANEL), (int32_t)n_columns, upper && i == j, &found);
        }
    }
    *position = step < groups * across ? step : -1;
    return found.count;
}

/* ---- approximate lists, in the coordinates of the scan ---- */
/* Put (d, i) into an ascending list of m unless it is there or too far. */
static void enlist(float *distance, int32_t *index, int64_t m, float d, int32_t i) {
    if (!(d < distance[m - 1])) return;
    int32_t there = 0;
    for (int64_t e = 0; e < m; e++) there |= index[e] == i;
    if (there) return;
    int64_t at = m - 1;
    for (; at > 0 && distance[at - 1] > d; at--)
        distance[at] = distance[at - 1], index[at] = index[at - 1];
    distance[at] = d, index[at] = i;
}

/* Vectors in panels, with their names and squares; padding lies at infinity. */
typedef struct {
    float *vectors, *squares;
    const int32_t *names;
    int64_t size;
} Set;

static int set_room(Set *set, int64_t size, int64_t depth) {
    const int64_t panels = (size + PANEL - 1) / PANEL;
    set->vectors = malloc((size_t)(panels * PANEL * depth + 1) * sizeof *set->vectors);
    set->squares = malloc((size_t)(panels * PANEL + 1) * sizeof *set->squares);
    return set->vectors && set->squares;
}

static void set_free(Set *set) { free(set->vectors), free(set->squares); }

static void fill(Set *set, const int32_t *names, int64_t size, const float *points,
                 const float *square, int64_t depth) {
    set->names = names, set->size = size;
    for (int64_t e = 0; e < (size + PANEL - 1) / PANEL * PANEL; e++) {
        float *to = set->vectors + e / PANEL * PANEL * depth + e % PANEL;
        const float *from = e < size ? points + names[e] * depth : NULL;
        set->squares[e] = from ? square[names[e]] : INFINITY;
        for (int64_t k = 0; k < depth; k++) to[k * PANEL] = from ? from[k] : 0.0f;
    }
}

/* Offer all of b to the lists of all of a; nobody lists itself. */
static void compare_sets(const Set *a, const Set *b, int64_t depth, int64_t m, float *distance,
                         int32_t *index) {
    const int64_t used = (b->size + PANEL - 1) / PANEL;
    for (int64_t r0 = 0; r0 < a->size; r0 += ROWS)
        for (int64_t pc = 0; pc < used; pc++)
            for (int c = 0; c < PANEL; c += COLUMNS) {
                Vector sum[ROWS][VECTORS];
                products(a->vectors + r0 / PANEL * PANEL * depth + r0 % PANEL,
                         b->vectors + pc * PANEL * depth + c, depth, sum);
                for (int r = 0; r < ROWS; r++) {
                    const int64_t e = r0 + r;
                    if (e >= a->size) break;
                    float values[COLUMNS];
                    float *row = distance + a->names[e] * m;
                    int near = 0;
                    for (int v = 0; v < VECTORS; v++) {
                        const Vector apart =
                            ((Vector)a->squares[e] + load(b->squares + pc * PANEL + c + v * LANES)) -
                            2.0f * sum[r][v];
                        memcpy(values + v * LANES, &apart, sizeof apart);
                    }
                    for (int t = 0; t < COLUMNS; t++) near |= values[t] < row[m - 1];
                    if (!near) continue;
                    for (int t = 0; t < COLUMNS; t++) {
                        const int64_t f = pc * PANEL + c + t;
                        if (f < b->size && b->names[f] != a->names[e] && values[t] < row[m - 1])
                            enlist(row, index + a->names[e] * m, m, values[t], b->names[f]);
                    }
                }
            }
}

/* Leaves of a tree: members[starts[l] .. starts[l+1]) are compared all with all. */
EXPORT int32_t leaf_lists(
        const float *points HOLDS(0), int64_t depth,
        const float *square HOLDS(COUNT(points) / depth),
        const int32_t *members HOLDS(starts[last]), const int64_t *starts HOLDS(last + 1),
        int64_t first, int64_t last, int64_t m, float *distance HOLDS(COUNT(points) / depth * m),
        int32_t *index HOLDS(COUNT(points) / depth * m)) {
    int64_t longest = 0;
    for (int64_t l = first; l < last; l++)
        if (starts[l + 1] - starts[l] > longest) longest = starts[l + 1] - starts[l];
    Set leaf;
    const int room = set_room(&leaf, longest, depth);
    for (int64_t l = first; room && l < last; l++) {
        fill(&leaf, members + starts[l], starts[l + 1] - starts[l], points, square, depth);
        compare_sets(&leaf, &leaf, depth, m, distance, index);
    }
    set_free(&leaf);
    return !room;
}

/* The nearest of a sample for the points names[first .. last-1]. */
EXPORT int32_t sample_lists(
        const float *points HOLDS(n * depth), int64_t n, int64_t depth,
        const float *square HOLDS(n), const int32_t *sample HOLDS(size) BELOW(n), int64_t size,
        const int32_t *names HOLDS(last) BELOW(n), int64_t first, int64_t last, int64_t m,
        float *distance HOLDS(n * m), int32_t *index HOLDS(n * m)) {
    (void)n;
    Set drawn = {0}, some = {0};
    const int room = set_room(&drawn, size, depth) && set_room(&some, PANEL, depth);
    if (room) fill(&drawn, sample, size, points, square, depth);
    for (int64_t at = first; room && at < last; at += PANEL) {
        fill(&some, names + at, last - at < PANEL ? last - at : PANEL, points, square, depth);
        compare_sets(&some, &drawn, depth, m, distance, index);
    }
    set_free(&drawn), set_free(&some);
    return !room;
}
