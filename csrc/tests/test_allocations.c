/* test_allocations.c: does every failed allocation end in GPC_ERROR_MEMORY, without leaks and double frees?
 *
 * The test is linked with malloc, calloc, realloc and mmap wrapped (meson.build): the N-th call fails, for every N
 * until the whole scenario passes. Under AddressSanitizer (make asan) a leak or a double free fails the test as well.
 */
#define _DEFAULT_SOURCE /* off_t */
#include <sys/mman.h>

#include "controller/describe.h"
#include "gpu_bench.h"
#include "protocols/registry.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__real_mmap(void *address, size_t length, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *address, size_t length, int protection, int flags, int file, off_t offset);

static uint64_t calls, failing_call; /* 0: none fails */

static bool
fails(void)
{
    return ++calls == failing_call;
}

void *
__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

void *
__wrap_mmap(void *address, size_t length, int protection, int flags, int file, off_t offset)
{
    return fails() ? MAP_FAILED : __real_mmap(address, length, protection, flags, file, offset);
}

static const gpc_protocol_t *protocol;
static gpc_text_t expected; /* the result of an exploration in which no call fails */

/* A GPU is made, filled, launched, read, saved, restored and described; the first failure ends it. */
static int
live(gpc_gpu_t *gpu)
{
    gpc_address_t address = 0;
    gpc_snapshot_t *snapshot = NULL;
    uint32_t words[256] = {0};
    gpc_text_t text;
    int code = gpc_gpu_allocate(gpu, 4096, &address);

    if (code != 0) {
        return code;
    }
    gpc_text_init(&text);
    code = gpc_gpu_host_write(gpu, address, 256, words);
    code = code != 0 ? code : RUN_PROGRAM((&(bench_t){gpu, address}), add_and_store, 4096, 4, 64);
    code = code != 0 ? code : gpc_gpu_host_read(gpu, address, 256, words);
    code = code != 0 ? code : gpc_gpu_snapshot(gpu, &snapshot);
    code = code != 0 ? code : gpc_gpu_restore(gpu, snapshot);
    code = code != 0 ? code : gpc_gpu_statistics(gpu, &text);
    code = code != 0 ? code : gpc_gpu_print_state(gpu, &text);
    gpc_snapshot_free(snapshot);
    gpc_text_free(&text);
    return code;
}

static int
make_and_live(void)
{
    gpc_machine_t machine = test_fermi; /* small, because every allocation costs one run */
    machine.cores = machine.partitions = 2;
    machine.l1_bytes = machine.l2_bytes = 8192;
    machine.requests_per_core = 128;
    gpc_setup_t setup = {.machine = &machine,
                         .protocol = protocol,
                         .rule = GPC_RULE_DEFAULT,
                         .budget = 1000000,
                         .check = GPC_CHECK_PROTOCOL | GPC_CHECK_RACES};
    gpc_gpu_t *gpu = NULL;
    int code = gpc_gpu_create(&setup, &gpu);

    code = code != 0 ? code : live(gpu);
    if (code < 0 && gpu != NULL) {
        CHECK(gpc_gpu_error_text(gpu) != NULL);
    }
    gpc_gpu_free(gpu);
    return code;
}

static int
describe(void)
{
    gpc_text_t text;
    gpc_text_init(&text);
    gpc_describe_whole_protocol(&text, protocol);
    int code = gpc_text_status(&text);
    gpc_text_free(&text);
    return code;
}

static int
explore(void)
{
    static const gpc_explore_op_t store[] = {{1, GPC_ORDER_RELAXED, GPC_SCOPE_GPU, 0, 1, false, 0, false, 0, 0, 0}};
    static const gpc_explore_op_t load[] = {{0, GPC_ORDER_RELAXED, GPC_SCOPE_GPU, 0, 0, false, 0, false, 0, 0, 0}};
    static const gpc_explore_thread_t threads[] = {{0, 1, store}, {1, 1, load}};
    gpc_explore_t what = {.protocol = protocol,
                          .rule = GPC_RULE_DEFAULT,
                          .cores = 2,
                          .variables = 1,
                          .num_threads = 2,
                          .threads = threads,
                          .max_states = 100000};
    gpc_text_t text;
    gpc_text_init(&text);
    int code = gpc_explore(&what, &text);
    if (failing_call == 0) {
        expected = text;
        return code;
    }
    if (code == 0) { /* without its optional tables it must give the same result */
        CHECK_EQUAL_TEXT(text.bytes, expected.bytes);
    }
    gpc_text_free(&text);
    return code;
}

/* Fails call 1, 2, 3 .. of the scenario until it passes without reaching the failing call. */
static void
fail_every_call(int (*scenario)(void), uint64_t least, bool may_do_without)
{
    int code = GPC_ERROR_MEMORY;

    for (uint64_t n = 1; n < 100000; n++) {
        calls = 0;
        failing_call = n;
        code = scenario();
        failing_call = 0;
        if (calls < n) {
            CHECK_EQUAL_I64(code, 0);
            CHECK(n > least); /* the scenario allocates */
            return;
        }
        if (code != GPC_ERROR_MEMORY && !(may_do_without && code == 0)) {
            harness_note("%s, allocation %" PRIu64 ": %s", protocol->id, n, gpc_error_name(code));
            CHECK_EQUAL_I64(code, GPC_ERROR_MEMORY);
            return;
        }
    }
    harness_fail(__FILE__, __LINE__, "the scenario never passes");
}

static void
with_every_protocol(int (*scenario)(void), uint64_t least, bool may_do_without)
{
    for (uint32_t i = 0; i < gpc_protocol_count(); i++) {
        protocol = gpc_protocol_at(i);
        fail_every_call(scenario, least, may_do_without);
    }
}

TEST(a_gpu_meets_the_end_of_memory_anywhere)
{
    with_every_protocol(make_and_live, 10, false);
}

TEST(a_description_meets_the_end_of_memory_anywhere)
{
    with_every_protocol(describe, 0, false);
}

TEST(an_exploration_meets_the_end_of_memory_anywhere)
{
    protocol = &gpc_protocol_ideal; /* the explorer's own storage is the same for all */
    CHECK_EQUAL_I64(explore(), 0);
    fail_every_call(explore, 2, true);
    gpc_text_free(&expected);
}
