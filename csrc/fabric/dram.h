/* dram.h: DRAM, one channel per partition. A channel accepts whole-line reads and masked writes into a finite queue and
 * keeps the order of requests to a line, so that a fetch sees an earlier write-back.
 *
 * Model 0 (fixed): a line occupies the channel for line_bytes / bytes_per_cycle DRAM cycles; the answer follows after
 * the fixed latency. Model 1 (banks): FR-FCFS over banks and rows with the machine's timings. Model 2 (closed): banks
 * without rows, which a request occupies for bank_cycles. */
#ifndef GPC_FABRIC_DRAM_H
#define GPC_FABRIC_DRAM_H

#include "base/divide.h"
#include "base/message.h"
#include "base/observe.h"
#include "base/text.h"
#include "engine/schedule.h"
#include "fabric/memory.h"

enum { GPC_DRAM_FIXED, GPC_DRAM_FR_FCFS, GPC_DRAM_CLOSED };

typedef struct {
    uint32_t channels, model, queue;
    uint32_t line_bytes, bytes_per_cycle;
    uint32_t banks, row_bytes, burst_bytes;
    uint32_t interleave_bytes; /* consecutive bytes of a channel: a row holds addresses of one channel only */
    uint32_t page_bytes, dies; /* pages over dies, each with an equal share of the channels; dies < 2: one die */
    uint32_t bank_cycles;      /* model 2: DRAM cycles that a request occupies its bank */
    uint32_t t_cl, t_rp, t_rc, t_ras, t_ccd, t_wl, t_rcd, t_rrd, t_cdlr, t_wr, t_ccdl, t_rtpl;
    gpc_clock_t clock;
    /* Ticks, derived from the machine's round trip. Model 0: from acceptance by an idle channel to the answer, transfer
     * included. Models 1 and 2: the memory controller's share in both directions, in addition to the DRAM timings. */
    gpc_tick_t latency;
    uint32_t answers; /* additional places for write-backs by answers (recalled lines), which cannot wait */
} gpc_dram_config_t;

#define GPC_DRAM_STATISTICS(X) X(reads) X(writes) X(row_hits) X(row_misses) X(row_conflicts) X(busy_cycles) X(queue_cycles)
typedef struct {
#define X(name) uint64_t name;
    GPC_DRAM_STATISTICS(X)
#undef X
} gpc_dram_statistics_t;

/* Receives the answer to a read, the same message with its data, or to a write that asked for one. */
typedef int (*gpc_dram_answer_t)(void *world, uint32_t channel, gpc_index_t message);

/* Commands of models 1 and 2, for tests; model 2 has columns alone. Each column access of a line is reported. */
typedef enum { GPC_DRAM_ACTIVATE, GPC_DRAM_PRECHARGE, GPC_DRAM_READ_COLUMN, GPC_DRAM_WRITE_COLUMN } gpc_dram_command_t;
typedef void (*gpc_dram_monitor_t)(void *world, uint32_t channel, gpc_dram_command_t command, uint32_t bank,
                                   uint64_t row, gpc_tick_t tick);

typedef struct gpc_dram_channel gpc_dram_channel_t;
typedef struct gpc_dram_request gpc_dram_request_t;
typedef struct {
    gpc_dram_config_t config;
    gpc_dram_channel_t *state;                             /* config.channels of them, in the arena */
    gpc_dram_request_t *requests;                          /* `places` per channel, in the arena */
    uint32_t places;                                       /* in a channel's queue, the additional ones included */
    gpc_dram_statistics_t *statistics;                     /* one per channel, in the arena */
    gpc_divider_t by_piece, by_channels, by_row, by_banks; /* models 1, 2: from address to bank and row */
    gpc_pages_over_dies_t pages;                           /* models 1, 2, of several dies */
    uint32_t burst_cycles;                                 /* models 1, 2: DRAM cycles of a column access */
    uint32_t spacing_cycles; /* models 1, 2: DRAM cycles between column accesses of a line */
    uint32_t accesses;       /* models 1, 2: column accesses per line */
    gpc_pool_t *messages;    /* borrowed */
    gpc_memory_t *memory;    /* borrowed */
    gpc_wheel_t *wheel;      /* borrowed */
    gpc_dram_answer_t answer;
    int (*room)(void *world, uint32_t channel); /* optional, set after init: a request has left the full queue */
    gpc_dram_monitor_t monitor;                 /* optional, set after init */
    void *world;
    gpc_tap_t tap; /* reports what enters and leaves queues */
} gpc_dram_t;

/* Unloaded closed-row latency in ticks, from acceptance to the last beat. Model 1: tRCD + the line's column accesses +
 * tCL, without config.latency. Model 2: the transfer of a line. Model 0: 0, because config.latency is the whole
 * latency. */
gpc_tick_t gpc_dram_closed_row_ticks(const gpc_dram_config_t *config);

GPC_MUST_CHECK int gpc_dram_init(gpc_dram_t *self, const gpc_dram_config_t *config, gpc_arena_t *arena,
                                 gpc_pool_t *messages, gpc_memory_t *memory, gpc_wheel_t *wheel,
                                 gpc_dram_answer_t answer, void *world);
void gpc_dram_clear(gpc_dram_t *self); /* empties the queues (after an abort); the caller frees the messages */
/* Free places in a channel's queue. A request occupies a place from acceptance until it leaves the queue for the pins.
 * One additional place takes the write-back of a line that a fetch evicts in the same step, and config.answers places
 * take write-backs by answers; while one of these is occupied, the queue has no room. */
uint32_t gpc_dram_room(const gpc_dram_t *self, uint32_t channel);
/* Both need room or an additional place (asserted). A read reads message->line and keeps the message until its answer;
 * a write takes effect for every later read of the line; `answer`, unless GPC_NONE, is answered when its data are at
 * the pins. */
GPC_MUST_CHECK int gpc_dram_read(gpc_dram_t *self, uint32_t channel, gpc_index_t message);
GPC_MUST_CHECK int gpc_dram_write(gpc_dram_t *self, uint32_t channel, gpc_address_t line, gpc_mask_t mask,
                                  const uint32_t *words, gpc_index_t answer);
/* The same, but only `bytes` bytes cross the pins (sectors); all words are read, and those of the mask written. Model 2
 * transfers whole lines. */
GPC_MUST_CHECK int gpc_dram_read_part(gpc_dram_t *self, uint32_t channel, gpc_index_t message, uint32_t bytes);
GPC_MUST_CHECK int gpc_dram_write_part(gpc_dram_t *self, uint32_t channel, gpc_address_t line, gpc_mask_t mask,
                                       const uint32_t *words, gpc_index_t answer, uint32_t bytes);
GPC_MUST_CHECK int gpc_dram_event(gpc_dram_t *self, const gpc_event_t *event); /* a GPC_EVENT_DRAM or _ANSWER */
bool gpc_dram_idle(const gpc_dram_t *self);
/* Whether a channel holds requests or answers and no event is scheduled for them; adds the first such channel to the
 * text. */
bool gpc_dram_sleeps_on_work(const gpc_dram_t *self, const gpc_schedule_t *schedule, gpc_text_t *out);

#endif
