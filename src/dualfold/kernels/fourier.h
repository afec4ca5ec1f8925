/* Fourier transforms of FOURIER_LANES complex sequences side by side, in mixed radix
   (Stockham's order, so nothing is permuted). An element is FOURIER_LANES real parts and as
   many imaginary parts; the lanes never mix, so the compiler keeps them in one register and
   the bits do not depend on the instruction set. NUMBER is float or double;
   FOURIER_LANES is a macro, because prototypes tell Python what it stands for. */
#ifndef DUALFOLD_FOURIER_H
#define DUALFOLD_FOURIER_H
#include "kernels.h"

enum { FOURIER_BYTES = 64, FOURIER_ELEMENT = 2 * FOURIER_LANES };
#define LANES_ for (int l = 0; l < FOURIER_LANES; l++)

/* One register, or several narrower ones, of numbers that may lie anywhere. */
typedef NUMBER Numbers __attribute__((vector_size(FOURIER_BYTES), aligned(sizeof(NUMBER))));
typedef struct {
    Numbers re, im;
} Lane;

static inline __attribute__((always_inline)) Lane lane_at(const NUMBER *x, int64_t e) {
    const Numbers *at = (const Numbers *)(x + e * FOURIER_ELEMENT);
    return (Lane){at[0], at[1]};
}

/* y[e] = w·a, w = (turn[0], turn[1]). */
static inline __attribute__((always_inline)) void put_turned(NUMBER *y, int64_t e, Lane a,
                                                             const NUMBER *turn) {
    Numbers *at = (Numbers *)(y + e * FOURIER_ELEMENT);
    at[0] = turn[0] * a.re - turn[1] * a.im;
    at[1] = turn[0] * a.im + turn[1] * a.re;
}

static inline __attribute__((always_inline)) void put(NUMBER *y, int64_t e, Lane a) {
    Numbers *at = (Numbers *)(y + e * FOURIER_ELEMENT);
    at[0] = a.re, at[1] = a.im;
}

static inline __attribute__((always_inline)) Lane plus(Lane a, Lane b) {
    return (Lane){a.re + b.re, a.im + b.im};
}

static inline __attribute__((always_inline)) Lane minus(Lane a, Lane b) {
    return (Lane){a.re - b.re, a.im - b.im};
}

/* a + factor·b, and a + factor·i·b. */
static inline __attribute__((always_inline)) Lane plus_times(Lane a, NUMBER factor, Lane b) {
    return (Lane){a.re + factor * b.re, a.im + factor * b.im};
}

static inline __attribute__((always_inline)) Lane plus_times_i(Lane a, NUMBER factor, Lane b) {
    return (Lane){a.re - factor * b.im, a.im + factor * b.re};
}

/* One pass of radix r over sequences of `left` elements, `run` of them interleaved:
   y[q + run(r·p + k)] = turn^(p·k) Σ_m x[q + run(p + m·left/r)]·exp(−2πi·m·k/r).
   turns: exp(−2πi·t/whole), whole = left·run, as pairs. */
static void pass2(int64_t left, int64_t run, const NUMBER *turns, const NUMBER *x, NUMBER *y) {
    const int64_t half = left / 2;
    for (int64_t p = 0; p < half; p++)
        for (int64_t q = 0; q < run; q++) {
            const Lane a = lane_at(x, q + run * p), b = lane_at(x, q + run * (p + half));
            put(y, q + run * 2 * p, plus(a, b));
            put_turned(y, q + run * (2 * p + 1), minus(a, b), turns + 2 * p * run);
        }
}

static void pass3(int64_t left, int64_t run, const NUMBER *turns, const NUMBER *x, NUMBER *y) {
    const int64_t third = left / 3;
    const NUMBER sine = 0.86602540378443864676;
    for (int64_t p = 0; p < third; p++)
        for (int64_t q = 0; q < run; q++) {
            const Lane a = lane_at(x, q + run * p), b = lane_at(x, q + run * (p + third));
            const Lane c = lane_at(x, q + run * (p + 2 * third));
            const Lane sum = plus(b, c), apart = minus(b, c);
            const Lane mid = plus_times(a, -0.5, sum);
            put(y, q + run * 3 * p, plus(a, sum));
            put_turned(y, q + run * (3 * p + 1), plus_times_i(mid, -sine, apart),
                       turns + 2 * p * run);
            put_turned(y, q + run * (3 * p + 2), plus_times_i(mid, sine, apart),
                       turns + 4 * p * run);
        }
}

static void pass4(int64_t left, int64_t run, const NUMBER *turns, const NUMBER *x, NUMBER *y) {
    const int64_t part = left / 4;
    for (int64_t p = 0; p < part; p++)
        for (int64_t q = 0; q < run; q++) {
            const Lane a = lane_at(x, q + run * p), b = lane_at(x, q + run * (p + part));
            const Lane c = lane_at(x, q + run * (p + 2 * part));
            const Lane d = lane_at(x, q + run * (p + 3 * part));
            const Lane ac = plus(a, c), a_c = minus(a, c), bd = plus(b, d), b_d = minus(b, d);
            put(y, q + run * 4 * p, plus(ac, bd));
            put_turned(y, q + run * (4 * p + 1), plus_times_i(a_c, -1, b_d), turns + 2 * p * run);
            put_turned(y, q + run * (4 * p + 2), minus(ac, bd), turns + 4 * p * run);
            put_turned(y, q + run * (4 * p + 3), plus_times_i(a_c, 1, b_d), turns + 6 * p * run);
        }
}

static void pass5(int64_t left, int64_t run, const NUMBER *turns, const NUMBER *x, NUMBER *y) {
    const int64_t part = left / 5;
    const NUMBER c1 = 0.30901699437494742410, c2 = -0.80901699437494742410;
    const NUMBER s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;
    for (int64_t p = 0; p < part; p++)
        for (int64_t q = 0; q < run; q++) {
            const Lane a = lane_at(x, q + run * p), b = lane_at(x, q + run * (p + part));
            const Lane c = lane_at(x, q + run * (p + 2 * part));
            const Lane d = lane_at(x, q + run * (p + 3 * part));
            const Lane e = lane_at(x, q + run * (p + 4 * part));
            const Lane be = plus(b, e), b_e = minus(b, e), cd = plus(c, d), c_d = minus(c, d);
            const Lane near = plus_times(plus_times(a, c1, be), c2, cd);
            const Lane far = plus_times(plus_times(a, c2, be), c1, cd);
            put(y, q + run * 5 * p, plus(a, plus(be, cd)));
            put_turned(y, q + run * (5 * p + 1),
                       plus_times_i(plus_times_i(near, -s1, b_e), -s2, c_d), turns + 2 * p * run);
            put_turned(y, q + run * (5 * p + 2),
                       plus_times_i(plus_times_i(far, -s2, b_e), s1, c_d), turns + 4 * p * run);
            put_turned(y, q + run * (5 * p + 3),
                       plus_times_i(plus_times_i(far, s2, b_e), -s1, c_d), turns + 6 * p * run);
            put_turned(y, q + run * (5 * p + 4),
                       plus_times_i(plus_times_i(near, s1, b_e), s2, c_d), turns + 8 * p * run);
        }
}

/* The first pass, of radix 4 (the length must be a multiple), where elements from `filled` on are 0
   and filled is at most half of the length. */
static void first_pass(int64_t length, int64_t filled, const NUMBER *turns, const NUMBER *x,
                       NUMBER *y) {
    const int64_t part = length / 4;
    for (int64_t p = 0; p < part; p++) {
        const Lane none = {{0}, {0}};
        const Lane a = p < filled ? lane_at(x, p) : none;
        const Lane b = p + part < filled ? lane_at(x, p + part) : none;
        put(y, 4 * p, plus(a, b));
        put_turned(y, 4 * p + 1, plus_times_i(a, -1, b), turns + 2 * p);
        put_turned(y, 4 * p + 2, minus(a, b), turns + 4 * p);
        put_turned(y, 4 * p + 3, plus_times_i(a, 1, b), turns + 6 * p);
    }
}

/* The other passes, sequences of `left` elements of which `run` are interleaved. Returns where the
   transform of x is, x or y (both are overwritten). */
static NUMBER *passes(int64_t left, int64_t run, const NUMBER *turns, NUMBER *x, NUMBER *y) {
    while (left > 1) {
        int64_t radix = 5;
        if (left % 4 == 0) radix = 4, pass4(left, run, turns, x, y);
        else if (left % 2 == 0) radix = 2, pass2(left, run, turns, x, y);
        else if (left % 3 == 0) radix = 3, pass3(left, run, turns, x, y);
        else pass5(left, run, turns, x, y);
        left /= radix, run *= radix;
        NUMBER *other = x;
        x = y, y = other;
    }
    return x;
}

/* The transform of x; returns where it is, x or y (both are overwritten). The length must be a
   product of 2, 3 and 5. The inverse transform is that of real and imaginary parts exchanged,
   with both exchanged again. */
static NUMBER *transformed(int64_t length, const NUMBER *turns, NUMBER *x, NUMBER *y) {
    return passes(length, 1, turns, x, y);
}

/* The same of `filled` elements and zeros after them, which are not read: x stays, and the result is
   in y or z. */
static NUMBER *transformed_half(int64_t length, int64_t filled, const NUMBER *turns, const NUMBER *x,
                                NUMBER *y, NUMBER *z) {
    first_pass(length, filled, turns, x, y);
    return passes(length / 4, 4, turns, y, z);
}
#endif
