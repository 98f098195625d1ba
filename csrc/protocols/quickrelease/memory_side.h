/* memory_side.h: shared by the memory sides of wt, rfo and qr: the L3's geometry, host accesses to its copies. */
#ifndef GPC_PROTOCOLS_QUICKRELEASE_MEMORY_SIDE_H
#define GPC_PROTOCOLS_QUICKRELEASE_MEMORY_SIDE_H

#include "controller/toolkit.h"

/* wt and qr: whether barrier() is a release, as the paper says ("all prior memory operations are visible globally
 * before it completes", section 2.1; "a release operation (kernel end, barrier, or StRel)", 2.4.1), or OpenCL's local
 * fence, which orders the scratchpad alone. For `barrier_option`. */
#define QR_BARRIER_OPTION                                                                                              \
    GPC_CHOICE("barrier", 0, 1, "release local", "whether barrier() is a release, or orders the accesses of its block alone")

/* The banks of a controller at the memory side. */
uint32_t l3_banks(const gpc_machine_t *machine);
/* The machine's cache at the memory side; without one, 16 times the L2 of its banks (Hechtman et al., table 1 and
 * section 4.1). */
void l3_geometry(const gpc_machine_t *machine, const int64_t *options, uint32_t *sets, uint32_t *ways);
uint32_t l3_mshrs(const gpc_machine_t *machine, const int64_t *options);
/* Sets and ways of a cache of that size; at least one set, at most that number of ways. */
void qr_geometry(const gpc_machine_t *machine, uint64_t bytes, uint32_t most_ways, uint32_t *sets, uint32_t *ways);

#endif
