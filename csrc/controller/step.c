/* step.c: the begin of a step, for the files that do not inline it. */
#include "controller/step.h"

void
gpc_step_about_line(gpc_controller_t *self, gpc_step_t *x, uint8_t table, uint8_t cause, gpc_address_t line,
                    gpc_index_t message)
{
    gpc_step_begin(self, x, table, cause, line, message);
}
