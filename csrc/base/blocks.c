#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "base/blocks.h"

#include <stdlib.h>
#include <string.h>
#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

#ifdef MAP_ANONYMOUS

#define HUGE_PAGE ((size_t) 2 << 20)

/* The state of large machines exceeds the reach of the host's TLB. A failure only costs speed. */
static void
advise_huge_pages(uint8_t *bytes, size_t size)
{
#ifdef MADV_HUGEPAGE
    uintptr_t first = ((uintptr_t) bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uintptr_t last = ((uintptr_t) bytes + size) / HUGE_PAGE * HUGE_PAGE;
    if (first < last) {
        (void) madvise((void *) first, last - first, MADV_HUGEPAGE);
    }
#else
    (void) bytes;
    (void) size;
#endif
}

void *
gpc_block_take(size_t bytes)
{
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
        return NULL;
    }
    advise_huge_pages(block, bytes);
    return block;
}

void
gpc_block_give(void *block, size_t bytes)
{
    if (block) {
        (void) munmap(block, bytes);
    }
}

#else

enum { ALIGNMENT = 64 };

void *
gpc_block_take(size_t bytes)
{
    size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *block = aligned_alloc(ALIGNMENT, rounded);
    return block ? memset(block, 0, rounded) : NULL;
}

void
gpc_block_give(void *block, size_t bytes)
{
    (void) bytes;
    free(block);
}

#endif
