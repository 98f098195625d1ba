/* stc_checks.c: monitors of STC: the rules of epochs (ER1 to ER3; DAR1 to DAR3), their number, and that a copy which
 * may be hit has the L2's words. ER4, that any band may be read in any epoch, is in the table of lines: no cell of a
 * load waits for an epoch. */
#include <string.h>

#include "protocols/spatiotemporal/stc_cu.h"

enum { STC_L1_STATES(GPC_FSM_STATE_ENUM_) };
enum { STC_BUFFER_STATES(GPC_FSM_STATE_ENUM_) };
enum { STC_CU_STATES(GPC_FSM_STATE_ENUM_) };

/* ER1 as a lease: a copy whose band may be written is no copy, though it may await its removal. */
static gpc_cycle_t
readable_until(const gpc_controller_t *core, gpc_index_t way)
{
    return stc_is_written(core, gpc_tags_line(&core->arrays[0], way)) ? 0 : GPC_NEVER - 1;
}

static gpc_cycle_t
leased(const gpc_controller_t *bank, gpc_address_t line)
{
    (void) bank, (void) line;
    return GPC_NEVER - 1;
}

const gpc_watched_t stc_watched = {.promise = GPC_PROMISE_FRESH,
                                   .readable = 1u << L1_V,
                                   .copies = 1u << L1_V | 1u << L1_IV,
                                   .bank_is_whole = true,
                                   .joins = true,
                                   .lease = readable_until,
                                   .leased = leased};

/* ER2 and ER3: a store of this CU is outstanding, and every CU is in its epoch, or knows that it comes. */
static int
check_store(const gpc_units_t *units, gpc_controller_t *writer, gpc_address_t line)
{
    if (!stc_is_current(writer, line)) {
        return gpc_violated(writer, line, "a band is written only in its epoch (ER2)", "CU %u has a store outstanding",
                            writer->index);
    }
    for (uint32_t i = 0; i < units->num_cores; i++) {
        if (!stc_is_written(units->cores[i], line)) {
            return gpc_violated(units->cores[i], line, "all CUs are in the same epoch (ER3)",
                                "CU %u has a store outstanding, and CU %u may read copies", writer->index, i);
        }
    }
    return GPC_OK;
}

/* DAR1 to DAR3: all other bands take one turn at most before a blocked store's; a demand may just miss a change, and
 * find another one. */
static int
check_turn(gpc_controller_t *core, gpc_index_t entry, gpc_address_t line)
{
    const stc_entry_t *store = gpc_part_fields(&core->parts[0], entry);
    if (store->waited > core->options[STC_OPTION_EPOCHS] + 2) {
        return gpc_violated(core, line, "every band's epoch comes again and again (DAR3)",
                            "a store of CU %u has waited for %u changes", core->index, store->waited);
    }
    return GPC_OK;
}

static int
check_copy(const gpc_units_t *units, gpc_controller_t *core, gpc_address_t line)
{
    const gpc_tags_t *tags = &core->arrays[0], *bank = &units->bank->arrays[0];
    gpc_index_t way = gpc_tags_find(tags, line), at_bank = gpc_tags_find(bank, line);

    if (way == GPC_NONE || tags->tags[way].mshr != GPC_NONE || tags->tags[way].state != L1_V) {
        return GPC_OK;
    }
    const stc_touched_t *touched = &stc_cu_unit(core)->touched;
    uint32_t set = gpc_tags_set_of(tags, line);
    if (stc_is_current(core, line) && (touched->bits[set / 64] >> set % 64 & 1)) {
        return gpc_violated(core, line, "a set that has been accessed in an epoch has no line of its band",
                            "CU %u has one", core->index);
    }
    bool whole = at_bank != GPC_NONE && bank->tags[at_bank].mshr == GPC_NONE;
    if (!stc_is_written(core, line) && whole &&
        memcmp(gpc_tags_words(tags, way), gpc_tags_words(bank, at_bank), tags->line_words * sizeof(uint32_t)) != 0) {
        return gpc_violated(core, line, "a copy that may be hit has the L2's words", "CU %u's has others", core->index);
    }
    return GPC_OK;
}

static int
check_line(const gpc_units_t *units, gpc_controller_t *core, gpc_address_t line)
{
    const gpc_part_t *part = &core->parts[0];
    gpc_index_t entry = gpc_part_find(part, line);
    bool sent = entry != GPC_NONE && part->states[entry] == BUFFER_SENT;
    GPC_TRY(sent ? check_store(units, core, line) : entry != GPC_NONE ? check_turn(core, entry, line) : GPC_OK);
    return check_copy(units, core, line);
}

/* Section 6: up to `bands` epochs together; the protocols without the option grant one. */
static int
check_granted(gpc_controller_t *core, gpc_address_t line)
{
    int granted = __builtin_popcount(stc_cu_unit(core)->current), most = (int) core->options[STC_OPTION_BANDS];

    most = most > 1 ? most : 1;
    return granted <= most ? GPC_OK
                           : gpc_violated(core, line, "at most `bands` epochs are granted together",
                                          "CU %u is in %d, and %d are allowed", core->index, granted, most);
}

int
stc_monitor(const gpc_units_t *units, gpc_address_t line)
{
    int status = GPC_OK;
    for (uint32_t i = 0; i < units->num_cores && status == GPC_OK; i++) {
        gpc_controller_t *core = units->cores[i];
        if (core->unit_states[STC_TABLE_EPOCHS] == CU_READY && stc_cu_unit(core)->writes) {
            return gpc_violated(core, line, "no store is outstanding at READY", "CU %u has %u", i,
                                stc_cu_unit(core)->writes);
        }
        status = check_granted(core, line);
        status = status == GPC_OK && units->bank ? check_line(units, core, line) : status;
    }
    return status;
}
