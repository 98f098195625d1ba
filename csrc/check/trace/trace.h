/* trace.h: a record of what happens to some lines in some cycles: what warps do, steps of controllers' tables,
 * messages, memory requests. It keeps the last records only. */
#ifndef GPC_CHECK_TRACE_H
#define GPC_CHECK_TRACE_H

#include "controller/protocol.h"
#include "core/core.h"

/* X(NAME, text): what a record is about; a filter selects a set of them. */
#define GPC_TRACE_KINDS(X)                                                                         \
    X(BLOCK, "a block begins on `mask` warps of a core, from `warp` on; extra: its number")        \
    X(EXIT, "a warp ends")                                                                         \
    X(ACCESS, "a warp issues a load, store or atomic; state: its kind")                            \
    X(FINISH, "an access is complete; extra: the cycle of its issue")                              \
    X(FENCE, "a warp passes a fence")                                                              \
    X(BARRIER, "a warp arrives at a barrier, or its end completes it; extra: mask of the warps released")           \
    X(STEP, "a controller is about to execute a cell of a table; extra: its cause if no message")  \
    X(EVICTION, "likewise, to evict a line or entry")                                              \
    X(LEASE, "likewise, because a lease has expired")                                              \
    X(EPOCH, "likewise, or a message, of the change of an epoch")                                  \
    X(COMPLETE, "an L1 completes a core's request or words of it; state: 1 is a hit")              \
    X(FLASH, "an L1 drops all copies that may be stale")                                           \
    X(SEND, "a message leaves a controller")                                                       \
    X(FETCH, "a controller reads memory")                                                          \
    X(WRITE, "a controller writes memory")

typedef enum {
#define X(name, text) GPC_TRACE_##name,
    GPC_TRACE_KINDS(X)
#undef X
        GPC_NUM_TRACE_KINDS
} gpc_trace_kind_t;

/* Python reads these bytes: gpucoh/results/trace/records.py has the same fields. GPC_NONE and UINT16_MAX: none. */
typedef struct {
    gpc_cycle_t cycle;
    gpc_address_t line; /* GPC_NEVER: none */
    uint64_t extra;
    uint32_t message;      /* index of the message while it exists */
    uint32_t request;      /* of the core's request that the message serves */
    uint32_t access;       /* of the warp's access in its core: a request's, or the record's own */
    uint32_t pc;           /* of ACCESS */
    uint32_t mask;         /* words of the line */
    uint32_t value, copy;  /* of the traced word: in the message, in the controller's way before the step */
    uint16_t node, source; /* node: the controller's; of a warp's records the core */
    uint16_t destination, requester, warp;
    uint8_t kind, type; /* type: of the message; UINT8_MAX: none */
    uint8_t table, state, event, next, cell;
    uint8_t has; /* bit 0: value, 1: copy */
} gpc_trace_record_t;
_Static_assert(sizeof(gpc_trace_record_t) == 72, "the Python side reads this layout");

typedef struct {
    gpc_address_t first, last; /* lines */
    uint32_t word;             /* of the line, whose values are recorded */
    gpc_cycle_t begin, end;    /* core cycles since the GPU was made; end is outside */
    uint32_t kinds;            /* bit k: kind k */
    uint32_t records;          /* that are kept */
} gpc_trace_filter_t;

typedef struct gpc_trace gpc_trace_t;

/* Subscribes to the stream of the cores' world. NULL: out of memory. */
gpc_trace_t *gpc_trace_new(gpc_stream_t *stream, const gpc_cores_t *cores, const gpc_trace_filter_t *filter);
void gpc_trace_free(gpc_trace_t *self); /* NULL too */

uint64_t gpc_trace_count(const gpc_trace_t *self); /* records since its begin, those that were dropped too */
uint64_t gpc_trace_first(const gpc_trace_t *self); /* number of the first one that is kept */
/* The record with this number, of those that are kept. */
const gpc_trace_record_t *gpc_trace_record(const gpc_trace_t *self, uint64_t number);

#endif
