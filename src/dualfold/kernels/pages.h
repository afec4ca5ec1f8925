/* Scratch memory in large pages, where the system hands them out on request. Small pages come one
   by one, at half a microsecond or more each: longer than a pass over what they hold. */
#ifndef DUALFOLD_PAGES_H
#define DUALFOLD_PAGES_H
#if defined(__linux__)
#define _DEFAULT_SOURCE
#endif
#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#define LARGE_PAGE ((size_t)1 << 21)

/* As malloc; freed by free. */
static inline void *scratch_memory(size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (bytes >= 2 * LARGE_PAGE) {
        bytes = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
        void *block = aligned_alloc(LARGE_PAGE, bytes);
        if (block) madvise(block, bytes, MADV_HUGEPAGE);
        return block;
    }
#endif
    return malloc(bytes);
}
#endif
