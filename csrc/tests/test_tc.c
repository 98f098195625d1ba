/* test_tc.c: TC-Strong and TC-Weak: timestamps that begin again, loads that merge, tables and messages.
 * protocols/temporal/explored.toml has their interleavings. */
#include <string.h>

#include "base/blocks.h"
#include "controller/protocol.h"
#include "deliver.h"
#include "harness.h"
#include "machine/gpu.h"
#include "protocols/registry.h"
#include "protocols/temporal/tc_weak.h"

#include "small_programs.h"

static const gpc_explore_thread_t loads[] = {THREAD(0, LD(X), LD(X), LD(X), LD(X), LD(X), LD(X))};
static const gpc_explore_thread_t one_load_each[] = {THREAD(0, LD(X)), THREAD(0, LD(X)), THREAD(0, LD(X))};
static const char *const both[] = {"tc-strong", "tc-weak"};

/* ---- timestamps that begin again --------------------------------------------------------------------------------- */

/* A world of one core and one variable, of timestamps of six bits; ticks until its clock says `now`. */
enum { SIX_BITS = 6, LAST = 63 };

static uint64_t
hits_after_a_load_at(gpc_world_t *world, gpc_cycle_t now)
{
    gpc_move_t issue = {.kind = GPC_MOVE_ISSUE};
    world->state->now = now;
    CHECK_EQUAL_I64(gpc_world_move(world, &issue), GPC_OK);
    deliver_all(world);
    return world->l1s[0]->statistics->load_hits;
}

/* Read at 40, a copy may be read to 63; at the wrap all copies are gone, also those whose bits say that they have time
 * left. */
TEST(copies_end_when_timestamps_begin_again)
{
    for (int i = 0; i < 2; i++) {
        gpc_option_value_t lifetime = {"lifetime", 50};
        gpc_explore_t what = {.protocol = gpc_protocol_find(both[i]),
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

/* Three warps of core 0 and a line that the L2 has. Warp 0 loads at 10 and gets a lease from 20 to 21; the others load
 * at these cycles. The data is still in flight. */
static merged_t *
loads_merged_at(const char *protocol, gpc_cycle_t second, gpc_cycle_t third)
{
    merged_t *self = gpc_block_take(sizeof(*self));
    if (!self) {
        return NULL;
    }
    self->lifetime = (gpc_option_value_t){"lifetime", 1};
    self->what = (gpc_explore_t){.protocol = gpc_protocol_find(protocol),
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
TEST(expired_data_serves_the_loads_issued_by_its_timestamp)
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
        deliver_all(world);
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
TEST(states_tell_the_loads_that_data_in_flight_serves)
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

TEST(a_lifetime_that_timestamps_have_no_room_for_is_refused)
{
    static const gpc_option_value_t lifetime = {"lifetime", 4};
    for (int i = 0; i < 2; i++) {
        gpc_explore_t what = {.protocol = gpc_protocol_find(both[i]),
                              .rule = GPC_RULE_RC,
                              .options = &lifetime,
                              .num_options = 1,
                              .cores = 1,
                              .variables = 1,
                              .num_threads = 1,
                              .threads = loads,
                              .timestamp_bits = 2,
                              .max_states = 1};
        gpc_text_t text;
        gpc_text_init(&text);
        CHECK_EQUAL_I64(gpc_explore(&what, &text), GPC_ERROR_OPTION);
        CHECK(strstr(text.bytes, "lifetime 4") && strstr(text.bytes, "timestamp_bits 2"));
        gpc_text_free(&text);
    }
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

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

TEST(messages_have_their_sizes)
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
