/* Sparse L D L^T without pivoting, multifrontal: each supernode gathers its part of
   the matrix and what its children left over in a dense front, eliminates its own
   columns there and leaves the rest to its parent.

   Every entry of L D is the matrix entry minus products l_ik d_k l_jk, summed in an
   order fixed by the supernodes alone, so the bits do not depend on threads. */
#include "pages.h"
#include <string.h>
#include "kernels.h"

#if defined(__AVX512F__)
#define LANES 8
#define VECTORS 2
#define COLUMNS 8
#elif defined(__AVX__)
#define LANES 4
#define VECTORS 2
#define COLUMNS 4
#else
#define LANES 2
#define VECTORS 2
#define COLUMNS 4
#endif
#define ROWS (LANES * VECTORS)
#define BLOCK 48 /* columns eliminated before the rest of the front is brought up to date */

#define AHEAD 32 /* columns between asking for a row of the matrix and using it */

SHARED(NO_MEMORY);
SHARED(OUTSIDE_PATTERN);

typedef double Vector __attribute__((vector_size(LANES * 8), aligned(8)));

typedef struct {
    double *panel;          /* rows x own, the columns eliminated here */
    double *update;         /* (rows - own)^2, lower half: what is left to the parent */
    int64_t rows, own;
    double *tall, *wide;    /* packed L and D L^T of a block */
} Front;

static double *column(const Front *f, int64_t j) {
    return j < f->own ? f->panel + j * f->rows : f->update + (j - f->own) * (f->rows - f->own) - f->own;
}

/* tile = sum over k of tall[k] wide[k]^T, ROWS x COLUMNS. */
static inline void tile_product(int64_t depth, const double *restrict tall,
                                const double *restrict wide, Vector tile[COLUMNS][VECTORS]) {
    Vector sum[COLUMNS][VECTORS];
    for (int c = 0; c < COLUMNS; c++)
        for (int v = 0; v < VECTORS; v++) sum[c][v] = (Vector){0};
    for (int64_t k = 0; k < depth; k++) {
        Vector left[VECTORS];
        for (int v = 0; v < VECTORS; v++) left[v] = *(const Vector *)(tall + k * ROWS + v * LANES);
#pragma clang loop unroll(full)
        for (int c = 0; c < COLUMNS; c++)
#pragma clang loop unroll(full)
            for (int v = 0; v < VECTORS; v++) sum[c][v] += left[v] * wide[k * COLUMNS + c];
    }
    for (int c = 0; c < COLUMNS; c++)
        for (int v = 0; v < VECTORS; v++) tile[c][v] = sum[c][v];
}

/* Subtract L D L^T of columns [from, to) from the lower half of the front right of `to`. */
static void subtract_block(const Front *f, const double *pivots, int64_t from, int64_t to) {
    const int64_t depth = to - from, size = f->rows - to;
    if (size <= 0) return;
    for (int64_t k = 0; k < depth; k++) {
        const double *source = f->panel + (from + k) * f->rows + to;
        const double d = pivots[from + k];
        for (int64_t i = 0; i < size; i += ROWS) {
            double *to_tall = f->tall + i * depth + k * ROWS;
            const int64_t count = size - i < ROWS ? size - i : ROWS;
            for (int64_t r = 0; r < count; r++) to_tall[r] = source[i + r];
            for (int64_t r = count; r < ROWS; r++) to_tall[r] = 0;
        }
        for (int64_t j = 0; j < size; j += COLUMNS) {
            double *to_wide = f->wide + j * depth + k * COLUMNS;
            const int64_t count = size - j < COLUMNS ? size - j : COLUMNS;
            for (int64_t c = 0; c < count; c++) to_wide[c] = source[j + c] * d;
            for (int64_t c = count; c < COLUMNS; c++) to_wide[c] = 0;
        }
    }
    for (int64_t j = 0; j < size; j += COLUMNS) {
        for (int64_t i = j / ROWS * ROWS; i < size; i += ROWS) {
            Vector tile[COLUMNS][VECTORS];
            tile_product(depth, f->tall + i * depth, f->wide + j * depth, tile);
            const int inside = i >= j + COLUMNS - 1 && i + ROWS <= size && j + COLUMNS <= size;
            if (inside) {
                for (int c = 0; c < COLUMNS; c++) {
                    double *target = column(f, to + j + c) + to + i;
                    for (int v = 0; v < VECTORS; v++) *(Vector *)(target + v * LANES) -= tile[c][v];
                }
                continue;
            }
            double plain[COLUMNS][ROWS];
            memcpy(plain, tile, sizeof plain);
            for (int64_t c = 0; c < COLUMNS && j + c < size; c++) {
                double *target = column(f, to + j + c) + to;
                const int64_t low = i > j + c ? i : j + c, high = i + ROWS < size ? i + ROWS : size;
                for (int64_t r = low; r < high; r++) target[r] -= plain[c][r - i];
            }
        }
    }
}

/* Eliminate columns [from, to) of the panel, one by one, by those before them in it. */
static void eliminate_block(const Front *f, double *pivots, int64_t from, int64_t to) {
    const int64_t rows = f->rows;
    for (int64_t j = from; j < to; j++) {
        double *restrict target = f->panel + j * rows;
        int64_t k = from;
        for (; k + 4 <= j; k += 4) {
            const double *restrict a = f->panel + k * rows, *restrict b = a + rows;
            const double *restrict c = b + rows, *restrict d = c + rows;
            const double wa = a[j] * pivots[k], wb = b[j] * pivots[k + 1];
            const double wc = c[j] * pivots[k + 2], wd = d[j] * pivots[k + 3];
            for (int64_t i = j; i < rows; i++)
                target[i] -= (a[i] * wa + b[i] * wb) + (c[i] * wc + d[i] * wd);
        }
        for (; k < j; k++) {
            const double *restrict a = f->panel + k * rows;
            const double wa = a[j] * pivots[k];
            for (int64_t i = j; i < rows; i++) target[i] -= a[i] * wa;
        }
        const double pivot = pivots[j] = target[j];
        for (int64_t i = j + 1; i < rows; i++) target[i] /= pivot;
    }
}

/* Add a child's leftover into the front; where[row] = the row's number in it. */
static void extend_add(const Front *f, const double *child, int64_t size, const int32_t *rows,
                       const int32_t *where, int32_t *place) {
    for (int64_t i = 0; i < size; i++) place[i] = where[rows[i]];
    for (int64_t j = 0; j < size; j++) {
        double *restrict target = column(f, place[j]);
        const double *restrict source = child + j * size;
        if (place[size - 1] - place[j] == size - 1 - j) { /* no gaps: plain vectors */
            double *restrict run = target + place[j] - j;
            for (int64_t i = j; i < size; i++) run[i] += source[i];
        } else {
            for (int64_t i = j; i < size; i++) target[place[i]] += source[i];
        }
    }
}

/* What makes a rotated matrix of the rows of M beside those of its transpose (mirrored_rows.c):
   rows i and half + i, off the diagonals that are added, and `drop` that is taken off it. */
typedef struct {
    int64_t half;
    double scale;
    const double *mean, *cross, *drop;
} Turned;

/* The problem as the caller gave it, and what one thread needs to work on it. */
typedef struct {
    int64_t n, which, tallest;
    const int64_t *start;              /* the matrix, compressed rows */
    const int32_t *next;
    const double *values;
    const Turned *turned;              /* not NULL: these are rows of M beside those of its transpose */
    const int32_t *order, *place;      /* order[k] = row placed k-th; place is its inverse */
    const int32_t *first, *above;      /* supernodes and the tree they hang in */
    const int64_t *row_start, *panel_start, *hand_at;
    const int32_t *rows, *part;
    double *handed, *lower, *pivots;
    int32_t *where, *stamp;            /* per row: its number in the front it was last part of */
    int32_t *moved, *child, *sibling;
    int64_t *at;                       /* where leftovers of this part lie on the stack */
    double *pack, *stack;
    int64_t top, room;                 /* how much lies on the stack, and may */
} Work;

/* Bring the matrix's rows into the panel of supernode s. */
static int assemble(const Work *w, const Front *f, int64_t s) {
    for (int32_t j = w->first[s]; j < w->first[s + 1]; j++) {
        /* The rows lie anywhere in the matrix: ask for those soon needed. */
        if (j + AHEAD < w->n) {
            const int64_t soon = w->start[w->order[j + AHEAD / 2]];
            __builtin_prefetch(w->start + w->order[j + AHEAD]);
            __builtin_prefetch(w->next + soon);
            __builtin_prefetch(w->values + soon);
            __builtin_prefetch(w->values + soon + 8);
        }
        double *target = f->panel + (int64_t)(j - w->first[s]) * f->rows;
        for (int64_t t = w->start[w->order[j]]; t < w->start[w->order[j] + 1]; t++) {
            const int32_t i = w->place[w->next[t]];
            if (i < j) continue;
            if (w->stamp[i] != s) return OUTSIDE_PATTERN;
            target[w->where[i]] += w->values[t];
        }
    }
    return 0;
}

/* The same of a rotated matrix, which is written nowhere else. */
static int assemble_turned(const Work *w, const Front *f, int64_t s) {
    const Turned *m = w->turned;
    for (int32_t j = w->first[s]; j < w->first[s + 1]; j++) {
        double *target = f->panel + (int64_t)(j - w->first[s]) * f->rows;
        const int64_t row = w->order[j], below = row >= m->half, i = below ? row - m->half : row;
        for (int64_t t = w->start[i]; t < w->start[i + 1]; t++) {
            const int32_t c = w->next[t];
            const double own = m->scale * w->values[2 * t], other = m->scale * w->values[2 * t + 1];
            const double even = (own + other) / 2, odd = (other - own) / 2;
            const double on = c == i ? m->mean[i] : 0, off = c == i ? m->cross[i] : 0;
            const double drop = c == i ? m->drop[row] : 0;
            const int32_t p = w->place[c], q = w->place[c + m->half];
            if (p >= j) {
                if (w->stamp[p] != s) return OUTSIDE_PATTERN;
                target[w->where[p]] += below ? off - odd : even + on - drop;
            }
            if (q >= j) {
                if (w->stamp[q] != s) return OUTSIDE_PATTERN;
                target[w->where[q]] += below ? on - even - drop : odd + off;
            }
        }
    }
    return 0;
}

/* Gather, eliminate and leave the rest of supernode s. */
static int factorise_one(Work *w, int64_t s) {
    const int64_t own = w->first[s + 1] - w->first[s];
    const int64_t below = w->row_start[s + 1] - w->row_start[s];
    const int32_t *mine = w->rows + w->row_start[s];
    const Front f = {w->lower + w->panel_start[s], w->stack + w->top, own + below, own, w->pack,
                     w->pack + (w->tallest + ROWS) * BLOCK};
    if (w->top + below * below > w->room) return NO_MEMORY;
    for (int64_t i = 0; i < own + below; i++) {
        const int32_t row = i < own ? (int32_t)(w->first[s] + i) : mine[i - own];
        w->where[row] = (int32_t)i;
        w->stamp[row] = (int32_t)s;
    }
    memset(f.panel, 0, (size_t)(f.rows * own) * sizeof(double));
    memset(f.update, 0, (size_t)(below * below) * sizeof(double));
    if (w->turned ? assemble_turned(w, &f, s) : assemble(w, &f, s)) return OUTSIDE_PATTERN;
    int64_t base = w->top; /* the children's leftovers are the topmost of the stack */
    for (int32_t c = w->child[s]; c >= 0; c = w->sibling[c]) {
        const int local = w->part[c] == w->which;
        if (local && w->at[c] < base) base = w->at[c];
        extend_add(&f, local ? w->stack + w->at[c] : w->handed + w->hand_at[c],
                   w->row_start[c + 1] - w->row_start[c], w->rows + w->row_start[c], w->where,
                   w->moved);
    }
    double *pivots = w->pivots + w->first[s];
    for (int64_t k = 0; k < own; k += BLOCK) {
        const int64_t end = k + BLOCK < own ? k + BLOCK : own;
        eliminate_block(&f, pivots, k, end);
        subtract_block(&f, pivots, k, end);
    }
    const int crosses = w->above[s] < 0 || w->part[w->above[s]] != w->which;
    double *home = crosses ? w->handed + w->hand_at[s] : w->stack + base;
    if (below > 0) memmove(home, f.update, (size_t)(below * below) * sizeof(double));
    w->at[s] = base;
    w->top = crosses ? base : base + below * below;
    return 0;
}

/* Factorise the supernodes s with part[s] == which: some subtrees, or all that is above
   them. Leftovers for a parent of another part are written to handed + hand_at[s]; those
   of children of another part are read from there. What waits for a parent of this part is on a
   stack from stacks + stack_at on, as high as `ldl_plan` says. */
static int32_t factorise_part(Work w, int64_t supers) {
    const int64_t n = w.n;
    for (int64_t s = 0; s < supers; s++) {
        const int64_t height = w.first[s + 1] - w.first[s] + w.row_start[s + 1] - w.row_start[s];
        if (w.part[s] == w.which && height > w.tallest) w.tallest = height;
    }
    w.where = scratch_memory((size_t)(2 * n + w.tallest + 2 * supers + 1) * sizeof *w.where);
    w.pack = malloc((size_t)(2 * (w.tallest + ROWS + COLUMNS) * BLOCK) * sizeof *w.pack);
    w.at = malloc((size_t)(supers + 1) * sizeof *w.at);
    int32_t result = w.where && w.pack && w.at ? 0 : NO_MEMORY;
    if (!result) {
        w.stamp = w.where + n;
        w.moved = w.stamp + n;
        w.child = w.moved + w.tallest;
        w.sibling = w.child + supers;
        for (int64_t i = 0; i < n; i++) w.stamp[i] = -1;
        for (int64_t s = 0; s < supers; s++) w.child[s] = -1;
        for (int64_t s = supers - 1; s >= 0; s--)
            if (w.above[s] >= 0) {
                w.sibling[s] = w.child[w.above[s]];
                w.child[w.above[s]] = (int32_t)s;
            }
        for (int64_t s = 0; s < supers && !result; s++)
            if (w.part[s] == w.which) result = factorise_one(&w, s);
    }
    free(w.where);
    free(w.pack);
    free(w.at);
    return result;
}

EXPORT int32_t ldl_factorise(
        int64_t which, int64_t stack_at, int64_t n, int64_t supers,
        const int64_t *start HOLDS(n + 1) RISING,
        const int32_t *next HOLDS(start[n]) BELOW(n), const double *values HOLDS(start[n]),
        const int32_t *order HOLDS(n) BELOW(n), const int32_t *place HOLDS(n) BELOW(n),
        const int32_t *first HOLDS(supers + 1), const int32_t *above HOLDS(supers),
        const int64_t *row_start HOLDS(supers + 1),
        const int32_t *rows HOLDS(row_start[supers]) BELOW(n),
        const int64_t *panel_start HOLDS(supers + 1), const int32_t *part HOLDS(supers),
        const int64_t *hand_at HOLDS(supers + 1), double *handed HOLDS(hand_at[supers]),
        int64_t room, double *stacks HOLDS(room),
        double *lower HOLDS(panel_start[supers]), double *pivots HOLDS(n)) {
    if (stack_at < 0 || stack_at > room) return NO_MEMORY;
    const Work w = {.n = n, .which = which, .start = start, .next = next, .values = values,
                    .order = order, .place = place, .first = first, .above = above,
                    .row_start = row_start, .panel_start = panel_start, .hand_at = hand_at,
                    .rows = rows, .part = part, .handed = handed, .stack = stacks + stack_at,
                    .room = room - stack_at, .lower = lower, .pivots = pivots};
    return factorise_part(w, supers);
}

/* The same of the rotated matrix [[E + D, O + H], [-O + H, -E + D]] less the diagonal `drop`, from
   the rows that `mirrored_rows` made of M: E = scale (M + M^T)/2, O = scale (M^T - M)/2, and the
   diagonals D of `mean` and H of `cross`. */
EXPORT int32_t ldl_factorise_rotated(
        int64_t which, int64_t stack_at, int64_t half, int64_t supers,
        const int64_t *start HOLDS(half + 1) RISING,
        const int32_t *next HOLDS(start[half]) BELOW(half),
        const double *entries HOLDS(2 * start[half]), double scale, const double *mean HOLDS(half),
        const double *cross HOLDS(half), const double *drop HOLDS(2 * half),
        const int32_t *order HOLDS(2 * half) BELOW(2 * half),
        const int32_t *place HOLDS(2 * half) BELOW(2 * half),
        const int32_t *first HOLDS(supers + 1), const int32_t *above HOLDS(supers),
        const int64_t *row_start HOLDS(supers + 1),
        const int32_t *rows HOLDS(row_start[supers]) BELOW(2 * half),
        const int64_t *panel_start HOLDS(supers + 1), const int32_t *part HOLDS(supers),
        const int64_t *hand_at HOLDS(supers + 1), double *handed HOLDS(hand_at[supers]),
        int64_t room, double *stacks HOLDS(room),
        double *lower HOLDS(panel_start[supers]), double *pivots HOLDS(2 * half)) {
    if (stack_at < 0 || stack_at > room) return NO_MEMORY;
    const Turned turned = {half, scale, mean, cross, drop};
    const Work w = {.n = 2 * half, .which = which, .start = start, .next = next,
                    .values = entries, .turned = &turned, .order = order, .place = place,
                    .first = first, .above = above, .row_start = row_start,
                    .panel_start = panel_start, .hand_at = hand_at, .rows = rows, .part = part,
                    .handed = handed, .stack = stacks + stack_at,
                    .room = room - stack_at, .lower = lower, .pivots = pivots};
    return factorise_part(w, supers);
}
