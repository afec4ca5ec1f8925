/* Scatter matrices of float32 rows. */
#define NUMBER float
#define NAME(x) x##_single
#include "scatter.h"
