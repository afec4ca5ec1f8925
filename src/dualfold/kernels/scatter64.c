/* Scatter matrices of float64 rows. */
#define NUMBER double
#define NAME(x) x##64
#include "scatter.h"
