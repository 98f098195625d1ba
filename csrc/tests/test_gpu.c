/* test_gpu.c: aborted launches, and the words of a cell. tests/core_api/ has the machine as the binding drives it. */
#include "controller/controller.h"
#include "gpu_bench.h"
#include "machine/parts.h"
#include "protocols/registry.h"

TEST(an_aborted_launch_leaves_a_usable_gpu)
{
    static const gpc_instruction_t forever[] = {LOAD(R1, CONSTANT(0)), TO(0), EXIT};
    bench_t it = bench(&test_fermi, &gpc_protocol_ideal, 4096);
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, 4096, 4, 64), 0);
    CHECK_EQUAL_I64(launch_program(&it, forever, GPC_COUNT_OF(forever), 4096, 4, 64), 0);
    CHECK_EQUAL_I64(gpc_gpu_run(it.gpu, 5000), GPC_RUN_MORE);
    gpc_gpu_abort(it.gpu);
    CHECK_EQUAL_I64(gpc_gpu_verify(it.gpu), 0);
    CHECK_EQUAL_U64(word_at(&it, 0), 256); /* memory has the words of dirty L2 lines */
    CHECK_EQUAL_I64(RUN_PROGRAM(&it, add_and_store, 4096, 4, 64), 0);
    CHECK_EQUAL_U64(word_at(&it, 0), 512);
}

/* ---- tables over words ------------------------------------------------------------------------------------------- */

static const gpc_instruction_t mixed_words[] = {
    READ(R0, THREAD_X),  READ(R1, BLOCK_X),
    OP(ADD, R2, R0, R1), STORE(R2, R0),
    LOAD(R3, R0),        ATOMIC_ADD(R4, R1, CONSTANT(1)),
    OP(ADD, R5, R0, R0), STORE(R5, R3),
    LOAD(R3, R2),        EXIT,
};

/* Looks at each word of a cell alone: it has the cell's state and event. */
static int
look_at_words(void *self, const gpc_observation_t *observed)
{
    gpc_step_t x = *observed->cell.step;
    if (x.table->object != GPC_OVER_WORDS) {
        return GPC_OK;
    }
    for (gpc_mask_t left = x.mask; left; left &= left - 1) {
        x.word = (uint8_t) __builtin_ctz(left);
        x.mask = left & -left;
        CHECK_EQUAL_U64(gpc_fsm_state(&x), x.state);
        CHECK_EQUAL_U64(gpc_fsm_event(&x) & 0x7F, observed->cell.event);
        ++*(uint64_t *) self;
    }
    return GPC_OK;
}

TEST(the_words_of_a_cell_are_alike)
{
    static const char *const protocols[] = {"denovo-drf", "denovo-ro", "denovo-hrf"};
    for (uint32_t i = 0; i < GPC_COUNT_OF(protocols); i++) {
        bench_t it = bench(&test_fermi, gpc_protocol_find(protocols[i]), 1024);
        uint64_t words = 0;
        gpc_subscriber_t subscriber = {.observe = look_at_words, .self = &words};
        gpc_subscribe(&it.gpu->stream, &subscriber, GPC_KIND(CELL));
        CHECK_EQUAL_I64(RUN_PROGRAM(&it, mixed_words, 1024, 24, 32), GPC_RUN_DONE);
        CHECK(words > 1000);
        gpc_unsubscribe(&subscriber);
    }
}
