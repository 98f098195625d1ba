/* blas_vectors.h: launches, scalars and reductions of cuBLAS's kernels, and its functions of vectors (level 1). */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <type_traits>
#include <gpucoh/launching.h>

namespace gpucoh_blas {
using namespace gpucoh_library;
constexpr int PARTS = 64;                                  /* blocks of a reduction at most */
constexpr size_t RESULT = 16 * PARTS, SPACE = RESULT + 16; /* bytes of a handle's space, 16 for each value */

template <class T>
Scalar<T>
scalar(cublasHandle_t handle, const T *given)
{
    return gpucoh_library::scalar(handle->pointers == CUBLAS_POINTER_MODE_DEVICE, given);
}

/* Element i of a vector of n elements; one of a negative increment begins at its end, as in BLAS. */
template <class T> struct Vector {
    T *first;
    long n, increment;
    __device__ T &operator[](long i) const { return first[(increment < 0 ? i - (n - 1) : i) * increment]; }
};

template <class T>
Vector<T>
vector(T *first, int n, int increment)
{
    return {first, n, increment};
}

template <class... P, class... A>
cublasStatus_t
launch(cublasHandle_t handle, void (*kernel)(P...), dim3 grid, dim3 block, A... arguments)
{
    cudaError_t error = launched(handle->stream, kernel, grid, block, arguments...);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

/* ---- reductions: each block joins its share to one value, and one more block joins these. An operation has the type
 * of its values, none(), at(i), join(a, b), which is commutative, and end(value). */
template <class Op>
__device__ typename Op::Value
joined_in_block(const Op &op, typename Op::Value own)
{
    __shared__ typename Op::Value values[THREADS];
    values[threadIdx.x] = own;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            values[threadIdx.x] = op.join(values[threadIdx.x], values[threadIdx.x + half]);
    }
    return values[0];
}

template <class Op>
__global__ void
reduce_parts(Op op, long n, typename Op::Value *parts)
{
    typename Op::Value own = op.none();
    for (long i = own_index(); i < n; i += (long) gridDim.x * THREADS)
        own = op.join(own, op.at(i));
    own = joined_in_block(op, own);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = own;
}

template <class Op, class R>
__global__ void
reduce_whole(Op op, int num_parts, const typename Op::Value *parts, R *result)
{
    typename Op::Value own = joined_in_block(op, (int) threadIdx.x < num_parts ? parts[threadIdx.x] : op.none());
    if (threadIdx.x == 0)
        *result = R(op.end(own));
}

template <class Op, class R>
cublasStatus_t
reduce(cublasHandle_t handle, const Op &op, long n, R *result)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!result)
        return CUBLAS_STATUS_INVALID_VALUE;
    static_assert(sizeof(typename Op::Value) <= 16 && PARTS <= THREADS, "the space of a handle");
    auto parts = (typename Op::Value *) handle->space;
    bool to_host = handle->pointers == CUBLAS_POINTER_MODE_HOST;
    R *whole = to_host ? (R *) ((char *) handle->space + RESULT) : result;
    int num_parts = n <= 0 ? 0 : n > (long) PARTS * THREADS ? PARTS : (int) blocks_of(n);
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    if (num_parts > 0)
        status = launch(handle, reduce_parts<Op>, num_parts, THREADS, op, n, parts);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = launch(handle, reduce_whole<Op, R>, 1, THREADS, op, num_parts, parts, whole);
    if (status != CUBLAS_STATUS_SUCCESS || !to_host)
        return status;
    if (cudaMemcpyAsync(result, whole, sizeof(R), cudaMemcpyDeviceToHost, handle->stream) != cudaSuccess ||
        cudaStreamSynchronize(handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    return CUBLAS_STATUS_SUCCESS;
}

template <class V> struct Summed {
    typedef V Value;
    __device__ V none() const { return V(0); }
    __device__ V join(V a, V b) const { return a + b; }
    __device__ V end(V sum) const { return sum; }
};

template <class T, class V> struct Dot : Summed<V> {
    Vector<const T> x, y;
    Dot(Vector<const T> x, Vector<const T> y) : x(x), y(y) {}
    __device__ V at(long i) const { return V(x[i]) * V(y[i]); }
};

template <class T> struct SumOfMagnitudes : Summed<T> {
    Vector<const T> x;
    SumOfMagnitudes(Vector<const T> x) : x(x) {}
    __device__ T at(long i) const { return fabs(x[i]); }
};

/* The norm is scale * sqrt(sum) in double precision, where scale is the largest magnitude: no square overflows. */
template <class T> struct Norm {
    struct Value {
        double scale, sum;
    };
    Vector<const T> x;
    __device__ Value none() const { return {0, 0}; }
    __device__ Value at(long i) const { return {fabs(x[i]), 1}; }
    __device__ Value join(Value a, Value b) const
    {
        if (a.scale < b.scale)
            return join(b, a, 0);
        return join(a, b, 0);
    }
    __device__ Value join(Value large, Value small, int) const
    {
        if (small.scale == 0)
            return large;
        double ratio = small.scale == large.scale ? 1 : small.scale / large.scale;
        return {large.scale, large.sum + ratio * ratio * small.sum};
    }
    __device__ double end(Value norm) const { return norm.scale * sqrt(norm.sum); }
};

/* The first element of the largest or smallest magnitude, counted from 1; 0 if there is none. */
template <class T, bool LARGEST> struct Extreme {
    struct Value {
        T magnitude;
        int index;
    };
    Vector<const T> x;
    __device__ Value none() const { return {T(0), 0}; }
    __device__ Value at(long i) const { return {fabs(x[i]), (int) i + 1}; }
    __device__ Value join(Value a, Value b) const
    {
        if (a.index == 0 || b.index == 0)
            return a.index ? a : b;
        if (a.magnitude == b.magnitude)
            return a.index < b.index ? a : b;
        return (a.magnitude > b.magnitude) == LARGEST ? a : b;
    }
    __device__ int end(Value found) const { return found.index; }
};

/* ---- one thread for each element */
template <class T>
__global__ void
axpy(long n, Scalar<T> alpha, Vector<const T> x, Vector<T> y)
{
    long i = own_index();
    if (i < n)
        y[i] += alpha.get() * x[i];
}

template <class T>
__global__ void
scal(long n, Scalar<T> alpha, Vector<T> x)
{
    long i = own_index();
    if (i < n)
        x[i] *= alpha.get();
}

template <class T>
__global__ void
copy(long n, Vector<const T> x, Vector<T> y)
{
    long i = own_index();
    if (i < n)
        y[i] = x[i];
}

template <class T>
__global__ void
swap(long n, Vector<T> x, Vector<T> y)
{
    long i = own_index();
    if (i < n) {
        T was = x[i];
        x[i] = y[i];
        y[i] = was;
    }
}

template <class... P, class... A>
cublasStatus_t
each(cublasHandle_t handle, long n, bool valid, void (*kernel)(long, P...), A... arguments)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!valid)
        return CUBLAS_STATUS_INVALID_VALUE;
    return n > 0 ? launch(handle, kernel, blocks_of(n), THREADS, n, arguments...) : CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t
dot_of(cublasHandle_t handle, int n, const void *x, int incx, const void *y, int incy, void *result)
{
    typedef decltype(T() * T()) Product; /* sums of halves are floats */
    typedef typename std::conditional<sizeof(T) < 4, float, Product>::type V;
    Dot<T, V> op(vector((const T *) x, n, incx), vector((const T *) y, n, incy));
    return reduce(handle, op, n, (T *) result);
}

namespace api {
#define GPUCOH_CUBLAS_VECTORS(S, s, T)                                                                               \
    GPUCOH_CUBLAS cublas##S##axpy(cublasHandle_t handle, int n, const T *alpha, const T *x, int incx, T *y, int incy) \
    {                                                                                                                \
        Scalar<T> factor = handle && alpha ? scalar(handle, alpha) : Scalar<T>();                                    \
        return each(handle, n, alpha, axpy<T>, factor, vector(x, n, incx), vector(y, n, incy));                      \
    }                                                                                                                \
    GPUCOH_CUBLAS cublas##S##scal(cublasHandle_t handle, int n, const T *alpha, T *x, int incx)                      \
    {                                                                                                                \
        Scalar<T> factor = handle && alpha ? scalar(handle, alpha) : Scalar<T>();                                    \
        return each(handle, incx > 0 ? n : 0, alpha, scal<T>, factor, vector(x, n, incx));                           \
    }                                                                                                                \
    GPUCOH_CUBLAS cublas##S##copy(cublasHandle_t handle, int n, const T *x, int incx, T *y, int incy)                \
    {                                                                                                                \
        return each(handle, n, true, gpucoh_blas::copy<T>, vector(x, n, incx), vector(y, n, incy));                  \
    }                                                                                                                \
    GPUCOH_CUBLAS cublas##S##swap(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy)                      \
    {                                                                                                                \
        return each(handle, n, true, gpucoh_blas::swap<T>, vector(x, n, incx), vector(y, n, incy));                  \
    }                                                                                                                \
    GPUCOH_CUBLAS cublas##S##dot(cublasHandle_t handle, int n, const T *x, int incx, const T *y, int incy, T *result) \
    {                                                                                                                \
        return gpucoh_blas::dot_of<T>(handle, n, x, incx, y, incy, result);                                          \
    }                                                                                                                \
    GPUCOH_CUBLAS cublas##S##asum(cublasHandle_t handle, int n, const T *x, int incx, T *result)                     \
    {                                                                                                                \
        return reduce(handle, SumOfMagnitudes<T>(vector(x, n, incx)), incx > 0 ? n : 0, result);                     \
    }                                                                                                                \
    GPUCOH_CUBLAS cublas##S##nrm2(cublasHandle_t handle, int n, const T *x, int incx, T *result)                     \
    {                                                                                                                \
        return reduce(handle, Norm<T>{vector(x, n, incx)}, incx > 0 ? n : 0, result);                                \
    }                                                                                                                \
    GPUCOH_CUBLAS cublasI##s##amax(cublasHandle_t handle, int n, const T *x, int incx, int *result)                  \
    {                                                                                                                \
        return reduce(handle, Extreme<T, true>{vector(x, n, incx)}, incx > 0 ? n : 0, result);                       \
    }                                                                                                                \
    GPUCOH_CUBLAS cublasI##s##amin(cublasHandle_t handle, int n, const T *x, int incx, int *result)                  \
    {                                                                                                                \
        return reduce(handle, Extreme<T, false>{vector(x, n, incx)}, incx > 0 ? n : 0, result);                      \
    }
GPUCOH_CUBLAS_VECTORS(S, s, float)
GPUCOH_CUBLAS_VECTORS(D, d, double)

GPUCOH_CUBLAS
cublasDotEx(cublasHandle_t handle, int n, const void *x, cudaDataType x_type, int incx, const void *y,
            cudaDataType y_type, int incy, void *result, cudaDataType result_type, cudaDataType execution)
{
    bool one_type = x_type == y_type && y_type == result_type;
    if (one_type && x_type == CUDA_R_64F && execution == CUDA_R_64F)
        return dot_of<double>(handle, n, x, incx, y, incy, result);
    if (one_type && execution == CUDA_R_32F) {
        if (x_type == CUDA_R_32F)
            return dot_of<float>(handle, n, x, incx, y, incy, result);
        if (x_type == CUDA_R_16F)
            return dot_of<__half>(handle, n, x, incx, y, incy, result);
        if (x_type == CUDA_R_16BF)
            return dot_of<__nv_bfloat16>(handle, n, x, incx, y, incy, result);
    }
    return handle ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_NOT_INITIALIZED;
}
} // namespace api
} // namespace gpucoh_blas
