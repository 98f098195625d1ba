/* test_alu.c: every operation computes the same word in one lane as in a warp's lanes, whose loops are written for
 * vectors, those of this host included. */
#include "core/execute/alu.h"

#include "harness.h"
#include "random.h"

static const uint32_t edges[] = {0,          1,          2,          3,          7,          31,         32,
                                 33,         64,         0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE,
                                 0xFFFFFFF9, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x00000001,
                                 0x007FFFFF, 0x4F000000, 0xCF000000, 0x40490FDB, 0x33333333};

static uint32_t
any_word(void)
{
    switch (random_below(3)) {
        case 0:
            return edges[random_below(GPC_COUNT_OF(edges))];
        case 1:
            return (uint32_t) random_below(200) - 100;
        default:
            return (uint32_t) random_below(UINT64_C(1) << 32);
    }
}

static uint32_t
count_unequal(const gpc_alu_t *alu, bool one_divisor)
{
    uint32_t a[GPC_ALU_LANES], b[GPC_ALU_LANES], c[GPC_ALU_LANES], result[GPC_ALU_LANES], unequal = 0;
    for (uint32_t l = 0; l < GPC_ALU_LANES; l++) {
        a[l] = any_word();
        b[l] = one_divisor && l != 0 ? b[0] : any_word();
        c[l] = any_word();
    }
    alu->all(result, a, b, c);
    for (uint32_t l = 0; l < GPC_ALU_LANES; l++) {
        unequal += result[l] != alu->one(a[l], b[l], c[l]);
    }
    return unequal;
}

TEST(lanes_compute_what_one_lane_does)
{
    uint32_t found = 0;
    for (uint8_t opcode = 0; opcode < GPC_NUM_OPCODES; opcode++) {
        for (uint8_t type = 0; type < GPC_NUM_TYPES; type++) {
            for (uint16_t to = 0; to < GPC_NUM_TYPES; to++) {
                for (uint32_t wide = 0; wide <= gpc_alu_host_is_wide(); wide++) {
                    gpc_alu_t alu = gpc_alu_find(opcode, type, to, wide != 0);
                    found += alu.one != NULL && wide == 0;
                    for (uint32_t pass = 0; alu.one != NULL && pass < 300; pass++) {
                        CHECK_EQUAL_I64(count_unequal(&alu, pass % 2 != 0), 0);
                    }
                }
            }
        }
    }
    CHECK(found > 100);
}

/* Of all small pairs, and of those around the ends of the range. */
static void
expect_floors(bool wide)
{
    gpc_alu_t divide = gpc_alu_find(GPC_OP_FLOORDIV, GPC_I32, 0, wide),
              modulo = gpc_alu_find(GPC_OP_MOD, GPC_I32, 0, wide);
    uint32_t a[GPC_ALU_LANES], b[GPC_ALU_LANES], quotient[GPC_ALU_LANES], rest[GPC_ALU_LANES], wrong = 0;
    for (int32_t n = -100; n <= 100; n++) {
        int32_t base = n == -100 ? INT32_MIN : n == 100 ? INT32_MAX - 31 : n;
        for (int32_t by = -70; by <= 70; by++) {
            for (uint32_t l = 0; l < GPC_ALU_LANES; l++) {
                a[l] = (uint32_t) base + l;
                b[l] = (uint32_t) by;
            }
            divide.all(quotient, a, b, b);
            modulo.all(rest, a, b, b);
            for (uint32_t l = 0; l < GPC_ALU_LANES && by != 0; l++) {
                int64_t x = (int32_t) a[l], q = x / by, r = x % by;
                q -= r != 0 && (r < 0) != (by < 0);
                wrong += quotient[l] != (uint32_t) q || rest[l] != (uint32_t) (x - q * by);
            }
        }
    }
    CHECK_EQUAL_I64(wrong, 0);
}

TEST(divisions_are_floors)
{
    expect_floors(false);
    expect_floors(gpc_alu_host_is_wide());
}
