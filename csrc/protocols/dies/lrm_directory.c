/* lrm_directory.c: the directory beside an L2 bank of LRM: the die that owns a synchronisation variable.
 *
 * Paper    LRM-GPU, HPCA 2026, section III-B and table I: acquires and releases make their die the owner; without an
 *          entry, or with another owner, their die drops its near lines; the least recently used entry is replaced.
 * Inferred an entry is a word. A weak or relaxed store or atomic of another die removes it: a fence before it may
 *          release what its owner's near lines lack. Replacement drops nothing, since near L2s write through. */
#include "controller/nodes.h"
#include "protocols/dies/lrm.h"

#define D_STATES(X)                                                                                                    \
    X(D_I, STABLE, "no entry")                                                                                         \
    X(D_O, STABLE, "owned by the die that synchronised last; its near lines have what was released before")
#define D_EVENTS(X)                                                                                                    \
    X(D_SYNC, "acquire or release of a die that is not the owner")                                                     \
    X(D_SYNC_OWN, "acquire or release of the owner")                                                                   \
    X(D_WRITE, "other store or atomic of a die that is not the owner")                                                 \
    X(D_WRITE_OWN, "other store or atomic of the owner")                                                               \
    X(D_EVICT, "entry chosen for replacement")
GPC_FSM(D, D_STATES, D_EVENTS)

static gpc_event_id_t
d_classify(const gpc_step_t *x)
{
    bool own = x->state == D_O && lrm_directory_entry(x, MCM_DIRECTORY)->owner == lrm_l2_unit(x->unit)->asking;
    switch (x->cause) {
        case GPC_MSG_ACQUIRE:
            return own ? D_SYNC_OWN : D_SYNC;
        case GPC_MSG_STORE:
            return own ? D_WRITE_OWN : D_WRITE;
        default:
            return GPC_NO_EVENT;
    }
}

GPC_ACTION(act_own, "the die becomes the owner")
{
    lrm_directory_entry(x, MCM_DIRECTORY)->owner = lrm_l2_unit(x->unit)->asking;
    return GPC_OK;
}

GPC_ACTION(act_need_drop, "the die drops its near lines before the answer")
{
    gpc_count_own(x, LRM_COUNT_sync_moved);
    lrm_l2_unit(x->unit)->drops = 1;
    return GPC_OK;
}

GPC_ACTION(act_count_local, "count it")
{
    gpc_count_own(x, LRM_COUNT_sync_local);
    return GPC_OK;
}

GPC_ACTION(act_count_disowned, "count it")
{
    gpc_count_own(x, LRM_COUNT_sync_disowned);
    return GPC_OK;
}

GPC_ACTION(act_count_replaced, "count it")
{
    gpc_count_own(x, LRM_COUNT_sync_replaced);
    return GPC_OK;
}

/* clang-format off */
static const gpc_cell_t d_table[D_NUM_STATES][D_NUM_EVENTS] = {
    [D_I] = {
        [D_SYNC] = GO(D_O, act_own, act_need_drop),
    },
    [D_O] = {
        [D_SYNC] = GO(D_O, act_own, act_need_drop),
        [D_SYNC_OWN] = GO(D_O, act_count_local),
        [D_WRITE] = GO(D_I, act_count_disowned),
        [D_WRITE_OWN] = GO(D_O),
        [D_EVICT] = GO(D_I, act_count_replaced),
    },
};
/* clang-format on */

const gpc_table_t lrm_directory = {GPC_TABLE("L2.directory", OVER_ENTRIES, D, d_table, d_classify),
                                   .causes = {ON(GPC_MSG_EVICT, D_EVICT)}};

/* One word of the access. */
static int
note_word(gpc_step_t *x, gpc_address_t word, bool synchronises)
{
    gpc_controller_t *unit = x->unit;
    int status = GPC_OK;
    gpc_index_t entry =
        synchronises ? mcm_youngest(unit, word, &status) : gpc_part_find(&unit->parts[MCM_DIRECTORY], word);
    GPC_TRY(status);
    return entry == GPC_NONE ? GPC_OK
                             : gpc_controller_entry(unit, MCM_TABLE_DIRECTORY, MCM_DIRECTORY, entry,
                                                    synchronises ? GPC_MSG_ACQUIRE : GPC_MSG_STORE, GPC_NONE);
}

int
lrm_note(gpc_step_t *x, const gpc_msg_t *access, bool *drops)
{
    gpc_controller_t *unit = x->unit;
    lrm_l2_unit_t *fields = lrm_l2_unit(unit);
    bool synchronises = lrm_synchronises(unit, access);
    *drops = false;
    if (!synchronises && unit->parts[MCM_DIRECTORY].order->count == 0) {
        return GPC_OK;
    }
    fields->asking = (uint8_t) gpc_die_of(unit->nodes, access->requester);
    for (gpc_mask_t left = access->mask; left; left &= left - 1) {
        GPC_TRY(note_word(x, access->line + 4u * (uint32_t) __builtin_ctz(left), synchronises));
    }
    *drops = fields->drops;
    fields->asking = fields->drops = 0;
    return GPC_OK;
}
