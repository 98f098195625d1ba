/* where.h: places of a program and threads of a launch, for error messages. */
#ifndef GPC_CORE_WHERE_H
#define GPC_CORE_WHERE_H

#include "core/state.h"

#define GPC_WHERE_BYTES 512u

/* The kernel's name, for a failure of the kernel's instruction at pc: notes its place, unless a failure is recorded
 * already. */
const char *gpc_core_fails_at(gpc_failure_t *failure, const gpc_core_launch_t *launch, uint32_t pc);
/* "kernel 'f' at k.py:12" ("at line 7" where the files are not known), "thread (3,0,0) of block (2,0,0)" into text of
 * `size` bytes; they return text. */
const char *gpc_launch_where(const gpc_launch_t *launch, uint32_t pc, char *text, size_t size);
const char *gpc_core_where(const gpc_core_launch_t *launch, uint32_t pc, char *text, size_t size);
/* Of a launch of several kernels, the kernel of a block (by its number among all); else NULL. */
const gpc_core_launch_t *gpc_launch_kernel_of(const gpc_launch_t *launch, uint32_t block);
const char *gpc_core_who(const gpc_issue_t *x, uint32_t lane, char *text, size_t size);

#endif
