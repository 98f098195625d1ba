/* multicast.c: the copies of a multicast, of which the first that is granted crosses the source's link for all. */
#include <assert.h>

#include "base/errors.h"
#include "fabric/network_parts.h"

void
gpc_network_add_copy(gpc_pool_t *messages, gpc_index_t first, gpc_index_t copy)
{
    gpc_msg_t *head = gpc_msg_at(messages, first), *msg = gpc_msg_at(messages, copy);

    if (!(head->flags & GPC_MSG_FLAG_MULTICAST)) {
        assert(head->lanes == GPC_NONE);
        head->flags |= GPC_MSG_FLAG_MULTICAST;
        head->copies = first;
    }
    msg->flags |= GPC_MSG_FLAG_MULTICAST | GPC_MSG_FLAG_COPY;
    msg->copies = head->copies;
    head->copies = copy;
}

/* The first copy of a multicast crosses its source's link: the others no longer need it. */
static int
note_crossing(gpc_network_t *self, gpc_msg_t *msg, gpc_index_t message, gpc_tick_t now)
{
    gpc_index_t next = msg->copies;
    int status = GPC_OK;

    msg->copies = GPC_NONE;
    while (next != message && status == GPC_OK) {
        gpc_msg_t *copy = gpc_msg_at(self->messages, next);
        gpc_network_route_t route = gpc_network_route_of(self, copy);
        if (self->parts->queues[route.queue].list.head == next) {
            status = gpc_network_schedule_grant(self, route.output, copy->ready > now ? copy->ready : now);
        }
        next = copy->copies;
        copy->copies = GPC_NONE;
    }
    return status;
}

/* Out of line: rare. */
__attribute__((noinline)) int
gpc_network_leave_source(gpc_network_t *self, uint32_t input, gpc_index_t message, gpc_tick_t now, bool *occupies,
                         uint32_t *room)
{
    gpc_msg_t *msg = gpc_msg_at(self->messages, message);
    bool crossed = gpc_network_has_crossed(msg);
    int status = crossed ? GPC_OK : note_crossing(self, msg, message, now);

    *occupies = !crossed;
    *room = msg->flags & GPC_MSG_FLAG_COPY ? 0 : *room;
    msg->flags &= (uint8_t) ~(GPC_MSG_FLAG_MULTICAST | GPC_MSG_FLAG_COPY);
    self->parts->input_states[input].multicasts--;
    return status;
}
