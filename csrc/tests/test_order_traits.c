/* test_order_traits.c: what does a warp wait for in the machine under a protocol's rule and hooks? In the explorer: the
 * planted bugs of traits and hooks. */
#include "gpu_bench.h"
#include "protocols/registry.h"

/* The instruction, then a load of the order, by one thread: cycles from one's issue to the other's. */
static uint32_t
until_load(const char *protocol, gpc_instruction_t instruction, gpc_memory_order_t order)
{
    gpc_instruction_t program[] = {READ(R0, CLOCK), instruction,         LOAD(R1, CONSTANT(7)),
                                   READ(R2, CLOCK), KEEP_CLOCKS(R0, R2), EXIT};
    program[2].order = (uint8_t) order;
    const gpc_option_value_t sync = {"sync_sc", 1}; /* an acquire waits for the answers to the warp's release stores */
    bench_t it = BENCH_WITH(1024, .machine = &test_fermi, .protocol = gpc_protocol_find(protocol), .options = &sync,
                            .num_options = strcmp(protocol, "qr") == 0);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, program, 1024, 1, 1), 0);
    return cycles_kept(&it);
}

static uint32_t
load_after_store(const char *protocol, gpc_memory_order_t order, gpc_memory_order_t of_load)
{
    gpc_instruction_t store = STORE(CONSTANT(0), CONSTANT(1));
    store.order = (uint8_t) order;
    return until_load(protocol, store, of_load);
}

TEST(a_warp_waits_for_its_synchronisation_store)
{
    CHECK(load_after_store("gpu-drf", GPC_ORDER_WEAK, GPC_ORDER_WEAK) < 10);
    CHECK(load_after_store("gpu-drf", GPC_ORDER_RELAXED, GPC_ORDER_WEAK) > 100);
    CHECK(load_after_store("gpu-drf", GPC_ORDER_RELEASE, GPC_ORDER_WEAK) > 100);
    CHECK(load_after_store("gpu-hrf", GPC_ORDER_RELEASE, GPC_ORDER_WEAK) > 100);
}

TEST(an_order_hook_sends_and_waits_for_the_answer)
{
    const gpc_instruction_t fence = FENCE_SC;
    CHECK(until_load("gpu-vi", fence, GPC_ORDER_WEAK) < 10);
    CHECK(until_load("qr", fence, GPC_ORDER_WEAK) > 100);
    CHECK(load_after_store("qr", GPC_ORDER_RELAXED, GPC_ORDER_WEAK) < 10);
    CHECK(load_after_store("qr", GPC_ORDER_RELAXED, GPC_ORDER_ACQUIRE) > 100);
}
