/* outcomes.h: the outcomes that an exploration has reached: rows of the values that loads and atomics have read and of
 * the variables' final values, each row once. */
#ifndef GPC_CHECK_OUTCOMES_H
#define GPC_CHECK_OUTCOMES_H

#include "check/explore/world.h"

#define GPC_OUTCOME_MAX_WIDTH (2 * (GPC_WORLD_MAX_THREADS * GPC_WORLD_MAX_OPS + GPC_WORLD_MAX_VARIABLES))

void gpc_outcomes_free(gpc_outcomes_t *self); /* safe on a zeroed object and twice */
/* The outcome of a world at rest, its threads renamed by the symmetry; `row` has GPC_OUTCOME_MAX_WIDTH values. */
GPC_MUST_CHECK int gpc_outcome_read(gpc_world_t *world, const gpc_symmetry_t *symmetry, uint32_t *row, uint32_t *width);
bool gpc_outcome_is_among(const uint32_t *rows, uint32_t count, const uint32_t *row, uint32_t width);
/* Adds the row if it is new; all rows have one width. *is_new: it was. 0 or GPC_ERROR_MEMORY. */
GPC_MUST_CHECK int gpc_outcomes_note(gpc_outcomes_t *self, const uint32_t *row, uint32_t width, bool *is_new);
void gpc_outcomes_print(const gpc_outcomes_t *self, gpc_text_t *out); /* a JSON list of lists */

#endif
