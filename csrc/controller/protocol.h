/* protocol.h: a controller of a protocol at run time, and the functions for its actions. */
#ifndef GPC_CONTROLLER_PROTOCOL_H
#define GPC_CONTROLLER_PROTOCOL_H

#include "base/histogram.h"
#include "base/homes.h"
#include "base/observe.h"
#include "cache/mshr.h"
#include "cache/rmw.h"
#include "cache/tags.h"
#include "controller/declare.h"
#include "controller/ports.h"

typedef struct gpc_nodes gpc_nodes_t; /* controller/nodes.h */

#define GPC_CONTROLLER_STATISTICS(X)                                                          \
    X(loads, "line requests accepted")                                                        \
    X(load_hits, "served by this cache")                                                      \
    X(load_misses, "requests sent to the next level")                                         \
    X(load_merges, "merged into an outstanding miss")                                         \
    X(expired, "loads that missed on an expired copy")                                        \
    X(stores, "line requests accepted")                                                       \
    X(atomics, "line requests accepted")                                                      \
    X(evictions, "")                                                                          \
    X(writebacks, "")                                                                         \
    X(fetches, "lines requested from memory")                                                 \
    X(invalidations, "copies dropped for another core or the L2")                             \
    X(self_invalidations, "copies dropped at the core's own acquire or when a kernel begins") \
    X(leases, "leases given to loads")                                                        \
    X(lease_cycles, "sum of lease lifetimes, predicted or fixed, in cycles")                  \
    X(leases_cut, "leases shortened by the wrap-around of timestamps")                        \
    X(held_line, "requests that waited for a line")                                           \
    X(held_queue, "cycles in which the head of a queue was held")

typedef struct {
#define X(name, text) uint64_t name;
    GPC_CONTROLLER_STATISTICS(X)
#undef X
} gpc_controller_statistics_t;

typedef struct {
    gpc_controller_t *unit;
    uint8_t number; /* index among the unit's parts */
    uint8_t table;  /* the first table over its entries; GPC_MAX_TABLES: none */
    gpc_pool_t pool;
    uint32_t fields_size;
    uint8_t *fields;
    uint8_t *states;
    gpc_list_t *order; /* the entries in order of arrival */
    gpc_list_t *ready; /* ready entries, in the order they became ready */
    uint32_t buckets;
    gpc_index_t *bucket; /* hash of entries by line */
} gpc_part_t;

struct gpc_controller { /* what every step reads comes first, by lines of the host's cache */
    _Alignas(64) const gpc_controller_type_t *type;
    gpc_pool_t *messages;
    gpc_step_t *step;        /* the innermost step whose actions run; NULL: none */
    gpc_list_t *replay;      /* held requests whose line has changed; they precede new requests */
    uint32_t *ready;         /* ready entries of all parts */
    uint8_t *launch_pending; /* bit t: table t has not yet taken the begin or end of the launch */
    gpc_controller_statistics_t *statistics;
    uint8_t request_networks; /* bit n: network n carries requests */
    uint8_t line_tables;      /* bit t: table t is over lines or words */
    bool collects;            /* during a step over words, which collects what it sends */
    bool sectors;             /* lines have sectors: messages say which words they want or bring */
    bool program_fences;      /* the program has a fence, or an acquire, release or sc access */

    const gpc_ports_t *ports;
    void *world;
    gpc_divider_t by_flit;            /* the machine's flit_bytes */
    uint64_t *counts[GPC_MAX_TABLES]; /* cells entered, [state][event] */
    void *unit_fields;

    gpc_tap_t tap; /* where steps and actions report what they do */
    gpc_pool_t *lane_lists;
    const gpc_machine_t *machine;
    gpc_mshr_table_t mshrs;
    const gpc_protocol_t *protocol;

    gpc_tags_t arrays[GPC_MAX_ARRAYS];
    gpc_failure_t *failure;
    const int64_t *options;
    gpc_rule_t rule;           /* of the run: one of those with a model */
    gpc_arena_t *counts_arena; /* of counts and statistics; NULL: the same arena */
    gpc_node_t node;
    uint32_t index;           /* number among the nodes of its kind */
    gpc_homes_t homes;        /* of lines */
    const gpc_nodes_t *nodes; /* borrowed */
    gpc_part_t parts[GPC_MAX_PARTS];
    void *core_fields;
    uint8_t *warp_fields; /* [warps] */
    uint32_t warp_fields_size;
    /* Set by controller.c, called by steps that find no free MSHR: transactions past their idle_until take an EXPIRE.
     * GPC_OK: an MSHR is free; GPC_HOLD: none, and a TIMER is set. */
    int (*end_idle)(gpc_controller_t *self);
    void *instant_filter;    /* one for all L1s, in the machine's arena; NULL: none */
    uint8_t *unit_states;    /* one per table, for tables over the unit */
    gpc_cycle_t *idle_timer; /* cycle of the TIMER for idle transactions; 0: none is set */
    gpc_list_t sent;         /* over words: messages that this step has sent; empty between steps */
    uint64_t *own_counters;  /* of the type's counters; NULL: none */
    gpc_histogram_t *own_histograms;
};
_Static_assert(offsetof(gpc_controller_t, arrays) == 256, "arrays begin with a line of the host's cache");

/* Number of counters or histograms in a list. */
static inline uint32_t
gpc_num_counts(const gpc_count_info_t *infos)
{
    uint32_t count = 0;
    while (infos && infos[count].name) {
        count++;
    }
    return count;
}
/* Whether the controller has this type; its tables are whole. */
static inline bool
gpc_is_of_type(const gpc_controller_t *unit, const gpc_controller_type_t *type)
{
    return unit->type->position == type->position;
}

/* type: of a protocol that gpc_protocol_resolve has made whole. */
GPC_MUST_CHECK int gpc_controller_init(gpc_controller_t *self, const gpc_controller_type_t *type, gpc_arena_t *arena);
/* After a failure that has ended steps in the middle. */
void gpc_controller_forget_steps(gpc_controller_t *self);
void gpc_controller_clear(gpc_controller_t *self); /* lines, transactions, lists; the world owns messages */

/* A message or core request for this controller. GPC_OK: accepted (it may wait for a line); GPC_HELD_QUEUE: refused,
 * offer it again after any change at the unit; negative: an error. */
GPC_MUST_CHECK int gpc_controller_take(gpc_controller_t *self, gpc_index_t message);
/* Takes the first replayed request, if any: GPC_OK, GPC_HELD_QUEUE or an error. New requests wait while there are
 * any. At a core, the requests of networks (forwards) wait for each other alone: they pass requests of the core, which
 * may wait for what the forwards' senders wait for. */
GPC_MUST_CHECK int gpc_controller_replay(gpc_controller_t *self);
/* Takes the first replayed forward; GPC_HELD_QUEUE also if there is none. */
GPC_MUST_CHECK int gpc_controller_replay_forward(gpc_controller_t *self);
gpc_index_t gpc_controller_forward_to_replay(const gpc_controller_t *self); /* GPC_NONE: none, or no core */
gpc_index_t gpc_controller_first_forward(const gpc_controller_t *self, gpc_index_t *previous); /* and the one before */
/* The first ready entry of the part takes a REPLAY step of the part's table. GPC_OK: it did, or waits for a
 * transaction, or there is none; GPC_HELD_QUEUE: the step is refused, and the entry remains first. */
GPC_MUST_CHECK int gpc_part_serve_ready(gpc_part_t *part);
/* A cycle of the unit's clock: the ready entries of each bank of each part take as many steps as the part declares.
 * GPC_HELD_QUEUE: all were refused. */
GPC_MUST_CHECK int gpc_controller_serve_ready(gpc_controller_t *self);
/* A cause without a message: EVICT (explorer), INSTANT, TIMER. */
GPC_API GPC_MUST_CHECK int gpc_controller_cause(gpc_controller_t *self, uint8_t cause, gpc_address_t line);
/* The same for the masked words of a line in table `table`, also for actions of another table. The message (or
 * GPC_NONE) is passed on. GPC_OK: done, or the message waits for the line; GPC_HOLD: no effect, and the caller keeps
 * the message: a first action may return it. */
GPC_API GPC_MUST_CHECK int gpc_controller_line(gpc_controller_t *self, uint8_t table, uint8_t cause, gpc_address_t line,
                                               gpc_mask_t mask, gpc_index_t message);
/* A launch begins (KERNEL_BEGIN) or ends here (KERNEL_END), as the type declares in `begins`, `ends` and `launch`.
 * GPC_OK; an error; or GPC_HELD_QUEUE: a table holds the KERNEL_END; the next call resumes there. */
GPC_MUST_CHECK int gpc_controller_launch(gpc_controller_t *self, uint8_t cause);
/* Applies the cause to every line in a transaction, with or without a way; to the line of a step in progress once its
 * cell has its next state (an acquire part that an action's completion performs). */
GPC_API GPC_MUST_CHECK int gpc_controller_walk_transactions(gpc_controller_t *self, uint8_t cause);
/* Applies the cause, named `event` whatever the line, to every line and transaction of the table. Lines without
 * a transaction change state in one pass over the array: in stable states the event has no actions, and leads to the
 * same or the initial state. */
GPC_API GPC_MUST_CHECK int gpc_controller_flash(gpc_controller_t *self, uint8_t table, uint8_t cause, uint8_t event);
GPC_MUST_CHECK int gpc_controller_verify(gpc_controller_t *self, bool at_rest);
void gpc_controller_encode(gpc_controller_t *self, gpc_encoder_t *out);
void gpc_controller_print(gpc_controller_t *self, gpc_text_t *out);

/* ---- functions for actions --------------------------------------------------------------------------------------- */

static inline gpc_cycle_t
gpc_now(const gpc_step_t *x)
{
    return x->unit->ports->now(x->unit->world);
}
#define gpc_count(x, what) ((x)->unit->statistics->what++)
/* The same for a counter or histogram that the controller's type declares: PREFIX_name. */
static inline void
gpc_count_own(const gpc_step_t *x, uint32_t counter)
{
    x->unit->own_counters[counter]++;
}
static inline void
gpc_record_own(const gpc_step_t *x, uint32_t histogram, uint64_t value)
{
    gpc_histogram_add(&x->unit->own_histograms[histogram], value);
}

static inline bool
gpc_has_message(const gpc_step_t *x)
{
    return x->message != GPC_NONE;
}
/* The error of an action that needs a message in a step that has none. */
GPC_API int gpc_lacks_message(const gpc_step_t *x, const char *needed_to);
/* Call before the L1 completes a store that is not yet performed: the core's current request; or, once its answer is
 * made, at a near bank that answers it (gpc_watched_t.near_accepts). From now on the store is
 * identified by core and word: it has no request, so messages sent on its behalf carry GPC_NONE. The core's loads may
 * read it; the release part and the end of the launch must wait until it is performed. */
GPC_API GPC_MUST_CHECK int gpc_note_accepted(gpc_step_t *x);
/* Call when accepted stores of the unit's core are performed in words of x->line, with these values, without a
 * message. */
GPC_API GPC_MUST_CHECK int gpc_note_drained(gpc_step_t *x, gpc_mask_t mask, const uint32_t *words, gpc_cycle_t until);
/* Call when a store or atomic is performed (the current request, `message`, or a pending one), in a protocol whose
 * loads promise anything. Without a request it concerns accepted stores of message->requester. until: the last core
 * cycle in which another L1 may read the replaced value; 0: none. Under the promise LOGICAL: the version, the write's
 * logical time. */
static inline int
gpc_note_performed(gpc_step_t *x, gpc_index_t message, gpc_cycle_t until)
{
    if (message == GPC_NONE) {
        return gpc_lacks_message(x, "perform");
    }
    return GPC_OBSERVE(&x->unit->tap, PERFORMED, performed, x->unit, gpc_msg_at(x->unit->messages, message), until);
}
/* The state of a line (or word) in table 0; *way: its way, or GPC_NONE. */
GPC_API uint8_t gpc_state_at(const gpc_controller_t *unit, gpc_address_t line, uint32_t word, gpc_index_t *way);
/* The states of all words of a line in table 0; false: the unit has nothing of the line, and `states` is not
 * written. */
GPC_API bool gpc_word_states_at(const gpc_controller_t *unit, gpc_address_t line, uint8_t *states, gpc_index_t *way);
static inline bool
gpc_is_among(uint32_t states, uint8_t state) /* of gpc_watched_t */
{
    return states >> state & 1;
}
/* Reports a violated invariant with the line and its state in every controller. GPC_ERROR_INVARIANT. */
GPC_API int gpc_violated(gpc_controller_t *unit, gpc_address_t line, const char *invariant, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Ends the run with the error of an action that accesses the way or the MSHR of a line that has none. */
GPC_API _Noreturn void gpc_lacks(const gpc_step_t *x, const char *what) __attribute__((cold));
#define GPC_NEEDS(x, index, what) ((x)->index == GPC_NONE ? gpc_lacks(x, what) : (void) 0)
/* In files from outside the tree, and in builds for tests; built-in protocols are tested, and would take 0.4% more
 * instructions. */
#if defined(GPC_CHECKED_ACCESS) || defined(GPC_COSTLY_ASSERTS)
#define GPC_NEEDS_(x, index, what) GPC_NEEDS(x, index, what)
#else
#define GPC_NEEDS_(x, index, what) ((void) 0)
#endif
static inline void *
gpc_line_fields(const gpc_step_t *x)
{
    GPC_NEEDS_(x, way, "way");
    return gpc_tags_fields(&x->unit->arrays[x->array], x->way);
}
static inline uint32_t *
gpc_line_words(const gpc_step_t *x)
{
    GPC_NEEDS_(x, way, "way");
    return gpc_tags_words(&x->unit->arrays[x->array], x->way);
}
static inline void *
gpc_step_mshr_fields(const gpc_step_t *x)
{
    GPC_NEEDS_(x, mshr, "MSHR");
    return gpc_mshr_fields(&x->unit->mshrs, x->mshr);
}
static inline gpc_list_t *
gpc_step_pending(const gpc_step_t *x)
{
    GPC_NEEDS_(x, mshr, "MSHR");
    return &gpc_mshr_at(&x->unit->mshrs, x->mshr)->pending;
}

/* The bank of the line. */
static inline gpc_node_t
gpc_home_of(const gpc_controller_t *unit, gpc_address_t line)
{
    return gpc_home(&unit->homes, line, unit->node);
}
/* The bank of the unit's die that has the line's number within its die: the home, or near to it. */
GPC_API gpc_node_t gpc_near_of(const gpc_controller_t *unit, gpc_address_t line);
/* The line's controller at the memory side: each has an equal share of the banks. GPC_NO_NODE: there is none. */
GPC_API gpc_node_t gpc_memory_of(const gpc_controller_t *unit, gpc_address_t line);
GPC_API gpc_node_t gpc_memory_above(const gpc_controller_t *bank); /* the one that all lines of the bank have */
/* The first controller of the position: core 0, bank 0, or the only one; GPC_NO_NODE when there is none. */
GPC_API gpc_node_t gpc_node_of(const gpc_controller_t *unit, gpc_position_t position);
/* The line's way in the array, or GPC_NONE. */
static inline gpc_index_t
gpc_way_in(const gpc_step_t *x, uint8_t array)
{
    return array == x->array ? x->way : gpc_tags_find(&x->unit->arrays[array], x->line);
}
/* Whether a read miss could reserve a way of the array now. */
GPC_API bool gpc_can_reserve_way(const gpc_step_t *x);
/* Reserves a way for the line; the table evicts its victim. First action of a cell: GPC_HOLD when there is none, or
 * when the victim needs a transaction (a recall), during which no second victim leaves the set. */
GPC_API GPC_MUST_CHECK int gpc_reserve_way(gpc_step_t *x);
/* The same in another array that stores the table's state; in all of them, or none. x->array of an EVICT is the array
 * of the way. */
GPC_API GPC_MUST_CHECK int gpc_reserve_way_in(gpc_step_t *x, uint8_t array);
GPC_API GPC_MUST_CHECK int gpc_reserve_ways(gpc_step_t *x);
/* Frees the line's way, if it has one. */
GPC_API GPC_MUST_CHECK int gpc_release_way(gpc_step_t *x);
GPC_API GPC_MUST_CHECK int gpc_release_way_in(gpc_step_t *x, uint8_t array);
/* Iterates over pending messages, in order; none when x has no transaction. The loop must not remove any. */
static inline gpc_msg_t *
gpc_first_pending(const gpc_step_t *x) /* NULL: there is none */
{
    return x->mshr == GPC_NONE || gpc_step_pending(x)->count == 0
               ? NULL
               : gpc_msg_at(x->unit->messages, gpc_step_pending(x)->head);
}
static inline gpc_msg_t *
gpc_next_pending(const gpc_step_t *x, const gpc_msg_t *pending)
{
    return pending->next == GPC_NONE ? NULL : gpc_msg_at(x->unit->messages, pending->next);
}
#define GPC_FOR_PENDING(x, pending)                                                                \
    for (gpc_msg_t *pending = gpc_first_pending(x); pending; pending = gpc_next_pending(x, pending))
/* Removes and returns the first one; GPC_NONE when there is none. */
GPC_API gpc_index_t gpc_pop_pending(gpc_step_t *x);
/* Answers every pending message in order with `answer` and `type`, and frees it. */
GPC_API GPC_MUST_CHECK int gpc_answer_pending(gpc_step_t *x, uint8_t type,
                                              int (*answer)(gpc_step_t *x, gpc_index_t to, uint8_t type));
/* Appends the message (usually the core's request) to the transaction's pending list. */
GPC_API GPC_MUST_CHECK int gpc_keep_pending(gpc_step_t *x);
/* The same for a core's request that an outstanding one serves: it has no latency of its own (the cores' served_loads
 * etc.). */
GPC_API GPC_MUST_CHECK int gpc_join_pending(gpc_step_t *x);
/* Removes the first pending message with this `request`: GPC_NONE when there is none. A load that merges takes
 * the `request` of the load that was sent, so that one answer serves all of them. */
GPC_API gpc_index_t gpc_take_pending(gpc_step_t *x, gpc_index_t request);
/* Over words: the same for a request for any of the masked words, those words only (the rest remains pending).
 * GPC_NONE: none, or no room to split it, which is reported as a failure. */
GPC_API gpc_index_t gpc_take_pending_words(gpc_step_t *x, gpc_index_t request, gpc_mask_t mask);
/* Over words: removes from the list the first message for any of the masked words, those words only; GPC_NONE as
 * above. */
GPC_API gpc_index_t gpc_take_words(gpc_controller_t *unit, gpc_list_t *list, gpc_mask_t mask);
/* Replays all pending messages, each as if it had just arrived, before any new one. */
GPC_API GPC_MUST_CHECK int gpc_replay_pending(gpc_step_t *x);
/* Replays every message of a protocol's list, before those already due for replay: of these, the ones for the same line
 * were behind. */
GPC_API GPC_MUST_CHECK int gpc_replay_list(gpc_step_t *x, gpc_list_t *list);
/* A new message about x->line from this unit, on behalf of the requester of x's cause; fill it in, then send it.
 * Without room it reports a failure and returns a dummy message, which gpc_send refuses. */
GPC_API gpc_msg_t *gpc_new_message(gpc_step_t *x, uint8_t type, gpc_node_t destination);
/* Copies the masked words of `line`, or the whole line, if the message's type carries any. */
GPC_API void gpc_carry(const gpc_step_t *x, gpc_msg_t *msg, gpc_mask_t words, const uint32_t *line);
/* For the core's request x->msg, to the line's home: with its words (stores) or its lane list (atomics: moved). An
 * entry that acts by itself has no request: the caller fills in the contents. */
GPC_API gpc_msg_t *gpc_new_request(gpc_step_t *x, uint8_t type);
/* To the sender of message `to` (x->message, or a pending one): names its request, takes its lane list, and carries
 * words of x's line if the type does. */
GPC_API gpc_msg_t *gpc_new_answer(gpc_step_t *x, gpc_index_t to, uint8_t type);
static inline const gpc_message_info_t *
gpc_message_info(const gpc_controller_t *unit, uint8_t type) /* for the protocol's own types */
{
    return &unit->protocol->messages[type - GPC_MSG_OWN];
}
/* Whether it comes from the core or on a request network: then it may wait for lines and queues. */
static inline bool
gpc_is_request(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    return msg->type < GPC_MSG_OWN ? msg->type <= GPC_MSG_ATOMIC : unit->request_networks >> msg->network & 1;
}
/* Sends the message and takes ownership of it; over words, at the end of the step, combined with equal messages. */
GPC_API GPC_MUST_CHECK int gpc_send(gpc_step_t *x, gpc_msg_t *msg);
/* The same, `cycles` of the unit's clock later; later messages on the network stay behind it. The explorer has no
 * time. */
static inline int
gpc_send_after(gpc_step_t *x, gpc_msg_t *msg, uint32_t cycles)
{
    msg->ready = cycles;
    return gpc_send(x, msg);
}
/* An answer that says that words are in memory: it leaves when the CPU has answered the probes of all writes up to now.
 * Not over words. */
GPC_API GPC_MUST_CHECK int gpc_send_probed(gpc_step_t *x, gpc_msg_t *msg);
/* Sends one copy to every controller of the set. */
GPC_API GPC_MUST_CHECK int gpc_broadcast(gpc_step_t *x, gpc_msg_t *msg, const gpc_nodeset_t *to);
/* Header and payload: not rounded up to flits. */
GPC_API uint32_t gpc_message_bytes(const gpc_controller_t *unit, const gpc_msg_t *msg);
/* Fetches x->line from memory, which answers with a FILL. */
GPC_API GPC_MUST_CHECK int gpc_fetch(gpc_step_t *x);
/* The same; the FILL comes this many cycles of the unit later. */
GPC_API GPC_MUST_CHECK int gpc_fetch_after(gpc_step_t *x, uint32_t cycles);
/* First action of an entry's step that fetches or writes memory, in a unit of the top level: GPC_HOLD while the
 * memory's queue for x->line is full. */
GPC_API GPC_MUST_CHECK int gpc_need_memory_room(gpc_step_t *x);
/* Writes the masked words of `line` to memory. */
GPC_API GPC_MUST_CHECK int gpc_write_memory(gpc_step_t *x, gpc_mask_t words, const uint32_t *line);
/* The same; memory answers with WRITTEN, whose fields[0] is the note, when the words are at its pins. */
GPC_API GPC_MUST_CHECK int gpc_write_memory_answered(gpc_step_t *x, gpc_mask_t words, const uint32_t *line,
                                                     uint64_t note);
/* Completes the core's request with the words of its line (NULL: it reads none), as a hit or not, and frees it. */
GPC_API GPC_MUST_CHECK int gpc_complete(gpc_step_t *x, gpc_index_t request, const uint32_t *words, bool hit);
/* Completes every pending request with the words. */
GPC_API GPC_MUST_CHECK int gpc_complete_pending(gpc_step_t *x, const uint32_t *words);
/* Performs a load, store or atomic of the core on the line, which the L1 owns, and completes it. */
GPC_API GPC_MUST_CHECK int gpc_perform_and_complete(gpc_step_t *x, gpc_index_t request, bool hit);
/* A hit in that array, which may declare extra cycles (a write cache behind the L1). */
GPC_API GPC_MUST_CHECK int gpc_complete_from(gpc_step_t *x, gpc_index_t request, const uint32_t *words, uint8_t array);
/* Frees a message and its lane list. */
static inline void
gpc_free_message(gpc_controller_t *unit, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(unit->messages, message);
    if (msg->lanes != GPC_NONE) {
        gpc_pool_give(unit->lane_lists, msg->lanes);
    }
    gpc_pool_give(unit->messages, message);
}
/* Copies the words of mask from `from` to `to`. */
static inline void
gpc_merge_words(uint32_t *to, const uint32_t *from, gpc_mask_t mask)
{
    if (mask == UINT32_MAX) {
        memcpy(to, from, 32 * sizeof(*to));
        return;
    }
    for (; mask; mask &= mask - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(mask);
        to[word] = from[word];
    }
}
static inline gpc_mask_t
gpc_all_words(const gpc_controller_t *unit)
{
    uint32_t words = unit->machine->line_bytes / 4;
    return words == 32 ? UINT32_MAX : (UINT32_C(1) << words) - 1;
}

/* ---- entries of parts (store buffers, FIFOs) --------------------------------------------------------------------- */

GPC_API gpc_index_t gpc_part_take(gpc_part_t *part, gpc_address_t line); /* appends an entry; GPC_NONE when full */
GPC_API void gpc_part_give(gpc_part_t *part, gpc_index_t entry);         /* removes it; in any order */
GPC_API void gpc_part_renew(gpc_part_t *part, gpc_index_t entry);        /* makes it the youngest */
GPC_API gpc_index_t gpc_part_find(const gpc_part_t *part,
                                  gpc_address_t line);      /* the newest entry for the line, or GPC_NONE */
GPC_API gpc_index_t gpc_part_first(const gpc_part_t *part); /* the oldest, or GPC_NONE */
GPC_API gpc_index_t gpc_part_next(const gpc_part_t *part, gpc_index_t entry); /* the next younger one, or GPC_NONE */
/* The entry's line. */
GPC_API gpc_address_t gpc_part_line(const gpc_part_t *part, gpc_index_t entry);
/* Makes the entry ready: it takes a REPLAY step when it becomes first. No effect on one that is ready or waits. A step
 * that is refused is retried after any change at the unit, while the ready entries behind it wait; with HOLD_LINE only
 * this entry waits, and becomes ready when the line's transaction changes its state. */
GPC_API GPC_MUST_CHECK int gpc_part_ready(gpc_part_t *part, gpc_index_t entry);
/* Whether it is ready. */
GPC_API bool gpc_part_is_ready(const gpc_part_t *part, gpc_index_t entry);
static inline void *
gpc_part_fields(const gpc_part_t *part, gpc_index_t entry)
{
    return part->fields + (size_t) entry * part->fields_size;
}
/* For an entry's action: a step of table `table` about the masked words of x's line. GPC_HELD_LINE: some of them wait
 * for a transaction, and so does x's entry; the action returns it like GPC_HOLD, but may have had effects. */
GPC_API GPC_MUST_CHECK int gpc_entry_line(gpc_step_t *x, uint8_t table, uint8_t cause, gpc_mask_t mask);
/* First action of a step over entries without an entry: takes a new entry of the table's part for x's line. GPC_HOLD:
 * the part is full. An entry leaves its part when its state becomes the table's initial one. */
GPC_API GPC_MUST_CHECK int gpc_take_entry(gpc_step_t *x);
/* Applies the cause to one entry of a part, in table `table`; the step concerns the entry's line. */
GPC_API GPC_MUST_CHECK int gpc_controller_entry(gpc_controller_t *self, uint8_t table, uint8_t part, gpc_index_t entry,
                                                uint8_t cause, gpc_index_t message);
/* Applies the cause to the unit itself, in table `table`. */
GPC_API GPC_MUST_CHECK int gpc_controller_unit(gpc_controller_t *self, uint8_t table, uint8_t cause,
                                               gpc_index_t message);
/* For order hooks: a warp's RELEASE or ACQUIRE as a step of a table over the unit, whose actions may send; x->warp and
 * x->scope, and the messages, name the warp. GPC_OK; GPC_HOLD: a cell or its first action holds, as `release` and
 * `before` may; or an error. */
GPC_API GPC_MUST_CHECK int gpc_controller_order(gpc_controller_t *self, uint8_t table, uint8_t cause, uint16_t warp,
                                                uint8_t scope);

#endif
