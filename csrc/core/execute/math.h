/* math.h: the special functions, bit-identical on every host and with every compiler. Independent of libm. */
#ifndef GPC_CORE_EXECUTE_MATH_H
#define GPC_CORE_EXECUTE_MATH_H

#include "base/types.h"

/* Within 2 ulp of the true value over all of f32 (in fact within 0.51: computed in double and rounded once). NaN, log
 * of a negative number, and sin and cos of an infinity give NaN. */
float gpc_math_exp(float x);
float gpc_math_log(float x);
float gpc_math_sin(float x);
float gpc_math_cos(float x);

#endif
