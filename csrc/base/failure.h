/* failure.h: the facts of a failure, kept on the object that failed. The first one stays until it is cleared. */
#ifndef GPC_BASE_FAILURE_H
#define GPC_BASE_FAILURE_H

#include "base/errors.h"
#include "base/types.h"

typedef struct {
    int code;           /* 0 or a negative gpc error */
    gpc_address_t line; /* which line it is about, or GPC_NEVER: the machine adds the other side's state */
    char text[1024];
} gpc_failure_t;

void gpc_failure_clear(gpc_failure_t *self);
/* Notes code and a text and returns code; what was noted first stays. */
int gpc_fail(gpc_failure_t *self, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
