/* dram_channel.h: what the two models of a DRAM channel share; only for csrc/fabric/dram*.c. */
#ifndef GPC_FABRIC_DRAM_CHANNEL_H
#define GPC_FABRIC_DRAM_CHANNEL_H

#include "fabric/dram.h"

#define GPC_DRAM_MAX_BANKS 64u
#define GPC_DRAM_NO_ROW UINT64_MAX

/* A place of the queue. */
struct gpc_dram_request {
    gpc_index_t next;      /* by age, or in the list of free places */
    gpc_index_t bank_next; /* by age, of its bank */
    gpc_index_t message;   /* the read to answer, GPC_NONE for a write */
    uint32_t bank;
    uint32_t passed_by; /* younger requests that were served first */
    bool needed_activate, needed_precharge;
    uint64_t row;
    gpc_tick_t accepted;
    uint64_t age; /* its number among the channel's requests */
};

typedef struct {
    uint64_t open_row;   /* or GPC_DRAM_NO_ROW */
    gpc_tick_t activate; /* the earliest ticks of the next command of each kind */
    gpc_tick_t column;
    gpc_tick_t precharge;
    gpc_index_t head, tail; /* its requests by age */
    gpc_index_t hit;        /* the oldest of them for the open row, or GPC_NONE */
} gpc_dram_bank_t;

typedef enum { GPC_DRAM_COMMAND_COLUMN, GPC_DRAM_COMMAND_ACTIVATE, GPC_DRAM_COMMAND_PRECHARGE } gpc_dram_kind_t;

/* A command that a channel will give. */
typedef struct {
    gpc_tick_t tick; /* the earliest; GPC_NEVER: there is none */
    uint64_t age;    /* of its request */
    gpc_index_t request;
    uint8_t kind; /* gpc_dram_kind_t */
    bool forced;  /* its request was passed by too often: nothing goes before it */
} gpc_dram_choice_t;

struct gpc_dram_channel {
    gpc_index_t head, tail, free; /* places of the queue */
    uint32_t waiting;             /* requests in the queue */
    uint32_t answers;             /* reads on their way back */
    gpc_tick_t wake;              /* of the event that stands, GPC_NEVER when none */
    gpc_tick_t pins_free;         /* model 0 */
    /* model 1 */
    gpc_tick_t read, write;             /* the earliest next column access of each kind, any bank */
    gpc_tick_t activate;                /* tRRD */
    gpc_tick_t burst_first, burst_last; /* column commands of the last line: they hold the command bus every spacing */
    gpc_tick_t command;                 /* the next free command slot */
    uint64_t accepted;                  /* requests ever */
    uint64_t waited_for;                /* banks that have requests, one bit each */
    gpc_dram_choice_t choice;           /* what comes next, kept true as requests come in */
    gpc_dram_bank_t banks[GPC_DRAM_MAX_BANKS];
};

/* dram_queue.c */
/* Takes request i out of the queue (previous: the one before it by age or GPC_NONE) and counts its wait. */
void gpc_dram_leave(gpc_dram_t *self, uint32_t channel, gpc_index_t previous, gpc_index_t i);
/* Asks for an event of the channel at tick unless an earlier one stands. */
GPC_MUST_CHECK int gpc_dram_wake(gpc_dram_t *self, uint32_t channel, gpc_tick_t tick);
/* The read's answer is there at tick. */
GPC_MUST_CHECK int gpc_dram_answer_at(gpc_dram_t *self, uint32_t channel, gpc_index_t message, gpc_tick_t tick);

/* Model 0: serves what the pins are free for and asks for the next event. */
GPC_MUST_CHECK int gpc_dram_fixed_step(gpc_dram_t *self, uint32_t channel);

/* Model 1. */
void gpc_dram_banks_derive(gpc_dram_t *self); /* what follows from the configuration */
void gpc_dram_banks_clear(gpc_dram_t *self, uint32_t channel);
/* Request i, new in the queue, is for this line. Asks for an event when its command comes first. */
GPC_MUST_CHECK int gpc_dram_banks_enter(gpc_dram_t *self, uint32_t channel, gpc_index_t i, gpc_address_t line);
/* Issues at most one command now and asks for the next event. */
GPC_MUST_CHECK int gpc_dram_banks_step(gpc_dram_t *self, uint32_t channel);

static inline uint32_t
gpc_dram_places(const gpc_dram_config_t *config)
{
    return config->queue + 1 + config->answers;
}

static inline gpc_dram_request_t *
gpc_dram_request_at(const gpc_dram_t *self, uint32_t channel, gpc_index_t i)
{
    return &self->requests[(size_t) channel * gpc_dram_places(&self->config) + i];
}

#endif
