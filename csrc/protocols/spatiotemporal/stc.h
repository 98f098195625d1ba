/* stc.h: shared by SRC and the STC protocols: messages, the coalescing buffer of a CU, the L2, and the turns (epochs)
 * of STC.
 *
 * Paper    Puthoor and Lipasti, Turn-based Spatiotemporal Coherence for GPUs, TACO 20(3) art. 33, 2023.
 * Bands    band(a) = bits [SEB+N-1 : SEB] of the address. An epoch grants writing to one band (STC-MB: to several), and
 *          no L1 has a copy of it that it may read (4, ER1 to ER4). Any band may be read in any epoch; one that is
 *          being written, at the L2.
 * Buffer   an entry is one line request of a wave instruction, blocked (waiting for its band's epoch) or issued. It
 *          blocks later requests to its line (4.2), so that the L1 has the paper's three states (SRC) and four (STC).
 */
#ifndef GPC_PROTOCOLS_SPATIOTEMPORAL_STC_H
#define GPC_PROTOCOLS_SPATIOTEMPORAL_STC_H

#include "controller/toolkit.h"

/* Sizes are inferred: an 8-byte header with the address, 8 bytes more for a word mask or an operation. */
/* clang-format off */
/*     name         class network bytes word line   */
#define SRC_MESSAGES(X, P)                                                                                              \
    X(P, READ,        REQ, 0,  8, 0, false, "a load wants the line")                                                    \
    X(P, WRITE,       ST,  0, 16, 4, false, "write-through store: word mask and words")                                 \
    X(P, ATOMIC,      ATO, 0, 16, 0, false, "read-modify-writes with operands, performed at the L2")                    \
    X(P, DATA,        LD,  1,  8, 0, true,  "line to read")                                                             \
    X(P, WRITE_ACK,   ST,  1,  8, 0, false, "the L2 has taken the store")                                               \
    X(P, ATOMIC_DATA, ATO, 1,  8, 0, false, "old values of read-modify-writes")
#define STC_MESSAGES(X, P)                                                                                              \
    SRC_MESSAGES(X, P)                                                                                                  \
    X(P, PREPARE,     EPOCH, 2, 8, 0, false, "stop storing; the epochs to come, and their start epoch bit")             \
    X(P, CHANGE,      EPOCH, 2, 8, 0, false, "the epochs have begun")                                                   \
    X(P, RESUME,      EPOCH, 2, 8, 0, false, "every CU has changed; skew=resume")                                       \
    X(P, DEMAND_ACK,  EPOCH, 2, 8, 0, false, "the demand has arrived")                                                  \
    X(P, READY,       EPOCH, 3, 8, 0, false, "this CU has no store outstanding")                                        \
    X(P, DONE,        EPOCH, 3, 8, 0, false, "this CU has changed")                                                     \
    X(P, DEMAND,      EPOCH, 3, 8, 0, false, "a store to this address waits for its band")                              \
    X(P, CONFLICT,    EPOCH, 3, 8, 0, false, "a load of a band for which a store waits: its address")
/* clang-format on */
enum { SRC_BEFORE_MESSAGES_ = GPC_MSG_OWN - 1, STC_MESSAGES(GPC_MESSAGE_ENUM_, STC) };

#define STC_FIELDS(FIELD)                                                                                              \
    FIELD(PLAIN, uint64_t, epochs)      /* PREPARE, CHANGE: bit e: epoch e */                                          \
    FIELD(PLAIN, uint64_t, seb)         /* PREPARE, CHANGE: the start epoch bit */                                     \
    FIELD(PLAIN, uint64_t, address)     /* DEMAND, CONFLICT: of the line */                                            \
    FIELD(STATISTIC, uint64_t, drained) /* READY: stores were outstanding when PREPARE came */
GPC_METADATA(stc, message, STC_FIELDS)

/* ---- options of STC; SRC has BUFFER, ACK and ACQUIRE ------------------------------------------------------------- */

enum {
    STC_OPTION_BUFFER,
    STC_OPTION_ACK,
    STC_OPTION_EPOCH,
    STC_OPTION_EPOCHS,
    STC_OPTION_SEB,
    STC_OPTION_SKEW,
    STC_OPTION_ADAPT,
    STC_OPTION_ETV,
    STC_OPTION_BANDS
};
enum { SRC_OPTION_ACQUIRE = STC_OPTION_ACK + 1 };
enum { STC_ACK_SEEN, STC_ACK_PIPELINE };
/* In a protocol's declaration. */
#define STC_ACKNOWLEDGES                                                                                               \
    .prompt = {.messages = GPC_MESSAGE_BIT(STC_WRITE_ACK), .option = STC_OPTION_ACK, .value = STC_ACK_SEEN}
#define STC_ACKS                                                                                                       \
    [STC_OPTION_ACK] =                                                                                                 \
        GPC_CHOICE("ack", STC_ACK_SEEN, STC_ACK_PIPELINE, "seen pipeline",                                             \
                   "when WRITE_ACK leaves: when the L2 sees the store; after the L2's pipeline, like data")
enum { STC_SKEW_NEXT, STC_SKEW_RESUME, STC_SKEW_SYNC };
enum { STC_ADAPT_LOWER, STC_ADAPT_UPPER };
enum { STC_MOST_EPOCHS = 32, STC_MOST_SETS = 256 };

/* ---- the L1's table over lines: the first states and events of SRC and STC --------------------------------------- */

#define STC_L1_STATES(X)                                                                                               \
    X(L1_I, STABLE, "not present")                                                                                     \
    X(L1_V, STABLE, "present, readable")                                                                               \
    X(L1_IV, TRANSIENT_CACHE, "read miss outstanding")                                                                 \
    X(L1_II, TRANSIENT_COHERENCE, "read miss outstanding, whose line will not be kept")
/* Tables of a CU. */
enum { STC_TABLE_LINES, STC_TABLE_BUFFER, STC_TABLE_EPOCHS };

/* ---- the coalescing buffer (stc_buffer.c) ------------------------------------------------------------------------ */

#define STC_ENTRY(FIELD)                                                                                               \
    FIELD(REQUEST, gpc_list_t, store) /* the core's store or atomic */                                                 \
    FIELD(REQUEST, gpc_list_t, later) /* later requests to the line */                                                 \
    FIELD(STATISTIC, uint32_t, waited) /* STC: changes to epochs of other bands since it was blocked (monitor) */
GPC_METADATA(stc, entry, STC_ENTRY)

#define SRC_BUFFER_STATES(X)                                                                                           \
    X(BUFFER_FREE, STABLE, "free")                                                                                     \
    X(BUFFER_SENT, TRANSIENT_COHERENCE, "issued, not acknowledged")
#define SRC_BUFFER_EVENTS(X)                                                                                           \
    X(BUFFER_ISSUE, "store or atomic that may be issued")                                                              \
    X(BUFFER_BEHIND, "store or atomic to a line whose read is outstanding")                                            \
    X(BUFFER_LATER, "request to a line with an entry")                                                                 \
    X(BUFFER_ACK, "the entry's store or atomic is performed")

extern const gpc_table_t src_buffer;
/* One of these events; GPC_NO_EVENT for any other cause. */
gpc_event_id_t src_buffer_classify(const gpc_step_t *x);
uint32_t stc_buffer_entries(const gpc_machine_t *machine, const int64_t *options);
/* The table that takes a message of SRC's. */
uint8_t src_route(const gpc_controller_t *unit, const gpc_msg_t *msg);
/* Sends the entry's store or atomic; the L1's copy of the line goes. */
GPC_MUST_CHECK int stc_issue(gpc_step_t *x);
/* Completes it; later requests to the line are taken again. */
GPC_MUST_CHECK int stc_entry_done(gpc_step_t *x);

GPC_DECLARE_ACTION(act_enter); /* first action of a cell; it may hold */
GPC_DECLARE_ACTION(act_queue);
GPC_DECLARE_ACTION(act_read);
GPC_DECLARE_ACTION(act_read_uncached);

#define STC_L1_LINE(FIELD) /* no metadata beside the tags (7.5) */
GPC_METADATA(stc_l1, line, STC_L1_LINE)

/* ---- the L2 (stc_l2.c) ------------------------------------------------------------------------------------------- */

extern const gpc_controller_type_t stc_l2;
/* The L2's words: of a line that is being fetched, those written since. */
int stc_host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words);

/* ---- STC: a CU (stc_cu.h) ---------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t word[STC_MOST_EPOCHS];
} stc_per_epoch_t;

extern const gpc_watched_t stc_watched;
GPC_MUST_CHECK int stc_monitor(const gpc_units_t *units, gpc_address_t line);

/* ---- STC: what the four protocols declare (stc.c) ---------------------------------------------------------------- */

/* GPC_ERROR_OPTION if bands or sets do not fit. */
int stc_check(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure);

/* ---- STC: the epoch management unit (stc_emu.c) ------------------------------------------------------------------ */

extern const gpc_controller_type_t stc_nv_emu, stc_es_emu, stc_ab_emu;
bool stc_commutes(const gpc_controller_t *to, const gpc_msg_t *msg);
static inline uint32_t
stc_band_of(uint32_t epochs, gpc_address_t address, uint32_t seb)
{
    return (uint32_t) (address >> seb) & (epochs - 1);
}
static inline uint32_t
stc_band(const gpc_controller_t *unit, gpc_address_t address, uint32_t seb)
{
    return stc_band_of((uint32_t) unit->options[STC_OPTION_EPOCHS], address, seb);
}

#endif
