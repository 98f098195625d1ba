/* declare.h: what a protocol declares. Parts with other readers have files of their own: order_traits.h, watched.h
 * (monitors), explored.h, declared.h (tests and tools).
 *
 * A protocol is a set of controllers. A controller has tables (fsm.h) over lines, words, entries or itself, and parts:
 * tag arrays, MSHRs, pools of entries (store buffers, FIFOs). Two worlds run controllers: the machine (machine/) and
 * the explorer (check/explore/world.h); a protocol file cannot tell which one runs it (ports.h). resolve.h makes what
 * they run.
 */
#ifndef GPC_CONTROLLER_DECLARE_H
#define GPC_CONTROLLER_DECLARE_H

#include "base/failure.h"
#include "base/machine.h"
#include "base/rules.h"
#include "controller/boundary.h"
#include "controller/declared.h"
#include "controller/explored.h"
#include "controller/fsm.h"
#include "controller/order_traits.h"
#include "controller/position.h"
#include "controller/watched.h"

typedef struct gpc_protocol gpc_protocol_t;

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

/* A message type of a protocol. Its bytes are fixed_bytes + its payload: the words of its lane list (operands up, old
 * values down), or else a whole line (with sectors, of those with wanted words), or bytes_per_word * words of its mask.
 * Flits are the bytes over the link's width, rounded up. */
typedef struct {
    const char *name;
    gpc_traffic_class_t traffic_class;
    uint8_t network;
    uint8_t fixed_bytes;
    uint8_t bytes_per_word; /* 0 or 4 */
    bool whole_line;        /* carries a whole line, whatever its mask */
    const char *text;
} gpc_message_info_t;

/* X(NAME, class, network, fixed bytes, bytes per word, whole line, text): GPC_MESSAGES(MSG, LIST) defines MSG_NAME..
 * from GPC_MSG_OWN on and the array `MSG_info`. */
#define GPC_MESSAGE_ENUM_(prefix, name, ...) prefix##_##name,
#define GPC_MESSAGE_INFO_(prefix, name, class_, network, fixed, word, line, text) {#name, GPC_CLASS_##class_, network, fixed, word, line, text},
#define GPC_MESSAGES(prefix, LIST)                                                                 \
    enum { prefix##_BEFORE_ = GPC_MSG_OWN - 1, LIST(GPC_MESSAGE_ENUM_, prefix) prefix##_END };     \
    static const gpc_message_info_t prefix##_info[] = {LIST(GPC_MESSAGE_INFO_, prefix)};
/* In a protocol's declaration: its messages. */
#define GPC_MESSAGES_OF(prefix) .messages = prefix##_info, .num_messages = GPC_COUNT_OF(prefix##_info)

typedef struct {
    const char *name; /* "request", "response" */
    bool ordered;     /* FIFO per source, destination and network; else unordered */
    /* Its messages may be held, also at an L1 (forwards, HOLD_LINE), and the ordered ones behind them wait too;
     * messages of other networks are never held. Forwards and a core's requests do not wait for each other. */
    bool requests;
    bool star; /* on links of its own, with a clock of their own, that join every controller with every other */
    /* After a request of one network a bank takes one of the next lower network first, if one of its networks says so;
     * else those of the highest network, which may hold the others up as long as they come. */
    bool rotates;
    /* a broadcast crosses its source's link once, and the switch replicates it; else it is one message per
     * destination */
    bool multicast;
    /* L1s send on it what others make them send, and nothing for their core: its requests do not wait for room on it */
    bool answers;
} gpc_network_info_t;

/* A tag array: of a cache, a directory or a write cache. */
typedef struct {
    const char *name;
    gpc_describe_t line; /* metadata beside a tag */
    /* Sets and ways, from machine and options; NULL: those of the machine for the position. */
    void (*geometry)(const gpc_machine_t *machine, const int64_t *options, uint32_t *sets, uint32_t *ways);
    bool has_data;
    /* Core cycles that a hit in this array takes beyond the L1's hit latency (gpc_complete_from), from machine and
     * options; NULL: 0. */
    uint32_t (*extra)(const gpc_machine_t *machine, const int64_t *options);
} gpc_array_info_t;

enum { GPC_PART_BANKS = 16 }; /* at most */

/* A pool of entries with a state each: a store buffer, a FIFO, a write-back buffer, a queue. */
typedef struct {
    const char *name;
    gpc_describe_t entry;
    uint32_t (*capacity)(const gpc_machine_t *machine, const int64_t *options);
    bool ordered;  /* a FIFO: entries leave in order of arrival */
    bool may_rest; /* entries may remain at the end of a run */
    uint8_t banks; /* an entry's bank is its number modulo this; 0: one bank */
    uint8_t steps; /* steps of ready entries per cycle of the unit's clock in each bank; 0: one */
    /* Of a store buffer (store_buffer.h): the messages that write entries through and acknowledge it, and what is
     * called at the end of a flush; 0, NULL: none. */
    uint8_t writes, written;
    int (*flushed)(gpc_controller_t *unit);
} gpc_part_info_t;

/* A counter or histogram that a controller type declares. */
typedef struct {
    const char *name, *text;
} gpc_count_info_t;

/* X(prefix, name, text): GPC_COUNTS(PREFIX, LIST) defines PREFIX_name.. and the array `PREFIX_info`, for .counters or
 * .histograms. */
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

/* Where a uint64_t field is, in the fields of its object, plus 1; 0: nowhere. GPC_PLACE(tc_l2, line, timestamp). */
typedef uint16_t gpc_place_t;
#define GPC_PLACE(owner, object, member)                                                                               \
    (gpc_place_t) (offsetof(owner##_##object##_t, member) + 1 / (sizeof(((owner##_##object##_t *) 0)->member) == 8))

/* An option's index, plus 1; 0: none. */
#define GPC_OPTION(index) ((index) + 1)

/* Where leases are (lease.h): beside a line of array 0, in the transaction of an evicted line, in the unit the latest
 * of all lines evicted; and the unit's logical clock, at which copies are read. */
typedef struct {
    gpc_place_t line, mshr, unit, clock;
    uint8_t tick;  /* GPC_OPTION: core cycles after which the clock advances by 1 (clock.h) */
    uint8_t stall; /* at a bank, GPC_OPTION: core cycles that a rollover takes (logical.h) */
} gpc_lease_info_t;

/* When the option has that value, `by` replaces the table: equal states and events, other cells (GPC_PATCHED_TABLE). */
typedef struct {
    uint8_t table;  /* index */
    uint8_t option; /* index */
    int64_t value;
    const gpc_table_t *by;
} gpc_variant_t;

#define GPC_MAX_TABLES 4
#define GPC_MAX_ARRAYS 3
#define GPC_MAX_PARTS 3
#define GPC_MAX_VARIANTS 8

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
    const gpc_count_info_t *rollovers;             /* of logical timestamps: one of `counters`; NULL: none */
    /* At a core, where L1s are of several kinds: the kind of this one, from machine, options and its index. The
     * explorer runs programs in every assignment of kinds to their cores, and takes L1s for alike that have one kind.
     * NULL: all are alike, so no table, action or field depends on the number of a core. */
    uint32_t (*role)(const gpc_controller_t *unit);
    gpc_sharers_info_t sharers;
    gpc_lease_info_t lease;
    gpc_place_t version; /* beside a line of array 0 (versions.h) */
    uint32_t owned;      /* at a core, bit s: in state s of table 0 its copy is newer than the bank's (owners.h) */
    uint8_t returned;    /* at a bank: the state of a line that no core has; 0: no core owns lines */
    /* Messages per network that may wait in the outbox before `room` refuses; 0: GPC_OUTBOX_LIMIT. */
    uint8_t outbox;
    /* Number of MSHRs, from machine and options; NULL: that of the machine for the position. */
    uint32_t (*mshrs)(const gpc_machine_t *machine, const int64_t *options);
    /* The table that takes a message, new or replayed, or the unit's TIMER; NULL: the first whose `causes` declare it,
     * else table 0. */
    uint8_t (*route)(const gpc_controller_t *unit, const gpc_msg_t *msg);
    /* The entry that a message routed to a table over entries concerns; NULL: the newest entry for its line.
     * GPC_NONE: the step starts in the table's initial state, and its first action may take an entry
     * (gpc_take_entry). */
    gpc_index_t (*entry_of)(const gpc_controller_t *unit, uint8_t part, const gpc_msg_t *msg);
    /* Lower ranks are evicted first, among the victims that the table accepts; NULL: least recently used. */
    uint32_t (*victim_rank)(const gpc_controller_t *unit, uint8_t array, gpc_index_t way);
    /* Bit t of `begins`: table t takes KERNEL_BEGIN; of `ends`: KERNEL_END, at a core once its last warp has exited,
     * elsewhere once all cores are done. A table over lines or words takes it for every line and transaction, over
     * entries for every entry, and may not hold it; a table over the unit takes it once, and may hold a KERNEL_END
     * until it is retried. With any `ends` the launch lasts until their effects are complete. A table whose `causes`
     * declare KERNEL_BEGIN needs no bit. */
    uint8_t begins, ends;
    /* Called before the tables take KERNEL_BEGIN or KERNEL_END; sets unit, core and warp fields. NULL: they keep their
     * values. */
    void (*launch)(gpc_controller_t *unit, uint8_t cause);
    /* Transactions may remain at the end of a run (TC's evicted leases). Other controllers must have none. */
    bool may_idle_in_transaction;
    /* For those: the core cycle from which an EXPIRE ends the transaction; GPC_NEVER: in use by an outstanding miss.
     * When no MSHR is free, expired transactions end; if there is none, the held request sets a TIMER for the first
     * such cycle. */
    gpc_cycle_t (*idle_until)(const gpc_controller_t *unit, gpc_index_t mshr);
} gpc_controller_type_t;

/* The controllers that the host's accesses to a line and a protocol's own monitor concern. */
typedef struct gpc_units {
    gpc_controller_t *const *cores; /* [num_cores]: those at core position */
    uint32_t num_cores;
    gpc_controller_t *bank;                   /* the home of the line; NULL: the step concerned no line */
    gpc_controller_t *global, *memory, *host; /* NULL: the protocol has none */
    gpc_controller_t *all;                    /* [nodes] */
    gpc_controller_t *stepped;                /* of a monitor: the one that alone has changed; NULL: any may have */
} gpc_units_t;

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
    /* Any value but the default is for analysis only, for this reason: the protocol then promises no memory model, and
     * the explorer refuses it. NULL: all values keep the promise. */
    const char *analysis;
} gpc_option_info_t;

/* An option that is a number, with the explorer's value and the random tester's range. */
#define GPC_NUMBER(name_, standard_, smallest_, largest_, text_, small_, least, most)                                  \
    {                                                                                                                  \
        .name = (name_), .standard = (standard_), .smallest = (smallest_), .largest = (largest_), .text = (text_),     \
        .small = {true, (small_)}, .fuzz_least = (least), .fuzz_most = (most)                                          \
    }

/* An option that is one of the listed words, 0 to `last`; the random tester draws any. Last the text, and further
 * fields. */
#define GPC_CHOICE(name_, standard_, last_, choices_, ...)                                                             \
    {                                                                                                                  \
        .name = (name_), .standard = (standard_), .largest = (last_), .choices = (choices_), .fuzz_most = (last_),     \
        .text = __VA_ARGS__                                                                                            \
    }

/* With that value of the option, messages have other sizes on the wire than those listed. */
typedef struct {
    uint8_t option; /* index */
    int64_t value;
    /* The size of a message; payload: the bytes of its line, words, operands or old values. NULL: no other sizes. */
    uint32_t (*bytes)(bool is_line, uint32_t payload);
} gpc_other_sizes_t;

/* With that value of the option these messages are prompt: they leave their controller in the tick of the step that
 * sends them, without its pipeline, and pass messages that are in it. In flight they keep the order of their network. A
 * controller whose answer needs no data read declares it (the acknowledgement of a store, once the store is seen).
 * Prompt messages are on networks that are not `ordered`: the explorer delivers these in every order
 * (gpc_protocol_check_prompt). */
typedef struct {
    uint32_t messages; /* bit n: the n-th of the protocol's messages (GPC_MESSAGE_BIT); 0: none */
    uint8_t option;    /* index */
    int64_t value;
} gpc_prompt_t;
#define GPC_MESSAGE_BIT(type) (UINT32_C(1) << ((type) - GPC_MSG_OWN))

/* Conservative filter for an `instant` to all L1s: those that may hold the line. It changes
 * no result. The machine allocates `bytes` for it, zeroed; the explorer has none and queries all L1s. */
typedef struct {
    size_t (*bytes)(uint32_t l1s);
    void (*candidates)(void *filter, gpc_controller_t *const *l1s, uint32_t num_l1s, gpc_address_t line,
                       gpc_nodeset_t *out);
} gpc_instant_filter_t;

struct gpc_protocol {
    /* ---- what every protocol has: nine members, with GPC_MESSAGES_OF as one ---- */

    const char *id, *paper, *family, *text;
    const char *model[GPC_NUM_RULES]; /* memory model under each rule; NULL: unsupported */
    gpc_rule_t standard_rule;
    const gpc_controller_type_t *controllers[GPC_NUM_POSITIONS]; /* at most one per position; the rest are NULL */
    const gpc_message_info_t *messages;
    uint32_t num_messages;
    gpc_network_info_t networks[GPC_MAX_NETWORKS]; /* ends with a null name */

    /* ---- optional: of its runs ---- */

    const char *name;       /* as papers write it; NULL: the id */
    const char *gpus_model; /* memory model between GPUs, where it promises less there; NULL: `model` */
    /* The messages' `fields`: a described struct of uint64_t members; NULL: none. */
    gpc_describe_t message;
    gpc_other_sizes_t other_sizes;
    gpc_prompt_t prompt;
    gpc_order_traits_t order;
    gpc_option_info_t options[GPC_MAX_OPTIONS]; /* ends with a null name */
    /* With that value of the option, the protocol runs as `by`, which has the same id, models and options (other
     * levels, other messages). */
    struct {
        uint8_t option; /* index */
        int64_t value;
        const gpc_protocol_t *by; /* NULL: no option does so */
    } instead;
    /* Option values derived from the machine, besides or instead of the defaults. */
    void (*derive)(const gpc_machine_t *machine, int64_t *options);
    /* Whether machine and options are compatible; NULL: always. GPC_ERROR_OPTION names both. */
    int (*check)(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure);
    /* The protocol handles the wrap-around of timestamps of machine->timestamp_bits bits, which is counted. Required
     * with any field of kind TIME or LOGICAL: gpc_protocol_check_time. */
    bool keeps_time;
    /* These timestamps are logical, counted from 0, a time like any other: cycles do not make them wrap around, and the
     * explorer encodes them as they are. A controller type's `rollovers` counts theirs. */
    bool logical_time;
    /* Zero-time, uncounted accesses of the host, with nothing in flight. They read and write the words of mask in the
     * caches; the caller accesses memory: `words` enters with memory's content and leaves coherent (read); a write has
     * already reached memory. NULL: gpc_host_read, gpc_host_write_alone (host.h). */
    int (*host_read)(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words);
    int (*host_write)(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words);
    /* Called before a launch with time, with nothing in flight; may send messages, or have controllers take causes. The
     * launch latency, then KERNEL_BEGIN and the blocks, follow when nothing is in flight again. NULL: nothing is
     * done. */
    int (*boundary)(const gpc_boundary_t *boundary);
    bool host_takes_line; /* before host_write, memory is given what host_read says of the line's other words */
    const gpc_instant_filter_t *instant_filter;

    /* ---- optional: of checks, the explorer, tests and tools ---- */

    /* Monitors, with check on: parameters of the generic ones, and the protocol's own, called after every step of a
     * controller with its line; a step of a table over the unit may have none (GPC_NEVER). Reports with
     * gpc_violated. */
    const gpc_watched_t *watched;
    int (*monitor)(const gpc_units_t *units, gpc_address_t line);
    gpc_explored_t explored;
    gpc_declared_t declared;
};

/* A protocol with a controller at every position has no NULL behind them. */
static inline uint32_t
gpc_num_controllers(const gpc_protocol_t *protocol)
{
    uint32_t count = 0;
    while (count < GPC_COUNT_OF(protocol->controllers) && protocol->controllers[count]) {
        count++;
    }
    return count;
}

#endif
