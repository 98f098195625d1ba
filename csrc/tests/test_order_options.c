/* test_order_options.c: what do the machine's options of the memory order add? */
#include "core/memory/order.h"
#include "harness.h"

static const gpc_access_t block_store = {GPC_ACCESS_STORE, GPC_ORDER_RELAXED, GPC_SCOPE_CTA};
static const gpc_access_t block_fence = {GPC_ACCESS_FENCE, GPC_ORDER_ACQ_REL, GPC_SCOPE_CTA};
static const gpc_access_t gpu_fence = {GPC_ACCESS_FENCE, GPC_ORDER_ACQ_REL, GPC_SCOPE_GPU};
static const gpc_access_t gpu_load = {GPC_ACCESS_LOAD, GPC_ORDER_RELAXED, GPC_SCOPE_GPU};
static const gpc_access_t plain = {GPC_ACCESS_LOAD, GPC_ORDER_WEAK, GPC_SCOPE_GPU};
static const gpc_access_t barrier = {GPC_ACCESS_BARRIER, GPC_ORDER_WEAK, GPC_SCOPE_CTA};
static const gpc_access_t plain_store = {GPC_ACCESS_STORE, GPC_ORDER_WEAK, GPC_SCOPE_GPU};

typedef struct {
    gpc_arena_t arena;
    gpc_order_traits_t traits;
    gpc_order_t order;
} rig_t;

static void
set_up(rig_t *rig, gpc_rule_t rule, gpc_order_options_t options)
{
    gpc_order_sizes_t sizes = {1, 4, 2, 8};
    *rig = (rig_t){0};
    gpc_arena_init(&rig->arena, 4096);
    CHECK_EQUAL_I64(gpc_order_init(&rig->order, rule, &rig->traits, NULL, &sizes, options, &rig->arena), 0);
}

static int
ask(rig_t *rig, uint32_t warp, const gpc_access_t *access)
{
    gpc_cycle_t until;
    return gpc_order_may_issue(&rig->order, 0, warp, access, &until);
}

TEST(relaxed_accesses_overlap_where_they_are_unordered)
{
    rig_t rig;
    set_up(&rig, GPC_RULE_HRF, (gpc_order_options_t){.relaxed_unordered = true});
    gpc_order_issued(&rig.order, 0, 0, &gpu_load);
    CHECK_EQUAL_I64(ask(&rig, 0, &gpu_load), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_I64(ask(&rig, 0, &gpu_fence), GPC_ORDER_VERDICT_OLDER_LOAD);
    gpc_order_issued(&rig.order, 0, 0, &(gpc_access_t){GPC_ACCESS_LOAD, GPC_ORDER_ACQUIRE, GPC_SCOPE_CTA});
    CHECK_EQUAL_I64(ask(&rig, 0, &gpu_load), GPC_ORDER_VERDICT_OLDER_LOAD);
    gpc_arena_free(&rig.arena);
}

TEST(block_fences_wait_for_nothing_where_they_are_free)
{
    rig_t rig;
    set_up(&rig, GPC_RULE_RC, (gpc_order_options_t){.block_fences_free = true});
    gpc_order_issued(&rig.order, 0, 0, &gpu_load);
    CHECK_EQUAL_I64(ask(&rig, 0, &block_fence), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_I64(ask(&rig, 0, &gpu_fence), GPC_ORDER_VERDICT_OLDER_LOAD);
    CHECK_EQUAL_I64(ask(&rig, 0, &barrier), GPC_ORDER_VERDICT_OLDER_LOAD);
    gpc_arena_free(&rig.arena);
    set_up(&rig, GPC_RULE_SC, (gpc_order_options_t){.block_fences_free = true});
    gpc_order_issued(&rig.order, 0, 0, &gpu_load);
    CHECK_EQUAL_I64(ask(&rig, 0, &block_fence), GPC_ORDER_VERDICT_OLDER_LOAD);
    gpc_arena_free(&rig.arena);
}

TEST(warps_access_a_word_in_order_under_word_order)
{
    rig_t rig;
    set_up(&rig, GPC_RULE_RC, (gpc_order_options_t){.word_order = true});
    gpc_order_touch(&rig.order, 0, 0, &gpu_load, 128, 1);
    CHECK(gpc_order_minds_lines(&rig.order, 0, 1));
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 1, &gpu_load, 128, 1), GPC_ORDER_VERDICT_SAME_LINE);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 1, &plain_store, 128, 1), GPC_ORDER_VERDICT_SAME_LINE);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 1, &plain, 128, 1), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 1, &gpu_load, 128, 2), GPC_ORDER_VERDICT_GO);
    gpc_order_touch(&rig.order, 0, 1, &plain, 256, 1);
    gpc_order_let_go(&rig.order, 0, 1, 128, 1); /* another warp's */
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 2, &gpu_load, 128, 1), GPC_ORDER_VERDICT_SAME_LINE);
    gpc_order_let_go(&rig.order, 0, 0, 128, 1);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 2, &gpu_load, 128, 1), GPC_ORDER_VERDICT_GO);
    gpc_arena_free(&rig.arena);
}

TEST(of_loads_that_overlap_each_lets_its_own_words_go)
{
    rig_t rig;
    set_up(&rig, GPC_RULE_RC, (gpc_order_options_t){.word_order = true});
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 0, &plain, 128, 3), GPC_ORDER_VERDICT_GO);
    gpc_order_touch(&rig.order, 0, 0, &plain, 128, 3);
    gpc_order_touch(&rig.order, 0, 0, &plain, 128, 4);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 0, &plain, 128, 6), GPC_ORDER_VERDICT_GO);
    gpc_order_touch(&rig.order, 0, 0, &plain, 128, 6);
    gpc_order_let_go(&rig.order, 0, 0, 128, 3); /* the newest that overlaps is the third */
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 0, &plain_store, 128, 1), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 0, &plain_store, 128, 2), GPC_ORDER_VERDICT_SAME_LINE);
    gpc_order_let_go(&rig.order, 0, 0, 128, 6);
    gpc_order_let_go(&rig.order, 0, 0, 128, 4);
    CHECK_EQUAL_I64(gpc_order_may_touch(&rig.order, 0, 0, &plain_store, 128, 7), GPC_ORDER_VERDICT_GO);
    gpc_arena_free(&rig.arena);
}

TEST(a_fence_that_drains_waits_once_for_the_stores_of_every_warp)
{
    rig_t rig;
    set_up(&rig, GPC_RULE_RC, (gpc_order_options_t){.fence_drains = true});
    gpc_order_issued(&rig.order, 0, 1, &gpu_load);
    CHECK_EQUAL_I64(ask(&rig, 0, &gpu_fence), GPC_ORDER_VERDICT_GO); /* loads are no stores */
    gpc_order_issued(&rig.order, 0, 1, &block_store);
    CHECK_EQUAL_I64(ask(&rig, 0, &block_fence), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_I64(ask(&rig, 0, &gpu_fence), GPC_ORDER_VERDICT_RELEASE);
    gpc_order_issued(&rig.order, 0, 2, &block_store); /* younger than the fence */
    CHECK_EQUAL_I64(gpc_order_completed(&rig.order, 0, 1, &block_store), 0);
    gpc_order_issued(&rig.order, 0, 1, &block_store);
    CHECK_EQUAL_I64(ask(&rig, 0, &gpu_fence), GPC_ORDER_VERDICT_GO);
    CHECK_EQUAL_I64(ask(&rig, 0, &gpu_fence), GPC_ORDER_VERDICT_RELEASE); /* the next fence */
    gpc_arena_free(&rig.arena);
}
