/* deliver.h: an execution of the explorer's world, step by step. */
#ifndef GPC_TESTS_DELIVER_H
#define GPC_TESTS_DELIVER_H

#include "check/explore/world.h"
#include "harness.h"

/* Until nothing is in flight: messages, memory's answers and replays, the first ones first. */
static inline void
deliver_all(gpc_world_t *world)
{
    gpc_moves_t moves = {0};
    while (!gpc_world_quiet(world)) {
        CHECK_EQUAL_I64(gpc_world_moves(world, &moves), GPC_OK);
        for (uint32_t i = 0; i < moves.count; i++) {
            uint8_t kind = moves.list[i].kind;
            if (kind == GPC_MOVE_DELIVER || kind == GPC_MOVE_MEMORY || kind == GPC_MOVE_REPLAY) {
                CHECK_EQUAL_I64(gpc_world_move(world, &moves.list[i]), GPC_OK);
                break;
            }
        }
    }
    gpc_moves_free(&moves);
}

#endif
