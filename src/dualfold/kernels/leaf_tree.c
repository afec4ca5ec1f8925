/* Exact neighbours in few dimensions. The rows are halved along the longest side of their box until
   a part, a leaf, has at most LEAF_ROWS; the rows of a leaf search together, from their leaf
   upwards. A row keeps the `fetch` nearest by squares that are those of `square_between` (squares.h),
   to the last bit. Node h has the children 2h and 2h + 1; leaf p holds the rows n·p/2^depth up to
   n·(p + 1)/2^depth of the order. */
#include "kernels.h"
#include "squares.h"
#include <math.h>
#include <stdlib.h>

enum { LEAF_ROWS = 8, MOST_LEVELS = 40 };
SHARED(LEAF_ROWS);

typedef struct {
    double key;
    int32_t row;
} Keyed;

typedef struct {
    int64_t n, width, depth;
    const double *points;
    int32_t *order;
    double *boxes;
    Keyed *keyed;
    uint64_t seed;
} Build;

static void exchange(Keyed *a, Keyed *b) {
    const Keyed c = *a;
    *a = *b, *b = c;
}

static int64_t drawn(Build *b, int64_t count) {
    b->seed = b->seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int64_t)((b->seed >> 33) % (uint64_t)count);
}

/* Bring the `middle` smallest keys of keyed[0, count) to its front (Hoare; a pivot of three drawn). */
static void halve(Build *b, Keyed *keyed, int64_t count, int64_t middle) {
    int64_t low = 0, high = count - 1;
    while (low < high) {
        double x = keyed[low + drawn(b, high - low + 1)].key;
        double y = keyed[low + drawn(b, high - low + 1)].key;
        const double z = keyed[low + drawn(b, high - low + 1)].key;
        const double least = x < y ? x : y, most = x < y ? y : x;
        const double pivot = z < least ? least : z > most ? most : z;
        int64_t i = low, j = high;
        while (i <= j) {
            while (keyed[i].key < pivot) i++;
            while (pivot < keyed[j].key) j--;
            if (i <= j) exchange(keyed + i++, keyed + j--);
        }
        if (middle <= j) high = j;
        else if (middle >= i) low = i;
        else return;
    }
}

static void build(Build *b, int64_t level, int64_t part) {
    const int64_t low = b->n * part >> level, high = b->n * (part + 1) >> level, width = b->width;
    double *least = b->boxes + ((1LL << level) + part) * 2 * width, *most = least + width;
    for (int64_t c = 0; c < width; c++) least[c] = INFINITY, most[c] = -INFINITY;
    for (int64_t i = low; i < high; i++) {
        const double *point = b->points + b->order[i] * width;
        for (int64_t c = 0; c < width; c++) {
            least[c] = point[c] < least[c] ? point[c] : least[c];
            most[c] = point[c] > most[c] ? point[c] : most[c];
        }
    }
    if (level == b->depth) return;
    int64_t longest = 0;
    for (int64_t c = 1; c < width; c++)
        if (most[c] - least[c] > most[longest] - least[longest]) longest = c;
    for (int64_t i = low; i < high; i++)
        b->keyed[i - low] = (Keyed){b->points[b->order[i] * width + longest], b->order[i]};
    halve(b, b->keyed, high - low, (b->n * (2 * part + 1) >> (level + 1)) - low);
    for (int64_t i = low; i < high; i++) b->order[i] = b->keyed[i - low].row;
    build(b, level + 1, 2 * part);
    build(b, level + 1, 2 * part + 1);
}

/* Whether the leaves hold all rows and no more than LEAF_ROWS each. */
static int fits(int64_t n, int64_t width, int64_t depth) {
    return n > 0 && width > 0 && depth >= 0 && depth < MOST_LEVELS && n <= (int64_t)LEAF_ROWS << depth;
}

/* The order of the rows, the boxes of the nodes (least, then most), and the coordinates in this
   order, one column after the other, with room for a whole leaf behind each. */
EXPORT int32_t leaf_tree(
        int64_t n, int64_t width, int64_t depth, const double *points HOLDS(n * width),
        int32_t *order HOLDS(n), double *boxes HOLDS((4 << depth) * width),
        double *columns HOLDS((n + LEAF_ROWS) * width)) {
    if (!fits(n, width, depth)) return OUTSIDE_PATTERN;
    Build b = {n, width, depth, points, order, boxes, malloc((size_t)n * sizeof(Keyed)), 1};
    if (!b.keyed) return NO_MEMORY;
    for (int64_t i = 0; i < n; i++) order[i] = (int32_t)i;
    build(&b, 0, 0);
    for (int64_t c = 0; c < width; c++) {
        double *column = columns + c * (n + LEAF_ROWS);
        for (int64_t i = 0; i < n; i++) column[i] = points[order[i] * width + c];
        for (int64_t i = 0; i < LEAF_ROWS; i++) column[n + i] = 0;
    }
    free(b.keyed);
    return 0;
}

typedef struct {
    int64_t n, width, depth, fetch;
    const int32_t *order;
    const double *boxes, *columns;
    double *square;  /* LEAF_ROWS lists of `fetch`, ascending */
    int32_t *row;
    double *query;   /* LEAF_ROWS points */
    double worst[LEAF_ROWS], widest;
    int64_t low, count;
} Search;

static inline double box_gap(const double *a, const double *b, int64_t width) {
    double sum = 0;
    for (int64_t c = 0; c < width; c++) {
        const double below = a[c] - b[width + c], above = b[c] - a[width + c];
        const double gap = below > above ? below : above;
        sum += gap > 0 ? gap * gap : 0;
    }
    return sum;
}

static inline double point_gap(const double *point, const double *box, int64_t width) {
    double sum = 0;
    for (int64_t c = 0; c < width; c++) {
        const double below = point[c] - box[width + c], above = box[c] - point[c];
        const double gap = below > above ? below : above;
        sum += gap > 0 ? gap * gap : 0;
    }
    return sum;
}

/* The squares between a point and LEAF_ROWS rows from `at`, summed as in squares.h. */
static inline __attribute__((always_inline)) void leaf_squares(
        const double *columns, int64_t height, const double *point, int64_t width, double *out) {
    double sum[SQUARE_LANES][LEAF_ROWS];
    const int64_t lanes = width < SQUARE_LANES ? width : SQUARE_LANES;
    for (int64_t c = 0; c < width; c++) {
        const double *restrict column = columns + c * height, x = point[c];
        double *restrict lane = sum[c % SQUARE_LANES];
        for (int i = 0; i < LEAF_ROWS; i++) {
            const double apart = x - column[i];
            lane[i] = c < SQUARE_LANES ? apart * apart : lane[i] + apart * apart;
        }
    }
    for (int64_t half = SQUARE_LANES / 2; half; half /= 2) /* lanes that are missing are 0 */
        for (int64_t l = 0; l < half && l + half < lanes; l++)
            for (int i = 0; i < LEAF_ROWS; i++) sum[l][i] += sum[l + half][i];
    for (int i = 0; i < LEAF_ROWS; i++) out[i] = sum[0][i];
}

static void keep(Search *s, int64_t q, double square, int32_t row) {
    double *squares = s->square + q * s->fetch;
    int32_t *rows = s->row + q * s->fetch;
    int64_t at = s->fetch - 1;
    for (; at > 0 && squares[at - 1] > square; at--)
        squares[at] = squares[at - 1], rows[at] = rows[at - 1];
    squares[at] = square, rows[at] = row;
    s->worst[q] = squares[s->fetch - 1];
}

/* Offer the rows of a leaf to all queries of the group. */
static void meet(Search *s, int64_t part) {
    const int64_t low = s->n * part >> s->depth, count = (s->n * (part + 1) >> s->depth) - low;
    const int64_t width = s->width, height = s->n + LEAF_ROWS;
    const double *box = s->boxes + ((1LL << s->depth) + part) * 2 * width;
    double widest = 0;
    for (int64_t q = 0; q < s->count; q++) {
        const double *point = s->query + q * width;
        if (point_gap(point, box, width) < s->worst[q]) {
            double squares[LEAF_ROWS];
            const double *columns = s->columns + low;
            switch (width) { /* sums of a known length stay in registers */
            case 2: leaf_squares(columns, height, point, 2, squares); break;
            case 3: leaf_squares(columns, height, point, 3, squares); break;
            case 4: leaf_squares(columns, height, point, 4, squares); break;
            default: leaf_squares(columns, height, point, width, squares);
            }
            for (int64_t i = 0; i < count; i++)
                if (squares[i] < s->worst[q] && low + i != s->low + q)
                    keep(s, q, squares[i], s->order[low + i]);
        }
        if (s->worst[q] > widest) widest = s->worst[q];
    }
    s->widest = widest;
}

/* All of the tree but the group's own leaf, the near parts first. */
static void climb(Search *s, int64_t part) {
    const int64_t width = s->width, leaves = 1LL << s->depth;
    const double *own = s->boxes + (leaves + part) * 2 * width;
    struct {
        int64_t node;
        double gap;
    } waiting[MOST_LEVELS];
    for (int64_t node = leaves + part; node > 1; node /= 2) {
        int64_t top = 0;
        waiting[top].node = node ^ 1;
        waiting[top++].gap = box_gap(own, s->boxes + (node ^ 1) * 2 * width, width);
        while (top) {
            const int64_t next = waiting[--top].node;
            if (waiting[top].gap >= s->widest) continue;
            if (next >= leaves) {
                meet(s, next - leaves);
                continue;
            }
            const double left = box_gap(own, s->boxes + 4 * next * width, width);
            const double right = box_gap(own, s->boxes + (4 * next + 2) * width, width);
            const int64_t near = 2 * next + (right < left);
            waiting[top].node = near ^ 1, waiting[top++].gap = right < left ? left : right;
            waiting[top].node = near, waiting[top++].gap = right < left ? right : left;
        }
    }
}

/* Write the k nearest by (distance, row); unclear: whether others may be as near as the last. */
static int finish(const Search *s, int64_t q, int64_t k, double ratio, int32_t *rows, double *distances) {
    double *far = s->square + q * s->fetch;
    int32_t *row = s->row + q * s->fetch;
    for (int64_t i = 0; i < s->fetch; i++) {
        const double d = sqrt(far[i]);
        const int32_t own = row[i];
        int64_t at = i;
        for (; at > 0 && (far[at - 1] > d || (far[at - 1] == d && row[at - 1] > own)); at--)
            far[at] = far[at - 1], row[at] = row[at - 1];
        far[at] = d, row[at] = own;
    }
    for (int64_t i = 0; i < k; i++) rows[i] = row[i], distances[i] = far[i];
    const int whole = s->fetch == s->n - 1;
    return row[s->fetch - 1] == INT32_MAX || (!whole && !(far[s->fetch - 1] > far[k - 1] * ratio));
}

/* The k nearest other rows of the rows of leaves [first, last). */
EXPORT int32_t leaf_neighbors(
        int64_t first, int64_t last, int64_t n, int64_t width, int64_t depth, int64_t fetch,
        int64_t k, double ratio, const int32_t *order HOLDS(n) BELOW(n),
        const double *boxes HOLDS((4 << depth) * width),
        const double *columns HOLDS((n + LEAF_ROWS) * width), int32_t *indices HOLDS(n * k),
        double *distances HOLDS(n * k), int32_t *unclear HOLDS(n)) {
    const int inside = first >= 0 && last <= 1LL << depth && k > 0 && k <= fetch && fetch < n;
    if (!fits(n, width, depth) || !inside) return OUTSIDE_PATTERN;
    Search s = {.n = n, .width = width, .depth = depth, .fetch = fetch, .order = order,
                .boxes = boxes, .columns = columns};
    s.square = malloc((size_t)(LEAF_ROWS * (fetch + width)) * sizeof(double));
    s.row = malloc((size_t)(LEAF_ROWS * fetch) * sizeof(int32_t));
    const int32_t state = s.square && s.row ? 0 : NO_MEMORY;
    s.query = s.square + LEAF_ROWS * fetch;
    for (int64_t part = first; part < last && !state; part++) {
        s.low = n * part >> depth, s.count = (n * (part + 1) >> depth) - s.low;
        for (int64_t q = 0; q < s.count; q++) {
            s.worst[q] = INFINITY;
            for (int64_t i = 0; i < fetch; i++)
                s.square[q * fetch + i] = INFINITY, s.row[q * fetch + i] = INT32_MAX;
            for (int64_t c = 0; c < width; c++)
                s.query[q * width + c] = columns[c * (n + LEAF_ROWS) + s.low + q];
        }
        meet(&s, part);
        climb(&s, part);
        for (int64_t q = 0; q < s.count; q++) {
            const int64_t row = order[s.low + q];
            unclear[row] = finish(&s, q, k, ratio, indices + row * k, distances + row * k);
        }
    }
    free(s.square);
    free(s.row);
    return state;
}
