/* rcc.h: shared by RCC-SC and RCC-WO: messages, logical clocks, the actions of their L1s, and their L2.
 *
 * Paper    Ren and Lis, Efficient Sequential Consistency in GPUs via Relativistic Cache Coherence, HPCA 2017, section
 *          III.
 * Time     logical. Each core has a clock, each copy a lease (exp), each line of the L2 the time of its last write
 *          (ver) and the end of its last lease (exp), each partition the latest time of all lines evicted (mnow). A
 *          copy may be read while now <= exp.
 * Rollover section III.D: timestamps have timestamp_bits bits. A time is kept in 64 bits here: the low timestamp_bits
 *          bits are what hardware stores, and those above them the epoch, of which messages carry the last bit. In a
 *          rollover every L2 partition sets its timestamps to 0, that is to the beginning of the next epoch, and every
 *          L1 sets its clock to 0 and invalidates its copies: their leases lie in the past. A time of an older epoch
 *          counts as 0 at an L2; an L1 does not keep data that it finds expired.
 */
#ifndef GPC_PROTOCOLS_RELATIVISTIC_RCC_H
#define GPC_PROTOCOLS_RELATIVISTIC_RCC_H

#include "controller/toolkit.h"
#include "protocols/public_sizes.h"

/* clang-format off */
/*     name         class network bytes word line   */
#define RCC_MESSAGES(X, P)                                                                                             \
    X(P, GETS,        REQ, 0, 16, 0, false, "read request: the core's time, and the lease of the copy that it still has (0: none)") \
    X(P, WRITE,       ST,  0, 16, 4, false, "write-through store: the core's time, word mask and words")               \
    X(P, ATOMIC,      ATO, 0, 16, 0, false, "atomic read-modify-writes with operands, performed at the L2; the core's time") \
    X(P, DATA,        LD,  1, 16, 0, true,  "line to read, with its lease and version")                                \
    X(P, RENEW,       LD,  1, 12, 0, false, "new lease for the unchanged copy")                                        \
    X(P, ACK,         ST,  1, 12, 0, false, "the store's version")                                                     \
    X(P, ATOMIC_DATA, ATO, 1, 20, 0, false, "old values of atomics, with their version; no line is cached")
/* clang-format on */
GPC_MESSAGES(RCC, RCC_MESSAGES)

#define RCC_NETWORKS                                                                                                   \
    {                                                                                                                  \
        {.name = "request", .ordered = true, .requests = true}, {.name = "response", .ordered = true},                 \
    }

#define RCC_MESSAGE(FIELD)                                                                                             \
    FIELD(LOGICAL, uint64_t, now) /* the sender's; of a pending load: at its issue */                                  \
    FIELD(LOGICAL, uint64_t, exp)                                                                                      \
    FIELD(LOGICAL, uint64_t, ver)
GPC_METADATA(rcc, message, RCC_MESSAGE)

/* ---- options, equal for both protocols --------------------------------------------------------------------------- */

enum {
    RCC_OPTION_RENEW,
    RCC_OPTION_PREDICT,
    RCC_OPTION_LEASE,
    RCC_OPTION_PREDICT_UP,
    RCC_OPTION_TICK,
    RCC_OPTION_ROLLOVER_STALL,
    RCC_OPTION_POLLS,
    RCC_OPTION_BYTES
};
enum { RCC_PREDICT_UP_RENEW, RCC_PREDICT_UP_ANY };
/* RCC_WEAK_POLLS: copies are read by weak loads mostly for their data, so that more of these precede a renewal; a loop
 * that pauses between its polls makes few of them (the litmus tests' about 200 in a million cycles). */
enum { RCC_POLLS_OFF = -1, RCC_MOST_POLLS = 255, RCC_WEAK_POLLS = 64 };
/* Section III.E: leases that are predicted, in logical time. */
enum { RCC_SHORTEST_LEASE = 8, RCC_LONGEST_LEASE = 2048 };
enum { RCC_SHORTEST_TICK = 4 }; /* a step of the L1 per tick delays its requests */

#define RCC_OPTIONS                                                                                                    \
    {                                                                                                                  \
        [RCC_OPTION_RENEW] = GPC_CHOICE("renew", 1, 1, "off on", "answer the GETS for an unchanged copy with a lease, without data"), \
        [RCC_OPTION_PREDICT] = GPC_CHOICE("predict", 1, 1, "off on",                                                   \
            "predict each line's lease: 2048, after a write 8, doubled by a renewal", .small = {true, 0}),             \
        [RCC_OPTION_LEASE] = GPC_NUMBER("lease", 10, 1, 65535, "lease in logical time with predict=off (section III.B: 10)", RCC_SHORTEST_LEASE, 1, 4096), \
        [RCC_OPTION_PREDICT_UP] = GPC_CHOICE("predict_up", RCC_PREDICT_UP_RENEW, RCC_PREDICT_UP_ANY, "renew any",      \
            "what doubles a line's lease: renewals, or every read request that hits"),                                 \
        [RCC_OPTION_TICK] = GPC_TICK_OPTION(10000, RCC_SHORTEST_TICK, 8),                                              \
        [RCC_OPTION_ROLLOVER_STALL] = GPC_NUMBER("rollover_stall", 0, 0, 1000000, "core cycles that the L2 takes no request for in a rollover", 0, 0, 400), \
        [RCC_OPTION_POLLS] = {.name = "polls",                                                                         \
                              .standard = 16,                                                                          \
                              .smallest = RCC_POLLS_OFF,                                                               \
                              .largest = RCC_MOST_POLLS,                                                               \
                              .choices = "off",                                                                        \
                              .text = "loads other than weak ones that a copy serves before one renews its lease (64 weak ones do, too); off: any number", \
                              .small = {true, RCC_POLLS_OFF},                                                          \
                              .fuzz_least = 0,                                                                         \
                              .fuzz_most = 32},                                                                        \
        [RCC_OPTION_BYTES] = PUBLIC_BYTES_OPTION,                                                                      \
    }

/* The stall of a rollover: STALL and RESUME pass every partition of the ring, one cycle each, and FLUSH is answered
 * from the L1s. */
void rcc_derive(const gpc_machine_t *machine, int64_t *options);
/* GPC_ERROR_OPTION if the tick is shorter than the shortest one. */
int rcc_check(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure);

/* ---- L1 ---------------------------------------------------------------------------------------------------------- */

/* RCC-SC has one clock. */
#define RCC_CORE(FIELD)                                                                                                \
    FIELD(LOGICAL, uint64_t, now) /* of its reads; under sc of all its accesses */                                     \
    FIELD(LOGICAL, uint64_t, writes) /* of its writes; under sc unused */
GPC_METADATA(rcc_l1, unit, RCC_CORE)
#define RCC_COPY(FIELD)                                                                                                \
    FIELD(LOGICAL, uint64_t, exp) /* last time at which the copy may be read; 0: there are no data */                  \
    FIELD(PLAIN, uint8_t, polls)  /* loads other than weak ones that it has served since its lease was given */        \
    FIELD(PLAIN, uint16_t, weak_polls) /* weak loads, likewise */
GPC_METADATA(rcc_l1, line, RCC_COPY)

/* The tables of the L1: over lines, and over the unit: launches, the increment against livelock, and the flush of a
 * rollover. */
enum { RCC_TABLE_LINES, RCC_TABLE_CLOCK };
extern const gpc_controller_type_t rcc_l1;
/* The clock of the core is at least this late. */
void rcc_raise(const gpc_controller_t *l1, uint64_t *clock, uint64_t least);
/* RCC-WO: a core's reads and writes have a clock each. */
extern const gpc_watched_t rcc_sc_watched, rcc_wo_watched;

/* ---- L2 and monitors --------------------------------------------------------------------------------------------- */

#define RCC_L2_LINE(FIELD)                                                                                             \
    GPC_WRITER_LINE(FIELD)                                                                                             \
    FIELD(LOGICAL, uint64_t, exp)   /* end of the latest lease */                                                      \
    FIELD(LOGICAL, uint64_t, ver)   /* of the last write */                                                            \
    FIELD(PLAIN, uint16_t, lease)   /* predicted; 4 bits in hardware */
#define RCC_L2_MSHR(FIELD)                                                                                             \
    FIELD(LOGICAL, uint64_t, lastrd) /* latest time of a core that reads */                                            \
    FIELD(LOGICAL, uint64_t, lastwr) /* latest time of a core that writes */                                           \
    FIELD(PLAIN, uint8_t, haswrite)
/* latest version, or lease + 1, of all lines evicted */
#define RCC_L2_BANK(FIELD) GPC_EPOCH_UNIT(FIELD) FIELD(LOGICAL, uint64_t, mnow)
GPC_METADATA(rcc_l2, line, RCC_L2_LINE)
GPC_METADATA(rcc_l2, mshr, RCC_L2_MSHR)
GPC_METADATA(rcc_l2, unit, RCC_L2_BANK)
GPC_KEEPS_DIRTY(rcc_l2);
GPC_KEEPS_EPOCH(rcc_l2);

extern const gpc_controller_type_t rcc_l2;
/* The end of the latest lease of the line that its bank knows, given since the line was fetched or before it was
 * evicted. */
uint64_t rcc_leased(const gpc_controller_t *bank, gpc_address_t line);
GPC_MUST_CHECK int rcc_monitor(const gpc_units_t *units, gpc_address_t line);

/* ---- what both protocols declare: the run's consistency rule chooses one clock or two ---------------------------- */

#define RCC_PROTOCOL                                                                                                   \
    .paper = "Ren and Lis, HPCA 2017", .family = "relativistic coherence", .controllers = {&rcc_l1, &rcc_l2},          \
    GPC_MESSAGES_OF(RCC), .message = rcc_message_described,                                                            \
    .networks = RCC_NETWORKS, .options = RCC_OPTIONS,                                                                  \
    .other_sizes = PUBLIC_SIZES(RCC_OPTION_BYTES, public_bytes), .derive = rcc_derive, .check = rcc_check,             \
    .keeps_time = true, .logical_time = true,                                                                          \
    .monitor = rcc_monitor

#endif
