/* Using a factorisation: solves, and the sizes that bound its error. */
#include "pages.h"
#include <math.h>
#include <string.h>
#include "kernels.h"

#define WIDE 8 /* right-hand sides carried through the factor at once */
SHARED(WIDE);

typedef struct {
    int64_t supers;
    const int32_t *first;
    const int64_t *row_start;
    const int32_t *rows;
    const int64_t *panel_start;
    const double *lower, *pivots;
} Factor;

/* L D L^T x = x for one vector in the order of the factor. */
static void solve_one(const Factor *f, double *restrict x, double *restrict sum) {
    for (int64_t s = 0; s < f->supers; s++) {
        const int64_t own = f->first[s + 1] - f->first[s];
        const int64_t below = f->row_start[s + 1] - f->row_start[s], rows = own + below;
        const double *panel = f->lower + f->panel_start[s];
        const int32_t *mine = f->rows + f->row_start[s];
        double *here = x + f->first[s];
        for (int64_t i = 0; i < below; i++) sum[i] = 0;
        for (int64_t k = 0; k < own; k++) {
            const double *restrict l = panel + k * rows, *restrict m = l + own, value = here[k];
            for (int64_t i = k + 1; i < own; i++) here[i] -= l[i] * value;
            for (int64_t i = 0; i < below; i++) sum[i] += m[i] * value;
        }
        for (int64_t i = 0; i < below; i++) x[mine[i]] -= sum[i];
    }
    for (int64_t s = f->supers - 1; s >= 0; s--) {
        const int64_t own = f->first[s + 1] - f->first[s];
        const int64_t below = f->row_start[s + 1] - f->row_start[s], rows = own + below;
        const double *panel = f->lower + f->panel_start[s];
        const int32_t *mine = f->rows + f->row_start[s];
        double *here = x + f->first[s];
        for (int64_t i = 0; i < below; i++) sum[i] = x[mine[i]];
        for (int64_t k = own - 1; k >= 0; k--) {
            const double *restrict l = panel + k * rows, *restrict m = l + own;
            double part[WIDE] = {0};
            int64_t i = 0;
            for (; i + WIDE <= below; i += WIDE)
                for (int v = 0; v < WIDE; v++) part[v] += m[i + v] * sum[i + v];
            double total = ((part[0] + part[4]) + (part[1] + part[5]))
                           + ((part[2] + part[6]) + (part[3] + part[7]));
            for (; i < below; i++) total += m[i] * sum[i];
            for (int64_t j = k + 1; j < own; j++) total += l[j] * here[j];
            here[k] = here[k] / f->pivots[f->first[s] + k] - total;
        }
    }
}

/* Rows below `end` have their numbers in x; those from there on are summed in `above`, at `place`. */
typedef struct {
    int64_t end;
    const int32_t *place;
    double *above;
} Beyond;

typedef double Wide __attribute__((vector_size(WIDE * 8), aligned(8)));
typedef double Half __attribute__((vector_size(WIDE * 4), aligned(8)));

/* Take the columns of a supernode, `here`, off rows [from, to) below it: x of row at[mine[i]], or of
   mine[i] where `at` is NULL. In vectors as wide as x: left to itself the compiler may take four
   rows as a vector, and needs twice the time. */
#define TAKE_OFF(name, Vector)                                                                     \
    static inline void name(const double *panel, int64_t rows, int64_t own, const int32_t *mine,   \
                            const int32_t *at, int64_t from, int64_t to, const double *here,       \
                            double *x) {                                                           \
        const Vector *columns = (const Vector *)here;                                              \
        Vector *targets = (Vector *)x;                                                             \
        int64_t i = from;                                                                          \
        for (; i + 4 <= to; i += 4) {                                                              \
            Vector part[4] = {{0}};                                                                \
            for (int64_t k = 0; k < own; k++) {                                                    \
                const double *l = panel + k * rows + own + i;                                      \
                const Vector column = columns[k];                                                  \
                for (int r = 0; r < 4; r++) part[r] += l[r] * column;                              \
            }                                                                                      \
            for (int r = 0; r < 4; r++) targets[at ? at[mine[i + r]] : mine[i + r]] -= part[r];    \
        }                                                                                          \
        for (; i < to; i++) {                                                                      \
            Vector part = {0};                                                                     \
            for (int64_t k = 0; k < own; k++) part += panel[k * rows + own + i] * columns[k];      \
            targets[at ? at[mine[i]] : mine[i]] -= part;                                           \
        }                                                                                          \
    }

TAKE_OFF(take_off_wide, Wide)
TAKE_OFF(take_off_half, Half)

/* Take supernode s off the rows below it, for `wide` vectors side by side, x[row * wide + which];
   each has the same bits for any. */
static inline __attribute__((always_inline)) void forward_super(
        const Factor *f, int64_t s, double *restrict x, const Beyond *beyond, const int wide) {
    const int64_t own = f->first[s + 1] - f->first[s];
    const int64_t below = f->row_start[s + 1] - f->row_start[s], rows = own + below;
    const double *panel = f->lower + f->panel_start[s];
    const int32_t *mine = f->rows + f->row_start[s];
    double *here = x + (int64_t)f->first[s] * wide;
    for (int64_t i = 1; i < own; i++) {
        double part[WIDE];
        for (int v = 0; v < wide; v++) part[v] = here[i * wide + v];
        for (int64_t k = 0; k < i; k++)
            for (int v = 0; v < wide; v++) part[v] -= panel[k * rows + i] * here[k * wide + v];
        for (int v = 0; v < wide; v++) here[i * wide + v] = part[v];
    }
    int64_t inside = below;
    while (inside && mine[inside - 1] >= beyond->end) inside--;
    if (wide == WIDE) {
        take_off_wide(panel, rows, own, mine, 0, 0, inside, here, x);
        take_off_wide(panel, rows, own, mine, beyond->place, inside, below, here, beyond->above);
    } else {
        take_off_half(panel, rows, own, mine, 0, 0, inside, here, x);
        take_off_half(panel, rows, own, mine, beyond->place, inside, below, here, beyond->above);
    }
}

static inline __attribute__((always_inline)) void backward_super(
        const Factor *f, int64_t s, double *restrict x, double *restrict sum, const int wide) {
    const int64_t own = f->first[s + 1] - f->first[s];
    const int64_t below = f->row_start[s + 1] - f->row_start[s], rows = own + below;
    const double *panel = f->lower + f->panel_start[s];
    const int32_t *mine = f->rows + f->row_start[s];
    double *here = x + (int64_t)f->first[s] * wide;
    for (int64_t i = 0; i < below; i++)
        memcpy(sum + i * wide, x + (int64_t)mine[i] * wide, wide * sizeof(double));
    for (int64_t k = own - 1; k >= 0; k--) {
        const double *l = panel + k * rows, *m = l + own, pivot = f->pivots[f->first[s] + k];
        double even[WIDE] = {0}, odd[WIDE] = {0};
        int64_t i = 0;
        for (; i + 2 <= below; i += 2)
            for (int v = 0; v < wide; v++) {
                even[v] += m[i] * sum[i * wide + v];
                odd[v] += m[i + 1] * sum[(i + 1) * wide + v];
            }
        for (; i < below; i++)
            for (int v = 0; v < wide; v++) even[v] += m[i] * sum[i * wide + v];
        for (int64_t j = k + 1; j < own; j++)
            for (int v = 0; v < wide; v++) odd[v] += l[j] * here[j * wide + v];
        for (int v = 0; v < wide; v++)
            here[k * wide + v] = here[k * wide + v] / pivot - (even[v] + odd[v]);
    }
}

static inline __attribute__((always_inline)) void solve_block(const Factor *f, double *restrict x,
                                                              double *restrict sum, const int wide) {
    const Beyond none = {INT64_MAX, 0, 0};
    for (int64_t s = 0; s < f->supers; s++) forward_super(f, s, x, &none, wide);
    for (int64_t s = f->supers - 1; s >= 0; s--) backward_super(f, s, x, sum, wide);
}

static void solve_wide(const Factor *f, double *x, double *sum) { solve_block(f, x, sum, WIDE); }

static void solve_half(const Factor *f, double *x, double *sum) { solve_block(f, x, sum, WIDE / 2); }

static int64_t width_of(int64_t columns) {
    return columns == 1 ? 1 : columns <= WIDE / 2 ? WIDE / 2 : WIDE;
}

static void solve_columns(const Factor *f, double *x, double *sum, int64_t width) {
    if (width == 1) solve_one(f, x, sum);
    else if (width < WIDE) solve_half(f, x, sum);
    else solve_wide(f, x, sum);
}

static double *room_of_sums(const Factor *f, int64_t width) {
    int64_t tallest = 1;
    for (int64_t s = 0; s < f->supers; s++)
        if (f->row_start[s + 1] - f->row_start[s] > tallest)
            tallest = f->row_start[s + 1] - f->row_start[s];
    return malloc((size_t)(tallest * width) * sizeof(double));
}

/* Solve for columns [from, to) of rhs (n x count, rows contiguous) into out. */
EXPORT int32_t ldl_solve(
        int64_t n, int64_t count, int64_t from, int64_t to, int64_t supers,
        const int32_t *order HOLDS(n), const int32_t *first HOLDS(supers + 1),
        const int64_t *row_start HOLDS(supers + 1), const int32_t *rows HOLDS(row_start[supers]),
        const int64_t *panel_start HOLDS(supers + 1),
        const double *lower HOLDS(panel_start[supers]), const double *pivots HOLDS(n),
        const double *rhs HOLDS(n * count), double *out HOLDS(n * count)) {
    const Factor f = {supers, first, row_start, rows, panel_start, lower, pivots};
    const int64_t width = width_of(to - from);
    double *x = scratch_memory((size_t)(n * width + 1) * sizeof *x);
    double *sum = room_of_sums(&f, width);
    const int32_t result = x && sum ? 0 : NO_MEMORY;
    for (int64_t c = from; c < to && !result; c += width) {
        const int64_t used = to - c < width ? to - c : width;
        for (int64_t k = 0; k < n; k++) {
            for (int64_t v = 0; v < used; v++) x[k * width + v] = rhs[order[k] * count + c + v];
            for (int64_t v = used; v < width; v++) x[k * width + v] = 0;
        }
        solve_columns(&f, x, sum, width);
        for (int64_t k = 0; k < n; k++)
            for (int64_t v = 0; v < used; v++) out[order[k] * count + c + v] = x[k * width + v];
    }
    free(x);
    free(sum);
    return result;
}

/* The same for (rhs, -rhs), where rows 2k and 2k + 1 of the factor are the matrix's rows order[k]
   and half + order[k]: half the sums of their solutions into `sums`, half the differences into
   `differences`. */
EXPORT int32_t ldl_solve_rotated(
        int64_t half, int64_t count, int64_t from, int64_t to, int64_t supers,
        const int32_t *order HOLDS(half) BELOW(half), const int32_t *first HOLDS(supers + 1),
        const int64_t *row_start HOLDS(supers + 1), const int32_t *rows HOLDS(row_start[supers]),
        const int64_t *panel_start HOLDS(supers + 1),
        const double *lower HOLDS(panel_start[supers]), const double *pivots HOLDS(2 * half),
        const double *rhs HOLDS(half * count), double *OPTIONAL sums HOLDS(half * count),
        double *differences HOLDS(half * count)) {
    const Factor f = {supers, first, row_start, rows, panel_start, lower, pivots};
    const int64_t width = width_of(to - from);
    double *x = scratch_memory((size_t)(2 * half * width + 1) * sizeof *x);
    double *sum = room_of_sums(&f, width);
    const int32_t result = x && sum ? 0 : NO_MEMORY;
    for (int64_t c = from; c < to && !result; c += width) {
        const int64_t used = to - c < width ? to - c : width;
        for (int64_t k = 0; k < half; k++) {
            double *upper = x + 2 * k * width, *beneath = upper + width;
            for (int64_t v = 0; v < width; v++) {
                upper[v] = v < used ? rhs[order[k] * count + c + v] : 0;
                beneath[v] = -upper[v];
            }
        }
        solve_columns(&f, x, sum, width);
        for (int64_t k = 0; k < half; k++) {
            const double *upper = x + 2 * k * width, *beneath = upper + width;
            const int64_t to_row = order[k] * count + c;
            for (int64_t v = 0; v < used; v++) {
                if (sums) sums[to_row + v] = (upper[v] + beneath[v]) / 2;
                differences[to_row + v] = (upper[v] - beneath[v]) / 2;
            }
        }
    }
    free(x);
    free(sum);
    return result;
}

/* For solves by parts, as `ldl_plan` made them: ends[s] = the first row beyond the subtree that s
   is in, n above all of them; place[row] = number of a row above them all, 0 of others. Returns
   one more than there are such rows. */
EXPORT int64_t ldl_solve_parts(
        int64_t n, int64_t supers, int64_t parts, const int32_t *first HOLDS(supers + 1) BELOW(n + 1),
        const int32_t *above HOLDS(supers), const int32_t *part HOLDS(supers),
        int32_t *ends HOLDS(supers), int32_t *place HOLDS(n)) {
    int32_t top = 0;
    for (int64_t s = supers - 1; s >= 0; s--) {
        const int inner = above[s] > s && above[s] < supers && part[above[s]] == part[s];
        ends[s] = part[s] == parts ? (int32_t)n : inner ? ends[above[s]] : first[s + 1];
    }
    for (int64_t s = 0; s < supers; s++)
        for (int32_t row = first[s]; row < first[s + 1]; row++)
            place[row] = part[s] == parts ? top++ : 0;
    return top + 1;
}

/* Which columns of which right-hand sides, in which rows of the factor. */
typedef struct {
    const int32_t *order;
    int64_t twins, count, from, used;
} Sides;

static inline __attribute__((always_inline)) void forward_part(
        const Factor *f, int64_t which, int64_t parts, int64_t top, const Sides *sides,
        const int32_t *part, const int32_t *ends, Beyond beyond, const double *restrict rhs,
        double *restrict x, const double *restrict sums, const int wide) {
    for (int64_t s = 0; s < f->supers; s++) {
        if (part[s] != which) continue;
        for (int64_t k = f->first[s]; k < f->first[s + 1]; k++) {
            const int64_t row = sides->twins == 2 ? k >> 1 : k;
            const double *given = rhs + sides->order[row] * sides->count + sides->from;
            const double sign = sides->twins == 2 && k & 1 ? -1 : 1;
            double *here = x + k * wide;
            for (int v = 0; v < wide; v++) here[v] = v < sides->used ? sign * given[v] : 0;
            for (int64_t p = 0; which == parts && p < parts; p++)
                for (int v = 0; v < wide; v++)
                    here[v] += sums[(p * top + beyond.place[k]) * wide + v];
        }
    }
    for (int64_t s = 0; s < f->supers; s++) {
        beyond.end = ends[s];
        if (part[s] == which) forward_super(f, s, x, &beyond, wide);
    }
}

/* Forward through part `which`. x of its rows begins as rhs, rows of `twins` 2 as (rhs, -rhs); what
   goes to rows above all parts is summed in sums + which * top * width, and the part above them
   all, which is the last, begins with these sums. */
EXPORT void ldl_forward(
        int64_t which, int64_t half, int64_t twins, int64_t count, int64_t from, int64_t used,
        int64_t width, int64_t parts, int64_t top, int64_t supers,
        const int32_t *order HOLDS(half) BELOW(half), const int32_t *first HOLDS(supers + 1),
        const int64_t *row_start HOLDS(supers + 1),
        const int32_t *rows HOLDS(row_start[supers]) BELOW(half * twins),
        const int64_t *panel_start HOLDS(supers + 1),
        const double *lower HOLDS(panel_start[supers]), const double *pivots HOLDS(half * twins),
        const int32_t *part HOLDS(supers), const int32_t *ends HOLDS(supers),
        const int32_t *place HOLDS(half * twins) BELOW(top), const double *rhs HOLDS(half * count),
        double *x HOLDS(half * twins * width), double *sums HOLDS(parts * top * width)) {
    (void)half; /* what the conditions of the arrays are about */
    if (which < 0 || which > parts || used > width) return;
    const Factor f = {supers, first, row_start, rows, panel_start, lower, pivots};
    const Sides sides = {order, twins, count, from, used};
    const Beyond beyond = {0, place, which < parts ? sums + which * top * width : sums};
    if (which < parts) memset(beyond.above, 0, (size_t)(top * width) * sizeof(double));
    if (width == WIDE)
        forward_part(&f, which, parts, top, &sides, part, ends, beyond, rhs, x, sums, WIDE);
    else if (width == WIDE / 2)
        forward_part(&f, which, parts, top, &sides, part, ends, beyond, rhs, x, sums, WIDE / 2);
}

static inline __attribute__((always_inline)) void backward_part(
        const Factor *f, int64_t which, const Sides *sides, const int32_t *part,
        double *restrict x, double *restrict sum, double *restrict halves,
        double *restrict differences, const int wide) {
    for (int64_t s = f->supers - 1; s >= 0; s--) {
        if (part[s] != which) continue;
        backward_super(f, s, x, sum, wide);
        for (int64_t k = f->first[s]; k < f->first[s + 1]; k += sides->twins) {
            const double *upper = x + k * wide, *beneath = upper + wide;
            const int64_t row = sides->twins == 2 ? k >> 1 : k;
            const int64_t to_row = sides->order[row] * sides->count + sides->from;
            if (sides->twins != 2) {
                for (int64_t v = 0; v < sides->used; v++) differences[to_row + v] = upper[v];
                continue;
            }
            for (int64_t v = 0; v < sides->used; v++) {
                halves[to_row + v] = (upper[v] + beneath[v]) / 2;
                differences[to_row + v] = (upper[v] - beneath[v]) / 2;
            }
        }
    }
}

/* Backward through part `which`, when what is above it is done. The solution goes to `differences`;
   of `twins` half the sums of each two rows go to `halves`, half the differences there. */
EXPORT int32_t ldl_backward(
        int64_t which, int64_t half, int64_t twins, int64_t count, int64_t from, int64_t used,
        int64_t width, int64_t supers, const int32_t *order HOLDS(half) BELOW(half),
        const int32_t *first HOLDS(supers + 1), const int64_t *row_start HOLDS(supers + 1),
        const int32_t *rows HOLDS(row_start[supers]) BELOW(half * twins),
        const int64_t *panel_start HOLDS(supers + 1),
        const double *lower HOLDS(panel_start[supers]), const double *pivots HOLDS(half * twins),
        const int32_t *part HOLDS(supers), double *x HOLDS(half * twins * width),
        double *halves HOLDS((twins - 1) * half * count), double *differences HOLDS(half * count)) {
    (void)half; /* what the conditions of the arrays are about */
    const Factor f = {supers, first, row_start, rows, panel_start, lower, pivots};
    const Sides sides = {order, twins, count, from, used};
    double *sum = room_of_sums(&f, width);
    if (!sum) return NO_MEMORY;
    if (width == WIDE) backward_part(&f, which, &sides, part, x, sum, halves, differences, WIDE);
    else if (width == WIDE / 2)
        backward_part(&f, which, &sides, part, x, sum, halves, differences, WIDE / 2);
    free(sum);
    return 0;
}

/* size[i] = row i of |L| |D| |L|^T 1, all terms positive. largest[0] = max |L| off the
   diagonal. Columns of a supernode below its diagonal only. */
EXPORT void ldl_absolute(
        int64_t n, int64_t supers, const int32_t *first HOLDS(supers + 1),
        const int64_t *row_start HOLDS(supers + 1), const int32_t *rows HOLDS(row_start[supers]),
        const int64_t *panel_start HOLDS(supers + 1),
        const double *lower HOLDS(panel_start[supers]), const double *pivots HOLDS(n),
        double *size HOLDS(n), double *largest HOLDS(1)) {
    for (int64_t i = 0; i < n; i++) size[i] = 0;
    double most = 0;
    for (int64_t s = 0; s < supers; s++) {
        const int64_t own = first[s + 1] - first[s];
        const int64_t below = row_start[s + 1] - row_start[s], height = own + below;
        const int32_t *mine = rows + row_start[s];
        for (int64_t k = 0; k < own; k++) {
            const double *l = lower + panel_start[s] + k * height;
            double part[8] = {0}, peak[8] = {0};
            for (int64_t i = k + 1; i < height; i++) {
                const double a = fabs(l[i]);
                part[i & 7] += a;
                peak[i & 7] = a > peak[i & 7] ? a : peak[i & 7];
            }
            double sum = 1;
            for (int v = 0; v < 8; v++) {
                sum += part[v];
                if (peak[v] > most) most = peak[v];
            }
            sum *= fabs(pivots[first[s] + k]);
            size[first[s] + k] += sum;
            for (int64_t i = k + 1; i < own; i++) size[first[s] + i] += fabs(l[i]) * sum;
            for (int64_t i = 0; i < below; i++) size[mine[i]] += fabs(l[own + i]) * sum;
        }
    }
    largest[0] = most;
}

/* How far from symmetric: the largest row sum of |M - M^T|, or -1 when the pattern
   itself is not symmetric (rows sorted, no entry twice). Without values: 0 or -1. */
EXPORT double asymmetry(
        int64_t n, const int64_t *start HOLDS(n + 1) RISING,
        const int32_t *next HOLDS(start[n]) BELOW(n),
        const double *OPTIONAL values HOLDS(start[n]), int64_t *reached HOLDS(n),
        double *sums HOLDS(n)) {
    for (int64_t i = 0; i < n; i++) {
        reached[i] = start[i];
        sums[i] = 0;
    }
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t t = start[i]; t < start[i + 1]; t++) {
            const int32_t j = next[t];
            if (t > start[i] && next[t - 1] >= j) return -1;
            if (j <= i) continue; /* each (i, j) above the diagonal must be met as (j, i) in turn */
            const int64_t mirror = reached[j]++;
            if (mirror >= start[j + 1] || next[mirror] != i) return -1;
            if (!values) continue;
            const double apart = fabs(values[mirror] - values[t]);
            sums[i] += apart;
            sums[j] += apart;
        }
        /* what is left of row i must begin at its diagonal or beyond */
        if (reached[i] < start[i + 1] && next[reached[i]] < i) return -1;
        if (sums[i] > most) most = sums[i]; /* later rows only add to their own sums */
    }
    return most;
}
