/* world_settle.c: messages that no state of their receiver minds (an acknowledgement that only confirms) arrive at once: another moment
 * makes no difference to any other move, and would multiply states. */
#include "check/world.h"
#include "controller/controller.h"

/* Whether every state takes the event and does nothing. */
static bool
is_ignored(const gpc_table_t *table, gpc_event_id_t event)
{
    for (uint8_t state = 0; state < table->num_states; state++) {
        const gpc_cell_t *cell = gpc_fsm_cell(table, state, event);
        bool unreachable = cell->kind == GPC_CELL_IMPOSSIBLE;
        if (!unreachable && (cell->kind != GPC_CELL_GO || cell->next != state || cell->actions[0])) {
            return false;
        }
    }
    return true;
}

static bool
ignores(const gpc_controller_type_t *type, uint8_t cause)
{
    bool any = false;
    for (uint32_t t = 0; t < GPC_MAX_TABLES && type->tables[t]; t++) {
        uint8_t declared = type->tables[t]->causes[cause];
        if (declared && (type->tables[t]->object != GPC_OVER_UNIT || !is_ignored(type->tables[t], declared - 1))) {
            return false;
        }
        any |= declared != 0;
    }
    return any;
}

static uint64_t
ignored_by(const gpc_world_t *self, const gpc_controller_type_t *type)
{
    uint64_t ignored = 0;
    for (uint32_t i = 0; i < self->protocol->num_messages; i++) {
        ignored |= (uint64_t) ignores(type, (uint8_t) (GPC_MSG_OWN + i)) << i;
    }
    return ignored;
}

void
gpc_world_find_ignored(gpc_world_t *self)
{
    for (uint32_t node = 0; node < self->nodes.count; node++) {
        self->ignored[node] = ignored_by(self, self->controllers[node].type);
        self->ignores |= self->ignored[node] != 0;
    }
}

/* Of a channel: its first messages, or if it is unordered all of them. */
static int
settle_channel(gpc_world_t *self, gpc_list_t *channel, bool ordered)
{
    gpc_index_t previous = GPC_NONE, i = channel->head;

    for (uint32_t left = channel->count; left; left--) {
        gpc_msg_t *msg = gpc_msg_at(&self->messages, i);
        gpc_index_t next = msg->next;
        if (self->ignored[msg->destination] >> (msg->type - GPC_MSG_OWN) & 1) {
            gpc_list_remove_after(channel, &self->messages, previous, i);
            msg->next = GPC_NONE;
            int status = gpc_controller_take(&self->controllers[msg->destination], i);
            if (status) {
                return status;
            }
        } else if (ordered) {
            return GPC_OK;
        } else {
            previous = i;
        }
        i = next;
    }
    return GPC_OK;
}

int
gpc_world_settle(gpc_world_t *self)
{
    uint32_t channels = self->ignores ? self->nodes.count * self->nodes.count * self->num_networks : 0;
    int status = GPC_OK;
    for (uint32_t i = 0; i < channels && status == GPC_OK; i++) {
        if (self->channels[i].count) {
            status = settle_channel(self, &self->channels[i], self->protocol->networks[i % self->num_networks].ordered);
        }
    }
    return status;
}
