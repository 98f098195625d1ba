/* where.h: places of a program and threads of a launch, for error messages. */
#ifndef GPC_CORE_WHERE_H
#define GPC_CORE_WHERE_H

#include "core/state.h"

/* "kernel 'f' at line 7", "thread (3,0,0) of block (2,0,0)" into text of `size` bytes; they return text. */
const char *gpc_core_where(const gpc_core_launch_t *launch, uint32_t pc, char *text, size_t size);
const char *gpc_core_who(const gpc_issue_t *x, uint32_t lane, char *text, size_t size);

#endif
