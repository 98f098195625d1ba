// Kernels without synchronisation between blocks: arithmetic, shared memory, types, local arrays, calls.
#include <cuda_fp16.h>

extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" __global__ void axpy_double(double a, const double *x, double *y, long long n)
{
    long long i = (long long) blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

// Block sums by a tree in shared memory, joined by an atomic.
extern "C" __global__ void reduce(const int *in, int *out, int n)
{
    __shared__ int part[256];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(out, part[0]);
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins, int n)
{
    __shared__ unsigned own[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        own[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[in[i]], 1u);
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        atomicAdd(&bins[k], own[k]);
}

// Tiles of 16 by 16 in shared memory; n is a multiple of 16.
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[16][17], right[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int tile = 0; tile < n; tile += 16) {
        left[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// Inclusive sums of each warp, and the number of its positive elements.
extern "C" __global__ void warp_scan(const int *in, int *sums, unsigned *positive)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, sum = in[i];
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(0xffffffff, sum, step);
        if (lane >= step)
            sum += other;
    }
    sums[i] = sum;
    unsigned votes = __ballot_sync(0xffffffff, in[i] > 0);
    if (lane == 0)
        positive[i / 32] = __popc(votes);
}

struct body {
    float x, y;
    double mass;
    short kind;
    char name;
};

// A structure by value, and an array of them.
extern "C" __global__ void attract(struct body centre, struct body *bodies, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        struct body own = bodies[i];
        own.x += (centre.x - own.x) * 0.5f;
        own.y += (centre.y - own.y) * 0.5f;
        own.mass += centre.mass;
        own.kind = (short) (own.kind - centre.kind);
        own.name = (char) (own.name + centre.name);
        bodies[i] = own;
    }
}

__constant__ int weights[4] = {1, 3, 3, 1};
__device__ unsigned long long visits;
__device__ const float *__restrict__ somewhere;

// Constant memory, a variable of the device, 16 bytes a load, dynamic shared memory.
extern "C" __global__ void smooth(const int4 *in, int4 *out, int n)
{
    extern __shared__ int4 own[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    own[threadIdx.x] = i < n ? in[i] : make_int4(0, 0, 0, 0);
    __syncthreads();
    int4 v = own[blockDim.x - 1 - threadIdx.x];
    int sum = v.x * weights[0] + v.y * weights[1] + v.z * weights[2] + v.w * weights[3];
    if (i < n)
        out[i] = make_int4(sum, v.w, v.x, i);
    if (threadIdx.x == 0)
        atomicAdd(&visits, 1ull << 32);
}

// A local array with an index that is known at run time only: the digits of a number, most frequent first.
extern "C" __global__ void digits(const unsigned *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    short count[10];
    for (int k = 0; k < 10; k++)
        count[k] = 0;
    for (unsigned v = in[i]; v != 0; v /= 10)
        count[v % 10]++;
    int best = 0;
    for (int k = 1; k < 10; k++)
        if (count[k] > count[best])
            best = k;
    out[i] = best * 100 + count[best];
}

// Called, not inlined: by a pointer that is of shared memory for some lanes and global for others.
__device__ __noinline__ int twice(const int *p, int k)
{
    return p[k] * 2;
}

extern "C" __global__ void generic(const int *in, int *out)
{
    __shared__ int own[64];
    own[threadIdx.x] = in[threadIdx.x] + 1000;
    __syncthreads();
    const int *from = threadIdx.x % 3 == 0 ? own : in;
    out[threadIdx.x] = twice(from, 63 - threadIdx.x);
}

extern "C" __global__ void half_axpy(const __half *x, __half *y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __float2half(a * __half2float(x[i]) + __half2float(y[i]));
}

// The functions of <math.h>: the compiler's own code, of f32 and f64.
extern "C" __global__ void functions(const float *in, float *out, double *wide, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = sinf(in[i]) + expf(-in[i]) + sqrtf(in[i]) / (1.0f + logf(1.0f + in[i]));
        wide[i] = exp(-(double) in[i]) + pow((double) in[i], 1.5) / sqrt(1.0 + in[i]);
    }
}
