/* stc_l2.c: the L2 of SRC and STC: write-back, no directory, no epochs.
 *
 * Paper    Puthoor and Lipasti, TACO 2023, sections 2.3 and 3.1: a store is acknowledged "immediately after seeing the
 *          write request", atomics are performed at the L2.
 * Options  ack=pipeline: the acknowledgement leaves after the L2's pipeline, like data.
 * Inferred a store that misses is merged over the line when memory answers; loads and atomics of that line wait for the
 *          answer.
 */
#include "protocols/spatiotemporal/stc.h"

#define L2_STATES(X)                                                                                                   \
    X(L2_I, STABLE, "not present")                                                                                     \
    X(L2_V, STABLE, "present")                                                                                         \
    X(L2_IF, TRANSIENT_CACHE, "fetching; stores are taken, loads and atomics wait")
#define L2_EVENTS(X)                                                                                                   \
    X(L2_READ, "a load wants the line")                                                                                \
    X(L2_WRITE, "a store")                                                                                             \
    X(L2_ATOMIC, "read-modify-writes")                                                                                 \
    X(L2_EVICT_CLEAN, "way chosen for replacement; memory is up to date")                                              \
    X(L2_EVICT_DIRTY, "way chosen for replacement; memory is stale")                                                   \
    X(L2_FILL, "memory's answer")
GPC_FSM(L2, L2_STATES, L2_EVENTS)

#define STC_L2_MSHR(FIELD) FIELD(PLAIN, gpc_mask_t, written) /* words of stores taken during the fetch */
GPC_METADATA(stc_l2, mshr, STC_L2_MSHR)

static gpc_event_id_t
l2_classify(const gpc_step_t *x)
{
    return x->cause != GPC_MSG_EVICT ? GPC_NO_EVENT : gpc_is_dirty(x) ? L2_EVICT_DIRTY : L2_EVICT_CLEAN;
}

static int
send_data(gpc_step_t *x, gpc_index_t to, uint8_t type)
{
    return gpc_send(x, gpc_new_answer(x, to, type));
}

GPC_ACTION(act_answer, "send DATA")
{
    gpc_count_hit(x);
    return send_data(x, x->message, STC_DATA);
}

GPC_ACTION(act_write, "write the store's words, send WRITE_ACK")
{
    (void) gpc_act(writer_act_write, x);
    return gpc_answer_writer(x, gpc_new_writer_answer(x, STC_WRITE_ACK, 0));
}

GPC_ACTION(act_note_written, "the fill will not replace these words")
{
    stc_l2_mshr(x)->written |= x->msg->mask;
    return GPC_OK;
}

GPC_ACTION(act_perform, "perform the read-modify-writes, send ATOMIC_DATA")
{
    (void) gpc_act(writer_act_perform, x);
    return gpc_answer_writer(x, gpc_new_writer_answer(x, STC_ATOMIC_DATA, 0));
}

GPC_ACTION(act_fill_rest, "fill the words that no store has written")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, gpc_all_words(x->unit) & ~stc_l2_mshr(x)->written);
    return GPC_OK;
}

/* A held request waits for memory, which always answers. */
/* clang-format off */
static const gpc_cell_t l2_table[L2_NUM_STATES][L2_NUM_EVENTS] = {
    [L2_I] = {
        [L2_READ] = GO(L2_IF, act_reserve_way, act_miss),
        [L2_WRITE] = GO(L2_IF, act_reserve_way, act_fetch_line, act_note_written, act_write),
        [L2_ATOMIC] = GO(L2_IF, act_reserve_way, act_miss),
    },
    [L2_V] = {
        [L2_READ] = GO(L2_V, act_answer),
        [L2_WRITE] = GO(L2_V, act_write),
        [L2_ATOMIC] = GO(L2_V, act_perform),
        [L2_EVICT_CLEAN] = GO(L2_I),
        [L2_EVICT_DIRTY] = GO(L2_I, act_write_back),
    },
    [L2_IF] = {
        [L2_READ] = HOLD_LINE,
        [L2_WRITE] = GO(L2_IF, act_note_written, act_write),
        [L2_ATOMIC] = HOLD_LINE,
        [L2_FILL] = GO(L2_V, act_fill_rest, act_replay),
    },
};
/* clang-format on */

static const gpc_table_t l2 = {GPC_TABLE("L2", OVER_LINES, L2, l2_table, l2_classify),
                               .causes = {ON_SAME(STC, L2, READ, WRITE, ATOMIC), ON(GPC_MSG_FILL, L2_FILL)}};

const gpc_controller_type_t stc_l2 = {
    .name = "L2",
    .position = GPC_AT_BANK,
    .tables = {&l2},
    .arrays = {{.name = "tags", .line = gpc_writer_line_described, .has_data = true}},
    .mshr = stc_l2_mshr_described,
};

int
stc_host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    gpc_index_t mshr = gpc_mshr_find(&units->bank->mshrs, line);
    return gpc_host_read(units, line, mshr == GPC_NONE ? mask : mask & stc_l2_mshr_at(units->bank, mshr)->written,
                         words);
}
