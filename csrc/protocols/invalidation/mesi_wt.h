/* mesi_wt.h: shared by MESI-WT's L1 and L2: messages. mesi_wt.c describes the protocol. */
#ifndef GPC_PROTOCOLS_INVALIDATION_MESI_WT_H
#define GPC_PROTOCOLS_INVALIDATION_MESI_WT_H

#include "protocols/invalidation/gpu_vi.h"

#define MWT_MESSAGES(X, P)                                                                                        \
    VI_MESSAGES(X, P)                                                                                             \
    X(P, UNBLOCK, REQ, 4, 8, 0, false, "the writer has the answer, and no merged writes")                         \
    X(P, UNBLOCK_WORDS, ST, 3, 12, 4, false, "as UNBLOCK, with the words of the merged writes: mask, words")      \
    X(P, DATA_E, LD, 1, 8, 0, true, "line to read, exclusive (exclusive=on)")                                     \
    X(P, DOWNGRADE, REQ, 2, 8, 0, false, "another L1 reads: share the line, and acknowledge (exclusive=on)")      \
    X(P, DOWNGRADE_ACK, REQ, 3, 8, 0, false, "line shared; follows the owner's writes (exclusive=on)")            \
    X(P, WRITE_BEHIND, ST, 3, 12, 4, false, "write that the owner has performed: mask, words (exclusive=on)")     \
    X(P, BEHIND_ACK, ST, 1, 8, 0, false, "owner's write is in the L2 (exclusive=on)")

GPC_MESSAGES(MWT, MWT_MESSAGES)

enum { MWT_OPTION_EXCLUSIVE, MWT_OPTION_BYTES, MWT_OPTION_MSHR };
enum { MWT_EXCLUSIVE_OFF, MWT_EXCLUSIVE_ON };
enum { MWT_MSHR_MERGE, MWT_MSHR_STORES, MWT_MSHR_STALL };

extern const gpc_controller_type_t mwt_l1;

/* The last six are those of exclusive=on only. */
#define MWT_L1_STATES(X)                                                                              \
    X(L1_I, STABLE, "not present")                                                                    \
    X(L1_S, STABLE, "present, readable; other copies may exist")                                      \
    X(L1_IS, TRANSIENT_CACHE, "read miss outstanding; later loads merge")                             \
    X(L1_IS_I, TRANSIENT_CACHE, "read miss outstanding; its line will be used once")                  \
    X(L1_II, TRANSIENT_CACHE, "write outstanding; no copy")                                           \
    X(L1_SM, TRANSIENT_COHERENCE, "write outstanding; the copy will take it")                         \
    X(L1_E, STABLE, "only copy, never written")                                                       \
    X(L1_M, STABLE, "only copy, written; the L2 has the writes")                                      \
    X(L1_MM, TRANSIENT_COHERENCE, "only copy; its write to the L2 is in flight")                     \
    X(L1_MM_S, TRANSIENT_COHERENCE, "shared copy; its write to the L2 is in flight")                 \
    X(L1_MM_I, TRANSIENT_COHERENCE, "no copy; its write to the L2 is in flight")                     \
    X(L1_IS_S, TRANSIENT_COHERENCE, "read miss outstanding; its line will be shared")

#endif
