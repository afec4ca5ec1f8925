/* What an elimination order costs, exactly, before any number is touched: the
   elimination tree, the entries of every column of L (Gilbert, Ng and Peyton 1994),
   and supernodes, runs of columns with (nearly) the same pattern below. */
#include "pages.h"
#include <string.h>
#include "kernels.h"

#define AHEAD 8 /* rows between asking for the places of their entries and using them */

/* Ask for row k of the order, which lies anywhere in the pattern, and the places of its entries. */
static inline void ask_for_row(int32_t k, int32_t n, const int64_t *start, const int32_t *next,
                               const int32_t *order, const int32_t *place) {
    if (k + 4 * AHEAD < n) __builtin_prefetch(start + order[k + 4 * AHEAD]);
    if (k + 2 * AHEAD < n) __builtin_prefetch(next + start[order[k + 2 * AHEAD]]);
    if (k + AHEAD < n)
        for (int64_t t = start[order[k + AHEAD]]; t < start[order[k + AHEAD] + 1]; t++)
            __builtin_prefetch(place + next[t]);
}

/* parent[k] of column k (new numbering): the row of its first entry below the diagonal. */
static void elimination_tree(int32_t n, const int64_t *start, const int32_t *next,
                             const int32_t *order, const int32_t *place, int32_t *parent,
                             int32_t *shortcut) {
    for (int32_t k = 0; k < n; k++) {
        ask_for_row(k, n, start, next, order, place);
        parent[k] = shortcut[k] = -1;
        for (int64_t t = start[order[k]]; t < start[order[k] + 1]; t++) {
            int32_t i = place[next[t]];
            while (i >= 0 && i < k) {
                const int32_t up = shortcut[i];
                shortcut[i] = k;
                if (up < 0) parent[i] = k;
                i = up;
            }
        }
    }
}

/* Number the tree so that children come before parents and subtrees stay together.
   moved[old] = new. */
static void postorder(int32_t n, const int32_t *parent, int32_t *moved, int32_t *child,
                      int32_t *sibling) {
    for (int32_t i = 0; i < n; i++) child[i] = -1;
    int32_t roots = -1, done = 0;
    for (int32_t i = n - 1; i >= 0; i--) {
        int32_t *list = parent[i] < 0 ? &roots : child + parent[i];
        sibling[i] = *list;
        *list = i;
    }
    for (int32_t root = roots; root >= 0; root = sibling[root]) {
        int32_t v = root;
        for (;;) {
            while (child[v] >= 0) { /* walk down; the list of v's parent forgets v */
                const int32_t down = child[v];
                child[v] = sibling[down];
                v = down;
            }
            moved[v] = done++;
            if (v == root) break;
            v = parent[v];
        }
    }
}

/* Entries of each column of L, diagonal included; the numbering is a postorder. */
static void column_counts(int32_t n, const int64_t *start, const int32_t *next,
                          const int32_t *order, const int32_t *place, const int32_t *parent,
                          int32_t *count, int32_t *scratch) {
    int32_t *first = scratch, *reach = first + n, *leaf = reach + n, *set = leaf + n;
    for (int32_t j = 0; j < n; j++) {
        first[j] = reach[j] = leaf[j] = -1;
        set[j] = j;
    }
    for (int32_t j = 0; j < n; j++) {
        count[j] = first[j] < 0;
        if (first[j] < 0) first[j] = j;
        if (parent[j] >= 0 && first[parent[j]] < 0) first[parent[j]] = first[j];
    }
    for (int32_t j = 0; j < n; j++) {
        ask_for_row(j, n, start, next, order, place);
        if (parent[j] >= 0) count[parent[j]]--;
        for (int64_t t = start[order[j]]; t < start[order[j] + 1]; t++) {
            const int32_t i = place[next[t]];
            if (i <= j || first[j] <= reach[i]) continue;
            reach[i] = first[j]; /* j is a new leaf of the subtree of row i */
            count[j]++;
            if (leaf[i] >= 0) {
                int32_t top = leaf[i];
                while (top != set[top]) top = set[top];
                for (int32_t v = leaf[i]; v != top;) {
                    const int32_t up = set[v];
                    set[v] = top;
                    v = up;
                }
                count[top]--;
            }
            leaf[i] = j;
        }
        if (parent[j] >= 0) set[j] = parent[j];
    }
    for (int32_t j = 0; j < n; j++)
        if (parent[j] >= 0) count[parent[j]] += count[j];
}

/* May columns be joined when a share `zeros` of the stored entries would be zero? Few
   columns gain more from joining than they lose. Measured on a swiss roll and a 3-D grid:
   CHOLMOD's looser steps (Chen, Davis, Hager and Rajamanickam 2008) were a tenth slower. */
static int worth_joining(double columns, double share) {
    return columns <= 2 || (columns <= 8 && share < 0.2) || (columns <= 32 && share < 0.08)
           || share < 0.03;
}

/* Runs of columns; first[s] .. first[s+1]. Returns how many. */
static int32_t supernodes(int32_t n, const int32_t *parent, const int32_t *count, int32_t *first,
                          double *zeros) {
    int32_t made = 0;
    for (int32_t j = 0; j < n;) {
        int32_t end = j + 1;
        while (end < n && parent[end - 1] == end && count[end] == count[end - 1] - 1) end++;
        first[made] = j;
        zeros[made] = 0;
        while (made > 0) { /* the run before this one, if it hangs on it */
            const int32_t begin = first[made - 1], middle = first[made];
            if (parent[middle - 1] < middle || parent[middle - 1] >= end) break;
            const double left = middle - begin, columns = end - begin;
            const double below = count[end - 1] - 1, rows = columns + below;
            const double own = count[middle - 1] - 1; /* rows below the left run */
            const double extra = zeros[made - 1] + zeros[made]
                                 + left * ((double)(end - middle) + below - own);
            if (!worth_joining(columns, extra / (columns * rows - columns * (columns - 1) / 2)))
                break;
            zeros[--made] = extra;
        }
        made++;
        j = end;
    }
    first[made] = n;
    return made;
}

/* In: order. Out: order (postordered), first[], the number of supernodes.
   Negative: no memory. row_start[s+1]-row_start[s] = rows below supernode s;
   above[s] = its parent supernode or -1. */
EXPORT int64_t sparse_supernodes(
        int64_t size, const int64_t *start HOLDS(size + 1) RISING,
        const int32_t *next HOLDS(start[size]) BELOW(size), int32_t *order HOLDS(size) BELOW(size),
        int32_t *first HOLDS(size + 1), int32_t *above HOLDS(size),
        int64_t *row_start HOLDS(size + 1)) {
    const int32_t n = (int32_t)size;
    int32_t *block = scratch_memory((size_t)(9 * size + 1) * sizeof *block);
    double *zeros = scratch_memory((size_t)(size + 1) * sizeof *zeros);
    int64_t made = -1;
    if (block && zeros) {
        int32_t *place = block, *parent = place + n, *moved = parent + n, *count = moved + n,
                *kept = count + n, *scratch = kept + n;
        for (int32_t k = 0; k < n; k++) place[order[k]] = k;
        elimination_tree(n, start, next, order, place, parent, scratch);
        postorder(n, parent, moved, scratch, scratch + n);
        memcpy(kept, order, (size_t)n * sizeof *order);
        for (int32_t k = 0; k < n; k++) order[moved[k]] = kept[k];
        for (int32_t k = 0; k < n; k++) kept[moved[k]] = parent[k] < 0 ? -1 : moved[parent[k]];
        memcpy(parent, kept, (size_t)n * sizeof *kept);
        for (int32_t k = 0; k < n; k++) place[order[k]] = k;
        column_counts(n, start, next, order, place, parent, count, scratch);
        made = supernodes(n, parent, count, first, zeros);
        int32_t *owner = scratch;
        row_start[0] = 0;
        for (int32_t s = 0; s < made; s++) {
            for (int32_t j = first[s]; j < first[s + 1]; j++) owner[j] = s;
            row_start[s + 1] = row_start[s] + count[first[s + 1] - 1] - 1;
        }
        for (int32_t s = 0; s < made; s++) {
            const int32_t up = parent[first[s + 1] - 1];
            above[s] = up < 0 ? -1 : owner[up];
        }
    }
    free(block);
    free(zeros);
    return made;
}

/* rows[row_start[s] ..]: the rows below supernode s, ascending. most[0] receives the
   largest number of entries left of the diagonal in any row of L. */
EXPORT int32_t sparse_rows(
        int64_t size, const int64_t *start HOLDS(size + 1) RISING,
        const int32_t *next HOLDS(start[size]) BELOW(size),
        const int32_t *order HOLDS(size) BELOW(size), int64_t supers,
        const int32_t *first HOLDS(supers + 1), const int32_t *above HOLDS(supers),
        const int64_t *row_start HOLDS(supers + 1), int32_t *rows HOLDS(row_start[supers]),
        int64_t *most HOLDS(1)) {
    const int32_t n = (int32_t)size;
    int32_t *place = scratch_memory((size_t)(3 * size + 1) * sizeof *place);
    int64_t *filled = malloc((size_t)(supers + 1) * sizeof *filled);
    most[0] = 0;
    int32_t result = place && filled ? 0 : -1;
    if (!result) {
        int32_t *owner = place + n, *reached = owner + n;
        for (int32_t k = 0; k < n; k++) place[order[k]] = k;
        for (int32_t s = 0; s < supers; s++) {
            filled[s] = row_start[s];
            reached[s] = -1;
            for (int32_t j = first[s]; j < first[s + 1]; j++) owner[j] = s;
        }
        for (int32_t i = 0; i < n; i++) { /* ascending, so every list comes out sorted */
            ask_for_row(i, n, start, next, order, place);
            int64_t width = i - first[owner[i]];
            for (int64_t t = start[order[i]]; t < start[order[i] + 1]; t++) {
                const int32_t j = place[next[t]];
                if (j >= i) continue;
                for (int32_t s = owner[j]; s >= 0 && s != owner[i] && reached[s] != i; s = above[s]) {
                    reached[s] = i;
                    if (filled[s] < row_start[s + 1]) rows[filled[s]] = i;
                    filled[s]++;
                    width += first[s + 1] - first[s];
                }
            }
            if (width > most[0]) most[0] = width;
        }
        for (int32_t s = 0; s < supers; s++)
            if (filled[s] != row_start[s + 1]) result = -3; /* counts and lists disagree */
    }
    free(place);
    free(filled);
    return result;
}
