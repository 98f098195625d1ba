// all_reduce.h: what all_reduce.cu and low_latency.cu share beside accesses.h: sizes, and the host's part.
#include "accesses.h"

enum { ROUNDS = 6, BLOCKS = 4, THREADS = 64, WORDS = BLOCKS * THREADS, MOST = 4, POLLS = 4000 };
enum { u8 = 1, u32 = 4, u64 = 8 }; // bytes of a flag

struct Shared; // of one GPU, in its memory

struct Peers {
    Shared *of[MOST];
    int count;
};

__device__ unsigned word_of(int rank, int round, int word) { return 10000 * round + 1000 * rank + word; }

__global__ void all_reduce(Peers gpus, int rank, Fault *fault);

// Run the kernel on all GPUs at the same time; the number of GPUs that found a fault.
int run(size_t bytes)
{
    Peers gpus = {};
    Fault *faults[MOST], fault;
    int wrong = 0;
    cudaGetDeviceCount(&gpus.count);
    for (int rank = 0; rank < gpus.count; rank++) {
        cudaSetDevice(rank);
        cudaMalloc(&gpus.of[rank], bytes);
        cudaMalloc(&faults[rank], sizeof fault);
        cudaMemset(gpus.of[rank], 0, bytes);
        cudaMemset(faults[rank], 0, sizeof fault);
    }
    for (int rank = 0; rank < gpus.count; rank++) {
        cudaSetDevice(rank);
        all_reduce<<<BLOCKS, THREADS>>>(gpus, rank, faults[rank]);
    }
    for (int rank = 0; rank < gpus.count; rank++) {
        cudaSetDevice(rank);
        cudaMemcpy(&fault, faults[rank], sizeof fault, cudaMemcpyDeviceToHost);
        if (fault.kind == 1)
            printf("GPU %d, round %d: word %d of GPU %d is %u instead of %u\n", rank, fault.round, fault.word,
                   fault.from, fault.is, fault.wanted);
        else if (fault.kind)
            printf("GPU %d, round %d: a flag of GPU %d does not come\n", rank, fault.round, fault.from);
        wrong += fault.kind != 0;
    }
    if (!wrong)
        printf("%d GPUs, %d rounds: every sum is right\n", gpus.count, ROUNDS);
    return wrong;
}
