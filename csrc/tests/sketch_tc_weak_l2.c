/* sketch_tc_weak_l2.c: TC-Weak's L2.
 *
 * Paper    Singh et al., HPCA 2013, section 6.3, table 2 (right half), 6.4 (predictor); 4 stable + 2 transient cache
 *          + 1 transient coherence state.
 * Hardened a refetch under a live old lease is shared, never private (H1); a write that fills under one answers with
 *          a GWCT (H2); a write never makes a line private (H3).
 * Fits     a transaction without a way (MI: an evicted lease), which may idle, and which EXPIRE ends; unit metadata
 *          (predictor).
 */
#include "tests/sketch_tc_weak.h"

/* ---- states and events ------------------------------------------------------------------------------------------- */

#define L2_STATES(X)                                                                                                   \
    X(L2_I, STABLE, "not present")                                                                                     \
    X(L2_P, STABLE, "at most one unexpired copy: the one with our timestamp")                                          \
    X(L2_S, STABLE, "unexpired copies")                                                                                \
    X(L2_E, STABLE, "every lease has expired")                                                                         \
    X(L2_IS, TRANSIENT_CACHE, "fetched for reads")                                                                     \
    X(L2_IM, TRANSIENT_CACHE, "fetched for a write or atomic")                                                         \
    X(L2_MI, TRANSIENT_COHERENCE, "evicted, its timestamp still alive")

#define L2_EVENTS(X)                                                                                                   \
    X(L2_GETS, "read")                                                                                                 \
    X(L2_GETX, "write")                                                                                                \
    X(L2_UPGRADE_MATCH, "write by an L1 whose copy has our timestamp")                                                 \
    X(L2_UPGRADE_MISMATCH, "write by an L1 whose copy has not")                                                        \
    X(L2_ATOMIC, "read-modify-write")                                                                                  \
    X(L2_EVICT, "the replacement wants the way; memory is current")                                                    \
    X(L2_EVICT_DIRTY, "the replacement wants the way; memory is not current")                                          \
    X(L2_EXPIRE, "the timestamp has passed (pre-event)")                                                               \
    X(L2_FILL_READ, "memory's data for one read, no old lease alive")                                                  \
    X(L2_FILL_READ_SHARED, "memory's data for several reads, or beside an old lease (H1)")                             \
    X(L2_FILL_WRITE, "memory's data for a write, no old lease alive")                                                  \
    X(L2_FILL_ATOMIC, "memory's data for an atomic, no old lease alive")                                               \
    X(L2_FILL_LIVE_WRITE, "memory's data for a write beside an old lease, or a matching upgrade (H2)")                 \
    X(L2_FILL_LIVE_MISMATCH, "memory's data for a mismatched upgrade beside an old lease (H2)")                        \
    X(L2_FILL_LIVE_ATOMIC, "memory's data for an atomic beside an old lease (H2)")

GPC_FSM(L2, L2_STATES, L2_EVENTS)

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

#define L2_LINE(FIELD) FIELD(TIME, gpc_cycle_t, timestamp) FIELD(PLAIN, uint8_t, dirty)
#define L2_MSHR(FIELD) FIELD(TIME, gpc_cycle_t, timestamp) /* of the line that was evicted */
#define L2_UNIT(FIELD) FIELD(PLAIN, uint32_t, life)        /* the predictor: the next lease's length */

GPC_DESCRIBE(l2, line, L2_LINE)
GPC_DESCRIBE(l2, mshr, L2_MSHR)
GPC_DESCRIBE(l2, unit, L2_UNIT)

/* ---- classification ---------------------------------------------------------------------------------------------- */

static bool
has_expired(const gpc_step_t *x)
{
    if (x->state == L2_P || x->state == L2_S) {
        return tcw_expired(x, ((l2_line_t *) gpc_line_fields(x))->timestamp);
    }
    return x->state == L2_MI && tcw_expired(x, ((l2_mshr_t *) gpc_step_mshr_fields(x))->timestamp);
}

static gpc_event_id_t
classify_fill(const gpc_step_t *x)
{
    const gpc_list_t *pending = gpc_step_pending(x);
    gpc_cycle_t old = ((l2_mshr_t *) gpc_step_mshr_fields(x))->timestamp;
    bool live = !tcw_expired(x, old);
    gpc_msg_t *first = gpc_msg_at(x->unit->messages, pending->head);

    switch (first->type) {
        case TCW_GETS:
            return live || pending->count > 1 ? L2_FILL_READ_SHARED : L2_FILL_READ;
        case TCW_ATOMIC:
            return live ? L2_FILL_LIVE_ATOMIC : L2_FILL_ATOMIC;
        case TCW_UPGRADE:
            if (live && tcw_fields(first)->timestamp != old) {
                return L2_FILL_LIVE_MISMATCH;
            }
            return live ? L2_FILL_LIVE_WRITE : L2_FILL_WRITE;
        default:
            return live ? L2_FILL_LIVE_WRITE : L2_FILL_WRITE;
    }
}

static gpc_event_id_t
classify_upgrade(const gpc_step_t *x)
{
    if (x->way == GPC_NONE) {
        return L2_UPGRADE_MISMATCH;
    }
    bool match = tcw_fields(x->msg)->timestamp == ((l2_line_t *) gpc_line_fields(x))->timestamp;
    return match ? L2_UPGRADE_MATCH : L2_UPGRADE_MISMATCH;
}

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    if (x->cause == GPC_MSG_EXPIRE) {
        return L2_EXPIRE; /* entries have run out, and this one may end */
    }
    if (has_expired(x)) {
        return GPC_PRE_EVENT(L2_EXPIRE);
    }
    switch (x->cause) {
        case TCW_GETS:
            return L2_GETS;
        case TCW_GETX:
            return L2_GETX;
        case TCW_UPGRADE:
            return classify_upgrade(x);
        case TCW_ATOMIC:
            return L2_ATOMIC;
        case GPC_MSG_FILL:
            return classify_fill(x);
        case GPC_MSG_EVICT:
            return ((l2_line_t *) gpc_line_fields(x))->dirty ? L2_EVICT_DIRTY : L2_EVICT;
        default:
            return GPC_NO_EVENT;
    }
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

SKETCH_ACTION(act_fetch, "a way (or hold), and memory is asked; the request is pending")
SKETCH_ACTION(act_merge, "the read joins the fetch")
SKETCH_ACTION(act_fill, "memory's words and the old timestamp into the way")
SKETCH_ACTION(act_send_data, "DATA with the timestamp, to every pending read")
SKETCH_ACTION(act_write, "the masked words; dirty")
SKETCH_ACTION(act_atomic, "the lane list's operations; dirty")
SKETCH_ACTION(act_send_ack, "ACK")
SKETCH_ACTION(act_send_ack_g, "ACK_G with the timestamp before the increment")
SKETCH_ACTION(act_send_line_g, "LINE_G: the line, and the timestamp before the increment")
SKETCH_ACTION(act_send_old_g, "OLD_G: old values, and the timestamp before the increment")
SKETCH_ACTION(act_write_back, "the line to memory")

static int
act_extend(gpc_step_t *x)
{
    gpc_cycle_t end = gpc_now(x) + ((l2_unit_t *) x->unit->unit_fields)->life;
    l2_line_t *line = gpc_line_fields(x);
    line->timestamp = line->timestamp > end ? line->timestamp : end;
    return GPC_OK;
}

static int
act_increment(gpc_step_t *x)
{
    ((l2_line_t *) gpc_line_fields(x))->timestamp++;
    return GPC_OK;
}

static int
act_keep_lease(gpc_step_t *x) /* the way goes, the timestamp stays */
{
    ((l2_mshr_t *) gpc_step_mshr_fields(x))->timestamp = ((l2_line_t *) gpc_line_fields(x))->timestamp;
    return GPC_OK;
}

static int
act_release_way(gpc_step_t *x) /* the way is the newcomer's, the transaction goes on without one */
{
    return gpc_release_way(x);
}

static int
act_predict_shorter(gpc_step_t *x)
{
    l2_unit_t *unit = x->unit->unit_fields;
    unit->life = unit->life > 8 ? unit->life - 8 : 0;
    return GPC_OK;
}

static int
act_predict_longer(gpc_step_t *x)
{
    l2_unit_t *unit = x->unit->unit_fields;
    unit->life = unit->life < 65531 ? unit->life + 4 : 65535;
    return GPC_OK;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_GETS]             = GO(L2_IS, act_fetch),
        [L2_GETX]             = GO(L2_IM, act_fetch),
        [L2_UPGRADE_MISMATCH] = GO(L2_IM, act_fetch),
        [L2_ATOMIC]           = GO(L2_IM, act_fetch),
    },
    [L2_P] = {
        [L2_GETS]             = GO(L2_S, act_extend, act_send_data),
        [L2_GETX]             = GO_HARDENED(L2_S, act_predict_shorter, act_write, act_send_ack_g, act_increment),
        [L2_UPGRADE_MATCH]    = GO(L2_P, act_predict_shorter, act_write, act_send_ack, act_increment),
        [L2_UPGRADE_MISMATCH] = GO_HARDENED(L2_S, act_predict_shorter, act_write, act_send_line_g, act_increment),
        [L2_ATOMIC]           = GO_HARDENED(L2_S, act_predict_shorter, act_atomic, act_send_old_g, act_increment),
        [L2_EVICT]            = GO(L2_MI, act_predict_shorter, act_keep_lease, act_release_way),
        [L2_EVICT_DIRTY]      = GO(L2_MI, act_predict_shorter, act_write_back, act_keep_lease, act_release_way),
        [L2_EXPIRE]           = GO(L2_E),
    },
    [L2_S] = {
        [L2_GETS]             = GO(L2_S, act_extend, act_send_data),
        [L2_GETX]             = GO_HARDENED(L2_S, act_predict_shorter, act_write, act_send_ack_g, act_increment),
        [L2_UPGRADE_MATCH]    = GO_HARDENED(L2_S, act_predict_shorter, act_write, act_send_ack_g, act_increment),
        [L2_UPGRADE_MISMATCH] = GO_HARDENED(L2_S, act_predict_shorter, act_write, act_send_line_g, act_increment),
        [L2_ATOMIC]           = GO(L2_S, act_predict_shorter, act_atomic, act_send_old_g, act_increment),
        [L2_EVICT]            = GO(L2_MI, act_predict_shorter, act_keep_lease, act_release_way),
        [L2_EVICT_DIRTY]      = GO(L2_MI, act_predict_shorter, act_write_back, act_keep_lease, act_release_way),
        [L2_EXPIRE]           = GO(L2_E),
    },
    [L2_E] = { /* no increment: the timestamp must not reach now again */
        [L2_GETS]             = GO(L2_P, act_predict_longer, act_extend, act_send_data),
        [L2_GETX]             = GO(L2_E, act_write, act_send_ack),
        [L2_UPGRADE_MATCH]    = GO(L2_E, act_write, act_send_ack),
        [L2_UPGRADE_MISMATCH] = GO(L2_E, act_write, act_send_ack),
        [L2_ATOMIC]           = GO(L2_E, act_atomic, act_send_old_g),
        [L2_EVICT]            = GO(L2_I),
        [L2_EVICT_DIRTY]      = GO(L2_I, act_write_back),
    },
    [L2_IS] = { /* requests wait for memory, which always answers */
        [L2_GETS]                = GO(L2_IS, act_merge),
        [L2_GETX]                = HOLD_LINE,
        [L2_UPGRADE_MATCH]       = HOLD_LINE,
        [L2_UPGRADE_MISMATCH]    = HOLD_LINE,
        [L2_ATOMIC]              = HOLD_LINE,
        [L2_EVICT]               = NOT_A_VICTIM,
        [L2_FILL_READ]           = GO(L2_P, act_fill, act_extend, act_send_data),
        [L2_FILL_READ_SHARED]    = GO(L2_S, act_fill, act_extend, act_send_data),
    },
    [L2_IM] = {
        [L2_GETS]                = HOLD_LINE,
        [L2_GETX]                = HOLD_LINE,
        [L2_UPGRADE_MATCH]       = HOLD_LINE,
        [L2_UPGRADE_MISMATCH]    = HOLD_LINE,
        [L2_ATOMIC]              = HOLD_LINE,
        [L2_EVICT]               = NOT_A_VICTIM,
        [L2_FILL_WRITE]          = GO(L2_E, act_fill, act_write, act_send_ack),
        [L2_FILL_ATOMIC]         = GO(L2_E, act_fill, act_atomic, act_send_old_g),
        [L2_FILL_LIVE_WRITE]     = GO_HARDENED(L2_S, act_fill, act_write, act_send_ack_g, act_increment),
        [L2_FILL_LIVE_MISMATCH]  = GO_HARDENED(L2_S, act_fill, act_write, act_send_line_g, act_increment),
        [L2_FILL_LIVE_ATOMIC]    = GO_HARDENED(L2_S, act_fill, act_atomic, act_send_old_g, act_increment),
    },
    [L2_MI] = { /* the transaction goes on with its timestamp */
        [L2_GETS]                = GO(L2_IS, act_fetch),
        [L2_GETX]                = GO(L2_IM, act_fetch),
        [L2_UPGRADE_MISMATCH]    = GO(L2_IM, act_fetch),
        [L2_ATOMIC]              = GO(L2_IM, act_fetch),
        [L2_EXPIRE]              = GO(L2_I),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify)};

static gpc_cycle_t
lease_end(const gpc_controller_t *unit, gpc_index_t mshr)
{
    if (gpc_mshr_at(&unit->mshrs, mshr)->state != L2_MI) {
        return GPC_NEVER;
    }
    return ((l2_mshr_t *) gpc_mshr_fields(&unit->mshrs, mshr))->timestamp + 1;
}

static uint32_t
expired_before_unexpired(const gpc_controller_t *unit, uint8_t array, gpc_index_t way)
{
    return unit->arrays[array].tags[way].state == L2_E ? 0 : 1;
}

const gpc_controller_type_t sketch_tcw_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .arrays = {{.name = "tags", .line = l2_line_described, .has_data = true}},
    .mshr = l2_mshr_described,
    .unit = l2_unit_described,
    .victim_rank = expired_before_unexpired,
    .may_idle_in_transaction = true,
    .idle_until = lease_end,
};
