/* Repulsion by a grid of float32. */
#define NUMBER float
#define NAME(x) x##32
#define FOURIER_LANES 16
#include "repulsion_grid.h"

SHARED(FOURIER_BYTES);
