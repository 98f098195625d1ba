/* stuck.c: why a launch makes no progress: progress itself, what groups of warps do, and blocks that have not
 * started. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/frontend/frontend.h"
#include "core/memory/narrow.h"
#include "core/memory/writers.h"
#include "core/registers.h"
#include "core/stuck.h"
#include "core/where.h"

#define MOST_GROUPS 6u

/* ---- progress ---------------------------------------------------------------------------------------------------- */

uint64_t
gpc_cores_progress_mark(const gpc_cores_t *self)
{
    uint64_t mark = 0;
    for (const gpc_core_launch_t *launch = self->parts->launch; launch != NULL; launch = launch->next) {
        mark += (uint64_t) launch->blocks_done * launch->warps_per_block;
    }
    for (uint32_t core = 0; core < self->machine->cores; core++) {
        for (uint32_t b = 0; b < self->machine->blocks_per_core; b++) {
            const gpc_block_t *block = gpc_core_block(self, core, b);
            mark +=
                block->resident ? self->parts->bases[core].launch->warps_per_block - gpc_count_bits(block->warps) : 0;
        }
    }
    return mark;
}

static inline uint64_t
mix(uint64_t sum, uint64_t word)
{
    return (sum ^ word) * UINT64_C(0x100000001B3);
}

uint64_t
gpc_cores_register_sum(const gpc_cores_t *self, uint32_t core, uint32_t w, const uint8_t *marks, uint32_t *pc)
{
    gpc_issue_t x;
    gpc_issue_init(&x, (gpc_cores_t *) self, core, w, 0);
    uint32_t vectors = x.launch->launch.program.vector_registers, lanes = x.launch->lanes;
    uint64_t sum = mix(0, x.warp->live);

    *pc = x.warp->top.pc;
    for (uint32_t i = 0; i < x.launch->front.scoreboard; i++) {
        if (!marks[x.launch->first_register + i]) {
            continue;
        }
        uint32_t room[GPC_MAX_LANES];
        gpc_operand_t operand = {.kind = i < vectors ? GPC_VECTOR : GPC_UNIFORM,
                                 .number = i < vectors ? i : i - vectors,
                                 .offset = i * lanes};
        const uint32_t *words = gpc_operand_lanes(&x, &operand, room);
        for (gpc_lanes_t left = x.warp->live; left != 0; left &= left - 1) {
            sum = mix(sum, words[gpc_lowest_bit(left)]);
        }
    }
    return sum;
}

uint64_t
gpc_cores_scratchpad_sum(const gpc_cores_t *self)
{
    size_t words = (size_t) self->machine->cores * self->parts->scratchpad_words;
    uint64_t sum = 0;
    for (size_t i = 0; gpc_cores_launched(self)->program.shared_words != 0 && i < words; i++) {
        sum = mix(sum, self->parts->scratchpad[i]);
    }
    return sum;
}

bool
gpc_cores_sleep_until(const gpc_cores_t *self, gpc_cycle_t cycle)
{
    for (uint32_t core = 0; core < self->machine->cores; core++) {
        for (uint64_t left = self->parts->cores[core].resident; left != 0; left &= left - 1) {
            uint32_t w = gpc_lowest_bit(left);
            const gpc_warp_t *warp = gpc_core_warp(self, core, w);
            if (warp->state == GPC_WARP_WAITS_TIME && self->parts->cores[core].reasons[w] == GPC_STALL_sleep &&
                warp->wake_at != GPC_NEVER && warp->wake_at >= cycle) {
                return true;
            }
        }
    }
    return false;
}

/* ---- blocks that have not started -------------------------------------------------------------------------------- */

/* Their number, and that of the first one. */
static uint64_t
blocks_not_started(const gpc_cores_t *self, const gpc_core_launch_t *launch, uint64_t *first)
{
    uint32_t cores = launch->cores;
    uint64_t count = 0;
    *first = launch->blocks;
    if (!launch->has_begun) {
        *first = 0;
        return launch->blocks;
    }
    for (uint32_t die = 0; launch->launch.placement != GPC_PLACE_STATIC && die < launch->dies; die++) {
        uint32_t left = gpc_first_block_of(launch, die + 1) - launch->next_block[die];
        *first = left && count == 0 ? launch->next_block[die] : *first;
        count += left;
    }
    if (launch->launch.placement != GPC_PLACE_STATIC) {
        return count;
    }
    for (uint32_t core = 0; core < cores; core++) {
        uint64_t next = self->parts->cores[launch->first_core + core].next_block;
        count += next < launch->blocks ? (launch->blocks - next + cores - 1) / cores : 0;
        *first = next < *first ? next : *first;
    }
    return count;
}

/* "(3,0,0)" */
static void
add_block(const gpc_core_launch_t *launch, uint64_t number, gpc_text_t *out)
{
    const uint32_t *grid = launch->launch.grid;
    gpc_text_add(out, "(%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")", number % grid[0], number / grid[0] % grid[1],
                 number / grid[0] / grid[1]);
}

static void
explain_blocks(const gpc_cores_t *self, const gpc_core_launch_t *launch, gpc_text_t *out)
{
    uint64_t first, waiting = blocks_not_started(self, launch, &first);
    uint32_t fit;
    const char *limit;
    if (waiting != 0 && gpc_cores_occupancy(self, &launch->launch, &fit, &limit) == 0) {
        gpc_text_add(out, "; %" PRIu64 " of %u blocks, from block ", waiting, launch->blocks);
        add_block(launch, first, out);
        gpc_text_add(out, " on, have not started: a core holds at most %u block%s of this kernel (limit: %s)", fit,
                     fit == 1 ? "" : "s", limit);
    }
}

void
gpc_cores_explain_blocks(const gpc_cores_t *self, gpc_text_t *out)
{
    const gpc_core_launch_t *launch = self->parts == NULL ? NULL : self->parts->launch;
    for (; launch != NULL; launch = launch->next) {
        explain_blocks(self, launch, out);
    }
}

/* ---- warps ------------------------------------------------------------------------------------------------------- */

/* Warps that do the same. */
typedef struct {
    bool polls;
    uint8_t state;
    uint32_t pc, barrier;
    gpc_poll_t poll;   /* if it polls */
    gpc_poll_t second; /* count 0: none */
    const gpc_core_launch_t *launch;
    uint32_t core, warp;
    uint32_t count;
} group_t;

/* A warp's two most frequent polls; count 0: none. A word that was read once is not polled. Polls of one loop come in
 * the order of the program, so that warps in different places of it are in one group. */
static void
find_polls(const gpc_poll_t *polls, group_t *out)
{
    for (uint32_t i = 0; i < GPC_POLLS; i++) {
        if (polls[i].count > out->poll.count) {
            out->second = out->poll;
            out->poll = polls[i];
        } else if (polls[i].count > out->second.count) {
            out->second = polls[i];
        }
    }
    out->polls = out->poll.count > 1;
    if (out->second.count < 2 || out->second.count < out->poll.count / 2 || out->second.word == out->poll.word) {
        out->second.count = 0;
    }
    if (out->second.count != 0 && out->second.pc < out->poll.pc) {
        gpc_poll_t later = out->poll;
        out->poll = out->second;
        out->second = later;
    }
}

static group_t
group_of(const gpc_cores_t *self, const gpc_poll_t *polls, uint32_t core, uint32_t w)
{
    const gpc_warp_t *warp = gpc_core_warp(self, core, w);
    group_t group = {
        .launch = self->parts->bases[core].launch, .state = warp->state, .core = core, .warp = w, .count = 1};
    if (warp->state == GPC_WARP_WAITS_BARRIER) {
        group.pc = warp->barrier_pc;
        group.barrier = warp->barrier;
        return group;
    }
    find_polls(polls + ((size_t) core * self->machine->warps_per_core + w) * GPC_POLLS, &group);
    group.pc = group.polls ? group.poll.pc : 0; /* others run through a loop */
    return group;
}

static bool
does_the_same(const group_t *a, const group_t *b)
{
    if (a->launch != b->launch) {
        return false;
    }
    if (a->polls || b->polls) {
        return a->polls == b->polls && a->pc == b->pc && a->poll.word == b->poll.word;
    }
    bool at_barrier = a->state == GPC_WARP_WAITS_BARRIER, b_too = b->state == GPC_WARP_WAITS_BARRIER;
    return at_barrier == b_too && a->pc == b->pc && a->barrier == b->barrier;
}

/* "flag[3]" */
static const char *
name_of_word(const gpc_cores_t *self, gpc_address_t word, char *text, size_t size)
{
    const gpc_launch_t *launch = gpc_cores_launched(self);
    for (uint32_t i = 0; i < launch->num_buffers; i++) {
        const gpc_buffer_t *buffer = &launch->buffers[i];
        uint64_t element;
        if (gpc_buffer_has(buffer, word, &element)) {
            snprintf(text, size, "%s[%" PRIu64 "]", buffer->name, element);
            return text;
        }
    }
    snprintf(text, size, "the word at 0x%" PRIx64, word);
    return text;
}

static void
explain_writer(const gpc_cores_t *self, gpc_address_t word, gpc_text_t *out)
{
    const gpc_core_launch_t *launch = self->parts->launch;
    const gpc_writer_t *writer = gpc_writers_find(self, word);
    uint32_t lanes = self->machine->lanes_per_warp, first = (uint32_t) (word % self->machine->line_bytes) / 4;
    char where[GPC_WHERE_BYTES];
    if (writer == NULL) {
        gpc_text_add(out, ", %s",
                     self->parts->writers_lost ? "whose last writer is not recorded"
                                               : "which no thread has written in this launch");
        return;
    }
    while (launch->number != writer->kernel) {
        launch = launch->next;
    }
    bool one = (writer->lanes & (writer->lanes - 1)) == 0;
    uint32_t lane = one ? gpc_lowest_bit(writer->lanes) : first - writer->first;
    gpc_text_add(out, ", last written by ");
    if (one || writer->straight) {
        uint32_t thread = writer->warp * lanes + lane;
        gpc_text_add(out, "thread (%u,%u,%u)", launch->thread_axis[0][thread], launch->thread_axis[1][thread],
                     launch->thread_axis[2][thread]);
    } else {
        gpc_text_add(out, "warp %u", (unsigned) writer->warp);
    }
    gpc_text_add(out, " of block ");
    add_block(launch, writer->block, out);
    gpc_text_add(out, " in %s at core cycle %" PRIu64, gpc_core_where(launch, writer->pc, where, sizeof where),
                 writer->cycle);
}

static void
add_value(uint8_t type, uint32_t word, gpc_text_t *out)
{
    float real;
    memcpy(&real, &word, sizeof real);
    if (type == GPC_F32) {
        gpc_text_add(out, "%g", (double) real);
    } else {
        gpc_text_add(out, "%" PRId64, type == GPC_U32 ? (int64_t) word : (int64_t) (int32_t) word);
    }
}

static void
explain_poll(const gpc_cores_t *self, const gpc_stuck_t *stuck, uint32_t core, const gpc_poll_t *poll, gpc_text_t *out)
{
    const gpc_core_launch_t *launch = self->parts->bases[core].launch;
    char name[80], where[GPC_WHERE_BYTES];
    const gpc_decoded_t *d = &launch->code[poll->pc];
    uint32_t memory = stuck->word(stuck->world, poll->word);
    uint8_t type = d->type;
    memory = d->narrow.bytes != 0 ? gpc_narrow_element(memory, (uint32_t) (poll->word % 4), &d->narrow) : memory;
    gpc_text_add(out, "%s = ", name_of_word(self, poll->word, name, sizeof name));
    add_value(type, poll->value, out);
    if (memory != poll->value) {
        const gpc_writer_t *writer = gpc_writers_find(self, poll->word);
        bool is_newer = writer != NULL && writer->core == core; /* in the core's store buffer */
        gpc_text_add(out, is_newer ? " (not yet visible to other cores, which read " : " (a stale copy of ");
        add_value(type, memory, out);
        gpc_text_add(out, ")");
    }
    gpc_text_add(out, " in %s", gpc_core_where(launch, poll->pc, where, sizeof where));
    explain_writer(self, poll->word, out);
}

static void
explain_group(const gpc_cores_t *self, const gpc_stuck_t *stuck, const group_t *group, gpc_text_t *out)
{
    const gpc_warp_t *warp = gpc_core_warp(self, group->core, group->warp);
    const gpc_block_t *block = gpc_core_block(self, group->core, warp->block);
    const char *s = group->count == 1 ? "s" : "";
    char where[GPC_WHERE_BYTES];
    if (group->count == 1) {
        gpc_text_add(out, "warp %u", (unsigned) warp->index);
    } else {
        gpc_text_add(out, "%u warps (first: warp %u", group->count, (unsigned) warp->index);
    }
    gpc_text_add(out, " of block (%u,%u,%u) on core %u%s ", block->coordinates[0], block->coordinates[1],
                 block->coordinates[2], group->core, group->count == 1 ? "" : ")");
    if (group->polls) {
        gpc_text_add(out, "poll%s ", s);
        explain_poll(self, stuck, group->core, &group->poll, out);
        if (group->second.count != 0) {
            gpc_text_add(out, " and ");
            explain_poll(self, stuck, group->core, &group->second, out);
        }
    } else if (group->state == GPC_WARP_WAITS_BARRIER) {
        gpc_text_add(out, "wait%s at barrier %u in %s for other warps of the block", s, group->barrier,
                     gpc_core_where(group->launch, group->pc, where, sizeof where));
    } else {
        gpc_text_add(out, "run%s %s without reading a word of global memory twice", s,
                     gpc_core_where(group->launch, warp->top.pc, where, sizeof where));
    }
}

void
gpc_cores_explain_stuck(const gpc_cores_t *self, const gpc_stuck_t *stuck, gpc_text_t *out)
{
    group_t groups[MOST_GROUPS];
    uint32_t count = 0, more = 0;
    for (uint32_t core = 0; core < self->machine->cores; core++) {
        for (uint64_t left = self->parts->cores[core].resident; left != 0; left &= left - 1) {
            group_t group = group_of(self, stuck->polls, core, gpc_lowest_bit(left));
            uint32_t i = 0;
            while (i < count && !does_the_same(&groups[i], &group)) {
                i++;
            }
            if (i < count) {
                groups[i].count++;
            } else if (count < MOST_GROUPS) {
                groups[count++] = group;
            } else {
                more++;
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        gpc_text_add(out, "%s", i == 0 ? "" : "; ");
        explain_group(self, stuck, &groups[i], out);
    }
    if (more != 0) {
        gpc_text_add(out, "; and %u more warps", more);
    }
}
