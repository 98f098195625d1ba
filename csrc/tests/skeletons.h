/* skeletons.h: small protocols of the test library on node kinds that no protocol of the package uses yet: a clean L1
 * that self-invalidates (skel-src), an epoch unit that ticks (skel-epochs), a third level at the memory side
 * (skel-three-levels). They run kernels, are explored, fuzzed and monitored; they model no paper's protocol in full. */
#ifndef GPC_TESTS_SKELETONS_H
#define GPC_TESTS_SKELETONS_H

#include "protocols/baseline/baseline.h"

/* Options of skel-epochs; the defaults are right. */
enum { EP_OPTION_TIMER, EP_OPTION_EPOCHS };

extern const gpc_protocol_t gpc_protocol_skel_src, gpc_protocol_skel_epochs, gpc_protocol_skel_three_levels;

/* ---- skeleton_src.c: the L1 over lines that all three have ------------------------------------------------------- */

#define SKELETON_L1_EVENTS(X)                                                                      \
    BASELINE_L1_EVENTS(X)                                                                          \
    X(L1_LOAD_FRESH, "load of order relaxed or stronger, performed at the L2")                     \
    X(L1_DROP, "self-invalidate: an acquire, an epoch's end, kernel begin")

extern const gpc_table_t skeleton_l1_lines;
extern const gpc_watched_t skeleton_watched;
/* Drops all copies, and what outstanding reads would bring. */
GPC_MUST_CHECK int skeleton_drop(gpc_controller_t *l1);

#endif
