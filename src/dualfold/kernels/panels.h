/* Products of panels: blocks of inner products of short float32 vectors, kept in
   registers. Vectors come packed in panels of PANEL: panel[k][PANEL], the last one
   padded. */
#ifndef DUALFOLD_PANELS_H
#define DUALFOLD_PANELS_H
#include <stdint.h>
#include <string.h>

enum { PANEL = 48 };

/* Registers: 24 sums of 16 lanes fill the 32 registers of AVX-512; 12 sums the 16
   of AVX2 and SSE. Rows and columns of a block divide PANEL. */
#if defined(__AVX512F__)
enum { LANES = 16, ROWS = 8, VECTORS = 3 };
#elif defined(__AVX__)
enum { LANES = 8, ROWS = 4, VECTORS = 3 };
#else
enum { LANES = 4, ROWS = 4, VECTORS = 3 };
#endif
enum { COLUMNS = LANES * VECTORS };

typedef float Vector __attribute__((ext_vector_type(LANES)));
typedef _Bool Mask __attribute__((ext_vector_type(LANES)));

static inline Vector load(const float *from) {
    Vector v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* a: ROWS numbers every PANEL; b: COLUMNS numbers every PANEL. */
static inline __attribute__((always_inline)) void products(const float *a, const float *b,
                                                           int64_t depth,
                                                           Vector sum[ROWS][VECTORS]) {
#pragma clang fp contract(fast)
#pragma clang loop unroll(full)
    for (int r = 0; r < ROWS; r++)
#pragma clang loop unroll(full)
        for (int v = 0; v < VECTORS; v++) sum[r][v] = (Vector)0.0f;
    for (int64_t k = 0; k < depth; k++, a += PANEL, b += PANEL) {
        Vector right[VECTORS];
#pragma clang loop unroll(full)
        for (int v = 0; v < VECTORS; v++) right[v] = load(b + v * LANES);
#pragma clang loop unroll(full)
        for (int r = 0; r < ROWS; r++) {
            const Vector left = (Vector)a[r];
#pragma clang loop unroll(full)
            for (int v = 0; v < VECTORS; v++) sum[r][v] = left * right[v] + sum[r][v];
        }
    }
}

#endif
