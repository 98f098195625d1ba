/* protocol.h: the parts of a protocol, and the ports between a protocol and the world that runs it.
 *
 * A protocol is a set of controllers. A controller has tables (fsm.h) over lines, words, entries or itself, and parts: tag arrays,
 * MSHRs, pools of entries (store buffers, FIFOs). Two worlds run controllers: the machine (machine/) and the explorer
 * (check/world.h). Both implement gpc_ports_t; a protocol file cannot tell which one runs it.
 */
#ifndef GPC_CONTROLLER_PROTOCOL_H
#define GPC_CONTROLLER_PROTOCOL_H

#include "base/access.h"
#include "base/failure.h"
#include "base/histogram.h"
#include "base/machine.h"
#include "base/rules.h"
#include "cache/mshr.h"
#include "cache/rmw.h"
#include "cache/tags.h"
#include "controller/fsm.h"

typedef struct gpc_controller gpc_controller_t;
typedef struct gpc_protocol gpc_protocol_t;

/* ---- the ports --------------------------------------------------------------------------------------------------------- */

typedef struct {
    gpc_cycle_t (*now)(const void *world); /* core cycles, the unit of leases and GWCTs */
    /* Sends the message to message->destination (a controller) on its type's virtual network. */
    int (*send)(void *world, gpc_controller_t *from, gpc_index_t message);
    /* Sends one copy to every controller of the set, on its type's virtual network, in order of node. */
    int (*broadcast)(void *world, gpc_controller_t *from, gpc_index_t message, const gpc_nodeset_t *to);
    /* Causes INSTANT for the line at the L1s of the set (NULL: all) except `except`, in this cycle, without a message (ideal). */
    int (*instant)(void *world, gpc_controller_t *from, gpc_address_t line, const gpc_nodeset_t *to, gpc_node_t except);
    /* Sets a TIMER for the line (with line GPC_NEVER: for the unit, and fields[0] returns `tag`) at a core cycle. A lease has no
     * timer; a request that waits for one has. A background timer keeps no launch running: a launch ends, or is a deadlock, when only
     * background timers are left, and these are dropped. A periodic timer sets itself again; KERNEL_BEGIN sets the first. */
    int (*wake_at)(void *world, gpc_controller_t *unit, gpc_cycle_t at, gpc_address_t line, uint32_t tag,
                   bool background);
    /* Schedules the unit for the next edge of its clock: ready entries act, held requests are retried. */
    int (*turn)(void *world, gpc_controller_t *unit);
    /* Whether the unit's outbox has room for another message on the network; a drain queries it before it sends. The unit is
     * scheduled when messages leave a full outbox. */
    bool (*room)(const void *world, const gpc_controller_t *unit, uint8_t network);
    /* The warp's access may be retried at that core cycle (0: now). */
    int (*wake_warp)(void *world, gpc_controller_t *l1, uint16_t warp, gpc_cycle_t at);
    /* Completes the words of message->mask of the core's request; the request is complete when all of its words are.
     * words: the line, for a load; atomics have their old values in the lane list. Takes ownership of the message. `hit`: with the
     * L1's hit latency, else with the latency of an arrived answer. */
    int (*complete)(void *world, gpc_controller_t *l1, gpc_index_t message, const uint32_t *words, bool hit);
    /* Fetches the line from memory, which answers with a FILL. */
    int (*fetch)(void *world, gpc_controller_t *unit, gpc_address_t line, uint64_t note);
    int (*write_memory)(void *world, gpc_controller_t *unit, gpc_address_t line, gpc_mask_t mask,
                        const uint32_t *words);
} gpc_ports_t;

/* ---- what a file declares ------------------------------------------------------------------------------------------------ */

typedef enum { GPC_AT_CORE, GPC_AT_BANK, GPC_AT_GLOBAL, GPC_AT_MEMORY, GPC_AT_HOST, GPC_NUM_POSITIONS } gpc_position_t;

#define GPC_TRAFFIC_CLASSES(X)                                                                                         \
    X(REQ, "requests and other control") X(LD, "data of loads") X(ST, "stores and their answers")                      \
    X(ATO, "atomics") X(INV, "invalidations") X(RCL, "recalls") X(REG, "registrations") X(WB, "write-backs and -throughs") \
    X(EPOCH, "epoch changes")
typedef enum {
#define X(name, text) GPC_CLASS_##name,
    GPC_TRAFFIC_CLASSES(X)
#undef X
        GPC_NUM_TRAFFIC_CLASSES
} gpc_traffic_class_t;

/* A message type of a protocol. Its size on the wire is fixed_bytes + bytes_per_word * words of its mask + bytes_per_lane_word * words
 * of its lane list (operands up, old values down). */
typedef struct {
    const char *name;
    gpc_traffic_class_t traffic_class;
    uint8_t network;
    uint8_t fixed_bytes;
    uint8_t bytes_per_word; /* 0 or 4 */
    bool whole_line;        /* carries a whole line, whatever its mask */
    const char *text;
} gpc_message_info_t;

/* X(NAME, class, network, fixed bytes, bytes per word, whole line, text): GPC_MESSAGES(MSG, LIST) defines MSG_NAME.. from GPC_MSG_OWN on
 * and the array `MSG_info`. */
#define GPC_MESSAGE_ENUM_(prefix, name, ...) prefix##_##name,
#define GPC_MESSAGE_INFO_(prefix, name, class_, network, fixed, word, line, text) {#name, GPC_CLASS_##class_, network, fixed, word, line, text},
#define GPC_MESSAGES(prefix, LIST)                                                                 \
    enum { prefix##_BEFORE_ = GPC_MSG_OWN - 1, LIST(GPC_MESSAGE_ENUM_, prefix) prefix##_END };     \
    static const gpc_message_info_t prefix##_info[] = {LIST(GPC_MESSAGE_INFO_, prefix)};

typedef struct {
    const char *name; /* "request", "response" */
    bool ordered;     /* FIFO per source, destination and network; else unordered */
    bool requests;    /* its messages may be held; messages of other networks never are */
} gpc_network_info_t;

/* A tag array: of a cache, a directory or a write cache. */
typedef struct {
    const char *name;
    gpc_describe_t line; /* metadata beside a tag */
    /* Sets and ways, from machine and options; NULL: those of the machine for the position. */
    void (*geometry)(const gpc_machine_t *machine, const int64_t *options, uint32_t *sets, uint32_t *ways);
    bool has_data;
} gpc_array_info_t;

/* A pool of entries with a state each: a store buffer, a FIFO, a write-back buffer, a queue. */
typedef struct {
    const char *name;
    gpc_describe_t entry;
    uint32_t (*capacity)(const gpc_machine_t *machine, const int64_t *options);
    bool ordered;  /* a FIFO: entries leave in order of arrival */
    bool may_rest; /* entries may remain at the end of a run */
    uint8_t steps; /* steps of ready entries per cycle of the unit's clock; 0: one */
} gpc_part_info_t;

/* A counter or histogram that a controller type declares. */
typedef struct {
    const char *name, *text;
} gpc_count_info_t;

/* X(prefix, name, text): GPC_COUNTS(PREFIX, LIST) defines PREFIX_name.. and the array `PREFIX_info`, for .counters or .histograms. */
#define GPC_COUNT_ENUM_(prefix, name, text) prefix##_##name,
#define GPC_COUNT_INFO_(prefix, name, text) {#name, text},
#define GPC_COUNTS(prefix, LIST)                                                                   \
    enum { LIST(GPC_COUNT_ENUM_, prefix) prefix##_END };                                           \
    static const gpc_count_info_t prefix##_info[] = {LIST(GPC_COUNT_INFO_, prefix){NULL, NULL}};

/* Where the sharer list of sharers.h is stored. */
typedef struct {
    uint8_t array;
    uint16_t offset; /* within the metadata beside its tags */
} gpc_sharers_info_t;

/* When the option has that value, `by` replaces the table: equal states and events, other cells. */
typedef struct {
    uint8_t table;  /* index */
    uint8_t option; /* index */
    int64_t value;
    const gpc_table_t *by;
} gpc_variant_t;

#define GPC_MAX_TABLES 4
#define GPC_MAX_ARRAYS 3
#define GPC_MAX_PARTS 3
#define GPC_MAX_VARIANTS 4

typedef struct {
    const char *name; /* "L1", "L2", "EMU" */
    gpc_position_t position;
    const gpc_table_t *tables[GPC_MAX_TABLES]; /* table 0 takes requests and messages about lines; ends with NULL */
    gpc_variant_t variants[GPC_MAX_VARIANTS];  /* ends with a null table */
    gpc_array_info_t arrays[GPC_MAX_ARRAYS];   /* ends with a null name */
    gpc_part_info_t parts[GPC_MAX_PARTS];      /* ends with a null name */
    /* For each table, the index of its array (over lines or words) or part (over entries). */
    uint8_t object_of[GPC_MAX_TABLES];
    gpc_describe_t mshr, unit, warp, core;         /* metadata; NULL: none */
    const gpc_count_info_t *counters, *histograms; /* declared with GPC_COUNTS; NULL: none */
    gpc_sharers_info_t sharers;
    /* Messages per network that may wait in the outbox before `room` refuses; 0: GPC_OUTBOX_LIMIT. */
    uint8_t outbox;
    /* Number of MSHRs, from machine and options; NULL: that of the machine for the position. */
    uint32_t (*mshrs)(const gpc_machine_t *machine, const int64_t *options);
    /* The table that takes a message, new or replayed, or the unit's TIMER; NULL: table 0. */
    uint8_t (*route)(const gpc_controller_t *unit, const gpc_msg_t *msg);
    /* The entry that a message routed to a table over entries concerns; NULL: the newest entry for its line.
     * GPC_NONE: the step starts in the table's initial state, and its first action may take an entry (gpc_take_entry). */
    gpc_index_t (*entry_of)(const gpc_controller_t *unit, uint8_t part, const gpc_msg_t *msg);
    /* Lower ranks are evicted first, among the victims that the table accepts; NULL: least recently used. */
    uint32_t (*victim_rank)(const gpc_controller_t *unit, uint8_t array, gpc_index_t way);
    /* Bit t of `begins`: table t takes KERNEL_BEGIN; of `ends`: KERNEL_END, at a core once its last warp has exited, elsewhere
     * once all cores are done. A table over lines or words takes it for every line and transaction, over entries for every entry,
     * and may not hold it; a table over the unit takes it once, and may hold a KERNEL_END until it is retried. With any `ends` the
     * launch lasts until their effects are complete. */
    uint8_t begins, ends;
    /* Called before the tables take KERNEL_BEGIN or KERNEL_END; sets unit, core and warp fields. NULL: they keep their values. */
    void (*launch)(gpc_controller_t *unit, uint8_t cause);
    /* Transactions may remain at the end of a run (TC's evicted leases). Other controllers must have none. */
    bool may_idle_in_transaction;
    /* For those: the core cycle from which an EXPIRE ends the transaction; GPC_NEVER: in use by an outstanding miss. When no MSHR is
     * free, expired transactions end; if there is none, the held request sets a TIMER for the first such cycle. */
    gpc_cycle_t (*idle_until)(const gpc_controller_t *unit, gpc_index_t mshr);
} gpc_controller_type_t;

/* A protocol's additions to the ordering rules of order.c. NULL members add nothing. Only `before` and `release` may return GPC_HOLD. */
typedef struct {
    /* Whether a load, store or atomic of the warp may issue, once consistency and older accesses permit it. GPC_OK; GPC_HOLD: retry when
     * the warp is woken, or at *until (preset: GPC_NEVER). It may be called again after GPC_OK, so it must not count or send. */
    int (*before)(gpc_controller_t *l1, uint16_t warp, const gpc_access_t *access, gpc_cycle_t *until);
    /* The release part, once all older accesses of the warp are complete. GPC_OK: done; GPC_HOLD: not yet, retry when woken, or at
     * *until. It sends messages with gpc_controller_order, and the answer wakes the warp with wake_warp. */
    int (*release)(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until);
    /* The acquire part, once the access has its value. */
    int (*acquire)(gpc_controller_t *l1, uint16_t warp, uint8_t scope);
    /* A fence's addition to both parts (rcc-wo joins its views). */
    int (*fence)(gpc_controller_t *l1, uint16_t warp, uint8_t scope);
    /* At a barrier: joins warp metadata of `from` into `into` (maximum of GWCTs). */
    void (*join)(gpc_controller_t *l1, void *into, const void *from);
    bool same_line;        /* a warp may not issue to a line it has an access outstanding to */
    bool same_word;        /* a warp may not issue to a word it has an access outstanding to */
    bool barrier_releases; /* the last warp to arrive at a barrier performs the release part, before any warp leaves */
    bool local_scopes;     /* cta and cu need neither release nor acquire part (hrf) */
} gpc_order_traits_t;

/* ---- for monitors (check=True) ---------------------------------------------------------------------------------------------- */

/* What a load may return. */
#define GPC_PROMISES(X)                                                                                                  \
    X(NOTHING, "any value that the word ever held")                                                                      \
    X(FRESH, "a hit: the value of the last performed write; a miss: any value that the word held since the load issued") \
    X(LEASED, "as FRESH, or the value before a write that is not yet globally visible")
typedef enum {
#define X(name, text) GPC_PROMISE_##name,
    GPC_PROMISES(X)
#undef X
} gpc_promise_t;

/* The invariants that the generic monitors (check/monitor.c) check; states are those of L1 table 0. Over words
 * each word has its own state. */
typedef struct {
    gpc_promise_t promise;
    uint32_t readable;   /* bit s: in state s an L1 serves loads from its copy */
    uint32_t copies;     /* bit s: in state s an L1 has a copy that is or may become readable */
    uint32_t owners;     /* bit s: in state s an L1 may write its copy, which is the only one */
    bool bank_is_whole;  /* a line at the bank contains every performed write */
    uint32_t bank_words; /* over words, bit s of the bank's table 0: a word in state s does */
    /* The last cycle in which a copy may be read, and the end of the latest lease of the line that the bank knows (0: none).
     * NULL: copies do not self-invalidate. */
    gpc_cycle_t (*lease)(const gpc_controller_t *l1, gpc_index_t way);
    gpc_cycle_t (*leased)(const gpc_controller_t *bank, gpc_address_t line);
} gpc_watched_t;

/* The controllers that a protocol's own monitor checks. */
typedef struct {
    gpc_controller_t *const *cores; /* [num_cores]: those at core position */
    uint32_t num_cores;
    gpc_controller_t *bank;            /* the home of the line; NULL: the step concerned no line */
    gpc_controller_t *global, *memory; /* NULL: the machine has none */
} gpc_units_t;

/* The monitors' callbacks, called between a controller's steps; each returns 0 or an error. */
typedef struct {
    void *watcher;
    /* A step about the line is complete; GPC_NEVER: about the unit only. */
    int (*stepped)(void *watcher, gpc_controller_t *unit, gpc_address_t line);
    /* The store or atomic (its lanes have their old values) is performed: no L1 reads the replaced value after `until`. */
    int (*performed)(void *watcher, gpc_controller_t *unit, const gpc_msg_t *write, gpc_cycle_t until);
    /* The core's store is accepted: it completes before it is performed. */
    int (*accepted)(void *watcher, gpc_controller_t *l1, const gpc_msg_t *store);
    /* The core's request completes; arguments as for the port. */
    int (*completed)(void *watcher, gpc_controller_t *l1, const gpc_msg_t *request, const uint32_t *words, bool hit);
} gpc_watch_t;

typedef struct {
    const char *name;
    int64_t standard, smallest, largest;
    /* "off on", "back through": names of the values from `smallest` on; further values, or all (NULL), are numbers. */
    const char *choices;
    const char *text;
    struct {
        bool given;
        int64_t value;
    } small;                       /* the explorer's value on its small machine; not given: the default */
    int64_t fuzz_least, fuzz_most; /* range of the random tester; both 0: it keeps the default */
} gpc_option_info_t;

/* Conservative filter for an `instant` to all L1s: those that may hold the line. It changes
 * no result. The machine allocates `bytes` for it, zeroed; the explorer has none and queries all L1s. */
typedef struct {
    size_t (*bytes)(uint32_t l1s);
    void (*candidates)(void *filter, gpc_controller_t *const *l1s, uint32_t num_l1s, gpc_address_t line,
                       gpc_nodeset_t *out);
} gpc_instant_filter_t;

/* ---- declarations for tests, figures and tools ---------------------------------------------------------------------------------- */

/* Cells that no program enters on a machine: all pairs of these states and events, each separated by spaces. */
typedef struct {
    const char *table, *states, *events;
    const char *rules; /* NULL: under every rule */
    const char *reason;
} gpc_uncovered_t;

#define GPC_MAX_UNCOVERED 8

typedef struct {
    uint8_t figure_slot; /* index into colours and hatches, unique */
    /* Litmus tests, separated by spaces, whose weak outcome the protocol allows and runs must show. */
    const char *weak_outcomes;
    /* Option settings that tests run besides the defaults: "private=literal lifetime=0"; commas combine several. */
    const char *variations;
    gpc_uncovered_t uncovered[GPC_MAX_UNCOVERED]; /* ends with a null table */
} gpc_declared_t;

struct gpc_protocol {
    const char *id, *name, *paper, *family, *text;
    const char *model[GPC_NUM_RULES]; /* memory model under each rule; NULL: unsupported */
    gpc_rule_t standard_rule;
    const gpc_controller_type_t *controllers[5]; /* ends with NULL; at most one per position */
    const gpc_message_info_t *messages;
    uint32_t num_messages;
    /* The messages' `fields`: a described struct of uint64_t members; NULL: none. */
    gpc_describe_t message;
    gpc_network_info_t networks[GPC_MAX_NETWORKS]; /* ends with a null name */
    gpc_order_traits_t order;
    gpc_option_info_t options[GPC_MAX_OPTIONS]; /* ends with a null name */
    /* Option values derived from the machine, besides or instead of the defaults. */
    void (*derive)(const gpc_machine_t *machine, int64_t *options);
    /* Whether machine and options are compatible; NULL: always. GPC_ERROR_OPTION names both. */
    int (*check)(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure);
    gpc_declared_t declared;
    /* The protocol handles the wrap-around of timestamps of machine->timestamp_bits bits, which is counted. Required with any field of
     * kind TIME or LOGICAL: gpc_protocol_check_time. */
    bool keeps_time;
    /* Zero-time, uncounted accesses of the host, with nothing in flight. cores: the core-position controllers; bank: the
     * line's home. They read and write the words of mask in the caches; the caller accesses memory: `words` enters
     * with memory's content and leaves coherent (read); a write has already reached memory. */
    int (*host_read)(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
                     gpc_mask_t mask, uint32_t *words);
    int (*host_write)(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
                      gpc_mask_t mask, const uint32_t *words);
    /* Monitors, with check on: parameters of the generic ones, and the protocol's own, called after every step of a controller with
     * its line; a step of a table over the unit may have none (GPC_NEVER). Reports with gpc_violated. */
    const gpc_watched_t *watched;
    int (*monitor)(const gpc_units_t *units, gpc_address_t line);
    /* Whether an answer in flight serves a load of its line and core, if that depends on when the load issued; NULL: it does not.
     * The explorer, whose states have no times of issue, distinguishes states by it. */
    bool (*serves)(const gpc_msg_t *answer, const gpc_msg_t *load);
    const gpc_instant_filter_t *instant_filter; /* optional */
};

/* GPC_ERROR_PROTOCOL, with the field's name, if the protocol has timestamps and does not handle their width. */
GPC_MUST_CHECK int gpc_protocol_check_time(const gpc_protocol_t *self, gpc_failure_t *failure);
/* Options: defaults, then derived, then given values; GPC_ERROR_OPTION names the invalid one. */
GPC_MUST_CHECK int gpc_protocol_options(const gpc_protocol_t *self, const gpc_machine_t *machine,
                                        const gpc_option_value_t *given, uint32_t num_given, int64_t *options,
                                        gpc_failure_t *failure);

/* ---- a controller at work -------------------------------------------------------------------------------------------------- */

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

struct gpc_controller {
    const gpc_controller_type_t *type;
    const gpc_protocol_t *protocol;
    const int64_t *options;
    const gpc_machine_t *machine;
    const gpc_ports_t *ports;
    void *world;
    gpc_pool_t *messages, *lane_lists;
    gpc_failure_t *failure;
    gpc_arena_t *counts_arena; /* of counts and statistics; NULL: the same arena */
    gpc_node_t node;
    uint32_t index; /* number of the core or bank */
    uint32_t first_bank;
    gpc_interleaving_t interleaving; /* of lines over banks */
    /* Borrowed; [GPC_NUM_POSITIONS]: node of the global, memory-side and host controller; NULL: the machine has none. */
    const gpc_node_t *places;
    gpc_tags_t arrays[GPC_MAX_ARRAYS];
    gpc_part_t parts[GPC_MAX_PARTS];
    gpc_mshr_table_t mshrs;
    void *unit_fields, *core_fields;
    uint8_t *warp_fields; /* [warps] */
    uint32_t warp_fields_size;
    /* Set by controller.c, called by steps that find no free MSHR: transactions past their idle_until take an EXPIRE. GPC_OK: an
     * MSHR is free; GPC_HOLD: none, and a TIMER is set. */
    int (*end_idle)(gpc_controller_t *self);
    void *instant_filter;             /* one for all L1s, in the machine's arena; NULL: none */
    uint8_t *unit_states;             /* one per table, for tables over the unit */
    uint8_t *untold;                  /* bit t: table t has not yet taken the begin or end of the launch */
    gpc_list_t *replay;               /* held requests whose line has changed; they precede new requests */
    uint32_t *ready;                  /* ready entries of all parts */
    gpc_cycle_t *idle_timer;          /* cycle of the TIMER for idle transactions; 0: none is set */
    gpc_list_t sent;                  /* over words: messages that this step has sent; empty between steps */
    bool collects;                    /* during such a step */
    uint8_t request_networks;         /* bit n: network n carries requests */
    bool program_fences;              /* the program has a fence, or an acquire, release or sc access */
    uint64_t *counts[GPC_MAX_TABLES]; /* cells entered, [state][event] */
    const gpc_watch_t *monitors;      /* borrowed; NULL: no monitors */
    gpc_controller_statistics_t *statistics;
    uint64_t *own_counters; /* of the type's counters; NULL: none */
    gpc_histogram_t *own_histograms;
    /* Called with every cell before it is executed; NULL: no trace. */
    void (*watch)(void *world, const gpc_step_t *x, uint8_t event, const gpc_cell_t *cell);
};

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
/* Whether the controller has this type; options may have replaced its tables. */
static inline bool
gpc_is_of_type(const gpc_controller_t *unit, const gpc_controller_type_t *type)
{
    return unit->type->position == type->position;
}

GPC_MUST_CHECK int gpc_controller_init(gpc_controller_t *self, const gpc_controller_type_t *type, gpc_arena_t *arena);
void gpc_controller_clear(gpc_controller_t *self); /* lines, transactions, lists; the world owns messages */

/* A message or core request for this controller. GPC_OK: accepted (it may wait for a line); GPC_HELD_QUEUE: refused, offer it
 * again after any change at the unit; negative: an error. */
GPC_MUST_CHECK int gpc_controller_take(gpc_controller_t *self, gpc_index_t message);
/* Takes the first replayed request, if any: GPC_OK, GPC_HELD_QUEUE or an error. New requests wait while there are any. */
GPC_MUST_CHECK int gpc_controller_replay(gpc_controller_t *self);
/* The first ready entry of the part takes a REPLAY step of the part's table. GPC_OK: it did, or waits for a transaction, or there is
 * none; GPC_HELD_QUEUE: the step is refused, and the entry remains first. */
GPC_MUST_CHECK int gpc_part_turn(gpc_part_t *part);
/* A cycle of the unit's clock: each part's ready entries take as many steps as the part declares. GPC_HELD_QUEUE: all were refused. */
GPC_MUST_CHECK int gpc_controller_turn(gpc_controller_t *self);
/* A cause without a message: EVICT (explorer), INSTANT, TIMER. */
GPC_MUST_CHECK int gpc_controller_cause(gpc_controller_t *self, uint8_t cause, gpc_address_t line);
/* The same for the masked words of a line in table `table`, also for actions of another table. The message (or GPC_NONE) is
 * passed on. GPC_OK: done, or the message waits for the line; GPC_HOLD: no effect, and the caller keeps the
 * message: a first action may return it. */
GPC_MUST_CHECK int gpc_controller_line(gpc_controller_t *self, uint8_t table, uint8_t cause, gpc_address_t line,
                                       gpc_mask_t mask, gpc_index_t message);
/* A launch begins (KERNEL_BEGIN) or ends here (KERNEL_END), as the type declares in `begins`, `ends` and `launch`. GPC_OK; an error;
 * or GPC_HELD_QUEUE: a table holds the KERNEL_END; the next call resumes there. */
GPC_MUST_CHECK int gpc_controller_launch(gpc_controller_t *self, uint8_t cause);
/* Applies the cause to every line in the array. */
GPC_MUST_CHECK int gpc_controller_walk(gpc_controller_t *self, uint8_t array, uint8_t cause);
/* Applies the cause to every line in a transaction, with or without a way. */
GPC_MUST_CHECK int gpc_controller_walk_transactions(gpc_controller_t *self, uint8_t cause);
GPC_MUST_CHECK int gpc_controller_verify(gpc_controller_t *self, bool at_rest);
void gpc_controller_encode(gpc_controller_t *self, gpc_encoder_t *out);
void gpc_controller_print(gpc_controller_t *self, gpc_text_t *out);

/* ---- functions for actions ----------------------------------------------------------------------------------------------- */

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

/* Call before the L1 completes a store that is not yet performed: the core's current request. From now on the store is identified
 * by core and word: it has no request, so messages sent on its behalf carry GPC_NONE. The core's loads may read it; the
 * release part and the end of the launch must wait until it is performed. */
GPC_MUST_CHECK int gpc_note_accepted(gpc_step_t *x);
/* Call when accepted stores of the unit's core are performed in words of x->line, with these values, without a message. */
GPC_MUST_CHECK int gpc_note_drained(gpc_step_t *x, gpc_mask_t mask, const uint32_t *words, gpc_cycle_t until);
/* Call when a store or atomic is performed (the current request, `message`, or a pending one), in a protocol whose loads
 * promise anything. Without a request it concerns accepted stores of message->requester. until: the last core cycle in which another L1
 * may read the replaced value; 0: none. */
static inline int
gpc_note_performed(gpc_step_t *x, gpc_index_t message, gpc_cycle_t until)
{
    const gpc_watch_t *watch = x->unit->monitors;
    return watch ? watch->performed(watch->watcher, x->unit, gpc_msg_at(x->unit->messages, message), until) : GPC_OK;
}
/* The state of a line (or word) in table 0; *way: its way, or GPC_NONE. */
uint8_t gpc_state_at(const gpc_controller_t *unit, gpc_address_t line, uint32_t word, gpc_index_t *way);
static inline bool
gpc_is_among(uint32_t states, uint8_t state) /* of gpc_watched_t */
{
    return states >> state & 1;
}
/* Reports a violated invariant with the line and its state in every controller. GPC_ERROR_INVARIANT. */
int gpc_violated(gpc_controller_t *unit, gpc_address_t line, const char *invariant, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static inline void *
gpc_line_fields(const gpc_step_t *x)
{
    return gpc_tags_fields(&x->unit->arrays[x->array], x->way);
}
static inline uint32_t *
gpc_line_words(const gpc_step_t *x)
{
    return gpc_tags_words(&x->unit->arrays[x->array], x->way);
}
static inline void *
gpc_step_mshr_fields(const gpc_step_t *x)
{
    return gpc_mshr_fields(&x->unit->mshrs, x->mshr);
}
static inline gpc_list_t *
gpc_step_pending(const gpc_step_t *x)
{
    return &gpc_mshr_at(&x->unit->mshrs, x->mshr)->pending;
}

gpc_node_t gpc_home_of(const gpc_controller_t *unit, gpc_address_t line);
/* The first controller of the position: core 0, bank 0, or the only one; GPC_NO_NODE when the machine has none. */
gpc_node_t gpc_node_of(const gpc_controller_t *unit, gpc_position_t position);
/* The line's way in the array, or GPC_NONE. */
static inline gpc_index_t
gpc_way_in(const gpc_step_t *x, uint8_t array)
{
    return array == x->array ? x->way : gpc_tags_find(&x->unit->arrays[array], x->line);
}
/* Whether a read miss could reserve a way of the array now. */
bool gpc_can_reserve_way(const gpc_step_t *x);
/* Reserves a way for the line; the table evicts its victim. First action of a cell: GPC_HOLD when there is none, or when the victim
 * needs a transaction (a recall), during which no second victim leaves the set. */
GPC_MUST_CHECK int gpc_reserve_way(gpc_step_t *x);
/* The same in another array that stores the table's state; in all of them, or none. x->array of an EVICT is the array of the way. */
GPC_MUST_CHECK int gpc_reserve_way_in(gpc_step_t *x, uint8_t array);
GPC_MUST_CHECK int gpc_reserve_ways(gpc_step_t *x);
/* Frees the line's way, if it has one. */
GPC_MUST_CHECK int gpc_release_way(gpc_step_t *x);
GPC_MUST_CHECK int gpc_release_way_in(gpc_step_t *x, uint8_t array);
/* Iterates over pending messages, in order; none when x has no transaction. The loop must not remove any. */
gpc_msg_t *gpc_first_pending(const gpc_step_t *x); /* NULL: there is none */
static inline gpc_msg_t *
gpc_next_pending(const gpc_step_t *x, const gpc_msg_t *pending)
{
    return pending->next == GPC_NONE ? NULL : gpc_msg_at(x->unit->messages, pending->next);
}
#define GPC_FOR_PENDING(x, pending)                                                                \
    for (gpc_msg_t *pending = gpc_first_pending(x); pending; pending = gpc_next_pending(x, pending))
/* Removes and returns the first one; GPC_NONE when there is none. */
gpc_index_t gpc_pop_pending(gpc_step_t *x);
/* Answers every pending message in order with `answer` and `type`, and frees it. */
GPC_MUST_CHECK int gpc_answer_pending(gpc_step_t *x, uint8_t type,
                                      int (*answer)(gpc_step_t *x, gpc_index_t to, uint8_t type));
/* Appends the message (usually the core's request) to the transaction's pending list. */
GPC_MUST_CHECK int gpc_keep_pending(gpc_step_t *x);
/* Removes the first pending message with this `request`: GPC_NONE when there is none. A load that merges takes
 * the `request` of the load that was sent, so that one answer serves all of them. */
gpc_index_t gpc_take_pending(gpc_step_t *x, gpc_index_t request);
/* Over words: the same for a request for any of the masked words, those words only (the rest remains pending). GPC_NONE: none,
 * or no room to split it, which is reported as a failure. */
gpc_index_t gpc_take_pending_words(gpc_step_t *x, gpc_index_t request, gpc_mask_t mask);
/* Replays all pending messages, each as if it had just arrived, before any new one. */
GPC_MUST_CHECK int gpc_replay_pending(gpc_step_t *x);
/* Replays every message of a protocol's list, after those already due for replay. */
GPC_MUST_CHECK int gpc_replay_list(gpc_step_t *x, gpc_list_t *list);
/* A new message about x->line from this unit, on behalf of the requester of x's cause; fill it in, then send it. Without room it reports
 * a failure and returns a dummy message, which gpc_send refuses. */
gpc_msg_t *gpc_new_message(gpc_step_t *x, uint8_t type, gpc_node_t destination);
/* Copies the masked words of `line`, or the whole line, if the message's type carries any. */
void gpc_carry(const gpc_step_t *x, gpc_msg_t *msg, gpc_mask_t words, const uint32_t *line);
/* For the core's request x->msg, to the line's home: with its words (stores) or its lane list (atomics: moved). An entry
 * that acts by itself has no request: the caller fills in the contents. */
gpc_msg_t *gpc_new_request(gpc_step_t *x, uint8_t type);
/* To the sender of message `to` (x->message, or a pending one): names its request, takes its lane list, and carries words of x's line if
 * the type does. */
gpc_msg_t *gpc_new_answer(gpc_step_t *x, gpc_index_t to, uint8_t type);
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
GPC_MUST_CHECK int gpc_send(gpc_step_t *x, gpc_msg_t *msg);
/* Sends one copy to every controller of the set. */
GPC_MUST_CHECK int gpc_broadcast(gpc_step_t *x, gpc_msg_t *msg, const gpc_nodeset_t *to);
/* Bytes on the wire. */
uint32_t gpc_message_bytes(const gpc_controller_t *unit, const gpc_msg_t *msg);
GPC_MUST_CHECK int gpc_fetch(gpc_step_t *x); /* fetches x->line from memory, which answers with a FILL */
/* Writes the masked words of `line` to memory. */
GPC_MUST_CHECK int gpc_write_memory(gpc_step_t *x, gpc_mask_t words, const uint32_t *line);
GPC_MUST_CHECK int gpc_complete(gpc_step_t *x, gpc_index_t request, const uint32_t *words, bool hit);
/* Frees a message and its lane list. */
void gpc_free_message(gpc_controller_t *unit, gpc_index_t message);
/* Copies the words of mask from `from` to `to`. */
void gpc_merge_words(uint32_t *to, const uint32_t *from, gpc_mask_t mask);
static inline gpc_mask_t
gpc_all_words(const gpc_controller_t *unit)
{
    uint32_t words = unit->machine->line_bytes / 4;
    return words == 32 ? UINT32_MAX : (UINT32_C(1) << words) - 1;
}

/* ---- entries of parts (store buffers, FIFOs) -------------------------------------------------------------------------------- */

gpc_index_t gpc_part_take(gpc_part_t *part, gpc_address_t line);       /* appends an entry; GPC_NONE when full */
void gpc_part_give(gpc_part_t *part, gpc_index_t entry);               /* in any order */
gpc_index_t gpc_part_find(const gpc_part_t *part, gpc_address_t line); /* the newest entry for the line, or GPC_NONE */
gpc_index_t gpc_part_first(const gpc_part_t *part);                    /* the oldest, or GPC_NONE */
gpc_index_t gpc_part_next(const gpc_part_t *part, gpc_index_t entry);  /* the next younger one, or GPC_NONE */
gpc_address_t gpc_part_line(const gpc_part_t *part, gpc_index_t entry);
/* Makes the entry ready: it takes a REPLAY step when it becomes first. No effect on one that is ready or waits. A step that is
 * refused is retried after any change at the unit, while the ready entries behind it wait; with HOLD_LINE only this entry
 * waits, and becomes ready when the line's transaction changes its state. */
GPC_MUST_CHECK int gpc_part_ready(gpc_part_t *part, gpc_index_t entry);
bool gpc_part_is_ready(const gpc_part_t *part, gpc_index_t entry);
static inline void *
gpc_part_fields(const gpc_part_t *part, gpc_index_t entry)
{
    return part->fields + (size_t) entry * part->fields_size;
}
/* For an entry's action: a step of table `table` about the masked words of x's line. GPC_HELD_LINE: some of them wait for a
 * transaction, and so does x's entry; the action returns it like GPC_HOLD, but may have had effects. */
GPC_MUST_CHECK int gpc_entry_line(gpc_step_t *x, uint8_t table, uint8_t cause, gpc_mask_t mask);
/* First action of a step over entries without an entry: takes a new entry of the table's part for x's line. GPC_HOLD: the part is full.
 * An entry leaves its part when its state becomes the table's initial one. */
GPC_MUST_CHECK int gpc_take_entry(gpc_step_t *x);
/* Applies the cause to one entry of a part, in table `table`; the step concerns the entry's line. */
GPC_MUST_CHECK int gpc_controller_entry(gpc_controller_t *self, uint8_t table, uint8_t part, gpc_index_t entry,
                                        uint8_t cause, gpc_index_t message);
/* Applies the cause to the unit itself, in table `table`. */
GPC_MUST_CHECK int gpc_controller_unit(gpc_controller_t *self, uint8_t table, uint8_t cause, gpc_index_t message);
/* For order hooks: a warp's RELEASE or ACQUIRE as a step of a table over the unit, whose actions may send; x->warp and x->scope, and
 * the messages, name the warp. GPC_OK; GPC_HOLD: a cell or its first action holds, as `release` and `before` may; or an error. */
GPC_MUST_CHECK int gpc_controller_order(gpc_controller_t *self, uint8_t table, uint8_t cause, uint16_t warp,
                                        uint8_t scope);

#endif
