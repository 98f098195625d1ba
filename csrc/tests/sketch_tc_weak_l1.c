/* sketch_tc_weak_l1.c: TC-Weak's L1, and the protocol.
 *
 * Paper    Singh et al., HPCA 2013, section 6.3, table 2 (left half); 2 stable + 2 transient cache + 1 transient
 *          coherence.
 * Hardened merged loads of a read that arrives expired ask again (H4); the copy's timestamp follows own upgrades
 *          (H5); a returned line leaves words of unanswered stores alone (H6).
 * Fits     per-warp metadata (GWCT) with release and join hooks; lease expiry as a pre-event, never a timer.
 */
#include "tests/sketch_tc_weak.h"

/* ---- states and events ------------------------------------------------------------------------------------------- */

#define L1_STATES(X)                                                                                                   \
    X(L1_I, STABLE, "not present, or expired")                                                                         \
    X(L1_V, STABLE, "readable until its timestamp")                                                                    \
    X(L1_IV, TRANSIENT_CACHE, "read miss outstanding; later loads merge")                                              \
    X(L1_II, TRANSIENT_CACHE, "requests outstanding, nothing readable")                                                \
    X(L1_VM, TRANSIENT_COHERENCE, "readable, own stores outstanding")

#define L1_EVENTS(X)                                                                                                   \
    X(L1_LOAD, "a warp's load")                                                                                        \
    X(L1_STORE, "a warp's store")                                                                                      \
    X(L1_ATOMIC, "a warp's atomic")                                                                                    \
    X(L1_EVICT, "the replacement wants the way")                                                                       \
    X(L1_EXPIRE, "the timestamp has passed (pre-event)")                                                               \
    X(L1_READ, "data of a read, more outstanding (IV: the only one)")                                                  \
    X(L1_LAST_READ, "data of a read, the last outstanding request")                                                    \
    X(L1_READ_EXPIRED, "data of a read that expired on its way")                                                       \
    X(L1_READ_AGAIN, "the same, and later loads have merged with it")                                                  \
    X(L1_ACK, "write visible everywhere, more outstanding")                                                            \
    X(L1_LAST_ACK, "write visible everywhere, the last request")                                                       \
    X(L1_ACK_G, "write performed, with its GWCT, more outstanding")                                                    \
    X(L1_LAST_ACK_G, "write performed, with its GWCT, the last request")                                               \
    X(L1_LINE_G, "mismatched upgrade: line and GWCT, more outstanding")                                                \
    X(L1_LAST_LINE_G, "mismatched upgrade: line and GWCT, the last request")                                           \
    X(L1_OLD_G, "atomic performed, with its GWCT, more outstanding")                                                   \
    X(L1_LAST_OLD_G, "atomic performed, with its GWCT, the last request")

GPC_FSM(L1, L1_STATES, L1_EVENTS)

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

#define L1_LINE(FIELD) FIELD(TIME, gpc_cycle_t, timestamp)
#define L1_MSHR(FIELD) FIELD(PLAIN, uint16_t, upgrades) /* sent and not answered: each is one tick of the L2's */
#define L1_WARP(FIELD) FIELD(TIME, gpc_cycle_t, gwct)   /* its writes are visible everywhere once this has passed */

GPC_DESCRIBE(l1, line, L1_LINE)
GPC_DESCRIBE(l1, mshr, L1_MSHR)
GPC_DESCRIBE(l1, warp, L1_WARP)

static l1_warp_t *
warp_of(const gpc_controller_t *unit, uint16_t warp)
{
    return (l1_warp_t *) (void *) (unit->warp_fields + (size_t) warp * unit->warp_fields_size);
}

/* ---- classification ---------------------------------------------------------------------------------------------- */

/* Pending requests that this answer serves (a read serves all that merged with it), and whether any other is left. */
static uint32_t
served(const gpc_step_t *x, bool *last)
{
    const gpc_list_t *pending = gpc_step_pending(x);
    gpc_index_t i = pending->head;
    uint32_t count = 0;

    for (uint32_t n = 0; n < pending->count; n++) {
        const gpc_msg_t *item = gpc_msg_at(x->unit->messages, i);
        count += item->request == x->msg->request;
        i = item->next;
    }
    *last = count == pending->count;
    return count;
}

static gpc_event_id_t
classify_answer(const gpc_step_t *x)
{
    if (x->mshr == GPC_NONE) {
        return GPC_NO_EVENT;
    }
    bool last;
    uint32_t count = served(x, &last);
    bool expired = tcw_expired(x, tcw_fields(x->msg)->timestamp);

    switch (x->cause) {
        case TCW_DATA:
            if (expired && count > 1) {
                return L1_READ_AGAIN;
            }
            if (x->state == L1_IV) {
                return expired ? L1_READ_EXPIRED : L1_READ;
            }
            return last ? L1_LAST_READ : L1_READ;
        case TCW_ACK:
            return last ? L1_LAST_ACK : L1_ACK;
        case TCW_ACK_G:
            return last ? L1_LAST_ACK_G : L1_ACK_G;
        case TCW_LINE_G:
            return last ? L1_LAST_LINE_G : L1_LINE_G;
        case TCW_OLD_G:
            return last ? L1_LAST_OLD_G : L1_OLD_G;
        default:
            return GPC_NO_EVENT;
    }
}

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    if (x->cause == GPC_MSG_EVICT) { /* expired or not: the pre-event would leave nothing to evict */
        return L1_EVICT;
    }
    if ((x->state == L1_V || x->state == L1_VM) && tcw_expired(x, ((l1_line_t *) gpc_line_fields(x))->timestamp)) {
        return GPC_PRE_EVENT(L1_EXPIRE);
    }
    switch (x->cause) {
        case GPC_MSG_LOAD:
            return L1_LOAD;
        case GPC_MSG_STORE:
            return L1_STORE;
        case GPC_MSG_ATOMIC:
            return L1_ATOMIC;
        default:
            return classify_answer(x);
    }
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

SKETCH_ACTION(act_reserve_way, "a way for the fill, or hold")
SKETCH_ACTION(act_release_way, "the copy is dropped, or the reserved way given back")
SKETCH_ACTION(act_hit, "the load completes with the line's words")
SKETCH_ACTION(act_request_line, "GETS; EXPIRED_MISS tells the L2's predictor why")
SKETCH_ACTION(act_merge, "the load joins the open read")
SKETCH_ACTION(act_write_through, "GETX with the words")
SKETCH_ACTION(act_write_copy, "the words into the own copy")
SKETCH_ACTION(act_send_atomic, "ATOMIC with the lane list")
SKETCH_ACTION(act_fill, "words and timestamp into the way")
SKETCH_ACTION(act_fill_around_stores, "words that no unanswered store covers (H6); timestamp = T + 1 (H5)")
SKETCH_ACTION(act_complete, "every pending request that this answers")
SKETCH_ACTION(act_complete_first, "the load that sent the read, and no merged one")
SKETCH_ACTION(act_request_again, "a new GETS for the merged loads (H4)")

static int
act_note_expired_miss(gpc_step_t *x)
{
    if (x->msg && x->cause == GPC_MSG_LOAD) {
        x->msg->flags |= GPC_MSG_FLAG_EXPIRED_MISS;
    }
    return GPC_OK;
}

static int
act_upgrade(gpc_step_t *x) /* carries timestamp + unanswered upgrades, so that a row of own stores stays matched (H5) */
{
    l1_mshr_t *mshr = gpc_step_mshr_fields(x);
    mshr->upgrades++;
    return GPC_OK;
}

static int
act_upgraded(gpc_step_t *x)
{
    ((l1_line_t *) gpc_line_fields(x))->timestamp++;
    ((l1_mshr_t *) gpc_step_mshr_fields(x))->upgrades--;
    return GPC_OK;
}

static int
act_raise_gwct(gpc_step_t *x)
{
    l1_warp_t *warp = warp_of(x->unit, x->msg->warp);
    gpc_cycle_t gwct = tcw_fields(x->msg)->gwct;
    warp->gwct = warp->gwct > gwct ? warp->gwct : gwct;
    return GPC_OK;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD]         = GO(L1_IV, act_reserve_way, act_request_line),
        [L1_STORE]        = GO(L1_II, act_write_through),
        [L1_ATOMIC]       = GO(L1_II, act_send_atomic),
    },
    [L1_V] = {
        [L1_LOAD]         = GO(L1_V, act_hit),
        [L1_STORE]        = GO(L1_VM, act_write_copy, act_upgrade),
        [L1_ATOMIC]       = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT]        = GO(L1_I),
        [L1_EXPIRE]       = GO(L1_I, act_note_expired_miss),
    },
    [L1_VM] = {
        [L1_LOAD]         = GO(L1_VM, act_hit),
        [L1_STORE]        = GO(L1_VM, act_write_copy, act_upgrade),
        [L1_ATOMIC]       = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT]        = NOT_A_VICTIM, /* its answers come */
        [L1_EXPIRE]       = GO(L1_II, act_note_expired_miss, act_release_way),
        [L1_ACK]          = GO(L1_VM, act_upgraded, act_complete),
        [L1_LAST_ACK]     = GO(L1_V, act_upgraded, act_complete),
        [L1_ACK_G]        = GO(L1_VM, act_upgraded, act_raise_gwct, act_complete),
        [L1_LAST_ACK_G]   = GO(L1_V, act_upgraded, act_raise_gwct, act_complete),
        [L1_LINE_G]       = GO(L1_VM, act_fill_around_stores, act_raise_gwct, act_complete),
        [L1_LAST_LINE_G]  = GO(L1_V, act_fill_around_stores, act_raise_gwct, act_complete),
    },
    [L1_IV] = {
        [L1_LOAD]         = GO(L1_IV, act_merge),
        [L1_STORE]        = GO(L1_II, act_release_way, act_write_through),
        [L1_ATOMIC]       = GO(L1_II, act_release_way, act_send_atomic),
        [L1_EVICT]        = NOT_A_VICTIM, /* promised to the fill */
        [L1_READ]         = GO(L1_V, act_fill, act_complete),
        [L1_READ_EXPIRED] = GO(L1_I, act_complete, act_release_way),
        [L1_READ_AGAIN]   = GO_HARDENED(L1_IV, act_complete_first, act_request_again),
    },
    [L1_II] = { /* holds no way */
        [L1_LOAD]         = GO(L1_II, act_request_line), /* an open read may be older than our write */
        [L1_STORE]        = GO(L1_II, act_write_through),
        [L1_ATOMIC]       = GO(L1_II, act_send_atomic),
        [L1_READ]         = GO(L1_II, act_complete),
        [L1_LAST_READ]    = GO(L1_I, act_complete),
        [L1_READ_AGAIN]   = GO_HARDENED(L1_II, act_complete_first, act_request_again),
        [L1_ACK]          = GO(L1_II, act_complete),
        [L1_LAST_ACK]     = GO(L1_I, act_complete),
        [L1_ACK_G]        = GO(L1_II, act_raise_gwct, act_complete),
        [L1_LAST_ACK_G]   = GO(L1_I, act_raise_gwct, act_complete),
        [L1_LINE_G]       = GO(L1_II, act_raise_gwct, act_complete),
        [L1_LAST_LINE_G]  = GO(L1_I, act_raise_gwct, act_complete),
        [L1_OLD_G]        = GO(L1_II, act_raise_gwct, act_complete),
        [L1_LAST_OLD_G]   = GO(L1_I, act_raise_gwct, act_complete),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify)};

const gpc_controller_type_t sketch_tcw_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1},
    .arrays = {{.name = "tags", .line = l1_line_described, .has_data = true}},
    .mshr = l1_mshr_described,
    .warp = l1_warp_described,
};

/* ---- memory order ------------------------------------------------------------------------------------------------ */

static int
release_waits_for_gwct(gpc_controller_t *unit, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    (void) scope;
    gpc_cycle_t gwct = warp_of(unit, warp)->gwct;
    if (gwct < unit->ports->now(unit->world)) {
        return GPC_OK;
    }
    *until = gwct + 1;
    return GPC_HOLD;
}

static void
join_gwct(gpc_controller_t *unit, void *into, const void *from)
{
    (void) unit;
    l1_warp_t *to = into;
    gpc_cycle_t gwct = ((const l1_warp_t *) from)->gwct;
    to->gwct = to->gwct > gwct ? to->gwct : gwct;
}

const gpc_protocol_t sketch_tc_weak = {
    .id = "tc-weak",
    .name = "TC-Weak",
    .family = "temporal coherence",
    .model = {[GPC_RULE_RC] = "RCpc"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&sketch_tcw_l1, &sketch_tcw_l2},
    .messages = TCW_info,
    .num_messages = GPC_COUNT_OF(TCW_info),
    .message = tcw_message_described,
    .networks = {{.name = "request", .ordered = true}, {.name = "response", .ordered = true}},
    .order = {.release = release_waits_for_gwct, .join = join_gwct},
    .options =
        {{.name = "lifetime", .standard = -1, .smallest = -1, .largest = 65535, .text = "fixed lease; -1: predicted"}},
};
