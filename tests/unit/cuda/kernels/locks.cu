// locks.cu: blocks take a spin lock in turn, and note their order. Lock and order are in memory that host and device share,
// the sums in memory of the device, so that the order of every acquisition is in what the program copies and prints.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define BLOCKS 6
#define ROUNDS 3
#define THREADS 32

struct Lock {
    int taken, turns;
    int order[BLOCKS * ROUNDS];
};

__global__ void enter(Lock *lock, int *sums)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (threadIdx.x == 0) {
            while (atomicCAS(&lock->taken, 0, 1) != 0)
                ;
            __threadfence();
            lock->order[lock->turns++] = blockIdx.x;
        }
        __syncthreads();
        sums[threadIdx.x] = 3 * sums[threadIdx.x] + blockIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicExch(&lock->taken, 0);
        }
    }
}

int main()
{
    Lock *lock;
    int *sums, *host = (int *) malloc(THREADS * sizeof *host), wanted = 0;
    if (cudaMallocHost(&lock, sizeof *lock) != cudaSuccess || cudaMalloc(&sums, THREADS * sizeof *sums) != cudaSuccess)
        return 1;
    lock->taken = lock->turns = 0;
    cudaMemset(sums, 0, THREADS * sizeof *sums);
    enter<<<BLOCKS, THREADS>>>(lock, sums);
    if (cudaMemcpy(host, sums, THREADS * sizeof *host, cudaMemcpyDeviceToHost) != cudaSuccess)
        return 1;
    for (int turn = 0; turn < lock->turns; turn++) {
        wanted = 3 * wanted + lock->order[turn];
        printf("%d ", lock->order[turn]);
    }
    printf(host[THREADS - 1] == wanted ? "right\n" : "wrong\n");
    return host[THREADS - 1] != wanted;
}
