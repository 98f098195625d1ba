/* math.h: the special functions, the same to the last bit on every machine and with every compiler. No libm. */
#ifndef GPC_CORE_EXECUTE_MATH_H
#define GPC_CORE_EXECUTE_MATH_H

#include "base/types.h"

/* All within 2 ulp of the true value over all of f32 (in fact within 0.51: they are computed in double and rounded once). NaN gives NaN;
 * log of a negative number, and sin and cos of an infinity, too. */
float gpc_math_exp(float x);
float gpc_math_log(float x);
float gpc_math_sin(float x);
float gpc_math_cos(float x);

#endif
