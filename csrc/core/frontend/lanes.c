/* lanes.c: the reconvergence stack of independent lanes (core/lanes.h).
 *
 * The entries below the top and the top are a list in which an entry is above every entry that has its lanes. The
 * lanes of an entry that are in no entry above it have arrived at the entry's pc. If these are all of its lanes, the
 * entry can run, and may move to the top of the list: nothing above it has its lanes. If they are some of them, the
 * entry is a join, of which others are still to come; then they can leave it as an entry of their own, from the join on
 * to the reconvergence point of the join's own entry.
 *
 * The list never exceeds 2 * lanes entries. Call the lanes that have arrived at an entry, or have ended there, a leaf.
 * Leaves are disjoint and not empty, so that there are at most as many as lanes. An entry without a leaf of its own has
 * at least two parts above it: a branch makes a join with two parts, or with one and lanes that have arrived, and
 * tidy() removes a join that has the lanes of one entry above it, which is what a lane's leaving can make of it. In a
 * forest in which each inner entry has at least two parts, inner entries are fewer than leaves. One entry more exists
 * for a moment before tidy(). */
#include <inttypes.h>

#include "core/execute/execute.h"
#include "core/frontend/frontend.h"
#include "core/lanes.h"
#include "core/registers.h"
#include "core/where.h"

/* Ends of iterations of a loop that polls, after which its lanes yield: without a lane that has left the loop, and in
 * all. Loops in which each lane takes a lock and releases it, end by themselves. */
enum { FRUITLESS_ROUNDS = 4, MOST_ROUNDS = 64 };

typedef struct {
    gpc_issue_t *x;
    gpc_split_t *split;
    gpc_stack_entry_t *at;
    uint32_t count;
} entries_t;

/* The entries with the top as the last one. */
static entries_t
take_entries(gpc_issue_t *x)
{
    entries_t e = {x, gpc_split_of(x), gpc_warp_stack(x), x->warp->depth};
    e.at[e.count++] = x->warp->top;
    return e;
}

/* The last entry is the top. */
static void
put_entries(const entries_t *e)
{
    gpc_warp_t *warp = e->x->warp;
    warp->top = e->at[e->count - 1];
    warp->depth = (uint16_t) (e->count - 1);
    gpc_warp_pop_finished(e->x);
}

static void
remove_entry(entries_t *e, uint32_t i)
{
    memmove(&e->at[i], &e->at[i + 1], (--e->count - i) * sizeof *e->at);
}

static gpc_lanes_t
held(const gpc_split_t *split)
{
    return split->waiting | split->arrived;
}

/* Removes entries without lanes, and joins with the lanes of one entry above them, which then runs through the join. */
static void
tidy(entries_t *e)
{
    for (uint32_t i = e->count; i-- > 0;) {
        if (e->at[i].lanes == 0) {
            remove_entry(e, i);
        }
    }
    for (uint32_t i = 0; i < e->count;) {
        uint32_t child = i + 1;
        while (child < e->count && e->at[child].lanes != e->at[i].lanes) {
            child++;
        }
        if (child < e->count) {
            e->at[child].reconverge = e->at[i].reconverge;
            remove_entry(e, i);
        } else {
            i++;
        }
    }
}

/* The nearest join of all of these lanes, which are in entries that can run; e->count: they have none. */
static uint32_t
join_of(const entries_t *e, gpc_lanes_t lanes)
{
    gpc_lanes_t above = 0;
    for (uint32_t i = e->count; i-- > 0;) {
        if ((e->at[i].lanes & lanes) == lanes && (e->at[i].lanes & above) != 0) {
            return i;
        }
        above |= e->at[i].lanes;
    }
    return e->count;
}

/* Makes one entry of these lanes, which are in entries that can run, at the top: at pc. It reconverges where all of
 * them would. */
static void
unite(entries_t *e, gpc_lanes_t lanes, uint32_t pc)
{
    uint32_t join = join_of(e, lanes);
    uint32_t reconverge = join < e->count ? e->at[join].pc : GPC_NONE;
    for (uint32_t i = join < e->count ? join + 1 : 0; i < e->count; i++) {
        e->at[i].lanes &= ~lanes;
    }
    e->at[e->count++] = (gpc_stack_entry_t){pc, reconverge, lanes};
    tidy(e);
}

/* The lanes of `among` that have arrived at pc. */
static gpc_lanes_t
lanes_at(const entries_t *e, uint32_t pc, gpc_lanes_t among)
{
    gpc_lanes_t found = 0;
    for (uint32_t i = e->count; i-- > 0; among &= ~e->at[i].lanes) {
        found |= e->at[i].pc == pc ? e->at[i].lanes & among : 0;
    }
    return found;
}

static uint32_t
pc_of_lane(const entries_t *e, uint32_t lane)
{
    uint32_t i = e->count - 1;
    while ((e->at[i].lanes >> lane & 1u) == 0) {
        i--;
    }
    return e->at[i].pc;
}

/* The lanes, each in an entry that can run, continue behind their instructions; those at pc `last` are at the top. */
static void
advance(entries_t *e, gpc_lanes_t lanes, uint32_t last)
{
    gpc_lanes_t at_last = lanes_at(e, last, lanes);
    for (gpc_lanes_t left = lanes & ~at_last; left != 0;) {
        uint32_t pc = pc_of_lane(e, gpc_lowest_bit(left));
        gpc_lanes_t together = lanes_at(e, pc, left);
        left &= ~together;
        unite(e, together, pc + 1);
    }
    if (at_last != 0) {
        unite(e, at_last, last + 1);
    }
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

/* Brings the entry in which the lane can run to the top, or makes one of the lanes that have arrived at its join. */
static void
bring(entries_t *e, uint32_t lane)
{
    gpc_lanes_t above = 0;
    uint32_t i = e->count - 1;
    for (; (e->at[i].lanes >> lane & 1u) == 0; i--) {
        above |= e->at[i].lanes;
    }
    gpc_stack_entry_t entry = e->at[i];
    entry.lanes &= ~above;
    if (entry.lanes == e->at[i].lanes) {
        remove_entry(e, i);
    } else {
        e->at[i].lanes &= above;
    }
    e->at[e->count++] = entry;
    tidy(e);
}

/* Brings other lanes than the active ones to the top; false: all of them wait. Every lane runs at last: the lane chosen
 * is the next after the last one. */
static bool
choose_others(entries_t *e)
{
    gpc_split_t *split = e->split;
    gpc_lanes_t ready = e->x->warp->live & ~held(split) & ~e->at[e->count - 1].lanes;
    if (ready == 0) {
        return false;
    }
    gpc_lanes_t after = ready & (~(gpc_lanes_t) 0 << split->last << 1);
    split->last = gpc_lowest_bit(after != 0 ? after : ready);
    split->rounds = split->all_rounds = 0;
    bring(e, split->last);
    return true;
}

/* Joins the top with the entries that can run, are at the same pc, and reconverge at the same join. */
static void
unite_top(entries_t *e)
{
    const gpc_stack_entry_t top = e->at[e->count - 1];
    gpc_lanes_t lanes = top.lanes, above = top.lanes | held(e->split);
    for (uint32_t i = e->count - 1; i-- > 0;) {
        const gpc_stack_entry_t *other = &e->at[i];
        if (other->pc == top.pc && other->reconverge == top.reconverge && (other->lanes & above) == 0) {
            lanes |= other->lanes;
        }
        above |= other->lanes;
    }
    uint32_t join = join_of(e, lanes);
    if (lanes != top.lanes && top.reconverge == (join < e->count ? e->at[join].pc : GPC_NONE)) {
        unite(e, lanes, top.pc);
    }
}

/* After the branch or jump at the end of a loop that polls. */
static void
yield_after(gpc_issue_t *x, const gpc_decoded_t *d)
{
    const gpc_stack_entry_t *top = &x->warp->top;
    gpc_split_t *split = gpc_split_of(x);
    if (x->warp->depth == 0 || top->pc != d->target) {
        return;
    }
    if (top->lanes != split->spinning) {
        split->rounds = (top->lanes & ~split->spinning) == 0 ? 0 : split->rounds;
        split->spinning = top->lanes;
    }
    if (++split->rounds < FRUITLESS_ROUNDS && ++split->all_rounds < MOST_ROUNDS) {
        return;
    }
    split->rounds = split->all_rounds = 0;
    entries_t e = take_entries(x);
    unite_top(&e);
    (void) choose_others(&e);
    put_entries(&e);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

/* "lanes 0, 4 to 7" */
static void
add_lanes(gpc_lanes_t lanes, gpc_text_t *out)
{
    gpc_text_add(out, (lanes & (lanes - 1)) == 0 ? "lane" : "lanes");
    for (const char *before = " "; lanes != 0; before = ", ") {
        uint32_t first = gpc_lowest_bit(lanes), last = first;
        while (last + 1 < GPC_MAX_LANES && (lanes >> (last + 1) & 1u) != 0) {
            last++;
        }
        gpc_text_add(out, "%s%u", before, first);
        if (last != first) {
            gpc_text_add(out, " to %u", last);
        }
        lanes &= last + 1 == GPC_MAX_LANES ? 0 : ~(gpc_lanes_t) 0 << (last + 1);
    }
}

/* Lanes of the warp that are at a WARP_SYNC with the lane's mask. */
static gpc_lanes_t
with_mask_of(const gpc_split_t *split, uint32_t lane)
{
    gpc_lanes_t same = 0;
    for (gpc_lanes_t left = split->waiting; left != 0; left &= left - 1) {
        uint32_t l = gpc_lowest_bit(left);
        same |= split->masks[l] == split->masks[lane] ? (gpc_lanes_t) 1 << l : 0;
    }
    return same;
}

/* "lanes 4 to 7 wait at a warp synchronisation of mask 0xff in kernel 'f' at line 9 for lanes 0 to 3"; the lanes for
 * which they wait. */
static gpc_lanes_t
explain_lanes(const entries_t *e, uint32_t lane, gpc_text_t *out)
{
    const gpc_split_t *split = e->split;
    char where[GPC_WHERE_BYTES];
    bool syncs = (split->waiting >> lane & 1u) != 0;
    gpc_lanes_t waiting = syncs ? with_mask_of(split, lane) : split->arrived;
    gpc_lanes_t missing = (syncs ? split->masks[lane] : ~(gpc_lanes_t) 0) & e->x->warp->live & ~waiting;

    add_lanes(waiting, out);
    gpc_text_add(out, (waiting & (waiting - 1)) == 0 ? " waits at " : " wait at ");
    if (syncs) {
        gpc_text_add(out, "a warp synchronisation of mask 0x%" PRIx64, (uint64_t) split->masks[lane]);
    } else {
        gpc_text_add(out, "barrier %u", split->barrier);
    }
    gpc_text_add(out, " in %s for ", gpc_core_where(e->x->launch, pc_of_lane(e, lane), where, sizeof where));
    add_lanes(missing, out);
    return missing;
}

static int
fail(const gpc_issue_t *x, const gpc_text_t *text)
{
    const gpc_block_t *block = gpc_core_block(x->base->cores, x->base->index, x->warp->block);
    return gpc_fail(x->base->cores->failure, GPC_ERROR_BARRIER, "kernel '%s': warp %u of block (%u,%u,%u): %s",
                    gpc_core_fails_at(x->base->cores->failure, x->launch, x->warp->top.pc), (unsigned) x->warp->index,
                    block->coordinates[0], block->coordinates[1], block->coordinates[2], text->bytes);
}

/* The active lanes cannot continue, and no other lane can run. */
static int
fail_stuck(const entries_t *e)
{
    gpc_text_t text;
    gpc_text_init(&text);
    gpc_lanes_t missing = explain_lanes(e, gpc_lowest_bit(e->x->warp->top.lanes), &text);
    if (missing != 0) {
        gpc_text_add(&text, "; ");
        (void) explain_lanes(e, gpc_lowest_bit(missing), &text);
    }
    int status = fail(e->x, &text);
    gpc_text_free(&text);
    return status;
}

/* Other lanes run, from the next cycle on: GPC_BLOCKED. */
static int
let_others_run(entries_t *e)
{
    if (!choose_others(e)) {
        return fail_stuck(e);
    }
    put_entries(e);
    gpc_core_settle_issued(e->x);
    return GPC_BLOCKED;
}

/* ---- WARP_SYNC --------------------------------------------------------------------------------------------------- */

/* Lanes whose masks' lanes all wait, with these masks, or have ended. */
static gpc_lanes_t
complete_lanes(const gpc_issue_t *x, const gpc_split_t *split)
{
    gpc_lanes_t complete = 0;
    for (gpc_lanes_t left = split->waiting; left != 0;) {
        uint32_t lane = gpc_lowest_bit(left);
        gpc_lanes_t same = with_mask_of(split, lane);
        left &= ~same;
        complete |= (split->masks[lane] & x->warp->live & ~same) == 0 ? same : 0;
    }
    return complete;
}

void
gpc_lanes_ended(gpc_issue_t *x)
{
    gpc_split_t *split = gpc_split_of(x);
    gpc_lanes_t complete = complete_lanes(x, split);
    if (complete != 0) {
        entries_t e = take_entries(x);
        split->waiting &= ~complete;
        advance(&e, complete, GPC_NONE);
        put_entries(&e);
    }
}

/* The lanes that wait with the mask of an active lane, but elsewhere, where one of both places is an operation's. */
static gpc_lanes_t
lanes_elsewhere(const entries_t *e)
{
    const gpc_decoded_t *code = e->x->launch->code;
    const gpc_stack_entry_t *top = &e->x->warp->top;
    gpc_lanes_t found = 0;
    for (gpc_lanes_t left = top->lanes; left != 0; left &= left - 1) {
        found |= with_mask_of(e->split, gpc_lowest_bit(left)) & ~top->lanes;
    }
    for (gpc_lanes_t left = found; left != 0; left &= left - 1) {
        uint32_t lane = gpc_lowest_bit(left), pc = pc_of_lane(e, lane);
        if (pc == top->pc || (code[pc].immediate == 0 && code[top->pc].immediate == 0)) {
            found &= ~((gpc_lanes_t) 1 << lane);
        }
    }
    return found;
}

static int
fail_apart(const entries_t *e, gpc_lanes_t elsewhere)
{
    char where[GPC_WHERE_BYTES];
    gpc_text_t text;
    gpc_text_init(&text);
    add_lanes(elsewhere, &text);
    gpc_text_add(&text, " in %s and ",
                 gpc_core_where(e->x->launch, pc_of_lane(e, gpc_lowest_bit(elsewhere)), where, sizeof where));
    add_lanes(e->x->warp->top.lanes, &text);
    gpc_text_add(&text, " in %s have one mask: lanes of one vote, shuffle, match or reduction must meet at one place",
                 gpc_core_where(e->x->launch, e->x->warp->top.pc, where, sizeof where));
    int status = fail(e->x, &text);
    gpc_text_free(&text);
    return status;
}

static int
issue_sync(gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_split_t *split = gpc_split_of(x);
    const gpc_stack_entry_t top = x->warp->top;
    uint32_t room[GPC_MAX_LANES];
    const uint32_t *masks = gpc_operand_lanes(x, &d->a, room);
    for (gpc_lanes_t left = top.lanes; left != 0; left &= left - 1) {
        uint32_t lane = gpc_lowest_bit(left);
        split->masks[lane] = masks[lane] | (gpc_lanes_t) 1 << lane;
    }
    split->waiting |= top.lanes;
    if (top.lanes == x->warp->live) {
        split->waiting = 0;
        gpc_warp_go_to(x, top.pc + 1);
        return GPC_ISSUED;
    }
    entries_t e = take_entries(x);
    gpc_lanes_t elsewhere = lanes_elsewhere(&e), complete = complete_lanes(x, split);
    if (elsewhere != 0) {
        return fail_apart(&e, elsewhere);
    }
    if ((complete & top.lanes) == 0) {
        return let_others_run(&e);
    }
    split->waiting &= ~complete;
    advance(&e, complete, top.pc);
    put_entries(&e);
    return GPC_ISSUED;
}

static gpc_lanes_t
taken_lanes(const gpc_issue_t *x, const gpc_decoded_t *d)
{
    gpc_lanes_t not_zero = gpc_core_lanes_not_zero(x, &d->a);
    return (d->flags & GPC_FLAG_IF_ZERO) != 0 ? x->warp->top.lanes & ~not_zero : not_zero;
}

int
gpc_lanes_issue(gpc_issue_t *x, const gpc_decoded_t *d)
{
    if (d->opcode == GPC_OP_WARP_SYNC && !gpc_lanes_are_together(x)) {
        return issue_sync(x, d);
    }
    if (d->opcode == GPC_OP_WARP_SYNC) {
        gpc_warp_go_to(x, x->warp->top.pc + 1);
        return GPC_ISSUED;
    }
    if (d->opcode == GPC_OP_BRANCH) {
        gpc_warp_branch(x, d, taken_lanes(x, d));
    } else {
        gpc_warp_go_to(x, d->target);
    }
    yield_after(x, d);
    return GPC_ISSUED;
}

/* ---- barriers ---------------------------------------------------------------------------------------------------- */

int
gpc_lanes_arrive(gpc_issue_t *x, const gpc_decoded_t *d, uint32_t id, uint32_t count)
{
    gpc_split_t *split = gpc_split_of(x);
    const gpc_stack_entry_t *top = &x->warp->top;
    if (split->arrived == 0) {
        split->barrier_pc = top->pc;
        split->barrier = id;
        split->count = count;
    } else if (split->barrier != id || split->count != count ||
               x->launch->code[split->barrier_pc].opcode != d->opcode) {
        char where[GPC_WHERE_BYTES];
        gpc_text_t text;
        gpc_text_init(&text);
        add_lanes(top->lanes, &text);
        gpc_text_add(&text, " at barrier %u, ", id);
        add_lanes(split->arrived, &text);
        gpc_text_add(&text, " at barrier %u in %s: lanes of one warp must meet at one barrier, with one count",
                     split->barrier, gpc_core_where(x->launch, split->barrier_pc, where, sizeof where));
        int status = fail(x, &text);
        gpc_text_free(&text);
        return status;
    }
    if ((split->arrived | top->lanes) == x->warp->live) {
        return GPC_ISSUED;
    }
    split->arrived |= top->lanes;
    entries_t e = take_entries(x);
    return let_others_run(&e);
}

void
gpc_lanes_arrived(gpc_issue_t *x)
{
    gpc_split_t *split = gpc_split_of(x);
    const gpc_stack_entry_t top = x->warp->top;
    entries_t e = take_entries(x);
    gpc_lanes_t others = split->arrived & ~top.lanes, here = lanes_at(&e, top.pc, others);
    split->arrived = 0;
    advance(&e, others & ~here, GPC_NONE);
    unite(&e, here | top.lanes, top.pc);
    put_entries(&e);
}
