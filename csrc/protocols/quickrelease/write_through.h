/* write_through.h: shared by wt and no-l1[l2=through]: messages, the L2 that writes through, the null directory with
 * its L3.
 *
 * Paper    Hechtman et al., HPCA 2014, sections 2.4.1 and 4.1: writes go through to memory by a stateless directory,
 *          whose 4-MB L3 they do not write; a release waits until they are visible there. The paper prints no table:
 *          every cell is inferred.
 * Sizes    inferred: an 8-byte header, 8 bytes for a byte mask, the dirty bytes, 64-byte lines.
 */
#ifndef GPC_PROTOCOLS_QUICKRELEASE_WRITE_THROUGH_H
#define GPC_PROTOCOLS_QUICKRELEASE_WRITE_THROUGH_H

#include "protocols/baseline/baseline.h"
#include "protocols/quickrelease/memory_side.h"

/* The first seven have the numbers of no-l1's, whose core's side sends and takes them. */
#define WT_MESSAGES(X, P)                                                                                              \
    X(P, GETS, REQ, 0, 8, 0, false, "read request for a line")                                                         \
    X(P, GETX, ST, 0, 16, 4, false, "write-through store: byte mask and words")                                        \
    X(P, ATOMIC, ATO, 0, 16, 0, false, "atomic read-modify-writes with operands, performed at the directory")          \
    X(P, DATA, LD, 1, 8, 0, true, "line to read")                                                                      \
    X(P, ACK, ST, 1, 8, 0, false, "the store is in memory")                                                            \
    X(P, ATOMIC_DATA, ATO, 1, 8, 0, false, "old values of atomics; no line is cached")                                 \
    X(P, SECTORS, LD, 1, 8, 4, false, "sectors to read; no line is cached")                                            \
    X(P, GET_SECTORS, REQ, 0, 8, 0, false, "read request for the sectors with the words of a load")                    \
    X(P, READ, REQ, 2, 8, 0, false, "the L2 wants the line")                                                           \
    X(P, WRITE, ST, 2, 16, 4, false, "words of a store to memory")                                        \
    X(P, ATOMIC_UP, ATO, 2, 16, 0, false, "atomics to the directory")                                     \
    X(P, LINE, LD, 3, 8, 0, true, "the line, from L3 or memory")                                                       \
    X(P, WRITTEN, ST, 3, 8, 0, false, "memory's queue has the words")                                                  \
    X(P, OLD_VALUES, ATO, 3, 8, 0, false, "old values of atomics")
GPC_MESSAGES(WT, WT_MESSAGES)
BASELINE_SAME_MESSAGES(WT);

/* sent while the L2 keeps nothing of the line: answered on its own */
#define WT_MESSAGE(FIELD) FIELD(PLAIN, uint64_t, apart)
GPC_METADATA(wt, message, WT_MESSAGE)

typedef struct {
    uint32_t word[GPC_MAX_LINE_WORDS];
} wt_words_t;

/* All channels are FIFO: a read must not pass the writes before it, nor an acknowledgement the data before it. */
#define WT_NETWORKS                                                                                                    \
    {                                                                                                                  \
        {.name = "request", .ordered = true, .requests = true}, {.name = "response", .ordered = true},                 \
            {.name = "up", .ordered = true, .requests = true, .star = true},                                           \
            {.name = "down", .ordered = true, .star = true},                                                           \
    }

extern const gpc_controller_type_t wt_l2, wt_l3;

/* A write drops the copies of L3 and L2 (the directory's probe); L1 copies are stale until the next kernel begins. */
int wt_host_write(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words);

#endif
