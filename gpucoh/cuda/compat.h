/* compat.h: names of CUDA's runtime that CUDA 13 has dropped and older programs call. */
#ifndef GPUCOH_CUDA_COMPAT_H
#define GPUCOH_CUDA_COMPAT_H

#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaThreadExit cudaDeviceReset
#define cudaThreadSetCacheConfig cudaDeviceSetCacheConfig
#define cudaThreadSetLimit cudaDeviceSetLimit

#endif
