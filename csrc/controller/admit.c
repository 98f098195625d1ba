/* admit.c: checks a protocol from outside the tree before anything runs it. */
#include <ctype.h>
#include <string.h>

#include "controller/admit.h"
#include "controller/resolve.h"

static bool
is_id(const char *id)
{
    size_t length = 0;
    for (; id && (islower((unsigned char) id[length]) || isdigit((unsigned char) id[length]) || id[length] == '-' ||
                  id[length] == '!');) {
        length++;
    }
    return length > 0 && id[length] == '\0' && id[0] != '-';
}

/* The first fault that gpc_fsm_check reports. */
static int
check_table(const gpc_protocol_t *self, const gpc_table_t *table, gpc_failure_t *failure)
{
    gpc_text_t wrong;
    gpc_text_init(&wrong);
    int status = gpc_fsm_check(table, &wrong);
    if (status != GPC_OK && wrong.bytes) {
        status = gpc_fail(failure, status, "%s: %.*s", self->id, (int) strcspn(wrong.bytes, "\n"), wrong.bytes);
    }
    gpc_text_free(&wrong);
    return status;
}

/* Counts of cells are by table: several controllers may have the same one, and no two share a name. */
static int
check_table_name(const gpc_protocol_t *self, const gpc_table_t *table, gpc_failure_t *failure)
{
    if (!table->name) {
        return gpc_fail(failure, GPC_ERROR_PROTOCOL, "%s: a table lacks .name", self->id);
    }
    for (uint32_t i = 0; i < gpc_num_controllers(self); i++) {
        for (uint32_t t = 0; t < GPC_MAX_TABLES && self->controllers[i]->tables[t]; t++) {
            const gpc_table_t *other = self->controllers[i]->tables[t];
            if (other != table && other->name && strcmp(other->name, table->name) == 0) {
                return gpc_fail(failure, GPC_ERROR_PROTOCOL, "%s: two tables are called %s", self->id, table->name);
            }
        }
    }
    return GPC_OK;
}

static int
check_tables(const gpc_protocol_t *self, const gpc_controller_type_t *type, gpc_failure_t *failure)
{
    if (type->tables[0]->object != GPC_OVER_UNIT && !type->arrays[0].name) {
        return gpc_fail(failure, GPC_ERROR_PROTOCOL, "%s: %s has no .arrays, and its table is over lines", self->id,
                        type->name);
    }
    for (uint32_t t = 0; t < GPC_MAX_TABLES && type->tables[t]; t++) {
        GPC_TRY(check_table(self, type->tables[t], failure));
        GPC_TRY(check_table_name(self, type->tables[t], failure));
    }
    for (uint32_t v = 0; v < GPC_MAX_VARIANTS && type->variants[v].by; v++) {
        GPC_TRY(check_table(self, type->variants[v].by, failure));
    }
    return GPC_OK;
}

int
gpc_protocol_admit(const gpc_protocol_t *self, gpc_failure_t *failure)
{
    if (!is_id(self->id)) {
        return gpc_fail(failure, GPC_ERROR_PROTOCOL, "the .id of a protocol is small letters, digits and hyphens");
    }
    GPC_TRY(gpc_protocol_check_declared(self, failure));
    for (uint32_t i = 0; i < gpc_num_controllers(self); i++) {
        GPC_TRY(check_tables(self, self->controllers[i], failure));
    }
    GPC_TRY(gpc_protocol_check_time(self, failure));
    GPC_TRY(gpc_protocol_check_join(self, failure));
    return gpc_protocol_check_prompt(self, failure);
}
