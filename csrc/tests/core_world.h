/* core_world.h: cores without a memory system: an L1 port that answers from a flat memory after a fixed number of
 * cycles. */
#ifndef GPC_TESTS_CORE_WORLD_H
#define GPC_TESTS_CORE_WORLD_H

#include "controller/controller.h"
#include "core/core.h"
#include "core/memory/order.h"
#include "harness.h"
#include "machines.h"
#include "programs.h"

#define WORLD_CORES 4u
#define WORLD_WORDS 65536u
#define WORLD_REQUESTS 8192u

typedef struct {
    gpc_address_t line;
    gpc_mask_t mask;
    gpc_cycle_t at;
    uint32_t core;
    uint8_t type;
    uint16_t lanes; /* of an atomic */
} world_seen_t;

typedef struct {
    gpc_index_t message;
    uint32_t core;
    gpc_cycle_t at;
} world_answer_t;

typedef struct {
    gpc_machine_t machine;
    gpc_order_traits_t traits;
    gpc_arena_t arena;
    gpc_order_t order;
    gpc_pool_t messages, lane_lists;
    gpc_failure_t failure;
    gpc_cores_t cores;
    gpc_cycle_t now, events_at[WORLD_CORES];
    gpc_cycle_t latency;   /* 0: completed inside offer */
    gpc_cycle_t hit_delay; /* given to gpc_cores_complete */
    gpc_cycle_t late_by;   /* more of it, of the requests of late_line */
    gpc_address_t late_line;
    bool in_parts;          /* completes the even words of a request first, then the odd ones */
    gpc_cycle_t held_until; /* the port accepts nothing before this cycle */
    uint32_t memory[WORLD_WORDS];
    world_answer_t answers[WORLD_REQUESTS];
    uint32_t num_answers;
    world_seen_t seen[WORLD_REQUESTS];
    uint32_t num_seen;
    uint32_t line[GPC_MAX_LINE_WORDS]; /* of the current request */
} world_t;

static world_t world;

static inline gpc_cycle_t
world_delay(gpc_index_t message)
{
    bool late = gpc_msg_at(&world.messages, message)->line == world.late_line;
    return world.hit_delay + (late ? world.late_by : 0);
}

/* The core must not read words that the call does not complete. */
static inline int
world_complete(uint32_t core, gpc_index_t message)
{
    uint32_t words[GPC_MAX_LINE_WORDS];
    for (uint32_t i = 0; i < GPC_MAX_LINE_WORDS; i++) {
        words[i] = gpc_msg_at(&world.messages, message)->mask >> i & 1u ? world.line[i] : 0xDEADDEADu;
    }
    return gpc_cores_complete(&world.cores, core, message, words, world.now, world_delay(message));
}

static inline int
world_complete_in_parts(uint32_t core, gpc_index_t message)
{
    gpc_controller_t splitter = {.messages = &world.messages, .lane_lists = &world.lane_lists};
    gpc_mask_t odd = gpc_msg_at(&world.messages, message)->mask & UINT32_C(0xAAAAAAAA);
    gpc_index_t part = gpc_split_message(&splitter, message, odd);
    GPC_TRY(world_complete(core, message));
    return world_complete(core, part);
}

/* Performs the request on the flat memory at once. */
static inline int
world_perform(uint32_t core, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(&world.messages, message);
    uint32_t *words = &world.memory[msg->line / 4 % WORLD_WORDS];
    if (msg->type == GPC_MSG_STORE) {
        for (uint32_t i = 0; i < world.machine.line_bytes / 4; i++) {
            if ((msg->mask >> i & 1u) != 0) {
                words[i] = msg->data[i];
            }
        }
    } else if (msg->type == GPC_MSG_ATOMIC) {
        (void) gpc_rmw_perform(gpc_lane_list_at(&world.lane_lists, msg->lanes), words);
    }
    memcpy(world.line, words, world.machine.line_bytes);
    if (world.in_parts && (msg->mask & UINT32_C(0xAAAAAAAA)) && (msg->mask & UINT32_C(0x55555555))) {
        return world_complete_in_parts(core, message);
    }
    return gpc_cores_complete(&world.cores, core, message, world.line, world.now, world_delay(message));
}

static inline int
world_offer(void *self, uint32_t core, gpc_index_t message)
{
    (void) self;
    if (world.now < world.held_until) {
        return 1;
    }
    const gpc_msg_t *msg = gpc_msg_at(&world.messages, message);
    uint16_t lanes = msg->lanes == GPC_NONE ? 0 : gpc_lane_list_at(&world.lane_lists, msg->lanes)->count;
    world.seen[world.num_seen++ % WORLD_REQUESTS] =
        (world_seen_t) {msg->line, msg->mask, world.now, core, msg->type, lanes};
    if (world.latency == 0) {
        return world_perform(core, message);
    }
    world.answers[world.num_answers++] = (world_answer_t) {message, core, world.now + world.latency};
    return GPC_OK;
}

static inline int
world_schedule(void *self, uint32_t core, gpc_cycle_t at, gpc_cycle_t *scheduled)
{
    (void) self;
    *scheduled = at;
    world.events_at[core] = at < world.events_at[core] ? at : world.events_at[core];
    return GPC_OK;
}

static inline gpc_cycle_t
world_now(void *self)
{
    (void) self;
    return world.now;
}

/* A small machine: one core, 32 lanes, one instruction a cycle, unless changed before world_begin. Each test begins
 * with one. */
static inline void
world_reset(void)
{
    gpc_cores_free(&world.cores);
    gpc_arena_free(&world.arena);
    memset(&world, 0, sizeof world);
    world.machine = test_fermi;
    world.machine.cores = 1;
    world.latency = 50;
}

AROUND_TESTS
{
    world_reset();
}

static inline void
world_begin(void)
{
    const gpc_machine_t *machine = &world.machine;
    const gpc_core_hooks_t hooks = {world_offer, world_schedule, world_now, &world};
    gpc_arena_init(&world.arena, 1u << 20);
    int status = gpc_pool_init(&world.messages, &world.arena, WORLD_REQUESTS, sizeof(gpc_msg_t));
    status |= gpc_pool_init(&world.lane_lists, &world.arena, WORLD_REQUESTS, sizeof(gpc_lane_list_t));
    gpc_order_sizes_t sizes = {machine->cores, machine->warps_per_core, machine->blocks_per_core,
                               machine->requests_per_core};
    status |= gpc_order_init(&world.order, GPC_RULE_RC, &world.traits, NULL, &sizes, gpc_order_options(machine),
                             &world.arena);
    status |= gpc_cores_init(&world.cores, machine, &world.order, &world.messages, &world.lane_lists, NULL,
                             &world.failure, &hooks, &world.arena);
    if (status != 0) {
        printf("Bail out! the world could not be made\n");
        exit(1);
    }
    for (uint32_t i = 0; i < WORLD_CORES; i++) {
        world.events_at[i] = GPC_NEVER;
    }
}

static inline gpc_cycle_t
world_next(void)
{
    gpc_cycle_t next = GPC_NEVER;
    for (uint32_t i = 0; i < WORLD_CORES; i++) {
        next = world.events_at[i] < next ? world.events_at[i] : next;
    }
    for (uint32_t i = 0; i < world.num_answers; i++) {
        next = world.answers[i].at < next ? world.answers[i].at : next;
    }
    if (world.held_until > world.now && world.held_until < next) {
        next = world.held_until;
    }
    return next;
}

static inline int
world_step(void)
{
    int status = GPC_OK;
    if (world.now == world.held_until) {
        for (uint32_t i = 0; i < world.machine.cores; i++) {
            status |= gpc_cores_retry(&world.cores, i, false);
        }
    }
    for (uint32_t i = 0; i < world.num_answers && status == GPC_OK;) {
        if (world.answers[i].at > world.now) {
            i++;
            continue;
        }
        world_answer_t answer = world.answers[i];
        memmove(&world.answers[i], &world.answers[i + 1], (--world.num_answers - i) * sizeof answer);
        status = world_perform(answer.core, answer.message);
    }
    for (uint32_t i = 0; i < WORLD_CORES && status == GPC_OK; i++) {
        if (world.events_at[i] <= world.now) {
            world.events_at[i] = GPC_NEVER;
            gpc_cycle_result_t result;
            status = gpc_cores_cycle(&world.cores, i, world.now, &result);
            world.events_at[i] = result.next < world.events_at[i] ? result.next : world.events_at[i];
        }
    }
    return status;
}

/* Runs to the launch's end or an error; GPC_ERROR_DEADLOCK when no event is left. */
static inline int
world_run(const gpc_launch_t *launch)
{
    int status = gpc_cores_launch(&world.cores, launch, world.now);
    while (status == GPC_OK && !gpc_cores_finished(&world.cores)) {
        gpc_cycle_t next = world_next();
        if (next == GPC_NEVER || next > 10000000) {
            return GPC_ERROR_DEADLOCK;
        }
        world.now = next;
        status = world_step();
    }
    return status;
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

enum { V = GPC_OPERAND_VECTOR, U = GPC_OPERAND_UNIFORM, C = GPC_OPERAND_CONSTANT };

#define OP(...) ((gpc_instruction_t) ROW(__VA_ARGS__))
#define SHARED_LOAD(d, at) OP(SHARED_LOAD, d, at, NONE)
#define SHARED_STORE(at, what) OP(SHARED_STORE, NONE, at, what, .c = NONE)
#define SLEEP(cycles) OP(SLEEP, NONE, cycles, NONE)
#define BLOCK_BARRIER OP(BARRIER, NONE, C0, NONE)
#define WARP_SYNC(mask) OP(WARP_SYNC, NONE, mask, NONE)
#define IF_NOT(condition, to, join)                                                                                    \
    OP(BRANCH, NONE, condition, NONE, .flags = GPC_FLAG_IF_ZERO, .target = (to), .reconverge = (join))
#define CODE(...)                                                                                                      \
    (const gpc_instruction_t[]){__VA_ARGS__}, (uint32_t) (sizeof((const gpc_instruction_t[]){__VA_ARGS__}) / 32)

/* Buffer 0 is the whole memory, buffer 1 its first 64 words, read-only. */
static const gpc_buffer_t world_buffers[] = {{0, WORLD_WORDS, false, "x", 0}, {0, 64, true, "tables", 0}};

static inline gpc_launch_t
world_launch(const gpc_instruction_t *code, uint32_t count, uint32_t blocks, uint32_t threads)
{
    static const uint32_t constants[] = {0, 1, 2, 3, 32, 64, 100, 1000, 4096, 7, 16, 0xFFFFFFFFu};
    return (gpc_launch_t) {
        .program = {.instructions = code,
                    .count = count,
                    .vector_registers = 8,
                    .uniform_registers = 8,
                    .shared_words = 64,
                    .constants = GPC_COUNT_OF(constants),
                    .buffers = 2},
        .kernel = "f",
        .grid = {blocks, 1, 1},
        .block = {threads, 1, 1},
        .constants = constants,
        .buffers = world_buffers,
        .num_constants = GPC_COUNT_OF(constants),
        .num_buffers = 2,
    };
}

/* Names of the constants above. */
enum { C0 = C, C1, C2, C3, C32, C64, C100, C1000, C4096, C7, C16, C_MINUS1 };

#define THREAD READ(V | 0, THREAD_X)

/* Runs code on one block of one warp (or more) of a fresh world. */
static inline int
world_try(const gpc_instruction_t *code, uint32_t count, uint32_t threads)
{
    gpc_launch_t launch = world_launch(code, count, 1, threads);
    world_begin();
    return world_run(&launch);
}

#define RUNS(threads, ...) CHECK_EQUAL_I64(world_try(CODE(__VA_ARGS__), threads), GPC_OK)

/* Why code is refused, or "accepted". */
static inline const char *
world_refusal(const gpc_instruction_t *code, uint32_t count)
{
    static gpc_failure_t failure;
    const gpc_program_t program = world_launch(code, count, 1, 32).program;
    gpc_failure_clear(&failure);
    return gpc_program_validate(&program, &failure) == GPC_ERROR_PROGRAM ? failure.text : "accepted";
}

/* Whether the failure names this file and line. */
static inline bool
fails_at(uint16_t file, uint32_t line)
{
    return world.failure.place.known && world.failure.place.file == file && world.failure.place.line == line;
}

#endif
