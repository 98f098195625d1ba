/* observe.h: the stream of a world: typed events, reported to subscribers while they happen.
 *
 * Controllers, cores and the machine report what they do through their taps; monitors, the race detector, a line's
 * trace and the detection of hangs subscribe to the kinds that they need. An event of a kind without a subscriber costs
 * a test of one bit: its arguments are not evaluated. Subscribers change nothing in the world. */
#ifndef GPC_BASE_OBSERVE_H
#define GPC_BASE_OBSERVE_H

#include "base/access.h"
#include "base/errors.h"
#include "base/message.h"

struct gpc_cell;
struct gpc_controller;
struct gpc_launch;
struct gpc_step;

/* X(KIND, member of gpc_observation_t, text) */
#define GPC_OBSERVATIONS(X)                                                                                            \
    X(CELL, cell, "a controller is about to execute a cell of a table")                                                \
    X(STEPPED, stepped, "a step about a line (GPC_NEVER: about the unit only) is complete")                            \
    X(SENT, sent, "a message leaves a controller, for its destination or for all nodes of a set")                      \
    X(CROSSED, crossed, "a message takes the link to another die: a multicast once")                                   \
    X(MEMORY, memory, "a controller writes words to memory, or fetches a line")                                        \
    X(DROPPED, dropped, "a copy is dropped by a flash of a whole L1, before FLASHED")                                  \
    X(FLASHED, flashed, "copies that may be stale are dropped in a whole L1: an acquire")                              \
    X(OFFERED, offered, "a core offers a request to its L1, perhaps again")                                            \
    X(ACCEPTED, accepted, "an L1 accepts a store, which completes before it is performed")                             \
    X(PERFORMED, performed, "a store or atomic is performed, and the old values of its lanes are known")               \
    X(COMPLETED, completed, "an L1 completes a core's request, or some words of it")                                   \
    X(QUEUED, queued, "a request enters or leaves the queue of a memory channel")                                      \
    X(LAUNCHED, launched, "a launch is placed on the cores")                                                           \
    X(BEGAN, moment, "every controller has taken the begin of the launch")                                             \
    X(ENDED, moment, "the launch has ended, and nothing is in flight")                                                 \
    X(BLOCK, block, "a block begins on consecutive warps of a core, and words of its scratchpad")                      \
    X(ACCESSED, accessed, "a warp issues a load, store or atomic; not yet sent to the L1")                             \
    X(FINISHED, finished, "a warp's load, store or atomic is complete")                                                \
    X(ORDERED, ordered, "order.c has permitted an access, fence, barrier or end of a warp")                            \
    X(ARRIVED, arrived, "a warp has arrived at a barrier, or ended: releases the warps of a mask")                         \
    X(SELECTED, selected, "the scheduler selects a warp, which issues unless it WAITS in the same cycle")              \
    X(WAITS, waits, "a warp may not issue: it waits for order.c, a unit or the load-store queue")                      \
    X(COUNTED, counted, "cycles of a core are counted: one warp issues, holds up the others, or there is none")

typedef enum {
#define X(kind, member, text) GPC_ON_##kind,
    GPC_OBSERVATIONS(X)
#undef X
        GPC_NUM_OBSERVATIONS
} gpc_observed_t;
_Static_assert(GPC_NUM_OBSERVATIONS <= 32, "one bit each in gpc_tap_t.kinds");

/* A warp's load, store or atomic on global memory, or on the scratchpad. */
typedef struct {
    uint32_t core, warp, pc;
    gpc_access_t access;
    uint32_t width; /* words per lane */
    uint32_t bytes; /* of an element, below the word; 0: words */
    gpc_lanes_t lanes;
    gpc_index_t name;               /* index of the access in the core, see gpc_cores_access_of */
    const gpc_address_t *addresses; /* [lanes], bytes; NULL: of the scratchpad */
    const uint32_t *words; /* [lanes], words (of narrow elements bytes) of the scratchpads; NULL: of global memory */
} gpc_accessed_t;

typedef struct {
    gpc_observed_t kind;
    union {
        struct {
            const struct gpc_step *step; /* its state is the one before the cell */
            const struct gpc_cell *cell;
            uint8_t event;
        } cell;
        struct {
            struct gpc_controller *unit;
            gpc_address_t line;
        } stepped;
        struct {
            const struct gpc_controller *unit;
            const gpc_msg_t *msg;
            const gpc_nodeset_t *to; /* a broadcast; NULL: msg->destination */
        } sent;
        struct {
            const gpc_msg_t *msg;
        } crossed;
        struct {
            const struct gpc_controller *unit;
            gpc_address_t line;
            gpc_mask_t mask;
            const uint32_t *words; /* the line; NULL: a fetch */
        } memory;
        struct {
            const struct gpc_controller *unit;
        } flashed;
        struct {
            const struct gpc_controller *unit;
            gpc_address_t line;
            uint32_t copies; /* of an array over words: words, else 1 */
        } dropped;
        struct {
            uint32_t core;
            const gpc_msg_t *msg;
        } offered;
        struct {
            struct gpc_controller *unit;
            const gpc_msg_t *msg;
        } accepted;
        struct {
            struct gpc_controller *unit;
            const gpc_msg_t *msg;
            /* the last core cycle in which another L1 may read the replaced value; under LOGICAL, the version */
            gpc_cycle_t until;
        } performed;
        struct {
            struct gpc_controller *unit;
            const gpc_msg_t *msg;
            const uint32_t *words; /* the line, of a load */
            bool hit;
        } completed;
        struct {
            uint32_t channel;
            bool enters;
            gpc_tick_t accepted; /* when it entered */
        } queued;
        struct {
            const struct gpc_launch *launch;
            uint32_t warps_per_block;
        } launched;
        struct {
            gpc_cycle_t cycle;
        } moment;
        struct {
            uint32_t core, number, first_warp, warps, first_word;
            gpc_cycle_t from; /* the first cycle that its warps are resident */
        } block;
        gpc_accessed_t accessed;
        struct {
            uint32_t core, warp;
            gpc_index_t name;
            gpc_cycle_t issued, done;
            const gpc_access_t *access;
        } finished;
        struct {
            uint32_t core, warp;
            const gpc_access_t *access;
        } ordered;
        struct {
            uint32_t core, block, id, warp; /* block: its slot on the core */
            uint32_t threads;               /* 0: the warp ends, and no thread of it arrives */
            uint64_t released;
        } arrived;
        struct {
            uint32_t core, warp, pc;
            uint32_t awaited;  /* the scoreboard's entry that was ready last, or GPC_NONE */
            uint8_t cause;     /* gpc_stall_t of the wait that ends */
            gpc_cycle_t ready; /* the first cycle in which the warp could have issued, but for WAITS */
        } selected;
        struct {
            uint32_t core, warp;
            uint8_t cause; /* gpc_stall_t */
        } waits;
        struct {
            uint32_t core, warp, pc, awaited; /* warp GPC_NONE: no block is resident */
            uint8_t cause;                    /* gpc_stall_t; GPC_NUM_STALLS: the core issues */
            gpc_cycle_t cycles;
        } counted;
    };
} gpc_observation_t;

typedef struct gpc_stream gpc_stream_t;
typedef struct gpc_tap gpc_tap_t;

/* Where a part of the world reports its events. Zeroed: connected to no stream. */
struct gpc_tap {
    uint32_t kinds; /* bit k: kind k has a subscriber */
    const gpc_stream_t *stream;
    gpc_tap_t *next;
};

typedef struct gpc_subscriber gpc_subscriber_t;
struct gpc_subscriber {
    /* 0, or an error, which ends the run: later subscribers are not called. */
    int (*observe)(void *self, const gpc_observation_t *event);
    void *self;
    uint32_t kinds;
    gpc_stream_t *stream; /* NULL: not subscribed */
    gpc_subscriber_t *next;
};

struct gpc_stream {
    gpc_tap_t tap; /* the stream's own, and the first of all */
    gpc_subscriber_t *first;
    gpc_subscriber_t *aside; /* set aside: they receive nothing */
};

#define GPC_KIND(kind) (UINT32_C(1) << GPC_ON_##kind)

void gpc_stream_init(gpc_stream_t *self);
/* Taps and subscribers are borrowed and must not move. */
void gpc_stream_connect(gpc_stream_t *self, gpc_tap_t *tap);
/* The subscriber, whose `observe` and `self` are set, receives these kinds, after those that subscribed before it. */
void gpc_subscribe(gpc_stream_t *self, gpc_subscriber_t *subscriber, uint32_t kinds);
/* Without effect on one that is not subscribed. A subscriber may unsubscribe while it is called; it must not
 * subscribe. */
void gpc_unsubscribe(gpc_subscriber_t *subscriber);
/* The subscribers of now receive nothing until gpc_stream_resume, and must not unsubscribe before it; those that
 * subscribe meanwhile must unsubscribe before it. */
void gpc_stream_set_aside(gpc_stream_t *self);
void gpc_stream_resume(gpc_stream_t *self);
/* Tells the subscribers to the event's kind, in order. 0, or the first error. */
GPC_API GPC_MUST_CHECK int gpc_stream_tell(const gpc_stream_t *self, const gpc_observation_t *event);

static inline bool
gpc_is_observed(const gpc_tap_t *tap, gpc_observed_t kind)
{
    return tap->kinds >> kind & 1;
}

/* GPC_OBSERVE(tap, SENT, sent, unit, msg, to): reports an event of a kind with its member's fields. 0 or an error. */
#define GPC_OBSERVE(tap, KIND, member, ...)                                                                            \
    (gpc_is_observed(tap, GPC_ON_##KIND)                                                                               \
         ? gpc_stream_tell((tap)->stream, &(gpc_observation_t){.kind = GPC_ON_##KIND, .member = {__VA_ARGS__}})        \
         : 0)

#endif
