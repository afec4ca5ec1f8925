/* Shared by all kernels. Every exported function is pure C over caller-owned
   arrays: it allocates only scratch, keeps no state and takes no Python lock, so
   threads may call it side by side.

   What Python must know of a kernel is stated here in C alone and read from the compiled
   library: the types of exported functions (arrays that are not const are written;
   OPTIONAL ones may be NULL), what their arrays must hold, and the constants named by SHARED.
   HOLDS(n): at least n entries (0: the caller answers for it). BELOW(n): each of those is one
   of 0 .. n-1. RISING: none is smaller than the one before it. COUNT(x): the entries of x.
   Python checks this at every call, before anything is read or written. `build_kernels.py`
   reads the prototypes; it leaves these words as they are. */
#ifndef DUALFOLD_KERNELS_H
#define DUALFOLD_KERNELS_H
#include <stdint.h>

#ifndef EXPORT
#define OPTIONAL
#define HOLDS(entries)
#define BELOW(limit)
#define RISING
#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif
#endif

#define SHARED(name) EXPORT const int64_t shared_##name = name

/* What a kernel returns that failed. */
enum { NO_MEMORY = -1, TOO_COSTLY = -2, OUTSIDE_PATTERN = -4 };

#endif
