/* race_report.c: the text of a race. */
#include <inttypes.h>
#include <stdio.h>

#include "check/race/race_parts.h"
#include "core/where.h"

typedef struct {
    char text[GPC_WHERE_BYTES + 96];
} phrase_t;

static const gpc_instruction_t *
instruction_at(const gpc_race_t *self, const gpc_race_access_t *access)
{
    const gpc_program_t *program = &self->launch->program;
    return &program->instructions[access->pc < program->count ? access->pc : 0];
}

static const char *
verb_of(const gpc_instruction_t *in)
{
    switch (in->opcode) {
        case GPC_OP_LOAD:
        case GPC_OP_SHARED_LOAD:
            return "loads";
        case GPC_OP_STORE:
        case GPC_OP_SHARED_STORE:
            return "stores";
        default:
            return "updates";
    }
}

/* e.g. "weak" or "relaxed, scope cta" */
static void
describe_order(const gpc_instruction_t *in, char *text, size_t size)
{
    static const char *const orders[] = {"weak", "relaxed", "acquire", "release", "acq_rel", "sc"};
    static const char *const scopes[] = {"cta", "cu", "gpu", "sys"};
    bool atomic = in->opcode == GPC_OP_ATOMIC || in->opcode == GPC_OP_SHARED_ATOMIC;
    if (in->order == GPC_ORDER_WEAK) {
        snprintf(text, size, "%s", atomic ? "atomic" : "weak");
    } else {
        snprintf(text, size, "%s%s, scope %s", atomic ? "atomic, " : "", orders[in->order < 6 ? in->order : 0],
                 scopes[in->scope < 4 ? in->scope : 0]);
    }
}

/* "kernel 'k' at k.py:12 block 3 warp 0 stores" */
static phrase_t
describe(const gpc_race_t *self, const gpc_race_access_t *access)
{
    const gpc_instruction_t *in = instruction_at(self, access);
    uint32_t block = gpc_race_block_of(self, access->moment.thread);
    const gpc_core_launch_t *kernel = gpc_launch_kernel_of(self->launch, block);
    const uint32_t *grid = kernel ? kernel->launch.grid : self->launch->grid;
    uint32_t warp = access->moment.thread % self->warps_per_block;
    char where[GPC_WHERE_BYTES], place[48];
    char gpu[24] = "";
    phrase_t out;

    block -= kernel ? kernel->first_block : 0;
    if (kernel && kernel->launch.on_gpu) {
        snprintf(gpu, sizeof(gpu), "GPU %u ", kernel->launch.on_gpu - 1);
    }
    if (grid[1] * grid[2] == 1) {
        snprintf(place, sizeof(place), "%" PRIu32, block);
    } else {
        snprintf(place, sizeof(place), "(%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", block % grid[0],
                 block / grid[0] % grid[1], block / grid[0] / grid[1]);
    }
    snprintf(out.text, sizeof(out.text), "%s %sblock %s warp %" PRIu32 " %s",
             gpc_launch_where(self->launch, access->pc, where, sizeof(where)), gpu, place, warp, verb_of(in));
    return out;
}

static phrase_t
name_word(const gpc_race_t *self, gpc_address_t address)
{
    phrase_t out;
    if (address >= GPC_RACE_SCRATCHPADS) {
        uint32_t words = self->launch->program.shared_words;
        uint32_t word = (uint32_t) ((address - GPC_RACE_SCRATCHPADS) / 4 % self->scratchpad_words);
        snprintf(out.text, sizeof(out.text), "word %" PRIu32 " of the block's shared memory",
                 words ? word % words : word);
        return out;
    }
    for (uint32_t i = 0; i < self->launch->num_buffers; i++) {
        const gpc_buffer_t *buffer = &self->launch->buffers[i];
        uint64_t element;
        if (gpc_buffer_has(buffer, address, &element)) {
            snprintf(out.text, sizeof(out.text), "buffer %.64s[%" PRIu64 "]", buffer->name, element);
            return out;
        }
    }
    snprintf(out.text, sizeof(out.text), "address 0x%" PRIx64, address);
    return out;
}

int
gpc_race_report(gpc_race_t *self, gpc_address_t address, const gpc_race_access_t *first,
                const gpc_race_access_t *second)
{
    char first_order[48], second_order[48];
    bool both = first->synchronising && second->synchronising;

    describe_order(instruction_at(self, first), first_order, sizeof(first_order));
    describe_order(instruction_at(self, second), second_order, sizeof(second_order));
    return gpc_fail(self->failure, GPC_ERROR_RACE,
                    "data race: %s %s (%s), %s it (%s), no synchronisation orders them%s", describe(self, first).text,
                    name_word(self, address).text, first_order, describe(self, second).text, second_order,
                    both ? ", and their scopes do not include each other's warp" : "");
}
