/* test_prototype_steps.c: the controller executes steps of the prototype tables and of TC-Weak's: guards, pre-events, words, entries, unit
 * tables, transactions without a way. */
#include "protocols/registry.h"
#include "protocols/temporal/tc.h"
#include "tests/controller_bench.h"
#include "tests/prototypes.h"

enum { LINE = 0x1000 };

static const gpc_machine_t machine = {.cores = 4,
                                      .warps_per_core = 8,
                                      .l1_bytes = 8192,
                                      .l1_ways = 4,
                                      .l1_mshrs = 8,
                                      .line_bytes = 64,
                                      .partitions = 1,
                                      .interleave_bytes = 64,
                                      .l2_bytes = 8192,
                                      .l2_ways = 4,
                                      .l2_mshrs = 8,
                                      .flit_bytes = 32,
                                      .timestamp_bits = 32};

static void
begin(bench_t *self, const gpc_protocol_t *protocol, uint32_t controller)
{
    bench_begin(self, protocol, controller, &machine);
}

static gpc_index_t
request(bench_t *self, uint8_t type, gpc_mask_t mask)
{
    return bench_message(self, type, LINE, mask);
}

static gpc_index_t
place(bench_t *self, uint8_t array, uint8_t table, const char *state)
{
    return bench_place(self, array, table, LINE, state);
}

static const gpc_protocol_t *
tc_weak(void)
{
    return gpc_protocol_find("tc-weak");
}

/* ---- steps by the real controller -------------------------------------------------------------------------------- */

static void
an_expired_copy_is_dropped_before_the_load_is_looked_up(void)
{
    bench_t bench;
    begin(&bench, tc_weak(), 0);
    gpc_index_t way = place(&bench, 0, 0, "L1_V");
    gpc_cycle_t *timestamp = gpc_tags_fields(&bench.unit.arrays[0], way);

    *timestamp = bench.world.now = 50; /* a lease is valid in its last cycle */
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, request(&bench, GPC_MSG_LOAD, 1)), GPC_OK);
    CHECK_EQUAL_U64(bench_entered(&bench, 0, "L1_V", "L1_LOAD"), 1);
    bench.world.now = 51;
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, request(&bench, GPC_MSG_LOAD, 1)), GPC_OK);
    CHECK_EQUAL_U64(bench_entered(&bench, 0, "L1_V", "L1_EXPIRE"), 1);
    CHECK_EQUAL_U64(bench_entered(&bench, 0, "L1_I", "L1_LOAD"), 1);
    CHECK_EQUAL_U64(bench_entered(&bench, 0, "L1_V", "L1_LOAD"), 1);
    bench_end(&bench);
}

static void
an_expired_copy_is_evicted_like_any_other(void)
{
    bench_t bench;
    begin(&bench, tc_weak(), 0);
    gpc_cycle_t *timestamp = gpc_tags_fields(&bench.unit.arrays[0], place(&bench, 0, 0, "L1_V"));
    *timestamp = 50;
    bench.world.now = 51;
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EVICT, LINE), GPC_OK);
    CHECK_EQUAL_U64(bench_entered(&bench, 0, "L1_V", "L1_EXPIRE"), 0);
    CHECK_EQUAL_U64(bench_entered(&bench, 0, "L1_V", "L1_EVICT"), 1);
    CHECK_EQUAL_U64(gpc_tags_find(&bench.unit.arrays[0], LINE), GPC_NONE);
    bench_end(&bench);
}

static void
an_expired_copy_with_stores_under_way_is_no_victim(void)
{
    bench_t bench;
    begin(&bench, tc_weak(), 0);
    gpc_cycle_t *timestamp = gpc_tags_fields(&bench.unit.arrays[0], place(&bench, 0, 0, "L1_VM"));
    *timestamp = 50;
    bench.world.now = 51;
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EVICT, LINE), GPC_UNFIT_VICTIM);
    CHECK(gpc_tags_find(&bench.unit.arrays[0], LINE) != GPC_NONE);
    bench_end(&bench);
}

static void
a_release_waits_until_the_gwct_has_passed(void)
{
    bench_t bench;
    gpc_cycle_t until = 0;
    begin(&bench, tc_weak(), 0);
    gpc_cycle_t *gwct = (gpc_cycle_t *) (void *) (bench.unit.warp_fields + (size_t) 3 * bench.unit.warp_fields_size);
    *gwct = 70;
    bench.world.now = 70;
    CHECK_EQUAL_I64(tc_weak()->order.release(&bench.unit, 3, GPC_SCOPE_GPU, &until), GPC_HOLD);
    CHECK_EQUAL_U64(until, 71);
    bench.world.now = 71;
    CHECK_EQUAL_I64(tc_weak()->order.release(&bench.unit, 3, GPC_SCOPE_GPU, &until), GPC_OK);
    CHECK_EQUAL_I64(tc_weak()->order.release(&bench.unit, 2, GPC_SCOPE_GPU, &until), GPC_OK);
    bench_end(&bench);
}

static void
an_evicted_lease_lives_in_a_transaction_without_a_way(void)
{
    bench_t bench;
    begin(&bench, tc_weak(), 1);
    tc_l2_line_t *line = gpc_tags_fields(&bench.unit.arrays[0], place(&bench, 0, 0, "L2_P"));
    line->timestamp = 90;
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EVICT, LINE), GPC_OK);
    CHECK_EQUAL_U64(gpc_tags_find(&bench.unit.arrays[0], LINE), GPC_NONE);
    gpc_index_t mshr = gpc_mshr_find(&bench.unit.mshrs, LINE);
    REQUIRE(mshr != GPC_NONE);
    CHECK_EQUAL_U64(gpc_mshr_at(&bench.unit.mshrs, mshr)->way, GPC_NONE);
    CHECK_EQUAL_U64(bench.unit.type->idle_until(&bench.unit, mshr), 91);
    bench.world.now = 91;
    CHECK_EQUAL_I64(gpc_controller_cause(&bench.unit, GPC_MSG_EXPIRE, LINE), GPC_OK);
    CHECK_EQUAL_U64(gpc_mshr_find(&bench.unit.mshrs, LINE), GPC_NONE);
    bench_end(&bench);
}

static void
a_loads_event_depends_on_its_words_in_the_write_cache(void)
{
    bench_t bench;
    begin(&bench, &prototype_quickrelease, 0);
    (void) place(&bench, 0, 0, "RL1_VW");
    gpc_mask_t *dirty = gpc_tags_fields(&bench.unit.arrays[1], place(&bench, 1, 1, "WL1_DIRTY"));
    *dirty = 3;
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, request(&bench, GPC_MSG_LOAD, 3)), GPC_OK);
    CHECK_EQUAL_U64(bench_entered(&bench, 0, "RL1_VW", "RL1_LOAD_COVERED"), 1);
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, request(&bench, GPC_MSG_LOAD, 6)), GPC_OK);
    CHECK_EQUAL_U64(bench_entered(&bench, 0, "RL1_VW", "RL1_LOAD_SOME"), 1);
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, request(&bench, GPC_MSG_LOAD, 8)), GPC_OK);
    CHECK_EQUAL_U64(bench_entered(&bench, 0, "RL1_P", "RL1_LOAD_NONE"), 1);
    bench_end(&bench);
}

static void
a_block_at_the_head_of_the_fifo_waits_for_a_marker(void)
{
    bench_t bench;
    begin(&bench, &prototype_quickrelease, 0);
    gpc_part_t *part = &bench.unit.parts[0];
    const gpc_table_t *table = bench.unit.type->tables[2];
    gpc_index_t block = gpc_part_take(part, LINE), marker = gpc_part_take(part, LINE);
    (void) place(&bench, 1, 1, "WL1_DIRTY");
    part->states[block] = bench_state(table, "FIFO_BLOCK");
    *(gpc_address_t *) gpc_part_fields(part, block) = LINE;

    CHECK_EQUAL_I64(gpc_controller_entry(&bench.unit, 2, 0, block, GPC_MSG_REPLAY, GPC_NONE), GPC_HELD_QUEUE);
    CHECK_EQUAL_I64(gpc_controller_entry(&bench.unit, 2, 0, marker, GPC_MSG_RELEASE, GPC_NONE), GPC_OK);
    CHECK_EQUAL_U64(part->states[marker], bench_state(table, "FIFO_MARKER"));
    CHECK_EQUAL_I64(gpc_controller_entry(&bench.unit, 2, 0, block, GPC_MSG_REPLAY, GPC_NONE), GPC_OK);
    CHECK_EQUAL_U64(bench_entered(&bench, 2, "FIFO_BLOCK", "FIFO_POP_DIRTY"), 1);
    CHECK_EQUAL_I64(gpc_controller_entry(&bench.unit, 2, 0, marker, GPC_MSG_REPLAY, GPC_NONE), GPC_OK);
    CHECK_EQUAL_U64(part->states[marker], bench_state(table, "FIFO_FREE"));
    bench_end(&bench);
}

static void
a_compute_unit_drains_before_it_is_ready(void)
{
    bench_t bench;
    begin(&bench, &prototype_epochs, 0);
    const gpc_described_t *described = bench.unit.type->unit();
    uint32_t *writes = NULL;
    for (uint16_t i = 0; i < described->count; i++) {
        if (strcmp(described->fields[i].name, "writes") == 0) {
            writes = (uint32_t *) (void *) ((uint8_t *) bench.unit.unit_fields + described->fields[i].offset);
        }
    }
    REQUIRE(writes != NULL);
    const uint8_t *state = &bench.unit.unit_states[1];
    const gpc_table_t *table = bench.unit.type->tables[1];
    *writes = 2;
    CHECK_EQUAL_I64(
        gpc_controller_take(&bench.unit, request(&bench, bench_message_type(&prototype_epochs, "PREPARE"), 0)), GPC_OK);
    CHECK_EQUAL_U64(*state, bench_state(table, "CU_DRAIN"));
    CHECK_EQUAL_I64(
        gpc_controller_take(&bench.unit, request(&bench, bench_message_type(&prototype_epochs, "WRITE_ACK"), 0)),
        GPC_OK);
    CHECK_EQUAL_U64(*state, bench_state(table, "CU_DRAIN"));
    CHECK_EQUAL_I64(
        gpc_controller_take(&bench.unit, request(&bench, bench_message_type(&prototype_epochs, "WRITE_ACK"), 0)),
        GPC_OK);
    CHECK_EQUAL_U64(*state, bench_state(table, "CU_READY"));
    CHECK_EQUAL_I64(
        gpc_controller_take(&bench.unit, request(&bench, bench_message_type(&prototype_epochs, "CHANGE"), 0)), GPC_OK);
    CHECK_EQUAL_U64(*state, bench_state(table, "CU_RUN"));
    bench_end(&bench);
}

static void
the_epoch_unit_sets_its_own_timer_and_broadcasts_to_every_core(void)
{
    bench_t bench;
    begin(&bench, &prototype_epochs, 1);
    CHECK_EQUAL_I64(gpc_controller_unit(&bench.unit, 0, GPC_MSG_KERNEL_BEGIN, GPC_NONE), GPC_OK);
    CHECK_EQUAL_U64(bench.world.woken_at, 100);
    gpc_index_t demand = request(&bench, bench_message_type(&prototype_epochs, "DEMAND"), 0);
    gpc_msg_at(&bench.messages, demand)->fields[2] = 0x3000; /* the address */
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, demand), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_unit(&bench.unit, 0, GPC_MSG_TIMER, GPC_NONE), GPC_OK);
    CHECK_EQUAL_U64(bench.world.broadcasts, 1);
    CHECK_EQUAL_U64(bench.world.broadcast_to.bits[0], 0xf);
    for (uint32_t core = 0; core < machine.cores; core++) {
        CHECK_EQUAL_U64(bench.world.broadcasts, 1);
        CHECK_EQUAL_I64(
            gpc_controller_take(&bench.unit, request(&bench, bench_message_type(&prototype_epochs, "READY"), 0)),
            GPC_OK);
    }
    CHECK_EQUAL_U64(bench.world.broadcasts, 2);
    CHECK_EQUAL_U64(bench.world.wakes, 2);
    bench_end(&bench);
}

static void
an_impossible_event_is_a_protocol_error_that_names_both_sides(void)
{
    bench_t bench;
    begin(&bench, &prototype_epochs, 0);
    CHECK_EQUAL_I64(
        gpc_controller_take(&bench.unit, request(&bench, bench_message_type(&prototype_epochs, "CHANGE"), 0)),
        GPC_ERROR_PROTOCOL);
    CHECK(strstr(bench.failure.text, "CU_RUN") != NULL);
    CHECK(strstr(bench.failure.text, "CU_CHANGE") != NULL);
    bench_end(&bench);
}

int
main(void)
{
    RUN(an_expired_copy_is_dropped_before_the_load_is_looked_up);
    RUN(an_expired_copy_is_evicted_like_any_other);
    RUN(an_expired_copy_with_stores_under_way_is_no_victim);
    RUN(a_release_waits_until_the_gwct_has_passed);
    RUN(an_evicted_lease_lives_in_a_transaction_without_a_way);
    RUN(a_loads_event_depends_on_its_words_in_the_write_cache);
    RUN(a_block_at_the_head_of_the_fifo_waits_for_a_marker);
    RUN(a_compute_unit_drains_before_it_is_ready);
    RUN(the_epoch_unit_sets_its_own_timer_and_broadcasts_to_every_core);
    RUN(an_impossible_event_is_a_protocol_error_that_names_both_sides);
    return harness_end();
}
