/* Products of panels: blocks of inner products of short vectors, kept in registers.
   Vectors come packed in panels of PANEL: panel[k][PANEL], the last one padded. They
   hold float32 unless NUMBER says otherwise. */
#ifndef DUALFOLD_PANELS_H
#define DUALFOLD_PANELS_H
#include <stdint.h>
#include <string.h>

#ifndef NUMBER
#define NUMBER float
#endif
enum { PANEL = 48 };

/* Registers: 24 sums fill the 32 registers of AVX-512; 12 sums the 16 of AVX2 and SSE.
   Rows and columns of a block divide PANEL. */
#if defined(__AVX512F__)
enum { BYTES = 64, ROWS = 8, VECTORS = 3 };
#elif defined(__AVX__)
enum { BYTES = 32, ROWS = 6, VECTORS = 2 };
#else
enum { BYTES = 16, ROWS = 6, VECTORS = 2 };
#endif
enum { LANES = BYTES / sizeof(NUMBER), COLUMNS = LANES * VECTORS };

typedef NUMBER Vector __attribute__((ext_vector_type(LANES)));
typedef _Bool Mask __attribute__((ext_vector_type(LANES)));

static inline Vector load(const NUMBER *from) {
    Vector v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* a: ROWS numbers every PANEL; b: COLUMNS numbers every PANEL. Numbers at `ahead`, if that
   is not null, are called from memory meanwhile. */
static inline __attribute__((always_inline)) void
products_ahead(const NUMBER *a, const NUMBER *b, const NUMBER *ahead, int64_t depth,
               Vector sum[ROWS][VECTORS]) {
#pragma clang fp contract(fast)
#pragma clang loop unroll(full)
    for (int r = 0; r < ROWS; r++)
#pragma clang loop unroll(full)
        for (int v = 0; v < VECTORS; v++) sum[r][v] = (Vector)0;
    for (int64_t k = 0; k < depth; k++, a += PANEL, b += PANEL) {
        if (ahead) __builtin_prefetch(ahead + k * PANEL);
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

static inline __attribute__((always_inline)) void products(const NUMBER *a, const NUMBER *b,
                                                           int64_t depth,
                                                           Vector sum[ROWS][VECTORS]) {
    products_ahead(a, b, 0, depth, sum);
}

#endif
