/* Sums over all pairs by a grid: φ(y) = Σ_j K(y − y_j) for a smooth even kernel K.

   Points are spread on the nodes of a grid with cubic B-splines, the grid is convolved with the
   kernel by Fourier transforms (zero padded: nothing wraps around), and φ is read with the same
   splines, so that its gradient is that of the φ which is summed. Rows of the grid are
   transformed 2·FOURIER_LANES at a time, columns FOURIER_LANES at a time, forth and back while
   they are in the cache. Every part writes places of its own, so threads get the same bits. */
#include "fourier.h"

enum { OUTSIDE_GRID = 1, ROWS_TOGETHER = 2 * FOURIER_LANES };
SHARED(FOURIER_LANES);

/* Weights of the nodes first .. first+3 for a place between nodes, and their derivatives. */
static inline __attribute__((always_inline)) int64_t spline(double place, double *w, double *dw) {
    const int64_t cell = (int64_t)place;
    const double t = place - (double)cell, s = 1 - t;
    w[0] = s * s * s / 6;
    w[1] = (4 - 6 * t * t + 3 * t * t * t) / 6;
    w[2] = (4 - 6 * s * s + 3 * s * s * s) / 6;
    w[3] = t * t * t / 6;
    dw[0] = -s * s / 2;
    dw[1] = (3 * t * t - 4 * t) / 2;
    dw[2] = (4 * s - 3 * s * s) / 2;
    dw[3] = t * t / 2;
    return cell - 1;
}

/* Places are (y − origin)·per_cell, in nodes; those without four nodes around are refused. */
static inline int inside(double place, int64_t nodes) {
    return place >= 1 && place < (double)(nodes - 2);
}

/* Y: n × 2; grid: height × width, added to. */
EXPORT int32_t spread_on_grid(
        int64_t n, const double *Y HOLDS(2 * n), const double *origin HOLDS(2), double per_cell,
        int64_t height, int64_t width, double *grid HOLDS(height * width)) {
    double w[2][4], dw[4];
    for (int64_t i = 0; i < n; i++) {
        const double a = (Y[2 * i] - origin[0]) * per_cell, b = (Y[2 * i + 1] - origin[1]) * per_cell;
        if (!inside(a, height) || !inside(b, width)) return OUTSIDE_GRID;
        const int64_t row = spline(a, w[0], dw), column = spline(b, w[1], dw);
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < 4; c++) grid[(row + r) * width + column + c] += w[0][r] * w[1][c];
    }
    return 0;
}

/* φ of the rows first .. last-1, and −½∇φ, from the convolved grid. */
EXPORT int32_t read_from_grid(
        int64_t first, int64_t last, const double *Y HOLDS(2 * last),
        const double *origin HOLDS(2), double per_cell, int64_t height, int64_t width,
        const double *grid HOLDS(height * width), double *phi HOLDS(last),
        double *push HOLDS(2 * last)) {
    double w[2][4], dw[2][4];
    for (int64_t i = first; i < last; i++) {
        const double a = (Y[2 * i] - origin[0]) * per_cell, b = (Y[2 * i + 1] - origin[1]) * per_cell;
        if (!inside(a, height) || !inside(b, width)) return OUTSIDE_GRID;
        const int64_t row = spline(a, w[0], dw[0]), column = spline(b, w[1], dw[1]);
        double sum = 0, down = 0, across = 0;
        for (int r = 0; r < 4; r++) {
            const double *g = grid + (row + r) * width + column;
            const double s = w[1][0] * g[0] + w[1][1] * g[1] + w[1][2] * g[2] + w[1][3] * g[3];
            const double d = dw[1][0] * g[0] + dw[1][1] * g[1] + dw[1][2] * g[2] + dw[1][3] * g[3];
            sum += w[0][r] * s, down += dw[0][r] * s, across += w[0][r] * d;
        }
        phi[i] = sum;
        push[2 * i] = -0.5 * per_cell * down;
        push[2 * i + 1] = -0.5 * per_cell * across;
    }
    return 0;
}

/* The same on a line: Y has n numbers, the grid `width` nodes. */
EXPORT int32_t spread_on_line(
        int64_t n, const double *Y HOLDS(n), double origin, double per_cell, int64_t width,
        double *grid HOLDS(width)) {
    double w[4], dw[4];
    for (int64_t i = 0; i < n; i++) {
        const double a = (Y[i] - origin) * per_cell;
        if (!inside(a, width)) return OUTSIDE_GRID;
        const int64_t at = spline(a, w, dw);
        for (int c = 0; c < 4; c++) grid[at + c] += w[c];
    }
    return 0;
}

EXPORT int32_t read_from_line(
        int64_t first, int64_t last, const double *Y HOLDS(last), double origin, double per_cell,
        int64_t width, const double *grid HOLDS(width), double *phi HOLDS(last),
        double *push HOLDS(last)) {
    double w[4], dw[4];
    for (int64_t i = first; i < last; i++) {
        const double a = (Y[i] - origin) * per_cell;
        if (!inside(a, width)) return OUTSIDE_GRID;
        const double *g = grid + spline(a, w, dw);
        phi[i] = w[0] * g[0] + w[1] * g[1] + w[2] * g[2] + w[3] * g[3];
        push[i] = -0.5 * per_cell * (dw[0] * g[0] + dw[1] * g[1] + dw[2] * g[2] + dw[3] * g[3]);
    }
    return 0;
}

/* The spectra of the real rows first .. last-1 of the grid: `length` numbers a row after padding,
   of which the frequencies 0 .. length/2 are kept. They are stored by blocks of FOURIER_LANES
   frequencies, `height` elements each, so that a block of columns lies together. Two real rows
   are one complex sequence. `work` is scratch. */
EXPORT void transform_rows(
        int64_t first, int64_t last, int64_t height, int64_t width, int64_t length,
        const double *turns HOLDS(2 * length), const double *grid HOLDS(height * width),
        double *spectrum HOLDS((length / 2 / FOURIER_LANES + 1) * height * 2 * FOURIER_LANES),
        double *work HOLDS(4 * FOURIER_LANES * length)) {
    double *x = work, *y = work + length * FOURIER_ELEMENT;
    for (; first < last; first += ROWS_TOGETHER) {
        LANES_ for (int part = 0; part < 2; part++) {
            const int64_t row = first + 2 * l + part, some = row < last ? width : 0;
            double *to = x + part * FOURIER_LANES + l;
            for (int64_t j = 0; j < some; j++) to[j * FOURIER_ELEMENT] = grid[row * width + j];
            for (int64_t j = some; j < length; j++) to[j * FOURIER_ELEMENT] = 0;
        }
        const double *z = transformed(length, turns, x, y);
        for (int64_t k = 0; k <= length / 2; k++) {
            const double *a = z + k * FOURIER_ELEMENT;
            const double *b = z + (k ? length - k : 0) * FOURIER_ELEMENT;
            double *out = spectrum + k / FOURIER_LANES * height * FOURIER_ELEMENT + k % FOURIER_LANES;
            LANES_ {
                const int64_t row = first + 2 * l;
                const double re = a[l], im = a[FOURIER_LANES + l];
                const double mirrored = b[l], turned = b[FOURIER_LANES + l];
                if (row < last) {
                    out[row * FOURIER_ELEMENT] = 0.5 * (re + mirrored);
                    out[row * FOURIER_ELEMENT + FOURIER_LANES] = 0.5 * (im - turned);
                }
                if (row + 1 < last) {
                    out[(row + 1) * FOURIER_ELEMENT] = 0.5 * (im + turned);
                    out[(row + 1) * FOURIER_ELEMENT + FOURIER_LANES] = 0.5 * (mirrored - re);
                }
            }
        }
    }
}

/* Blocks first .. last-1 of columns convolved with the kernel, whose transform is real:
   `length` elements after padding; the scale of the inverse transforms is in the kernel. */
EXPORT void convolve_columns(
        int64_t first, int64_t last, int64_t height, int64_t length,
        const double *turns HOLDS(2 * length),
        const double *kernel HOLDS(last * length * FOURIER_LANES),
        double *spectrum HOLDS(last * height * 2 * FOURIER_LANES),
        double *work HOLDS(4 * FOURIER_LANES * length)) {
    for (int64_t block = first; block < last; block++) {
        double *x = work, *y = work + length * FOURIER_ELEMENT;
        double *columns = spectrum + block * height * FOURIER_ELEMENT;
        const double *k = kernel + block * length * FOURIER_LANES;
        for (int64_t e = 0; e < height * FOURIER_ELEMENT; e++) x[e] = columns[e];
        for (int64_t e = height * FOURIER_ELEMENT; e < length * FOURIER_ELEMENT; e++) x[e] = 0;
        double *z = transformed(length, turns, x, y);
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

/* The way back of `transform_rows`, the first `width` numbers of each row. */
EXPORT void restore_rows(
        int64_t first, int64_t last, int64_t height, int64_t width, int64_t length,
        const double *turns HOLDS(2 * length),
        const double *spectrum HOLDS((length / 2 / FOURIER_LANES + 1) * height * 2 * FOURIER_LANES),
        double *grid HOLDS(height * width), double *work HOLDS(4 * FOURIER_LANES * length)) {
    double *x = work, *y = work + length * FOURIER_ELEMENT;
    for (; first < last; first += ROWS_TOGETHER) {
        for (int64_t k = 0; k <= length / 2; k++) {
            const double *in =
                spectrum + k / FOURIER_LANES * height * FOURIER_ELEMENT + k % FOURIER_LANES;
            double *a = x + k * FOURIER_ELEMENT, *b = x + (k ? length - k : 0) * FOURIER_ELEMENT;
            LANES_ {
                const int64_t row = first + 2 * l, next = row + 1;
                const int one = row < last, two = next < last;
                const double u = one ? in[row * FOURIER_ELEMENT] : 0;
                const double v = one ? in[row * FOURIER_ELEMENT + FOURIER_LANES] : 0;
                const double s = two ? in[next * FOURIER_ELEMENT] : 0;
                const double t = two ? in[next * FOURIER_ELEMENT + FOURIER_LANES] : 0;
                b[l] = s - v, b[FOURIER_LANES + l] = u + t; /* exchanged: imaginary part first */
                a[l] = v + s, a[FOURIER_LANES + l] = u - t;
            }
        }
        const double *z = transformed(length, turns, x, y);
        LANES_ for (int part = 0; part < 2; part++) {
            const int64_t row = first + 2 * l + part;
            const double *from = z + (1 - part) * FOURIER_LANES + l;
            if (row < last)
                for (int64_t j = 0; j < width; j++) grid[row * width + j] = from[j * FOURIER_ELEMENT];
        }
    }
}
