/* host.c: reads and writes a line for the host at its owner or its bank; checks what memory has at the end. */
#include "controller/host.h"

#include <string.h>

#include "controller/writer.h"

/* The way in which the core owns the line, or GPC_NONE. */
static gpc_index_t
owned_way(const gpc_controller_t *core, gpc_address_t line)
{
    const gpc_tags_t *tags = &core->arrays[0];
    gpc_index_t way = core->type->owned ? gpc_tags_find(tags, line) : GPC_NONE;

    bool owned = way != GPC_NONE && tags->tags[way].mshr == GPC_NONE && core->type->owned >> tags->tags[way].state & 1;
    return owned ? way : GPC_NONE;
}

int
gpc_host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    const gpc_controller_t *at = units->bank;
    gpc_index_t way = gpc_tags_find(&at->arrays[0], line);

    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_index_t owned = owned_way(units->cores[i], line);
        at = owned != GPC_NONE ? units->cores[i] : at;
        way = owned != GPC_NONE ? owned : way;
    }
    if (way != GPC_NONE) {
        gpc_merge_words(words, gpc_tags_words(&at->arrays[0], way), mask);
    }
    return GPC_OK;
}

int
gpc_host_write(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    gpc_index_t way = gpc_tags_find(&units->bank->arrays[0], line);
    if (way != GPC_NONE) {
        gpc_merge_words(gpc_tags_words(&units->bank->arrays[0], way), words, mask);
    }
    return GPC_OK;
}

int
gpc_host_newest(const gpc_protocol_t *protocol, const gpc_units_t *units, gpc_address_t line, uint32_t *words)
{
    const gpc_controller_t *bank = units->bank;
    gpc_index_t way = gpc_tags_find(&bank->arrays[0], line);

    return way == GPC_NONE || bank->arrays[0].tags[way].mshr != GPC_NONE
               ? GPC_OK
               : protocol->host_read(units, line, gpc_all_words(bank), words);
}

/* The fields beside both lines that have the same name: times and versions of the words. */
static void
return_fields(const gpc_controller_t *core, gpc_index_t from, const gpc_controller_t *bank, gpc_index_t to)
{
    const gpc_described_t *given = core->type->arrays[0].line(), *taken = bank->type->arrays[0].line();

    for (uint16_t i = 0; i < given->count; i++) {
        for (uint16_t j = 0; j < taken->count; j++) {
            const gpc_field_t *source = &given->fields[i], *target = &taken->fields[j];
            if (strcmp(source->name, target->name) == 0 && source->size == target->size) {
                memcpy((uint8_t *) gpc_tags_fields(&bank->arrays[0], to) + target->offset,
                       (const uint8_t *) gpc_tags_fields(&core->arrays[0], from) + source->offset, source->size);
            }
        }
    }
}

/* What an owner has goes to the bank, where the line is no core's. */
static void
return_line(const gpc_units_t *units, gpc_address_t line)
{
    gpc_controller_t *bank = units->bank;
    gpc_index_t home = gpc_tags_find(&bank->arrays[0], line);

    if (home == GPC_NONE || bank->type->returned == 0) {
        return;
    }
    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_controller_t *core = units->cores[i];
        gpc_index_t way = owned_way(core, line);
        if (way != GPC_NONE) {
            gpc_merge_words(gpc_tags_words(&bank->arrays[0], home), gpc_tags_words(&core->arrays[0], way),
                            gpc_all_words(bank));
            return_fields(core, way, bank, home);
            ((gpc_writer_line_t *) (void *) gpc_tags_fields(&bank->arrays[0], home))->dirty = 1;
        }
    }
    bank->arrays[0].tags[home].state = bank->type->returned;
    if (bank->type->sharers.offset) {
        uint8_t *fields = gpc_tags_fields(&bank->arrays[0], home);
        *(gpc_nodeset_t *) (void *) (fields + bank->type->sharers.offset) = (gpc_nodeset_t){{0}};
    }
}

int
gpc_host_write_alone(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    return_line(units, line);
    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_tags_drop_line(&units->cores[i]->arrays[0], line);
    }
    return gpc_host_write(units, line, mask, words);
}

int
gpc_host_check_memory(const gpc_protocol_t *protocol, const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask,
                      const uint32_t *words)
{
    uint32_t found[GPC_MAX_LINE_WORDS];

    if (!protocol->watched || !protocol->watched->ends_in_memory) {
        return GPC_OK;
    }
    memcpy(found, words, units->bank->machine->line_bytes);
    int status = protocol->host_read(units, line, mask, found);
    for (; mask && status == GPC_OK; mask &= mask - 1) {
        uint32_t word = (uint32_t) __builtin_ctz(mask);
        if (found[word] != words[word]) {
            status = gpc_violated(units->bank, line, "a launch leaves its words in memory",
                                  "a cache has 0x%x in word %u, memory 0x%x", found[word], word, words[word]);
        }
    }
    return status;
}
