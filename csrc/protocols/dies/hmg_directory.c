/* hmg_directory.c: the directory beside an L2 bank of NHCC and HMG: the dies that may have lines of a region.
 *
 * Paper    Ren et al., HPCA 2020, table I as a reading note has it: states I and V, no transient one; who gets INV.
 * Inferred an L2 that stores without having the line keeps none and is not listed; one that is listed remains so, for
 *          the region's other lines. Fully associative; the entry read longest ago leaves, which sends INV, too.
 *          HMG's home lists dies of its GPU and GPU homes alike: each asks it by itself. */
#include "controller/nodes.h"
#include "protocols/dies/hmg.h"

#define D_STATES(X)                                                                                                    \
    X(D_I, STABLE, "no entry")                                                                                         \
    X(D_V, STABLE, "dies may have lines of the region")
#define D_EVENTS(X)                                                                                                    \
    X(D_READ, "read request of a near L2")                                                                             \
    X(D_WRITE, "store or atomic of a die that is not listed; under HMG also a load that passes a GPU home")            \
    X(D_WRITE_LISTED, "the same of a die that is")                                                                     \
    X(D_EVICT, "entry chosen for replacement")                                                                         \
    X(D_INV, "INV for the region, at its GPU home")
GPC_FSM(D, D_STATES, D_EVENTS)

static gpc_part_t *
directory(const gpc_controller_t *unit)
{
    return (gpc_part_t *) &unit->parts[MCM_DIRECTORY];
}

static uint16_t *
dies_of(const gpc_part_t *part, gpc_index_t entry)
{
    return &((hmg_directory_entry_t *) gpc_part_fields(part, entry))->dies;
}

static uint16_t *
listed(const gpc_step_t *x)
{
    return &hmg_directory_entry(x, MCM_DIRECTORY)->dies;
}

static gpc_address_t
region_of(const gpc_controller_t *unit, gpc_address_t line)
{
    return line & ~(gpc_address_t) (unit->options[HMG_REGION_LINES] * unit->machine->line_bytes - 1);
}

uint32_t
hmg_listed(const gpc_controller_t *unit, gpc_address_t line)
{
    gpc_index_t entry = gpc_part_find(directory(unit), region_of(unit, line));
    return entry == GPC_NONE ? 0 : *dies_of(directory(unit), entry);
}

/* The die of the access that concerns the entry: of its core, or of the near L2 that has passed it on. */
static uint32_t
asking(const gpc_step_t *access, uint8_t cause)
{
    const gpc_msg_t *msg = cause == GPC_MSG_LOAD ? access->msg : gpc_writer_message(access);
    return UINT32_C(1) << gpc_die_of(access->unit->nodes, msg->source);
}

static gpc_event_id_t
d_classify(const gpc_step_t *x)
{
    const gpc_step_t *access = x->unit->step; /* which is x->outer once the event has a name */
    bool writes = x->cause == GPC_MSG_STORE;
    return !writes ? GPC_NO_EVENT : *listed(x) & asking(access, x->cause) ? D_WRITE_LISTED : D_WRITE;
}

static int
invalidate(gpc_step_t *x, uint32_t dies, uint32_t counter)
{
    *listed(x) &= (uint16_t) ~dies;
    hmg_l2_unit(x->unit)->exposed |= (uint16_t) dies;
    for (; dies; dies &= dies - 1) {
        gpc_count_own(x, counter);
        GPC_TRY(gpc_send(x, gpc_new_message(x, HMG_INV, mcm_bank_in(x->unit, (uint32_t) __builtin_ctz(dies)))));
    }
    return GPC_OK;
}

/* Of an access: of a load only at a GPU home. */
static int
invalidate_for(gpc_step_t *x, uint32_t dies)
{
    bool load =
        x->outer->cause >= GPC_MSG_OWN && gpc_message_info(x->unit, x->outer->cause)->traffic_class == GPC_CLASS_REQ;
    if (dies && !load) {
        gpc_count_own(x, HMG_COUNT_invalidating_stores);
    }
    return invalidate(x, dies, load ? HMG_COUNT_inv_by_load : HMG_COUNT_inv_by_store);
}

GPC_ACTION(act_list, "list the die")
{
    *listed(x) |= (uint16_t) asking(x->outer, x->cause);
    return GPC_OK;
}

GPC_ACTION(act_invalidate, "send INV to all dies that are listed")
{
    return invalidate_for(x, *listed(x));
}

GPC_ACTION(act_invalidate_others, "send INV to all other dies that are listed")
{
    return invalidate_for(x, *listed(x) & ~asking(x->outer, x->cause));
}

GPC_ACTION(act_evict, "send INV to all dies that are listed, for the replacement")
{
    gpc_count_own(x, HMG_COUNT_invalidating_evictions);
    return invalidate(x, *listed(x), HMG_COUNT_inv_by_eviction);
}

GPC_ACTION(act_forward, "send INV on to all dies that are listed")
{
    return invalidate(x, *listed(x), HMG_COUNT_inv_forwarded);
}

/* clang-format off */
static const gpc_cell_t d_table[D_NUM_STATES][D_NUM_EVENTS] = {
    [D_I] = {
        [D_READ] = GO(D_V, act_list),
    },
    [D_V] = {
        [D_READ] = GO(D_V, act_list),
        [D_WRITE] = GO(D_I, act_invalidate),
        [D_WRITE_LISTED] = GO(D_V, act_invalidate_others),
        [D_EVICT] = GO(D_I, act_evict),
        [D_INV] = GO(D_I, act_forward),
    },
};
/* clang-format on */

const gpc_table_t hmg_directory = {
    GPC_TABLE("L2.directory", OVER_ENTRIES, D, d_table, d_classify),
    .causes = {ON(GPC_MSG_LOAD, D_READ), ON(GPC_MSG_EVICT, D_EVICT), ON(HMG_INV, D_INV)}};

int
hmg_note(gpc_step_t *x, uint8_t cause)
{
    gpc_address_t region = region_of(x->unit, x->line);
    int status = GPC_OK;
    gpc_index_t entry =
        cause == GPC_MSG_LOAD ? mcm_youngest(x->unit, region, &status) : gpc_part_find(directory(x->unit), region);
    GPC_TRY(status);
    return entry == GPC_NONE
               ? GPC_OK
               : gpc_controller_entry(x->unit, MCM_TABLE_DIRECTORY, MCM_DIRECTORY, entry, cause, GPC_NONE);
}
