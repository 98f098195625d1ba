/* cpelide_table.c: CPElide's table of arrays: its rows, and what the command processor decides from them.
 *
 * Paper    Dalmia et al., MICRO 2024: rows are arrays ("data structures"), with a state for each die, and in the paper
 *          a range of addresses (by a note on it). decide_artifact is the artifact's code (cpcoh.cc), whose rows have
 *          no ranges; it leaves stale copies on dies that have written an array, too.
 * Inferred the ranges of decide_ranges: lines that the die's L1s have asked for, noted by them. Of the launch that is
 *          about to begin no ranges are known: it may access all of an array, on each of its dies.
 * Differs  a die has two ranges of an array, of near lines that it may have and of those that are dirty. */
#include "controller/nodes.h"
#include "protocols/dies/cpelide.h"

const gpc_count_info_t cpelide_counters[] = {CPELIDE_COUNTERS(GPC_COUNT_INFO_, CPELIDE_COUNT){NULL, NULL}};

#define REST (GPC_NEVER - 1) /* key of the row for memory that no other row has */

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static uint64_t
range(uint64_t first, uint64_t behind)
{
    return behind << 32 | first;
}

static bool
meet(uint64_t a, uint64_t b)
{
    return (uint32_t) a < b >> 32 && (uint32_t) b < a >> 32;
}

static uint64_t
join(uint64_t a, uint64_t b)
{
    uint32_t first = (uint32_t) a < (uint32_t) b ? (uint32_t) a : (uint32_t) b;
    return a == 0 ? b : b == 0 ? a : range(first, a >> 32 > b >> 32 ? a >> 32 : b >> 32);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* No more than the L2s have lines: then a die has no line of most arrays. */
uint32_t
cpelide_rows(const gpc_machine_t *machine, const int64_t *options)
{
    uint32_t lines = machine->l2_bytes / machine->line_bytes * machine->partitions;
    uint32_t rows = (uint32_t) options[CPELIDE_ARRAYS];
    return (rows < lines ? rows : lines) + 1;
}

uint32_t
cpelide_role(const gpc_controller_t *unit)
{
    uint32_t die = gpc_die_of(unit->nodes, unit->node);
    return 2 * die + (gpc_first_core_of(unit->nodes, die) == unit->node);
}

static gpc_part_t *
rows_of(const gpc_controller_t *l1)
{
    return (gpc_part_t *) &l1->parts[CPELIDE_ROWS];
}

static cpelide_entry_t *
row_at(const gpc_part_t *rows, gpc_index_t entry)
{
    return (cpelide_entry_t *) gpc_part_fields(rows, entry);
}

/* The row that has the line; NULL: there are no rows. */
static cpelide_entry_t *
row_with(const gpc_part_t *rows, gpc_address_t line)
{
    gpc_index_t i = gpc_part_first(rows), rest = i;
    while (i != GPC_NONE && (i == rest || line < gpc_part_line(rows, i) || line >= row_at(rows, i)->end)) {
        i = gpc_part_next(rows, i);
    }
    return rest == GPC_NONE ? NULL : row_at(rows, i == GPC_NONE ? rest : i);
}

static void
take_row(gpc_controller_t *l1, gpc_address_t begin, gpc_address_t end)
{
    gpc_part_t *rows = rows_of(l1);
    gpc_index_t entry = gpc_part_take(rows, begin);
    rows->states[entry] = 0;
    *row_at(rows, entry) = (cpelide_entry_t){.end = end};
}

void
cpelide_note(const gpc_step_t *x, uint8_t type)
{
    cpelide_entry_t *row = row_with(rows_of(x->unit), x->line);
    uint64_t number = x->line / x->unit->machine->line_bytes, most = UINT32_MAX - 1;
    uint64_t line = range(number < most ? number : most, number < most ? number + 1 : most + 1);
    gpc_node_t home = gpc_home_of(x->unit, x->line);
    bool near =
        x->unit->machine->l2_near != 0 && gpc_die_of(x->unit->nodes, home) != gpc_die_of(x->unit->nodes, x->unit->node);
    bool stores = type == MCM_GETX && x->msg->order == GPC_ORDER_WEAK;

    if (row && (type == MCM_GETX || type == MCM_ATOMIC)) {
        row->wrote = join(row->wrote, line);
    }
    if (row && near && (type == MCM_GETS || stores)) {
        row->kept = join(row->kept, line);
        row->dirty = stores ? join(row->dirty, line) : row->dirty;
    }
}

/* ---- the table: every L1 has the same rows ----------------------------------------------------------------------- */

typedef struct {
    const gpc_boundary_t *launch;
    gpc_controller_t *at[GPC_MAX_DIES]; /* the first core of each die */
    uint32_t dies, cores;
} table_t;

/* The array's row of each die. */
static void
rows_for(const table_t *self, gpc_address_t begin, cpelide_entry_t **row)
{
    for (uint32_t die = 0; die < self->dies; die++) {
        const gpc_part_t *rows = rows_of(self->at[die]);
        row[die] = row_at(rows, gpc_part_find(rows, begin));
    }
}

/* The rows behind those of *entry (GPC_NONE: the first ones, which are for the rest), of all dies; false: there are
 * none. */
static bool
next_rows(const table_t *self, gpc_index_t *entry, cpelide_entry_t **row)
{
    const gpc_part_t *first = rows_of(self->at[0]);
    *entry = *entry == GPC_NONE ? gpc_part_first(first) : gpc_part_next(first, *entry);
    if (*entry != GPC_NONE) {
        rows_for(self, gpc_part_line(first, *entry), row);
    }
    return *entry != GPC_NONE;
}

/* What the other cores of the dies have noted. */
static void
gather(const table_t *self)
{
    for (uint32_t core = 0; core < self->cores; core++) {
        const gpc_part_t *rows = rows_of(&self->launch->all[core]);
        gpc_controller_t *first = self->at[gpc_die_of(self->launch->nodes, (gpc_node_t) core)];
        bool other = first != &self->launch->all[core];
        for (gpc_index_t i = gpc_part_first(rows); other && i != GPC_NONE; i = gpc_part_next(rows, i)) {
            cpelide_entry_t *from = row_at(rows, i);
            cpelide_entry_t *to = row_at(rows_of(first), gpc_part_find(rows_of(first), gpc_part_line(rows, i)));
            to->kept = join(to->kept, from->kept);
            to->dirty = join(to->dirty, from->dirty);
            to->wrote = join(to->wrote, from->wrote);
            *from = (cpelide_entry_t){.end = from->end};
        }
    }
}

/* Removes a row that says nothing of any die. */
static void
remove_idle(const table_t *self)
{
    cpelide_entry_t *row[GPC_MAX_DIES];
    gpc_index_t entry = gpc_part_first(rows_of(self->at[0])); /* behind the first one, for the rest */
    while (next_rows(self, &entry, row)) {
        uint64_t any = 0;
        for (uint32_t die = 0; die < self->dies; die++) {
            any |= row[die]->kept | row[die]->wrote | row[die]->state;
        }
        if (any == 0) {
            gpc_address_t begin = gpc_part_line(rows_of(self->at[0]), entry);
            for (uint32_t core = 0; core < self->cores; core++) {
                gpc_part_t *rows = rows_of(&self->launch->all[core]);
                gpc_part_give(rows, gpc_part_find(rows, begin));
            }
            return;
        }
    }
}

static bool
has_room(const table_t *self)
{
    const gpc_part_t *rows = rows_of(self->at[0]);
    return rows->order->count < rows->pool.capacity;
}

/* Rows for the launch's arrays, as far as there is room. */
static void
add_rows(const table_t *self)
{
    for (uint32_t i = 0; i <= self->launch->num_arrays; i++) {
        gpc_address_t begin = i ? self->launch->arrays[i - 1].begin : REST;
        gpc_address_t end = i ? self->launch->arrays[i - 1].end : REST;
        if (gpc_part_find(rows_of(self->at[0]), begin) != GPC_NONE) {
            continue;
        }
        if (!has_room(self)) {
            remove_idle(self);
        }
        for (uint32_t core = 0, cores = has_room(self) ? self->cores : 0; core < cores; core++) {
            take_row(&self->launch->all[core], begin, end);
        }
    }
}

static bool
runs_on(const table_t *self, uint32_t die)
{
    return self->launch->dies >> die & 1;
}

/* Whether the launch may access the array of the row. */
static bool
is_used(const table_t *self, gpc_index_t entry)
{
    gpc_address_t begin = gpc_part_line(rows_of(self->at[0]), entry);
    bool used = self->launch->others || begin == REST;
    for (uint32_t i = 0; i < self->launch->num_arrays && !used; i++) {
        used = self->launch->arrays[i].begin == begin;
    }
    return used;
}

/* ---- rules = ranges ---------------------------------------------------------------------------------------------- */

/* Whether another die has written, in the last launch, what the die may have of the row. An address may have been noted
 * in the row for the rest before its array had a row. */
static void
find_stale(const table_t *self)
{
    cpelide_entry_t *row[GPC_MAX_DIES], *rest[GPC_MAX_DIES];
    gpc_index_t entry = GPC_NONE;
    (void) next_rows(self, &entry, rest); /* the first one */
    for (entry = GPC_NONE; next_rows(self, &entry, row);) {
        for (uint32_t die = 0; die < self->dies; die++) {
            for (uint32_t other = 0; other < self->dies; other++) {
                bool wrote = meet(row[other]->wrote, row[die]->kept) || meet(rest[other]->wrote, row[die]->kept);
                row[die]->stale |= wrote && other != die;
                rest[die]->stale |= meet(row[other]->wrote, rest[die]->kept) && other != die;
            }
        }
    }
    while (next_rows(self, &entry, row)) {
        for (uint32_t die = 0; die < self->dies; die++) {
            row[die]->wrote = 0;
        }
    }
}

static void
decide_ranges(const table_t *self, uint32_t *drops, uint32_t *flushes)
{
    cpelide_entry_t *row[GPC_MAX_DIES];
    gpc_index_t entry = GPC_NONE;
    find_stale(self);
    while (next_rows(self, &entry, row)) {
        for (uint32_t die = 0; die < self->dies && is_used(self, entry); die++) {
            *drops |= (uint32_t) (runs_on(self, die) && row[die]->stale) << die;
            bool others = self->launch->dies & ~(1u << die);
            *flushes |= (uint32_t) (others && row[die]->dirty) << die;
        }
    }
    while (next_rows(self, &entry, row)) {
        for (uint32_t die = 0; die < self->dies; die++) {
            bool dropped = *drops >> die & 1;
            row[die]->dirty = *flushes >> die & 1 ? 0 : row[die]->dirty;
            row[die]->kept = dropped ? row[die]->dirty : row[die]->kept; /* dirty words stay */
            row[die]->stale &= !dropped;
        }
    }
}

/* ---- rules = artifact: cpcoh.cc, with its steps and names -------------------------------------------------------- */

/* The die's L2 is invalidated: none of its rows is valid or stale. The second test has chiplet 0's state, by a slip of
 * the code. */
static void
invalidate(const table_t *self, uint32_t die)
{
    cpelide_entry_t *row[GPC_MAX_DIES];
    for (gpc_index_t entry = GPC_NONE; next_rows(self, &entry, row);) {
        if (row[die]->state == CPELIDE_S || row[0]->state == CPELIDE_V) {
            row[die]->state = CPELIDE_I;
        }
    }
}

/* The die's L2 is flushed: its rows are valid, not dirty. */
static void
flush(const table_t *self, uint32_t die)
{
    cpelide_entry_t *row[GPC_MAX_DIES];
    for (gpc_index_t entry = GPC_NONE; next_rows(self, &entry, row);) {
        row[die]->state = row[die]->state == CPELIDE_D ? CPELIDE_V : row[die]->state;
    }
}

/* For an array that the launch accesses in this mode: CPELIDE_V, it reads it; CPELIDE_D, it writes it, too. */
static void
decide_for(const table_t *self, cpelide_entry_t **row, uint8_t mode, uint32_t *drops, uint32_t *flushes)
{
    uint8_t old[GPC_MAX_DIES];
    uint32_t dirty = 0;
    bool flushed = false;

    for (uint32_t die = 0; die < self->dies; die++) {
        old[die] = row[die]->state;
        dirty += old[die] == CPELIDE_D;
    }
    for (uint32_t die = 0; die < self->dies; die++) {
        if (runs_on(self, die) && old[die] == CPELIDE_S) {
            *drops |= 1u << die;
            old[die] = CPELIDE_I;
            invalidate(self, die);
        }
        flushed |= (dirty == 1 && runs_on(self, die) && old[die] != CPELIDE_D) || dirty > 1;
    }
    for (uint32_t die = 0; die < self->dies; die++) {
        if (flushed && old[die] == CPELIDE_D) {
            *flushes |= 1u << die;
            old[die] = CPELIDE_V;
            flush(self, die);
        }
        if (runs_on(self, die)) {
            row[die]->state = mode;
        } else if (mode == CPELIDE_D && old[die] == CPELIDE_V) {
            row[die]->state = CPELIDE_S;
        }
    }
}

static void
decide_artifact(const table_t *self, uint32_t *drops, uint32_t *flushes)
{
    cpelide_entry_t *row[GPC_MAX_DIES];
    for (uint32_t i = 0; i < self->launch->num_arrays; i++) {
        const gpc_array_use_t *array = &self->launch->arrays[i];
        if (gpc_part_find(rows_of(self->at[0]), array->begin) != GPC_NONE) {
            rows_for(self, array->begin, row);
            decide_for(self, row, array->writes ? CPELIDE_D : CPELIDE_V, drops, flushes);
        }
    }
}

uint32_t
cpelide_dies(const gpc_boundary_t *boundary)
{
    return gpc_die_of(boundary->nodes, (gpc_node_t) (boundary->all->machine->cores - 1)) + 1;
}

void
cpelide_decide(const gpc_boundary_t *boundary, uint32_t *drops, uint32_t *flushes)
{
    const gpc_controller_t *any = boundary->all;
    table_t table = {.launch = boundary, .dies = cpelide_dies(boundary), .cores = any->machine->cores};
    for (uint32_t die = 0; die < table.dies; die++) {
        table.at[die] = &boundary->all[gpc_first_core_of(boundary->nodes, die)];
    }
    add_rows(&table);
    gather(&table);
    (any->options[CPELIDE_RULES] == CPELIDE_ARTIFACT ? decide_artifact : decide_ranges)(&table, drops, flushes);
}
