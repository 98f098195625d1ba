/* test_invalidation.c: has GPU-VIni's directory the paper's sizes? protocols/invalidation/explored.toml has the
 * protocols' interleavings, tests/validation/test_resource_limits.py runs them with scarce resources. */
#include "controller/protocol.h"
#include "gpu_bench.h"
#include "machine/gpu.h"
#include "protocols/registry.h"
#include "small_programs.h"

static void
expect_directory(int64_t ways, int64_t ratio, uint32_t sets)
{
    const gpc_array_info_t *directory = &gpc_protocol_find("gpu-vini")->controllers[1]->arrays[1];
    int64_t options[GPC_MAX_OPTIONS] = {ways, ratio};
    uint32_t got_sets = 0, got_ways = 0;
    directory->geometry(&test_fermi, options, &got_sets, &got_ways);
    CHECK_EQUAL_U64(got_ways, (uint64_t) ways);
    CHECK_EQUAL_U64(got_sets, sets);
}

/* The factor gives directory entries per line of the L1s: 16 cores x 256 lines, over 8 partitions. */
TEST(directories_have_the_papers_sizes)
{
    expect_directory(8, 2, 128);
    expect_directory(8, 4, 256);
    expect_directory(16, 8, 256);
    expect_directory(32, 16, 256);
}
