/* How many points lie nearer than given ones, without sorting and without storing
   the distances.

   A point is nearer below `low`, as near from `low` to `high` (equal to both: ties are
   exact), else farther. `count_panels` compares float32 products with a pair of
   thresholds outside them: below `near` a point is certainly nearer, above `far`
   certainly farther, whatever rounding did. What falls between is handed out, and
   `settle_counts` gives it its true distance.

   The k thresholds of a point rise. A distance is searched among them and counted once,
   at the number of those that it reaches: it is below all that follow. So sums over
   the first counts, which the caller takes, are numbers of nearer points. */
#include "kernels.h"
#include "panels.h"
#include "squares.h"
#include <math.h>

typedef int32_t Counts __attribute__((ext_vector_type(LANES)));

/* Of a panel: vectors are [depth][PANEL], square, error and last [PANEL], near [PANEL][padded(k)],
   far and count [PANEL][k + 1]. far[m] is the largest of the first m, last that of all, beyond
   which nothing needs to be compared: on a good map nearly everything. */
typedef struct {
    const float *vectors, *square, *error, *near, *far, *last;
    int32_t *count;
} Panel;

/* Thresholds come in blocks, the last one filled with infinity. */
enum { LIMIT_BLOCK = 16 };
SHARED(LIMIT_BLOCK);
typedef _Bool BlockMask __attribute__((ext_vector_type(LIMIT_BLOCK)));
static inline int64_t padded(int64_t k) { return (k + LIMIT_BLOCK - 1) / LIMIT_BLOCK * LIMIT_BLOCK; }

/* How many of k numbers that rise a value reaches: a search for its block, without branches,
   for which way it goes cannot be foretold; then the whole block at once. */
#define REACHED(name, real)                                                                \
    static inline int64_t name(const real *rising, int64_t k, real value) {                \
        typedef real Block __attribute__((ext_vector_type(LIMIT_BLOCK)));                        \
        const real *from = rising;                                                         \
        for (int64_t left = padded(k) / LIMIT_BLOCK; left > 1; left -= left / 2) {               \
            const real *middle = from + left / 2 * LIMIT_BLOCK;                                  \
            from = __builtin_unpredictable(middle[-1] <= value) ? middle : from;           \
        }                                                                                  \
        Block block;                                                                       \
        memcpy(&block, from, sizeof block);                                                \
        const BlockMask mask = __builtin_convertvector(block <= (Block)value, BlockMask);  \
        uint16_t bits = 0;                                                                 \
        memcpy(&bits, &mask, sizeof bits);                                                 \
        const int64_t found = from - rising + __builtin_popcount(bits);                    \
        return found < k ? found : k;                                                      \
    }
REACHED(reached32, float)
REACHED(reached64, double)

static inline uint32_t bits_of(Counts truth) {
    const Mask mask = __builtin_convertvector(truth, Mask);
    uint16_t bits = 0;
    memcpy(&bits, &mask, sizeof mask < 2 ? sizeof mask : 2);
    return bits & ((1u << LANES) - 1u);
}

/* Count a distance from `low` to `high` at a point; whether some threshold lies between. */
static inline uint32_t count_at(const Panel *panel, int64_t k, int point, float low, float high) {
    const int64_t at = reached32(panel->near + point * padded(k), k, high);
    panel->count[point * (k + 1) + at]++;
    return panel->far[point * (k + 1) + at] >= low;
}

/* The same of a vector of distances to one point, for few thresholds: which lanes are open. */
static inline uint32_t count_all_at(const Panel *panel, int64_t k, int point, Vector low,
                                    Vector high) {
    const float *near = panel->near + point * padded(k), *far = panel->far + point * (k + 1);
    int32_t *count = panel->count + point * (k + 1), before = 0;
    Counts open = (Counts)0;
    for (int64_t m = 0; m < k; m++) {
        const Counts nearer = high < (Vector)near[m];
        const int32_t upto = __builtin_popcount(bits_of(nearer));
        count[m] += upto - before, before = upto;
        open |= ~nearer & (low <= (Vector)far[m + 1]);
    }
    return bits_of(open);
}

static inline void uncount_at(const Panel *panel, int64_t k, int point, float high) {
    panel->count[point * (k + 1) + reached32(panel->near + point * padded(k), k, high)]--;
}

/* own: the column at which each row of the panel meets itself. */
static int64_t panel_counts(const Panel *a, const Panel *b, int64_t depth, int64_t k,
                            const int32_t *own, int32_t first_row, int32_t first_column,
                            int32_t mutual, int32_t *rows, int32_t *columns) {
    int64_t found = 0;
    for (int c = 0; c < PANEL; c += COLUMNS)
        for (int r0 = 0; r0 < PANEL; r0 += ROWS) {
            Vector sum[ROWS][VECTORS];
            products(a->vectors + r0, b->vectors + c, depth, sum);
            float apart[ROWS][COLUMNS];
            /* Unrolled, else the sums above would not stay in registers. */
#pragma clang loop unroll(full)
            for (int r = 0; r < ROWS; r++) {
#pragma clang loop unroll(full)
                for (int v = 0; v < VECTORS; v++) {
                    const Vector squares =
                        (Vector)a->square[r0 + r] + load(b->square + c + v * LANES);
                    const Vector value = squares - 2.0f * sum[r][v];
                    memcpy(&apart[r][v * LANES], &value, sizeof value);
                }
                const int32_t self = own[r0 + r] - first_column - c;
                if (self >= 0 && self < COLUMNS) apart[r][self] = INFINITY;
            }
            for (int r = 0; r < ROWS; r++)
                for (int v = 0; v < VECTORS; v++) {
                    const int at = c + v * LANES;
                    const Vector value = load(&apart[r][v * LANES]);
                    const Vector error = (Vector)a->error[r0 + r] + load(b->error + at);
                    const Vector high = value + error, low = value - error;
                    const uint32_t in_row = bits_of(low <= (Vector)a->last[r0 + r]);
                    const uint32_t in_column =
                        mutual ? bits_of(low <= load(b->last + at)) : 0;
                    if (!(in_row | in_column)) continue;
                    float lows[LANES], highs[LANES];
                    memcpy(lows, &low, sizeof lows), memcpy(highs, &high, sizeof highs);
                    uint32_t open = 0;
                    if (k <= LIMIT_BLOCK && in_row)
                        open = count_all_at(a, k, r0 + r, low, high);
                    else
                        for (uint32_t left = in_row; left; left &= left - 1) {
                            const int l = __builtin_ctz(left);
                            open |= count_at(a, k, r0 + r, lows[l], highs[l]) << l;
                        }
                    for (uint32_t left = in_column; left; left &= left - 1) {
                        const int l = __builtin_ctz(left);
                        open |= count_at(b, k, at + l, lows[l], highs[l]) << l;
                    }
                    /* A pair that is open for one of its points is settled for both. */
                    for (; open; open &= open - 1) {
                        const int l = __builtin_ctz(open);
                        if (in_row >> l & 1) uncount_at(a, k, r0 + r, highs[l]);
                        if (in_column >> l & 1) uncount_at(b, k, at + l, highs[l]);
                        rows[found] = first_row + r0 + r;
                        columns[found++] = first_column + at + l;
                    }
                }
        }
    return found;
}

/* near == NULL: columns that count nothing themselves. */
static Panel panel_at(const float *vectors, const float *square, const float *error,
                      const float *near, const float *far, const float *last, int32_t *count,
                      int64_t depth, int64_t k, int64_t i) {
    Panel panel = {vectors + i * PANEL * depth, square + i * PANEL, error + i * PANEL, 0, 0, 0, 0};
    if (!near) return panel;
    panel.near = near + i * PANEL * padded(k), panel.far = far + i * PANEL * (k + 1);
    panel.last = last + i * PANEL, panel.count = count + i * PANEL * (k + 1);
    return panel;
}

/* Row panels [row_first, row_last) against column panels [column_first, column_last),
   from step *position on; stops when the buffers might overflow (the caller empties
   them and calls again) and returns the number of pairs left open. mutual: rows and
   columns are the same points, each panel pair i <= j is met once and serves both. */
EXPORT int64_t count_panels(
        const float *a HOLDS(row_last * PANEL * depth),
        const float *b HOLDS(column_last * PANEL * depth), int64_t depth,
        const float *a_square HOLDS(row_last * PANEL),
        const float *b_square HOLDS(column_last * PANEL),
        const float *a_error HOLDS(row_last * PANEL),
        const float *b_error HOLDS(column_last * PANEL), int64_t k,
        const float *near HOLDS(row_last * PANEL * ((k + 15) / 16 * 16)),
        const float *far HOLDS(row_last * PANEL * (k + 1)),
        const float *last HOLDS(row_last * PANEL),
        int32_t *count HOLDS(row_last * PANEL * (k + 1)),
        const int32_t *own HOLDS(row_last * PANEL),
        int64_t row_first, int64_t row_last, int64_t column_first, int64_t column_last,
        int32_t mutual, int32_t *rows HOLDS(capacity), int32_t *columns HOLDS(capacity),
        int64_t capacity, int64_t *position HOLDS(1)) {
    int64_t group = 131072 / (PANEL * depth); /* row panels in the second-level cache */
    if (group < 1) group = 1;
    if (group > capacity / (PANEL * PANEL)) group = capacity / (PANEL * PANEL);
    const int64_t across = column_last - column_first;
    const int64_t groups = (row_last - row_first + group - 1) / group;
    int64_t found = 0, step = *position;
    for (; step < groups * across; step++) {
        if (capacity - found < group * PANEL * PANEL) break;
        const int64_t j = column_first + step % across;
        const int64_t start = row_first + step / across * group;
        const int64_t stop = start + group < row_last ? start + group : row_last;
        const Panel column =
            panel_at(b, b_square, b_error, mutual ? near : NULL, far, last, count, depth, k, j);
        for (int64_t i = start; i < stop; i++) {
            if (mutual && i > j) continue;
            const Panel row =
                panel_at(a, a_square, a_error, near, far, last, count, depth, k, i);
            found += panel_counts(&row, &column, depth, k, own + i * PANEL,
                                  (int32_t)(i * PANEL), (int32_t)(j * PANEL), mutual && i < j,
                                  rows + found, columns + found);
        }
    }
    *position = step < groups * across ? step : -1;
    return found;
}

/* below: k + 1 counts, as count_panels has them; within: k, of the ties. */
static inline void add_distance(double d, int64_t k, const double *low, const double *high,
                                int32_t *below, int32_t *within) {
    int64_t at = reached64(low, k, d);
    below[at]++;
    for (; at && d <= high[at - 1]; at--) within[at - 1]++;
}

/* Count the open pairs by their true distances. Limits rise, k a row.
   mutual: as in count_panels, where the pairs inside one panel come in both orders.
   Distances of SETTLED pairs come first: limits and counts lie anywhere in memory, and the
   processor waits for those of many pairs at a time where no long sums are between them. */
enum { SETTLED = 256 };
#define SETTLE_COUNTS(name, real, between)                                                   \
    EXPORT void name(                                                                       \
            const real *x HOLDS(0), const real *y HOLDS(0), int64_t width,                  \
            const int32_t *rows HOLDS(found) BELOW(COUNT(x) / width),                       \
            const int32_t *columns HOLDS(found) BELOW(COUNT(y) / width), int64_t found,     \
            int64_t k, const double *low HOLDS(COUNT(x) / width * ((k + 15) / 16 * 16)),    \
            const double *high HOLDS(COUNT(x) / width * k),                                 \
            int32_t *below HOLDS(COUNT(x) / width * (k + 1)),                               \
            int32_t *within HOLDS(COUNT(x) / width * k), int32_t mutual) {                  \
        double d[SETTLED];                                                                   \
        for (int64_t first = 0; first < found; first += SETTLED) {                           \
            const int64_t last = found - first < SETTLED ? found : first + SETTLED;          \
            for (int64_t p = first; p < last; p++) {                                         \
                if (p + 4 < found) {                                                         \
                    const char *next = (const char *)(y + columns[p + 4] * width);           \
                    __builtin_prefetch(next), __builtin_prefetch(next + 64);                 \
                }                                                                            \
                d[p - first] = sqrt(                                                         \
                    between(x + rows[p] * width, y + columns[p] * width, width, INFINITY));  \
            }                                                                                \
            for (int64_t p = first; p < last; p++) {                                         \
                const int64_t r = rows[p], c = columns[p];                                   \
                add_distance(d[p - first], k, low + r * padded(k), high + r * k,             \
                             below + r * (k + 1), within + r * k);                           \
                if (mutual && r / PANEL != c / PANEL)                                        \
                    add_distance(d[p - first], k, low + c * padded(k), high + c * k,         \
                                 below + c * (k + 1), within + c * k);                       \
            }                                                                                \
        }                                                                                    \
    }
SETTLE_COUNTS(settle_counts32, float, square_between32)
SETTLE_COUNTS(settle_counts64, double, square_between64)

/* ---- distances that are at hand, or cheap ---- */
enum { STRIP = 512, FEW_COLUMNS = 8 };
SHARED(FEW_COLUMNS);

/* FEW_LIMITS: up to so many, comparing all distances with each takes less time than searches:
   docs/dev/notes/quality.md */
enum { FEW_LIMITS = 32 };

static void strip_counts(const double *distance, int64_t size, int64_t k, const double *low,
                         const double *high, int32_t *below, int32_t *within) {
    if (k > FEW_LIMITS) {
        for (int64_t l = 0; l < size; l++)
            add_distance(distance[l], k, low, high, below, within);
        return;
    }
    int64_t before = 0;
    for (int64_t m = 0; m < k; m++) {
        int64_t nearer = 0, reached = 0;
        for (int64_t l = 0; l < size; l++) {
            nearer += distance[l] < low[m];
            reached += distance[l] <= high[m];
        }
        below[m] += (int32_t)(nearer - before);
        within[m] += (int32_t)(reached - nearer);
        before = nearer;
    }
}

/* distances: rows × n, infinite where a row meets itself. */
EXPORT void count_given(
        const double *distances HOLDS(rows * n), int64_t n, int64_t rows, int64_t k,
        const double *low HOLDS(rows * ((k + 15) / 16 * 16)),
        const double *high HOLDS(rows * k),
        int32_t *below HOLDS(rows * (k + 1)), int32_t *within HOLDS(rows * k)) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t first = 0; first < n; first += STRIP)
            strip_counts(distances + r * n + first, n - first < STRIP ? n - first : STRIP, k,
                         low + r * padded(k), high + r * k, below + r * (k + 1), within + r * k);
}

/* Up to FEW_COLUMNS coordinates, each a row of n numbers, summed in the order of
   square_between, so the bits are the same. Unused ones count as zeros. */
static void strip_distances(const double *across, int64_t n, int64_t width, int64_t i,
                            int64_t first, int64_t size, double *distance) {
    double square[FEW_COLUMNS][STRIP];
    const int64_t padded = width <= 2 ? 2 : width <= 4 ? 4 : FEW_COLUMNS;
    for (int64_t w = 0; w < padded; w++)
        for (int64_t l = 0; l < size; l++) {
            const double apart = w < width ? across[w * n + first + l] - across[w * n + i] : 0.0;
            square[w][l] = apart * apart;
        }
    for (int64_t half = padded / 2; half; half /= 2)
        for (int64_t w = 0; w < half; w++)
            for (int64_t l = 0; l < size; l++) square[w][l] += square[w + half][l];
    for (int64_t l = 0; l < size; l++) distance[l] = sqrt(square[0][l]);
    if (i >= first && i < first + size) distance[i - first] = INFINITY;
}

/* across: width × n, width <= FEW_COLUMNS. */
EXPORT void count_direct(
        const double *across HOLDS(width * n), int64_t n, int64_t width,
        const int32_t *rows HOLDS(count_rows) BELOW(n), int64_t count_rows, int64_t k,
        const double *low HOLDS(count_rows * ((k + 15) / 16 * 16)),
        const double *high HOLDS(count_rows * k),
        int32_t *below HOLDS(count_rows * (k + 1)), int32_t *within HOLDS(count_rows * k)) {
    double distance[STRIP];
    for (int64_t r = 0; r < count_rows; r++)
        for (int64_t first = 0; first < n; first += STRIP) {
            const int64_t size = n - first < STRIP ? n - first : STRIP;
            strip_distances(across, n, width, rows[r], first, size, distance);
            strip_counts(distance, size, k, low + r * padded(k), high + r * k,
                         below + r * (k + 1), within + r * k);
        }
}

/* out: rows × n, true distances; a row meets itself at infinity. */
#define ROW_DISTANCES(name, real, between)                                                 \
    EXPORT void name(                                                                       \
            const real *x HOLDS(n * width), int64_t n, int64_t width,                       \
            const int32_t *rows HOLDS(count) BELOW(n), int64_t count,                       \
            double *out HOLDS(count * n)) {                                                 \
        for (int64_t r = 0; r < count; r++) {                                              \
            const real *own = x + rows[r] * width;                                         \
            for (int64_t l = 0; l < n; l++)                                                \
                out[r * n + l] = sqrt(between(own, x + l * width, width, INFINITY));       \
            out[r * n + rows[r]] = INFINITY;                                               \
        }                                                                                  \
    }
ROW_DISTANCES(row_distances32, float, square_between32)
ROW_DISTANCES(row_distances64, double, square_between64)

/* The same for up to eight coordinates, each a row of n numbers. */
EXPORT void row_distances_direct(
        const double *across HOLDS(width * n), int64_t n, int64_t width,
        const int32_t *rows HOLDS(count) BELOW(n), int64_t count, double *out HOLDS(count * n)) {
    for (int64_t r = 0; r < count; r++)
        for (int64_t first = 0; first < n; first += STRIP)
            strip_distances(across, n, width, rows[r], first,
                            n - first < STRIP ? n - first : STRIP, out + r * n + first);
}

/* From inner products of centred rows (count × size) to distances, written into the
   columns first..first+size of out (count × n). Where the product cancelled all but
   `share` of the squared lengths, the distance is measured again. */
#define FINISH_ROWS(name, real, between)                                                   \
    EXPORT void name(                                                                       \
            const real *x HOLDS(n * width), int64_t n, int64_t width,                       \
            const int32_t *rows HOLDS(count) BELOW(n), int64_t count, int64_t first,        \
            int64_t size, const double *products HOLDS(count * size),                       \
            const double *square HOLDS(n), double share, double *out HOLDS(count * n)) {    \
        for (int64_t r = 0; r < count; r++) {                                              \
            const double own = square[rows[r]], *product = products + r * size;            \
            const double *other = square + first;                                          \
            double *to = out + r * n + first;                                              \
            int cancelled = 0;                                                             \
            for (int64_t l = 0; l < size; l++) {                                           \
                const double apart = (own + other[l]) - 2.0 * product[l];                  \
                cancelled |= apart <= share * (own + other[l]);                            \
                to[l] = sqrt(apart > 0 ? apart : 0);                                       \
            }                                                                              \
            if (!cancelled) continue;                                                      \
            for (int64_t l = 0; l < size; l++)                                             \
                if ((own + other[l]) - 2.0 * product[l] <= share * (own + other[l]))       \
                    to[l] = sqrt(between(x + rows[r] * width, x + (first + l) * width,     \
                                         width, INFINITY));                                \
        }                                                                                  \
    }
FINISH_ROWS(finish_rows32, float, square_between32)
FINISH_ROWS(finish_rows64, double, square_between64)
