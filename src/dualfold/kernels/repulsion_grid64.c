/* Repulsion by a grid of float64. */
#define NUMBER double
#define NAME(x) x##64
#define FOURIER_LANES 8
#include "repulsion_grid.h"
