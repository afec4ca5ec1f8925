/* The second look at pairs that a scan in few directions did not rule out: the same lower bound in
   more directions, one pair at a time. A true distance reads all columns of two rows from far
   memory (784 columns: 280 ns); this reads a third of it from a nearer one (30 ns).
   Sums are only compared with thresholds that allow for any order of summation. */
#include "kernels.h"
#include "panels.h"
#include <math.h>

static inline __attribute__((always_inline)) float added(Vector v) {
    float lanes[LANES], sum = 0;
    memcpy(lanes, &v, sizeof lanes);
    for (int l = 0; l < LANES; l++) sum += lanes[l];
    return sum;
}

static float product(const float *x, const float *y, int64_t depth) {
#pragma clang fp contract(fast)
    Vector sum[4] = {(Vector)0.0f, (Vector)0.0f, (Vector)0.0f, (Vector)0.0f};
    int64_t k = 0;
    for (; k + 4 * LANES <= depth; k += 4 * LANES)
        for (int v = 0; v < 4; v++)
            sum[v] = load(x + k + v * LANES) * load(y + k + v * LANES) + sum[v];
    for (; k + LANES <= depth; k += LANES) sum[0] = load(x + k) * load(y + k) + sum[0];
    float total = added((sum[0] + sum[1]) + (sum[2] + sum[3]));
    for (; k < depth; k++) total += x[k] * y[k];
    return total;
}

/* Pairs of vectors with |a|² + |b|² - 2ab <= max(allowed) move to the front; returns how many. */
EXPORT int64_t narrow_pairs(
        const float *vectors HOLDS(n * depth), int64_t n, int64_t depth,
        const float *square HOLDS(n), const float *allowed HOLDS(n),
        int32_t *rows HOLDS(count) BELOW(n), int32_t *columns HOLDS(count) BELOW(n),
        float *bounds HOLDS(count), int64_t count) {
    (void)n; /* rows and columns are below it */
    int64_t kept = 0;
    for (int64_t p = 0; p < count; p++) {
        const int32_t r = rows[p], c = columns[p];
        const float most = allowed[r] > allowed[c] ? allowed[r] : allowed[c];
        const float both = product(vectors + r * depth, vectors + c * depth, depth);
        rows[kept] = r, columns[kept] = c, bounds[kept] = bounds[p];
        kept += (square[r] + square[c]) - 2.0f * both <= most;
    }
    return kept;
}

/* About how far the farthest of the m listed vectors is from each of the vectors first .. last-1,
   squared. The last number of a vector is the length of what it leaves out, and what two of them
   leave out is taken to be orthogonal. A list that is not full (entries >= n) reaches everywhere. */
EXPORT void list_reach(
        int64_t first, int64_t last, const float *vectors HOLDS(n * depth), int64_t n,
        int64_t depth, const int32_t *lists HOLDS(last * m), int64_t m, float *reach HOLDS(last)) {
    for (int64_t i = first; i < last; i++) {
        const float *x = vectors + i * depth;
        const float left = x[depth - 1] * x[depth - 1];
        float most = 0;
        for (int64_t e = 0; e < m; e++) {
            const int32_t j = lists[i * m + e];
            if (j < 0 || j >= n) {
                most = INFINITY;
                break;
            }
            const float *y = vectors + j * depth;
            Vector sum = (Vector)0.0f;
            int64_t k = 0;
            for (; k + LANES < depth; k += LANES) {
                const Vector apart = load(x + k) - load(y + k);
                sum += apart * apart;
            }
            float square = added(sum) + left + y[depth - 1] * y[depth - 1];
            for (; k < depth - 1; k++) square += (x[k] - y[k]) * (x[k] - y[k]);
            if (square > most) most = square;
        }
        reach[i] = most;
    }
}
