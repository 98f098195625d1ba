/* blas_matrices.h: cuBLAS's functions of a matrix and vectors (level 2), and sums of matrices (geam). */
namespace gpucoh_blas {
inline bool
is_operation(cublasOperation_t one)
{
    return one == CUBLAS_OP_N || one == CUBLAS_OP_T || one == CUBLAS_OP_C;
}

/* y of the row, after its product with x; an element that beta = 0 drops is not read. */
template <class T>
__device__ void
set_sum(T &y, T alpha, T product, T beta)
{
    y = alpha * product + (beta == T(0) ? T(0) : beta * y);
}

/* A thread has a row of A, so that threads of a warp read one line of it. */
template <class T>
__global__ void
gemv_rows(int m, int n, Scalar<T> alpha, const T *A, long lda, Vector<const T> x, Scalar<T> beta, Vector<T> y)
{
    long row = own_index();
    if (row >= m)
        return;
    T sum = 0;
    for (int column = 0; column < n && alpha.get() != T(0); column++)
        sum += A[row + column * lda] * x[column];
    set_sum(y[row], alpha.get(), sum, beta.get());
}

/* A block has a column of A. */
template <class T>
__global__ void
gemv_columns(int m, Scalar<T> alpha, const T *A, long lda, Vector<const T> x, Scalar<T> beta, Vector<T> y)
{
    T sum = 0;
    for (int row = threadIdx.x; row < m && alpha.get() != T(0); row += THREADS)
        sum += A[row + blockIdx.x * lda] * x[row];
    sum = joined_in_block(Summed<T>(), sum);
    if (threadIdx.x == 0)
        set_sum(y[blockIdx.x], alpha.get(), sum, beta.get());
}

template <class T>
__global__ void
ger(int m, int n, Scalar<T> alpha, Vector<const T> x, Vector<const T> y, T *A, long lda)
{
    long row = own_index();
    for (int column = blockIdx.y; row < m && column < n; column += gridDim.y)
        A[row + column * lda] += alpha.get() * x[row] * y[column];
}

template <class T>
__device__ T
scaled(T factor, const T *A, long ld, bool transposed, long row, long column)
{
    return factor == T(0) ? T(0) : factor * A[transposed ? column + row * ld : row + column * ld];
}

template <class T>
__global__ void
geam(int m, int n, Scalar<T> alpha, const T *A, long lda, bool a_transposed, Scalar<T> beta, const T *B, long ldb,
     bool b_transposed, T *C, long ldc)
{
    long row = own_index();
    for (int column = blockIdx.y; row < m && column < n; column += gridDim.y)
        C[row + column * ldc] = scaled(alpha.get(), A, lda, a_transposed, row, column) +
                                scaled(beta.get(), B, ldb, b_transposed, row, column);
}

inline dim3
grid_of(int rows, int columns)
{
    return dim3(blocks_of(rows), columns < 65535 ? columns : 65535);
}

template <class T>
cublasStatus_t
gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T *alpha, const T *A, int lda, const T *x,
     int incx, const T *beta, T *y, int incy)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!is_operation(trans) || m < 0 || n < 0 || lda < (m > 1 ? m : 1) || incx == 0 || incy == 0 || !alpha || !beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0)
        return CUBLAS_STATUS_SUCCESS;
    Scalar<T> by = scalar(handle, alpha), before = scalar(handle, beta);
    if (trans == CUBLAS_OP_N)
        return launch(handle, gemv_rows<T>, blocks_of(m), THREADS, m, n, by, A, lda, vector(x, n, incx), before,
                      vector(y, m, incy));
    return launch(handle, gemv_columns<T>, n, THREADS, m, by, A, lda, vector(x, m, incx), before, vector(y, n, incy));
}

namespace api {
#define GPUCOH_CUBLAS_MATRICES(S, T)                                                                                 \
    GPUCOH_CUBLAS cublas##S##gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T *alpha,      \
                                  const T *A, int lda, const T *x, int incx, const T *beta, T *y, int incy)          \
    {                                                                                                                \
        return gpucoh_blas::gemv(handle, trans, m, n, alpha, A, lda, x, incx, beta, y, incy);                        \
    }                                                                                                                \
    GPUCOH_CUBLAS cublas##S##ger(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int incx,          \
                                 const T *y, int incy, T *A, int lda)                                                \
    {                                                                                                                \
        if (!handle)                                                                                                 \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                    \
        if (m < 0 || n < 0 || incx == 0 || incy == 0 || !alpha || lda < (m > 1 ? m : 1))                             \
            return CUBLAS_STATUS_INVALID_VALUE;                                                                      \
        if (m == 0 || n == 0)                                                                                        \
            return CUBLAS_STATUS_SUCCESS;                                                                            \
        return launch(handle, gpucoh_blas::ger<T>, grid_of(m, n), THREADS, m, n, scalar(handle, alpha),              \
                      vector(x, m, incx), vector(y, n, incy), A, lda);                                               \
    }                                                                                                                \
    GPUCOH_CUBLAS cublas##S##geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,  \
                                  int n, const T *alpha, const T *A, int lda, const T *beta, const T *B, int ldb,    \
                                  T *C, int ldc)                                                                     \
    {                                                                                                                \
        if (!handle)                                                                                                 \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                    \
        bool in_place = (C == A && (transa != CUBLAS_OP_N || lda != ldc))                                            \
                        || (C == B && (transb != CUBLAS_OP_N || ldb != ldc));                                        \
        if (!is_operation(transa) || !is_operation(transb) || m < 0 || n < 0 || !alpha || !beta || in_place          \
            || lda < (transa == CUBLAS_OP_N ? m : n) || ldb < (transb == CUBLAS_OP_N ? m : n) || ldc < m)            \
            return CUBLAS_STATUS_INVALID_VALUE;                                                                      \
        if (m == 0 || n == 0)                                                                                        \
            return CUBLAS_STATUS_SUCCESS;                                                                            \
        return launch(handle, gpucoh_blas::geam<T>, grid_of(m, n), THREADS, m, n, scalar(handle, alpha), A, lda,     \
                      transa != CUBLAS_OP_N, scalar(handle, beta), B, ldb, transb != CUBLAS_OP_N, C, ldc);           \
    }
GPUCOH_CUBLAS_MATRICES(S, float)
GPUCOH_CUBLAS_MATRICES(D, double)
} // namespace api
} // namespace gpucoh_blas
