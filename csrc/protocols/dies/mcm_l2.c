/* mcm_l2.c: the L2 bank of MCM: the home of its die's lines, and near those of others.
 *
 * Paper    Ren et al., HPCA 2020, sections IV-A and VI: an L2 caches lines of other dies too; a store goes on to the
 *          line's home.
 * Inferred a near line is read by weak loads alone. What else passes drops it: the core's later loads must not read
 *          older words. While the line is on its way (NP), that or an acquire makes it come too late (NX): it answers
 *          the loads that came before, is not kept, and later loads are read at the home. "between" is ordered, so that
 *          the home takes what a near bank passes in that order.
 *          A near line that would take the last MSHR of the bank, or the last way of its set, is read at the home: two
 *          banks that wait for each other's would wait for ever.
 *          The home is the baselines' L2, which writes back. */
#include "controller/nodes.h"
#include "protocols/dies/mcm.h"

GPC_FSM(L2, MCM_L2_STATES, MCM_L2_EVENTS)
BASELINE_L2_EVENTS(BASELINE_SAME)

static bool
is_home(const gpc_step_t *x)
{
    return gpc_home_of(x->unit, x->line) == x->unit->node;
}

uint32_t
mcm_first_die(const gpc_controller_t *unit, uint32_t *dies)
{
    *dies = unit->machine->dies / (mcm_has_gpu_homes(unit) ? unit->machine->gpus : 1);
    return gpc_die_of(unit->nodes, unit->node) / *dies * *dies;
}

gpc_node_t
mcm_bank_in(const gpc_controller_t *unit, uint32_t die)
{
    uint32_t banks = unit->homes.banks.divisor;
    return (gpc_node_t) (unit->homes.first_bank + die * banks + unit->index % banks);
}

gpc_node_t
mcm_gpu_home(const gpc_controller_t *unit, gpc_address_t line)
{
    uint32_t dies, first = mcm_first_die(unit, &dies);
    gpc_node_t home = gpc_home_of(unit, line);
    bool here = !mcm_has_gpu_homes(unit) || gpc_die_of(unit->nodes, home) / dies * dies == first;
    return here ? home : mcm_bank_in(unit, first + (uint32_t) (gpc_quotient(unit->homes.page, line) % dies));
}

/* The bank that this one asks for the line. */
static gpc_node_t
next_of(const gpc_step_t *x)
{
    gpc_node_t gpu_home = mcm_gpu_home(x->unit, x->line);
    return gpu_home == x->unit->node ? gpc_home_of(x->unit, x->line) : gpu_home;
}

gpc_index_t
mcm_youngest(gpc_controller_t *unit, gpc_address_t key, int *status)
{
    gpc_part_t *part = &unit->parts[MCM_DIRECTORY];
    gpc_index_t entry = gpc_part_find(part, key);
    if (entry != GPC_NONE) {
        gpc_part_renew(part, entry);
        return entry;
    }
    if (part->order->count == part->pool.capacity) {
        *status = gpc_controller_entry(unit, MCM_TABLE_DIRECTORY, MCM_DIRECTORY, gpc_part_first(part), GPC_MSG_EVICT,
                                       GPC_NONE);
    }
    return gpc_part_take(part, key);
}

bool
mcm_may_wait(const gpc_step_t *x)
{
    const gpc_tags_t *tags = &x->unit->arrays[0];
    uint32_t kept = mcm_gpu_home(x->unit, x->line) != x->unit->node && mcm_has_gpu_homes(x->unit) ? 2 : 1, free = 0;
    for (gpc_index_t way = gpc_tags_set_of(tags, x->line) * tags->ways, end = way + tags->ways; way < end; way++) {
        free += !gpc_tags_present(tags, way) || tags->tags[way].mshr == GPC_NONE;
    }
    return x->unit->machine->l2_near && free > kept && gpc_mshr_room(&x->unit->mshrs) > kept;
}

bool
mcm_is_near(const gpc_step_t *x)
{
    return x->cause >= GPC_MSG_OWN && gpc_is_request(x->unit, x->msg) && !is_home(x);
}

bool
mcm_is_near_read(const gpc_step_t *x)
{
    bool ordered = x->cause == MCM_GETS_HOME || x->cause == MCM_PASSED_GETS;
    bool reads = x->cause == MCM_GETS || x->cause == MCM_NEAR_GETS;
    return reads || (ordered && x->msg->scope != GPC_SCOPE_SYS && mcm_gpu_home(x->unit, x->line) == x->unit->node);
}

gpc_event_id_t
mcm_l2_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case MCM_GETS:
            return is_home(x) ? L2_GETS : x->state != L2_I || mcm_may_wait(x) ? L2_NEAR_LOAD : L2_NEAR_OTHER;
        case MCM_GETX:
            return is_home(x) ? L2_GETX : L2_NEAR_OTHER;
        case MCM_ATOMIC:
            return is_home(x) ? L2_ATOMIC : L2_NEAR_OTHER;
        case MCM_GETS_HOME:
            return is_home(x) ? L2_GETS : L2_NEAR_OTHER;
        case MCM_NEAR_GETS:
        case MCM_PASSED_GETS:
        case MCM_PASSED_NEAR:
            return L2_GETS;
        case MCM_PASSED_GETX:
            return L2_GETX;
        case MCM_PASSED_ATOMIC:
            return L2_ATOMIC;
        case MCM_NEAR_DATA:
            return L2_NEAR_DATA;
        case GPC_MSG_FILL: {
            uint8_t asked = gpc_first_pending(x)->type;
            bool stores = asked == MCM_GETX || asked == MCM_PASSED_GETX;
            bool performs = asked == MCM_ATOMIC || asked == MCM_PASSED_ATOMIC;
            return stores ? L2_FILL_STORE : performs ? L2_FILL_ATOMIC : L2_FILL;
        }
        default:
            return baseline_l2_classify(x);
    }
}

/* ---- the home ---------------------------------------------------------------------------------------------------- */

static bool
is_near(const gpc_msg_t *asked)
{
    return asked->type == MCM_NEAR_GETS || asked->type == MCM_PASSED_NEAR;
}

/* What a near bank has passed on is answered to the core, or to the near bank of the core's die that wants the line. */
static gpc_node_t
destination_of(const gpc_controller_t *unit, const gpc_msg_t *asked)
{
    bool passed = asked->type == MCM_PASSED_NEAR;
    return passed                         ? mcm_bank_in(unit, gpc_die_of(unit->nodes, asked->requester))
           : asked->type == MCM_NEAR_GETS ? asked->source
                                          : asked->requester;
}

int
mcm_answer(gpc_step_t *x, gpc_index_t to, uint8_t type)
{
    const gpc_msg_t *asked = gpc_msg_at(x->unit->messages, to);
    gpc_node_t destination = destination_of(x->unit, asked);
    gpc_msg_t *msg = gpc_new_answer(x, to, is_near(asked) ? MCM_NEAR_DATA : type);
    msg->destination = destination;
    return gpc_send(x, msg);
}

static int
answer_writer(gpc_step_t *x, uint8_t type)
{
    gpc_msg_t *msg = gpc_new_writer_answer(x, type, 0);
    msg->destination = msg->requester;
    return gpc_answer_writer(x, msg);
}

GPC_SHARED_ACTION(mcm_act_answer_line, "send DATA to the core, or NEAR_DATA to a near L2")
{
    gpc_count(x, load_hits);
    return mcm_answer(x, x->message, MCM_DATA);
}

GPC_SHARED_ACTION(mcm_act_answer_lines, "send DATA or NEAR_DATA to all pending loads")
{
    return gpc_answer_pending(x, MCM_DATA, mcm_answer);
}

GPC_SHARED_ACTION(mcm_act_store, "write the store's words, send ACK to the core")
{
    (void) gpc_act(writer_act_write, x);
    return answer_writer(x, MCM_ACK);
}

GPC_SHARED_ACTION(mcm_act_atomic, "perform the atomic, send its old values to the core")
{
    (void) gpc_act(writer_act_perform, x);
    return answer_writer(x, MCM_ATOMIC_DATA);
}

/* ---- near -------------------------------------------------------------------------------------------------------- */

GPC_SHARED_ACTION(mcm_act_near_get, "send NEAR_GETS to the home; the load becomes pending")
{
    gpc_count(x, load_misses);
    GPC_TRY(gpc_send(x, gpc_new_message(x, MCM_NEAR_GETS, next_of(x))));
    return gpc_keep_pending(x);
}

static uint8_t
passed_type(uint8_t cause)
{
    switch (cause) {
        case MCM_GETX:
        case MCM_PASSED_GETX:
            return MCM_PASSED_GETX;
        case MCM_ATOMIC:
        case MCM_PASSED_ATOMIC:
            return MCM_PASSED_ATOMIC;
        case MCM_NEAR_GETS:
            return MCM_PASSED_NEAR;
        default:
            return MCM_PASSED_GETS;
    }
}

GPC_SHARED_ACTION(mcm_act_pass, "pass the request on to the home")
{
    uint8_t type = passed_type(x->cause);
    x->unit->statistics->load_misses += type == MCM_PASSED_GETS || type == MCM_PASSED_NEAR;
    gpc_msg_t *msg = gpc_new_request(x, type);
    msg->destination = next_of(x);
    return gpc_send(x, msg);
}

GPC_SHARED_ACTION(mcm_act_take_line, "fill the way with the line")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, gpc_all_words(x->unit));
    return GPC_OK;
}

/* The words are those of the message: the line has no way. */
static int
answer_from_message(gpc_step_t *x, gpc_index_t to, uint8_t type)
{
    const gpc_msg_t *asked = gpc_msg_at(x->unit->messages, to);
    gpc_msg_t *msg = gpc_new_message(x, is_near(asked) ? MCM_NEAR_DATA : type, destination_of(x->unit, asked));
    msg->requester = asked->requester;
    msg->request = asked->request;
    msg->warp = asked->warp;
    msg->lanes = GPC_NONE;
    gpc_carry(x, msg, gpc_all_words(x->unit), x->msg->data);
    return gpc_send(x, msg);
}

GPC_SHARED_ACTION(mcm_act_pass_line, "send DATA to all pending loads")
{
    return gpc_answer_pending(x, MCM_DATA, answer_from_message);
}

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_GETS] = GO(L2_IS, act_reserve_way, act_fetch),
        [L2_GETX] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_ATOMIC] = GO(L2_IM, act_reserve_way, act_fetch),
        [L2_NEAR_LOAD] = GO(L2_NP, act_reserve_way, mcm_act_near_get),
        [L2_NEAR_OTHER] = GO(L2_I, mcm_act_pass),
    },
    [L2_V] = {
        [L2_GETS] = GO(L2_V, mcm_act_answer_line),
        [L2_GETX] = GO(L2_V, mcm_act_store),
        [L2_ATOMIC] = GO(L2_V, mcm_act_atomic),
        [L2_EVICT_CLEAN] = GO(L2_I),
        [L2_EVICT_DIRTY] = GO(L2_I, act_write_back),
        [L2_DROP] = GO(L2_V),
    },
    [L2_IS] = {
        [L2_GETS] = GO(L2_IS, act_merge),
        [L2_GETX] = HOLD_LINE, /* until the fill */
        [L2_ATOMIC] = HOLD_LINE,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM, /* the way is reserved for the fill */
        [L2_FILL] = GO(L2_V, act_fill_line, mcm_act_answer_lines),
        [L2_DROP] = GO(L2_IS),
    },
    [L2_IM] = {
        [L2_GETS] = HOLD_LINE,
        [L2_GETX] = HOLD_LINE,
        [L2_ATOMIC] = HOLD_LINE,
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_FILL_STORE] = GO(L2_V, act_fill_line, mcm_act_store),
        [L2_FILL_ATOMIC] = GO(L2_V, act_fill_line, mcm_act_atomic),
        [L2_DROP] = GO(L2_IM),
    },
    [L2_N] = {
        [L2_NEAR_LOAD] = GO(L2_N, mcm_act_answer_line),
        [L2_NEAR_OTHER] = GO(L2_I, mcm_act_pass),
        [L2_EVICT_CLEAN] = GO(L2_I),
        [L2_DROP] = GO(L2_I),
    },
    [L2_NP] = {
        [L2_NEAR_LOAD] = GO(L2_NP, act_merge),
        [L2_NEAR_OTHER] = GO(L2_NX, act_release_way, mcm_act_pass),
        [L2_EVICT_CLEAN] = NOT_A_VICTIM,
        [L2_NEAR_DATA] = GO(L2_N, mcm_act_take_line, mcm_act_answer_lines),
        [L2_DROP] = GO(L2_NX, act_release_way),
    },
    [L2_NX] = { /* no way: never a victim */
        [L2_NEAR_LOAD] = GO(L2_NX, mcm_act_pass),
        [L2_NEAR_OTHER] = GO(L2_NX, mcm_act_pass),
        [L2_NEAR_DATA] = GO(L2_I, mcm_act_pass_line),
        [L2_DROP] = GO(L2_NX),
    },
};
/* clang-format on */

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    return x->cause == GPC_MSG_KERNEL_BEGIN ? L2_DROP : mcm_l2_classify(x);
}

const gpc_table_t mcm_l2_lines = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
                                  .causes = {ON(GPC_MSG_ACQUIRE, L2_DROP)}};

/* ---- acquires of the die's cores --------------------------------------------------------------------------------- */

#define U_STATES(X) X(U_ON, STABLE, "always on")
#define U_EVENTS(X) X(U_DROP, "an acquire of a core of the die")
GPC_FSM(U, U_STATES, U_EVENTS)

GPC_ACTION(act_drop_near, "drop every line of another die, send DROPPED")
{
    GPC_TRY(gpc_controller_flash(x->unit, MCM_TABLE_LINES, GPC_MSG_ACQUIRE, L2_DROP));
    return gpc_send(x, gpc_new_answer(x, x->message, MCM_DROPPED));
}

/* clang-format off */
static const gpc_cell_t u_table[U_NUM_STATES][U_NUM_EVENTS] = {
    [U_ON] = {
        [U_DROP] = GO(U_ON, act_drop_near),
    },
};
/* clang-format on */

const gpc_table_t mcm_l2_acquires = {GPC_TABLE("L2.acquires", OVER_UNIT, U, u_table, NULL),
                                     .causes = {ON(MCM_DROP, U_DROP)}};

uint8_t
mcm_l2_route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    (void) unit;
    return msg->type == MCM_DROP ? MCM_TABLE_UNIT : MCM_TABLE_LINES;
}

uint32_t
mcm_bank_entries(const gpc_machine_t *machine, int64_t given, uint32_t a_die)
{
    uint32_t banks = machine->partitions / (machine->dies > 1 ? machine->dies : 1);
    return given ? (uint32_t) given : (a_die + banks - 1) / banks;
}

const gpc_controller_type_t mcm_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&mcm_l2_lines, &mcm_l2_acquires},
    .arrays = {{.name = "tags", .line = gpc_writer_line_described, .has_data = true}},
    .route = mcm_l2_route,
    .begins = 1u << MCM_TABLE_LINES,
};
