/* load_path.c: prints the calls of one load that misses in the L1 and the L2, for tools/load_path.py: `+` and the
 * offset of each function that is entered, `-` for each return. Core and test are compiled with -finstrument-functions
 * (meson.build). */
#include "gpu_bench.h"
#include "protocols/registry.h"

#define BARE __attribute__((no_instrument_function))

BARE void __cyg_profile_func_enter(void *function, void *caller);
BARE void __cyg_profile_func_exit(void *function, void *caller);

extern const char __executable_start[]; /* by the linker */
static bool recording;

void
__cyg_profile_func_enter(void *function, void *caller)
{
    (void) caller;
    if (recording) {
        printf("+%" PRIxPTR "\n", (uintptr_t) function - (uintptr_t) __executable_start);
    }
}

void
__cyg_profile_func_exit(void *function, void *caller)
{
    (void) function, (void) caller;
    if (recording) {
        puts("-");
    }
}

BEFORE_TESTS
{
    static const gpc_instruction_t program[] = {LOAD(R1, CONSTANT(0)), MOVE(R2, R1), EXIT};
    gpc_machine_t machine = test_fermi;
    machine.cores = machine.partitions = 1;
    bench_t it = bench(&machine, &gpc_protocol_gpu_vi, 1024);
    if (launch_program(&it, program, GPC_COUNT_OF(program), 1024, 1, 1) != 0) {
        exit(EXIT_FAILURE);
    }
    recording = true;
    int status = gpc_gpu_run(it.gpu, 100000);
    recording = false;
    exit(status == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}
