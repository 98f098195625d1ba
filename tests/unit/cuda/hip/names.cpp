/* Names of HIP, each used once. */
#include "hip/hip_bf16.h"
#include "hip/hip_complex.h"
#include "hip/hip_cooperative_groups.h"
#include "hip/hip_fp16.h"
#include "hip/hip_runtime.h"
#include <cstdio>
#define SCOPE __HIP_MEMORY_SCOPE_WORKGROUP
#define CHECK(call)                               \
    if (hipError_t error = call) {                \
        printf("%s\n", hipGetErrorName(error)); \
        return 1;                                 \
    }
__constant__ int factor[2];
template <int lowest, class T> __global__ __launch_bounds__(64) void lanes(T *out)
{
    int lane = __lane_id(), at = hipThreadIdx_x;
    if (lane < lowest)
        return;
    int up = __shfl_up(lane, 1);
    out[at] = __ballot(lane % 2) == 0xAAAAAAA0 && __any(lane == 7) && __all(lane >= lowest);
    out[at] += 2 * (__shfl(lane, lowest) == lowest) + 4 * (lane == lowest || up == lane - 1);
    out[at] +=
        8 * (__shfl_xor(lane, 1) == (lane ^ 1)) + 16 * (__builtin_amdgcn_readfirstlane(at) == at / 32 * 32 + lowest);
    out[at] += 32 * (__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)) == lane);
    out[at] += 64 * (warpSize == __AMDGCN_WAVEFRONT_SIZE && hipBlockDim_x == 64 && hipGridDim_x == 1);
    __builtin_amdgcn_s_sleep(1);
    __builtin_amdgcn_wave_barrier();
}
__global__ void
atomics(int *p, unsigned long long *q, float *f)
{
    int seen = 1;
    p[0] = __hip_atomic_exchange(p + 8, 1, __ATOMIC_ACQ_REL, SCOPE);
    p[1] = __hip_atomic_compare_exchange_strong(p + 8, &seen, 6, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED, SCOPE);
    p[2] = __hip_atomic_compare_exchange_weak(p + 8, &seen, 9, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, SCOPE) + seen;
    p[3] = __hip_atomic_fetch_sub(p + 8, 1, __ATOMIC_RELEASE, SCOPE) * factor[0];
    p[4] = __hip_atomic_fetch_and(p + 8, 4, __ATOMIC_RELAXED, SCOPE) +
           __hip_atomic_fetch_or(p + 8, 3, __ATOMIC_RELAXED, SCOPE);
    p[5] = __hip_atomic_fetch_xor(p + 8, 1, __ATOMIC_RELAXED, SCOPE) +
           __hip_atomic_fetch_max(p + 8, 99, __ATOMIC_RELAXED, SCOPE);
    p[6] = __hip_atomic_fetch_min(p + 8, 50, __ATOMIC_RELAXED, SCOPE);
    q[0] = __hip_atomic_load(q, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM) + (1ull << 40);
    unsafeAtomicAdd(f, 1.5f);
    float2 vector = 2 * make_float2(1, 2) + make_float2(3, 4) / 2;
    vector -= 1;
    f[2] = -(vector == make_float2(2.5f, 5) ? vector.y : 0);
    __builtin_nontemporal_store(__builtin_nontemporal_load(f + 2), f + 3);
    f[1] = __half2float(__float2half(2.5f)) + __bfloat162float(__hip_bfloat16(1.0f)) +
           hipCadd(hipDoubleComplex{1, 2}, hipDoubleComplex{3, 4}).y;
}
int
main(int argc, char **)
{
    int count, warp, *out, *p, two[2] = {7, 0}, h[64];
    unsigned long long *q;
    float *f;
    hipDeviceProp_t properties;
    hipStream_t stream;
    hipEvent_t from, to;
    float ms;
    CHECK(hipGetDeviceCount(&count));
    CHECK(hipSetDevice(0));
    CHECK(hipGetDeviceProperties(&properties, 0));
    CHECK(hipDeviceGetAttribute(&warp, hipDeviceAttributeWarpSize, 0));
    printf("%d %d %d %s\n", count, warp, properties.warpSize, properties.gcnArchName);
    CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    CHECK(hipEventCreate(&from));
    CHECK(hipEventCreate(&to));
    CHECK(hipMalloc(&out, sizeof h));
    CHECK(hipHostMalloc(&p, 64));
    CHECK(hipExtMallocWithFlags(&q, 8, hipDeviceMallocFinegrained));
    CHECK(hipMallocManaged(&f, 16));
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(factor), two, sizeof two));
    *q = 5;
    CHECK(hipMemset(out, 0, sizeof h));
    CHECK(hipMemPrefetchAsync(q, 8, 0, stream));
    CHECK(hipEventRecord(from, stream));
    hipLaunchKernelGGL(HIP_KERNEL_NAME(lanes<4, int>), dim3(1), 64, 0, stream, out);
    hipLaunchKernelGGL(atomics, 1, 1, 0, 0, p, q, f);
    CHECK(hipEventRecord(to, stream));
    CHECK(hipEventElapsedTime(&ms, from, to));
    CHECK(hipGetLastError());
    CHECK(hipMemcpyDtoH(h, out, sizeof h));
    int wrong = ms <= 0;
    for (int k = 0; k < 64; k++)
        wrong += h[k] != (k % 32 < 4 ? 0 : 127);
    for (int k = 0; k < 9; k++)
        printf("%d ", p[k]);
    printf("%llx %g %g %g wrong %d\n", *q, f[0], f[1], f[3], wrong);
    printf("%s %s\n", hipGetErrorName(hipFree(p + 1)), hipGetErrorName(hipErrorOutOfMemory));
    double host = 1;
    wrong = __hip_atomic_fetch_add(&host, 1.5, __ATOMIC_RELAXED, SCOPE) != 1;
    wrong += __hip_atomic_fetch_add(p, 4, __ATOMIC_RELAXED, SCOPE) != 0 ||
             __hip_atomic_load(p, __ATOMIC_ACQUIRE, SCOPE) != 4;
    __hip_atomic_store(p, 9, __ATOMIC_RELEASE, SCOPE);
    if (wrong || host != 2.5 || p[0] != 9)
        return 1;
    if (argc > 1) {
        hipMemcpy3DParms all = {};
        CHECK(hipMemcpy3DAsync(&all));
    }
    return hipHostFree(p) == hipSuccess ? 0 : 1;
}
