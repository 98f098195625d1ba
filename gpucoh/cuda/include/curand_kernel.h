/* curand_kernel.h: cuRAND's functions of the device for programs that gpucoh runs, after its public documentation; the
 * numbers are cuRAND's. What is missing here does not compile. */
#ifndef GPUCOH_CURAND_KERNEL_H
#define GPUCOH_CURAND_KERNEL_H
#include <curand.h>

typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;
#endif
