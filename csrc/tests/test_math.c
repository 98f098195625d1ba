/* test_math.c: the special functions against libm in double, over all of f32. */
#include "core/execute/math.h"

#include <math.h>

#include "harness.h"

static float
float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

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

static double
worst_of(float (*ours)(float), double (*theirs)(double))
{
    double worst = 0;
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += 6007) {
        float x = float_of((uint32_t) bits);
        double error = ulps(ours(x), theirs((double) x));
        worst = error > worst ? error : worst;
    }
    return worst;
}

static void
exp_is_within_an_ulp_everywhere(void)
{
    CHECK(worst_of(gpc_math_exp, exp) <= 1.0);
}

static void
log_is_within_an_ulp_everywhere(void)
{
    CHECK(worst_of(gpc_math_log, log) <= 1.0);
}

static void
sin_is_within_an_ulp_everywhere(void)
{
    CHECK(worst_of(gpc_math_sin, sin) <= 1.0);
}

static void
cos_is_within_an_ulp_everywhere(void)
{
    CHECK(worst_of(gpc_math_cos, cos) <= 1.0);
}

static void
multiples_of_pi_keep_their_small_sines(void)
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

static void
special_values(void)
{
    CHECK(isnan(gpc_math_exp(NAN)) && isnan(gpc_math_log(NAN)) && isnan(gpc_math_sin(NAN)) && isnan(gpc_math_cos(NAN)));
    CHECK(gpc_math_exp(INFINITY) == INFINITY && gpc_math_exp(-INFINITY) == 0.0f);
    CHECK(gpc_math_log(0.0f) == -INFINITY && gpc_math_log(-0.0f) == -INFINITY && isnan(gpc_math_log(-1.0f)));
    CHECK(gpc_math_log(INFINITY) == INFINITY && gpc_math_log(1.0f) == 0.0f);
    CHECK(isnan(gpc_math_sin(INFINITY)) && isnan(gpc_math_cos(-INFINITY)));
    CHECK(gpc_math_cos(0.0f) == 1.0f && gpc_math_exp(0.0f) == 1.0f);
    CHECK(signbit(gpc_math_sin(-0.0f)) && gpc_math_sin(-0.0f) == 0.0f);
}

int
main(void)
{
    RUN(exp_is_within_an_ulp_everywhere);
    RUN(log_is_within_an_ulp_everywhere);
    RUN(sin_is_within_an_ulp_everywhere);
    RUN(cos_is_within_an_ulp_everywhere);
    RUN(multiples_of_pi_keep_their_small_sines);
    RUN(special_values);
    return harness_end();
}
