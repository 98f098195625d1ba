/* profile_caches.c: the counts of controllers and their flits, by the instruction that causes them and by buffer. */
#include "check/profile/profile_parts.h"

static uint64_t /* below GPC_PROFILE_ASKED */
hash_of(const gpc_profile_t *self, gpc_address_t line, gpc_node_t node)
{
    return (line / self->about.cores->machine->line_bytes * 64 + node) * UINT64_C(0x9E3779B97F4A7C15) >> 48;
}

static gpc_asked_t *
asked_at(const gpc_profile_t *self, gpc_address_t line, gpc_node_t node)
{
    return &self->asked[hash_of(self, line, node)];
}

/* The last instruction of the node's core, or of any (UINT16_MAX), that accessed the line in this launch. */
static uint32_t
last_asked(const gpc_profile_t *self, gpc_address_t line, gpc_node_t node)
{
    const gpc_asked_t *asked = asked_at(self, line, node);
    bool found = asked->line == line && asked->node == node && asked->launch == self->launches;
    return found ? asked->pc : self->program->count;
}

static uint32_t
pc_of_request(const gpc_profile_t *self, uint32_t core, const gpc_msg_t *request)
{
    gpc_index_t access = gpc_cores_access_of(self->about.cores, core, request);
    return self->accesses[(size_t) core * self->about.cores->machine->requests_per_core + access];
}

static uint32_t
slot_of(const gpc_profile_t *self, gpc_address_t line)
{
    gpc_address_t last = line + self->about.cores->machine->line_bytes - 1;
    for (uint32_t i = 0; line != GPC_NEVER && i < self->program->num_buffers; i++) {
        const gpc_buffer_t *buffer = &self->program->ranges[i];
        if (last >= buffer->address && line < buffer->address + 4 * gpc_buffer_words(buffer)) {
            return i;
        }
    }
    return self->program->num_buffers;
}

void
gpc_profile_offered(gpc_profile_t *self, const gpc_observation_t *event)
{
    const gpc_msg_t *msg = event->offered.msg;
    uint32_t core = event->offered.core, pc = pc_of_request(self, core, msg);
    *asked_at(self, msg->line, (gpc_node_t) core) = (gpc_asked_t){msg->line, (gpc_node_t) core, self->launches, pc};
    *asked_at(self, msg->line, UINT16_MAX) = (gpc_asked_t){msg->line, UINT16_MAX, self->launches, pc};
    if (pc < self->program->count && (self->program->code[pc].flags & GPC_FLAG_FLAT) != 0) {
        self->program->places[pc].slot = slot_of(self, msg->line);
    }
}

/* Whether it is still the request as the core has offered it. */
static bool
is_of_core(const gpc_msg_t *msg)
{
    return msg->type <= GPC_MSG_ATOMIC && msg->access != GPC_NONE;
}

/* Charges the counts that the controller has added since the last time. */
static void
charge_counts(gpc_profile_t *self, const gpc_controller_t *unit, uint32_t pc, uint32_t slot)
{
    uint32_t position = gpc_nodes_kind(self->about.nodes, unit->node)->position;
    uint64_t *caused = self->program->places[pc].caused.counts[position];
    uint64_t *concerned = self->program->slots[slot].counts[position];
    gpc_controller_statistics_t *before = &self->before[unit->node];
#define X(name, text)                                                                                                  \
    caused[GPC_COUNT_##name] += unit->statistics->name - before->name;                                                 \
    concerned[GPC_COUNT_##name] += unit->statistics->name - before->name;
    GPC_CONTROLLER_STATISTICS(X)
#undef X
    *before = *unit->statistics;
}

/* The instruction that a message serves, else the last one that accessed the line. */
static uint32_t
pc_of_message(const gpc_profile_t *self, const gpc_msg_t *msg, gpc_address_t line)
{
    uint32_t pc = self->program->count;
    if (msg && msg->requester < self->about.cores->machine->cores) {
        pc = last_asked(self, msg->line, msg->requester);
    }
    return pc < self->program->count ? pc : last_asked(self, line, UINT16_MAX);
}

/* Parts of a request that a step has split are charged once. */
static void
charge_stay(gpc_profile_t *self, const gpc_step_t *x, gpc_profiled_step_t *step)
{
    const gpc_msg_t *msg = x->msg;
    gpc_cycle_t now = gpc_profile_now(self), since = msg->ready / self->about.period;
    gpc_stay_t *stay = &self->stays[x->message], new = {msg->line, msg->ready, now};
    if (stay->line == new.line && stay->ready == new.ready) {
        since = stay->until;
    }
    *stay = new;
    bool part = step->charged.line == new.line && step->charged.ready == new.ready && step->charged.until == now;
    if (part || since >= now) {
        return;
    }
    step->charged = new;
    self->program->places[step->pc].caused.bank_cycles += now - since;
    self->program->slots[slot_of(self, msg->line)].bank_cycles += now - since;
}

/* A controller counts a request after its step: such counts belong to the step before. */
void
gpc_profile_cell(gpc_profile_t *self, const gpc_step_t *x)
{
    if (!self->program) {
        return;
    }
    gpc_profiled_step_t *step = &self->steps[x->unit->node];
    charge_counts(self, x->unit, step->pc, slot_of(self, step->line));
    bool of_core = gpc_has_message(x) && is_of_core(x->msg);
    step->line = x->line;
    step->pc = of_core ? pc_of_request(self, x->unit->index, x->msg)
                       : pc_of_message(self, gpc_has_message(x) ? x->msg : NULL, x->line);
    bool at_bank = gpc_nodes_kind(self->about.nodes, x->unit->node)->position == GPC_AT_BANK;
    if (at_bank && gpc_has_message(x) && gpc_is_request(x->unit, x->msg)) {
        charge_stay(self, x, step);
    }
}

/* The last cell may have been of another line, the victim of this one. */
void
gpc_profile_stepped(gpc_profile_t *self, const gpc_controller_t *unit, gpc_address_t line)
{
    if (!self->program) {
        return;
    }
    gpc_profiled_step_t *step = &self->steps[unit->node];
    if (line != step->line) {
        *step = (gpc_profiled_step_t){line, last_asked(self, line, UINT16_MAX), step->charged};
    }
    charge_counts(self, unit, step->pc, slot_of(self, line));
}

void
gpc_profile_sweep(gpc_profile_t *self)
{
    for (uint32_t i = 0; self->program && i < self->about.nodes->count; i++) {
        charge_counts(self, &self->about.controllers[i], self->steps[i].pc, slot_of(self, self->steps[i].line));
    }
}

/* The flash adds them to the controller's count afterwards. It is charged to what its core has selected: the acquire,
 * or what waits for it. */
void
gpc_profile_dropped(gpc_profile_t *self, const gpc_observation_t *event)
{
    const gpc_controller_t *unit = event->dropped.unit;
    if (!self->program) {
        return;
    }
    uint32_t position = gpc_nodes_kind(self->about.nodes, unit->node)->position, copies = event->dropped.copies;
    uint32_t pc = position == GPC_AT_CORE ? self->selected[unit->index] : self->program->count;
    uint32_t slot = slot_of(self, event->dropped.line);
    self->program->places[pc].caused.counts[position][GPC_COUNT_self_invalidations] += copies;
    self->program->slots[slot].counts[position][GPC_COUNT_self_invalidations] += copies;
    self->before[unit->node].self_invalidations += copies;
}

void
gpc_profile_written(gpc_profile_t *self, const gpc_msg_t *msg)
{
    if (!self->program || msg->requester >= self->about.cores->machine->cores) {
        return;
    }
    gpc_written_t *written = &self->written[hash_of(self, msg->line, UINT16_MAX)];
    if (written->line == msg->line && written->core != msg->requester) {
        uint32_t pc = is_of_core(msg) ? pc_of_request(self, msg->requester, msg) : pc_of_message(self, msg, msg->line);
        self->program->places[pc].caused.owner_changes++;
        self->program->slots[slot_of(self, msg->line)].owner_changes++;
    }
    *written = (gpc_written_t){msg->line, msg->requester};
}

/* A request for a line to a bank, on several dies. That of a near L2 is its die's. */
static void
count_request(gpc_profile_t *self, const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    const gpc_nodes_t *nodes = self->about.nodes;
    uint32_t die = gpc_die_of(nodes, unit->node), slot = slot_of(self, msg->line);
    gpc_position_t from = gpc_nodes_kind(nodes, unit->node)->position;
    gpc_position_t to = gpc_nodes_kind(nodes, msg->destination)->position;
    if (from > GPC_AT_BANK || to != GPC_AT_BANK || msg->line == GPC_NEVER || !gpc_is_request(unit, msg)) {
        return;
    }
    bool of_core = from == GPC_AT_CORE;
    const gpc_die_requests_t more = {.requests = of_core,
                                     .remote_requests = of_core && gpc_home_die(&unit->homes, msg->line) != die,
                                     .link_requests = gpc_die_of(nodes, msg->destination) != die};
    gpc_traffic_counts_t *const charged[] = {&self->program->places[pc_of_message(self, msg, msg->line)].caused,
                                             &self->program->slots[slot]};
    for (uint32_t i = 0; i < 2; i++) {
        charged[i]->requests += more.requests;
        charged[i]->remote_requests += more.remote_requests;
        charged[i]->link_requests += more.link_requests;
    }
    gpc_die_requests_t *of_die = &self->program->by_die[slot * gpc_profile_dies(self) + die];
    of_die->requests += more.requests;
    of_die->remote_requests += more.remote_requests;
    of_die->link_requests += more.link_requests;
}

void
gpc_profile_crossed(gpc_profile_t *self, const gpc_msg_t *msg)
{
    if (self->program) {
        self->program->places[pc_of_message(self, msg, msg->line)].caused.link_bytes += msg->bytes;
        self->program->slots[slot_of(self, msg->line)].link_bytes += msg->bytes;
    }
}

void
gpc_profile_sent(gpc_profile_t *self, const gpc_observation_t *event)
{
    const gpc_controller_t *unit = event->sent.unit;
    const gpc_msg_t *msg = event->sent.msg;
    uint64_t copies = 1;
    if (!self->program) {
        return;
    }
    if (event->sent.to && !unit->protocol->networks[msg->network].multicast) {
        copies = 0;
        for (uint32_t i = 0; i < GPC_NODESET_WORDS; i++) {
            copies += gpc_count_bits(event->sent.to->bits[i]);
        }
    }
    self->program->places[pc_of_message(self, msg, msg->line)].caused.flits += copies * msg->flits;
    self->program->slots[slot_of(self, msg->line)].flits += copies * msg->flits;
    if (gpc_profile_dies(self) > 1 && !event->sent.to) {
        count_request(self, unit, msg);
    }
}
