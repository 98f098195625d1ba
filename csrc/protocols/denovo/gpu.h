/* gpu.h: shared by gpu-drf and gpu-hrf: messages, the L1's states, events and actions, the L2.
 *
 * Paper    Sinclair et al., MICRO 2015, sections 3 ("Software Protocols used in GPUs"), 4.2 and 5.3: GPU coherence. The
 *          paper prints no table: every state but I and V is inferred.
 * Sizes    inferred: an 8-byte header, 8 bytes for a word mask, 4 bytes a word; loads receive whole lines (table 2).
 */
#ifndef GPC_PROTOCOLS_DENOVO_GPU_H
#define GPC_PROTOCOLS_DENOVO_GPU_H

#include "controller/toolkit.h"

#define GPU_MESSAGES(X, P)                                                                         \
    X(P, READ, REQ, 0, 16, 0, false, "a load wants the line")                                      \
    X(P, WRITE, WB, 0, 16, 4, false, "write-through of a store-buffer entry")                      \
    X(P, SYNC_READ, ATO, 0, 16, 0, false, "synchronising load, performed at the L2")               \
    X(P, SYNC_WRITE, ATO, 0, 16, 4, false, "synchronising store, performed at the L2")             \
    X(P, ATOMIC, ATO, 0, 16, 0, false, "read-modify-writes with operands, performed at the L2")    \
    X(P, DATA, LD, 1, 8, 0, true, "line to read")                                                  \
    X(P, WRITE_ACK, WB, 1, 8, 0, false, "the write-through is performed")                          \
    X(P, SYNC_DATA, ATO, 1, 8, 4, false, "words of a synchronising load")                          \
    X(P, SYNC_ACK, ATO, 1, 8, 0, false, "the synchronising store is performed")                    \
    X(P, ATOMIC_DATA, ATO, 1, 8, 0, false, "old values of read-modify-writes")
GPC_MESSAGES(GPU, GPU_MESSAGES)

/* Requests of a core to a bank must not pass each other: a load must not pass the core's older write-through or
 * synchronisation. */
#define GPU_NETWORKS                                                                               \
    {                                                                                              \
        {.name = "request", .ordered = true, .requests = true}, {.name = "response"},              \
    }

/* ---- L1: a table over lines, one over store-buffer entries ------------------------------------------------------- */

#define GPU_L1_STATES(X)                                                                           \
    X(L1_I, STABLE, "not present")                                                                 \
    X(L1_V, STABLE, "valid until the next acquire; has the words of the store buffer too")         \
    X(L1_IV, TRANSIENT_CACHE, "read miss outstanding; later loads join")                           \
    X(L1_IVX, TRANSIENT_COHERENCE, "the same, but the line will not be kept: an acquire, or a synchronisation on it, came later")

#define GPU_L1_EVENTS(X)                                                                           \
    X(L1_LOAD, "load of a warp")                                                                   \
    X(L1_LOAD_BUFFERED, "load of a warp, all words in the store buffer")                           \
    X(L1_STORE, "store of a warp")                                                                 \
    X(L1_SYNC, "synchronisation access with global scope, performed at the L2")                    \
    X(L1_SYNC_BUFFERED, "the same, a word in the store buffer")                                    \
    X(L1_ACQUIRE, "acquire part of an access or fence; begin of a kernel")                         \
    X(L1_EVICT, "way chosen for replacement")                                                      \
    X(L1_DATA, "line returned")                                                                    \
    X(L1_SYNC_DONE, "synchronisation access performed")

#define GPU_L1_MSHR(FIELD)                                                                                             \
    FIELD(PLAIN, gpc_mask_t, skip)   /* own words that the line from the L2 does not have */                           \
    FIELD(DATA, gpc_sb_words_t, overlay) /* their values */
GPC_METADATA(gpu_l1, mshr, GPU_L1_MSHR)

#define GPU_L1_LINE(FIELD) /* no metadata beside the tags */
GPC_METADATA(gpu_l1, line, GPU_L1_LINE)

/* One of these events; GPC_NO_EVENT for any other cause. */
gpc_event_id_t gpu_l1_classify(const gpc_step_t *x);

GPC_DECLARE_ACTION(gpu_act_read);
GPC_DECLARE_ACTION(gpu_act_skip);
GPC_DECLARE_ACTION(gpu_act_send_sync);
GPC_DECLARE_ACTION(gpu_act_overlay);
GPC_DECLARE_ACTION(gpu_act_complete_pending);
GPC_DECLARE_ACTION(gpu_act_complete_sync);

/* The table of gpu-drf, the base of gpu-hrf's. */
extern const gpc_table_t gpu_drf_lines;

#define GPU_L1_TYPE(lines)                                                                                             \
    .name = "L1", .position = GPC_AT_CORE, .tables = {&(lines), &gpc_sb_write_through},                                    \
    .arrays = {{.name = "tags", .line = gpu_l1_line_described, .has_data = true}}, .parts = {GPC_SB_WRITTEN_THROUGH(GPU_WRITE, GPU_WRITE_ACK)},                  \
    .mshr = gpu_l1_mshr_described, .unit = gpc_sb_unit_described, .warp = gpc_sb_warp_described,                               \
    .route = gpc_sb_route, .begins = 1u << 0, .ends = 1u << GPC_SB_TABLE

/* ---- the L2, and what both protocols declare --------------------------------------------------------------------- */

extern const gpc_controller_type_t gpu_l2;

/* The cell that the random tester does not enter; tools/cells.py explores programs that do. */
#define GPU_UNCOVERED                                                                                                  \
    {                                                                                                                  \
        .table = "L1", .states = "V", .events = "SYNC_DONE",                                                           \
        .reason = "answers of a bank to a core arrive in order, the synchronisation's before the line's"               \
    }

/* The acquire part: drops every valid line. */
GPC_MUST_CHECK int gpu_acquire(gpc_controller_t *l1, uint16_t warp, uint8_t scope);
extern const gpc_watched_t gpu_watched;
int gpu_host_read(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words);

#define GPU_ORDER                                                                                                      \
    .release = gpc_sb_release, .exit = gpc_sb_exit, .acquire = gpu_acquire, .same_word = true, .keeps_own = true
#define GPU_PROTOCOL                                                                                                   \
    GPC_MESSAGES_OF(GPU), .networks = GPU_NETWORKS, .options = {GPC_SB_OPTIONS}, .check = gpc_sb_check,                \
    .declared = {.weak_outcomes = "SB MP LB",                                                                          \
                 .variations = "sb_drain=eager sb_full=flush,sb_entries=32 sb_entry=line,sb_entries=2",                \
                 .uncovered = {GPU_UNCOVERED}},                                                                        \
    .host_read = gpu_host_read, .watched = &gpu_watched

#endif
