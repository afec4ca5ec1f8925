/* Points that attract along the edges of a graph, and a step of descent.

   Edges are summed over FORCE_LANES fixed lanes, so the bits depend neither on the instruction
   set nor on how the rows are shared among threads. */
#include "kernels.h"
#include <math.h>
#include <string.h>

enum { FORCE_LANES = 8 };

/* Σ_j p_ij (y_i − y_j)/(1 + ‖y_i − y_j‖²) for one row, `width` coordinates. */
static inline __attribute__((always_inline)) void pulled(
        int64_t i, const int64_t width, int64_t begin, int64_t end, const int32_t *restrict column,
        const double *restrict entry, const double *restrict Y, double *restrict out) {
    double sums[3][FORCE_LANES] = {{0}}, own[3];
    for (int64_t c = 0; c < width; c++) own[c] = Y[i * width + c];
    for (int64_t e = begin; e < end; e += FORCE_LANES) {
        const int64_t lanes = end - e < FORCE_LANES ? end - e : FORCE_LANES;
        double apart[3][FORCE_LANES], weight[FORCE_LANES];
        for (int64_t l = 0; l < lanes; l++) {
            const double *other = Y + (int64_t)column[e + l] * width;
            for (int64_t c = 0; c < width; c++) apart[c][l] = own[c] - other[c];
            weight[l] = entry[e + l];
            /* One by one: gathers of AVX-512 take nearly twice the time (65 against 37 ms). */
            __asm__ volatile("" : : "r"(apart) : "memory");
        }
        for (int64_t l = lanes; l < FORCE_LANES; l++) {
            for (int64_t c = 0; c < width; c++) apart[c][l] = 0;
            weight[l] = 0;
        }
        for (int l = 0; l < FORCE_LANES; l++) {
            double square = 1;
            for (int64_t c = 0; c < width; c++) square += apart[c][l] * apart[c][l];
            weight[l] /= square;
        }
        for (int64_t c = 0; c < width; c++)
            for (int l = 0; l < FORCE_LANES; l++) sums[c][l] += weight[l] * apart[c][l];
    }
    for (int64_t c = 0; c < width; c++) {
        double total = 0;
        for (int l = 0; l < FORCE_LANES; l++) total += sums[c][l];
        out[i * width + c] = total;
    }
}

static void pulled_wide(int64_t i, int64_t width, int64_t begin, int64_t end,
                        const int32_t *column, const double *entry, const double *Y, double *out) {
    for (int64_t c = 0; c < width; c++) out[i * width + c] = 0;
    for (int64_t e = begin; e < end; e++) {
        const double *a = Y + i * width, *b = Y + (int64_t)column[e] * width;
        double square = 1;
        for (int64_t c = 0; c < width; c++) square += (a[c] - b[c]) * (a[c] - b[c]);
        const double weight = entry[e] / square;
        for (int64_t c = 0; c < width; c++) out[i * width + c] += weight * (a[c] - b[c]);
    }
}

/* Rows first .. last-1 of the attraction; start, column, entry: the graph as CSR. */
EXPORT void edge_attraction(
        int64_t first, int64_t last, int64_t n, int64_t width,
        const int32_t *start HOLDS(last + 1), const int32_t *column HOLDS(start[last]),
        const double *entry HOLDS(start[last]), const double *Y HOLDS(n * width),
        double *out HOLDS(n * width)) {
    (void)n; /* the length of Y: the caller answers for columns below it */
    for (int64_t i = first; i < last; i++) switch (width) {
        case 1: pulled(i, 1, start[i], start[i + 1], column, entry, Y, out); break;
        case 2: pulled(i, 2, start[i], start[i + 1], column, entry, Y, out); break;
        case 3: pulled(i, 3, start[i], start[i + 1], column, entry, Y, out); break;
        default: pulled_wide(i, width, start[i], start[i + 1], column, entry, Y, out);
    }
}

/* log(x) for x ≥ 1, finite, to about 2 units in the last place: x = 2^k·m, √½ < m < √2, and
   log m = 2·artanh((m − 1)/(m + 1)). Written out, so that every machine has the same bits. */
static inline __attribute__((always_inline)) double log_of(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits -= 0x3fe6a09e667f3bcd; /* √½ */
    const int64_t power = bits >> 52;
    bits = (bits & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd;
    double m;
    memcpy(&m, &bits, sizeof m);
    const double z = (m - 1) / (m + 1), q = z * z;
    double s = 1.0 / 21;
    s = s * q + 1.0 / 19, s = s * q + 1.0 / 17, s = s * q + 1.0 / 15, s = s * q + 1.0 / 13;
    s = s * q + 1.0 / 11, s = s * q + 1.0 / 9, s = s * q + 1.0 / 7, s = s * q + 1.0 / 5;
    s = s * q + 1.0 / 3;
    const double k = (double)power;
    return k * 6.93147180369123816490e-01 + ((2 * z * q * s + k * 1.90821492927058770002e-10) + 2 * z);
}

/* Σ_j p_ij·log(1 + ‖y_i − y_j‖²) of the rows first .. last-1. */
EXPORT void edge_costs(
        int64_t first, int64_t last, int64_t n, int64_t width,
        const int32_t *start HOLDS(last + 1), const int32_t *column HOLDS(start[last]),
        const double *entry HOLDS(start[last]), const double *Y HOLDS(n * width),
        double *out HOLDS(last)) {
    (void)n;
    for (int64_t i = first; i < last; i++) {
        double sums[FORCE_LANES] = {0}, total = 0;
        for (int64_t e = start[i]; e < start[i + 1]; e += FORCE_LANES) {
            const int64_t lanes = start[i + 1] - e < FORCE_LANES ? start[i + 1] - e : FORCE_LANES;
            double square[FORCE_LANES], weight[FORCE_LANES] = {0};
            for (int l = 0; l < FORCE_LANES; l++) square[l] = 1;
            for (int64_t l = 0; l < lanes; l++) {
                const double *a = Y + i * width, *b = Y + (int64_t)column[e + l] * width;
                for (int64_t c = 0; c < width; c++) square[l] += (a[c] - b[c]) * (a[c] - b[c]);
                weight[l] = entry[e + l];
            }
            for (int l = 0; l < FORCE_LANES; l++) sums[l] += weight[l] * log_of(square[l]);
        }
        for (int l = 0; l < FORCE_LANES; l++) total += sums[l];
        out[i] = total;
    }
}

/* A step of the rows first .. last-1 along g = 4·damping·(attraction·pull − push/Z), with momentum
   and a gain for each coordinate (delta-bar-delta): gains grow where a coordinate keeps its
   direction. No row moves farther than `longest`. */
EXPORT void momentum_step(
        int64_t first, int64_t last, int64_t width, const double *pull HOLDS(last * width),
        const double *push HOLDS(last * width), const double *damping HOLDS(last),
        double attraction, double Z, double rate, double momentum, double longest,
        double *gain HOLDS(last * width), double *move HOLDS(last * width),
        double *Y HOLDS(last * width)) {
    for (int64_t i = first; i < last; i++) {
        double squares = 0;
        for (int64_t e = i * width; e < (i + 1) * width; e++) {
            const double g = 4 * damping[i] * (attraction * pull[e] - push[e] / Z);
            double grown = move[e] * g < 0 ? gain[e] + 0.2 : gain[e] * 0.8;
            if (grown < 0.01) grown = 0.01;
            gain[e] = grown;
            move[e] = momentum * move[e] - rate * grown * g;
            squares += move[e] * move[e];
        }
        const double shrink = squares > longest * longest ? longest / sqrt(squares) : 1;
        for (int64_t e = i * width; e < (i + 1) * width; e++) {
            move[e] *= shrink;
            Y[e] += move[e];
        }
    }
}

/* Takes the mean off the n rows of Y. By one thread: the order of a sum is part of its bits. */
EXPORT void centre_points(int64_t n, int64_t width, double *Y HOLDS(n * width)) {
    for (int64_t c = 0; c < width; c++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += Y[i * width + c];
        for (int64_t i = 0; i < n; i++) Y[i * width + c] -= sum / (double)n;
    }
}

/* The least and the largest number of each column, in box; NaN is passed over. */
EXPORT void box_of_points(
        int64_t n, int64_t width, const double *Y HOLDS(n * width), double *box HOLDS(2 * width)) {
    for (int64_t c = 0; c < width; c++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            const double y = Y[i * width + c];
            low = y < low ? y : low, high = y > high ? y : high;
        }
        box[c] = low, box[width + c] = high;
    }
}
