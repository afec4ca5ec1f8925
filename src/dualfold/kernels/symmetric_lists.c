/* Lists of neighbours, which go one way, as symmetric rows. */
#include "pages.h"
#include "kernels.h"

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t sooner(int64_t a, int64_t b) { return a < b ? a : b; }

/* Row i gets the columns that it lists or that list it (`both`: and that list it), ascending, and
   the place in the lists that an edge's length comes from: of two the later (`both`: the sooner). */
EXPORT int64_t symmetric_lists(
        int64_t n, const int64_t *start HOLDS(n + 1) RISING,
        const int32_t *next HOLDS(start[n]) BELOW(n), int32_t both, int64_t *row_start HOLDS(n + 1),
        int32_t *columns HOLDS(2 * start[n]), int64_t *places HOLDS(2 * start[n])) {
    const int64_t edges = start[n];
    if (start[0] != 0) return OUTSIDE_PATTERN;
    int64_t *at = calloc((size_t)(n + 1), sizeof *at);
    int64_t *turned = scratch_memory((size_t)(2 * edges + 1) * sizeof *turned), *sorted = turned + edges;
    int32_t *lister = scratch_memory((size_t)(edges + 1) * sizeof *lister);
    int64_t filled = at && turned && lister ? 0 : NO_MEMORY;
    if (!filled) {
        for (int64_t t = 0; t < edges; t++) at[next[t] + 1]++;
        for (int64_t i = 0; i < n; i++) at[i + 1] += at[i];
        for (int64_t i = 0; i < n; i++)
            for (int64_t t = start[i]; t < start[i + 1]; t++) {
                const int64_t place = at[next[t]]++; /* at[j] becomes the end of column j */
                lister[place] = (int32_t)i, turned[place] = t;
            }
        for (int64_t i = 0; i < n; i++) row_start[i] = start[i];
        for (int64_t t = 0; t < edges; t++) { /* turned once more: each list by its columns */
            const int64_t i = lister[t];
            sorted[row_start[i]++] = turned[t];
        }
        for (int64_t i = 0; i < n; i++) {
            const int64_t high = start[i + 1];
            int64_t a = start[i], b = i ? at[i - 1] : 0;
            row_start[i] = filled;
            while (a < high || b < at[i]) {
                const int64_t own = a < high ? next[sorted[a]] : n, other = b < at[i] ? lister[b] : n;
                int64_t place = -1;
                if (own < other && !both) place = sorted[a];
                if (other < own && !both) place = turned[b];
                if (own == other)
                    place = both ? sooner(sorted[a], turned[b]) : later(sorted[a], turned[b]);
                if (place >= 0) columns[filled] = (int32_t)(own < other ? own : other), places[filled++] = place;
                a += own <= other, b += other <= own;
            }
        }
        row_start[n] = filled;
    }
    free(at);
    free(turned);
    free(lister);
    return filled;
}
