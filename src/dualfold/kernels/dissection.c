/* Nested dissection: a separator is ordered last, the two sides before it, each
   dissected in turn; small or unsplittable pieces by minimum degree, with the
   separators around them counted in their degrees. */
#include <stdlib.h>
#include <string.h>
#include "sparse_order.h"

typedef struct {
    const int64_t *start; /* the whole graph; its diagonal is skipped */
    const int32_t *next;
    int32_t *local;       /* per node of the whole graph: its number in a piece, or -1 */
    int32_t *order;
    int32_t leaf;
    Budget *budget;
} Whole;

typedef struct {
    int32_t n;
    int32_t *start, *next, *label;
} Piece;

static void discard(Piece *p) {
    free(p->start);
    free(p->next);
    free(p->label);
}

static int allocate(Piece *p, int32_t n, int64_t entries) {
    p->n = n;
    p->start = malloc((size_t)(n + 1) * sizeof *p->start);
    p->next = malloc((size_t)(entries + 1) * sizeof *p->next);
    p->label = malloc((size_t)(n + 1) * sizeof *p->label);
    return p->start && p->next && p->label ? 0 : NO_MEMORY;
}

/* The nodes of `from` with side[v] == which, in the order `sequence` names them. */
static int extract(const Piece *from, const int8_t *side, int8_t which, const int32_t *sequence,
                   int32_t *number, Piece *to) {
    int32_t n = 0;
    int64_t entries = 0;
    for (int32_t t = 0; t < from->n; t++) {
        const int32_t v = sequence[t];
        if (side[v] != which) continue;
        number[v] = n++;
        entries += from->start[v + 1] - from->start[v];
    }
    if (allocate(to, n, entries)) return NO_MEMORY;
    int32_t used = 0, at = 0;
    for (int32_t t = 0; t < from->n; t++) {
        const int32_t v = sequence[t];
        if (side[v] != which) continue;
        to->start[at] = used;
        to->label[at++] = from->label[v];
        for (int32_t k = from->start[v]; k < from->start[v + 1]; k++) {
            const int32_t u = from->next[k];
            if (side[u] == which) to->next[used++] = number[u];
        }
    }
    to->start[n] = used;
    return 0;
}

/* Order a piece by minimum degree; nodes of the whole graph next to it form its halo. */
static int order_leaf(const Whole *w, const Piece *p, int32_t *order) {
    int64_t entries = 0;
    for (int32_t i = 0; i < p->n; i++) {
        w->local[p->label[i]] = i;
        entries += w->start[p->label[i] + 1] - w->start[p->label[i]];
    }
    int32_t *halo = malloc((size_t)(entries + 1) * sizeof *halo);
    int32_t *count = calloc((size_t)(entries + p->n + 2), sizeof *count);
    int32_t *next = malloc((size_t)(2 * entries + 1) * sizeof *next);
    int32_t *found = malloc((size_t)(p->n + 1) * sizeof *found);
    int32_t all = p->n;
    int result = NO_MEMORY;
    if (halo && count && next && found) {
        for (int32_t i = 0; i < p->n; i++) {
            const int32_t v = p->label[i];
            for (int64_t k = w->start[v]; k < w->start[v + 1]; k++) {
                const int32_t u = w->next[k];
                if (u == v || w->local[u] == -2) continue;
                if (w->local[u] < 0) {
                    halo[all - p->n] = u;
                    w->local[u] = all++;
                }
                count[i + 1]++;
                if (w->local[u] >= p->n) count[w->local[u] + 1]++;
            }
        }
        for (int32_t i = 0; i < all; i++) count[i + 1] += count[i];
        for (int32_t i = 0; i < p->n; i++) {
            const int32_t v = p->label[i];
            for (int64_t k = w->start[v]; k < w->start[v + 1]; k++) {
                const int32_t u = w->next[k];
                if (u == v || w->local[u] == -2) continue;
                next[count[i]++] = w->local[u];
                if (w->local[u] >= p->n) next[count[w->local[u]]++] = i;
            }
        }
        memmove(count + 1, count, (size_t)all * sizeof *count);
        count[0] = 0;
        result = minimum_degree(all, p->n, count, next, found, w->budget);
        if (result == 0)
            for (int32_t i = 0; i < p->n; i++) order[i] = p->label[found[i]];
    }
    for (int32_t i = 0; i < p->n; i++) w->local[p->label[i]] = -1;
    for (int32_t i = p->n; i < all; i++) w->local[halo[i - p->n]] = -1;
    free(halo);
    free(count);
    free(next);
    free(found);
    return result;
}

/* Connected pieces: side = 0 or 1 so that neither side is much larger than it must
   be, `sequence` = the nodes in breadth-first order. Returns how many pieces. */
static int32_t components(const Piece *p, int8_t *side, int32_t *sequence) {
    memset(side, -1, (size_t)p->n);
    int32_t tail = 0, pieces = 0, largest = 0, begin_largest = 0, half = 0;
    for (int32_t root = 0; root < p->n; root++) {
        if (side[root] >= 0) continue;
        const int32_t begin = tail;
        sequence[tail++] = root;
        side[root] = 1;
        for (int32_t head = begin; head < tail; head++) {
            const int32_t v = sequence[head];
            for (int32_t k = p->start[v]; k < p->start[v + 1]; k++)
                if (side[p->next[k]] < 0) {
                    side[p->next[k]] = 1;
                    sequence[tail++] = p->next[k];
                }
        }
        pieces++;
        if (tail - begin > largest) {
            largest = tail - begin;
            begin_largest = begin;
        }
        if (half == 0 && tail >= p->n / 2) half = tail;
    }
    if (2 * (int64_t)largest >= p->n)
        for (int32_t t = 0; t < largest; t++) side[sequence[begin_largest + t]] = 0;
    else
        for (int32_t t = 0; t < half; t++) side[sequence[t]] = 0;
    return pieces;
}

static int dissect(const Whole *w, Piece *p, int32_t *order);

static int split(const Whole *w, Piece *p, int8_t *side, int32_t *sequence, int32_t *order) {
    Piece part[2] = {{0}, {0}};
    int32_t *number = malloc((size_t)p->n * sizeof *number);
    int result = number ? 0 : NO_MEMORY;
    for (int8_t which = 0; which < 2 && !result; which++)
        result = extract(p, side, which, sequence, number, part + which);
    int32_t last = p->n;
    for (int32_t v = p->n - 1; v >= 0; v--)
        if (side[v] == 2) order[--last] = p->label[v];
    free(number);
    const int32_t left = part[0].n;
    discard(p); /* before going deeper: the memory in use stays a few times the graph */
    memset(p, 0, sizeof *p);
    if (!result) result = dissect(w, part, order);
    if (!result) result = dissect(w, part + 1, order + left);
    discard(part);
    discard(part + 1);
    return result;
}

/* Order piece p (which is freed) into order[0 .. p->n). */
static int dissect(const Whole *w, Piece *p, int32_t *order) {
    if (p->n <= w->leaf) return p->n ? order_leaf(w, p, order) : 0;
    int8_t *side = malloc((size_t)p->n);
    int32_t *sequence = malloc((size_t)p->n * sizeof *sequence);
    int result = NO_MEMORY;
    if (side && sequence) {
        result = 0;
        if (components(p, side, sequence) == 1) {
            const int32_t cut = bisect(p->n, p->start, p->next, side);
            const double cost = elimination_cost(cut, 0);
            if (cut < 0) result = cut;
            else if ((w->budget->spent += cost) > w->budget->most) result = TOO_COSTLY;
            else if (cut > p->n / 6) result = 1; /* no separator worth the name */
        }
        if (result == 1) result = order_leaf(w, p, order);
        else if (result == 0) result = split(w, p, side, sequence, order);
    }
    free(side);
    free(sequence);
    return result;
}

/* Renumber breadth-first: label[i] = the old row that becomes row i. Neighbours then lie
   close together in memory, which everything after this gains from. */
EXPORT int32_t breadth_first(
        int64_t n, const int64_t *start HOLDS(n + 1) RISING,
        const int32_t *next HOLDS(start[n]) BELOW(n), int32_t *label HOLDS(n),
        int64_t *new_start HOLDS(n + 1), int32_t *new_next HOLDS(start[n])) {
    int32_t *number = malloc((size_t)(n + 1) * sizeof *number);
    if (!number) return NO_MEMORY;
    for (int64_t i = 0; i < n; i++) number[i] = -1;
    int64_t used = 0;
    int32_t tail = 0;
    for (int32_t root = 0; root < n; root++) {
        if (number[root] >= 0) continue;
        number[root] = tail;
        label[tail++] = root;
        for (int32_t head = number[root]; head < tail; head++) {
            const int32_t v = label[head];
            new_start[head] = used;
            for (int64_t k = start[v]; k < start[v + 1]; k++) {
                const int32_t u = next[k];
                if (number[u] < 0) {
                    number[u] = tail;
                    label[tail++] = u;
                }
                new_next[used++] = number[u];
            }
        }
    }
    new_start[n] = used;
    free(number);
    return 0;
}

SHARED(TOO_COSTLY);

/* order[k] = the row of the symmetric pattern placed k-th. Pieces of at most `leaf` rows
   are ordered by minimum degree (all of it at once when leaf >= n). cost[0] = the multiply-adds
   allowed, cost[1] receives those foreseen when the result is TOO_COSTLY. */
EXPORT int32_t sparse_ordering(
        int64_t n, const int64_t *start HOLDS(n + 1) RISING,
        const int32_t *next HOLDS(start[n]) BELOW(n), int64_t leaf, int32_t *order HOLDS(n),
        double *cost HOLDS(2)) {
    /* Rows with very many entries (hubs) touch everything: they go last, and out of
       the graph. The bound is the one of Amestoy, Davis and Duff's AMD. */
    double bound = 10;
    while (bound * bound < 100. * (double)n) bound *= 1.05;
    if (bound < 16) bound = 16;
    Budget budget = {cost[0], 0};
    Whole w = {start, next, malloc((size_t)(n + 1) * sizeof *w.local), order, (int32_t)leaf, &budget};
    Piece all = {0};
    int result = NO_MEMORY;
    if (w.local && !allocate(&all, (int32_t)n, start[n])) {
        int32_t kept = 0, used = 0, last = (int32_t)n;
        for (int32_t v = 0; v < n; v++) {
            const int hub = (double)(start[v + 1] - start[v] - 1) > bound;
            w.local[v] = hub ? -2 : kept;
            if (hub) order[--last] = v;
            else kept++;
        }
        all.n = kept;
        for (int32_t v = 0, at = 0; v < n; v++) {
            if (w.local[v] == -2) continue;
            all.start[at] = used;
            all.label[at++] = v;
            for (int64_t k = start[v]; k < start[v + 1]; k++)
                if (next[k] != v && w.local[next[k]] >= 0) all.next[used++] = w.local[next[k]];
        }
        all.start[kept] = used;
        for (int32_t v = 0; v < n; v++)
            if (w.local[v] >= 0) w.local[v] = -1;
        budget.spent = elimination_cost((double)(n - kept), 0);
        result = budget.spent > budget.most ? TOO_COSTLY : dissect(&w, &all, order);
    }
    cost[1] = budget.spent;
    discard(&all);
    free(w.local);
    return result;
}
