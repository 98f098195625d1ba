/* test_time_cache.c: which way does a cache give to a line, and when does it have none to give? A wrong choice changes
 * no value, only what is found later: each expected order is the rule of the header, applied by hand. */
#include "controller/controller.h"
#include "controller/lease.h"
#include "protocols/baseline/baseline.h"
#include "protocols/registry.h"
#include "protocols/temporal/tc.h"
#include "tests/controller_bench.h"
#include "tests/fresh.h"

enum { WAYS = 4, LINE = 64, MSHRS = 6, LINES = 16 };

/* The policies, by their place in the list. */
enum { LRU, FIFO, PLRU, RRIP, NUM_POLICIES };

/* An L1 of one set, whose ways hold lines 0, 1, 2 and 3, filled in this order. */
static void
begin_as(const gpc_protocol_t *protocol, uint32_t replacement)
{
    gpc_machine_t machine = bench_small_machine;
    machine.l1_replacement = replacement;
    machine.l1_bytes = WAYS * LINE;
    machine.l1_ways = WAYS;
    machine.l1_mshrs = MSHRS;
    machine.timestamp_bits = 32;
    bench_begin(protocol, 0, &machine);
    for (gpc_address_t line = 0; line < WAYS; line++) {
        (void) bench_place(0, 0, line * LINE, "L1_V");
    }
}

static void
begin(void)
{
    begin_as(&gpc_protocol_no_coherence, LRU);
}

static int
take(uint8_t type, gpc_address_t line)
{
    return gpc_controller_take(&bench.unit, bench_message(type, line * LINE, 1));
}

/* The data of the line's oldest outstanding load. */
static void
answer(gpc_address_t line)
{
    const gpc_mshr_t *entry = gpc_mshr_at(&bench.unit.mshrs, gpc_mshr_find(&bench.unit.mshrs, line * LINE));
    gpc_index_t data = bench_message(MSG_DATA, line * LINE, 1);
    gpc_msg_at(&bench.messages, data)->request = gpc_msg_at(&bench.messages, entry->pending.head)->request;
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, data), GPC_OK);
}

static bool
is_present(gpc_address_t line)
{
    return gpc_tags_find(&bench.unit.arrays[0], line * LINE) != GPC_NONE;
}

/* The line that a load of another one replaces; GPC_NEVER: none. */
static gpc_address_t
replaced_by(gpc_address_t line)
{
    bool before[LINES];
    gpc_address_t gone = GPC_NEVER;

    for (gpc_address_t i = 0; i < LINES; i++) {
        before[i] = is_present(i);
    }
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, line), GPC_OK);
    CHECK(is_present(line));
    for (gpc_address_t i = 0; i < LINES; i++) {
        CHECK(gone == GPC_NEVER || !before[i] || is_present(i)); /* one at most */
        gone = before[i] && !is_present(i) ? i : gone;
    }
    return gone;
}

static void
check_order(const gpc_address_t *order, gpc_address_t first)
{
    for (gpc_address_t i = 0; i < WAYS; i++) {
        CHECK_EQUAL_U64(replaced_by(first + i), order[i]);
    }
}

/* ---- replacement ------------------------------------------------------------------------------------------------- */

/* A hit makes the line the last to leave: after hits of 0, 2 and 0 the order is 1, 3, 2, 0. FIFO would replace 0. */
TEST(replacement_follows_hits)
{
    static const gpc_address_t order[] = {1, 3, 2, 0};
    begin();
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, 0), GPC_OK);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, 2), GPC_OK);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, 0), GPC_OK);
    check_order(order, WAYS);
}

/* Without hits the order is that of the fills: the lines of ways 0 to 3, then those that came for them. */
TEST(replacement_follows_fills)
{
    static const gpc_address_t first[] = {0, 1, 2, 3}, second[] = {4, 5, 6, 7};
    begin();
    check_order(first, 4);
    for (gpc_address_t line = 7; line >= 4; line--) { /* the data's order of arrival is no use of the line */
        answer(line);
    }
    check_order(second, 8);
}

/* A load that merges with a miss uses the line as a hit does: 4 leaves after 5, which was filled later. */
TEST(replacement_follows_merged_loads)
{
    static const gpc_address_t order[] = {2, 3, 5, 4};
    begin();
    CHECK_EQUAL_U64(replaced_by(4), 0);
    CHECK_EQUAL_U64(replaced_by(5), 1);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, 4), GPC_OK);
    answer(4);
    answer(5);
    check_order(order, 6);
}

/* After hits of 0, 2 and 0. FIFO: the order of the fills. PLRU: the root points to the right half, there the node
 * points from 2 to 3; then from 3 to the left half, there from 0 to 1; 2; 0. RRIP: 0 and 2 are predicted to be used
 * soon, 1 and 3 have one step to the longest interval; then all have two, and 0 is the first. */
TEST(replacement_follows_hits_by_policy)
{
    static const gpc_address_t order[][WAYS] = {
        [LRU] = {1, 3, 2, 0}, [FIFO] = {0, 1, 2, 3}, [PLRU] = {3, 1, 2, 0}, [RRIP] = {1, 3, 0, 2}};
    for (uint32_t policy = 0; policy < NUM_POLICIES; policy++) {
        begin_as(&gpc_protocol_no_coherence, policy);
        CHECK_EQUAL_I64(take(GPC_MSG_LOAD, 0), GPC_OK);
        CHECK_EQUAL_I64(take(GPC_MSG_LOAD, 2), GPC_OK);
        CHECK_EQUAL_I64(take(GPC_MSG_LOAD, 0), GPC_OK);
        check_order(order[policy], WAYS);
    }
}

/* Without hits. PLRU: 3 came last, so the tree points to 0, then to 2, which is in the other half, then to 1. */
TEST(replacement_follows_fills_by_policy)
{
    static const gpc_address_t order[][WAYS] = {
        [LRU] = {0, 1, 2, 3}, [FIFO] = {0, 1, 2, 3}, [PLRU] = {0, 2, 1, 3}, [RRIP] = {0, 1, 2, 3}};
    for (uint32_t policy = 0; policy < NUM_POLICIES; policy++) {
        begin_as(&gpc_protocol_no_coherence, policy);
        check_order(order[policy], WAYS);
    }
}

/* A store evicts its line (write-evict): the next line takes the free way, and replaces none. */
TEST(replacement_takes_the_free_way_of_an_invalidated_line)
{
    begin();
    gpc_index_t way = gpc_tags_find(&bench.unit.arrays[0], 2 * LINE);
    CHECK_EQUAL_I64(take(GPC_MSG_STORE, 2), GPC_OK);
    CHECK_EQUAL_U64(replaced_by(4), GPC_NEVER);
    CHECK_EQUAL_U64(gpc_tags_find(&bench.unit.arrays[0], 4 * LINE), way);
    CHECK_EQUAL_U64(replaced_by(5), 0);
}

/* Of several free ways the first one is taken. */
TEST(replacement_takes_the_first_free_way)
{
    begin();
    gpc_tags_flash(&bench.unit.arrays[0]);
    for (gpc_address_t line = 4; line < 8; line++) {
        CHECK_EQUAL_U64(replaced_by(line), GPC_NEVER);
        CHECK_EQUAL_U64(gpc_tags_find(&bench.unit.arrays[0], line * LINE), line - 4);
    }
}

/* Ways of outstanding misses are no victims, whatever the policy: the fifth miss of a set of four ways waits for the
 * first answer. */
TEST(replacement_leaves_ways_of_outstanding_misses)
{
    for (uint32_t policy = 0; policy < NUM_POLICIES; policy++) {
        begin_as(&gpc_protocol_no_coherence, policy);
        for (gpc_address_t line = 4; line < 8; line++) {
            CHECK(replaced_by(line) < 4);
        }
        CHECK_EQUAL_I64(take(GPC_MSG_LOAD, 8), GPC_HELD_QUEUE);
        answer(5);
        CHECK_EQUAL_U64(replaced_by(8), 5);
    }
}

/* A line of another set leaves no line of this one: with two sets of two ways, even lines share a set. */
TEST(replacement_stays_within_the_set)
{
    gpc_machine_t machine = bench_small_machine;
    machine.l1_bytes = 4 * LINE;
    machine.l1_mshrs = MSHRS;
    bench_begin(&gpc_protocol_no_coherence, 0, &machine);
    for (gpc_address_t line = 0; line < 4; line++) {
        (void) bench_place(0, 0, line * LINE, "L1_V");
    }
    CHECK_EQUAL_U64(replaced_by(5), 1);
    CHECK_EQUAL_U64(replaced_by(4), 0);
    CHECK_EQUAL_U64(replaced_by(7), 3);
    CHECK_EQUAL_U64(replaced_by(6), 2);
}

/* Lines whose lease has ended go first, each kind in LRU order; one with outstanding stores (VM) is no victim. Of 0 to
 * 3, used in this order, 1 and 3 have expired, and 1 has stores: 3, then 0, then 2. */
TEST(replacement_takes_expired_leases_first)
{
    static const gpc_cycle_t leases[WAYS] = {100, 99, 200, 99};
    static const gpc_address_t order[] = {3, 0, 2};
    begin_as(gpc_protocol_find("tc-weak"), LRU);
    gpc_tags_t *tags = &bench.unit.arrays[0];
    for (gpc_index_t way = 0; way < WAYS; way++) {
        ((tc_l1_line_t *) gpc_tags_fields(tags, way))->timestamp = leases[way];
    }
    tags->tags[1].state = bench_state(bench.unit.type->tables[0], "L1_VM");
    bench.world.now = 100; /* a lease is valid in its last cycle */
    CHECK_EQUAL_U64(gpc_ended_first(&bench.unit, 0, 0), 1);
    CHECK_EQUAL_U64(gpc_ended_first(&bench.unit, 0, 1), 0);
    for (uint32_t i = 0; i < GPC_COUNT_OF(order); i++) {
        CHECK_EQUAL_U64(replaced_by(4 + i), order[i]);
    }
}

/* ---- MSHRs ------------------------------------------------------------------------------------------------------- */

/* The request beyond the limit waits, and leaves no trace in the set; an answer frees the entry. */
TEST(mshr_limit_holds_the_next_line)
{
    gpc_machine_t machine = bench_small_machine;
    machine.l1_bytes = 4 * LINE;
    machine.l1_ways = 4;
    machine.l1_mshrs = 3;
    bench_begin(&gpc_protocol_no_coherence, 0, &machine);
    for (gpc_address_t line = 0; line < 3; line++) {
        CHECK_EQUAL_U64(gpc_mshr_room(&bench.unit.mshrs), 3 - line);
        CHECK_EQUAL_I64(take(GPC_MSG_LOAD, line), GPC_OK);
    }
    CHECK_EQUAL_U64(gpc_mshr_room(&bench.unit.mshrs), 0);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, 3), GPC_HELD_QUEUE);
    CHECK(!is_present(3));
    CHECK_EQUAL_U64(bench.world.sends, 3);
    answer(1);
    CHECK_EQUAL_I64(take(GPC_MSG_LOAD, 3), GPC_OK);
    CHECK_EQUAL_U64(bench.world.sends, 4);
}

/* Loads of an outstanding line take no entry and send nothing; one answer completes all. */
TEST(mshr_merges_loads_of_its_line)
{
    begin();
    for (uint32_t i = 0; i < 5; i++) {
        CHECK_EQUAL_I64(take(GPC_MSG_LOAD, 9), GPC_OK);
    }
    CHECK_EQUAL_U64(bench.world.sends, 1);
    CHECK_EQUAL_U64(gpc_mshr_room(&bench.unit.mshrs), MSHRS - 1);
    CHECK_EQUAL_U64(bench.world.completions, 0);
    answer(9);
    CHECK_EQUAL_U64(bench.world.completions, 5);
    CHECK_EQUAL_U64(gpc_mshr_room(&bench.unit.mshrs), MSHRS);
}

/* A walk of all transactions ends at the entries that were never in use. */
TEST(mshr_walks_pass_every_entry_that_was_in_use)
{
    gpc_mshr_table_t table;
    REQUIRE(gpc_mshr_init(&table, fresh_arena(), 4, 4, 32, 128, false) == 0);
    CHECK_EQUAL_U64(*table.high, 0);
    gpc_index_t a = gpc_mshr_take(&table, 128, 1);
    CHECK_EQUAL_U64(*table.high, a + 1);
    gpc_index_t b = gpc_mshr_take(&table, 256, 1);
    CHECK_EQUAL_U64(*table.high, b + 1);
    gpc_mshr_give(&table, a);
    CHECK_EQUAL_U64(gpc_mshr_take(&table, 384, 1), a);
    CHECK_EQUAL_U64(*table.high, 2);
    gpc_mshr_clear(&table);
    CHECK_EQUAL_U64(*table.high, 0);
}
