/* ready.c: ready entries of parts act, each in a step of its table. */
#include "controller/controller.h"

int
gpc_part_serve_ready(gpc_part_t *part)
{
    gpc_list_t *ready = part->ready;
    gpc_index_t entry = ready->head;

    if (ready->count == 0) {
        return GPC_OK;
    }
    gpc_part_take_ready(part, entry);
    int status = gpc_controller_entry(part->unit, part->table, part->number, entry, GPC_MSG_REPLAY, GPC_NONE);
    if (status == GPC_HELD_QUEUE && !gpc_part_is_ready(part, entry)) {
        gpc_part_push_first(part, entry);
    }
    return status;
}

int
gpc_controller_serve_ready(gpc_controller_t *self)
{
    int result = GPC_HELD_QUEUE;

    for (uint8_t i = 0; i < GPC_MAX_PARTS && self->type->parts[i].name; i++) {
        gpc_part_t *part = &self->parts[i];
        uint32_t steps = self->type->parts[i].steps ? self->type->parts[i].steps : 1;
        int status = GPC_OK;
        for (; steps && part->ready->count && status == GPC_OK; steps--) {
            status = gpc_part_serve_ready(part);
            result = status == GPC_OK ? GPC_OK : result;
        }
        if (status < 0) {
            return status;
        }
    }
    return result;
}
