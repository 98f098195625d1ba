/* replacement.c: the list of replacement policies. */
#include "cache/replacement.h"

#define X(name, text) extern const gpc_replacement_t gpc_replacement_##name;
#include "machines/replacement.def"
#undef X

const gpc_replacement_t *const gpc_replacements[] = {
#define X(name, text) &gpc_replacement_##name,
#include "machines/replacement.def"
#undef X
};
