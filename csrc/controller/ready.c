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

/* Entries of a bank that has had its steps wait for the next cycle, behind the others. */
static int
serve_banks(gpc_part_t *part, const gpc_part_info_t *declared, int *result)
{
    uint8_t taken[GPC_PART_BANKS] = {0};
    uint32_t banks = declared->banks ? declared->banks : 1, steps = declared->steps ? declared->steps : 1;
    uint32_t left = banks * steps;
    int status = GPC_OK;

    for (uint32_t looks = part->ready->count; looks && left && part->ready->count && status == GPC_OK; looks--) {
        uint8_t *of_bank = &taken[part->ready->head % banks];
        if (*of_bank == steps) {
            gpc_part_rotate_ready(part);
            continue;
        }
        ++*of_bank;
        left--;
        status = gpc_part_serve_ready(part);
        *result = status == GPC_OK ? GPC_OK : *result;
    }
    return status;
}

int
gpc_controller_serve_ready(gpc_controller_t *self)
{
    int result = GPC_HELD_QUEUE;

    for (uint8_t i = 0; i < GPC_MAX_PARTS && self->type->parts[i].name; i++) {
        int status = serve_banks(&self->parts[i], &self->type->parts[i], &result);
        if (status < 0) {
            return status;
        }
    }
    return result;
}
