/* Matrices of double-doubles: a number is high + low, |low| at most half a unit in the last
   place of high, which is about 32 digits. Products are split exactly (Dekker 1971), sums keep
   what they round off (Knuth), so no fused multiply-add is needed and every level of the
   instruction set gives the same bits. Matrices are two arrays, rows one after another. */
#include "kernels.h"

#include <math.h>

enum { LANES = 8 };
typedef double Wide __attribute__((ext_vector_type(LANES), aligned(8)));
typedef struct { double high, low; } Pair;
static const double SPLITTER = 134217729.0; /* 2^27 + 1 */

static Pair sum_of(double a, double b) {
    const double high = a + b, other = high - a;
    return (Pair){high, (a - (high - other)) + (b - other)};
}

static Pair product_of(double a, double b) {
    const double high = a * b, c = SPLITTER * a, d = SPLITTER * b;
    const double top_a = c - (c - a), top_b = d - (d - b), end_a = a - top_a, end_b = b - top_b;
    return (Pair){high, ((top_a * top_b - high) + top_a * end_b + end_a * top_b) + end_a * end_b};
}

static Pair plus(Pair a, Pair b) {
    const Pair s = sum_of(a.high, b.high);
    return sum_of(s.high, s.low + (a.low + b.low));
}

static Pair times(Pair a, Pair b) {
    const Pair p = product_of(a.high, b.high);
    return sum_of(p.high, p.low + (a.high * b.low + a.low * b.high));
}

static Pair minus(Pair a, Pair b) { return plus(a, (Pair){-b.high, -b.low}); }

static Pair over(Pair a, Pair b) {
    const double first = a.high / b.high;
    const Pair rest = minus(a, times(b, (Pair){first, 0}));
    return sum_of(first, rest.high / b.high);
}

static Pair root_of(Pair a) {
    const double first = sqrt(a.high);
    const Pair rest = minus(a, product_of(first, first));
    return sum_of(first, rest.high / (2 * first));
}

/* The sum of products of two rows; lanes are added in a fixed order. */
static Pair dot(int64_t n, const double *ah, const double *al, const double *bh, const double *bl) {
    Wide high = 0, low = 0;
    int64_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        const Wide a = *(const Wide *)(ah + k), b = *(const Wide *)(bh + k);
        const Wide c = SPLITTER * a, d = SPLITTER * b, p = a * b;
        const Wide ta = c - (c - a), tb = d - (d - b), ea = a - ta, eb = b - tb;
        const Wide rest = ((ta * tb - p) + ta * eb + ea * tb) + ea * eb;
        const Wide s = high + p, o = s - high;
        low += ((high - (s - o)) + (p - o))
               + (rest + (a * *(const Wide *)(bl + k) + *(const Wide *)(al + k) * b));
        high = s;
    }
    Pair sum = {0, 0};
    for (int l = 0; l < LANES; l++) sum = plus(sum, (Pair){high[l], low[l]});
    for (; k < n; k++) sum = plus(sum, times((Pair){ah[k], al[k]}, (Pair){bh[k], bl[k]}));
    return sum;
}

/* out (rows first..last of it, m columns) = A·Bᵀ, A with `size` columns, B m × size. */
EXPORT void pair_products(
        int64_t size, int64_t m, int64_t first, int64_t last,
        const double *Ah HOLDS(last * size), const double *Al HOLDS(last * size),
        const double *Bh HOLDS(m * size), const double *Bl HOLDS(m * size),
        double *high HOLDS(last * m), double *low HOLDS(last * m)) {
    for (int64_t i = first; i < last; i++)
        for (int64_t j = 0; j < m; j++) {
            const Pair sum = dot(size, Ah + i * size, Al + i * size, Bh + j * size, Bl + j * size);
            high[i * m + j] = sum.high;
            low[i * m + j] = sum.low;
        }
}

/* Columns first..last of the Cholesky factor of A, in rows from..to (none above `first`), in
   place: columns before them are done, and so are rows first..last where `from` is below them.
   0, or 1 + the row whose pivot is not positive. The upper triangle is not read. */
EXPORT int64_t pair_cholesky(
        int64_t n, int64_t first, int64_t last, int64_t from, int64_t to,
        double *high HOLDS(n * n), double *low HOLDS(n * n)) {
    for (int64_t i = from; i < to; i++) {
        double *rh = high + i * n, *rl = low + i * n;
        for (int64_t j = first; j < last && j <= i; j++) {
            const double *sh = high + j * n, *sl = low + j * n;
            Pair a = minus((Pair){rh[j], rl[j]}, dot(j, rh, rl, sh, sl));
            if (j < i) a = over(a, (Pair){sh[j], sl[j]});
            else if (!(a.high > 0)) return i + 1;
            else a = root_of(a);
            rh[j] = a.high;
            rl[j] = a.low;
        }
    }
    return 0;
}

/* Each row x of X, first..last, becomes L⁻¹x, or with `back` L⁻ᵀx, L a lower triangle (n × n). */
EXPORT void pair_solve(
        int64_t n, int64_t first, int64_t last, int64_t back,
        const double *Lh HOLDS(n * n), const double *Ll HOLDS(n * n),
        double *Xh HOLDS(last * n), double *Xl HOLDS(last * n)) {
    for (int64_t r = first; r < last; r++) {
        double *xh = Xh + r * n, *xl = Xl + r * n;
        for (int64_t s = 0; s < n; s++) {
            const int64_t i = back ? n - 1 - s : s;
            const double *rh = Lh + i * n, *rl = Ll + i * n;
            Pair x = {xh[i], xl[i]};
            if (!back) x = minus(x, dot(i, rh, rl, xh, xl));
            x = over(x, (Pair){rh[i], rl[i]});
            xh[i] = x.high;
            xl[i] = x.low;
            for (int64_t k = 0; back && k < i; k++) {
                const Pair rest = minus((Pair){xh[k], xl[k]}, times((Pair){rh[k], rl[k]}, x));
                xh[k] = rest.high;
                xl[k] = rest.low;
            }
        }
    }
}
