/* program.c: validation of a program against isa.h. The interpreter reads and jumps only within a validated program. */
#include <stdlib.h>
#include <string.h>

#include "core/execute/alu.h"
#include "core/execute/extended.h"
#include "core/state.h"

static const char *const names[GPC_NUM_OPCODES] = {
#define X(name, operands, group, unit, text) [GPC_OP_##name] = #name,
#include "lang/operations.def"
#undef X
};

static const char *const operand_lists[GPC_NUM_OPCODES] = {
#define X(name, operands, group, unit, text) [GPC_OP_##name] = operands,
#include "lang/operations.def"
#undef X
};

typedef struct {
    const gpc_program_t *program;
    const gpc_instruction_t *at;
    gpc_failure_t *failure;
    uint32_t number;
} check_t;

/* The number of the instruction, which fails. */
static uint32_t
number_of(const check_t *x)
{
    if (x->failure->code == 0) {
        x->failure->place = (gpc_code_place_t){true, x->at->file, x->at->line};
    }
    return x->number;
}

static int
refuse(const check_t *x, const char *what)
{
    return gpc_fail(x->failure, GPC_ERROR_PROGRAM, "instruction %u (%s): %s", number_of(x), names[x->at->opcode], what);
}

static int
check_operand(const check_t *x, char which, uint16_t operand, uint32_t words)
{
    uint32_t kind = operand & GPC_OPERAND_KIND, last = (operand & GPC_OPERAND_NUMBER) + words - 1;
    uint32_t limit;
    const char *what;
    switch (kind) {
        case GPC_OPERAND_VECTOR:
            limit = x->program->vector_registers;
            what = "vector register";
            break;
        case GPC_OPERAND_UNIFORM:
            limit = x->program->uniform_registers;
            what = "uniform register";
            break;
        case GPC_OPERAND_CONSTANT:
            limit = x->program->constants;
            what = "constant";
            break;
        default:
            return gpc_fail(x->failure, GPC_ERROR_PROGRAM, "instruction %u (%s): missing operand %c", number_of(x),
                            names[x->at->opcode], which);
    }
    if (last >= limit) {
        return gpc_fail(x->failure, GPC_ERROR_PROGRAM, "instruction %u (%s): operand %c is %s %u: must be below %u",
                        number_of(x), names[x->at->opcode], which, what, last, limit);
    }
    return GPC_OK;
}

static bool
is_kind(uint16_t operand, uint32_t kind)
{
    return (operand & GPC_OPERAND_KIND) == kind;
}

/* Whether a source is the same for all lanes. */
static bool
is_even(uint16_t operand)
{
    return is_kind(operand, GPC_OPERAND_UNIFORM) || is_kind(operand, GPC_OPERAND_CONSTANT);
}

/* Only compare-and-swap has a third operand. */
static bool
is_atomic_without_c(const gpc_instruction_t *at)
{
    bool atomic = at->opcode == GPC_OP_ATOMIC || at->opcode == GPC_OP_SHARED_ATOMIC;
    return atomic && at->flags >> GPC_FLAG_ATOMIC_SHIFT != GPC_ATOMIC_CAS;
}

static int
check_uniform_destination(const check_t *x)
{
    const gpc_instruction_t *at = x->at;
    switch (at->opcode) {
        case GPC_OP_ANY:
        case GPC_OP_ALL:
        case GPC_OP_BALLOT:
        case GPC_OP_REDUCE:
            return GPC_OK; /* the result is the same for all lanes */
        case GPC_OP_LANES:
        case GPC_OP_MATCH:
        case GPC_OP_SHUFFLE:
        case GPC_OP_LOCAL_LOAD:
            return refuse(x, "one result per lane: the destination must be a vector register");
        case GPC_OP_SPECIAL:
            if (at->immediate <= GPC_SPECIAL_THREAD_Z || at->immediate == GPC_SPECIAL_LANE) {
                return refuse(x, "special register differs between lanes: the destination must be a vector register");
            }
            return GPC_OK;
        default:
            break;
    }
    for (const char *o = operand_lists[at->opcode]; *o != 0; o++) {
        bool uses_c = *o == 'c' && !is_atomic_without_c(at);
        uint16_t operand = *o == 'a' ? at->a : *o == 'b' ? at->b : uses_c ? at->c : GPC_OPERAND_CONSTANT;
        if (!is_even(operand)) {
            return refuse(x, "the destination is uniform and a source is a vector register");
        }
    }
    return GPC_OK;
}

/* Words of a value that the instruction moves. */
static uint32_t
value_words(const gpc_instruction_t *at)
{
    switch (at->opcode) {
        case GPC_OP_LOAD:
        case GPC_OP_STORE:
        case GPC_OP_ATOMIC:
        case GPC_OP_SHARED_LOAD:
        case GPC_OP_SHARED_STORE:
        case GPC_OP_SHARED_ATOMIC:
            return at->width;
        default:
            return 1;
    }
}

static int
check_operands(const check_t *x)
{
    const gpc_instruction_t *at = x->at;
    bool flat = (at->flags & GPC_FLAG_FLAT) != 0;
    uint32_t words = value_words(at);
    int status = GPC_OK;
    for (const char *o = operand_lists[at->opcode]; *o != 0 && status == GPC_OK; o++) {
        switch (*o) {
            case 'd':
                if (at->destination == GPC_OPERAND_NONE &&
                    (at->opcode == GPC_OP_ATOMIC || at->opcode == GPC_OP_SHARED_ATOMIC)) {
                    break;
                }
                if (is_kind(at->destination, GPC_OPERAND_CONSTANT)) {
                    return refuse(x, "a constant cannot be the destination");
                }
                status = check_operand(x, 'd', at->destination, at->opcode == GPC_OP_SHUFFLE ? at->width : words);
                if (status == GPC_OK && is_kind(at->destination, GPC_OPERAND_UNIFORM)) {
                    status = check_uniform_destination(x);
                }
                break;
            case 'a':
                status = check_operand(x, 'a', at->a, flat ? 2 : 1);
                break;
            case 'b':
                if (at->b == GPC_OPERAND_NONE &&
                    (at->opcode == GPC_OP_BARRIER || at->opcode == GPC_OP_BARRIER_ARRIVE)) {
                    break;
                }
                status = check_operand(x, 'b', at->b, words);
                break;
            case 'c':
                if ((at->opcode == GPC_OP_ATOMIC || at->opcode == GPC_OP_SHARED_ATOMIC) &&
                    at->flags >> GPC_FLAG_ATOMIC_SHIFT != GPC_ATOMIC_CAS) {
                    break;
                }
                status = check_operand(x, 'c', at->c, words);
                break;
            case 't':
                if (at->target >= x->program->count ||
                    (at->opcode == GPC_OP_BRANCH && at->reconverge > x->program->count)) {
                    return refuse(x, "branch target or reconvergence point outside the program");
                }
                break;
            default:
                break; /* immediates: by opcode */
        }
    }
    return status;
}

/* Each operand has the words that its row names. */
static int
check_extended(const check_t *x)
{
    const gpc_instruction_t *at = x->at;
    if (at->immediate >= gpc_num_extended) {
        return refuse(x, "unknown extended operation");
    }
    const gpc_extended_t *row = &gpc_extended[at->immediate];
    const uint16_t operands[3] = {at->a, at->b, at->c};
    const uint8_t words[3] = {row->a, row->b, row->c};
    if ((at->flags & ~(row->takes_flags ? GPC_FLAG_ROUND_MASK | GPC_FLAG_FTZ | GPC_FLAG_SAT : 0u)) != 0) {
        return refuse(x, "the extended operation does not take these flags");
    }
    if (at->width != row->d || is_kind(at->destination, GPC_OPERAND_CONSTANT)) {
        return refuse(x, "the destination must be as many registers as the extended operation's result has words");
    }
    GPC_TRY(check_operand(x, 'd', at->destination, row->d));
    for (uint32_t k = 0; k < 3; k++) {
        if (words[k] == 0) {
            continue;
        }
        GPC_TRY(check_operand(x, (char) ('a' + k), operands[k], words[k]));
        if (is_kind(at->destination, GPC_OPERAND_UNIFORM) && !is_even(operands[k])) {
            return refuse(x, "the destination is uniform and a source is a vector register");
        }
    }
    return GPC_OK;
}

static int
check_array_length(const check_t *x, uint16_t operand)
{
    if (operand == GPC_OPERAND_NONE) {
        return GPC_OK;
    }
    if (!is_kind(operand, GPC_OPERAND_CONSTANT)) {
        return refuse(x, "array length must be a constant or GPC_OPERAND_NONE");
    }
    return check_operand(x, 'n', operand, 1);
}

static int
check_atomic(const check_t *x)
{
    uint32_t operation = (uint32_t) x->at->flags >> GPC_FLAG_ATOMIC_SHIFT;
    if (operation >= GPC_NUM_ATOMICS) {
        return refuse(x, "unknown atomic operation");
    }
    bool f32 = operation == GPC_ATOMIC_ADD || operation == GPC_ATOMIC_EXCH || operation == GPC_ATOMIC_MIN ||
               operation == GPC_ATOMIC_MAX;
    if (x->at->type == GPC_F32 && !f32) {
        return refuse(x, "f32 atomics are add, exchange, min and max only");
    }
    bool wraps = operation == GPC_ATOMIC_INC || operation == GPC_ATOMIC_DEC;
    bool extreme = operation == GPC_ATOMIC_MIN || operation == GPC_ATOMIC_MAX;
    if (x->at->width == 2 && (wraps || (x->at->type == GPC_F32 && extreme))) {
        return refuse(x, "atomics of two words are no increment or decrement, and of f64 add and exchange only");
    }
    return x->at->width <= 2 ? GPC_OK : refuse(x, "atomics have one word or two");
}

static int
check_width(const check_t *x)
{
    uint8_t width = x->at->width;
    return width == 1 || width == 2 || width == 4 ? GPC_OK : refuse(x, "width must be 1, 2 or 4 words");
}

static int
check_global(const check_t *x)
{
    const gpc_instruction_t *at = x->at;
    bool flat = (at->flags & GPC_FLAG_FLAT) != 0;
    if (!flat && at->immediate >= x->program->buffers) {
        return refuse(x, "unknown buffer");
    }
    if (flat && at->opcode != GPC_OP_STORE && is_kind(at->destination, GPC_OPERAND_UNIFORM)) {
        return refuse(x, "an access by address needs a vector register"); /* lanes may be in different memories */
    }
    return check_width(x);
}

/* Of an access to the scratchpad. */
static int
check_shared(const check_t *x)
{
    const gpc_instruction_t *at = x->at;
    if ((at->flags & GPC_FLAG_FLAT) != 0) {
        return refuse(x, "an access by address is a LOAD, STORE or ATOMIC");
    }
    if ((at->flags & GPC_FLAG_BYTES) == 0) {
        return at->width == 1 ? GPC_OK : refuse(x, "accesses of several words need GPC_FLAG_BYTES");
    }
    bool loads = at->opcode != GPC_OP_SHARED_STORE && at->destination != GPC_OPERAND_NONE;
    if (loads && !is_kind(at->destination, GPC_OPERAND_VECTOR)) {
        return refuse(x, "an access by byte offset needs a vector register");
    }
    bool bounded = (at->opcode == GPC_OP_SHARED_LOAD && at->b != GPC_OPERAND_NONE) ||
                   (at->opcode == GPC_OP_SHARED_STORE && at->c != GPC_OPERAND_NONE);
    return bounded ? refuse(x, "an access by byte offset has no array length") : check_width(x);
}

static int
check_shuffle(const check_t *x)
{
    const gpc_instruction_t *at = x->at;
    uint32_t mode = (at->flags & GPC_FLAG_SHUFFLE_MODE) >> GPC_FLAG_SHUFFLE_SHIFT;
    if (mode == GPC_SHUFFLE_ANY) {
        return at->width == 1 ? GPC_OK : refuse(x, "a shuffle of any lane has no predicate");
    }
    if (mode >= GPC_NUM_SHUFFLES || at->width < 1 || at->width > 2) {
        return refuse(x, "unknown mode, or a width other than 1 and 2");
    }
    return check_operand(x, 'c', at->c, 1);
}

static int
check_bytes(const check_t *x)
{
    const gpc_instruction_t *at = x->at;
    bool moves = at->opcode == GPC_OP_LOAD || at->opcode == GPC_OP_STORE || at->opcode == GPC_OP_SHARED_LOAD ||
                 at->opcode == GPC_OP_SHARED_STORE;
    if (at->bytes == 0) {
        return GPC_OK;
    }
    if (!moves || at->bytes > 2 || at->width != 1 || at->type == GPC_F32) {
        return refuse(x, "elements of 1 or 2 bytes need a load or store of one i32 or u32");
    }
    return GPC_OK;
}

static bool
is_arithmetic(uint8_t opcode)
{
    static const uint8_t groups[GPC_NUM_OPCODES] = {
#define X(name, operands, group, unit, text) [GPC_OP_##name] = GPC_GROUP_##group,
#include "lang/operations.def"
#undef X
    };
    return groups[opcode] == GPC_GROUP_ALU;
}

static int
check_reduction(const check_t *x)
{
    uint32_t operation = (uint32_t) x->at->flags >> GPC_FLAG_ATOMIC_SHIFT;
    bool f32 = operation == GPC_ATOMIC_ADD || operation == GPC_ATOMIC_MIN || operation == GPC_ATOMIC_MAX;
    if (operation == GPC_ATOMIC_SUB || operation > GPC_ATOMIC_XOR || (x->at->type == GPC_F32 && !f32)) {
        return refuse(x, "a warp reduces by add, min, max, and, or and xor; f32 by add, min and max");
    }
    return GPC_OK;
}

/* Checks that the operand list does not express. */
static int
check_by_opcode(const check_t *x)
{
    const gpc_instruction_t *at = x->at;
    switch (at->opcode) {
        case GPC_OP_LOAD:
        case GPC_OP_STORE:
            return check_global(x);
        case GPC_OP_ATOMIC:
            GPC_TRY(check_global(x));
            return check_atomic(x);
        case GPC_OP_SHARED_ATOMIC:
            GPC_TRY(check_shared(x));
            return check_atomic(x);
        case GPC_OP_SHUFFLE:
            return check_shuffle(x);
        case GPC_OP_REDUCE:
            return check_reduction(x);
        case GPC_OP_SHARED_LOAD:
            GPC_TRY(check_shared(x));
            return check_array_length(x, at->b);
        case GPC_OP_SHARED_STORE:
            GPC_TRY(check_shared(x));
            return check_array_length(x, at->c);
        case GPC_OP_LOCAL_LOAD:
            return is_kind(at->b, GPC_OPERAND_CONSTANT) ? GPC_OK : refuse(x, "array length must be a constant");
        case GPC_OP_LOCAL_STORE:
            return is_kind(at->c, GPC_OPERAND_CONSTANT) ? GPC_OK : refuse(x, "array length must be a constant");
        case GPC_OP_EXTENDED:
            return check_extended(x);
        case GPC_OP_SPECIAL:
            return at->immediate < GPC_NUM_SPECIALS ? GPC_OK : refuse(x, "unknown special register");
        case GPC_OP_LANES:
            return at->immediate < x->program->constants ? GPC_OK : refuse(x, "unknown constant");
        case GPC_OP_WARP_SYNC:
            if (at->immediate > 1) {
                return refuse(x, "the immediate of a WARP_SYNC must be 0 or 1");
            }
            return x->program->independent_lanes ? GPC_OK : refuse(x, "the program's lanes are not independent");
        case GPC_OP_BARRIER:
        case GPC_OP_BARRIER_ARRIVE:
            if (at->order != GPC_ORDER_WEAK && (at->order != GPC_ORDER_ACQ_REL || at->opcode != GPC_OP_BARRIER)) {
                return refuse(x, "the order of a barrier must be acq_rel or, as of an arrival, weak");
            }
            return x->program->independent_lanes || (is_even(at->a) && (at->b == GPC_OPERAND_NONE || is_even(at->b)))
                       ? 0
                       : refuse(x, "barrier number and thread count must be uniform or constant");
        default:
            return GPC_OK;
    }
}

static int
check_instruction(const check_t *x)
{
    const gpc_instruction_t *at = x->at;
    if (at->opcode >= GPC_NUM_OPCODES) {
        return gpc_fail(x->failure, GPC_ERROR_PROGRAM, "instruction %u: unknown opcode %u", x->number,
                        (unsigned) at->opcode);
    }
    if (at->type >= GPC_NUM_TYPES || at->order >= GPC_NUM_ORDERS || at->scope >= GPC_NUM_SCOPES) {
        return refuse(x, "unknown type, order or scope");
    }
    if (is_arithmetic(at->opcode) && gpc_alu_find(at->opcode, at->type, at->flags, false).one == NULL) {
        return refuse(x, "operation not defined for this type");
    }
    GPC_TRY(check_operands(x));
    GPC_TRY(check_bytes(x));
    return check_by_opcode(x);
}

static bool
ends(uint8_t opcode)
{
    return opcode == GPC_OP_EXIT || opcode == GPC_OP_JUMP;
}

/* Checks that every path from the start reaches an EXIT or loops. */
static int
check_falls_off(check_t *x)
{
    const gpc_program_t *program = x->program;
    uint32_t *work = malloc((size_t) program->count * (sizeof *work + 1));
    if (work == NULL) {
        return gpc_fail(x->failure, GPC_ERROR_MEMORY, "out of memory for a program of %u instructions", program->count);
    }
    uint8_t *seen = (uint8_t *) (work + program->count);
    memset(seen, 0, program->count);
    uint32_t length = 1;
    int status = GPC_OK;
    work[0] = 0;
    seen[0] = 1;
    while (length > 0 && status == GPC_OK) {
        x->number = work[--length];
        x->at = &program->instructions[x->number];
        uint32_t next[2] = {x->number + 1, x->at->target};
        for (uint32_t i = ends(x->at->opcode) ? 1 : 0; i < 2; i++) {
            if (i == 1 && x->at->opcode != GPC_OP_BRANCH && x->at->opcode != GPC_OP_JUMP) {
                continue;
            }
            if (next[i] >= program->count) {
                status = refuse(x, "control runs off the end of the program");
            } else if (!seen[next[i]]) {
                seen[next[i]] = 1;
                work[length++] = next[i];
            }
        }
    }
    free(work);
    return status;
}

int
gpc_program_validate(const gpc_program_t *program, gpc_failure_t *failure)
{
    check_t x = {.program = program, .failure = failure};
    if (program->count == 0) {
        return gpc_fail(failure, GPC_ERROR_PROGRAM, "the program has no instructions");
    }
    if (program->uniform_registers > GPC_UNIFORM_REGISTERS) {
        return gpc_fail(failure, GPC_ERROR_PROGRAM, "%u uniform registers: at most %u are allowed",
                        (unsigned) program->uniform_registers, GPC_UNIFORM_REGISTERS);
    }
    if (program->barrier_words > GPC_BARRIER_WORDS || program->barrier_words > program->shared_words) {
        return gpc_fail(failure, GPC_ERROR_PROGRAM, "%u words of barriers: at most %u of %u are allowed",
                        (unsigned) program->barrier_words, (unsigned) GPC_BARRIER_WORDS, program->shared_words);
    }
    if (program->spilled_registers > program->vector_registers) {
        return gpc_fail(failure, GPC_ERROR_PROGRAM, "%u of %u vector registers are spilled",
                        (unsigned) program->spilled_registers, (unsigned) program->vector_registers);
    }
    if (program->independent_lanes && program->uniform_registers != 0) {
        return gpc_fail(failure, GPC_ERROR_PROGRAM, "%u uniform registers: a program of independent lanes has none",
                        (unsigned) program->uniform_registers);
    }
    for (x.number = 0; x.number < program->count; x.number++) {
        x.at = &program->instructions[x.number];
        GPC_TRY(check_instruction(&x));
    }
    return check_falls_off(&x);
}

bool
gpc_program_fences(const gpc_program_t *program)
{
    for (uint32_t i = 0; i < program->count; i++) {
        const gpc_instruction_t *at = &program->instructions[i];
        bool accesses = at->opcode == GPC_OP_LOAD || at->opcode == GPC_OP_STORE || at->opcode == GPC_OP_ATOMIC ||
                        at->opcode == GPC_OP_BARRIER;
        if (at->opcode == GPC_OP_FENCE || (accesses && at->order >= GPC_ORDER_ACQUIRE)) {
            return true;
        }
    }
    return false;
}
