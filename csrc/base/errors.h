/* errors.h: error codes, from errors.def. They are negative: functions return positive values as reasons to stop. */
#ifndef GPC_BASE_ERRORS_H
#define GPC_BASE_ERRORS_H

enum {
    GPC_ERRORS_BEGIN_ = 0,
#define X(name, exception, message) GPC_ERROR_INDEX_##name,
#include "base/errors.def"
#undef X
    GPC_NUM_ERRORS /* one more than the last index; index 0 is "no error" */
};

enum {
#define X(name, exception, message) GPC_ERROR_##name = -GPC_ERROR_INDEX_##name,
#include "base/errors.def"
#undef X
};

enum { GPC_OK = 0 };

/* Passes on the status of a call that has one: returns it unless it is GPC_OK. */
#define GPC_TRY(call)                                                                              \
    do {                                                                                           \
        int gpc_status_ = (call);                                                                  \
        if (gpc_status_ != GPC_OK) {                                                               \
            return gpc_status_;                                                                    \
        }                                                                                          \
    } while (0)

const char *gpc_error_name(int code);      /* "BOUNDS"; "NONE" for 0 and unknown codes */
const char *gpc_error_message(int code);   /* "index out of bounds" */
const char *gpc_error_exception(int code); /* "KernelError" */

#endif
