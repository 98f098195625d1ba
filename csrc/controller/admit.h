/* admit.h: whether a protocol from outside the tree is whole. */
#ifndef GPC_CONTROLLER_ADMIT_H
#define GPC_CONTROLLER_ADMIT_H

#include "controller/declare.h"

/* GPC_ERROR_PROTOCOL or GPC_ERROR_ARGUMENT names a member that is not given, or a fault of a table. */
GPC_MUST_CHECK int gpc_protocol_admit(const gpc_protocol_t *self, gpc_failure_t *failure);

#endif
