/* versions.c: a monitor for versions of lines. */
#include "controller/versions.h"

#include <string.h>

#include "controller/lease.h"

static uint64_t
version_at(const gpc_controller_t *unit, gpc_index_t way)
{
    return gpc_at_place(gpc_tags_fields(&unit->arrays[0], way), unit->type->version);
}

int
gpc_equal_versions(const gpc_units_t *units, gpc_address_t line)
{
    if (line == GPC_NEVER) {
        return GPC_OK;
    }
    const gpc_tags_t *tags = &units->bank->arrays[0];
    gpc_index_t way = gpc_tags_find(tags, line), copy;

    for (uint32_t i = 0; i < units->num_cores && way != GPC_NONE && !gpc_awaits_data(units->bank, way); i++) {
        gpc_controller_t *core = units->cores[i];
        uint8_t state = gpc_state_at(core, line, 0, &copy);
        if (gpc_is_among(core->protocol->watched->copies, state) && copy != GPC_NONE &&
            version_at(core, copy) == version_at(units->bank, way) &&
            memcmp(gpc_tags_words(&core->arrays[0], copy), gpc_tags_words(tags, way), 4 * tags->line_words) != 0) {
            return gpc_violated(core, line, "a copy of the line's version has the line's words", "L1 %u has others", i);
        }
    }
    return GPC_OK;
}
