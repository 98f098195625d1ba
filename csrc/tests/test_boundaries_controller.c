/* test_boundaries_controller.c: are requests, entries and timers dispatched to the table that `route` names, do entries
 * act by themselves, and do they wait for transactions? One controller with a table over each kind of object. */
#include "tests/controller_bench.h"
#include "tests/places.h"

/* ---- the prototype ----------------------------------------------------------------------------------------------- */

#define MESSAGES(X, P) X(P, GET, REQ, 0, 8, 0, false, "") X(P, PUT, ST, 0, 8, 4, false, "") X(P, ACK, ST, 1, 8, 0, false, "")
GPC_MESSAGES(MSG, MESSAGES)

enum { LINES, UNIT, BUFFER }; /* tables */
enum { A = 0x1000, B = 0x1040 };

#define LINE_STATES(X) X(L_I, STABLE, "") X(L_T, TRANSIENT_CACHE, "")
#define LINE_EVENTS(X) X(L_LOAD, "") X(L_ACK, "") X(L_DRAIN, "an entry drains through the line's table")
GPC_FSM(L, LINE_STATES, LINE_EVENTS)

GPC_ACTION(act_keep_pending, "")
{
    return gpc_keep_pending(x);
}

GPC_ACTION(act_complete_pending, "")
{
    return gpc_complete_pending(x, NULL);
}

static const gpc_cell_t line_cells[L_NUM_STATES][L_NUM_EVENTS] = {
    [L_I] = {[L_LOAD] = GO(L_T, act_keep_pending), [L_DRAIN] = GO(L_I)},
    [L_T] = {[L_LOAD] = HOLD_LINE, [L_ACK] = GO(L_I, act_complete_pending), [L_DRAIN] = HOLD_LINE},
};

#define UNIT_STATES(X) X(U_CLOSED, STABLE, "atomics wait") X(U_OPEN, STABLE, "atomics complete")
#define UNIT_EVENTS(X) X(U_ATOMIC, "") X(U_TIMER, "") X(U_RELEASE, "everything in the unit's list is taken again")
GPC_FSM(U, UNIT_STATES, UNIT_EVENTS)

GPC_ACTION(act_complete, "")
{
    return gpc_complete(x, x->message, NULL, true);
}

#define UNIT_FIELDS(FIELD) FIELD(REQUEST, gpc_list_t, held)
GPC_DESCRIBE(prototype, unit, UNIT_FIELDS)

GPC_ACTION(act_replay_held, "")
{
    return gpc_replay_list(x, &((prototype_unit_t *) x->unit->unit_fields)->held);
}

static const gpc_cell_t unit_cells[U_NUM_STATES][U_NUM_EVENTS] = {
    [U_CLOSED] = {[U_ATOMIC] = HOLD_QUEUE, [U_TIMER] = GO(U_OPEN), [U_RELEASE] = GO(U_OPEN, act_replay_held)},
    [U_OPEN] = {[U_ATOMIC] = GO(U_OPEN, act_complete), [U_TIMER] = GO(U_CLOSED)},
};

#define ENTRY_STATES(X) X(E_FREE, STABLE, "") X(E_OPEN, STABLE, "") X(E_SENT, TRANSIENT_COHERENCE, "")
#define ENTRY_EVENTS(X) X(E_STORE, "") X(E_DRAIN, "") X(E_DRAIN_BUSY, "") X(E_PUT, "")
GPC_FSM(E, ENTRY_STATES, ENTRY_EVENTS)

static gpc_event_id_t
entry_classify(const gpc_step_t *x)
{
    if (x->cause == GPC_MSG_REPLAY) {
        return x->mshr == GPC_NONE ? E_DRAIN : E_DRAIN_BUSY;
    }
    return x->cause == GPC_MSG_STORE ? E_STORE : E_PUT;
}

GPC_ACTION(act_note, "")
{
    ((bench_world_t *) x->unit->world)->noted = x->line;
    return GPC_OK;
}

GPC_ACTION(act_need_room, "")
{
    return x->unit->ports->room(x->unit->world, x->unit, 0) ? GPC_OK : GPC_HOLD;
}

GPC_ACTION(act_ask_line, "")
{
    return gpc_entry_line(x, LINES, GPC_MSG_RELEASE, 1);
}

GPC_ACTION(act_take_entry, "")
{
    return gpc_take_entry(x);
}

GPC_ACTION(act_send, "")
{
    gpc_msg_t *msg = gpc_new_request(x, MSG_PUT);
    msg->mask = 1;
    return gpc_send(x, msg);
}

static const gpc_cell_t entry_cells[E_NUM_STATES][E_NUM_EVENTS] = {
    [E_FREE] = {[E_STORE] = GO(E_OPEN, act_take_entry)},
    [E_OPEN] = {[E_STORE] = GO(E_OPEN, act_note),
                [E_DRAIN] = GO(E_SENT, act_need_room, act_note, act_send),
                [E_DRAIN_BUSY] = HOLD_LINE},
    [E_SENT] = {[E_PUT] = GO(E_FREE, act_note), [E_DRAIN] = GO(E_OPEN), [E_DRAIN_BUSY] = GO(E_OPEN, act_ask_line)},
};

static const gpc_table_t lines = {
    GPC_TABLE("L1", OVER_LINES, L, line_cells, NULL),
    .causes = {ON(GPC_MSG_LOAD, L_LOAD), ON(MSG_ACK, L_ACK), ON(GPC_MSG_RELEASE, L_DRAIN)}};
static const gpc_table_t over_unit = {
    GPC_TABLE("L1.unit", OVER_UNIT, U, unit_cells, NULL),
    .causes = {ON(GPC_MSG_ATOMIC, U_ATOMIC), ON(GPC_MSG_TIMER, U_TIMER), ON(GPC_MSG_RELEASE, U_RELEASE)}};
static const gpc_table_t buffer = {GPC_TABLE("L1.buffer", OVER_ENTRIES, E, entry_cells, entry_classify)};

static uint8_t
route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    (void) unit;
    switch (msg->type) {
        case GPC_MSG_ATOMIC:
        case GPC_MSG_TIMER:
            return UNIT;
        case GPC_MSG_STORE:
        case MSG_PUT: /* of another core, to the entry of the line */
            return BUFFER;
        default:
            return LINES;
    }
}

PLACES(four, 4)

#define NO_FIELDS(FIELD)
GPC_DESCRIBE(prototype, entry, NO_FIELDS)

static const gpc_controller_type_t type = {
    .name = "L1",
    .position = GPC_AT_CORE,
    .tables = {&lines, &over_unit, &buffer},
    .arrays = {{.name = "tags", .has_data = true}},
    .parts = {{.name = "buffer", .entry = prototype_entry_described, .capacity = four, .steps = 2}},
    .unit = prototype_unit_described,
    .route = route,
};
static const gpc_protocol_t protocol = {.id = "prototype",
                                        .controllers = {&type},
                                        GPC_MESSAGES_OF(MSG),
                                        .networks = {{.name = "request", .requests = true}, {.name = "response"}}};

/* ---- a bench with this controller -------------------------------------------------------------------------------- */

static void
begin(void)
{
    bench_begin(&protocol, 0, &bench_small_machine);
}

static gpc_index_t
message(uint8_t its_type, gpc_address_t line)
{
    return bench_message(its_type, line, 1);
}

static int
take(uint8_t its_type, gpc_address_t line)
{
    return gpc_controller_take(&bench.unit, message(its_type, line));
}

static gpc_index_t
open_entry(gpc_address_t line)
{
    gpc_part_t *part = &bench.unit.parts[0];
    gpc_index_t entry = gpc_part_take(part, line);
    part->states[entry] = E_OPEN;
    return entry;
}

/* ---- dispatch ---------------------------------------------------------------------------------------------------- */

TEST(a_replayed_request_goes_to_the_unit_table_that_route_names)
{
    begin();
    bench.unit.unit_states[UNIT] = U_OPEN;
    gpc_list_push(bench.unit.replay, &bench.messages, message(GPC_MSG_ATOMIC, A));
    CHECK_EQUAL_I64(gpc_controller_replay(&bench.unit), GPC_OK);
    CHECK_EQUAL_U64(bench.world.completions, 1);
}

TEST(a_replayed_request_that_a_unit_table_holds_stays_first)
{
    begin();
    gpc_list_push(bench.unit.replay, &bench.messages, message(GPC_MSG_ATOMIC, A));
    gpc_list_push(bench.unit.replay, &bench.messages, message(GPC_MSG_LOAD, A));
    CHECK_EQUAL_I64(gpc_controller_replay(&bench.unit), GPC_HELD_QUEUE);
    CHECK_EQUAL_U64(bench.unit.replay->count, 2);
    CHECK_EQUAL_U64(gpc_msg_at(&bench.messages, bench.unit.replay->head)->type, GPC_MSG_ATOMIC);
}

TEST(a_forward_passes_requests_of_the_core_that_are_refused)
{
    begin();
    (void) open_entry(A);
    gpc_list_push(bench.unit.replay, &bench.messages, message(GPC_MSG_ATOMIC, A));
    bench.unit.parts[0].states[open_entry(B)] = E_SENT;
    CHECK_EQUAL_I64(take(MSG_PUT, B), GPC_OK);
    CHECK_EQUAL_U64(bench.world.noted, B);
    CHECK_EQUAL_U64(bench.unit.statistics->stores, 0); /* it is no store of this core */
    gpc_index_t own = message(GPC_MSG_LOAD, B);
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, own), GPC_HELD_QUEUE);
    gpc_free_message(&bench.unit, own);
}

TEST(a_replayed_forward_passes_requests_of_the_core_that_are_refused)
{
    begin();
    bench.unit.parts[0].states[open_entry(B)] = E_SENT;
    gpc_list_push(bench.unit.replay, &bench.messages, message(GPC_MSG_ATOMIC, A));
    gpc_list_push(bench.unit.replay, &bench.messages, message(MSG_PUT, B));
    gpc_list_push(bench.unit.replay, &bench.messages, message(GPC_MSG_LOAD, A));
    gpc_index_t second = message(MSG_PUT, A);
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, second), GPC_HELD_QUEUE); /* forwards keep their order */
    gpc_free_message(&bench.unit, second);
    CHECK_EQUAL_I64(gpc_controller_replay(&bench.unit), GPC_OK);
    CHECK_EQUAL_U64(bench.world.noted, B);
    CHECK_EQUAL_U64(bench.unit.replay->count, 2);
    CHECK_EQUAL_U64(gpc_msg_at(&bench.messages, bench.unit.replay->head)->type, GPC_MSG_ATOMIC);
    CHECK_EQUAL_I64(gpc_controller_replay(&bench.unit), GPC_HELD_QUEUE); /* there is no other */
    CHECK_EQUAL_U64(bench.unit.replay->count, 2);
}

TEST(a_message_to_a_table_over_entries_finds_the_newest_entry_of_its_line)
{
    begin();
    gpc_index_t older = open_entry(A), newer = open_entry(A);
    bench.unit.parts[0].states[newer] = E_SENT;
    CHECK_EQUAL_I64(take(MSG_PUT, A), GPC_OK);
    CHECK_EQUAL_U64(bench.world.noted, A);
    CHECK_EQUAL_U64(bench.unit.parts[0].states[older], E_OPEN);
    CHECK_EQUAL_U64(bench.unit.parts[0].states[newer], E_FREE);
}

TEST(a_message_without_an_entry_is_a_reported_error_unless_the_table_has_a_cell_for_it)
{
    begin();
    CHECK_EQUAL_I64(take(MSG_PUT, A), GPC_ERROR_PROTOCOL);
    CHECK(strstr(bench.failure.text, "L1.buffer") != NULL);
    CHECK(strstr(bench.failure.text, "E_FREE") != NULL);
}

TEST(a_line_step_by_another_table_parks_its_message_on_the_line)
{
    begin();
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, A), GPC_OK);
    gpc_index_t second = message(GPC_MSG_LOAD, A);
    CHECK_EQUAL_I64(gpc_controller_line(&bench.unit, LINES, GPC_MSG_LOAD, A, 1, second), GPC_OK);
    CHECK_EQUAL_U64(gpc_mshr_at(&bench.unit.mshrs, gpc_mshr_find(&bench.unit.mshrs, A))->waiters.count, 1);
    CHECK_EQUAL_I64(take(MSG_ACK, A), GPC_OK);
    CHECK_EQUAL_U64(bench.unit.replay->count, 1);
}

TEST(a_unit_timer_reaches_its_table_although_table_0_is_over_lines)
{
    begin();
    CHECK_EQUAL_I64(take(GPC_MSG_TIMER, GPC_NEVER), GPC_OK);
    CHECK_EQUAL_U64(bench.unit.unit_states[UNIT], U_OPEN);
}

/* ---- entries that act -------------------------------------------------------------------------------------------- */

TEST(an_entry_step_is_about_the_line_of_the_entry_and_may_send_a_request)
{
    begin();
    gpc_index_t entry = open_entry(B);
    CHECK_EQUAL_I64(gpc_controller_entry(&bench.unit, BUFFER, 0, entry, GPC_MSG_REPLAY, GPC_NONE), GPC_OK);
    CHECK_EQUAL_U64(bench.world.noted, B);
    CHECK_EQUAL_U64(bench.world.sends, 1);
    CHECK_EQUAL_U64(bench.world.sent_type, MSG_PUT);
}

TEST(a_store_without_an_entry_takes_one_until_the_part_is_full)
{
    begin();
    for (gpc_address_t line = 0; line < 4 * 64; line += 64) {
        CHECK_EQUAL_I64(take(GPC_MSG_STORE, line), GPC_OK);
    }
    CHECK_EQUAL_I64(take(GPC_MSG_STORE, A), GPC_HELD_QUEUE);
    CHECK_EQUAL_U64(bench.unit.parts[0].order->count, 4);
    CHECK_EQUAL_I64(take(GPC_MSG_STORE, 0), GPC_OK); /* joins its line's entry */
}

TEST(ready_entries_take_as_many_steps_a_cycle_as_the_part_declares)
{
    begin();
    gpc_part_t *part = &bench.unit.parts[0];
    gpc_index_t first = open_entry(A), second = open_entry(B), third = open_entry(0);
    CHECK_EQUAL_I64(gpc_part_ready(part, third), GPC_OK);
    CHECK_EQUAL_I64(gpc_part_ready(part, first), GPC_OK);
    CHECK_EQUAL_I64(gpc_part_ready(part, second), GPC_OK);
    CHECK_EQUAL_I64(gpc_part_ready(part, first), GPC_OK); /* it is ready already */
    CHECK_EQUAL_U64(bench.world.schedules, 3);
    CHECK_EQUAL_I64(gpc_controller_serve_ready(&bench.unit), GPC_OK);
    CHECK_EQUAL_U64(bench.world.sends, 2);
    CHECK_EQUAL_U64(part->states[third], E_SENT);
    CHECK_EQUAL_U64(part->states[second], E_OPEN);
    CHECK_EQUAL_I64(gpc_controller_serve_ready(&bench.unit), GPC_OK);
    CHECK_EQUAL_U64(bench.world.sends, 3);
    CHECK_EQUAL_U64(*bench.unit.ready, 0);
}

TEST(entries_of_one_bank_take_its_steps_and_others_theirs)
{
    begin();
    const gpc_controller_type_t *whole = bench.unit.type;
    gpc_controller_type_t banked = *whole;
    banked.parts[0].banks = 2;
    banked.parts[0].steps = 1;
    bench.unit.type = &banked;
    gpc_part_t *part = &bench.unit.parts[0];
    gpc_index_t even = open_entry(A), odd = open_entry(B), also_even = open_entry(0);
    CHECK_EQUAL_I64(gpc_part_ready(part, even), GPC_OK);
    CHECK_EQUAL_I64(gpc_part_ready(part, also_even), GPC_OK);
    CHECK_EQUAL_I64(gpc_part_ready(part, odd), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_serve_ready(&bench.unit), GPC_OK);
    CHECK_EQUAL_U64(bench.world.sends, 2);
    CHECK_EQUAL_U64(part->states[even], E_SENT);
    CHECK_EQUAL_U64(part->states[odd], E_SENT);
    CHECK_EQUAL_U64(part->states[also_even], E_OPEN);
    CHECK_EQUAL_I64(gpc_controller_serve_ready(&bench.unit), GPC_OK);
    CHECK_EQUAL_U64(part->states[also_even], E_SENT);
    bench.unit.type = whole;
}

TEST(a_refused_entry_stays_first_and_is_retried)
{
    begin();
    gpc_part_t *part = &bench.unit.parts[0];
    gpc_index_t first = open_entry(A), second = open_entry(B);
    CHECK_EQUAL_I64(gpc_part_ready(part, first), GPC_OK);
    CHECK_EQUAL_I64(gpc_part_ready(part, second), GPC_OK);
    bench.world.full = true;
    CHECK_EQUAL_I64(gpc_controller_serve_ready(&bench.unit), GPC_HELD_QUEUE);
    CHECK_EQUAL_U64(part->ready->head, first);
    CHECK_EQUAL_U64(part->ready->tail, second);
    bench.world.full = false;
    CHECK_EQUAL_I64(gpc_controller_serve_ready(&bench.unit), GPC_OK);
    CHECK_EQUAL_U64(bench.world.sends, 2);
}

TEST(an_entry_that_leaves_its_part_is_not_ready_any_longer)
{
    begin();
    gpc_part_t *part = &bench.unit.parts[0];
    gpc_index_t entries[] = {open_entry(A), open_entry(B), open_entry(0)};
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL_I64(gpc_part_ready(part, entries[i]), GPC_OK);
    }
    gpc_part_give(part, entries[2]);
    gpc_part_give(part, entries[0]);
    CHECK_EQUAL_U64(*bench.unit.ready, 1);
    CHECK_EQUAL_I64(gpc_controller_serve_ready(&bench.unit), GPC_OK);
    CHECK_EQUAL_U64(bench.world.noted, B);
    CHECK_EQUAL_U64(*bench.unit.ready, 0);
}

/* ---- entries that wait for a transaction ------------------------------------------------------------------------- */

TEST(an_entry_waits_for_its_line_and_is_ready_when_the_transaction_changes)
{
    begin();
    gpc_part_t *part = &bench.unit.parts[0];
    gpc_index_t busy = open_entry(A), other = open_entry(B);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, A), GPC_OK);
    CHECK_EQUAL_I64(gpc_part_ready(part, busy), GPC_OK);
    CHECK_EQUAL_I64(gpc_part_ready(part, other), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_serve_ready(&bench.unit), GPC_OK);
    CHECK(!gpc_part_is_ready(part, busy));
    CHECK_EQUAL_U64(bench.world.noted, B); /* the next entry has acted */
    CHECK_EQUAL_I64(gpc_part_ready(part, busy), GPC_OK);
    CHECK(!gpc_part_is_ready(part, busy)); /* it waits */
    CHECK_EQUAL_I64(take(MSG_ACK, A), GPC_OK);
    CHECK(gpc_part_is_ready(part, busy));
    CHECK_EQUAL_I64(gpc_controller_serve_ready(&bench.unit), GPC_OK);
    CHECK_EQUAL_U64(bench.world.noted, A);
    CHECK_EQUAL_U64(bench.world.sends, 2);
}

TEST(an_entry_waits_where_its_step_of_the_lines_table_does)
{
    begin();
    gpc_part_t *part = &bench.unit.parts[0];
    gpc_index_t entries[] = {open_entry(A), open_entry(A), open_entry(A)};
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, A), GPC_OK);
    for (int i = 0; i < 3; i++) {
        part->states[entries[i]] = E_SENT;
        CHECK_EQUAL_I64(gpc_part_ready(part, entries[i]), GPC_OK);
    }
    CHECK_EQUAL_I64(gpc_controller_serve_ready(&bench.unit), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_serve_ready(&bench.unit), GPC_OK);
    CHECK_EQUAL_U64(*bench.unit.ready, 0);
    CHECK_EQUAL_U64(part->states[entries[0]], E_SENT);
    gpc_part_give(part, entries[1]); /* while it waits */
    CHECK_EQUAL_I64(take(MSG_ACK, A), GPC_OK);
    CHECK_EQUAL_U64(part->ready->count, 2);
    CHECK_EQUAL_U64(part->ready->head, entries[0]);
    CHECK_EQUAL_U64(part->ready->tail, entries[2]);
}

TEST(an_entry_that_remains_at_rest_is_reported)
{
    begin();
    (void) open_entry(A);
    CHECK_EQUAL_I64(gpc_controller_verify(&bench.unit, false), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_verify(&bench.unit, true), GPC_ERROR_CONSERVATION);
}

/* In the array's last way, which no other line precedes. */
TEST(a_way_that_remains_reserved_at_rest_is_reported)
{
    begin();
    gpc_tags_t *tags = &bench.unit.arrays[0];
    gpc_index_t last = tags->sets * tags->ways - 1;
    gpc_address_t line = 0;
    while (gpc_tags_set_of(tags, line) != tags->sets - 1) {
        line += 4 * tags->line_words;
    }
    gpc_tags_place(tags, last, line, 0);
    CHECK_EQUAL_I64(gpc_controller_verify(&bench.unit, true), GPC_OK);
    tags->tags[last].mshr = 0;
    CHECK_EQUAL_I64(gpc_controller_verify(&bench.unit, true), GPC_ERROR_CONSERVATION);
    gpc_tags_drop(tags, last);
}

static size_t
encoded(uint8_t *bytes)
{
    gpc_encoder_t encoder = {.bytes = bytes, .capacity = 512, .messages = &bench.messages};
    gpc_controller_encode(&bench.unit, &encoder);
    CHECK(!encoder.overflow);
    return encoder.length;
}

/* A line with an entry, then with a ready one. */
static size_t
encode_ready(gpc_index_t entry, uint8_t bytes[2][512])
{
    size_t length = encoded(bytes[0]);
    CHECK_EQUAL_I64(gpc_part_ready(&bench.unit.parts[0], entry), GPC_OK);
    CHECK(encoded(bytes[1]) != length || memcmp(bytes[0], bytes[1], length) != 0);
    return encoded(bytes[1]);
}

/* The encoding leaves out the entry's place in the pool and includes whether it is ready or waits. */
TEST(ready_and_waiting_entries_are_part_of_the_encoded_state)
{
    static uint8_t one[2][512], other[2][512];
    begin();
    size_t length = encode_ready(open_entry(A), one);
    begin();
    gpc_part_give(&bench.unit.parts[0], open_entry(B));
    gpc_index_t spare = open_entry(B), same = open_entry(A);
    gpc_part_give(&bench.unit.parts[0], spare);
    CHECK_EQUAL_U64(encode_ready(same, other), length);
    CHECK(memcmp(one, other, sizeof(one)) == 0);
}

/* ---- lists of a protocol's own ----------------------------------------------------------------------------------- */

TEST(a_list_of_the_units_own_is_taken_again_in_order)
{
    begin();
    gpc_list_t *held = &((prototype_unit_t *) bench.unit.unit_fields)->held;
    gpc_list_clear(held);
    gpc_list_push(held, &bench.messages, message(GPC_MSG_ATOMIC, A));
    gpc_list_push(held, &bench.messages, message(GPC_MSG_LOAD, B));
    CHECK_EQUAL_I64(gpc_controller_unit(&bench.unit, UNIT, GPC_MSG_RELEASE, GPC_NONE), GPC_OK);
    CHECK_EQUAL_U64(bench.world.schedules, 1);
    CHECK_EQUAL_U64(bench.unit.replay->count, 2);
    CHECK_EQUAL_I64(gpc_controller_replay(&bench.unit), GPC_OK);
    CHECK_EQUAL_U64(bench.world.completions, 1);
    CHECK_EQUAL_I64(gpc_controller_replay(&bench.unit), GPC_OK);
    CHECK(gpc_mshr_find(&bench.unit.mshrs, B) != GPC_NONE);
}
