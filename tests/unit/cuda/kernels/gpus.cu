/* A program on several GPUs: what the first argument names. */
#include <cstdio>
#include <cstring>
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

static int ring(int count)
{
    device_t all[MOST];
    if (make(all, count)) return 1;
    for (int n = 100; n < 400; n += 100) {
        for (int d = 0; d < count; d++) {
            device_t *mine = &all[d], *next = &all[(d + 1) % count];
            CHECK(cudaSetDevice(d));
            pass<<<1, N, 0, n == 200 ? mine->stream : 0>>>(mine->mailbox, mine->flag, next->mailbox, next->flag,
                                                           mine->out, n);
            CHECK(cudaGetLastError());
        }
        for (int d = 0; d < count; d++) {
            int got[N], wrong = 0, value = 0;
            CHECK(cudaSetDevice(d));
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaMemcpy(got, all[d].out, sizeof got, cudaMemcpyDefault));
            for (int i = 0; i < N; i++) wrong += got[i] != n + i;
            CHECK(cudaMemcpyFromSymbol(&value, last, sizeof value));
            if (wrong || value != n) printf("message %d on %d: %d wrong, last %d\n", n, d, wrong, value);
        }
    }
    printf("%d devices passed 3 messages\n", count);
    return 0;
}

__global__ void add(int *to, const int *from, int n)
{
    to[threadIdx.x] += from[threadIdx.x] * n;
    if (threadIdx.x == 0) atomicAdd_system(&common, 1);
}

/* A chain over devices: each kernel adds what the device before it has computed. */
static int chain(int count)
{
    device_t all[MOST];
    cudaEvent_t done[MOST], begun[MOST];
    if (make(all, count)) return 1;
    for (int d = 0; d < count; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaEventCreate(&done[d]));
        CHECK(cudaEventCreate(&begun[d]));
        int one[N];
        for (int i = 0; i < N; i++) one[i] = i + 1;
        CHECK(cudaMemcpyAsync(all[d].mailbox, one, sizeof one, cudaMemcpyHostToDevice, all[d].stream));
        CHECK(cudaMemsetAsync(all[d].out, 0, sizeof one, all[d].stream));
    }
    for (int d = 0; d < count; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaEventRecord(begun[d], all[d].stream));
        if (d) CHECK(cudaStreamWaitEvent(all[d].stream, done[d - 1], 0));
        add<<<1, N, 0, all[d].stream>>>(all[d].out, all[d].mailbox, 1);
        add<<<1, N, 0, all[d].stream>>>(all[d].out, all[d ? d - 1 : 0].out, d ? 10 : 0);
        CHECK(cudaEventRecord(done[d], all[d].stream));
    }
    CHECK(cudaEventSynchronize(done[count - 1]));
    int want = 0, got[N], wrong = 0;
    for (int d = 0; d < count; d++) want = 1 + 10 * want;
    CHECK(cudaMemcpyPeer(all[0].out, 0, all[count - 1].out, count - 1, sizeof got));
    CHECK(cudaMemcpy(got, all[0].out, sizeof got, cudaMemcpyDefault));
    for (int i = 0; i < N; i++) wrong += got[i] != want * (i + 1);
    float first, later;
    CHECK(cudaEventElapsedTime(&first, begun[0], done[0]));
    CHECK(cudaEventElapsedTime(&later, begun[count - 1], done[count - 1]));
    printf("%d wrong, %d kernels, %s\n", wrong, common, later > first ? "in order" : "together");
    return 0;
}

static int errors(int count)
{
    int n = -1, can = -1, *p, *q;
    cudaStream_t s;
    cudaEvent_t here, there;
    float ms;
    cudaDeviceProp properties;
    CHECK(cudaGetDevice(&n));
    printf("device %d of %d\n", n, count);
    say("set", cudaSetDevice(count));
    say("properties", cudaGetDeviceProperties(&properties, count));
    say("can", cudaDeviceCanAccessPeer(&can, 0, count));
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 0));
    printf("itself: %d\n", can);
    say("itself", cudaDeviceEnablePeerAccess(0, 0));
    if (count == 1) return 0;
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
    printf("other: %d\n", can);
    say("disable", cudaDeviceDisablePeerAccess(1));
    say("flags", cudaDeviceEnablePeerAccess(1, 1));
    say("enable", cudaDeviceEnablePeerAccess(1, 0));
    say("again", cudaDeviceEnablePeerAccess(1, 0));
    say("disable", cudaDeviceDisablePeerAccess(1));
    CHECK(cudaMalloc(&p, 256));
    CHECK(cudaSetDevice(1));
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaEventCreate(&there));
    CHECK(cudaMalloc(&q, 256));
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreate(&here));
    add<<<1, 1, 0, s>>>(p, p, 1);
    say("stream of another device", cudaGetLastError());
    say("event of another device", cudaEventRecord(here, s));
    CHECK(cudaEventRecord(here));
    CHECK(cudaEventRecord(there, s));
    say("events of two devices", cudaEventElapsedTime(&ms, here, there));
    say("peer", cudaMemcpyPeer(p, 0, q, count, 4));
    cudaPointerAttributes a;
    CHECK(cudaPointerGetAttributes(&a, q));
    printf("on device %d\n", a.device);
    cudaIpcMemHandle_t handle;
    void *opened = 0;
    CHECK(cudaIpcGetMemHandle(&handle, q));
    CHECK(cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess));
    printf("opened: %d\n", opened == q);
    CHECK(cudaIpcCloseMemHandle(opened));
    say("handle of the host's", cudaIpcGetMemHandle(&handle, &n));
    return 0;
}

int main(int argc, char **argv)
{
    int count = 0;
    CHECK(cudaGetDeviceCount(&count));
    const char *what = argc > 1 ? argv[1] : "ring";
    return !strcmp(what, "errors") ? errors(count) : !strcmp(what, "chain") ? chain(count) : ring(count);
}
