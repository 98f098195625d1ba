/* launch.c: launching: what comes before the blocks of the first kernels. */
#include "machine/parts.h"

static gpc_tick_t
common_edge(const gpc_gpu_t *gpu)
{
    gpc_tick_t tick = gpc_wheel_now(&gpu->wheel);
    for (uint32_t i = 0; i < 1024; i++) { /* begin the launch at a common clock edge, if one is near */
        gpc_tick_t edge = gpc_clock_edge(gpu->core_clock, tick);
        tick = gpc_clock_edge(gpu->link_clocks[GPC_INTERCONNECT], edge);
        for (uint32_t kind = 0; kind < gpu->nodes.num_kinds; kind++) {
            tick = gpc_clock_edge(gpu->services[kind].clock, tick);
        }
        if (tick == edge) {
            return edge;
        }
    }
    return gpc_clock_edge(gpu->core_clock, gpc_wheel_now(&gpu->wheel));
}

static int
kernel_begin(gpc_gpu_t *gpu)
{
    int status = GPC_OK;
    if (gpu->functional.on) {
        return GPC_OK;
    }
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu) && status == GPC_OK; node++) {
        gpu->queues[node].ended = false;
        status = gpc_controller_launch(&gpu->controllers[node], GPC_MSG_KERNEL_BEGIN);
    }
    GPC_TRY(status);
    return GPC_OBSERVE(&gpu->stream.tap, BEGAN, moment, gpc_gpu_hook_now(gpu));
}

/* Checks that every buffer is inside one allocation. */
static int
check_buffers(gpc_gpu_t *gpu, const gpc_launch_t *launch)
{
    for (uint32_t i = 0; i < launch->num_buffers; i++) {
        const gpc_buffer_t *buffer = &launch->buffers[i];
        if (!gpc_memory_covers(gpu->memory, buffer->address, gpc_buffer_words(buffer))) {
            return gpc_fail(&gpu->failure, GPC_ERROR_ADDRESS,
                            "launch: buffer '%s' of %llu words at 0x%llx: not inside one allocation",
                            buffer->name ? buffer->name : "?", (unsigned long long) gpc_buffer_words(buffer),
                            (unsigned long long) buffer->address);
        }
    }
    return GPC_OK;
}

/* The launch fails, and leaves nothing in flight. */
static int
fail_launch(gpc_gpu_t *gpu, int status)
{
    if (gpu->failure.line != GPC_NEVER) {
        gpc_gpu_add_line_state(gpu);
    }
    gpc_gpu_abort(gpu);
    return gpc_fail(&gpu->failure, status, "%s", gpc_error_message(status));
}

/* What the protocol does before a launch of the kernels that have been added. */
static int
cross_boundary(gpc_gpu_t *gpu)
{
    gpc_boundary_t boundary = {.all = gpu->controllers, .nodes = &gpu->nodes};

    gpc_cores_add_uses(&gpu->cores, &boundary);
    int status = gpc_gpu_cross_boundary(gpu, &boundary);
    return status ? fail_launch(gpu, status) : GPC_OK;
}

void
gpc_gpu_drop_added(gpc_gpu_t *gpu)
{
    gpc_cores_drop_added(&gpu->cores);
}

int
gpc_gpu_launch(gpc_gpu_t *gpu, const gpc_launch_t *launch)
{
    int status = gpc_gpu_refuse_while_running(gpu, "a launch");
    if (status == GPC_OK) {
        status = check_buffers(gpu, launch);
    }
    if (status == GPC_OK && launch->more) {
        status = gpc_cores_add(&gpu->cores, launch);
    }
    if (status) {
        gpc_gpu_drop_added(gpu);
    }
    if (status || launch->more) {
        return status;
    }
    gpc_tick_t start = common_edge(gpu);

    gpu->state->caches_are_empty &= launch->functional;
    gpu->state->launched = start;
    status = launch->functional ? gpc_gpu_begin_functional(gpu) : gpc_gpu_tell_monitors_memory(gpu);
    if (status == GPC_OK) {
        status = gpc_cores_add(&gpu->cores, launch);
    }
    if (status == GPC_OK && gpu->protocol->boundary && !launch->functional) {
        status = cross_boundary(gpu);
    }
    if (status == GPC_OK) {
        gpc_cycle_t at = common_edge(gpu) / gpu->core_clock.period;
        status = gpc_cores_begin(&gpu->cores, start / gpu->core_clock.period, at + gpu->cores.machine->launch_latency);
    }
    if (status) {
        gpc_gpu_drop_added(gpu);
        gpc_cores_clear(&gpu->cores);
        gpc_gpu_end_functional(gpu);
        return gpc_fail(&gpu->failure, status, "%s", gpc_error_message(status));
    }
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        gpu->controllers[node].program_fences = gpc_program_fences(&gpc_cores_launched(&gpu->cores)->program);
    }
    gpu->state->running = true;
    gpu->state->finished = false;
    gpu->state->blocks_ended = 0;
    gpu->state->budget_ends = gpu->budget > (GPC_NEVER - start) / gpu->core_clock.period
                                  ? GPC_NEVER
                                  : start + gpu->budget * gpu->core_clock.period;
    gpu->state->launches++;
    gpu->state->pauses_at = GPC_NEVER;
    gpc_gpu_begin_work_monitor(gpu);
    gpc_gpu_hang_begin(gpu);
    status = kernel_begin(gpu);
    return status ? fail_launch(gpu, status) : GPC_OK;
}
