/* verify.c: a controller's consistency checks, its encoding for the explorer, and its print. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "controller/controller.h"

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static int
wrong(gpc_controller_t *self, gpc_address_t line, const char *what)
{
    self->failure->line = line;
    return gpc_fail(self->failure, GPC_ERROR_CONSERVATION, "%s %u, line 0x%llx: %s", self->type->name, self->index,
                    (unsigned long long) line, what);
}

uint8_t
gpc_table_over(const gpc_controller_t *self, uint8_t array)
{
    for (uint8_t i = 0; i < GPC_MAX_TABLES && self->type->tables[i]; i++) {
        const gpc_table_t *table = self->type->tables[i];
        if (table->object <= GPC_OVER_WORDS && (self->type->object_of[i] == array || (table->arrays >> array & 1))) {
            return i;
        }
    }
    return 0;
}

/* A way that has a line: its set, its transaction, its state. */
static int
verify_way(gpc_controller_t *self, const gpc_table_t *table, const gpc_tags_t *tags, gpc_index_t way, bool at_rest)
{
    const gpc_tag_t *tag = &tags->tags[way];
    gpc_address_t line = gpc_tags_line(tags, way);

    if (gpc_tags_set_of(tags, line) != way / tags->ways) {
        return wrong(self, line, "is in a wrong set");
    }
    if (tag->mshr != GPC_NONE) {
        const gpc_mshr_t *entry = gpc_mshr_at(&self->mshrs, tag->mshr);
        if (at_rest || !entry->live || entry->line != line) {
            return wrong(self, line, "its way is reserved for no transaction");
        }
    } else if (tag->state >= table->num_states || table->states[tag->state].kind != GPC_STABLE) {
        return wrong(self, line, "is in a transient state without a transaction");
    }
    return GPC_OK;
}

static int
verify_array(gpc_controller_t *self, uint8_t array, bool at_rest)
{
    const gpc_tags_t *tags = &self->arrays[array];
    const gpc_table_t *table = self->type->tables[gpc_table_over(self, array)];
    gpc_index_t count = tags->sets * tags->ways;
    int status = GPC_OK;

    for (gpc_index_t first = 0; first < count; first += GPC_TAG_PIECE) {
        if (!tags->had_lines[first / GPC_TAG_PIECE]) {
            continue;
        }
        gpc_index_t end = count - first < GPC_TAG_PIECE ? count : first + GPC_TAG_PIECE;
        for (gpc_index_t way = first; way < end && status == GPC_OK; way++) {
            status = gpc_tags_present(tags, way) ? verify_way(self, table, tags, way, at_rest) : GPC_OK;
        }
    }
    return status;
}

/* The state of a word where the unit has the line in a way, in a transaction, or both. */
static uint8_t
state_of(const gpc_controller_t *unit, gpc_index_t way, gpc_index_t mshr, uint32_t word)
{
    const gpc_table_t *table = unit->type->tables[0];
    bool over_words = table->object == GPC_OVER_WORDS;

    if (mshr != GPC_NONE && !over_words) {
        return gpc_mshr_at(&unit->mshrs, mshr)->state;
    }
    uint8_t state = mshr == GPC_NONE ? 0 : gpc_mshr_word_states(&unit->mshrs, mshr)[word];
    if (state) { /* 0: this word is not part of the transaction */
        return (uint8_t) (state - 1);
    }
    if (way == GPC_NONE) {
        return table->initial;
    }
    return over_words ? gpc_tags_word_states(&unit->arrays[0], way)[word] : unit->arrays[0].tags[way].state;
}

/* Finds the way and the transaction of a line; false: it has neither. */
static bool
find_line(const gpc_controller_t *unit, gpc_address_t line, gpc_index_t *way, gpc_index_t *mshr)
{
    const gpc_tags_t *tags = &unit->arrays[0];

    *way = tags->sets ? gpc_tags_find(tags, line) : GPC_NONE;
    *mshr = *way == GPC_NONE ? gpc_mshr_find(&unit->mshrs, line) : tags->tags[*way].mshr;
    return *way != GPC_NONE || *mshr != GPC_NONE;
}

uint8_t
gpc_state_at(const gpc_controller_t *unit, gpc_address_t line, uint32_t word, gpc_index_t *way)
{
    gpc_index_t mshr;
    return find_line(unit, line, way, &mshr) ? state_of(unit, *way, mshr, word) : unit->type->tables[0]->initial;
}

bool
gpc_word_states_at(const gpc_controller_t *unit, gpc_address_t line, uint8_t *states, gpc_index_t *way)
{
    gpc_index_t mshr;
    if (!find_line(unit, line, way, &mshr)) {
        return false;
    }
    for (uint32_t word = 0; word < unit->machine->line_bytes / 4; word++) {
        states[word] = state_of(unit, *way, mshr, word);
    }
    return true;
}

int
gpc_violated(gpc_controller_t *unit, gpc_address_t line, const char *invariant, const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    (void) vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    uint64_t now = unit->ports->now(unit->world);
    if (line == GPC_NEVER) {
        return gpc_fail(unit->failure, GPC_ERROR_INVARIANT,
                        "an invariant does not hold, %s: %s (core cycle %" PRIu64 ")", invariant, what, now);
    }
    char home[32] = "";
    if (unit->homes.paged) {
        (void) snprintf(home, sizeof(home), ", home on die %" PRIu32, gpc_home_die(&unit->homes, line));
    }
    unit->failure->line = line;
    return gpc_fail(unit->failure, GPC_ERROR_INVARIANT,
                    "an invariant does not hold, %s: %s (core cycle %" PRIu64 ", line 0x%" PRIx64 "%s)", invariant,
                    what, now, line, home);
}

int
gpc_controller_verify(gpc_controller_t *self, bool at_rest)
{
    for (uint8_t array = 0; array < GPC_MAX_ARRAYS && self->arrays[array].sets; array++) {
        GPC_TRY(verify_array(self, array, at_rest));
    }
    if (!at_rest) {
        return GPC_OK;
    }
    if (self->mshrs.entries.state->in_use && !self->type->may_idle_in_transaction) {
        return wrong(self, 0, "a transaction is outstanding at the end");
    }
    GPC_TRY(self->type->parts[0].name ? gpc_parts_verify(self) : GPC_OK);
    if (*self->launch_pending) {
        return wrong(self, 0, "the end of the launch is held");
    }
    return self->replay->count
               ? wrong(self, gpc_msg_at(self->messages, self->replay->head)->line, "a request is held at the end")
               : GPC_OK;
}

/* ---- encoding: equal bytes if and only if controllers are equal -------------------------------------------------- */

/* Of the stamps only their order within the set matters: the explorer replaces the least recently used line. */
static uint32_t
age_of(const gpc_tags_t *tags, gpc_index_t way)
{
    gpc_index_t first = way / tags->ways * tags->ways;
    uint32_t age = 0;
    for (gpc_index_t other = first; other < first + tags->ways; other++) {
        age += gpc_tags_present(tags, other) && tags->tags[other].order < tags->tags[way].order;
    }
    return age;
}

static void
encode_way(const gpc_array_info_t *info, const gpc_tags_t *tags, gpc_index_t way, gpc_encoder_t *out)
{
    const gpc_tag_t *tag = &tags->tags[way];

    gpc_encode_u64(out, gpc_tags_line(tags, way) + 1);
    gpc_encode_u64(out, out->ages ? age_of(tags, way) : 0);
    gpc_encode_u64(out, tag->mshr == GPC_NONE ? 1u + tag->state : 0);
    if (info->line) {
        gpc_encode_described(out, info->line(), gpc_tags_fields(tags, way));
    }
    if (tags->word_states) {
        gpc_encode_bytes(out, gpc_tags_word_states(tags, way), tags->line_words);
    }
    for (uint32_t word = 0; info->has_data && word < tags->line_words; word++) {
        gpc_encode_u64(out, gpc_tags_words(tags, way)[word]);
    }
}

/* The present way of the smallest line from `from` on, or GPC_NONE. */
static gpc_index_t
next_way(const gpc_tags_t *tags, gpc_address_t from)
{
    gpc_index_t next = GPC_NONE;
    for (gpc_index_t way = 0; way < tags->sets * tags->ways; way++) {
        if (gpc_tags_present(tags, way) && gpc_tags_line(tags, way) >= from &&
            (next == GPC_NONE || gpc_tags_line(tags, way) < gpc_tags_line(tags, next))) {
            next = way;
        }
    }
    return next;
}

/* In order of line: the way that a line occupies in its set does not matter. */
static void
encode_array(const gpc_array_info_t *info, const gpc_tags_t *tags, gpc_encoder_t *out)
{
    gpc_address_t from = 0;
    for (gpc_index_t way; (way = next_way(tags, from)) != GPC_NONE; from = gpc_tags_line(tags, way) + 1) {
        encode_way(info, tags, way, out);
    }
    gpc_encode_u64(out, 0);
}

static void
encode_transaction(const gpc_controller_t *self, gpc_index_t i, gpc_encoder_t *out)
{
    const gpc_mshr_t *entry = gpc_mshr_at(&self->mshrs, i);
    gpc_encode_u64(out, entry->line + 1);
    gpc_encode_u64(out, entry->table);
    gpc_encode_u64(out, entry->state);
    gpc_encode_u64(out, entry->way != GPC_NONE);
    gpc_encode_u64(out, entry->leaving);
    if (self->type->mshr) {
        gpc_encode_described(out, self->type->mshr(), gpc_mshr_fields(&self->mshrs, i));
    }
    if (self->mshrs.word_states) {
        gpc_encode_bytes(out, gpc_mshr_word_states(&self->mshrs, i), self->mshrs.line_words);
    }
    gpc_encode_list(out, &entry->pending);
    gpc_encode_list(out, &entry->waiters);
    gpc_encode_waiting_entries(self, entry, out);
}

static gpc_address_t
key_of(const gpc_mshr_t *entry)
{
    return entry->line + entry->table;
}

/* In order of line: the MSHR that a transaction occupies does not matter. */
static void
encode_transactions(const gpc_controller_t *self, gpc_encoder_t *out)
{
    gpc_address_t from = 0;
    for (uint32_t n = self->mshrs.entries.state->in_use; n; n--) {
        gpc_index_t next = GPC_NONE;
        for (gpc_index_t i = 0; i < *self->mshrs.high; i++) {
            const gpc_mshr_t *entry = gpc_mshr_at(&self->mshrs, i);
            if (entry->live && key_of(entry) >= from &&
                (next == GPC_NONE || key_of(entry) < key_of(gpc_mshr_at(&self->mshrs, next)))) {
                next = i;
            }
        }
        encode_transaction(self, next, out);
        from = key_of(gpc_mshr_at(&self->mshrs, next)) + 1;
    }
    gpc_encode_u64(out, 0);
}

void
gpc_controller_encode(gpc_controller_t *self, gpc_encoder_t *out)
{
    for (uint32_t i = 0; i < GPC_MAX_ARRAYS && self->type->arrays[i].name; i++) {
        encode_array(&self->type->arrays[i], &self->arrays[i], out);
    }
    encode_transactions(self, out);
    gpc_parts_encode(self, out);
    if (self->type->unit) {
        gpc_encode_described(out, self->type->unit(), self->unit_fields);
    }
    if (self->type->core) {
        gpc_encode_described(out, self->type->core(), self->core_fields);
    }
    for (uint32_t warp = 0; self->type->warp && warp < self->machine->warps_per_core; warp++) {
        gpc_encode_described(out, self->type->warp(), self->warp_fields + (size_t) warp * self->warp_fields_size);
    }
    gpc_encode_bytes(out, self->unit_states, GPC_MAX_TABLES);
    gpc_encode_bytes(out, self->launch_pending, 1);
    gpc_encode_list(out, self->replay);
    gpc_encode_u64(out, *self->idle_timer > out->now ? *self->idle_timer - out->now : 0);
}

/* ---- print ------------------------------------------------------------------------------------------------------- */

void
gpc_controller_print(gpc_controller_t *self, gpc_text_t *out)
{
    for (uint8_t i = 0; i < GPC_MAX_ARRAYS && self->type->arrays[i].name; i++) {
        const gpc_table_t *table = self->type->tables[gpc_table_over(self, i)];
        const gpc_tags_t *tags = &self->arrays[i];
        for (gpc_index_t way = 0; way < tags->sets * tags->ways; way++) {
            if (gpc_tags_present(tags, way) && tags->tags[way].mshr == GPC_NONE) {
                gpc_text_add(out, "%s %u %s line 0x%llx %s ", self->type->name, self->index, self->type->arrays[i].name,
                             (unsigned long long) gpc_tags_line(tags, way), table->states[tags->tags[way].state].name);
                gpc_print_described(out, self->type->arrays[i].line(), gpc_tags_fields(tags, way));
                gpc_text_add(out, "\n");
            }
        }
    }
    for (gpc_index_t i = 0; i < *self->mshrs.high; i++) {
        const gpc_mshr_t *entry = gpc_mshr_at(&self->mshrs, i);
        if (entry->live) {
            const gpc_table_t *table = self->type->tables[entry->table];
            gpc_text_add(out, "%s %u transaction line 0x%llx %s, %u pending, %u waiting ", self->type->name,
                         self->index, (unsigned long long) entry->line, table->states[entry->state].name,
                         entry->pending.count, entry->waiters.count);
            if (self->type->mshr) {
                gpc_print_described(out, self->type->mshr(), gpc_mshr_fields(&self->mshrs, i));
            }
            gpc_text_add(out, "\n");
        }
    }
    gpc_parts_print(self, out);
}
