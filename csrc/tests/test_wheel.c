/* test_wheel.c: does the event wheel keep the exact order (tick, priority, target, kind), near and far, in whatever
 * order events are scheduled? */
#include "base/errors.h"
#include "engine/schedule.h"
#include "engine/wheel.h"
#include "harness.h"
#include "random.h"

enum { CAPACITY = 4096 };

static gpc_arena_t arena;
static gpc_wheel_t wheel;

static void
begin(uint32_t capacity)
{
    gpc_arena_free(&arena);
    gpc_arena_init(&arena, 1u << 16);
    CHECK_EQUAL_I64(gpc_wheel_init(&wheel, &arena, capacity), 0);
}

static void
add(gpc_tick_t tick, uint8_t priority, uint32_t name)
{
    CHECK_EQUAL_I64(gpc_wheel_schedule(&wheel, tick, GPC_EVENT_CORE, priority, name, 0), 0);
}

static uint32_t
next_name(void)
{
    gpc_event_t event;
    return gpc_wheel_next(&wheel, &event) ? event.target : GPC_NONE;
}

TEST(wheel_takes_priority_before_target)
{
    begin(CAPACITY);
    add(5, 3, 1);
    add(5, 0, 30);
    add(5, 3, 0);
    add(5, 0, 31);
    add(4, 3, 2);
    CHECK_EQUAL_U64(next_name(), 2);
    CHECK_EQUAL_U64(next_name(), 30);
    CHECK_EQUAL_U64(next_name(), 31);
    CHECK_EQUAL_U64(next_name(), 0);
    CHECK_EQUAL_U64(next_name(), 1);
    CHECK_EQUAL_U64(next_name(), GPC_NONE);
}

/* 2048 ticks ahead has the list of now. */
TEST(wheel_keeps_an_event_a_window_ahead_apart)
{
    begin(CAPACITY);
    add(2048, 0, 5);
    add(0, 0, 6);
    CHECK_EQUAL_U64(next_name(), 6);
    CHECK_EQUAL_U64(gpc_wheel_now(&wheel), 0);
    add(4096, 0, 3);
    CHECK_EQUAL_U64(next_name(), 5);
    CHECK_EQUAL_U64(gpc_wheel_now(&wheel), 2048);
    add(2048, 0, 4);
    CHECK_EQUAL_U64(next_name(), 4);
    CHECK_EQUAL_U64(next_name(), 3);
    CHECK_EQUAL_U64(gpc_wheel_now(&wheel), 4096);
}

/* At tick 1 the far event is 2047 ticks ahead, and in the same list as an event that is scheduled now. */
TEST(wheel_moves_far_events_when_the_window_reaches_them)
{
    begin(CAPACITY);
    add(1, 0, 0);
    add(2048, 0, 1);
    CHECK_EQUAL_U64(next_name(), 0);
    add(2048, 3, 2);
    CHECK_EQUAL_U64(next_name(), 1);
    CHECK_EQUAL_U64(next_name(), 2);
}

static void
schedule(const gpc_event_t *event)
{
    CHECK_EQUAL_I64(
        gpc_wheel_schedule(&wheel, event->tick, event->kind, event->priority, event->target, event->argument), 0);
}

TEST(wheel_orders_equal_targets_by_kind_then_as_scheduled)
{
    static const gpc_event_t given[] = {
        {.tick = 9, .kind = GPC_EVENT_TIMER, .target = 6, .argument = 0},
        {.tick = 9, .kind = GPC_EVENT_DRAM_ANSWER, .target = 6, .argument = 2},
        {.tick = 9, .kind = GPC_EVENT_DRAM, .target = 6, .argument = 3},
        {.tick = 9, .kind = GPC_EVENT_DRAM_ANSWER, .target = 6, .argument = 1},
    };
    static const uint32_t expected[] = {2, 1, 3, 0}; /* arguments */
    gpc_event_t event = {0};

    begin(CAPACITY);
    for (uint32_t i = 0; i < 4; i++) {
        schedule(&given[i]);
    }
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(gpc_wheel_next(&wheel, &event));
        CHECK_EQUAL_U64(event.argument, expected[i]);
    }
}

TEST(wheel_is_at_the_tick_of_the_event_taken)
{
    begin(CAPACITY);
    add(12345678901234u, 0, 0);
    CHECK_EQUAL_U64(gpc_wheel_now(&wheel), 0);
    CHECK_EQUAL_U64(next_name(), 0);
    CHECK_EQUAL_U64(gpc_wheel_now(&wheel), 12345678901234u);
}

TEST(one_event_too_many_is_an_error_and_not_taken)
{
    begin(3);
    add(1, 0, 1);
    add(99999, 0, 2);
    add(2, 0, 3);
    CHECK_EQUAL_I64(gpc_wheel_schedule(&wheel, 3, 0, 0, 4, 0), GPC_ERROR_CAPACITY);
    CHECK_EQUAL_U64(gpc_wheel_count(&wheel), 3);
    CHECK_EQUAL_U64(next_name(), 1);
    add(3, 0, 4);
    CHECK_EQUAL_U64(next_name(), 3);
    CHECK_EQUAL_U64(next_name(), 4);
    CHECK_EQUAL_U64(next_name(), 2);
}

TEST(clear_drops_near_and_far_and_keeps_now)
{
    begin(CAPACITY);
    add(10, 0, 0);
    CHECK_EQUAL_U64(next_name(), 0);
    add(11, 0, 1);
    add(11, 0, 2);
    add(1000000, 0, 3);
    gpc_wheel_clear(&wheel);
    CHECK_EQUAL_U64(gpc_wheel_count(&wheel), 0);
    CHECK_EQUAL_U64(wheel.events.state->in_use, 0);
    CHECK_EQUAL_U64(gpc_wheel_now(&wheel), 10);
    CHECK_EQUAL_U64(next_name(), GPC_NONE);
    add(12, 0, 4);
    CHECK_EQUAL_U64(next_name(), 4);
}

/* ---- edge events ------------------------------------------------------------------------------------------------- */

enum { PERIOD = 6, LONG_PERIOD = 48, TARGETS = 150, EDGE_PRIORITY = 2 };

static gpc_tick_t
    period; /* of the edge events: with the long one fewer cycles than the ring has are inside the window */

static void
begin_edges(gpc_tick_t ticks)
{
    begin(CAPACITY);
    period = ticks;
    CHECK_EQUAL_I64(gpc_wheel_declare_edges(&wheel, &arena, GPC_EVENT_CORE, EDGE_PRIORITY, period, TARGETS), 0);
}

static bool
add_edge(gpc_tick_t tick, uint32_t target)
{
    bool joined;
    CHECK_EQUAL_I64(gpc_wheel_schedule_edge(&wheel, tick / period, target, &joined), 0);
    return joined;
}

TEST(wheel_has_one_near_edge_of_a_target_and_tick)
{
    begin_edges(PERIOD);
    CHECK(!add_edge(12, 149));
    CHECK(!add_edge(12, 3));
    CHECK(add_edge(12, 149));
    CHECK(!add_edge(18, 149));
    CHECK(!add_edge(12000, 149));
    CHECK_EQUAL_U64(gpc_wheel_count(&wheel), 4);
    CHECK_EQUAL_U64(next_name(), 3);
    gpc_wheel_clear(&wheel);
    CHECK_EQUAL_U64(gpc_wheel_count(&wheel), 0);
    CHECK_EQUAL_U64(next_name(), GPC_NONE);
    CHECK(!add_edge(12, 149));
    CHECK_EQUAL_U64(next_name(), 149);
}

static bool
goes_first(const gpc_event_t *a, const gpc_event_t *b)
{
    if (a->tick != b->tick) {
        return a->tick < b->tick;
    }
    if (a->priority != b->priority) {
        return a->priority < b->priority;
    }
    if (a->target != b->target) {
        return a->target < b->target;
    }
    return a->kind != b->kind ? a->kind < b->kind : a->argument < b->argument;
}

/* A plain list searched for its first is the oracle. Arguments ascend. With `edges`, their period, every other event is
 * an edge event: near and far, of the running tick too, between all priorities. */
static void
compare_with_a_plain_list(gpc_tick_t edges, uint32_t targets)
{
    static gpc_event_t list[CAPACITY];
    uint32_t count = 0, wrong = 0;
    edges ? begin_edges(edges) : begin(CAPACITY);
    for (uint32_t step = 0; step < 300000 && wrong == 0; step++) {
        uint64_t reach = random_below(4) == 0 ? 20000 + 40 * edges * 64 : random_below(3) ? 12 : 2100;
        if (count < 64 && (count == 0 || random_below(2))) {
            gpc_event_t event = {.tick = gpc_wheel_now(&wheel) + random_below(reach),
                                 .target = (uint32_t) random_below(targets)};
            bool joined = false;
            if (edges && random_below(2)) {
                event.tick = (event.tick + period - 1) / period * period;
                event.kind = GPC_EVENT_CORE;
                event.priority = EDGE_PRIORITY;
                joined = add_edge(event.tick, event.target);
            } else {
                event.kind = GPC_EVENT_OUTBOX;
                event.priority = (uint8_t) random_below(4);
                event.argument = step;
                schedule(&event);
            }
            list[count] = event;
            count += !joined;
            continue;
        }
        uint32_t first = 0;
        for (uint32_t i = 1; i < count; i++) {
            first = goes_first(&list[i], &list[first]) ? i : first;
        }
        gpc_event_t event = {0};
        wrong += gpc_wheel_count(&wheel) != count || !gpc_wheel_next(&wheel, &event) ||
                 goes_first(&event, &list[first]) || goes_first(&list[first], &event);
        list[first] = list[--count];
    }
    CHECK_EQUAL_U64(wrong, 0);
}

TEST(wheel_orders_random_events_as_a_plain_list)
{
    compare_with_a_plain_list(0, 8);
}

TEST(wheel_orders_edges_and_other_events_as_a_plain_list)
{
    compare_with_a_plain_list(PERIOD, TARGETS);
    compare_with_a_plain_list(LONG_PERIOD, TARGETS);
}

TEST(wheel_takes_near_edges_and_listed_events_apart)
{
    gpc_event_t event;
    gpc_cycle_t cycle;
    uint32_t target;
    begin_edges(PERIOD);
    CHECK(!add_edge(12, 70));
    schedule(&(gpc_event_t){.tick = 12, .priority = EDGE_PRIORITY + 1, .target = 5, .kind = GPC_EVENT_OUTBOX});
    CHECK(!gpc_wheel_holds_only(&wheel, 1));
    CHECK(!gpc_wheel_holds_only(&wheel, 2));
    CHECK(gpc_wheel_take_edge(&wheel, &cycle, &target));
    CHECK_EQUAL_U64(cycle, 2);
    CHECK_EQUAL_U64(target, 70);
    CHECK_EQUAL_U64(gpc_wheel_now(&wheel), 12);
    CHECK(gpc_wheel_holds_only(&wheel, 1));
    CHECK(!gpc_wheel_take_edge(&wheel, &cycle, &target));
    CHECK(gpc_wheel_take_listed(&wheel, &event));
    CHECK_EQUAL_U64(event.target, 5);
    CHECK(!gpc_wheel_take_edge(&wheel, &cycle, &target));
    CHECK(!gpc_wheel_take_listed(&wheel, &event));
}

/* Events of two ticks, near and far: all targets of all kinds that share a priority. */
static uint32_t
make_events(gpc_event_t *events)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < 2 * GPC_WHEEL_PRIORITIES * GPC_NUM_EVENT_KINDS * 5; i++) {
        events[count++] = (gpc_event_t){.tick = i % 2 ? 40 : 4000,
                                        .priority = (uint8_t) (i / 2 % GPC_WHEEL_PRIORITIES),
                                        .kind = (uint8_t) (i / 8 % GPC_NUM_EVENT_KINDS),
                                        .target = i / 8 / GPC_NUM_EVENT_KINDS,
                                        .argument = i};
    }
    return count;
}

TEST(wheel_order_does_not_depend_on_scheduling)
{
    static gpc_event_t events[2 * GPC_WHEEL_PRIORITIES * GPC_NUM_EVENT_KINDS * 5];
    static uint32_t first[sizeof(events) / sizeof(events[0])];
    uint32_t count = make_events(events), differ = 0;

    for (uint32_t run = 0; run < 50; run++) {
        begin(CAPACITY);
        for (uint32_t i = 0; i < count; i++) {
            schedule(&events[i]);
        }
        for (uint32_t i = 0; i < count; i++) {
            gpc_event_t event = {0};
            CHECK(gpc_wheel_next(&wheel, &event));
            first[i] = run == 0 ? event.argument : first[i];
            differ += event.argument != first[i];
        }
        for (uint32_t i = count - 1; i > 0; i--) { /* another order */
            uint32_t other = (uint32_t) random_below(i + 1);
            gpc_event_t moved = events[i];
            events[i] = events[other];
            events[other] = moved;
        }
    }
    CHECK_EQUAL_U64(differ, 0);
}

TEST(a_saved_arena_replays_the_same_events)
{
    begin(CAPACITY);
    for (uint32_t i = 0; i < 1000; i++) {
        add(random_below(5000), (uint8_t) random_below(4), i);
    }
    uint8_t *saved = malloc(gpc_arena_bytes(&arena));
    REQUIRE(saved != NULL);
    gpc_arena_save(&arena, saved);
    uint32_t first[1000], differ = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        first[i] = next_name();
    }
    gpc_arena_load(&arena, saved);
    for (uint32_t i = 0; i < 1000; i++) {
        differ += next_name() != first[i];
    }
    CHECK_EQUAL_U64(differ, 0);
    free(saved);
}

TEST(clock_of_all_is_the_least_common_multiple_up_to_2_to_the_40)
{
    CHECK_EQUAL_U64(gpc_clock_common_hz((const uint32_t[]){1400, 700, 924}, 3), 46200000000u);
    CHECK_EQUAL_U64(gpc_clock_common_hz((const uint32_t[]){1000, 1000}, 2), 1000000000u);
    CHECK_EQUAL_U64(gpc_clock_common_hz((const uint32_t[]){1048576 / 2, 3}, 2), 0);          /* 1572864 MHz */
    CHECK_EQUAL_U64(gpc_clock_common_hz((const uint32_t[]){1099511, 1}, 2), 1099511000000u); /* just below */
    CHECK_EQUAL_U64(gpc_clock_common_hz((const uint32_t[]){1099512, 1}, 2), 0);
    CHECK_EQUAL_U64(gpc_clock_common_hz((const uint32_t[]){4294967291u, 4294967279u, 4294967231u}, 3), 0);
    CHECK_EQUAL_U64(gpc_clock_common_hz((const uint32_t[]){700, 0}, 2), 0);
}

/* Periods that are powers of two and others take different paths. */
TEST(clock_edges_are_at_or_after_and_strictly_after)
{
    static const struct {
        gpc_tick_t period, tick, edge, next;
        uint64_t cycles;
    } cases[] = {{3, 6, 6, 9, 2},    {3, 7, 9, 9, 2}, {3, 8, 9, 9, 2}, {4, 8, 8, 12, 2}, {4, 9, 12, 12, 2},
                 {4, 11, 12, 12, 2}, {1, 5, 5, 6, 5}, {2, 0, 0, 2, 0}, {6, 5, 6, 6, 0}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gpc_clock_t clock = {.period = cases[i].period};
        CHECK_EQUAL_U64(gpc_clock_edge(clock, cases[i].tick), cases[i].edge);
        CHECK_EQUAL_U64(gpc_clock_next_edge(clock, cases[i].tick), cases[i].next);
        CHECK_EQUAL_U64(gpc_clock_cycles(clock, cases[i].tick), cases[i].cycles);
    }
}

/* ---- looking, without taking ------------------------------------------------------------------------------------- */

static bool
has(gpc_tick_t tick, uint8_t kind, uint8_t priority, uint32_t target)
{
    gpc_schedule_t schedule = {.wheel = &wheel};
    return gpc_schedule_has(&schedule, tick, kind, priority, target);
}

/* The window of near events is 2048 ticks: 2047 is near, 2048 far. */
TEST(schedule_has_events_of_exactly_their_tick_kind_and_target)
{
    static const gpc_tick_t ticks[] = {1, 2047, 2048, 9000};
    for (uint32_t i = 0; i < 4; i++) {
        begin(CAPACITY);
        add(ticks[i], 2, 7);
        add(ticks[i], 2, 9); /* behind it in the list */
        CHECK(has(ticks[i], GPC_EVENT_CORE, 2, 7) && has(ticks[i], GPC_EVENT_CORE, 2, 9));
        CHECK(!has(ticks[i] - 1, GPC_EVENT_CORE, 2, 7) && !has(ticks[i] + 1, GPC_EVENT_CORE, 2, 7));
        CHECK(!has(ticks[i], GPC_EVENT_TIMER, 2, 7) && !has(ticks[i], GPC_EVENT_CORE, 2, 8));
        CHECK(!has(ticks[i], GPC_EVENT_CORE, 1, 7) && !has(GPC_NEVER, GPC_EVENT_CORE, 2, 7));
        CHECK_EQUAL_U64(next_name(), 7);
        CHECK(!has(ticks[i], GPC_EVENT_CORE, 2, 7) && has(ticks[i], GPC_EVENT_CORE, 2, 9));
    }
}

/* Near edges, of words 0 and 1 of a cycle's set, and one beyond the ring of 64 cycles. */
TEST(schedule_has_edges_of_exactly_their_cycle)
{
    begin_edges(PERIOD);
    CHECK(!add_edge(12, 3) && !add_edge(12, 70) && !add_edge(63 * PERIOD, 3) && !add_edge(64 * PERIOD, 3));
    CHECK(has(12, GPC_EVENT_CORE, EDGE_PRIORITY, 3) && has(12, GPC_EVENT_CORE, EDGE_PRIORITY, 70));
    CHECK(!has(12, GPC_EVENT_CORE, EDGE_PRIORITY, 6) && !has(12, GPC_EVENT_TIMER, EDGE_PRIORITY, 3));
    CHECK(!has(18, GPC_EVENT_CORE, EDGE_PRIORITY, 3) && !has(6, GPC_EVENT_CORE, EDGE_PRIORITY, 3));
    CHECK(has(63 * PERIOD, GPC_EVENT_CORE, EDGE_PRIORITY, 3) && has(64 * PERIOD, GPC_EVENT_CORE, EDGE_PRIORITY, 3));
    CHECK(!has(65 * PERIOD, GPC_EVENT_CORE, EDGE_PRIORITY, 3) && !has(0, GPC_EVENT_CORE, EDGE_PRIORITY, 3));
}

/* The event that has been taken and not yet run counts too. */
TEST(schedule_counts_near_far_and_taken_events)
{
    gpc_event_t taken;
    gpc_schedule_t schedule = {.wheel = &wheel, .taken = &taken};
    begin(CAPACITY);
    add(5, 0, 1);
    add(5, 0, 2);
    add(6, 3, 2);
    add(5000, 0, 3);
    CHECK_EQUAL_I64(gpc_wheel_schedule(&wheel, 5000, GPC_EVENT_TIMER, 0, 4, 0), 0);
    CHECK(gpc_wheel_next(&wheel, &taken));
    CHECK_EQUAL_U64(gpc_schedule_count(&schedule, GPC_EVENT_CORE), 4);
    CHECK_EQUAL_U64(gpc_schedule_count(&schedule, GPC_EVENT_TIMER), 1);
    CHECK(gpc_schedule_has(&schedule, 5, GPC_EVENT_CORE, 0, 1));
    CHECK(!gpc_schedule_has(&schedule, 6, GPC_EVENT_CORE, 0, 1));
    schedule.taken = NULL;
    CHECK_EQUAL_U64(gpc_schedule_count(&schedule, GPC_EVENT_CORE), 3);
    CHECK(!gpc_schedule_has(&schedule, 5, GPC_EVENT_CORE, 0, 1));
}

AFTER_TESTS
{
    gpc_arena_free(&arena);
}
