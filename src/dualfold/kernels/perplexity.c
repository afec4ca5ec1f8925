/* Affinities of one perplexity: p_j|i = exp(−β_i·s_ij)/Σ over the listed neighbours of i, with
   β_i such that the entropy of the row is log(perplexity). Newton's steps on log β inside a
   bracket. The exponential is written out, so that every machine has the same bits. */
#include "kernels.h"
#include <string.h>

enum { ENTROPY_LANES = 8, MOST_STEPS = 200 };

/* exp(x) for x ≤ 0, to about 2 units in the last place; 0 below −700. */
static inline __attribute__((always_inline)) double exponential(double x) {
    const double low = x < -700 ? -700 : x;
    const double shifted = low * 1.4426950408889634074 + 6755399441055744.0; /* 1.5·2^52 rounds */
    const double whole = shifted - 6755399441055744.0;
    const double r = (low - whole * 0.693147180369123816490) - whole * 1.90821492927058770002e-10;
    double p = 1.6059043836821613e-10;
    p = p * r + 2.0876756987868099e-09, p = p * r + 2.5052108385441719e-08;
    p = p * r + 2.7557319223985893e-07, p = p * r + 2.7557319223985888e-06;
    p = p * r + 2.4801587301587302e-05, p = p * r + 1.9841269841269841e-04;
    p = p * r + 1.3888888888888889e-03, p = p * r + 8.3333333333333332e-03;
    p = p * r + 4.1666666666666664e-02, p = p * r + 1.6666666666666666e-01;
    p = p * r + 0.5, p = p * r + 1, p = p * r + 1;
    int64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    const int64_t power = (int64_t)((uint64_t)(bits + 1023) << 52);
    double scale;
    memcpy(&scale, &power, sizeof scale);
    return x < -700 ? 0 : p * scale;
}

/* log(x) for x ≥ 1 by Newton's steps on the exponential: rarely needed, so it may be slow. */
static double logarithm(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int64_t power = (bits >> 52) - 1023;
    double y = 0.69314718055994530942 * (double)(power + 1);
    for (int i = 0; i < 8; i++) y += x * exponential(-y) - 1;
    return y;
}

/* Σe^{−β s}, Σ s·e^{−β s}, Σ s²·e^{−β s} of a row whose least s is 0; the exponentials in p. */
static void moments(int64_t count, const double *s, double beta, double *p, double out[3]) {
    double sums[3][ENTROPY_LANES] = {{0}};
    for (int64_t j = 0; j < count; j++) p[j] = exponential(-beta * s[j]);
    for (int64_t j = 0; j < count; j += ENTROPY_LANES)
        for (int64_t l = 0; l < ENTROPY_LANES && j + l < count; l++) {
            const double one = p[j + l], t = s[j + l];
            sums[0][l] += one, sums[1][l] += one * t, sums[2][l] += one * t * t;
        }
    for (int m = 0; m < 3; m++) {
        out[m] = 0;
        for (int l = 0; l < ENTROPY_LANES; l++) out[m] += sums[m][l];
    }
}

/* Rows first .. last-1 of squared distances, the least of every row taken off beforehand; row i
   is start[i] .. start[i+1]-1. p: their affinities, of sum 1; beta: what they were found with.
   Rows whose entropy cannot be reached (few neighbours, or equal distances) get equal
   affinities, or those of the nearest. wanted: log(perplexity). */
EXPORT void perplexity_rows(
        int64_t first, int64_t last, const int64_t *start HOLDS(last + 1), double wanted,
        const double *squares HOLDS(start[last]), double *p HOLDS(start[last]),
        double *beta HOLDS(last)) {
    for (int64_t i = first; i < last; i++) {
        const int64_t count = start[i + 1] - start[i];
        const double *s = squares + start[i];
        double sum = 0, m[3] = {1, 0, 0}, low = 0, high = -1;
        for (int64_t j = 0; j < count; j++) sum += s[j];
        double b = sum > 0 ? (double)count / sum : 1;
        if (!(b < 1e300)) b = 1e300;
        for (int step = 0; step < MOST_STEPS; step++) {
            moments(count, s, b, p + start[i], m);
            const double mean = m[1] / m[0], spread = m[2] / m[0] - mean * mean;
            const double excess = logarithm(m[0]) + b * mean - wanted; /* falls as β grows */
            if ((excess < 0 ? -excess : excess) < 1e-11) break;
            if (excess > 0) low = b;
            else high = b;
            /* dH/dβ = −β·variance */
            double next = spread > 0 ? b + excess / (b * spread) : 2 * b;
            if (!(next > low && (high < 0 || next < high)) || !(next < 1e300))
                next = high < 0 ? 2 * b : 0.5 * (low + high);
            if (!(next < 1e300) || next == b) break;
            b = next;
        }
        beta[i] = b;
        for (int64_t j = start[i]; j < start[i + 1]; j++) p[j] /= m[0];
    }
}
