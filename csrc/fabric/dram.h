/* dram.h: one DRAM channel a partition. Accepts whole-line reads and masked writes into a finite queue; same-line order is
 * kept, so that a write-back is seen by the fetch behind it.
 *
 * Model 0 (fixed): a line holds the channel for line_bytes / bytes_per_cycle DRAM cycles, then answers after the fixed latency.
 * Model 1 (banks): FR-FCFS over banks and rows with the machine's timings. */
#ifndef GPC_FABRIC_DRAM_H
#define GPC_FABRIC_DRAM_H

#include "base/divide.h"
#include "base/message.h"
#include "engine/wheel.h"
#include "fabric/memory.h"

typedef struct {
    uint32_t channels, model, queue;
    uint32_t line_bytes, bytes_per_cycle;
    uint32_t banks, row_bytes, burst_bytes;
    uint32_t interleave_bytes; /* consecutive bytes of a channel: rows are made of a channel's own addresses */
    uint32_t t_cl, t_rp, t_rc, t_ras, t_ccd, t_wl, t_rcd, t_rrd, t_cdlr, t_wr, t_ccdl, t_rtpl;
    gpc_clock_t clock;
    /* Model 0: from acceptance to the answer, idle, channel transfer included; model 1: ticks beside the timings
     * (controller, both ways). The machine's round trip minus everything else gives it. */
    gpc_tick_t latency;
    uint32_t
        answers; /* places more beside the queue, for writes that answers bring, which cannot wait (recalled lines) */
} gpc_dram_config_t;

#define GPC_DRAM_STATISTICS(X) X(reads) X(writes) X(row_hits) X(row_misses) X(row_conflicts) X(busy_cycles) X(queue_cycles)
typedef struct {
#define X(name) uint64_t name;
    GPC_DRAM_STATISTICS(X)
#undef X
} gpc_dram_statistics_t;

/* The answer to a read: the same message, data filled in, delivered to this function. */
typedef int (*gpc_dram_answer_t)(void *world, uint32_t channel, gpc_index_t message);

/* Model 1's commands, for who wants to watch them. A line's column accesses are told one by one. */
typedef enum { GPC_DRAM_ACTIVATE, GPC_DRAM_PRECHARGE, GPC_DRAM_READ_COLUMN, GPC_DRAM_WRITE_COLUMN } gpc_dram_command_t;
typedef void (*gpc_dram_watch_t)(void *world, uint32_t channel, gpc_dram_command_t command, uint32_t bank, uint64_t row,
                                 gpc_tick_t tick);

typedef struct gpc_dram_channel gpc_dram_channel_t;
typedef struct gpc_dram_request gpc_dram_request_t;
typedef struct {
    gpc_dram_config_t config;
    gpc_dram_channel_t *state;                             /* config.channels of them, in the arena */
    gpc_dram_request_t *requests;                          /* gpc_dram_places a channel, in the arena */
    gpc_dram_statistics_t *statistics;                     /* one a channel, in the arena */
    gpc_divider_t by_piece, by_channels, by_row, by_banks; /* model 1: from address to bank and row */
    uint32_t burst_cycles, spacing_cycles, accesses;       /* model 1: of a column access, between two, in a line */
    gpc_pool_t *messages;                                  /* borrowed */
    gpc_memory_t *memory;                                  /* borrowed */
    gpc_wheel_t *wheel;                                    /* borrowed */
    gpc_dram_answer_t answer;
    int (*room)(void *world, uint32_t channel); /* optional, set after init: a request has left the full queue */
    gpc_dram_watch_t watch;                     /* optional, set after init */
    void *world;
} gpc_dram_t;

/* Model 1: ticks from acceptance on a DRAM edge by an idle channel, row closed, to the last data: tRCD + the line's column
 * accesses + tCL, without config.latency. 0 for model 0, where config.latency is all. */
gpc_tick_t gpc_dram_closed_row_ticks(const gpc_dram_config_t *config);

GPC_MUST_CHECK int gpc_dram_init(gpc_dram_t *self, const gpc_dram_config_t *config, gpc_arena_t *arena,
                                 gpc_pool_t *messages, gpc_memory_t *memory, gpc_wheel_t *wheel,
                                 gpc_dram_answer_t answer, void *world);
void gpc_dram_clear(gpc_dram_t *self); /* drops what is queued (after an abort); the messages are the caller's */
/* Free places in a channel's queue. A place is taken from acceptance until the request leaves the queue for the pins. Beside
 * the queue is one place more, for the write-back of a line that a fetch drives out in the same step, and config.answers for
 * lines that answers bring; while any of these is taken the queue has no room. */
uint32_t gpc_dram_room(const gpc_dram_t *self, uint32_t channel);
/* Both need room, or the place beside the queue (asserted). The read is of message->line and keeps the message until its answer; the write takes
 * effect for every later read of the line. */
GPC_MUST_CHECK int gpc_dram_read(gpc_dram_t *self, uint32_t channel, gpc_index_t message);
GPC_MUST_CHECK int gpc_dram_write(gpc_dram_t *self, uint32_t channel, gpc_address_t line, gpc_mask_t mask,
                                  const uint32_t *words);
GPC_MUST_CHECK int gpc_dram_event(gpc_dram_t *self, const gpc_event_t *event); /* a GPC_EVENT_DRAM or _ANSWER */
bool gpc_dram_idle(const gpc_dram_t *self);

#endif
