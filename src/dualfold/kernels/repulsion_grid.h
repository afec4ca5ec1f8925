/* Sums over all pairs by a grid: φ(y) = Σ_j K(y − y_j) for a smooth even kernel K.

   Points are spread on the nodes of a grid with B-splines, the grid is convolved with the
   kernel by Fourier transforms (zero padded: nothing wraps around), and φ is read with the same
   splines, so that its gradient is that of the φ which is summed. Rows of the grid are
   transformed 2·FOURIER_LANES at a time, columns FOURIER_LANES at a time, forth and back while
   they are in the cache. Every part writes places of its own, so threads get the same bits.
   NUMBER is float or double, NAME(x) the name of a kernel for it. */
#include "fourier.h"
#include "splines.h"

enum { OUTSIDE_GRID = 1, ROWS_TOGETHER = 2 * FOURIER_LANES };

/* Y: n × 2; grid: height × width, added to. */
EXPORT int32_t NAME(spread_on_grid)(
        int64_t n, const double *Y HOLDS(2 * n), const double *origin HOLDS(2), double per_cell,
        int64_t height, int64_t width, NUMBER *grid HOLDS(height * width)) {
    for (int64_t i = 0; i < n; i++) {
        const double a = (Y[2 * i] - origin[0]) * per_cell, b = (Y[2 * i + 1] - origin[1]) * per_cell;
        if (!spline_inside(a, height) || !spline_inside(b, width)) return OUTSIDE_GRID;
        const int64_t row = (int64_t)a, column = (int64_t)b;
        const Weights down = spline_weights((NUMBER)(a - (double)row));
        const Weights across = spline_weights((NUMBER)(b - (double)column));
        NUMBER *at = grid + (row - 2) * width + column - 2;
        for (int r = 0; r < SPLINE; r++, at += width) *(Weights *)at += down[r] * across;
    }
    return 0;
}

/* φ of the rows first .. last-1, and −½∇φ, from the convolved grid. */
EXPORT int32_t NAME(read_from_grid)(
        int64_t first, int64_t last, const double *Y HOLDS(2 * last),
        const double *origin HOLDS(2), double per_cell, int64_t height, int64_t width,
        const NUMBER *grid HOLDS(height * width), double *phi HOLDS(last),
        double *push HOLDS(2 * last)) {
    for (int64_t i = first; i < last; i++) {
        const double a = (Y[2 * i] - origin[0]) * per_cell, b = (Y[2 * i + 1] - origin[1]) * per_cell;
        if (!spline_inside(a, height) || !spline_inside(b, width)) return OUTSIDE_GRID;
        const int64_t row = (int64_t)a, column = (int64_t)b;
        const NUMBER t = (NUMBER)(a - (double)row), s = (NUMBER)(b - (double)column);
        const Weights down = spline_weights(t), slope = spline_slopes(t);
        const Weights across = spline_weights(s);
        const NUMBER *at = grid + (row - 2) * width + column - 2;
        Weights sum = {0}, change = {0};
        for (int r = 0; r < SPLINE; r++, at += width) {
            const Weights g = *(const Weights *)at;
            sum += down[r] * g, change += slope[r] * g;
        }
        phi[i] = lanes_sum(sum * across);
        push[2 * i] = -0.5 * per_cell * lanes_sum(change * across);
        push[2 * i + 1] = -0.5 * per_cell * lanes_sum(sum * spline_slopes(s));
    }
    return 0;
}

/* Four rows of four numbers become four columns. */
typedef NUMBER Four __attribute__((vector_size(4 * sizeof(NUMBER)), aligned(sizeof(NUMBER))));

static inline __attribute__((always_inline)) void exchange(Four a[4]) {
    const Four p = __builtin_shufflevector(a[0], a[1], 0, 4, 1, 5);
    const Four q = __builtin_shufflevector(a[2], a[3], 0, 4, 1, 5);
    const Four r = __builtin_shufflevector(a[0], a[1], 2, 6, 3, 7);
    const Four s = __builtin_shufflevector(a[2], a[3], 2, 6, 3, 7);
    a[0] = __builtin_shufflevector(p, q, 0, 1, 4, 5);
    a[1] = __builtin_shufflevector(p, q, 2, 3, 6, 7);
    a[2] = __builtin_shufflevector(r, s, 0, 1, 4, 5);
    a[3] = __builtin_shufflevector(r, s, 2, 3, 6, 7);
}

/* Four numbers of each of four rows that are `apart` from one another, as columns, and back. */
static inline __attribute__((always_inline)) void take(const NUMBER *from, int64_t apart, Four a[4]) {
    for (int r = 0; r < 4; r++) a[r] = *(const Four *)(from + r * apart);
    exchange(a);
}

static inline __attribute__((always_inline)) void give(NUMBER *to, int64_t apart, Four a[4]) {
    exchange(a);
    for (int r = 0; r < 4; r++) *(Four *)(to + r * apart) = a[r];
}

/* Where frequency k of a row is: spectra are stored by blocks of FOURIER_LANES frequencies, a block
   of all rows together. */
static inline int64_t spectral_place(int64_t k, int64_t row, int64_t height) {
    return (k / FOURIER_LANES * height + row) * FOURIER_ELEMENT + k % FOURIER_LANES;
}

/* The spectra of real rows of the grid, which come in fours: rows 4·first .. 4·last-1 of 4·high, each
   of 4·wide numbers. A row has 8·eighth numbers after padding, twice as many as before or more, of
   which the frequencies 0 .. 4·eighth are kept. Rows l and l + FOURIER_LANES are one complex
   sequence. `work` is scratch. */
EXPORT void NAME(transform_rows)(
        int64_t first, int64_t last, int64_t high, int64_t wide, int64_t eighth,
        const NUMBER *turns HOLDS(16 * eighth), const NUMBER *grid HOLDS(16 * high * wide),
        NUMBER *spectrum HOLDS((4 * eighth / FOURIER_LANES + 1) * 8 * high * FOURIER_LANES),
        NUMBER *work HOLDS(32 * eighth * FOURIER_LANES)) {
    const int64_t length = 8 * eighth, height = 4 * high, width = 4 * wide;
    NUMBER *x = work, *y = work + length * FOURIER_ELEMENT;
    for (int64_t top = 4 * first; top < 4 * last; top += ROWS_TOGETHER) {
        for (int64_t l = 0; l < FOURIER_ELEMENT; l += 4) {
            const int64_t row = top + l;
            for (int64_t j = 0; j < width; j += 4) {
                Four a[4] = {{0}};
                if (row < 4 * last) take(grid + row * width + j, width, a);
                for (int t = 0; t < 4; t++) *(Four *)(x + (j + t) * FOURIER_ELEMENT + l) = a[t];
            }
        }
        /* The place of x is free after the first pass. */
        const NUMBER *z = transformed_half(length, width, turns, x, y, x);
        for (int64_t l = 0; l < FOURIER_LANES; l += 4) {
            const int64_t row = top + l, next = row + FOURIER_LANES;
            for (int64_t k = 0; k <= length / 2; k += 4) {
                Four re[4], im[4], more[4], less[4];
                for (int t = 0; t < 4; t++) {
                    const NUMBER *a = z + (k + t) * FOURIER_ELEMENT + l;
                    const NUMBER *b = z + (k + t ? length - k - t : 0) * FOURIER_ELEMENT + l;
                    const Four u = *(const Four *)a, v = *(const Four *)(a + FOURIER_LANES);
                    const Four m = *(const Four *)b, w = *(const Four *)(b + FOURIER_LANES);
                    re[t] = (NUMBER)0.5 * (u + m), im[t] = (NUMBER)0.5 * (v - w);
                    more[t] = (NUMBER)0.5 * (v + w), less[t] = (NUMBER)0.5 * (m - u);
                }
                NUMBER *out = spectrum + spectral_place(k, row, height);
                if (row < 4 * last) {
                    give(out, FOURIER_ELEMENT, re);
                    give(out + FOURIER_LANES, FOURIER_ELEMENT, im);
                }
                out += FOURIER_LANES * FOURIER_ELEMENT;
                if (next < 4 * last) {
                    give(out, FOURIER_ELEMENT, more);
                    give(out + FOURIER_LANES, FOURIER_ELEMENT, less);
                }
            }
        }
    }
}

/* Blocks first .. last-1 of columns, each of 4·high elements, convolved with the kernel, whose
   transform is real: 8·eighth elements after padding. The scale of the inverse transforms is in the
   kernel. */
EXPORT void NAME(convolve_columns)(
        int64_t first, int64_t last, int64_t high, int64_t eighth,
        const NUMBER *turns HOLDS(16 * eighth),
        const NUMBER *kernel HOLDS(last * 8 * eighth * FOURIER_LANES),
        NUMBER *spectrum HOLDS(last * 8 * high * FOURIER_LANES),
        NUMBER *work HOLDS(32 * eighth * FOURIER_LANES)) {
    const int64_t length = 8 * eighth, height = 4 * high;
    for (int64_t block = first; block < last; block++) {
        NUMBER *x = work, *y = work + length * FOURIER_ELEMENT;
        NUMBER *columns = spectrum + block * height * FOURIER_ELEMENT;
        const NUMBER *k = kernel + block * length * FOURIER_LANES;
        NUMBER *z = transformed_half(length, height, turns, columns, x, y);
        for (int64_t e = 0; e < length; e++) {
            const Lane a = lane_at(z, e);
            const Numbers factor = *(const Numbers *)(k + e * FOURIER_LANES);
            put(z, e, (Lane){a.im * factor, a.re * factor}); /* exchanged, for the way back */
        }
        z = transformed(length, turns, z, z == x ? y : x);
        for (int64_t e = 0; e < height; e++) {
            const Lane a = lane_at(z, e);
            put(columns, e, (Lane){a.im, a.re});
        }
    }
}

/* The way back of `transform_rows`, the first 4·wide numbers of each row. */
EXPORT void NAME(restore_rows)(
        int64_t first, int64_t last, int64_t high, int64_t wide, int64_t eighth,
        const NUMBER *turns HOLDS(16 * eighth),
        const NUMBER *spectrum HOLDS((4 * eighth / FOURIER_LANES + 1) * 8 * high * FOURIER_LANES),
        NUMBER *grid HOLDS(16 * high * wide), NUMBER *work HOLDS(32 * eighth * FOURIER_LANES)) {
    const int64_t length = 8 * eighth, height = 4 * high, width = 4 * wide;
    NUMBER *x = work, *y = work + length * FOURIER_ELEMENT;
    for (int64_t top = 4 * first; top < 4 * last; top += ROWS_TOGETHER) {
        for (int64_t l = 0; l < FOURIER_LANES; l += 4) {
            const int64_t row = top + l, next = row + FOURIER_LANES;
            for (int64_t k = 0; k <= length / 2; k += 4) {
                Four u[4] = {{0}}, v[4] = {{0}}, s[4] = {{0}}, t[4] = {{0}};
                const NUMBER *in = spectrum + spectral_place(k, row, height);
                if (row < 4 * last) {
                    take(in, FOURIER_ELEMENT, u);
                    take(in + FOURIER_LANES, FOURIER_ELEMENT, v);
                }
                in += FOURIER_LANES * FOURIER_ELEMENT;
                if (next < 4 * last) {
                    take(in, FOURIER_ELEMENT, s);
                    take(in + FOURIER_LANES, FOURIER_ELEMENT, t);
                }
                for (int e = 0; e < 4 && k + e <= length / 2; e++) {
                    NUMBER *a = x + (k + e) * FOURIER_ELEMENT + l;
                    NUMBER *b = x + (k + e ? length - k - e : 0) * FOURIER_ELEMENT + l;
                    /* Exchanged: imaginary part first. */
                    *(Four *)b = s[e] - v[e], *(Four *)(b + FOURIER_LANES) = u[e] + t[e];
                    *(Four *)a = v[e] + s[e], *(Four *)(a + FOURIER_LANES) = u[e] - t[e];
                }
            }
        }
        const NUMBER *z = transformed(length, turns, x, y);
        for (int64_t l = 0; l < FOURIER_ELEMENT; l += 4) {
            const int64_t row = top + l, lane = (l + FOURIER_LANES) % FOURIER_ELEMENT;
            if (row >= 4 * last) continue;
            for (int64_t j = 0; j < width; j += 4) {
                Four a[4];
                for (int t = 0; t < 4; t++) a[t] = *(const Four *)(z + (j + t) * FOURIER_ELEMENT + lane);
                give(grid + row * width + j, width, a);
            }
        }
    }
}
