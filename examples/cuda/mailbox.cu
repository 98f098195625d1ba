// mailbox.cu: block 0 sends numbers to block 1 through a mailbox in global memory. It has a bug; see docs/cuda.md.
//
// With -D FENCE it is repaired.
#include <cstdio>
#include <cuda_runtime.h>

#define LETTERS 8
#define WORDS 32
#ifdef FENCE
#define ORDER() __threadfence()
#else
#define ORDER()
#endif

__global__ void post(volatile int *flag, int *letter, int *received)
{
    int t = threadIdx.x;
#pragma unroll 1
    for (int n = 1; n <= LETTERS; n++) {
        if (blockIdx.x == 0) {
            letter[t] = 1000 * n + t;
            ORDER();
            __syncthreads();
            if (t == 0) {
                flag[0] = n;          // there is a letter
                while (flag[32] != n) // until it has been read
                    ;
                ORDER();
            }
            __syncthreads();
        } else {
            if (t == 0) {
                while (flag[0] != n)
                    ;
                ORDER();
            }
            __syncthreads();
            received[WORDS * (n - 1) + t] = letter[t];
            ORDER();
            __syncthreads();
            if (t == 0)
                flag[32] = n;
        }
    }
}

int main()
{
    int *flag, *letter, *received, host[LETTERS * WORDS], wrong = 0;
    cudaMalloc(&flag, 64 * sizeof *flag);
    cudaMalloc(&letter, WORDS * sizeof *letter);
    cudaMalloc(&received, sizeof host);
    cudaMemset(flag, 0, 64 * sizeof *flag);
    post<<<2, WORDS>>>(flag, letter, received);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    cudaMemcpy(host, received, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < LETTERS * WORDS; i++) {
        int wanted = 1000 * (i / WORDS + 1) + i % WORDS;
        if (host[i] != wanted && wrong++ == 0)
            printf("letter %d, word %d: %d instead of %d\n", i / WORDS + 1, i % WORDS, host[i], wanted);
    }
    printf(wrong ? "%d words are wrong\n" : "every letter arrived\n", wrong);
    return wrong != 0;
}
