/* shadow.h: the value of every word of memory after the performed writes, and its earlier values.
 *
 * Every write has a version, in the order of performing. For the last writes the shadow keeps the replaced value and the time until
 * which it may be read, to decide whether a load may return a value: one that the word held at a time when the load may have read
 * it. A write that changes nothing has no version. */
#ifndef GPC_CHECK_SHADOW_H
#define GPC_CHECK_SHADOW_H

#include "check/pages.h"

/* The value that one write replaced. */
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
    GPC_VALUE_WRONG,    /* the word did not hold it at any relevant time */
    GPC_VALUE_OLD,      /* it did, but before the version that the reader has observed */
    GPC_VALUE_UNDECIDED /* too many later writes */
} gpc_value_verdict_t;

GPC_MUST_CHECK int gpc_shadow_init(gpc_shadow_t *self);
void gpc_shadow_free(gpc_shadow_t *self);
void gpc_shadow_forget(gpc_shadow_t *self); /* everything reads 0, as fresh memory does */

uint32_t gpc_shadow_value(const gpc_shadow_t *self, gpc_address_t address);
uint64_t gpc_shadow_version(const gpc_shadow_t *self, gpc_address_t address);
/* The words of a line that lies in one page, as pages of GPC_SHADOW_PAGE_WORDS are aligned; NULL: all are 0. */
#define GPC_SHADOW_PAGE_WORDS 256u
const uint32_t *gpc_shadow_line(const gpc_shadow_t *self, gpc_address_t line);
/* Performs a write; the replaced value may be read until then. */
GPC_MUST_CHECK int gpc_shadow_write(gpc_shadow_t *self, gpc_address_t address, uint32_t value, gpc_cycle_t until);
/* Whether a load may return value: the word holds it, or held it at `from` or later (GPC_NEVER: now only), in no version before
 * `least`. *version: the first that fits. */
gpc_value_verdict_t gpc_shadow_judge(const gpc_shadow_t *self, gpc_address_t address, uint32_t value, gpc_cycle_t from,
                                     uint64_t least, uint64_t *version);

#endif
