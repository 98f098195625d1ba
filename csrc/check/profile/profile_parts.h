/* profile_parts.h: what the files of the profile share: profile.c (cycles), profile_caches.c (steps and messages),
 * profile_waits.c (who ended whose wait), profile_print.c. */
#ifndef GPC_CHECK_PROFILE_PARTS_H
#define GPC_CHECK_PROFILE_PARTS_H

#include "check/profile/profile.h"
#include "controller/protocol.h"
#include "core/frontend/frontend.h"

/* Cycles of a warp: those of a stall, those that it issues, and those in which the scheduler prefers others. */
enum { GPC_CYCLES_ISSUE = GPC_NUM_STALLS, GPC_CYCLES_NOT_SELECTED, GPC_NUM_CYCLES };

enum {
#define X(name, text) GPC_COUNT_##name,
    GPC_CONTROLLER_STATISTICS(X)
#undef X
        GPC_NUM_COUNTS
};

typedef struct {
    uint64_t counts[GPC_NUM_POSITIONS][GPC_NUM_COUNTS];
    uint64_t flits;
    uint64_t owner_changes;   /* stores and atomics of another core than the last one that wrote the line */
    uint64_t bank_cycles;     /* of requests, from when the bank could take them to its last step for them */
    uint64_t requests;        /* these and the following on several dies: of L1s to the L2 for lines */
    uint64_t remote_requests; /* of these, for lines whose home is on another die */
    uint64_t link_requests;   /* that take a link: of L1s, and those that near L2s pass on */
    uint64_t link_bytes;      /* of all messages */
} gpc_traffic_counts_t;

/* Requests of the cores of a die, counted as above. */
typedef struct {
    uint64_t requests, remote_requests, link_requests;
} gpc_die_requests_t;

/* An instruction of a program, or none. */
typedef struct {
    uint64_t instructions;
    uint64_t cycles[GPC_NUM_STALLS + 1];  /* charged to its line; [GPC_CYCLES_ISSUE]: it issues */
    uint64_t awaited[GPC_NUM_STALLS + 1]; /* likewise, charged to the access that is waited for */
    gpc_traffic_counts_t caused;
    uint32_t slot; /* no count, and last: of an access by address the buffer that it accessed last, or num_buffers */
} gpc_profiled_place_t;

/* The launches of one program with arrays of the same names. */
typedef struct gpc_profiled_program gpc_profiled_program_t;
struct gpc_profiled_program {
    gpc_profiled_program_t *next;
    char *kernel;
    gpc_instruction_t *code;
    uint32_t count, num_buffers, num_files;
    uint64_t launches;
    gpc_buffer_t *ranges; /* [num_buffers], of the last launch; names in `buffers` */
    char **buffers, **files;
    uint32_t *first_lines;
    gpc_profiled_place_t *places; /* [count + 1]; the last one: no instruction */
    gpc_traffic_counts_t *slots;  /* [num_buffers + 1]; the last one: no buffer of the launch */
    gpc_die_requests_t *by_die;   /* [num_buffers + 1][dies] */
};

#define GPC_PROFILE_RECENT 4u /* a loop may access others beside the word that it polls */

typedef struct {
    gpc_address_t word; /* GPC_NEVER: none */
    uint32_t pc;
    gpc_cycle_t accessed, seen; /* the last time, and the time before */
} gpc_recent_t;

/* The longest wait of a warp since another one let it go on. */
typedef struct {
    uint32_t pc;
    uint8_t cause;
    gpc_cycle_t cycles;
} gpc_longest_t;

typedef struct {
    uint64_t instructions;
    uint64_t cycles[GPC_NUM_STALLS + 1]; /* charged to the warp */
    uint64_t waits[GPC_NUM_CYCLES];      /* its own life */
    gpc_cycle_t since;                   /* earlier cycles of its life have been charged */
    gpc_cycle_t aside;                   /* since when it waits for the load-store queue; GPC_NEVER: not */
    uint8_t pending;                     /* the cause for which it has been refused; GPC_NUM_CYCLES: none */
    uint32_t block;
    uint32_t last[3];                        /* its last load, store and atomic; GPC_NONE: none */
    gpc_recent_t recent[GPC_PROFILE_RECENT]; /* words that it has loaded or changed atomically, the last one first */
    gpc_longest_t longest;
} gpc_profiled_warp_t;

/* A warp at a moment at which others learn of what it does. */
typedef struct {
    uint32_t core, warp, block; /* core GPC_NONE: none */
    gpc_cycle_t cycle;
    gpc_longest_t longest;
} gpc_moment_t;

typedef struct {
    gpc_address_t word;       /* GPC_NEVER: free */
    gpc_moment_t now, before; /* who changed it last, and the last other warp before */
} gpc_changed_t;

/* Another warp has let a warp, or the warps of a mask, go on. */
typedef struct {
    gpc_cycle_t cycle;
    uint64_t warps;
    uint32_t core, pc;
    uint8_t cause;      /* barrier, poll or lock */
    gpc_address_t word; /* of a poll or lock */
    gpc_moment_t by;
} gpc_handover_t;

/* A part of the chain of waits that ends a launch. */
typedef struct {
    gpc_cycle_t from, to;
    uint32_t core, warp, block;
    gpc_longest_t longest;
    uint8_t cause; /* of the wait that ended at `from`; GPC_NUM_STALLS: the launch began */
    uint32_t pc, slot;
    uint64_t element;
} gpc_link_t;

#define GPC_PROFILE_HANDOVERS 65536u
#define GPC_PROFILE_CHANGED 16384u
#define GPC_PROFILE_ASKED 65536u
#define GPC_PROFILE_LINKS 4096u

typedef struct {
    gpc_address_t line;
    gpc_node_t node; /* UINT16_MAX: any */
    uint32_t launch, pc;
} gpc_asked_t;

/* The core that wrote a line last. */
typedef struct {
    gpc_address_t line; /* GPC_NEVER: free */
    gpc_node_t core;
} gpc_written_t;

/* A request at a bank: its cycles before `until` are charged. */
typedef struct {
    gpc_address_t line;
    gpc_tick_t ready;
    gpc_cycle_t until;
} gpc_stay_t;

/* The cell that a controller executes or has executed last, to which counts until its next one belong. */
typedef struct {
    gpc_address_t line;
    uint32_t pc;
    gpc_stay_t charged; /* of a bank: the last request that is charged; others with its line and tick are its parts */
} gpc_profiled_step_t;

struct gpc_profile {
    gpc_profiled_t about;
    gpc_subscriber_t subscriber;
    gpc_profiled_program_t *programs, *program;
    gpc_profiled_warp_t *warps;          /* [cores][warps_per_core] */
    uint32_t *selected;                  /* [cores]: the instruction that the core selected last */
    uint32_t replaced;                   /* the one before, of the core that selected last */
    uint32_t *producers;                 /* [cores][warps_per_core][registers]: the instruction that wrote it last */
    uint32_t vectors, registers, room;   /* of the launch; of `producers` */
    uint32_t *accesses;                  /* [cores][requests_per_core]: the instruction of an access */
    gpc_profiled_step_t *steps;          /* [nodes] */
    gpc_controller_statistics_t *before; /* [nodes] */
    gpc_asked_t *asked;                  /* [GPC_PROFILE_ASKED]: the last instruction that accessed a line */
    gpc_written_t *written;              /* [GPC_PROFILE_ASKED] */
    gpc_stay_t *stays;                   /* [capacity of the messages] */
    gpc_changed_t *changed;              /* [GPC_PROFILE_CHANGED] */
    gpc_handover_t *handovers;           /* [GPC_PROFILE_HANDOVERS], the last ones */
    uint64_t num_handovers;
    uint32_t launches;
    gpc_cycle_t began, last_cycle; /* of the launch, and of the last issue in it */
    uint32_t last_core, last_warp; /* which issued then */
    gpc_link_t *links;             /* [GPC_PROFILE_LINKS], of the longest launch, from its end back */
    uint32_t num_links;
    bool links_cut;
    gpc_cycle_t longest, began_of_links;
    const gpc_profiled_program_t *links_of;
};

static inline gpc_profiled_warp_t *
gpc_profile_warp(const gpc_profile_t *self, uint32_t core, uint32_t warp)
{
    return &self->warps[(size_t) core * self->about.cores->machine->warps_per_core + warp];
}

static inline uint32_t
gpc_profile_dies(const gpc_profile_t *self)
{
    return self->about.cores->machine->dies;
}

static inline gpc_cycle_t
gpc_profile_now(const gpc_profile_t *self)
{
    return self->about.cores->hooks.now(self->about.cores->hooks.world);
}

/* profile_caches.c */
void gpc_profile_offered(gpc_profile_t *self, const gpc_observation_t *event);
void gpc_profile_cell(gpc_profile_t *self, const gpc_step_t *x);
void gpc_profile_stepped(gpc_profile_t *self, const gpc_controller_t *unit, gpc_address_t line);
void gpc_profile_dropped(gpc_profile_t *self, const gpc_observation_t *event);
void gpc_profile_written(gpc_profile_t *self, const gpc_msg_t *msg);
void gpc_profile_sent(gpc_profile_t *self, const gpc_observation_t *event);
void gpc_profile_crossed(gpc_profile_t *self, const gpc_msg_t *msg);
void gpc_profile_sweep(gpc_profile_t *self); /* counts since the last steps */

/* profile_waits.c */
gpc_moment_t gpc_profile_moment(const gpc_profile_t *self, uint32_t core, uint32_t warp);
void gpc_profile_performed(gpc_profile_t *self, const gpc_msg_t *msg);
void gpc_profile_arrived(gpc_profile_t *self, const gpc_observation_t *event);
/* The warp has read the word for which it polls: whether another one has changed it meanwhile. */
void gpc_profile_polled(gpc_profile_t *self, uint32_t core, uint32_t warp, uint32_t pc, uint8_t cause);
void gpc_profile_follow_waits(gpc_profile_t *self);

#endif
