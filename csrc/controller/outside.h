/* outside.h: all that a protocol outside the tree needs. Its C file includes this header, declares its protocol as
 * those of csrc/protocols do, and ends with GPC_EXPORT_PROTOCOLS(&gpc_protocol_mine). gpucoh compiles and loads it:
 * gpucoh.load_protocol, or -p ./mine.c of a command. */
#ifndef GPC_CONTROLLER_OUTSIDE_H
#define GPC_CONTROLLER_OUTSIDE_H

#define GPC_CHECKED_ACCESS /* an access to a way or MSHR that a line does not have is an error with a text */
#include "controller/toolkit.h"

/* gpucoh's compilations define it; an editor need not. */
#ifndef GPC_VERSION
#define GPC_VERSION "unknown"
#endif

/* What a library of protocols was compiled for. No two versions of gpucoh promise to be compatible, and the structs of
 * one may differ from those of an extension that has not been built again. */
typedef struct {
    const char *version;
    uint32_t sizes[7];
} gpc_interface_t;

#define GPC_INTERFACE(version_)                                                                                        \
    {                                                                                                                  \
        .version = (version_), .sizes = {                                                                              \
            sizeof(gpc_protocol_t),                                                                                    \
            sizeof(gpc_controller_type_t),                                                                             \
            sizeof(gpc_table_t),                                                                                       \
            sizeof(gpc_controller_t),                                                                                  \
            sizeof(gpc_step_t),                                                                                        \
            sizeof(gpc_msg_t),                                                                                         \
            sizeof(gpc_ports_t)                                                                                        \
        }                                                                                                              \
    }

/* The names by which a library is asked for its interface and its protocols, which it owns. */
#define GPC_INTERFACE_NAME "gpucoh_interface"
#define GPC_PROTOCOLS_NAME "gpucoh_protocols"
typedef const gpc_protocol_t *const *gpc_protocols_of_t(void); /* the last one is NULL */

#define GPC_EXPORT_INTERFACE                                                                                           \
    GPC_API extern const gpc_interface_t gpucoh_interface;                                                             \
    const gpc_interface_t gpucoh_interface = GPC_INTERFACE(GPC_VERSION)

/* GPC_EXPORT_PROTOCOLS(&gpc_protocol_mine, ...); at the end of the file. */
#define GPC_EXPORT_PROTOCOLS(...)                                                                                      \
    GPC_EXPORT_INTERFACE;                                                                                              \
    GPC_API gpc_protocols_of_t gpucoh_protocols;                                                                       \
    const gpc_protocol_t *const *gpucoh_protocols(void)                                                                \
    {                                                                                                                  \
        static const gpc_protocol_t *const exported[] = {__VA_ARGS__, NULL};                                           \
        return exported;                                                                                               \
    }                                                                                                                  \
    _Static_assert(true, "")

#endif
