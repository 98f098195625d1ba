// algorithms.cu: Thrust and CUB of the compiler's own headers. Each line has a name and what a call left;
// test_algorithms.py computes the same by NumPy.
#include <cstdio>
#include <cub/cub.cuh>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>
#include <vector>

static const int COUNT = 2000, LONG = 6000; // as a tile of a sort, and more

template <class T>
static thrust::device_vector<T>
drawn(int count, unsigned seed, unsigned below)
{
    std::vector<T> values(count);
    for (T &value : values) {
        seed = seed * 1664525u + 1013904223u;
        value = T((seed >> 8) % below) - T(below / 2);
    }
    return thrust::device_vector<T>(values.begin(), values.end());
}

template <class Vector>
static void
print(const char *name, const Vector &vector, size_t count)
{
    std::vector<typename Vector::value_type> values(vector.begin(), vector.begin() + count);
    printf("%s", name);
    for (auto value : values)
        printf(" %.9g", double(value));
    printf("\n");
}

struct IsOdd {
    __host__ __device__ bool operator()(int x) const { return x & 1; }
};

struct Scaled { // by 1 / 1024, rounded down, so that sums are exact in single precision
    __host__ __device__ int operator()(int x) const { return x >> 10; }
};

static void
of_thrust()
{
    auto keys = drawn<int>(COUNT, 1, 500), values = drawn<int>(COUNT, 2, 100000);
    thrust::device_vector<int> k = keys, v = values, out(COUNT), sums(COUNT);
    thrust::stable_sort_by_key(k.begin(), k.end(), v.begin());
    print("keys", k, COUNT);
    print("values", v, COUNT);
    auto ends = thrust::reduce_by_key(k.begin(), k.end(), v.begin(), out.begin(), sums.begin());
    print("reduced", sums, ends.second - sums.begin());
    auto firsts = thrust::unique_by_key(k.begin(), k.end(), v.begin());
    print("unique", v, firsts.second - v.begin());
    thrust::exclusive_scan(values.begin(), values.end(), out.begin(), 7);
    print("exclusive", out, COUNT);
    thrust::inclusive_scan(values.begin(), values.end(), out.begin(), thrust::maximum<int>());
    print("maxima", out, COUNT);
    auto odd = thrust::copy_if(values.begin(), values.end(), out.begin(), IsOdd());
    print("odd", out, odd - out.begin());
    printf("sum %d\n", thrust::reduce(values.begin(), values.end()));
}

// A call of CUB: first what it needs, then the call.
#define CUB(call)                                                                                                      \
    {                                                                                                                  \
        void *space = nullptr;                                                                                         \
        size_t bytes = 0;                                                                                              \
        cub::call;                                                                                                     \
        cudaMalloc(&space, bytes);                                                                                     \
        if (cub::call != cudaSuccess)                                                                                  \
            printf("error of %s: %s\n", #call, cudaGetErrorString(cudaGetLastError()));                                \
        cudaFree(space);                                                                                               \
    }

static void
of_cub()
{
    auto values = drawn<float>(LONG, 3, 1 << 20);
    thrust::device_vector<float> out(LONG);
    thrust::device_vector<int> count(1);
    const float *in = values.data().get();
    float *to = out.data().get();
    CUB(DeviceRadixSort::SortKeysDescending(space, bytes, in, to, LONG));
    print("descending", out, LONG);
    auto sums = drawn<int>(LONG, 3, 1 << 20);
    thrust::transform(sums.begin(), sums.end(), sums.begin(), Scaled());
    CUB(DeviceScan::InclusiveSum(space, bytes, sums.data().get(), to, COUNT));
    print("inclusive", out, COUNT);
    CUB(DeviceReduce::Max(space, bytes, in, to, COUNT));
    print("largest", out, 1);
    auto small = drawn<int>(COUNT, 4, 6);
    thrust::device_vector<int> selected(COUNT);
    CUB(DeviceSelect::If(space, bytes, small.data().get(), selected.data().get(), count.data().get(), COUNT, IsOdd()));
    print("selected", selected, count[0]);
    CUB(DeviceSelect::Unique(space, bytes, small.data().get(), selected.data().get(), count.data().get(), COUNT));
    print("runs", selected, count[0]);
    thrust::device_vector<int> bins(6);
    CUB(DeviceHistogram::HistogramEven(space, bytes, small.data().get(), bins.data().get(), 7, -3, 3, COUNT));
    print("histogram", bins, 6);
}

int
main()
{
    of_thrust();
    of_cub();
}
