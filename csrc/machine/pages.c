/* pages.c: what a core's access to a page does before its L1 takes it: it waits for the page's translation
 * (translation.h), and as the first one brings the page to the core's die (placement_of_pages). Accesses of the host
 * bring no page anywhere. A page stays where it is, in later launches too. */
#include "machine/parts.h"

int
gpc_gpu_make_pages(gpc_gpu_t *gpu)
{
    const gpc_machine_t *m = &gpu->machine;
    gpc_touched_t *touched = &gpu->homes.touched;

    GPC_TRY(gpc_translation_init(&gpu->translation, m, &gpu->arena));
    if (m->dies > 1 && m->placement_of_pages == GPC_PAGES_FIRST_TOUCH) {
        touched->entries = GPC_ARENA_TAKE(&gpu->arena, GPC_TOUCHED_ENTRIES, gpc_touched_page_t);
        touched->used = GPC_ARENA_TAKE(&gpu->arena, 1, uint32_t);
        GPC_TRY(touched->entries && touched->used ? GPC_OK : GPC_ERROR_MEMORY);
    }
    gpu->looks_at_pages = gpc_translation_exists(&gpu->translation) || touched->entries;
    return GPC_OK;
}

int
gpc_gpu_touch_page(gpc_gpu_t *gpu, uint32_t core, gpc_address_t line)
{
    const gpc_homes_t *homes = &gpu->homes;
    if (homes->touched.entries && !gpc_touched_add(&homes->touched, gpc_quotient(homes->page, line),
                                                   gpc_die_of(&gpu->nodes, (gpc_node_t) core))) {
        return gpc_fail(&gpu->failure, GPC_ERROR_CAPACITY,
                        "more than %u pages of page_bytes = %u are accessed; placement_of_pages = first_touch allows "
                        "no more",
                        GPC_TOUCHED_ENTRIES / 2, gpu->machine.page_bytes);
    }
    return GPC_OK;
}

__attribute__((noinline)) int /* few machines look at pages */
gpc_gpu_access_page(gpc_gpu_t *gpu, uint32_t core, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);

    if (gpc_translation_exists(&gpu->translation)) {
        msg->late = gpc_translation_late(&gpu->translation, core, msg->line, gpc_gpu_cycle(gpu));
    }
    return gpc_gpu_touch_page(gpu, core, msg->line);
}
