/* test_tc.c: TC-Strong and TC-Weak over every interleaving and every passing of time: sets of outcomes, states, transitions. */
#include <string.h>

#include "base/blocks.h"
#include "check/world.h"
#include "controller/protocol.h"
#include "harness.h"
#include "machine/gpu.h"
#include "protocols/registry.h"
#include "protocols/temporal/tc_weak.h"

#include "small_programs.h"

typedef struct {
    const char *protocol;
    const gpc_explore_thread_t *threads;
    uint32_t num_threads, cores;
    uint32_t warm;
    bool evictions, sc;
    uint32_t timestamp_bits; /* 0: they never begin again */
    int64_t lifetime;
    const char *option; /* one more, or NULL */
    int64_t value;
} asked_t;

static gpc_text_t
explore(const asked_t *asked, int *status)
{
    gpc_option_value_t options[] = {{"lifetime", asked->lifetime}, {asked->option, asked->value}};
    gpc_explore_t what = {.protocol = asked->protocol,
                          .rule = asked->sc ? GPC_RULE_SC : GPC_RULE_RC,
                          .options = options,
                          .num_options = asked->option ? 2 : 1,
                          .cores = asked->cores ? asked->cores : 2,
                          .variables = 2,
                          .num_threads = asked->num_threads ? asked->num_threads : 2,
                          .threads = asked->threads,
                          .warm = asked->warm,
                          .evictions = asked->evictions ? UINT32_MAX : 0,
                          .timestamp_bits = asked->timestamp_bits,
                          .max_states = 1000000};
    gpc_text_t text;
    gpc_text_init(&text);
    *status = gpc_explore(&what, &text);
    return text;
}

/* Whole, nothing violated, and the outcome seen or not as it should be. */
static void
expect(const asked_t *asked, const char *outcome, bool seen)
{
    int status;
    gpc_text_t text = explore(asked, &status);
    bool right = status == 0 && strstr(text.bytes, "\"complete\": true") && strstr(text.bytes, "\"violations\": []") &&
                 (strstr(text.bytes, outcome) != NULL) == seen;
    if (!right) {
        printf("# %s sc %d warm %u evictions %d bits %u lifetime %d, outcome %s should %sbe seen:\n# %s\n",
               asked->protocol, asked->sc, asked->warm, asked->evictions, asked->timestamp_bits, (int) asked->lifetime,
               outcome, seen ? "" : "not ", text.bytes);
    }
    CHECK(right);
    gpc_text_free(&text);
}

static const gpc_explore_thread_t lb_fences[] = {THREAD(0, LD(X), F, ST(Y, 1)), THREAD(1, LD(Y), F, ST(X, 1))};

static const gpc_explore_thread_t merge[] = {/* data's later load may merge with the earlier one of another warp */
                                             THREAD(0, ST(X, 1), F, ST(Y, 1)), THREAD(1, LD(Y), F, LD(X)),
                                             THREAD(1, LD(X))};
static const gpc_explore_thread_t two_producers[] = {/* warps of one core; the second store may be private */
                                                     THREAD(0, ST(X, 1)), THREAD(0, ST(X, 2), F, ST(Y, 1)),
                                                     THREAD(1, LD(Y), F, LD(X))};
static const gpc_explore_thread_t reader_writes[] = {/* the writer has a copy, and so has the reader */
                                                     THREAD(0, LD(X), ST(X, 1), F, ST(Y, 1)),
                                                     THREAD(1, LD(Y), F, LD(X))};
static const gpc_explore_thread_t writes_twice[] = {THREAD(0, ST(X, 1), ST(X, 2), F, ST(Y, 1)),
                                                    THREAD(1, LD(Y), F, LD(X))};
static const gpc_explore_thread_t upgrades_outlive_a_lease[] = {
    /* the reader's new lease may end when the copies of the writer's did */
    THREAD(0, ST(X, 1), ST(X, 2), F, ST(Y, 1)), THREAD(1, LD(X), LD(Y), F, LD(X))};
static const gpc_explore_thread_t upgrades_outlive_by_two[] = {THREAD(0, ST(X, 1), ST(X, 1), ST(X, 2), F, ST(Y, 1)),
                                                               THREAD(1, LD(X), LD(Y), F, LD(X))};
static const gpc_explore_thread_t store_beside_a_store[] = {/* one core's store may make another's look private */
                                                            THREAD(2, ST(X, 2)), THREAD(0, ST(X, 1), F, ST(Y, 1)),
                                                            THREAD(1, LD(Y), F, LD(X))};
static const gpc_explore_thread_t loads[] = {THREAD(0, LD(X), LD(X), LD(X), LD(X), LD(X), LD(X))};
static const gpc_explore_thread_t one_load_each[] = {THREAD(0, LD(X)), THREAD(0, LD(X)), THREAD(0, LD(X))};
static const gpc_explore_thread_t over_a_barrier[] = {
    /* whose warps leave with the latest GWCT of all */
    THREAD(0, ST(X, 1), BLOCK_BARRIER), THREAD(0, BLOCK_BARRIER, F, ST(Y, 1)), THREAD(1, LD(Y), F, LD(X))};
static const gpc_explore_thread_t over_kernels[] = {THREAD(0, ST(X, 1), NEXT_KERNEL), THREAD(1, NEXT_KERNEL, LD(X))};
static const gpc_explore_thread_t wrc[] = {THREAD(0, ST(X, 1)), THREAD(1, LD(X), F, ST(Y, 1)),
                                           THREAD(2, LD(Y), F, LD(X))};

enum { WARM_NONE = 0, WARM_X_AT_READER = 4, WARM_X = 5, WARM_ALL = 15, LIFETIME = 2 };

static const char *const both[] = {"tc-strong", "tc-weak"};

static void
forbidden_with_fences(const gpc_explore_thread_t *threads, const char *outcome, const char *other)
{
    for (int i = 0; i < 2; i++) {
        for (uint32_t warm = 0; warm < 16; warm += 15) {
            asked_t asked = {.protocol = both[i], .threads = threads, .warm = warm, .lifetime = LIFETIME};
            expect(&asked, outcome, false);
            expect(&asked, other, true);
            if (warm == WARM_NONE || threads == mp_fences) { /* many states: leases end, lines leave and come back */
                asked.evictions = true;
                asked.lifetime = 1;
                expect(&asked, outcome, false);
            }
        }
    }
}

static void
stale_data_after_a_flag_is_forbidden_with_fences(void)
{
    forbidden_with_fences(mp_fences, "[1, 0, ", "[1, 1, ");
}

static void
both_old_is_forbidden_with_fences(void)
{
    forbidden_with_fences(sb_fences, "[0, 0, ", "[0, 1, ");
}

static void
values_out_of_the_future_are_forbidden_with_fences(void)
{
    forbidden_with_fences(lb_fences, "[1, 1, ", "[0, 1, ");
}

static void
new_then_old_is_forbidden(void)
{
    forbidden_with_fences(corr, "[1, 0, ", "[0, 1, ");
}

static void
no_increment_is_lost(void)
{
    for (int i = 0; i < 2; i++) {
        asked_t asked = {.protocol = both[i], .threads = increments, .warm = WARM_ALL, .lifetime = LIFETIME};
        expect(&asked, ", 3, 0]", false);
        expect(&asked, ", 4, 0]", true);
    }
}

static void
merged_loads_do_not_bring_stale_data_past_a_fence(void)
{
    for (int i = 0; i < 2; i++) {
        asked_t asked = {.protocol = both[i], .threads = merge, .num_threads = 3, .lifetime = 1};
        expect(&asked, "[1, 0, ", false);
        expect(&asked, "[1, 1, 0, ", true);
    }
}

static void
a_line_that_comes_back_beside_a_live_lease_is_not_private(void)
{
    for (int i = 0; i < 2; i++) {
        asked_t asked = {.protocol = both[i], .threads = reader_writes, .warm = WARM_X_AT_READER, .lifetime = LIFETIME};
        expect(&asked, ", 1, 1, 1, 1]", true);
        asked.evictions = true;
        asked.lifetime = 1;
        expect(&asked, ", 1, 0, 1, 1]", false); /* flag seen, data not: the first value is the writer's own load's */
    }
}

static void
a_store_after_another_of_its_core_is_not_private_beside_others_leases(void)
{
    for (int private = 0; private < 2; private++) {
        asked_t asked = {.protocol = "tc-weak", .threads = two_producers, .num_threads = 3, .warm = WARM_X};
        asked.lifetime = LIFETIME;
        asked.option = "private";
        asked.value = private;
        expect(&asked, "[1, 0, ", false);
        expect(&asked, "[1, 2, ", true);
        asked.threads = writes_twice;
        asked.num_threads = 2;
        expect(&asked, "[1, 0, ", false);
        expect(&asked, "[1, 1, ", false);
        expect(&asked, "[1, 2, ", true);
    }
}

static void
an_upgrade_that_outlives_its_lease_is_not_private(void)
{
    asked_t asked = {.protocol = "tc-weak", .threads = upgrades_outlive_a_lease, .warm = WARM_ALL, .lifetime = 0};
    expect(&asked, ", 1, 1, 2, 1]", false);
    asked = (asked_t){.protocol = "tc-weak", .threads = upgrades_outlive_by_two, .warm = WARM_ALL, .lifetime = 1};
    expect(&asked, ", 1, 1, 2, 1]", false);
}

static void
table_2_as_printed_keeps_message_passing(void)
{
    asked_t asked = {
        .protocol = "tc-weak", .threads = mp_fences, .warm = WARM_X_AT_READER, .lifetime = 1, .option = "private"};
    asked.evictions = true;
    expect(&asked, "[1, 0, ", false);
    asked.threads = reader_writes;
    asked.warm = WARM_X_AT_READER;
    expect(&asked, ", 1, 0, 1, 1]", false);
}

static void
tc_weak_lets_a_third_thread_see_an_effect_before_its_cause(void)
{
    asked_t asked = {.protocol = "tc-weak", .threads = wrc, .num_threads = 3, .cores = 3, .lifetime = LIFETIME};
    asked.warm = 1u << 4; /* the last reader has x */
    expect(&asked, "[1, 1, 0, ", true);
    asked.protocol = "tc-strong";
    expect(&asked, "[1, 1, 0, ", false);
}

static void
tc_strong_is_sequentially_consistent_one_access_at_a_time(void)
{
    for (int64_t stall = 0; stall < 2; stall++) {
        asked_t asked = {.protocol = "tc-strong", .sc = true, .warm = WARM_ALL, .lifetime = 1, .option = "stall"};
        asked.value = stall;
        asked.threads = mp;
        asked.evictions = true;
        expect(&asked, "[1, 0, ", false);
        asked.threads = sb;
        expect(&asked, "[0, 0, ", false);
    }
}

static void
without_fences_stores_overtake(void)
{
    for (int i = 0; i < 2; i++) {
        asked_t asked = {.protocol = both[i], .threads = mp, .warm = WARM_NONE, .lifetime = LIFETIME};
        expect(&asked, "[1, 0, ", true);
        asked.threads = sb;
        expect(&asked, "[0, 0, ", true);
    }
}

/* ---- timestamps that begin again --------------------------------------------------------------------------------------- */

enum { BITS = 2, ONE_EPOCH = 1 << BITS };

static void
stale_data_after_a_flag_is_forbidden_across_rollovers(void)
{
    for (int i = 0; i < 2; i++) {
        for (uint32_t warm = 0; warm < 16; warm += 15) {
            asked_t asked = {.protocol = both[i], .threads = mp_fences, .warm = warm, .lifetime = LIFETIME};
            asked.timestamp_bits = BITS;
            expect(&asked, "[1, 0, ", false);
            expect(&asked, "[1, 1, ", true);
            asked.threads = sb_fences;
            expect(&asked, "[0, 0, ", false);
            expect(&asked, "[0, 1, ", true);
        }
    }
}

static void
private_stores_are_told_apart_at_the_last_timestamp_too(void)
{
    for (int private = 0; private < 2; private++) {
        asked_t asked = {.protocol = "tc-weak", .threads = store_beside_a_store, .num_threads = 3, .cores = 3};
        asked.warm = WARM_X;
        asked.timestamp_bits = BITS;
        asked.lifetime = ONE_EPOCH - 1;
        asked.option = "private";
        asked.value = private;
        expect(&asked, "[1, 0, ", false);
    }
}

static void
barriers_and_kernels_order_what_was_before_them(void)
{
    for (int i = 0; i < 2; i++) {
        asked_t asked = {.protocol = both[i],
                         .threads = over_a_barrier,
                         .num_threads = 3,
                         .warm = WARM_X_AT_READER,
                         .lifetime = LIFETIME};
        expect(&asked, "[1, 0, ", false);
        expect(&asked, "[1, 1, ", true);
        asked.threads = over_kernels;
        asked.num_threads = 2;
        expect(&asked, "\"outcomes\": [[1, 1, 0]]", true);
        if (i == 1) { /* whatever makes the copies of the launch before unreadable */
            asked.option = "launch";
            asked.value = TCW_LAUNCH_WAIT;
            expect(&asked, "\"outcomes\": [[1, 1, 0]]", true);
        }
    }
}

/* A world of one core and one variable, of timestamps of six bits; ticks until its clock says `now`. */
enum { SIX_BITS = 6, LAST = 63 };

static void
step_until_quiet(gpc_world_t *world)
{
    gpc_moves_t moves = {0};
    while (!gpc_world_quiet(world)) {
        CHECK_EQUAL_I64(gpc_world_moves(world, &moves), GPC_OK);
        for (uint32_t i = 0; i < moves.count; i++) {
            if (moves.list[i].kind == GPC_MOVE_DELIVER || moves.list[i].kind == GPC_MOVE_MEMORY) {
                CHECK_EQUAL_I64(gpc_world_move(world, &moves.list[i]), GPC_OK);
                break;
            }
        }
    }
    gpc_moves_free(&moves);
}

static uint64_t
hits_after_a_load_at(gpc_world_t *world, gpc_cycle_t now)
{
    gpc_move_t issue = {.kind = GPC_MOVE_ISSUE};
    world->state->now = now;
    CHECK_EQUAL_I64(gpc_world_move(world, &issue), GPC_OK);
    step_until_quiet(world);
    return world->l1s[0]->statistics->load_hits;
}

/* Read at 40, a copy may be read to 63; at the wrap all copies are gone, also those whose bits say that they have time left. */
static void
copies_end_when_timestamps_begin_again(void)
{
    for (int i = 0; i < 2; i++) {
        gpc_option_value_t lifetime = {"lifetime", 50};
        gpc_explore_t what = {.protocol = both[i],
                              .rule = GPC_RULE_DEFAULT,
                              .options = &lifetime,
                              .num_options = 1,
                              .cores = 1,
                              .variables = 1,
                              .num_threads = 1,
                              .threads = loads,
                              .timestamp_bits = SIX_BITS,
                              .max_states = 1};
        gpc_world_t *world = gpc_block_take(sizeof(*world));
        REQUIRE(world != NULL);
        CHECK_EQUAL_I64(gpc_world_init(world, &what, 1), 0);
        CHECK_EQUAL_U64(hits_after_a_load_at(world, 40), 0);
        CHECK_EQUAL_U64(world->controllers[1].statistics->leases_cut, 1); /* 50 cycles would be until 90 */
        CHECK_EQUAL_U64(hits_after_a_load_at(world, LAST), 1);
        CHECK_EQUAL_U64(hits_after_a_load_at(world, LAST + 1), 1);      /* counter 0: the copy says 63 */
        CHECK_EQUAL_U64(hits_after_a_load_at(world, LAST + 1 + 50), 2); /* read at 0, until 50 */
        CHECK_EQUAL_U64(hits_after_a_load_at(world, LAST + 1 + 51), 2);
        CHECK_EQUAL_U64(hits_after_a_load_at(world, 5 * (LAST + 1) + 51), 2); /* four epochs later, at the same count */
        CHECK_EQUAL_U64(world->l1s[0]->statistics->expired, 3);
        gpc_world_free(world);
        gpc_block_give(world, sizeof(*world));
    }
}

/* Takes the first move that delivers from this node. */
static void
deliver_from(gpc_world_t *world, uint8_t node)
{
    gpc_moves_t moves = {0};
    CHECK_EQUAL_I64(gpc_world_moves(world, &moves), GPC_OK);
    for (uint32_t i = 0; i < moves.count; i++) {
        if (moves.list[i].kind == GPC_MOVE_DELIVER && moves.list[i].a == node) {
            CHECK_EQUAL_I64(gpc_world_move(world, &moves.list[i]), GPC_OK);
            break;
        }
    }
    gpc_moves_free(&moves);
}

static void
issue_at(gpc_world_t *world, uint8_t thread, gpc_cycle_t now)
{
    world->state->now = now;
    CHECK_EQUAL_I64(gpc_world_move(world, &(gpc_move_t){.kind = GPC_MOVE_ISSUE, .a = thread}), GPC_OK);
}

typedef struct {
    gpc_world_t world;
    gpc_explore_t what;
    gpc_option_value_t lifetime;
} merged_t;

/* Three warps of core 0 and a line that the L2 has. Warp 0 loads at 10 and gets a lease from 20 to 21; the others load at these
 * cycles. The data is still in flight. */
static merged_t *
loads_merged_at(const char *protocol, gpc_cycle_t second, gpc_cycle_t third)
{
    merged_t *self = gpc_block_take(sizeof(*self));
    if (!self) {
        return NULL;
    }
    self->lifetime = (gpc_option_value_t){"lifetime", 1};
    self->what = (gpc_explore_t){.protocol = protocol,
                                 .rule = GPC_RULE_RC,
                                 .options = &self->lifetime,
                                 .num_options = 1,
                                 .cores = 2,
                                 .variables = 1,
                                 .num_threads = 3,
                                 .threads = one_load_each,
                                 .warm = 2, /* core 1, and so the L2 */
                                 .max_states = 1};
    CHECK_EQUAL_I64(gpc_world_init(&self->world, &self->what, 1), 0);
    issue_at(&self->world, 0, 10);
    self->world.state->now = 20;
    deliver_from(&self->world, 0); /* GETS */
    issue_at(&self->world, 1, second);
    issue_at(&self->world, 2, third);
    return self;
}

static void
end_merged(merged_t *self)
{
    gpc_world_free(&self->world);
    gpc_block_give(self, sizeof(*self));
}

/* The loads of 10 and 21 complete with the data of the lease until 21, that of 22 asks again. */
static void
expired_data_serves_the_loads_issued_by_its_timestamp(void)
{
    for (int i = 0; i < 2; i++) {
        merged_t *merged = loads_merged_at(both[i], 21, 22);
        REQUIRE(merged != NULL);
        gpc_world_t *world = &merged->world;
        deliver_from(world, 2); /* DATA */
        CHECK_EQUAL_U64(world->state->threads[0].outstanding, 0);
        CHECK_EQUAL_U64(world->state->threads[1].outstanding, 0);
        CHECK_EQUAL_U64(world->state->threads[2].outstanding, 1);
        CHECK_EQUAL_U64(world->l1s[0]->statistics->load_misses, 2);
        step_until_quiet(world);
        CHECK_EQUAL_U64(world->state->threads[2].outstanding, 0);
        CHECK_EQUAL_U64(world->l1s[0]->statistics->load_misses, 2);
        end_merged(merged);
    }
}

static void
encode_at(gpc_world_t *world, gpc_cycle_t now, gpc_encoder_t *out)
{
    world->state->now = now;
    gpc_world_encode(world, &world->symmetries[0], out);
    CHECK(!out->overflow);
}

/* A state has no times of issue, but it says which loads the data in flight serves. */
static void
states_tell_the_loads_that_data_in_flight_serves(void)
{
    static uint8_t bytes[3][4096];
    static const gpc_cycle_t third[] = {21, 22, 25};
    gpc_encoder_t code[3];

    for (int i = 0; i < 3; i++) {
        merged_t *merged = loads_merged_at("tc-weak", 21, third[i]);
        REQUIRE(merged != NULL);
        code[i] = (gpc_encoder_t){.bytes = bytes[i], .capacity = sizeof(bytes[i])};
        encode_at(&merged->world, 30, &code[i]);
        end_merged(merged);
    }
    CHECK(code[0].length == code[1].length && memcmp(bytes[0], bytes[1], code[0].length) != 0);
    CHECK(code[1].length == code[2].length && memcmp(bytes[1], bytes[2], code[1].length) == 0);
}

static void
a_lifetime_that_timestamps_have_no_room_for_is_refused(void)
{
    for (int i = 0; i < 2; i++) {
        asked_t asked = {.protocol = both[i], .threads = mp, .lifetime = ONE_EPOCH, .timestamp_bits = BITS};
        int status;
        gpc_text_t text = explore(&asked, &status);
        CHECK_EQUAL_I64(status, GPC_ERROR_OPTION);
        CHECK(strstr(text.bytes, "lifetime 4") && strstr(text.bytes, "timestamp_bits 2"));
        gpc_text_free(&text);
    }
}

/* ---- the tables ------------------------------------------------------------------------------------------------------ */

static void
tables_are_whole(void)
{
    for (int i = 0; i < 2; i++) {
        const gpc_protocol_t *protocol = gpc_protocol_find(both[i]);
        for (int level = 0; level < 2; level++) {
            gpc_text_t text;
            gpc_text_init(&text);
            int status = gpc_fsm_check(protocol->controllers[level]->tables[0], &text);
            if (status) {
                printf("# %s\n", text.bytes);
            }
            CHECK_EQUAL_I64(status, 0);
            gpc_text_free(&text);
        }
    }
}

static uint32_t
bytes_of(const gpc_protocol_t *protocol, const char *name)
{
    for (uint32_t i = 0; i < protocol->num_messages; i++) {
        if (strcmp(protocol->messages[i].name, name) == 0) {
            return protocol->messages[i].fixed_bytes + (protocol->messages[i].whole_line ? 128u : 0u);
        }
    }
    return 0;
}

static void
messages_have_their_sizes(void)
{
    const gpc_protocol_t *weak = gpc_protocol_find("tc-weak"), *strong = gpc_protocol_find("tc-strong");
    CHECK_EQUAL_I64(bytes_of(weak, "DATA"), 140);
    CHECK_EQUAL_I64(bytes_of(weak, "ACK_G"), 12);
    CHECK_EQUAL_I64(bytes_of(weak, "DATA_G"), 140);
    CHECK_EQUAL_I64(bytes_of(weak, "GETS"), 8);
    CHECK_EQUAL_I64(bytes_of(strong, "DATA"), 140);
    CHECK_EQUAL_I64(bytes_of(strong, "GETS"), 12);
    CHECK_EQUAL_I64(bytes_of(strong, "ACK"), 8);
}

int
main(void)
{
    RUN(stale_data_after_a_flag_is_forbidden_with_fences);
    RUN(both_old_is_forbidden_with_fences);
    RUN(values_out_of_the_future_are_forbidden_with_fences);
    RUN(new_then_old_is_forbidden);
    RUN(no_increment_is_lost);
    RUN(merged_loads_do_not_bring_stale_data_past_a_fence);
    RUN(a_line_that_comes_back_beside_a_live_lease_is_not_private);
    RUN(a_store_after_another_of_its_core_is_not_private_beside_others_leases);
    RUN(an_upgrade_that_outlives_its_lease_is_not_private);
    RUN(table_2_as_printed_keeps_message_passing);
    RUN(tc_weak_lets_a_third_thread_see_an_effect_before_its_cause);
    RUN(tc_strong_is_sequentially_consistent_one_access_at_a_time);
    RUN(without_fences_stores_overtake);
    RUN(stale_data_after_a_flag_is_forbidden_across_rollovers);
    RUN(private_stores_are_told_apart_at_the_last_timestamp_too);
    RUN(barriers_and_kernels_order_what_was_before_them);
    RUN(copies_end_when_timestamps_begin_again);
    RUN(expired_data_serves_the_loads_issued_by_its_timestamp);
    RUN(states_tell_the_loads_that_data_in_flight_serves);
    RUN(a_lifetime_that_timestamps_have_no_room_for_is_refused);
    RUN(tables_are_whole);
    RUN(messages_have_their_sizes);
    return harness_end();
}
