/* blas_products.h: cuBLAS's products of matrices, C = alpha * op(A) * op(B) + beta * C, one or a batch of them. */
namespace gpucoh_blas {
constexpr int TILE = 16;      /* rows and columns of C that a block computes, a thread each */
constexpr int LAYERS = 65535; /* blocks of a grid in its third dimension at most; they loop over more of a batch */

/* The matrices of a batch, in columns of ld elements: `stride` elements apart, or at pointers of the device. */
template <class T> struct Matrices {
    T *first;
    T *const *pointers;
    long long stride;
    long ld;
    __device__ T *of(int batch) const { return pointers ? pointers[batch] : first + batch * stride; }
};

struct Sizes {
    int m, n, k, batches;
    bool a_transposed, b_transposed;
};

/* Products of halves are summed as floats. */
template <class S> struct Accumulated {
    typedef S type;
};
template <> struct Accumulated<__half> {
    typedef float type;
};

/* tile[layer][line] of op(A) or op(B): layers are counted along k, lines along the rows or columns of C; consecutive
 * threads read consecutive elements, whichever of both these are. Outside the matrix it is 0. */
template <class V, class T>
__device__ void
load_tile(V (*tile)[TILE + 1], const T *from, long ld, bool along_k, int line, int num_lines, int layer, int num_layers)
{
    int layer_in = along_k ? threadIdx.x : threadIdx.y, line_in = along_k ? threadIdx.y : threadIdx.x;
    line += line_in;
    layer += layer_in;
    bool inside = line < num_lines && layer < num_layers;
    tile[layer_in][line_in] = inside ? V(from[along_k ? layer + line * ld : line + layer * ld]) : V(0);
}

template <class T, class R, class S>
__global__ void
gemm(Sizes sizes, Scalar<S> alpha, Matrices<const T> A, Matrices<const T> B, Scalar<S> beta, Matrices<R> C)
{
    typedef typename Accumulated<S>::type V;
    __shared__ V left[TILE][TILE + 1], right[TILE][TILE + 1];
    int row_tiles = (sizes.m + TILE - 1) / TILE;
    int first_row = blockIdx.x % row_tiles * TILE, first_column = blockIdx.x / row_tiles * TILE;
    int row = first_row + threadIdx.x, column = first_column + threadIdx.y;
    V factor = V(alpha.get()), before = V(beta.get());
    int num_layers = factor == V(0) ? 0 : sizes.k;
    for (int batch = blockIdx.z; batch < sizes.batches; batch += gridDim.z) {
        V sum = 0;
        for (int layer = 0; layer < num_layers; layer += TILE) {
            load_tile(left, A.of(batch), A.ld, sizes.a_transposed, first_row, sizes.m, layer, sizes.k);
            load_tile(right, B.of(batch), B.ld, !sizes.b_transposed, first_column, sizes.n, layer, sizes.k);
            __syncthreads();
            for (int k = 0; k < TILE; k++)
                sum += left[k][threadIdx.x] * right[k][threadIdx.y];
            __syncthreads();
        }
        if (row < sizes.m && column < sizes.n) {
            R &c = C.of(batch)[row + column * C.ld];
            c = R(factor * sum + (before == V(0) ? V(0) : before * V(c)));
        }
    }
}

/* A call of any gemm: its arguments without their types. */
struct Product {
    cublasHandle_t handle;
    cublasOperation_t transa, transb;
    int m, n, k;
    const void *alpha, *A, *B, *beta;
    void *C;
    int lda, ldb, ldc;
    long long stride_a, stride_b, stride_c;
    int batches;
    bool by_pointers; /* A, B and C are arrays of pointers */
};

inline cublasStatus_t
checked(const Product &one)
{
    if (!one.handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    int rows_of_a = one.transa == CUBLAS_OP_N ? one.m : one.k, rows_of_b = one.transb == CUBLAS_OP_N ? one.k : one.n;
    if (!is_operation(one.transa) || !is_operation(one.transb) || one.m < 0 || one.n < 0 || one.k < 0 ||
        one.batches < 0 || one.lda < (rows_of_a > 1 ? rows_of_a : 1) || one.ldb < (rows_of_b > 1 ? rows_of_b : 1) ||
        one.ldc < (one.m > 1 ? one.m : 1) || !one.alpha || !one.beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

template <class T>
Matrices<T>
matrices(const Product &one, const void *where, int ld, long long stride)
{
    if (one.by_pointers)
        return {nullptr, (T *const *) where, 0, ld};
    return {(T *) where, nullptr, stride, ld};
}

template <class T, class R, class S>
cublasStatus_t
multiplied(const Product &one)
{
    cublasStatus_t status = checked(one);
    if (status != CUBLAS_STATUS_SUCCESS || one.m == 0 || one.n == 0 || one.batches == 0)
        return status;
    Sizes sizes = {one.m, one.n, one.k, one.batches, one.transa != CUBLAS_OP_N, one.transb != CUBLAS_OP_N};
    dim3 grid(blocks_of(one.m, TILE) * blocks_of(one.n, TILE), 1, one.batches < LAYERS ? one.batches : LAYERS);
    return launch(one.handle, gemm<T, R, S>, grid, dim3(TILE, TILE), sizes, scalar(one.handle, (const S *) one.alpha),
                  matrices<const T>(one, one.A, one.lda, one.stride_a),
                  matrices<const T>(one, one.B, one.ldb, one.stride_b), scalar(one.handle, (const S *) one.beta),
                  matrices<R>(one, one.C, one.ldc, one.stride_c));
}

/* A product of types that are known when the program runs: those of cuBLAS's table that have real numbers. (A template,
 * as a program that calls none of these has no such kernels.) */
template <typename = void>
cublasStatus_t
multiplied_as(const Product &one, cudaDataType a, cudaDataType b, cudaDataType c, cublasComputeType_t type)
{
    bool halves = a == CUDA_R_16F, brains = a == CUDA_R_16BF, bytes = a == CUDA_R_8I;
    if (a != b)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    switch (type) {
        case CUBLAS_COMPUTE_16F:
        case CUBLAS_COMPUTE_16F_PEDANTIC:
            if (halves && c == CUDA_R_16F)
                return multiplied<__half, __half, __half>(one);
            break;
        case CUBLAS_COMPUTE_32I:
        case CUBLAS_COMPUTE_32I_PEDANTIC:
            if (bytes && c == CUDA_R_32I)
                return multiplied<signed char, int, int>(one);
            break;
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC:
            if (a == CUDA_R_64F && c == CUDA_R_64F)
                return multiplied<double, double, double>(one);
            break;
        default:
            if (halves && c == CUDA_R_16F)
                return multiplied<__half, __half, float>(one);
            if (brains && c == CUDA_R_16BF)
                return multiplied<__nv_bfloat16, __nv_bfloat16, float>(one);
            if (c != CUDA_R_32F)
                break;
            if (a == CUDA_R_32F)
                return multiplied<float, float, float>(one);
            if (halves)
                return multiplied<__half, float, float>(one);
            if (brains)
                return multiplied<__nv_bfloat16, float, float>(one);
            if (bytes)
                return multiplied<signed char, float, float>(one);
    }
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

/* Until cuBLAS 10 the type of the computation was one of data. */
inline cublasComputeType_t
computed_as(cudaDataType type)
{
    return type == CUDA_R_16F   ? CUBLAS_COMPUTE_16F
           : type == CUDA_R_32I ? CUBLAS_COMPUTE_32I
           : type == CUDA_R_64F ? CUBLAS_COMPUTE_64F
                                : CUBLAS_COMPUTE_32F;
}
inline cublasComputeType_t
computed_as(cublasComputeType_t type)
{
    return type;
}

namespace api {
#define GPUCOH_CUBLAS_PRODUCTS(S, T)                                                                                 \
    GPUCOH_CUBLAS cublas##S##gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,  \
                                  int n, int k, const T *alpha, const T *A, int lda, const T *B, int ldb,            \
                                  const T *beta, T *C, int ldc)                                                      \
    {                                                                                                                \
        return multiplied<T, T, T>(                                                                     \
            {handle, transa, transb, m, n, k, alpha, A, B, beta, C, lda, ldb, ldc, 0, 0, 0, 1, false});              \
    }                                                                                                                \
    GPUCOH_CUBLAS cublas##S##gemmStridedBatched(                                                                     \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,              \
        const T *alpha, const T *A, int lda, long long stride_a, const T *B, int ldb, long long stride_b,            \
        const T *beta, T *C, int ldc, long long stride_c, int batches)                                               \
    {                                                                                                                \
        return multiplied<T, T, T>({handle, transa, transb, m, n, k, alpha, A, B, beta, C, lda, ldb, ldc, \
                                                 stride_a, stride_b, stride_c, batches, false});                     \
    }                                                                                                                \
    GPUCOH_CUBLAS cublas##S##gemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,  \
                                         int m, int n, int k, const T *alpha, const T *const A[], int lda,           \
                                         const T *const B[], int ldb, const T *beta, T *const C[], int ldc,          \
                                         int batches)                                                                \
    {                                                                                                                \
        return multiplied<T, T, T>({handle, transa, transb, m, n, k, alpha, A, B, beta, (void *) C, lda, \
                                                 ldb, ldc, 0, 0, 0, batches, true});                                 \
    }
GPUCOH_CUBLAS_PRODUCTS(S, float)
GPUCOH_CUBLAS_PRODUCTS(D, double)
GPUCOH_CUBLAS_PRODUCTS(H, __half)

/* `type` is a cublasComputeType_t, or in older programs a cudaDataType. */
template <class Type>
cublasStatus_t
cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
             const void *alpha, const void *A, cudaDataType a, int lda, const void *B, cudaDataType b, int ldb,
             const void *beta, void *C, cudaDataType c, int ldc, Type type, cublasGemmAlgo_t)
{
    return multiplied_as({handle, transa, transb, m, n, k, alpha, A, B, beta, C, lda, ldb, ldc, 0, 0, 0, 1, false}, a,
                         b, c, computed_as(type));
}

template <class Type>
cublasStatus_t
cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           int k, const void *alpha, const void *A, cudaDataType a, int lda, long long stride_a,
                           const void *B, cudaDataType b, int ldb, long long stride_b, const void *beta, void *C,
                           cudaDataType c, int ldc, long long stride_c, int batches, Type type, cublasGemmAlgo_t)
{
    return multiplied_as({handle, transa, transb, m, n, k, alpha, A, B, beta, C, lda, ldb, ldc, stride_a, stride_b,
                          stride_c, batches, false},
                         a, b, c, computed_as(type));
}

template <class Type>
cublasStatus_t
cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                    const void *alpha, const void *const A[], cudaDataType a, int lda, const void *const B[],
                    cudaDataType b, int ldb, const void *beta, void *const C[], cudaDataType c, int ldc, int batches,
                    Type type, cublasGemmAlgo_t)
{
    return multiplied_as(
        {handle, transa, transb, m, n, k, alpha, A, B, beta, (void *) C, lda, ldb, ldc, 0, 0, 0, batches, true}, a, b,
        c, computed_as(type));
}
} // namespace api
} // namespace gpucoh_blas
