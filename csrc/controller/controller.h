/* controller.h: shared by the files of the controller; protocol files include protocol.h only. */
#ifndef GPC_CONTROLLER_CONTROLLER_H
#define GPC_CONTROLLER_CONTROLLER_H

#include "controller/lease.h"

/* fields[0] of the controller's own TIMER for the unit: an idle transaction may end. */
#define GPC_TIMER_IDLE UINT32_MAX

/* Begins a step of the table about the line: looks up its way in the table's array and its transaction. */
void gpc_step_about_line(gpc_controller_t *self, gpc_step_t *x, uint8_t table, uint8_t cause, gpc_address_t line,
                         gpc_index_t message);
/* Ends expired transactions when no MSHR is free: the controller's end_idle. */
GPC_MUST_CHECK int gpc_end_idle(gpc_controller_t *self);
/* Causes that no lease's end precedes. */
enum {
    GPC_CAUSES_WITHOUT_EXPIRY = 1u << GPC_MSG_KERNEL_BEGIN | 1u << GPC_MSG_KERNEL_END | 1u << GPC_MSG_EXPIRE |
    1u << GPC_MSG_INSTANT
};
/* The event of x's cause in state x->state. */
static inline gpc_event_id_t
gpc_fsm_event(const gpc_step_t *x)
{
    const gpc_table_t *table = x->table;
    if ((table->expiry.states >> x->state & 1) &&
        (x->cause >= 32 || !((GPC_CAUSES_WITHOUT_EXPIRY | table->expiry.except) >> x->cause & 1)) &&
        gpc_lease_ended(x)) {
        if (table->expiry.instead == 0) {
            return GPC_PRE_EVENT(table->expiry.event);
        }
        if (x->cause < 32 && table->expiry.instead >> x->cause & 1) {
            return table->expiry.event;
        }
    }
    uint8_t declared = table->causes[x->cause];
    return declared ? (gpc_event_id_t) (declared - 1) : table->classify ? table->classify(x) : GPC_NO_EVENT;
}
/* The state of x's object; over words, of x->word. */
uint8_t gpc_fsm_state(const gpc_step_t *x);
/* Over words: those of the line that are in the state. */
gpc_mask_t gpc_fsm_words_in(const gpc_step_t *x, uint8_t state);
/* At the end of a step over words: ends the transaction if no word is in a transient state and nothing is pending. */
GPC_MUST_CHECK int gpc_fsm_end_over_words(gpc_step_t *x);
/* Whether the table accepts the victim of this EVICT, with all of its words. */
bool gpc_fsm_lets_go(const gpc_step_t *victim);
/* Frees the MSHR allocated for this cell, before the cell has had any effect. */
void gpc_step_give_entry(gpc_step_t *x);
/* The error of a step that holds for a line without a transaction. */
int gpc_step_without_transaction(const gpc_step_t *x);
/* The message, or the entry of this step, waits for a change of the line's transaction. */
GPC_MUST_CHECK int gpc_step_hold_line(gpc_step_t *x);
/* Disposes of a split message after its cell: freed, kept, waiting for the line or for the queue. */
GPC_MUST_CHECK int gpc_step_finish_part(gpc_step_t *x, int status);
/* Splits off the masked words of the message and their lanes as a new message; GPC_NONE: no room. */
gpc_index_t gpc_split_message(gpc_controller_t *unit, gpc_index_t message, gpc_mask_t mask);
/* Sends the message at the end of the step, combined with equal ones. */
void gpc_collect(gpc_controller_t *unit, gpc_index_t message);
/* Sends (after an error: drops) all messages collected since the step began. */
GPC_MUST_CHECK int gpc_send_collected(gpc_controller_t *unit, bool forget);
/* The number of the table whose lines the array holds. */
uint8_t gpc_table_over(const gpc_controller_t *self, uint8_t array);
GPC_MUST_CHECK int gpc_parts_init(gpc_controller_t *self, gpc_arena_t *arena);
void gpc_part_clear(gpc_part_t *part);
/* Removes the ready entry from the queue, at any position (mostly the first); puts it back as the first. */
void gpc_part_take_ready(gpc_part_t *part, gpc_index_t entry);
void gpc_part_push_first(gpc_part_t *part, gpc_index_t entry);
/* The first ready entry becomes the last. */
void gpc_part_rotate_ready(gpc_part_t *part);
/* Makes x's entry wait for a change of the transaction; true also if it waits already. False: x has no entry, or no
 * transaction. */
bool gpc_entry_waits(const gpc_step_t *x, gpc_index_t mshr);
/* Makes the entries that wait for the transaction ready. */
GPC_MUST_CHECK int gpc_entries_ready(gpc_controller_t *self, gpc_mshr_t *mshr);
/* Checks that no entry is in use at rest, unless its part allows it, and that none is ready or waits. */
GPC_MUST_CHECK int gpc_parts_verify(const gpc_controller_t *self);
void gpc_parts_encode(const gpc_controller_t *self, gpc_encoder_t *out);
void gpc_parts_print(const gpc_controller_t *self, gpc_text_t *out);
/* Encodes the entries that wait for the transaction. */
void gpc_encode_waiting_entries(const gpc_controller_t *self, const gpc_mshr_t *mshr, gpc_encoder_t *out);

#endif
