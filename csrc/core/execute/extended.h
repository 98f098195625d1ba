/* extended.h: the table of extended operations (gpucoh/lang/extended.def) and their execution. */
#ifndef GPC_CORE_EXECUTE_EXTENDED_H
#define GPC_CORE_EXECUTE_EXTENDED_H

#include <string.h>

#include "core/decoded.h"

/* One lane; operands beyond those of the row are ignored. */
typedef uint64_t (*gpc_extended_one_t)(uint64_t a, uint64_t b, uint64_t c, uint32_t flags);

typedef struct {
    const char *name;
    uint8_t d, a, b, c; /* words */
    uint8_t unit;       /* gpc_unit_t */
    bool takes_flags;
    gpc_extended_one_t one;
    gpc_extended_all_t all, wide;
    gpc_alu_t alu, wide_alu; /* of a row of single words, without flags; else NULL */
} gpc_extended_t;

extern const gpc_extended_t gpc_extended[];
extern const uint32_t gpc_num_extended;
/* The type at the end of the row's name: B, S, U or F; 0: none. */
static inline char
gpc_extended_type(const gpc_extended_t *row)
{
    const char *type = strrchr(row->name, '_');
    return type ? type[1] : '\0';
}
/* Whether the host has the instructions of `wide`, which compute the same. */
bool gpc_extended_host_is_wide(void);

#endif
