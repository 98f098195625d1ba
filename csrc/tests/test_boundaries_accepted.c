/* test_boundaries_accepted.c: may a store complete when the L1 accepts it, and be performed later? Monitors and
 * explorer follow it until then: the core's own loads read it early, and a lost store is reported. */
#include "explorations.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "own_protocols.h"
#include "protocols/baseline/baseline.h"
#include "small_programs.h"

/* ---- a protocol: no-l1 with a store buffer in front. A store is complete when it is in the buffer, which sends it at
 * once; a release waits until the buffer is empty.
 * ---------------------------------------------------------------------------------------------------- */

#define L1_STATES(X) X(L1_ON, STABLE, "")
#define L1_EVENTS(X)                                                                                                   \
    X(L1_LOAD, "no word is buffered") X(L1_LOAD_BUFFERED, "all are") X(L1_LOAD_SOME, "some are")                       \
    X(L1_STORE, "") X(L1_ATOMIC, "") X(L1_ANSWER, "") X(L1_ACK, "")
GPC_FSM(L1, L1_STATES, L1_EVENTS)

#define BUFFER_ENTRY(FIELD) FIELD(PLAIN, gpc_mask_t, mask) FIELD(DATA, words_t, words)
#define L1_UNIT(FIELD) FIELD(PLAIN, uint64_t, draining) /* warps that wait for an empty buffer */
typedef struct {
    uint32_t word[GPC_MAX_LINE_WORDS];
} words_t;
GPC_DESCRIBE(buffer, entry, BUFFER_ENTRY)
GPC_DESCRIBE(l1, unit, L1_UNIT)

static uint32_t
eight(const gpc_machine_t *machine, const int64_t *options)
{
    (void) machine, (void) options;
    return 8;
}

/* Words of the line that the buffer holds; writes the newest value of each to `words`. */
static gpc_mask_t
buffered(const gpc_step_t *x, uint32_t *words)
{
    const gpc_part_t *part = &x->unit->parts[0];
    gpc_mask_t mask = GPC_NO_WORDS;

    for (gpc_index_t i = gpc_part_first(part); i != GPC_NONE; i = gpc_part_next(part, i)) {
        const buffer_entry_t *entry = gpc_part_fields(part, i);
        if (gpc_part_line(part, i) == x->line) {
            gpc_merge_words(words, entry->words.word, entry->mask);
            mask |= entry->mask;
        }
    }
    return mask;
}

static gpc_event_id_t
classify_load(const gpc_step_t *x)
{
    uint32_t words[GPC_MAX_LINE_WORDS];
    gpc_mask_t mask = buffered(x, words) & x->msg->mask;
    return mask == 0 ? L1_LOAD : mask == x->msg->mask ? L1_LOAD_BUFFERED : L1_LOAD_SOME;
}

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_LOAD:
            return classify_load(x);
        case GPC_MSG_STORE:
            return L1_STORE;
        case GPC_MSG_ATOMIC:
            return L1_ATOMIC;
        case MSG_ACK:
            return L1_ACK;
        default:
            return L1_ANSWER;
    }
}

GPC_ACTION(act_get, "")
{
    x->kept = true;
    return gpc_send(x, gpc_new_request(x, MSG_GETS));
}

GPC_ACTION(act_serve, "")
{
    uint32_t words[GPC_MAX_LINE_WORDS];
    (void) buffered(x, words);
    return gpc_complete(x, x->message, words, true);
}

GPC_ACTION(act_accept, "")
{
    gpc_index_t i = gpc_part_take(&x->unit->parts[0], x->line);
    if (i == GPC_NONE) {
        return GPC_HOLD;
    }
    buffer_entry_t *entry = gpc_part_fields(&x->unit->parts[0], i);
    entry->mask = x->msg->mask;
    gpc_merge_words(entry->words.word, x->msg->data, x->msg->mask);
    return gpc_note_accepted(x);
}

GPC_ACTION(act_put, "")
{
    return gpc_send(x, gpc_new_request(x, MSG_GETX));
}

/* A planted bug: core 1's stores leave the buffer without being sent. */
GPC_ACTION(act_lose, "")
{
    gpc_part_t *part = &x->unit->parts[0];
    if (x->unit->index != 1) {
        return gpc_act(act_put, x);
    }
    gpc_part_give(part, gpc_part_find(part, x->line));
    return GPC_OK;
}

GPC_ACTION(act_done, "")
{
    return gpc_complete(x, x->message, NULL, true);
}

GPC_ACTION(act_ask_atomic, "")
{
    x->kept = true;
    return gpc_send(x, gpc_new_request(x, MSG_ATOMIC));
}

GPC_ACTION(act_answered, "")
{
    gpc_msg_t *waiting = gpc_msg_at(x->unit->messages, x->msg->request);
    waiting->lanes = x->msg->lanes;
    x->msg->lanes = GPC_NONE;
    return gpc_complete(x, x->msg->request, x->msg->data, false);
}

/* The oldest entry of the line leaves; an empty buffer wakes the warps that wait for it. */
GPC_ACTION(act_retire, "")
{
    gpc_part_t *part = &x->unit->parts[0];
    l1_unit_t *unit = x->unit->unit_fields;
    gpc_index_t i = gpc_part_first(part);

    while (gpc_part_line(part, i) != x->line) {
        i = gpc_part_next(part, i);
    }
    gpc_part_give(part, i);
    for (; part->order->count == 0 && unit->draining; unit->draining &= unit->draining - 1) {
        uint16_t warp = (uint16_t) __builtin_ctzll(unit->draining);
        GPC_TRY(x->unit->ports->wake_warp(x->unit->world, x->unit, warp, 0));
    }
    return GPC_OK;
}

static const gpc_cell_t early_cells[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_ON] = {[L1_LOAD] = GO(L1_ON, act_get),
               [L1_LOAD_BUFFERED] = GO(L1_ON, act_serve),
               [L1_LOAD_SOME] = HOLD_QUEUE,
               [L1_STORE] = GO(L1_ON, act_accept, act_put, act_done),
               [L1_ATOMIC] = GO(L1_ON, act_ask_atomic),
               [L1_ANSWER] = GO(L1_ON, act_answered),
               [L1_ACK] = GO(L1_ON, act_retire)},
};
static const gpc_table_t early_table = {GPC_TABLE("L1", OVER_UNIT, L1, early_cells, l1_classify)};

static int
release_waits_for_the_buffer(gpc_controller_t *unit, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    (void) scope;
    if (unit->parts[0].order->count == 0) {
        return GPC_OK;
    }
    ((l1_unit_t *) unit->unit_fields)->draining |= UINT64_C(1) << warp;
    *until = GPC_NEVER;
    return GPC_HOLD;
}

typedef struct {
    gpc_protocol_t protocol;
    gpc_controller_type_t l1;
    gpc_table_t table;
    gpc_cell_t cells[L1_NUM_STATES][L1_NUM_EVENTS];
} forged_t;
static forged_t early, lost;

static forged_t *
forge(forged_t *self, const char *id)
{
    self->protocol = gpc_protocol_no_l1;
    memcpy(self->cells, early_cells, sizeof(self->cells));
    self->table = early_table;
    self->table.cells = &self->cells[0][0];
    self->l1 =
        (gpc_controller_type_t){.name = "L1",
                                .position = GPC_AT_CORE,
                                .tables = {&self->table},
                                .parts = {{.name = "buffer", .entry = buffer_entry_described, .capacity = eight}},
                                .unit = l1_unit_described};
    self->protocol.id = id;
    self->protocol.controllers[0] = &self->l1;
    self->protocol.order.release = release_waits_for_the_buffer;
    register_own(&self->protocol);
    return self;
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

/* Each thread stores its number twice, loads it after the first store, and stores the loaded value beside it. */
static const gpc_instruction_t store_and_load[] = {
    SPECIAL(R0, THREAD_X),
    SPECIAL(R1, BLOCK_X),
    SPECIAL(R2, BLOCK_DIM_X),
    OP(MUL, R1, R1, R2),
    OP(ADD, R0, R0, R1),
    OP(STORE, NONE, R0, R0),
    OP(LOAD, R3, R0, NONE),
    OP(STORE, NONE, R0, R0),
    OP(ADD, R4, R0, CONSTANT(8)),
    OP(STORE, NONE, R4, R3),
    EXIT,
};

static const gpc_instruction_t store_alone[] = {SPECIAL(R0, BLOCK_X), OP(STORE, NONE, R0, CONSTANT(3)), EXIT};

static bench_t
checked(const char *protocol)
{
    gpc_setup_t setup = {.machine = &test_fermi,
                         .protocol = named(protocol),
                         .rule = GPC_RULE_DEFAULT,
                         .budget = 1000000,
                         .check = GPC_CHECK_PROTOCOL | GPC_CHECK_RACES};
    bench_t it = {0};
    CHECK(gpc_gpu_create(&setup, &it.gpu) == 0 && gpc_gpu_allocate(it.gpu, 4096, &it.address) == 0);
    return it;
}

TEST(stores_that_are_accepted_early_are_right)
{
    bench_t it = checked("early");
    uint32_t words[1024];
    int status = RUN_PROGRAM(&it, store_and_load, 4096, 8, 64);
    if (status) {
        harness_note("%s", gpc_gpu_error_text(it.gpu));
    }
    CHECK_EQUAL_I64(status, 0);
    CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, it.address, 1024, words), 0);
    for (uint32_t i = 0; i < 512; i++) {
        CHECK_EQUAL_U64(words[i], i);
        CHECK_EQUAL_U64(words[512 + i], i);
    }
    gpc_gpu_check_counts_t counts = gpc_gpu_check_counts(it.gpu);
    CHECK_EQUAL_U64(counts.monitor.accepted, 3 * 512);
    CHECK(counts.monitor.loads > 0 && counts.monitor.writes > 0);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, 4096, 8, 64), 0); /* and with atomics */
    gpc_gpu_free(it.gpu);
}

TEST(a_lost_store_is_reported)
{
    bench_t it = checked("lost");
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, store_alone, 4096, 8, 1), GPC_ERROR_INVARIANT);
    CHECK(strstr(gpc_gpu_error_text(it.gpu), "an accepted store is performed before the end: core 1") != NULL);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, store_and_load, 4096, 8, 64), GPC_ERROR_INVARIANT);
    CHECK(strstr(gpc_gpu_error_text(it.gpu), "a warp reads its own accepted store: core 1") != NULL);
    gpc_gpu_free(it.gpu);
}

/* ---- the explorer ------------------------------------------------------------------------------------------------ */

static const gpc_explore_thread_t own_read[] = {THREAD(0, ST(X, 1), LD(X), ST(X, 2), LD(X)),
                                                THREAD(1, ST(X, 3), LD(X))};
static const gpc_explore_thread_t equal_values[] = {THREAD(0, ST(X, 1), ST(X, 1), LD(X)), THREAD(1, LD(X), LD(X))};

static gpc_explore_t
asked(const char *protocol, const gpc_explore_thread_t *threads)
{
    return (gpc_explore_t){.protocol = named(protocol),
                           .rule = GPC_RULE_DEFAULT,
                           .cores = 2,
                           .variables = 2,
                           .num_threads = 2,
                           .threads = threads,
                           .max_states = 1000000};
}

TEST(the_explorer_follows_accepted_stores)
{
    gpc_explore_t what = asked("early", sb);
    EXPLORE(&what, .seen = "0 0 _ _");
    what.threads = sb_fences;
    EXPLORE(&what, .never = "0 0 _ _");
    what.threads = mp_fences;
    EXPLORE(&what, .never = "1 0 _ _");
    what.threads = own_read;
    EXPLORE(&what);
    what.threads = equal_values;
    EXPLORE(&what);
}

TEST(the_explorer_finds_lost_stores)
{
    gpc_explore_t what = asked("lost", own_read);
    EXPLORE(&what, .violation = "invariant", .says = "a warp reads its own accepted store: core 1 warp 0 loads 0x0");
    what.threads = sb_fences;
    EXPLORE(&what, .violation = "invariant",
            .says = "an accepted store is performed before the end: core 1 warp 0 has stored 0x1");
}

BEFORE_TESTS
{
    (void) forge(&early, "early");
    forged_t *bug = forge(&lost, "lost");
    bug->cells[L1_ON][L1_STORE].actions[1] = act_lose;
}
