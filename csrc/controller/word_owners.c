/* word_owners.c: what L1s that own words, and the bank that registers the owners, have in common. */
#include "controller/word_owners.h"

#include "controller/actions.h"
#include "controller/host.h"
#include "controller/store_buffer.h"

gpc_mask_t
gpc_words_at(const gpc_controller_t *unit, gpc_address_t line, uint32_t states, gpc_index_t *way)
{
    *way = gpc_tags_find(&unit->arrays[0], line);
    return *way == GPC_NONE ? GPC_NO_WORDS : gpc_words_in(unit, *way, states);
}

int
gpc_send_mask(gpc_step_t *x, uint8_t type, gpc_node_t to)
{
    gpc_msg_t *msg = gpc_new_message(x, type, to);
    msg->mask = x->mask;
    return gpc_send(x, msg);
}

int
gpc_send_words(gpc_step_t *x, uint8_t type, gpc_node_t to)
{
    gpc_msg_t *msg = gpc_new_message(x, type, to);
    gpc_carry(x, msg, x->mask, gpc_line_words(x));
    return gpc_send(x, msg);
}

GPC_SHARED_ACTION(words_act_install, "write the message's words into the line")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->mask);
    return GPC_OK;
}

/* ---- an L1 that owns words --------------------------------------------------------------------------------------- */

GPC_SHARED_ACTION(words_act_perform_pending, "perform the pending accesses to the words in order")
{
    gpc_index_t request;
    while ((request = gpc_take_words(x->unit, gpc_step_pending(x), x->mask)) != GPC_NONE) {
        GPC_TRY(gpc_perform_and_complete(x, request, false));
    }
    return GPC_OK;
}

GPC_SHARED_ACTION(words_act_write, "write the owned words; the store is performed and complete")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->mask);
    GPC_TRY(gpc_note_performed(x, x->message, 0));
    return gpc_complete(x, x->message, NULL, true);
}

/* ---- the bank ---------------------------------------------------------------------------------------------------- */

uint32_t
gpc_rank_of_owned(const gpc_controller_t *unit, uint8_t array, gpc_index_t way)
{
    return gpc_has_owned_words(unit, array, way);
}

int
gpc_send_demanded(gpc_step_t *x, uint8_t type)
{
    gpc_msg_t *msg = gpc_new_message(x, type, x->msg->requester);
    gpc_carry(x, msg, x->mask | gpc_words_in(x->unit, x->way, 1u << GPC_REGISTRY_HERE), gpc_line_words(x));
    gpc_demanded_message(msg)->demanded = x->mask;
    gpc_count_hit(x);
    return gpc_send(x, msg);
}

int
gpc_send_to_owners(gpc_step_t *x, uint8_t type)
{
    int status = GPC_OK;
    for (gpc_mask_t left = x->mask; left && status == GPC_OK; left &= left - 1) {
        gpc_msg_t *msg = gpc_new_message(x, type, gpc_registry_line(x)->owner.node[__builtin_ctz(left)]);
        msg->mask = left & -left;
        status = gpc_send(x, msg);
    }
    return status;
}

GPC_SHARED_ACTION(registry_act_fetch, "fetch the line, once; the request is pending until memory answers")
{
    int status = GPC_OK;
    gpc_count_miss(x);
    if (!gpc_registry_mshr(x)->fetches) {
        gpc_registry_mshr(x)->fetches = 1;
        status = gpc_fetch(x);
    }
    GPC_TRY(status);
    return gpc_keep_pending(x);
}

GPC_SHARED_ACTION(registry_act_take, "write the words into the line; memory is stale")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, x->mask);
    gpc_registry_line(x)->dirty |= x->mask;
    return GPC_OK;
}

static void
name(gpc_step_t *x, gpc_node_t owner)
{
    for (gpc_mask_t left = x->mask; left; left &= left - 1) {
        gpc_registry_line(x)->owner.node[__builtin_ctz(left)] = owner;
    }
}

GPC_SHARED_ACTION(registry_act_name_owner, "the requester is the words' owner")
{
    gpc_registry_line(x)->dirty &= ~x->mask; /* until they return */
    name(x, x->msg->requester);
    return GPC_OK;
}

GPC_SHARED_ACTION(registry_act_name_none, "the words have no owner")
{
    name(x, 0); /* equal lines are encoded alike */
    return GPC_OK;
}

GPC_SHARED_ACTION(registry_act_write_memory, "write the dirty words to memory")
{
    gpc_mask_t dirty = gpc_registry_line(x)->dirty;
    gpc_registry_line(x)->dirty = GPC_NO_WORDS;
    return gpc_write_memory(x, dirty, gpc_line_words(x));
}

/* ---- the host and the monitor ------------------------------------------------------------------------------------ */

int
gpc_host_read_words(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    const gpc_watched_t *watched = units->bank->protocol->watched;
    gpc_index_t way;
    gpc_mask_t here = mask & gpc_words_at(units->bank, line, watched->bank_words, &way);

    if (here) {
        gpc_merge_words(words, gpc_tags_words(&units->bank->arrays[0], way), here);
    }
    for (uint32_t i = 0; i < units->num_cores; i++) {
        const gpc_controller_t *core = units->cores[i];
        gpc_mask_t owned = mask & gpc_words_at(core, line, watched->owners, &way);
        if (owned) {
            gpc_merge_words(words, gpc_tags_words(&core->arrays[0], way), owned);
        }
        gpc_sb_overlay(core, line, mask, words); /* of an aborted launch */
    }
    return GPC_OK;
}

static void
write_at(gpc_controller_t *core, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    gpc_tags_t *tags = &core->arrays[0];
    gpc_index_t way;
    gpc_mask_t owned = gpc_words_at(core, line, core->protocol->watched->owners, &way);

    if (way == GPC_NONE) {
        return;
    }
    gpc_merge_words(gpc_tags_words(tags, way), words, mask & owned);
    for (gpc_mask_t left = mask & ~owned; left; left &= left - 1) {
        gpc_tags_word_states(tags, way)[__builtin_ctz(left)] = core->type->tables[0]->initial;
    }
}

int
gpc_host_write_words(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    for (uint32_t i = 0; i < units->num_cores; i++) {
        write_at(units->cores[i], line, mask, words);
    }
    return gpc_host_write(units, line, mask, words);
}

int
gpc_monitor_words(const gpc_units_t *units, gpc_address_t line)
{
    const gpc_watched_t *watched = units->bank->protocol->watched;
    gpc_index_t way;
    gpc_mask_t there = gpc_words_at(units->bank, line, watched->bank_words, &way), others = GPC_NO_WORDS;

    for (uint32_t i = 0; i < units->num_cores; i++) {
        gpc_controller_t *core = units->cores[i];
        gpc_mask_t owned = gpc_words_at(core, line, watched->owners, &way);
        if (owned & others) {
            return gpc_violated(core, line, "a word has at most one owner", "L1 %u and another one own words 0x%x", i,
                                owned & others);
        }
        if (owned & there) {
            return gpc_violated(core, line, "a word is at the L2 or at its owner", "L1 %u owns words 0x%x of the bank",
                                i, owned & there);
        }
        if (owned & gpc_sb_held(core, line)) {
            return gpc_violated(core, line, "no owned word is in the store buffer", "L1 %u owns words 0x%x in it", i,
                                owned & gpc_sb_held(core, line));
        }
        others |= owned;
    }
    return GPC_OK;
}
