/* Attraction on the plane, in single precision, of edges packed for it.

   A round of descent reads every edge once, so that what counts is how many bytes an edge has and
   how its other end is fetched. Here it has eight, rows are filled up to whole groups of
   EDGES_TOGETHER with edges of no weight to the row itself, and a place on the map is one load.
   70,000 images with 9 million edges take 6 to 8 ms instead of 24 in double precision.
   Lanes are fixed, so the bits depend neither on the instruction set nor on the threads. */
#include "kernels.h"
#include <float.h>
#include <string.h>

enum { EDGES_TOGETHER = 8, AHEAD = 256 }; /* edges that are called from memory in advance */
SHARED(EDGES_TOGETHER);

typedef float Lanes __attribute__((vector_size(EDGES_TOGETHER * sizeof(float)), aligned(4)));
typedef int32_t Whole __attribute__((vector_size(EDGES_TOGETHER * sizeof(int32_t))));
typedef float Places __attribute__((vector_size(16), aligned(4)));
typedef double Pair __attribute__((vector_size(16), aligned(8)));

/* Rows first .. last-1 of the new order: row r is order[r] of the graph (start, column, entry: CSR),
   and node j of the graph is row place[j]. to: where each new row begins, in groups of edges.
   Weights below the normal numbers become 0. */
EXPORT void pack_edges(
        int64_t first, int64_t last, int64_t n, const int32_t *order HOLDS(n) BELOW(n),
        const int32_t *place HOLDS(n) BELOW(n), const int32_t *start HOLDS(n + 1) RISING,
        const int32_t *column HOLDS(start[n]) BELOW(n), const double *entry HOLDS(start[n]),
        const int64_t *to HOLDS(n + 1) RISING, int32_t *packed HOLDS(to[n] * EDGES_TOGETHER),
        float *weight HOLDS(to[n] * EDGES_TOGETHER)) {
    (void)n; /* what the conditions of the arrays are about */
    for (int64_t r = first; r < last; r++) {
        int64_t at = to[r] * EDGES_TOGETHER;
        const int64_t end = to[r + 1] * EDGES_TOGETHER;
        for (int64_t e = start[order[r]]; e < start[order[r] + 1] && at < end; e++, at++) {
            packed[at] = place[column[e]];
            weight[at] = entry[e] < FLT_MIN ? 0 : (float)entry[e];
        }
        for (; at < end; at++) packed[at] = (int32_t)r, weight[at] = 0;
    }
}

/* The places of two points. Kept apart from other loads: gathers of AVX-512 take twice the time. */
static inline __attribute__((always_inline)) Places two(const float *Y, int32_t a, int32_t b) {
    double one, other;
    memcpy(&one, Y + 2 * (int64_t)a, sizeof one);
    memcpy(&other, Y + 2 * (int64_t)b, sizeof other);
    const Pair both = {one, other};
    Places found;
    memcpy(&found, &both, sizeof found);
#if defined(__x86_64__)
    __asm__("" : "+x"(found));
#endif
    return found;
}

/* The differences to the other ends of a group of edges, in their order; joined in such a way that
   the last step does not cross the halves of a register. */
static inline __attribute__((always_inline)) void apart(const float *Y, int64_t i, const int32_t *j,
                                                        Lanes *x, Lanes *y) {
    const Places a = two(Y, j[0], j[1]), b = two(Y, j[2], j[3]);
    const Places c = two(Y, j[4], j[5]), d = two(Y, j[6], j[7]);
    const Lanes near = __builtin_shufflevector(a, c, 0, 1, 2, 3, 4, 5, 6, 7);
    const Lanes far = __builtin_shufflevector(b, d, 0, 1, 2, 3, 4, 5, 6, 7);
    *x = Y[2 * i] - __builtin_shufflevector(near, far, 0, 2, 8, 10, 4, 6, 12, 14);
    *y = Y[2 * i + 1] - __builtin_shufflevector(near, far, 1, 3, 9, 11, 5, 7, 13, 15);
}

/* Σ_j p_ij (y_i − y_j)/(1 + ‖y_i − y_j‖²) of the rows first .. last-1; start: in groups. */
EXPORT void packed_attraction(
        int64_t first, int64_t last, int64_t n, const int64_t *start HOLDS(last + 1),
        const int32_t *packed HOLDS(start[last] * EDGES_TOGETHER),
        const float *weight HOLDS(start[last] * EDGES_TOGETHER),
        const float *Y HOLDS(2 * n), double *out HOLDS(2 * n)) {
    (void)n; /* the length of Y: the caller answers for columns below it */
    for (int64_t i = first; i < last; i++) {
        Lanes down = {0}, across = {0}, x, y;
        for (int64_t group = start[i]; group < start[i + 1]; group++) {
            __builtin_prefetch(packed + group * EDGES_TOGETHER + AHEAD);
            __builtin_prefetch(weight + group * EDGES_TOGETHER + AHEAD);
            apart(Y, i, packed + group * EDGES_TOGETHER, &x, &y);
            const Lanes given = *(const Lanes *)(weight + group * EDGES_TOGETHER);
            const Lanes strength = given / (1.0f + x * x + y * y);
            down += strength * x, across += strength * y;
        }
        double sums[2] = {0};
        for (int l = 0; l < EDGES_TOGETHER; l++) sums[0] += down[l], sums[1] += across[l];
        out[2 * i] = sums[0], out[2 * i + 1] = sums[1];
    }
}

/* log(x) for x ≥ 1, finite, to about a unit in the last place; as `log_of` in attraction.c. */
static inline __attribute__((always_inline)) Lanes log_lanes(Lanes x) {
    Whole bits;
    memcpy(&bits, &x, sizeof bits);
    bits -= 0x3f3504f3; /* √½ */
    const Whole power = bits >> 23;
    bits = (bits & 0x007fffff) + 0x3f3504f3;
    Lanes m;
    memcpy(&m, &bits, sizeof m);
    const Lanes z = (m - 1) / (m + 1), q = z * z;
    Lanes s = 1.0f / 9 * q + 1.0f / 7;
    s = s * q + 1.0f / 5, s = s * q + 1.0f / 3;
    return __builtin_convertvector(power, Lanes) * 0.693147181f + (2 * z * q * s + 2 * z);
}

/* Σ_j p_ij·log(1 + ‖y_i − y_j‖²) of the rows first .. last-1. */
EXPORT void packed_costs(
        int64_t first, int64_t last, int64_t n, const int64_t *start HOLDS(last + 1),
        const int32_t *packed HOLDS(start[last] * EDGES_TOGETHER),
        const float *weight HOLDS(start[last] * EDGES_TOGETHER),
        const float *Y HOLDS(2 * n), double *out HOLDS(n)) {
    (void)n;
    for (int64_t i = first; i < last; i++) {
        Lanes sum = {0}, x, y;
        for (int64_t group = start[i]; group < start[i + 1]; group++) {
            apart(Y, i, packed + group * EDGES_TOGETHER, &x, &y);
            const Lanes given = *(const Lanes *)(weight + group * EDGES_TOGETHER);
            sum += given * log_lanes(1.0f + x * x + y * y);
        }
        double total = 0;
        for (int l = 0; l < EDGES_TOGETHER; l++) total += sum[l];
        out[i] = total;
    }
}
