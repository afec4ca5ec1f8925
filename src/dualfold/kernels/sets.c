/* Sets as rows of bits: how many elements two have in common, and the nearest sets of each.

   With p and q elements, a of them in common, the distance is
       (p + q − 2a)/(base + each·(p + q) − shared·a),
   0 where the denominator is 0 (two empty sets). Jaccard: 0, 1, 1; Dice: 0, 1, 0; Hamming: the
   number of columns, 0, 0. Both sides are whole numbers below 2^26, so that two quotients
   round to the same double only where they are equal: ties are exact. */
#include "kernels.h"
#include <math.h>
#include <string.h>

enum { SET_LANES = 8, WORDS_AT_ONCE = 8 };
SHARED(SET_LANES);

/* A word of each set of a panel. */
typedef uint64_t lanes __attribute__((vector_size(8 * SET_LANES)));

/* How many bits of each byte are 1, and the sum of the bytes of each word. */
static inline lanes ones_of_bytes(lanes x) {
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    return (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}

static inline lanes sum_of_bytes(lanes x) {
    x = (x & 0x00ff00ff00ff00ffu) + ((x >> 8) & 0x00ff00ff00ff00ffu);
    x += x >> 16;
    return (x + (x >> 32)) & 0xffff;
}

/* Adds two words to `low` bit by bit; returns what is carried. */
static inline lanes carried(lanes *low, lanes a, lanes b) {
    const lanes odd = *low ^ a, carry = (*low & a) | (odd & b);
    *low = odd ^ b;
    return carry;
}

/* Elements that a query has in common with each set of a panel, which holds SET_LANES sets word
   by word. Eight words are added up bit by bit, so that one in eight is counted (Harley and
   Seal). */
static inline lanes panel_common(const int64_t *query, const int64_t *panel, int64_t words) {
    lanes ones = {0}, twos = {0}, fours = {0}, sum = {0};
    int64_t w = 0;
    while (w + WORDS_AT_ONCE <= words) {
        lanes eights = {0}; /* bytes, each at most 8 more after a round */
        for (int round = 0; round < 31 && w + WORDS_AT_ONCE <= words; round++) {
            lanes x[WORDS_AT_ONCE];
            memcpy(x, panel + w * SET_LANES, sizeof x);
            for (int i = 0; i < WORDS_AT_ONCE; i++) x[i] &= (uint64_t)query[w + i];
            const lanes a = carried(&ones, x[0], x[1]), b = carried(&ones, x[2], x[3]);
            const lanes c = carried(&ones, x[4], x[5]), d = carried(&ones, x[6], x[7]);
            const lanes e = carried(&twos, a, b), f = carried(&twos, c, d);
            eights += ones_of_bytes(carried(&fours, e, f));
            w += WORDS_AT_ONCE;
        }
        sum += 8 * sum_of_bytes(eights);
    }
    lanes rest = 4 * ones_of_bytes(fours) + 2 * ones_of_bytes(twos) + ones_of_bytes(ones);
    for (; w < words; w++) { /* fewer than WORDS_AT_ONCE: bytes of 7·8 + 7·8 at most */
        lanes x;
        memcpy(&x, panel + w * SET_LANES, sizeof x);
        rest += ones_of_bytes(x & (uint64_t)query[w]);
    }
    return sum + sum_of_bytes(rest);
}

/* Insert (d, j) into a list that ascends; equal ones that came before stay before. */
static void insert(double *distance, int32_t *index, int64_t k, double d, int32_t j) {
    int64_t at = k - 1;
    for (; at > 0 && distance[at - 1] > d; at--)
        distance[at] = distance[at - 1], index[at] = index[at - 1];
    distance[at] = d, index[at] = j;
}

/* panels: n sets in panels, padded with empty ones; sizes: their numbers of elements. */
EXPORT void sets_in_common(
        const int64_t *panels HOLDS((n + 7) / 8 * 8 * words), int64_t n, int64_t words,
        const int64_t *queries HOLDS(count * words), int64_t count,
        int32_t *common HOLDS(count * n)) {
    for (int64_t first = 0; first < n; first += SET_LANES) {
        const int64_t last = n - first < SET_LANES ? n - first : SET_LANES;
        for (int64_t i = 0; i < count; i++) {
            const lanes found = panel_common(queries + i * words, panels + first * words, words);
            for (int64_t l = 0; l < last; l++) common[i * n + first + l] = (int32_t)found[l];
        }
    }
}

/* rule: base, each, shared. skip: the place of the first query among the sets, or -1 where
   queries are others. */
EXPORT void nearest_sets(
        const int64_t *panels HOLDS((n + 7) / 8 * 8 * words),
        const int32_t *sizes HOLDS((n + 7) / 8 * 8), int64_t n, int64_t words,
        const int64_t *queries HOLDS(count * words), const int32_t *query_sizes HOLDS(count),
        int64_t count, const int32_t *rule HOLDS(3), int64_t skip, int64_t k,
        double *distances HOLDS(count * k), int32_t *indices HOLDS(count * k)) {
    const int32_t base = rule[0], each = rule[1], shared = rule[2];
    for (int64_t s = 0; s < count * k; s++) distances[s] = INFINITY, indices[s] = -1;
    /* A panel stays in the cache while all queries meet it. */
    for (int64_t first = 0; first < n; first += SET_LANES) {
        const int64_t last = n - first < SET_LANES ? n - first : SET_LANES;
        for (int64_t i = 0; i < count; i++) {
            const int64_t own = skip < 0 ? -1 : skip + i;
            double *best = distances + i * k;
            int32_t *who = indices + i * k;
            const lanes found = panel_common(queries + i * words, panels + first * words, words);
            int32_t apart[SET_LANES], over[SET_LANES];
            const double worst = best[k - 1];
            int near = 0;
            for (int l = 0; l < SET_LANES; l++) {
                const int32_t both = query_sizes[i] + sizes[first + l], a = (int32_t)found[l];
                apart[l] = both - 2 * a, over[l] = base + each * both - shared * a;
                /* Without a division, and a little too far; most are told apart by it. */
                near |= (double)apart[l] < worst * ((double)over[l] + 1e-6);
            }
            if (!near) continue;
            for (int64_t l = 0; l < last; l++) {
                const double d = (double)apart[l] / (double)(over[l] > 1 ? over[l] : 1);
                if (d < best[k - 1] && first + l != own)
                    insert(best, who, k, d, (int32_t)(first + l));
            }
        }
    }
}
