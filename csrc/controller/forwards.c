/* forwards.c: requests of a network that a core's L1 holds until they can be replayed. */
#include "controller/protocol.h"

gpc_index_t
gpc_controller_first_forward(const gpc_controller_t *self, gpc_index_t *previous)
{
    gpc_index_t i = self->type->position == GPC_AT_CORE ? self->replay->head : GPC_NONE;
    *previous = GPC_NONE;
    for (uint32_t n = self->replay->count; n && i != GPC_NONE; n--) {
        const gpc_msg_t *msg = gpc_msg_at(self->messages, i);
        if (msg->type >= GPC_MSG_OWN) {
            return i;
        }
        *previous = i;
        i = msg->next;
    }
    return GPC_NONE;
}

gpc_index_t
gpc_controller_forward_to_replay(const gpc_controller_t *self)
{
    gpc_index_t previous;
    return gpc_controller_first_forward(self, &previous);
}
