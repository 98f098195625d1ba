/* launch.c: begin and end of a launch at a controller: the type's hook for its fields, then the tables that declare
 * them. */
#include "controller/controller.h"

static int
refused(gpc_controller_t *self, uint8_t table, const char *what)
{
    return gpc_fail(self->failure, GPC_ERROR_PROTOCOL, "%s %u: table %s may not refuse %s", self->type->name,
                    self->index, self->type->tables[table]->name, what);
}

/* Whether the table is over the lines of the array. */
static bool
is_over(const gpc_controller_t *self, uint8_t table, uint8_t array)
{
    return self->type->object_of[table] == array || (self->type->tables[table]->arrays >> array & 1);
}

/* Whether the line has a way in one of the table's arrays before `end`. */
static bool
has_way(const gpc_controller_t *self, uint8_t table, gpc_address_t line, uint8_t end)
{
    for (uint8_t array = 0; array < end && self->arrays[array].sets; array++) {
        if (is_over(self, table, array) && gpc_tags_find(&self->arrays[array], line) != GPC_NONE) {
            return true;
        }
    }
    return false;
}

static int
notify_line(gpc_controller_t *self, uint8_t table, uint8_t cause, gpc_address_t line)
{
    int status = gpc_controller_line(self, table, cause, line, gpc_all_words(self), GPC_NONE);
    return status > 0 ? refused(self, table, "the begin or end of a launch for a line") : status;
}

/* Visits every line with a way once, then lines in a transaction without a way. */
static int
notify_lines(gpc_controller_t *self, uint8_t table, uint8_t cause)
{
    for (uint8_t array = 0; array < GPC_MAX_ARRAYS && self->arrays[array].sets; array++) {
        const gpc_tags_t *tags = &self->arrays[array];
        for (gpc_index_t way = 0; is_over(self, table, array) && way < tags->sets * tags->ways; way++) {
            if (!gpc_tags_present(tags, way) || has_way(self, table, gpc_tags_line(tags, way), array)) {
                continue;
            }
            GPC_TRY(notify_line(self, table, cause, gpc_tags_line(tags, way)));
        }
    }
    uint32_t high = *self->mshrs.high;
    for (gpc_index_t i = 0; i < high; i++) {
        const gpc_mshr_t *entry = gpc_mshr_at(&self->mshrs, i);
        bool alone = entry->live && entry->table == table && !has_way(self, table, entry->line, GPC_MAX_ARRAYS);
        GPC_TRY(alone ? notify_line(self, table, cause, entry->line) : GPC_OK);
    }
    return GPC_OK;
}

static int
notify_entries(gpc_controller_t *self, uint8_t table, uint8_t cause)
{
    uint8_t number = self->type->object_of[table];
    const gpc_part_t *part = &self->parts[number];
    gpc_index_t entry = gpc_part_first(part);

    while (entry != GPC_NONE) {
        gpc_index_t next = gpc_part_next(part, entry); /* this one may leave the part */
        int status = gpc_controller_entry(self, table, number, entry, cause, GPC_NONE);
        if (status) {
            return status > 0 ? refused(self, table, "the begin or end of a launch for an entry") : status;
        }
        entry = next;
    }
    return GPC_OK;
}

static int
notify_table(gpc_controller_t *self, uint8_t table, uint8_t cause)
{
    switch (self->type->tables[table]->object) {
        case GPC_OVER_LINES:
        case GPC_OVER_WORDS:
            return notify_lines(self, table, cause);
        case GPC_OVER_ENTRIES:
            return notify_entries(self, table, cause);
        case GPC_OVER_UNIT:
            break;
    }
    int status = gpc_controller_unit(self, table, cause, GPC_NONE);
    return status > 0 && cause == GPC_MSG_KERNEL_BEGIN ? refused(self, table, "a launch's begin") : status;
}

/* Bit t: table t takes the begin or end of the launch. */
static uint8_t
tables_that_take(const gpc_controller_type_t *type, uint8_t cause)
{
    uint8_t tables = cause == GPC_MSG_KERNEL_BEGIN ? type->begins : type->ends;
    for (uint32_t i = 0; cause == GPC_MSG_KERNEL_BEGIN && i < GPC_MAX_TABLES && type->tables[i]; i++) {
        tables |= (uint8_t) ((type->tables[i]->causes[cause] != 0) << i);
    }
    return tables;
}

int
gpc_controller_launch(gpc_controller_t *self, uint8_t cause)
{
    const gpc_controller_type_t *type = self->type;

    if (*self->launch_pending == 0) {
        *self->launch_pending = tables_that_take(type, cause);
        if (type->launch) {
            type->launch(self, cause);
        }
    }
    while (*self->launch_pending) {
        uint8_t table = (uint8_t) __builtin_ctz(*self->launch_pending);
        GPC_TRY(notify_table(self, table, cause));
        *self->launch_pending &= (uint8_t) ~(1u << table);
    }
    return GPC_OK;
}
