/* skeleton_three_levels.c: skel-three-levels: skel-src's L1s over an L2 and a cache at the memory side, both written
 * through; a store is complete when memory has performed it.
 *
 * Paper    none. Levels, and completion by memory's answer, resemble Hechtman et al., HPCA 2014, section 3.
 * Rules    The L2 is a line's home: stores and atomics are performed there, in the step that takes them. It passes each
 *          write on; one channel leads up, so that a later read of the line follows it. A store's answer to the core
 *          waits for memory's.
 * Shows    a third level, requests of banks, fetches from the memory side, writes that memory answers, host accesses to
 *          a copy beyond the L2.
 */
#include "tests/skeletons.h"

#define TL_MESSAGES(X, P)                                                                          \
    BASELINE_MESSAGES(X, P)                                                                        \
    X(P, READ, REQ, 2, 8, 0, false, "a bank wants the line")                                       \
    X(P, WRITE, ST, 2, 12, 4, false, "words of a performed store or atomic")                       \
    X(P, LINE, LD, 3, 8, 0, true, "the line")                                                      \
    X(P, WRITTEN, ST, 3, 8, 0, false, "memory has the words")
GPC_MESSAGES(TL, TL_MESSAGES)
BASELINE_SAME_MESSAGES(TL);

/* ---- L2 ---------------------------------------------------------------------------------------------------------- */

#define L2_STATES(X)                                                                               \
    X(L2_I, STABLE, "not present")                                                                 \
    X(L2_V, STABLE, "present, equal to the memory side once writes have arrived")                  \
    X(L2_IF, TRANSIENT_CACHE, "read from the memory side; requests wait")
#define L2_EVENTS(X)                                                                               \
    X(L2_GETS, "read request")                                                                     \
    X(L2_GETX, "store")                                                                            \
    X(L2_ATOMIC, "atomic")                                                                         \
    X(L2_EVICT, "way chosen for replacement")                                                      \
    X(L2_LINE, "line from the memory side")                                                        \
    X(L2_WRITTEN, "memory has an earlier write's words")
GPC_FSM(L2, L2_STATES, L2_EVENTS)

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case TL_GETS:
            return L2_GETS;
        case TL_GETX:
            return L2_GETX;
        case TL_ATOMIC:
            return L2_ATOMIC;
        case GPC_MSG_EVICT:
            return L2_EVICT;
        case TL_LINE:
            return L2_LINE;
        case TL_WRITTEN:
            return L2_WRITTEN;
        default:
            return GPC_NO_EVENT;
    }
}

GPC_ACTION(act_read_up, "READ to the memory side; the request waits and is taken again")
{
    gpc_count_miss(x);
    GPC_TRY(gpc_send(x, gpc_new_message(x, TL_READ, gpc_node_of(x->unit, GPC_AT_MEMORY))));
    return gpc_keep_pending(x);
}

/* The words of a write to the memory side, on behalf of `request`, which its answer names. */
static int
write_up(gpc_step_t *x, const uint32_t *words, gpc_index_t request)
{
    gpc_msg_t *msg = gpc_new_message(x, TL_WRITE, gpc_node_of(x->unit, GPC_AT_MEMORY));
    gpc_carry(x, msg, x->msg->mask, words);
    msg->requester = x->msg->source;
    msg->request = request;
    return gpc_send(x, msg);
}

GPC_ACTION(act_pass_store, "the store is performed: its words to the memory side")
{
    GPC_TRY(gpc_note_performed(x, x->message, 0));
    return write_up(x, x->msg->data, x->msg->request);
}

GPC_ACTION(act_perform_atomic, "perform the atomic, send its old values, its words to the memory side")
{
    int status = gpc_act(writer_act_perform, x);
    if (status == GPC_OK) {
        status = write_up(x, gpc_line_words(x), GPC_NONE);
    }
    GPC_TRY(status);
    return gpc_answer_writer(x, gpc_new_writer_answer(x, TL_ATOMIC_DATA, 0));
}

GPC_ACTION(tl_act_answer, "send DATA to the requester")
{
    gpc_count_hit(x);
    return gpc_send(x, gpc_new_answer(x, x->message, TL_DATA));
}

GPC_ACTION(act_acknowledge, "send ACK for the store whose words memory has; atomics are answered already")
{
    if (x->msg->request == GPC_NONE) {
        return GPC_OK;
    }
    gpc_msg_t *msg = gpc_new_message(x, TL_ACK, x->msg->requester);
    msg->request = x->msg->request;
    msg->warp = x->msg->warp;
    return gpc_send(x, msg);
}

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_GETS] = GO(L2_IF, act_reserve_way, act_read_up),
        [L2_GETX] = GO(L2_I, act_pass_store), /* no allocation: a later read follows it up the channel */
        [L2_ATOMIC] = GO(L2_IF, act_reserve_way, act_read_up),
        [L2_WRITTEN] = GO(L2_I, act_acknowledge),
    },
    [L2_V] = {
        [L2_GETS] = GO(L2_V, tl_act_answer),
        [L2_GETX] = GO(L2_V, writer_act_write, act_pass_store),
        [L2_ATOMIC] = GO(L2_V, act_perform_atomic),
        [L2_EVICT] = GO(L2_I),
        [L2_WRITTEN] = GO(L2_V, act_acknowledge),
    },
    [L2_IF] = {
        [L2_GETS] = HOLD_LINE,
        [L2_GETX] = HOLD_LINE, /* the line in flight may be older */
        [L2_ATOMIC] = HOLD_LINE,
        [L2_EVICT] = NOT_A_VICTIM,
        [L2_LINE] = GO(L2_V, act_fill, act_replay),
        [L2_WRITTEN] = GO(L2_IF, act_acknowledge),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify)};

static const gpc_controller_type_t three_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .arrays = {{.name = "tags", .line = gpc_writer_line_described, .has_data = true}},
};

/* ---- the memory side --------------------------------------------------------------------------------------------- */

#define L3_STATES(X)                                                                               \
    X(L3_I, STABLE, "not present")                                                                 \
    X(L3_V, STABLE, "present, equal to memory")                                                    \
    X(L3_IF, TRANSIENT_CACHE, "fetched from memory; requests wait")                                \
    X(L3_IW, TRANSIENT_CACHE, "not present, writes to memory outstanding")                         \
    X(L3_VW, TRANSIENT_CACHE, "present, writes to memory outstanding")
#define L3_EVENTS(X)                                                                               \
    X(L3_READ, "a bank wants the line")                                                            \
    X(L3_WRITE, "words of a performed write")                                                      \
    X(L3_EVICT, "way chosen for replacement")                                                      \
    X(L3_FILL, "line from memory")                                                                 \
    X(L3_WRITTEN, "memory has performed a write, others outstanding")                              \
    X(L3_LAST_WRITTEN, "memory has performed the last write")
GPC_FSM(L3, L3_STATES, L3_EVENTS)

static gpc_event_id_t
l3_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case TL_READ:
            return L3_READ;
        case TL_WRITE:
            return L3_WRITE;
        case GPC_MSG_EVICT:
            return L3_EVICT;
        case GPC_MSG_FILL:
            return L3_FILL;
        case GPC_MSG_WRITTEN:
            return gpc_step_pending(x)->count == 1 ? L3_LAST_WRITTEN : L3_WRITTEN;
        default:
            return GPC_NO_EVENT;
    }
}

GPC_ACTION(act_fetch_up, "fetch the line from memory; the request waits and is taken again")
{
    GPC_TRY(gpc_fetch(x));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_answer_line, "send the line to the bank")
{
    return gpc_send(x, gpc_new_answer(x, x->message, TL_LINE));
}

GPC_ACTION(act_write_memory, "write the words to memory, which answers; the write is pending")
{
    GPC_TRY(gpc_write_memory_answered(x, x->msg->mask, x->msg->data, 0));
    return gpc_keep_pending(x);
}

GPC_ACTION(act_update, "write the words into the copy")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->msg->mask);
    return GPC_OK;
}

GPC_ACTION(act_answer_written, "send WRITTEN to the bank for the oldest pending write")
{
    gpc_index_t write = gpc_pop_pending(x);
    int status = gpc_send(x, gpc_new_answer(x, write, TL_WRITTEN));
    gpc_free_message(x->unit, write);
    return status;
}

/* clang-format off */
static const gpc_cell_t l3_table[L3_NUM_STATES][L3_NUM_EVENTS] = {
    [L3_I] = {
        [L3_READ] = GO(L3_IF, act_reserve_way, act_fetch_up),
        [L3_WRITE] = GO(L3_IW, act_write_memory),
    },
    [L3_V] = {
        [L3_READ] = GO(L3_V, act_answer_line),
        [L3_WRITE] = GO(L3_VW, act_update, act_write_memory),
        [L3_EVICT] = GO(L3_I),
    },
    [L3_IF] = {
        [L3_READ] = HOLD_LINE,
        [L3_WRITE] = HOLD_LINE, /* the fill may be older */
        [L3_EVICT] = NOT_A_VICTIM,
        [L3_FILL] = GO(L3_V, act_fill, act_replay),
    },
    [L3_IW] = {
        [L3_READ] = HOLD_LINE,
        [L3_WRITE] = GO(L3_IW, act_write_memory),
        [L3_WRITTEN] = GO(L3_IW, act_answer_written),
        [L3_LAST_WRITTEN] = GO(L3_I, act_answer_written),
    },
    [L3_VW] = {
        [L3_READ] = GO(L3_VW, act_answer_line),
        [L3_WRITE] = GO(L3_VW, act_update, act_write_memory),
        [L3_EVICT] = NOT_A_VICTIM,
        [L3_WRITTEN] = GO(L3_VW, act_answer_written),
        [L3_LAST_WRITTEN] = GO(L3_V, act_answer_written),
    },
};
/* clang-format on */

static const gpc_table_t l3 = {GPC_TABLE("L3", OVER_LINES, L3, l3_table, l3_classify)};

/* The machine's cache at the memory side, else one of 512 lines. */
static void
l3_geometry(const gpc_machine_t *machine, const int64_t *options, uint32_t *sets, uint32_t *ways)
{
    (void) options;
    if (machine->l3_bytes == 0) {
        *sets = 64;
        *ways = 8;
    }
}

static uint32_t
l3_mshrs(const gpc_machine_t *machine, const int64_t *options)
{
    (void) options;
    return machine->l3_mshrs ? machine->l3_mshrs : 64;
}

static const gpc_controller_type_t three_l3 = {
    .name = "L3",
    .position = GPC_AT_MEMORY,
    .tables = {&l3},
    .arrays = {{.name = "tags", .line = baseline_l1_line_described, .geometry = l3_geometry, .has_data = true}},
    .mshrs = l3_mshrs,
};

/* ---- the protocol ------------------------------------------------------------------------------------------------ */

static int
acquire(gpc_controller_t *l1, uint16_t warp, uint8_t scope)
{
    (void) warp, (void) scope;
    return skeleton_drop(l1);
}

/* Memory is up to date between launches. A write goes to every copy. */
static int
host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    (void) units, (void) line, (void) mask, (void) words;
    return GPC_OK;
}

static int
host_write(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    gpc_index_t way = gpc_tags_find(&units->memory->arrays[0], line);
    if (way != GPC_NONE) {
        gpc_merge_words(gpc_tags_words(&units->memory->arrays[0], way), words, mask);
    }
    return gpc_host_write_alone(units, line, mask, words);
}

static const gpc_controller_type_t three_l1 = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&skeleton_l1_lines},
    .arrays = {{.name = "tags", .line = baseline_l1_line_described, .has_data = true}},
    .mshr = gpc_requests_mshr_described,
    .begins = 1u << 0,
};

const gpc_protocol_t gpc_protocol_skel_three_levels = {
    .id = "skel-three-levels",
    .name = "SKELETON-THREE-LEVELS",
    .paper = "none: a skeleton for tests",
    .family = "skeletons",
    .text = "write-through L1s, L2 and memory side; stores complete at memory",
    .model = {[GPC_RULE_RC] = "RCc"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&three_l1, &three_l2, &three_l3},
    GPC_MESSAGES_OF(TL),
    .networks = {{.name = "request", .ordered = true, .requests = true},
                 {.name = "response", .ordered = true},
                 {.name = "up", .ordered = true, .requests = true, .star = true},
                 {.name = "down", .ordered = true, .star = true}},
    .order = {.acquire = acquire},
    .host_read = host_read,
    .host_write = host_write,
    .watched = &skeleton_watched,
};
