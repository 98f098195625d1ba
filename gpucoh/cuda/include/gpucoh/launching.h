/* launching.h: what headers of CUDA's libraries share: scalars of the program, and launches of their kernels. */
#ifndef GPUCOH_LAUNCHING_H
#define GPUCOH_LAUNCHING_H
#include <cuda_runtime.h>

namespace gpucoh_library {
constexpr int THREADS = 256; /* of a block */

/* A scalar of the program: its value, or its place on the device. */
template <class T> struct Scalar {
    T value;
    const T *where;
    __device__ T get() const { return where ? *where : value; }
};

template <class T>
Scalar<T>
scalar(bool on_device, const T *given)
{
    Scalar<T> made = {};
    if (on_device)
        made.where = given;
    else
        made.value = *given;
    return made;
}

template <class... P, class... A>
cudaError_t
launched(cudaStream_t stream, void (*kernel)(P...), dim3 grid, dim3 block, A... arguments)
{
    auto call = [&](P... values) {
        void *places[] = {&values...};
        return cudaLaunchKernel((const void *) kernel, grid, block, places, 0, stream);
    };
    return call(arguments...);
}

inline unsigned
blocks_of(long n, int threads = THREADS)
{
    return (unsigned) ((n + threads - 1) / threads);
}

__device__ inline long
own_index()
{
    return (long) blockIdx.x * blockDim.x + threadIdx.x;
}
} // namespace gpucoh_library
#endif
