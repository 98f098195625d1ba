/* writers.c: notes the last writers of words. */
#include "core/memory/writers.h"

#include "cache/rmw.h"
#include "core/stuck.h"

static gpc_writer_t *
place_of(const gpc_core_parts_t *parts, gpc_address_t word)
{
    return &parts->writers[(uint32_t) (word / 4 * UINT64_C(0x9E3779B97F4A7C15) >> 40) % GPC_WRITERS];
}

bool
gpc_atomic_changes(const gpc_lane_list_t *list, uint32_t n)
{
    return gpc_rmw_changes(list, n);
}

static void
note_words(const gpc_issue_t *x, const gpc_core_access_t *access, gpc_address_t line, gpc_mask_t words,
           gpc_lanes_t lanes)
{
    gpc_core_parts_t *parts = x->base->parts;
    gpc_address_t word = line + 4 * gpc_lowest_bit(words);
    gpc_writer_t *entry = place_of(parts, word);
    parts->writers_lost |= entry->launch == parts->launches && entry->word != word;
    *entry = (gpc_writer_t){.word = word,
                            .words = words,
                            .launch = parts->launches,
                            .cycle = x->now,
                            .lanes = lanes,
                            .pc = access->pc,
                            .block = gpc_core_block(x->base->cores, x->base->index, x->warp->block)->number,
                            .kernel = (uint8_t) x->launch->number,
                            .warp = (uint8_t) x->warp->index,
                            .core = (uint8_t) x->base->index,
                            .straight = access->straight,
                            .first = access->word[0]};
}

GPC_INLINED_BY_LINKER void
gpc_writers_note(const gpc_issue_t *x, const gpc_core_access_t *access, gpc_lanes_t lanes, const gpc_msg_t *msg)
{
    if (access->access.kind == GPC_ACCESS_STORE) {
        if (msg->mask != 0) {
            note_words(x, access, msg->line, msg->mask, lanes);
        }
        return;
    }
    const gpc_lane_list_t *list = gpc_lane_list_at(x->base->cores->lane_lists, msg->lanes);
    for (uint32_t n = 0; n < list->count; n++) {
        if (gpc_atomic_changes(list, n)) {
            note_words(x, access, msg->line, UINT32_C(1) << list->word[n], UINT64_C(1) << list->lane[n]);
        }
    }
}

const gpc_writer_t *
gpc_writers_find(const gpc_cores_t *self, gpc_address_t word)
{
    const gpc_core_parts_t *parts = self->parts;
    gpc_address_t line = word / self->machine->line_bytes * self->machine->line_bytes;
    const gpc_writer_t *last = NULL;
    for (gpc_address_t at = line; at <= word; at += 4) {
        const gpc_writer_t *entry = place_of(parts, at);
        bool wrote = entry->launch == parts->launches && entry->word == at && (entry->words >> (word - line) / 4 & 1u);
        if (wrote && (last == NULL || entry->cycle >= last->cycle)) {
            last = entry;
        }
    }
    return last;
}
