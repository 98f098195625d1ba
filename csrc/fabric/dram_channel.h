/* dram_channel.h: state and functions that the models of a DRAM channel share; only for csrc/fabric/dram*.c. */
#ifndef GPC_FABRIC_DRAM_CHANNEL_H
#define GPC_FABRIC_DRAM_CHANNEL_H

#include "fabric/dram.h"

#define GPC_DRAM_MAX_BANKS 64u
#define GPC_DRAM_NO_ROW UINT64_MAX

enum { GPC_DRAM_PRIORITY = 0 }; /* at equal ticks, deliveries precede controllers and cores */

/* A place in the queue. */
struct gpc_dram_request {
    gpc_index_t next;      /* by age, or in the list of free places */
    gpc_index_t previous;  /* by age */
    gpc_index_t bank_next; /* by age, in its bank */
    gpc_index_t message;   /* to answer; GPC_NONE for a write without an answer */
    uint32_t bank;
    uint16_t bytes; /* of the line that it transfers */
    bool writes;
    bool needed_activate, needed_precharge;
    uint64_t row;
    gpc_tick_t accepted;
    uint64_t age; /* sequence number among the channel's requests */
};

typedef struct {
    uint64_t open_row;   /* or GPC_DRAM_NO_ROW */
    gpc_tick_t activate; /* earliest tick of the next command of each kind */
    gpc_tick_t column;
    gpc_tick_t precharge;
    gpc_index_t head, tail; /* requests by age */
    gpc_index_t hit;        /* oldest request for the open row, or GPC_NONE */
} gpc_dram_bank_t;

typedef enum { GPC_DRAM_COMMAND_COLUMN, GPC_DRAM_COMMAND_ACTIVATE, GPC_DRAM_COMMAND_PRECHARGE } gpc_dram_kind_t;

/* A command that a channel will issue. */
typedef struct {
    gpc_tick_t tick; /* earliest tick; GPC_NEVER: no command */
    uint64_t age;    /* of its request */
    gpc_index_t request;
    uint8_t kind; /* gpc_dram_kind_t */
    bool writes;
    bool forced; /* its request was passed too often and has priority */
} gpc_dram_choice_t;

struct gpc_dram_channel {
    gpc_index_t head, tail, free; /* places of the queue */
    uint32_t waiting;             /* requests in the queue */
    uint32_t answers;             /* reads that have left the queue and are not answered yet */
    gpc_tick_t wake;              /* tick of the scheduled event, GPC_NEVER when there is none */
    gpc_tick_t pins_free;         /* model 0 */
    /* models 1 and 2 */
    gpc_tick_t read, write;             /* earliest next column access of each kind, any bank */
    gpc_tick_t activate;                /* tRRD */
    gpc_tick_t burst_first, burst_last; /* column commands of the last line, one every spacing */
    gpc_tick_t command;                 /* next free command slot */
    uint64_t accepted;                  /* requests since creation */
    uint64_t waited_for;                /* banks that have requests, one bit each */
    uint64_t changed;                   /* banks whose next command is to be determined */
    gpc_dram_choice_t choice;           /* next command, updated when a request enters */
    gpc_dram_bank_t banks[GPC_DRAM_MAX_BANKS];
    gpc_dram_choice_t next[GPC_DRAM_MAX_BANKS]; /* of a bank waited for, if not changed: by the bank's timing alone */
};

/* dram_queue.c */
/* Removes request i from the queue and counts its queueing time. */
GPC_MUST_CHECK int gpc_dram_leave(gpc_dram_t *self, uint32_t channel, gpc_index_t i);
/* Schedules an event of the channel at tick unless an earlier one is scheduled. */
GPC_MUST_CHECK int gpc_dram_wake(gpc_dram_t *self, uint32_t channel, gpc_tick_t tick);
/* Schedules the answer to a read. */
GPC_MUST_CHECK int gpc_dram_answer_at(gpc_dram_t *self, uint32_t channel, gpc_index_t message, gpc_tick_t tick);

/* Model 0: serves requests while the pins are free and schedules the next event. */
GPC_MUST_CHECK int gpc_dram_fixed_step(gpc_dram_t *self, uint32_t channel);

/* Models 1 and 2. */
void gpc_dram_banks_derive(gpc_dram_t *self); /* derives constants from the configuration */
void gpc_dram_banks_clear(gpc_dram_t *self, uint32_t channel);
/* Request i for `line` has entered the queue. Schedules an event if its command is the next one. */
GPC_MUST_CHECK int gpc_dram_banks_enter(gpc_dram_t *self, uint32_t channel, gpc_index_t i, gpc_address_t line);
/* Issues at most one command now and schedules the next event. */
GPC_MUST_CHECK int gpc_dram_banks_step(gpc_dram_t *self, uint32_t channel);

static inline gpc_dram_request_t *
gpc_dram_request_at(const gpc_dram_t *self, uint32_t channel, gpc_index_t i)
{
    return &self->requests[(size_t) channel * self->places + i];
}

#endif
