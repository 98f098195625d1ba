/* world_settle.c: messages that a protocol declares to commute arrive at once: other moments would only multiply
 * states. */
#include "check/explore/world.h"
#include "controller/controller.h"

/* Of a channel: its first messages, or if it is unordered all of them. */
static int
settle_channel(gpc_world_t *self, gpc_list_t *channel, bool ordered)
{
    gpc_index_t previous = GPC_NONE, i = channel->head;
    int status = GPC_OK;

    for (uint32_t left = channel->count; left && status == GPC_OK; left--) {
        gpc_msg_t *msg = gpc_msg_at(&self->messages, i);
        gpc_controller_t *to = &self->controllers[msg->destination];
        gpc_index_t next = msg->next;
        if (self->protocol->explored.commutes(to, msg)) {
            gpc_list_remove_after(channel, &self->messages, previous, i);
            msg->next = GPC_NONE;
            status = gpc_controller_take(to, i);
        } else if (ordered) {
            return GPC_OK;
        } else {
            previous = i;
        }
        i = next;
    }
    return status;
}

int
gpc_world_settle(gpc_world_t *self)
{
    bool settles = self->protocol->explored.commutes && !self->what->every_order;
    uint32_t channels = settles ? self->nodes.count * self->nodes.count * self->num_networks : 0;
    int status = GPC_OK;
    for (uint32_t i = 0; i < channels && status == GPC_OK; i++) {
        if (self->channels[i].count) {
            status = settle_channel(self, &self->channels[i], self->protocol->networks[i % self->num_networks].ordered);
        }
    }
    return status;
}
