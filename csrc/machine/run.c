/* run.c: run and abort. */
#include <string.h>

#include "machine/windows.h"

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Any event but a core's cycle. */
static inline int
handle(gpc_gpu_t *gpu, const gpc_event_t *event)
{
    switch ((gpc_event_kind_t) event->kind) {
        case GPC_EVENT_CONTROLLER:
            return gpc_gpu_controller_event(gpu, (gpc_node_t) event->target);
        case GPC_EVENT_OUTBOX:
            return gpc_gpu_outbox_event(gpu, (gpc_node_t) event->target);
        case GPC_EVENT_SEND:
            return gpc_gpu_send(gpu, &gpu->controllers[event->target], event->argument);
        case GPC_EVENT_CROSSED:
            return gpc_gpu_crossed(gpu, (gpc_node_t) event->target, event->argument);
        case GPC_EVENT_LINK:
            return gpc_gpu_link_event(gpu, event->target);
        case GPC_EVENT_NETWORK_ARRIVE:
        case GPC_EVENT_NETWORK_GRANT:
        case GPC_EVENT_OTHER_ARRIVE:
        case GPC_EVENT_OTHER_GRANT: /* one call for all, which is inlined */
            return gpc_network_event(&gpu->links[gpc_network_of_event(event)], event);
        case GPC_EVENT_DRAM_ANSWER:
        case GPC_EVENT_DRAM:
            return gpc_dram_event(&gpu->dram, event);
        case GPC_EVENT_TIMER:
            return gpc_gpu_timer(gpu, (gpc_node_t) event->target, event->argument);
        case GPC_EVENT_CORE:
        case GPC_EVENT_LAUNCH:
        case GPC_NUM_EVENT_KINDS:
            break;
    }
    return gpc_fail(&gpu->failure, GPC_ERROR_STATE, "unknown event %u", event->kind);
}

int
gpc_gpu_pause_at(gpc_gpu_t *gpu, gpc_cycle_t cycle)
{
    gpc_gpu_state_t *state = gpu->state;
    if (!state->running) {
        gpc_failure_clear(&gpu->failure);
        return gpc_fail(&gpu->failure, GPC_ERROR_STATE, "no launch is running");
    }
    gpc_cycle_t now = gpc_gpu_cycles(gpu), left = cycle > now ? cycle - now : 1;
    gpc_tick_t from = state->launched + (now - state->cycles) * gpu->core_clock.period;
    bool far = left > (GPC_NEVER - from) / gpu->core_clock.period;
    state->pauses_at = far ? GPC_NEVER : from + left * gpu->core_clock.period;
    gpc_gpu_set_checkpoint(gpu, state->checks_at);
    return GPC_OK;
}

bool
gpc_gpu_is_paused(const gpc_gpu_t *gpu)
{
    return gpu->state->paused_at != 0;
}

gpc_cycle_t
gpc_gpu_kernel_end(const gpc_gpu_t *gpu, uint32_t number)
{
    gpc_cycle_t end = gpc_cores_kernel_end(&gpu->cores, number);
    return end ? end - gpu->state->launched / gpu->core_clock.period : 0;
}

bool
gpc_gpu_is_running(const gpc_gpu_t *gpu)
{
    return gpu->state->running;
}

/* The event is the first one at or after the pause: all cycles before are counted. */
static int
pause_before(gpc_gpu_t *gpu, const gpc_event_t *event)
{
    gpc_gpu_state_t *state = gpu->state;
    state->deferred = *event;
    state->paused_at = state->pauses_at;
    state->pauses_at = GPC_NEVER;
    gpc_gpu_set_checkpoint(gpu, state->checks_at);
    GPC_TRY(gpc_cores_count_until(&gpu->cores, state->paused_at / gpu->core_clock.period));
    return GPC_RUN_MORE;
}

/* The time limit is the next look, if it precedes the checkpoint. */
static int
next_look(gpc_gpu_t *gpu)
{
    gpc_gpu_set_checkpoint(gpu, gpu->state->checks_at);
    return GPC_OK;
}

static int
checkpoint(gpc_gpu_t *gpu, const gpc_event_t *event)
{
    if (event->tick >= gpu->state->pauses_at) {
        return pause_before(gpu, event);
    }
    int status = event->tick > gpu->state->looks_at ? gpc_gpu_look_for_work(gpu, event) : GPC_OK;
    if (status == GPC_OK) {
        status = event->tick > gpu->state->checks_at ? gpc_gpu_checkpoint(gpu, event->tick) : next_look(gpu);
    }
    if (status == GPC_ERROR_BUDGET) {
        return gpc_gpu_fail_over_budget(gpu);
    }
    return status == GPC_ERROR_DEADLOCK ? gpc_gpu_fail_hanging(gpu) : status;
}

/* Rollovers of the protocol's timestamps since the begin of the launch; 0 for a protocol without timestamps. */
static uint64_t
rollovers(const gpc_gpu_t *gpu)
{
    gpc_tick_t period = gpu->core_clock.period, now = gpc_wheel_now(&gpu->wheel);
    uint32_t bits = gpu->machine.timestamp_bits;
    return gpu->protocol->keeps_time && !gpu->protocol->logical_time
               ? (now / period >> bits) - (gpu->state->launched / period >> bits)
               : 0;
}

/* All blocks have ended: the launch's time ends; remaining write-backs and events are drained. */
static inline __attribute__((always_inline)) void
note_finish(gpc_gpu_t *gpu)
{
    gpc_gpu_state_t *state = gpu->state;
    if (!state->finished && gpc_cores_finished(&gpu->cores)) {
        state->finished = true;
        state->cycles += (gpc_wheel_now(&gpu->wheel) - state->launched) / gpu->core_clock.period;
        state->rollovers += rollovers(gpu);
    }
}

/* ---- protocols that handle the end of a launch ------------------------------------------------------------------- */

static inline bool
handles_end(const gpc_gpu_t *gpu)
{
    return gpu->ends && !gpu->functional.on;
}

static int
end_at(gpc_gpu_t *gpu, gpc_node_t node)
{
    if (gpu->queues[node].ended) {
        return GPC_OK;
    }
    gpu->queues[node].ended = true;
    int status = gpc_controller_launch(&gpu->controllers[node], GPC_MSG_KERNEL_END);
    return status == GPC_HELD_QUEUE ? GPC_OK : status; /* retried at the controller's events */
}

/* After a cycle of the core: sends its L1 KERNEL_END, and after the last block of the launch all other controllers. */
static int
send_kernel_end(gpc_gpu_t *gpu, uint32_t core)
{
    int status = gpc_cores_ran_dry(&gpu->cores, core) ? end_at(gpu, (gpc_node_t) core) : GPC_OK;

    if (gpu->state->blocks_ended || !gpc_cores_finished(&gpu->cores)) {
        return status;
    }
    gpu->state->blocks_ended = gpc_wheel_now(&gpu->wheel);
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu) && status == GPC_OK; node++) {
        status = end_at(gpu, (gpc_node_t) node);
    }
    return status;
}

/* No event is left: the launch is over, unless a KERNEL_END is held. */
static int
note_drained(gpc_gpu_t *gpu)
{
    gpc_tick_t launched = gpu->state->launched, period = gpu->core_clock.period, ended = gpu->state->blocks_ended;

    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        if (*gpu->controllers[node].launch_pending) {
            return GPC_OK;
        }
    }
    note_finish(gpu);
    gpc_cycle_t longer = (gpc_wheel_now(&gpu->wheel) - launched) / period - (ended - launched) / period;
    return gpu->state->finished ? gpc_cores_drained(&gpu->cores, longer) : GPC_OK;
}

/* The core has no warps: its last block may have ended, or the launch's. */
static int
after_last_warp(gpc_gpu_t *gpu, uint32_t core)
{
    if (gpu->cores.order->exit_releases) {
        GPC_TRY(gpc_cores_begin_next(&gpu->cores, gpc_gpu_cycle(gpu) + 1 + gpu->cores.machine->launch_latency));
    }
    if (handles_end(gpu)) {
        return send_kernel_end(gpu, core);
    }
    note_finish(gpu);
    return GPC_OK;
}

/* Out of line: few runs have background timers. */
__attribute__((noinline)) static bool
only_background_is_left(const gpc_gpu_t *gpu)
{
    return gpc_wheel_holds_only(&gpu->wheel, gpu->state->background.count) &&
           !(gpu->state->serving && !gpc_cores_finished(&gpu->cores));
}

/* Only background timers are left, or serving ones and no warp. */
static int
end_of_events(gpc_gpu_t *gpu)
{
    if (gpu->boundary) {
        return GPC_RUN_DONE;
    }
    if (gpu->state->background.count) {
        gpc_gpu_drop_background_timers(gpu);
    }
    int status = gpu->checks.tries ? gpc_gpu_look_for_work(gpu, NULL) : GPC_OK;
    GPC_TRY(status);
    if (handles_end(gpu)) {
        status = note_drained(gpu);
    } else {
        note_finish(gpu);
    }
    GPC_TRY(status);
    if (!gpu->state->finished) {
        return gpc_gpu_fail_deadlock(gpu);
    }
    gpu->state->running = false;
    status = gpc_gpu_check_conservation(gpu);
    if (status == GPC_OK) {
        status = GPC_OBSERVE(&gpu->stream.tap, ENDED, moment, gpc_gpu_hook_now(gpu));
    }
    GPC_TRY(status);
    if (gpu->functional.on) {
        gpc_gpu_end_functional(gpu);
    }
    return GPC_RUN_DONE;
}

static inline bool
is_beyond_limit(const gpc_gpu_t *gpu, gpc_tick_t tick)
{
    return tick > gpu->state->limit && !gpu->state->finished;
}

/* Out of line: rare. */
__attribute__((noinline)) static int
checkpoint_cycle(gpc_gpu_t *gpu, uint32_t core)
{
    const gpc_event_t event = {
        .tick = gpc_wheel_now(&gpu->wheel), .kind = GPC_EVENT_CORE, .priority = GPC_PRIORITY_CORE, .target = core};
    return checkpoint(gpu, &event);
}

static int
held(gpc_gpu_t *gpu, int status)
{
    return status < 0 ? status : gpc_fail(&gpu->failure, GPC_ERROR_STATE, "internal error: an event was held");
}

static inline int
run_event(gpc_gpu_t *gpu, const gpc_event_t *event)
{
    int status = is_beyond_limit(gpu, event->tick) ? checkpoint(gpu, event) : GPC_OK;
    GPC_TRY(status);
    gpu->state->events++;
    gpc_gpu_count_event(gpu, event);
    status = handle(gpu, event);
    return status ? held(gpu, status) : GPC_OK;
}

/* A cycle of a core. Warps end in such events only. */
static inline int
run_cycle(gpc_gpu_t *gpu, uint32_t core, gpc_cycle_t cycle)
{
    int status = is_beyond_limit(gpu, gpc_wheel_now(&gpu->wheel)) ? checkpoint_cycle(gpu, core) : GPC_OK;
    gpc_cycle_result_t result;
    GPC_TRY(status);
    gpu->state->events++;
    gpc_gpu_count_event(gpu,
                        &(gpc_event_t){.tick = gpc_wheel_now(&gpu->wheel), .kind = GPC_EVENT_CORE, .target = core});
    status = gpc_cores_cycle(&gpu->cores, core, cycle, &result);
    if (status == GPC_OK && result.next != GPC_NEVER) {
        status = gpc_gpu_schedule_cycle(gpu, core, result.next);
    }
    if (status) {
        return held(gpu, status);
    }
    return result.has_warps ? GPC_OK : after_last_warp(gpu, core);
}

/* Out of line: its caller keeps its variables in memory, because of setjmp. */
__attribute__((noinline)) static int
run_events(gpc_gpu_t *gpu, uint64_t events)
{
    gpc_event_t event;
    gpc_cycle_t cycle;
    uint32_t core;
    bool deferred = gpu->state->paused_at != 0; /* a pause ends this function */
    int status = GPC_OK;

    for (; events != 0 && status == GPC_OK; events--) {
        if (deferred || !gpc_wheel_take_edge(&gpu->wheel, &cycle, &core)) {
            if (deferred) {
                gpu->state->paused_at = 0;
                event = gpu->state->deferred;
                deferred = false;
            } else if ((gpu->state->background.count && only_background_is_left(gpu)) ||
                       !gpc_wheel_take_listed(&gpu->wheel, &event)) {
                return end_of_events(gpu);
            }
            if (event.kind != GPC_EVENT_CORE) {
                status = run_event(gpu, &event);
                continue;
            }
            core = event.target;
            cycle = gpc_clock_cycles(gpu->core_clock, event.tick);
        }
        status = run_cycle(gpu, core, cycle); /* most events */
    }
    return status == GPC_OK ? GPC_RUN_MORE : status;
}

static int
forget_steps(gpc_gpu_t *gpu)
{
    for (uint32_t node = 0; node < gpc_gpu_nodes(gpu); node++) {
        gpc_controller_forget_steps(&gpu->controllers[node]);
    }
    return gpu->failure.code;
}

/* Runs events, with failures without a status to return caught. */
static int
caught(gpc_gpu_t *gpu, int (*run)(gpc_gpu_t *gpu, uint64_t events), uint64_t events)
{
    jmp_buf escape;
    int status;

    gpu->failure.escape = &escape;
    if (setjmp(escape) == 0) {
        status = run(gpu, events);
    } else {
        status = forget_steps(gpu);
    }
    gpu->failure.escape = NULL;
    return status;
}

/* By run_events, of which a second copy would cost every run 0.3% of its instructions. */
static int
settle(gpc_gpu_t *gpu, uint64_t events)
{
    GPC_TRY(gpu->protocol->boundary(gpu->boundary));
    return run_events(gpu, events);
}

int
gpc_gpu_cross_boundary(gpc_gpu_t *gpu, const gpc_boundary_t *boundary)
{
    gpu->boundary = boundary;
    gpu->state->finished = true; /* no launch has a limit */
    int status = caught(gpu, settle, UINT64_MAX);
    gpu->boundary = NULL;
    return status;
}

/* benchmarks/instructions.py profiles this function by name: link-time optimisation must not inline it. */
__attribute__((noinline, used)) int
gpc_gpu_run(gpc_gpu_t *gpu, uint64_t events)
{
    if (!gpu->state->running) {
        gpc_failure_clear(&gpu->failure);
        return gpc_fail(&gpu->failure, GPC_ERROR_STATE, "no launch is running");
    }
    int status = caught(gpu, run_events, events);
    if (status != GPC_RUN_MORE) {
        gpc_gpu_hang_end(gpu);
    }
    if (status < 0) {
        (void) gpc_fail(&gpu->failure, status, "%s", gpc_error_message(status));
        if (gpu->failure.line != GPC_NEVER) {
            gpc_gpu_add_line_state(gpu);
        }
        gpc_gpu_abort(gpu);
    }
    return status;
}

/* ---- abort ------------------------------------------------------------------------------------------------------- */

void
gpc_gpu_abort(gpc_gpu_t *gpu)
{
    int status = gpc_gpu_empty_caches(gpu);
    (void) status; /* the launch has failed already; lines that cannot be saved are lost */
    gpc_gpu_hang_end(gpu);
    for (uint32_t i = 0; i < gpu->num_links; i++) {
        gpc_network_clear(&gpu->links[i]);
    }
    gpc_dram_clear(&gpu->dram);
    if (gpu->state->running && !gpu->state->finished) {
        gpu->state->cycles += (gpc_wheel_now(&gpu->wheel) - gpu->state->launched) / gpu->core_clock.period;
    }
    gpu->state->sent = gpu->state->received = 0;
    gpu->state->paused_at = 0;
    gpu->state->running = false;
    gpc_gpu_end_functional(gpu);
    gpc_gpu_checks_lost_memory(gpu);
}
