/* test_order_traits.c: do consistency rules and order traits hold in the explorer and in the machine? The prototypes
 * are copies of `ideal` with another rule or other traits. */
#include "explorations.h"
#include "gpu_bench.h"
#include "protocols/registry.h"
#include "small_programs.h"

/* ---- prototypes -------------------------------------------------------------------------------------------------- */

enum { RC, DRF, HRF, SAME_LINE, SAME_WORD, MARKERS, LATE_MARKERS, NUM_PROTOTYPES };
static gpc_protocol_t prototypes[NUM_PROTOTYPES];

static void
make_prototype(uint32_t number, const char *id, gpc_rule_t rule, gpc_order_traits_t traits)
{
    prototypes[number] = gpc_protocol_ideal;
    prototypes[number].id = id;
    prototypes[number].model[rule] = "prototype";
    prototypes[number].standard_rule = rule;
    prototypes[number].order = traits;
}

/* gpu-vi whose releases send a marker to bank 0 and wait for its answer: a table over the unit beside each of
 * gpu-vi's. */

enum { UNIT = 1 };
static gpc_message_info_t marked_info[32];
static uint8_t mark, mark_ack; /* message types */

#define MARKED_WARP(FIELD) FIELD(PLAIN, uint8_t, waits) FIELD(PLAIN, uint8_t, answered)
GPC_DESCRIBE(marked, warp, MARKED_WARP)

static marked_warp_t *
marked_warp(const gpc_controller_t *l1, uint16_t warp)
{
    return (marked_warp_t *) (void *) (l1->warp_fields + (size_t) warp * l1->warp_fields_size);
}

#define C_STATES(X) X(C_ANY, STABLE, "")
#define C_EVENTS(X) X(C_RELEASE, "") X(C_WAITING, "") X(C_DONE, "") X(C_ACK, "")
GPC_FSM(C, C_STATES, C_EVENTS)

static gpc_event_id_t
core_classify(const gpc_step_t *x)
{
    if (x->cause != GPC_MSG_RELEASE) {
        return C_ACK;
    }
    const marked_warp_t *warp = marked_warp(x->unit, x->warp);
    return warp->answered ? C_DONE : warp->waits ? C_WAITING : C_RELEASE;
}

GPC_ACTION(act_send_marker, "")
{
    marked_warp(x->unit, x->warp)->waits = 1;
    return gpc_send(x, gpc_new_message(x, mark, gpc_node_of(x->unit, GPC_AT_BANK)));
}

GPC_ACTION(act_answered, "")
{
    marked_warp_t *warp = marked_warp(x->unit, x->msg->warp);
    warp->waits = 0;
    warp->answered = 1;
    return x->unit->ports->wake_warp(x->unit->world, x->unit, x->msg->warp, 0);
}

GPC_ACTION(act_forget, "")
{
    marked_warp(x->unit, x->warp)->answered = 0;
    return GPC_OK;
}

static const gpc_cell_t core_cells[C_NUM_STATES][C_NUM_EVENTS] = {[C_ANY] = {[C_RELEASE] = REDO(C_ANY, act_send_marker),
                                                                             [C_WAITING] = HOLD_QUEUE,
                                                                             [C_DONE] = GO(C_ANY, act_forget),
                                                                             [C_ACK] = GO(C_ANY, act_answered)}};

#define B_STATES(X) X(B_ANY, STABLE, "")
#define B_EVENTS(X) X(B_MARK, "")
GPC_FSM(B, B_STATES, B_EVENTS)

static gpc_event_id_t
bank_classify(const gpc_step_t *x)
{
    (void) x;
    return B_MARK;
}

GPC_ACTION(act_answer, "")
{
    return gpc_send(x, gpc_new_answer(x, x->message, mark_ack));
}

static const gpc_cell_t bank_cells[B_NUM_STATES][B_NUM_EVENTS] = {[B_ANY] = {[B_MARK] = GO(B_ANY, act_answer)}};

static const gpc_table_t core_table = {GPC_TABLE("L1.markers", OVER_UNIT, C, core_cells, core_classify)};
static const gpc_table_t bank_table = {GPC_TABLE("L2.markers", OVER_UNIT, B, bank_cells, bank_classify)};
static gpc_controller_type_t marked_l1, marked_l2;

static uint8_t
route_markers(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    (void) unit;
    return msg->type == mark || msg->type == mark_ack ? UNIT : 0;
}

static int
release_marker(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    (void) until;
    return gpc_controller_order(l1, UNIT, GPC_MSG_RELEASE, warp, scope);
}

/* The marker is sent and the warp continues; its next acquire waits for the answer (before_marker). */
static int
release_late_marker(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    int status = release_marker(l1, warp, scope, until);
    return status == GPC_HOLD ? GPC_OK : status;
}

static int
before_marker(gpc_controller_t *l1, uint16_t warp, const gpc_access_t *access, gpc_cycle_t *until)
{
    (void) until;
    return access->order == GPC_ORDER_ACQUIRE && marked_warp(l1, warp)->waits ? GPC_HOLD : GPC_OK;
}

static void
make_markers(uint32_t number, const char *id, gpc_order_traits_t traits)
{
    gpc_protocol_t *it = &prototypes[number];
    const gpc_protocol_t *base = &gpc_protocol_gpu_vi;
    *it = *base;
    it->id = id;
    it->order = traits;
    it->monitor = NULL; /* of lines only */
    memcpy(marked_info, base->messages, base->num_messages * sizeof *marked_info);
    mark = (uint8_t) (GPC_MSG_OWN + base->num_messages);
    mark_ack = mark + 1u;
    marked_info[base->num_messages] = (gpc_message_info_t){.name = "MARK", .network = 0, .fixed_bytes = 8};
    marked_info[base->num_messages + 1] = (gpc_message_info_t){.name = "MARK_ACK", .network = 1, .fixed_bytes = 8};
    it->messages = marked_info;
    it->num_messages += 2;
    marked_l1 = *base->controllers[0];
    marked_l2 = *base->controllers[1];
    marked_l1.tables[UNIT] = &core_table;
    marked_l2.tables[UNIT] = &bank_table;
    marked_l1.warp = marked_warp_described;
    marked_l1.route = marked_l2.route = route_markers;
    it->controllers[0] = &marked_l1;
    it->controllers[1] = &marked_l2;
}

static void
make_prototypes(void)
{
    make_markers(MARKERS, "markers", (gpc_order_traits_t){.release = release_marker, .keeps_own = true});
    make_markers(LATE_MARKERS, "late-markers",
                 (gpc_order_traits_t){.release = release_late_marker, .before = before_marker, .keeps_own = true});
    make_prototype(RC, "rc", GPC_RULE_RC, (gpc_order_traits_t){0});
    make_prototype(SAME_LINE, "same-line", GPC_RULE_RC, (gpc_order_traits_t){.same_line = true});
    make_prototype(SAME_WORD, "same-word", GPC_RULE_RC, (gpc_order_traits_t){.same_word = true});
    make_prototype(DRF, "drf", GPC_RULE_DRF, (gpc_order_traits_t){0});
    make_prototype(HRF, "hrf", GPC_RULE_HRF, (gpc_order_traits_t){.local_scopes = true});
}

static const gpc_protocol_t *
named(const char *id)
{
    for (uint32_t i = 0; i < NUM_PROTOTYPES; i++) {
        if (strcmp(prototypes[i].id, id) == 0) {
            return &prototypes[i];
        }
    }
    return gpc_protocol_find(id);
}

/* ---- the explorer ------------------------------------------------------------------------------------------------ */

#define LD_(order, variable) {LOAD, GPC_ORDER_##order, GPC_SCOPE_GPU, (variable), 0, false, 0, false, 0, 0, 0}
#define ST_(order, variable, value) {STORE, GPC_ORDER_##order, GPC_SCOPE_GPU, (variable), (value), false, 0, false, 0, 0, 0}

/* Two threads; at the start both L1s hold copies of both variables. */
static gpc_explore_t
asked(const char *protocol, const gpc_explore_thread_t *threads)
{
    return (gpc_explore_t){.protocol = named(protocol),
                           .rule = GPC_RULE_DEFAULT,
                           .cores = 2,
                           .variables = 2,
                           .num_threads = 2,
                           .threads = threads,
                           .warm = 15,
                           .max_states = 2000000};
}

/* Explores: whether the outcome is observed. */
static void
expect(const char *protocol, const gpc_explore_thread_t *threads, const char *outcome, bool seen)
{
    gpc_explore_t what = asked(protocol, threads);
    EXPLORE(&what, .seen = seen ? outcome : NULL, .never = seen ? NULL : outcome);
}

static const gpc_explore_thread_t sb_rel_acq[] = {THREAD(0, ST_(RELEASE, X, 1), LD_(ACQUIRE, Y)),
                                                  THREAD(1, ST_(RELEASE, Y, 1), LD_(ACQUIRE, X))};
static const gpc_explore_thread_t sb_rel_acq_fenced[] = {THREAD(0, ST_(WEAK, X, 1), F, LD_(ACQUIRE, Y)),
                                                         THREAD(1, ST_(WEAK, Y, 1), F, LD_(ACQUIRE, X))};
static const gpc_explore_thread_t sb_relaxed[] = {THREAD(0, ST_(RELAXED, X, 1), LD_(RELAXED, Y)),
                                                  THREAD(1, ST_(RELAXED, Y, 1), LD_(RELAXED, X))};

TEST(no_synchronisation_access_passes_an_older_one_under_drf_and_hrf)
{
    static const char *const ids[] = {"drf", "hrf"};
    for (size_t i = 0; i < GPC_COUNT_OF(ids); i++) {
        expect(ids[i], sb_rel_acq, "0 0 _ _", false);
        expect(ids[i], sb_rel_acq, "0 1 _ _", true);
        expect(ids[i], sb_relaxed, "0 0 _ _", false);
        expect(ids[i], sb, "0 0 _ _", true); /* data accesses overlap: the outcome is possible */
    }
}

static uint32_t
states(const char *protocol, const gpc_explore_thread_t *threads)
{
    gpc_explore_t what = asked(protocol, threads);
    what.packed = true; /* both variables are in one line */
    return EXPLORE(&what);
}

/* Fewer states: the two stores of a thread are not in flight together. */
TEST(accesses_to_one_line_or_word_are_outstanding_one_at_a_time)
{
    const gpc_explore_thread_t one_word[] = {THREAD(0, ST(X, 1), ST(X, 2)), THREAD(1, ST(Y, 1), ST(Y, 2))};
    const gpc_explore_thread_t two_words[] = {THREAD(0, ST(X, 1), ST(Y, 2)), THREAD(1, ST(Y, 1), ST(X, 2))};
    CHECK(states("same-word", one_word) < states("rc", one_word));
    CHECK(states("same-word", two_words) == states("rc", two_words));
    CHECK(states("same-line", two_words) < states("rc", two_words));
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

/* The instruction, then a load of the order, by one thread: cycles from one's issue to the other's. */
static uint32_t
until_load(const char *protocol, gpc_instruction_t instruction, gpc_memory_order_t order)
{
    uint32_t times[2];
    gpc_instruction_t program[] = {SPECIAL(R0, CLOCK),
                                   instruction,
                                   OP(LOAD, R1, CONSTANT(7), NONE),
                                   SPECIAL(R2, CLOCK),
                                   OP(STORE, NONE, CONSTANT(9), R0),
                                   OP(STORE, NONE, CONSTANT(10), R2),
                                   EXIT};
    program[2].order = (uint8_t) order;
    bench_t it = bench(&test_fermi, named(protocol), 1024);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, program, 1024, 1, 1), 0);
    CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, it.address + 4 * 896, 1, &times[0]), 0);
    CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, it.address + 4 * 960, 1, &times[1]), 0);
    gpc_gpu_free(it.gpu);
    return times[1] - times[0];
}

static uint32_t
load_after_store(const char *protocol, gpc_memory_order_t order)
{
    gpc_instruction_t store = OP(STORE, NONE, CONSTANT(0), CONSTANT(1));
    store.order = (uint8_t) order;
    return until_load(protocol, store, GPC_ORDER_WEAK);
}

TEST(a_warp_waits_for_its_synchronisation_store)
{
    CHECK(load_after_store("drf", GPC_ORDER_WEAK) < 10);
    CHECK(load_after_store("drf", GPC_ORDER_RELAXED) > 100);
    CHECK(load_after_store("drf", GPC_ORDER_RELEASE) > 100);
    CHECK(load_after_store("hrf", GPC_ORDER_RELEASE) > 100);
}

TEST(an_order_hook_sends_and_waits_for_the_answer)
{
    gpc_instruction_t fence = OP(FENCE, NONE, NONE, NONE);
    fence.order = GPC_ORDER_SC;
    CHECK(until_load("gpu-vi", fence, GPC_ORDER_WEAK) < 10);
    CHECK(until_load("markers", fence, GPC_ORDER_WEAK) > 100);
    CHECK(until_load("late-markers", fence, GPC_ORDER_WEAK) < 10);
    CHECK(until_load("late-markers", fence, GPC_ORDER_ACQUIRE) > 100);
}

TEST(the_explorer_orders_by_messages_too)
{
    static const char *const ids[] = {"markers", "late-markers"};
    for (size_t i = 0; i < GPC_COUNT_OF(ids); i++) {
        expect(ids[i], sb_fences, "0 0 _ _", false);
        expect(ids[i], sb_fences, "0 1 _ _", true);
        expect(ids[i], sb_rel_acq_fenced, "0 0 _ _", false);
    }
    /* states exist in which a marker or its answer is in flight */
    CHECK(states("markers", sb_fences) > states("gpu-vi", sb_fences));
}

BEFORE_TESTS
{
    make_prototypes();
}
