/* parts.h: the internals of gpc_gpu_t, for the files of machine/: gpu.c (construction), launch.c (launching), run.c
 * (running), hang.c (launches without progress), host.c (memory and snapshots), cpu_cache.c (what it leaves in the
 * CPU's cache), serving.c (serves controllers: their inputs, and what they send), waiting.c (what waits for room or for
 * a pipeline), ports.c (the ports that controllers call, and timers), checks.c
 * (monitors and race detector), work.c (the monitor of work without an event), report.c (conservation, printed state),
 * messages.c (the machine's own messages), trips.c (trips of releases), words.c (words that lines lack), crossing.c
 * (the halves of an L2, links of dies and GPUs), pages.c (accesses of pages), translation.c (their translation),
 * statistics.c, storage.c (sizes and accesses of arrays and parts). */
#ifndef GPC_MACHINE_PARTS_H
#define GPC_MACHINE_PARTS_H

#include "check/monitor/monitor.h"
#include "check/race/race.h"
#include "controller/nodes.h"
#include "controller/protocol.h"
#include "core/core.h"
#include "core/memory/order.h"
#include "core/stuck.h"
#include "fabric/dram.h"
#include "fabric/network.h"
#include "machine/cpu_cache.h"
#include "machine/gpu.h"
#include "machine/translation.h"
#include "machine/words.h"

/* Messages that may wait for the network before a controller takes no more inputs that could add to them; a
 * controller's type may declare another limit. */
#define GPC_OUTBOX_LIMIT 8u

/* Queues and schedule of a controller; in the arena. */
typedef struct {     /* the members that every event reads come first */
    gpc_tick_t wake; /* tick of its scheduled event; GPC_NEVER: none */
    gpc_tick_t outbox_wake;
    gpc_tick_t taken; /* tick of its last input, or later: a bank takes no more up to it; GPC_NEVER: none yet */
    gpc_tick_t acted; /* tick of the last steps of its ready entries (once per cycle); GPC_NEVER: none yet */
    gpc_list_t inbox; /* fills and timers */
    uint8_t kind;     /* index of the node kind */
    uint8_t inputs;   /* bit: a network with a message to take, in the register or in its buffer */
    uint8_t full;     /* bit: a network whose outbox is full */
    bool offer_held;  /* the L1 has not taken the core's oldest request, or the core must not offer it yet */
    bool ended;       /* the controller has received KERNEL_END */
    uint8_t rotated;  /* where networks rotate: the network of the last request taken */
    uint32_t slots;   /* inputs that the atomics taken at this tick are worth beside themselves */
    uint64_t atomics; /* atomic operations performed, with atomic_lanes or atomic_cycles */
    uint64_t used;    /* inputs taken, and slots: a statistic */
    uint16_t trips;   /* of a core: sent for releases (trips.c), modulo 65536 */
    /* Input register of each network: a message taken from its buffer and not yet handled by a step. */
    gpc_index_t input[GPC_MAX_NETWORKS];
    uint32_t places;                     /* capacity of each network's outbox */
    uint32_t queued[GPC_MAX_NETWORKS];   /* messages in the outbox, and those that wait for room in the network */
    gpc_list_t outbox[GPC_MAX_NETWORKS]; /* sent messages in the controller's pipeline */
} gpc_node_queues_t;

/* The machine's networks: the interconnect of cores and partitions, and the star of the virtual networks that declare
 * it. */
typedef enum { GPC_INTERCONNECT, GPC_STAR, GPC_NUM_LINKS } gpc_links_t;

/* How the machine serves the controllers of a node kind. */
typedef struct {
    gpc_clock_t clock;
    uint8_t ports[GPC_NUM_LINKS]; /* to each of the machine's networks, in each direction */
    gpc_tick_t pipeline_ticks;    /* from a step to its answers at the network; requests leave at once */
    uint32_t pipeline_stages;     /* the same in whole cycles of the clock */
    uint8_t inputs;               /* taken per cycle; 0: each when it arrives */
    uint8_t needs_room;           /* bit n: a request is taken only if the outbox of network n has room */
    bool has_core;                /* takes the requests of a core */
    bool fetches;                 /* accesses memory: a request is taken only if the memory queue has room */
    bool looks_at_inputs;         /* with fence_trip, sectors or masks, or counts_atomics */
    bool counts_atomics;          /* a bank, with atomic_lanes or atomic_cycles */
    bool rotates;                 /* takes a request of the next network after each */
    bool own_channel;             /* each controller has a memory channel of its own */
} gpc_service_t;

/* State of the machine as a whole; in the arena. */
typedef struct {
    gpc_tick_t launched;  /* start of the current or last launch */
    gpc_tick_t limit;     /* of the next checkpoint or pause */
    gpc_tick_t checks_at; /* the next checkpoint (hang.c) */
    gpc_tick_t pauses_at; /* GPC_NEVER: no pause */
    gpc_event_t deferred; /* while paused: the first event at or after the pause */
    gpc_tick_t paused_at; /* 0: not paused */
    gpc_tick_t budget_ends;
    gpc_tick_t blocks_ended; /* end of the last block if the launch lasts longer; 0: not yet */
    gpc_cycle_t cycles;      /* of finished launches */
    uint64_t launches;
    uint64_t rollovers;      /* of the protocol's timestamps, in finished launches */
    uint64_t sent, received; /* messages into and out of the fabric */
    uint64_t events;
    gpc_list_t background; /* background and serving timers, which keep no launch running */
    uint32_t serving;      /* of these, serving ones */
    bool caches_are_empty; /* since a functional launch */
    gpc_tick_t looks_at;   /* the next look for work without an event (work.c); GPC_NEVER: none */
    bool running;
    bool finished; /* every block has ended; remaining events are drained and not counted */
} gpc_gpu_state_t;

typedef struct gpc_tries gpc_tries_t;             /* work.c */
typedef struct gpc_littles_law gpc_littles_law_t; /* littles_law.c */

/* The run's monitors (checks.c); all NULL without checks. */
typedef struct {
    gpc_monitor_t *monitor; /* owned */
    gpc_race_t *race;       /* owned */
    bool memory_unknown;    /* the monitor does not know memory's content, after an abort or a restore */
    gpc_subscriber_t calls; /* checks that leases need no invalidations */
    gpc_subscriber_t tried; /* notes what controllers try to take */
    gpc_tries_t *tries;     /* owned; [nodes] */
    uint64_t looks;         /* of work.c: a count */
    gpc_littles_law_t *law; /* owned */
} gpc_gpu_checks_t;

typedef struct {
    gpc_monitor_counts_t monitor;
    gpc_race_counts_t race;
    uint64_t looks;
} gpc_gpu_check_counts_t;

/* The last observed store to a word. */
typedef struct {
    gpc_address_t word;
    uint64_t launch; /* an entry of another launch is free */
    uint32_t value;
} gpc_stored_t;

#define GPC_HANG_STORED 4096u /* a power of two */

/* The observed arrivals of a warp at barriers, as states: the place and gpc_cores_register_sum. */
typedef struct {
    uint64_t kept;   /* the state after `power` arrivals */
    uint32_t count;  /* arrivals since then */
    uint32_t power;  /* doubled each time when a state is kept; 0: none has been */
    uint32_t period; /* arrivals in which the kept state has come again; 0: not yet */
} gpc_arrivals_t;

#define GPC_HANG_PERIOD 1024u /* most arrivals in a loop that is found */

/* Detection of a launch without progress (hang.c). */
typedef struct {
    gpc_cycle_t after;      /* core cycles without progress that end a launch */
    gpc_subscriber_t words; /* subscribed while words are observed, since the launch has made no other progress */
    bool changed;           /* a word has changed since the last checkpoint */
    bool unknown;           /* a store since the last checkpoint may have changed its word */
    uint64_t mark;          /* gpc_cores_progress_mark at the last checkpoint */
    uint64_t scratchpads;
    gpc_cycle_t quiet;        /* core cycles observed without progress */
    gpc_poll_t *polls;        /* owned; NULL before the first need */
    gpc_stored_t *stored;     /* owned, likewise; [GPC_HANG_STORED] */
    gpc_arrivals_t *arrivals; /* owned, likewise; [cores][warps_per_core] */
    uint8_t *deciding;        /* owned, of this launch; [registers] */
    size_t deciding_bytes;
} gpc_hang_t;

/* A launch without time (functional.c). */
typedef struct {
    bool on;
    gpc_machine_t machine;       /* of its cores */
    gpc_core_statistics_t *kept; /* owned; [cores]; NULL: there has been none. What is kept are launches with time */
    gpc_cycle_t cycles;
    uint64_t rollovers, events;
    gpc_cycle_t *trips;
} gpc_functional_t;

/* From one die or GPU to another. */
typedef struct {
    uint64_t busy_until, waited; /* in parts of a tick; of all messages, for those before them */
    uint64_t messages, bytes;
} gpc_link_t;

/* links = split: what waits for the link, in the order of each virtual network. */
typedef struct {
    gpc_list_t waiting[GPC_MAX_NETWORKS];
    uint32_t messages; /* waiting; a multicast counts once. If any, the link has an event at the end of the last one */
    uint32_t last;     /* the network of the last message that took it */
} gpc_link_queues_t;

#ifdef GPC_DIE_WINDOWS
/* windows.h */
typedef struct {
    uint64_t number, events, longest; /* of the window now; of all windows */
    uint64_t events_of[GPC_MAX_DIES]; /* in the window now */
} gpc_windows_t;
#endif

struct gpc_gpu {
    gpc_machine_t machine;
    const gpc_protocol_t *chosen;   /* of the setup */
    const gpc_protocol_t *protocol; /* the same, whole, with the options' tables */
    gpc_rule_t rule;
    int64_t options[GPC_MAX_OPTIONS];
    uint64_t budget;
    uint32_t check;
    uint32_t num_networks;
    bool ends;                      /* the protocol handles KERNEL_END: a launch lasts until its effects are complete */
    const gpc_boundary_t *boundary; /* while the protocol acts before a launch; else NULL */

    gpc_homes_t homes; /* of lines */
    gpc_nodes_t nodes;
    gpc_service_t services[GPC_NUM_POSITIONS]; /* of each node kind */
    gpc_clock_t core_clock, dram_clock, link_clocks[GPC_NUM_LINKS];
    gpc_cycle_t fill_cycles; /* from the arrival of an answer at the L1 to its use */

    gpc_failure_t failure;
    gpc_arena_t arena;
    gpc_arena_t constants; /* the resolved protocol and the controllers, which no snapshot contains */
    gpc_gpu_state_t *state;
    gpc_pool_t messages, lane_lists;
    gpc_wheel_t wheel;
    gpc_network_t links[GPC_NUM_LINKS];
    uint32_t num_links;                        /* 1 without virtual networks on the star */
    gpc_network_t *carriers[GPC_MAX_NETWORKS]; /* the links of each virtual network */
    gpc_dram_t dram;
    gpc_cpu_cache_t cpu;
    gpc_translation_t translation;
    gpc_words_t words;
    gpc_link_t *die_links; /* [dies][dies], then [gpus][gpus], from one to another; in the arena; NULL: one die */
    gpc_link_queues_t *link_queues; /* likewise; NULL: joined links */
    bool crosses;                   /* messages may cross: l2_crossing, or several dies */
    bool sends_late;                /* they do, or banks have lines that lack words */
    bool looks_at_pages; /* of a core's accesses: translation, or pages that are in the die of their first access */
    gpc_memory_t *memory;
    gpc_controller_t *controllers; /* [nodes], L1s first, then banks; in `constants` */
    gpc_controller_t **l1s;        /* owned; [cores] */
    gpc_node_queues_t *queues;     /* [nodes] */
    gpc_list_t *waiting;           /* [nodes][networks][lanes]: messages that wait for room in the network */
    uint32_t lanes;                /* maximum number of lanes per node and virtual network */
    gpc_order_t order;
    gpc_cores_t cores;
    gpc_stream_t stream;         /* of what happens in controllers and cores */
    void *instant_filter;        /* the protocol's, in the arena, or NULL */
    struct gpc_trace *trace;     /* owned; NULL: no trace */
    struct gpc_profile *profile; /* owned; NULL: no profile */
    gpc_gpu_checks_t checks;
    gpc_hang_t hang;
    gpc_functional_t functional;
#ifdef GPC_DIE_WINDOWS
    gpc_windows_t windows;
#endif
};

extern const gpc_ports_t gpc_gpu_ports;

/* trips.c: the port `trip`, and the arrival of its message at a bank or back at the L1. */
GPC_MUST_CHECK int gpc_gpu_trip(void *world, gpc_controller_t *l1, uint16_t warp);
GPC_MUST_CHECK int gpc_gpu_trip_arrived(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message);
gpc_traffic_t gpc_gpu_trip_traffic(const gpc_gpu_t *gpu); /* of all trips, both ways */
/* words.c; all but the first only if gpu->words.on. */
GPC_MUST_CHECK int gpc_gpu_make_words(gpc_gpu_t *gpu);
void gpc_gpu_clear_words(gpc_gpu_t *gpu);
/* gpc_controller_take and gpc_controller_replay, which also note which words the line then has. */
GPC_MUST_CHECK int gpc_gpu_take_words(gpc_gpu_t *gpu, gpc_controller_t *unit, gpc_index_t message);
GPC_MUST_CHECK int gpc_gpu_replay_words(gpc_gpu_t *gpu, gpc_controller_t *unit);
/* Of a fetch by the bank's step: words that it needs from memory; bytes that words take, and those of a write. */
gpc_mask_t gpc_gpu_words_to_fetch(const gpc_gpu_t *gpu, const gpc_controller_t *unit, gpc_address_t line);
uint32_t gpc_gpu_words_bytes(const gpc_gpu_t *gpu, gpc_mask_t words);
uint32_t gpc_gpu_words_written_bytes(const gpc_gpu_t *gpu, const gpc_controller_t *unit, gpc_address_t line,
                                     gpc_mask_t mask);
/* Before a bank's message leaves: one with words that the line lacks waits for memory. */
GPC_MUST_CHECK int gpc_gpu_words_before_send(gpc_gpu_t *gpu, const gpc_controller_t *bank, gpc_index_t message);
GPC_MUST_CHECK int gpc_gpu_words_read(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t read); /* memory has answered */
GPC_MUST_CHECK int gpc_gpu_words_room(gpc_gpu_t *gpu, uint32_t channel);
/* Sectors that the L1 lacks for a request that it completes, and the request's wait for them. */
gpc_mask_t gpc_gpu_words_lacking(const gpc_gpu_t *gpu, const gpc_controller_t *l1, const gpc_msg_t *msg);
GPC_MUST_CHECK int gpc_gpu_words_wait(gpc_gpu_t *gpu, gpc_controller_t *l1, gpc_index_t message, const uint32_t *words,
                                      gpc_mask_t lacking);
GPC_MUST_CHECK int gpc_gpu_words_arrived(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message); /* WORDS */
gpc_traffic_t gpc_gpu_words_traffic(const gpc_gpu_t *gpu);
/* messages.c: a new message outside the network; from a bank to a channel at a corner of the mesh and back; a network
 * of the interconnect with or without requests, else any of it (GPC_MAX_NETWORKS: there is none). */
gpc_index_t gpc_gpu_inner_message(gpc_gpu_t *gpu, const gpc_controller_t *unit, uint8_t type, gpc_address_t line);
gpc_tick_t gpc_gpu_ticks_to_channel(const gpc_gpu_t *gpu, const gpc_controller_t *unit, uint32_t channel);
uint8_t gpc_gpu_network_for(const gpc_gpu_t *gpu, bool requests);
/* Sends a message of a header and that payload: from a core on the network for requests, else on the other one. */
GPC_MUST_CHECK int gpc_gpu_send_inner(gpc_gpu_t *gpu, gpc_node_t from, gpc_node_t to, gpc_index_t message,
                                      uint32_t payload_bytes);

/* The next time limit is this checkpoint, the next look, or the last tick before the pause. */
static inline void
gpc_gpu_set_checkpoint(gpc_gpu_t *gpu, gpc_tick_t at)
{
    gpc_gpu_state_t *state = gpu->state;
    state->checks_at = at;
    at = state->looks_at < at ? state->looks_at : at;
    state->limit = state->pauses_at <= at ? state->pauses_at - 1 : at;
}

static inline uint32_t
gpc_gpu_nodes(const gpc_gpu_t *gpu)
{
    return gpu->nodes.count;
}
static inline const gpc_service_t *
gpc_gpu_service(const gpc_gpu_t *gpu, gpc_node_t node)
{
    return &gpu->services[gpu->queues[node].kind];
}

/* The controllers that an access to the line concerns. */
static inline gpc_units_t
gpc_gpu_units(const gpc_gpu_t *gpu, gpc_address_t line)
{
    return gpc_nodes_units(&gpu->nodes, gpu->controllers, gpu->l1s, line);
}

/* Traffic of the protocol's message type with this number. */
static inline const gpc_traffic_t *
gpc_gpu_traffic(const gpc_gpu_t *gpu, uint32_t type)
{
    return &gpu->carriers[gpu->protocol->messages[type].network]->traffic[GPC_MSG_OWN + type];
}

/* Memory channels: of the partitions, or apart from them. */
static inline uint32_t
gpc_gpu_channels(const gpc_gpu_t *gpu)
{
    return gpu->homes.channels.divisor * gpu->homes.dies.divisor;
}

/* Whether the controller accesses lines of the channel: those on a die, lines of that die. */
static inline bool
gpc_gpu_reaches(const gpc_gpu_t *gpu, gpc_node_t node, uint32_t channel)
{
    uint32_t die = gpc_die_of(&gpu->nodes, node);
    return !gpu->homes.paged || die == GPC_NO_DIE || channel / gpu->homes.channels.divisor == die;
}

/* Between launches, clears the last failure and returns 0; else GPC_ERROR_STATE with a text that names `what`. */
GPC_MUST_CHECK int gpc_gpu_refuse_while_running(gpc_gpu_t *gpu, const char *what);
/* run.c: before a launch, what the protocol does then, until nothing is in flight. */
GPC_MUST_CHECK int gpc_gpu_cross_boundary(gpc_gpu_t *gpu, const gpc_boundary_t *boundary);
/* host.c: before a launch, gives memory's content to monitors that do not know it. */
GPC_MUST_CHECK int gpc_gpu_tell_monitors_memory(gpc_gpu_t *gpu);

/* Derives latencies from the machine's round trips, memory's latency in its configuration. GPC_ERROR_MACHINE when a
 * round trip is too short. */
GPC_MUST_CHECK int gpc_gpu_derive_latencies(gpc_gpu_t *gpu, gpc_dram_config_t *dram);

/* Priorities of events: at equal ticks, deliveries precede controllers and cores. */
enum { GPC_PRIORITY_ARRIVE = 0, GPC_PRIORITY_CONTROLLER = 1, GPC_PRIORITY_CORE = 2, GPC_PRIORITY_OUTBOX = 2 };

/* serving.c. Schedules the controller at the first edge of its clock at or after `from`. */
GPC_MUST_CHECK int gpc_gpu_schedule_controller(gpc_gpu_t *gpu, gpc_node_t node, gpc_tick_t from);
bool gpc_gpu_may_take_request(gpc_gpu_t *gpu, gpc_node_t node); /* its outboxes and the memory queue have room */
bool gpc_gpu_may_take_from(gpc_gpu_t *gpu, gpc_node_t node, uint32_t network);           /* a request of that network */
bool gpc_gpu_has_room(const void *world, const gpc_controller_t *unit, uint8_t network); /* a port */
int gpc_gpu_send(void *world, gpc_controller_t *from, gpc_index_t message);              /* a port */
int gpc_gpu_crossed(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message);               /* an event of a controller */
/* crossing.c; only if messages may cross. How long the message crosses, which takes its place on a link, and which of
 * its ways do: of one source, messages of one kind cross together. */
GPC_MUST_CHECK int gpc_gpu_make_die_links(gpc_gpu_t *gpu);
gpc_cycle_t gpc_gpu_longest_crossing(const gpc_gpu_t *gpu);
gpc_tick_t gpc_gpu_crossing_ticks(gpc_gpu_t *gpu, const gpc_msg_t *msg);
bool gpc_gpu_takes_link(const gpc_gpu_t *gpu, const gpc_msg_t *msg);        /* to another die */
uint32_t gpc_gpu_crossing_kind(const gpc_gpu_t *gpu, const gpc_msg_t *msg); /* less than GPC_CROSSING_KINDS */
/* Of links = split: whether the message must wait for its link, its wait, and the link's event, at which one leaves. */
bool gpc_gpu_waits_for_link(const gpc_gpu_t *gpu, const gpc_msg_t *msg);
GPC_MUST_CHECK int gpc_gpu_wait_for_link(gpc_gpu_t *gpu, gpc_index_t message);
GPC_MUST_CHECK int gpc_gpu_link_event(gpc_gpu_t *gpu, uint32_t number);
void gpc_gpu_clear_die_links(gpc_gpu_t *gpu); /* of what waits */
bool gpc_gpu_links_sleep_on_work(const gpc_gpu_t *gpu, const gpc_schedule_t *schedule, gpc_text_t *out);
#define GPC_CROSSING_KINDS GPC_MAX_DIES
void gpc_gpu_add_die_links(const gpc_gpu_t *gpu, gpc_text_t *out);  /* to the statistics */
void gpc_gpu_add_busy_links(const gpc_gpu_t *gpu, gpc_text_t *out); /* to the group "busy" of them */
void gpc_gpu_reset_die_links(gpc_gpu_t *gpu);
/* pages.c: the machine's pages; what a core's access to a page does before its L1 takes it. */
GPC_MUST_CHECK int gpc_gpu_make_pages(gpc_gpu_t *gpu);
GPC_MUST_CHECK int gpc_gpu_access_page(gpc_gpu_t *gpu, uint32_t core, gpc_index_t message);
GPC_MUST_CHECK int gpc_gpu_touch_page(gpc_gpu_t *gpu, uint32_t core, gpc_address_t line); /* its place alone */
/* functional.c: begins a functional launch, whose caches are then empty; ends it, or nothing. */
GPC_MUST_CHECK int gpc_gpu_begin_functional(gpc_gpu_t *gpu);
void gpc_gpu_end_functional(gpc_gpu_t *gpu);
/* host.c: memory has what the host would read, and no cache anything; ends a launch. */
GPC_MUST_CHECK int gpc_gpu_empty_caches(gpc_gpu_t *gpu);
/* Hooks of the fabric, the memory and the cores. */
int gpc_gpu_arrived(void *world, gpc_node_t node, uint32_t network);
int gpc_gpu_room(void *world, gpc_node_t node, uint32_t network, uint32_t lane);
int gpc_gpu_dram_answer(void *world, uint32_t channel, gpc_index_t message);
int gpc_gpu_dram_room(void *world, uint32_t channel);
int gpc_gpu_offer(void *world, uint32_t core, gpc_index_t message);
int gpc_gpu_schedule_core(void *world, uint32_t core, gpc_cycle_t at, gpc_cycle_t *scheduled);
/* The same of a core whose events are all later or none. */
GPC_MUST_CHECK static inline __attribute__((always_inline)) int /* of every cycle */
gpc_gpu_schedule_cycle(gpc_gpu_t *gpu, uint32_t core, gpc_cycle_t at)
{
    bool joined;
    int status = gpc_wheel_schedule_edge(&gpu->wheel, at, core, &joined);
    gpu->state->events += joined; /* the event that an earlier one had made obsolete */
    return status;
}
/* The core cycle, and the hook of the cores for it. */
static inline gpc_cycle_t
gpc_gpu_cycle(const gpc_gpu_t *gpu)
{
    return gpc_clock_cycles(gpu->core_clock, gpc_wheel_now(&gpu->wheel));
}
gpc_cycle_t gpc_gpu_hook_now(void *world);
/* Events for controllers. */
GPC_MUST_CHECK int gpc_gpu_controller_event(gpc_gpu_t *gpu, gpc_node_t node);
GPC_MUST_CHECK int gpc_gpu_outbox_event(gpc_gpu_t *gpu, gpc_node_t node);
/* ports.c */
GPC_MUST_CHECK int gpc_gpu_timer(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message); /* an event of a controller */
void gpc_gpu_drop_background_timers(gpc_gpu_t *gpu); /* when no other events are left */

void gpc_gpu_clear_queues(gpc_gpu_t *gpu); /* gpu.c */

/* report.c. Appends the line's state in all controllers to a failure's text. */
void gpc_gpu_add_line_state(gpc_gpu_t *gpu);
GPC_MUST_CHECK int gpc_gpu_check_conservation(gpc_gpu_t *gpu);

/* busy.c: the group "busy" of the statistics, and its reset. */
void gpc_gpu_add_busy(const gpc_gpu_t *gpu, gpc_text_t *out);
void gpc_gpu_reset_busy(gpc_gpu_t *gpu);
void gpc_gpu_add_storage(const gpc_gpu_t *gpu, gpc_text_t *out); /* the group "storage" of the statistics */

/* hang.c. The time limit of a launch is reached: sets the next one; DEADLOCK or BUDGET, without a text, end the
 * launch. */
GPC_MUST_CHECK int gpc_gpu_checkpoint(gpc_gpu_t *gpu, gpc_tick_t tick);
void gpc_gpu_hang_begin(gpc_gpu_t *gpu); /* of a launch */
void gpc_gpu_hang_end(gpc_gpu_t *gpu);   /* of a launch, also without begin */
void gpc_gpu_hang_free(gpc_gpu_t *gpu);
/* The errors of a launch without events, beyond its budget, and without progress. */
int gpc_gpu_fail_deadlock(gpc_gpu_t *gpu);
int gpc_gpu_fail_over_budget(gpc_gpu_t *gpu);
int gpc_gpu_fail_hanging(gpc_gpu_t *gpu);
/* work.c */
GPC_MUST_CHECK int gpc_gpu_make_work_monitor(gpc_gpu_t *gpu);
void gpc_gpu_begin_work_monitor(gpc_gpu_t *gpu); /* of a launch, also without the monitor */
void gpc_gpu_free_work_monitor(gpc_gpu_t *gpu);
/* Reports work without an event. taken: the event that is about to run, or NULL. */
GPC_MUST_CHECK int gpc_gpu_look_for_work(gpc_gpu_t *gpu, const gpc_event_t *taken);
/* littles_law.c */
GPC_MUST_CHECK int gpc_gpu_make_law(gpc_gpu_t *gpu);
void gpc_gpu_forget_law(gpc_gpu_t *gpu); /* until the next launch: the statistics have been reset */
void gpc_gpu_free_law(gpc_gpu_t *gpu);
/* checks.c: monitors and race detector, as gpu->check says. */
GPC_MUST_CHECK int gpc_gpu_make_checks(gpc_gpu_t *gpu);
void gpc_gpu_free_checks(gpc_gpu_t *gpu);
void gpc_gpu_checks_lost_memory(gpc_gpu_t *gpu);
GPC_MUST_CHECK int gpc_gpu_checks_host_wrote(gpc_gpu_t *gpu, gpc_address_t address, uint64_t words, const uint32_t *in);
GPC_MUST_CHECK int gpc_gpu_checks_host_read(gpc_gpu_t *gpu, gpc_address_t address, uint64_t words, const uint32_t *out);
void gpc_gpu_add_checks(const gpc_gpu_t *gpu, gpc_text_t *out); /* the group "check" of the statistics */
gpc_gpu_check_counts_t gpc_gpu_check_counts(const gpc_gpu_t *gpu);
void gpc_gpu_set_check_counts(gpc_gpu_t *gpu, const gpc_gpu_check_counts_t *counts); /* from a snapshot, or zero */

#endif
