/* test_cpu_cache.c: what a launch pays for lines that the host has left dirty in the CPU's cache. The L2 has a line per
 * partition: words 0 and 512 displace each other, so that every load of one after the other goes to memory. */
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"
#include "small_programs.h"

enum { WORDS = 4096, WORD_0 = 0, WORD_128 = 7, WORD_512 = 8, L2_HIT = 340, EXTRA = 100 + 8 };

static gpc_machine_t
machine_with(uint32_t cpu_lines)
{
    gpc_machine_t machine = test_fermi;
    machine.dram_model = 0;
    machine.l2_bytes = machine.line_bytes;
    machine.l2_ways = 1;
    machine.cpu_bytes = cpu_lines * machine.line_bytes;
    machine.cpu_ways = cpu_lines < 16 ? cpu_lines : 16;
    return machine;
}

static bench_t
bench_with(uint32_t cpu_lines)
{
    gpc_machine_t machine = machine_with(cpu_lines);
    return bench(&machine, &gpc_protocol_no_l1, WORDS);
}

static void
host_writes(bench_t *it, uint64_t word)
{
    uint32_t value = 7;
    CHECK_EQUAL_I64(gpc_gpu_host_write(it->gpu, it->address + 4 * word, 1, &value), 0);
}

static uint32_t
cycles_of_load(bench_t *it, uint32_t constant)
{
    return load_of(it, constant, WORDS, 1);
}

static uint64_t
dram_writes(const gpc_gpu_t *gpu)
{
    uint64_t sum = 0;
    for (uint32_t channel = 0; channel < gpc_gpu_channels(gpu); channel++) {
        sum += gpu->dram.statistics[channel].writes;
    }
    return sum;
}

/* ---- reads ------------------------------------------------------------------------------------------------------- */

TEST(cpu_cache_makes_a_read_pay_probe_and_transfer_once)
{
    bench_t without = bench_with(0), it = bench_with(64);
    host_writes(&without, 0);
    host_writes(&it, 0);
    uint32_t usual = cycles_of_load(&without, WORD_0);
    CHECK(usual > L2_HIT);
    CHECK_EQUAL_U64(cycles_of_load(&it, WORD_0), usual + EXTRA);
    CHECK_EQUAL_U64(it.gpu->cpu.state->probes, 1);
    CHECK_EQUAL_U64(it.gpu->cpu.state->transfers, 1);
    CHECK_EQUAL_U64(dram_writes(it.gpu), dram_writes(without.gpu) + 1);

    CHECK_EQUAL_U64(cycles_of_load(&it, WORD_0), L2_HIT);
    CHECK_EQUAL_U64(cycles_of_load(&it, WORD_512), usual);
    CHECK_EQUAL_U64(cycles_of_load(&it, WORD_0), usual); /* memory's again, and clean */
    CHECK_EQUAL_U64(it.gpu->cpu.state->probes, 1);
}

TEST(cpu_cache_costs_nothing_for_a_line_that_the_host_did_not_write)
{
    bench_t without = bench_with(0), it = bench_with(64);
    host_writes(&it, 32); /* the next line */
    CHECK_EQUAL_U64(cycles_of_load(&it, WORD_0), cycles_of_load(&without, WORD_0));
    CHECK_EQUAL_U64(it.gpu->cpu.state->probes, 0);
}

/* One warp loads 32 lines, all of them dirty in the CPU's cache. */
static uint64_t
cycles_of_32_transfers(uint32_t transfer_cycles)
{
    static const gpc_instruction_t loads[] = {READ(R0, THREAD_X), OP(MUL, R0, R0, CONSTANT(6)), LOAD(R1, R0),
                                              MOVE(R2, R1), EXIT};
    uint32_t zeros[2048] = {0};
    gpc_machine_t machine = machine_with(64);
    machine.cpu_transfer_cycles = transfer_cycles;
    bench_t it = bench(&machine, &gpc_protocol_no_l1, WORDS);
    CHECK_EQUAL_I64(gpc_gpu_host_write(it.gpu, it.address, GPC_COUNT_OF(zeros), zeros), 0);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, loads, WORDS, 1, 32), 0);
    CHECK_EQUAL_U64(it.gpu->cpu.state->transfers, 32);
    return gpc_gpu_cycles(it.gpu);
}

TEST(cpu_cache_transfers_lines_one_after_another)
{
    uint64_t slow = cycles_of_32_transfers(300), slower = cycles_of_32_transfers(400);
    CHECK_EQUAL_U64(slower - slow, 32 * 100);
}

/* ---- writes, capacity, state ------------------------------------------------------------------------------------- */

TEST(cpu_cache_makes_a_write_pay_the_probe_and_drops_the_line)
{
    static const gpc_instruction_t store[] = {STORE(CONSTANT(0), CONSTANT(3)), EXIT};
    bench_t without = bench_with(0), it = bench_with(64), *both[] = {&without, &it};
    uint32_t words[2] = {0, 0}, cycles[2][2];
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_EQUAL_I64(RUN_PROGRAM(both[i], store, WORDS, 1, 1), 0);
        host_writes(both[i], 1); /* the L2's dirty copy of the line gets the word, too */
        cycles[i][0] = cycles_of_load(both[i], WORD_512);
        cycles[i][1] = cycles_of_load(both[i], WORD_0);
    }
    CHECK_EQUAL_U64(it.gpu->cpu.state->probes, 1); /* by the write-back of the evicted copy */
    CHECK_EQUAL_U64(it.gpu->cpu.state->transfers, 0);
    CHECK_EQUAL_U64(cycles[1][0], cycles[0][0]);
    CHECK_EQUAL_U64(cycles[1][1], cycles[0][1]);
    CHECK_EQUAL_U64(dram_writes(it.gpu), dram_writes(without.gpu));
    CHECK_EQUAL_I64(gpc_gpu_host_read(it.gpu, it.address, 2, words), 0);
    CHECK_EQUAL_U64(words[0], 3);
    CHECK_EQUAL_U64(words[1], 7);
}

TEST(cpu_cache_delays_the_answer_to_a_write_by_the_probe)
{
    bench_t it = bench_with(64);
    gpc_controller_t *bank = &it.gpu->controllers[it.gpu->machine.cores];
    gpc_address_t line = it.address;
    uint32_t words[GPC_MAX_LINE_WORDS] = {0};
    uint64_t note = 0;
    (void) cycles_of_load(&it, WORD_512); /* its messages are the free ones */
    host_writes(&it, 0);
    for (gpc_tick_t ready = 100 * it.gpu->core_clock.period;; ready = 0) { /* the first write, and the second one */
        gpc_index_t answer = gpc_pool_take(&it.gpu->messages);
        gpc_pool_give(&it.gpu->messages, answer); /* the message that is taken next */
        CHECK_EQUAL_I64(gpc_gpu_ports.write_memory(it.gpu, bank, line, 1, words, &note), 0);
        CHECK_EQUAL_U64(gpc_msg_at(&it.gpu->messages, answer)->ready, ready);
        if (ready == 0) {
            break;
        }
    }
}

TEST(cpu_cache_replaces_the_oldest_line)
{
    bench_t without = bench_with(0), it = bench_with(2);
    uint32_t usual = cycles_of_load(&without, WORD_0);
    host_writes(&it, 0);
    host_writes(&it, 512);
    host_writes(&it, 1); /* of the line of word 0, which becomes the newest */
    host_writes(&it, 128);
    CHECK_EQUAL_U64(cycles_of_load(&it, WORD_512), usual);
    CHECK_EQUAL_U64(cycles_of_load(&it, WORD_128), usual + EXTRA);
    CHECK_EQUAL_U64(cycles_of_load(&it, WORD_0), usual + EXTRA);
    CHECK_EQUAL_U64(it.gpu->cpu.state->probes, 2);
}

TEST(a_snapshot_restores_it_and_a_reset_keeps_its_lines)
{
    bench_t it = bench_with(64);
    gpc_snapshot_t *snapshot;
    host_writes(&it, 0);
    host_writes(&it, 128);
    CHECK_EQUAL_I64(gpc_gpu_snapshot(it.gpu, &snapshot), 0);
    uint32_t first = cycles_of_load(&it, WORD_0);
    CHECK_EQUAL_I64(gpc_gpu_restore(it.gpu, snapshot), 0);
    CHECK_EQUAL_U64(it.gpu->cpu.state->probes, 0);
    CHECK_EQUAL_U64(cycles_of_load(&it, WORD_0), first);
    gpc_gpu_reset_statistics(it.gpu);
    CHECK_EQUAL_U64(it.gpu->cpu.state->probes, 0);
    CHECK_EQUAL_U64(cycles_of_load(&it, WORD_128), first);
    CHECK_EQUAL_U64(it.gpu->cpu.state->probes, 1);
    gpc_snapshot_free(snapshot);
}

TEST(every_place_of_the_memory_queue_may_write_a_line_of_the_cpu)
{
    static const gpc_instruction_t stores[] = {READ(R0, THREAD_X),           READ(R1, BLOCK_X),
                                               OP(MUL, R0, R0, CONSTANT(5)), OP(ADD, R0, R0, R1),
                                               STORE(R0, CONSTANT(3)),       EXIT};
    static uint32_t zeros[8192];
    gpc_machine_t machine = machine_with(256);
    machine.dram_queue = 1;
    machine.l2_bytes = 4 * machine.line_bytes;
    bench_t it = bench(&machine, &gpc_protocol_no_l1, GPC_COUNT_OF(zeros));
    CHECK_EQUAL_I64(gpc_gpu_host_write(it.gpu, it.address, GPC_COUNT_OF(zeros), zeros), 0);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, stores, GPC_COUNT_OF(zeros), 8, 256), 0);
    CHECK(it.gpu->cpu.state->probes >= 256);
}

TEST(sets_that_are_not_whole_are_refused)
{
    gpc_machine_t machine = test_fermi;
    machine.cpu_bytes = 1000;
    expect_no_gpu(&machine, &gpc_protocol_no_l1, "cpu_bytes = 1000: must be whole sets of 16 ways of 128-byte lines");
}
