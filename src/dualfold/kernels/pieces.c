/* What of a sparse graph is connected, and how soon it is crossed. */
#include "kernels.h"
#include <stdlib.h>

/* The piece of each row, numbered by first rows; returns how many pieces there are. */
EXPORT int32_t graph_pieces(
        int64_t n, const int64_t *start HOLDS(n + 1) RISING,
        const int32_t *next HOLDS(start[n]) BELOW(n), int32_t *piece HOLDS(n)) {
    for (int64_t i = 0; i < n; i++) piece[i] = (int32_t)i; /* a row of the same piece, not after it */
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = start[i]; t < start[i + 1]; t++) {
            int32_t a = (int32_t)i, b = next[t];
            while (piece[a] != a) a = piece[a] = piece[piece[a]];
            while (piece[b] != b) b = piece[b] = piece[piece[b]];
            if (a < b) piece[b] = a;
            else piece[a] = b;
        }
    int32_t count = 0;
    for (int64_t i = 0; i < n; i++) piece[i] = piece[i] == i ? count++ : piece[piece[i]];
    return count;
}

/* How many rows are reached from one of them in so many steps. */
EXPORT int64_t rows_within(
        int64_t n, const int64_t *start HOLDS(n + 1) RISING,
        const int32_t *next HOLDS(start[n]) BELOW(n), int64_t from, int64_t steps) {
    int32_t *queue = malloc((size_t)n * sizeof *queue);
    uint8_t *seen = calloc((size_t)n, 1);
    int64_t count = NO_MEMORY;
    if (queue && seen && from >= 0 && from < n) {
        queue[0] = (int32_t)from, seen[from] = 1, count = 1;
        for (int64_t done = 0, end; steps > 0 && done < count; steps--)
            for (end = count; done < end; done++)
                for (int64_t t = start[queue[done]]; t < start[queue[done] + 1]; t++)
                    if (!seen[next[t]]) seen[next[t]] = 1, queue[count++] = next[t];
    }
    free(queue);
    free(seen);
    return count;
}
