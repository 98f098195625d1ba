/* lrm_directory.c: the directory beside an L2 bank of LRM: the die that owns a synchronisation variable.
 *
 * Paper    LRM-GPU, HPCA 2026, section III-B and table I: an acquire makes its die the owner; without an entry, or with
 *          another owner, that die drops its near lines; the least recently used entry is replaced.
 * Inferred an entry is a word. The owner's acquires drop nothing once its drop has ended, which the home knows by the
 *          next access to the variable of the warp that took it over: a warp waits for its drop. Until then other
 *          acquires of the die drop, too. Replacement drops nothing, since near L2s write through.
 * Differs  in table I a release makes its die the owner, too, which drops. Here it leaves a variable of another die
 *          without an owner, and the drop to its die's next acquire. So does any other store or atomic: a fence before
 *          it may release what the owner's near lines lack. */
#include "controller/nodes.h"
#include "protocols/dies/lrm.h"

#define D_STATES(X)                                                                                                    \
    X(D_I, STABLE, "no entry: no owner")                                                                               \
    X(D_T, STABLE, "taken by the owner, whose drop may not have ended")                                                \
    X(D_O, STABLE, "owned: the owner's near lines have what was released before")
#define D_EVENTS(X)                                                                                                    \
    X(D_ACQUIRE, "acquire of a die that is not the owner")                                                             \
    X(D_ACQUIRE_OWN, "acquire of the owner")                                                                           \
    X(D_ACQUIRE_AGAIN, "the next acquire of the warp that took the variable over")                                     \
    X(D_WRITE, "other store or atomic of a die that is not the owner")                                                 \
    X(D_WRITE_OWN, "other store or atomic of the owner")                                                               \
    X(D_WRITE_AGAIN, "the next other store or atomic of that warp")                                                    \
    X(D_EVICT, "entry chosen for replacement")
GPC_FSM(D, D_STATES, D_EVENTS)

static const gpc_msg_t *
access_of(const gpc_step_t *x)
{
    return gpc_msg_at(x->unit->messages, lrm_l2_unit(x->unit)->access);
}

static uint8_t
die_of(const gpc_step_t *x)
{
    return (uint8_t) gpc_die_of(x->unit->nodes, access_of(x)->requester);
}

static gpc_event_id_t
d_classify(const gpc_step_t *x)
{
    if (x->cause == GPC_MSG_EVICT) {
        return GPC_NO_EVENT;
    }
    const lrm_directory_entry_t *entry = lrm_directory_entry(x, MCM_DIRECTORY);
    bool own = x->state != D_I && entry->owner == die_of(x), acquires = x->cause == GPC_MSG_ACQUIRE;
    if (!own) {
        return acquires ? D_ACQUIRE : D_WRITE;
    }
    bool again = x->state == D_T && entry->taker == access_of(x)->requester && entry->warp == access_of(x)->warp;
    return acquires ? again ? D_ACQUIRE_AGAIN : D_ACQUIRE_OWN : again ? D_WRITE_AGAIN : D_WRITE_OWN;
}

GPC_ACTION(act_take, "the die becomes the owner, and drops its near lines")
{
    *lrm_directory_entry(x, MCM_DIRECTORY) =
        (lrm_directory_entry_t){.owner = die_of(x), .taker = access_of(x)->requester, .warp = access_of(x)->warp};
    gpc_count_own(x, LRM_COUNT_sync_moved);
    lrm_l2_unit(x->unit)->drops = 1;
    return GPC_OK;
}

GPC_ACTION(act_drop_too, "the die drops its near lines")
{
    gpc_count_own(x, LRM_COUNT_sync_unsure);
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
        [D_ACQUIRE] = GO(D_T, act_take),
    },
    [D_T] = {
        [D_ACQUIRE] = GO(D_T, act_take),
        [D_ACQUIRE_OWN] = GO(D_T, act_drop_too),
        [D_ACQUIRE_AGAIN] = GO(D_O, act_count_local),
        [D_WRITE] = GO(D_I, act_count_disowned),
        [D_WRITE_OWN] = GO(D_T),
        [D_WRITE_AGAIN] = GO(D_O),
        [D_EVICT] = GO(D_I, act_count_replaced),
    },
    [D_O] = {
        [D_ACQUIRE] = GO(D_T, act_take),
        [D_ACQUIRE_OWN] = GO(D_O, act_count_local),
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
note_word(gpc_step_t *x, gpc_address_t word, bool acquires)
{
    gpc_controller_t *unit = x->unit;
    int status = GPC_OK;
    gpc_index_t entry = acquires ? mcm_youngest(unit, word, &status) : gpc_part_find(&unit->parts[MCM_DIRECTORY], word);
    GPC_TRY(status);
    return entry == GPC_NONE ? GPC_OK
                             : gpc_controller_entry(unit, MCM_TABLE_DIRECTORY, MCM_DIRECTORY, entry,
                                                    acquires ? GPC_MSG_ACQUIRE : GPC_MSG_STORE, GPC_NONE);
}

int
lrm_note(gpc_step_t *x, const gpc_msg_t *access, bool *drops)
{
    gpc_controller_t *unit = x->unit;
    lrm_l2_unit_t *fields = lrm_l2_unit(unit);
    gpc_traffic_class_t class = gpc_message_info(unit, access->type)->traffic_class;
    bool acquires = access->order == GPC_ORDER_ACQUIRE || access->order >= GPC_ORDER_ACQ_REL;
    acquires = acquires && class != GPC_CLASS_ST;
    bool writes = class != GPC_CLASS_REQ && unit->parts[MCM_DIRECTORY].order->count;
    bool notes = unit->machine->dies > 1 && (acquires || writes);
    for (gpc_mask_t left = notes ? access->mask : 0; left; left &= left - 1) {
        fields->access = gpc_msg_index(unit->messages, access);
        GPC_TRY(note_word(x, access->line + 4u * (uint32_t) __builtin_ctz(left), acquires));
    }
    *drops = fields->drops;
    fields->access = fields->drops = 0;
    return GPC_OK;
}
