/* test_prompt.c: do prompt messages leave a controller at once, and pass those in its pipeline? SRC's acknowledgement
 * of a store. */
#include "controller/resolve.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"
#include "protocols/spatiotemporal/stc.h"

enum { WORDS = 1 << 12, BEGUN = 9, ENDED = 10 }; /* constants: words 896 and 960 */

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
        SPECIAL(R0, BLOCK_X),
        {.opcode = GPC_OP_BRANCH,
         .type = GPC_U32,
         .width = 1,
         .a = R0,
         .b = NONE,
         .c = NONE,
         .target = 4,
         .reconverge = 12},
        OP(LOAD, R1, CONSTANT(beside_a_load ? 8 : 11), NONE), /* word 512: of the store's bank; 256: of another */
        {.opcode = GPC_OP_JUMP,
         .type = GPC_U32,
         .width = 1,
         .a = NONE,
         .b = NONE,
         .c = NONE,
         .target = 12,
         .reconverge = 12},
        NOP,
        NOP,
        SPECIAL(R2, CLOCK),
        OP(STORE, NONE, CONSTANT(0), CONSTANT(1)),
        OP(FENCE, NONE, NONE, NONE),
        SPECIAL(R3, CLOCK),
        OP(STORE, NONE, CONSTANT(BEGUN), R2),
        OP(STORE, NONE, CONSTANT(ENDED), R3),
        EXIT,
    };
    uint32_t begun, ended;

    for (uint32_t launch = 0; launch < 2; launch++) { /* the first one fills the L2 */
        CHECK_EQUAL_I64(RUN_PROGRAM(it, program, WORDS, 2, 1), 0);
    }
    CHECK_EQUAL_I64(gpc_gpu_host_read(it->gpu, it->address + 4 * 896, 1, &begun), 0);
    CHECK_EQUAL_I64(gpc_gpu_host_read(it->gpu, it->address + 4 * 960, 1, &ended), 0);
    return ended - begun;
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
