/* ports.h: the ports between a controller and the world that runs it. Two worlds implement them, the machine
 * (machine/ports.c) and the explorer (check/explore/world_ports.c); a protocol file cannot tell which one runs it. */
#ifndef GPC_CONTROLLER_PORTS_H
#define GPC_CONTROLLER_PORTS_H

#include "base/machine.h"
#include "base/types.h"

typedef struct gpc_controller gpc_controller_t;

/* What a timer keeps running. When only background and serving timers are left, a launch whose warps have ended ends,
 * and they are dropped. A periodic timer sets itself again; KERNEL_BEGIN sets the first. */
typedef enum {
    GPC_TIMER_NEEDED,     /* keeps the launch running */
    GPC_TIMER_BACKGROUND, /* helps no warp: a launch whose warps wait for nothing else is a deadlock */
    GPC_TIMER_SERVING     /* may release what warps wait for (an epoch's end): progress while a warp has not ended */
} gpc_timer_t;

typedef struct {
    gpc_cycle_t (*now)(const void *world); /* core cycles, the unit of leases and GWCTs */
    /* Sends the message to message->destination (a controller) on its type's virtual network, message->ready cycles of
     * the sender's clock later; messages on the network stay in order. */
    int (*send)(void *world, gpc_controller_t *from, gpc_index_t message);
    /* The same, once the CPU has answered the probes of all writes to memory up to now; later messages may overtake
     * it. */
    int (*send_probed)(void *world, gpc_controller_t *from, gpc_index_t message);
    /* Sends one copy to every controller of the set, on its type's virtual network, in order of node. */
    int (*broadcast)(void *world, gpc_controller_t *from, gpc_index_t message, const gpc_nodeset_t *to);
    /* Causes INSTANT for the line at the L1s of the set (NULL: all) except `except`, in this cycle, without a
     * message. */
    int (*instant)(void *world, gpc_controller_t *from, gpc_address_t line, const gpc_nodeset_t *to, gpc_node_t except,
                   uint8_t cause);
    /* Sets a TIMER for the line (with line GPC_NEVER: for the unit, and fields[0] returns `tag`) at a core cycle. A
     * lease has no timer; a request that waits for one has. */
    int (*wake_at)(void *world, gpc_controller_t *unit, gpc_cycle_t at, gpc_address_t line, uint32_t tag,
                   gpc_timer_t kind);
    /* Schedules the unit for the next edge of its clock: ready entries act, held requests are retried. */
    int (*schedule)(void *world, gpc_controller_t *unit);
    /* Whether the unit's outbox has room for another message on the network; a drain queries it before it sends. The
     * unit is scheduled when messages leave a full outbox. */
    bool (*room)(const void *world, const gpc_controller_t *unit, uint8_t network);
    /* The warp's access may be retried at that core cycle (0: now). */
    int (*wake_warp)(void *world, gpc_controller_t *l1, uint16_t warp, gpc_cycle_t at);
    /* Completes the words of message->mask of the core's request; the request is complete when all of its words are.
     * words: the line, for a load; atomics have their old values in the lane list. Takes ownership of the message.
     * `hit`: with the L1's hit latency, else with the latency of an arrived answer. extra: further core cycles. */
    int (*complete)(void *world, gpc_controller_t *l1, gpc_index_t message, const uint32_t *words, bool hit,
                    uint32_t extra);
    /* Fetches the line from memory, which answers the unit with a FILL, that many cycles of the unit's clock later. */
    int (*fetch)(void *world, gpc_controller_t *unit, gpc_address_t line, uint32_t late);
    /* Whether the memory's queue for the line has room; an entry queries it before it fetches or writes, since only
     * requests wait for it unasked. The unit is scheduled when there is room again. */
    bool (*memory_room)(const void *world, gpc_address_t line);
    /* Writes the masked words. With a note, memory answers with WRITTEN, whose fields[0] is the note, once they are at
     * the pins. */
    int (*write_memory)(void *world, gpc_controller_t *unit, gpc_address_t line, gpc_mask_t mask, const uint32_t *words,
                        const uint64_t *note);
    /* Calls `what` for every controller, in order of node, in this cycle and without a message: over wires of its own,
     * whose latency the protocol charges (the rollover of RCC's timestamps). Ends with the first result other than
     * GPC_OK. */
    int (*visit)(void *world, int (*what)(gpc_controller_t *unit, void *context), void *context);
    /* Sends a message to a partition and back on behalf of the warp's release, which gpc_order_trip_back ends. The
     * explorer, which has no time, has none (NULL). */
    int (*trip)(void *world, gpc_controller_t *l1, uint16_t warp);
    /* The line's words at its bank, else in memory, in no time: for bounds and options of analysis. */
    int (*newest)(void *world, gpc_address_t line, uint32_t *words);
} gpc_ports_t;

#endif
