/* stc_queue.c: the coalescing buffer of a CU of STC, whose blocked entries are its blocked-store queue.
 *
 * Paper    Puthoor and Lipasti, TACO 2023, sections 4.2 (the queue), 4.3 (demands), 7.2 (16 banks, 2 entries of each a
 *          cycle).
 * Rules    A store or atomic is issued only in an epoch of its band and while the CU is in RUN; else it waits in the
 *          queue, and the CU demands its band. At a change of epochs what is blocked is looked at again.
 * Inferred DEMAND is sent again when SEB has changed, as the EMU then forgets demands. A store takes any free entry,
 *          and an entry's bank is its number modulo 16, so that a full queue is drained in 8 cycles (7.2); in any
 *          order.
 */
#include "protocols/spatiotemporal/stc_cu.h"

#define BUFFER_EVENTS(X)                                                                                               \
    SRC_BUFFER_EVENTS(X)                                                                                               \
    X(BUFFER_BLOCK, "store or atomic that must wait for its band's epoch, or for this change's end")                   \
    X(BUFFER_GRANTED, "its band's epoch begins")                                                                       \
    X(BUFFER_NOT_GRANTED, "other epochs begin")                                                                        \
    X(BUFFER_STOP, "PREPARE: no store may be issued")                                                                  \
    X(BUFFER_TURN, "its place in the queue's drain")
GPC_FSM(BUFFER, STC_BUFFER_STATES, BUFFER_EVENTS)
enum { STC_CU_STATES(GPC_FSM_STATE_ENUM_) };

static gpc_event_id_t
buffer_classify(const gpc_step_t *x)
{
    gpc_event_id_t event = src_buffer_classify(x);
    switch (x->cause) {
        case GPC_MSG_STORE:
        case GPC_MSG_ATOMIC: {
            bool may = stc_is_current(x->unit, x->line) && x->unit->unit_states[STC_TABLE_EPOCHS] == CU_RUN;
            return event == BUFFER_ISSUE && !may ? BUFFER_BLOCK : event;
        }
        case GPC_MSG_EXPIRE:
            return stc_is_current(x->unit, x->line) ? BUFFER_GRANTED : BUFFER_NOT_GRANTED;
        case GPC_MSG_RELEASE:
            return BUFFER_STOP;
        case GPC_MSG_REPLAY:
            return BUFFER_TURN;
        default:
            return event;
    }
}

/* Entries in the queue have been `blocked` since bsq_cycles was last counted. */
static void
count_blocked(const gpc_step_t *x, int change)
{
    stc_cu_unit_t *cu = stc_cu_unit(x->unit);
    uint64_t *counters = x->unit->own_counters;

    counters[STC_CU_bsq_cycles] += cu->blocked * (gpc_now(x) - cu->counted);
    cu->counted = gpc_now(x);
    cu->blocked += (uint32_t) change;
    cu->blocked_in.word[stc_band(x->unit, x->line, cu->seb)] += (uint32_t) change;
    counters[STC_CU_bsq_most] = cu->blocked > counters[STC_CU_bsq_most] ? cu->blocked : counters[STC_CU_bsq_most];
}

GPC_ACTION(act_block, "put it into the blocked-store queue")
{
    gpc_count_own(x, STC_CU_stores_blocked);
    count_blocked(x, 1);
    return GPC_OK;
}

GPC_ACTION(act_demand, "DEMAND, unless the band's has been sent")
{
    stc_cu_unit_t *cu = stc_cu_unit(x->unit);
    uint32_t bit = UINT32_C(1) << stc_band(x->unit, x->line, cu->seb);
    if (cu->demanded & bit) {
        return GPC_OK;
    }
    cu->demanded |= bit;
    gpc_count_own(x, STC_CU_demands);
    return stc_tell_emu(x, STC_DEMAND, x->line);
}

GPC_ACTION(act_ready, "it is drained when its place comes")
{
    return gpc_part_ready(&x->unit->parts[0], x->entry);
}

GPC_ACTION(act_need_room, "hold while the outbox is full")
{
    return x->unit->ports->room(x->unit->world, x->unit, 0) ? GPC_OK : GPC_HOLD;
}

GPC_ACTION(act_unblock, "take it out of the blocked-store queue")
{
    count_blocked(x, -1);
    return GPC_OK;
}

GPC_ACTION(act_issue, "send WRITE or ATOMIC, PW + 1; drop the copy")
{
    stc_cu_unit(x->unit)->writes++;
    return stc_issue(x);
}

GPC_ACTION(act_done, "complete it, PW - 1; later requests to the line are taken again")
{
    stc_cu_unit_t *cu = stc_cu_unit(x->unit);
    int status = stc_entry_done(x);
    bool drained = --cu->writes == 0 && x->unit->unit_states[STC_TABLE_EPOCHS] == CU_DRAIN;
    GPC_TRY(status);
    return drained ? gpc_controller_unit(x->unit, STC_TABLE_EPOCHS, GPC_MSG_INSTANT, GPC_NONE) : GPC_OK;
}

/* clang-format off */
static const gpc_patch_t blocking_patches[] = {
    {BUFFER_FREE, BUFFER_ISSUE, GO(BUFFER_SENT, act_enter, act_issue), "PW counts stores, and CHANGE waits for them"},
    {BUFFER_SENT, BUFFER_ACK, GO(BUFFER_FREE, act_done), NULL},
    {BUFFER_FREE, BUFFER_BLOCK, GO(BUFFER_BLOCKED, act_enter, act_block), "4.2: a store waits for its band's epoch"},
    {BUFFER_BLOCKED, BUFFER_LATER, GO(BUFFER_BLOCKED, act_queue), NULL},
    {BUFFER_BLOCKED, BUFFER_GRANTED, GO(BUFFER_READY, act_ready), NULL},
    {BUFFER_BLOCKED, BUFFER_NOT_GRANTED, GO(BUFFER_BLOCKED), NULL},
    {BUFFER_BLOCKED, BUFFER_STOP, GO(BUFFER_BLOCKED), NULL},
    {BUFFER_BLOCKED, BUFFER_TURN, GO(BUFFER_BLOCKED), NULL}, /* it was ready when PREPARE came */
    {BUFFER_READY, BUFFER_LATER, GO(BUFFER_READY, act_queue), NULL},
    {BUFFER_READY, BUFFER_STOP, GO(BUFFER_BLOCKED), NULL},
    {BUFFER_READY, BUFFER_TURN, GO(BUFFER_SENT, act_need_room, act_unblock, act_issue), NULL},
};

static const gpc_patch_t demanding_patches[] = {
    {BUFFER_FREE, BUFFER_BLOCK, GO(BUFFER_BLOCKED, act_enter, act_block, act_demand), "4.3: only demanded epochs come"},
    {BUFFER_BLOCKED, BUFFER_NOT_GRANTED, GO(BUFFER_BLOCKED, act_demand), NULL},
    {BUFFER_READY, BUFFER_STOP, GO(BUFFER_BLOCKED, act_demand), NULL},
};
/* clang-format on */

const gpc_table_t stc_blocking = {
    GPC_PATCHED_TABLE("L1.buffer", OVER_ENTRIES, BUFFER, "src", src_buffer, blocking_patches, buffer_classify)};
const gpc_table_t stc_demanding = {
    GPC_PATCHED_TABLE("L1.buffer", OVER_ENTRIES, BUFFER, "stc-nv", stc_blocking, demanding_patches, buffer_classify)};

/* ---- all blocked entries, at a change of epochs ------------------------------------------------------------------ */

static bool
is_blocked(const gpc_part_t *part, gpc_index_t entry)
{
    return part->states[entry] == BUFFER_BLOCKED || part->states[entry] == BUFFER_READY;
}

int
stc_each_blocked(gpc_controller_t *unit, uint8_t cause)
{
    gpc_part_t *part = &unit->parts[0];
    int status = GPC_OK;
    for (gpc_index_t i = gpc_part_first(part); i != GPC_NONE && status == GPC_OK; i = gpc_part_next(part, i)) {
        if (is_blocked(part, i)) {
            status = gpc_controller_entry(unit, STC_TABLE_BUFFER, 0, i, cause, GPC_NONE);
            stc_entry_t *entry = gpc_part_fields(part, i);
            entry->waited = part->states[i] == BUFFER_READY ? 0 : entry->waited + (cause == GPC_MSG_EXPIRE);
        }
    }
    return status;
}

/* Bands are new: so are the turns that the entries wait for. */
void
stc_count_bands(gpc_controller_t *unit)
{
    stc_cu_unit_t *cu = stc_cu_unit(unit);
    const gpc_part_t *part = &unit->parts[0];
    cu->blocked_in = (stc_per_epoch_t){{0}};
    for (gpc_index_t i = gpc_part_first(part); i != GPC_NONE; i = gpc_part_next(part, i)) {
        cu->blocked_in.word[stc_band(unit, gpc_part_line(part, i), cu->seb)] += is_blocked(part, i);
        ((stc_entry_t *) gpc_part_fields(part, i))->waited = 0;
    }
}
