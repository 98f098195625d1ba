/* hip.h: what HIP's <hip/hip_runtime.h> declares, from HIP's documentation, in CUDA's names. hip.py writes
 * gpucoh_hip_names.h, in which every name of CUDA's headers has HIP's for it (hipMalloc for cudaMalloc); here are the
 * names and functions that differ. A warp has 32 lanes, so masks have their upper 32 bits 0. */
#ifndef GPUCOH_CUDA_HIP_H
#define GPUCOH_CUDA_HIP_H

#include <cuda_runtime.h>
#include <gpucoh_hip_names.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- names of CUDA's under another name */
#define hipDeviceAttribute_t cudaDeviceAttr
#define hipFuncCache_t cudaFuncCache
#define hipFuncAttribute cudaFuncAttribute
#define hipPointerAttribute_t cudaPointerAttributes
#define hipDeviceAttributeMultiprocessorCount cudaDevAttrMultiProcessorCount
#define hipDeviceAttributeMaxBlocksPerMultiProcessor cudaDevAttrMaxBlocksPerMultiprocessor
#define hipDeviceAttributeMemoryBusWidth cudaDevAttrGlobalMemoryBusWidth
#define hipDeviceAttributePciDomainID cudaDevAttrPciDomainId
#define hipDeviceAttributeSharedMemPerBlockOptin cudaDevAttrMaxSharedMemoryPerBlockOptin
#define hipDeviceAttributeSharedMemPerMultiprocessor cudaDevAttrMaxSharedMemoryPerMultiprocessor
#define hipHostFree cudaFreeHost
#define hipHostMallocDefault cudaHostAllocDefault
#define hipHostMallocPortable cudaHostAllocPortable
#define hipHostMallocMapped cudaHostAllocMapped
#define hipHostMallocWriteCombined cudaHostAllocWriteCombined
#define make_hipExtent make_cudaExtent
#define make_hipPitchedPtr make_cudaPitchedPtr
#define make_hipPos make_cudaPos

/* ---- flags without a meaning here: memory of the host is always coherent, and a launch's end releases all */
#define hipHostMallocNumaUser 0
#define hipHostMallocCoherent 0
#define hipHostMallocNonCoherent 0
#define hipHostMallocUncached 0
#define hipEventReleaseToDevice 0
#define hipEventReleaseToSystem 0

/* ---- errors of another name: X(HIP's, CUDA's) */
#define GPUCOH_HIP_ERRORS(X)                                  \
    X(hipErrorOutOfMemory, cudaErrorMemoryAllocation)         \
    X(hipErrorNotInitialized, cudaErrorInitializationError)   \
    X(hipErrorDeinitialized, cudaErrorCudartUnloading)        \
    X(hipErrorInvalidImage, cudaErrorInvalidKernelImage)      \
    X(hipErrorInvalidContext, cudaErrorDeviceUninitialized)   \
    X(hipErrorMapFailed, cudaErrorMapBufferObjectFailed)      \
    X(hipErrorUnmapFailed, cudaErrorUnmapBufferObjectFailed)  \
    X(hipErrorNoBinaryForGpu, cudaErrorNoKernelImageForDevice) \
    X(hipErrorECCNotCorrectable, cudaErrorECCUncorrectable)   \
    X(hipErrorContextAlreadyInUse, cudaErrorDeviceAlreadyInUse) \
    X(hipErrorInvalidKernelFile, cudaErrorInvalidPtx)         \
    X(hipErrorInvalidHandle, cudaErrorInvalidResourceHandle)  \
    X(hipErrorNotFound, cudaErrorSymbolNotFound)              \
    X(hipErrorLaunchTimeOut, cudaErrorLaunchTimeout)

#define GPUCOH_HIP_ERROR(hip, cuda) constexpr cudaError_t hip = cuda;
GPUCOH_HIP_ERRORS(GPUCOH_HIP_ERROR)
#undef GPUCOH_HIP_ERROR

#undef hipGetErrorName
static inline const char *
hipGetErrorName(cudaError_t error)
{
    static thread_local char name[64];
#define GPUCOH_HIP_ERROR(hip, cuda) \
    if (error == cuda) {            \
        return #hip;                \
    }
    GPUCOH_HIP_ERRORS(GPUCOH_HIP_ERROR)
#undef GPUCOH_HIP_ERROR
    const char *known = cudaGetErrorName(error);
    snprintf(name, sizeof name, "hip%s", known + strlen("cuda"));
    return strncmp(known, "cuda", strlen("cuda")) == 0 ? name : "hipErrorUnknown";
}

/* ---- functions of another form */
struct gpucohHipDeviceProp : cudaDeviceProp {
    char gcnArchName[256];
    int gcnArch, clockInstructionRate, maxSharedMemoryPerMultiProcessor, isLargeBar;
};
#undef hipDeviceProp_t
#define hipDeviceProp_t gpucohHipDeviceProp

static inline cudaError_t
cudaGetDeviceProperties(gpucohHipDeviceProp *properties, int device)
{
    *properties = gpucohHipDeviceProp();
    cudaDeviceProp *known = properties;
    cudaError_t error = cudaGetDeviceProperties(known, device);
    snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s", known->name);
    properties->maxSharedMemoryPerMultiProcessor = (int) known->sharedMemPerMultiprocessor;
    return error;
}

typedef void *hipDeviceptr_t;
enum { hipDeviceMallocDefault, hipDeviceMallocFinegrained, hipDeviceMallocUncached = 3, hipMallocSignalMemory = 2 };

template <class T>
static inline cudaError_t
hipHostMalloc(T **p, size_t bytes, unsigned flags = 0)
{
    return cudaHostAlloc((void **) p, bytes, flags);
}

template <class T>
static inline cudaError_t
hipExtMallocWithFlags(T **p, size_t bytes, unsigned flags)
{
    return flags == hipDeviceMallocDefault ? cudaMalloc((void **) p, bytes) : cudaMallocManaged((void **) p, bytes);
}

static inline cudaError_t
hipInit(unsigned flags)
{
    return flags == 0 ? cudaSuccess : cudaErrorInvalidValue;
}

static inline cudaError_t
hipMemcpyWithStream(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    return cudaMemcpyAsync(to, from, bytes, kind, stream);
}

static inline cudaError_t
hipMemcpyHtoD(hipDeviceptr_t to, const void *from, size_t bytes)
{
    return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
}

static inline cudaError_t
hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes)
{
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}

static inline cudaError_t
hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes)
{
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}

/* Advice about places of memory, which has one here: no call of CUDA's, whose parameters changed in CUDA 13. */
#undef hipMemPrefetchAsync
static inline cudaError_t
hipMemPrefetchAsync(const void *, size_t, int, cudaStream_t = 0)
{
    return cudaSuccess;
}

#undef hipMemAdvise
static inline cudaError_t
hipMemAdvise(const void *, size_t, cudaMemoryAdvise, int)
{
    return cudaSuccess;
}

/* ---- launches and kernels */
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(symbol) symbol
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) \
    kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

/* ---- vectors: arithmetic by element. Templates, so that operators of the program precede them. */
template <class V> struct gpucoh_hip_vector {};
#define GPUCOH_HIP_VECTOR_OF(vector, element, number) \
    template <> struct gpucoh_hip_vector<vector##number> { \
        typedef element type;                         \
        enum { count = number };                      \
    };
#define GPUCOH_HIP_VECTOR(vector, element)    \
    GPUCOH_HIP_VECTOR_OF(vector, element, 1)  \
    GPUCOH_HIP_VECTOR_OF(vector, element, 2)  \
    GPUCOH_HIP_VECTOR_OF(vector, element, 3)  \
    GPUCOH_HIP_VECTOR_OF(vector, element, 4)
GPUCOH_HIP_VECTOR(char, signed char)
GPUCOH_HIP_VECTOR(uchar, unsigned char)
GPUCOH_HIP_VECTOR(short, short)
GPUCOH_HIP_VECTOR(ushort, unsigned short)
GPUCOH_HIP_VECTOR(int, int)
GPUCOH_HIP_VECTOR(uint, unsigned)
GPUCOH_HIP_VECTOR(long, long)
GPUCOH_HIP_VECTOR(ulong, unsigned long)
GPUCOH_HIP_VECTOR(longlong, long long)
GPUCOH_HIP_VECTOR(ulonglong, unsigned long long)
GPUCOH_HIP_VECTOR(float, float)
GPUCOH_HIP_VECTOR(double, double)

#define GPUCOH_HIP_OF_VECTOR(result) \
    template <class V, int count = gpucoh_hip_vector<V>::count> static inline __host__ __device__ result
#define GPUCOH_HIP_OPERATOR(op)                                                    \
    GPUCOH_HIP_OF_VECTOR(V &) operator op##=(V &a, const V &b)                     \
    {                                                                              \
        for (int k = 0; k < count; k++) {                                          \
            (&a.x)[k] op##= (&b.x)[k];                                             \
        }                                                                          \
        return a;                                                                  \
    }                                                                              \
    GPUCOH_HIP_OF_VECTOR(V &) operator op##=(V &a, typename gpucoh_hip_vector<V>::type b) \
    {                                                                              \
        for (int k = 0; k < count; k++) {                                          \
            (&a.x)[k] op##= b;                                                     \
        }                                                                          \
        return a;                                                                  \
    }                                                                              \
    GPUCOH_HIP_OF_VECTOR(V) operator op(V a, const V &b)                           \
    {                                                                              \
        return a op##= b;                                                          \
    }                                                                              \
    GPUCOH_HIP_OF_VECTOR(V) operator op(V a, typename gpucoh_hip_vector<V>::type b) \
    {                                                                              \
        return a op##= b;                                                          \
    }                                                                              \
    GPUCOH_HIP_OF_VECTOR(V) operator op(typename gpucoh_hip_vector<V>::type a, const V &b) \
    {                                                                              \
        V all;                                                                     \
        for (int k = 0; k < count; k++) {                                          \
            (&all.x)[k] = a;                                                       \
        }                                                                          \
        return all op##= b;                                                        \
    }
GPUCOH_HIP_OPERATOR(+)
GPUCOH_HIP_OPERATOR(-)
GPUCOH_HIP_OPERATOR(*)
GPUCOH_HIP_OPERATOR(/)
#undef GPUCOH_HIP_OPERATOR

GPUCOH_HIP_OF_VECTOR(V) operator-(const V & a)
{
    return (typename gpucoh_hip_vector<V>::type) 0 - a;
}

GPUCOH_HIP_OF_VECTOR(bool) operator==(const V & a, const V & b)
{
    for (int k = 0; k < count; k++) {
        if ((&a.x)[k] != (&b.x)[k]) {
            return false;
        }
    }
    return true;
}

GPUCOH_HIP_OF_VECTOR(bool) operator!=(const V & a, const V & b)
{
    return !(a == b);
}

/* ---- lanes: functions without a mask are of the lanes that meet there. Headers of CUDA still declare some of these
 * names for GPUs before Volta. */
#define __any gpucoh_hip_any
#define __all gpucoh_hip_all
#define __ballot gpucoh_hip_ballot

static __device__ inline int
gpucoh_hip_any(int predicate)
{
    return __any_sync(__activemask(), predicate);
}

static __device__ inline int
gpucoh_hip_all(int predicate)
{
    return __all_sync(__activemask(), predicate);
}

static __device__ inline unsigned long long
gpucoh_hip_ballot(int predicate)
{
    return __ballot_sync(__activemask(), predicate);
}

#define GPUCOH_HIP_SHUFFLE(name, number)                        \
    template <class T>                                          \
    static __device__ inline T                                  \
    name(T value, number lane, int width = warpSize)            \
    {                                                           \
        return name##_sync(__activemask(), value, lane, width); \
    }
GPUCOH_HIP_SHUFFLE(__shfl, int)
GPUCOH_HIP_SHUFFLE(__shfl_up, unsigned)
GPUCOH_HIP_SHUFFLE(__shfl_down, unsigned)
GPUCOH_HIP_SHUFFLE(__shfl_xor, int)
#undef GPUCOH_HIP_SHUFFLE

static __device__ inline unsigned
__lane_id()
{
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

static __device__ inline long long
wall_clock64()
{
    return clock64();
}

template <class T>
static __device__ inline T
unsafeAtomicAdd(T *p, T value)
{
    return atomicAdd(p, value);
}

template <class T>
static __device__ inline T
safeAtomicAdd(T *p, T value)
{
    return atomicAdd(p, value);
}

/* ---- atomics with an order and a scope, which are constants; a warp's scope is the block. On the host every access is
 * sequentially consistent. */
#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
#define GPUCOH_HIP_ATOMIC(result) template <int order, int scope, class T> static inline __host__ __device__ result
#ifdef __CUDA_ARCH__
#define __HIP_DEVICE_COMPILE__ 1
#define GPUCOH_HIP_SCOPE                                            \
    (scope == __HIP_MEMORY_SCOPE_SYSTEM  ? __NV_THREAD_SCOPE_SYSTEM \
     : scope == __HIP_MEMORY_SCOPE_AGENT ? __NV_THREAD_SCOPE_DEVICE \
                                         : __NV_THREAD_SCOPE_BLOCK)
#define GPUCOH_HIP_UPDATE(hip, cuda, changed)                                      \
    GPUCOH_HIP_ATOMIC(T) hip(T *p, gpucoh_hip_same<T> value)                       \
    {                                                                              \
        return __nv_atomic_##cuda(p, value, order, GPUCOH_HIP_SCOPE);              \
    }
#else
#define GPUCOH_HIP_UPDATE(hip, cuda, changed)                                                      \
    GPUCOH_HIP_ATOMIC(T) hip(T *p, gpucoh_hip_same<T> value)                                       \
    {                                                                                              \
        T old = *(volatile T *) p, next = changed;                                                 \
        while (!__atomic_compare_exchange(p, &old, &next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) { \
            next = changed;                                                                        \
        }                                                                                          \
        return old;                                                                                \
    }
#endif

template <class T> struct gpucoh_hip_type {
    typedef T type;
};
template <class T> using gpucoh_hip_same = typename gpucoh_hip_type<T>::type; /* of a value that is converted */

GPUCOH_HIP_UPDATE(gpucoh_hip_exchange, exchange_n, value)
GPUCOH_HIP_UPDATE(gpucoh_hip_fetch_add, fetch_add, old + value)
GPUCOH_HIP_UPDATE(gpucoh_hip_fetch_sub, fetch_sub, old - value)
GPUCOH_HIP_UPDATE(gpucoh_hip_fetch_and, fetch_and, old &value)
GPUCOH_HIP_UPDATE(gpucoh_hip_fetch_or, fetch_or, old | value)
GPUCOH_HIP_UPDATE(gpucoh_hip_fetch_xor, fetch_xor, old ^ value)
GPUCOH_HIP_UPDATE(gpucoh_hip_fetch_min, fetch_min, old < value ? old : value)
GPUCOH_HIP_UPDATE(gpucoh_hip_fetch_max, fetch_max, old > value ? old : value)

GPUCOH_HIP_ATOMIC(T) gpucoh_hip_load(const T *p)
{
#ifdef __CUDA_ARCH__
    return __nv_atomic_load_n((T *) p, order, GPUCOH_HIP_SCOPE);
#else
    T value;
    __atomic_load(p, &value, __ATOMIC_SEQ_CST);
    return value;
#endif
}

GPUCOH_HIP_ATOMIC(void) gpucoh_hip_store(T *p, gpucoh_hip_same<T> value)
{
#ifdef __CUDA_ARCH__
    __nv_atomic_store_n(p, value, order, GPUCOH_HIP_SCOPE);
#else
    __atomic_store(p, &value, __ATOMIC_SEQ_CST);
#endif
}

GPUCOH_HIP_ATOMIC(bool) gpucoh_hip_compare_exchange(T *p, T *expected, gpucoh_hip_same<T> value)
{
#ifdef __CUDA_ARCH__
    return __nv_atomic_compare_exchange_n(p, expected, value, false, order, __ATOMIC_RELAXED, GPUCOH_HIP_SCOPE);
#else
    return __atomic_compare_exchange(p, expected, &value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
#endif
}

#define __hip_atomic_load(p, order, scope) gpucoh_hip_load<order, scope>(p)
#define __hip_atomic_store(p, value, order, scope) gpucoh_hip_store<order, scope>(p, value)
#define __hip_atomic_exchange(p, value, order, scope) gpucoh_hip_exchange<order, scope>(p, value)
#define __hip_atomic_fetch_add(p, value, order, scope) gpucoh_hip_fetch_add<order, scope>(p, value)
#define __hip_atomic_fetch_sub(p, value, order, scope) gpucoh_hip_fetch_sub<order, scope>(p, value)
#define __hip_atomic_fetch_and(p, value, order, scope) gpucoh_hip_fetch_and<order, scope>(p, value)
#define __hip_atomic_fetch_or(p, value, order, scope) gpucoh_hip_fetch_or<order, scope>(p, value)
#define __hip_atomic_fetch_xor(p, value, order, scope) gpucoh_hip_fetch_xor<order, scope>(p, value)
#define __hip_atomic_fetch_min(p, value, order, scope) gpucoh_hip_fetch_min<order, scope>(p, value)
#define __hip_atomic_fetch_max(p, value, order, scope) gpucoh_hip_fetch_max<order, scope>(p, value)
/* A failure of either orders as a success: CUDA's have one order too. */
#define __hip_atomic_compare_exchange_strong(p, expected, value, order, failure, scope) \
    gpucoh_hip_compare_exchange<order, scope>(p, expected, value)
#define __hip_atomic_compare_exchange_weak __hip_atomic_compare_exchange_strong

/* ---- functions of AMD's compiler */
template <class T>
static inline __host__ __device__ T
__builtin_nontemporal_load(const T *p)
{
    return *p;
}

template <class T, class Value>
static inline __host__ __device__ void
__builtin_nontemporal_store(Value value, T *p)
{
    *p = value;
}

#define __AMDGCN_WAVEFRONT_SIZE 32
#define __AMDGCN_WAVEFRONT_SIZE__ 32
#define __builtin_amdgcn_wavefrontsize() 32
#define __builtin_amdgcn_s_barrier() __syncthreads()
#define __builtin_amdgcn_wave_barrier() __syncwarp(__activemask())
#define __builtin_amdgcn_s_sleep(n) __nanosleep(64 * (n)) /* a nanosecond is a core cycle here, a step 64 */
#define __builtin_amdgcn_s_memtime() ((unsigned long long) clock64())
#define __builtin_amdgcn_readlane(value, lane) __shfl_sync(__activemask(), (int) (value), lane)
#define __builtin_amdgcn_readfirstlane(value) __builtin_amdgcn_readlane(value, __ffs((int) __activemask()) - 1)
#define __builtin_amdgcn_mbcnt_lo(mask, sum) (__popc((mask) & ((1u << __lane_id()) - 1)) + (sum))
#define __builtin_amdgcn_mbcnt_hi(mask, sum) (sum)

#endif
