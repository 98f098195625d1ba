/* world_subset.c: the nodes whose moves suffice in a state, for protocols whose controllers affect each other by
 * messages alone.
 *
 * A node's next step depends on its own state and on the heads of the ordered channels to it. A set of nodes is closed
 * if every channel from outside to a member has a message: what others do meanwhile comes behind it. Their moves then
 * commute with the members' moves, and are explored after these (a weak stubborn set: Valmari, 1991). An eviction of
 * others may use up the evictions that remain, but then no member's eviction follows it. The explorer expands a state
 * completely where no member's move, but for evictions, leads to a state that it has not expanded yet, so that no
 * node's moves are put off for ever.
 *
 * States at rest, and what they can be reached from, are those of the whole exploration; so is every step of a node,
 * with its state and the message that it takes. An invariant over several nodes is checked in the states that are
 * visited. */
#include "check/explore/world.h"

static bool
has_thread(const gpc_world_t *self, uint32_t core)
{
    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        if (self->what->threads[t].core == core) {
            return true;
        }
    }
    return false;
}

static bool
has_kernels(const gpc_world_t *self)
{
    for (uint32_t t = 0; t < self->what->num_threads; t++) {
        for (uint32_t i = 0; i < self->what->threads[t].num_ops; i++) {
            if (gpc_explore_ends_launch(self->what->threads[t].ops[i].kind)) {
                return true;
            }
        }
    }
    return false;
}

/* A launch's end at a core that its own threads end is a step of the core. */
static bool
ends_by_itself(const gpc_world_t *self, const gpc_controller_t *unit)
{
    return !unit->type->ends || (unit->type->position == GPC_AT_CORE && has_thread(self, unit->index));
}

static void
note_channels(gpc_world_t *self, uint32_t source, uint32_t destination)
{
    const gpc_protocol_t *protocol = self->protocol;
    uint32_t networks = protocol->explored.carries(self->options, self->controllers[source].type->position,
                                                   self->controllers[destination].type->position);
    for (uint32_t network = 0; network < self->num_networks; network++) {
        bool carries = source != destination && (networks >> network & 1);
        self->carries[source][destination] |= (uint8_t) (carries << network);
        self->unordered[source][destination] |= carries && !protocol->networks[network].ordered;
    }
}

void
gpc_world_note_channels(gpc_world_t *self)
{
    self->has_subsets = self->protocol->explored.carries && !self->protocol->explored.commutes && !self->has_times &&
                        !self->what->every_order && !has_kernels(self);
    for (uint32_t node = 0; node < self->nodes.count && self->has_subsets; node++) {
        self->has_subsets = ends_by_itself(self, &self->controllers[node]) && !self->controllers[node].type->outbox;
    }
    for (uint32_t source = 0; source < self->nodes.count && self->has_subsets; source++) {
        for (uint32_t destination = 0; destination < self->nodes.count; destination++) {
            note_channels(self, source, destination);
        }
    }
}

/* Whether the next message from the source to the destination, on some network, may be one that is not sent yet. */
static bool
may_send_next(const gpc_world_t *self, uint32_t source, uint32_t destination)
{
    const gpc_list_t *channel = gpc_world_channel(self, source, destination, 0);

    for (uint32_t network = 0; network < self->num_networks; network++) {
        if ((self->carries[source][destination] >> network & 1) && !channel[network].count) {
            return true;
        }
    }
    return self->unordered[source][destination];
}

/* The smallest closed set that the node belongs to. */
static uint32_t
closure(const gpc_world_t *self, uint32_t node)
{
    uint32_t members = 1u << node, checked = 0;

    while (members != checked) {
        uint32_t destination = (uint32_t) __builtin_ctz(members & ~checked);
        checked |= 1u << destination;
        for (uint32_t source = 0; source < self->nodes.count; source++) {
            members |= may_send_next(self, source, destination) ? 1u << source : 0;
        }
    }
    return members;
}

uint32_t
gpc_world_subset(const gpc_world_t *self)
{
    uint32_t all = gpc_world_all_nodes(self), fewest = all;

    if (!self->has_subsets || self->state->timers.count || self->state->background.count) {
        return all;
    }
    for (uint32_t node = self->nodes.count; node-- > 0;) {
        uint32_t members = closure(self, node);
        bool fewer = __builtin_popcount(members) < __builtin_popcount(fewest);
        fewest = fewer ? members : fewest;
    }
    return fewest;
}

bool
gpc_world_is_move_of(const gpc_world_t *self, const gpc_move_t *move, uint32_t nodes)
{
    gpc_index_t answer = self->state->answers.head;

    switch ((gpc_move_kind_t) move->kind) {
        case GPC_MOVE_ISSUE:
            return nodes >> self->what->threads[move->a].core & 1;
        case GPC_MOVE_DELIVER:
            return nodes >> move->b & 1;
        case GPC_MOVE_MEMORY:
            for (uint32_t n = move->position; n; n--) {
                answer = gpc_msg_at(&self->messages, answer)->next;
            }
            return nodes >> gpc_msg_at(&self->messages, answer)->destination & 1;
        case GPC_MOVE_REPLAY:
        case GPC_MOVE_ENTRY:
        case GPC_MOVE_EVICT:
        case GPC_MOVE_END:
            return nodes >> move->a & 1;
        case GPC_MOVE_KERNEL:
        case GPC_MOVE_TIMER:
        case GPC_MOVE_BACKGROUND:
        case GPC_MOVE_TIME:
            return true;
    }
    return true;
}
