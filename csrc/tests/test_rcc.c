/* test_rcc.c: RCC-SC and RCC-WO: table V, the paper's example, the predictor, rollover, ticks.
 * protocols/relativistic/explored.toml has their interleavings. */
#include <string.h>

#include "base/blocks.h"
#include "controller/protocol.h"
#include "deliver.h"
#include "harness.h"
#include "machine/gpu.h"
#include "protocols/registry.h"
#include "small_programs.h"

enum { WARM_ALL = 15, WARM_AT_CORE_1 = 12 };

/* ---- one execution, step by step --------------------------------------------------------------------------------- */

typedef struct {
    gpc_world_t world;
    gpc_explore_t what;
    gpc_option_value_t options[4];
} run_t;

static run_t *
begin(const gpc_explore_thread_t *threads, uint32_t num_threads, uint32_t cores, uint32_t warm,
      const gpc_option_value_t *options, uint32_t timestamp_bits)
{
    run_t *self = gpc_block_take(sizeof(*self));
    if (self) {
        memcpy(self->options, options, sizeof(self->options));
        self->what = (gpc_explore_t){.protocol = &gpc_protocol_rcc_sc,
                                     .rule = GPC_RULE_DEFAULT,
                                     .options = self->options,
                                     .num_options = 4,
                                     .cores = cores,
                                     .variables = 2,
                                     .num_threads = num_threads,
                                     .threads = threads,
                                     .warm = warm,
                                     .timestamp_bits = timestamp_bits,
                                     .max_states = 1};
        CHECK_EQUAL_I64(gpc_world_init(&self->world, &self->what, 1), 0);
    }
    return self;
}

static void
end(run_t *self)
{
    gpc_world_free(&self->world);
    gpc_block_give(self, sizeof(*self));
}

static void
issue(run_t *self, uint8_t thread)
{
    CHECK_EQUAL_I64(gpc_world_move(&self->world, &(gpc_move_t){.kind = GPC_MOVE_ISSUE, .a = thread}), GPC_OK);
}

static void
perform(run_t *self, uint8_t thread)
{
    issue(self, thread);
    deliver_all(&self->world);
}

static void *
field(const gpc_described_t *described, void *object, const char *name)
{
    for (uint32_t i = 0; i < described->count; i++) {
        if (strcmp(described->fields[i].name, name) == 0) {
            return (uint8_t *) object + described->fields[i].offset;
        }
    }
    abort();
}

static gpc_controller_t *
bank_of(run_t *self, uint32_t variable)
{
    return &self->world.controllers[self->what.cores + variable];
}

static uint64_t *
beside(gpc_controller_t *unit, uint32_t variable, const char *name)
{
    gpc_index_t way = gpc_tags_find(&unit->arrays[0], gpc_world_address(variable));
    if (way == GPC_NONE) {
        abort();
    }
    return field(unit->type->arrays[0].line(), gpc_tags_fields(&unit->arrays[0], way), name);
}

static uint64_t
at_l2(run_t *self, uint32_t variable, const char *name)
{
    return *beside(bank_of(self, variable), variable, name);
}

static uint64_t
lease_at_l2(run_t *self, uint32_t variable)
{
    return *(uint16_t *) (void *) beside(bank_of(self, variable), variable, "lease");
}

static uint64_t *
now_of(run_t *self, uint32_t core)
{
    gpc_controller_t *l1 = self->world.l1s[core];
    return field(l1->type->unit(), l1->unit_fields, "now");
}

static uint64_t
counted(const gpc_controller_t *unit, const char *name)
{
    for (uint32_t i = 0; i < gpc_num_counts(unit->type->counters); i++) {
        if (strcmp(unit->type->counters[i].name, name) == 0) {
            return unit->own_counters[i];
        }
    }
    abort();
}

enum { A = X, B = Y };

static const gpc_explore_thread_t example[] = {THREAD(0, ST(A, 1), LD(B), ST(B, 2), ST(A, 3)),
                                               THREAD(1, ST(B, 1), LD(A), LD(A))};

/* Section III.B and figure 3, leases of 10: the numbers of the prose, and those that follow from its rules. */
TEST(the_papers_example)
{
    gpc_option_value_t options[4] = {{"predict", 0}, {"lease", 10}, {"tick", 0}, {"renew", 1}};
    run_t *run = begin(example, 2, 2, WARM_AT_CORE_1, options, 0);
    REQUIRE(run != NULL);
    *beside(bank_of(run, B), B, "ver") = 30; /* a third core has written B */

    perform(run, 0); /* C0 ST A */
    CHECK_EQUAL_U64(at_l2(run, A, "ver"), 11);
    CHECK_EQUAL_U64(*now_of(run, 0), 11);
    perform(run, 0); /* C0 LD B */
    CHECK_EQUAL_U64(at_l2(run, B, "exp"), 40);
    CHECK_EQUAL_U64(*now_of(run, 0), 30);
    perform(run, 1); /* C1 ST B */
    CHECK_EQUAL_U64(at_l2(run, B, "ver"), 41);
    CHECK_EQUAL_U64(*now_of(run, 1), 41);
    perform(run, 1); /* C1 LD A: its copy has expired, and A has been written */
    CHECK_EQUAL_U64(at_l2(run, A, "exp"), 51);
    CHECK_EQUAL_U64(run->world.state->threads[1].read[1], 1);
    CHECK_EQUAL_U64(counted(bank_of(run, A), "renewals"), 0);
    perform(run, 0); /* C0 ST B: no core has read the version between */
    CHECK_EQUAL_U64(at_l2(run, B, "ver"), 41);
    CHECK_EQUAL_U64(*now_of(run, 0), 41);
    perform(run, 0); /* C0 ST A */
    CHECK_EQUAL_U64(at_l2(run, A, "ver"), 52);
    CHECK_EQUAL_U64(*now_of(run, 0), 52);
    perform(run, 1); /* C1 LD A: before that store in logical time */
    CHECK_EQUAL_U64(run->world.state->threads[1].read[2], 1);
    CHECK_EQUAL_U64(*now_of(run, 1), 41);
    CHECK_EQUAL_U64(counted(run->world.l1s[1], "expired_loads"), 1);
    end(run);
}

static const gpc_explore_thread_t reads_and_writes[] = {
    THREAD(0, LD(X), LD(X), LD(X), ST(X, 1), LD(X), LD(X), LD(X), LD(X))};

/* Reads x after its copy has expired; the line is predicted this lease afterwards. */
static void
read_expired(run_t *run, uint64_t predicted)
{
    *now_of(run, 0) = *beside(run->world.l1s[0], X, "exp") + 1;
    perform(run, 0);
    CHECK_EQUAL_U64(lease_at_l2(run, X), predicted);
}

TEST(leases_are_predicted)
{
    for (int any = 0; any < 2; any++) {
        gpc_option_value_t options[4] = {{"predict", 1}, {"predict_up", any}, {"tick", 0}, {"renew", 1}};
        run_t *run = begin(reads_and_writes, 1, 1, 0, options, 0);
        REQUIRE(run != NULL);
        perform(run, 0); /* fetched: the longest */
        CHECK_EQUAL_U64(lease_at_l2(run, X), 2048);
        CHECK_EQUAL_U64(at_l2(run, X, "exp"), 2048);
        perform(run, 0); /* a hit */
        read_expired(run, 2048);
        CHECK_EQUAL_U64(at_l2(run, X, "exp"), 2049 + 2048);
        perform(run, 0); /* written: the shortest */
        CHECK_EQUAL_U64(lease_at_l2(run, X), 8);
        uint64_t ver = at_l2(run, X, "ver");
        CHECK_EQUAL_U64(ver, 2049 + 2048 + 1);
        perform(run, 0); /* granted, not renewed */
        CHECK_EQUAL_U64(at_l2(run, X, "exp"), ver + 8);
        CHECK_EQUAL_U64(lease_at_l2(run, X), any ? 16 : 8);
        read_expired(run, any ? 32 : 16);
        read_expired(run, any ? 64 : 32);
        CHECK_EQUAL_U64(counted(bank_of(run, X), "renewals"), 3);
        CHECK_EQUAL_U64(counted(bank_of(run, X), "expired_unchanged"), 3);
        CHECK_EQUAL_U64(counted(run->world.l1s[0], "expired_loads"), 3);
        end(run);
    }
}

static const gpc_explore_thread_t two_readers[] = {THREAD(0, LD(X)), THREAD(0, LD(X))};

/* The second load merges, but issued after the lease that the first one's answer brings. */
TEST(a_read_requested_again_is_for_an_expired_copy)
{
    gpc_option_value_t options[4] = {{"predict", 0}, {"lease", 10}, {"tick", 0}, {"renew", 1}};
    run_t *run = begin(two_readers, 2, 1, 0, options, 0);
    REQUIRE(run != NULL);
    issue(run, 0);
    *now_of(run, 0) = 50;
    perform(run, 1);
    CHECK_EQUAL_U64(counted(bank_of(run, X), "renewals"), 1);
    CHECK_EQUAL_U64(counted(bank_of(run, X), "expired_unchanged"), 1);
    CHECK_EQUAL_U64(counted(run->world.l1s[0], "expired_loads"), 1);
    CHECK_EQUAL_U64(run->world.l1s[0]->statistics->expired, 1);
    end(run);
}

static const gpc_explore_thread_t near_the_end[] = {THREAD(0, LD(X), ST(Y, 1)), THREAD(1, LD(X), LD(X), LD(X)),
                                                    THREAD(1, LD(Y))};

/* Timestamps of eight bits: C0 writes at the last time, when a load of C1's is answered and not yet there. */
TEST(a_rollover_zeroes_every_timestamp)
{
    enum { EPOCH = 256 };
    gpc_option_value_t options[4] = {{"predict", 0}, {"lease", 10}, {"tick", 0}, {"rollover_stall", 0}};
    run_t *run = begin(near_the_end, 3, 2, WARM_ALL, options, 8);
    REQUIRE(run != NULL);
    perform(run, 1); /* C1 hits x */
    *beside(bank_of(run, Y), Y, "exp") = EPOCH - 1;
    *beside(run->world.l1s[1], Y, "exp") = 0; /* C1's copy of y expires */
    *now_of(run, 1) = 5;
    issue(run, 2); /* C1 LD y; its data are in flight until the end */
    gpc_move_t request = {.kind = GPC_MOVE_DELIVER, .a = 1, .b = 3, .c = 0};
    CHECK_EQUAL_I64(gpc_world_move(&run->world, &request), GPC_OK);
    issue(run, 0); /* C0 hits x */
    issue(run, 0); /* C0 ST y: its version would be 256 */
    request.a = 0;
    CHECK_EQUAL_I64(gpc_world_move(&run->world, &request), GPC_OK);
    CHECK_EQUAL_U64(counted(bank_of(run, Y), "rollovers"), 1);
    CHECK_EQUAL_U64(at_l2(run, Y, "ver"), EPOCH + 1); /* 1 of the new epoch: exp is 0 */
    CHECK_EQUAL_U64(*now_of(run, 0), EPOCH);
    CHECK_EQUAL_U64(*now_of(run, 1), EPOCH);
    deliver_all(&run->world);
    CHECK_EQUAL_U64(run->world.state->threads[2].read[0], 0); /* before the store in logical time */
    CHECK_EQUAL_U64(*now_of(run, 0), EPOCH + 1);
    CHECK_EQUAL_U64(*now_of(run, 1), EPOCH); /* the answer's version is of the old epoch */
    uint64_t hits = run->world.l1s[1]->statistics->load_hits;
    perform(run, 1); /* C1's copy of x has been flushed */
    CHECK_EQUAL_U64(run->world.l1s[1]->statistics->load_hits, hits);
    CHECK_EQUAL_U64(at_l2(run, X, "exp"), EPOCH + 10);
    CHECK_EQUAL_U64(counted(bank_of(run, X), "renewals"), 0); /* M.exp is 0 */
    end(run);
}

static const gpc_explore_thread_t spin[] = {THREAD(0, LD(X), LD(X), LD(X), LD(X), LD(X))};

static void
tick(run_t *run)
{
    CHECK_EQUAL_I64(gpc_world_move(&run->world, &(gpc_move_t){.kind = GPC_MOVE_BACKGROUND}), GPC_OK);
}

TEST(ticks_end_the_lease_of_a_copy_that_is_polled)
{
    gpc_option_value_t options[4] = {{"predict", 0}, {"lease", 2}, {"tick", 100}, {"renew", 1}};
    run_t *run = begin(spin, 1, 1, 0, options, 0);
    REQUIRE(run != NULL);
    perform(run, 0);
    CHECK_EQUAL_U64(run->world.state->background.count, 1);
    for (uint32_t i = 1; i <= 2; i++) {
        tick(run);
        CHECK_EQUAL_U64(*now_of(run, 0), i);
        perform(run, 0);
        CHECK_EQUAL_U64(run->world.l1s[0]->statistics->load_hits, i);
    }
    tick(run);
    perform(run, 0); /* now 3, lease until 2 */
    CHECK_EQUAL_U64(run->world.l1s[0]->statistics->load_hits, 2);
    CHECK_EQUAL_U64(counted(run->world.l1s[0], "ticks"), 3);
    CHECK_EQUAL_U64(run->world.state->background.count, 1);
    end(run);
}

TEST(ticks_begin_no_epoch)
{
    gpc_option_value_t options[4] = {{"predict", 0}, {"lease", 2}, {"tick", 100}, {"renew", 1}};
    run_t *run = begin(spin, 1, 1, 0, options, 4);
    REQUIRE(run != NULL);
    *now_of(run, 0) = 14;
    tick(run);
    CHECK_EQUAL_U64(*now_of(run, 0), 15);
    tick(run);
    CHECK_EQUAL_U64(*now_of(run, 0), 15);
    end(run);
}

#define LD_RELAXED(variable) {LOAD, GPC_ORDER_RELAXED, GPC_SCOPE_GPU, (variable), 0, false, 0, false, 0, 0, 0}
static const gpc_explore_thread_t polls[] = {
    THREAD(0, LD(X), LD_RELAXED(X), LD_RELAXED(X), LD(X), LD_RELAXED(X), LD_RELAXED(X))};

TEST(polls_of_a_copy_renew_it)
{
    gpc_option_value_t options[4] = {{"predict", 1}, {"polls", 2}, {"tick", 0}, {"renew", 1}};
    run_t *run = begin(polls, 1, 1, 0, options, 0);
    static const uint64_t hits[] = {0, 1, 2, 3, 3, 4}; /* the fifth load is the third poll of the copy */
    REQUIRE(run != NULL);
    for (uint32_t i = 0; i < GPC_COUNT_OF(hits); i++) {
        perform(run, 0);
        CHECK_EQUAL_U64(run->world.l1s[0]->statistics->load_hits, hits[i]);
    }
    CHECK_EQUAL_U64(counted(bank_of(run, X), "renewals"), 1);
    CHECK_EQUAL_U64(counted(run->world.l1s[0], "expired_loads"), 0); /* the copy had not expired */
    CHECK_EQUAL_U64(counted(bank_of(run, X), "expired_unchanged"), 0);
    CHECK_EQUAL_U64(lease_at_l2(run, X), 2048);
    end(run);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static uint8_t
named(const gpc_event_info_t *events, uint8_t count, const char *name)
{
    uint8_t i = 0;
    while (i < count && strcmp(events[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* Whatever the leases: a store to a line that the L2 has, or has asked memory for, is performed and acknowledged at
 * once. */
TEST(no_store_waits_for_a_lease)
{
    const gpc_table_t *l2 = gpc_protocol_rcc_sc.controllers[1]->tables[0];
    uint8_t write = named(l2->events, l2->num_events, "L2_WRITE");
    uint32_t held = 0;

    REQUIRE(write < l2->num_events);
    for (uint8_t s = 0; s < l2->num_states; s++) {
        uint8_t kind = gpc_fsm_declared_cell(l2, s, write)->kind;
        held += kind != GPC_CELL_GO;
        CHECK(kind == GPC_CELL_GO || strcmp(l2->states[s].name, "L2_IAV") == 0); /* behind an atomic's fetch */
    }
    CHECK_EQUAL_U64(held, 1);
    CHECK(gpc_protocol_rcc_sc.networks[1].name != NULL);
    CHECK(gpc_protocol_rcc_sc.networks[2].name == NULL); /* two virtual networks */
}
