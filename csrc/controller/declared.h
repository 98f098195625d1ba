/* declared.h: what a protocol declares for tests and tools; no world reads it. */
#ifndef GPC_CONTROLLER_DECLARED_H
#define GPC_CONTROLLER_DECLARED_H

#include "base/types.h"

/* Cells that no program enters on a machine: all pairs of these states and events, each separated by spaces. */
typedef struct {
    const char *table, *states, *events;
    const char *rules; /* NULL: under every rule */
    const char *reason;
} gpc_uncovered_t;

#define GPC_MAX_UNCOVERED 12

typedef struct {
    /* Litmus tests, separated by spaces, whose weak outcome the protocol allows and runs must show. */
    const char *weak_outcomes;
    /* Option settings that tests run besides the defaults: "private=literal lifetime=0"; commas combine several. */
    const char *variations;
    gpc_uncovered_t uncovered[GPC_MAX_UNCOVERED]; /* ends with a null table */
} gpc_declared_t;

#endif
