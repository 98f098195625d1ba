/* resolve.h: from a declared protocol to the one that a world runs: checks, options, tables. */
#ifndef GPC_CONTROLLER_RESOLVE_H
#define GPC_CONTROLLER_RESOLVE_H

#include "base/arena.h"
#include "controller/declare.h"

/* GPC_ERROR_PROTOCOL names a member that every protocol has and this one lacks. */
GPC_MUST_CHECK int gpc_protocol_check_declared(const gpc_protocol_t *self, gpc_failure_t *failure);
/* GPC_ERROR_PROTOCOL, with the field's name, if the protocol has timestamps and does not handle their width. */
GPC_MUST_CHECK int gpc_protocol_check_time(const gpc_protocol_t *self, gpc_failure_t *failure);
/* GPC_ERROR_PROTOCOL, with the field's name, if barriers join no warp field of that kind, and the protocol does not say
 * what they do. */
GPC_MUST_CHECK int gpc_protocol_check_join(const gpc_protocol_t *self, gpc_failure_t *failure);
/* GPC_ERROR_PROTOCOL, with the message's name, if a prompt message is on an ordered network. */
GPC_MUST_CHECK int gpc_protocol_check_prompt(const gpc_protocol_t *self, gpc_failure_t *failure);
/* GPC_ERROR_OPTION names an option of analysis that differs from its default. */
GPC_MUST_CHECK int gpc_protocol_refuse_analysis(const gpc_protocol_t *self, const int64_t *options,
                                                gpc_failure_t *failure);
/* The protocol as a world runs it: a copy in the arena, whose controllers have the tables that the options select, each
 * whole, and whose messages have the sizes that they select. NULL: no memory. */
const gpc_protocol_t *gpc_protocol_resolve(const gpc_protocol_t *protocol, const int64_t *options, gpc_arena_t *arena);
/* The tables of its controllers, each name once: the first, second, ..; NULL: there are no more. */
const gpc_table_t *gpc_protocol_table(const gpc_protocol_t *protocol, uint32_t number);
/* The number of a controller's table of that name; GPC_MAX_TABLES: it has none. */
uint32_t gpc_type_table(const gpc_controller_type_t *type, const char *name);
/* Whether a table is over words, so that a request may be split into two parts. */
bool gpc_protocol_splits_requests(const gpc_protocol_t *protocol);
/* Whether the L1s' table over words does not split requests whose words are accessed at once (gpc_table_t.whole); and
 * whether such requests may be split. */
bool gpc_protocol_keeps_whole(const gpc_protocol_t *protocol);
bool gpc_protocol_splits_pairs(const gpc_protocol_t *protocol);
/* Options: defaults, then derived, then given values; GPC_ERROR_OPTION names the invalid one. */
GPC_MUST_CHECK int gpc_protocol_options(const gpc_protocol_t *self, const gpc_machine_t *machine,
                                        const gpc_option_value_t *given, uint32_t num_given, int64_t *options,
                                        gpc_failure_t *failure);

#endif
