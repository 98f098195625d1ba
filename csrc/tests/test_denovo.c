/* test_denovo.c: do acquires of gpu-* and denovo-* drop in one pass what their tables say, and are there as many states
 * as the headers say? */
#include "protocols/denovo/denovo.h"
#include "protocols/registry.h"
#include "tests/controller_bench.h"

enum { LINE = 0x1000, OTHER = 0x2000 };

/* ---- acquires ---------------------------------------------------------------------------------------------------- */

TEST(an_acquire_of_gpu_drf_drops_every_line_and_bars_the_fills_in_flight)
{
    const gpc_protocol_t *protocol = gpc_protocol_find("gpu-drf");

    bench_begin(protocol, 0, &bench_small_machine);
    (void) bench_place(0, 0, LINE, "L1_V");
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, bench_message(GPC_MSG_LOAD, OTHER, 1)), GPC_OK);
    CHECK_EQUAL_U64(bench.world.sent_type, bench_message_type(protocol, "READ"));
    CHECK_EQUAL_I64(protocol->order.acquire(&bench.unit, 0, GPC_SCOPE_GPU), GPC_OK);
    CHECK_EQUAL_U64(gpc_tags_find(&bench.unit.arrays[0], LINE), GPC_NONE);
    CHECK_EQUAL_U64(bench_entered(0, "L1_V", "L1_ACQUIRE"), 1);
    CHECK_EQUAL_U64(bench_entered(0, "L1_IV", "L1_ACQUIRE"), 1);
    CHECK_EQUAL_U64(bench.unit.statistics->self_invalidations, 1);
    CHECK_EQUAL_I64(
        gpc_controller_take(&bench.unit, bench_message(bench_message_type(protocol, "DATA"), OTHER, 0xffff)), GPC_OK);
    CHECK_EQUAL_U64(bench.world.completions, 1); /* serves the load, and is not kept */
    CHECK_EQUAL_U64(gpc_tags_find(&bench.unit.arrays[0], OTHER), GPC_NONE);
}

TEST(an_acquire_of_denovo_drf_keeps_registered_words)
{
    const gpc_protocol_t *protocol = gpc_protocol_find("denovo-drf");

    bench_begin(protocol, 0, &bench_small_machine);
    uint8_t v = bench_state(bench.unit.type->tables[0], "L1_V"), r = bench_state(bench.unit.type->tables[0], "L1_R");
    uint8_t *mixed = gpc_tags_word_states(&bench.unit.arrays[0], bench_place(0, 0, LINE, NULL));
    uint8_t *valid = gpc_tags_word_states(&bench.unit.arrays[0], bench_place(0, 0, OTHER, NULL));
    mixed[0] = mixed[2] = valid[5] = v;
    mixed[1] = r;
    CHECK_EQUAL_I64(protocol->order.acquire(&bench.unit, 0, GPC_SCOPE_GPU), GPC_OK);
    CHECK_EQUAL_U64(mixed[0], 0);
    CHECK_EQUAL_U64(mixed[1], r);
    CHECK_EQUAL_U64(mixed[2], 0);
    CHECK_EQUAL_U64(gpc_tags_find(&bench.unit.arrays[0], OTHER), GPC_NONE); /* no word is left */
    CHECK_EQUAL_U64(bench_entered(0, "L1_V", "L1_ACQUIRE"), 3);
}

TEST(an_acquire_of_denovo_ro_keeps_read_only_words_to_the_end_of_the_kernel)
{
    const gpc_protocol_t *protocol = gpc_protocol_find("denovo-ro");

    bench_begin(protocol, 0, &bench_small_machine);
    uint8_t vo = bench_state(bench.unit.type->tables[0], "L1_VO");
    uint8_t *states = gpc_tags_word_states(&bench.unit.arrays[0], bench_place(0, 0, LINE, NULL));
    states[3] = vo;
    CHECK_EQUAL_I64(protocol->order.acquire(&bench.unit, 0, GPC_SCOPE_GPU), GPC_OK);
    CHECK_EQUAL_U64(states[3], vo);
    CHECK_EQUAL_I64(gpc_controller_launch(&bench.unit, GPC_MSG_KERNEL_BEGIN), GPC_OK);
    CHECK_EQUAL_U64(gpc_tags_find(&bench.unit.arrays[0], LINE), GPC_NONE);
}

/* ---- reads ------------------------------------------------------------------------------------------------------- */

TEST(a_load_waits_for_the_answer_that_may_bring_its_word)
{
    const gpc_protocol_t *protocol = gpc_protocol_find("denovo-drf");

    bench_begin(protocol, 0, &bench_small_machine);
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, bench_message(GPC_MSG_LOAD, LINE, 1)), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, bench_message(GPC_MSG_LOAD, LINE, 2)), GPC_OK);
    CHECK_EQUAL_U64(bench.world.sends, 1); /* one READ */
    gpc_index_t data = bench_message(bench_message_type(protocol, "DATA"), LINE, 0xffff);
    gpc_demanded_message(gpc_msg_at(&bench.messages, data))->demanded = 1;
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, data), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_replay(&bench.unit), GPC_OK);
    CHECK_EQUAL_U64(bench.world.completions, 2);
    CHECK_EQUAL_U64(bench.world.sends, 1);
}

TEST(a_load_whose_word_the_answer_does_not_bring_is_requested)
{
    const gpc_protocol_t *protocol = gpc_protocol_find("denovo-drf");

    bench_begin(protocol, 0, &bench_small_machine);
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, bench_message(GPC_MSG_LOAD, LINE, 1)), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, bench_message(GPC_MSG_LOAD, LINE, 2)), GPC_OK);
    gpc_index_t data = bench_message(bench_message_type(protocol, "DATA"), LINE, 1);
    gpc_demanded_message(gpc_msg_at(&bench.messages, data))->demanded = 1;
    CHECK_EQUAL_I64(gpc_controller_take(&bench.unit, data), GPC_OK);
    CHECK_EQUAL_I64(gpc_controller_replay(&bench.unit), GPC_OK);
    CHECK_EQUAL_U64(bench.world.completions, 1);
    CHECK_EQUAL_U64(bench.world.sends, 2);
    CHECK_EQUAL_U64(bench.world.sent_mask, 2);
}

/* ---- states and options ------------------------------------------------------------------------------------------ */

TEST(a_buffer_of_words_must_hold_a_line)
{
    gpc_failure_t failure;
    int64_t options[GPC_MAX_OPTIONS] = {[GPC_SB_OPTION_ENTRIES] = 15, [GPC_SB_OPTION_ENTRY] = GPC_SB_WORD};

    gpc_failure_clear(&failure);
    CHECK_EQUAL_I64(gpc_sb_check(&bench_small_machine, options, &failure), GPC_ERROR_OPTION);
    options[GPC_SB_OPTION_ENTRIES] = 16;
    CHECK_EQUAL_I64(gpc_sb_check(&bench_small_machine, options, &failure), GPC_OK);
}
