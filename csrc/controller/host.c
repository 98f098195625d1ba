#include "controller/host.h"

int
gpc_host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    gpc_index_t way = gpc_tags_find(&units->bank->arrays[0], line);
    if (way != GPC_NONE) {
        gpc_merge_words(words, gpc_tags_words(&units->bank->arrays[0], way), mask);
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
gpc_host_write_alone(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_index_t way = gpc_tags_find(&units->cores[i]->arrays[0], line);
        if (way != GPC_NONE) {
            gpc_tags_drop(&units->cores[i]->arrays[0], way);
        }
    }
    return gpc_host_write(units, line, mask, words);
}
