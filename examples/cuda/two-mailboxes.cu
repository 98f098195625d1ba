// two-mailboxes.cu: a kernel on each of two GPUs; both send letters to the other at the same time.
//
// -D SCOPE=gpu, the bug: a fence of one GPU's scope does not order what another one sees; -D SCOPE=none: no fence.
#include <cstdio>
#include <cuda_runtime.h>

#define LETTERS 8
#define WORDS 32
#define fence_sys() __threadfence_system()
#define fence_gpu() __threadfence()
#define fence_none()
#define JOIN(a, b) a##b
#define FENCE(scope) JOIN(fence_, scope)()
#ifndef SCOPE
#define SCOPE sys
#endif

struct Mailbox { // in the memory of its owner
    int letter[WORDS];
    volatile int arrived, read;
};

__global__ void correspond(Mailbox *mine, Mailbox *other, int me, int *received)
{
    int t = threadIdx.x;
#pragma unroll 1
    for (int n = 1; n <= LETTERS; n++) {
        other->letter[t] = 1000 * n + 100 * me + t;
        FENCE(SCOPE);
        __syncthreads();
        if (t == 0) {
            other->arrived = n;
            while (mine->arrived != n)
                ;
            FENCE(SCOPE);
        }
        __syncthreads();
        received[WORDS * (n - 1) + t] = mine->letter[t];
        FENCE(SCOPE);
        __syncthreads();
        if (t == 0) {
            other->read = n; // the next letter may take the place of this one
            while (mine->read != n)
                ;
            FENCE(SCOPE);
        }
        __syncthreads();
    }
}

int main()
{
    Mailbox *box[2];
    int *received[2], host[LETTERS * WORDS], wrong = 0;
    for (int d = 0; d < 2; d++) {
        if (cudaSetDevice(d) != cudaSuccess) {
            printf("there is no device %d\n", d);
            return 1;
        }
        cudaDeviceEnablePeerAccess(1 - d, 0);
        cudaMalloc(&box[d], sizeof(Mailbox));
        cudaMemset(box[d], 0, sizeof(Mailbox));
        cudaMalloc(&received[d], sizeof host);
    }
    for (int d = 0; d < 2; d++) {
        cudaSetDevice(d);
        correspond<<<1, WORDS>>>(box[d], box[1 - d], d, received[d]);
    }
    for (int d = 0; d < 2; d++) {
        cudaSetDevice(d);
        if (cudaDeviceSynchronize() != cudaSuccess)
            return 1;
        cudaMemcpy(host, received[d], sizeof host, cudaMemcpyDeviceToHost);
        for (int i = 0; i < LETTERS * WORDS; i++) {
            int wanted = 1000 * (i / WORDS + 1) + 100 * (1 - d) + i % WORDS;
            if (host[i] != wanted && wrong++ == 0)
                printf("GPU %d, letter %d, word %d: %d instead of %d\n", d, i / WORDS + 1, i % WORDS, host[i], wanted);
        }
    }
    printf(wrong ? "%d words are wrong\n" : "every letter arrived\n", wrong);
    return wrong != 0;
}
