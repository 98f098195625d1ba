#include "controller/host.h"

int
gpc_host_read(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
              gpc_mask_t mask, uint32_t *words)
{
    gpc_index_t way = gpc_tags_find(&bank->arrays[0], line);
    (void) cores;
    (void) num_cores;
    if (way != GPC_NONE) {
        gpc_merge_words(words, gpc_tags_words(&bank->arrays[0], way), mask);
    }
    return GPC_OK;
}

int
gpc_host_write(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
               gpc_mask_t mask, const uint32_t *words)
{
    gpc_index_t way = gpc_tags_find(&bank->arrays[0], line);
    (void) cores;
    (void) num_cores;
    if (way != GPC_NONE) {
        gpc_merge_words(gpc_tags_words(&bank->arrays[0], way), words, mask);
    }
    return GPC_OK;
}

int
gpc_host_write_alone(gpc_controller_t *const *cores, uint32_t num_cores, gpc_controller_t *bank, gpc_address_t line,
                     gpc_mask_t mask, const uint32_t *words)
{
    for (uint32_t i = 0; i < num_cores; i++) {
        gpc_index_t way = gpc_tags_find(&cores[i]->arrays[0], line);
        if (way != GPC_NONE) {
            gpc_tags_drop(&cores[i]->arrays[0], way);
        }
    }
    return gpc_host_write(cores, num_cores, bank, line, mask, words);
}
