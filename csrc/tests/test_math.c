/* test_math.c: the special functions against libm in double, over all of f32: every 6007th number. With the argument
 * `everywhere` (make proof-full), those that PTX's approximations are, of every number, or of every N-th after
 * `everywhere N` (tests/unit/lang/test_approximations.py -m long). */
#include "core/execute/math.h"

#include <math.h>

#include "harness.h"

/* Distance in units of the last place of f32 at the true value. */
static double
ulps(float actual, double expected)
{
    if (isnan(expected) || isnan(actual)) {
        return isnan(expected) && isnan(actual) ? 0 : INFINITY;
    }
    float rounded = (float) expected;
    if (isinf(rounded) || isinf(actual)) {
        return rounded == actual ? 0 : INFINITY;
    }
    int exponent;
    (void) frexp(expected, &exponent);
    double unit = ldexp(1.0, exponent - 24);
    double smallest = 0x1p-149;
    return fabs((double) actual - expected) / (unit < smallest ? smallest : unit);
}

/* Of every step-th number. A result that is the nearest number is not measured: it counts as half a unit. */
static double
worst_of_every(float (*ours)(float), double (*theirs)(double), uint32_t step)
{
    double worst = 0.5;
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += step) {
        float x = gpc_f32((uint32_t) bits), actual = ours(x);
        double expected = theirs((double) x);
        if (actual != (float) expected) {
            double error = ulps(actual, expected);
            worst = error > worst ? error : worst;
        }
    }
    return worst;
}

static double
worst_of(float (*ours)(float), double (*theirs)(double))
{
    return worst_of_every(ours, theirs, 6007);
}

TEST(exp_is_within_an_ulp_everywhere)
{
    CHECK(worst_of(gpc_math_exp, exp) <= 1.0);
}

TEST(log_is_within_an_ulp_everywhere)
{
    CHECK(worst_of(gpc_math_log, log) <= 1.0);
}

TEST(exp2_and_log2_are_within_an_ulp_everywhere)
{
    CHECK(worst_of(gpc_math_exp2, exp2) <= 1.0);
    CHECK(worst_of(gpc_math_log2, log2) <= 1.0);
}

TEST(sin_is_within_an_ulp_everywhere)
{
    CHECK(worst_of(gpc_math_sin, sin) <= 1.0);
}

TEST(cos_is_within_an_ulp_everywhere)
{
    CHECK(worst_of(gpc_math_cos, cos) <= 1.0);
}

TEST(multiples_of_pi_keep_their_small_sines)
{
    double worst = 0;
    for (int k = 1; k < 200000; k++) {
        float x = (float) (k * 3.14159265358979323846);
        double error = ulps(gpc_math_sin(x), sin((double) x));
        worst = error > worst ? error : worst;
    }
    CHECK(worst <= 1.0);
    CHECK(ulps(gpc_math_sin(0x1.2864cp+92f), sin(0x1.2864cp+92)) <= 1.0);
    CHECK(ulps(gpc_math_cos(0x1.47d0fep+34f), cos(0x1.47d0fep+34)) <= 1.0); /* nearest to a zero among large f32 */
}

static double
inverse_root(double x)
{
    return 1 / sqrt(x);
}

TEST(tan_is_within_an_ulp_everywhere)
{
    CHECK(worst_of(gpc_math_tan, tan) <= 1.0);
    CHECK(ulps(gpc_math_tan(0x1.47d0fep+34f), tan(0x1.47d0fep+34)) <= 1.0); /* nearest to a pole among large f32 */
}

TEST(tanh_is_within_an_ulp_everywhere)
{
    CHECK(worst_of(gpc_math_tanh, tanh) <= 1.0);
}

TEST(rsqrt_is_within_an_ulp_everywhere)
{
    CHECK(worst_of(gpc_math_rsqrt, inverse_root) <= 1.0);
}

TEST(pow_is_within_an_ulp)
{
    double worst = 0;
    for (uint32_t i = 0, a = 1, b = 7; i < 400000; i++) {
        a = a * 1664525u + 1013904223u;
        b = b * 22695477u + 1u;
        /* any two words; bases near 1 and exponents within reach of a finite result */
        float x = i % 2 == 0 ? gpc_f32(a) : 1.0f + (float) (a >> 8) * 0x1p-26f;
        float y = i % 2 == 0 ? gpc_f32(b) : (float) (int32_t) b * 0x1p-22f;
        double error = ulps(gpc_math_pow(x, y), pow((double) x, (double) y));
        worst = error > worst ? error : worst;
    }
    CHECK(worst <= 1.0);
}

TEST(fma_is_rounded_once)
{
    bool equal = true;
    for (uint32_t i = 0, a = 1, b = 7, c = 3; i < 400000; i++) {
        a = a * 1664525u + 1013904223u;
        b = b * 22695477u + 1u;
        c = c * 1103515245u + 12345u;
        /* every other sum cancels, or is smaller than a digit of the product */
        float x = gpc_f32(a), y = gpc_f32(b),
              z = i % 2 == 0 ? gpc_f32(c) : -x * y * (1.0f + (float) (c % 5) * 0x1p-23f);
        float ours = gpc_math_fma(x, y, z), theirs = fmaf(x, y, z);
        equal = equal && ((isnan(ours) && isnan(theirs)) || (ours == theirs && !signbit(ours) == !signbit(theirs)));
    }
    CHECK(equal);
    CHECK(gpc_math_fma(0x1.001p0f, 0x1.001p0f, 0x1p-60f) == fmaf(0x1.001p0f, 0x1.001p0f, 0x1p-60f));
    CHECK(gpc_math_fma(0x1.8p-75f, 0x1p-75f, 0x1p-149f) == fmaf(0x1.8p-75f, 0x1p-75f, 0x1p-149f));
    CHECK(gpc_math_fma(0x1.fffffep127f, 1.0f, 0x1p102f) == 0x1.fffffep127f);
    CHECK(gpc_math_fma(0x1.fffffep127f, 1.0f, 0x1p103f) == INFINITY);
}

TEST(special_values)
{
    CHECK(isnan(gpc_math_exp(NAN)) && isnan(gpc_math_log(NAN)) && isnan(gpc_math_sin(NAN)) && isnan(gpc_math_cos(NAN)));
    CHECK(gpc_math_exp(INFINITY) == INFINITY && gpc_math_exp(-INFINITY) == 0.0f);
    CHECK(gpc_math_log(0.0f) == -INFINITY && gpc_math_log(-0.0f) == -INFINITY && isnan(gpc_math_log(-1.0f)));
    CHECK(gpc_math_log(INFINITY) == INFINITY && gpc_math_log(1.0f) == 0.0f);
    CHECK(gpc_math_exp2(-149.0f) == 0x1p-149f && gpc_math_exp2(-150.0f) == 0.0f && gpc_math_exp2(-151.0f) == 0.0f);
    CHECK(gpc_math_exp2(127.0f) == 0x1p127f && gpc_math_exp2(128.0f) == INFINITY && gpc_math_exp2(-INFINITY) == 0.0f);
    CHECK(gpc_math_log2(0x1p-149f) == -149.0f && gpc_math_log2(8.0f) == 3.0f && isnan(gpc_math_log2(-1.0f)));
    CHECK(gpc_math_log2(-0.0f) == -INFINITY && gpc_math_log2(INFINITY) == INFINITY && isnan(gpc_math_exp2(NAN)));
    CHECK(isnan(gpc_math_sin(INFINITY)) && isnan(gpc_math_cos(-INFINITY)));
    CHECK(gpc_math_cos(0.0f) == 1.0f && gpc_math_exp(0.0f) == 1.0f);
    CHECK(signbit(gpc_math_sin(-0.0f)) && gpc_math_sin(-0.0f) == 0.0f);
}

/* Prints the largest error of each function, of all 2^32 operands or every step-th; fails above one unit. */
static int
measure_everywhere(uint32_t step)
{
    static const struct {
        const char *name;
        float (*ours)(float);
        double (*theirs)(double);
    } functions[] = {
        {"ex2", gpc_math_exp2, exp2}, {"lg2", gpc_math_log2, log2}, {"rsqrt", gpc_math_rsqrt, inverse_root},
        {"sin", gpc_math_sin, sin},   {"cos", gpc_math_cos, cos},   {"tanh", gpc_math_tanh, tanh}};
    int status = EXIT_SUCCESS;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        double worst = worst_of_every(functions[i].ours, functions[i].theirs, step);
        printf("%s %.4f\n", functions[i].name, worst);
        fflush(stdout);
        status = worst > 1.0 ? EXIT_FAILURE : status;
    }
    return status;
}

BEFORE_TESTS
{
    if (harness.argc > 1 && strcmp(harness.argv[1], "everywhere") == 0) {
        exit(measure_everywhere(harness.argc > 2 ? (uint32_t) atoi(harness.argv[2]) : 1));
    }
}
