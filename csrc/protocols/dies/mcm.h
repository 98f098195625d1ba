/* mcm.h: MCM, whose L2s keep lines of other dies until an acquire, and FLUSH, whose L2s keep what is stored to them
 * too: messages, and what L1s and L2s share.
 *
 * A line's home is the L2 bank of its page's die, which orders what is done to it. For the cores of another die, the
 * bank of the same number there is near: it keeps lines that weak loads have read, and passes everything else on to the
 * home; but under FLUSH it takes weak stores. */
#ifndef GPC_PROTOCOLS_DIES_MCM_H
#define GPC_PROTOCOLS_DIES_MCM_H

#include "controller/toolkit.h"
#include "protocols/baseline/baseline.h"

/* Sizes are inferred, as those of the baselines. What a near bank passes on is answered to the core by the home. */
/* clang-format off */
/*     name         class network bytes word line   */
#define MCM_FIRST_MESSAGES(X, P)                                                                                        \
    BASELINE_MESSAGES(X, P)                                                                                             \
    X(P, GETS_HOME,     REQ, 0,  8, 0, false, "read request that must be read at the line's home")
#define MCM_NEAR_MESSAGES(X, P)                                                                                         \
    X(P, NEAR_GETS,     REQ, 3,  8, 0, false, "a near L2 wants the line")                                               \
    X(P, PASSED_GETS,   REQ, 3,  8, 0, false, "a core's read request, passed on")                                       \
    X(P, PASSED_GETX,   ST,  3, 12, 4, false, "a core's store, passed on")                                              \
    X(P, PASSED_ATOMIC, ATO, 3, 12, 0, false, "a core's atomic, passed on")                                             \
    X(P, NEAR_DATA,     LD,  4,  8, 0, true,  "line for a near L2")
#define MCM_MESSAGES(X, P)                                                                                              \
    MCM_FIRST_MESSAGES(X, P)                                                                                            \
    X(P, DROP,          INV, 2,  8, 0, false, "an acquire: drop the lines of other dies")                               \
    X(P, DROPPED,       INV, 1,  8, 0, false, "they are dropped")                                                       \
    MCM_NEAR_MESSAGES(X, P)
/* clang-format on */
GPC_MESSAGES(MCM, MCM_MESSAGES)
BASELINE_SAME_MESSAGES(MCM);
enum { MCM_PASSED_NEAR = MCM_END }; /* of protocols with GPU homes: a near L2's NEAR_GETS, passed on */

/* clang-format off */
#define FLUSH_MESSAGES(X, P)                                                                                            \
    MCM_MESSAGES(X, P)                                                                                                  \
    X(P, FLUSH,         WB,  2,  8, 0, false, "a release: write the dirty words of other dies' lines back")             \
    X(P, FLUSHED,       WB,  1,  8, 0, false, "they are at their homes")                                                \
    X(P, WORDS,         WB,  3, 12, 4, false, "dirty words of a near L2")                                               \
    X(P, TAKEN,         WB,  4,  8, 0, false, "the home has them")
/* clang-format on */
GPC_MESSAGES(FLUSH, FLUSH_MESSAGES)
GPC_SAME_NUMBER(FLUSH_FLUSH, MCM_END);

#define FLUSH_MESSAGE(FIELD) FIELD(PLAIN, uint32_t, round) /* WORDS, TAKEN: of the near L2's flushes */
GPC_METADATA(flush, message, FLUSH_MESSAGE)

#define MCM_FIVE_NETWORKS                                                                                              \
    {.name = "request", .ordered = true, .requests = true}, {.name = "response", .ordered = true}, {.name = "drop"},   \
        {.name = "between", .ordered = true, .requests = true, .star = true, .rotates = true},                         \
    {                                                                                                                  \
        .name = "back", .star = true                                                                                   \
    }
#define MCM_NETWORKS                                                                                                   \
    {                                                                                                                  \
        MCM_FIVE_NETWORKS                                                                                              \
    }

enum { MCM_TABLE_LINES, MCM_TABLE_UNIT, MCM_TABLE_DIRECTORY };
enum { MCM_DIRECTORY }; /* part: the directory beside an L2 bank, of protocols that have one */

#define MCM_L1_STATES(X) BASELINE_L1_STATES(X)
#define MCM_L2_STATES(X)                                                                                               \
    BASELINE_L2_STATES(X)                                                                                              \
    X(L2_N, STABLE, "near line, readable")                                                                             \
    X(L2_NP, TRANSIENT_CACHE, "near line on its way; later loads merge")                                               \
    X(L2_NX, TRANSIENT_COHERENCE, "near line on its way, which will not be kept")
#define MCM_NEAR_EVENTS(X)                                                                                             \
    BASELINE_L2_EVENTS(X)                                                                                              \
    X(L2_NEAR_LOAD, "weak load of another die's line")                                                                 \
    X(L2_NEAR_OTHER, "other read request, store or atomic to another die's line")                                      \
    X(L2_NEAR_DATA, "another die's line")
#define MCM_L2_EVENTS(X)                                                                                               \
    MCM_NEAR_EVENTS(X)                                                                                                 \
    X(L2_DROP, "a core's acquire, or a kernel begins or ends")
#define FLUSH_L2_STATES(X)                                                                                             \
    MCM_L2_STATES(X)                                                                                                   \
    X(L2_M, STABLE, "near line with dirty words, readable")                                                            \
    X(L2_W, STABLE, "dirty words of a near line, without the others")

extern const gpc_controller_type_t mcm_l1, mcm_l2, flush_l1, flush_l2, cpelide_l1, cpelide_l2, hmg_l1, lrm_l1;

/* ---- GPU homes --------------------------------------------------------------------------------------------------- */

/* Whether each GPU but that of the home has a bank that its near banks ask in place of the home: the protocol
 * distinguishes scopes gpu and sys, and the machine has several GPUs. */
static inline bool
mcm_has_gpu_homes(const gpc_controller_t *unit)
{
    return unit->machine->gpus > 1 && unit->protocol->order.reads_scopes;
}
/* The first die of the unit's GPU, or of all, and their number: those among which a line has a GPU home. */
uint32_t mcm_first_die(const gpc_controller_t *unit, uint32_t *dies);
/* The bank of the number that the line's home has, in the die. */
gpc_node_t mcm_bank_in(const gpc_controller_t *unit, uint32_t die);
/* The line's home, or its GPU home where this is in another GPU. */
gpc_node_t mcm_gpu_home(const gpc_controller_t *unit, gpc_address_t line);

/* L2: the lines of MCM, and the acquires of its die (mcm_l2.c). */
extern const gpc_table_t mcm_l2_lines, mcm_l2_acquires;
gpc_event_id_t mcm_l2_classify(const gpc_step_t *x);
uint8_t mcm_l2_route(const gpc_controller_t *unit, const gpc_msg_t *msg);
/* Entries of a bank: `given`, or its share of `a_die`. */
uint32_t mcm_bank_entries(const gpc_machine_t *machine, int64_t given, uint32_t a_die);
/* Whether a near line may wait for its home: it leaves an MSHR and a way of the set to lines of this die, for which
 * another die's near lines may wait. */
bool mcm_may_wait(const gpc_step_t *x);
/* Whether x is a request about another die's line, and whether a read that the near bank may answer: under protocols
 * with GPU homes also one of order relaxed or stronger, at the GPU home, unless its scope is sys. */
bool mcm_is_near(const gpc_step_t *x);
bool mcm_is_near_read(const gpc_step_t *x);
/* Answers a read request from the line at its home. */
GPC_MUST_CHECK int mcm_answer(gpc_step_t *x, gpc_index_t to, uint8_t type);
/* The directory's entry of the key as the youngest one; if there is none, a new one in the first state, for which the
 * oldest takes an EVICT where there is no room. */
gpc_index_t mcm_youngest(gpc_controller_t *unit, gpc_address_t key, int *status);
GPC_DECLARE_ACTION(mcm_act_answer_line);
GPC_DECLARE_ACTION(mcm_act_answer_lines);
GPC_DECLARE_ACTION(mcm_act_store);
GPC_DECLARE_ACTION(mcm_act_atomic);
GPC_DECLARE_ACTION(mcm_act_near_get);
GPC_DECLARE_ACTION(mcm_act_take_line);
GPC_DECLARE_ACTION(mcm_act_pass_line);
GPC_DECLARE_ACTION(mcm_act_pass);

/* L1: requests to the bank of the core's die, which has the line or is near it; its die, of which lines banks are near
 * (mcm_l1.c). */
GPC_DECLARE_ACTION(mcm_act_read);
GPC_DECLARE_ACTION(mcm_act_read_home);
GPC_DECLARE_ACTION(mcm_act_send_store);
GPC_DECLARE_ACTION(mcm_act_send_atomic);
uint32_t mcm_role(const gpc_controller_t *unit);

/* L1 of CPElide: before a launch, drops what is not dirty in the near lines of its die, then writes the rest back
 * (mcm_l1.c). The dirty words of a near line (flush_l2.c). */
GPC_MUST_CHECK int cpelide_l1_cross(gpc_controller_t *l1, bool drops, bool flushes);
gpc_mask_t flush_dirty_words(const gpc_controller_t *bank, gpc_index_t way);

/* L1: the parts of an acquire and a release, and what waits for them (mcm_l1.c). */
GPC_MUST_CHECK int mcm_acquire(gpc_controller_t *l1, uint16_t warp, uint8_t scope);
GPC_MUST_CHECK int mcm_before(gpc_controller_t *l1, uint16_t warp, const gpc_access_t *access, gpc_cycle_t *until);
GPC_MUST_CHECK int mcm_barrier(gpc_controller_t *l1, uint16_t warp, gpc_cycle_t *until);
GPC_MUST_CHECK int mcm_drop_l1(gpc_controller_t *l1, uint16_t warp, uint8_t scope); /* an acquire that drops the L1 */
GPC_MUST_CHECK int flush_release(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until);
GPC_MUST_CHECK int lrm_before(gpc_controller_t *l1, uint16_t warp, const gpc_access_t *access, gpc_cycle_t *until);
GPC_MUST_CHECK int lrm_acquire(gpc_controller_t *l1, uint16_t warp, uint8_t scope);

#endif
