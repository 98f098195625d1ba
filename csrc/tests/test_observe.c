/* test_observe.c: do the subscribers of a stream get the kinds of event that they subscribe to, in order, and only
 * while subscribed? */
#include "base/observe.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"

enum { MOST = 16, FAILURE = -1 };

/* The events received, with their subscribers, in order. */
typedef struct {
    char to[MOST + 1];
    gpc_cycle_t cycle[MOST];
    uint32_t count;
} log_t;

typedef struct one one_t;
struct one {
    gpc_subscriber_t subscriber;
    log_t *log;
    char name;
    one_t *leaves; /* unsubscribes when this one gets an event */
    bool fails;
};

static int
note(void *self, const gpc_observation_t *event)
{
    one_t *one = self;
    if (one->log->count < MOST) {
        one->log->cycle[one->log->count] = event->moment.cycle;
        one->log->to[one->log->count++] = one->name;
    }
    if (one->leaves) {
        gpc_unsubscribe(&one->leaves->subscriber);
    }
    return one->fails ? FAILURE : GPC_OK;
}

/* A stream with three subscribers A, B and C, and a tap. */
typedef struct {
    gpc_stream_t stream;
    gpc_tap_t tap;
    log_t log;
    one_t a, b, c;
} world_t;

static one_t
one_named(world_t *world, one_t *at, char name)
{
    return (one_t){.subscriber = {.observe = note, .self = at}, .log = &world->log, .name = name};
}

static void
begin(world_t *world)
{
    *world = (world_t){.log = {.count = 0}};
    gpc_stream_init(&world->stream);
    gpc_stream_connect(&world->stream, &world->tap);
    world->a = one_named(world, &world->a, 'A');
    world->b = one_named(world, &world->b, 'B');
    world->c = one_named(world, &world->c, 'C');
    gpc_subscribe(&world->stream, &world->a.subscriber, GPC_KIND(BEGAN) | GPC_KIND(ENDED));
    gpc_subscribe(&world->stream, &world->b.subscriber, GPC_KIND(ENDED));
    gpc_subscribe(&world->stream, &world->c.subscriber, GPC_KIND(BEGAN) | GPC_KIND(ENDED));
}

TEST(subscribers_are_told_in_order_of_the_kinds_that_they_asked_for)
{
    world_t world;
    begin(&world);
    CHECK_EQUAL_I64(GPC_OBSERVE(&world.tap, BEGAN, moment, 7), 0);
    CHECK_EQUAL_I64(GPC_OBSERVE(&world.stream.tap, ENDED, moment, 9), 0);
    CHECK_EQUAL_TEXT(world.log.to, "ACABC");
    CHECK_EQUAL_U64(world.log.cycle[0], 7);
    CHECK_EQUAL_U64(world.log.cycle[4], 9);
}

static int
never(bool *called)
{
    *called = true;
    return GPC_OK;
}

TEST(what_nobody_asked_for_is_not_evaluated)
{
    world_t world;
    bool called = false;
    begin(&world);
    CHECK_EQUAL_I64(GPC_OBSERVE(&world.tap, FLASHED, flashed, never(&called) ? NULL : NULL), 0);
    gpc_unsubscribe(&world.a.subscriber);
    gpc_unsubscribe(&world.c.subscriber);
    CHECK_EQUAL_I64(GPC_OBSERVE(&world.tap, BEGAN, moment, (gpc_cycle_t) never(&called)), 0);
    CHECK_EQUAL_I64(GPC_OBSERVE(&world.tap, ENDED, moment, 0), 0);
    CHECK(!called);
    CHECK_EQUAL_TEXT(world.log.to, "B");
    gpc_unsubscribe(&world.b.subscriber);
    gpc_unsubscribe(&world.b.subscriber); /* no effect */
    CHECK_EQUAL_U64(world.tap.kinds, 0);
    CHECK_EQUAL_U64(world.stream.tap.kinds, 0);
}

TEST(an_error_ends_the_event)
{
    world_t world;
    begin(&world);
    world.b.fails = true;
    CHECK_EQUAL_I64(GPC_OBSERVE(&world.tap, ENDED, moment, 0), FAILURE);
    CHECK_EQUAL_TEXT(world.log.to, "AB");
}

TEST(a_subscriber_may_leave_while_it_is_told)
{
    world_t world;
    begin(&world);
    world.a.leaves = &world.a;
    CHECK_EQUAL_I64(GPC_OBSERVE(&world.tap, ENDED, moment, 0), 0);
    CHECK_EQUAL_I64(GPC_OBSERVE(&world.tap, ENDED, moment, 0), 0);
    CHECK_EQUAL_TEXT(world.log.to, "ABCBC");
}

TEST(a_subscriber_that_another_one_unsubscribes_is_not_told)
{
    world_t world;
    begin(&world);
    world.a.leaves = &world.b;
    CHECK_EQUAL_I64(GPC_OBSERVE(&world.tap, ENDED, moment, 0), 0);
    CHECK_EQUAL_TEXT(world.log.to, "AC");
}

TEST(subscribers_set_aside_are_told_nothing_until_they_resume)
{
    world_t world;
    begin(&world);
    one_t late = one_named(&world, &late, 'L');
    gpc_stream_set_aside(&world.stream);
    CHECK_EQUAL_U64(world.tap.kinds, 0);
    gpc_subscribe(&world.stream, &late.subscriber, GPC_KIND(ENDED));
    CHECK_EQUAL_I64(GPC_OBSERVE(&world.tap, ENDED, moment, 0), 0);
    gpc_unsubscribe(&late.subscriber);
    gpc_stream_resume(&world.stream);
    CHECK_EQUAL_I64(GPC_OBSERVE(&world.tap, BEGAN, moment, 0), 0);
    CHECK_EQUAL_TEXT(world.log.to, "LAC");
}

TEST(a_tap_connected_later_knows_the_kinds)
{
    world_t world;
    gpc_tap_t late = {0};
    begin(&world);
    CHECK_EQUAL_I64(GPC_OBSERVE(&late, ENDED, moment, 0), 0); /* connected to no stream */
    gpc_stream_connect(&world.stream, &late);
    CHECK_EQUAL_I64(GPC_OBSERVE(&late, ENDED, moment, 0), 0);
    CHECK_EQUAL_TEXT(world.log.to, "ABC");
}

/* ---- a GPU's stream ---------------------------------------------------------------------------------------------- */

enum { WORDS = 256 };

static const gpc_instruction_t load_and_store[] = {
    READ(R0, THREAD_X),
    LOAD(R1, R0),
    STORE(R0, R1),
    EXIT,
};

typedef struct {
    gpc_subscriber_t subscriber;
    uint64_t count[GPC_NUM_OBSERVATIONS];
} counter_t;

static int
count_event(void *self, const gpc_observation_t *event)
{
    ((counter_t *) self)->count[event->kind]++;
    return GPC_OK;
}

/* One launch of two warps in one block, each with one load and one store of one line. */
TEST(a_gpu_tells_every_kind_of_event)
{
    bench_t it = bench(&test_fermi, &gpc_protocol_no_coherence, WORDS);
    counter_t all = {.subscriber = {.observe = count_event, .self = &all}};
    gpc_subscribe(&it.gpu->stream, &all.subscriber, UINT32_MAX);
    CHECK_EQUAL_I64(launch_program(&it, load_and_store, GPC_COUNT_OF(load_and_store), WORDS, 1, 64), 0);
    CHECK_EQUAL_I64(gpc_gpu_run(it.gpu, UINT64_MAX), GPC_RUN_DONE);
    CHECK_EQUAL_U64(all.count[GPC_ON_LAUNCHED], 1);
    CHECK_EQUAL_U64(all.count[GPC_ON_BEGAN], 1);
    CHECK_EQUAL_U64(all.count[GPC_ON_BLOCK], 1);
    CHECK_EQUAL_U64(all.count[GPC_ON_ENDED], 1);
    CHECK_EQUAL_U64(all.count[GPC_ON_ACCESSED], 4);
    CHECK_EQUAL_U64(all.count[GPC_ON_ORDERED], 6); /* and two ends */
    CHECK_EQUAL_U64(all.count[GPC_ON_OFFERED], 4);
    CHECK_EQUAL_U64(all.count[GPC_ON_COMPLETED], 4);
    CHECK_EQUAL_U64(all.count[GPC_ON_SENT], 8); /* requests and answers */
    CHECK_EQUAL_U64(all.count[GPC_ON_MEMORY], 2);
    CHECK_EQUAL_U64(all.count[GPC_ON_SELECTED] - all.count[GPC_ON_WAITS], 8); /* instructions */
    CHECK(all.count[GPC_ON_COUNTED] > 8);
    CHECK(all.count[GPC_ON_CELL] >= 12 && all.count[GPC_ON_STEPPED] >= 12);
}
