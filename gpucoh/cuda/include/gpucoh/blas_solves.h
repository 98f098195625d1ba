/* blas_solves.h: cuBLAS's solutions of triangles (trsm), and factors, solutions and inverses of batches of matrices. */
namespace gpucoh_blas {
/* A triangle of A or of its transpose. */
template <class T> struct Triangle {
    const T *values;
    long ld;
    bool transposed, is_upper, has_unit_diagonal; /* is_upper: of op(A) */
    __device__ T
    at(int row, int column) const
    {
        return transposed ? values[column + row * ld] : values[row + column * ld];
    }
};

/* Solves A * x = alpha * b in place, x's elements `step` apart, one after the other. The threads of a block share the
 * products of an element. */
template <class T>
__device__ void
solve_in_block(const Triangle<T> &A, int n, T alpha, T *x, long step)
{
    for (int k = 0; k < n; k++) {
        int row = A.is_upper ? n - 1 - k : k;
        int first = A.is_upper ? row + 1 : 0, end = A.is_upper ? n : row;
        T sum = 0;
        for (int other = first + threadIdx.x; other < end; other += THREADS)
            sum += A.at(row, other) * x[other * step];
        sum = joined_in_block(Summed<T>(), sum);
        if (threadIdx.x == 0)
            x[row * step] = (alpha * x[row * step] - sum) / (A.has_unit_diagonal ? T(1) : A.at(row, row));
        __syncthreads();
    }
}

/* A block has a column of B, or with a triangle on the right, whose transpose it gets, a row. */
template <class T>
__global__ void
trsm(Triangle<T> A, int n, Scalar<T> alpha, T *B, long next, long step)
{
    solve_in_block(A, n, alpha.get(), B + blockIdx.x * next, step);
}

/* A block has a matrix: P * A = L * U in place, by columns, with the largest pivots. */
template <class T>
__global__ void
getrf(int n, T *const *matrices, long ld, int *pivots, int *info)
{
    __shared__ int pivot, singular;
    T *A = matrices[blockIdx.x];
    if (threadIdx.x == 0)
        singular = 0;
    for (int k = 0; k < n; k++) {
        if (threadIdx.x == 0) {
            pivot = k;
            for (int row = k + 1; row < n && pivots; row++)
                if (fabs(A[row + k * ld]) > fabs(A[pivot + k * ld]))
                    pivot = row;
            if (pivots)
                pivots[blockIdx.x * n + k] = pivot + 1;
            if (A[pivot + k * ld] == T(0) && singular == 0)
                singular = k + 1;
        }
        __syncthreads();
        for (int column = threadIdx.x; column < n && pivot != k; column += THREADS) {
            T was = A[k + column * ld];
            A[k + column * ld] = A[pivot + column * ld];
            A[pivot + column * ld] = was;
        }
        __syncthreads();
        for (int row = k + 1 + threadIdx.x; row < n && A[k + k * ld] != T(0); row += THREADS)
            A[row + k * ld] /= A[k + k * ld];
        __syncthreads();
        int left = n - k - 1;
        for (int i = threadIdx.x; i < left * left; i += THREADS) {
            int row = k + 1 + i % left, column = k + 1 + i / left;
            A[row + column * ld] -= A[row + k * ld] * A[k + column * ld];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        info[blockIdx.x] = singular;
}

template <class T>
__device__ void
exchange(T &a, T &b)
{
    T was = a;
    a = b;
    b = was;
}

/* A block has a matrix: op(A) * X = B by its factors, in place; of an inverse B is made here. */
template <class T>
__global__ void
getrs(bool transposed, int n, int num_columns, const T *const *matrices, long ld, const int *pivots, T *const *sides,
      long ld_side, bool inverts, int *info)
{
    const T *A = matrices[blockIdx.x];
    T *B = sides[blockIdx.x];
    const int *own = pivots ? pivots + blockIdx.x * n : nullptr;
    Triangle<T> L = {A, ld, transposed, transposed, true}, U = {A, ld, transposed, !transposed, false};
    for (int i = threadIdx.x; inverts && i < n * n; i += THREADS)
        B[i % n + i / n * ld_side] = T(i % n == i / n);
    __syncthreads();
    for (int column = 0; column < num_columns; column++) {
        T *x = B + column * ld_side;
        if (threadIdx.x == 0 && own && !transposed)
            for (int k = 0; k < n; k++)
                exchange(x[k], x[own[k] - 1]);
        __syncthreads();
        solve_in_block(transposed ? U : L, n, T(1), x, 1);
        solve_in_block(transposed ? L : U, n, T(1), x, 1);
        if (threadIdx.x == 0 && own && transposed)
            for (int k = n - 1; k >= 0; k--)
                exchange(x[k], x[own[k] - 1]);
        __syncthreads();
    }
    if (threadIdx.x == 0 && info) {
        int k = 0;
        while (k < n && A[k + k * ld] != T(0))
            k++;
        info[blockIdx.x] = k < n ? k + 1 : 0;
    }
}

template <class T>
cublasStatus_t
solve(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t trans,
      cublasDiagType_t diagonal, int m, int n, const T *alpha, const T *A, int lda, T *B, int ldb)
{
    bool left = side == CUBLAS_SIDE_LEFT, transposed = trans != CUBLAS_OP_N;
    int size = left ? m : n;
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!is_operation(trans) || m < 0 || n < 0 || lda < (size > 1 ? size : 1) || ldb < (m > 1 ? m : 1) || !alpha)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0)
        return CUBLAS_STATUS_SUCCESS;
    bool of_transpose = left ? transposed : !transposed; /* X * A = B is A' * X' = B' */
    Triangle<T> triangle = {A, lda, of_transpose, (fill == CUBLAS_FILL_MODE_UPPER) != of_transpose,
                            diagonal == CUBLAS_DIAG_UNIT};
    return launch(handle, trsm<T>, left ? n : m, THREADS, triangle, size, scalar(handle, alpha), B, left ? ldb : 1,
                  left ? 1 : ldb);
}

inline cublasStatus_t
checked_batch(cublasHandle_t handle, int n, int lda, int batches)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    return n < 0 || lda < (n > 1 ? n : 1) || batches < 0 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

namespace api {
#define GPUCOH_CUBLAS_SOLVES(S, T)                                                                                   \
    GPUCOH_CUBLAS cublas##S##trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,               \
                                  cublasOperation_t trans, cublasDiagType_t diagonal, int m, int n, const T *alpha,  \
                                  const T *A, int lda, T *B, int ldb)                                                \
    {                                                                                                                \
        return solve(handle, side, fill, trans, diagonal, m, n, alpha, A, lda, B, ldb);                              \
    }                                                                                                                \
    GPUCOH_CUBLAS cublas##S##getrfBatched(cublasHandle_t handle, int n, T *const A[], int lda, int *pivots,          \
                                          int *info, int batches)                                                    \
    {                                                                                                                \
        cublasStatus_t status = checked_batch(handle, n, lda, batches);                                              \
        if (status != CUBLAS_STATUS_SUCCESS || n == 0 || batches == 0)                                               \
            return status;                                                                                           \
        return launch(handle, getrf<T>, batches, THREADS, n, A, lda, pivots, info);                                  \
    }                                                                                                                \
    GPUCOH_CUBLAS cublas##S##getrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int columns,        \
                                          const T *const A[], int lda, const int *pivots, T *const B[], int ldb,     \
                                          int *info, int batches)                                                    \
    {                                                                                                                \
        cublasStatus_t status = checked_batch(handle, n, lda, batches);                                              \
        bool valid = columns >= 0 && ldb >= (n > 1 ? n : 1) && is_operation(trans);                                  \
        if (info)                                                                                                    \
            *info = valid ? 0 : -1; /* of the host */                                                                \
        if (status != CUBLAS_STATUS_SUCCESS || n == 0 || batches == 0 || columns == 0 || !valid)                     \
            return valid ? status : CUBLAS_STATUS_INVALID_VALUE;                                                     \
        return launch(handle, getrs<T>, batches, THREADS, trans != CUBLAS_OP_N, n, columns, A, lda, pivots, B, ldb,  \
                      false, nullptr);                                                                               \
    }                                                                                                                \
    GPUCOH_CUBLAS cublas##S##getriBatched(cublasHandle_t handle, int n, const T *const A[], int lda,                 \
                                          const int *pivots, T *const C[], int ldc, int *info, int batches)          \
    {                                                                                                                \
        cublasStatus_t status = checked_batch(handle, n, lda, batches);                                              \
        if (status != CUBLAS_STATUS_SUCCESS || n == 0 || batches == 0 || ldc < n)                                    \
            return status != CUBLAS_STATUS_SUCCESS || ldc >= n ? status : CUBLAS_STATUS_INVALID_VALUE;               \
        return launch(handle, getrs<T>, batches, THREADS, false, n, n, A, lda, pivots, C, ldc, true, info);          \
    }
GPUCOH_CUBLAS_SOLVES(S, float)
GPUCOH_CUBLAS_SOLVES(D, double)
} // namespace api
} // namespace gpucoh_blas
