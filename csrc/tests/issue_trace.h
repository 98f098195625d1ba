/* issue_trace.h: a launch that begins at cycle 0 of a fresh world of cores, and who issues in which cycle. */
#ifndef GPC_TESTS_ISSUE_TRACE_H
#define GPC_TESTS_ISSUE_TRACE_H

#include "core/state.h"
#include "core_world.h"

#define OF_WARP(n) READ(U | (n), WARP)
#define OF_BLOCK(n) READ(U | (n), BLOCK_X)

/* ---- who issues in which cycle ----------------------------------------------------------------------------------- */

enum { MOST_ISSUES = 2048 };

static struct {
    gpc_stream_t stream;
    gpc_subscriber_t subscriber;
    struct {
        gpc_cycle_t at;
        uint32_t core, warp;
    } issues[MOST_ISSUES];
    uint32_t count;
    char text[8 * MOST_ISSUES];
} trace;

/* A warp that is selected issues, unless it then waits. */
static inline int
note(void *self, const gpc_observation_t *event)
{
    (void) self;
    bool selects = event->kind == GPC_ON_SELECTED;
    uint32_t core = selects ? event->selected.core : event->waits.core,
             warp = selects ? event->selected.warp : event->waits.warp, last = trace.count - 1;
    if (selects && trace.count < MOST_ISSUES) {
        trace.issues[trace.count].at = world.now;
        trace.issues[trace.count].core = core;
        trace.issues[trace.count++].warp = warp;
    } else if (!selects && trace.count != 0 && trace.issues[last].at == world.now && trace.issues[last].core == core &&
               trace.issues[last].warp == warp) {
        trace.count--;
    }
    return GPC_OK;
}

/* The warps that issue on a core, "0 1 01 . 2": a word a cycle, from cycle 0 on. */
static inline const char *
issues_of(uint32_t core)
{
    char *out = trace.text;
    gpc_cycle_t at = 0;
    bool any = false;
    for (uint32_t i = 0; i < trace.count; i++) {
        if (trace.issues[i].core != core) {
            continue;
        }
        for (; at < trace.issues[i].at; at++, any = false) {
            out += sprintf(out, any ? " " : ". ");
        }
        out += sprintf(out, "%" PRIu32, trace.issues[i].warp);
        any = true;
    }
    *out = 0;
    return trace.text;
}

/* The cycle of the warp's last instruction. */
static inline gpc_cycle_t
end_of(uint32_t core, uint32_t warp)
{
    gpc_cycle_t at = GPC_NEVER;
    for (uint32_t i = 0; i < trace.count; i++) {
        at = trace.issues[i].core == core && trace.issues[i].warp == warp ? trace.issues[i].at : at;
    }
    return at;
}

/* A fresh world, whose issues are noted. */
static inline void
begin_traced(void)
{
    world_begin();
    trace.count = 0;
    gpc_stream_init(&trace.stream);
    gpc_stream_connect(&trace.stream, &world.cores.tap);
    trace.subscriber = (gpc_subscriber_t) {.observe = note};
    gpc_subscribe(&trace.stream, &trace.subscriber, GPC_KIND(SELECTED) | GPC_KIND(WAITS));
}

/* Runs the launch at cycle 0 of a fresh world. */
static inline void
run_launch(const gpc_launch_t *launch, gpc_rule_t rule)
{
    begin_traced();
    world.order.rule = rule;
    CHECK_EQUAL_I64(world_run(launch), 0);
}

enum { C_FIRST = C | 12, C_SECOND }; /* constants of a test */

static inline gpc_launch_t
launch_with(const gpc_instruction_t *code, uint32_t count, uint32_t threads, uint32_t first, uint32_t second)
{
    static uint32_t constants[14];
    gpc_launch_t launch = world_launch(code, count, 1, threads);
    memcpy(constants, launch.constants, 12 * sizeof *constants);
    constants[12] = first;
    constants[13] = second;
    launch.constants = constants;
    launch.num_constants = launch.program.constants = 14;
    launch.program.shared_words = 2048;
    return launch;
}

static inline const char *
issues(const gpc_instruction_t *code, uint32_t count, uint32_t blocks, uint32_t threads)
{
    gpc_launch_t launch = world_launch(code, count, blocks, threads);
    run_launch(&launch, GPC_RULE_RC);
    return issues_of(0);
}

enum { ROUND_ROBIN, GREEDY };

static inline void
small_core(uint32_t scheduler, uint32_t alu_latency)
{
    world_reset();
    world.machine.scheduler = scheduler;
    world.machine.alu_latency = alu_latency;
}

#endif
