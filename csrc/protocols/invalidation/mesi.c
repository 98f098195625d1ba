/* mesi.c: MESI, a conventional write-back directory protocol; mesi_l1.c has its L1, mesi_l2.c its L2.
 *
 * Paper    Singh et al., HPCA 2013, sections 4 and 4.1: write-back L1s that buffer stores until they have permission, an inclusive
 *          L2 with exact sharers that recalls what it evicts, five virtual networks, none assumed ordered. The authors took it
 *          from gem5's two-level directory protocol. The L1 performs atomics, in M (section 8.1).
 * Inferred every cell: the paper prints no table. It is gem5's protocol for data, without prefetches and instruction fetches,
 *          reduced to the paper's counts, and explored with any order of delivery. A line that is written back leaves its way
 *          at once (its MSHR entry holds the words until the L2 has them), as in gem5. A PUTX carries the line even when it is
 *          clean. Data from one L1 to another passes its home partition, since the crossbars join cores to partitions only.
 * Options  clean_put=header: the eviction of a clean line sends a PUTE, without the line (gem5 sends it: clean_put=line).
 * Differs  gem5's L2 state that waits for memory to acknowledge a write is absent: memory acknowledges no writes.
 */
#include "protocols/invalidation/mesi.h"

/* ---- the host ------------------------------------------------------------------------------------------------------------------- */

static int
host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    for (uint32_t i = 0; i < units->num_cores; i++) {
        const uint32_t *owned = mesi_l1_owned_words(units->cores[i], line);
        if (owned) {
            gpc_merge_words(words, owned, mask);
            return GPC_OK;
        }
    }
    return gpc_host_read(units, line, mask, words);
}

/* Drops all copies. The owner's other words are written to the L2 first, which has the line since it is inclusive. */
static int
host_write(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    gpc_controller_t *bank = units->bank;
    gpc_index_t at_l2 = gpc_tags_find(&bank->arrays[0], line);

    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_tags_t *tags = &units->cores[i]->arrays[0];
        gpc_index_t way = gpc_tags_find(tags, line);
        if (way != GPC_NONE && at_l2 != GPC_NONE && mesi_l1_is_newest(units->cores[i], way)) {
            gpc_merge_words(gpc_tags_words(&bank->arrays[0], at_l2), gpc_tags_words(tags, way), gpc_all_words(bank));
            mesi_l2_line_at(bank, 0, at_l2)->dirty = 1;
        }
    }
    if (at_l2 != GPC_NONE) {
        mesi_l2_set_unshared(bank, at_l2);
    }
    return gpc_host_write_alone(units, line, mask, words);
}

const gpc_protocol_t gpc_protocol_mesi = {
    .id = "mesi",
    .name = "MESI",
    .paper = "Singh et al., HPCA 2013",
    .family = "write-back invalidation",
    .text = "write-back invalidation: four stable L1 states; an inclusive L2 with exact sharers invalidates, forwards "
            "and recalls",
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"},
    .standard_rule = GPC_RULE_RC,
    .controllers = {&mesi_l1, &mesi_l2},
    .messages = MESI_info,
    .num_messages = GPC_COUNT_OF(MESI_info),
    .message = mesi_message_described,
    .networks = {{.name = "request", .requests = true},
                 {.name = "forward"},
                 {.name = "response"},
                 {.name = "write-back"},
                 {.name = "unblock"}},
    .options =
        {[MESI_OPTION_CLEAN_PUT] = {.name = "clean_put",
                                    .standard = MESI_CLEAN_PUT_LINE,
                                    .smallest = MESI_CLEAN_PUT_HEADER,
                                    .largest = MESI_CLEAN_PUT_LINE,
                                    .choices = "header line",
                                    .text = "what the eviction of a line in E sends: a header only, or the line too"}},
    .declared = {.weak_outcomes = "SB MP LB R S 2+2W SB+rel+acq R+rel+acq"},
    .host_read = host_read,
    .host_write = host_write,
    .watched = &mesi_watched,
    .monitor = mesi_monitor,
};
