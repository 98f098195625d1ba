/* dram_reference.c: the models of dram_reference.h. */
#include "dram_reference.h"

#include <assert.h>
#include <string.h>

/* ---- the queue --------------------------------------------------------------------------------------------------- */

static reference_request_t
leave(reference_t *self, uint32_t i)
{
    reference_request_t request = self->queue[i];
    for (uint32_t older = 0; older < i; older++) {
        uint32_t passed = ++self->queue[older].passed;
        self->most_passed = passed > self->most_passed ? passed : self->most_passed;
    }
    memmove(&self->queue[i], &self->queue[i + 1], (--self->waiting - i) * sizeof(self->queue[0]));
    return request;
}

/* ---- model 0: one line after the other --------------------------------------------------------------------------- */

/* DRAM cycles of a line on the pins. */
static int64_t
transfer_of(const gpc_dram_config_t *c)
{
    return (c->line_bytes + c->bytes_per_cycle - 1) / c->bytes_per_cycle;
}

static void
run_fixed(reference_t *self, gpc_tick_t until)
{
    const gpc_dram_config_t *c = self->config;
    uint32_t cycles = (uint32_t) transfer_of(c);

    while (self->waiting > 0) {
        gpc_tick_t accepted = self->queue[0].accepted;
        gpc_tick_t start = accepted > self->pins_free ? accepted : self->pins_free;
        if (start > until) {
            break;
        }
        reference_request_t request = leave(self, 0);
        self->pins_free = start + cycles * c->clock.period;
        self->statistics.busy_cycles += cycles;
        self->statistics.queue_cycles += (start - accepted) / c->clock.period;
        if (request.answered) {
            self->answer(request.name, start + c->latency);
        }
    }
    self->now = until;
}

/* ---- model 1: a command a cycle, of those that the timing permits ------------------------------------------------ */

static int64_t
burst_of(const gpc_dram_config_t *c)
{
    return (c->burst_bytes + c->bytes_per_cycle - 1) / c->bytes_per_cycle;
}

static int64_t
columns_of(const gpc_dram_config_t *c)
{
    return (c->line_bytes + c->burst_bytes - 1) / c->burst_bytes;
}

static int64_t
spacing_of(const gpc_dram_config_t *c)
{
    return burst_of(c) > c->t_ccd ? burst_of(c) : c->t_ccd;
}

/* The next command of a request in the state of its bank. */
static gpc_dram_command_t
command_of(const reference_t *self, const reference_request_t *request)
{
    const reference_bank_t *bank = &self->banks[request->bank];
    if (!bank->open) {
        return GPC_DRAM_ACTIVATE;
    }
    if (bank->row != request->row) {
        return GPC_DRAM_PRECHARGE;
    }
    return request->writes ? GPC_DRAM_WRITE_COLUMN : GPC_DRAM_READ_COLUMN;
}

static bool
is_row_command(gpc_dram_command_t command)
{
    return command == GPC_DRAM_ACTIVATE || command == GPC_DRAM_PRECHARGE;
}

/* Whether a column command of the last line uses the command bus in this cycle. */
static bool
bus_is_used(const reference_t *self, int64_t cycle)
{
    int64_t past = cycle - self->first_column;
    return past >= 0 && cycle <= self->last_column && past % spacing_of(self->config) == 0;
}

static bool
may_activate(const reference_t *self, const reference_bank_t *bank, int64_t cycle)
{
    const gpc_dram_config_t *c = self->config;
    return !bus_is_used(self, cycle) && cycle >= bank->activated + c->t_rc && cycle >= bank->precharged + c->t_rp &&
           cycle >= self->activated + c->t_rrd;
}

static bool
may_precharge(const reference_t *self, const reference_bank_t *bank, int64_t cycle)
{
    const gpc_dram_config_t *c = self->config;
    int64_t after_read = c->t_rtpl > 1 ? c->t_rtpl : 1;
    return !bus_is_used(self, cycle) && cycle >= bank->activated + c->t_ras && cycle >= bank->read + after_read &&
           cycle >= bank->written + c->t_wl + burst_of(c) + c->t_wr;
}

static bool
may_read(const reference_t *self, const reference_bank_t *bank, int64_t cycle)
{
    const gpc_dram_config_t *c = self->config;
    return cycle >= bank->activated + c->t_rcd && cycle >= self->last_column + spacing_of(c) &&
           cycle >= self->written + c->t_wl + burst_of(c) + c->t_cdlr;
}

/* The data of a write follow those of a read after two idle cycles of the pins. */
static bool
may_write(const reference_t *self, const reference_bank_t *bank, int64_t cycle)
{
    const gpc_dram_config_t *c = self->config;
    return cycle >= bank->activated + c->t_rcd && cycle >= self->last_column + spacing_of(c) &&
           cycle + c->t_wl >= self->read + c->t_cl + burst_of(c) + 2;
}

static bool
is_permitted(const reference_t *self, const reference_request_t *request, int64_t cycle)
{
    const reference_bank_t *bank = &self->banks[request->bank];
    switch (command_of(self, request)) {
        case GPC_DRAM_ACTIVATE:
            return may_activate(self, bank, cycle);
        case GPC_DRAM_PRECHARGE:
            return may_precharge(self, bank, cycle);
        case GPC_DRAM_READ_COLUMN:
            return may_read(self, bank, cycle);
        case GPC_DRAM_WRITE_COLUMN:
            return may_write(self, bank, cycle);
    }
    return false;
}

static void
note_command(reference_t *self, const reference_request_t *request, gpc_dram_command_t command, int64_t cycle)
{
    assert(self->num_commands < REFERENCE_COMMANDS);
    self->commands[self->num_commands++] =
        (reference_command_t){command, request->bank, request->row, (gpc_tick_t) cycle * self->config->clock.period};
}

/* All columns of a line, from this cycle on. */
static void
transfer(reference_t *self, uint32_t i, int64_t cycle)
{
    const gpc_dram_config_t *c = self->config;
    const gpc_dram_command_t command = command_of(self, &self->queue[i]);
    const reference_request_t request = leave(self, i);
    reference_bank_t *bank = &self->banks[request.bank];
    int64_t last = cycle + (columns_of(c) - 1) * spacing_of(c);

    for (int64_t column = cycle; column <= last; column += spacing_of(c)) {
        note_command(self, &request, command, column);
    }
    self->first_column = cycle;
    self->last_column = last;
    *(request.writes ? &bank->written : &bank->read) = last;
    *(request.writes ? &self->written : &self->read) = last;
    self->statistics.busy_cycles += (uint64_t) (columns_of(c) * burst_of(c));
    self->statistics.queue_cycles += ((gpc_tick_t) cycle * c->clock.period - request.accepted) / c->clock.period;
    self->statistics.row_conflicts += request.precharged;
    self->statistics.row_misses += request.activated && !request.precharged;
    self->statistics.row_hits += !request.activated && !request.precharged;
    if (request.answered) {
        int64_t end = last + (request.writes ? c->t_wl : c->t_cl) + burst_of(c);
        self->answer(request.name, (gpc_tick_t) end * c->clock.period + c->latency);
    }
}

static void
issue(reference_t *self, uint32_t i, int64_t cycle)
{
    reference_request_t *request = &self->queue[i];
    reference_bank_t *bank = &self->banks[request->bank];
    gpc_dram_command_t command = command_of(self, request);

    self->issued = cycle;
    if (command == GPC_DRAM_ACTIVATE) {
        note_command(self, request, command, cycle);
        request->activated = true;
        bank->open = true;
        bank->row = request->row;
        bank->activated = self->activated = cycle;
    } else if (command == GPC_DRAM_PRECHARGE) {
        note_command(self, request, command, cycle);
        request->precharged = true;
        bank->open = false;
        bank->precharged = cycle;
    } else {
        transfer(self, i, cycle);
    }
}

/* Of each bank its oldest request for the open row, else its oldest request; after 64 passes the oldest request alone.
 * Marks them in `considered`. */
static void
consider(const reference_t *self, bool *considered)
{
    uint32_t oldest[REFERENCE_BANKS], hit[REFERENCE_BANKS];

    memset(considered, 0, self->waiting * sizeof(*considered));
    if (self->queue[0].passed >= REFERENCE_PASSES) {
        considered[0] = true;
        return;
    }
    for (uint32_t bank = 0; bank < self->config->banks; bank++) {
        oldest[bank] = hit[bank] = UINT32_MAX;
    }
    for (uint32_t i = self->waiting; i-- > 0;) { /* the oldest last */
        const reference_request_t *request = &self->queue[i];
        oldest[request->bank] = i;
        if (self->banks[request->bank].open && self->banks[request->bank].row == request->row) {
            hit[request->bank] = i;
        }
    }
    for (uint32_t bank = 0; bank < self->config->banks; bank++) {
        uint32_t i = hit[bank] != UINT32_MAX ? hit[bank] : oldest[bank];
        if (i != UINT32_MAX) {
            considered[i] = true;
        }
    }
}

/* One cycle: columns before row commands, then the older request. */
static void
cycle_of_banks(reference_t *self, int64_t cycle)
{
    bool considered[REFERENCE_QUEUE + 1];

    consider(self, considered);
    for (int rows = 0; rows < 2; rows++) {
        for (uint32_t i = 0; i < self->waiting; i++) {
            const reference_request_t *request = &self->queue[i];
            if (considered[i] && is_row_command(command_of(self, request)) == (rows == 1) &&
                is_permitted(self, request, cycle)) {
                issue(self, i, cycle);
                return;
            }
        }
    }
}

static void
run_banks(reference_t *self, gpc_tick_t until)
{
    int64_t period = (int64_t) self->config->clock.period, first = ((int64_t) self->now + period - 1) / period;

    for (int64_t cycle = first; cycle <= (int64_t) until / period && self->waiting > 0; cycle++) {
        if (cycle > self->issued) {
            cycle_of_banks(self, cycle);
        }
    }
    self->now = until;
}

/* ---- model 2: a bank is busy for a while, and the pins pass one line after another ------------------------------- */

static bool
may_begin(const reference_t *self, uint32_t i, int64_t cycle)
{
    const gpc_dram_config_t *c = self->config;
    const reference_request_t *request = &self->queue[i];
    const reference_bank_t *bank = &self->banks[request->bank];
    int64_t last = bank->read > bank->written ? bank->read : bank->written, transfer = transfer_of(c);

    for (uint32_t older = 0; older < i; older++) {
        if (self->queue[older].bank == request->bank) {
            return false;
        }
    }
    return cycle >= last + c->bank_cycles && cycle >= self->last_column + transfer &&
           (!request->writes || cycle >= self->read + transfer + 2);
}

static void
begin_request(reference_t *self, uint32_t i, int64_t cycle)
{
    const gpc_dram_config_t *c = self->config;
    const reference_request_t request = leave(self, i);
    reference_bank_t *bank = &self->banks[request.bank];

    note_command(self, &request, request.writes ? GPC_DRAM_WRITE_COLUMN : GPC_DRAM_READ_COLUMN, cycle);
    self->last_column = cycle;
    *(request.writes ? &bank->written : &bank->read) = cycle;
    self->read = request.writes ? self->read : cycle;
    self->statistics.busy_cycles += (uint64_t) transfer_of(c);
    self->statistics.queue_cycles += ((gpc_tick_t) cycle * c->clock.period - request.accepted) / c->clock.period;
    self->statistics.row_misses++;
    if (request.answered) {
        self->answer(request.name, (gpc_tick_t) (cycle + transfer_of(c)) * c->clock.period + c->latency);
    }
}

/* The oldest request that may begin; after 64 passes the oldest request alone. */
static void
run_closed(reference_t *self, gpc_tick_t until)
{
    int64_t period = (int64_t) self->config->clock.period, first = ((int64_t) self->now + period - 1) / period;

    for (int64_t cycle = first; cycle <= (int64_t) until / period && self->waiting > 0; cycle++) {
        uint32_t considered = self->queue[0].passed >= REFERENCE_PASSES ? 1 : self->waiting;
        for (uint32_t i = 0; i < considered; i++) {
            if (may_begin(self, i, cycle)) {
                begin_request(self, i, cycle);
                break;
            }
        }
    }
    self->now = until;
}

/* ---- the channel ------------------------------------------------------------------------------------------------- */

static void (*const models[])(reference_t *self, gpc_tick_t until) = {run_fixed, run_banks, run_closed};

void
reference_begin(reference_t *self, const gpc_dram_config_t *config, void (*answer)(uint32_t name, gpc_tick_t tick))
{
    self->config = config;
    self->run = models[config->model];
    self->answer = answer;
    self->now = self->pins_free = 0;
    self->waiting = self->most_passed = self->num_commands = 0;
    self->statistics = (gpc_dram_statistics_t){0};
    self->issued = self->activated = self->read = self->written = REFERENCE_NEVER;
    self->first_column = self->last_column = REFERENCE_NEVER;
    for (uint32_t bank = 0; bank < REFERENCE_BANKS; bank++) {
        self->banks[bank] =
            (reference_bank_t){false, 0, REFERENCE_NEVER, REFERENCE_NEVER, REFERENCE_NEVER, REFERENCE_NEVER};
    }
}

/* Consecutive bytes of a channel in one bank. */
uint32_t
reference_row_bytes(const gpc_dram_config_t *c)
{
    return c->model == GPC_DRAM_CLOSED ? c->line_bytes : c->row_bytes;
}

void
reference_accept(reference_t *self, const reference_request_t *request, gpc_address_t line)
{
    const gpc_dram_config_t *c = self->config;
    reference_request_t *added = &self->queue[self->waiting++];
    uint64_t piece = line / c->interleave_bytes / c->channels; /* of the channel's own bytes */
    uint64_t row = (piece * c->interleave_bytes + line % c->interleave_bytes) / reference_row_bytes(c);

    *added = *request;
    added->accepted = self->now;
    added->passed = 0;
    added->activated = added->precharged = false;
    added->bank = c->model == 0 ? 0 : (uint32_t) (row % c->banks);
    added->row = c->model == 1 ? row / c->banks : 0;
    *(request->writes ? &self->statistics.writes : &self->statistics.reads) += 1;
    if (c->model == 0) {
        self->run(self, self->now); /* free pins take it at once */
    }
}
