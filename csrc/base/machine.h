/* machine.h: the parameters of a machine and the values of protocol options. Python resolves names and units; the
 * sources of the presets' parameters are in gpucoh/machines. */
#ifndef GPC_BASE_MACHINE_H
#define GPC_BASE_MACHINE_H

#include "base/failure.h"
#include "base/types.h"

typedef struct {
#define X(name, smallest, largest, unit, text) uint32_t name;
#include "machines/fields.def" /* gpucoh/machines/fields.def */
#undef X
} gpc_machine_t;

enum { GPC_PAGES_INTERLEAVED, GPC_PAGES_FIRST_TOUCH }; /* placement_of_pages */
enum { GPC_LINKS_JOINED, GPC_LINKS_SPLIT };            /* links */

/* A GPU has consecutive dies, a die consecutive cores. */
static inline uint32_t
gpc_gpu_of_core(const gpc_machine_t *m, uint32_t core)
{
    return m->gpus > 1 ? core / (m->cores / m->gpus) : 0;
}

typedef struct {
    const char *name;
    size_t offset;
    uint32_t smallest, largest;
    const char *text;
} gpc_machine_field_t;

extern const gpc_machine_field_t gpc_machine_fields[]; /* ends with a null name */

GPC_MUST_CHECK int gpc_machine_check(const gpc_machine_t *machine, gpc_failure_t *failure);

/* One option and its value, e.g. lifetime=800 in tc-weak[lifetime=800]. */
typedef struct {
    const char *name;
    int64_t value;
} gpc_option_value_t;

#endif
