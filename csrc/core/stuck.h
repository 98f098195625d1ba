/* stuck.h: progress of a launch, and reports about a launch without progress. */
#ifndef GPC_CORE_STUCK_H
#define GPC_CORE_STUCK_H

#include "core/core.h"

#define GPC_POLLS 4u /* words per warp */

/* A word that a warp reads again and again. */
typedef struct {
    gpc_address_t word; /* of a narrow element: its first byte */
    uint32_t pc;
    uint32_t value; /* read last */
    uint32_t count; /* 0: free */
} gpc_poll_t;

/* What a report needs beside the cores. */
typedef struct {
    gpc_poll_t *polls;                                    /* [cores][warps_per_core][GPC_POLLS] */
    uint32_t (*word)(void *world, gpc_address_t address); /* the coherent value */
    void *world;
} gpc_stuck_t;

/* The L1 has completed a load or atomic of a core. words: of the line, for a load. */
void gpc_cores_note_poll(const gpc_cores_t *self, gpc_poll_t *polls, uint32_t core, const gpc_msg_t *msg,
                         const uint32_t *words);
/* Whether the n-th lane of a complete atomic has changed its word. */
bool gpc_atomic_changes(const gpc_lane_list_t *list, uint32_t n);

/* A number that grows with each warp that ends. */
uint64_t gpc_cores_progress_mark(const gpc_cores_t *self);
/* A checksum of the scratchpads; 0 if the kernel uses none. */
uint64_t gpc_cores_scratchpad_sum(const gpc_cores_t *self);
/* Whether a warp sleeps until the cycle or longer. */
bool gpc_cores_sleep_until(const gpc_cores_t *self, gpc_cycle_t cycle);

/* The number of registers of a warp of each kernel, and the mark of each that decides its further course when it is at
 * a barrier in a loop: an instruction of the loop reads it, and not only to compute registers without a mark. A counter
 * that nothing reads has none. */
uint32_t gpc_cores_registers(const gpc_cores_t *self);
void gpc_cores_mark_deciding(const gpc_cores_t *self, uint8_t *marks);
/* A checksum of a warp's registers with a mark and of its lanes; *pc: of its next instruction. */
uint64_t gpc_cores_register_sum(const gpc_cores_t *self, uint32_t core, uint32_t warp, const uint8_t *marks,
                                uint32_t *pc);

/* The cycle of the core's next event; GPC_NEVER: none is scheduled. */
gpc_cycle_t gpc_cores_next_cycle(const gpc_cores_t *self, uint32_t core);
/* What the core has to do although its next event comes too late or never, or NULL. now: the first cycle that has not
 * begun. */
const char *gpc_cores_forgotten_work(const gpc_cores_t *self, uint32_t core, gpc_cycle_t now);
/* Whether the core offers nothing to its L1 before gpc_cores_retry; *message: the request that it will offer, or
 * GPC_NONE. */
bool gpc_cores_is_held(const gpc_cores_t *self, uint32_t core, gpc_index_t *message);

/* Adds what the resident warps do, in groups: the polled words with their last writers, the barriers. */
void gpc_cores_explain_stuck(const gpc_cores_t *self, const gpc_stuck_t *stuck, gpc_text_t *out);
/* Adds "; 24 of 40 blocks have not started: ..." if there are such blocks. */
void gpc_cores_explain_blocks(const gpc_cores_t *self, gpc_text_t *out);

#endif
