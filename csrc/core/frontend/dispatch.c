/* dispatch.c: storage of the cores, occupancy, dispatch of blocks, and the end of a launch. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/stock.h"
#include "core/execute/execute.h"
#include "core/frontend/frontend.h"
#include "core/lanes.h"
#include "core/memory/order.h"
#include "core/memory/writers.h"
#include "core/waking.h"

/* ---- storage ----------------------------------------------------------------------------------------------------- */

static void
clear_core(gpc_cores_t *self, uint32_t core_index)
{
    gpc_core_t *core = &self->parts->cores[core_index];
    memset(core, 0, sizeof *core);
    core->calendar_first = core->far_at = core->cycle_scheduled = GPC_NEVER;
    core->last_warp = GPC_MAX_WARPS - 1; /* round robin begins with warp 0 */
    core->due_head = core->due_tail = GPC_NONE;
    gpc_list_clear(&core->queue);
    const gpc_pool_t *accesses = &self->parts->accesses[core_index];
    for (uint32_t i = 0; accesses->state->in_use != 0 && i < accesses->capacity; i++) { /* after an abort */
        gpc_access_at(self->parts, core_index, i)->live = false;
    }
    gpc_pool_clear(accesses);
    gpc_pool_clear(&self->parts->requests[core_index]);
    memset(gpc_core_warp(self, core_index, 0), 0, self->machine->warps_per_core * sizeof(gpc_warp_t));
    memset(gpc_core_block(self, core_index, 0), 0, self->machine->blocks_per_core * sizeof(gpc_block_t));
}

static void
note_bases(gpc_cores_t *self)
{
    const gpc_machine_t *machine = self->machine;
    gpc_core_parts_t *parts = self->parts;
    for (uint32_t i = 0; i < machine->cores; i++) {
        parts->bases[i] = (gpc_core_base_t){.core = &parts->cores[i],
                                            .statistics = &self->statistics[i],
                                            .warps = parts->warps + (size_t) i * machine->warps_per_core,
                                            .cores = self,
                                            .index = i};
    }
}

/* The cores have the kernel's blocks from now on. Its program determines how many words a warp has. */
static void
take_kernel(const gpc_cores_t *self, gpc_core_launch_t *launch)
{
    const gpc_core_parts_t *parts = self->parts;
    uint32_t *vectors = parts->vectors + (size_t) launch->first_core * self->machine->registers_per_core;
    uint32_t *fronts = parts->fronts + launch->first_core * parts->front_words;
    if (launch->own_vectors != NULL) {
        vectors = launch->own_vectors;
        fronts = launch->own_fronts;
    }
    for (uint32_t i = 0; i < launch->cores; i++) {
        gpc_core_base_t *base = &parts->bases[launch->first_core + i];
        base->launch = launch;
        base->vectors = vectors + (size_t) i * launch->vector_words;
        base->fronts = fronts + (size_t) i * launch->front.words;
        base->core->next_block = i;
    }
}

static int
take_storage(gpc_cores_t *self, gpc_arena_t *arena)
{
    const gpc_machine_t *machine = self->machine;
    gpc_core_parts_t *parts = self->parts;
    size_t cores = machine->cores, warps = cores * machine->warps_per_core;
    parts->stack_entries = 2 * machine->lanes_per_warp + 2;
    parts->scratchpad_words = gpc_scratchpad_words(machine);
    /* Room for the vector registers of any program; part of one host cache line per warp may be unused. */
    parts->front_words = machine->registers_per_core / machine->lanes_per_warp +
                         machine->warps_per_core * (2 * GPC_UNIFORM_REGISTERS + GPC_EVEN_REGISTERS + 16);
    self->statistics = GPC_ARENA_TAKE(arena, cores, gpc_core_statistics_t);
    parts->placing = GPC_ARENA_TAKE(arena, 1, gpc_placing_t);
    parts->cores = GPC_ARENA_TAKE(arena, cores, gpc_core_t);
    parts->warps = GPC_ARENA_TAKE(arena, warps, gpc_warp_t);
    parts->stacks = GPC_ARENA_TAKE(arena, warps * parts->stack_entries, gpc_stack_entry_t);
    parts->vectors = GPC_ARENA_TAKE(arena, cores * machine->registers_per_core, uint32_t);
    parts->fronts = GPC_ARENA_TAKE(arena, cores * parts->front_words, uint32_t);
    parts->ages = GPC_ARENA_TAKE(arena, warps, uint64_t);
    parts->order_stalled = GPC_ARENA_TAKE(arena, warps, gpc_cycle_t);
    parts->scratchpad = GPC_ARENA_TAKE(arena, cores * parts->scratchpad_words + 1, uint32_t);
    parts->blocks = GPC_ARENA_TAKE(arena, cores * machine->blocks_per_core, gpc_block_t);
    parts->accesses = calloc(cores, sizeof *parts->accesses);
    parts->requests = calloc(cores, sizeof *parts->requests);
    parts->bases = calloc(cores, sizeof *parts->bases);
    parts->stock = arena->stock;
    parts->writers = gpc_stock_take(arena->stock, GPC_WRITERS * sizeof *parts->writers);
    if (arena->failed || parts->accesses == NULL || parts->requests == NULL || parts->bases == NULL ||
        parts->writers == NULL) {
        return GPC_ERROR_MEMORY;
    }
    note_bases(self);
    for (uint32_t i = 0; i < cores; i++) {
        int status = gpc_pool_init(&parts->accesses[i], arena, machine->requests_per_core, sizeof(gpc_core_access_t));
        if (status == GPC_OK) {
            status = gpc_pool_init(&parts->requests[i], arena, machine->requests_per_core, sizeof(gpc_core_request_t));
        }
        GPC_TRY(status);
    }
    return GPC_OK;
}

int
gpc_cores_init(gpc_cores_t *self, const gpc_machine_t *machine, gpc_order_t *order, gpc_pool_t *messages,
               gpc_pool_t *lane_lists, gpc_memory_t *memory, gpc_failure_t *failure, const gpc_core_hooks_t *hooks,
               gpc_arena_t *arena)
{
    *self = (gpc_cores_t){.machine = machine,
                          .order = order,
                          .messages = messages,
                          .lane_lists = lane_lists,
                          .memory = memory,
                          .failure = failure,
                          .hooks = *hooks};
    self->parts = calloc(1, sizeof *self->parts);
    if (self->parts == NULL || take_storage(self, arena) != 0) {
        return gpc_fail(failure, GPC_ERROR_MEMORY, "out of memory for %u cores", machine->cores);
    }
    for (uint32_t i = 0; i < machine->cores; i++) {
        clear_core(self, i);
    }
    return GPC_OK;
}

void
gpc_cores_free(gpc_cores_t *self)
{
    if (self->parts != NULL) {
        gpc_cores_drop_added(self);
        gpc_core_kernels_free(self);
        free(self->parts->accesses);
        free(self->parts->requests);
        free(self->parts->bases);
        free(self->parts->prints.records);
        gpc_unsubscribe(&self->parts->checker);
        free(self->parts->written);
        gpc_stock_give(self->parts->stock, self->parts->writers, GPC_WRITERS * sizeof *self->parts->writers);
        free(self->parts);
    }
    self->parts = NULL;
}

int
gpc_cores_check_kernels(gpc_cores_t *self, gpc_stream_t *stream)
{
    gpc_core_parts_t *parts = self->parts;
    parts->written = calloc((size_t) self->machine->cores * parts->scratchpad_words + 1, sizeof *parts->written);
    parts->checker = (gpc_subscriber_t){.observe = gpc_core_check_written, .self = self};
    gpc_subscribe(stream, &parts->checker, GPC_KIND(ACCESSED));
    return parts->written ? GPC_OK : GPC_ERROR_MEMORY;
}

void
gpc_cores_clear(gpc_cores_t *self)
{
    gpc_core_kernels_free(self);
    memset(&self->parts->together, 0, sizeof self->parts->together);
    for (uint32_t i = 0; i < self->machine->cores; i++) {
        clear_core(self, i);
    }
}

/* ---- occupancy --------------------------------------------------------------------------------------------------- */

static int
check_shape(const gpc_cores_t *self, const gpc_launch_t *launch, uint32_t *warps)
{
    const gpc_machine_t *machine = self->machine;
    uint64_t threads = 1, blocks = 1;
    for (uint32_t axis = 0; axis < 3; axis++) {
        if (launch->grid[axis] == 0 || launch->block[axis] == 0) {
            return gpc_fail(self->failure, GPC_ERROR_LAUNCH,
                            "kernel '%s': grid (%u,%u,%u) and block (%u,%u,%u) must be positive", launch->kernel,
                            launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
                            launch->block[2]);
        }
        /* Saturates above 2^32, so that the products do not overflow. */
        threads = threads > UINT32_MAX ? threads : threads * launch->block[axis];
        blocks = blocks > UINT32_MAX ? blocks : blocks * launch->grid[axis];
    }
    uint64_t most = (uint64_t) machine->warps_per_core * machine->lanes_per_warp;
    if (threads > most) {
        return gpc_fail(self->failure, GPC_ERROR_LAUNCH,
                        "kernel '%s': a block of %" PRIu64 " threads; a core has room for %" PRIu64
                        " (%u warps of %u lanes)",
                        launch->kernel, threads, most, machine->warps_per_core, machine->lanes_per_warp);
    }
    if (blocks >= UINT32_MAX) {
        return gpc_fail(self->failure, GPC_ERROR_LAUNCH, "kernel '%s': the grid exceeds 2^32 - 2 blocks",
                        launch->kernel);
    }
    *warps = ((uint32_t) threads + machine->lanes_per_warp - 1) / machine->lanes_per_warp;
    return GPC_OK;
}

int
gpc_cores_occupancy(const gpc_cores_t *self, const gpc_launch_t *launch, uint32_t *blocks, const char **limit)
{
    const gpc_machine_t *machine = self->machine;
    const gpc_program_t *program = &launch->program;
    uint32_t warps = 1;
    GPC_TRY(check_shape(self, launch, &warps));
    uint64_t counted = (uint64_t) program->vector_registers - program->spilled_registers;
    uint64_t registers = warps * (counted * machine->lanes_per_warp + program->uniform_registers);
    uint64_t shared_bytes = 4 * ((uint64_t) program->shared_words - program->barrier_words);
    if (registers > machine->registers_per_core) {
        return gpc_fail(self->failure, GPC_ERROR_LAUNCH,
                        "kernel '%s': a block needs %" PRIu64 " registers; a core has %u", launch->kernel, registers,
                        machine->registers_per_core);
    }
    if (shared_bytes > machine->scratchpad_bytes) {
        return gpc_fail(self->failure, GPC_ERROR_LAUNCH,
                        "kernel '%s': a block needs %" PRIu64 " bytes of scratchpad; a core has %u", launch->kernel,
                        shared_bytes, machine->scratchpad_bytes);
    }
    uint64_t best = machine->blocks_per_core;
    *limit = "blocks";
    const struct {
        uint64_t fit;
        const char *name;
    } limits[] = {
        {machine->warps_per_core / warps, "warps"},
        {registers == 0 ? best : machine->registers_per_core / registers, "registers"},
        {shared_bytes == 0 ? best : machine->scratchpad_bytes / shared_bytes, "scratchpad"},
    };
    for (uint32_t i = 0; i < GPC_COUNT_OF(limits); i++) {
        if (limits[i].fit < best) {
            best = limits[i].fit;
            *limit = limits[i].name;
        }
    }
    *blocks = (uint32_t) best;
    return GPC_OK;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static void
place_warp(gpc_cores_t *self, uint32_t core_index, uint32_t slot, uint32_t index, gpc_cycle_t from)
{
    const gpc_core_launch_t *launch = self->parts->bases[core_index].launch;
    uint32_t lanes = self->machine->lanes_per_warp;
    uint32_t threads = launch->threads_per_block - index * lanes;
    uint32_t w = slot * launch->warps_per_block + index;
    gpc_issue_t x;
    gpc_issue_init(&x, self, core_index, w, self->hooks.now(self->hooks.world));
    gpc_lanes_t live = threads >= 64 ? UINT64_MAX : (UINT64_C(1) << threads) - 1;
    if (lanes == 32) {
        live &= UINT32_MAX;
    }
    memset(x.vectors, 0, (size_t) launch->launch.program.vector_registers * lanes * sizeof *x.vectors);
    memset(x.scoreboard, 0, launch->front.words * sizeof *x.scoreboard); /* and the words behind it */
    *x.warp = (gpc_warp_t){.top = {0, GPC_NONE, live},
                           .live = live,
                           .active = (uint8_t) gpc_count_bits(live),
                           .wake_at = GPC_NEVER,
                           .not_before = from,
                           .block = (uint16_t) slot,
                           .index = (uint16_t) index,
                           .even = launch->may_be_even};
    if (launch->splits != NULL) {
        *gpc_split_of(&x) = (gpc_split_t){0};
    }
    self->parts->ages[core_index * self->machine->warps_per_core + w] = x.core->ages++;
    x.core->resident |= UINT64_C(1) << w;
    gpc_core_settle(&x);
    x.core->reasons[w] = GPC_STALL_launch;
}

/* Among those of the kernel. */
static uint32_t
die_of_core(const gpc_core_launch_t *launch, uint32_t core_index)
{
    return launch->dies > 1 ? (core_index - launch->first_core) / (launch->cores / launch->dies) : 0;
}

static bool
has_next_block(const gpc_cores_t *self, uint32_t core_index)
{
    const gpc_core_launch_t *launch = self->parts->bases[core_index].launch;
    if (launch == NULL || launch->launch.placement == GPC_PLACE_STATIC) {
        return launch != NULL && self->parts->cores[core_index].next_block < launch->blocks;
    }
    uint32_t die = die_of_core(launch, core_index);
    return launch->next_block[die] < gpc_first_block_of(launch, die + 1);
}

static uint32_t
take_next_block(gpc_cores_t *self, uint32_t core_index)
{
    gpc_core_launch_t *launch = self->parts->bases[core_index].launch;
    if (launch->launch.placement != GPC_PLACE_STATIC) {
        return launch->next_block[die_of_core(launch, core_index)]++;
    }
    gpc_core_t *core = &self->parts->cores[core_index];
    uint32_t number = (uint32_t) core->next_block;
    core->next_block += launch->cores;
    return number;
}

int
gpc_core_count_empty(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t to)
{
    gpc_cycle_t since = self->parts->cores[core_index].empty_since;
    if (to <= since) {
        return GPC_OK;
    }
    self->statistics[core_index].stall_launch += to - since;
    bool observed = gpc_is_observed(&self->tap, GPC_ON_COUNTED);
    return observed ? gpc_core_observe_counted(self, core_index, GPC_NONE, GPC_STALL_launch, to - since) : GPC_OK;
}

/* Places the core's next block into a free slot at cycle `from`; its warps may issue `skew` cycles, and what the start
 * of a block takes, later. */
static int
place_block(gpc_cores_t *self, uint32_t core_index, gpc_cycle_t from, gpc_cycle_t skew)
{
    gpc_core_launch_t *launch = self->parts->bases[core_index].launch;
    gpc_core_t *core = &self->parts->cores[core_index];
    uint32_t slot = 0;
    while (gpc_core_block(self, core_index, slot)->resident) {
        slot++;
    }
    gpc_block_t *block = gpc_core_block(self, core_index, slot);
    uint32_t number = take_next_block(self, core_index);
    const uint32_t *grid = launch->launch.grid;
    uint64_t all = launch->warps_per_block == 64 ? UINT64_MAX : (UINT64_C(1) << launch->warps_per_block) - 1;
    *block = (gpc_block_t){.warps = all << (slot * launch->warps_per_block),
                           .number = number,
                           .coordinates = {number % grid[0], number / grid[0] % grid[1], number / grid[0] / grid[1]},
                           .resident = true};
    uint32_t words = launch->launch.program.shared_words;
    size_t first_word = (size_t) core_index * self->parts->scratchpad_words + (size_t) slot * words;
    memset(self->parts->scratchpad + first_word, 0, words * sizeof(uint32_t));
    if (self->parts->written != NULL) {
        memset(self->parts->written + first_word, 0, words * sizeof *self->parts->written);
    }
    gpc_order_block_begin(self->order, core_index, slot, block->warps);
    if (core->blocks_resident++ == 0) {
        core->accounted = from;
        core->idle_reason = GPC_STALL_launch;
        GPC_TRY(gpc_core_count_empty(self, core_index, from));
    }
    for (uint32_t i = 0; i < launch->warps_per_block; i++) {
        place_warp(self, core_index, slot, i, from + skew + self->machine->block_start_cycles);
    }
    self->parts->placing->next_core[launch->first_die] = (core_index - launch->first_core + 1) % launch->cores;
    return GPC_OBSERVE(&self->tap, BLOCK, block, core_index, launch->first_block + number,
                       slot * launch->warps_per_block, launch->warps_per_block, slot * words, from);
}

/* At the end of the launch: counts the cycles in which cores had no block. */
static int
count_empty_cores(gpc_cores_t *self, gpc_cycle_t end)
{
    int status = GPC_OK;
    for (uint32_t i = 0; i < self->machine->cores && status == GPC_OK; i++) {
        status = gpc_core_count_empty(self, i, end);
    }
    return status;
}

int
gpc_core_warp_ended(gpc_issue_t *x)
{
    gpc_cores_t *self = x->base->cores;
    gpc_core_launch_t *launch = x->base->launch;
    gpc_core_t *core = x->core;
    uint64_t bit = UINT64_C(1) << x->warp_index;
    gpc_block_t *block = gpc_core_block(self, x->base->index, x->warp->block);
    x->warp->state = GPC_WARP_FREE;
    x->warp->wake_at = GPC_NEVER;
    core->resident &= ~bit;
    block->warps &= ~bit;
    if (block->warps != 0) {
        return GPC_OK;
    }
    block->resident = false;
    launch->blocks_done++;
    if (--core->blocks_resident == 0) {
        core->empty_since = x->now + 1;
    }
    if (has_next_block(self, x->base->index)) {
        return place_block(self, x->base->index, x->now + 1, 0);
    }
    launch->end = launch->blocks_done == launch->blocks ? x->now + 1 : 0;
    return gpc_cores_finished(self) ? count_empty_cores(self, x->now + 1) : GPC_OK;
}

/* A number from 0 to the machine's start_skew for the n-th of the first blocks, from seed, launch and n. */
static gpc_cycle_t
draw_skew(const gpc_cores_t *self, uint32_t n)
{
    uint64_t state = gpc_random_begin(self->seed) + (self->parts->placing->launches << 32 | n);
    return gpc_random_to(state, self->machine->start_skew);
}

static int
place_first_blocks(gpc_cores_t *self, gpc_core_launch_t *launch, gpc_cycle_t at)
{
    uint32_t cores = launch->cores, places = cores * launch->blocks_per_core;
    bool rotates = launch->launch.placement == GPC_PLACE_ROTATING;
    uint32_t first = rotates ? self->parts->placing->next_core[launch->first_die] : 0;
    bool fills = launch->launch.placement == GPC_PLACE_FIRST_FREE;
    for (uint32_t die = 0; die < launch->dies; die++) {
        launch->next_block[die] = gpc_first_block_of(launch, die);
    }
    int status = GPC_OK;
    for (uint32_t i = 0; i < places && status == GPC_OK; i++) {
        uint32_t core = launch->first_core + (fills ? i / launch->blocks_per_core : (first + i) % cores);
        gpc_cycle_t skew = draw_skew(self, launch->first_block + i);
        status = has_next_block(self, core) ? place_block(self, core, at, skew) : GPC_OK;
    }
    return status;
}

/* Makes the list of printed words for the first program that prints. */
static int
make_prints(gpc_cores_t *self, const gpc_program_t *program)
{
    gpc_prints_t *prints = &self->parts->prints;
    for (uint32_t i = 0; i < program->count && prints->records == NULL; i++) {
        if (program->instructions[i].opcode == GPC_OP_PRINT) {
            prints->records = malloc(GPC_PRINTS * sizeof *prints->records);
            if (prints->records == NULL) {
                return gpc_fail(self->failure, GPC_ERROR_MEMORY, "out of memory for the words that a kernel prints");
            }
        }
    }
    return GPC_OK;
}

const gpc_prints_t *
gpc_cores_prints(const gpc_cores_t *self)
{
    return &self->parts->prints;
}

/* Storage of the registers of a kernel, if those that are spilled exceed the cores' register files. */
static bool
has_room(gpc_core_launch_t *launch, const gpc_machine_t *machine)
{
    size_t warps = (size_t) launch->blocks_per_core * launch->warps_per_block, all = machine->cores * warps;
    if (warps * launch->vector_words <= machine->registers_per_core) {
        return true;
    }
    launch->own_vectors = calloc(all * launch->vector_words, sizeof *launch->own_vectors);
    launch->own_fronts = calloc(all * launch->front.words, sizeof *launch->own_fronts);
    return launch->own_vectors != NULL && launch->own_fronts != NULL;
}

int
gpc_cores_add(gpc_cores_t *self, const gpc_launch_t *from)
{
    uint32_t blocks = 0;
    const char *limit;
    gpc_program_t program = from->program;
    program.constants = from->num_constants;
    program.buffers = from->num_buffers;
    int status = gpc_program_validate(&program, self->failure);
    if (status == GPC_OK) {
        status = gpc_cores_occupancy(self, from, &blocks, &limit);
    }
    if (status == GPC_OK) {
        status = make_prints(self, &program);
    }
    gpc_core_launch_t *launch = NULL;
    if (status == GPC_OK) {
        status = gpc_core_launch_new(self, from, &launch);
    }
    GPC_TRY(status);
    launch->blocks_per_core = blocks;
    if (!has_room(launch, self->machine)) {
        gpc_core_launch_free(launch);
        return gpc_fail(self->failure, GPC_ERROR_MEMORY, "out of memory for a launch of kernel '%s'", from->kernel);
    }
    return gpc_core_kernels_add(self, launch);
}

/* Places the first blocks of a kernel. */
static int
begin_kernel(gpc_cores_t *self, gpc_core_launch_t *launch, gpc_cycle_t at)
{
    uint32_t end = launch->first_core + launch->cores;
    launch->has_begun = true;
    launch->begin = at;
    take_kernel(self, launch);
    for (uint32_t i = launch->first_core; i < end; i++) {
        gpc_core_t *core = &self->parts->cores[i];
        core->accounted = core->calendar_next = core->cycle_allowed = core->scoreboard_base = at;
        core->in_cycle = true; /* schedule one cycle below, not one per warp */
    }
    int status = place_first_blocks(self, launch, at);
    for (uint32_t i = launch->first_core; i < end && status == GPC_OK; i++) {
        gpc_core_t *core = &self->parts->cores[i];
        core->in_cycle = false;
        if (core->resident != 0) {
            status = gpc_core_schedule(self, i, at);
        }
    }
    return status;
}

int
gpc_cores_begin_next(gpc_cores_t *self, gpc_cycle_t at)
{
    int status = GPC_OK;
    for (gpc_core_launch_t *kernel = self->parts->launch; kernel != NULL && status == GPC_OK; kernel = kernel->next) {
        status = gpc_core_may_begin(self, kernel) ? begin_kernel(self, kernel, at) : GPC_OK;
    }
    return status;
}

int
gpc_cores_launch(gpc_cores_t *self, const gpc_launch_t *launch, gpc_cycle_t at)
{
    gpc_cycle_t latency = self->machine->launch_latency;
    GPC_TRY(gpc_cores_add(self, launch));
    return gpc_cores_begin(self, at > latency ? at - latency : 0, at);
}

int
gpc_cores_begin(gpc_cores_t *self, gpc_cycle_t from, gpc_cycle_t at)
{
    gpc_core_parts_t *parts = self->parts;
    gpc_core_launch_t *kernels = parts->added;
    parts->added = NULL;
    gpc_cores_clear(self);
    parts->launch = kernels;
    parts->launches++;
    parts->writers_lost = false;
    parts->prints.count = 0;
    parts->prints.lost = 0;
    for (uint32_t i = 0; i < self->machine->cores; i++) {
        gpc_core_t *core = &parts->cores[i];
        core->empty_since = from;
        core->accounted = core->calendar_next = core->cycle_allowed = core->scoreboard_base = at;
    }
    GPC_TRY(gpc_core_kernels_join(self));
    int status = GPC_OBSERVE(&self->tap, LAUNCHED, launched, gpc_cores_launched(self), gpc_core_most_warps(self));
    status = status == GPC_OK ? gpc_cores_begin_next(self, at) : status;
    parts->placing->launches++;
    return status;
}

bool
gpc_cores_finished(const gpc_cores_t *self)
{
    const gpc_core_launch_t *kernel = self->parts->launch;
    while (kernel != NULL && kernel->blocks_done == kernel->blocks) {
        kernel = kernel->next;
    }
    return kernel == NULL;
}

bool
gpc_cores_ran_dry(const gpc_cores_t *self, uint32_t core)
{
    const gpc_core_launch_t *later = self->parts->launch;
    while (later != NULL && (later->has_begun || core - later->first_core >= later->cores)) {
        later = later->next;
    }
    return later == NULL && !has_next_block(self, core) && self->parts->cores[core].blocks_resident == 0;
}

int
gpc_cores_drained(gpc_cores_t *self, gpc_cycle_t cycles)
{
    bool observed = gpc_is_observed(&self->tap, GPC_ON_COUNTED);
    int status = GPC_OK;
    for (uint32_t i = 0; i < self->machine->cores && status == GPC_OK; i++) {
        self->statistics[i].stall_launch += cycles;
        status = observed ? gpc_core_observe_counted(self, i, GPC_NONE, GPC_STALL_launch, cycles) : GPC_OK;
    }
    return status;
}

void
gpc_cores_progress(const gpc_cores_t *self, uint32_t *blocks_done, uint32_t *blocks)
{
    *blocks_done = *blocks = 0;
    for (const gpc_core_launch_t *kernel = self->parts->launch; kernel != NULL; kernel = kernel->next) {
        *blocks_done += kernel->blocks_done;
        *blocks += kernel->blocks;
    }
}
