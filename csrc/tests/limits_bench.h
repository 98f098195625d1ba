/* limits_bench.h: begin and end of the tests on the tables of prototype_limits.h. */
#ifndef GPC_TESTS_LIMITS_BENCH_H
#define GPC_TESTS_LIMITS_BENCH_H

#include "tests/controller_bench.h"
#include "tests/prototype_limits.h"

static inline void
limits_begin_with(const gpc_protocol_t *protocol, uint32_t controller, uint32_t mshrs)
{
    gpc_machine_t machine = bench_small_machine;
    machine.l1_mshrs = mshrs;
    bench_begin(protocol, controller, &machine);
}

static inline void
limits_begin(uint32_t controller, uint32_t mshrs)
{
    limits_begin_with(&prototype_limits, controller, mshrs);
}

/* Nothing may be lost or completed twice: every message and lane list is back. */
static inline void
limits_end(void)
{
    CHECK_EQUAL_U64(bench.messages.state->in_use, 0);
    CHECK_EQUAL_U64(bench.lane_lists.state->in_use, 0);
    CHECK_EQUAL_U64(bench.world.completed_twice, 0);
}

#endif
