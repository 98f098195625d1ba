/* mesi.h: shared by MESI's L1 and L2: messages and how they are sent. mesi.c describes the protocol. */
#ifndef GPC_PROTOCOLS_INVALIDATION_MESI_H
#define GPC_PROTOCOLS_INVALIDATION_MESI_H

#include "controller/toolkit.h"

/* Sizes are inferred: an 8-byte header that includes flags and the number of acknowledgements; whole lines. */
#define MESI_MESSAGES(X, P)                                                                                       \
    X(P, GETS, REQ, 0, 8, 0, false, "read request for a line")                                                    \
    X(P, GETX, REQ, 0, 8, 0, false, "write request for a line")                                                   \
    X(P, UPG, REQ, 0, 8, 0, false, "write request from an L1 with a copy")                                        \
    X(P, PUTX, ST, 0, 8, 0, true, "owner's eviction with the line, clean or dirty")                               \
    X(P, INV, INV, 1, 8, 0, false, "invalidate the copy, and acknowledge to the writer")                          \
    X(P, RECALL, RCL, 1, 8, 0, false, "invalidate the line that the L2 evicts, and answer the L2")                \
    X(P, FWD_GETS, REQ, 1, 8, 0, false, "read forwarded to the owner: send the line to the reader and to the L2") \
    X(P, FWD_GETX, REQ, 1, 8, 0, false, "write forwarded to the owner: pass the line to the writer")              \
    X(P, DATA, LD, 2, 8, 0, true, "line to read, from the L2")                                                    \
    X(P, DATA_E, LD, 2, 8, 0, true, "line to read, exclusive")                                                    \
    X(P, DATA_L1, LD, 2, 8, 0, true, "line to read, from its owner")                                              \
    X(P, DATA_X, ST, 2, 8, 0, true, "line to write, with the number of acknowledgements to collect")              \
    X(P, UPG_ACK, REQ, 2, 8, 0, false, "permission to write, with the number of acknowledgements to collect")     \
    X(P, INV_ACK, INV, 2, 8, 0, false, "invalidation acknowledged to the writer")                                 \
    X(P, WB_ACK, REQ, 2, 8, 0, false, "eviction acknowledged")                                                    \
    X(P, WB_DATA, ST, 3, 8, 0, true, "owner's line after a forwarded read")                                       \
    X(P, RECALL_DATA, RCL, 3, 8, 0, true, "recalled line, from its owner")                                        \
    X(P, RECALL_ACK, RCL, 3, 8, 0, false, "recall acknowledged")                                                  \
    X(P, UNBLOCK, REQ, 4, 8, 0, false, "reader has received the owner's line")                                    \
    X(P, EX_UNBLOCK, REQ, 4, 8, 0, false, "new owner has received the line")                                      \
    X(P, PUTE, REQ, 0, 8, 0, false, "owner's eviction of a clean line, without data (clean_put=header)")

GPC_MESSAGES(MESI, MESI_MESSAGES)

enum { MESI_OPTION_CLEAN_PUT };
enum { MESI_CLEAN_PUT_HEADER, MESI_CLEAN_PUT_LINE };

/* Message fields. */
#define MESI_FIELDS(FIELD)                                                                              \
    FIELD(PLAIN, uint64_t, dirty) /* PUTX, WB_DATA, RECALL_DATA: newer than the L2's copy and memory */ \
    FIELD(PLAIN, uint64_t, need)  /* DATA_X, UPG_ACK: acknowledgements that the writer must collect */
GPC_METADATA(mesi, message, MESI_FIELDS)

extern const gpc_controller_type_t mesi_l1, mesi_l2;

/* Sends a message about x's line with the words (NULL: none), on behalf of the requester of x's cause. */
GPC_MUST_CHECK int mesi_send(gpc_step_t *x, uint8_t type, gpc_node_t destination, const uint32_t *words,
                             mesi_message_t fields);

/* The words of a line that the L1 was writing back when a launch was aborted, or NULL. */
const uint32_t *mesi_l1_written_back(const gpc_controller_t *core, gpc_address_t line);

/* For monitors: every L1 with a copy is listed; only the owner of an owned line has a copy, in an owner's state. */
extern const gpc_watched_t mesi_watched;
GPC_MUST_CHECK int mesi_monitor(const gpc_units_t *units, gpc_address_t line);

#define MESI_L2_LINE(FIELD)                                                                                            \
    GPC_WRITER_LINE(FIELD)                                                                                             \
    FIELD(NODESET, gpc_nodeset_t, sharers) /* readers (a superset), or the owner */
GPC_METADATA(mesi_l2, line, MESI_L2_LINE)

/* For monitors: the sharer list of a line without a transaction, and whether it names an owner; NULL: absent, or in a
 * transaction. */
const gpc_nodeset_t *mesi_l2_list(const gpc_controller_t *bank, gpc_address_t line, bool *owned);

#endif
