/* test_timestamps.c: does every protocol with timestamps declare that it handles the machine's timestamp_bits? */
#include <string.h>

#include "controller/resolve.h"
#include "harness.h"
#include "protocols/registry.h"

static gpc_failure_t failure;

static int
check_time(const gpc_protocol_t *protocol)
{
    gpc_failure_clear(&failure);
    return gpc_protocol_check_time(protocol, &failure);
}

/* At least one protocol has timestamps: otherwise the test would check nothing. */
TEST(all_protocols_with_timestamps_keep_time)
{
    for (uint32_t i = 0; i < gpc_protocol_count(); i++) {
        gpc_protocol_t protocol = *gpc_protocol_at(i);
        CHECK_EQUAL_I64(check_time(&protocol), 0);
        bool keeps_time = protocol.keeps_time;
        protocol.keeps_time = false;
        CHECK_EQUAL_I64(check_time(&protocol), keeps_time ? GPC_ERROR_PROTOCOL : 0);
    }
}

#define LEASE(FIELD) FIELD(PLAIN, uint8_t, uses) FIELD(LOGICAL, uint64_t, logical)
GPC_DESCRIBE(lease, entry, LEASE)

TEST(every_struct_of_a_controller_is_looked_at)
{
    const gpc_controller_type_t types[] = {
        {.mshr = lease_entry_described},
        {.unit = lease_entry_described},
        {.warp = lease_entry_described},
        {.core = lease_entry_described},
        {.arrays = {{.name = "tags"}, {.name = "directory", .line = lease_entry_described}}},
        {.parts = {{.name = "queue"}, {.name = "leases", .entry = lease_entry_described}}},
        {.name = "none"},
    };
    for (uint32_t i = 0; i < GPC_COUNT_OF(types); i++) {
        gpc_protocol_t protocol = {.id = "own", .controllers = {&types[i]}};
        bool none = i + 1 == GPC_COUNT_OF(types);
        CHECK_EQUAL_I64(check_time(&protocol), none ? 0 : GPC_ERROR_PROTOCOL);
        CHECK(none || strstr(failure.text, "timestamp logical") != NULL);
    }
    const gpc_protocol_t protocol = {.id = "own", .message = lease_entry_described};
    CHECK_EQUAL_I64(check_time(&protocol), GPC_ERROR_PROTOCOL);
}

static int
check_join(const gpc_controller_type_t *type, gpc_order_traits_t order)
{
    gpc_protocol_t protocol = {.id = "own", .controllers = {type}, .order = order};
    gpc_failure_clear(&failure);
    return gpc_protocol_check_join(&protocol, &failure);
}

static void
join_own(gpc_controller_t *l1, void *into, const void *from)
{
    (void) l1, (void) into, (void) from;
}

#define TIMES(FIELD) FIELD(TIME, uint64_t, visible) FIELD(LOGICAL, uint64_t, now) FIELD(STATISTIC, uint64_t, waits)
GPC_DESCRIBE(times, warp, TIMES)

TEST(a_warp_field_that_no_barrier_joins_is_an_error)
{
    const gpc_controller_type_t mixed = {.warp = lease_entry_described}, times = {.warp = times_warp_described};
    CHECK_EQUAL_I64(check_join(&mixed, (gpc_order_traits_t){0}), GPC_ERROR_PROTOCOL);
    CHECK(strstr(failure.text, "uses of its warps is PLAIN") != NULL);
    CHECK_EQUAL_I64(check_join(&mixed, (gpc_order_traits_t){.join = join_own}), 0);
    CHECK_EQUAL_I64(check_join(&mixed, (gpc_order_traits_t){.keeps_own = true}), 0);
    CHECK_EQUAL_I64(check_join(&times, (gpc_order_traits_t){0}), 0);
    for (uint32_t i = 0; i < gpc_protocol_count(); i++) {
        CHECK_EQUAL_I64(gpc_protocol_check_join(gpc_protocol_at(i), &failure), 0);
    }
}
