/* mesi.c: MESI, a conventional write-back directory protocol; mesi_l1.c has its L1, mesi_l2.c its L2.
 *
 * Paper    Singh et al., HPCA 2013, sections 4 and 4.1: write-back L1s that buffer stores until they have permission,
 *          an inclusive L2 with exact sharers that recalls what it evicts, five virtual networks, none assumed ordered.
 *          The authors took it from gem5's two-level directory protocol. The L1 performs atomics, in M (section 8.1).
 * Inferred every cell: the paper prints no table. It is gem5's protocol for data, without prefetches and instruction
 *          fetches, reduced to the paper's counts, and explored with any order of delivery. A line that is written back
 *          leaves its way at once (its MSHR entry holds the words until the L2 has them), as in gem5. A PUTX carries
 *          the line even when it is clean. Data from one L1 to another passes its home partition, since the crossbars
 *          join cores to partitions only.
 * Options  clean_put=header: the eviction of a clean line sends a PUTE, without the line (gem5 sends it:
 *          clean_put=line).
 * Differs  gem5's L2 state that waits for memory to acknowledge a write is absent: memory acknowledges no writes.
 */
#include "protocols/invalidation/mesi.h"

/* ---- the host ---------------------------------------------------------------------------------------------------- */

static int
host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    for (uint32_t i = 0; i < units->num_cores; i++) {
        const uint32_t *leaving = mesi_l1_written_back(units->cores[i], line);
        if (leaving) {
            gpc_merge_words(words, leaving, mask);
            return GPC_OK;
        }
    }
    return gpc_host_read(units, line, mask, words);
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
    GPC_MESSAGES_OF(MESI),
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
    .watched = &mesi_watched,
    .monitor = mesi_monitor,
};
