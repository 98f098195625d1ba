/* profile.c: cycles and instructions: whom the cores charge, and what each warp's own life consists of. */
#include <stdlib.h>
#include <string.h>

#include "check/profile/profile_parts.h"

/* ---- programs ---------------------------------------------------------------------------------------------------- */

static char *
copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

static bool
is_program_of(const gpc_profiled_program_t *self, const gpc_launch_t *launch)
{
    if (strcmp(self->kernel, launch->kernel) != 0 || self->count != launch->program.count ||
        self->num_buffers != launch->num_buffers ||
        memcmp(self->code, launch->program.instructions, self->count * sizeof(*self->code)) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < self->num_buffers; i++) {
        if (strcmp(self->buffers[i], launch->buffers[i].name) != 0) {
            return false;
        }
    }
    return true;
}

static void
free_program(gpc_profiled_program_t *self)
{
    for (uint32_t i = 0; self->buffers && i < self->num_buffers; i++) {
        free(self->buffers[i]);
    }
    for (uint32_t i = 0; self->files && i < self->num_files; i++) {
        free(self->files[i]);
    }
    free(self->kernel);
    free(self->code);
    free(self->buffers);
    free(self->ranges);
    free(self->files);
    free(self->first_lines);
    free(self->places);
    free(self->slots);
    free(self->by_die);
    free(self);
}

static bool
copy_names(gpc_profiled_program_t *self, const gpc_launch_t *launch)
{
    bool whole = true;
    for (uint32_t i = 0; i < self->num_buffers; i++) {
        self->buffers[i] = copy_text(launch->buffers[i].name);
        whole = whole && self->buffers[i];
    }
    for (uint32_t i = 0; i < self->num_files; i++) {
        self->files[i] = copy_text(launch->files[i].name);
        self->first_lines[i] = launch->files[i].first;
        whole = whole && self->files[i];
    }
    return whole;
}

static gpc_profiled_program_t *
new_program(const gpc_launch_t *launch, uint32_t dies)
{
    gpc_profiled_program_t *self = calloc(1, sizeof(*self));
    if (!self) {
        return NULL;
    }
    self->count = launch->program.count;
    self->num_buffers = launch->num_buffers;
    self->num_files = launch->num_files;
    self->kernel = copy_text(launch->kernel);
    self->code = malloc(self->count * sizeof(*self->code));
    self->buffers = calloc(self->num_buffers + 1, sizeof(*self->buffers));
    self->ranges = calloc(self->num_buffers + 1, sizeof(*self->ranges));
    self->files = calloc(self->num_files + 1, sizeof(*self->files));
    self->first_lines = calloc(self->num_files + 1, sizeof(*self->first_lines));
    self->places = calloc(self->count + 1, sizeof(*self->places));
    self->slots = calloc(self->num_buffers + 1, sizeof(*self->slots));
    self->by_die = calloc((size_t) (self->num_buffers + 1) * dies, sizeof(*self->by_die));
    if (!self->kernel || !self->code || !self->buffers || !self->ranges || !self->files || !self->first_lines ||
        !self->places || !self->slots || !self->by_die || !copy_names(self, launch)) {
        free_program(self);
        return NULL;
    }
    memcpy(self->code, launch->program.instructions, self->count * sizeof(*self->code));
    for (uint32_t i = 0; i < self->count; i++) {
        self->places[i].slot = self->num_buffers;
    }
    return self;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static int
begin_launch(gpc_profile_t *self, const gpc_launch_t *launch)
{
    const gpc_machine_t *machine = self->about.cores->machine;
    size_t warps = (size_t) machine->cores * machine->warps_per_core;
    gpc_profiled_program_t **end = &self->programs;
    while (*end && !is_program_of(*end, launch)) {
        end = &(*end)->next;
    }
    *end = *end ? *end : new_program(launch, gpc_profile_dies(self));
    self->program = *end;
    self->vectors = launch->program.vector_registers;
    self->registers = self->vectors + launch->program.uniform_registers;
    if (self->registers > self->room) {
        free(self->producers);
        self->producers = malloc(warps * self->registers * sizeof(*self->producers));
        self->room = self->producers ? self->registers : 0;
    }
    if (!self->program || (self->registers && !self->producers)) {
        return gpc_fail(self->about.cores->failure, GPC_ERROR_MEMORY, "out of memory for a profile");
    }
    memcpy(self->program->ranges, launch->buffers, launch->num_buffers * sizeof(*launch->buffers));
    self->program->launches++;
    self->launches++;
    self->num_handovers = 0;
    self->began = self->last_cycle = gpc_profile_now(self);
    self->last_core = self->last_warp = 0;
    memset(self->changed, 0xFF, GPC_PROFILE_CHANGED * sizeof(*self->changed));
    for (uint32_t i = 0; i < self->about.nodes->count; i++) {
        self->steps[i] = (gpc_profiled_step_t){.line = GPC_NEVER, .pc = self->program->count};
    }
    for (uint32_t i = 0; i < machine->cores; i++) {
        self->selected[i] = self->program->count;
    }
    return GPC_OK;
}

/* Places a block's warps. Registers that have not been written belong to no instruction. */
static void
begin_block(gpc_profile_t *self, const gpc_observation_t *event)
{
    for (uint32_t i = 0; i < event->block.warps; i++) {
        uint32_t w = event->block.first_warp + i;
        gpc_profiled_warp_t *warp = gpc_profile_warp(self, event->block.core, w);
        warp->since = event->block.from;
        warp->aside = GPC_NEVER;
        for (uint32_t r = 0; r < GPC_PROFILE_RECENT; r++) {
            warp->recent[r] = (gpc_recent_t){.word = GPC_NEVER};
        }
        warp->pending = GPC_NUM_CYCLES;
        warp->block = event->block.number;
        warp->last[0] = warp->last[1] = warp->last[2] = GPC_NONE;
        warp->longest = (gpc_longest_t){.pc = self->program->count};
        size_t first = ((size_t) event->block.core * self->about.cores->machine->warps_per_core + w) * self->registers;
        for (uint32_t r = 0; r < self->registers; r++) {
            self->producers[first + r] = self->program->count;
        }
    }
}

/* ---- waits ------------------------------------------------------------------------------------------------------- */

static uint32_t *
producer_of(const gpc_profile_t *self, uint32_t core, uint32_t warp, uint32_t entry)
{
    size_t w = (size_t) core * self->about.cores->machine->warps_per_core + warp;
    return &self->producers[w * self->registers + entry];
}

static void
note_producer(gpc_profile_t *self, uint32_t core, uint32_t warp, uint32_t pc)
{
    const gpc_instruction_t *in = &self->program->code[pc];
    uint32_t entry = in->destination & GPC_OPERAND_NUMBER, words = in->opcode == GPC_OP_LOAD ? in->width : 1;
    bool uniform = (in->destination & GPC_OPERAND_KIND) == GPC_OPERAND_UNIFORM;
    if (!uniform && (in->destination & GPC_OPERAND_KIND) != GPC_OPERAND_VECTOR) {
        return;
    }
    entry += uniform ? self->vectors : 0;
    for (uint32_t i = 0; i < words && entry + i < self->registers; i++) {
        *producer_of(self, core, warp, entry + i) = pc;
    }
}

static bool
waits_for_register(uint8_t cause)
{
    return cause == GPC_STALL_scoreboard || cause == GPC_STALL_poll || cause == GPC_STALL_lock;
}

/* The instruction that wrote the register, or, where a loop computes with the value that it polls, the access to the
 * word. */
static uint32_t
writer_of(const gpc_profile_t *self, uint32_t core, uint32_t w, uint32_t pc, uint8_t cause, uint32_t entry)
{
    uint32_t last =
        gpc_profile_warp(self, core, w)->last[cause == GPC_STALL_lock ? GPC_ACCESS_ATOMIC : GPC_ACCESS_LOAD];
    uint32_t writer = entry != GPC_NONE ? *producer_of(self, core, w, entry) : pc;
    uint8_t opcode = writer < self->program->count ? self->program->code[writer].opcode : GPC_OP_LOAD;
    bool polls = cause != GPC_STALL_scoreboard && opcode != GPC_OP_LOAD && opcode != GPC_OP_ATOMIC;
    return polls && last != GPC_NONE ? last : writer;
}

/* The instruction for whose completion the warp waits at pc; none is not known. */
static uint32_t
awaited_by(const gpc_profile_t *self, uint32_t core, uint32_t w, uint32_t pc, uint8_t cause, uint32_t entry)
{
    const gpc_profiled_warp_t *warp = gpc_profile_warp(self, core, w);
    uint32_t last = GPC_NONE;
    switch (cause) {
        case GPC_STALL_scoreboard:
        case GPC_STALL_poll:
        case GPC_STALL_lock:
            return writer_of(self, core, w, pc, cause, entry);
        case GPC_STALL_memory_order_load:
        case GPC_STALL_fence_load:
            last = warp->last[GPC_ACCESS_LOAD];
            break;
        case GPC_STALL_memory_order_store:
        case GPC_STALL_fence_store:
        case GPC_STALL_fence_release:
        case GPC_STALL_time:
        case GPC_STALL_drain:
            last = warp->last[GPC_ACCESS_STORE];
            break;
        case GPC_STALL_memory_order_atomic:
        case GPC_STALL_fence_atomic:
            last = warp->last[GPC_ACCESS_ATOMIC];
            break;
        default:
            break;
    }
    return last != GPC_NONE ? last : pc;
}

static void
charge(gpc_profiled_warp_t *warp, uint8_t cause, gpc_cycle_t to, uint32_t pc)
{
    if (to <= warp->since) {
        return;
    }
    gpc_cycle_t cycles = to - warp->since;
    warp->waits[cause] += cycles;
    warp->since = to;
    if (cause < GPC_NUM_STALLS && cycles > warp->longest.cycles) {
        warp->longest = (gpc_longest_t){pc, cause, cycles};
    }
}

static void
on_selected(gpc_profile_t *self, const gpc_observation_t *event)
{
    uint32_t core = event->selected.core, w = event->selected.warp, pc = event->selected.pc;
    gpc_profiled_warp_t *warp = gpc_profile_warp(self, core, w);
    gpc_cycle_t now = gpc_profile_now(self), ready = event->selected.ready;
    uint8_t cause = warp->pending < GPC_NUM_CYCLES ? warp->pending : event->selected.cause;
    bool reads = waits_for_register(cause);
    uint32_t awaited = reads ? awaited_by(self, core, w, pc, cause, event->selected.awaited) : pc;
    if (warp->pending < GPC_NUM_CYCLES) {
        charge(warp, cause, now, awaited);
    } else {
        charge(warp, cause, ready < now ? ready : now, awaited);
        charge(warp, GPC_CYCLES_NOT_SELECTED, warp->aside < now ? warp->aside : now, pc);
        charge(warp, GPC_STALL_load_store_queue, now, pc);
    }
    if (reads && cause != GPC_STALL_scoreboard && event->selected.awaited != GPC_NONE) {
        gpc_profile_polled(self, core, w, awaited, cause);
    }
    charge(warp, GPC_CYCLES_ISSUE, now + 1, pc);
    warp->pending = GPC_NUM_CYCLES;
    warp->aside = GPC_NEVER;
    warp->instructions++;
    self->program->places[pc].instructions++;
    self->replaced = self->selected[core];
    self->selected[core] = pc;
    self->last_cycle = now;
    self->last_core = core;
    self->last_warp = w;
    note_producer(self, core, w, pc);
}

/* The selected warp does not issue, or a ready one is set aside. */
static void
on_waits(gpc_profile_t *self, const gpc_observation_t *event)
{
    gpc_profiled_warp_t *warp = gpc_profile_warp(self, event->waits.core, event->waits.warp);
    gpc_cycle_t now = gpc_profile_now(self);
    if (warp->since > now) {
        warp->since = now;
        warp->waits[GPC_CYCLES_ISSUE]--;
        warp->instructions--;
        self->program->places[self->selected[event->waits.core]].instructions--;
        self->selected[event->waits.core] = self->replaced;
        warp->pending = event->waits.cause;
    } else if (warp->pending < GPC_NUM_CYCLES) {
        charge(warp, warp->pending, now, self->program->count);
        warp->pending = event->waits.cause;
    } else if (warp->aside == GPC_NEVER) {
        warp->aside = now;
    }
}

static void
on_counted(gpc_profile_t *self, const gpc_observation_t *event)
{
    gpc_profiled_program_t *program = self->program;
    uint32_t core = event->counted.core, w = event->counted.warp, pc = program->count, awaited = pc;
    uint8_t cause = event->counted.cause;
    if (w != GPC_NONE) {
        pc = cause == GPC_CYCLES_ISSUE ? self->selected[core] : event->counted.pc;
        awaited = awaited_by(self, core, w, pc, cause, event->counted.awaited);
        pc = waits_for_register(cause) && awaited < program->count ? awaited : pc;
        gpc_profile_warp(self, core, w)->cycles[cause] += event->counted.cycles;
    }
    program->places[pc].cycles[cause] += event->counted.cycles;
    program->places[awaited].awaited[cause] += event->counted.cycles;
}

static void
note_word(gpc_profiled_warp_t *warp, gpc_address_t word, uint32_t pc, gpc_cycle_t now)
{
    uint32_t place = 0;
    while (place < GPC_PROFILE_RECENT - 1 && warp->recent[place].word != word) {
        place++;
    }
    gpc_cycle_t seen = warp->recent[place].word == word ? warp->recent[place].accessed : now;
    memmove(&warp->recent[1], &warp->recent[0], place * sizeof(*warp->recent));
    warp->recent[0] = (gpc_recent_t){word, pc, now, seen};
}

static void
on_accessed(gpc_profile_t *self, const gpc_accessed_t *access)
{
    gpc_profiled_warp_t *warp = gpc_profile_warp(self, access->core, access->warp);
    if (!access->addresses || access->access.kind > GPC_ACCESS_ATOMIC || access->lanes == 0) {
        return;
    }
    gpc_address_t word = access->addresses[gpc_lowest_bit(access->lanes)] & ~UINT64_C(3);
    self->accesses[(size_t) access->core * self->about.cores->machine->requests_per_core + access->name] = access->pc;
    warp->last[access->access.kind] = access->pc;
    if (access->access.kind != GPC_ACCESS_STORE) {
        note_word(warp, word, access->pc, gpc_profile_now(self));
    }
}

/* ---- the subscriber ---------------------------------------------------------------------------------------------- */

static int
on_event(void *profile, const gpc_observation_t *event)
{
    gpc_profile_t *self = profile;
    switch (event->kind) {
        case GPC_ON_LAUNCHED:
            return begin_launch(self, event->launched.launch);
        case GPC_ON_BLOCK:
            begin_block(self, event);
            break;
        case GPC_ON_SELECTED:
            on_selected(self, event);
            break;
        case GPC_ON_WAITS:
            on_waits(self, event);
            break;
        case GPC_ON_COUNTED:
            on_counted(self, event);
            break;
        case GPC_ON_ACCESSED:
            on_accessed(self, &event->accessed);
            break;
        case GPC_ON_ARRIVED:
            gpc_profile_arrived(self, event);
            break;
        case GPC_ON_PERFORMED:
            gpc_profile_performed(self, event->performed.msg);
            gpc_profile_written(self, event->performed.msg);
            break;
        case GPC_ON_OFFERED:
            gpc_profile_offered(self, event);
            break;
        case GPC_ON_CELL:
            gpc_profile_cell(self, event->cell.step);
            break;
        case GPC_ON_STEPPED:
            gpc_profile_stepped(self, event->stepped.unit, event->stepped.line);
            break;
        case GPC_ON_DROPPED:
            gpc_profile_dropped(self, event);
            break;
        case GPC_ON_SENT:
            gpc_profile_sent(self, event);
            break;
        case GPC_ON_CROSSED:
            gpc_profile_crossed(self, event->crossed.msg);
            break;
        default:
            gpc_profile_sweep(self);
            gpc_profile_follow_waits(self);
            break;
    }
    return GPC_OK;
}

int
gpc_profile_create(const gpc_profiled_t *about, gpc_profile_t **out)
{
    const gpc_machine_t *machine = about->cores->machine;
    uint32_t nodes = about->nodes->count;
    gpc_profile_t *self = *out = calloc(1, sizeof(*self));
    if (!self) {
        return GPC_ERROR_MEMORY;
    }
    self->about = *about;
    self->warps = calloc((size_t) machine->cores * machine->warps_per_core, sizeof(*self->warps));
    self->selected = calloc(machine->cores, sizeof(*self->selected));
    self->accesses = calloc((size_t) machine->cores * machine->requests_per_core, sizeof(*self->accesses));
    self->steps = calloc(nodes, sizeof(*self->steps));
    self->before = calloc(nodes, sizeof(*self->before));
    self->asked = calloc(GPC_PROFILE_ASKED, sizeof(*self->asked));
    self->written = malloc(GPC_PROFILE_ASKED * sizeof(*self->written));
    self->stays = calloc(about->messages->capacity, sizeof(*self->stays));
    self->changed = malloc(GPC_PROFILE_CHANGED * sizeof(*self->changed));
    self->handovers = malloc(GPC_PROFILE_HANDOVERS * sizeof(*self->handovers));
    self->links = malloc(GPC_PROFILE_LINKS * sizeof(*self->links));
    if (!self->warps || !self->selected || !self->accesses || !self->steps || !self->before || !self->asked ||
        !self->written || !self->stays || !self->changed || !self->handovers || !self->links) {
        gpc_profile_free(self);
        *out = NULL;
        return GPC_ERROR_MEMORY;
    }
    memset(self->written, 0xFF, GPC_PROFILE_ASKED * sizeof(*self->written));
    for (uint32_t i = 0; i < nodes; i++) {
        self->before[i] = *about->controllers[i].statistics;
    }
    self->subscriber = (gpc_subscriber_t){.observe = on_event, .self = self};
    gpc_subscribe(about->stream, &self->subscriber,
                  GPC_KIND(LAUNCHED) | GPC_KIND(BLOCK) | GPC_KIND(SELECTED) | GPC_KIND(WAITS) | GPC_KIND(COUNTED) |
                      GPC_KIND(ACCESSED) | GPC_KIND(ARRIVED) | GPC_KIND(PERFORMED) | GPC_KIND(OFFERED) |
                      GPC_KIND(CELL) | GPC_KIND(STEPPED) | GPC_KIND(DROPPED) | GPC_KIND(SENT) | GPC_KIND(CROSSED) |
                      GPC_KIND(ENDED));
    return GPC_OK;
}

void
gpc_profile_free(gpc_profile_t *self)
{
    if (!self) {
        return;
    }
    gpc_unsubscribe(&self->subscriber);
    while (self->programs) {
        gpc_profiled_program_t *next = self->programs->next;
        free_program(self->programs);
        self->programs = next;
    }
    free(self->warps);
    free(self->selected);
    free(self->producers);
    free(self->accesses);
    free(self->steps);
    free(self->before);
    free(self->asked);
    free(self->written);
    free(self->stays);
    free(self->changed);
    free(self->handovers);
    free(self->links);
    free(self);
}
