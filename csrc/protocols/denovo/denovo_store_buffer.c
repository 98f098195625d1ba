/* denovo_store_buffer.c: an entry of the store buffer of denovo-*, which leaves when all its words are registered.
 *
 * Paper    Sinclair et al., MICRO 2015, section 3: a release obtains ownership of the words written before it; no data
 *          moves.
 * Inferred words of an entry are registered together, but for those in a transaction, for which the entry waits.
 */
#include "protocols/denovo/denovo.h"

#define SB_STATES(X)                                                                               \
    X(SB_FREE, STABLE, "no entry")                                                                 \
    X(SB_OPEN, STABLE, "holds stores whose registration is not requested")                         \
    X(SB_SENT, TRANSIENT_COHERENCE, "registration of all its words is outstanding; loads still look here")

#define SB_EVENTS(X)                                                                               \
    X(SB_STORE, "store to the line")                                                               \
    X(SB_STORE_SENT, "store to words whose registration is outstanding")                           \
    X(SB_RELEASE, "a release, a full buffer, own synchronisation on a word, or the end of the kernel") \
    X(SB_DRAIN, "ready entry served")                                                                \
    X(SB_GRANTED, "some of its words are registered")                                              \
    X(SB_EMPTY, "its last words are registered")

GPC_FSM(SB, SB_STATES, SB_EVENTS)

static gpc_event_id_t
sb_classify(const gpc_step_t *x)
{
    const gpc_sb_entry_t *entry = gpc_sb_entry(x, GPC_SB_PART);

    switch (x->cause) {
        case GPC_MSG_STORE:
            return entry->fresh ? SB_STORE : SB_STORE_SENT;
        case GPC_MSG_RELEASE:
        case GPC_MSG_KERNEL_END:
            return SB_RELEASE;
        case GPC_MSG_REPLAY:
            return SB_DRAIN;
        case DENOVO_REGISTERED:
            return entry->fresh | entry->sent ? SB_GRANTED : SB_EMPTY;
        default:
            return GPC_NO_EVENT;
    }
}

GPC_ACTION(act_need_room, "hold while the network has no room")
{
    uint8_t network = DENOVO_info[DENOVO_REGISTER - GPC_MSG_OWN].network;
    return x->unit->ports->room(x->unit->world, x->unit, network) ? GPC_OK : GPC_HOLD;
}

GPC_ACTION(act_register_words, "register the fresh words, or hold, or wait for those in a transaction")
{
    GPC_TRY(gpc_act(act_need_room, x));
    return gpc_entry_line(x, 0, GPC_MSG_REPLAY, gpc_sb_entry(x, GPC_SB_PART)->fresh);
}

/* clang-format off */
static const gpc_cell_t sb_table[SB_NUM_STATES][SB_NUM_EVENTS] = {
    [SB_FREE] = {
        [SB_STORE] = GO(SB_OPEN, sb_act_drain_if_eager),
    },
    [SB_OPEN] = {
        [SB_STORE] = GO(SB_OPEN, sb_act_drain_if_eager),
        [SB_RELEASE] = GO(SB_OPEN, sb_act_make_ready),
        [SB_DRAIN] = GO(SB_SENT, act_register_words),
        [SB_GRANTED] = GO(SB_OPEN),
    },
    [SB_SENT] = {
        [SB_STORE] = GO(SB_OPEN, sb_act_drain_if_eager),
        [SB_STORE_SENT] = GO(SB_SENT),
        [SB_RELEASE] = GO(SB_SENT),
        [SB_GRANTED] = GO(SB_SENT),
        [SB_EMPTY] = GO(SB_FREE),
    },
};
/* clang-format on */

const gpc_table_t denovo_store_buffer = {GPC_TABLE("L1.store_buffer", OVER_ENTRIES, SB, sb_table, sb_classify)};
