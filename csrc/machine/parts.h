/* parts.h: the inside of a gpc_gpu_t, shared by the files that make the machine: gpu.c (building), run.c (launching and
 * running), host.c (memory and snapshots), queues.c (queues and turns of controllers), ports.c (the ports that
 * controllers call), checks.c (monitors and race detector), report.c (conservation, prints), statistics.c, storage.c (sizes and
 * look-ups of arrays and parts). */
#ifndef GPC_MACHINE_PARTS_H
#define GPC_MACHINE_PARTS_H

#include "check/monitor.h"
#include "check/race.h"
#include "controller/protocol.h"
#include "core/core.h"
#include "core/memory/order.h"
#include "fabric/dram.h"
#include "fabric/network.h"
#include "machine/gpu.h"

/* Messages that may wait in front of the network before a controller takes no more that could add to them; a controller's type may
 * declare another number. */
#define GPC_OUTBOX_LIMIT 8u

/* What changes about a controller's surroundings; in the arena. */
typedef struct {     /* what every turn looks at comes first */
    gpc_tick_t turn; /* when its next turn is scheduled; GPC_NEVER: none */
    gpc_tick_t outbox_turn;
    gpc_tick_t taken; /* when it took its last input: a bank takes one a cycle; GPC_NEVER: none yet */
    gpc_tick_t acted; /* when its ready entries last took steps, once a cycle; GPC_NEVER: not yet */
    gpc_list_t inbox; /* fills and timers */
    uint8_t inputs;   /* bit: a network with a message to take, in the register or in its buffer */
    uint8_t full;     /* bit: a network with no place more in the outbox */
    bool offer_held;  /* the core's oldest request was not taken, or is not to be offered yet */
    bool ended;       /* the controller has got its KERNEL_END */
    /* The input register of a network: taken from its buffer, not yet taken by a step. */
    gpc_index_t input[GPC_MAX_NETWORKS];
    uint32_t places;                     /* for messages of a network in the outbox: more make it full */
    uint32_t queued[GPC_MAX_NETWORKS];   /* messages in the outbox and those that wait for room in the network */
    gpc_list_t outbox[GPC_MAX_NETWORKS]; /* sent, on their way through the controller's pipeline */
} gpc_station_t;

/* What changes about the machine as a whole; in the arena. */
typedef struct {
    gpc_tick_t launched;     /* tick of the launch that runs, or of the last one */
    gpc_tick_t limit;        /* the budget's end */
    gpc_tick_t blocks_ended; /* when the last block ended, of a launch that lasts longer; 0: not yet */
    gpc_cycle_t cycles;      /* of finished launches */
    uint64_t launches;
    uint64_t rollovers;      /* of the protocol's timestamps, in finished launches */
    uint64_t sent, received; /* messages into and out of the fabric */
    uint64_t events;
    gpc_list_t background; /* timers that keep no launch running */
    bool running;
    bool finished; /* every block has ended; what is left is drained uncounted */
} gpc_gpu_state_t;

/* What watches the run (checks.c); all NULL when nothing is checked. */
typedef struct {
    gpc_monitor_t *monitor; /* owned */
    gpc_race_t *race;       /* owned */
    bool memory_unknown;    /* to the monitor: after an abort or a restore */
    gpc_watch_t controllers;
    gpc_core_watch_t cores;
} gpc_gpu_checks_t;

typedef struct {
    gpc_monitor_counts_t monitor;
    gpc_race_counts_t race;
} gpc_gpu_check_counts_t;

struct gpc_gpu {
    gpc_machine_t machine;
    const gpc_protocol_t *protocol;
    gpc_rule_t rule;
    int64_t options[GPC_MAX_OPTIONS];
    uint64_t seed, budget;
    uint32_t check;
    uint32_t num_networks;
    bool ends; /* KERNEL_END means something to the protocol: a launch lasts until what it causes is over */

    gpc_interleaving_t interleaving; /* of lines over banks */
    gpc_clock_t core_clock, l2_clock, noc_clock, dram_clock;
    gpc_tick_t bank_ticks;   /* from a bank's step to its messages at the network */
    uint32_t bank_stages;    /* the same in whole L2 cycles */
    gpc_cycle_t fill_cycles; /* from an answer's arrival at the L1 to its use */

    gpc_failure_t failure;
    gpc_arena_t arena;
    gpc_gpu_state_t *state;
    gpc_pool_t messages, lane_lists;
    gpc_wheel_t wheel;
    gpc_network_t network;
    gpc_dram_t dram;
    gpc_memory_t *memory;
    gpc_controller_t *controllers; /* owned; [cores + partitions], L1s first */
    gpc_controller_t **l1s;        /* owned; [cores] */
    gpc_station_t *stations;       /* [cores + partitions] */
    gpc_tick_t *core_turns;        /* [cores] */
    gpc_list_t *waiting;           /* [nodes][networks][lanes]: their time has come, the network has no room */
    uint32_t lanes;                /* of the network, at most, for each node and virtual network */
    gpc_order_t order;
    gpc_cores_t cores;
    void *instant_filter;    /* the protocol's, in the arena, or NULL */
    struct gpc_trace *trace; /* owned; NULL: nothing is written down */
    gpc_gpu_checks_t checks;
};

extern const gpc_ports_t gpc_gpu_ports;

static inline uint32_t
gpc_gpu_nodes(const gpc_gpu_t *gpu)
{
    return gpu->machine.cores + gpu->machine.partitions;
}
static inline bool
gpc_gpu_is_core(const gpc_gpu_t *gpu, gpc_node_t node)
{
    return node < gpu->machine.cores;
}

/* The controller of the bank that a line lives in. */
static inline gpc_controller_t *
gpc_gpu_home_of(gpc_gpu_t *gpu, gpc_address_t line)
{
    return &gpu->controllers[gpu->machine.cores + gpc_bank_of(gpu->interleaving, line)];
}

/* How often the protocol's timestamps have begun again since the launch began; 0 for a protocol without any. */
uint64_t gpc_gpu_rollovers(const gpc_gpu_t *gpu);
/* 0 between launches, and the last failure is forgotten; else GPC_ERROR_STATE that names what cannot be done. */
GPC_MUST_CHECK int gpc_gpu_refuse_while_running(gpc_gpu_t *gpu, const char *what);
/* host.c: monitors that do not know the memory are told its content, before a launch. */
GPC_MUST_CHECK int gpc_gpu_tell_monitors_memory(gpc_gpu_t *gpu);

/* Sets the latencies that follow from the machine's round trips, memory's in its configuration; what does not fit is a
 * GPC_ERROR_MACHINE. */
GPC_MUST_CHECK int gpc_gpu_derive_latencies(gpc_gpu_t *gpu, gpc_dram_config_t *dram);

/* Of events: what arrives at a tick is there for who acts at it. */
enum { GPC_PRIORITY_ARRIVE = 0, GPC_PRIORITY_CONTROLLER = 1, GPC_PRIORITY_CORE = 2, GPC_PRIORITY_OUTBOX = 2 };

/* queues.c. A turn of the controller at the first edge of its clock from then on. */
GPC_MUST_CHECK int gpc_gpu_schedule_controller(gpc_gpu_t *gpu, gpc_node_t node, gpc_tick_t from);
bool gpc_gpu_has_room(const void *world, const gpc_controller_t *unit, uint8_t network); /* a port */
int gpc_gpu_send(void *world, gpc_controller_t *from, gpc_index_t message);              /* a port */
/* Hooks of the fabric, the memory and the cores. */
int gpc_gpu_arrived(void *world, gpc_node_t node, uint32_t network);
int gpc_gpu_room(void *world, gpc_node_t node, uint32_t network, uint32_t lane);
int gpc_gpu_dram_answer(void *world, uint32_t channel, gpc_index_t message);
int gpc_gpu_dram_room(void *world, uint32_t channel);
int gpc_gpu_offer(void *world, uint32_t core, gpc_index_t message);
int gpc_gpu_schedule_core(void *world, uint32_t core, gpc_cycle_t at);
gpc_cycle_t gpc_gpu_hook_now(void *world);
/* Events for controllers. */
GPC_MUST_CHECK int gpc_gpu_controller_turn(gpc_gpu_t *gpu, gpc_node_t node);
GPC_MUST_CHECK int gpc_gpu_outbox_turn(gpc_gpu_t *gpu, gpc_node_t node);
GPC_MUST_CHECK int gpc_gpu_timer(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message);
void gpc_gpu_drop_background_timers(gpc_gpu_t *gpu); /* the only events that are left */
void gpc_gpu_clear_stations(gpc_gpu_t *gpu);
/* The line's state everywhere, behind a failure's text. */
void gpc_gpu_add_line_state(gpc_gpu_t *gpu);
GPC_MUST_CHECK int gpc_gpu_check_conservation(gpc_gpu_t *gpu);

void gpc_gpu_add_storage(const gpc_gpu_t *gpu, gpc_text_t *out); /* the group "storage" of the statistics */

/* checks.c: monitors and race detector, as gpu->check says. */
GPC_MUST_CHECK int gpc_gpu_make_checks(gpc_gpu_t *gpu);
void gpc_gpu_free_checks(gpc_gpu_t *gpu);
GPC_MUST_CHECK int gpc_gpu_checks_after_launch(gpc_gpu_t *gpu);
void gpc_gpu_checks_lost_memory(gpc_gpu_t *gpu);
GPC_MUST_CHECK int gpc_gpu_checks_host_wrote(gpc_gpu_t *gpu, gpc_address_t address, uint64_t words, const uint32_t *in);
void gpc_gpu_add_checks(const gpc_gpu_t *gpu, gpc_text_t *out); /* the group "check" of the statistics */
gpc_gpu_check_counts_t gpc_gpu_check_counts(const gpc_gpu_t *gpu);
void gpc_gpu_set_check_counts(gpc_gpu_t *gpu, const gpc_gpu_check_counts_t *counts); /* of a snapshot; or zero */

#endif
