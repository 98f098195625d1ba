/* gpu_l2.c: the L2 bank of gpu-drf and gpu-hrf: write-back, performs write-throughs and synchronisation.
 *
 * Paper    Sinclair et al., MICRO 2015, section 3: write-throughs are complete, and synchronisation is performed, at
 *          the shared L2.
 * Inferred a bank allocates on writes too, since a write-through may be part of a line; it writes dirty lines to memory
 *          when it evicts them. The dirty bit is not in section 4.2's overheads, which count one valid bit.
 */
#include "protocols/denovo/gpu.h"

#define L2_STATES(X)                                                          \
    X(L2_NP, STABLE, "not present")                                           \
    X(L2_V, STABLE, "present")                                                \
    X(L2_MF, TRANSIENT_CACHE, "fetched from memory; requests wait")

#define L2_EVENTS(X)                                                          \
    X(L2_READ, "read of a line")                                              \
    X(L2_WRITE, "write-through")                                              \
    X(L2_SYNC_READ, "synchronising load")                                     \
    X(L2_SYNC_WRITE, "synchronising store")                                   \
    X(L2_ATOMIC, "read-modify-writes")                                        \
    X(L2_EVICT_CLEAN, "way chosen for replacement; memory is up to date")     \
    X(L2_EVICT_DIRTY, "way chosen for replacement; memory is stale")          \
    X(L2_FILL, "line from memory")

GPC_FSM(L2, L2_STATES, L2_EVENTS)

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    return x->cause != GPC_MSG_EVICT ? GPC_NO_EVENT : gpc_is_dirty(x) ? L2_EVICT_DIRTY : L2_EVICT_CLEAN;
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_answer, "send DATA")
{
    gpc_count_hit(x);
    return gpc_send(x, gpc_new_answer(x, x->message, GPU_DATA));
}

GPC_ACTION(act_answer_sync, "send SYNC_DATA")
{
    return gpc_send(x, gpc_new_answer(x, x->message, GPU_SYNC_DATA));
}

static int
write(gpc_step_t *x, uint8_t answer)
{
    (void) gpc_act(writer_act_write, x);
    return gpc_answer_writer(x, gpc_new_writer_answer(x, answer, 0));
}

GPC_ACTION(act_write, "write the words, send WRITE_ACK")
{
    return write(x, GPU_WRITE_ACK);
}

GPC_ACTION(act_write_sync, "write the words, send SYNC_ACK")
{
    return write(x, GPU_SYNC_ACK);
}

GPC_ACTION(act_perform, "perform the read-modify-writes, send their old values")
{
    (void) gpc_act(writer_act_perform, x);
    return gpc_answer_writer(x, gpc_new_writer_answer(x, GPU_ATOMIC_DATA, 0));
}

/* ---- the table. A held request waits for memory, which always answers. ------------------------------------------- */

/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_NP] = {
        [L2_READ] = GO(L2_MF, act_reserve_way, act_miss),
        [L2_WRITE] = GO(L2_MF, act_reserve_way, act_miss),
        [L2_SYNC_READ] = GO(L2_MF, act_reserve_way, act_miss),
        [L2_SYNC_WRITE] = GO(L2_MF, act_reserve_way, act_miss),
        [L2_ATOMIC] = GO(L2_MF, act_reserve_way, act_miss),
    },
    [L2_V] = {
        [L2_READ] = GO(L2_V, act_answer),
        [L2_WRITE] = GO(L2_V, act_write),
        [L2_SYNC_READ] = GO(L2_V, act_answer_sync),
        [L2_SYNC_WRITE] = GO(L2_V, act_write_sync),
        [L2_ATOMIC] = GO(L2_V, act_perform),
        [L2_EVICT_CLEAN] = GO(L2_NP),
        [L2_EVICT_DIRTY] = GO(L2_NP, act_write_back),
    },
    [L2_MF] = {
        [L2_READ] = HOLD_LINE,
        [L2_WRITE] = HOLD_LINE,
        [L2_SYNC_READ] = HOLD_LINE,
        [L2_SYNC_WRITE] = HOLD_LINE,
        [L2_ATOMIC] = HOLD_LINE,
        [L2_FILL] = GO(L2_V, act_fill, act_replay),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {
    GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
    .causes = {ON_SAME(GPU, L2, READ, WRITE, SYNC_READ, SYNC_WRITE, ATOMIC), ON(GPC_MSG_FILL, L2_FILL)}};

const gpc_controller_type_t gpu_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .arrays = {{.name = "tags", .line = gpc_writer_line_described, .has_data = true}},
};
