/* text.h: a growing buffer of text, for descriptions, statistics and messages as text or JSON. No I/O. */
#ifndef GPC_BASE_TEXT_H
#define GPC_BASE_TEXT_H

#include "base/types.h"

typedef struct {
    char *bytes; /* owned; always ends with a zero once something was added */
    size_t length, capacity;
    bool failed; /* out of memory: later additions do nothing */
} gpc_text_t;

void gpc_text_init(gpc_text_t *self);
void gpc_text_free(gpc_text_t *self); /* safe on a zeroed object and twice */
void gpc_text_clear(gpc_text_t *self);
void gpc_text_add(gpc_text_t *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* One JSON string with its quotes, escaped. */
void gpc_text_add_string(gpc_text_t *self, const char *string);
/* `"name": ` with a comma before it unless it is the first of its object or array (told by the last byte written). */
void gpc_text_add_key(gpc_text_t *self, const char *name);
void gpc_text_add_comma(gpc_text_t *self);
/* 0, or GPC_ERROR_MEMORY when an addition failed. */
GPC_MUST_CHECK int gpc_text_status(const gpc_text_t *self);

#endif
