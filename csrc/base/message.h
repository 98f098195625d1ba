/* message.h: messages: requests from core to L1, messages between controllers over the fabric, fills from memory.
 *
 * One struct serves all of them: a controller treats its inputs alike, a merged or held request is a message in a list,
 * and the explorer needs one codec. A message is in exactly one place: a list, a channel, or the step that handles
 * it. */
#ifndef GPC_BASE_MESSAGE_H
#define GPC_BASE_MESSAGE_H

#include "base/arena.h"
#include "base/atomics.h"

/* Message types common to all protocols; a protocol's own types are numbered from GPC_MSG_OWN on. */
#define GPC_COMMON_MESSAGES(X)                                                                                  \
    X(LOAD, "coalesced load of a warp, from the core")                                                          \
    X(STORE, "coalesced store of a warp with its word mask, from the core")                                     \
    X(ATOMIC, "atomics of a warp on one line with their lane list, from the core")                              \
    X(ACQUIRE, "acquire part of an access or fence (given to a table by order.acquire, never sent)")                 \
    X(RELEASE, "release part of an access, fence or barrier (given to a table by order.release, never sent)")        \
    X(KERNEL_BEGIN, "begin of a launch")                                                                        \
    X(KERNEL_END, "end of the last warp of the core")                                                           \
    X(FILL, "data from memory for a fetch")                                                                     \
    X(WRITTEN, "memory has performed a write that asked for an answer")                                           \
    X(EVICT, "eviction of a way (or entry) by the replacement policy")                                          \
    X(EXPIRE, "lease expired (generated before the step, never sent)")                                          \
    X(INSTANT, "zero-latency event at another controller (ideal protocols)")                                    \
    X(TIMER, "timer expired")                                                                                   \
    X(REPLAY, "step of a ready entry: a queue head, a drain slot")                                              \
    X(WORDS, "words that a line lacks, asked for and brought (l2_byte_masks, sector_bytes), which no table takes")       \
    X(TRIP, "a release's message to a partition and back (fence_trip), which no table takes")

enum {
#define X(name, text) GPC_MSG_##name,
    GPC_COMMON_MESSAGES(X)
#undef X
        GPC_NUM_COMMON_MESSAGES,
    GPC_MSG_OWN = 16
};

/* Flags of a message. Flags from GPC_MSG_FLAG_OWN on belong to the protocol, lower ones to the simulator. */
enum {
    GPC_MSG_FLAG_PRIMARY = 1u,      /* the load that sent the request for all loads merged with it */
    GPC_MSG_FLAG_EXPIRED_MISS = 2u, /* a miss on a line whose lease has expired */
    GPC_MSG_FLAG_RELAY = 4u,        /* core to core through the home partition: one more traversal follows */
    GPC_MSG_FLAG_READ_ONLY =
        8u, /* a load from a buffer that the launch declares read-only, or a message for such a load */
    GPC_MSG_FLAG_MISSED = 16u,    /* a load that is counted as a miss: its replay is no hit */
    GPC_MSG_FLAG_MULTICAST = 32u, /* one of the copies of a multicast that is at its source: `copies` is valid */
    GPC_MSG_FLAG_COPY = 64u,      /* likewise, and not the copy that is counted and buffered there */
    GPC_MSG_FLAG_OWN = 128u
};

typedef struct {
    /* The header, down to `issued`, is one cache line of the host. */
    _Alignas(64) gpc_index_t next; /* link in the message's list */
    uint8_t type;
    uint8_t flags;
    uint8_t order, scope; /* of a core's request: gpc_memory_order_t, gpc_scope_t */
    gpc_node_t source, destination;
    gpc_node_t requester; /* the original requester; the source unless forwarded */
    uint16_t warp;        /* of the requesting core */
    gpc_index_t request;  /* index of the core's request that this message serves */
    union {
        gpc_index_t lanes;  /* lane list, or GPC_NONE */
        gpc_index_t copies; /* of a multicast, linked in a ring until the first one crosses the source's link, then
                               GPC_NONE */
    };
    gpc_index_t access;    /* index of the core's (or explorer's) access that the request is part of */
    gpc_mask_t mask;       /* words that are requested or carried */
    uint16_t flits;        /* bytes over the link's width, rounded up; set when the message is sent */
    uint8_t network;       /* virtual network; set when the message is sent */
    uint8_t traffic_class; /* gpc_traffic_class_t; set when the message is sent unless the protocol has set it */
    uint32_t epoch;        /* number of timestamp rollovers */
    gpc_address_t line;    /* byte address of the line (or other object) */
    gpc_tick_t ready;     /* earliest tick at which the message may be taken; before it is sent, cycles that it waits */
    gpc_cycle_t issued;   /* core cycle of the core's request */
    uint64_t fields[4];   /* the protocol's fields, which it describes */
    gpc_cycle_t received; /* of a core's request: by the L1; 0: it waits for the line; GPC_NEVER: another serves it */
    /* Of a core's request: core cycles of translation that its completion waits for; of a bank's message: 1 while
     * memory has not brought its words (words.c). */
    uint32_t late;
    /* By time and traffic, the words of the line that a message brings; 0: all, or none of a FILL with masks. Of a
     * request without a mask: the words that it wants. */
    gpc_mask_t here;
    uint32_t bytes; /* header and payload, whatever the link's width; set when the message is sent */
    _Alignas(64) uint32_t data[GPC_MAX_LINE_WORDS];
} gpc_msg_t;

_Static_assert(offsetof(gpc_msg_t, fields) == 64, "the header fills its cache line");
_Static_assert(offsetof(gpc_msg_t, data) == 128, "the protocol's fields and what follows fill the next");

/* The lanes of an atomic request, performed in this order. Of an atomic of two words a lane has two entries, that of
 * the lower word first. A load or store that must not be split has an empty list of that width. */
typedef struct {
    gpc_index_t next;
    uint8_t operation; /* gpc_atomic_t */
    uint8_t type;      /* gpc_type_t */
    uint16_t count;    /* entries */
    uint8_t width;     /* words of a lane: 2, or else 1 */
    uint8_t lane[2 * GPC_MAX_LANES];
    uint8_t word[2 * GPC_MAX_LANES]; /* of the line */
    uint32_t operand[2 * GPC_MAX_LANES];
    uint32_t replacement[2 * GPC_MAX_LANES]; /* CAS: stored when the old value equals operand; MERGE: the mask */
    uint32_t old[2 * GPC_MAX_LANES];
} gpc_lane_list_t;

/* Zeroes a message but for its data, which senders of words write. In two pieces: GCC makes a few vector stores of
 * each, and of one piece an instruction that repeats itself. */
static inline void
gpc_msg_clear(gpc_msg_t *self)
{
    memset(self, 0, offsetof(gpc_msg_t, fields));
    memset(self->fields, 0, offsetof(gpc_msg_t, data) - offsetof(gpc_msg_t, fields));
}

static inline gpc_msg_t *
gpc_msg_at(const gpc_pool_t *pool, gpc_index_t i)
{
    return (gpc_msg_t *) (void *) pool->items + i; /* as gpc_pool_at, with a size that the compiler knows */
}

static inline gpc_index_t
gpc_msg_index(const gpc_pool_t *pool, const gpc_msg_t *msg)
{
    return (gpc_index_t) (msg - gpc_msg_at(pool, 0));
}

static inline gpc_lane_list_t *
gpc_lane_list_at(const gpc_pool_t *pool, gpc_index_t i)
{
    return (gpc_lane_list_t *) gpc_pool_at(pool, i);
}

/* ---- lists of messages: first in, first out, linked through the messages ----------------------------------------- */

typedef struct {
    gpc_index_t head, tail;
    uint32_t count;
} gpc_list_t;

static inline void
gpc_list_clear(gpc_list_t *self)
{
    *self = (gpc_list_t) {GPC_NONE, GPC_NONE, 0};
}

static inline void
gpc_list_push(gpc_list_t *self, const gpc_pool_t *pool, gpc_index_t i)
{
    gpc_msg_at(pool, i)->next = GPC_NONE;
    if (self->count++ == 0) {
        self->head = i;
    } else {
        gpc_msg_at(pool, self->tail)->next = i;
    }
    self->tail = i;
}

static inline void
gpc_list_push_front(gpc_list_t *self, const gpc_pool_t *pool, gpc_index_t i)
{
    gpc_msg_at(pool, i)->next = self->head;
    if (self->count++ == 0) {
        self->tail = i;
    }
    self->head = i;
}

static inline gpc_index_t
gpc_list_pop(gpc_list_t *self, const gpc_pool_t *pool)
{
    gpc_index_t i = self->head;
    if (self->count == 0) {
        return GPC_NONE;
    }
    self->head = gpc_msg_at(pool, i)->next;
    if (--self->count == 0) {
        self->head = self->tail = GPC_NONE;
    }
    return i;
}

/* Removes i from the list; previous is its predecessor, GPC_NONE for the head. */
static inline void
gpc_list_remove_after(gpc_list_t *self, const gpc_pool_t *pool, gpc_index_t previous, gpc_index_t i)
{
    gpc_index_t next = gpc_msg_at(pool, i)->next;
    if (previous == GPC_NONE) {
        self->head = next;
    } else {
        gpc_msg_at(pool, previous)->next = next;
    }
    if (self->tail == i) {
        self->tail = previous;
    }
    self->count--;
}

/* Moves all of `from` behind self, in order. */
static inline void
gpc_list_append(gpc_list_t *self, const gpc_pool_t *pool, gpc_list_t *from)
{
    if (from->count == 0) {
        return;
    }
    if (self->count == 0) {
        *self = *from;
    } else {
        gpc_msg_at(pool, self->tail)->next = from->head;
        self->tail = from->tail;
        self->count += from->count;
    }
    gpc_list_clear(from);
}

/* Moves all of `from` in front of self, in order. */
static inline void
gpc_list_prepend(gpc_list_t *self, const gpc_pool_t *pool, gpc_list_t *from)
{
    gpc_list_append(from, pool, self);
    *self = *from;
    gpc_list_clear(from);
}

#endif
