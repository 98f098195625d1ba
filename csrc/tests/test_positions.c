/* test_positions.c: do controllers at the memory side, for the whole machine and at the host work in the machine and
 * in the explorer? By wt, whose L3 is at the memory side, and stc-nv, whose EMU ticks, each with the smallest change
 * that breaks it. */
#include "explorations.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/baseline/baseline.h"
#include "protocols/registry.h"
#include "small_programs.h"
#include "tests/fresh.h"
#include "tests/mutants_parts.h"
#include "tests/places.h"

enum { WORDS = 1024 };

static gpc_machine_t
small_machine(void)
{
    gpc_machine_t machine = test_fermi;
    machine.cores = 2;
    machine.partitions = 2;
    return machine;
}

/* The caller frees it. */
static mutant_t *
changed(const char *id, const gpc_protocol_t *base, const mutant_edit_t *edits)
{
    const mutant_info_t info = {id, "a bug", NULL, edits};
    return mutant_make(&info, base);
}
#define EDITS(...) ((const mutant_edit_t[]) {__VA_ARGS__, {0}})

/* ---- the machine ------------------------------------------------------------------------------------------------- */

/* Stores, a fence, and the cycles that both took as the first word after. */
static const gpc_instruction_t store_and_fence[] = {
    READ(R0, CLOCK),     STORE(CONSTANT(0), CONSTANT(3)), FENCE_SC, READ(R1, CLOCK),
    OP(SUB, R1, R1, R0), STORE(CONSTANT(9), R1),          EXIT,
};
static const gpc_instruction_t copy_word[] = {LOAD(R0, CONSTANT(0)), STORE(CONSTANT(9), R0), EXIT};

/* Of the launch: it ends when its store is performed. */
static uint64_t
cycles_of(bench_t *it)
{
    uint64_t before = it->gpu->state->cycles;
    CHECK_EQUAL_I64(RUN_PROGRAM(it, store_and_fence, WORDS, 1, 1), GPC_RUN_DONE);
    CHECK_EQUAL_U64(word_at(it, 0), 3);
    return it->gpu->state->cycles - before;
}

static gpc_machine_t
machine_with_star(uint32_t model, uint32_t star_latency)
{
    gpc_machine_t machine = small_machine();
    machine.dram_model = model;
    machine.star_latency = star_latency;
    machine.l2_round_trip = 24; /* all of it in the network */
    machine.dram_round_trip = 200;
    machine.l2_ports = machine.star_ports = 2; /* a fill and the request that waited for it in one cycle */
    return machine;
}

TEST(the_round_trip_to_memory_includes_the_star)
{
    static const uint32_t latencies[] = {5, 15};
    for (uint32_t i = 0; i < 8; i++) {
        gpc_machine_t machine = machine_with_star(i / 4, latencies[i / 2 % 2]);
        const gpc_protocol_t *protocol = i % 2 ? &gpc_protocol_wt : &gpc_protocol_gpu_vi;
        bench_t it = bench(&machine, protocol, WORDS);
        CHECK_EQUAL_U64(load_to_use(&it, WORDS, 1), 200);
        machine.l3_latency = 7;
        machine.l2_round_trip = 60; /* an L2 with a pipeline, which requests to the memory side do not pay */
        it = bench(&machine, protocol, WORDS);
        CHECK(it.gpu->services[GPC_AT_BANK].pipeline_ticks > 0);
        CHECK_EQUAL_U64(load_to_use(&it, WORDS, 1), 200);
    }
}

/* Its way to the memory side and back is part of it; a protocol whose stores complete at the L2 does not see it. */
TEST(a_store_completes_at_memory_where_the_protocol_waits_for_its_answer)
{
    const gpc_protocol_t *const protocols[] = {&gpc_protocol_gpu_vi, &gpc_protocol_wt};
    uint32_t cycles[2][2];
    for (uint32_t i = 0; i < 4; i++) {
        gpc_machine_t machine = small_machine();
        machine.star_latency = i / 2 ? 25 : 5;
        bench_t it = bench(&machine, protocols[i % 2], WORDS);
        CHECK_EQUAL_I64(RUN_PROGRAM(&it, store_and_fence, WORDS, 1, 1), GPC_RUN_DONE);
        cycles[i % 2][i / 2] = word_at(&it, 896);
    }
    CHECK_EQUAL_U64(cycles[0][1], cycles[0][0]);
    CHECK_EQUAL_U64(cycles[1][1], cycles[1][0] + 2 * 40); /* a cycle of the network is two of the cores' */
}

TEST(a_round_trip_that_is_too_short_for_the_star_is_an_error)
{
    gpc_machine_t machine = machine_with_star(0, 50);
    expect_no_gpu(
        &machine, &gpc_protocol_wt,
        "dram_round_trip = 200 core cycles: must be at least 233 (l2_round_trip 24 and one cycle, and the star "
        "to the memory side)");
    machine.dram_round_trip = 233;
    (void) bench(&machine, &gpc_protocol_wt, WORDS);
}

TEST(host_writes_reach_the_copy_at_the_memory_side)
{
    mutant_t *forgets = changed("wt!x", &gpc_protocol_wt, EDITS(WITH(host_write, gpc_host_write_alone)));
    const struct {
        const gpc_protocol_t *protocol;
        uint32_t read;
    } cases[] = {{&gpc_protocol_wt, 7}, {&forgets->protocol, 5}};
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        gpc_machine_t machine = small_machine();
        uint32_t five = 5, seven = 7;
        machine.l3_bytes = 1 << 16;
        machine.l3_ways = 8;
        machine.l3_mshrs = 8;
        bench_t it = bench(&machine, cases[i].protocol, WORDS);
        const gpc_node_kind_t *banks = gpc_nodes_at(&it.gpu->nodes, GPC_AT_BANK);
        CHECK_EQUAL_I64(gpc_gpu_host_write(it.gpu, it.address, 1, &five), 0);
        CHECK_EQUAL_I64(RUN_PROGRAM(&it, copy_word, WORDS, 1, 1), GPC_RUN_DONE);
        CHECK_EQUAL_U64(word_at(&it, 896), 5);
        for (uint32_t bank = 0; bank < banks->count; bank++) { /* only the memory side has the line */
            gpc_tags_clear(&it.gpu->controllers[banks->first + bank].arrays[0]);
        }
        CHECK_EQUAL_I64(gpc_gpu_host_write(it.gpu, it.address, 1, &seven), 0);
        CHECK_EQUAL_I64(RUN_PROGRAM(&it, copy_word, WORDS, 1, 1), GPC_RUN_DONE);
        CHECK_EQUAL_U64(word_at(&it, 896), cases[i].read);
    }
    free(forgets);
}

/* ---- homes ------------------------------------------------------------------------------------------------------- */

TEST(memory_units_have_equal_shares_of_the_banks)
{
    const gpc_machine_t machine = {.cores = 2, .partitions = 6, .interleave_bytes = 256};
    gpc_nodes_t nodes = {.kinds = {{.position = GPC_AT_MEMORY, .first = 8}}, .num_kinds = 1};
    gpc_controller_t unit = {.machine = &machine, .nodes = &nodes, .homes = gpc_homes(&machine)};
    for (uint32_t bank = 0; bank < 6; bank++) {
        unit.index = bank;
        nodes.kinds[0].count = 1;
        CHECK_EQUAL_U64(gpc_memory_of(&unit, 256 * (6 + bank) + 128), 8);
        nodes.kinds[0].count = 3;
        CHECK_EQUAL_U64(gpc_memory_of(&unit, 256 * (6 + bank) + 128), 8 + bank / 2);
        CHECK_EQUAL_U64(gpc_memory_above(&unit), 8 + bank / 2);
    }
    nodes.num_kinds = 0;
    CHECK_EQUAL_U64(gpc_memory_of(&unit, 0), GPC_NO_NODE);
}

TEST(a_die_has_an_equal_share_of_cores_and_banks)
{
    gpc_machine_t machine = small_machine();
    gpc_failure_t failure = {0};
    gpc_nodes_t nodes;
    machine.cores = 4;
    for (uint32_t crossing = 0; crossing <= 100; crossing += 100) {
        machine.l2_crossing = crossing;
        REQUIRE(gpc_nodes_list(&nodes, &gpc_protocol_wt, &machine, &failure) == 0);
        static const uint32_t halves[] = {0, 0, 1, 1, 0, 1};
        for (gpc_node_t node = 0; node < 6; node++) {
            CHECK_EQUAL_U64(gpc_die_of(&nodes, node), crossing ? halves[node] : 0);
        }
        CHECK_EQUAL_U64(gpc_die_of(&nodes, 6), GPC_NO_DIE); /* the memory side */
    }
}

GPC_ACTION(act_request_line_elsewhere, "send GETS to the bank after the line's home; the load becomes pending")
{
    gpc_msg_t *msg = gpc_new_request(x, MSG_GETS);
    gpc_node_t first = gpc_node_of(x->unit, GPC_AT_BANK);
    msg->destination = (gpc_node_t) (first + (msg->destination - first + 1u) % x->unit->machine->partitions);
    return gpc_send_and_wait(x, msg);
}

/* The program's result is right: the line comes from memory, and nothing writes it. */
TEST(a_request_to_another_bank_than_the_home_is_seen_by_the_monitors)
{
    mutant_t *lost = changed("gpu-vi!x", &gpc_protocol_gpu_vi,
                             EDITS(REPLACE("L1", "I", "LOAD", "request_line", act_request_line_elsewhere)));
    gpc_machine_t machine = small_machine();
    for (uint32_t check = 0; check < 2; check++) {
        bench_t it = BENCH_WITH(WORDS, .machine = &machine, .protocol = &lost->protocol,
                                .check = check ? GPC_CHECK_PROTOCOL : 0);
        CHECK_EQUAL_I64(RUN_PROGRAM(&it, copy_word, WORDS, 1, 1), check ? GPC_ERROR_INVARIANT : GPC_RUN_DONE);
        CHECK(!check || strstr(gpc_gpu_error_text(it.gpu), "a line is at its home: L2 1 has it, its home is L2 0"));
    }
    free(lost);
}

/* ---- the unit's clock and timer ---------------------------------------------------------------------------------- */

GPC_ACTION(act_background, "set the timer of the next tick, which helps no warp")
{
    return x->unit->ports->wake_at(x->unit->world, x->unit, gpc_now(x) + 100, GPC_NEVER, 0, GPC_TIMER_BACKGROUND);
}

GPC_ACTION(act_ordinary, "set an ordinary timer")
{
    return x->unit->ports->wake_at(x->unit->world, x->unit, gpc_now(x) + 100, GPC_NEVER, 0, GPC_TIMER_NEEDED);
}

static mutant_t *
ticking_by(const gpc_action_t *timer)
{
    return changed("stc-nv!x", &gpc_protocol_stc_nv,
                   EDITS(REPLACE("EMU", "SLEEP", "BEGIN", "timer", timer),
                         REPLACE("EMU", "SLEEP PREP CHG", "TICK_IDLE", "timer", timer)));
}

/* The machine reports a deadlock at once: only the timer is left. */
TEST(a_serving_timer_is_progress_and_a_background_timer_is_not)
{
    mutant_t *background = ticking_by(act_background);
    gpc_machine_t machine = small_machine();
    bench_t it = bench(&machine, &background->protocol, WORDS);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, store_and_fence, WORDS, 1, 1), GPC_ERROR_DEADLOCK);
    free(background);
}

/* A serving timer keeps no finished launch running, an ordinary one every launch. */
TEST(an_ordinary_periodic_timer_keeps_a_launch_running)
{
    mutant_t *ordinary = ticking_by(act_ordinary);
    gpc_machine_t machine = small_machine();
    bench_t it = bench(&machine, &ordinary->protocol, WORDS);
    CHECK_EQUAL_I64(launch_program(&it, copy_word, GPC_COUNT_OF(copy_word), WORDS, 1, 1), 0);
    CHECK_EQUAL_I64(gpc_gpu_run(it.gpu, 1000000), GPC_RUN_MORE);
    gpc_gpu_abort(it.gpu);
    free(ordinary);
}

/* Arrays of two bands: the epoch of each begins after a tick. */
TEST(a_serving_timer_keeps_no_finished_launch_running_and_ticks_in_the_next)
{
    gpc_machine_t machine = small_machine();
    bench_t it = bench(&machine, &gpc_protocol_stc_nv, WORDS), other = it;
    CHECK_EQUAL_I64(gpc_gpu_allocate(it.gpu, WORDS, &other.address), 0);
    for (uint32_t launch = 0; launch < 4; launch++) {
        CHECK(cycles_of(launch % 2 ? &other : &it) > 200);
        CHECK_EQUAL_U64(it.gpu->state->serving, 0);
    }
}

/* Of a change of epochs. */
static uint64_t
cycles_with_clock(uint32_t mhz)
{
    gpc_machine_t machine = small_machine();
    machine.global_mhz = mhz;
    bench_t it = bench(&machine, &gpc_protocol_stc_nv, WORDS);
    cycles_of(&it);
    const uint64_t *counters = it.gpu->controllers[gpc_nodes_at(&it.gpu->nodes, GPC_AT_GLOBAL)->first].own_counters;
    uint64_t cycles = counters[1] / counters[0]; /* change_cycles, changes */
    return cycles;
}

/* The unit takes one input per cycle of its clock: READY and DONE of each core. */
TEST(the_unit_runs_by_its_own_clock)
{
    uint64_t standard = cycles_with_clock(0), fast = cycles_with_clock(2800), slow = cycles_with_clock(35);
    CHECK(fast <= standard);
    CHECK(slow > standard + 2 * 40); /* a cycle of 35 MHz is 40 of the cores' */
}

/* ---- every position ---------------------------------------------------------------------------------------------- */

/* wt, with controllers beside its own that nothing is sent to: one at each position, and so no NULL behind them. Every
 * list of controllers and tables ends where the array does. */
static gpc_protocol_t everywhere;
static gpc_controller_type_t of_all, of_host;

SETS_AND_WAYS(one_way, 1, 1)

static void
put_everywhere(void)
{
    everywhere = gpc_protocol_wt;
    everywhere.id = "everywhere";
    of_all = of_host = *gpc_protocol_wt.controllers[2];
    of_all.position = GPC_AT_GLOBAL;
    of_all.arrays[0].geometry = of_host.arrays[0].geometry = one_way;
    of_all.name = "L3 of all";
    of_host.position = GPC_AT_HOST;
    of_host.name = "L3 of the host";
    everywhere.controllers[3] = &of_all;
    everywhere.controllers[4] = &of_host;
}

TEST(a_protocol_at_every_position_runs_and_is_described)
{
    gpc_machine_t machine = small_machine();

    expect_no_gpu(&machine, &everywhere, "host_units = 0: protocol everywhere needs a controller");
    machine.host_units = 1;
    CHECK_EQUAL_U64(gpc_num_controllers(&everywhere), GPC_NUM_POSITIONS);
    bench_t it = bench(&machine, &everywhere, WORDS);
    cycles_of(&it);
    gpc_text_t *text = fresh_text();
    CHECK_EQUAL_I64(gpc_gpu_statistics(it.gpu, text), 0);
    CHECK_EQUAL_I64(gpc_gpu_trace_names(it.gpu, text), 0);
    CHECK(strstr(text->bytes, "L3 of the host") != NULL);
}

TEST(a_position_that_the_machine_lacks_is_an_error)
{
    gpc_machine_t machine = small_machine();
    machine.global_units = 0;
    expect_no_gpu(&machine, &gpc_protocol_stc_nv, "global_units = 0: protocol stc-nv needs a controller");
}

/* ---- the explorer ------------------------------------------------------------------------------------------------ */

TEST(the_explorer_has_every_position)
{
    gpc_explore_t what = ASK(mp_fences, .protocol = &everywhere, .rule = GPC_RULE_DEFAULT);
    EXPLORE(&what, .never = "1 0 1 1"); /* the flag, not the data */
}

TEST(the_explorer_counts_on_serving_timers_only)
{
    mutant_t *background = ticking_by(act_background);
    gpc_explore_t what = ASK(mp_fences, .protocol = &background->protocol, .rule = GPC_RULE_DEFAULT);
    EXPLORE(&what, .violation = "deadlock");
    free(background);
}

BEFORE_TESTS
{
    put_everywhere();
}
