/* A square sparse matrix beside its transpose, and both rotated into one symmetric matrix. */
#include <math.h>
#include "kernels.h"

/* Row i gets the columns of row i of M or of its transpose, both sorted, and i itself, ascending;
   entries gets M_ij and M_ji of each, where it is wanted. Returns how many columns there are. */
EXPORT int64_t mirrored_rows(
        int64_t n, const int64_t *start HOLDS(n + 1) RISING,
        const int32_t *next HOLDS(start[n]) BELOW(n), const double *values HOLDS(start[n]),
        const int64_t *turned_start HOLDS(n + 1) RISING,
        const int32_t *turned_next HOLDS(turned_start[n]) BELOW(n),
        const double *turned_values HOLDS(turned_start[n]), int64_t *row_start HOLDS(n + 1),
        int32_t *columns HOLDS(start[n] + turned_start[n] + n),
        double *OPTIONAL entries HOLDS(2 * (start[n] + turned_start[n] + n))) {
    if (start[0] != 0 || turned_start[0] != 0) return OUTSIDE_PATTERN;
    int64_t filled = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t a = start[i], b = turned_start[i];
        row_start[i] = filled;
        for (int diagonal = 0; a < start[i + 1] || b < turned_start[i + 1] || !diagonal;) {
            const int64_t own = a < start[i + 1] ? next[a] : n;
            const int64_t other = b < turned_start[i + 1] ? turned_next[b] : n;
            int64_t column = own < other ? own : other;
            if (column >= i && !diagonal) column = i, diagonal = 1;
            columns[filled] = (int32_t)column;
            if (entries) {
                entries[2 * filled] = own == column ? values[a] : 0;
                entries[2 * filled + 1] = other == column ? turned_values[b] : 0;
            }
            filled++;
            a += own == column, b += other == column;
        }
    }
    row_start[n] = filled;
    return filled;
}

/* Rows first .. last-1, and n + first .. n + last-1, of [[E + D, O + H], [-O + H, -E + D]] less
   the diagonal `drop`, with E = scale (M + M^T)/2, O = scale (M^T - M)/2 and the diagonals D of
   `mean`, H of `cross`. */
EXPORT void rotated_rows(
        int64_t first, int64_t last, int64_t n, const int64_t *row_start HOLDS(n + 1) RISING,
        const int32_t *columns HOLDS(row_start[n]), const double *entries HOLDS(2 * row_start[n]),
        double scale, const double *mean HOLDS(n), const double *cross HOLDS(n),
        const double *drop HOLDS(2 * n), int32_t *out_columns HOLDS(4 * row_start[n]),
        double *out HOLDS(4 * row_start[n])) {
    for (int64_t i = first; i < last; i++) {
        const int64_t length = row_start[i + 1] - row_start[i];
        const int64_t upper = 2 * row_start[i], lower = upper + 2 * row_start[n];
        for (int64_t k = 0; k < length; k++) {
            const int32_t j = columns[row_start[i] + k];
            const double own = scale * entries[upper + 2 * k], other = scale * entries[upper + 2 * k + 1];
            const double even = (own + other) / 2, odd = (other - own) / 2;
            const double on = j == i ? mean[i] : 0, off = j == i ? cross[i] : 0;
            out_columns[upper + k] = out_columns[lower + k] = j;
            out_columns[upper + length + k] = out_columns[lower + length + k] = j + (int32_t)n;
            out[upper + k] = even + on - (j == i ? drop[i] : 0);
            out[upper + length + k] = odd + off;
            out[lower + k] = off - odd;
            out[lower + length + k] = on - even - (j == i ? drop[n + i] : 0);
        }
    }
}

/* Of the same rows the diagonal and the sums of the sizes of their entries. */
EXPORT void rotated_sums(
        int64_t first, int64_t last, int64_t n, const int64_t *row_start HOLDS(n + 1) RISING,
        const int32_t *columns HOLDS(row_start[n]), const double *entries HOLDS(2 * row_start[n]),
        double scale, const double *mean HOLDS(n), const double *cross HOLDS(n),
        const double *drop HOLDS(2 * n), double *diagonal HOLDS(2 * n), double *sums HOLDS(2 * n)) {
    for (int64_t i = first; i < last; i++) {
        double upper = 0, lower = 0;
        for (int64_t t = row_start[i]; t < row_start[i + 1]; t++) {
            const double own = scale * entries[2 * t], other = scale * entries[2 * t + 1];
            const double even = (own + other) / 2, odd = (other - own) / 2;
            if (columns[t] == i) {
                diagonal[i] = even + mean[i] - drop[i];
                diagonal[n + i] = mean[i] - even - drop[n + i];
                upper += fabs(diagonal[i]) + fabs(odd + cross[i]);
                lower += fabs(cross[i] - odd) + fabs(diagonal[n + i]);
            } else {
                upper += fabs(even) + fabs(odd);
                lower += fabs(odd) + fabs(even);
            }
        }
        sums[i] = upper, sums[n + i] = lower;
    }
}
