/* words.h: lines of which only some words are there, in time and traffic (l2_byte_masks, sector_bytes).
 *
 * Data are whole: a line that is fetched has all of memory's words at once, whatever crosses the pins and links, and
 * protocols and their tables know nothing of this. A mask beside each tag says which words have been paid for: fetched
 * by a request that needed them, or stored. A bank's message with words that the line lacks waits at its place in the
 * order of messages until memory has brought them (their sectors, or the line). A load that an L1 completes lacking
 * words completes when a message has brought their sectors from the line's bank. Both are delays that a network or a
 * memory may have, so that every protocol stays right. */
#ifndef GPC_MACHINE_WORDS_H
#define GPC_MACHINE_WORDS_H

#include "base/message.h"

/* A read of memory for messages that wait. */
typedef struct {
    gpc_address_t line;
    gpc_mask_t words; /* 0: the place is free */
    gpc_list_t joined;
} gpc_words_read_t;

/* What a message brings to the controller that takes it. */
typedef struct {
    gpc_address_t line;
    gpc_mask_t here;
} gpc_words_arriving_t;

typedef struct {
    bool on;                        /* lines of banks and L1s have masks */
    bool sectors;                   /* and L1s lack words */
    bool banks;                     /* and banks do: they access memory themselves */
    gpc_words_arriving_t *arriving; /* [nodes]; in the arena, as the others */
    gpc_words_read_t *reads;        /* [banks][GPC_WORDS_READS] */
    gpc_list_t *waiting;            /* [cores]: loads whose sectors are under way */
    gpc_list_t *unread;             /* [channels]: reads that wait for the memory's queue */
} gpc_words_t;

#define GPC_WORDS_READS 32u /* of a bank that others join */

#endif
