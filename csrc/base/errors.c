/* errors.c: names, messages and Python exceptions of the codes of errors.def. */
#include "base/errors.h"

typedef struct {
    const char *name, *exception, *message;
} gpc_error_row_t;

static const gpc_error_row_t rows[GPC_NUM_ERRORS] = {
    {"NONE", "", "no error"},
#define X(name, exception, message) {#name, exception, message},
#include "base/errors.def"
#undef X
};

static const gpc_error_row_t *
row_of(int code)
{
    return code < 0 && code > -GPC_NUM_ERRORS ? &rows[-code] : &rows[0];
}

const char *
gpc_error_name(int code)
{
    return row_of(code)->name;
}

const char *
gpc_error_message(int code)
{
    return row_of(code)->message;
}

const char *
gpc_error_exception(int code)
{
    return row_of(code)->exception;
}
