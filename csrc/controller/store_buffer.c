/* store_buffer.c: the store buffer beside an L1; store_buffer.h describes it. */
#include "controller/store_buffer.h"

uint32_t
gpc_sb_capacity(const gpc_machine_t *machine, const int64_t *options)
{
    return (uint32_t) options[GPC_SB_OPTION_ENTRIES] + machine->l1_mshrs;
}

int
gpc_sb_check(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure)
{
    uint32_t line_words = machine->line_bytes / 4;
    if (options[GPC_SB_OPTION_ENTRY] == GPC_SB_LINE || options[GPC_SB_OPTION_ENTRIES] >= line_words) {
        return GPC_OK;
    }
    return gpc_fail(failure, GPC_ERROR_OPTION,
                    "sb_entries=%lld with sb_entry=word: must be at least the words of a line, %u",
                    (long long) options[GPC_SB_OPTION_ENTRIES], line_words);
}

gpc_sb_entry_t *
gpc_sb_find(const gpc_controller_t *unit, gpc_address_t line)
{
    gpc_index_t entry = gpc_part_find(gpc_sb_part(unit), line);
    return entry == GPC_NONE ? NULL : gpc_sb_entry_at(unit, entry);
}

gpc_mask_t
gpc_sb_held(const gpc_controller_t *unit, gpc_address_t line)
{
    const gpc_sb_entry_t *entry = gpc_sb_find(unit, line);
    return entry ? entry->fresh | entry->sent : GPC_NO_WORDS;
}

void
gpc_sb_overlay(const gpc_controller_t *unit, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    const gpc_sb_entry_t *entry = gpc_sb_find(unit, line);
    if (entry) {
        gpc_merge_words(words, entry->words.word, mask & (entry->fresh | entry->sent));
    }
}

/* ---- stores and drains ------------------------------------------------------------------------------------------- */

static int
step_entry(gpc_controller_t *unit, gpc_index_t entry, uint8_t cause)
{
    return gpc_controller_entry(unit, GPC_SB_TABLE, GPC_SB_PART, entry, cause, GPC_NONE);
}

/* The buffer is full: as the option says, the oldest entry that still has fresh words drains, or every one does. */
static int
make_room(gpc_controller_t *unit)
{
    const gpc_part_t *part = gpc_sb_part(unit);
    int status = GPC_OK;

    for (gpc_index_t i = gpc_part_first(part); i != GPC_NONE && status == GPC_OK; i = gpc_part_next(part, i)) {
        if (!gpc_sb_entry_at(unit, i)->fresh) {
            continue;
        }
        status = step_entry(unit, i, GPC_MSG_RELEASE);
        if (unit->options[GPC_SB_OPTION_FULL] == GPC_SB_OLDEST) {
            break;
        }
    }
    GPC_TRY(status);
    return GPC_HOLD;
}

/* Whether the option's limit keeps x out of the buffer. An answer may exceed it, by an entry for each MSHR: the atomics
 * that it serves would starve if each of their answers found the buffer full of other stores. */
static bool
is_full(const gpc_step_t *x, bool new_entry, uint32_t held)
{
    int64_t entries = x->unit->options[GPC_SB_OPTION_ENTRIES];

    if (x->cause >= GPC_MSG_OWN) {
        return false;
    }
    return x->unit->options[GPC_SB_OPTION_ENTRY] == GPC_SB_WORD
               ? held > entries
               : new_entry && gpc_sb_part(x->unit)->order->count >= entries;
}

int
gpc_sb_put(gpc_step_t *x, gpc_mask_t mask, const uint32_t *words, bool again)
{
    gpc_controller_t *unit = x->unit;
    gpc_index_t entry = gpc_part_find(gpc_sb_part(unit), x->line);
    gpc_mask_t more = entry == GPC_NONE ? mask : mask & ~gpc_sb_held(unit, x->line);
    uint32_t held = gpc_sb_unit(unit)->held + gpc_count_bits(more);

    if (is_full(x, entry == GPC_NONE, held)) {
        return make_room(unit);
    }
    entry = entry == GPC_NONE ? gpc_part_take(gpc_sb_part(unit), x->line) : entry;
    if (entry == GPC_NONE) {
        return make_room(unit);
    }
    gpc_sb_entry_t *fields = gpc_sb_entry_at(unit, entry);
    fields->fresh |= again ? mask : mask & ~fields->sent;
    gpc_merge_words(fields->words.word, words, mask);
    gpc_sb_unit(unit)->held = held;
    return step_entry(unit, entry, GPC_MSG_STORE);
}

/* The written words are accepted like those of a store; a read-modify-write that writes nothing is only complete. */
static int
complete_local(gpc_step_t *x, gpc_mask_t written, const uint32_t *words)
{
    gpc_mask_t mask = x->msg->mask;

    gpc_merge_words(x->msg->data, words, written);
    x->msg->mask = written;
    int status = gpc_note_accepted(x);
    x->msg->mask = mask;
    GPC_TRY(status);
    return gpc_complete(x, x->message, NULL, true);
}

int
gpc_sb_perform(gpc_step_t *x, uint32_t *words, bool again)
{
    uint32_t after[GPC_MAX_LINE_WORDS];

    gpc_merge_words(after, words, x->mask);
    gpc_mask_t written = gpc_rmw_perform(gpc_lane_list_at(x->unit->lane_lists, x->msg->lanes), after);
    GPC_TRY(written ? gpc_sb_put(x, written, after, again) : GPC_OK);
    gpc_merge_words(words, after, written);
    return complete_local(x, written, after);
}

int
gpc_sb_complete(gpc_step_t *x, gpc_index_t request, gpc_list_t *again)
{
    gpc_msg_t *msg = gpc_msg_at(x->unit->messages, request);
    gpc_step_t its = *x;

    if (msg->type == GPC_MSG_LOAD) {
        return gpc_complete(x, request, x->msg->data, false);
    }
    its.message = request;
    its.msg = msg;
    its.mask = msg->mask;
    int status = gpc_sb_perform(&its, x->msg->data, true);
    if (status == GPC_HOLD) {
        gpc_list_push(again, x->unit->messages, request);
        return GPC_OK;
    }
    return status;
}

GPC_SHARED_ACTION(sb_act_put, "put the store into the store buffer, or hold")
{
    GPC_TRY(gpc_sb_put(x, x->mask, x->msg->data, true));
    return gpc_note_accepted(x);
}

GPC_SHARED_ACTION(sb_act_merge, "merge the store into words of the store buffer whose registration is outstanding")
{
    GPC_TRY(gpc_sb_put(x, x->mask, x->msg->data, false));
    return gpc_note_accepted(x);
}

GPC_SHARED_ACTION(sb_act_complete, "the store is complete")
{
    return gpc_complete(x, x->message, NULL, true);
}

GPC_SHARED_ACTION(sb_act_serve, "complete the load from the store buffer")
{
    gpc_count(x, load_hits);
    return gpc_complete(x, x->message, gpc_sb_find(x->unit, x->line)->words.word, true);
}

GPC_SHARED_ACTION(sb_act_drain, "drain the store buffer's entry")
{
    gpc_index_t entry = gpc_part_find(gpc_sb_part(x->unit), x->line);
    return entry == GPC_NONE ? GPC_OK : step_entry(x->unit, entry, GPC_MSG_RELEASE);
}

GPC_SHARED_ACTION(sb_act_perform_on_copy, "perform on the line; words written enter the store buffer, or hold")
{
    return gpc_sb_perform(x, gpc_line_words(x), true);
}

GPC_SHARED_ACTION(sb_act_perform_sent, "perform on words in the store buffer whose registration is outstanding")
{
    return gpc_sb_perform(x, gpc_sb_find(x->unit, x->line)->words.word, false);
}

GPC_SHARED_ACTION(sb_act_perform, "perform on the words in the store buffer")
{
    return gpc_sb_perform(x, gpc_sb_find(x->unit, x->line)->words.word, true);
}

void
gpc_sb_sent(gpc_sb_entry_t *entry, gpc_mask_t mask)
{
    entry->sent |= mask;
    entry->fresh &= ~mask;
    if (entry->fresh == GPC_NO_WORDS) {
        entry->early |= entry->late;
        entry->late = 0;
        entry->drains = entry->drains & ~GPC_SB_DRAINS ? GPC_SB_FLUSH_SENT : 0;
    }
}

/* One entry fewer for the releases that wait for it; those that wait for no other may go on. */
static int
end_releases(gpc_controller_t *unit, uint64_t warps)
{
    int status = GPC_OK;
    for (; warps && status == GPC_OK; warps &= warps - 1) {
        uint16_t warp = (uint16_t) __builtin_ctzll(warps);
        if (--gpc_sb_warp(unit, warp)->entries == 0) {
            status = unit->ports->wake_warp(unit->world, unit, warp, 0);
        }
    }
    return status;
}

bool
gpc_sb_flushes(const gpc_controller_t *unit)
{
    const gpc_part_t *part = gpc_sb_part(unit);
    for (gpc_index_t i = gpc_part_first(part); i != GPC_NONE; i = gpc_part_next(part, i)) {
        if (gpc_sb_entry_at(unit, i)->drains & (GPC_SB_FLUSH_SENT | GPC_SB_FLUSH_FRESH)) {
            return true;
        }
    }
    return false;
}

/* The flush waits for one entry fewer. */
static int
end_flush(gpc_controller_t *unit, gpc_sb_entry_t *entry)
{
    int (*flushed)(gpc_controller_t *) = unit->type->parts[GPC_SB_PART].flushed;

    if (!(entry->drains & GPC_SB_FLUSH_SENT)) {
        return GPC_OK;
    }
    entry->drains &= (uint8_t) ~GPC_SB_FLUSH_SENT;
    return flushed && !gpc_sb_flushes(unit) ? flushed(unit) : GPC_OK;
}

int
gpc_sb_performed(gpc_step_t *x, gpc_sb_entry_t *entry, gpc_mask_t mask)
{
    gpc_mask_t gone = mask & entry->sent & ~entry->fresh;
    uint64_t warps = entry->early;

    gpc_sb_unit(x->unit)->held -= gpc_count_bits(gone);
    for (; gone; gone &= gone - 1) {
        entry->words.word[__builtin_ctz(gone)] = 0; /* equal entries are encoded alike */
    }
    entry->sent &= ~mask;
    if (entry->sent) {
        return GPC_OK;
    }
    entry->early = 0;
    GPC_TRY(end_releases(x->unit, warps));
    return end_flush(x->unit, entry);
}

GPC_SHARED_ACTION(sb_act_make_ready, "mark the entry ready to be sent")
{
    return gpc_part_ready(gpc_sb_part(x->unit), x->entry);
}

GPC_SHARED_ACTION(sb_act_drain_if_eager, "with sb_drain=eager, mark the entry ready to be sent")
{
    return x->unit->options[GPC_SB_OPTION_DRAIN] == GPC_SB_EAGER ? gpc_act(sb_act_make_ready, x) : GPC_OK;
}

GPC_SHARED_ACTION(sb_act_remember_drain, "the fresh words are sent after the acknowledgement")
{
    gpc_sb_entry(x, GPC_SB_PART)->drains |= GPC_SB_DRAINS;
    return GPC_OK;
}

/* ---- flushes and releases ---------------------------------------------------------------------------------------- */

int
gpc_sb_flush(gpc_controller_t *unit)
{
    const gpc_part_t *part = gpc_sb_part(unit);
    int status = GPC_OK;

    for (gpc_index_t i = gpc_part_first(part); i != GPC_NONE && status == GPC_OK; i = gpc_part_next(part, i)) {
        gpc_sb_entry_t *entry = gpc_sb_entry_at(unit, i);
        entry->drains &= GPC_SB_DRAINS;
        entry->drains |= entry->fresh ? GPC_SB_FLUSH_FRESH : GPC_SB_FLUSH_SENT;
        status = entry->fresh ? step_entry(unit, i, GPC_MSG_RELEASE) : GPC_OK;
    }
    return status;
}

/* The release waits for every entry that holds words now; entries are drained. */
static int
begin_release(gpc_controller_t *l1, uint16_t warp)
{
    const gpc_part_t *part = gpc_sb_part(l1);
    int status = GPC_OK;

    gpc_sb_warp(l1, warp)->releases = 1;
    for (gpc_index_t i = gpc_part_first(part); i != GPC_NONE && status == GPC_OK; i = gpc_part_next(part, i)) {
        gpc_sb_entry_t *entry = gpc_sb_entry_at(l1, i);
        *(entry->fresh ? &entry->late : &entry->early) |= UINT64_C(1) << warp;
        gpc_sb_warp(l1, warp)->entries++;
        status = entry->fresh ? step_entry(l1, i, GPC_MSG_RELEASE) : GPC_OK;
    }
    return status;
}

int
gpc_sb_release(gpc_controller_t *l1, uint16_t warp, uint8_t scope, gpc_cycle_t *until)
{
    int status = gpc_sb_warp(l1, warp)->releases ? GPC_OK : begin_release(l1, warp);
    (void) scope; /* order.c leaves out local releases */
    (void) until; /* wake_warp ends the wait */
    if (status || gpc_sb_warp(l1, warp)->entries) {
        GPC_TRY(status);
        return GPC_HOLD;
    }
    gpc_sb_warp(l1, warp)->releases = 0;
    return GPC_OK;
}

int
gpc_sb_exit(gpc_controller_t *l1, uint16_t warp, gpc_cycle_t *until)
{
    (void) l1, (void) warp, (void) until;
    return GPC_OK;
}

/* ---- the table of entries that are written through --------------------------------------------------------------- */

GPC_FSM(SB, GPC_SB_STATES, GPC_SB_EVENTS)

static const gpc_part_info_t *
info(const gpc_controller_t *unit)
{
    return &unit->type->parts[GPC_SB_PART];
}

uint8_t
gpc_sb_route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    return msg->type == info(unit)->written ? GPC_SB_TABLE : 0;
}

gpc_event_id_t
gpc_sb_classify(const gpc_step_t *x)
{
    switch (x->cause) {
        case GPC_MSG_STORE:
            return SB_STORE;
        case GPC_MSG_RELEASE:
        case GPC_MSG_KERNEL_END:
            return SB_RELEASE;
        case GPC_MSG_REPLAY:
            return SB_DRAIN;
        default:
            break;
    }
    if (x->cause != info(x->unit)->written) {
        return GPC_NO_EVENT;
    }
    return gpc_sb_entry(x, GPC_SB_PART)->drains & GPC_SB_DRAINS ? SB_ACK_DRAINS : SB_ACK;
}

GPC_ACTION(act_need_room, "hold while the network has no room")
{
    uint8_t network = gpc_message_info(x->unit, info(x->unit)->writes)->network;
    return x->unit->ports->room(x->unit->world, x->unit, network) ? GPC_OK : GPC_HOLD;
}

GPC_ACTION(act_write_through, "send a write with the fresh words")
{
    gpc_sb_entry_t *entry = gpc_sb_entry(x, GPC_SB_PART);
    gpc_msg_t *msg = gpc_new_message(x, info(x->unit)->writes, gpc_home_of(x->unit, x->line));
    gpc_carry(x, msg, entry->fresh, entry->words.word);
    msg->request = GPC_NONE; /* the stores are complete */
    gpc_sb_sent(entry, entry->fresh);
    return gpc_send(x, msg);
}

GPC_ACTION(act_performed, "the sent words are at the L2; releases that wait for them go on")
{
    gpc_sb_entry_t *entry = gpc_sb_entry(x, GPC_SB_PART);
    return gpc_sb_performed(x, entry, entry->sent);
}

/* clang-format off */
static const gpc_cell_t sb_table[SB_NUM_STATES][SB_NUM_EVENTS] = {
    [SB_FREE] = {
        [SB_STORE] = GO(SB_OPEN, sb_act_drain_if_eager),
    },
    [SB_OPEN] = {
        [SB_STORE] = GO(SB_OPEN),
        [SB_RELEASE] = GO(SB_OPEN, sb_act_make_ready),
        [SB_DRAIN] = GO(SB_SENT, act_need_room, act_write_through),
    },
    [SB_SENT] = {
        [SB_STORE] = GO(SB_MORE),
        [SB_RELEASE] = GO(SB_SENT),
        [SB_ACK] = GO(SB_FREE, act_performed),
    },
    [SB_MORE] = {
        [SB_STORE] = GO(SB_MORE),
        [SB_RELEASE] = GO(SB_MORE, sb_act_remember_drain),
        [SB_ACK] = GO(SB_OPEN, act_performed, sb_act_drain_if_eager),
        [SB_ACK_DRAINS] = GO(SB_SENT, act_performed, act_write_through),
    },
};
/* clang-format on */

const gpc_table_t gpc_sb_write_through = {GPC_TABLE("L1.store_buffer", OVER_ENTRIES, SB, sb_table, gpc_sb_classify)};
