/* Approximate lists by cells: each row is compared with all rows of the few cells whose centres are
   nearest to it. Rows of one cell that look into the same other cell are compared with it together,
   by products of panels (panels.h), so that a pair takes about a nanosecond.

   Sums may use fused multiply-adds: lists are approximate, and distances are computed anew. */
#include "kernels.h"
#include "panels.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Vectors of the cells first .. last-1 in panels, each cell from a panel of its own on; padding lies
   at infinity. Cell c holds the rows members[starts[c] .. starts[c+1]), its panels begin at
   panel_starts[c]. */
EXPORT void pack_cells(
        const float *points HOLDS(n * depth), int64_t n, int64_t depth,
        const float *square HOLDS(n), const int32_t *members HOLDS(starts[last]) BELOW(n),
        const int64_t *starts HOLDS(last + 1) RISING,
        const int64_t *panel_starts HOLDS(last + 1) RISING, int64_t first, int64_t last,
        float *packed HOLDS(panel_starts[last] * PANEL * depth),
        float *squares HOLDS(panel_starts[last] * PANEL)) {
    (void)n; /* what the conditions of the arrays are about */
    for (int64_t c = first; c < last; c++) {
        const int64_t size = starts[c + 1] - starts[c];
        for (int64_t p = panel_starts[c]; p < panel_starts[c + 1]; p++)
            for (int64_t e = 0; e < PANEL; e++) {
                const int64_t at = (p - panel_starts[c]) * PANEL + e;
                const int32_t row = at < size ? members[starts[c] + at] : -1;
                float *to = packed + p * PANEL * depth + e;
                squares[p * PANEL + e] = row < 0 ? INFINITY : square[row];
                for (int64_t k = 0; k < depth; k++)
                    to[k * PANEL] = row < 0 ? 0.0f : points[row * depth + k];
            }
    }
}

/* ---- heaps of the nearest so far, the farthest on top ---- */
static void replace_top(float *distance, int32_t *index, int64_t size, float d, int32_t i) {
    int64_t at = 0;
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= size) break;
        if (child + 1 < size && distance[child + 1] > distance[child]) child++;
        if (!(distance[child] > d)) break;
        distance[at] = distance[child], index[at] = index[child], at = child;
    }
    distance[at] = d, index[at] = i;
}

/* What is read of the cells, and the lists that are written. */
typedef struct {
    const float *packed, *squares;
    int64_t depth, length;
    const int64_t *panel_starts;
    const int32_t *members;
    const int64_t *starts;
    float *distance;
    int32_t *index;
} Cells;

/* Rows of one cell, gathered into panels: `place` is their place in the cell. */
typedef struct {
    float *vectors, *squares;
    const int32_t *place;
    int64_t size;
} Gathered;

static void gather(const Cells *cells, int64_t own, const int32_t *place, int64_t size,
                   Gathered *rows) {
    const int64_t depth = cells->depth, base = cells->panel_starts[own];
    rows->place = place, rows->size = size;
    for (int64_t e = 0; e < (size + ROWS - 1) / ROWS * ROWS; e++) {
        float *to = rows->vectors + e / PANEL * PANEL * depth + e % PANEL;
        const int64_t l = e < size ? place[e] : 0;
        const float *from = cells->packed + (base + l / PANEL) * PANEL * depth + l % PANEL;
        rows->squares[e] = e < size ? cells->squares[base * PANEL + l] : INFINITY;
        for (int64_t k = 0; k < depth; k++) to[k * PANEL] = e < size ? from[k * PANEL] : 0.0f;
    }
}

/* Offer the rows of cell `other` to the lists of gathered rows of cell `own`. */
static void offer_cell(const Cells *cells, int64_t own, int64_t other, const Gathered *rows) {
    const int64_t depth = cells->depth, m = cells->length;
    const int32_t *mine = cells->members + cells->starts[own];
    const int32_t *theirs = cells->members + cells->starts[other];
    for (int64_t r0 = 0; r0 < rows->size; r0 += ROWS)
        for (int64_t p = cells->panel_starts[other]; p < cells->panel_starts[other + 1]; p++)
            for (int c = 0; c < PANEL; c += COLUMNS) {
                Vector sum[ROWS][VECTORS];
                products(rows->vectors + r0 / PANEL * PANEL * depth + r0 % PANEL,
                         cells->packed + p * PANEL * depth + c, depth, sum);
                const float *squares = cells->squares + p * PANEL + c;
                const int64_t first = (p - cells->panel_starts[other]) * PANEL + c;
                for (int r = 0; r < ROWS && r0 + r < rows->size; r++) {
                    const int32_t place = rows->place[r0 + r];
                    float *heap = cells->distance + mine[place] * m;
                    uint64_t hits = 0;
                    for (int v = 0; v < VECTORS; v++) {
                        const Vector both = (Vector)rows->squares[r0 + r] + load(squares + v * LANES);
                        sum[r][v] = both - 2.0f * sum[r][v];
                        const Mask mask = __builtin_convertvector(sum[r][v] < (Vector)heap[0], Mask);
                        uint16_t bits = 0;
                        memcpy(&bits, &mask, sizeof mask < 2 ? sizeof mask : 2);
                        hits |= (uint64_t)(bits & ((1u << LANES) - 1u)) << (v * LANES);
                    }
                    if (!hits) continue;
                    float values[COLUMNS];
                    memcpy(values, sum[r], sizeof values);
                    for (; hits; hits &= hits - 1) {
                        const int at = __builtin_ctzll(hits);
                        if (!(values[at] < heap[0]) || (own == other && first + at == place)) continue;
                        replace_top(heap, cells->index + mine[place] * m, m, values[at],
                                    theirs[first + at]);
                    }
                }
            }
}

/* For the rows of the cells first .. last-1: the `length` nearest, by the vectors, in the cells
   probes[row · n_probes ..], each of which is named once. Lists come full of (infinity, a name) and
   are no order. */
EXPORT int32_t cell_lists(
        const float *packed HOLDS(panel_starts[n_cells] * PANEL * depth), int64_t depth,
        const float *squares HOLDS(panel_starts[n_cells] * PANEL), int64_t n, int64_t n_cells,
        const int64_t *panel_starts HOLDS(n_cells + 1) RISING,
        const int32_t *members HOLDS(n) BELOW(n), const int64_t *starts HOLDS(n_cells + 1) RISING,
        const int32_t *probes HOLDS(n * n_probes) BELOW(n_cells), int64_t n_probes, int64_t first,
        int64_t last, int64_t length, float *distance HOLDS(n * length),
        int32_t *index HOLDS(n * length)) {
    int64_t largest = 0;
    for (int64_t c = first; c < last; c++)
        if (starts[c + 1] - starts[c] > largest) largest = starts[c + 1] - starts[c];
    const size_t room = (size_t)((largest + PANEL - 1) / PANEL * PANEL + 1);
    int64_t *ends = calloc((size_t)n_cells + 1, sizeof *ends);
    int32_t *order = malloc(((size_t)n_cells + 1) * sizeof *order);
    int32_t *place = malloc((size_t)(largest * n_probes + 1) * sizeof *place);
    Gathered rows = {malloc(room * (size_t)depth * sizeof(float)), malloc(room * sizeof(float)),
                     NULL, 0};
    const int enough = ends && order && place && rows.vectors && rows.squares;
    const Cells cells = {packed, squares, depth,  length,  panel_starts,
                         members, starts, distance, index};
    (void)n;
    for (int64_t own = first; enough && own < last; own++) {
        const int64_t size = starts[own + 1] - starts[own];
        const int32_t *names = members + starts[own];
        int64_t met = 0;
        for (int64_t p = 0; p < n_probes; p++) /* the nearest cells first */
            for (int64_t e = 0; e < size; e++) {
                const int32_t c = probes[names[e] * n_probes + p];
                if (!ends[c]++) order[met++] = c;
            }
        int64_t at = 0;
        for (int64_t o = 0; o < met; o++) { /* where the rows of each cell begin */
            const int64_t count = ends[order[o]];
            ends[order[o]] = at, at += count;
        }
        for (int64_t e = 0; e < size; e++)
            for (int64_t p = 0; p < n_probes; p++)
                place[ends[probes[names[e] * n_probes + p]]++] = (int32_t)e;
        int64_t begin = 0;
        for (int64_t o = 0; o < met; o++) {
            const int64_t end = ends[order[o]];
            gather(&cells, own, place + begin, end - begin, &rows);
            offer_cell(&cells, own, order[o], &rows);
            ends[order[o]] = 0, begin = end;
        }
    }
    free(ends), free(order), free(place), free(rows.vectors), free(rows.squares);
    return enough ? 0 : NO_MEMORY;
}
