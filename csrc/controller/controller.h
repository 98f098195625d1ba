/* controller.h: what the files of the controller share; protocol files include protocol.h only. */
#ifndef GPC_CONTROLLER_CONTROLLER_H
#define GPC_CONTROLLER_CONTROLLER_H

#include "controller/protocol.h"

/* What a TIMER for the unit has in fields[0] when it is the controller's own: an idle transaction may end. */
#define GPC_TIMER_IDLE UINT32_MAX

/* The type with the tables that the options choose: itself, or a copy in the arena. NULL: no memory. */
const gpc_controller_type_t *gpc_chosen_type(const gpc_controller_type_t *type, const int64_t *options,
                                             gpc_arena_t *arena);
/* A step of the table about the line: its way in the table's array and its transaction are looked up. */
void gpc_step_about_line(gpc_controller_t *self, gpc_step_t *x, uint8_t table, uint8_t cause, gpc_address_t line,
                         gpc_index_t message);
/* Whether the table would let the victim of this EVICT go, all of its words. */
bool gpc_fsm_lets_go(const gpc_step_t *victim);
/* The entry that was taken for this cell goes back: before it has had any effect. */
void gpc_step_give_entry(gpc_step_t *x);
/* The error of a step that holds for a line in no transaction. */
int gpc_step_without_transaction(const gpc_step_t *x);
/* The message, or without one the entry whose step this is, waits for a change of the line's transaction. */
GPC_MUST_CHECK int gpc_step_hold_line(gpc_step_t *x);
/* What becomes of the message after the step: freed, kept, waiting for the line; the queue is the caller's. */
GPC_MUST_CHECK int gpc_step_finish(gpc_step_t *x, int status);
/* What becomes of a part's message after its look-up: freed, kept, waiting for the line or for the queue. */
GPC_MUST_CHECK int gpc_step_finish_part(gpc_step_t *x, int status);
/* The masked words of the message, and their lanes, as a message of their own; GPC_NONE: no room. */
gpc_index_t gpc_split_message(gpc_controller_t *unit, gpc_index_t message, gpc_mask_t mask);
/* The message leaves with what this step sends alike, at its end. */
void gpc_collect(gpc_controller_t *unit, gpc_index_t message);
/* Everything collected since the step began leaves (or, after an error, is forgotten). */
GPC_MUST_CHECK int gpc_send_collected(gpc_controller_t *unit, bool forget);
/* The number of the table whose lines the array holds. */
uint8_t gpc_table_over(const gpc_controller_t *self, uint8_t array);
GPC_MUST_CHECK int gpc_parts_init(gpc_controller_t *self, gpc_arena_t *arena);
void gpc_part_clear(gpc_part_t *part);
/* The ready entry leaves the queue, from anywhere in it (the first one, mostly); and is the first of it again. */
void gpc_part_take_ready(gpc_part_t *part, gpc_index_t entry);
void gpc_part_push_first(gpc_part_t *part, gpc_index_t entry);
/* x's entry waits for a change of the transaction; true if it waits already. False: x has no entry, or there is no transaction. */
bool gpc_entry_waits(const gpc_step_t *x, gpc_index_t mshr);
/* The entries that wait for the transaction are ready. */
GPC_MUST_CHECK int gpc_entries_ready(gpc_controller_t *self, gpc_mshr_t *mshr);
/* At rest no entry is in use, unless its part allows it, and none is ready or waits. */
GPC_MUST_CHECK int gpc_parts_verify(const gpc_controller_t *self);
void gpc_parts_encode(const gpc_controller_t *self, gpc_encoder_t *out);
void gpc_parts_print(const gpc_controller_t *self, gpc_text_t *out);
/* Which entries wait for the transaction. */
void gpc_encode_waiting_entries(const gpc_controller_t *self, const gpc_mshr_t *mshr, gpc_encoder_t *out);

#endif
