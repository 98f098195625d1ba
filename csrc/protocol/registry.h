/* registry.h: every protocol, one line each: X(suffix of its gpc_protocol_.. object). */
#ifndef GPC_PROTOCOL_REGISTRY_H
#define GPC_PROTOCOL_REGISTRY_H

#include "protocol/protocol.h"

/* clang-format off */
#define GPC_PROTOCOLS(X) \
    X(no_l1)             \
    X(no_coherence)      \
    X(ideal)             \
    X(gpu_vi)            \
    X(gpu_vini)          \
    X(mesi)              \
    X(tc_strong)         \
    X(tc_weak)
/* clang-format on */

#define X(name) extern const gpc_protocol_t gpc_protocol_##name;
GPC_PROTOCOLS(X)
#undef X

#endif
