/* polling.c: finds the loads and atomics that a loop repeats until their value ends it: polls and attempts to take a
 * lock.
 *
 * A loop is the code between a backward branch or jump and its target. Such an access has an address that the loop does
 * not change, and its value reaches a branch that leaves the loop: through registers, the scratchpad, local arrays, or
 * by deciding which instructions execute. Of atomics only CAS and EXCH are attempts: the others succeed each time.
 *
 * The loops in which independent lanes yield (core/lanes.h) are more: an atomic, or an access with an order, that
 * decides the loop's end suffices, at any address, or of the scratchpad. */
#include <stdlib.h>
#include <string.h>

#include "core/frontend/frontend.h"
#include "core/stuck.h"

typedef struct {
    const gpc_core_launch_t *launch;
    uint32_t first, last; /* instructions of the loop */
    uint8_t *changes;     /* [registers]: the loop gives the register other values */
    uint8_t *depends;     /* [registers]: on the value of the access */
    bool exits;           /* independent lanes: an instruction of the loop ends them */
} gpc_loop_t;

/* Where the value of an access has gone, besides registers. */
typedef struct {
    uint32_t controls; /* instructions before this one execute or not by the value */
    bool stored;       /* in the scratchpad or a local array */
} value_t;

enum { ADDRESS_STEPS = 5 };
enum { CHANGES_NOT, CHANGES_ONCE, CHANGES };

static bool
is_branch(const gpc_decoded_t *d)
{
    return d->opcode == GPC_OP_BRANCH;
}

/* Whether the instruction at pc ends a loop. */
static bool
ends_loop(const gpc_decoded_t *d, uint32_t pc)
{
    return (is_branch(d) || d->opcode == GPC_OP_JUMP) && d->target <= pc;
}

/* Of d->waits, the first ones are destinations. */
static uint32_t
destinations_of(const gpc_decoded_t *d)
{
    bool none = d->destination.kind != GPC_VECTOR && d->destination.kind != GPC_UNIFORM;
    return none ? 0 : d->width < d->num_waits ? d->width : d->num_waits;
}

static bool
reads_any(const gpc_decoded_t *d, const uint8_t *of, uint8_t value)
{
    for (uint32_t i = destinations_of(d); i < d->num_waits; i++) {
        if (of[d->waits[i]] >= value) {
            return true;
        }
    }
    return false;
}

static void
set_destinations(const gpc_decoded_t *d, uint8_t *of, uint8_t value)
{
    for (uint32_t i = 0; i < destinations_of(d); i++) {
        of[d->waits[i]] = value;
    }
}

/* Whether the result follows from the operands. */
static bool
is_function(const gpc_decoded_t *d)
{
    return d->group == GPC_GROUP_ALU || d->group == GPC_GROUP_DIVISION || d->opcode == GPC_OP_EXTENDED ||
           (d->group == GPC_GROUP_MOVEMENT && d->opcode == GPC_OP_SPECIAL && d->immediate != GPC_SPECIAL_CLOCK);
}

/* Whether the loop gives each destination one value. */
static bool
changes_once(const gpc_loop_t *loop, const gpc_decoded_t *d)
{
    for (uint32_t i = 0; i < destinations_of(d); i++) {
        if (loop->changes[d->waits[i]] != CHANGES_ONCE) {
            return false;
        }
    }
    return destinations_of(d) != 0 && !reads_any(d, loop->changes, CHANGES_ONCE);
}

/* A register that the loop writes once, from registers that it does not change, keeps its value. */
static void
find_changes(const gpc_loop_t *loop)
{
    const gpc_decoded_t *code = loop->launch->code;
    for (uint32_t pc = loop->first; pc <= loop->last; pc++) {
        for (uint32_t i = 0; i < destinations_of(&code[pc]); i++) {
            uint8_t *changes = &loop->changes[code[pc].waits[i]];
            *changes = *changes == CHANGES_NOT && is_function(&code[pc]) ? CHANGES_ONCE : CHANGES;
        }
    }
    for (bool again = true; again;) {
        again = false;
        for (uint32_t pc = loop->first; pc <= loop->last; pc++) {
            const gpc_decoded_t *d = &code[pc];
            if (changes_once(loop, d)) {
                set_destinations(d, loop->changes, CHANGES_NOT);
                again = true;
            }
        }
    }
}

static bool
takes_lock(const gpc_decoded_t *d)
{
    return d->opcode == GPC_OP_ATOMIC && (d->atomic == GPC_ATOMIC_CAS || d->atomic == GPC_ATOMIC_EXCH);
}

/* Programs of independent lanes poll by other atomics, too. */
static bool
is_attempt(const gpc_loop_t *loop, const gpc_decoded_t *d)
{
    return d->opcode == GPC_OP_LOAD || takes_lock(d) || (d->opcode == GPC_OP_ATOMIC && loop->launch->splits != NULL);
}

/* Whether the register has one value at pc in every iteration: the loop does not change it, or the last instruction
 * before pc that writes it computes it from such registers. Addresses take several steps, in few registers. */
static bool
is_constant_at(const gpc_loop_t *loop, uint32_t pc, uint16_t of, uint32_t steps)
{
    const gpc_decoded_t *code = loop->launch->code;
    if (loop->changes[of] == CHANGES_NOT) {
        return true;
    }
    while (pc-- > loop->first) {
        for (uint32_t i = 0; i < destinations_of(&code[pc]); i++) {
            if (code[pc].waits[i] != of) {
                continue;
            }
            bool constant = steps != 0 && is_function(&code[pc]);
            for (uint32_t k = destinations_of(&code[pc]); constant && k < code[pc].num_waits; k++) {
                constant = is_constant_at(loop, pc, code[pc].waits[k], steps - 1);
            }
            return constant;
        }
    }
    return false;
}

static bool
has_constant_address(const gpc_loop_t *loop, uint32_t pc)
{
    const gpc_decoded_t *d = &loop->launch->code[pc];
    uint32_t first = destinations_of(d), words = (d->flags & GPC_FLAG_FLAT) != 0 ? 2 : 1;
    bool is_register = d->a.kind == GPC_VECTOR || d->a.kind == GPC_UNIFORM;
    for (uint32_t i = first; is_register && i < first + words && i < d->num_waits; i++) {
        bool constant = words == 2 ? is_constant_at(loop, pc, d->waits[i], ADDRESS_STEPS)
                                   : loop->changes[d->waits[i]] == CHANGES_NOT;
        if (!constant) {
            return false;
        }
    }
    return true;
}

static bool
leaves(const gpc_loop_t *loop, uint32_t pc, const gpc_decoded_t *d)
{
    return is_branch(d) && (pc == loop->last || d->target < loop->first || d->target > loop->last || loop->exits);
}

/* An instruction of the loop, in the order of the code. Whether it leaves the loop by the value. */
static bool
follow(const gpc_loop_t *loop, uint32_t pc, value_t *value)
{
    const gpc_decoded_t *d = &loop->launch->code[pc];
    bool global = d->group == GPC_GROUP_MEMORY || (d->group == GPC_GROUP_SHARED && (d->flags & GPC_FLAG_FLAT) != 0);
    bool keeps = global ? loop->launch->splits != NULL : d->group == GPC_GROUP_SHARED || d->group == GPC_GROUP_LOCAL;
    bool depends = pc < value->controls || reads_any(d, loop->depends, 1) || (keeps && value->stored);
    set_destinations(d, loop->depends, depends);
    if (depends && is_branch(d) && d->reconverge > value->controls) {
        value->controls = d->reconverge;
    }
    value->stored = value->stored || (depends && keeps);
    return depends && leaves(loop, pc, d);
}

/* Whether the value of the access at `from` reaches a branch that leaves the loop, in this iteration or the next
 * two. */
static bool
decides(const gpc_loop_t *loop, uint32_t from)
{
    uint32_t pc = from;
    value_t value = {0, false};
    memset(loop->depends, 0, loop->launch->front.scoreboard);
    for (uint32_t iterations = 0; iterations < 3;) {
        set_destinations(&loop->launch->code[from], loop->depends, 1);
        for (pc++; pc <= loop->last; pc++) {
            if (pc != from && follow(loop, pc, &value)) {
                return true;
            }
        }
        pc = loop->first - 1;
        value.controls = 0;
        iterations++;
    }
    return false;
}

/* The instructions from `pc` to `last` that read a register wait for it, until another one writes it: false, if none
 * does. */
static bool
mark_readers(gpc_decoded_t *code, uint32_t pc, uint32_t last, uint16_t of, uint8_t cause)
{
    for (; pc <= last; pc++) {
        for (uint32_t i = 0; i < code[pc].num_waits; i++) {
            if (code[pc].waits[i] != of) {
                continue;
            }
            code[pc].waits_as = cause;
            if (i < destinations_of(&code[pc])) {
                return false;
            }
        }
    }
    return true;
}

/* Marks the loop's attempt, and its first one where the compiler has moved that before the loop: of the same source
 * line. */
static void
mark(const gpc_loop_t *loop, gpc_decoded_t *code, uint32_t from)
{
    const gpc_instruction_t *in = loop->launch->launch.program.instructions;
    uint8_t cause = takes_lock(&code[from]) ? GPC_STALL_lock : GPC_STALL_poll;
    uint16_t of = code[from].waits[0];
    if (mark_readers(code, from + 1, loop->last, of, cause)) {
        (void) mark_readers(code, loop->first, from, of, cause);
    }
    for (uint32_t pc = 0; pc < loop->first; pc++) {
        if (in[pc].opcode == in[from].opcode && in[pc].line == in[from].line && in[pc].file == in[from].file &&
            in[pc].immediate == in[from].immediate && in[pc].a == in[from].a) {
            (void) mark_readers(code, pc + 1, loop->first, code[pc].waits[0], cause);
        }
    }
}

/* Whether the access decides the loop's end by a value that another lane may change. */
static bool
waits_for_others(const gpc_loop_t *loop, uint32_t pc)
{
    const gpc_decoded_t *d = &loop->launch->code[pc];
    bool load = d->opcode == GPC_OP_LOAD || d->opcode == GPC_OP_SHARED_LOAD;
    bool atomic = d->opcode == GPC_OP_ATOMIC || d->opcode == GPC_OP_SHARED_ATOMIC;
    bool any_address = atomic || (load && d->access.order != GPC_ORDER_WEAK);
    return (load || atomic) && destinations_of(d) != 0 && (any_address || has_constant_address(loop, pc)) &&
           decides(loop, pc);
}

/* Independent lanes yield at the end of a loop in which they may wait for each other. */
static void
mark_yield(gpc_loop_t *loop, gpc_decoded_t *code)
{
    bool yields = false;
    for (uint32_t pc = loop->first; pc <= loop->last; pc++) {
        loop->exits |= code[pc].opcode == GPC_OP_EXIT;
    }
    memset(loop->changes, CHANGES_NOT, loop->launch->front.scoreboard);
    find_changes(loop);
    for (uint32_t pc = loop->first; pc <= loop->last && !yields; pc++) {
        yields = waits_for_others(loop, pc);
    }
    code[loop->last].group = yields ? GPC_GROUP_SPIN : code[loop->last].group;
}

static void
mark_loop(const gpc_loop_t *loop, gpc_decoded_t *code)
{
    bool known = false;
    for (uint32_t pc = loop->first; pc <= loop->last; pc++) {
        if (!is_attempt(loop, &code[pc]) || destinations_of(&code[pc]) == 0) {
            continue;
        }
        if (!known) {
            memset(loop->changes, CHANGES_NOT, loop->launch->front.scoreboard);
            find_changes(loop);
            known = true;
        }
        if (has_constant_address(loop, pc) && decides(loop, pc)) {
            mark(loop, code, pc);
        }
    }
}

int
gpc_core_mark_polls(gpc_core_launch_t *launch)
{
    size_t registers = launch->front.scoreboard;
    uint8_t *marks = NULL;
    for (uint32_t pc = 0; pc < launch->launch.program.count; pc++) {
        const gpc_decoded_t *d = &launch->code[pc];
        if (!ends_loop(d, pc)) {
            continue;
        }
        marks = marks != NULL ? marks : malloc(2 * registers + 1);
        if (marks == NULL) {
            return GPC_ERROR_MEMORY;
        }
        gpc_loop_t loop = {launch, d->target, pc, marks, marks + registers, false};
        if (launch->splits != NULL) {
            mark_yield(&loop, launch->code);
        }
        mark_loop(&loop, launch->code);
    }
    free(marks);
    return GPC_OK;
}

/* ---- registers that decide what warps do after a barrier --------------------------------------------------------- */

/* The instructions of the outermost loop with a barrier at `pc`; false: it is in no loop. */
static bool
find_loop(const gpc_core_launch_t *launch, uint32_t pc, gpc_loop_t *loop)
{
    bool found = false;
    *loop = (gpc_loop_t){.launch = launch, .first = pc, .last = pc};
    for (uint32_t end = pc; end < launch->launch.program.count; end++) {
        const gpc_decoded_t *d = &launch->code[end];
        if ((is_branch(d) || d->opcode == GPC_OP_JUMP) && d->target <= pc) {
            loop->first = d->target < loop->first ? d->target : loop->first;
            loop->last = end;
            found = true;
        }
    }
    return found;
}

/* Marks the registers that the instruction reads. Whether one had no mark. */
static bool
mark_sources(const gpc_decoded_t *d, uint8_t *marks)
{
    bool any = false;
    for (uint32_t i = destinations_of(d); i < d->num_waits; i++) {
        any |= !marks[d->waits[i]];
        marks[d->waits[i]] = 1;
    }
    return any;
}

static void
mark_deciding(const gpc_loop_t *loop, uint8_t *marks)
{
    const gpc_decoded_t *code = loop->launch->code;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t pc = loop->first; pc <= loop->last; pc++) {
            bool decides = !is_function(&code[pc]) || destinations_of(&code[pc]) == 0;
            for (uint32_t i = 0; i < destinations_of(&code[pc]); i++) {
                decides |= marks[code[pc].waits[i]] != 0;
            }
            again |= decides && mark_sources(&code[pc], marks);
            if (code[pc].group == GPC_GROUP_LOCAL) { /* local arrays are registers that an index selects */
                memset(marks, 1, loop->launch->front.scoreboard);
                return;
            }
        }
    }
}

uint32_t
gpc_cores_registers(const gpc_cores_t *self)
{
    const gpc_core_launch_t *last = self->parts->launch;
    while (last->next != NULL) {
        last = last->next;
    }
    return last->first_register + last->front.scoreboard;
}

void
gpc_cores_mark_deciding(const gpc_cores_t *self, uint8_t *marks)
{
    const gpc_core_launch_t *launch = self->parts->launch;
    gpc_loop_t loop;
    memset(marks, 0, gpc_cores_registers(self));
    for (; launch != NULL; launch = launch->next) {
        for (uint32_t pc = 0; pc < launch->launch.program.count; pc++) {
            if (launch->code[pc].group == GPC_GROUP_BARRIER && find_loop(launch, pc, &loop)) {
                mark_deciding(&loop, marks + launch->first_register);
            }
        }
    }
}
