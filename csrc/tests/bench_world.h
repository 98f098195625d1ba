/* bench_world.h: what the ports of controller_bench.h count and record. */
#ifndef GPC_TESTS_BENCH_WORLD_H
#define GPC_TESTS_BENCH_WORLD_H

#include "base/message.h"

typedef struct {
    gpc_cycle_t now, woken_at;
    uint32_t wakes, warp_wakes, schedules, broadcasts, sends, completions, lanes_completed;
    gpc_nodeset_t broadcast_to;
    uint8_t sent_type; /* of the last message */
    uint32_t sent_bytes, sent_flits;
    gpc_mask_t sent_mask;
    uint32_t sent_word[2];
    gpc_mask_t completed_mask, completed_twice;
    bool full;           /* the outbox has no room */
    bool expired;        /* read by prototypes: the lease of every copy is over */
    gpc_address_t noted; /* written by prototypes: the line of the last step that they note */
} bench_world_t;

#endif
