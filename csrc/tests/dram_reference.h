/* dram_reference.h: DRAM channels written again, slowly and plainly, from the text of the models: which command when,
 * and when each request is answered. One function a model; test_dram_reference.c compares them with
 * csrc/fabric/dram*.c. */
#ifndef GPC_TESTS_DRAM_REFERENCE_H
#define GPC_TESTS_DRAM_REFERENCE_H

#include "fabric/dram.h"

enum { REFERENCE_QUEUE = 64, REFERENCE_BANKS = 64, REFERENCE_COMMANDS = 1 << 18, REFERENCE_PASSES = 64 };

typedef struct {
    gpc_dram_command_t command;
    uint32_t bank;
    uint64_t row;
    gpc_tick_t tick;
} reference_command_t;

/* A request that has not left the queue. */
typedef struct {
    uint32_t name;
    bool writes, answered, activated, precharged;
    uint32_t bank, passed; /* younger requests served while it waits */
    uint64_t row;
    gpc_tick_t accepted;
} reference_request_t;

/* The last command of each kind to a bank, in DRAM cycles; REFERENCE_NEVER: none yet. Columns: the last one of a
 * line. */
#define REFERENCE_NEVER (-(INT64_C(1) << 40))
typedef struct {
    bool open;
    uint64_t row;
    int64_t activated, precharged, read, written;
} reference_bank_t;

typedef struct reference reference_t;
struct reference {
    const gpc_dram_config_t *config;
    void (*run)(reference_t *self, gpc_tick_t until); /* what happens up to and including a tick */
    void (*answer)(uint32_t name, gpc_tick_t tick);   /* a request is answered at a tick, perhaps a later one */
    gpc_tick_t now;
    reference_request_t queue[REFERENCE_QUEUE + 1]; /* the oldest first */
    uint32_t waiting, most_passed;
    gpc_dram_statistics_t statistics;
    gpc_tick_t pins_free; /* fixed */
    /* banks, in DRAM cycles */
    reference_bank_t banks[REFERENCE_BANKS];
    int64_t issued;                    /* of the last command of any kind */
    int64_t activated, read, written;  /* of any bank */
    int64_t first_column, last_column; /* of the last line */
    reference_command_t commands[REFERENCE_COMMANDS];
    uint32_t num_commands;
};

void reference_begin(reference_t *self, const gpc_dram_config_t *config,
                     void (*answer)(uint32_t name, gpc_tick_t tick));
/* Consecutive bytes of a channel in one bank. */
uint32_t reference_row_bytes(const gpc_dram_config_t *c);
/* A request enters at self->now. */
void reference_accept(reference_t *self, const reference_request_t *request, gpc_address_t line);

#endif
