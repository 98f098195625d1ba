/* decode.c: decodes a launch into the form that cores run: a copy with operands, scoreboard entries and latencies
 * resolved. */
#include <stdlib.h>
#include <string.h>

#include "core/execute/alu.h"
#include "core/execute/extended.h"
#include "core/frontend/frontend.h"
#include "core/lanes.h"

static gpc_operand_t
decode_operand(uint16_t operand, uint32_t lanes)
{
    uint32_t number = operand & GPC_OPERAND_NUMBER;
    switch (operand & GPC_OPERAND_KIND) {
        case GPC_OPERAND_VECTOR:
            return (gpc_operand_t){GPC_VECTOR, number, number * lanes, 0};
        case GPC_OPERAND_UNIFORM:
            return (gpc_operand_t){GPC_UNIFORM, number, 0, 0};
        case GPC_OPERAND_CONSTANT:
            return (gpc_operand_t){GPC_CONSTANT, number, number * lanes, 0};
        default:
            return (gpc_operand_t){GPC_NO_OPERAND, 0, 0, 0};
    }
}

static const gpc_operand_t no_operand = {GPC_NO_OPERAND, 0, 0, 0};

typedef struct {
    uint8_t group;
    uint8_t unit;
    bool d, a, b, c; /* operands of the instruction */
} traits_t;

static bool
has(const char *list, char which)
{
    return strchr(list, which) != NULL;
}

static traits_t
traits_of(uint8_t opcode)
{
    static const struct {
        const char *operands;
        uint8_t group, unit;
    } operations[GPC_NUM_OPCODES] = {
#define X(name, operands, group, unit, text) [GPC_OP_##name] = {operands, GPC_GROUP_##group, GPC_UNIT_##unit},
#include "lang/operations.def"
#undef X
    };
    const char *list = operations[opcode].operands;
    return (traits_t){operations[opcode].group, operations[opcode].unit, has(list, 'd'),
                      has(list, 'a'),           has(list, 'b'),          has(list, 'c')};
}

static void
decode_timing(gpc_decoded_t *d, const gpc_machine_t *machine)
{
    switch (d->unit) {
        case GPC_UNIT_SPECIAL:
            d->latency = machine->sfu_latency;
            d->unit_holds = machine->sfu_cycles;
            break;
        case GPC_UNIT_DIVISION:
            d->latency = machine->division_latency;
            d->unit_holds = machine->division_cycles;
            break;
        case GPC_UNIT_F64: /* the last lanes begin when the first have occupied it */
            d->latency = machine->alu_latency + (machine->f64_cycles != 0 ? machine->f64_cycles - 1 : 0);
            d->unit_holds = machine->f64_cycles;
            d->unit = machine->f64_cycles != 0 ? GPC_UNIT_F64 : GPC_UNIT_NONE;
            break;
        case GPC_UNIT_SCRATCHPAD:
            d->latency = machine->scratchpad_latency;
            d->unit_holds = 1;
            break;
        default:
            d->latency = machine->alu_latency;
            break;
    }
}

static void
add_waits(gpc_decoded_t *d, const gpc_core_launch_t *launch, gpc_operand_t operand, uint32_t words)
{
    if (operand.kind != GPC_VECTOR && operand.kind != GPC_UNIFORM) {
        return;
    }
    for (uint32_t i = 0; i < words && d->num_waits < GPC_MOST_WAITS; i++, operand.number++) {
        d->waits[d->num_waits++] = (uint16_t) gpc_scoreboard_entry(launch, &operand);
    }
}

/* An operation of single words without flags is an ALU's. */
static void
decode_extended(gpc_decoded_t *d, const gpc_instruction_t *in, const gpc_core_launch_t *launch,
                const gpc_machine_t *machine)
{
    const gpc_extended_t *row = &gpc_extended[in->immediate];
    uint32_t lanes = machine->lanes_per_warp;
    bool wide = gpc_extended_host_is_wide();
    d->unit = row->unit;
    d->width = row->d;
    d->destination = decode_operand(in->destination, lanes);
    d->a = decode_operand(in->a, lanes);
    d->b = row->b != 0 ? decode_operand(in->b, lanes) : no_operand;
    d->c = row->c != 0 ? decode_operand(in->c, lanes) : no_operand;
    d->extended = wide ? row->wide : row->all;
    if (row->alu.one != NULL && in->flags == 0) {
        d->group = GPC_GROUP_ALU;
        d->alu = wide ? row->wide_alu : row->alu;
    }
    decode_timing(d, machine);
    add_waits(d, launch, d->destination, row->d);
    add_waits(d, launch, d->a, row->a);
    add_waits(d, launch, d->b, row->b);
    add_waits(d, launch, d->c, row->c);
}

static gpc_access_kind_t
access_kind(uint8_t opcode)
{
    switch (opcode) {
        case GPC_OP_LOAD:
        case GPC_OP_SHARED_LOAD:
            return GPC_ACCESS_LOAD;
        case GPC_OP_STORE:
        case GPC_OP_SHARED_STORE:
            return GPC_ACCESS_STORE;
        case GPC_OP_ATOMIC:
        case GPC_OP_SHARED_ATOMIC:
            return GPC_ACCESS_ATOMIC;
        case GPC_OP_FENCE:
            return GPC_ACCESS_FENCE;
        case GPC_OP_EXIT:
            return GPC_ACCESS_EXIT;
        default:
            return GPC_ACCESS_BARRIER;
    }
}

static void
decode(gpc_decoded_t *d, const gpc_instruction_t *in, const gpc_core_launch_t *launch, const gpc_machine_t *machine)
{
    uint32_t lanes = machine->lanes_per_warp;
    traits_t traits = traits_of(in->opcode);
    *d = (gpc_decoded_t){
        .group = traits.group, .opcode = in->opcode, .type = in->type, .unit = traits.unit, .flags = in->flags};
    bool shared = traits.group == GPC_GROUP_SHARED, memory = traits.group == GPC_GROUP_MEMORY,
         bytes = shared && (in->flags & GPC_FLAG_BYTES) != 0;
    bool shuffles = in->opcode == GPC_OP_SHUFFLE && (in->flags & GPC_FLAG_SHUFFLE_MODE) != 0;
    d->width = memory || bytes || shuffles ? in->width : 1;
    d->atomic = (uint8_t) ((in->flags >> GPC_FLAG_ATOMIC_SHIFT) & 0xFu);
    d->narrow = (gpc_narrow_t){in->bytes, in->type == GPC_I32};
    if (in->opcode == GPC_OP_STORE && in->bytes != 0) {
        d->atomic = GPC_ATOMIC_MERGE;
    }
    d->access = (gpc_access_t){(uint8_t) access_kind(in->opcode), in->order, in->scope};
    if (in->opcode == GPC_OP_EXIT) { /* the end of a kernel is a release */
        d->access.order = GPC_ORDER_RELEASE;
        d->access.scope = GPC_SCOPE_SYS;
    }
    d->alu = gpc_alu_find(in->opcode, in->type, in->flags, gpc_alu_host_is_wide());
    d->destination = traits.d ? decode_operand(in->destination, lanes) : no_operand;
    d->a = traits.a ? decode_operand(in->a, lanes) : no_operand;
    d->b = traits.b ? decode_operand(in->b, lanes) : no_operand;
    d->c = traits.c ? decode_operand(in->c, lanes) : no_operand;
    d->immediate = in->immediate;
    d->target = in->target;
    d->reconverge = in->reconverge;
    if (in->opcode == GPC_OP_EXTENDED) {
        decode_extended(d, in, launch, machine);
        return;
    }
    decode_timing(d, machine);
    if (shuffles) {
        d->c = decode_operand(in->c, lanes);
    } else if (in->opcode == GPC_OP_ATOMIC || in->opcode == GPC_OP_SHARED_ATOMIC) {
        if (d->atomic != GPC_ATOMIC_CAS) {
            d->c = no_operand;
        }
    } else if (in->opcode == GPC_OP_SHARED_LOAD) {
        d->b = decode_operand(in->b, lanes);
    } else if (in->opcode == GPC_OP_SHARED_STORE) {
        d->c = decode_operand(in->c, lanes);
    } else if (d->group == GPC_GROUP_LOCAL) {
        const gpc_operand_t *length = in->opcode == GPC_OP_LOCAL_LOAD ? &d->b : &d->c;
        d->local_words = launch->launch.constants[length->number];
    }
    uint32_t values = memory || bytes ? d->width : 1;
    add_waits(d, launch, d->destination, d->width);
    add_waits(d, launch, d->a, memory && (in->flags & GPC_FLAG_FLAT) != 0 ? 2 : 1);
    add_waits(d, launch, d->b, values);
    add_waits(d, launch, d->c, values);
    if (memory && (in->flags & GPC_FLAG_FLAT) != 0) {
        d->group = GPC_GROUP_SHARED;
    }
}

/* An integer division of a checked kernel. */
static void
check_division(gpc_decoded_t *d)
{
    bool extended = d->opcode == GPC_OP_EXTENDED;
    bool integers = extended ? gpc_extended_type(&gpc_extended[d->immediate]) != 'F' : d->type != GPC_F32;
    if (d->unit == GPC_UNIT_DIVISION && integers) {
        d->group = d->group == GPC_GROUP_ALU ? GPC_GROUP_DIVISION : GPC_GROUP_WIDE_DIVISION;
    }
}

static void *
copy_of(const void *from, size_t bytes)
{
    void *copy = malloc(bytes == 0 ? 1 : bytes);
    if (copy != NULL && bytes != 0) {
        memcpy(copy, from, bytes);
    }
    return copy;
}

static char *
copy_of_text(const char *text)
{
    return copy_of(text == NULL ? "?" : text, text == NULL ? 2 : strlen(text) + 1);
}

static bool
copy_launch(gpc_core_launch_t *self, const gpc_launch_t *from)
{
    gpc_launch_t *to = &self->launch;
    *to = *from;
    to->program.constants = from->num_constants;
    gpc_buffer_t *buffers = copy_of(from->buffers, from->num_buffers * sizeof *buffers);
    to->buffers = buffers;
    to->program.instructions = copy_of(from->program.instructions, from->program.count * sizeof(gpc_instruction_t));
    to->constants = copy_of(from->constants, from->num_constants * sizeof(uint32_t));
    to->kernel = copy_of_text(from->kernel);
    gpc_source_t *files = copy_of(from->files, from->num_files * sizeof *files);
    const char **reports = copy_of(from->reports, from->num_reports * sizeof *reports);
    to->files = files;
    to->reports = reports;
    if (buffers == NULL || to->program.instructions == NULL || to->constants == NULL || to->kernel == NULL ||
        files == NULL || reports == NULL) {
        to->num_buffers = to->num_files = to->num_reports = 0;
        return false;
    }
    bool whole = true;
    for (uint32_t i = 0; i < to->num_buffers; i++) {
        buffers[i].name = copy_of_text(from->buffers[i].name);
        whole = whole && buffers[i].name != NULL;
    }
    for (uint32_t i = 0; i < to->num_files; i++) {
        files[i].name = copy_of_text(from->files[i].name);
        whole = whole && files[i].name != NULL;
    }
    for (uint32_t i = 0; i < to->num_reports; i++) {
        reports[i] = copy_of_text(from->reports[i]);
        whole = whole && reports[i] != NULL;
    }
    return whole;
}

static bool
make_tables(gpc_core_launch_t *self, uint32_t lanes)
{
    const gpc_launch_t *launch = &self->launch;
    uint32_t threads = self->warps_per_block * lanes;
    self->code = aligned_alloc(_Alignof(gpc_decoded_t), launch->program.count * sizeof *self->code);
    self->spread = malloc((size_t) (launch->num_constants + 1) * lanes * sizeof *self->spread);
    for (uint32_t axis = 0; axis < 3; axis++) {
        self->thread_axis[axis] = malloc(threads * sizeof(uint32_t));
    }
    if (self->code == NULL || self->spread == NULL || self->thread_axis[0] == NULL || self->thread_axis[1] == NULL ||
        self->thread_axis[2] == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < launch->num_constants; i++) {
        for (uint32_t l = 0; l < lanes; l++) {
            self->spread[i * lanes + l] = launch->constants[i];
        }
    }
    for (uint32_t t = 0; t < threads; t++) {
        self->thread_axis[0][t] = t % launch->block[0];
        self->thread_axis[1][t] = t / launch->block[0] % launch->block[1];
        self->thread_axis[2][t] = t / launch->block[0] / launch->block[1];
    }
    return true;
}

/* An index counts elements of the buffer: an access in another size would leave the buffer. */
static int
check_elements(const gpc_core_launch_t *self, uint32_t i, gpc_failure_t *failure)
{
    const gpc_instruction_t *in = &self->launch.program.instructions[i];
    bool global = in->opcode == GPC_OP_LOAD || in->opcode == GPC_OP_STORE || in->opcode == GPC_OP_ATOMIC;
    if (!global || (in->flags & GPC_FLAG_FLAT) != 0 || self->launch.buffers[in->immediate].bytes == in->bytes) {
        return GPC_OK;
    }
    const gpc_buffer_t *buffer = &self->launch.buffers[in->immediate];
    return gpc_fail(failure, GPC_ERROR_PROGRAM,
                    "instruction %u: an access of %u bytes to buffer '%s' of %u-byte elements", i,
                    gpc_element_bytes(in->bytes), buffer->name, gpc_element_bytes(buffer->bytes));
}

/* Checks that need the constants, the buffers and the machine. */
static int
check_constants(const gpc_core_launch_t *self, const gpc_machine_t *machine, gpc_failure_t *failure)
{
    const gpc_program_t *program = &self->launch.program;
    for (uint32_t i = 0; i < program->count; i++) {
        const gpc_instruction_t *in = &program->instructions[i];
        GPC_TRY(check_elements(self, i, failure));
        if (in->opcode == GPC_OP_LANES && (uint64_t) in->immediate + machine->lanes_per_warp > program->constants) {
            return gpc_fail(failure, GPC_ERROR_PROGRAM, "instruction %u (LANES): constants %u to %u, beyond %u", i,
                            in->immediate, in->immediate + machine->lanes_per_warp - 1, program->constants);
        }
        if ((in->opcode == GPC_OP_LOCAL_LOAD || in->opcode == GPC_OP_LOCAL_STORE) &&
            (uint64_t) in->immediate + self->code[i].local_words > program->vector_registers) {
            return gpc_fail(failure, GPC_ERROR_PROGRAM,
                            "instruction %u: a local array of %u words from register %u exceeds %u registers", i,
                            self->code[i].local_words, in->immediate, (unsigned) program->vector_registers);
        }
    }
    return GPC_OK;
}

/* The first vector registers, except those of local arrays. */
static uint64_t
may_be_even(const gpc_core_launch_t *self)
{
    const gpc_program_t *program = &self->launch.program;
    uint64_t registers =
        program->vector_registers < GPC_EVEN_REGISTERS ? (UINT64_C(1) << program->vector_registers) - 1 : UINT64_MAX;
    for (uint32_t i = 0; i < program->count; i++) {
        const gpc_instruction_t *in = &program->instructions[i];
        if (in->opcode != GPC_OP_LOCAL_LOAD && in->opcode != GPC_OP_LOCAL_STORE) {
            continue;
        }
        for (uint32_t word = in->immediate;
             word < GPC_EVEN_REGISTERS && word - in->immediate < self->code[i].local_words; word++) {
            registers &= ~(UINT64_C(1) << word);
        }
    }
    return registers;
}

static gpc_front_t
front_of(const gpc_program_t *program)
{
    gpc_front_t front = {.scoreboard = (uint32_t) program->vector_registers + program->uniform_registers,
                         .evens = program->vector_registers,
                         .uniforms = program->uniform_registers};
    front.evens = front.evens < GPC_EVEN_REGISTERS ? front.evens : GPC_EVEN_REGISTERS;
    front.words = (front.scoreboard + front.evens + front.uniforms + 15) / 16 * 16;
    return front;
}

static void
note_place(gpc_operand_t *operand, const gpc_core_launch_t *launch)
{
    const gpc_front_t *front = &launch->front;
    operand->place = operand->number;
    if (operand->kind == GPC_UNIFORM) {
        operand->place += front->scoreboard + front->evens;
    } else if (operand->kind == GPC_VECTOR) {
        operand->place += front->scoreboard;
    }
}

static void
note_source(gpc_decoded_t *d, gpc_operand_t *operand, const gpc_core_launch_t *launch)
{
    note_place(operand, launch);
    if (operand->kind == GPC_VECTOR) {
        d->may_be_even &= operand->number < GPC_EVEN_REGISTERS;
        d->needs_even |= UINT64_C(1) << operand->number % GPC_EVEN_REGISTERS;
    }
}

static bool
is_register(const gpc_operand_t *operand, const gpc_operand_t *other)
{
    return operand->kind == GPC_VECTOR && other->kind == GPC_VECTOR && operand->number == other->number;
}

/* Resolves what depends on other instructions, too: which registers may be even. */
static void
resolve(gpc_core_launch_t *launch)
{
    for (uint32_t i = 0; i < launch->launch.program.count; i++) {
        gpc_decoded_t *d = &launch->code[i];
        gpc_operand_t *to = &d->destination;
        d->may_be_even = true;
        note_source(d, &d->a, launch);
        note_source(d, &d->b, launch);
        note_source(d, &d->c, launch);
        note_place(to, launch);
        d->in_place =
            to->kind == GPC_VECTOR && !is_register(to, &d->a) && !is_register(to, &d->b) && !is_register(to, &d->c);
        d->even_result = to->kind == GPC_UNIFORM || (to->kind == GPC_VECTOR && to->number < GPC_EVEN_REGISTERS &&
                                                     (launch->may_be_even >> to->number & 1u) != 0);
        d->makes_even = d->even_result && to->kind == GPC_VECTOR ? UINT64_C(1) << to->number : 0;
        d->entry = to->kind == GPC_NO_OPERAND ? GPC_NO_ENTRY : (uint16_t) gpc_scoreboard_entry(launch, to);
    }
}

int
gpc_core_launch_new(const gpc_cores_t *self, const gpc_launch_t *from, gpc_core_launch_t **out)
{
    const gpc_machine_t *machine = self->machine;
    *out = NULL;
    gpc_core_launch_t *launch = calloc(1, sizeof *launch);
    if (launch == NULL) {
        return gpc_fail(self->failure, GPC_ERROR_MEMORY, "out of memory for a launch");
    }
    launch->threads_per_block = from->block[0] * from->block[1] * from->block[2];
    launch->warps_per_block = (launch->threads_per_block + machine->lanes_per_warp - 1) / machine->lanes_per_warp;
    launch->blocks = from->grid[0] * from->grid[1] * from->grid[2];
    launch->front = front_of(&from->program);
    launch->vector_words = from->program.vector_registers * machine->lanes_per_warp;
    launch->lanes = machine->lanes_per_warp;
    launch->all_lanes = machine->lanes_per_warp == 64 ? UINT64_MAX : UINT32_MAX;
    if (from->program.independent_lanes) {
        launch->splits = calloc((size_t) machine->cores * machine->warps_per_core, sizeof *launch->splits);
    }
    if (!copy_launch(launch, from) || !make_tables(launch, machine->lanes_per_warp) ||
        (from->program.independent_lanes && launch->splits == NULL)) {
        gpc_core_launch_free(launch);
        return gpc_fail(self->failure, GPC_ERROR_MEMORY, "out of memory for a launch of kernel '%s'", from->kernel);
    }
    for (uint32_t i = 0; i < launch->launch.program.count; i++) {
        decode(&launch->code[i], &launch->launch.program.instructions[i], launch, machine);
        if (self->parts->written != NULL) {
            check_division(&launch->code[i]);
        }
    }
    int status = check_constants(launch, machine, self->failure);
    if (status == GPC_OK && (gpc_core_mark_polls(launch) != 0 || gpc_core_find_ranges(self->memory, launch) != 0)) {
        status = gpc_fail(self->failure, GPC_ERROR_MEMORY, "out of memory for a launch of kernel '%s'", from->kernel);
    }
    if (status != GPC_OK) {
        gpc_core_launch_free(launch);
        return status;
    }
    launch->may_be_even = may_be_even(launch);
    resolve(launch);
    *out = launch;
    return GPC_OK;
}

/* Frees an object through a pointer to const. */
static void
release(const void *owned)
{
    free((void *) (uintptr_t) owned);
}

void
gpc_core_launch_free(gpc_core_launch_t *self)
{
    if (self == NULL) {
        return;
    }
    for (uint32_t i = 0; i < self->launch.num_buffers; i++) {
        release(self->launch.buffers[i].name);
    }
    release(self->launch.buffers);
    for (uint32_t i = 0; i < self->launch.num_files; i++) {
        release(self->launch.files[i].name);
    }
    release(self->launch.files);
    for (uint32_t i = 0; i < self->launch.num_reports; i++) {
        release(self->launch.reports[i]);
    }
    release(self->launch.reports);
    release(self->launch.program.instructions);
    release(self->launch.constants);
    release(self->launch.kernel);
    for (uint32_t axis = 0; axis < 3; axis++) {
        free(self->thread_axis[axis]);
    }
    free(self->spread);
    free(self->ranges);
    free(self->code);
    free(self->splits);
    free(self->own_vectors);
    free(self->own_fronts);
    free(self);
}
