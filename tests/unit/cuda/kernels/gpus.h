/* What programs on several GPUs have in common. */
#include <cstdio>
#include <cuda_runtime.h>

#define CHECK(call)                                                             \
    do {                                                                        \
        cudaError_t error = (call);                                             \
        if (error != cudaSuccess) {                                             \
            printf("%s: %s\n", #call, cudaGetErrorName(error));                 \
            return 1;                                                           \
        }                                                                       \
    } while (0)
static void say(const char *what, cudaError_t e) { printf("%s: %s\n", what, cudaGetErrorName(e)); }

enum { N = 64, MOST = 8 };
__device__ int last;
__managed__ int common;

/* Block 0 of each device puts a message in the next device's memory, and waits for that of the one before. */
__global__ void pass(int *mine, volatile int *my_flag, int *next, volatile int *next_flag, int *out, int n)
{
    next[threadIdx.x] = n + threadIdx.x;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) {
        *next_flag = n;
        while (*my_flag != n) {}
        __threadfence_system();
        last = n;
    }
    __syncthreads();
    out[threadIdx.x] = mine[threadIdx.x];
}

struct device_t {
    int *mailbox, *flag, *out;
    cudaStream_t stream;
};

static int make(device_t *all, int count)
{
    for (int d = 0; d < count; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&all[d].mailbox, N * sizeof(int)));
        CHECK(cudaMalloc(&all[d].flag, sizeof(int)));
        CHECK(cudaMalloc(&all[d].out, N * sizeof(int)));
        CHECK(cudaMemset(all[d].flag, 0, sizeof(int)));
        CHECK(cudaStreamCreate(&all[d].stream));
        for (int other = 0; other < count; other++) {
            int can;
            CHECK(cudaDeviceCanAccessPeer(&can, d, other));
            if (can) CHECK(cudaDeviceEnablePeerAccess(other, 0));
        }
    }
    return 0;
}
