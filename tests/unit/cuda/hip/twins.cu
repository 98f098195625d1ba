/* A program of HIP and of CUDA: what differs between them first, with PTX where HIP has functions. */
#include <cstdio>
#ifdef __HIP__
#include <hip/hip_runtime.h>
#define LAUNCH(kernel, grid, block, shared, ...) \
    hipLaunchKernelGGL(kernel, dim3(grid), dim3(block), shared, 0, __VA_ARGS__)
#define SHARED HIP_DYNAMIC_SHARED(int, sums)
__device__ int
down(int value, int distance)
{
    return __shfl_down(value, distance);
}
template <int scope>
__device__ void
post(int *flag, int value)
{
    __hip_atomic_store(flag, value, __ATOMIC_RELEASE, scope);
}
template <int scope>
__device__ int
poll(int *flag)
{
    return __hip_atomic_load(flag, __ATOMIC_ACQUIRE, scope);
}
__device__ int
add(int *sum, int value)
{
    return __hip_atomic_fetch_add(sum, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
#else
#include <cuda_runtime.h>
#define LAUNCH(kernel, grid, block, shared, ...) kernel<<<grid, block, shared>>>(__VA_ARGS__)
#define SHARED extern __shared__ int sums[];
#define hipThreadIdx_x threadIdx.x
#define hipBlockIdx_x blockIdx.x
#define hipBlockDim_x blockDim.x
#define hipMalloc cudaMalloc
#define hipMemcpy cudaMemcpy
#define hipMemset cudaMemset
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
__device__ int
down(int value, int distance)
{
    return __shfl_down_sync(__activemask(), value, distance);
}
template <int scope>
__device__ void
post(int *flag, int value)
{
    if (scope == __HIP_MEMORY_SCOPE_AGENT)
        asm volatile("st.release.gpu.b32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
    else
        asm volatile("st.release.sys.b32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}
template <int scope>
__device__ int
poll(int *flag)
{
    int value;
    if (scope == __HIP_MEMORY_SCOPE_AGENT)
        asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    else
        asm volatile("ld.acquire.sys.b32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}
__device__ int
add(int *sum, int value)
{
    int old;
    asm volatile("atom.add.relaxed.sys.s32 %0, [%1], %2;" : "=r"(old) : "l"(sum), "r"(value) : "memory");
    return old;
}
#endif

__global__ void
fill(const int *x, int *y, int n)
{
    int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
    if (i < n)
        y[i] = x[i] + 3 * i;
}
__global__ void
reduce(const int *x, int *sum)
{
    SHARED
    int value = x[hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x];
    for (int distance = 16; distance > 0; distance /= 2)
        value += down(value, distance);
    if (hipThreadIdx_x % 32 == 0)
        sums[hipThreadIdx_x / 32] = value;
    __syncthreads();
    if (hipThreadIdx_x == 0) {
        for (int k = 1; k < 4; k++)
            value += sums[k];
        add(sum, value);
    }
}
template <int scope>
__global__ void
message(int *letter, int *flag, int *got)
{
    if (hipBlockIdx_x == 0) {
        letter[hipThreadIdx_x] = 100 + hipThreadIdx_x;
        __syncthreads();
        if (hipThreadIdx_x == 0)
            post<scope>(flag, 1);
    } else {
        if (hipThreadIdx_x == 0)
            while (poll<scope>(flag) == 0) {
            }
        __syncthreads();
        got[hipThreadIdx_x] = letter[hipThreadIdx_x];
    }
}
int
main()
{
    int *x, *y, h[512], g[64];
    hipMalloc((void **) &x, sizeof h);
    hipMalloc((void **) &y, sizeof h);
    hipMemset(x, 0, sizeof h);
    hipMemset(y, 0, sizeof h);
    LAUNCH(fill, 4, 128, 0, x, y, 500);
    LAUNCH(reduce, 4, 128, 16, y, x);
    LAUNCH(message<__HIP_MEMORY_SCOPE_AGENT>, 2, 64, 0, y, x + 1, x + 64);
    LAUNCH(message<__HIP_MEMORY_SCOPE_SYSTEM>, 2, 64, 0, y + 64, x + 2, x + 128);
    hipMemcpy(h, x, sizeof h, hipMemcpyDeviceToHost);
    hipMemcpy(g, y, sizeof g, hipMemcpyDeviceToHost);
    int wrong = 0;
    for (int k = 0; k < 128; k++)
        wrong += h[64 + k] != 100 + k % 64;
    printf("sum %d, wrong %d, first %d\n", h[0], wrong, g[0]);
}
