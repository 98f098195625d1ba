/* race_parts.h: internals of the race detector: race.c (threads and their synchronisation), race_words.c (accesses to
 * words) and race_report.c. */
#ifndef GPC_CHECK_RACE_PARTS_H
#define GPC_CHECK_RACE_PARTS_H

#include "check/pages.h"
#include "check/race/race.h"
#include "check/race/view.h"
#include "controller/fsm.h"

/* Scopes. */
enum { LEVEL_CTA, LEVEL_CU, LEVEL_GPU, LEVEL_SYS, NUM_LEVELS };

typedef struct {
    gpc_moment_t moment;
    uint16_t pc;
    uint8_t level; /* of a synchronising access */
    bool synchronising, writes;
} gpc_race_access_t;

/* Accesses of several threads, by thread and level. */
typedef struct {
    gpc_race_access_t *items; /* owned */
    uint32_t count, capacity;
} gpc_race_set_t;

/* The view released at a word with one scope. */
typedef struct {
    uint32_t block;
    uint16_t core;
    uint8_t level;
    gpc_view_t *view; /* owned share */
} gpc_race_release_t;

/* Synchronisation state of a word. */
typedef struct {
    gpc_race_set_t reads, writes;
    gpc_race_release_t *releases; /* owned */
    uint32_t count, capacity;
} gpc_race_sync_t;

#define GPC_RACE_NOBODY UINT32_MAX
#define GPC_RACE_MANY (UINT32_MAX - 1)

typedef struct {
    gpc_moment_t write; /* last weak write; thread GPC_RACE_NOBODY: none */
    gpc_moment_t read;  /* last weak read; thread GPC_RACE_MANY: time is the index of a set of readers */
    uint16_t write_pc, read_pc;
    uint32_t sync; /* 1 + index of its gpc_race_sync_t; 0: none */
    bool split;    /* some of its bytes have accesses of their own */
} gpc_race_word_t;

#define GPC_RACE_PAGE_WORDS 256u
typedef struct {
    uint64_t launch; /* last launch that used it; older contents are void */
    gpc_race_word_t words[GPC_RACE_PAGE_WORDS];
} gpc_race_page_t;

typedef struct {
    uint32_t thread; /* warps of the launch in order of block */
    uint32_t time;
    uint32_t block;
    gpc_view_t *knows;              /* its view of other threads; owned share, like those below */
    gpc_view_t *fenced[NUM_LEVELS]; /* view at its last release fence of at least this scope */
    gpc_view_t *seen[NUM_LEVELS];   /* view that an acquire fence of this scope gains from its relaxed reads */
} gpc_race_thread_t;

/* The views that an outstanding access will publish when it is performed. */
typedef struct {
    gpc_view_t *views[NUM_LEVELS]; /* owned shares */
} gpc_race_flight_t;

struct gpc_race {
    gpc_subscriber_t subscriber;
    const gpc_cores_t *cores; /* borrowed, as the next two */
    const gpc_machine_t *machine;
    gpc_failure_t *failure;
    bool at_perform, scoped;
    bool narrow; /* the launch has synchronisation with a scope that leaves out some of its warps */
    gpc_race_counts_t counts;
    const gpc_launch_t *launch; /* borrowed */
    uint64_t launches;
    uint32_t warps_per_block, scratchpad_words;
    gpc_race_thread_t *threads; /* owned; [cores * warps_per_core] */
    gpc_race_flight_t *flights; /* owned; [cores * requests_per_core] */
    gpc_view_t **joined;        /* owned; [cores * blocks_per_core * GPC_NAMED_BARRIERS] */
    gpc_view_t **fences;        /* owned; [gpus][2]: the fences of order sc of a program of PTX, of scope gpu and sys */
    gpc_view_t *ended[GPC_MOST_KERNELS]; /* owned shares: of the warps of a kernel that have ended */
    uint16_t *core_of;                   /* owned; [blocks of the launch] */
    gpc_pages_t pages;                   /* of gpc_race_page_t; the scratchpads behind memory's */
    gpc_race_set_t *sets;                /* owned */
    uint32_t num_sets, set_capacity;
    gpc_race_sync_t *syncs; /* owned */
    uint32_t num_syncs, sync_capacity;
};

/* Addresses of scratchpad words. */
#define GPC_RACE_SCRATCHPADS (UINT64_C(1) << 60)
static inline gpc_address_t
gpc_race_scratchpad_at(uint32_t word) /* of all cores' together */
{
    return GPC_RACE_SCRATCHPADS + 4 * (gpc_address_t) word;
}

/* Bytes, where a thread has accessed them alone, have records of words. Synchronisation is that of their word. */
#define GPC_RACE_BYTES (UINT64_C(1) << 63)
static inline gpc_address_t
gpc_race_byte_at(gpc_address_t address)
{
    return GPC_RACE_BYTES + 4 * address;
}

static inline uint32_t
gpc_race_block_of(const gpc_race_t *self, uint32_t thread)
{
    return thread / self->warps_per_block;
}

/* Whether a scope of a warp on one core includes the blocks of another core. */
static inline bool
gpc_race_reaches(const gpc_race_t *self, uint32_t core, uint8_t level, uint32_t other)
{
    return level == LEVEL_SYS || (level == LEVEL_CU && core == other) ||
           (level == LEVEL_GPU && gpc_gpu_of_core(self->machine, core) == gpc_gpu_of_core(self->machine, other));
}

/* race_words.c */
gpc_race_word_t *gpc_race_word_at(gpc_race_t *self, gpc_address_t address); /* NULL: out of memory */
/* The word's synchronisation state; NULL: out of memory. Invalidates pointers to those of other words. */
gpc_race_sync_t *gpc_race_sync_of(gpc_race_t *self, gpc_race_word_t *word);
void gpc_race_forget_words(gpc_race_t *self, gpc_address_t first, uint32_t count);
void gpc_race_forget_all(gpc_race_t *self); /* a launch is over */
/* Checks the access to a word, or to `bytes` bytes of it, against the earlier ones and adds it. 0; 1: a race with
 * *other; or an error. */
GPC_MUST_CHECK int gpc_race_meet(gpc_race_t *self, gpc_address_t address, uint32_t bytes,
                                 const gpc_race_thread_t *thread, const gpc_race_access_t *access,
                                 gpc_race_access_t *other);

/* race_report.c: GPC_ERROR_RACE */
int gpc_race_report(gpc_race_t *self, gpc_address_t address, const gpc_race_access_t *first,
                    const gpc_race_access_t *second);

#endif
