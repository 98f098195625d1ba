/* test_replacement.c: every replacement policy against a plain model of it, by random uses of sets of any number of
 * ways, some of them busy; victims by hand are in test_time_cache.c. */
#include "cache/tags.h"
#include "fresh.h"
#include "harness.h"
#include "random.h"

enum { MOST_WAYS = 16, USES = 4000 };
enum {
#define X(name, text) REPLACEMENT_##name,
#include "machines/replacement.def"
#undef X
    NUM_REPLACEMENTS
};

/* What a policy remembers of a set, as its paper or textbook tells it. */
typedef struct {
    uint32_t ways, clock;
    uint32_t stamp[MOST_WAYS];        /* lru, fifo */
    uint32_t interval[MOST_WAYS];     /* rrip */
    bool to_the_right[2 * MOST_WAYS]; /* plru: nodes of the tree, the root is 1 and node n has children 2n and 2n + 1 */
    bool busy[MOST_WAYS];
} model_t;

typedef struct {
    void (*placed)(model_t *set, uint32_t way);
    void (*touched)(model_t *set, uint32_t way);
    uint32_t (*victim)(model_t *set); /* at least one way is not busy */
} policy_t;

static void
stamp(model_t *set, uint32_t way)
{
    set->stamp[way] = ++set->clock;
}

static void
nothing(model_t *set, uint32_t way)
{
    (void) set, (void) way;
}

static uint32_t
oldest(model_t *set)
{
    uint32_t best = MOST_WAYS;
    for (uint32_t way = 0; way < set->ways; way++) {
        if (!set->busy[way] && (best == MOST_WAYS || set->stamp[way] < set->stamp[best])) {
            best = way;
        }
    }
    return best;
}

static void
point_away(model_t *set, uint32_t way)
{
    for (uint32_t node = MOST_WAYS + way; node > 1; node /= 2) {
        set->to_the_right[node / 2] = node % 2 == 0;
    }
}

/* The way at the end of the path below the node, or MOST_WAYS: none is free. */
static uint32_t
follow(const model_t *set, uint32_t node)
{
    if (node >= MOST_WAYS) {
        uint32_t way = node - MOST_WAYS;
        return way < set->ways && !set->busy[way] ? way : MOST_WAYS;
    }
    uint32_t first = follow(set, 2 * node + set->to_the_right[node]);
    return first != MOST_WAYS ? first : follow(set, 2 * node + !set->to_the_right[node]);
}

static uint32_t
pointed_to(model_t *set)
{
    return follow(set, 1);
}

static void
predict_long(model_t *set, uint32_t way)
{
    set->interval[way] = 2;
}

static void
predict_soon(model_t *set, uint32_t way)
{
    set->interval[way] = 0;
}

static uint32_t
first_distant(model_t *set)
{
    for (;;) {
        for (uint32_t way = 0; way < set->ways; way++) {
            if (!set->busy[way] && set->interval[way] == 3) {
                return way;
            }
        }
        for (uint32_t way = 0; way < set->ways; way++) {
            set->interval[way] += set->interval[way] < 3;
        }
    }
}

static const policy_t policies[NUM_REPLACEMENTS] = {
    [REPLACEMENT_lru] = {stamp, stamp, oldest},
    [REPLACEMENT_fifo] = {stamp, nothing, oldest},
    [REPLACEMENT_plru] = {point_away, point_away, pointed_to},
    [REPLACEMENT_rrip] = {predict_long, predict_soon, first_distant},
};

/* The present way of the least order among those that are not busy, or GPC_NONE. */
static gpc_index_t
least(const gpc_tags_t *tags, const model_t *set)
{
    gpc_index_t best = GPC_NONE;
    for (gpc_index_t way = 0; way < tags->ways; way++) {
        if (!set->busy[way] && (best == GPC_NONE || tags->tags[way].order < tags->tags[best].order)) {
            best = way;
        }
    }
    return best;
}

/* Uses a random one of twice as many lines as the set has ways. Whether the victim is the model's. */
static bool
use_a_line(gpc_tags_t *tags, model_t *set, const policy_t *policy, uint32_t *full)
{
    gpc_address_t line = 128 * random_below(2 * tags->ways);
    gpc_index_t way = gpc_tags_find(tags, line);
    if (way != GPC_NONE) {
        gpc_tags_touch(tags, way);
        policy->touched(set, way);
        return true;
    }
    for (way = 0; way < tags->ways && gpc_tags_present(tags, way);) {
        way++;
    }
    if (way == tags->ways) {
        way = least(tags, set);
        if (way != policy->victim(set)) {
            return false;
        }
        tags->replacement->evicted(tags, way);
        ++*full;
    }
    gpc_tags_place(tags, way, line, 1);
    policy->placed(set, way);
    return true;
}

static void
check_policy(uint32_t number, uint32_t ways)
{
    gpc_tags_t tags;
    model_t set = {.ways = ways};
    uint32_t wrong = 0, full = 0;

    REQUIRE(policies[number].victim); /* a policy has a model */
    REQUIRE(gpc_tags_init(&tags, fresh_arena(), 1, ways, (gpc_index_map_t){128, 128, 1, 0, 1}, 0, false) == 0);
    tags.replacement = gpc_replacements[number];
    for (uint32_t use = 0; use < USES && !wrong; use++) {
        for (uint32_t way = 0; way < ways; way++) {
            set.busy[way] = random_below(4) == 0;
        }
        set.busy[any_below(ways)] = false;
        if (random_below(20) == 0) { /* an invalidation frees a way */
            gpc_tags_drop(&tags, any_below(ways));
        }
        wrong += !use_a_line(&tags, &set, &policies[number], &full);
    }
    CHECK_EQUAL_U64(wrong, 0);
    CHECK(full > USES / 10);
}

/* The orders of a set's present ways differ: the next victim is always behind the last one asked. */
static bool
orders_differ(const gpc_tags_t *tags)
{
    for (gpc_index_t one = 0; one < tags->ways; one++) {
        for (gpc_index_t other = 0; other < one; other++) {
            if (tags->tags[one].order == tags->tags[other].order || tags->tags[one].order == 0) {
                return false;
            }
        }
    }
    return true;
}

TEST(every_policy_chooses_as_its_model_does)
{
    static const uint32_t ways[] = {1, 2, 3, 4, 5, 7, 8, 12, 16};
    for (uint32_t i = 0; i < NUM_REPLACEMENTS * GPC_COUNT_OF(ways); i++) {
        check_policy(i % NUM_REPLACEMENTS, ways[i / NUM_REPLACEMENTS]);
    }
}

TEST(ways_of_a_set_have_different_orders)
{
    for (uint32_t number = 0; number < NUM_REPLACEMENTS; number++) {
        gpc_arena_t arena;
        gpc_tags_t tags;
        uint32_t wrong = 0, full;
        model_t set = {.ways = 6};
        REQUIRE(policies[number].victim);
        gpc_arena_init(&arena, 1u << 16);
        REQUIRE(gpc_tags_init(&tags, &arena, 1, 6, (gpc_index_map_t){128, 128, 1, 0, 1}, 0, false) == 0);
        tags.replacement = gpc_replacements[number];
        for (gpc_index_t way = 0; way < tags.ways; way++) {
            gpc_tags_place(&tags, way, 128 * way, 1);
        }
        for (uint32_t use = 0; use < USES; use++) {
            (void) use_a_line(&tags, &set, &policies[number], &full);
            wrong += !orders_differ(&tags);
        }
        CHECK_EQUAL_U64(wrong, 0);
        gpc_arena_free(&arena);
    }
}
