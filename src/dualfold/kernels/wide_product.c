/* A·V for a float32 matrix A and doubles V, summed in double. BLAS would need a
   float64 copy of A first: twice the memory of A, and more time than the product. */
#include "kernels.h"

/* The sums fill the vector registers: 32 of eight doubles with AVX-512, 16 of four else.
   Two rows more mean half the traffic of V, which does not fit the first cache. */
#ifdef __AVX512F__
enum { LANES = 8, ROWS = 4, PRODUCT_COLUMNS = 4 };
#else
enum { LANES = 4, ROWS = 2, PRODUCT_COLUMNS = 4 };
#endif
SHARED(PRODUCT_COLUMNS);
typedef float Narrow __attribute__((ext_vector_type(LANES), aligned(4)));
typedef double Wide __attribute__((ext_vector_type(LANES), aligned(8)));

static double folded(Wide sum) {
    double part[LANES];
    for (int l = 0; l < LANES; l++) part[l] = sum[l];
    for (int half = LANES / 2; half; half /= 2)
        for (int l = 0; l < half; l++) part[l] += part[l + half];
    return part[0];
}

/* out (rows × count) = rows first..last of A (n columns) times V, of which the
   transpose is given, count × n; count is a multiple of PRODUCT_COLUMNS. Every row and column
   is summed in the same order, whatever their neighbours. */
EXPORT void wide_product(
        int64_t n, const float *A HOLDS(last * n), int64_t first, int64_t last,
        const double *V HOLDS(count * n), int64_t count, double *out HOLDS(last * count)) {
    for (int64_t i = first; i < last; i += ROWS)
        for (int64_t c = 0; c < count; c += PRODUCT_COLUMNS) {
            Wide sum[ROWS][PRODUCT_COLUMNS] = {0};
            const float *row[ROWS];
            for (int r = 0; r < ROWS; r++) row[r] = A + (i + r < last ? i + r : i) * n;
            int64_t j = 0;
            for (; j + LANES <= n; j += LANES) {
                Wide a[ROWS];
                for (int r = 0; r < ROWS; r++)
                    a[r] = __builtin_convertvector(*(const Narrow *)(row[r] + j), Wide);
                for (int k = 0; k < PRODUCT_COLUMNS; k++) {
                    const Wide v = *(const Wide *)(V + (c + k) * n + j);
                    for (int r = 0; r < ROWS; r++) sum[r][k] += a[r] * v;
                }
            }
            for (int l = 0; j + l < n; l++)
                for (int k = 0; k < PRODUCT_COLUMNS; k++)
                    for (int r = 0; r < ROWS; r++)
                        sum[r][k][l] += (double)row[r][j + l] * V[(c + k) * n + j + l];
            for (int r = 0; r < ROWS && i + r < last; r++)
                for (int k = 0; k < PRODUCT_COLUMNS; k++)
                    out[(i + r) * count + c + k] = folded(sum[r][k]);
        }
}
