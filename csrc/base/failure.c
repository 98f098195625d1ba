/* failure.c: records the first failure of an object. */
#include "base/failure.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void
gpc_failure_clear(gpc_failure_t *self)
{
    self->code = 0;
    self->text[0] = 0;
    self->line = GPC_NEVER;
    self->place.known = false;
}

int
gpc_fail(gpc_failure_t *self, int code, const char *format, ...)
{
    if (self->code == 0) {
        va_list arguments;
        self->code = code;
        va_start(arguments, format);
        (void) vsnprintf(self->text, sizeof(self->text), format, arguments);
        va_end(arguments);
    }
    return code;
}

void
gpc_give_up(const gpc_failure_t *self)
{
    assert(self->escape);
    if (self->escape) {
        longjmp(*self->escape, 1);
    }
    abort();
}
