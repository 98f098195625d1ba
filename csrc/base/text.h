/* text.h: a growing text buffer for descriptions, statistics and messages, plain or JSON. No I/O. */
#ifndef GPC_BASE_TEXT_H
#define GPC_BASE_TEXT_H

#include "base/types.h"

typedef struct {
    char *bytes; /* owned; zero-terminated after the first addition */
    size_t length, capacity;
    bool failed; /* out of memory: later additions have no effect */
} gpc_text_t;

void gpc_text_init(gpc_text_t *self);
void gpc_text_free(gpc_text_t *self); /* safe on a zeroed object and twice */
void gpc_text_clear(gpc_text_t *self);
void gpc_text_add(gpc_text_t *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
void gpc_text_add_number(gpc_text_t *self, uint64_t number); /* as "%llu", but many times as fast */
/* Adds a JSON string with quotes, escaped. */
void gpc_text_add_string(gpc_text_t *self, const char *string);
/* Adds `"name": `, after a comma unless it is the first member of its object (the last byte written decides). */
void gpc_text_add_key(gpc_text_t *self, const char *name);
void gpc_text_add_comma(gpc_text_t *self);
void gpc_text_add_count(gpc_text_t *self, const char *name, uint64_t count);  /* a key and its number */
void gpc_text_add_text(gpc_text_t *self, const char *name, const char *text); /* a key and its text; NULL is empty */
/* Opens a list "[" or an object "{": a member of this name or, without a name, the next element. */
void gpc_text_open(gpc_text_t *self, const char *name, const char *bracket);
/* 0, or GPC_ERROR_MEMORY when an addition has failed. */
GPC_MUST_CHECK int gpc_text_status(const gpc_text_t *self);

#endif
