/* no_l1.c: NO-L1, no first-level cache: every coalesced access goes to the L2.
 *
 * Paper    Singh et al., HPCA 2013, sections 1, 8.1, 8.4: the baseline of the inter-workgroup programs; trivially coherent, since the
 *          L2 holds the only copy. Misses of different warps do not merge (8.4).
 * Inferred a core has at most as many requests in flight as the L1 has MSHRs.
 */
#include "protocols/baseline/baseline.h"

#define L1_STATES(X) X(L1_ON, STABLE, "always on: no line is cached")

#define L1_EVENTS(X)                                               \
    X(L1_LOAD, "coalesced load of a warp")                         \
    X(L1_STORE, "coalesced store of a warp, with its word mask")   \
    X(L1_ATOMIC, "atomic read-modify-writes with their lane list") \
    X(L1_ANSWER, "data, acknowledgement or old values")

GPC_FSM(L1, L1_STATES, L1_EVENTS)

#define L1_UNIT(FIELD) FIELD(PLAIN, uint32_t, outstanding) /* requests in flight */
GPC_METADATA(l1, unit, L1_UNIT)

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_LOAD:
            return L1_LOAD;
        case GPC_MSG_STORE:
            return L1_STORE;
        case GPC_MSG_ATOMIC:
            return L1_ATOMIC;
        case MSG_DATA:
        case MSG_ACK:
        case MSG_ATOMIC_DATA:
            return L1_ANSWER;
        default:
            return GPC_NO_EVENT;
    }
}

GPC_ACTION(act_take_place, "count one more request in flight, or hold; an answer frees a slot")
{
    if (l1_unit(x->unit)->outstanding >= x->unit->machine->l1_mshrs) {
        return GPC_HOLD;
    }
    l1_unit(x->unit)->outstanding++;
    return GPC_OK;
}

/* The core's request is kept until its answer, which names it. */
static int
send_away(gpc_step_t *x, uint8_t type)
{
    x->kept = true;
    return gpc_send(x, gpc_new_request(x, type));
}

GPC_ACTION(act_get, "send GETS")
{
    gpc_count(x, load_misses);
    return send_away(x, MSG_GETS);
}

GPC_ACTION(act_put, "send GETX with the store's words")
{
    return send_away(x, MSG_GETX);
}

GPC_ACTION(no_l1_act_send_atomic, "send ATOMIC with the lane list")
{
    return send_away(x, MSG_ATOMIC);
}

GPC_ACTION(no_l1_act_complete, "complete the request that the answer names")
{
    gpc_msg_t *waiting = gpc_msg_at(x->unit->messages, x->msg->request);
    l1_unit(x->unit)->outstanding--;
    waiting->lanes = x->msg->lanes;
    x->msg->lanes = GPC_NONE;
    return gpc_complete(x, x->msg->request, x->msg->data, false);
}

/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_ON] = {
        [L1_LOAD] = GO(L1_ON, act_take_place, act_get),
        [L1_STORE] = GO(L1_ON, act_take_place, act_put),
        [L1_ATOMIC] = GO(L1_ON, act_take_place, no_l1_act_send_atomic),
        [L1_ANSWER] = GO(L1_ON, no_l1_act_complete),
    },
};
/* clang-format on */

static const gpc_table_t l1 = {GPC_TABLE("L1", OVER_UNIT, L1, l1_table, l1_classify)};

static const gpc_controller_type_t no_l1_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&l1},
    .unit = l1_unit_described,
};

static const gpc_watched_t watched = {.promise = GPC_PROMISE_FRESH, .bank_is_whole = true};

const gpc_protocol_t gpc_protocol_no_l1 = {
    .id = "no-l1",
    .name = "NO-L1",
    .paper = "Singh et al., HPCA 2013",
    .family = "baseline",
    .text = "no L1: every access is performed at the L2",
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&no_l1_l1, &baseline_l2},
    .messages = MSG_info,
    .num_messages = GPC_COUNT_OF(MSG_info),
    .networks = BASELINE_NETWORKS,
    .declared = {.figure_slot = 0, .weak_outcomes = "SB MP"},
    .host_read = gpc_host_read,
    .host_write = gpc_host_write,
    .watched = &watched,
};
