/* registers.h: reads and writes of a warp's registers.
 *
 * A vector register whose lanes all have the same value (a loop counter, a broadcast load) is even: a bit of the warp
 * marks it, only `evens` holds the value, and its place in `vectors` is stale. Most arithmetic of a warp is then that
 * of one lane, and a warp's hot registers fit one or two lines of the host's cache instead of two lines each. Only this
 * file knows the representation: readers request lanes or a word, writers name the written lanes. */
#ifndef GPC_CORE_REGISTERS_H
#define GPC_CORE_REGISTERS_H

#include <string.h>

#include "core/waking.h"

static inline gpc_lanes_t
gpc_all_lanes(const gpc_issue_t *x)
{
    return x->launch->all_lanes;
}

/* A warp has 32 or 64 lanes. Loops over 32 lanes from a pointer are vectorised; those over half + l, which may wrap,
 * are not. */
static inline void
gpc_fill_lanes(uint32_t *to, uint32_t word, uint32_t lanes)
{
    const uint32_t *end = to + lanes;
    do {
        for (uint32_t l = 0; l < 32; l++) {
            to[l] = word;
        }
        to += 32;
    } while (to != end);
}

static inline bool
gpc_is_even(const gpc_issue_t *x, uint32_t vector)
{
    return vector < GPC_EVEN_REGISTERS && (x->warp->even >> vector & 1u) != 0;
}

/* Whether every lane of the operand has the value gpc_operand_word. */
static inline bool
gpc_operand_even(const gpc_issue_t *x, const gpc_operand_t *operand)
{
    return operand->kind != GPC_VECTOR || gpc_is_even(x, operand->number);
}

/* The lanes of an operand as a vector, written to `room` unless stored as one. */
static inline const uint32_t *
gpc_operand_lanes(const gpc_issue_t *x, const gpc_operand_t *operand, uint32_t *room)
{
    uint32_t word = 0;
    if (operand->kind == GPC_VECTOR) {
        if (!gpc_is_even(x, operand->number)) {
            return x->vectors + operand->offset;
        }
        word = gpc_evens(x)[operand->number];
    } else if (operand->kind == GPC_CONSTANT) {
        return x->launch->spread + operand->offset;
    } else if (operand->kind == GPC_UNIFORM) {
        word = gpc_uniforms(x)[operand->number];
    }
    gpc_fill_lanes(room, word, x->launch->lanes);
    return room;
}

/* The operand `words` registers behind this one, for wide values. */
static inline gpc_operand_t
gpc_operand_next(const gpc_issue_t *x, gpc_operand_t operand, uint32_t words)
{
    operand.number += words;
    operand.offset += words * x->launch->lanes;
    return operand;
}

/* The word of a uniform register or constant; of a vector operand lane 0's word. */
static inline uint32_t
gpc_operand_word(const gpc_issue_t *x, const gpc_operand_t *operand)
{
    switch (operand->kind) {
        case GPC_VECTOR:
            return gpc_is_even(x, operand->number) ? gpc_evens(x)[operand->number] : x->vectors[operand->offset];
        case GPC_UNIFORM:
            return gpc_uniforms(x)[operand->number];
        case GPC_CONSTANT:
            return x->launch->launch.constants[operand->number];
        default:
            return 0;
    }
}

/* The word of an operand that is even and no vector register beyond GPC_EVEN_REGISTERS. */
static inline uint32_t
gpc_even_word(const gpc_issue_t *x, const gpc_operand_t *operand)
{
    const uint32_t *words = operand->kind == GPC_CONSTANT ? x->launch->launch.constants : x->scoreboard;
    return words[operand->place];
}

/* A vector register whose `lanes` the caller will write. */
static inline __attribute__((always_inline)) uint32_t *
gpc_vector_for_write(const gpc_issue_t *x, const gpc_operand_t *operand, gpc_lanes_t lanes)
{
    uint32_t *to = x->vectors + operand->offset;
    if (gpc_is_even(x, operand->number)) {
        if (lanes != gpc_all_lanes(x)) {
            gpc_fill_lanes(to, gpc_evens(x)[operand->number], x->launch->lanes);
        }
        x->warp->even &= ~(UINT64_C(1) << operand->number);
    }
    return to;
}

/* Writes the words of the given lanes of 32, the next lane's `step` words further. Vectorised. */
static inline __attribute__((always_inline)) void
gpc_blend_lanes(uint32_t *to, const uint32_t *from, uint32_t step, uint32_t lanes)
{
#define BIT(l) UINT32_C(1) << (l), UINT32_C(1) << ((l) + 1), UINT32_C(1) << ((l) + 2), UINT32_C(1) << ((l) + 3)
    static const uint32_t bits[32] = {BIT(0), BIT(4), BIT(8), BIT(12), BIT(16), BIT(20), BIT(24), BIT(28)};
#undef BIT
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t keep = (uint32_t) -((lanes & bits[l]) == 0);
        to[l] = (to[l] & keep) | (from[l * step] & ~keep);
    }
}

/* A blend of 32 lanes costs as much as steps to some 10. */
static inline __attribute__((always_inline)) void
gpc_write_some_lanes(const gpc_issue_t *x, uint32_t *to, const uint32_t *from, uint32_t step, gpc_lanes_t lanes)
{
    if (x->warp->active < 12) {
        for (; lanes != 0; lanes &= lanes - 1) {
            uint32_t l = gpc_lowest_bit(lanes);
            to[l] = from[l * step];
        }
        return;
    }
    for (const uint32_t *end = to + x->launch->lanes; to != end; to += 32, from += 32 * step, lanes >>= 32) {
        gpc_blend_lanes(to, from, step, (uint32_t) lanes);
    }
}

/* Writes result words to the given lanes of a vector register. */
static inline __attribute__((always_inline)) void
gpc_write_lanes(const gpc_issue_t *x, const gpc_operand_t *destination, gpc_lanes_t lanes, const uint32_t *result)
{
    uint32_t *to = gpc_vector_for_write(x, destination, lanes);
    if (lanes == gpc_all_lanes(x)) {
        memcpy(to, result, x->launch->lanes * sizeof *to);
        return;
    }
    gpc_write_some_lanes(x, to, result, 1, lanes);
}

/* Whether all lanes have the same word. Lanes that differ mostly differ in the first two. */
static inline bool
gpc_lanes_even(const uint32_t *words, uint32_t lanes)
{
    uint32_t differ = 0, first = words[0];
    if (words[1] != first) {
        return false;
    }
    for (const uint32_t *end = words + lanes; words != end; words += 32) {
        for (uint32_t l = 0; l < 32; l++) {
            differ |= words[l] ^ first;
        }
    }
    return differ == 0;
}

/* Whether lanes count up by one. Lanes that do not mostly differ in the first two. */
static inline bool
gpc_lanes_straight(const uint32_t *words, uint32_t lanes)
{
    uint32_t bent = 0, first = words[0];
    if (words[1] != first + 1) {
        return false;
    }
    for (const uint32_t *end = words + lanes; words != end; words += 32, first += 32) {
        for (uint32_t l = 0; l < 32; l++) {
            bent |= (words[l] - l) ^ first;
        }
    }
    return bent == 0;
}

/* Whether the words of all lanes are below the limit. */
static inline bool
gpc_lanes_below(const uint32_t *words, uint32_t lanes, uint64_t limit)
{
    uint32_t last = limit > UINT32_MAX ? UINT32_MAX : (uint32_t) limit - 1, above = 0;
    for (const uint32_t *end = words + lanes; words != end; words += 32) {
        for (uint32_t l = 0; l < 32; l++) {
            above |= words[l] > last;
        }
    }
    return above == 0 && limit != 0;
}

/* Writes one word to all lanes of a vector register that may be even. */
static inline void
gpc_write_even(const gpc_issue_t *x, uint32_t number, uint32_t word)
{
    x->warp->even |= UINT64_C(1) << number;
    gpc_evens(x)[number] = word;
}

/* Writes the word of a uniform register, or of a vector register whose bit is `makes_even`. */
static inline void
gpc_write_at_place(const gpc_issue_t *x, uint32_t place, uint64_t makes_even, uint32_t word)
{
    x->warp->even |= makes_even;
    x->scoreboard[place] = word;
}

/* Writes one word to the given lanes of a vector register. */
static inline void
gpc_write_word(const gpc_issue_t *x, const gpc_operand_t *destination, gpc_lanes_t lanes, uint32_t word)
{
    uint32_t number = destination->number;
    if (lanes == gpc_all_lanes(x) && number < GPC_EVEN_REGISTERS && (x->launch->may_be_even >> number & 1u) != 0) {
        gpc_write_even(x, number, word);
        return;
    }
    uint32_t *to = gpc_vector_for_write(x, destination, lanes);
    gpc_write_some_lanes(x, to, &word, 0, lanes);
}

/* ---- the scoreboard: the first cycle in which a register may be used --------------------------------------------- */

/* Stored in 32 bits relative to the core's base, which is advanced before they overflow. */
static inline gpc_cycle_t
gpc_ready_at(const gpc_issue_t *x, uint32_t entry)
{
    uint32_t at = x->scoreboard[entry];
    return at == GPC_SCOREBOARD_NEVER ? GPC_NEVER : x->core->scoreboard_base + at;
}

/* `at` is not GPC_NEVER. */
static inline __attribute__((always_inline)) void /* of every instruction */
gpc_set_entry_ready(const gpc_issue_t *x, uint32_t entry, gpc_cycle_t at)
{
    if (at - x->core->scoreboard_base >= GPC_SCOREBOARD_NEVER) {
        gpc_core_rebase_scoreboards(x->base->cores, x->base->index, x->now);
    }
    x->scoreboard[entry] = (uint32_t) (at - x->core->scoreboard_base);
}

static inline void
gpc_set_entry_ready_at(const gpc_issue_t *x, uint32_t entry, gpc_cycle_t at)
{
    if (at == GPC_NEVER) {
        x->scoreboard[entry] = GPC_SCOREBOARD_NEVER;
    } else {
        gpc_set_entry_ready(x, entry, at);
    }
}

static inline void
gpc_set_ready_at(const gpc_issue_t *x, const gpc_operand_t *operand, gpc_cycle_t at)
{
    if (operand->kind != GPC_NO_OPERAND) {
        gpc_set_entry_ready_at(x, gpc_scoreboard_entry(x->launch, operand), at);
    }
}

/* Sets all `width` registers of a wide value. */
static inline void
gpc_core_set_destination(const gpc_issue_t *x, const gpc_operand_t *destination, uint32_t width, gpc_cycle_t at)
{
    for (uint32_t i = 0; i < width; i++) {
        gpc_operand_t part = gpc_operand_next(x, *destination, i);
        gpc_set_ready_at(x, &part, at);
    }
}

#endif
