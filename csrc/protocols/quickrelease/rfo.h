/* rfo.h: shared by the L1, the directory and the memory side of rfo: messages and how they are sent. rfo.c describes
 * the protocol. */
#ifndef GPC_PROTOCOLS_QUICKRELEASE_RFO_H
#define GPC_PROTOCOLS_QUICKRELEASE_RFO_H

#include "protocols/quickrelease/memory_side.h"

/* Sizes are inferred: an 8-byte header that includes flags and the number of acknowledgements; whole lines. With
 * l2=victim the directory is the requester of INV, FWD_GETS and FWD_GETX: it takes their answers and sends its own. */
#define RFO_MESSAGES(X, P)                                                                                             \
    X(P, GETS, REQ, 0, 8, 0, false, "read request for a line")                                                         \
    X(P, GETX, REQ, 0, 8, 0, false, "write request for a line")                                                        \
    X(P, UPG, REQ, 0, 8, 0, false, "write request from an L1 with a copy")                                             \
    X(P, PUT, ST, 0, 8, 0, true, "owner's eviction, with the line")                                                    \
    X(P, INV, INV, 1, 8, 0, false, "invalidate the copy, and acknowledge to the requester")                            \
    X(P, FWD_GETS, REQ, 1, 8, 0, false, "read forwarded to the owner: send the line to the requester")                 \
    X(P, FWD_GETX, REQ, 1, 8, 0, false, "write forwarded to the owner: pass the line to the requester")                \
    X(P, RECALL, RCL, 1, 8, 0, false, "give up the line whose directory entry is evicted")                             \
    X(P, DATA_S, LD, 2, 8, 0, true, "line to read; other copies may exist")                                            \
    X(P, DATA_E, LD, 2, 8, 0, true, "line to read, for its only owner")                                                \
    X(P, DATA_M, ST, 2, 8, 0, true, "line to write, with the number of acknowledgements to collect")                   \
    X(P, ACK_COUNT, REQ, 2, 8, 0, false, "permission to write, with the number of acknowledgements to collect")        \
    X(P, INV_ACK, INV, 2, 8, 0, false, "invalidation acknowledged to the requester")                                   \
    X(P, PUT_ACK, REQ, 2, 8, 0, false, "eviction acknowledged")                                                        \
    X(P, UNBLOCK, REQ, 3, 8, 0, false, "the requester has what it asked for")                                          \
    X(P, RECALL_ACK, RCL, 3, 8, 0, false, "recall acknowledged")                                                       \
    X(P, RECALL_DATA, RCL, 3, 8, 0, true, "recalled line, from its owner")                                             \
    X(P, READ, REQ, 4, 8, 0, false, "the directory wants the line")                                                    \
    X(P, WRITE_BACK, WB, 4, 8, 0, true, "line that the L2 or the directory gives up")                                  \
    X(P, LINE, LD, 5, 8, 0, true, "the line, from L3 or memory")
#define RFO_VICTIM_MESSAGES(X, P) RFO_MESSAGES(X, P) X(P, PUT_S, REQ, 0, 8, 0, false, "sharer's eviction")
GPC_MESSAGES(RFO, RFO_MESSAGES)
GPC_MESSAGES(RFO_VICTIM, RFO_VICTIM_MESSAGES)

#define RFO_FIELDS(FIELD)                                                                                              \
    FIELD(PLAIN, uint64_t, dirty) /* PUT, RECALL_DATA: newer than memory */                                            \
    FIELD(PLAIN, uint64_t, need)  /* FWD_GETX, DATA_M, ACK_COUNT: acknowledgements that the writer must collect */
GPC_METADATA(rfo, message, RFO_FIELDS)

/* rfo_l2: that of l2=store. */
extern const gpc_controller_type_t rfo_l1, rfo_l2, rfo_victim_l2, rfo_l3;
extern const gpc_watched_t rfo_watched;

enum { RFO_OPTION_DIR_WAYS, RFO_OPTION_DIR_RATIO, RFO_OPTION_STORES, RFO_OPTION_L2 };
enum { RFO_L2_STORE, RFO_L2_VICTIM };

/* Sends a message about x's line with the words (NULL: none), on behalf of the requester of x's cause. */
GPC_MUST_CHECK int rfo_send(gpc_step_t *x, uint8_t type, gpc_node_t destination, const uint32_t *words,
                            rfo_message_t fields);

/* The words of the line that this L1 owns, in its way or in flight to the L2; NULL: it owns none. */
uint32_t *rfo_l1_owned(const gpc_controller_t *core, gpc_address_t line);
/* Whether the entry, which is at rest, lists the core, as owner or sharer; *owner: as owner. False for a line in a
 * transaction. */
bool rfo_l2_lists(const gpc_controller_t *bank, gpc_address_t line, gpc_node_t core, bool *owner);

#endif
