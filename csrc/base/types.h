/* types.h: integer types, limits and node sets that every part of the C core shares. Plain C11, independent of
 * Python. */
#ifndef GPC_BASE_TYPES_H
#define GPC_BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GPC_MAX_LINE_WORDS 32u /* 128-byte lines of 4-byte words */
#define GPC_MAX_LANES 64u      /* lanes per warp */
#define GPC_MAX_WARPS 64u      /* warps per core: one bit each in a uint64_t */
#define GPC_MAX_CORES 256u
#define GPC_MAX_BANKS 128u
#define GPC_MAX_DIES 16u
/* memory units, one at each further position */
#define GPC_MAX_NODES (GPC_MAX_CORES + GPC_MAX_BANKS + GPC_MAX_DIES + 2u)
#define GPC_MAX_NETWORKS 8u /* virtual networks that a protocol may declare */
#define GPC_MAX_OPTIONS 16u /* options per protocol */

typedef uint64_t gpc_tick_t;    /* 1 / (least common multiple of the machine's clocks) */
typedef uint64_t gpc_cycle_t;   /* core cycles */
typedef uint64_t gpc_address_t; /* bytes */
typedef uint32_t gpc_index_t;   /* index into a pool; never a pointer, so that a snapshot is a memory copy */
typedef uint16_t gpc_node_t;    /* address of a controller in the fabric */
typedef uint32_t gpc_mask_t;    /* one bit per word of a line */
typedef uint64_t gpc_lanes_t;   /* one bit per lane of a warp */

#define GPC_NONE UINT32_MAX
#define GPC_NO_NODE UINT16_MAX
#define GPC_NEVER UINT64_MAX
#define GPC_NO_WORDS ((gpc_mask_t) 0)

/* A set of controllers: cores first, then banks. */
#define GPC_NODESET_WORDS ((GPC_MAX_CORES + GPC_MAX_BANKS) / 64u)
typedef struct {
    uint64_t bits[GPC_NODESET_WORDS];
} gpc_nodeset_t;

static inline bool
gpc_nodeset_has(const gpc_nodeset_t *self, gpc_node_t node)
{
    return self->bits[node / 64] >> (node % 64) & 1;
}
static inline void
gpc_nodeset_add(gpc_nodeset_t *self, gpc_node_t node)
{
    self->bits[node / 64] |= UINT64_C(1) << (node % 64);
}
static inline gpc_nodeset_t
gpc_nodeset_without(const gpc_nodeset_t *self, gpc_node_t node)
{
    gpc_nodeset_t others = *self;
    others.bits[node / 64] &= ~(UINT64_C(1) << (node % 64));
    return others;
}
static inline uint16_t
gpc_nodeset_count(const gpc_nodeset_t *self)
{
    uint16_t count = 0;
    for (uint32_t i = 0; i < GPC_NODESET_WORDS; i++) {
        count = (uint16_t) (count + __builtin_popcountll(self->bits[i]));
    }
    return count;
}

/* Zeroes a piece of whole 8 bytes; a small one, as a line's fields are, without a call of the library. */
static inline void
gpc_zero(void *piece, size_t bytes)
{
    if (bytes > 24) {
        memset(piece, 0, bytes);
        return;
    }
    for (; bytes >= 8; bytes -= 8) {
        memset((uint8_t *) piece + bytes - 8, 0, 8); /* backwards: not recognised as memset */
    }
}

#define GPC_MUST_CHECK __attribute__((warn_unused_result))

/* Of what protocols outside the tree may refer to; the extension exports nothing else. */
#define GPC_API __attribute__((visibility("default")))

/* Of a function that another file calls in every cycle of a core: link-time optimisation inlines it there. Only GCC's
 * does. */
#if defined(__GNUC__) && !defined(__clang__)
#define GPC_INLINED_BY_LINKER inline __attribute__((always_inline))
#else
#define GPC_INLINED_BY_LINKER
#endif

/* Behind a switch over all values of what the core itself has written. The sanitizer build reports it. */
#define GPC_UNREACHABLE __builtin_unreachable()

#define GPC_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Without an instruction of the host for it, which not every one has, as quick as a call of the library. */
static inline uint32_t
gpc_count_bits(uint64_t bits)
{
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (uint32_t) ((bits * UINT64_C(0x0101010101010101)) >> 56);
}

/* The words of the sectors that have these words. */
static inline gpc_mask_t
gpc_sectors_of(uint32_t sector_bytes, gpc_mask_t words)
{
    uint32_t each = sector_bytes / 4;
    gpc_mask_t sector = each < 32 ? (UINT32_C(1) << each) - 1 : UINT32_MAX, all = 0;
    for (; sector && words & ~all; sector = each < 32 ? sector << each : 0) {
        all |= words & sector ? sector : 0;
    }
    return all;
}

#endif
