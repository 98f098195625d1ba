/* metadata.h: typed access to a protocol's own fields beside lines and in MSHRs, controllers, warps, entries and
 * messages.
 *
 *     #define L1_MSHR(FIELD) FIELD(PLAIN, uint16_t, upgrades)
 *     GPC_METADATA(tcw_l1, mshr, L1_MSHR)    -> tcw_l1_mshr_t, tcw_l1_mshr_described, tcw_l1_mshr(x)->upgrades
 */
#ifndef GPC_CONTROLLER_METADATA_H
#define GPC_CONTROLLER_METADATA_H

#include "controller/protocol.h"

#define GPC_METADATA(owner, object, FIELDS)                                                        \
    GPC_DESCRIBE(owner, object, FIELDS)                                                            \
    GPC_ACCESS_##object##_(owner)

#define GPC_ACCESSOR_(type, name, arguments, where)                                                \
    __attribute__((unused)) static inline type *name arguments                                     \
    {                                                                                              \
        return (type *) (void *) (where);                                                          \
    }

/* OWNER_line(x): beside x's line, in its way; OWNER_line_at(unit, array, way). */
#define GPC_ACCESS_line_(owner)                                                                    \
    GPC_ACCESSOR_(owner##_line_t, owner##_line, (const gpc_step_t *x), gpc_line_fields(x))         \
    GPC_ACCESSOR_(owner##_line_t, owner##_line_at,                                                 \
                  (const gpc_controller_t *unit, uint8_t array, gpc_index_t way),                  \
                  gpc_tags_fields(&unit->arrays[array], way))
/* OWNER_mshr(x): fields in x's MSHR; OWNER_mshr_at(unit, mshr). */
#define GPC_ACCESS_mshr_(owner)                                                                    \
    GPC_ACCESSOR_(owner##_mshr_t, owner##_mshr, (const gpc_step_t *x), gpc_step_mshr_fields(x))    \
    GPC_ACCESSOR_(owner##_mshr_t, owner##_mshr_at, (const gpc_controller_t *unit, gpc_index_t mshr), \
                  gpc_mshr_fields(&unit->mshrs, mshr))
/* OWNER_unit(unit), OWNER_core(unit), OWNER_warp(unit, warp). */
#define GPC_ACCESS_unit_(owner) GPC_ACCESSOR_(owner##_unit_t, owner##_unit, (const gpc_controller_t *unit), unit->unit_fields)
#define GPC_ACCESS_core_(owner) GPC_ACCESSOR_(owner##_core_t, owner##_core, (const gpc_controller_t *unit), unit->core_fields)
#define GPC_ACCESS_warp_(owner)                                                                    \
    GPC_ACCESSOR_(owner##_warp_t, owner##_warp, (const gpc_controller_t *unit, uint16_t warp),     \
                  unit->warp_fields + (size_t) warp * unit->warp_fields_size)
/* OWNER_entry(x, part): fields of x's entry. */
#define GPC_ACCESS_entry_(owner)                                                                   \
    GPC_ACCESSOR_(owner##_entry_t, owner##_entry, (const gpc_step_t *x, uint8_t part),             \
                  gpc_part_fields(&x->unit->parts[part], x->entry))
/* OWNER_message(msg): fields of the message. */
#define GPC_ACCESS_message_(owner)                                                                 \
    GPC_ACCESSOR_(owner##_message_t, owner##_message, (const gpc_msg_t *msg), (uintptr_t) msg->fields)

/* A shared action accesses a protocol's fields through its own struct: the member has the same offset in
 * both, or the file does not compile. */
#define GPC_SAME_PLACE(type, shared_type, member)                                                                      \
    _Static_assert(offsetof(type, member) == offsetof(shared_type, member) &&                                          \
                       sizeof(((type *) 0)->member) == sizeof(((shared_type *) 0)->member),                            \
                   "shared actions expect " #member " at another offset")
/* The same for a state, event, message or option that a shared file relies on. */
#define GPC_SAME_NUMBER(here, shared) _Static_assert((int) (here) == (int) (shared), "shared code expects another number for " #here)

#endif
