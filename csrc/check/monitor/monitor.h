/* monitor.h: run-time monitors (check=True), which check a protocol's promises during a run, independently of its
 * tables.
 *
 * Monitors subscribe to the world's stream (base/observe.h): steps of controllers, performed writes, completed
 *          requests, fences,
 * barriers, blocks and launches. A protocol declares its promises by gpc_watched_t and by its own `monitor`. */
#ifndef GPC_CHECK_MONITOR_H
#define GPC_CHECK_MONITOR_H

#include "base/text.h"
#include "check/monitor/shadow.h"
#include "controller/nodes.h"
#include "controller/protocol.h"

/* X(name, text): counts of checks, which show a run that has checked nothing. */
#define GPC_MONITOR_COUNTS(X)                                                                                          \
    X(steps, "steps of controllers after which the line's states were checked")                                        \
    X(writes, "performed stores and atomics checked against other L1s' copies and leases")                             \
    X(loads, "words of loads compared with the values that they may return")                                           \
    X(atomics, "old values of atomics compared with what the word held")                                               \
    X(accepted, "words of stores that were accepted before they were performed")                                     \
    X(copies, "lines in L1s compared, word by word, with the last writes performed")                                   \
    X(banks, "lines in banks compared, word by word, with the last writes performed")                                  \
    X(leases, "unexpired copies whose lease the bank knows")                                                           \
    X(lease_hits, "hits on copies that may expire")                                                                    \
    X(order, "loads checked against a newer value that the warp has read or written")                                  \
    X(fences, "releases checked for global visibility of the warp's writes")                                           \
    X(undecided, "words of loads not checked, because of too many writes since the issue")

typedef struct {
#define X(name, text) uint64_t name;
    GPC_MONITOR_COUNTS(X)
#undef X
} gpc_monitor_counts_t;

typedef struct gpc_monitor gpc_monitor_t;

/* The monitored objects; all borrowed. */
typedef struct {
    gpc_stream_t *stream; /* to which the monitors subscribe */
    const gpc_protocol_t *protocol;
    gpc_rule_t rule;
    const gpc_machine_t *machine;
    const gpc_nodes_t *nodes;
    gpc_controller_t *controllers; /* all nodes, in order */
    gpc_controller_t *const *l1s;  /* [cores] */
    const gpc_pool_t *messages, *lane_lists;
} gpc_monitored_t;

GPC_MUST_CHECK int gpc_monitor_create(const gpc_monitored_t *about, gpc_monitor_t **out);
void gpc_monitor_free(gpc_monitor_t *self); /* NULL too */
const gpc_monitor_counts_t *gpc_monitor_counts(const gpc_monitor_t *self);
void gpc_monitor_set_counts(gpc_monitor_t *self, const gpc_monitor_counts_t *counts);

/* Memory as the host sees it: drops the whole content; gpc_monitor_host_wrote sets that of a range. */
void gpc_monitor_forget_memory(gpc_monitor_t *self);
GPC_MUST_CHECK int gpc_monitor_host_wrote(gpc_monitor_t *self, gpc_address_t address, uint64_t words,
                                          const uint32_t *in);
/* The same of a cached line: which of its words the home lacks. */
GPC_MUST_CHECK int gpc_monitor_note_ahead(gpc_monitor_t *self, gpc_address_t line);
/* The host has read these words. */
GPC_MUST_CHECK int gpc_monitor_host_read(gpc_monitor_t *self, gpc_address_t address, uint64_t words,
                                         const uint32_t *out);

#endif
