/* versions.h: the promise that copies with the line's version have the line's words, on which renewals without data
 * rely.
 *
 * Controller types at core and bank declare `.version = GPC_PLACE(si_l1, line, version)`, and the protocol
 * `.monitor = gpc_equal_versions`, or calls it from its own monitor: runs with check=True and the explorer verify the
 * promise.
 */
#ifndef GPC_CONTROLLER_VERSIONS_H
#define GPC_CONTROLLER_VERSIONS_H

#include "controller/protocol.h"

/* A protocol's .monitor: copies with the version of the bank's line have its words, or a violation. */
GPC_API GPC_MUST_CHECK int gpc_equal_versions(const gpc_units_t *units, gpc_address_t line);

#endif
