/* qr.h: QuickRelease: what its three levels share. qr.c describes the protocol.
 *
 * A level has a read cache and a write cache, a table over the lines of each, and a FIFO beside the write cache, the
 * S-FIFO, whose table is over its entries. A table over the unit takes markers.
 */
#ifndef GPC_PROTOCOLS_QUICKRELEASE_QR_H
#define GPC_PROTOCOLS_QUICKRELEASE_QR_H

#include "protocols/quickrelease/memory_side.h"

/* Sizes are inferred: an 8-byte header, 8 bytes for a byte mask, the dirty bytes, 64-byte lines. */
#define QR_MESSAGES(X, P)                                                                                              \
    X(P, READ, REQ, 0, 8, 0, false, "an rL1 wants the block")                                                          \
    X(P, BLOCK, WB, 0, 16, 4, false, "dirty words that a wL1 gives up")                                                \
    X(P, MARKER, REQ, 0, 8, 0, false, "marker that leaves S-FIFO1")                                                    \
    X(P, ATOMIC, ATO, 0, 16, 0, false, "atomic read-modify-writes with operands, for the directory")                   \
    X(P, DATA, LD, 1, 8, 0, true, "block to read")                                                                     \
    X(P, INV, INV, 1, 8, 0, false, "the wL2 has given up words of the block, or an atomic has passed")                 \
    X(P, RELEASED, REQ, 1, 8, 0, false, "the marker has left S-FIFO3")                                                 \
    X(P, OLD_VALUES, ATO, 1, 8, 0, false, "old values of atomics")                                                     \
    X(P, READ_UP, REQ, 2, 8, 0, false, "the rL2 wants the block")                                                      \
    X(P, BLOCK_UP, WB, 2, 16, 4, false, "dirty words that the wL2 gives up")                                           \
    X(P, MARKER_UP, REQ, 2, 8, 0, false, "marker that leaves S-FIFO2")                                                 \
    X(P, ATOMIC_UP, ATO, 2, 16, 0, false, "atomics to the directory")                                     \
    X(P, DATA_DOWN, LD, 3, 8, 0, true, "block to read, from the memory side")                                          \
    X(P, RELEASED_DOWN, REQ, 3, 8, 0, false, "the marker has left S-FIFO3")                                            \
    X(P, OLD_VALUES_DOWN, ATO, 3, 8, 0, false, "old values of atomics")                                                \
    X(P, INV_ACK, INV, 4, 8, 0, false, "the copy is gone (inv=ack)")
GPC_MESSAGES(QR, QR_MESSAGES)

/* Kinds of markers: a release or a kernel's end waits for it; nothing does; with sync_sc=1, a later acquire load of the
 * warp does. */
enum { QR_REL, QR_REL_NOACK, QR_REL_STORE };

#define QR_MESSAGE(FIELD)                                                                                              \
    FIELD(PLAIN, uint32_t, kind)       /* MARKER, RELEASED; BLOCK: 1 if a marker follows */                            \
    FIELD(PLAIN, uint32_t, apart)      /* READ_UP, DATA_DOWN: answered on its own */                                   \
    FIELD(PLAIN, uint32_t, round)      /* INV, INV_ACK: the bank's round */                                            \
    FIELD(STATISTIC, uint32_t, number) /* MARKER, RELEASED: of the core's markers that are answered */                 \
    FIELD(STATISTIC, uint32_t, invs)   /* INV, RELEASED: that the bank had sent */
GPC_METADATA(qr, message, QR_MESSAGE)

enum { QR_OPTION_FIFO, QR_OPTION_INV, QR_OPTION_SYNC_SC, QR_OPTION_CLEAN, QR_OPTION_MASK, QR_OPTION_BARRIER };
enum { QR_BY_FIFO, QR_BY_ACK };

/* Arrays, tables and the part of every level. */
enum { QR_READS, QR_WRITES };
enum { QR_READ_TABLE, QR_WRITE_TABLE, QR_FIFO_TABLE, QR_UNIT_TABLE };
enum { QR_PART };
/* Causes within a unit: of the write table, words to take, the pop of the S-FIFO, and own requests that need the block
 * gone; of the read table, the block has left the write cache. */
enum { QR_PUT = GPC_MSG_STORE, QR_POP = GPC_MSG_REPLAY, QR_FLUSH = GPC_MSG_RELEASE, QR_GONE = GPC_MSG_INSTANT };

#define QR_READ_LINE(FIELD)                                                                                            \
    FIELD(STATISTIC, uint32_t, filled) /* the unit's number of acquires then */                                        \
    FIELD(STATISTIC, gpc_mask_t, old)  /* levels 1 and 2: words that a write cache gave up since the copy was read */
GPC_METADATA(qr_read, line, QR_READ_LINE)
#define QR_WRITE_LINE(FIELD)                                                                                           \
    FIELD(PLAIN, gpc_mask_t, dirty)                                                                                    \
    FIELD(STATISTIC, uint32_t, place) /* of its entry */
GPC_METADATA(qr_write, line, QR_WRITE_LINE)
#define QR_MSHR(FIELD)                                                                                                 \
    FIELD(PLAIN, uint16_t, outstanding) /* blocks to come */                                                           \
    FIELD(PLAIN, uint16_t, joined)      /* requests, the first pending ones, that the read shared by them serves */
GPC_METADATA(qr, mshr, QR_MSHR)
#define QR_ENTRY(FIELD)                                                                                                \
    FIELD(PLAIN, uint8_t, kind)        /* of a marker; of a block: 1 if a marker follows */                            \
    FIELD(PLAIN, uint16_t, warp)       /* of a marker; QR_KERNEL: the core's, at a kernel's end */                     \
    FIELD(NODE, gpc_node_t, core)      /* that a marker comes from, */                                                 \
    FIELD(NODE, gpc_node_t, from)      /* and the unit that passed it on */                                            \
    FIELD(STATISTIC, uint32_t, number) /* of a marker among those of its core that are answered */                     \
    FIELD(STATISTIC, uint32_t, place)  /* among all entries that the S-FIFO has had */                                 \
    FIELD(REQUEST, gpc_list_t, atomic) /* of an atomic's entry: the core's request */
GPC_METADATA(qr, entry, QR_ENTRY)
#define QR_UNIT(FIELD)                                                                                                 \
    FIELD(PLAIN, uint8_t, wanted)     /* places of the S-FIFO that a held request needs */                             \
    FIELD(PLAIN, uint32_t, flushes)   /* markers in the S-FIFO, and blocks that a marker follows: it is flushed */     \
    FIELD(PLAIN, uint8_t, written)    /* level 1: stores or atomics since the last marker that will be answered */     \
    FIELD(PLAIN, uint32_t, ending)    /* level 1: 1 + answers that the kernel's end waits for */                       \
    FIELD(PLAIN, uint8_t, round)      /* level 2, inv=ack: of the Invs that are sent now */                            \
    FIELD(PLAIN, uint32_t, younger)   /* their acknowledgements to come */                                             \
    FIELD(PLAIN, uint32_t, older)     /* those of the Invs that the S-FIFO's first marker waits for */                 \
    FIELD(STATISTIC, uint32_t, acquires)                                                                               \
    FIELD(STATISTIC, uint32_t, places)   /* entries that the S-FIFO has had */                                         \
    FIELD(STATISTIC, uint32_t, left)     /* place of the last marker that left */                                      \
    FIELD(STATISTIC, uint32_t, numbers)  /* level 1: markers that are answered, */                                     \
    FIELD(STATISTIC, uint32_t, answers)  /* and answers; level 3: those sent */                                        \
    FIELD(STATISTIC, uint32_t, given_up) /* level 2: blocks, and atomics on others */                                  \
    FIELD(STATISTIC, uint32_t, invs)     /* level 2: broadcasts of Invs; level 1: Invs taken */
GPC_METADATA(qr, unit, QR_UNIT)
#define QR_WARP(FIELD)                                                                                                 \
    FIELD(PLAIN, uint32_t, releasing) /* 1 + answers that its release waits for */                                     \
    FIELD(PLAIN, uint32_t, stores)    /* sync_sc=1: answers to come for its release stores */
GPC_METADATA(qr, warp, QR_WARP)
enum { QR_KERNEL = UINT16_MAX };

#define QR_COUNTERS(X, P)                                                                                              \
    X(P, hits_across_acquires, "hits on lines filled before the CU's last acquire or kernel begin")                    \
    X(P, hits_written, "reads served by the write cache")                                                              \
    X(P, flushed, "blocks given up for a read of other words, or an atomic")                                           \
    X(P, blocks, "blocks given up")                                                                                    \
    X(P, full, "requests that found the S-FIFO full")                                                                  \
    X(P, markers, "markers that left the S-FIFO")                                                                      \
    X(P, invalidations_sent, "Invs, one for each L1")                                                                  \
    X(P, invalidations_hit, "Invs that dropped a copy or what a read would bring")
GPC_COUNTS(QR_COUNT, QR_COUNTERS)

/* ---- the write cache and the S-FIFO: qr_writes.c ----------------------------------------------------------------- */

extern const gpc_table_t qr_write_tables[3], qr_fifo_tables[3]; /* by level */

static inline gpc_position_t
qr_position(const gpc_controller_t *unit)
{
    return unit->type->position;
}
static inline gpc_part_t *
qr_fifo(const gpc_controller_t *unit)
{
    return (gpc_part_t *) &unit->parts[QR_PART];
}
/* Words of the block that the write cache has. */
gpc_mask_t qr_dirty(const gpc_controller_t *unit, gpc_address_t line);
const uint32_t *qr_written_words(const gpc_step_t *x);
/* Whether the S-FIFO has that number of places; if not, its first entries leave, and the request holds: GPC_HOLD. */
GPC_MUST_CHECK int qr_need_places(gpc_controller_t *unit, uint32_t places);
/* Level 2, inv=ack: as many Invs as this may lack acknowledgements (inferred; the paper has no acknowledgements).
 * Without a bound they pile up before a bank to which all L1s answer, on a mesh by far more than its links take. */
#define QR_MOST_INVS 16
/* Whether fewer than `invs` Invs lack acknowledgements. */
bool qr_may_invalidate(const gpc_controller_t *unit, uint32_t invs);
/* Whether the unit may send on the network: an entry or a request that is its first action asks. */
GPC_MUST_CHECK int qr_need_room(const gpc_step_t *x);
/* Gives the write cache the words of x's message. GPC_HOLD as above. */
GPC_MUST_CHECK int qr_put(gpc_step_t *x, uint32_t markers);
/* The block leaves the write cache now, if it is there: x's request must find it at the next level. */
GPC_MUST_CHECK int qr_flush(gpc_step_t *x);
/* There is a place. */
GPC_MUST_CHECK int qr_push_marker(gpc_controller_t *unit, const qr_entry_t *marker);
/* The marker of x's message enters. GPC_HOLD as above. */
GPC_MUST_CHECK int qr_take_marker(gpc_step_t *x);
GPC_MUST_CHECK int qr_push_atomic(gpc_step_t *x);
/* Makes the first entry ready if it is to leave; `leaving` (or GPC_NONE) is leaving. */
GPC_MUST_CHECK int qr_ready_first(gpc_controller_t *unit, gpc_index_t leaving);
gpc_index_t qr_entry_of(const gpc_controller_t *unit, uint8_t part, const gpc_msg_t *msg);
/* One Inv for each L1, for a block that is given up or that an atomic passes; with inv=ack they are acknowledged. */
GPC_MUST_CHECK int qr_invalidate(gpc_step_t *x);
/* Table 1: a tag of the wL1 takes a cycle, one of the wL2 or wL3 four. A read that its read cache lacks pays it at each
 * level. */
enum { QR_TAG = 1, QR_TAG_ABOVE = 4 };
/* Answers a request with the words, as the type: at once, or x's request from the write cache, a second tag later. */
GPC_MUST_CHECK int qr_answer(gpc_step_t *x, gpc_index_t request, uint8_t type, const uint32_t *words);
GPC_MUST_CHECK int qr_answer_written(gpc_step_t *x, uint8_t type);

/* ---- monitors: qr_checks.c --------------------------------------------------------------------------------------- */

int qr_monitor(const gpc_units_t *units, gpc_address_t line);
/* The core takes an INV, or an answer to a marker: where one bank keeps their order, the next one, and behind the Invs
 * before it. */
GPC_MUST_CHECK int qr_check_inv(const gpc_step_t *x);
GPC_MUST_CHECK int qr_check_answer(const gpc_step_t *x);

/* ---- the levels -------------------------------------------------------------------------------------------------- */

extern const gpc_controller_type_t qr_l1, qr_l2, qr_l3;
extern const gpc_watched_t qr_watched;
uint32_t qr_fifo_entries(const gpc_machine_t *machine, const int64_t *options);
/* Order hooks. */
GPC_MUST_CHECK int qr_before(gpc_controller_t *l1, uint16_t warp, const gpc_access_t *access, gpc_cycle_t *until);
GPC_MUST_CHECK int qr_release(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until);
GPC_MUST_CHECK int qr_barrier(gpc_controller_t *l1, uint16_t warp, gpc_cycle_t *until);
GPC_MUST_CHECK int qr_acquire(gpc_controller_t *l1, uint16_t warp, uint8_t scope);

#endif
