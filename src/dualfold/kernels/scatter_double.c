/* Scatter matrices of float64 rows. */
#define NUMBER double
#define NAME(x) x##_double
#include "scatter.h"
