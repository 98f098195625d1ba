/* blocks.c: maps large blocks, with huge pages where the system has them, and clears them. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise, mincore */
#include "base/blocks.h"

#include <stdlib.h>
#include <string.h>
#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#ifdef __linux__
#include <sys/sysinfo.h>
#endif

#ifdef MAP_ANONYMOUS

#define HUGE_PAGE ((size_t) 2 << 20)
#define LARGE_BLOCK ((size_t) 16 << 20)

/* The state of large machines exceeds the reach of the host's TLB. Of a smaller block most of a huge page is never
 * used. A failure only costs speed. */
static void
advise_huge_pages(uint8_t *bytes, size_t size)
{
#ifdef MADV_HUGEPAGE
    uintptr_t first = ((uintptr_t) bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uintptr_t last = ((uintptr_t) bytes + size) / HUGE_PAGE * HUGE_PAGE;
    if (size >= LARGE_BLOCK && first < last) {
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

/* ---- blocks that are used again ---------------------------------------------------------------------------------- */

#ifdef __linux__

enum { PAGES = 1024 }; /* that are examined at a time */

/* Sets pages in memory to zero and drops all others. What mincore calls absent may have been written and moved to disk,
 * so it is dropped too, not taken for untouched: its next use finds zeros. (Elsewhere MADV_DONTNEED does not promise
 * that.) A system without swap has nothing on disk. */
static bool
clear_pages(uint8_t *bytes, size_t pages, size_t page, const unsigned char *present, bool swaps)
{
    for (size_t first = 0, end; first < pages; first = end) {
        bool in_memory = present[first] & 1;
        for (end = first + 1; end < pages && (present[end] & 1) == in_memory; end++) {
        }
        if (in_memory) {
            memset(bytes + first * page, 0, (end - first) * page);
        } else if (swaps && madvise(bytes + first * page, (end - first) * page, MADV_DONTNEED) != 0) {
            return false;
        }
    }
    return true;
}

bool
gpc_block_clear(void *block, size_t bytes, size_t largest, size_t *memory)
{
    unsigned char present[PAGES];
    struct sysinfo host;
    bool swaps = sysinfo(&host) != 0 || host.totalswap != 0;
    size_t page = (size_t) sysconf(_SC_PAGESIZE), total = (bytes + page - 1) / page;

    *memory = 0;
    for (size_t at = 0; at < total; at += PAGES) {
        uint8_t *here = (uint8_t *) block + at * page;
        size_t pages = total - at < PAGES ? total - at : PAGES;
        if (mincore(here, pages * page, present) != 0) {
            return false;
        }
        for (size_t i = 0; i < pages; i++) {
            *memory += present[i] & 1 ? page : 0;
        }
        if (*memory > largest || !clear_pages(here, pages, page, present, swaps)) {
            return false;
        }
    }
    return true;
}

#else

bool
gpc_block_clear(void *block, size_t bytes, size_t largest, size_t *memory)
{
    (void) block;
    (void) bytes;
    (void) largest;
    *memory = 0;
    return false;
}

#endif
