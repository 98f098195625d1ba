/* owners.h: L1s that own lines: they perform stores and atomics on their copy, which is the newest, and give it back.
 *
 * The L1's type declares the states in which its copy is newer than the bank's, and the bank's type the state of a line
 *     that no L1 has: .owned = 1u << L1_M          .returned = L2_S
 * The host's accesses (host.h) follow from it. Both lines' fields begin with GPC_WRITER_LINE.
 *
 *     GPC_REQUEST_HOME(act_request_ownership, "GETX with wts; pending", TD_GETX, td_message, td_l1_line, wts)
 *     GPC_GIVE_BACK(act_give_back, "WB with the line, wts and rts", TD_WB, td_message, td_l1_line, wts, rts)
 *     GPC_CALL_IN(act_flush, "FLUSH to the owner", TD_FLUSH)
 *
 * The request for ownership is made by gpc_new_message, not gpc_new_request: that one moves the words' or atomics'
 * lanes into the request, and the owner performs them itself.
 *
 * The bank names the owner by GPC_SHARERS and act_set_owner. A recall may cross a write-back: the L1 drops a recall
 * for a line that it no longer has, and the bank takes the write-back for the answer. Recalls (class RCL) and grants
 * are on one ordered network, so that a recall never overtakes the grant and a stale one arrives before the next
 * grant; without such an order an owner evicts by a transient state that keeps the words until the bank has
 * acknowledged the write-back (mesi_l1.c, mesi_l2.c). Write-backs are on a network whose messages are no requests. To
 * evict an owned line, the bank enters a transient state that recalls it; the way's reservation is retried when that
 * ends. If the state keeps the way, no other request for the line is seen meanwhile. csrc/tests/tardis.c uses all of
 * this header; `gpucoh new-protocol NAME --owners` writes a smaller protocol, with a directory.
 */
#ifndef GPC_CONTROLLER_OWNERS_H
#define GPC_CONTROLLER_OWNERS_H

#include "controller/sharers.h"
#include "controller/stamps.h"
#include "controller/writer.h"

/* A message of the type to the line's home, with the whole line, which is no longer newer than it; counted as a
 * write-back. */
GPC_API gpc_msg_t *gpc_new_write_back(gpc_step_t *x, uint8_t type);
/* An action: sends it with these fields of the line. */
#define GPC_GIVE_BACK(id, text, type, message_of, line_of, ...)                                                        \
    GPC_ACTION(id, text)                                                                                               \
    {                                                                                                                  \
        gpc_msg_t *given = gpc_new_write_back(x, type);                                                                \
        GPC_COPY_(message_of(given), line_of(x), __VA_ARGS__)                                                          \
        return gpc_send(x, given);                                                                                     \
    }
/* An action: sends the type to every sharer, or to the owner. */
#define GPC_CALL_IN(id, text, type)                                                                                    \
    GPC_ACTION(id, text)                                                                                               \
    {                                                                                                                  \
        return gpc_call_in(x, type, gpc_sharers(x));                                                                   \
    }

/* Performs the store or atomic on the owner's line, which has this version from now on (0: the protocol has none). */
GPC_API GPC_MUST_CHECK int gpc_perform_here(gpc_step_t *x, uint64_t version);
/* At the owner, of a store or atomic that hits: it only completes it, so an action that calls gpc_perform_here precedes
 * it in the cell. gpc_perform_and_complete (protocol.h) does both, also for a pending request. */
GPC_API_ACTION(act_complete_here);
/* At the bank, of a line that comes home. */
GPC_API_ACTION(act_take_back);

#endif
