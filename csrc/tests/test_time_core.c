/* test_time_core.c: in which cycle does a core issue, offer and complete? Tables of cycles that were computed by hand,
 * of launches that begin at cycle 0. The name of each test begins with that of its unit. */
#include "core/state.h"
#include "core_world.h"

#define THREAD OP(SPECIAL, .destination = V | 0, .immediate = GPC_SPECIAL_THREAD_X)
#define OF_WARP(n) OP(SPECIAL, .destination = U | (n), .immediate = GPC_SPECIAL_WARP)
#define OF_BLOCK(n) OP(SPECIAL, .destination = U | (n), .immediate = GPC_SPECIAL_BLOCK_X)
#define BARRIER OP(BARRIER, .a = C0, .b = GPC_OPERAND_NONE)
#define STORE(index) OP(STORE, .a = (index), .b = C1)

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
static int
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
static const char *
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
static gpc_cycle_t
end_of(uint32_t core, uint32_t warp)
{
    gpc_cycle_t at = GPC_NEVER;
    for (uint32_t i = 0; i < trace.count; i++) {
        at = trace.issues[i].core == core && trace.issues[i].warp == warp ? trace.issues[i].at : at;
    }
    return at;
}

/* Runs the launch at cycle 0 of a fresh world. */
static void
run_launch(const gpc_launch_t *launch, gpc_rule_t rule)
{
    world_begin();
    world.order.rule = rule;
    trace.count = 0;
    gpc_stream_init(&trace.stream);
    gpc_stream_connect(&trace.stream, &world.cores.tap);
    trace.subscriber = (gpc_subscriber_t){.observe = note};
    gpc_subscribe(&trace.stream, &trace.subscriber, GPC_KIND(SELECTED) | GPC_KIND(WAITS));
    CHECK_EQUAL_I64(world_run(launch), 0);
}

enum { C_FIRST = C | 12, C_SECOND }; /* constants of a test */

static gpc_launch_t
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

static const char *
issues(const gpc_instruction_t *code, uint32_t count, uint32_t blocks, uint32_t threads)
{
    gpc_launch_t launch = world_launch(code, count, blocks, threads);
    run_launch(&launch, GPC_RULE_RC);
    return issues_of(0);
}

/* ---- accounting -------------------------------------------------------------------------------------------------- */

static uint64_t counted[2][GPC_NUM_STALLS + 1]; /* cycles by cause; last: those that issue */

static int
note_counted(void *self, const gpc_observation_t *event)
{
    (void) self;
    counted[event->counted.core][event->counted.cause] += event->counted.cycles;
    return GPC_OK;
}

/* Counts every core's cycles at each multiple of `every`; 0: never. */
static void
run_counted(const gpc_launch_t *launch, gpc_cycle_t every)
{
    gpc_stream_t stream;
    gpc_subscriber_t subscriber = {.observe = note_counted};
    world_begin();
    memset(counted, 0, sizeof counted);
    gpc_stream_init(&stream);
    gpc_stream_connect(&stream, &world.cores.tap);
    gpc_subscribe(&stream, &subscriber, GPC_KIND(COUNTED));
    CHECK_EQUAL_I64(gpc_cores_launch(&world.cores, launch, 0), 0);
    for (gpc_cycle_t at = every; !gpc_cores_finished(&world.cores);) {
        world.now = world_next();
        for (; every != 0 && at <= world.now; at += every) {
            CHECK_EQUAL_I64(gpc_cores_count_until(&world.cores, at), 0);
            for (uint32_t core = 0; core < 2; core++) {
                const gpc_core_statistics_t *s = &world.cores.statistics[core];
                CHECK_EQUAL_U64(s->active_cycles + s->stall_launch, at);
            }
        }
        CHECK_EQUAL_I64(world_step(), 0);
    }
}

/* Whether a run is counted in pieces or whole, every cycle of a core has one cause, which subscribers learn. */
static void
accounting_gives_every_cycle_one_cause(void)
{
    static gpc_core_statistics_t whole[2];
    const gpc_launch_t launch = world_launch(
        CODE(THREAD, OF_WARP(0), OP(AND, .destination = U | 0, .a = U | 0, .b = C1),
             OP(MUL, .destination = U | 0, .a = U | 0, .b = C100), OP(LOAD, .destination = V | 1, .a = V | 0),
             OP(DIV, .destination = V | 2, .a = V | 1, .b = C3), OP(SLEEP, .a = U | 0), BARRIER,
             OP(STORE, .a = V | 0, .b = V | 2), OP(FENCE, .order = GPC_ORDER_SC), OP(EXIT)),
        3, 96);
    for (gpc_cycle_t every = 0; every < 3; every++) {
        world_reset();
        world.machine.cores = 2;
        world.machine.issue_cycles = 3;
        world.machine.blocks_per_core = 1;
        run_counted(&launch, every);
        for (uint32_t core = 0; core < 2; core++) {
            const gpc_core_statistics_t *s = &world.cores.statistics[core];
            if (every == 0) {
                whole[core] = *s;
                CHECK(s->barrier_blocked_cycles > 10 && s->order_blocked_cycles > 40);
            }
            CHECK(memcmp(s, &whole[core], sizeof *s) == 0);
            CHECK_EQUAL_U64(counted[core][GPC_NUM_STALLS], s->issue_cycles);
            for (uint32_t i = 0; i < GPC_NUM_STALLS; i++) {
                CHECK_EQUAL_U64(counted[core][i], s->stalls[i]);
            }
        }
    }
}

/* Warps 0 and 2 arrive at a barrier in cycles 12 and 13, warp 1 sleeps from cycle 10 to 110: it holds up the others. */
static void
accounting_finds_who_holds_up_a_barrier(void)
{
    world_reset();
    world.machine.alu_latency = 1;
    CHECK_EQUAL_I64(
        world_try(CODE(OF_WARP(0), OP(AND, .destination = U | 0, .a = U | 0, .b = C1),
                       OP(MUL, .destination = U | 0, .a = U | 0, .b = C100), OP(SLEEP, .a = U | 0), BARRIER, OP(EXIT)),
                  96),
        0);
    const gpc_core_statistics_t *s = &world.cores.statistics[0];
    CHECK_EQUAL_U64(s->issue_cycles, 3 * 6);
    CHECK_EQUAL_U64(s->stall_sleep, 110 - 14);
    CHECK_EQUAL_U64(s->barrier_blocked_cycles, 110 - 14);
    CHECK_EQUAL_U64(s->stall_barrier, 0);
    CHECK_EQUAL_U64(s->active_cycles, 110 + 4);
}

/* ---- scheduler --------------------------------------------------------------------------------------------------- */

enum { ROUND_ROBIN, GREEDY };

static void
small_core(uint32_t scheduler, uint32_t alu_latency)
{
    world_reset();
    world.machine.scheduler = scheduler;
    world.machine.alu_latency = alu_latency;
}

static void
scheduler_chooses_by_its_policy(void)
{
    small_core(ROUND_ROBIN, 1);
    CHECK_EQUAL_TEXT(issues(CODE(OP(NOP), OP(NOP), OP(EXIT)), 1, 96), "0 1 2 0 1 2 0 1 2");
    small_core(GREEDY, 1);
    CHECK_EQUAL_TEXT(issues(CODE(OP(NOP), OP(NOP), OP(EXIT)), 1, 96), "0 0 0 1 1 1 2 2 2");
}

/* The second instruction waits until cycle 4 or 5. In cycle 5 both warps could issue: the next one, or the same. */
static void
scheduler_passes_a_warp_that_waits(void)
{
    const gpc_instruction_t code[] = {OP(MOVE, .destination = V | 1, .a = C1),
                                      OP(ADD, .destination = V | 2, .a = V | 1, .b = C1), OP(EXIT)};
    small_core(ROUND_ROBIN, 4);
    CHECK_EQUAL_TEXT(issues(code, 3, 1, 64), "0 1 . . 0 1 0 1");
    small_core(GREEDY, 4);
    CHECK_EQUAL_TEXT(issues(code, 3, 1, 64), "0 1 . . 0 0 1 1");
}

/* Block 0 ends in cycle 4, and block 3 takes its warp 0. When warp 1 has ended in cycle 9, warps 0 and 2 are ready, and
 * warp 2 is older. */
static void
scheduler_prefers_the_oldest_warp_not_the_lowest(void)
{
    const gpc_instruction_t code[] = {OF_BLOCK(0),
                                      OP(BRANCH, .a = U | 0, .flags = GPC_FLAG_IF_ZERO, .target = 4, .reconverge = 4),
                                      OP(NOP), OP(NOP), OP(EXIT)};
    small_core(GREEDY, 3);
    world.machine.blocks_per_core = 3;
    CHECK_EQUAL_TEXT(issues(code, 5, 4, 32), "0 1 2 0 0 0 1 1 1 1 2 2 2 2 0 0 0 0");
}

static void
scheduler_issues_on_every_free_port(void)
{
    const gpc_instruction_t code[] = {OP(NOP), OP(NOP), OP(NOP), OP(NOP), OP(EXIT)};
    small_core(ROUND_ROBIN, 1);
    world.machine.issue_width = 2;
    CHECK_EQUAL_TEXT(issues(code + 2, 3, 1, 96), "01 20 12 01 2");
    small_core(ROUND_ROBIN, 1);
    world.machine.issue_width = 4;
    CHECK_EQUAL_TEXT(issues(code + 2, 3, 1, 96), "012 012 012");
    small_core(ROUND_ROBIN, 1);
    world.machine.issue_cycles = 3;
    CHECK_EQUAL_TEXT(issues(code + 2, 3, 1, 32), "0 . . 0 . . 0");
    /* one warp finds the second port when the first is busy; both are free again 3 cycles after they issued */
    small_core(ROUND_ROBIN, 1);
    world.machine.issue_width = 2;
    world.machine.issue_cycles = 3;
    CHECK_EQUAL_TEXT(issues(code, 5, 1, 32), "0 0 . 0 0 . 0");
}

static void
scheduler_begins_each_launch_with_warp_0(void)
{
    gpc_launch_t launch = world_launch(CODE(OP(NOP), OP(EXIT)), 1, 96);
    small_core(ROUND_ROBIN, 1);
    run_launch(&launch, GPC_RULE_RC);
    world.now = 100;
    trace.count = 0;
    CHECK_EQUAL_I64(world_run(&launch), 0);
    CHECK_EQUAL_U64(trace.issues[0].at, 100);
    CHECK_EQUAL_U64(trace.issues[0].warp, 0);
    CHECK_EQUAL_U64(trace.issues[5].at, 105);
}

/* ---- scoreboard: waits by time ----------------------------------------------------------------------------------- */

/* Cycle in which warp 0 ends, which sleeps; warp 1, if there is one, issues in every cycle in which it may. */
static gpc_cycle_t
end_of_sleeper(uint32_t sleeps, uint32_t warps, uint32_t width)
{
    gpc_instruction_t code[256] = {OF_WARP(0), OP(BRANCH, .a = U | 0, .target = 4, .reconverge = 255),
                                   OP(SLEEP, .a = C_FIRST), OP(JUMP, .target = 255)};
    for (uint32_t i = 4; i < 255; i++) {
        code[i] = OP(NOP);
    }
    code[255] = OP(EXIT);
    gpc_launch_t launch = launch_with(code, 256, 32 * warps, sleeps, 0);
    small_core(ROUND_ROBIN, 1);
    world.machine.issue_width = width;
    run_launch(&launch, GPC_RULE_RC);
    return end_of(0, 0);
}

/* A warp that sleeps n cycles issues n cycles later, within the calendar of 64 cycles and beyond it: alone, beside a
 * warp that has issued in the cycle before, so that the other one is next, and beside one that issues in the same
 * cycles. SPECIAL, BRANCH and SLEEP are its first instructions, JUMP and EXIT its last ones. */
static void
scoreboard_wakes_a_warp_in_its_cycle(void)
{
    for (uint32_t sleeps = 1; sleeps < 200; sleeps++) {
        CHECK_EQUAL_U64(end_of_sleeper(sleeps, 1, 1), 2 + sleeps + 1);
        CHECK_EQUAL_U64(end_of_sleeper(sleeps, 2, 1), 4 + sleeps + (sleeps == 1) + 2);
        CHECK_EQUAL_U64(end_of_sleeper(sleeps, 2, 2), 2 + sleeps + 1);
    }
}

/* A division that issues in cycle 0 is ready in cycle 40, a sum of cycle 1 in cycle 5: what needs both, in any order,
 * or overwrites one, waits for the later one. */
static void
scoreboard_waits_for_the_latest_register(void)
{
    static const struct {
        uint16_t a, b, to;
        gpc_cycle_t at;
    } cases[] = {{V | 2, V | 3, V | 4, 40}, {V | 3, V | 2, V | 4, 40}, {V | 3, V | 3, V | 4, 5},
                 {V | 1, V | 1, V | 3, 5},  {V | 3, V | 1, V | 2, 40}, {V | 1, V | 1, V | 4, 2}};
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        small_core(ROUND_ROBIN, 4);
        (void) issues(CODE(OP(DIV, .destination = V | 2, .a = V | 1, .b = C1),
                           OP(ADD, .destination = V | 3, .a = V | 1, .b = C1),
                           OP(ADD, .destination = cases[i].to, .a = cases[i].a, .b = cases[i].b), OP(EXIT)),
                      1, 32);
        CHECK_EQUAL_U64(trace.issues[2].at, cases[i].at);
    }
}

/* One division unit: warp 1 waits for it, not for its registers. */
static void
scoreboard_holds_a_unit_for_its_cycles(void)
{
    const gpc_instruction_t code[] = {OP(DIV, .destination = V | 2, .a = V | 1, .b = C1), OP(EXIT)};
    small_core(ROUND_ROBIN, 1);
    world.machine.division_cycles = 3;
    world.machine.division_latency = 9;
    CHECK_EQUAL_TEXT(issues(code, 2, 1, 64), "0 0 . 1 1");
    CHECK_EQUAL_U64(world.cores.statistics[0].stall_unit, 1); /* cycle 2; in cycle 1 warp 0 issues */
}

/* ---- barrier ----------------------------------------------------------------------------------------------------- */

/* The last warp arrives in cycle 2 and goes on; the others may issue from cycle 3 on. */
static void
barrier_releases_in_the_cycle_after_the_last_arrival(void)
{
    const gpc_instruction_t code[] = {BARRIER, OP(NOP), OP(EXIT)};
    small_core(GREEDY, 1);
    CHECK_EQUAL_TEXT(issues(code, 3, 1, 96), "0 1 2 2 2 0 0 1 1");
    small_core(ROUND_ROBIN, 1);
    world.machine.issue_width = 3;
    CHECK_EQUAL_TEXT(issues(code, 3, 1, 96), "012 012 012");
    small_core(ROUND_ROBIN, 1);
    CHECK_EQUAL_TEXT(issues(CODE(OF_WARP(0), OP(MUL, .destination = U | 0, .a = U | 0, .b = C3), OP(SLEEP, .a = U | 0),
                                 BARRIER, OP(EXIT)),
                            1, 96),
                     "0 1 2 0 1 2 0 1 2 0 1 . . . 2 0 1 2"); /* warp 2 sleeps from 8 to 14 */
}

/* Warp 1 ends in cycle 4, which completes the barrier of warp 0. */
static void
barrier_is_completed_by_the_end_of_a_warp(void)
{
    small_core(ROUND_ROBIN, 1);
    CHECK_EQUAL_TEXT(
        issues(CODE(OF_WARP(0), OP(BRANCH, .a = U | 0, .target = 3, .reconverge = 3), BARRIER, OP(EXIT)), 1, 64),
        "0 1 0 1 0 1 0");
}

/* A store that issues in cycle 0 is offered in cycle 0 and complete 50 + 7 cycles later; only then may the warp
 * arrive. */
static void
barrier_waits_for_older_accesses(void)
{
    world_reset();
    world.hit_delay = 7;
    (void) issues(CODE(STORE(C0), BARRIER, OP(EXIT)), 1, 32);
    CHECK_EQUAL_U64(end_of(0, 0), 50 + 7 + 1);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Cycle of the exit after two accesses and an instruction between them. */
static gpc_cycle_t
end_after(gpc_rule_t rule, gpc_instruction_t first, gpc_instruction_t between, gpc_instruction_t second)
{
    const gpc_instruction_t code[] = {first, between, second, OP(NOP), OP(EXIT)};
    gpc_launch_t launch = world_launch(code, 5, 1, 32);
    world_reset();
    world.hit_delay = 5;
    run_launch(&launch, rule);
    return trace.issues[3].at; /* of the NOP */
}

/* An access that issues in cycle c is complete in c + 55: what waits for it issues in that cycle. */
static void
order_waits_end_when_the_access_completes(void)
{
    const gpc_instruction_t store = STORE(C0), load = OP(LOAD, .destination = V | 1, .a = C64),
                            fence = OP(FENCE, .order = GPC_ORDER_SC), nop = OP(NOP);
    gpc_instruction_t acquire = load, release = OP(STORE, .a = C7, .b = C1);
    acquire.order = GPC_ORDER_ACQUIRE;
    release.order = GPC_ORDER_RELEASE;
    CHECK_EQUAL_U64(end_after(GPC_RULE_RC, store, nop, load), 3);
    CHECK_EQUAL_U64(end_after(GPC_RULE_RC, store, fence, load), 55 + 2);
    CHECK_EQUAL_U64(end_after(GPC_RULE_RC, load, nop, release), 55 + 1);
    CHECK_EQUAL_U64(end_after(GPC_RULE_RC, nop, acquire, store), 1 + 55 + 1);
    CHECK_EQUAL_U64(end_after(GPC_RULE_SC, store, nop, load), 55 + 1);
    CHECK_EQUAL_U64(end_after(GPC_RULE_SC, store, load, store), 55 + 55 + 1);
}

/* Two accesses of one answer each, the first of which takes longer: the warp's fence waits for both. */
static void
order_waits_for_the_latest_of_several(void)
{
    for (uint32_t late = 0; late < 3; late++) {
        world_reset();
        world.hit_delay = 5;
        world.late_line = late * 128;
        world.late_by = late * 10;
        (void) issues(CODE(STORE(C0), STORE(C32), STORE(C64), OP(FENCE, .order = GPC_ORDER_SC), OP(EXIT)), 1, 32);
        /* offered in cycles 0, 1 and 2 */
        gpc_cycle_t last = 2 + 55, delayed = late + 55 + late * 10;
        CHECK_EQUAL_U64(end_of(0, 0), (delayed > last ? delayed : last) + 1);
    }
}

/* Warp w stores to line w in cycle 2 + w, warp 0's takes 100 cycles longer: each fence waits for its own warp's store,
 * and the store's latency is its own. */
static void
order_of_a_warp_is_not_that_of_another(void)
{
    small_core(ROUND_ROBIN, 1);
    world.machine.issue_width = 4;
    world.hit_delay = 5;
    world.late_by = 100;
    (void) issues(CODE(OF_WARP(0), OP(MUL, .destination = U | 0, .a = U | 0, .b = C32), STORE(U | 0),
                       OP(FENCE, .order = GPC_ORDER_SC), OP(EXIT)),
                  1, 96);
    for (uint32_t warp = 0; warp < 3; warp++) {
        CHECK_EQUAL_U64(end_of(0, warp), 2 + warp + 55 + (warp == 0 ? 100 : 0) + 1);
    }
    CHECK_EQUAL_U64(world.cores.statistics[0].store_latency_cycles, 0 + 1 + 2 + 3 * 55 + 100); /* from the issue */
    CHECK_EQUAL_U64(world.cores.statistics[0].served_store_cycles, 3 * 55 + 100);              /* from the offer */
}

/* ---- coalescer --------------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t line_bytes, width, stride, first; /* words, but for the line */
} access_t;

/* 32 lanes load `width` words each, `stride` words apart, from word `first` on; the launch's cycle of the load. */
static gpc_cycle_t
load_strided(const access_t *it)
{
    gpc_instruction_t load = OP(LOAD, .destination = V | 4, .a = V | 1);
    load.width = (uint8_t) it->width;
    const gpc_instruction_t code[] = {THREAD, OP(MUL, .destination = V | 1, .a = V | 0, .b = C_FIRST),
                                      OP(ADD, .destination = V | 1, .a = V | 1, .b = C_SECOND), load, OP(EXIT)};
    gpc_launch_t launch = launch_with(code, 5, 32, it->stride, it->first);
    small_core(ROUND_ROBIN, 1);
    world.machine.line_bytes = it->line_bytes;
    run_launch(&launch, GPC_RULE_RC);
    return 3;
}

/* Computed by hand: the lanes' words are first to first + 31 * stride + width - 1, without gaps of a line. */
static void
coalescer_makes_a_request_per_line(void)
{
    static const struct {
        access_t access;
        uint32_t requests;
    } cases[] = {
        {{128, 1, 0, 5}, 1},    {{128, 1, 1, 0}, 1}, {{128, 1, 1, 1}, 2},   {{128, 1, 1, 31}, 2},  {{128, 1, 2, 0}, 2},
        {{128, 1, 3, 0}, 3},    {{128, 1, 3, 3}, 4}, {{128, 1, 31, 0}, 31}, {{128, 1, 32, 0}, 32}, {{64, 1, 1, 0}, 2},
        {{64, 1, 1, 1}, 3},     {{64, 1, 2, 0}, 4},  {{64, 1, 16, 0}, 32},  {{128, 2, 2, 0}, 2},   {{128, 2, 2, 2}, 3},
        {{128, 2, 32, 30}, 32}, {{128, 4, 4, 0}, 4}, {{128, 4, 4, 28}, 5},  {{64, 4, 4, 0}, 8},    {{64, 4, 4, 4}, 9},
        {{64, 4, 16, 12}, 32},  {{128, 4, 0, 4}, 1},
    };
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        (void) load_strided(&cases[i].access);
        CHECK_EQUAL_U64(world.num_seen, cases[i].requests);
        CHECK_EQUAL_U64(world.cores.statistics[0].loads, cases[i].requests);
    }
}

/* Every stride, width and alignment against lanes that are looked at one after another: a line is requested once, with
 * the words of all of its lanes, in the order of the first lanes, one in a cycle from the cycle of the issue on. */
static void
check_requests(const access_t *it)
{
    gpc_cycle_t issued = load_strided(it);
    gpc_address_t lines[GPC_MAX_LANES];
    gpc_mask_t masks[GPC_MAX_LANES];
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t byte = 4 * (it->first + lane * it->stride), n = 0;
        while (n < count && lines[n] != byte / it->line_bytes * it->line_bytes) {
            n++;
        }
        if (n == count) {
            lines[count] = byte / it->line_bytes * it->line_bytes;
            masks[count++] = 0;
        }
        masks[n] |= ((UINT32_C(1) << it->width) - 1) << byte % it->line_bytes / 4;
    }
    CHECK_EQUAL_U64(world.num_seen, count);
    for (uint32_t n = 0; n < count; n++) {
        CHECK_EQUAL_U64(world.seen[n].line, lines[n]);
        CHECK_EQUAL_U64(world.seen[n].mask, masks[n]);
        CHECK_EQUAL_U64(world.seen[n].at, issued + n);
    }
    CHECK_EQUAL_U64(world.cores.statistics[0].load_latency_cycles, count - 1 + world.latency);
}

static void
coalescer_offers_lines_in_order_one_in_a_cycle(void)
{
    for (uint32_t line_bytes = 64; line_bytes <= 128; line_bytes *= 2) {
        for (uint32_t width = 1; width <= 4; width *= 2) {
            for (uint32_t stride = 0; stride <= 32; stride += width) {
                for (uint32_t first = 0; first <= 3 * width; first += width) {
                    check_requests(&(access_t){line_bytes, width, stride, first});
                }
            }
        }
    }
}

/* Lanes go round 4 lines: each is requested once. */
static void
coalescer_finds_a_line_to_which_lanes_come_back(void)
{
    small_core(ROUND_ROBIN, 1);
    (void) issues(CODE(THREAD, OP(AND, .destination = V | 1, .a = V | 0, .b = C3),
                       OP(MUL, .destination = V | 1, .a = V | 1, .b = C32), OP(LOAD, .destination = V | 4, .a = V | 1),
                       OP(EXIT)),
                  1, 32);
    CHECK_EQUAL_U64(world.num_seen, 4);
    for (uint32_t n = 0; n < 4; n++) {
        CHECK_EQUAL_U64(world.seen[n].line, 128 * n);
        CHECK_EQUAL_U64(world.seen[n].at, 3 + n);
    }
}

/* ---- port and queue ---------------------------------------------------------------------------------------------- */

/* Stores of 4 lines each, in a queue of so many instructions. The first one's last request is taken in cycle 5 (it
 * issues in cycle 2), which is when its place is free: a waiting warp issues in the next cycle. */
static void
queue_has_room_when_the_last_request_is_taken(void)
{
    static const struct {
        uint32_t places;
        const char *expected;
    } cases[] = {{1, "0 0 0 . . . 0 . . . 0 . . . ."},
                 {2, "0 0 0 0 . . 0 . . . . . . . ."},
                 {3, "0 0 0 0 0 . . . . . . . . . ."}};
    const gpc_launch_t launch = launch_with(CODE(THREAD, OP(MUL, .destination = V | 1, .a = V | 0, .b = C_FIRST),
                                                 STORE(V | 1), STORE(V | 1), STORE(V | 1), OP(EXIT)),
                                            32, 4, 0);
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        small_core(ROUND_ROBIN, 1);
        world.machine.load_store_queue = cases[i].places;
        run_launch(&launch, GPC_RULE_RC);
        CHECK(strncmp(issues_of(0), cases[i].expected, strlen(cases[i].expected)) == 0);
        for (uint32_t n = 0; n < 12; n++) {
            CHECK_EQUAL_U64(world.seen[n].at, 2 + n);
        }
    }
}

/* Room for 64 requests: the third store of 32 lines issues when 32 requests are complete, of which the last was offered
 * in cycle 2 + 31. */
static void
queue_waits_for_room_of_a_whole_instruction(void)
{
    for (uint32_t room = 64; room <= 65; room++) {
        small_core(ROUND_ROBIN, 1);
        world.machine.requests_per_core = room;
        world.latency = 100;
        (void) issues(CODE(THREAD, OP(MUL, .destination = V | 1, .a = V | 0, .b = C100), STORE(V | 1), STORE(V | 1),
                           STORE(V | 1), OP(EXIT)),
                      1, 32);
        CHECK_EQUAL_U64(world.seen[63].at, 2 + 63);
        CHECK_EQUAL_U64(world.seen[64].at, room == 64 ? 2 + 31 + 100 : 2 + 30 + 100);
    }
}

/* The port is closed until cycle 20; the four requests then follow one another. */
static void
port_takes_a_held_request_first_and_one_a_cycle(void)
{
    small_core(ROUND_ROBIN, 1);
    world.held_until = 20;
    const gpc_launch_t launch = launch_with(
        CODE(THREAD, OP(MUL, .destination = V | 1, .a = V | 0, .b = C_FIRST), STORE(V | 1), OP(EXIT)), 32, 4, 0);
    run_launch(&launch, GPC_RULE_RC);
    for (uint32_t n = 0; n < 4; n++) {
        CHECK_EQUAL_U64(world.seen[n].at, 20 + n);
        CHECK_EQUAL_U64(world.seen[n].line, 128 * n);
    }
}

/* The L1 takes a held request again in a cycle in which the core has issued: the core offers at once, at an edge of its
 * clock; else in its next cycle, the next one. */
static void
port_is_retried_at_once_or_in_the_next_cycle(void)
{
    for (uint32_t at_edge = 0; at_edge < 2; at_edge++) {
        gpc_launch_t launch = world_launch(CODE(STORE(C0), OP(NOP), OP(EXIT)), 1, 32);
        small_core(ROUND_ROBIN, 1);
        world.held_until = 1000;
        world_begin();
        CHECK_EQUAL_I64(gpc_cores_launch(&world.cores, &launch, 0), 0);
        CHECK_EQUAL_I64(world_step(), 0);
        CHECK_EQUAL_U64(world.num_seen, 0);
        world.held_until = world.events_at[0] = 0;
        CHECK_EQUAL_I64(gpc_cores_retry(&world.cores, 0, at_edge != 0), 0);
        CHECK_EQUAL_U64(world.num_seen, at_edge);
        world.now = 1;
        CHECK_EQUAL_I64(world_step(), 0);
        CHECK_EQUAL_U64(world.num_seen, 1);
        CHECK_EQUAL_U64(world.seen[0].at, 1 - at_edge);
    }
}

/* ---- scratchpad -------------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t banks, stride, lanes, passes; /* lane l accesses word (l mod lanes) * stride */
    bool atomic;
} conflict_t;

/* Runs an access whose lanes take so many passes, then a store, which waits for the scratchpad, and a use of what the
 * access has read, which waits for its latency and for the passes beyond the first. */
static void
check_passes(gpc_instruction_t access, uint32_t stride, uint32_t lanes, uint32_t banks, uint32_t passes)
{
    const gpc_instruction_t code[] = {THREAD,
                                      OP(AND, .destination = V | 1, .a = V | 0, .b = C_SECOND),
                                      OP(MUL, .destination = V | 1, .a = V | 1, .b = C_FIRST),
                                      access,
                                      OP(SHARED_STORE, .a = V | 0, .b = V | 0, .c = GPC_OPERAND_NONE),
                                      OP(MOVE, .destination = V | 3, .a = V | 4),
                                      OP(EXIT)};
    gpc_launch_t launch = launch_with(code, 7, 32, stride, lanes - 1);
    small_core(ROUND_ROBIN, 1);
    world.machine.scratchpad_banks = banks;
    run_launch(&launch, GPC_RULE_RC);
    CHECK_EQUAL_U64(trace.issues[3].at, 3);
    CHECK_EQUAL_U64(trace.issues[4].at, 3 + passes);
    CHECK_EQUAL_U64(trace.issues[5].at, 3 + world.machine.scratchpad_latency + passes - 1);
    CHECK_EQUAL_U64(world.cores.statistics[0].shared_conflict_cycles, passes - 1 + (banks == 16)); /* and the store's */
}

/* Lanes 0 to 31 meet in bank (stride * lane) mod banks: in 32 banks gcd(stride, 32) of them, in 16 banks twice
 * gcd(stride, 16). Lanes of one word are served together, but for atomics. */
static void
scratchpad_serialises_the_lanes_of_a_bank(void)
{
    static const conflict_t cases[] = {
        {32, 1, 32, 1, false},  {32, 2, 32, 2, false},   {32, 3, 32, 1, false},  {32, 4, 32, 4, false},
        {32, 6, 32, 2, false},  {32, 8, 32, 8, false},   {32, 12, 32, 4, false}, {32, 16, 32, 16, false},
        {32, 31, 32, 1, false}, {32, 32, 32, 32, false}, {32, 33, 32, 1, false}, {32, 63, 32, 1, false},
        {32, 1, 1, 1, false},   {32, 1, 2, 1, false},    {32, 32, 4, 4, false},  {32, 16, 4, 2, false},
        {16, 1, 32, 2, false},  {16, 2, 32, 4, false},   {16, 3, 32, 2, false},  {16, 16, 32, 32, false},
        {32, 1, 32, 1, true},   {32, 2, 32, 2, true},    {32, 1, 1, 32, true},   {32, 1, 2, 16, true},
        {0, 32, 32, 1, false},
    };
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        gpc_instruction_t access = OP(SHARED_LOAD, .destination = V | 4, .a = V | 1, .b = GPC_OPERAND_NONE);
        if (cases[i].atomic) {
            access = OP(SHARED_ATOMIC, .destination = V | 4, .a = V | 1, .b = C1, .c = GPC_OPERAND_NONE,
                        .flags = GPC_ATOMIC_ADD << GPC_FLAG_ATOMIC_SHIFT);
        }
        check_passes(access, cases[i].stride, cases[i].lanes, cases[i].banks, cases[i].passes);
    }
}

/* By byte: of 2 words a lane, 16 lanes make a round, of 4 words 8 lanes; each round takes the passes of its words.
 * Words 4 * lane and the next one: banks 0, 1, 4, 5, .. twice in a round of 16 lanes. Halves: two lanes a word. */
static void
scratchpad_takes_a_round_per_word_of_a_lane(void)
{
    static const struct {
        uint8_t width, bytes;
        uint32_t stride, passes; /* bytes */
    } cases[] = {{1, 0, 4, 1},  {1, 0, 8, 2},  {2, 0, 8, 2}, {2, 0, 16, 4},
                 {4, 0, 16, 4}, {4, 0, 32, 8}, {1, 2, 2, 1}, {1, 2, 8, 2}};
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        gpc_instruction_t access =
            OP(SHARED_LOAD, .destination = V | 4, .a = V | 1, .b = GPC_OPERAND_NONE, .flags = GPC_FLAG_BYTES);
        access.width = cases[i].width;
        access.bytes = cases[i].bytes;
        check_passes(access, cases[i].stride, 32, 32, cases[i].passes);
    }
}

/* ---- dispatch ---------------------------------------------------------------------------------------------------- */

/* Two cores of one block each; block 1 sleeps 7 cycles. Block 0 ends in cycle 4, and block 2 begins in cycle 5. */
static void
dispatch_begins_a_block_in_the_cycle_after_the_last_one_s_end(void)
{
    small_core(ROUND_ROBIN, 1);
    world.machine.cores = 2;
    world.machine.blocks_per_core = 1;
    (void) issues(CODE(OF_BLOCK(0), OP(EQ, .type = GPC_I32, .destination = U | 0, .a = U | 0, .b = C1),
                       OP(MUL, .destination = U | 0, .a = U | 0, .b = C7), OP(SLEEP, .a = U | 0), OP(EXIT)),
                  3, 32);
    CHECK_EQUAL_TEXT(issues_of(0), "0 0 0 0 0 0 0 0 0 0");
    CHECK_EQUAL_TEXT(issues_of(1), "0 0 0 0 . . . . . . 0");
    CHECK_EQUAL_U64(world.cores.statistics[0].stall_launch, 11 - 10); /* after its last block; the launch ends at 11 */
    CHECK_EQUAL_U64(world.cores.statistics[1].stall_launch, 0);
    CHECK_EQUAL_U64(world.cores.statistics[1].stall_sleep, 6);
    CHECK_EQUAL_U64(world.cores.statistics[1].active_cycles, 11);
}

/* Four blocks of two instructions on three cores of two blocks: one after another, or core by core. A second launch
 * begins at core 0, or behind the core that has got the last block. */
static void
dispatch_fills_the_cores_in_the_order_of_the_placement(void)
{
    static const struct {
        gpc_placement_t placement;
        const char *first[3], *second[3];
    } cases[] = {{GPC_PLACE_ROUND_ROBIN, {"0 1 0 1", "0 0", "0 0"}, {"0 1 0 1", "0 0", "0 0"}},
                 {GPC_PLACE_FIRST_FREE, {"0 1 0 1", "0 1 0 1", ""}, {"0 1 0 1", "0 1 0 1", ""}},
                 {GPC_PLACE_STATIC, {"0 1 0 1", "0 0", "0 0"}, {"0 1 0 1", "0 0", "0 0"}},
                 {GPC_PLACE_ROTATING, {"0 1 0 1", "0 0", "0 0"}, {"0 0", "0 1 0 1", "0 0"}}};
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        gpc_launch_t launch = world_launch(CODE(OP(NOP), OP(EXIT)), 4, 32);
        launch.placement = cases[i].placement;
        small_core(ROUND_ROBIN, 1);
        world.machine.cores = 3;
        world.machine.blocks_per_core = 2;
        run_launch(&launch, GPC_RULE_RC);
        for (uint32_t core = 0; core < 3; core++) {
            CHECK_EQUAL_TEXT(issues_of(core), cases[i].first[core]);
        }
        world.now = trace.count = 0;
        CHECK_EQUAL_I64(world_run(&launch), 0);
        for (uint32_t core = 0; core < 3; core++) {
            CHECK_EQUAL_TEXT(issues_of(core), cases[i].second[core]);
        }
    }
}

/* The largest number of blocks that fit, and the resource one unit of which is missing for another block. */
static void
dispatch_occupancy_is_limited_to_the_unit(void)
{
    static const struct {
        uint32_t warps, registers, scratchpad, threads, blocks;
        const char *limit;
    } cases[] = {
        {48, 32768, 49152, 32, 8, "blocks"},      {6, 32768, 49152, 32, 6, "warps"},
        {7, 32768, 49152, 64, 3, "warps"},        {8, 32768, 49152, 64, 4, "warps"},
        {48, 3 * 264, 49152, 32, 3, "registers"}, {48, 3 * 264 - 1, 49152, 32, 2, "registers"},
        {48, 32768, 1024, 32, 4, "scratchpad"},   {48, 32768, 1023, 32, 3, "scratchpad"},
        {8, 32768, 49152, 33, 4, "warps"},
    }; /* a warp has 8 * 32 + 8 registers, a block 64 words of scratchpad */
    for (uint32_t i = 0; i < GPC_COUNT_OF(cases); i++) {
        uint32_t blocks = 0;
        const char *limit = "";
        gpc_launch_t launch = world_launch(CODE(OP(EXIT)), 1, cases[i].threads);
        world_reset();
        world.machine.warps_per_core = cases[i].warps;
        world.machine.registers_per_core = cases[i].registers;
        world.machine.scratchpad_bytes = cases[i].scratchpad;
        world_begin();
        CHECK_EQUAL_I64(gpc_cores_occupancy(&world.cores, &launch, &blocks, &limit), 0);
        CHECK_EQUAL_U64(blocks, cases[i].blocks);
        CHECK_EQUAL_TEXT(limit, cases[i].limit);
    }
}

/* With a skew of 9 cycles the first blocks begin in cycles 0 to 9, and not all in one; a later block is not delayed. */
static void
dispatch_skews_the_first_blocks_only(void)
{
    uint64_t seen = 0;
    small_core(ROUND_ROBIN, 1);
    world.machine.cores = 4;
    world.machine.start_skew = 9;
    world.machine.blocks_per_core = 1;
    (void) issues(CODE(OP(NOP), OP(EXIT)), 8, 32);
    for (uint32_t core = 0; core < 4; core++) {
        gpc_cycle_t first = GPC_NEVER;
        uint32_t of_core = 0;
        for (uint32_t i = 0; i < trace.count; i++) {
            if (trace.issues[i].core == core) {
                first = first == GPC_NEVER ? trace.issues[i].at : first;
                CHECK_EQUAL_U64(trace.issues[i].at, first + of_core);
                of_core++;
            }
        }
        CHECK(first <= 9);
        seen |= UINT64_C(1) << first;
    }
    CHECK((seen & (seen - 1)) != 0);
}

int
main(void)
{
    RUN(accounting_gives_every_cycle_one_cause);
    RUN(accounting_finds_who_holds_up_a_barrier);
    RUN(scheduler_chooses_by_its_policy);
    RUN(scheduler_passes_a_warp_that_waits);
    RUN(scheduler_prefers_the_oldest_warp_not_the_lowest);
    RUN(scheduler_issues_on_every_free_port);
    RUN(scheduler_begins_each_launch_with_warp_0);
    RUN(scoreboard_wakes_a_warp_in_its_cycle);
    RUN(scoreboard_waits_for_the_latest_register);
    RUN(scoreboard_holds_a_unit_for_its_cycles);
    RUN(barrier_releases_in_the_cycle_after_the_last_arrival);
    RUN(barrier_is_completed_by_the_end_of_a_warp);
    RUN(barrier_waits_for_older_accesses);
    RUN(order_waits_end_when_the_access_completes);
    RUN(order_waits_for_the_latest_of_several);
    RUN(order_of_a_warp_is_not_that_of_another);
    RUN(coalescer_makes_a_request_per_line);
    RUN(coalescer_offers_lines_in_order_one_in_a_cycle);
    RUN(coalescer_finds_a_line_to_which_lanes_come_back);
    RUN(queue_has_room_when_the_last_request_is_taken);
    RUN(queue_waits_for_room_of_a_whole_instruction);
    RUN(port_takes_a_held_request_first_and_one_a_cycle);
    RUN(port_is_retried_at_once_or_in_the_next_cycle);
    RUN(scratchpad_serialises_the_lanes_of_a_bank);
    RUN(scratchpad_takes_a_round_per_word_of_a_lane);
    RUN(dispatch_begins_a_block_in_the_cycle_after_the_last_one_s_end);
    RUN(dispatch_fills_the_cores_in_the_order_of_the_placement);
    RUN(dispatch_occupancy_is_limited_to_the_unit);
    RUN(dispatch_skews_the_first_blocks_only);
    world_reset();
    return harness_end();
}
