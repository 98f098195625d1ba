/* test_resource_limits.c: resource limits and rare cases of the controller, each on the smallest table
 * (prototype_limits.c). */
#include "controller/nodes.h"
#include "controller/resolve.h"
#include "tests/limits_bench.h"

enum { A = 0x1000, B = 0x2000, C = 0x3000 }; /* lines of the one set */

static int
take(uint8_t type, gpc_address_t line, gpc_mask_t mask)
{
    gpc_index_t i = bench_message(type, line, mask);
    int status = gpc_controller_take(&bench.unit, i);
    if (status == GPC_HELD_QUEUE) {
        gpc_free_message(&bench.unit, i);
    }
    return status;
}

static gpc_index_t
place(uint8_t array, gpc_address_t line, const char *state)
{
    return bench_place(array, array, line, state);
}

static bool
present(uint8_t array, gpc_address_t line)
{
    return gpc_tags_find(&bench.unit.arrays[array], line) != GPC_NONE;
}

/* The words of a line, by the first letters of their states. */
static uint8_t *
place_words(const char *states)
{
    gpc_index_t way = place(0, A, NULL);
    uint8_t *words = gpc_tags_word_states(&bench.unit.arrays[0], way);
    for (uint32_t i = 0; states[i]; i++) {
        char name[] = {'W', 'O', 'R', 'D', '_', states[i], 0};
        words[i] = bench_state(bench.unit.type->tables[0], name);
    }
    return words;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

TEST(replacement_waits_for_its_recalled_victim)
{
    for (uint32_t mshrs = 2; mshrs >= 1; mshrs--) { /* with one MSHR, the recall takes it before the load */
        limits_begin(LIMITS_LINES, mshrs);
        (void) place(0, A, "LINE_V");
        (void) place(0, B, "LINE_V");
        CHECK_EQUAL_I64(take(GPC_MSG_LOAD, C, 1), GPC_HELD_QUEUE);
        CHECK_EQUAL_I64(take(GPC_MSG_LOAD, C, 1), GPC_HELD_QUEUE);
        CHECK_EQUAL_U64(bench.unit.statistics->evictions, 1);
        CHECK_EQUAL_U64(bench.unit.mshrs.entries.state->in_use, 1);
        CHECK_EQUAL_I64(take(LIMITS_ACK, A, 0), GPC_OK);
        CHECK(!present(0, A));
        CHECK_EQUAL_I64(take(GPC_MSG_LOAD, C, 1), GPC_OK);
        CHECK_EQUAL_U64(bench.unit.statistics->evictions, 1);
        CHECK(present(0, B));
        CHECK(present(0, C));
        CHECK_EQUAL_I64(take(LIMITS_DATA, C, 1), GPC_OK);
        CHECK_EQUAL_U64(bench.world.completions, 1);
        CHECK_EQUAL_I64(gpc_controller_verify(&bench.unit, true), GPC_OK);
        limits_end();
    }
}

TEST(an_eviction_is_done_when_a_pre_event_has_emptied_the_way)
{
    limits_begin(LIMITS_LINES, 2);
    (void) place(0, A, "LINE_V");
    (void) place(0, B, "LINE_V");
    bench.world.expired = true;
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EVICT, A), GPC_OK);
    CHECK(!present(0, A));
    (void) place(0, A, "LINE_V");
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, C, 1), GPC_OK);
    CHECK_EQUAL_I64(take(LIMITS_DATA, C, 1), GPC_OK);
    limits_end();
}

TEST(an_acquire_walks_transactions_and_their_pending_requests_are_taken_again)
{
    limits_begin(LIMITS_LINES, 4);
    (void) place(0, A, "LINE_V"); /* has no cell for an acquire: it must not be walked */
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, B, 1), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_walk_transactions(&bench.unit, GPC_MSG_ACQUIRE), GPC_OK);
    CHECK_EQUAL_I64(take(LIMITS_DATA, B, 1), GPC_OK); /* older than the acquire */
    CHECK_EQUAL_U64(bench.world.completions, 0);
    CHECK_EQUAL_U64(bench.unit.replay->count, 1);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, A, 1), GPC_HELD_QUEUE); /* no new request before it */
    CHECK_EQUAL_I64(gpc_controller_replay(&bench.unit), GPC_OK);
    CHECK_EQUAL_I64(take(LIMITS_DATA, B, 1), GPC_OK);
    CHECK_EQUAL_U64(bench.world.completions, 1);
    limits_end();
}

TEST(replay_keeps_requests_that_wait_again_in_front)
{
    static const gpc_mask_t in_order[] = {4, 1, 2};
    limits_begin(LIMITS_LINES, 4);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, A, 4), GPC_OK);
    CHECK_EQUAL_I64(take(GPC_MSG_STORE, A, 1), GPC_OK); /* held: the line is in a transaction */
    CHECK_EQUAL_I64(take(GPC_MSG_STORE, A, 2), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_walk_transactions(&bench.unit, GPC_MSG_ACQUIRE), GPC_OK); /* its state changes */
    CHECK_EQUAL_U64(bench.unit.replay->count, 2);
    CHECK_EQUAL_I64(gpc_controller_replay(&bench.unit),
                    GPC_OK); /* the first waits again, the second is still to come */
    CHECK_EQUAL_I64(take(LIMITS_DATA, A, 4), GPC_OK);
    CHECK_EQUAL_U64(bench.unit.replay->count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        gpc_index_t next = gpc_list_pop(bench.unit.replay, &bench.messages);
        CHECK_EQUAL_U64(gpc_msg_at(&bench.messages, next)->mask, in_order[i]);
        gpc_free_message(&bench.unit, next);
    }
    limits_end();
}

TEST(idle_transactions_end_when_entries_run_out)
{
    limits_begin(LIMITS_LINES, 1);
    (void) place(0, A, "LINE_V");
    bench.world.now = 50;
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EVICT, A), GPC_OK);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, C, 1), GPC_HELD_QUEUE);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, C, 1), GPC_HELD_QUEUE);
    CHECK_EQUAL_U64(bench.world.wakes, 1); /* one timer, for the earliest */
    CHECK_EQUAL_U64(bench.world.woken_at, 91);
    bench.world.now = 91;
    CHECK_EQUAL_I64(take(GPC_MSG_TIMER, GPC_NEVER, 0), GPC_OK); /* retries held requests only */
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, C, 1), GPC_OK);
    CHECK(!present(0, A));
    CHECK_EQUAL_I64(take(LIMITS_DATA, C, 1), GPC_OK);
    limits_end();
}

TEST(one_table_moves_lines_of_another_which_has_transactions_of_its_own)
{
    limits_begin(LIMITS_TWO, 4);
    (void) place(0, A, "LINE_V");
    (void) place(1, A, "LINE_V");
    CHECK_EQUAL_I64(take(GPC_MSG_STORE, A, 1), GPC_OK);
    CHECK_EQUAL_U64(gpc_mshr_find_for(&bench.unit.mshrs, A, 0), GPC_NONE);
    CHECK(gpc_mshr_find_for(&bench.unit.mshrs, A, 1) != GPC_NONE);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, A, 2), GPC_OK); /* the first table's line is unchanged */
    CHECK_EQUAL_U64(bench.world.completions, 2);
    CHECK_EQUAL_I64(take(GPC_MSG_STORE, A, 1), GPC_HELD_QUEUE); /* the other table refuses a second eviction */
    CHECK_EQUAL_U64(bench.world.completions, 2);
    limits_end();
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

TEST(words_of_one_request_hit_miss_and_wait_apart)
{
    limits_begin(LIMITS_WORDS, 4);
    uint8_t *words = place_words("VID");
    gpc_index_t load = bench_message(GPC_MSG_LOAD, A, 7);
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, load), GPC_OK);
    CHECK_EQUAL_U64(bench.world.completed_mask, 1); /* hit */
    CHECK_EQUAL_U64(bench.world.sent_type, LIMITS_GET);
    CHECK_EQUAL_U64(bench.world.sent_mask, 2);    /* miss */
    CHECK_EQUAL_U64(bench.unit.replay->count, 1); /* held until the queue is replayed */
    gpc_index_t data = bench_message(LIMITS_DATA, A, 2);
    gpc_msg_at(&bench.messages, data)->request = load;
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, data), GPC_OK);
    CHECK_EQUAL_U64(bench.world.completed_mask, 3);
    CHECK_EQUAL_I64(gpc_controller_replay(&bench.unit), GPC_HELD_QUEUE);
    words[2] = words[0];
    CHECK_EQUAL_I64(gpc_controller_replay(&bench.unit), GPC_OK);
    CHECK_EQUAL_U64(bench.world.completed_mask, 7);
    limits_end();
}

TEST(words_of_one_request_that_wait_for_their_line_are_replayed_as_a_part)
{
    limits_begin(LIMITS_WORDS, 4);
    (void) place_words("IV");
    gpc_index_t first = bench_message(GPC_MSG_LOAD, A, 1);
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, first), GPC_OK);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, A, 3), GPC_OK);
    CHECK_EQUAL_U64(bench.world.completed_mask, 2);
    gpc_index_t data = bench_message(LIMITS_DATA, A, 1);
    gpc_msg_at(&bench.messages, data)->request = first;
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, data), GPC_OK);
    CHECK_EQUAL_U64(bench.world.completed_mask, 3);
    CHECK_EQUAL_U64(bench.unit.replay->count, 1);
    bench.world.completed_mask = 0;
    CHECK_EQUAL_I64(gpc_controller_replay(&bench.unit), GPC_OK);
    CHECK_EQUAL_U64(bench.world.completed_mask, 1);
    limits_end();
}

TEST(lanes_go_with_their_words)
{
    limits_begin(LIMITS_WORDS, 4);
    (void) place_words("VI");
    gpc_index_t atomic = bench_message(GPC_MSG_ATOMIC, A, 3);
    gpc_index_t lanes = gpc_pool_take(&bench.lane_lists);
    *gpc_lane_list_at(&bench.lane_lists, lanes) =
        (gpc_lane_list_t){.count = 3, .lane = {4, 5, 6}, .word = {1, 0, 1}, .operand = {40, 50, 60}};
    gpc_msg_at(&bench.messages, atomic)->lanes = lanes;
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, atomic), GPC_OK);
    CHECK_EQUAL_U64(bench.world.lanes_completed, 1);
    const gpc_mshr_t *entry = gpc_mshr_at(&bench.unit.mshrs, gpc_mshr_find(&bench.unit.mshrs, A));
    const gpc_msg_t *pending = gpc_msg_at(&bench.messages, entry->pending.head);
    REQUIRE(entry->pending.count == 1 && pending->lanes != GPC_NONE);
    const gpc_lane_list_t *rest = gpc_lane_list_at(&bench.lane_lists, pending->lanes);
    CHECK_EQUAL_U64(rest->count, 2);
    CHECK_EQUAL_U64(rest->lane[0], 4); /* in their order */
    CHECK_EQUAL_U64(rest->lane[1], 6);
    CHECK_EQUAL_U64(rest->operand[1], 60);
    gpc_index_t data = bench_message(LIMITS_DATA, A, 2);
    gpc_msg_at(&bench.messages, data)->request = atomic;
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, data), GPC_OK);
    CHECK_EQUAL_U64(bench.world.lanes_completed, 3);
    limits_end();
}

TEST(sends_alike_of_one_step_leave_as_one_message)
{
    limits_begin(LIMITS_WORDS, 4);
    (void) place_words("VI");
    gpc_index_t store = bench_message(GPC_MSG_STORE, A, 3);
    gpc_msg_at(&bench.messages, store)->data[0] = 70;
    gpc_msg_at(&bench.messages, store)->data[1] = 71;
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, store), GPC_OK);
    CHECK_EQUAL_U64(bench.world.sends, 1);
    CHECK_EQUAL_U64(bench.world.sent_type, LIMITS_PUT);
    CHECK_EQUAL_U64(bench.world.sent_mask, 3);
    CHECK_EQUAL_U64(bench.world.sent_word[0], 70);
    CHECK_EQUAL_U64(bench.world.sent_word[1], 71);
    limits_end();
}

TEST(a_line_is_evicted_with_all_its_words_or_not_at_all)
{
    limits_begin(LIMITS_WORDS, 4);
    uint8_t *words = place_words("VVD");
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EVICT, A), GPC_UNFIT_VICTIM);
    CHECK_EQUAL_U64(bench.world.sends, 0);
    CHECK_EQUAL_U64(words[0], bench_state(bench.unit.type->tables[0], "WORD_V"));
    words[2] = words[3]; /* not present */
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EVICT, A), GPC_OK);
    CHECK_EQUAL_U64(bench.world.sends, 1);
    CHECK_EQUAL_U64(bench.world.sent_mask, 3);
    CHECK(!present(0, A));
    limits_end();
}

TEST(a_line_without_words_gives_its_way_back)
{
    limits_begin(LIMITS_WORDS, 4);
    uint8_t *words = place_words("VD");
    CHECK_EQUAL_I64(gpc_controller_line(&bench.unit, 0, GPC_MSG_ACQUIRE, A, 3, GPC_NONE), GPC_OK);
    CHECK(present(0, A));
    words[1] = bench_state(bench.unit.type->tables[0], "WORD_V");
    CHECK_EQUAL_I64(gpc_controller_line(&bench.unit, 0, GPC_MSG_ACQUIRE, A, 2, GPC_NONE), GPC_OK);
    CHECK(!present(0, A));
    limits_end();
}

/* ---- two arrays, parts, places ----------------------------------------------------------------------------------- */

static void
load_and_fill(gpc_address_t line)
{
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, line, 1), GPC_OK);
    CHECK_EQUAL_I64(take(LIMITS_DATA, line, 1), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_verify(&bench.unit, true), GPC_OK);
    bench.world.completed_mask = 0;
}

TEST(a_state_may_be_in_either_of_two_arrays)
{
    limits_begin(LIMITS_DIRECTORY, 4); /* data of one line, directory of two */
    const gpc_table_t *table = bench.unit.type->tables[0];
    const gpc_tags_t *entries = &bench.unit.arrays[1];
    load_and_fill(A);
    CHECK(present(0, A) && present(1, A));
    CHECK_EQUAL_U64(entries->tags[gpc_tags_find(entries, A)].state, bench_state(table, "DIR_V"));
    load_and_fill(B);
    CHECK(!present(0, A));
    REQUIRE(present(1, A));
    CHECK_EQUAL_U64(entries->tags[gpc_tags_find(entries, A)].state, bench_state(table, "DIR_N"));
    load_and_fill(C); /* needs a way of both: B's data and A's entry go */
    CHECK(!present(1, A));
    CHECK(present(1, B) && !present(0, B));
    load_and_fill(B); /* from DIR_N */
    CHECK(present(0, B));
    CHECK_EQUAL_U64(entries->tags[gpc_tags_find(entries, B)].state, bench_state(table, "DIR_V"));
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, B, 1), GPC_OK);
    CHECK_EQUAL_U64(bench.world.completions, 5);
    limits_end();
}

TEST(parts_keep_their_order_when_entries_leave)
{
    limits_begin(LIMITS_LINES, 1);
    gpc_part_t *part = &bench.unit.parts[0];
    gpc_index_t a = gpc_part_take(part, A), b = gpc_part_take(part, B), c = gpc_part_take(part, C),
                b2 = gpc_part_take(part, B);
    CHECK_EQUAL_U64(gpc_part_take(part, A), GPC_NONE);
    CHECK_EQUAL_U64(gpc_part_find(part, B), b2); /* the newest */
    CHECK_EQUAL_U64(gpc_part_first(part), a);
    gpc_part_give(part, b);
    CHECK_EQUAL_U64(gpc_part_next(part, a), c);
    gpc_part_give(part, a);
    CHECK_EQUAL_U64(gpc_part_first(part), c);
    gpc_part_give(part, b2);
    CHECK_EQUAL_U64(gpc_part_find(part, B), GPC_NONE);
    CHECK_EQUAL_U64(gpc_part_next(part, c), GPC_NONE);
    CHECK_EQUAL_U64(gpc_part_line(part, c), C);
    gpc_index_t last = gpc_part_take(part, A);
    CHECK_EQUAL_U64(gpc_part_next(part, c), last);
    CHECK_EQUAL_U64(gpc_part_find(part, A), last);
    limits_end();
}

TEST(controllers_of_other_positions_have_a_node_where_the_machine_has_them)
{
    const gpc_nodes_t nodes = {.kinds = {{.position = GPC_AT_CORE, .count = 2},
                                         {.position = GPC_AT_BANK, .first = 2, .count = 1},
                                         {.position = GPC_AT_GLOBAL, .first = 3, .count = 1},
                                         {.position = GPC_AT_HOST, .first = 4, .count = 1}},
                               .num_kinds = 4,
                               .count = 5};
    limits_begin(LIMITS_LINES, 1);
    bench.unit.nodes = &nodes;
    CHECK_EQUAL_U64(gpc_node_of(&bench.unit, GPC_AT_BANK), 2);
    CHECK_EQUAL_U64(gpc_node_of(&bench.unit, GPC_AT_GLOBAL), 3);
    CHECK_EQUAL_U64(gpc_node_of(&bench.unit, GPC_AT_MEMORY), GPC_NO_NODE);
    CHECK_EQUAL_U64(gpc_node_of(&bench.unit, GPC_AT_HOST), 4);
    limits_end();
}

/* ---- faults of a table ------------------------------------------------------------------------------------------- */

/* A copy of the lines' table in which a load of a line in V, or another event, does what a test plants. */
typedef struct {
    gpc_protocol_t protocol;
    gpc_controller_type_t type;
    gpc_table_t table;
    gpc_cell_t cells[64];
} planted_t;

static void
plant(planted_t *self, const char *event, const gpc_action_t *action)
{
    self->protocol = prototype_limits;
    self->type = *prototype_limits.controllers[LIMITS_LINES];
    self->table = *self->type.tables[0];
    size_t cells = (size_t) self->table.num_states * self->table.num_events;
    REQUIRE(cells <= GPC_COUNT_OF(self->cells));
    memcpy(self->cells, self->table.cells, cells * sizeof(*self->cells));
    for (uint8_t e = 0; e < self->table.num_events; e++) {
        if (strcmp(self->table.events[e].name, event) == 0) {
            uint8_t v = bench_state(&self->table, "LINE_V");
            self->cells[v * self->table.num_events + e] =
                (gpc_cell_t){.kind = GPC_CELL_GO, .next = v, .actions = {action, NULL}};
        }
    }
    self->table.cells = self->cells;
    self->type.tables[0] = &self->table;
    self->protocol.controllers[0] = &self->type;
}

GPC_ACTION(act_evict_own, "planted: the line of this step leaves by a step of its own")
{
    return gpc_controller_line(x->unit, 0, GPC_MSG_EVICT, x->line, gpc_all_words(x->unit), GPC_NONE);
}

TEST(a_step_within_a_step_of_its_own_line_is_an_error_that_names_both)
{
    planted_t planted;

    plant(&planted, "LINE_LOAD", act_evict_own);
    limits_begin_with(&planted.protocol, 0, 4);
    (void) bench_place(0, 0, A, "LINE_V");
    gpc_index_t load = bench_message(GPC_MSG_LOAD, A, 1);
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, load), GPC_ERROR_PROTOCOL);
    CHECK(strstr(bench.failure.text, "line 0x1000: an action in state LINE_V (cause 0)") != NULL);
    CHECK(strstr(bench.failure.text, "takes a step of the same object, in state LINE_V (cause") != NULL);
    CHECK(bench.unit.step == NULL);
    gpc_pool_give(&bench.messages, load);
    limits_end();
}

GPC_ACTION(act_hit_without_a_message, "planted: completes what is not there")
{
    return gpc_complete(x, x->message, gpc_line_words(x), x->msg->mask == 0);
}

GPC_ACTION(act_answer_without_a_message, "planted: answers what is not there")
{
    return gpc_send(x, gpc_new_answer(x, x->message, LIMITS_ACK));
}

GPC_ACTION(act_keep_no_message, "planted: keeps what is not there")
{
    return gpc_keep_pending(x);
}

TEST(an_action_without_the_message_that_it_needs_is_an_error)
{
    const gpc_action_t *const actions[] = {act_hit_without_a_message, act_answer_without_a_message,
                                           act_keep_no_message};
    for (size_t i = 0; i < GPC_COUNT_OF(actions); i++) {
        planted_t planted;
        plant(&planted, "LINE_EVICT", actions[i]);
        limits_begin_with(&planted.protocol, 0, 4);
        (void) bench_place(0, 0, A, "LINE_V");
        CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EVICT, A), GPC_ERROR_PROTOCOL);
        CHECK(strstr(bench.failure.text, "an action has no message to") != NULL);
        limits_end();
    }
}

/* ---- variants ---------------------------------------------------------------------------------------------------- */

TEST(an_option_chooses_the_table_that_is_declared_for_its_value)
{
    gpc_controller_type_t type = *prototype_limits.controllers[LIMITS_LINES];
    gpc_protocol_t protocol = prototype_limits;
    gpc_table_t other = *type.tables[0];
    other.name = "other";

    type.variants[0] = (gpc_variant_t){.table = 0, .option = 2, .value = 1, .by = &other};
    protocol.controllers[0] = &type;
    limits_begin_with(&protocol, 0, 4);
    CHECK_EQUAL_TEXT(bench.unit.type->tables[0]->name, type.tables[0]->name);
    bench.options[2] = 1;
    CHECK_EQUAL_TEXT(gpc_protocol_resolve(&protocol, bench.options, &bench.arena)->controllers[0]->tables[0]->name,
                     "other");
    limits_end();
}
