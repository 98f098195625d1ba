/* actions.h: actions for the cells of any protocol. */
#ifndef GPC_CONTROLLER_ACTIONS_H
#define GPC_CONTROLLER_ACTIONS_H

#include "controller/protocol.h"

GPC_DECLARE_ACTION(act_reserve_way); /* first action of a cell; it may hold */
GPC_DECLARE_ACTION(act_release_way);
GPC_DECLARE_ACTION(act_wait);
GPC_DECLARE_ACTION(act_merge);
GPC_DECLARE_ACTION(act_replay);
GPC_DECLARE_ACTION(act_hit);
GPC_DECLARE_ACTION(act_fetch_line);
GPC_DECLARE_ACTION(act_write_back);
GPC_DECLARE_ACTION(act_count_invalidation);

#endif
