/* Scatter matrices of float32 rows. */
#define NUMBER float
#define NAME(x) x##32
#include "scatter.h"

SHARED(SHORT_SLAB);
SHARED(LONG_SLAB);
SHARED(WIDE_BYTES);
SHARED(MOST_ROWS);
