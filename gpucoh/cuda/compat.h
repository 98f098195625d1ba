/* compat.h: names of CUDA's runtime that CUDA 13 has dropped and older programs use. */
#ifndef GPUCOH_CUDA_COMPAT_H
#define GPUCOH_CUDA_COMPAT_H

#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaThreadExit cudaDeviceReset
#define cudaThreadSetCacheConfig cudaDeviceSetCacheConfig
#define cudaThreadSetLimit cudaDeviceSetLimit

#if defined(__cplusplus) && defined(__CUDACC__)
#include <cuda_runtime_api.h>
#if CUDART_VERSION >= 13000
/* A device with the properties that CUDA 12 had besides. Those that are not set are 0. */
struct gpucohDeviceProp : cudaDeviceProp {
    int clockRate, memoryClockRate, computeMode, deviceOverlap, kernelExecTimeoutEnabled, singleToDoublePrecisionPerfRatio,
        cooperativeMultiDeviceLaunch, maxTexture1DLinear;
};

static inline cudaError_t
cudaGetDeviceProperties(gpucohDeviceProp *properties, int device)
{
    cudaDeviceProp *known = properties;
    *properties = gpucohDeviceProp();
    properties->deviceOverlap = 1;
    int clock = 0;
    cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device);
    properties->clockRate = clock;
    return cudaGetDeviceProperties(known, device);
}

#define cudaDeviceProp gpucohDeviceProp
#endif
#ifdef GPUCOH_TEXTURES
#include "gpucoh/textures.h"
#endif
#endif

#endif
