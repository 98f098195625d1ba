/* prototype_denovo_registry.c: DeNovo's L2, whose data banks are the registry, a table over words; and the protocol.
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3 and 4.2: a word's slot holds its data or its owner.
 * Inferred the L2 evicts registered words (recall); stale write-backs; the owner answers a forwarded read itself.
 * Fits     one owner per word, described as NODES so that symmetry reduction renames it; guards per word (its owner, the
 *          requester).
 */
#include "tests/prototype_denovo.h"

/* ---- states and events ------------------------------------------------------------------------------------------- */

#define REG_STATES(X)                                                                                                  \
    X(REG_NP, STABLE, "the line is not present")                                                                       \
    X(REG_V, STABLE, "the bank has the data")                                                                          \
    X(REG_R, STABLE, "an L1 is registered")                                                                            \
    X(REG_MF, TRANSIENT_CACHE, "fetched from memory")                                                                  \
    X(REG_RC, TRANSIENT_COHERENCE, "recall sent to the owner")                                                         \
    X(REG_RCD, TRANSIENT_COHERENCE, "the owner's write-back crossed the recall: its answer is held")                   \
    X(REG_RCN, TRANSIENT_COHERENCE, "the owner has nothing any more: its write-back is on the way")

#define REG_EVENTS(X)                                                                                                  \
    X(REG_READ, "read")                                                                                                \
    X(REG_REGISTER, "registration for a data write")                                                                   \
    X(REG_REGISTER_SYNC, "registration for synchronisation")                                                           \
    X(REG_WRITE_BACK, "write-back from the owner")                                                                     \
    X(REG_WRITE_BACK_STALE, "write-back from an L1 that is not the owner any more")                                    \
    X(REG_RECALLED, "the owner's words")                                                                               \
    X(REG_RECALLED_NONE, "the owner's write-back is on the way")                                                       \
    X(REG_FILL, "memory's data")                                                                                       \
    X(REG_EVICT, "the replacement wants the way; no word is registered, memory is current")                            \
    X(REG_EVICT_DIRTY, "the replacement wants the way; no word is registered, memory is not current")                  \
    X(REG_EVICT_REGISTERED, "the replacement wants the way; some words are registered")

GPC_FSM(REG, REG_STATES, REG_EVENTS)

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

#define L2_LINE(FIELD)                                                                                                 \
    FIELD(NODES, prototype_word_nodes_t, owner) /* GPC_NO_NODE except in R, RC, RCD, RCN */                                  \
    FIELD(PLAIN, gpc_mask_t, dirty)
#define L2_MSHR(FIELD) /* held requests are in its lists */

GPC_DESCRIBE(l2, line, L2_LINE)
GPC_DESCRIBE(l2, mshr, L2_MSHR)

/* ---- classification: of x->word ---------------------------------------------------------------------------------- */

static bool
is_from_owner(const gpc_step_t *x)
{
    return x->way != GPC_NONE && ((l2_line_t *) gpc_line_fields(x))->owner.node[x->word] == x->msg->requester;
}

static gpc_event_id_t
classify_eviction(const gpc_step_t *x)
{
    const uint8_t *states = gpc_tags_word_states(&x->unit->arrays[x->array], x->way);
    for (uint32_t i = 0; i < x->unit->arrays[x->array].line_words; i++) {
        if (states[i] == REG_R) {
            return REG_EVICT_REGISTERED;
        }
    }
    return ((l2_line_t *) gpc_line_fields(x))->dirty ? REG_EVICT_DIRTY : REG_EVICT;
}

static gpc_event_id_t
reg_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case DENOVO_READ:
            return x->state == REG_R && is_from_owner(x) ? GPC_NO_EVENT : REG_READ; /* the owner hits or waits */
        case DENOVO_REGISTER:
            return x->state == REG_R && is_from_owner(x) ? GPC_NO_EVENT : REG_REGISTER;
        case DENOVO_REGISTER_SYNC:
            return x->state == REG_R && is_from_owner(x) ? GPC_NO_EVENT : REG_REGISTER_SYNC;
        case DENOVO_WRITE_BACK:
            return is_from_owner(x) ? REG_WRITE_BACK : REG_WRITE_BACK_STALE;
        case DENOVO_RECALLED:
            return REG_RECALLED;
        case DENOVO_RECALLED_NONE:
            return REG_RECALLED_NONE;
        case GPC_MSG_FILL:
            return REG_FILL;
        case GPC_MSG_EVICT:
            return classify_eviction(x);
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

STUB_ACTION(act_fetch, "a way (or hold), and memory is asked; the request is pending")
STUB_ACTION(act_fill_and_replay, "memory's words; what is pending is taken again, in order")
STUB_ACTION(act_send_data, "DATA: the demanded words and every other valid one of the line")
STUB_ACTION(act_grant, "REGISTERED")
STUB_ACTION(act_grant_with_words, "REGISTERED_SYNC with the values")
STUB_ACTION(act_forward_read, "FORWARD_READ to each owner, demanded words only")
STUB_ACTION(act_forward_take, "FORWARD_TAKE to each old owner")
STUB_ACTION(act_forward_take_sync, "FORWARD_TAKE_SYNC to each old owner")
STUB_ACTION(act_store_words, "the words; dirty")
STUB_ACTION(act_answer_ok, "WRITE_BACK_OK")
STUB_ACTION(act_hold_answer, "WRITE_BACK_OK waits, so that the owner cannot register again under the recall")
STUB_ACTION(act_answer_held, "the WRITE_BACK_OK that waited")
STUB_ACTION(act_answer_stale, "WRITE_BACK_STALE")
STUB_ACTION(act_recall, "RECALL to each owner")
STUB_ACTION(act_write_memory, "the dirty words of the line to memory")

static int
set_owner(gpc_step_t *x, gpc_node_t node)
{
    l2_line_t *line = gpc_line_fields(x);
    for (gpc_mask_t left = x->mask; left; left &= left - 1) {
        line->owner.node[__builtin_ctz(left)] = node;
    }
    return GPC_OK;
}

GPC_ACTION(act_set_owner, "the requester is the words' owner")
{
    return set_owner(x, x->msg->requester);
}

GPC_ACTION(act_no_owner, "the words have no owner")
{
    return set_owner(x, GPC_NO_NODE);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const gpc_cell_t reg_table[REG_NUM_STATES][REG_NUM_EVENTS] = {
    [REG_NP] = {
        [REG_READ]             = GO(REG_MF, act_fetch),
        [REG_REGISTER]         = GO(REG_MF, act_fetch),
        [REG_REGISTER_SYNC]    = GO(REG_MF, act_fetch),
        [REG_WRITE_BACK_STALE] = GO(REG_NP, act_answer_stale),
    },
    [REG_MF] = { /* memory always answers */
        [REG_READ]             = HOLD_LINE,
        [REG_REGISTER]         = HOLD_LINE,
        [REG_REGISTER_SYNC]    = HOLD_LINE,
        [REG_WRITE_BACK_STALE] = GO(REG_MF, act_answer_stale),
        [REG_FILL]             = GO(REG_V, act_fill_and_replay),
        [REG_EVICT]            = NOT_A_VICTIM,
        [REG_EVICT_DIRTY]      = NOT_A_VICTIM,
        [REG_EVICT_REGISTERED] = NOT_A_VICTIM,
    },
    [REG_V] = {
        [REG_READ]             = GO(REG_V, act_send_data),
        [REG_REGISTER]         = GO(REG_R, act_set_owner, act_grant),
        [REG_REGISTER_SYNC]    = GO(REG_R, act_set_owner, act_grant_with_words),
        [REG_WRITE_BACK_STALE] = GO(REG_V, act_answer_stale),
        [REG_EVICT]            = GO(REG_NP),
        [REG_EVICT_DIRTY]      = GO(REG_NP, act_write_memory),
        [REG_EVICT_REGISTERED] = GO(REG_V), /* held until the line's other words arrive */
    },
    [REG_R] = {
        [REG_READ]             = GO(REG_R, act_forward_read),
        [REG_REGISTER]         = GO(REG_R, act_forward_take, act_set_owner),
        [REG_REGISTER_SYNC]    = GO(REG_R, act_forward_take_sync, act_set_owner),
        [REG_WRITE_BACK]       = GO(REG_V, act_store_words, act_no_owner, act_answer_ok),
        [REG_WRITE_BACK_STALE] = GO(REG_R, act_answer_stale),
        [REG_EVICT_REGISTERED] = GO(REG_RC, act_recall),
    },
    [REG_RC] = { /* the owner always answers a recall */
        [REG_READ]             = HOLD_LINE,
        [REG_REGISTER]         = HOLD_LINE,
        [REG_REGISTER_SYNC]    = HOLD_LINE,
        [REG_WRITE_BACK]       = GO(REG_RCD, act_store_words, act_hold_answer),
        [REG_WRITE_BACK_STALE] = GO(REG_RC, act_answer_stale),
        [REG_RECALLED]         = GO(REG_V, act_store_words, act_no_owner),
        [REG_RECALLED_NONE]    = GO(REG_RCN),
        [REG_EVICT]            = NOT_A_VICTIM,
        [REG_EVICT_DIRTY]      = NOT_A_VICTIM,
        [REG_EVICT_REGISTERED] = NOT_A_VICTIM,
    },
    [REG_RCD] = {
        [REG_READ]             = HOLD_LINE,
        [REG_REGISTER]         = HOLD_LINE,
        [REG_REGISTER_SYNC]    = HOLD_LINE,
        [REG_WRITE_BACK_STALE] = GO(REG_RCD, act_answer_stale),
        [REG_RECALLED_NONE]    = GO(REG_V, act_no_owner, act_answer_held),
        [REG_EVICT]            = NOT_A_VICTIM,
        [REG_EVICT_DIRTY]      = NOT_A_VICTIM,
        [REG_EVICT_REGISTERED] = NOT_A_VICTIM,
    },
    [REG_RCN] = {
        [REG_READ]             = HOLD_LINE,
        [REG_REGISTER]         = HOLD_LINE,
        [REG_REGISTER_SYNC]    = HOLD_LINE,
        [REG_WRITE_BACK]       = GO(REG_V, act_store_words, act_no_owner, act_answer_ok),
        [REG_WRITE_BACK_STALE] = GO(REG_RCN, act_answer_stale),
        [REG_EVICT]            = NOT_A_VICTIM,
        [REG_EVICT_DIRTY]      = NOT_A_VICTIM,
        [REG_EVICT_REGISTERED] = NOT_A_VICTIM,
    },
};
/* clang-format on */

static const gpc_table_t registry = {GPC_TABLE("L2", OVER_WORDS, REG, reg_table, reg_classify)};

const gpc_controller_type_t prototype_denovo_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&registry},
    .arrays = {{.name = "tags", .line = l2_line_described, .has_data = true}},
    .mshr = l2_mshr_described,
};

/* ---- memory order ------------------------------------------------------------------------------------------------ */

/* The release waits until the buffer is empty. A complete protocol would stamp entries, so that later stores of other warps
 * do not prolong the wait. */
static int
release_drains(gpc_controller_t *unit, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    (void) warp;
    (void) scope;
    *until = GPC_NEVER; /* wake_warp ends the wait */
    return unit->parts[DENOVO_PART_STORE_BUFFER].pool.state->in_use ? GPC_HOLD : GPC_OK;
}

static int
acquire_drops_valid_words(gpc_controller_t *unit, uint16_t warp, uint8_t scope)
{
    (void) warp;
    (void) scope;
    return gpc_controller_walk(unit, 0, GPC_MSG_ACQUIRE);
}

const gpc_protocol_t prototype_denovo = {
    .id = "denovo-drf",
    .name = "DeNovo",
    .family = "denovo",
    .model = {[GPC_RULE_DRF] = "DRF-SC"},
    .standard_rule = GPC_RULE_DRF,
    .controllers = {&prototype_denovo_l1, &prototype_denovo_l2},
    .messages = DENOVO_info,
    .num_messages = GPC_COUNT_OF(DENOVO_info),
    .message = denovo_message_described,
    .networks = {{.name = "request", .requests = true},
                 {.name = "forward"},
                 {.name = "response"},
                 {.name = "write-back"}},
    .order = {.release = release_drains, .acquire = acquire_drops_valid_words, .same_word = true, .keeps_own = true},
    .options = {{.name = "sb_drain",
                 .largest = 1,
                 .choices = "lazy eager",
                 .standard = 1,
                 .text = "when registrations leave"}},
};
