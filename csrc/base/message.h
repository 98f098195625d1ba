/* message.h: what travels, between core and L1 as a request, between controllers over the fabric, from memory as a fill.
 *
 * One struct for all, so that a controller treats its inputs alike, a merged or held request is simply a message in a list,
 * and the explorer needs one codec. A message is in exactly one place at a time: a list, a channel, or a step's hand. */
#ifndef GPC_BASE_MESSAGE_H
#define GPC_BASE_MESSAGE_H

#include "base/arena.h"
#include "base/atomics.h"

/* Kinds that every protocol knows; a protocol's own messages are numbered from GPC_MSG_OWN on. */
#define GPC_COMMON_MESSAGES(X)                                                                                  \
    X(LOAD, "a warp's coalesced load, from the core")                                                           \
    X(STORE, "a warp's coalesced store with its word mask, from the core")                                      \
    X(ATOMIC, "a warp's atomics on one line with their lane list, from the core")                               \
    X(ACQUIRE, "the acquire part of an access or fence, or of a kernel's begin (unit event)")                   \
    X(RELEASE, "the release part of an access, fence, barrier or of a kernel's end (unit event)")               \
    X(KERNEL_BEGIN, "a launch starts")                                                                          \
    X(KERNEL_END, "the last warp of the core is done")                                                          \
    X(FILL, "memory's answer to a fetch")                                                                       \
    X(EVICT, "the replacement policy wants this way (or entry)")                                                \
    X(EXPIRE, "a lease of this line is over (pre-event, never sent)")                                           \
    X(INSTANT, "an event that the ideal protocols cause elsewhere in no time")                                  \
    X(TIMER, "a wake-up that the controller asked for")                                                         \
    X(REPLAY, "an entry's own turn: a queue head, a drain slot")

enum {
#define X(name, text) GPC_MSG_##name,
    GPC_COMMON_MESSAGES(X)
#undef X
        GPC_NUM_COMMON_MESSAGES,
    GPC_MSG_OWN = 16
};

/* Flags of a message. The low ones are the engine's; from GPC_MSG_FLAG_OWN on a protocol's. */
enum {
    GPC_MSG_FLAG_PRIMARY = 1u,      /* the load that sent the request on behalf of those merged with it */
    GPC_MSG_FLAG_EXPIRED_MISS = 2u, /* the miss was on an expired block */
    GPC_MSG_FLAG_RELAY = 4u,        /* core to core over the home partition: one more traversal to come */
    GPC_MSG_FLAG_READ_ONLY =
        8u, /* a load from a buffer that the launch declares read-only, or a message on its behalf */
    GPC_MSG_FLAG_BACKGROUND = 16u, /* a timer that keeps no launch running */
    GPC_MSG_FLAG_OWN = 32u
};

typedef struct {
    _Alignas(64) gpc_index_t
        next; /* link in the list that holds it; the header, down to `issued`, is one cache line of the host */
    uint8_t type;
    uint8_t flags;
    uint8_t order, scope; /* of a core's request: gpc_memory_order_t, gpc_scope_t */
    gpc_node_t source, destination;
    gpc_node_t requester;  /* on whose behalf; the source unless forwarded */
    uint16_t warp;         /* of the requesting core */
    gpc_index_t request;   /* the requester's name for what it waits for: the index of the core's request */
    gpc_index_t lanes;     /* lane list, or GPC_NONE */
    gpc_index_t access;    /* the requesting core's (or explorer's) own note: which instruction this is part of */
    gpc_mask_t mask;       /* words that it names or carries */
    uint16_t flits;        /* filled in when it is sent */
    uint8_t network;       /* virtual network; filled in when it is sent */
    uint8_t traffic_class; /* gpc_traffic_class_t; filled in when it is sent unless the protocol has */
    uint32_t epoch;        /* for rollovers */
    gpc_address_t line;    /* byte address of the line (or of the object it is about) */
    gpc_tick_t ready;      /* the engine's: not taken before */
    gpc_cycle_t issued;    /* when the core's request was made */
    uint64_t fields[4];    /* a protocol's own, described by it */
    uint32_t data[GPC_MAX_LINE_WORDS];
} gpc_msg_t;

_Static_assert(offsetof(gpc_msg_t, fields) == 64, "the header fills its cache line");

/* The lanes of an atomic request: performed in this order, each getting its own old value. */
typedef struct {
    gpc_index_t next;
    uint8_t operation; /* gpc_atomic_t */
    uint8_t type;      /* gpc_type_t */
    uint16_t count;
    uint8_t lane[GPC_MAX_LANES];
    uint8_t word[GPC_MAX_LANES]; /* of the line */
    uint32_t operand[GPC_MAX_LANES];
    uint32_t replacement[GPC_MAX_LANES]; /* CAS: the value to store when the old one equals operand */
    uint32_t old[GPC_MAX_LANES];
} gpc_lane_list_t;

static inline gpc_msg_t *
gpc_msg_at(const gpc_pool_t *pool, gpc_index_t i)
{
    return (gpc_msg_t *) gpc_pool_at(pool, i);
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

/* ---- lists of messages: first in, first out, linked through the messages ------------------------------------------- */

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

/* Takes i out of the list; previous is its predecessor or GPC_NONE when it is the head. */
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

/* All of `from` behind self, in order. */
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

/* All of `from` in front of self, in order. */
static inline void
gpc_list_prepend(gpc_list_t *self, const gpc_pool_t *pool, gpc_list_t *from)
{
    gpc_list_append(from, pool, self);
    *self = *from;
    gpc_list_clear(from);
}

#endif
