/* limits_bench.h: begin and end of the tests on the tables of prototype_limits.h. */
#ifndef GPC_TESTS_LIMITS_BENCH_H
#define GPC_TESTS_LIMITS_BENCH_H

#include "tests/controller_bench.h"
#include "tests/prototype_limits.h"

static inline void
limits_begin_with(bench_t *self, const gpc_protocol_t *protocol, uint32_t controller, uint32_t mshrs)
{
    gpc_machine_t machine = bench_small_machine;
    machine.l1_mshrs = mshrs;
    bench_begin(self, protocol, controller, &machine);
}

static inline void
limits_begin(bench_t *self, uint32_t controller, uint32_t mshrs)
{
    limits_begin_with(self, &prototype_limits, controller, mshrs);
}

/* Nothing may be lost or completed twice: every message and lane list is back. */
static inline void
limits_end(bench_t *self)
{
    CHECK_EQUAL_U64(self->messages.state->in_use, 0);
    CHECK_EQUAL_U64(self->lane_lists.state->in_use, 0);
    CHECK_EQUAL_U64(self->world.completed_twice, 0);
    bench_end(self);
}

#endif
