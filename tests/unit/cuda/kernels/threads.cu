// A whole program of several host threads: its argument says of what kind; the status is 0 if every result is right.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <vector>

__global__ void scale(int *p, int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = p[i] * by + blockIdx.x;
}

__global__ void count(unsigned char *p)
{
    p[2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1] += 1;
}

// What a thread does with a stream of its own. Odd ones make an error, which is theirs alone.
static int work(int number)
{
    enum { N = 300 };
    int *d, host[N], wrong = cudaSetDevice(0) != cudaSuccess;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    wrong += cudaStreamCreate(&stream) || cudaEventCreate(&begin) || cudaEventCreate(&end);
    for (int k = 0; k < 1000; k++)
        wrong += cudaGetLastError() != cudaSuccess;
    wrong += cudaMalloc(&d, sizeof host) != cudaSuccess;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++)
            host[i] = number + i;
        cudaEventRecord(begin, stream);
        cudaMemcpyAsync(d, host, sizeof host, cudaMemcpyHostToDevice, stream);
        for (int k = 0; k < 2; k++)
            scale<<<(N + 63) / 64, 64, 0, stream>>>(d, N, 3);
        cudaMemcpyAsync(host, d, sizeof host, cudaMemcpyDeviceToHost, stream);
        cudaEventRecord(end, stream);
        wrong += cudaStreamSynchronize(stream) != cudaSuccess;
        for (int i = 0; i < N; i++)
            wrong += host[i] != (number + i) * 9 + i / 64 * 4;
        float ms = -1;
        wrong += cudaEventElapsedTime(&ms, begin, end) != cudaSuccess || !(ms > 0);
        if (number % 2)
            scale<<<0, 1, 0, stream>>>(d, N, 3);
        wrong += cudaGetLastError() != (number % 2 ? cudaErrorInvalidConfiguration : cudaSuccess);
    }
    return wrong + (cudaFree(d) || cudaEventDestroy(begin) || cudaEventDestroy(end) || cudaStreamDestroy(stream));
}

static int threads()
{
    int wrong[8], all = 0;
    std::vector<std::thread> started;
    for (int k = 0; k < 8; k++)
        started.emplace_back([&, k] { wrong[k] = work(k); });
    for (auto &one : started)
        one.join();
    for (int one : wrong)
        all += one;
    return all;
}

static int openmp()
{
    int all = 0, most = 0;
#pragma omp parallel for num_threads(8) reduction(+ : all)
    for (int k = 0; k < 8; k++)
        all += work(k);
#pragma omp parallel num_threads(8) reduction(+ : most)
    most++;
    return all + (most != 8);
}

// Kernels count in the odd bytes of pinned memory while the host writes the even ones.
static int shared()
{
    enum { N = 4000, LAUNCHES = 12 };
    unsigned char *text;
    int wrong = cudaMallocHost(&text, N) != cudaSuccess, written = 0;
    std::atomic<bool> ended(false);
    std::thread launches([&] {
        for (int k = 0; k < LAUNCHES; k++)
            count<<<2, 32>>>(text);
        ended = true;
    });
    for (; !ended && 2 * written < N; written++, usleep(20))
        text[2 * written] = written % 255 + 1;
    launches.join();
    for (int k = 0; k < written; k++)
        wrong += text[2 * k] != k % 255 + 1;
    for (int k = 0; k < 64; k++)
        wrong += text[2 * k + 1] != LAUNCHES;
    return wrong;
}

static void leave()
{
    int *p;
    cudaMalloc(&p, 256 * sizeof *p);
    std::atomic<int> launched(0);
    std::thread launches([&] {
        for (;; launched++)
            scale<<<4, 64>>>(p, 256, 3);
    });
    while (launched < 2)
        usleep(100);
    exit(3); // the other thread is launching
}

int main(int argc, char **argv)
{
    const char *what = argv[argc - 1];
    if (strcmp(what, "exit") == 0)
        leave();
    int wrong = strcmp(what, "threads") == 0 ? threads() : strcmp(what, "openmp") == 0 ? openmp() : shared();
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
