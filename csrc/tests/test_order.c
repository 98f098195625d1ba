/* test_order.c: does order.c admit exactly the allowed accesses? Rules, releases and acquires, barriers. */
#include "controller/protocol.h"
#include "core/memory/order.h"
#include "harness.h"

enum { WARPS = 4 };

/* A controller at a core with per-warp metadata alone. */
typedef struct {
    gpc_arena_t arena;
    gpc_controller_t l1;
    gpc_controller_t *l1s[1];
    gpc_order_traits_t traits;
    gpc_order_t order;
    uint64_t metadata[WARPS];
    gpc_failure_t failure;
} rig_t;

static rig_t rig;
static uint64_t released;
static gpc_cycle_t until;

AROUND_TESTS
{
    gpc_arena_free(&rig.arena);
}

static const gpc_controller_type_t type = {.name = "L1"};

static void
set_up(gpc_rule_t rule, gpc_order_traits_t traits)
{
    around_tests();
    rig = (rig_t){.traits = traits};
    gpc_arena_init(&rig.arena, 4096);
    rig.l1.warp_fields = (uint8_t *) rig.metadata;
    rig.l1.warp_fields_size = sizeof(uint64_t);
    rig.l1.unit_fields = rig.metadata;
    rig.l1.type = &type;
    rig.l1.failure = &rig.failure;
    rig.l1s[0] = &rig.l1;
    gpc_order_sizes_t sizes = {1, WARPS, 2, 8};
    CHECK_EQUAL_I64(
        gpc_order_init(&rig.order, rule, &rig.traits, rig.l1s, &sizes, (gpc_order_options_t){0}, &rig.arena), 0);
}

static int
ask(uint32_t warp, gpc_access_kind_t kind, gpc_memory_order_t order)
{
    gpc_access_t access = {(uint8_t) kind, (uint8_t) order, GPC_SCOPE_GPU};
    return gpc_order_may_issue(&rig.order, 0, warp, &access, &until);
}

static void
issue(gpc_access_kind_t kind, gpc_memory_order_t order)
{
    gpc_access_t access = {(uint8_t) kind, (uint8_t) order, GPC_SCOPE_GPU};
    gpc_order_issued(&rig.order, 0, 0, &access);
}

static void
complete(gpc_access_kind_t kind, gpc_memory_order_t order)
{
    gpc_access_t access = {(uint8_t) kind, (uint8_t) order, GPC_SCOPE_GPU};
    CHECK_EQUAL_I64(gpc_order_completed(&rig.order, 0, 0, &access), 0);
}

static const gpc_access_t plain = {GPC_ACCESS_LOAD, GPC_ORDER_WEAK, GPC_SCOPE_GPU};
static const gpc_access_t plain_barrier = {GPC_ACCESS_BARRIER, GPC_ORDER_WEAK, GPC_SCOPE_CTA};
static const gpc_access_t gpu_barrier = {GPC_ACCESS_BARRIER, GPC_ORDER_ACQ_REL, GPC_SCOPE_GPU};

/* ARRIVE(block, id, warp, threads, expected, access, waits, awaited) */
#define ARRIVE(...) gpc_order_barrier(&rig.order, 0, &(gpc_order_arrival_t){__VA_ARGS__}, &released, &until)

TEST(one_access_at_a_time_under_sc)
{
    set_up(GPC_RULE_SC, (gpc_order_traits_t){0});
    issue(GPC_ACCESS_STORE, GPC_ORDER_WEAK);
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_LOAD, GPC_ORDER_WEAK), GPC_ORDER_VERDICT_OLDER_STORE);
    CHECK_EQUAL_I64(ask(1, GPC_ACCESS_LOAD, GPC_ORDER_WEAK), GPC_ORDER_VERDICT_GO); /* another warp may */
    complete(GPC_ACCESS_STORE, GPC_ORDER_WEAK);
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_LOAD, GPC_ORDER_WEAK), GPC_ORDER_VERDICT_GO);
}

TEST(weak_accesses_overlap_under_rc_and_fences_wait_for_all)
{
    set_up(GPC_RULE_RC, (gpc_order_traits_t){0});
    issue(GPC_ACCESS_STORE, GPC_ORDER_WEAK);
    issue(GPC_ACCESS_LOAD, GPC_ORDER_WEAK);
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_LOAD, GPC_ORDER_WEAK), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_STORE, GPC_ORDER_RELAXED), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_FENCE, GPC_ORDER_ACQUIRE), GPC_ORDER_VERDICT_OLDER_LOAD);
    complete(GPC_ACCESS_LOAD, GPC_ORDER_WEAK);
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_FENCE, GPC_ORDER_SC), GPC_ORDER_VERDICT_OLDER_STORE);
    complete(GPC_ACCESS_STORE, GPC_ORDER_WEAK);
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_FENCE, GPC_ORDER_SC), GPC_ORDER_VERDICT_GO);
}

TEST(a_release_waits_for_what_is_older)
{
    static const gpc_access_t waits[] = {{GPC_ACCESS_STORE, GPC_ORDER_RELEASE, GPC_SCOPE_GPU},
                                         {GPC_ACCESS_ATOMIC, GPC_ORDER_ACQ_REL, GPC_SCOPE_GPU},
                                         {GPC_ACCESS_LOAD, GPC_ORDER_SC, GPC_SCOPE_GPU},
                                         {GPC_ACCESS_BARRIER, GPC_ORDER_WEAK, GPC_SCOPE_CTA},
                                         {GPC_ACCESS_EXIT, GPC_ORDER_WEAK, GPC_SCOPE_SYS}};
    for (size_t i = 0; i < GPC_COUNT_OF(waits); i++) {
        set_up(GPC_RULE_RC, (gpc_order_traits_t){0});
        issue(GPC_ACCESS_ATOMIC, GPC_ORDER_RELAXED);
        CHECK_EQUAL_I64(gpc_order_may_issue(&rig.order, 0, 0, &waits[i], &until), GPC_ORDER_VERDICT_OLDER_ATOMIC);
    }
}

TEST(a_synchronisation_access_blocks_its_warp_under_drf_and_hrf)
{
    static const gpc_rule_t rules[] = {GPC_RULE_DRF, GPC_RULE_HRF};
    static const gpc_access_t accesses[] = {{GPC_ACCESS_STORE, GPC_ORDER_RELEASE, GPC_SCOPE_GPU},
                                            {GPC_ACCESS_STORE, GPC_ORDER_RELAXED, GPC_SCOPE_CTA},
                                            {GPC_ACCESS_LOAD, GPC_ORDER_RELAXED, GPC_SCOPE_GPU},
                                            {GPC_ACCESS_ATOMIC, GPC_ORDER_RELAXED, GPC_SCOPE_SYS}};
    for (size_t i = 0; i < GPC_COUNT_OF(accesses) * GPC_COUNT_OF(rules); i++) {
        const gpc_access_t *access = &accesses[i / GPC_COUNT_OF(rules)];
        set_up(rules[i % GPC_COUNT_OF(rules)], (gpc_order_traits_t){0});
        issue(GPC_ACCESS_LOAD, GPC_ORDER_WEAK);
        CHECK_EQUAL_I64(ask(0, GPC_ACCESS_LOAD, GPC_ORDER_RELAXED), GPC_ORDER_VERDICT_GO);
        gpc_order_issued(&rig.order, 0, 0, access);
        complete(GPC_ACCESS_LOAD, GPC_ORDER_WEAK); /* an older data access ends: the warp stays blocked */
        CHECK(ask(0, GPC_ACCESS_LOAD, GPC_ORDER_WEAK) > GPC_ORDER_VERDICT_GO);
        CHECK(ask(0, GPC_ACCESS_LOAD, GPC_ORDER_ACQUIRE) > GPC_ORDER_VERDICT_GO);
        CHECK_EQUAL_I64(ask(1, GPC_ACCESS_LOAD, GPC_ORDER_ACQUIRE), GPC_ORDER_VERDICT_GO);
        CHECK_EQUAL_I64(gpc_order_completed(&rig.order, 0, 0, access), 0);
        issue(GPC_ACCESS_STORE, GPC_ORDER_WEAK);
        CHECK_EQUAL_I64(ask(0, GPC_ACCESS_LOAD, GPC_ORDER_ACQUIRE), GPC_ORDER_VERDICT_GO);
    }
}

/* Acquires wait while the warp's metadata is not 0; until 40 when it is 40. */
static int
acquire_waits(gpc_controller_t *l1, uint16_t warp, const gpc_access_t *access, gpc_cycle_t *at)
{
    uint64_t marker = ((const uint64_t *) l1->unit_fields)[warp];
    if (marker == 40) {
        *at = 40;
    }
    return access->order == GPC_ORDER_ACQUIRE && marker ? GPC_HOLD : GPC_OK;
}

TEST(a_protocol_may_hold_an_access_before_it_issues)
{
    gpc_access_t acquire = {GPC_ACCESS_LOAD, GPC_ORDER_ACQUIRE, GPC_SCOPE_GPU};
    gpc_access_t fence = {GPC_ACCESS_FENCE, GPC_ORDER_ACQUIRE, GPC_SCOPE_GPU};
    set_up(GPC_RULE_RC, (gpc_order_traits_t){.before = acquire_waits});
    rig.metadata[0] = 1;
    CHECK_EQUAL_I64(gpc_order_may_issue(&rig.order, 0, 0, &acquire, &until), GPC_ORDER_VERDICT_RELEASE);
    CHECK_EQUAL_U64(until, GPC_NEVER);
    CHECK_EQUAL_I64(gpc_order_may_issue(&rig.order, 0, 0, &fence, &until),
                    GPC_ORDER_VERDICT_GO); /* memory accesses only */
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_LOAD, GPC_ORDER_WEAK), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_I64(ask(1, GPC_ACCESS_LOAD, GPC_ORDER_ACQUIRE), GPC_ORDER_VERDICT_GO);
    rig.metadata[0] = 40;
    CHECK_EQUAL_I64(gpc_order_may_issue(&rig.order, 0, 0, &acquire, &until), GPC_ORDER_VERDICT_TIME);
    CHECK_EQUAL_U64(until, 40);
    rig.metadata[0] = 0;
    CHECK_EQUAL_I64(gpc_order_may_issue(&rig.order, 0, 0, &acquire, &until), GPC_ORDER_VERDICT_GO);
}

static void
count_point(gpc_controller_t *l1, uint16_t warp)
{
    ((uint64_t *) (void *) l1->unit_fields)[warp]++;
}

TEST(a_protocol_sees_the_order_points_of_warps)
{
    set_up(GPC_RULE_RC, (gpc_order_traits_t){.order_point = count_point});
    issue(GPC_ACCESS_LOAD, GPC_ORDER_RELAXED);
    complete(GPC_ACCESS_LOAD, GPC_ORDER_RELAXED);
    CHECK_EQUAL_U64(rig.metadata[0], 0);
    issue(GPC_ACCESS_LOAD, GPC_ORDER_ACQUIRE);
    CHECK_EQUAL_U64(rig.metadata[0], 0);
    complete(GPC_ACCESS_LOAD, GPC_ORDER_ACQUIRE);
    CHECK_EQUAL_U64(rig.metadata[0], 1);
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_FENCE, GPC_ORDER_ACQ_REL), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_U64(rig.metadata[0], 2);
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_LOAD, GPC_ORDER_SC), GPC_ORDER_VERDICT_GO); /* its fence */
    CHECK_EQUAL_U64(rig.metadata[0], 3);
    CHECK_EQUAL_I64(ARRIVE(0, 0, 0, 32, 64, plain_barrier, true, 0), 0);
    CHECK_EQUAL_U64(rig.metadata[0], 3);
    CHECK_EQUAL_I64(ARRIVE(0, 0, 1, 32, 64, plain_barrier, true, 0), 0);
    CHECK_EQUAL_U64(rig.metadata[0], 4);
    CHECK_EQUAL_U64(rig.metadata[1], 1);
    set_up(GPC_RULE_SC, (gpc_order_traits_t){.order_point = count_point});
    issue(GPC_ACCESS_LOAD, GPC_ORDER_WEAK);
    complete(GPC_ACCESS_LOAD, GPC_ORDER_WEAK);
    CHECK_EQUAL_U64(rig.metadata[0], 1);
}

static int
acquire_refuses(gpc_controller_t *l1, uint16_t warp, uint8_t scope)
{
    (void) l1, (void) warp, (void) scope;
    return GPC_HOLD;
}

/* GPC_HOLD here would look to the controller like its action's own refusal. */
TEST(an_acquire_or_fence_part_that_holds_is_an_error)
{
    gpc_access_t acquire = {GPC_ACCESS_LOAD, GPC_ORDER_ACQUIRE, GPC_SCOPE_GPU};
    set_up(GPC_RULE_RC, (gpc_order_traits_t){.acquire = acquire_refuses});
    issue(GPC_ACCESS_LOAD, GPC_ORDER_ACQUIRE);
    CHECK_EQUAL_I64(gpc_order_completed(&rig.order, 0, 0, &acquire), GPC_ERROR_PROTOCOL);
    CHECK(strstr(rig.failure.text, "acquire part") != NULL);
    set_up(GPC_RULE_RC, (gpc_order_traits_t){.fence = acquire_refuses});
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_FENCE, GPC_ORDER_SC), GPC_ERROR_PROTOCOL);
    CHECK(strstr(rig.failure.text, "fence part") != NULL);
}

TEST(a_warp_touches_no_line_twice_at_once)
{
    set_up(GPC_RULE_RC, (gpc_order_traits_t){.same_line = true});
    CHECK(!gpc_order_minds_lines(&rig.order, 0, 0));
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 0, &plain, 128, 1), GPC_ORDER_VERDICT_GO);
    gpc_order_touch(&rig.order, 0, 0, &plain, 128, 1);
    gpc_order_touch(&rig.order, 0, 0, &plain, 256, 1);
    CHECK(gpc_order_minds_lines(&rig.order, 0, 0));
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 0, &plain, 128, 2), GPC_ORDER_VERDICT_SAME_LINE);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 0, &plain, 384, 1), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 1, &plain, 128, 1), GPC_ORDER_VERDICT_GO); /* another warp */
    gpc_order_let_go(&rig.order, 0, 0, 128, 1);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 0, &plain, 128, 1), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 0, &plain, 256, 1), GPC_ORDER_VERDICT_SAME_LINE);
    gpc_order_clear(&rig.order);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 0, &plain, 256, 1), GPC_ORDER_VERDICT_GO);
}

/* The wait is then one for the older access, as in a protocol without the trait, and counts as an order stall. */
TEST(under_sc_an_access_to_the_same_line_waits_for_the_older_access)
{
    set_up(GPC_RULE_SC, (gpc_order_traits_t){.same_line = true});
    issue(GPC_ACCESS_STORE, GPC_ORDER_WEAK);
    gpc_order_touch(&rig.order, 0, 0, &plain, 128, 1);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 0, &plain, 128, 1), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_LOAD, GPC_ORDER_WEAK), GPC_ORDER_VERDICT_OLDER_STORE);
}

TEST(a_warp_touches_no_word_twice_at_once_but_other_words_of_the_line)
{
    set_up(GPC_RULE_DRF, (gpc_order_traits_t){.same_word = true});
    gpc_order_touch(&rig.order, 0, 0, &plain, 128, 3);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 0, &plain, 128, 4), GPC_ORDER_VERDICT_GO);
    gpc_order_touch(&rig.order, 0, 0, &plain, 128, 4);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 0, &plain, 128, 6), GPC_ORDER_VERDICT_SAME_LINE);
    gpc_order_let_go(&rig.order, 0, 0, 128, 3);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 0, &plain, 128, 2), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 0, &plain, 128, 4), GPC_ORDER_VERDICT_SAME_LINE);
}

static int
count_acquire(gpc_controller_t *l1, uint16_t warp, uint8_t scope)
{
    (void) warp, (void) scope;
    ++*(uint64_t *) l1->unit_fields;
    return GPC_OK;
}

TEST(nothing_issues_before_an_acquire_has_its_value_and_its_part_is_done_once)
{
    set_up(GPC_RULE_RC, (gpc_order_traits_t){.acquire = count_acquire});
    issue(GPC_ACCESS_LOAD, GPC_ORDER_ACQUIRE);
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_LOAD, GPC_ORDER_WEAK), GPC_ORDER_VERDICT_OLDER_LOAD);
    CHECK_EQUAL_U64(rig.metadata[0], 0);
    complete(GPC_ACCESS_LOAD, GPC_ORDER_ACQUIRE);
    CHECK_EQUAL_U64(rig.metadata[0], 1);
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_LOAD, GPC_ORDER_WEAK), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_U64(rig.metadata[0], 1);
}

TEST(local_scopes_skip_the_parts_where_a_protocol_distinguishes_scopes)
{
    gpc_access_t local = {GPC_ACCESS_FENCE, GPC_ORDER_SC, GPC_SCOPE_CU},
                 global = {GPC_ACCESS_FENCE, GPC_ORDER_SC, GPC_SCOPE_GPU};
    set_up(GPC_RULE_HRF, (gpc_order_traits_t){.acquire = count_acquire, .local_scopes = true});
    CHECK_EQUAL_I64(gpc_order_may_issue(&rig.order, 0, 0, &local, &until), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_U64(rig.metadata[0], 0);
    CHECK_EQUAL_I64(gpc_order_may_issue(&rig.order, 0, 0, &global, &until), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_U64(rig.metadata[0], 1);
}

static int
release_at_100(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *at)
{
    (void) warp, (void) scope;
    *at = 100;
    return *(uint64_t *) l1->unit_fields < 100 ? GPC_HOLD : GPC_OK;
}

TEST(a_release_part_that_waits_for_a_time_reports_it)
{
    gpc_access_t fence = {GPC_ACCESS_FENCE, GPC_ORDER_SC, GPC_SCOPE_GPU};
    set_up(GPC_RULE_RC, (gpc_order_traits_t){.release = release_at_100});
    CHECK_EQUAL_I64(gpc_order_may_issue(&rig.order, 0, 0, &fence, &until), GPC_ORDER_VERDICT_TIME);
    CHECK_EQUAL_U64(until, 100);
    rig.metadata[0] = 100;
    CHECK_EQUAL_I64(gpc_order_may_issue(&rig.order, 0, 0, &fence, &until), GPC_ORDER_VERDICT_GO);
}

static void
take_larger(gpc_controller_t *l1, void *into, const void *from)
{
    uint64_t *a = into;
    const uint64_t *b = from;
    (void) l1;
    *a = *a > *b ? *a : *b;
}

TEST(a_barrier_lets_all_go_at_once_with_the_join_of_what_they_brought)
{
    set_up(GPC_RULE_RC, (gpc_order_traits_t){.join = take_larger});
    rig.metadata[0] = 5;
    rig.metadata[2] = 9;
    CHECK_EQUAL_I64(ARRIVE(0, 3, 0, 32, 64, plain_barrier, true, 0), 0);
    CHECK_EQUAL_U64(released, 0);
    CHECK_EQUAL_I64(ARRIVE(0, 3, 2, 32, 64, plain_barrier, true, 0), 0);
    CHECK_EQUAL_U64(released, 5);
    CHECK_EQUAL_U64(rig.metadata[0], 9);
}

#define TIMED_WARP(FIELD) FIELD(TIME, uint32_t, visible) FIELD(PLAIN, uint32_t, own)
GPC_DESCRIBE(timed, warp, TIMED_WARP)

TEST(a_barrier_joins_times_by_their_kind_and_leaves_other_fields)
{
    static const gpc_controller_type_t timed = {.name = "L1", .warp = timed_warp_described};
    timed_warp_t warps[WARPS] = {{.visible = 5, .own = 50}, {0}, {.visible = 9, .own = 40}};
    _Static_assert(sizeof(timed_warp_t) > sizeof(uint64_t), "the rig's own metadata are smaller");
    rig = (rig_t){.l1 = {.type = &timed,
                         .failure = &rig.failure,
                         .warp_fields = (uint8_t *) warps,
                         .warp_fields_size = sizeof(timed_warp_t)}};
    gpc_arena_init(&rig.arena, 4096);
    rig.l1s[0] = &rig.l1;
    gpc_order_sizes_t sizes = {1, WARPS, 2, 8};
    CHECK_EQUAL_I64(
        gpc_order_init(&rig.order, GPC_RULE_RC, &rig.traits, rig.l1s, &sizes, (gpc_order_options_t){0}, &rig.arena), 0);
    CHECK_EQUAL_I64(ARRIVE(0, 3, 0, 32, 64, plain_barrier, true, 0), 0);
    CHECK_EQUAL_I64(ARRIVE(0, 3, 2, 32, 64, plain_barrier, true, 0), 0);
    CHECK_EQUAL_U64(released, 5);
    CHECK_EQUAL_U64(warps[0].visible, 9);
    CHECK_EQUAL_U64(warps[2].visible, 9);
    CHECK_EQUAL_U64(warps[1].visible, 0);
    CHECK_EQUAL_U64(warps[0].own, 50);
    CHECK_EQUAL_U64(warps[2].own, 40);
}

/* As a protocol whose barrier adds something to each warp's fields. */
static void
take_larger_with_a_mark(gpc_controller_t *l1, void *into, const void *from)
{
    take_larger(l1, into, from);
    *(uint64_t *) into |= 1;
}

TEST(a_barrier_of_one_warp_joins_too)
{
    set_up(GPC_RULE_RC, (gpc_order_traits_t){.join = take_larger_with_a_mark});
    rig.metadata[1] = 6;
    CHECK_EQUAL_I64(ARRIVE(0, 0, 1, 32, 32, plain_barrier, true, 0), 0);
    CHECK_EQUAL_U64(released, 2);
    CHECK_EQUAL_U64(rig.metadata[1], 7);
}

TEST(an_arrival_that_does_not_wait_counts)
{
    set_up(GPC_RULE_RC, (gpc_order_traits_t){0});
    CHECK_EQUAL_I64(ARRIVE(1, 0, 1, 32, 64, plain_barrier, false, 0), 0);
    CHECK_EQUAL_I64(ARRIVE(1, 0, 3, 32, 64, plain_barrier, true, 0), 0);
    CHECK_EQUAL_U64(released, 8);
}

TEST(counts_that_disagree_are_refused)
{
    set_up(GPC_RULE_RC, (gpc_order_traits_t){0});
    CHECK_EQUAL_I64(ARRIVE(0, 0, 0, 32, 96, plain_barrier, true, 0), 0);
    CHECK_EQUAL_I64(ARRIVE(0, 0, 1, 32, 64, plain_barrier, true, 0), GPC_ERROR_BARRIER);
}

TEST(an_arrival_that_does_not_wait_brings_its_metadata_as_it_was_then)
{
    set_up(GPC_RULE_RC, (gpc_order_traits_t){.join = take_larger});
    rig.metadata[1] = 30;
    CHECK_EQUAL_I64(ARRIVE(0, 0, 1, 32, 96, plain_barrier, false, 0), 0);
    rig.metadata[1] = 70; /* of its later accesses */
    CHECK_EQUAL_I64(ARRIVE(0, 0, 0, 32, 96, plain_barrier, true, 0), 0);
    rig.metadata[3] = 20;
    CHECK_EQUAL_I64(ARRIVE(0, 0, 3, 32, 96, plain_barrier, true, 0), 0);
    CHECK_EQUAL_U64(released, 9);
    CHECK_EQUAL_U64(rig.metadata[0], 30);
    CHECK_EQUAL_U64(rig.metadata[3], 30);
    CHECK_EQUAL_U64(rig.metadata[1], 70);
    /* the next use of the barrier begins empty */
    rig.metadata[0] = rig.metadata[3] = 4;
    CHECK_EQUAL_I64(ARRIVE(0, 0, 0, 32, 64, plain_barrier, true, 0), 0);
    CHECK_EQUAL_I64(ARRIVE(0, 0, 3, 32, 64, plain_barrier, true, 0), 0);
    CHECK_EQUAL_U64(rig.metadata[0], 4);
}

TEST(the_last_to_arrive_does_the_release_part_and_no_warp_leaves_before)
{
    set_up(GPC_RULE_RC, (gpc_order_traits_t){.release = release_at_100, .barrier_releases = true});
    CHECK_EQUAL_I64(ARRIVE(0, 0, 1, 32, 64, plain_barrier, true, 0), 0);
    CHECK_EQUAL_I64(ARRIVE(0, 0, 2, 32, 64, plain_barrier, true, 0), GPC_ORDER_VERDICT_TIME);
    CHECK_EQUAL_U64(released, 0);
    CHECK_EQUAL_U64(until, 100);
    rig.metadata[0] = 100;
    CHECK_EQUAL_I64(ARRIVE(0, 0, 2, 32, 64, plain_barrier, true, 0), 0);
    CHECK_EQUAL_U64(released, 6);
}

TEST(with_stores_that_block_nothing_issues_while_one_is_outstanding)
{
    const gpc_access_t load = {GPC_ACCESS_LOAD, GPC_ORDER_WEAK, GPC_SCOPE_CTA};
    const gpc_access_t store = {GPC_ACCESS_STORE, GPC_ORDER_WEAK, GPC_SCOPE_CTA};
    set_up(GPC_RULE_RC, (gpc_order_traits_t){.stores_block = true});
    gpc_order_issued(&rig.order, 0, 1, &load);
    CHECK_EQUAL_I64(gpc_order_may_issue(&rig.order, 0, 1, &store, &until), GPC_ORDER_VERDICT_GO);
    gpc_order_issued(&rig.order, 0, 1, &store);
    CHECK_EQUAL_I64(gpc_order_may_issue(&rig.order, 0, 1, &load, &until), GPC_ORDER_VERDICT_OLDER_STORE);
    CHECK_EQUAL_I64(gpc_order_may_issue(&rig.order, 0, 2, &load, &until), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_I64(gpc_order_completed(&rig.order, 0, 1, &store), 0);
    CHECK_EQUAL_I64(gpc_order_may_issue(&rig.order, 0, 1, &load, &until), GPC_ORDER_VERDICT_GO);
}

static int
barrier_at_200(gpc_controller_t *l1, uint16_t warp, gpc_cycle_t *at)
{
    (void) l1, (void) warp;
    *at = 200;
    return GPC_HOLD;
}

TEST(a_barrier_of_the_block_has_a_release_part_of_its_own_and_a_wider_one_the_release)
{
    set_up(GPC_RULE_RC,
           (gpc_order_traits_t){.release = release_at_100, .barrier_releases = true, .barrier = barrier_at_200});
    CHECK_EQUAL_I64(ARRIVE(0, 0, 1, 32, 32, plain_barrier, true, 0), GPC_ORDER_VERDICT_TIME);
    CHECK_EQUAL_U64(until, 200);
    CHECK_EQUAL_I64(ARRIVE(0, 1, 2, 32, 32, gpu_barrier, true, 0), GPC_ORDER_VERDICT_TIME);
    CHECK_EQUAL_U64(until, 100);
}

static bool
is_complete_with(uint64_t awaited)
{
    gpc_access_t access;
    return gpc_order_barrier_is_complete_with(&rig.order, 0, 0, 0, awaited, &access);
}

TEST(a_barrier_without_a_count_waits_for_the_warps_that_have_not_ended)
{
    set_up(GPC_RULE_RC, (gpc_order_traits_t){0});
    /* warps 0, 1 and 3 of 96 threads; warp 1 ends before the last of the others arrives */
    CHECK_EQUAL_I64(ARRIVE(0, 0, 0, 32, 96, plain_barrier, true, 11), 0);
    CHECK(!is_complete_with(9));
    CHECK_EQUAL_I64(ARRIVE(0, 0, 3, 20, 96, plain_barrier, true, 9), 0);
    CHECK_EQUAL_U64(released, 9);
    /* warp 3 ends while warp 0 waits */
    CHECK_EQUAL_I64(ARRIVE(0, 0, 0, 32, 96, plain_barrier, true, 9), 0);
    CHECK_EQUAL_U64(released, 0);
    CHECK(is_complete_with(1));
    CHECK_EQUAL_I64(ARRIVE(0, 0, 3, 0, 0, plain_barrier, false, 1), 0);
    CHECK_EQUAL_U64(released, 1);
    CHECK(!is_complete_with(1)); /* it is empty */
}

TEST(a_barrier_with_a_count_waits_for_warps_that_have_ended)
{
    set_up(GPC_RULE_RC, (gpc_order_traits_t){0});
    CHECK_EQUAL_I64(ARRIVE(0, 0, 0, 32, 64, plain_barrier, true, 1), 0);
    CHECK_EQUAL_U64(released, 1);
    CHECK_EQUAL_I64(ARRIVE(0, 0, 0, 32, 64, plain_barrier, true, 3), 0);
    CHECK_EQUAL_I64(ARRIVE(0, 0, 0, 32, 64, plain_barrier, true, 3), GPC_ERROR_BARRIER); /* twice */
    CHECK(is_complete_with(1));
    CHECK_EQUAL_I64(ARRIVE(0, 1, 0, 32, 64, plain_barrier, true, 0), 0);
    gpc_access_t access;
    CHECK(!gpc_order_barrier_is_complete_with(&rig.order, 0, 0, 1, 1, &access));
}

TEST(the_end_of_a_warp_waits_for_the_release_part_of_the_barrier_that_it_completes)
{
    set_up(GPC_RULE_RC, (gpc_order_traits_t){.release = release_at_100, .barrier_releases = true});
    CHECK_EQUAL_I64(ARRIVE(0, 0, 1, 32, 64, gpu_barrier, true, 6), 0);
    gpc_access_t access;
    CHECK(gpc_order_barrier_is_complete_with(&rig.order, 0, 0, 0, 2, &access));
    CHECK(access.order == GPC_ORDER_ACQ_REL && access.scope == GPC_SCOPE_GPU);
    CHECK_EQUAL_I64(ARRIVE(0, 0, 2, 0, 0, access, false, 2), GPC_ORDER_VERDICT_TIME);
    CHECK_EQUAL_U64(released, 0);
    rig.metadata[0] = 100;
    CHECK_EQUAL_I64(ARRIVE(0, 0, 2, 0, 0, access, false, 2), 0);
    CHECK_EQUAL_U64(released, 2);
}

/* What release and acquire parts are called with, in the order of the calls. */
static char parts[80];

static void
note_part(char what, const gpc_controller_t *l1, uint16_t warp, uint8_t scope)
{
    size_t length = strlen(parts);
    (void) snprintf(parts + length, sizeof parts - length, "%c%u.%u=%u ", what, warp, scope,
                    (unsigned) ((uint64_t *) l1->unit_fields)[warp]);
}

static int
release_noted(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *at)
{
    note_part('R', l1, warp, scope);
    *at = 9;
    return strlen(parts) < 10 ? GPC_HOLD : GPC_OK; /* it holds once */
}

static int
acquire_noted(gpc_controller_t *l1, uint16_t warp, uint8_t scope)
{
    note_part('A', l1, warp, scope);
    return GPC_OK;
}

TEST(with_fences_only_the_orders_of_accesses_have_no_parts)
{
    set_up(GPC_RULE_DRF, (gpc_order_traits_t){.release = release_noted, .acquire = acquire_noted, .fences_only = true});
    parts[0] = 0;
    issue(GPC_ACCESS_STORE, GPC_ORDER_WEAK);
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_STORE, GPC_ORDER_RELEASE), GPC_ORDER_VERDICT_OLDER_STORE);
    complete(GPC_ACCESS_STORE, GPC_ORDER_WEAK);
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_STORE, GPC_ORDER_RELEASE), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_ATOMIC, GPC_ORDER_ACQ_REL), GPC_ORDER_VERDICT_GO);
    issue(GPC_ACCESS_ATOMIC, GPC_ORDER_ACQ_REL);
    complete(GPC_ACCESS_ATOMIC, GPC_ORDER_ACQ_REL);
    CHECK_EQUAL_TEXT(parts, "");
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_FENCE, GPC_ORDER_ACQ_REL), GPC_ORDER_VERDICT_TIME);
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_FENCE, GPC_ORDER_ACQ_REL), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_TEXT(parts, "R0.2=0 R0.2=0 A0.2=0 ");
    CHECK_EQUAL_I64(ask(0, GPC_ACCESS_LOAD, GPC_ORDER_SC), GPC_ORDER_VERDICT_GO); /* its fence */
    issue(GPC_ACCESS_LOAD, GPC_ORDER_SC);
    complete(GPC_ACCESS_LOAD, GPC_ORDER_SC);
    CHECK_EQUAL_TEXT(parts, "R0.2=0 R0.2=0 A0.2=0 R0.2=0 A0.2=0 ");
}

static int
fence_noted(gpc_controller_t *l1, uint16_t warp, uint8_t scope)
{
    note_part('F', l1, warp, scope);
    return GPC_OK;
}

TEST(a_barrier_beyond_the_block_releases_once_for_all_and_each_warp_acquires)
{
    static const struct {
        bool keeps_copies;
        const char *text;
    } cases[] = {{false, "R2.2=7 R2.2=7 A1.2=7 F1.2=7 A2.2=7 F2.2=7 "}, {true, "R2.2=7 R2.2=7 F1.2=7 F2.2=7 "}};
    for (size_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        set_up(GPC_RULE_RC, (gpc_order_traits_t){.release = release_noted,
                                                 .acquire = acquire_noted,
                                                 .fence = fence_noted,
                                                 .join = take_larger,
                                                 .barrier_keeps_copies = cases[i].keeps_copies});
        parts[0] = 0;
        rig.metadata[1] = 7; /* the warp that releases has what the others brought */
        rig.metadata[2] = 3;
        CHECK_EQUAL_I64(ARRIVE(0, 0, 1, 32, 64, gpu_barrier, true, 0), 0);
        CHECK_EQUAL_I64(ARRIVE(0, 0, 2, 32, 64, plain_barrier, true, 0), GPC_ORDER_VERDICT_TIME);
        CHECK_EQUAL_U64(released, 0);
        CHECK_EQUAL_I64(ARRIVE(0, 0, 2, 32, 64, plain_barrier, true, 0), 0);
        CHECK_EQUAL_U64(released, 6);
        CHECK_EQUAL_TEXT(parts, cases[i].text);
    }
}

TEST(a_barrier_of_a_local_scope_has_no_parts)
{
    gpc_access_t local = {GPC_ACCESS_BARRIER, GPC_ORDER_ACQ_REL, GPC_SCOPE_CU};
    set_up(GPC_RULE_RC, (gpc_order_traits_t){.release = release_noted, .acquire = acquire_noted, .local_scopes = true});
    parts[0] = 0;
    CHECK_EQUAL_I64(ARRIVE(0, 0, 1, 32, 32, local, true, 0), 0);
    CHECK_EQUAL_U64(released, 2);
    CHECK_EQUAL_TEXT(parts, "");
}
