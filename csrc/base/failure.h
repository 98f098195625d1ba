/* failure.h: the description of a failure, kept on the object that failed. The first failure is kept until it is
 * cleared. */
#ifndef GPC_BASE_FAILURE_H
#define GPC_BASE_FAILURE_H

#include <setjmp.h>

#include "base/errors.h"
#include "base/types.h"

/* A place in a kernel's sources: number of the file, and the line, from 0 at the file's first line. */
typedef struct {
    bool known;
    uint16_t file;
    uint32_t line;
} gpc_code_place_t;

typedef struct {
    int code;               /* 0 or a negative gpc error */
    gpc_code_place_t place; /* of the instruction that failed; the text does not repeat it */
    gpc_address_t line;     /* the line concerned, or GPC_NEVER; the machine adds the line's state in all controllers */
    jmp_buf *escape;        /* borrowed: where a failure without a status to return is caught; NULL: nowhere */
    char text[3072];
} gpc_failure_t;

void gpc_failure_clear(gpc_failure_t *self);
/* Records code and text, unless a failure is recorded already. Returns code. */
GPC_API int gpc_fail(gpc_failure_t *self, int code, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));
/* Ends the run with the recorded failure: returns to where it is caught, else prints it and aborts. */
_Noreturn void gpc_give_up(const gpc_failure_t *self);

#endif
