/* test_prompt.c: do prompt messages leave a controller at once, and pass those in its pipeline? SRC's acknowledgement
 * of a store. */
#include "controller/resolve.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"
#include "protocols/spatiotemporal/stc.h"

enum { WORDS = 1 << 12 };

/* One clock, so that times are equal to the cycle. */
static bench_t
src_with(int64_t ack)
{
    gpc_machine_t machine = test_fermi;
    gpc_option_value_t option = {"ack", ack};

    machine.l2_mhz = machine.noc_mhz = machine.core_mhz;
    return BENCH_WITH(WORDS, .machine = &machine, .protocol = &gpc_protocol_src, .options = &option, .num_options = 1);
}

/* Core cycles of a store to word 0 by block 1, some cycles after block 0 has loaded a word of the same bank, which the
 * L2 has. */
static uint32_t
store_takes(bench_t *it, bool beside_a_load)
{
    const gpc_instruction_t program[] = {
        READ(R0, BLOCK_X),
        IF(R0, 4, 12),
        LOAD(R1, CONSTANT(beside_a_load ? 8 : 11)), /* word 512: of the store's bank; 256: of another */
        TO(12),
        NOP,
        NOP,
        READ(R2, CLOCK),
        STORE(CONSTANT(0), CONSTANT(1)),
        OP(FENCE, NONE, NONE, NONE),
        READ(R3, CLOCK),
        KEEP_CLOCKS(R2, R3),
        EXIT,
    };
    for (uint32_t launch = 0; launch < 2; launch++) { /* the first one fills the L2 */
        CHECK_EQUAL_I64(RUN_PROGRAM(it, program, WORDS, 2, 1), 0);
    }
    return cycles_kept(it);
}

TEST(prompt_message_leaves_without_the_pipeline)
{
    bench_t seen = src_with(STC_ACK_SEEN), pipeline = src_with(STC_ACK_PIPELINE);
    const gpc_service_t *l2 = gpc_gpu_service(seen.gpu, (gpc_node_t) seen.gpu->machine.cores);
    uint32_t stages = l2->pipeline_stages;

    CHECK(stages > 10);
    CHECK_EQUAL_U64(store_takes(&seen, false) + stages, store_takes(&pipeline, false));
}

TEST(prompt_message_passes_data_in_the_pipeline)
{
    bench_t alone = src_with(STC_ACK_SEEN), beside = src_with(STC_ACK_SEEN);

    CHECK_EQUAL_U64(store_takes(&beside, true), store_takes(&alone, false));
}

TEST(a_prompt_message_on_an_ordered_network_is_refused)
{
    static const gpc_message_info_t messages[] = {{.name = "ONE"}, {.name = "OTHER", .network = 1}};
    gpc_protocol_t protocol = {.id = "own",
                               .messages = messages,
                               .num_messages = 2,
                               .networks = {{.name = "loose"}, {.name = "strict", .ordered = true}}};
    gpc_failure_t failure;

    for (uint32_t message = 0; message < 2; message++) {
        gpc_failure_clear(&failure);
        protocol.prompt.messages = GPC_MESSAGE_BIT(GPC_MSG_OWN + message);
        CHECK_EQUAL_I64(gpc_protocol_check_prompt(&protocol, &failure), message ? GPC_ERROR_PROTOCOL : 0);
    }
    CHECK(strstr(failure.text, "OTHER is prompt, and its network 'strict' is ordered") != NULL);
}
