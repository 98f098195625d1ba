/* A program on several GPUs with threads of the host ("threads"), or with kernels that differ in everything. */
#include <cooperative_groups.h>
#include <cstring>
#include <thread>

#include "gpus.h"

/* The same with a thread of the host for each device. */
static int threads(int count)
{
    device_t all[MOST];
    std::thread made[MOST];
    int wrong[MOST] = {0};
    if (make(all, count)) return 1;
    for (int d = 0; d < count; d++) {
        made[d] = std::thread([&, d] {
            device_t *mine = &all[d], *next = &all[(d + 1) % count];
            int got[N], now = -1;
            wrong[d] += cudaGetDevice(&now) != cudaSuccess || now != 0;
            cudaSetDevice(d);
            for (int n = 100; n < 400; n += 100) {
                pass<<<1, N, 0, mine->stream>>>(mine->mailbox, mine->flag, next->mailbox, next->flag, mine->out, n);
                wrong[d] += cudaStreamSynchronize(mine->stream) != cudaSuccess;
                cudaMemcpyAsync(got, mine->out, sizeof got, cudaMemcpyDeviceToHost, mine->stream);
                cudaStreamSynchronize(mine->stream);
                for (int i = 0; i < N; i++) wrong[d] += got[i] != n + i;
            }
        });
    }
    int all_wrong = 0;
    for (int d = 0; d < count; d++) {
        made[d].join();
        all_wrong += wrong[d];
    }
    printf("%d wrong\n", all_wrong);
    return 0;
}

/* Shared memory, barriers of the grid, local memory and prints, in grids that differ. */
__global__ void sums(int *x, int n, int d)
{
    extern __shared__ int was[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    was[threadIdx.x] = x[i];
    for (int round = 0; round < 5; round++) {
        int next = x[(i + 1) % n];
        cooperative_groups::this_grid().sync();
        x[i] += next;
        cooperative_groups::this_grid().sync();
    }
    if (i == n - 1) printf("%d: %d after %d\n", d, x[0], was[threadIdx.x]);
}
__global__ void locals(int *x, int k)
{
    int a[40], sum = 0;
    for (int i = 0; i < 40; i++) a[i] = i * k + threadIdx.x;
    for (int i = 0; i < 40; i++) sum += a[(7 * i + x[0]) % 40];
    x[1 + blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static int mixed(int count)
{
    int *x[MOST], *y[MOST], got[1 + 30 * 64], wrong = 0, n = 4 * N;
    for (int d = 0; d < count; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&x[d], n * sizeof(int)));
        CHECK(cudaMalloc(&y[d], sizeof got));
        CHECK(cudaMemset(y[d], 0, sizeof got));
        for (int i = 0; i < n; i++) got[i] = d + i;
        CHECK(cudaMemcpy(x[d], got, n * sizeof(int), cudaMemcpyDefault));
    }
    for (int d = 0; d < count; d++) {
        CHECK(cudaSetDevice(d));
        void *arguments[] = {&x[d], &n, &d};
        dim3 grid(d ? 8 : 4), block(n / grid.x), large(4000);
        CHECK(cudaLaunchCooperativeKernel((void *) sums, grid, block, arguments, 4 * block.x * (1 + 7 * d), 0));
        locals<<<30, d ? 64 : 32>>>(y[d], d + 3);
        say("large", cudaLaunchCooperativeKernel((void *) sums, large, block, arguments, 4 * block.x, 0));
    }
    for (int d = 0; d < count; d++) {
        int threads = d ? 64 : 32;
        CHECK(cudaSetDevice(d));
        CHECK(cudaMemcpy(got, y[d], sizeof got, cudaMemcpyDefault));
        for (int i = 0; i < 30 * threads; i++) wrong += got[1 + i] != 780 * (d + 3) + 40 * (i % threads);
    }
    printf("%d wrong\n", wrong);
    return 0;
}

int main(int argc, char **argv)
{
    int count = 0;
    CHECK(cudaGetDeviceCount(&count));
    return argc > 1 && !strcmp(argv[1], "threads") ? threads(count) : mixed(count);
}
