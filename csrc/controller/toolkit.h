/* toolkit.h: all headers that a protocol file needs, and the rules of a protocol that no single declaration has. The
 * first protocol to read is tests/example_protocol.c, with docs/how-to/add-a-protocol.md.
 *
 * Networks   Rely on as little order as possible: the explorer delivers the messages of a network that is not
 *            `ordered` in every order. That is safe if any two messages which one controller may have in flight to
 *            another on it have the same effect in either order. Requests usually need order: a warp may have several
 *            stores to a line outstanding, and if one overtakes another, the line keeps the older value;
 *            `.order.same_line` is the alternative. Deadlock freedom follows from an order of networks: a message
 *            waits for messages of later networks only. An L1 may hold forwards (a request network whose messages go to
 *            L1s): what it does for them needs room on later networks alone, and they pass its core's requests.
 *            Invalidations and their acknowledgements need networks of
 *            their own, and so does what a drain or a recall waits for, since a held request holds what follows it.
 * Ways       A step into a stable state ends the line's transaction: its MSHR is freed (a request still pending in it
 *            is a protocol error), and what waits for the line is retried. In the first state the way is freed too,
 *            also one that was reserved for a fill that is not kept, and its data are lost: write dirty words back
 *            before. A line that gives up its way and remains in a transaction takes act_release_way; before such a
 *            line enters a stable state other than the first, an action reserves a way again. Tables with
 *            `keeps_initial` keep the way in the first state.
 * Fields     The explorer merges states whose encodings are equal, so a field's kind says what the field means.
 *            Because TIME is encoded relative to now, behaviour may depend only on how far a time is in the future:
 *            neither on absolute time (`now % epoch == 0`) nor on the difference of two past times. A version that is
 *            compared after its time has passed is LOGICAL. A rule that compares an answer with the time at which a
 *            load issued (`msg->issued`) is declared as `.explored.serves`. For a periodic event, keep the time of the
 *            next one in a TIME field. Keep no state in STATISTIC fields; a count that only grows belongs there or in
 *            GPC_COUNTS, as PLAIN it makes the states infinite.
 * Counts     The framework counts requests, evictions, fetches and what waits; a protocol counts hits and leases. At
 *            the L2, hits and misses sum to the loads: a load is a message of class REQ on a request network, and
 *            requests for stores have class ST, REG or ATO (those of mesi have REQ, and count as loads). The class of
 *            any other message only divides the traffic: a forward has that of the request which it passes on,
 *            invalidations and their acknowledgements have INV, recalls RCL.
 * Performed  gpc_note_performed marks the step at which a store or atomic takes effect (gpc_new_writer_answer calls
 *            it); the monitors compare every later load with it. An L1 that completes a store before it is performed
 *            calls gpc_note_accepted first, sends without a request (GPC_NONE), and calls gpc_note_performed, or
 *            gpc_note_drained where no message has the words, when it takes effect.
 * Warps      Under drf and hrf every access but a weak one is synchronisation and blocks its warp; `classify` sees it
 *            as x->msg->order and x->msg->scope. A protocol whose stores are performed early keeps a time per warp
 *            (GPC_METADATA(x, warp, LIST), `.warp`); an answer has the warp of its request, x->msg->warp. A barrier
 *            joins TIME and LOGICAL fields of warps by itself. One set of tables may serve several rules:
 *            x->unit->rule.
 * Launches   Copies, leases and fields survive launches unless KERNEL_BEGIN drops them. The end of a warp (EXIT) is a
 *            release of system scope, so a protocol whose releases make stores visible needs no KERNEL_END for them.
 *            The begin of a launch is no acquire: a protocol that drops stale copies at acquires drops them at
 *            KERNEL_BEGIN too. Periodic timers start there. gpc_controller_flash drops all stable lines in one pass.
 * Messages   To keep a message that is no request for later, set x->kept and push it to a REQUEST list.
 * Spins      A warp that polls a flag with loads reads the new value in bounded time: no copy is readable for ever,
 *            and a waiting store is not starved by readers that extend its line's lease.
 */
#ifndef GPC_CONTROLLER_TOOLKIT_H
#define GPC_CONTROLLER_TOOLKIT_H

#include "controller/actions.h"
#include "controller/clock.h"
#include "controller/host.h"
#include "controller/lease.h"
#include "controller/logical.h"
#include "controller/metadata.h"
#include "controller/owners.h"
#include "controller/requests.h"
#include "controller/sharers.h"
#include "controller/stamps.h"
#include "controller/store_buffer.h"
#include "controller/timestamps.h"
#include "controller/versions.h"
#include "controller/word_owners.h"
#include "controller/writer.h"

#endif
