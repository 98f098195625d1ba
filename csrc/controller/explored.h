/* explored.h: what a protocol declares for the explorer (check/explore/); a run on the machine does not read it. */
#ifndef GPC_CONTROLLER_EXPLORED_H
#define GPC_CONTROLLER_EXPLORED_H

#include "base/message.h"
#include "controller/position.h"

typedef struct gpc_controller gpc_controller_t;

typedef struct {
    /* Whether an answer in flight serves a load of its line and core, if that depends on when the load issued; NULL: it
     * does not. The explorer, whose states have no times of issue, distinguishes states by it. */
    bool (*serves)(const gpc_msg_t *answer, const gpc_msg_t *load);
    /* Whether a message in flight commutes: no other step changes what it does, or notices when it arrives. The
     * explorer, whose states it would multiply, then lets it arrive at once. NULL: none. */
    bool (*commutes)(const gpc_controller_t *to, const gpc_msg_t *msg);
    /* The networks, a bit each, on which a controller at `from` sends to one at `to`. Declared by protocols whose
     * controllers affect each other by messages alone, without `instant`, `visit` and times: of the orders of moves at
     * different nodes the explorer then visits as few as it needs. NULL: not declared. */
    uint32_t (*carries)(const int64_t *options, gpc_position_t from, gpc_position_t to);
    /* Lines meet in a part of their bank (a FIFO): the explorer has one bank for all of them. */
    bool one_bank;
    uint32_t dies; /* of the explorer's machine, of which each has an equal share of cores and lines; 0: one */
    uint32_t gpus; /* of it, of which each has an equal share of dies; 0: one */
} gpc_explored_t;

#endif
