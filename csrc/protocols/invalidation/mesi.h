/* mesi.h: what MESI's L1 and L2 share: their messages and how one is sent. The protocol is told in mesi.c. */
#ifndef GPC_PROTOCOLS_INVALIDATION_MESI_H
#define GPC_PROTOCOLS_INVALIDATION_MESI_H

#include "controller/toolkit.h"

/* Sizes are inferred: 8 bytes of header, in which flags and the count of acknowledgements fit; lines whole. */
#define MESI_MESSAGES(X, P)                                                                                            \
    X(P, GETS, REQ, 0, 8, 0, false, "a load wants the line")                                                           \
    X(P, GETX, REQ, 0, 8, 0, false, "a store or atomic wants the line, alone")                                         \
    X(P, UPG, REQ, 0, 8, 0, false, "the same from an L1 that has a copy")                                              \
    X(P, PUTX, ST, 0, 8, 0, true, "the owner evicts: the line, clean or dirty")                                        \
    X(P, INV, INV, 1, 8, 0, false, "another L1 will write: drop the copy and acknowledge to that one")                 \
    X(P, RECALL, RCL, 1, 8, 0, false, "the L2 gives the line up: drop the copy and answer the L2")                     \
    X(P, FWD_GETS, REQ, 1, 8, 0, false, "to the owner: send a copy to the requester, the line to the L2")              \
    X(P, FWD_GETX, REQ, 1, 8, 0, false, "to the owner: the line is the requester's")                                   \
    X(P, DATA, LD, 2, 8, 0, true, "the line, to read; from the L2")                                                    \
    X(P, DATA_E, LD, 2, 8, 0, true, "the line, to a reader that is alone with it")                                     \
    X(P, DATA_L1, LD, 2, 8, 0, true, "the line, to read; from its owner")                                              \
    X(P, DATA_X, ST, 2, 8, 0, true, "the line, to write, once so many acknowledgements have come")                     \
    X(P, UPG_ACK, REQ, 2, 8, 0, false, "the copy may be written, once so many acknowledgements have come")             \
    X(P, INV_ACK, INV, 2, 8, 0, false, "to the writer: nothing of the line is readable here")                          \
    X(P, WB_ACK, REQ, 2, 8, 0, false, "the PUTX has been dealt with")                                                  \
    X(P, WB_DATA, ST, 3, 8, 0, true, "from the owner that a GETS was forwarded to")                                    \
    X(P, RECALL_DATA, RCL, 3, 8, 0, true, "the recalled line, from its owner")                                         \
    X(P, RECALL_ACK, RCL, 3, 8, 0, false, "nothing of the recalled line is readable here")                             \
    X(P, UNBLOCK, REQ, 4, 8, 0, false, "a reader has the owner's data")                                                \
    X(P, EX_UNBLOCK, REQ, 4, 8, 0, false, "the line has a new owner")                                                  \
    X(P, PUTE, REQ, 0, 8, 0, false, "the owner evicts a clean line (clean_put=header)")

GPC_MESSAGES(MESI, MESI_MESSAGES)

enum { MESI_OPTION_CLEAN_PUT };
enum { MESI_CLEAN_PUT_HEADER, MESI_CLEAN_PUT_LINE };

/* What its messages carry beside the line. */
#define MESI_FIELDS(FIELD)                                                                                             \
    FIELD(PLAIN, uint64_t, dirty) /* PUTX, WB_DATA, RECALL_DATA: the L2's copy, and memory's, is behind */             \
    FIELD(PLAIN, uint64_t, need)  /* DATA_X, UPG_ACK: acknowledgements that the requester has to collect */
GPC_METADATA(mesi, message, MESI_FIELDS)

extern const gpc_controller_type_t mesi_l1, mesi_l2;

/* A message about x's line with a line's words (NULL: none); on behalf of whom x's cause is. */
GPC_MUST_CHECK int mesi_send(gpc_step_t *x, uint8_t type, gpc_node_t destination, const uint32_t *words,
                             mesi_message_t fields);

/* ---- the L1's line, which the host's accesses see too ------------------------------------------------------------------ */

/* The line's words at its owner, or NULL. Also of one that is being written back, when a launch is aborted meanwhile. */
const uint32_t *mesi_l1_owned_words(const gpc_controller_t *core, gpc_address_t line);
/* Whether the L2's copy is behind this way's. */
bool mesi_l1_is_newest(const gpc_controller_t *core, gpc_index_t way);

/* For monitors. Whoever has a copy is listed; of an owned line only the owner has one, and it has not forgotten that it owns it. */
extern const gpc_watched_t mesi_watched;
GPC_MUST_CHECK int mesi_monitor(const gpc_units_t *units, gpc_address_t line);

/* ---- the L2's line, which the host's accesses see too ------------------------------------------------------------------ */

#define MESI_L2_LINE(FIELD)                                                                                            \
    GPC_WRITER_LINE(FIELD)                                                                                             \
    FIELD(NODESET, gpc_nodeset_t, sharers) /* readers: a superset; or the one owner */
GPC_METADATA(mesi_l2, line, MESI_L2_LINE)

/* Of the line at rest, for monitors: the list, and whether it is of readers or names the owner; NULL: at work, or not there. */
const gpc_nodeset_t *mesi_l2_list(const gpc_controller_t *bank, gpc_address_t line, bool *owned);

/* The host has written the line: no L1 has a copy, the L2's is all there is. */
void mesi_l2_set_unshared(gpc_controller_t *bank, gpc_index_t way);

#endif
