/* Shared by all kernels. Every exported function is pure C over caller-owned
   arrays: it allocates only scratch, keeps no state and takes no Python lock, so
   threads may call it side by side. */
#ifndef DUALFOLD_KERNELS_H
#define DUALFOLD_KERNELS_H
#include <stdint.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#endif
