/* dram_banks.c: models 1 and 2 of a DRAM channel: banks, served first-ready, first come first served (FR-FCFS).
 *
 * A channel issues one command per DRAM cycle. A line takes `accesses` column commands, one every `spacing` cycles,
 * which are issued together; row commands use the slots between them. Among the commands that timing permits, column
 * commands (row hits) precede row commands, and older requests precede younger ones. A row with waiting hits stays
 * open, and idle rows are not closed (open page). A request that younger ones have passed PASSES_ALLOWED times precedes
 * all others.
 *
 * Timings (DRAM cycles): tRCD activate to column, tRP precharge to activate, tRAS activate to precharge, tRC activate
 * to activate of one bank, tRRD of two, tCL and tWL column to data, tCCD column to column, tCDLR last written data to
 * read, tWR last written data to precharge, tRTPL last read column to precharge. Write data follow read data after
 * TURNAROUND idle cycles of the pins (as in GPGPU-Sim). Bank groups (tCCDL) and refresh are not modelled.
 *
 * Model 2 has banks without rows, as the memory controller of Ruby (gem5's RubyMemoryControl, "closed bank policy"): a
 * request is one column command, after which its bank is busy for bank_cycles and the pins for the line's transfer; a
 * write follows a read after TURNAROUND idle cycles of the pins (its read_write_delay). It is model 1 with one open row
 * a bank, one column access a line and no other timing. Consecutive lines of a channel are in consecutive banks.
 * Inferred: the oldest request goes first, where Ruby goes by the banks' numbers; the limit of passes, where Ruby gives
 * a batch of old requests priority after twice a bank's busy time; no ranks, no refresh. */
#include <assert.h>

#include "base/errors.h"
#include "fabric/dram_channel.h"

enum { TURNAROUND = 2, PASSES_ALLOWED = 64 };

enum { COLUMN = GPC_DRAM_COMMAND_COLUMN, ACTIVATE = GPC_DRAM_COMMAND_ACTIVATE, PRECHARGE = GPC_DRAM_COMMAND_PRECHARGE };

static inline gpc_tick_t
later(gpc_tick_t a, gpc_tick_t b)
{
    return a > b ? a : b;
}

/* Model 2 in terms of model 1. */
static inline gpc_dram_config_t
with_rows(const gpc_dram_config_t *config)
{
    gpc_dram_config_t out = *config;
    if (config->model == GPC_DRAM_CLOSED) {
        out.row_bytes = out.burst_bytes = config->line_bytes;
        out.t_cl = out.t_wl = out.t_rcd = out.t_ccd = out.t_cdlr = 0;
    }
    return out;
}

static inline uint32_t
burst_cycles(const gpc_dram_config_t *config)
{
    return (config->burst_bytes + config->bytes_per_cycle - 1) / config->bytes_per_cycle;
}

static inline uint32_t
spacing_cycles(const gpc_dram_config_t *config)
{
    uint32_t burst = burst_cycles(config);
    return config->t_ccd > burst ? config->t_ccd : burst;
}

static inline uint32_t
columns_of(const gpc_dram_config_t *config, uint32_t bytes)
{
    return (bytes + config->burst_bytes - 1) / config->burst_bytes;
}

static inline uint32_t
accesses(const gpc_dram_config_t *config)
{
    return columns_of(config, config->line_bytes);
}

gpc_tick_t
gpc_dram_closed_row_ticks(const gpc_dram_config_t *config)
{
    const gpc_dram_config_t c = with_rows(config);
    if (c.model == GPC_DRAM_FIXED) {
        return 0;
    }
    gpc_tick_t cycles = c.t_rcd + (accesses(&c) - 1) * spacing_cycles(&c) + c.t_cl;
    return (cycles + burst_cycles(&c)) * c.clock.period;
}

void
gpc_dram_banks_derive(gpc_dram_t *self)
{
    if (self->config.model != GPC_DRAM_FIXED) {
        self->config = with_rows(&self->config);
        self->by_piece = gpc_divider(self->config.interleave_bytes);
        uint32_t dies = self->config.dies > 1 ? self->config.dies : 1;
        self->pages = gpc_pages_over_dies(dies > 1 ? self->config.page_bytes : 1, dies);
        self->by_channels = gpc_divider(self->config.channels / dies);
        self->by_row = gpc_divider(self->config.row_bytes);
        self->by_banks = gpc_divider(self->config.banks);
        self->burst_cycles = burst_cycles(&self->config);
        self->spacing_cycles = spacing_cycles(&self->config);
        self->accesses = accesses(&self->config);
    }
}

void
gpc_dram_banks_clear(gpc_dram_t *self, uint32_t channel)
{
    uint64_t row = self->config.model == GPC_DRAM_CLOSED ? 0 : GPC_DRAM_NO_ROW;
    for (uint32_t bank = 0; bank < GPC_DRAM_MAX_BANKS; bank++) {
        self->state[channel].banks[bank] =
            (gpc_dram_bank_t){.open_row = row, .head = GPC_NONE, .tail = GPC_NONE, .hit = GPC_NONE};
    }
}

/* ---- a bank's requests ------------------------------------------------------------------------------------------- */

/* The oldest request for the open row, searched from request i of the bank. */
static gpc_index_t
first_hit(const gpc_dram_t *self, uint32_t channel, const gpc_dram_bank_t *bank, gpc_index_t i)
{
    while (i != GPC_NONE && gpc_dram_request_at(self, channel, i)->row != bank->open_row) {
        i = gpc_dram_request_at(self, channel, i)->bank_next;
    }
    return i;
}

/* Removes the bank's oldest hit from its list. */
static void
leave_bank(gpc_dram_t *self, uint32_t channel, gpc_index_t i)
{
    gpc_dram_channel_t *state = &self->state[channel];
    const gpc_dram_request_t *request = gpc_dram_request_at(self, channel, i);
    gpc_dram_bank_t *bank = &state->banks[request->bank];
    gpc_index_t previous = GPC_NONE;

    assert(bank->hit == i);
    for (gpc_index_t k = bank->head; k != i; k = gpc_dram_request_at(self, channel, k)->bank_next) {
        previous = k;
    }
    if (previous == GPC_NONE) {
        bank->head = request->bank_next;
    } else {
        gpc_dram_request_at(self, channel, previous)->bank_next = request->bank_next;
    }
    bank->tail = bank->tail == i ? previous : bank->tail;
    bank->hit = first_hit(self, channel, bank, request->bank_next);
    if (bank->head == GPC_NONE) {
        state->waited_for &= ~(UINT64_C(1) << request->bank);
    }
}

/* The first slot of the command bus at or after tick that the column commands of the current line do not use. */
static gpc_tick_t
free_slot(const gpc_dram_t *self, const gpc_dram_channel_t *state, gpc_tick_t tick)
{
    gpc_tick_t period = self->config.clock.period, spacing = self->spacing_cycles * period;

    tick = later(tick, state->command);
    if (tick < state->burst_first || tick > state->burst_last || (tick - state->burst_first) % spacing != 0) {
        return tick;
    }
    return spacing == period ? state->burst_last + period : tick + period;
}

/* ---- the next command -------------------------------------------------------------------------------------------- */

/* Determines the next command of request i, by its bank's timing alone. */
static inline void
determine(const gpc_dram_t *self, uint32_t channel, gpc_index_t i, gpc_dram_choice_t *next)
{
    const gpc_dram_request_t *request = gpc_dram_request_at(self, channel, i);
    const gpc_dram_bank_t *bank = &self->state[channel].banks[request->bank];

    next->request = i;
    next->age = request->age;
    next->writes = request->writes;
    next->forced = false;
    if (bank->open_row == request->row) {
        next->kind = COLUMN;
        next->tick = bank->column;
    } else if (bank->open_row == GPC_DRAM_NO_ROW) {
        next->kind = ACTIVATE;
        next->tick = bank->activate;
    } else {
        next->kind = PRECHARGE;
        next->tick = bank->precharge;
    }
}

/* Determines the next commands of these banks, which have requests: of the oldest hit, else of the oldest request.
 * Requests to one line therefore keep their order. */
static inline void
determine_banks(const gpc_dram_t *self, uint32_t channel, uint64_t banks)
{
    gpc_dram_channel_t *state = &self->state[channel];

    state->changed &= ~banks;
    for (; banks; banks &= banks - 1) {
        uint32_t number = (uint32_t) __builtin_ctzll(banks);
        const gpc_dram_bank_t *bank = &state->banks[number];
        determine(self, channel, bank->hit != GPC_NONE ? bank->hit : bank->head, &state->next[number]);
    }
}

/* The first slot for the command from `from` on, which is not before the next free slot. */
static inline gpc_tick_t
slot_of(const gpc_dram_t *self, const gpc_dram_channel_t *state, const gpc_dram_choice_t *next, gpc_tick_t from)
{
    gpc_tick_t tick = later(next->tick, from);
    if (next->kind == COLUMN) {
        return later(tick, next->writes ? state->write : state->read);
    }
    return free_slot(self, state, next->kind == ACTIVATE ? later(tick, state->activate) : tick);
}

/* Whether a precedes b at the same tick: a column before a row command, then the older request. */
static inline bool
goes_before(const gpc_dram_choice_t *a, const gpc_dram_choice_t *b)
{
    bool row_a = a->kind != COLUMN, row_b = b->kind != COLUMN;
    return row_a != row_b ? row_b : a->age < b->age;
}

/* Younger requests served while the oldest one waited: all served requests, less those that entered before it. All of
 * the latter are served, and its age is their number. */
static inline uint64_t
passed_by(const gpc_dram_channel_t *state, const gpc_dram_request_t *oldest)
{
    return state->accepted - state->waiting - oldest->age;
}

/* Chooses the command to issue now or, if timing permits none, the first one after now. */
static void
choose(const gpc_dram_t *self, uint32_t channel, gpc_tick_t now, gpc_dram_choice_t *choice)
{
    const gpc_dram_channel_t *state = &self->state[channel];
    gpc_tick_t from = later(now, state->command), first = GPC_NEVER;
    const gpc_dram_choice_t *best = NULL;

    if (state->head == GPC_NONE) {
        choice->tick = GPC_NEVER;
        choice->forced = false; /* else the next request would wait for a command that is never issued */
        return;
    }
    if (passed_by(state, gpc_dram_request_at(self, channel, state->head)) >= PASSES_ALLOWED) {
        determine(self, channel, state->head, choice);
        choice->tick = slot_of(self, state, choice, from);
        choice->forced = true;
        return;
    }
    determine_banks(self, channel, state->waited_for & state->changed);
    for (uint64_t banks = state->waited_for; banks; banks &= banks - 1) {
        const gpc_dram_choice_t *next = &state->next[__builtin_ctzll(banks)];
        gpc_tick_t tick = slot_of(self, state, next, from);
        if (tick < first || (tick == first && goes_before(next, best))) {
            best = next;
            first = tick;
        }
    }
    assert(best);
    *choice = *best;
    choice->tick = first;
}

#ifdef GPC_COSTLY_ASSERTS
/* The choice from the queue and the banks' timing alone, without what is stored of the banks' requests and commands. */
static gpc_dram_choice_t
choose_afresh(const gpc_dram_t *self, uint32_t channel, gpc_tick_t now)
{
    const gpc_dram_channel_t *state = &self->state[channel];
    gpc_dram_choice_t best = {.tick = GPC_NEVER}, next;
    gpc_index_t i = state->head;
    bool forced = i != GPC_NONE && passed_by(state, gpc_dram_request_at(self, channel, i)) >= PASSES_ALLOWED;

    for (; i != GPC_NONE; i = gpc_dram_request_at(self, channel, i)->next) {
        const gpc_dram_request_t *request = gpc_dram_request_at(self, channel, i);
        gpc_index_t first = state->head, hit = GPC_NONE; /* the oldest request of the bank, and its oldest hit */
        while (gpc_dram_request_at(self, channel, first)->bank != request->bank) {
            first = gpc_dram_request_at(self, channel, first)->next;
        }
        for (gpc_index_t k = first; k != GPC_NONE && hit == GPC_NONE; k = gpc_dram_request_at(self, channel, k)->next) {
            const gpc_dram_request_t *other = gpc_dram_request_at(self, channel, k);
            hit = other->bank == request->bank && other->row == state->banks[other->bank].open_row ? k : GPC_NONE;
        }
        if (forced ? i != state->head : i != (hit != GPC_NONE ? hit : first)) {
            continue;
        }
        determine(self, channel, i, &next);
        next.tick = slot_of(self, state, &next, later(now, state->command));
        next.forced = forced;
        if (next.tick < best.tick || (next.tick == best.tick && goes_before(&next, &best))) {
            best = next;
        }
    }
    return best;
}
#endif

/* The stored choice follows from the queue. */
static inline void
check_choice(const gpc_dram_t *self, uint32_t channel, gpc_tick_t now)
{
#ifdef GPC_COSTLY_ASSERTS
    gpc_dram_choice_t stored = self->state[channel].choice, afresh = choose_afresh(self, channel, now);
    assert(stored.tick == afresh.tick && stored.forced == afresh.forced);
    assert(afresh.tick == GPC_NEVER || (stored.request == afresh.request && stored.kind == afresh.kind &&
                                        stored.age == afresh.age && stored.writes == afresh.writes));
#else
    (void) self;
    (void) channel;
    (void) now;
#endif
}

/* ---- a request enters -------------------------------------------------------------------------------------------- */

/* Appends the request to its bank's list. */
static gpc_dram_bank_t *
join_bank(gpc_dram_t *self, uint32_t channel, gpc_index_t i, gpc_address_t line)
{
    gpc_dram_channel_t *state = &self->state[channel];
    gpc_dram_request_t *request = gpc_dram_request_at(self, channel, i);
    line = self->config.dies > 1 ? gpc_within_die(&self->pages, line) : line;
    uint64_t piece = gpc_quotient(self->by_channels, gpc_quotient(self->by_piece, line));
    uint64_t row = gpc_quotient(self->by_row, piece * self->by_piece.divisor + gpc_remainder(self->by_piece, line));

    bool closed = self->config.model == GPC_DRAM_CLOSED;
    request->bank = (uint32_t) gpc_remainder(self->by_banks, row);
    request->row = closed ? 0 : gpc_quotient(self->by_banks, row);
    request->needed_activate = closed;
    request->age = state->accepted++;
    request->bank_next = GPC_NONE;
    gpc_dram_bank_t *bank = &state->banks[request->bank];
    if (bank->head == GPC_NONE) {
        bank->head = i;
    } else {
        gpc_dram_request_at(self, channel, bank->tail)->bank_next = i;
    }
    bank->tail = i;
    if (bank->hit == GPC_NONE && bank->open_row == request->row) {
        bank->hit = i;
    }
    state->waited_for |= UINT64_C(1) << request->bank;
    return bank;
}

/* Time alone does not change the chosen command: timing permits no waiting command before it, and it has priority over
 * those that become possible at the same tick. A new request is therefore compared with the chosen command only, unless
 * it changes the next command of that command's bank. */
static inline int
enter(gpc_dram_t *self, uint32_t channel, gpc_index_t i, gpc_address_t line, gpc_tick_t from)
{
    gpc_dram_channel_t *state = &self->state[channel];
    const gpc_dram_bank_t *bank = join_bank(self, channel, i, line);

    if (bank->hit != i && (bank->hit != GPC_NONE || bank->head != i)) {
        return GPC_OK;
    }
    uint32_t number = gpc_dram_request_at(self, channel, i)->bank;
    state->changed |= UINT64_C(1) << number;
    if (state->choice.forced) {
        return GPC_OK;
    }
    if (bank->head != i && state->choice.tick != GPC_NEVER &&
        gpc_dram_request_at(self, channel, state->choice.request)->bank == number) {
        choose(self, channel, from, &state->choice);
        return gpc_dram_wake(self, channel, state->choice.tick);
    }
    determine_banks(self, channel, UINT64_C(1) << number);
    gpc_tick_t tick = slot_of(self, state, &state->next[number], later(from, state->command));
    if (tick > state->choice.tick ||
        (tick == state->choice.tick && !goes_before(&state->next[number], &state->choice))) {
        return GPC_OK;
    }
    state->choice = state->next[number];
    state->choice.tick = tick;
    return gpc_dram_wake(self, channel, tick);
}

int
gpc_dram_banks_enter(gpc_dram_t *self, uint32_t channel, gpc_index_t i, gpc_address_t line)
{
    gpc_tick_t from = gpc_clock_edge(self->config.clock, gpc_wheel_now(self->wheel));
    int status = enter(self, channel, i, line, from);
    check_choice(self, channel, from);
    return status;
}

/* ---- issuing commands -------------------------------------------------------------------------------------------- */

static void
count_row(gpc_dram_statistics_t *statistics, const gpc_dram_request_t *request)
{
    if (request->needed_precharge) {
        statistics->row_conflicts++;
    } else if (request->needed_activate) {
        statistics->row_misses++;
    } else {
        statistics->row_hits++;
    }
}

static void
notify(const gpc_dram_t *self, uint32_t channel, gpc_dram_command_t command, const gpc_dram_request_t *request,
       gpc_tick_t tick)
{
    if (self->monitor) {
        self->monitor(self->world, channel, command, request->bank, request->row, tick);
    }
}

/* Issues the column commands of a line, the first one now. */
static int
give_columns(gpc_dram_t *self, uint32_t channel, const gpc_dram_choice_t *choice, gpc_tick_t now)
{
    const gpc_dram_config_t *config = &self->config;
    gpc_dram_channel_t *state = &self->state[channel];
    const gpc_dram_request_t *request = gpc_dram_request_at(self, channel, choice->request);
    gpc_dram_bank_t *bank = &state->banks[request->bank];
    gpc_index_t message = request->message;
    bool writes = request->writes;
    gpc_tick_t period = config->clock.period, burst = self->burst_cycles * period;
    uint32_t accesses = request->bytes == config->line_bytes ? self->accesses : columns_of(config, request->bytes);
    gpc_tick_t spacing = self->spacing_cycles * period, next = now + accesses * spacing, last = next - spacing;

    state->burst_first = now;
    state->burst_last = last;
    self->statistics[channel].busy_cycles += accesses * self->burst_cycles;
    count_row(&self->statistics[channel], request);
    for (gpc_tick_t tick = now; tick <= last; tick += spacing) {
        notify(self, channel, writes ? GPC_DRAM_WRITE_COLUMN : GPC_DRAM_READ_COLUMN, request, tick);
    }
    if (config->model == GPC_DRAM_CLOSED) {
        bank->column = now + config->bank_cycles * period;
    }
    leave_bank(self, channel, choice->request);
    GPC_TRY(gpc_dram_leave(self, channel, choice->request));

    if (writes) {
        gpc_tick_t end = last + config->t_wl * period + burst;
        bank->precharge = later(bank->precharge, end + config->t_wr * period);
        state->write = next;
        state->read = later(next, end + config->t_cdlr * period);
        return message == GPC_NONE ? GPC_OK : gpc_dram_answer_at(self, channel, message, end + config->latency);
    }
    gpc_tick_t end = last + config->t_cl * period + burst;
    gpc_tick_t write_data = end + TURNAROUND * period, write_latency = config->t_wl * period;
    bank->precharge = later(bank->precharge, last + later(config->t_rtpl, 1) * period);
    state->read = next;
    state->write = later(next, write_data > write_latency ? write_data - write_latency : 0);
    return gpc_dram_answer_at(self, channel, message, end + config->latency);
}

static inline int
give(gpc_dram_t *self, uint32_t channel, const gpc_dram_choice_t *choice, gpc_tick_t now)
{
    const gpc_dram_config_t *config = &self->config;
    gpc_dram_channel_t *state = &self->state[channel];
    gpc_dram_request_t *request = gpc_dram_request_at(self, channel, choice->request);
    gpc_dram_bank_t *bank = &state->banks[request->bank];
    gpc_tick_t period = config->clock.period;

    state->command = now + period;
    state->changed |= UINT64_C(1) << request->bank;
    switch ((gpc_dram_kind_t) choice->kind) {
        case ACTIVATE:
            notify(self, channel, GPC_DRAM_ACTIVATE, request, now);
            request->needed_activate = true;
            bank->open_row = request->row;
            bank->hit = first_hit(self, channel, bank, bank->head);
            bank->column = now + config->t_rcd * period;
            bank->precharge = now + config->t_ras * period;
            bank->activate = now + config->t_rc * period;
            state->activate = now + config->t_rrd * period;
            return GPC_OK;
        case PRECHARGE:
            notify(self, channel, GPC_DRAM_PRECHARGE, request, now);
            request->needed_precharge = true;
            bank->open_row = GPC_DRAM_NO_ROW;
            bank->hit = GPC_NONE;
            bank->activate = later(bank->activate, now + config->t_rp * period);
            return GPC_OK;
        case COLUMN:
            break;
    }
    return give_columns(self, channel, choice, now);
}

int
gpc_dram_banks_step(gpc_dram_t *self, uint32_t channel)
{
    gpc_dram_channel_t *state = &self->state[channel];
    gpc_tick_t now = gpc_wheel_now(self->wheel);

    check_choice(self, channel, now);
    if (state->choice.tick == now) {
        GPC_TRY(give(self, channel, &state->choice, now));
        choose(self, channel, now + self->config.clock.period, &state->choice);
        check_choice(self, channel, now);
    }
    return state->choice.tick == GPC_NEVER ? GPC_OK : gpc_dram_wake(self, channel, state->choice.tick);
}
