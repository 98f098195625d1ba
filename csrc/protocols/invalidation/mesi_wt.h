/* mesi_wt.h: shared by MESI-WT's L1 and L2: messages. mesi_wt.c describes the protocol. */
#ifndef GPC_PROTOCOLS_INVALIDATION_MESI_WT_H
#define GPC_PROTOCOLS_INVALIDATION_MESI_WT_H

#include "protocols/invalidation/gpu_vi.h"

#define MWT_MESSAGES(X, P)                                                                                        \
    VI_MESSAGES(X, P)                                                                                             \
    X(P, ACK_KEPT, ST, 1, 8, 0, false, "store performed at the L2; the writer updates its copy and unblocks")     \
    X(P, UNBLOCK, REQ, 4, 8, 0, false, "writer has updated its copy, or has none")                                \
    X(P, DATA_E, LD, 1, 8, 0, true, "line to read, exclusive (exclusive=on)")                                     \
    X(P, ACK_OWNED, ST, 1, 8, 0, false, "as ACK_KEPT; the writer's copy is the only one (exclusive=on)")          \
    X(P, DOWNGRADE, REQ, 2, 8, 0, false, "another L1 reads: share the line, and acknowledge (exclusive=on)")      \
    X(P, DOWNGRADE_ACK, REQ, 3, 8, 0, false, "line shared; follows the owner's stores (exclusive=on)")            \
    X(P, WRITE_BEHIND, ST, 3, 12, 4, false, "store that the owner has performed: mask, words (exclusive=on)")     \
    X(P, BEHIND_ACK, ST, 1, 8, 0, false, "owner's store written to the L2 (exclusive=on)")

GPC_MESSAGES(MWT, MWT_MESSAGES)

enum { MWT_OPTION_EXCLUSIVE, MWT_OPTION_BYTES };
enum { MWT_EXCLUSIVE_OFF, MWT_EXCLUSIVE_ON };

extern const gpc_controller_type_t mwt_l1;

/* The last four are those of exclusive=on only. */
#define MWT_L1_STATES(X)                                                                              \
    X(L1_I, STABLE, "not present")                                                                \
    X(L1_S, STABLE, "present, readable; other copies may exist")                                  \
    X(L1_IS, TRANSIENT_CACHE, "read miss outstanding; later loads merge")                         \
    X(L1_II, TRANSIENT_CACHE, "requests outstanding; no copy is readable or will be kept")        \
    X(L1_SM, TRANSIENT_COHERENCE, "present, readable; own stores outstanding")                    \
    X(L1_E, STABLE, "only copy, never written")                                                   \
    X(L1_M, STABLE, "only copy, written; the L2 has the writes")                                  \
    X(L1_MM, TRANSIENT_COHERENCE, "only copy, written; writes on their way to the L2")            \
    X(L1_IS_S, TRANSIENT_COHERENCE, "read miss outstanding; its line will be shared")

#endif
