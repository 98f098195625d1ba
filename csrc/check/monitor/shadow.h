/* shadow.h: the present and recent values of every word of memory, from the writes performed so far.
 *
 * Every write that changes a word makes a version of it. For the last writes the table holds the replaced value and the
 * time until which it may be read: a load may return a value that the word held at a time when the load could read
 * it. */
#ifndef GPC_CHECK_SHADOW_H
#define GPC_CHECK_SHADOW_H

#include "check/pages.h"

/* The value that a write replaced. */
typedef struct {
    uint64_t version;  /* of the value before it: 0 is the first */
    gpc_cycle_t until; /* last cycle in which it may be read */
    uint32_t value;
} gpc_replaced_t;

typedef struct {
    gpc_pages_t pages;
    gpc_replaced_t *replaced; /* owned; a ring: the write of version v is at v % GPC_SHADOW_WRITES */
    uint64_t last;            /* version of the last write */
} gpc_shadow_t;

#define GPC_SHADOW_WRITES (UINT64_C(1) << 18)

typedef enum {
    GPC_VALUE_RIGHT,
    GPC_VALUE_WRONG,    /* the word did not hold it at a time that the load may read */
    GPC_VALUE_OLD,      /* older than a value that the reader has seen */
    GPC_VALUE_UNDECIDED /* too many writes since */
} gpc_value_verdict_t;

GPC_MUST_CHECK int gpc_shadow_init(gpc_shadow_t *self);
void gpc_shadow_free(gpc_shadow_t *self);
void gpc_shadow_forget(gpc_shadow_t *self); /* all words are 0 */

uint32_t gpc_shadow_value(const gpc_shadow_t *self, gpc_address_t address);
uint64_t gpc_shadow_version(const gpc_shadow_t *self, gpc_address_t address);
/* The `until` of the write that made the version; 0: unknown, or the first version. */
gpc_cycle_t gpc_shadow_until(const gpc_shadow_t *self, uint64_t version);
/* The words of a line that lies in one page, as pages of GPC_SHADOW_PAGE_WORDS are aligned; NULL: all are 0. */
#define GPC_SHADOW_PAGE_WORDS 256u
const uint32_t *gpc_shadow_line(const gpc_shadow_t *self, gpc_address_t line);
/* A write is performed; the replaced value may be read until `until`. */
GPC_MUST_CHECK int gpc_shadow_write(gpc_shadow_t *self, gpc_address_t address, uint32_t value, gpc_cycle_t until);
/* Whether a load may return value: what the word holds, or held at `from` or later (GPC_NEVER: now only), and no
 * version before `least`. *version: the first that fits. */
gpc_value_verdict_t gpc_shadow_judge(const gpc_shadow_t *self, gpc_address_t address, uint32_t value, gpc_cycle_t from,
                                     uint64_t least, uint64_t *version);

#endif
