// kmeans.cu: k-means clustering of points in the plane, with a check against the host.
//
//   kmeans [POINTS [CLUSTERS [ROUNDS]]]
//
// The points are in device memory, the centres in constant memory, the sums of each round in managed memory.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define MOST_CLUSTERS 32
#define THREADS 128

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t error = (call);                                                                  \
        if (error != cudaSuccess) {                                                                  \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));      \
            std::exit(1);                                                                            \
        }                                                                                            \
    } while (0)

struct Point {
    float x, y;
};

// Of one cluster and round. Sums are in units of 1/1024, so that their order does not matter.
struct Sum {
    unsigned long long x, y;
    unsigned count, pad;
};

__constant__ Point centres[MOST_CLUSTERS];
__device__ unsigned moved; // points that changed their cluster in this round

__device__ int nearest(Point p, int clusters)
{
    int best = 0;
    float least = 1e30f;
    for (int k = 0; k < clusters; k++) {
        float dx = p.x - centres[k].x, dy = p.y - centres[k].y;
        float distance = dx * dx + dy * dy;
        if (distance < least) {
            least = distance;
            best = k;
        }
    }
    return best;
}

__global__ void scatter(Point *points, int count, unsigned seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    unsigned state = (unsigned) i * 2654435761u + seed;
    float values[2];
    for (int k = 0; k < 2; k++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        values[k] = (float) (state >> 8) / (1 << 24);
    }
    points[i].x = values[0] + (float) (i % 3);
    points[i].y = values[1] * values[1];
}

// Assigns points to clusters and adds them up: in shared memory first, then in managed memory.
__global__ void assign(const Point *points, int *owner, Sum *sums, int count, int clusters)
{
    __shared__ Sum own[MOST_CLUSTERS];
    __shared__ unsigned changed;
    if (threadIdx.x < clusters)
        own[threadIdx.x] = Sum();
    if (threadIdx.x == 0)
        changed = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        Point p = points[i];
        int k = nearest(p, clusters);
        if (owner[i] != k) {
            owner[i] = k;
            atomicAdd(&changed, 1u);
        }
        atomicAdd(&own[k].x, (unsigned long long) (p.x * 1024));
        atomicAdd(&own[k].y, (unsigned long long) (p.y * 1024));
        atomicAdd(&own[k].count, 1u);
    }
    __syncthreads();
    if (threadIdx.x < clusters && own[threadIdx.x].count > 0) {
        atomicAdd(&sums[threadIdx.x].x, own[threadIdx.x].x);
        atomicAdd(&sums[threadIdx.x].y, own[threadIdx.x].y);
        atomicAdd(&sums[threadIdx.x].count, own[threadIdx.x].count);
    }
    if (threadIdx.x == 0)
        atomicAdd(&moved, changed);
}

static void update(std::vector<Point> &now, const Sum *sums)
{
    for (size_t k = 0; k < now.size(); k++) {
        if (sums[k].count > 0) {
            now[k].x = (float) sums[k].x / 1024 / sums[k].count;
            now[k].y = (float) sums[k].y / 1024 / sums[k].count;
        }
    }
}

// The same rounds on the host.
static std::vector<Point> on_host(const std::vector<Point> &points, std::vector<Point> now, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        std::vector<Sum> sums(now.size(), Sum());
        for (const Point &p : points) {
            size_t best = 0;
            float least = 1e30f;
            for (size_t k = 0; k < now.size(); k++) {
                float dx = p.x - now[k].x, dy = p.y - now[k].y;
                float distance = std::fmaf(dx, dx, dy * dy); // as the device's compiler fuses it
                if (distance < least) {
                    least = distance;
                    best = k;
                }
            }
            sums[best].x += (unsigned long long) (p.x * 1024);
            sums[best].y += (unsigned long long) (p.y * 1024);
            sums[best].count++;
        }
        update(now, sums.data());
    }
    return now;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? std::atoi(argv[1]) : 2000;
    int clusters = argc > 2 ? std::atoi(argv[2]) : 5;
    int rounds = argc > 3 ? std::atoi(argv[3]) : 6;
    if (count < 1 || clusters < 1 || clusters > MOST_CLUSTERS || rounds < 1) {
        std::fprintf(stderr, "usage: kmeans [POINTS [CLUSTERS [ROUNDS]]], up to %d clusters\n", MOST_CLUSTERS);
        return 1;
    }

    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    int blocks = (count + THREADS - 1) / THREADS;
    if (blocks > 2 * device.multiProcessorCount)
        blocks = 2 * device.multiProcessorCount;

    Point *points;
    int *owner;
    Sum *sums;
    CHECK(cudaMalloc(&points, count * sizeof *points));
    CHECK(cudaMalloc(&owner, count * sizeof *owner));
    CHECK(cudaMallocManaged(&sums, clusters * sizeof *sums));
    CHECK(cudaMemset(owner, 0xff, count * sizeof *owner));

    cudaStream_t stream;
    cudaEvent_t begin, end;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));

    scatter<<<(count + THREADS - 1) / THREADS, THREADS, 0, stream>>>(points, count, 88172645u);
    CHECK(cudaGetLastError());
    std::vector<Point> host(count);
    CHECK(cudaMemcpyAsync(host.data(), points, count * sizeof *points, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::vector<Point> first(host.begin(), host.begin() + clusters), now = first;

    CHECK(cudaEventRecord(begin, stream));
    for (int round = 0; round < rounds; round++) {
        unsigned none = 0, changed;
        CHECK(cudaMemcpyToSymbol(centres, now.data(), clusters * sizeof now[0]));
        CHECK(cudaMemcpyToSymbol(moved, &none, sizeof none));
        for (int k = 0; k < clusters; k++)
            sums[k] = Sum();
        assign<<<blocks, THREADS, 0, stream>>>(points, owner, sums, count, clusters);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpyFromSymbol(&changed, moved, sizeof changed));
        update(now, sums);
        std::printf("round %d: %u points moved\n", round, changed);
    }
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));

    std::vector<Point> wanted = on_host(host, first, rounds);
    int wrong = 0;
    for (int k = 0; k < clusters; k++) {
        std::printf("centre %d: %.4f %.4f, %u points\n", k, now[k].x, now[k].y, sums[k].count);
        if (now[k].x != wanted[k].x || now[k].y != wanted[k].y)
            wrong++;
    }
    std::fprintf(stderr, "%.3f ms on %s\n", milliseconds, device.name);
    std::printf(wrong ? "WRONG: %d centres differ from the host's\n" : "as on the host\n", wrong);

    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(points));
    CHECK(cudaFree(owner));
    CHECK(cudaFree(sums));
    return wrong != 0;
}
