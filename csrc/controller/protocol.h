/* protocol.h: what a protocol is made of, and the ports between it and the world that carries it.
 *
 * A protocol is a set of controllers; a controller has tables (fsm.h) over its lines, words, entries or itself, and parts:
 * tag arrays, a transaction table, pools of entries (store buffers, FIFOs). Two worlds carry controllers, the engine (gpu.c)
 * and the explorer (check/explorer.c); both implement gpc_ports_t, and a protocol file cannot tell which one it is in.
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
    gpc_cycle_t (*now)(const void *world); /* core cycles; what leases and GWCTs are told in */
    /* The message leaves for message->destination (a controller) on its type's virtual network. */
    int (*send)(void *world, gpc_controller_t *from, gpc_index_t message);
    /* One copy to every controller of the set, on its type's virtual network, in order of node. */
    int (*broadcast)(void *world, gpc_controller_t *from, gpc_index_t message, const gpc_nodeset_t *to);
    /* INSTANT for the line at the L1s of the set (NULL: at all) but `except`, now, without a message (ideal protocols). */
    int (*instant)(void *world, gpc_controller_t *from, gpc_address_t line, const gpc_nodeset_t *to, gpc_node_t except);
    /* A TIMER for the line (or, with line GPC_NEVER, for the unit: `tag` comes back in fields[0]) at a core cycle. Leases are never
     * timers: only what waits for one is. A background timer keeps no launch running: a launch ends, or is a deadlock, when only
     * background timers are left, which are dropped then. A periodic one sets itself again, and KERNEL_BEGIN sets the first. */
    int (*wake_at)(void *world, gpc_controller_t *unit, gpc_cycle_t at, gpc_address_t line, uint32_t tag,
                   bool background);
    /* At the next edge of the unit's clock its ready entries act and its held requests are retried. */
    int (*turn)(void *world, gpc_controller_t *unit);
    /* Whether the unit's outbox has room for one more message on the network: what a drain asks before it sends. The unit gets
     * a turn when messages leave a full outbox. */
    bool (*room)(const void *world, const gpc_controller_t *unit, uint8_t network);
    /* The warp may ask order.c again at that core cycle (0: now). */
    int (*wake_warp)(void *world, gpc_controller_t *l1, uint16_t warp, gpc_cycle_t at);
    /* The words of message->mask of the core's request have been carried out; the request is done when all of its words are.
     * words: the line, for a load; atomics have their old values in the lane list. Takes the message over. `hit`: with the
     * L1's own latency, else at the cost of an answer that has arrived. */
    int (*complete)(void *world, gpc_controller_t *l1, gpc_index_t message, const uint32_t *words, bool hit);
    /* Asks memory for the line: a FILL message comes back. */
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

/* A message a protocol sends. Its size on the wire is fixed_bytes + bytes_per_word * words of its mask + bytes_per_lane_word * words
 * of its lane list (operands up, old values down). */
typedef struct {
    const char *name;
    gpc_traffic_class_t traffic_class;
    uint8_t network;
    uint8_t fixed_bytes;
    uint8_t bytes_per_word; /* 0 or 4 */
    bool whole_line;        /* carries a whole line whatever its mask says */
    const char *text;
} gpc_message_info_t;

/* X(NAME, class, network, fixed bytes, bytes a word, whole line, text): GPC_MESSAGES(MSG, LIST) makes MSG_NAME.. from GPC_MSG_OWN on
 * and the array `MSG_info`. */
#define GPC_MESSAGE_ENUM_(prefix, name, ...) prefix##_##name,
#define GPC_MESSAGE_INFO_(prefix, name, class_, network, fixed, word, line, text) {#name, GPC_CLASS_##class_, network, fixed, word, line, text},
#define GPC_MESSAGES(prefix, LIST)                                                                 \
    enum { prefix##_BEFORE_ = GPC_MSG_OWN - 1, LIST(GPC_MESSAGE_ENUM_, prefix) prefix##_END };     \
    static const gpc_message_info_t prefix##_info[] = {LIST(GPC_MESSAGE_INFO_, prefix)};

typedef struct {
    const char *name; /* "request", "response" */
    bool ordered;     /* FIFO per source, destination and network; else none is assumed */
    bool requests;    /* what travels on it may be held; nothing else is ever held */
} gpc_network_info_t;

/* A tag array: "tags" the L1's own size, a directory's, a write cache's. */
typedef struct {
    const char *name;
    gpc_describe_t line; /* metadata beside a tag */
    /* Sets and ways, from machine and options; NULL: the machine's for the position. */
    void (*geometry)(const gpc_machine_t *machine, const int64_t *options, uint32_t *sets, uint32_t *ways);
    bool has_data;
} gpc_array_info_t;

/* A pool of entries with a state each: a store buffer, a FIFO, a write-back buffer, a queue. */
typedef struct {
    const char *name;
    gpc_describe_t entry;
    uint32_t (*capacity)(const gpc_machine_t *machine, const int64_t *options);
    bool ordered;  /* a FIFO: entries leave in the order they came */
    bool may_rest; /* entries may be left at the end of a run */
    uint8_t steps; /* that ready entries take in a cycle of the unit's clock; 0: one */
} gpc_part_info_t;

/* What a controller counts of its own: counters, or histograms of values. */
typedef struct {
    const char *name, *text;
} gpc_count_info_t;

/* X(prefix, name, text): GPC_COUNTS(PREFIX, LIST) makes PREFIX_name.. and the array `PREFIX_info`, for .counters or .histograms. */
#define GPC_COUNT_ENUM_(prefix, name, text) prefix##_##name,
#define GPC_COUNT_INFO_(prefix, name, text) {#name, text},
#define GPC_COUNTS(prefix, LIST)                                                                   \
    enum { LIST(GPC_COUNT_ENUM_, prefix) prefix##_END };                                           \
    static const gpc_count_info_t prefix##_info[] = {LIST(GPC_COUNT_INFO_, prefix){NULL, NULL}};

/* Where a list of sharers is, which sharers.h works on. */
typedef struct {
    uint8_t array;
    uint16_t offset; /* among the fields beside its tags */
} gpc_sharers_info_t;

/* With the option at that value, `by` takes the place of the table: the same states and events, other cells. */
typedef struct {
    uint8_t table;  /* its number */
    uint8_t option; /* its number */
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
    const gpc_table_t *tables[GPC_MAX_TABLES]; /* table 0 takes the requests and messages about lines; ends with NULL */
    gpc_variant_t variants[GPC_MAX_VARIANTS];  /* ends with a null table */
    gpc_array_info_t arrays[GPC_MAX_ARRAYS];   /* ends with a null name */
    gpc_part_info_t parts[GPC_MAX_PARTS];      /* ends with a null name */
    /* What a table over lines or words is about: its index among the arrays; over entries: among the parts. */
    uint8_t object_of[GPC_MAX_TABLES];
    gpc_describe_t mshr, unit, warp, core;         /* metadata; NULL: none */
    const gpc_count_info_t *counters, *histograms; /* of its own, by GPC_COUNTS; NULL: none */
    gpc_sharers_info_t sharers;
    /* Messages on each network that may wait in front of it before `room` says no; 0: GPC_OUTBOX_LIMIT. */
    uint8_t outbox;
    /* Transaction entries, from machine and options; NULL: the machine's for the position. */
    uint32_t (*mshrs)(const gpc_machine_t *machine, const int64_t *options);
    /* The table that takes a message, new or replayed, or the unit's TIMER; NULL: table 0. */
    uint8_t (*route)(const gpc_controller_t *unit, const gpc_msg_t *msg);
    /* The entry of the part that a message routed to a table over entries is about; NULL: the newest one about its line.
     * GPC_NONE: the step is one of the table's initial state, whose first action may take an entry (gpc_take_entry). */
    gpc_index_t (*entry_of)(const gpc_controller_t *unit, uint8_t part, const gpc_msg_t *msg);
    /* Lower is evicted sooner, among those the table lets go; NULL: least recently used. */
    uint32_t (*victim_rank)(const gpc_controller_t *unit, uint8_t array, gpc_index_t way);
    /* A launch: bit t of `begins`: table t gets KERNEL_BEGIN; of `ends`: KERNEL_END, at a core once its last warp is done, elsewhere
     * once all cores are. A table over lines or words gets it for every line and transaction, over entries for every entry, and
     * none may be held; over the unit once, and it may hold a KERNEL_END until a later turn. With any `ends` the launch
     * lasts until what they cause is over. */
    uint8_t begins, ends;
    /* Before the tables are told, KERNEL_BEGIN or KERNEL_END: sets unit, core and warp fields. NULL: they stay. */
    void (*launch)(gpc_controller_t *unit, uint8_t cause);
    /* The state may be left at the end of a run: TC's evicted leases, for example. Others must have no transaction left. */
    bool may_idle_in_transaction;
    /* With it: the core cycle from which an EXPIRE ends the transaction, GPC_NEVER for one that is at work. When entries run out those
     * that may end are ended, and if there is none the held request asks for a TIMER at the first such cycle. */
    gpc_cycle_t (*idle_until)(const gpc_controller_t *unit, gpc_index_t mshr);
} gpc_controller_type_t;

/* What a protocol adds to order.c's waiting. NULL members: nothing beyond it. Only `before` and `release` may return GPC_HOLD. */
typedef struct {
    /* Whether a load, store or atomic of the warp may issue, once core rule and older accesses let it: GPC_OK; GPC_HOLD: ask when
     * the warp is woken, or at *until (set: GPC_NEVER). It may be called again after GPC_OK, so it must not count or send. */
    int (*before)(gpc_controller_t *l1, uint16_t warp, const gpc_access_t *access, gpc_cycle_t *until);
    /* The release part, once all older accesses of the warp are complete: GPC_OK done; GPC_HOLD not yet: ask when woken, or at
     * *until. Called again until done. It sends messages by gpc_controller_order, and the answer wakes the warp by wake_warp. */
    int (*release)(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until);
    /* The acquire part, once the access has its value. */
    int (*acquire)(gpc_controller_t *l1, uint16_t warp, uint8_t scope);
    /* A fence's own addition to both (rcc-wo joins its views). */
    int (*fence)(gpc_controller_t *l1, uint16_t warp, uint8_t scope);
    /* A barrier's leaving: warp metadata of `from` into `into` (maximum of GWCTs). */
    void (*join)(gpc_controller_t *l1, void *into, const void *from);
    bool same_line;        /* a warp may not issue to a line it has an access outstanding to */
    bool same_word;        /* a warp may not issue to a word it has an access outstanding to */
    bool barrier_releases; /* the last to arrive at a barrier does the release part; nobody leaves before it is done */
    bool local_scopes;     /* cta and cu need neither release nor acquire part (hrf) */
} gpc_order_traits_t;

/* ---- for monitors (check=True) ---------------------------------------------------------------------------------------------- */

/* What a load may return. */
#define GPC_PROMISES(X)                                                                                                \
    X(NOTHING, "whatever the word ever held")                                                                          \
    X(FRESH, "a hit: the value of the last write performed; an answer: what the word held since the load was made")    \
    X(LEASED, "the same, or what was there before a write that is not visible everywhere yet")
typedef enum {
#define X(name, text) GPC_PROMISE_##name,
    GPC_PROMISES(X)
#undef X
} gpc_promise_t;

/* What the generic monitors (check/monitor.c) hold a protocol to, and where they look; states are those of L1 table 0. Over words
 * each word is looked at by its own state. */
typedef struct {
    gpc_promise_t promise;
    uint32_t readable;   /* bit s: in state s an L1 serves loads from its copy */
    uint32_t copies;     /* bit s: in state s it has words that it may come to serve; readable states among them */
    uint32_t owners;     /* bit s: it may write them without asking; then nobody else has a copy */
    bool bank_is_whole;  /* the bank's line, where it has one, holds every write performed */
    uint32_t bank_words; /* the same over words: bit s of the bank's table 0: a word in state s does */
    /* The last cycle in which a copy may be read, and the last one of all leases of the line that the bank knows of (0: none).
     * NULL: copies do not end by themselves. */
    gpc_cycle_t (*lease)(const gpc_controller_t *l1, gpc_index_t way);
    gpc_cycle_t (*leased)(const gpc_controller_t *bank, gpc_address_t line);
} gpc_watched_t;

/* The controllers that a protocol's own monitor looks at. */
typedef struct {
    gpc_controller_t *const *cores; /* [num_cores]: those at core position */
    uint32_t num_cores;
    gpc_controller_t *bank;            /* the home of the line; NULL: the step was about no line */
    gpc_controller_t *global, *memory; /* NULL: the machine has none */
} gpc_units_t;

/* Who watches a controller, told between its steps; a member returns 0 or an error. */
typedef struct {
    void *watcher;
    /* A step about the line is over; GPC_NEVER: about the unit alone. */
    int (*stepped)(void *watcher, gpc_controller_t *unit, gpc_address_t line);
    /* The store or atomic (its lanes have their old values) is performed: what it replaces is read by nobody after `until`. */
    int (*performed)(void *watcher, gpc_controller_t *unit, const gpc_msg_t *write, gpc_cycle_t until);
    /* The core's store is accepted: it will be completed before it is performed. */
    int (*accepted)(void *watcher, gpc_controller_t *l1, const gpc_msg_t *store);
    /* The core's request is being completed; the arguments are those of the port. */
    int (*completed)(void *watcher, gpc_controller_t *l1, const gpc_msg_t *request, const uint32_t *words, bool hit);
} gpc_watch_t;

typedef struct {
    const char *name;
    int64_t standard, smallest, largest;
    /* "off on", "back through": names of the values from `smallest` on; values beyond them, or all (NULL), are numbers. */
    const char *choices;
    const char *text;
    struct {
        bool given;
        int64_t value;
    } small;                       /* what the explorer takes on its small machine; not given: the standard */
    int64_t fuzz_least, fuzz_most; /* what the random tester draws from; both 0: it leaves the option alone */
} gpc_option_info_t;

/* Narrows an `instant` to all L1s down to those that may have to do with the line, so that the others need not be asked. It changes
 * no result. The machine keeps `bytes` for it, zero at the start; the explorer keeps none and asks all. */
typedef struct {
    size_t (*bytes)(uint32_t l1s);
    void (*candidates)(void *filter, gpc_controller_t *const *l1s, uint32_t num_l1s, gpc_address_t line,
                       gpc_nodeset_t *out);
} gpc_instant_filter_t;

/* ---- what tests, figures and tools know of a protocol beside its tables -------------------------------------------------------- */

/* Cells that no program enters on a machine: every pair of the states and events, which are separated by spaces. */
typedef struct {
    const char *table, *states, *events;
    const char *rules; /* NULL: under any */
    const char *reason;
} gpc_uncovered_t;

#define GPC_MAX_UNCOVERED 8

typedef struct {
    uint8_t figure_slot; /* its place among colours and hatches, no other protocol's */
    /* Litmus tests, separated by spaces, whose weak state it allows and runs must show. */
    const char *weak_outcomes;
    /* Options that tests run beside the standards: "private=literal lifetime=0", several at once with commas. */
    const char *variations;
    gpc_uncovered_t uncovered[GPC_MAX_UNCOVERED]; /* ends with a null table */
} gpc_declared_t;

struct gpc_protocol {
    const char *id, *name, *paper, *family, *text;
    const char *model[GPC_NUM_RULES]; /* promised under each rule; NULL: refused */
    gpc_rule_t standard_rule;
    const gpc_controller_type_t *controllers[5]; /* ends with NULL; at most one of each position */
    const gpc_message_info_t *messages;
    uint32_t num_messages;
    /* What its messages carry in `fields`: a described struct of uint64_t members laid over them; NULL: nothing. */
    gpc_describe_t message;
    gpc_network_info_t networks[GPC_MAX_NETWORKS]; /* ends with a null name */
    gpc_order_traits_t order;
    gpc_option_info_t options[GPC_MAX_OPTIONS]; /* ends with a null name */
    /* Values beside or instead of the standards that follow from the machine. */
    void (*derive)(const gpc_machine_t *machine, int64_t *options);
    /* Whether machine and options fit each other; NULL: always. GPC_ERROR_OPTION with both told. */
    int (*check)(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure);
    gpc_declared_t declared;
    /* Timestamps of machine->timestamp_bits bits of core cycles: they begin again, which is counted. With any field of kind TIME or
     * LOGICAL it must be set: gpc_protocol_check_time. */
    bool keeps_time;
    /* Zero-time, uncounted accesses of an agent outside all L1s; all quiet. cores: the core-position controllers; bank: the one that
     * is home to the line. They read and write the words of mask where they are; memory itself is the caller's: `words` comes in
     * with memory's content and goes out coherent (read); a write has already reached memory. */
    int (*host_read)(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
                     gpc_mask_t mask, uint32_t *words);
    int (*host_write)(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
                      gpc_mask_t mask, const uint32_t *words);
    /* Monitors, with check on: what the generic ones go by, and the protocol's own, called after every step of a controller with
     * the line it was about; a step of a table over the unit may be about none (GPC_NEVER). Tells by gpc_violated. */
    const gpc_watched_t *watched;
    int (*monitor)(const gpc_units_t *units, gpc_address_t line);
    const gpc_instant_filter_t *instant_filter; /* optional */
};

/* GPC_ERROR_PROTOCOL, with the field's name, if it has timestamps and ignores how many bits the machine gives them. */
GPC_MUST_CHECK int gpc_protocol_check_time(const gpc_protocol_t *self, gpc_failure_t *failure);
/* Options by their standards, then derived, then as given; GPC_ERROR_OPTION names what is wrong. */
GPC_MUST_CHECK int gpc_protocol_options(const gpc_protocol_t *self, const gpc_machine_t *machine,
                                        const gpc_option_value_t *given, uint32_t num_given, int64_t *options,
                                        gpc_failure_t *failure);

/* ---- a controller at work -------------------------------------------------------------------------------------------------- */

#define GPC_CONTROLLER_STATISTICS(X)                                                                   \
    X(loads, "line requests taken")                                                                    \
    X(load_hits, "served here")                                                                        \
    X(load_misses, "sent on")                                                                          \
    X(load_merges, "joined an outstanding miss")                                                       \
    X(expired, "loads that found their copy expired")                                                  \
    X(stores, "line requests taken")                                                                   \
    X(atomics, "line requests taken")                                                                  \
    X(evictions, "")                                                                                   \
    X(writebacks, "")                                                                                  \
    X(fetches, "lines asked of memory")                                                                \
    X(invalidations, "copies dropped at another's wish")                                               \
    X(self_invalidations, "copies dropped at the own core's acquire or a kernel's begin")              \
    X(leases, "given to loads")                                                                        \
    X(lease_cycles, "their lifetimes, predicted or fixed, in sum")                                     \
    X(leases_cut, "those that end before their time, with the timestamps' epoch")                      \
    X(held_line, "requests that waited for a line")                                                    \
    X(held_queue, "turns in which the queue's head had to wait")

typedef struct {
#define X(name, text) uint64_t name;
    GPC_CONTROLLER_STATISTICS(X)
#undef X
} gpc_controller_statistics_t;

typedef struct {
    gpc_controller_t *unit;
    uint8_t number; /* of the unit's parts */
    uint8_t table;  /* the first over its entries; GPC_MAX_TABLES: none */
    gpc_pool_t pool;
    uint32_t fields_size;
    uint8_t *fields;
    uint8_t *states;
    gpc_list_t *order; /* the entries in the order they came */
    gpc_list_t *ready; /* those that are to act, in the order they became ready */
    uint32_t buckets;
    gpc_index_t *bucket; /* entries found by line */
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
    gpc_arena_t *counts_arena; /* where counts and statistics live; NULL: with the rest */
    gpc_node_t node;
    uint32_t index; /* number of the core or bank */
    uint32_t first_bank;
    gpc_interleaving_t interleaving; /* of lines over banks */
    /* Borrowed; [GPC_NUM_POSITIONS]: where the one global, memory-side and host controller is; NULL: the machine has none. */
    const gpc_node_t *places;
    gpc_tags_t arrays[GPC_MAX_ARRAYS];
    gpc_part_t parts[GPC_MAX_PARTS];
    gpc_mshr_table_t mshrs;
    void *unit_fields, *core_fields;
    uint8_t *warp_fields; /* [warps]; order.c owns who may look when */
    uint32_t warp_fields_size;
    /* controller.c's, for steps below it that find no free transaction: those whose idle_until has come get an EXPIRE. GPC_OK: an
     * entry is free; GPC_HOLD: none; a TIMER is asked for. */
    int (*end_idle)(gpc_controller_t *self);
    void *instant_filter;             /* one for all L1s, in the machine's arena; NULL: nobody keeps one */
    uint8_t *unit_states;             /* one a table, for tables over the unit */
    uint8_t *untold;                  /* bit t: table t has yet to take a launch's begin or end */
    gpc_list_t *replay;               /* held requests whose line has changed: before anything new is taken */
    uint32_t *ready;                  /* ready entries of all parts */
    gpc_cycle_t *idle_timer;          /* when the TIMER for idle transactions comes; 0: none is asked for */
    gpc_list_t sent;                  /* over words: what this step sends so far; empty between steps */
    bool collects;                    /* such a step is under way */
    uint8_t request_networks;         /* bit n: what travels on network n is a request */
    bool program_fences;              /* the program that runs has a fence, or an acquire, release or sc access */
    uint64_t *counts[GPC_MAX_TABLES]; /* cells entered, [state][event] */
    const gpc_watch_t *monitors;      /* borrowed; NULL: nobody watches */
    gpc_controller_statistics_t *statistics;
    uint64_t *own_counters; /* of the type's counters; NULL: none */
    gpc_histogram_t *own_histograms;
    /* Told of every cell before it is carried out; NULL: nobody looks on. */
    void (*watch)(void *world, const gpc_step_t *x, uint8_t event, const gpc_cell_t *cell);
};

/* How many counters or histograms a list has. */
static inline uint32_t
gpc_num_counts(const gpc_count_info_t *infos)
{
    uint32_t count = 0;
    while (infos && infos[count].name) {
        count++;
    }
    return count;
}
/* Whether it is one of a protocol's type, which options may have given other tables. */
static inline bool
gpc_is_of_type(const gpc_controller_t *unit, const gpc_controller_type_t *type)
{
    return unit->type->position == type->position;
}

GPC_MUST_CHECK int gpc_controller_init(gpc_controller_t *self, const gpc_controller_type_t *type, gpc_arena_t *arena);
void gpc_controller_clear(gpc_controller_t *self); /* lines, transactions, lists; messages are the world's */

/* A message or core request for this controller. GPC_OK: taken (it may be waiting inside); GPC_HELD_QUEUE: not taken, offer it
 * again after anything has changed here; negative: an error. */
GPC_MUST_CHECK int gpc_controller_take(gpc_controller_t *self, gpc_index_t message);
/* The first replayed request, if there is one: GPC_OK, GPC_HELD_QUEUE or an error. New requests wait while there are any. */
GPC_MUST_CHECK int gpc_controller_replay(gpc_controller_t *self);
/* The first ready entry of the part takes a REPLAY step by the part's table. GPC_OK: it did, or waits for a transaction, or there is
 * none; GPC_HELD_QUEUE: the step is refused, and the entry stays first. */
GPC_MUST_CHECK int gpc_part_turn(gpc_part_t *part);
/* A cycle of the unit's clock: each part's ready entries take as many steps as the part declares. GPC_HELD_QUEUE: none could. */
GPC_MUST_CHECK int gpc_controller_turn(gpc_controller_t *self);
/* A cause without a message: EVICT (explorer), INSTANT, TIMER. */
GPC_MUST_CHECK int gpc_controller_cause(gpc_controller_t *self, uint8_t cause, gpc_address_t line);
/* The same for the masked words of a line by table `table`, for actions of another table too. The message (or GPC_NONE) is
 * handed over. GPC_OK: done, or the message waits for the line; GPC_HOLD: nothing was done and the message is still the
 * caller's: what a first action may return. */
GPC_MUST_CHECK int gpc_controller_line(gpc_controller_t *self, uint8_t table, uint8_t cause, gpc_address_t line,
                                       gpc_mask_t mask, gpc_index_t message);
/* A launch begins (KERNEL_BEGIN), or ends here (KERNEL_END): what the type's `begins`, `ends` and `launch` say. GPC_OK; an error;
 * or GPC_HELD_QUEUE: a table holds the KERNEL_END; calling this again goes on from there. */
GPC_MUST_CHECK int gpc_controller_launch(gpc_controller_t *self, uint8_t cause);
/* The cause for every line that the array holds. */
GPC_MUST_CHECK int gpc_controller_walk(gpc_controller_t *self, uint8_t array, uint8_t cause);
/* The cause for every line that is in a transaction, with a way or without. */
GPC_MUST_CHECK int gpc_controller_walk_transactions(gpc_controller_t *self, uint8_t cause);
GPC_MUST_CHECK int gpc_controller_verify(gpc_controller_t *self, bool at_rest);
void gpc_controller_encode(gpc_controller_t *self, gpc_encoder_t *out);
void gpc_controller_print(gpc_controller_t *self, gpc_text_t *out);

/* ---- for actions: what they may do --------------------------------------------------------------------------------------- */

static inline gpc_cycle_t
gpc_now(const gpc_step_t *x)
{
    return x->unit->ports->now(x->unit->world);
}
#define gpc_count(x, what) ((x)->unit->statistics->what++)
/* The same for what the controller's type declares: counter or histogram PREFIX_name. */
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

/* To be called before the L1 completes a store that is not performed yet: the core's request in hand. From now on the store is known
 * by core and word: it has no request, so whatever is sent on its behalf has GPC_NONE there. The core's loads may read it; the
 * release part has to wait until it is performed, and so has the end of the launch. */
GPC_MUST_CHECK int gpc_note_accepted(gpc_step_t *x);
/* To be called where the own core's accepted stores are performed in words of x->line, with these values, and no message has them. */
GPC_MUST_CHECK int gpc_note_drained(gpc_step_t *x, gpc_mask_t mask, const uint32_t *words, gpc_cycle_t until);
/* To be called where a store or atomic is performed: in hand, `message`, or one that it waits for; by a protocol whose loads
 * promise anything. Without a request it is accepted stores of message->requester. until: the last core cycle in which another L1
 * may read what was there before; 0: none. */
static inline int
gpc_note_performed(gpc_step_t *x, gpc_index_t message, gpc_cycle_t until)
{
    const gpc_watch_t *watch = x->unit->monitors;
    return watch ? watch->performed(watch->watcher, x->unit, gpc_msg_at(x->unit->messages, message), until) : GPC_OK;
}
/* The state of a line by table 0, of its word if that is over words; *way: where its words are, or GPC_NONE. */
uint8_t gpc_state_at(const gpc_controller_t *unit, gpc_address_t line, uint32_t word, gpc_index_t *way);
static inline bool
gpc_is_among(uint32_t states, uint8_t state) /* of gpc_watched_t */
{
    return states >> state & 1;
}
/* An invariant does not hold: noted with the line, whose state everywhere is added. GPC_ERROR_INVARIANT. */
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
/* Whether a read miss could have a way of the array now. */
bool gpc_can_reserve_way(const gpc_step_t *x);
/* A way for the line, its victim evicted by the table. First action of a cell: GPC_HOLD when there is none, or when the victim
 * leaves in a transaction of its own (a recall); no second one leaves the set meanwhile. */
GPC_MUST_CHECK int gpc_reserve_way(gpc_step_t *x);
/* The same in another array that holds the table's state; in all of them, or none. An EVICT tells by x->array which way goes. */
GPC_MUST_CHECK int gpc_reserve_way_in(gpc_step_t *x, uint8_t array);
GPC_MUST_CHECK int gpc_reserve_ways(gpc_step_t *x);
/* The line's way, if it has one, is free. */
GPC_MUST_CHECK int gpc_release_way(gpc_step_t *x);
GPC_MUST_CHECK int gpc_release_way_in(gpc_step_t *x, uint8_t array);
/* Every pending message, in order; none when x is in no transaction. The loop must not take any out. */
gpc_msg_t *gpc_first_pending(const gpc_step_t *x); /* NULL: there is none */
static inline gpc_msg_t *
gpc_next_pending(const gpc_step_t *x, const gpc_msg_t *pending)
{
    return pending->next == GPC_NONE ? NULL : gpc_msg_at(x->unit->messages, pending->next);
}
#define GPC_FOR_PENDING(x, pending)                                                                \
    for (gpc_msg_t *pending = gpc_first_pending(x); pending; pending = gpc_next_pending(x, pending))
/* The first one, taken out; GPC_NONE when there is none. */
gpc_index_t gpc_pop_pending(gpc_step_t *x);
/* Every pending message is answered by `answer` with `type`, in order, and freed. */
GPC_MUST_CHECK int gpc_answer_pending(gpc_step_t *x, uint8_t type,
                                      int (*answer)(gpc_step_t *x, gpc_index_t to, uint8_t type));
/* The message (usually the core's request) joins the transaction's pending list. */
GPC_MUST_CHECK int gpc_keep_pending(gpc_step_t *x);
/* Takes the first pending message whose `request` is this out of the list: GPC_NONE when there is none. A load that merges takes
 * over the `request` of the one that was sent on, so that one answer finds them all. */
gpc_index_t gpc_take_pending(gpc_step_t *x, gpc_index_t request);
/* Over words: the same for what asks for any of the masked words, those words only (the rest stays pending). GPC_NONE: none,
 * or, with a failure told, no room to split. */
gpc_index_t gpc_take_pending_words(gpc_step_t *x, gpc_index_t request, gpc_mask_t mask);
/* All pending messages are taken again, each as if it had just come, before anything new. */
GPC_MUST_CHECK int gpc_replay_pending(gpc_step_t *x);
/* Every message of a list of the protocol's own is taken again, behind those that are to be replayed already. */
GPC_MUST_CHECK int gpc_replay_list(gpc_step_t *x, gpc_list_t *list);
/* A new message about x->line from here, on behalf of whom x's cause is; to be filled in, then sent. Without room a failure is
 * told, and what comes back is nobody's message, which gpc_send refuses. */
gpc_msg_t *gpc_new_message(gpc_step_t *x, uint8_t type, gpc_node_t destination);
/* The masked words of `line`, or the whole line, as its type carries any. */
void gpc_carry(const gpc_step_t *x, gpc_msg_t *msg, gpc_mask_t words, const uint32_t *line);
/* For the core's request x->msg, to the line's home: with its words (stores), its lane list (atomics: moved along). For an entry
 * that acts by itself there is no request: the caller says what it carries. */
gpc_msg_t *gpc_new_request(gpc_step_t *x, uint8_t type);
/* To the sender of message `to` (x->message, or a pending one): its request named, its lane list moved along, words of x's line as
 * the type carries any. */
gpc_msg_t *gpc_new_answer(gpc_step_t *x, gpc_index_t to, uint8_t type);
static inline const gpc_message_info_t *
gpc_message_info(const gpc_controller_t *unit, uint8_t type) /* of the protocol's own types */
{
    return &unit->protocol->messages[type - GPC_MSG_OWN];
}
/* Whether it is a core's, or travels on a network of requests: then it may wait for lines and queues. */
static inline bool
gpc_is_request(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    return msg->type < GPC_MSG_OWN ? msg->type <= GPC_MSG_ATOMIC : unit->request_networks >> msg->network & 1;
}
/* It leaves; over words at the step's end, as one with what was sent alike. It is not the caller's any more. */
GPC_MUST_CHECK int gpc_send(gpc_step_t *x, gpc_msg_t *msg);
/* One copy of it to every controller of the set. */
GPC_MUST_CHECK int gpc_broadcast(gpc_step_t *x, gpc_msg_t *msg, const gpc_nodeset_t *to);
/* Bytes on the wire. */
uint32_t gpc_message_bytes(const gpc_controller_t *unit, const gpc_msg_t *msg);
GPC_MUST_CHECK int gpc_fetch(gpc_step_t *x); /* asks memory for x->line: a FILL comes */
/* The masked words of `line` to memory. */
GPC_MUST_CHECK int gpc_write_memory(gpc_step_t *x, gpc_mask_t words, const uint32_t *line);
GPC_MUST_CHECK int gpc_complete(gpc_step_t *x, gpc_index_t request, const uint32_t *words, bool hit);
/* Gives a message and its lane list back. */
void gpc_free_message(gpc_controller_t *unit, gpc_index_t message);
/* The words of mask from `from` into `to`. */
void gpc_merge_words(uint32_t *to, const uint32_t *from, gpc_mask_t mask);
static inline gpc_mask_t
gpc_all_words(const gpc_controller_t *unit)
{
    uint32_t words = unit->machine->line_bytes / 4;
    return words == 32 ? UINT32_MAX : (UINT32_C(1) << words) - 1;
}

/* ---- entries of parts (store buffers, FIFOs) -------------------------------------------------------------------------------- */

gpc_index_t gpc_part_take(gpc_part_t *part, gpc_address_t line); /* at the end of its order; GPC_NONE when full */
void gpc_part_give(gpc_part_t *part, gpc_index_t entry);         /* from anywhere in it */
gpc_index_t gpc_part_find(const gpc_part_t *part,
                          gpc_address_t line);                        /* the newest entry about the line, or GPC_NONE */
gpc_index_t gpc_part_first(const gpc_part_t *part);                   /* the oldest, or GPC_NONE */
gpc_index_t gpc_part_next(const gpc_part_t *part, gpc_index_t entry); /* the next younger one, or GPC_NONE */
gpc_address_t gpc_part_line(const gpc_part_t *part, gpc_index_t entry);
/* The entry is to act: it gets a REPLAY step when its turn comes. Nothing for one that is ready or waits already. A step that is
 * refused is retried when anything has changed at the unit, the entries ready behind it meanwhile wait; with HOLD_LINE the entry
 * alone waits, and becomes ready when the line's transaction changes its state. */
GPC_MUST_CHECK int gpc_part_ready(gpc_part_t *part, gpc_index_t entry);
bool gpc_part_is_ready(const gpc_part_t *part, gpc_index_t entry);
static inline void *
gpc_part_fields(const gpc_part_t *part, gpc_index_t entry)
{
    return part->fields + (size_t) entry * part->fields_size;
}
/* For an entry's action: a step of table `table` about the masked words of x's line. GPC_HELD_LINE: some of them wait for a
 * transaction, and x's entry does too; the action returns it as it returns GPC_HOLD, but may have had effects. */
GPC_MUST_CHECK int gpc_entry_line(gpc_step_t *x, uint8_t table, uint8_t cause, gpc_mask_t mask);
/* First action of a step over entries that has none: a new entry of the table's part for x's line. GPC_HOLD: the part is full.
 * An entry leaves its part when its state becomes the table's initial one. */
GPC_MUST_CHECK int gpc_take_entry(gpc_step_t *x);
/* The cause at one entry of a part, by table `table`; the step is about the entry's line. */
GPC_MUST_CHECK int gpc_controller_entry(gpc_controller_t *self, uint8_t table, uint8_t part, gpc_index_t entry,
                                        uint8_t cause, gpc_index_t message);
/* The cause at the unit itself, by table `table`. */
GPC_MUST_CHECK int gpc_controller_unit(gpc_controller_t *self, uint8_t table, uint8_t cause, gpc_index_t message);
/* For order hooks: a warp's RELEASE or ACQUIRE as a step of a table over the unit, whose actions may send; x->warp and x->scope tell
 * whose it is, and so do the messages. GPC_OK; GPC_HOLD: a cell or its first action holds, as `release` and `before` may; or an error. */
GPC_MUST_CHECK int gpc_controller_order(gpc_controller_t *self, uint8_t table, uint8_t cause, uint16_t warp,
                                        uint8_t scope);

#endif
