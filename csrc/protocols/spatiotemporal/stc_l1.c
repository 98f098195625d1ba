/* stc_l1.c: the lines of a CU of STC.
 *
 * Paper    Puthoor and Lipasti, TACO 2023, sections 3 and 4, table 1.
 * Rules    A load of a current band reads at the L2 (Load_U); others may hit and are kept. Lines of the bands that
 *          become current go lazily: each set at its first access in the epoch, the others at the epoch's end
 *          (stc_turns.c). A load of a line whose read is outstanding completes with it; if its wave has passed an order
 *          point since the read was sent, it waits for the answer and is taken again, since another CU may have written
 *          the line in between.
 * Hardened a line of an epoch that begins is not kept although its read is outstanding (IV to II): it may come later
 *          than the epoch ends, and be older than its stores.
 * Inferred one CONFLICT a band until its next epoch; a load that reads at the L2 sends it, too, if a change holds up a
 *          store of its band.
 */
#include "protocols/spatiotemporal/stc_cu.h"

#define L1_EVENTS(X)                                                                                                   \
    X(L1_LOAD, "load of a band that is not being written")                                                             \
    X(L1_LOAD_U, "load of a band that may be written in this epoch")                                                   \
    X(L1_LOAD_JOIN, "load of a line whose read was sent after the last order point of its wave")                       \
    X(L1_STORE, "a store or atomic to the line is issued")                                                             \
    X(L1_EVICT, "way chosen for replacement")                                                                          \
    X(L1_DATA, "the line, of a band that is not being written")                                                        \
    X(L1_DATA_E, "the line, of a band that may be written now")                                                        \
    X(L1_EPOCH, "an epoch of the line's band begins, or is found to have begun")                                       \
    X(L1_OTHER, "epochs of other bands begin")
GPC_FSM(L1, STC_L1_STATES, L1_EVENTS)

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    bool written = stc_is_written(x->unit, x->line);

    if (x->cause == GPC_MSG_EXPIRE) {
        return written ? L1_EPOCH : L1_OTHER;
    }
    if (x->cause == GPC_MSG_STORE || x->cause == GPC_MSG_EVICT) {
        return x->cause == GPC_MSG_STORE ? L1_STORE : L1_EVICT;
    }
    if (x->state == L1_V && written) {
        return GPC_PRE_EVENT(L1_EPOCH);
    }
    switch (x->cause) {
        case GPC_MSG_LOAD:
            return gpc_may_join(x) ? L1_LOAD_JOIN : written ? L1_LOAD_U : L1_LOAD;
        case STC_DATA:
            return written ? L1_DATA_E : L1_DATA;
        default:
            return GPC_NO_EVENT;
    }
}

int
stc_clean_set(gpc_controller_t *unit, uint32_t set, gpc_address_t except)
{
    const gpc_tags_t *tags = &unit->arrays[0];
    const stc_cu_unit_t *cu = stc_cu_unit(unit);
    uint32_t current = cu->current, seb = cu->seb, epochs = (uint32_t) unit->options[STC_OPTION_EPOCHS];

    for (gpc_index_t way = set * tags->ways, end = way + tags->ways; way < end; way++) {
        if (!gpc_tags_present(tags, way)) {
            continue;
        }
        gpc_address_t line = gpc_tags_line(tags, way);
        if (!(current >> stc_band_of(epochs, line, seb) & 1) || line == except || tags->tags[way].mshr != GPC_NONE) {
            continue;
        }
        GPC_TRY(gpc_controller_line(unit, STC_TABLE_LINES, GPC_MSG_EXPIRE, line, gpc_all_words(unit), GPC_NONE));
    }
    return GPC_OK;
}

GPC_ACTION(act_touch, "the set's first access in this epoch: its lines of current bands go")
{
    gpc_controller_t *unit = x->unit;
    uint32_t set = gpc_tags_set_of(&unit->arrays[0], x->line);
    uint64_t *touched = &stc_cu_unit(unit)->touched.bits[set / 64], bit = UINT64_C(1) << set % 64;

    if (*touched & bit) {
        return GPC_OK;
    }
    *touched |= bit;
    return stc_clean_set(unit, set, x->line);
}

int
stc_tell_emu(gpc_step_t *x, uint8_t type, uint64_t address)
{
    gpc_msg_t *msg = gpc_new_message(x, type, gpc_node_of(x->unit, GPC_AT_GLOBAL));
    msg->request = GPC_NONE;
    msg->lanes = GPC_NONE;
    stc_message(msg)->address = address;
    return gpc_send(x, msg);
}

GPC_ACTION(act_conflict, "CONFLICT, at the first load of a band for which a store of this CU waits")
{
    stc_cu_unit_t *cu = stc_cu_unit(x->unit);
    uint32_t band = stc_band(x->unit, x->line, cu->seb);
    if (cu->blocked_in.word[band] == 0 || (cu->conflicts >> band & 1)) {
        return GPC_OK;
    }
    cu->conflicts |= UINT32_C(1) << band;
    gpc_count_own(x, STC_CU_conflicts);
    return stc_tell_emu(x, STC_CONFLICT, x->line);
}

GPC_ACTION(act_load_uncached, "send READ, whose line is not kept; the load becomes pending")
{
    gpc_count_own(x, STC_CU_uncached_loads);
    return gpc_act(act_read, x);
}

GPC_ACTION(act_count_uncached, "count a load whose line is not kept")
{
    gpc_count_own(x, STC_CU_uncached_loads);
    return GPC_OK;
}

GPC_ACTION(act_count_written, "count a copy dropped because its band may be written")
{
    gpc_count(x, self_invalidations);
    return GPC_OK;
}

/* A held request waits for the line's data, which always come. */
/* clang-format off */
static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_I] = {
        [L1_LOAD] = GO(L1_IV, act_reserve_way, act_touch, act_read),
        [L1_LOAD_U] = GO(L1_II, act_touch, act_load_uncached),
        [L1_STORE] = GO(L1_I, act_touch),
    },
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_touch, act_hit),
        [L1_STORE] = GO(L1_I, act_touch),
        [L1_EVICT] = GO(L1_I),
        [L1_EPOCH] = GO(L1_I, act_count_written),
    },
    [L1_IV] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_LOAD_JOIN] = GO(L1_IV, act_merge_load),
        [L1_DATA] = GO(L1_V, act_touch, act_fill, act_complete),
        [L1_DATA_E] = GO(L1_I, act_complete),
        [L1_EPOCH] = GO_HARDENED(L1_II, act_release_way),
        [L1_OTHER] = GO(L1_IV),
    },
    [L1_II] = {
        [L1_LOAD] = HOLD_LINE,
        [L1_LOAD_U] = HOLD_LINE,
        [L1_LOAD_JOIN] = GO(L1_II, act_merge_load, act_count_uncached),
        [L1_DATA] = GO(L1_I, act_complete),
        [L1_DATA_E] = GO(L1_I, act_complete),
        [L1_EPOCH] = GO(L1_II),
        [L1_OTHER] = GO(L1_II),
    },
};

static const gpc_patch_t conflict_patches[] = {
    {L1_I, L1_LOAD, GO(L1_IV, act_reserve_way, act_touch, act_read, act_conflict), "4.4: loads report false sharing of a band"},
    {L1_V, L1_LOAD, GO(L1_V, act_touch, act_hit, act_conflict), NULL},
    {L1_I, L1_LOAD_U, GO(L1_II, act_touch, act_load_uncached, act_conflict), NULL},
    {L1_IV, L1_LOAD_JOIN, GO(L1_IV, act_merge_load, act_conflict), NULL},
    {L1_II, L1_LOAD_JOIN, GO(L1_II, act_merge_load, act_count_uncached, act_conflict), NULL},
};
/* clang-format on */

const gpc_table_t stc_lines = {GPC_TABLE("L1", OVER_LINES, L1, l1_table, l1_classify)};
const gpc_table_t stc_conflicting = {
    GPC_PATCHED_TABLE("L1", OVER_LINES, L1, "stc-nv", stc_lines, conflict_patches, l1_classify)};
