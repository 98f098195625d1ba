/* sparse_conversions.h: cuSPARSE's conversions between sparse and dense matrices; functions of sparse vectors. */
namespace gpucoh_sparse {
template <class T, class I>
__global__ void
fill_dense(Sparse<T, I> A, Dense<T> B, long num_columns)
{
    long row = own_index() / num_columns, column = own_index() % num_columns;
    if (row < A.num_rows)
        B.at(row, column) = T(0);
}

template <class T, class I>
__global__ void
scatter_values(Sparse<T, I> A, Dense<T> B)
{
    I place = own_index();
    if (place < A.num_values)
        B.at(A.row_of(place), A.column_of(place)) = A.values[place];
}

/* A thread has a row: how many values of it are not 0. */
template <class T, class I>
__global__ void
count_values(Dense<T> A, Sparse<T, I> B)
{
    I row = own_index(), count = 0;
    if (row >= B.num_rows)
        return;
    for (I column = 0; column < B.num_columns; column++)
        count += A.at(row, column) != T(0);
    B.rows[row + 1] = count;
}

/* One block makes offsets of the counts: each thread adds up a part of them. */
template <class T, class I>
__global__ void
add_counts(Sparse<T, I> B)
{
    __shared__ I sums[THREADS + 1];
    I part = (B.num_rows + THREADS - 1) / THREADS, first = threadIdx.x * part, sum = 0;
    I end = first + part < B.num_rows ? first + part : B.num_rows;
    for (I row = first; row < end; row++)
        sum += B.rows[row + 1];
    sums[threadIdx.x + 1] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sums[0] = B.base;
        B.rows[0] = B.base;
        for (int i = 1; i <= THREADS; i++)
            sums[i] += sums[i - 1];
    }
    __syncthreads();
    sum = sums[threadIdx.x];
    for (I row = first; row < end; row++)
        B.rows[row + 1] = sum += B.rows[row + 1];
}

template <class T, class I>
__global__ void
gather_values(Dense<T> A, Sparse<T, I> B)
{
    I row = own_index();
    if (row >= B.num_rows)
        return;
    I place = B.first_of(row);
    for (I column = 0; column < B.num_columns; column++) {
        T value = A.at(row, column);
        if (value != T(0)) {
            B.columns[place] = column + B.base;
            B.values[place++] = value;
        }
    }
}

/* Makes CSR's offsets of the counts in rows[1] .., and takes the number of values from the last one. */
template <class T, class I>
cusparseStatus_t
added_up(cusparseHandle_t handle, cusparseSpMatDescr_t B)
{
    I end = 0, *last = (I *) B->rows + B->num_rows;
    cusparseStatus_t status = each(handle, THREADS, add_counts<T, I>, sparse_of<T, I>(B));
    if (status != CUSPARSE_STATUS_SUCCESS)
        return status;
    if (cudaStreamSynchronize(handle->stream) != cudaSuccess ||
        cudaMemcpy(&end, last, sizeof end, cudaMemcpyDeviceToHost) != cudaSuccess)
        return CUSPARSE_STATUS_EXECUTION_FAILED;
    B->num_values = end - B->base;
    return CUSPARSE_STATUS_SUCCESS;
}

template <class T, class I>
__global__ void
axpby(Scalar<T> alpha, I num_values, const I *indices, I base, const T *x, T *y)
{
    I i = own_index();
    if (i < num_values)
        y[indices[i] - base] += alpha.get() * x[i];
}

template <class T, class I>
__global__ void
gather(I num_values, const I *indices, I base, const T *y, T *x)
{
    I i = own_index();
    if (i < num_values)
        x[i] = y[indices[i] - base];
}

template <class T, class I>
__global__ void
scatter(I num_values, const I *indices, I base, const T *x, T *y)
{
    I i = own_index();
    if (i < num_values)
        y[indices[i] - base] = x[i];
}

template <class A, class B>
cusparseStatus_t
checked(cusparseHandle_t handle, A a, B b, bool same_size)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!same_size)
        return CUSPARSE_STATUS_INVALID_VALUE;
    return a->type == b->type ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_SUPPORTED;
}

inline cusparseStatus_t
checked(cusparseHandle_t handle, cusparseConstSpMatDescr_t A, cusparseConstDnMatDescr_t B)
{
    return checked(handle, A, B, A && B && A->num_rows == B->num_rows && A->num_columns == B->num_columns);
}

namespace api {
GPUCOH_CUSPARSE
cusparseSparseToDense_bufferSize(cusparseHandle_t handle, cusparseConstSpMatDescr_t A, cusparseDnMatDescr_t B,
                                 cusparseSparseToDenseAlg_t, size_t *bytes)
{
    if (bytes)
        *bytes = BUFFER;
    return bytes ? checked(handle, A, B) : CUSPARSE_STATUS_INVALID_VALUE;
}

GPUCOH_CUSPARSE
cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t A, cusparseDnMatDescr_t B,
                      cusparseSparseToDenseAlg_t, void *)
{
    cusparseStatus_t status = checked(handle, A, B);
    if (status != CUSPARSE_STATUS_SUCCESS)
        return status;
    return typed(A->type, A->index_type, [&](auto value, auto index) {
        typedef decltype(value) T;
        typedef decltype(index) I;
        auto from = sparse_of<T, I>(A);
        auto to = dense_of<T>(B);
        cusparseStatus_t filled =
            each(handle, A->num_rows * A->num_columns, fill_dense<T, I>, from, to, A->num_columns);
        return filled == CUSPARSE_STATUS_SUCCESS ? each(handle, A->num_values, scatter_values<T, I>, from, to) : filled;
    });
}

GPUCOH_CUSPARSE
cusparseDenseToSparse_bufferSize(cusparseHandle_t handle, cusparseConstDnMatDescr_t A, cusparseSpMatDescr_t B,
                                 cusparseDenseToSparseAlg_t, size_t *bytes)
{
    if (bytes)
        *bytes = BUFFER;
    return bytes ? checked(handle, B, A) : CUSPARSE_STATUS_INVALID_VALUE;
}

/* CSR: writes the offsets. */
GPUCOH_CUSPARSE
cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t A, cusparseSpMatDescr_t B,
                               cusparseDenseToSparseAlg_t, void *)
{
    cusparseStatus_t status = checked(handle, B, A);
    if (status != CUSPARSE_STATUS_SUCCESS || !B->is_csr)
        return status == CUSPARSE_STATUS_SUCCESS ? CUSPARSE_STATUS_NOT_SUPPORTED : status;
    return typed(B->type, B->index_type, [&](auto value, auto index) {
        typedef decltype(value) T;
        typedef decltype(index) I;
        cusparseStatus_t counted = each(handle, B->num_rows, count_values<T, I>, dense_of<T>(A), sparse_of<T, I>(B));
        return counted == CUSPARSE_STATUS_SUCCESS ? added_up<T, I>(handle, B) : counted;
    });
}

GPUCOH_CUSPARSE
cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t A, cusparseSpMatDescr_t B,
                              cusparseDenseToSparseAlg_t, void *)
{
    cusparseStatus_t status = checked(handle, B, A);
    if (status != CUSPARSE_STATUS_SUCCESS)
        return status;
    return typed(B->type, B->index_type, [&](auto value, auto index) {
        typedef decltype(value) T;
        typedef decltype(index) I;
        return each(handle, B->num_rows, gather_values<T, I>, dense_of<T>(A), sparse_of<T, I>(B));
    });
}

/* y = alpha * x + beta * y */
GPUCOH_CUSPARSE
cusparseAxpby(cusparseHandle_t handle, const void *alpha, cusparseConstSpVecDescr_t x, const void *beta,
              cusparseDnVecDescr_t y)
{
    cusparseStatus_t status = checked(handle, x, y, alpha && beta && x && y && x->size == y->size);
    if (status != CUSPARSE_STATUS_SUCCESS)
        return status;
    return typed(x->type, x->index_type, [&](auto value, auto index) {
        typedef decltype(value) T;
        typedef decltype(index) I;
        T *to = (T *) y->values;
        cusparseStatus_t scaled = each(handle, y->size, scale<T>, y->size, factor<T>(handle, beta), to);
        if (scaled != CUSPARSE_STATUS_SUCCESS)
            return scaled;
        return each(handle, x->num_values, axpby<T, I>, factor<T>(handle, alpha), x->num_values, (const I *) x->indices,
                    x->base, (const T *) x->values, to);
    });
}

#define GPUCOH_CUSPARSE_MOVE(Name, kernel, From, from, To, to, sparse)                                           \
    GPUCOH_CUSPARSE cusparse##Name(cusparseHandle_t handle, From from, To to)                                    \
    {                                                                                                            \
        cusparseStatus_t status = checked(handle, from, to, from && to && from->size == to->size);               \
        if (status != CUSPARSE_STATUS_SUCCESS)                                                                   \
            return status;                                                                                       \
        return typed(from->type, sparse->index_type, [&](auto value, auto index) {                               \
            typedef decltype(value) T;                                                                           \
            typedef decltype(index) I;                                                                           \
            return each(handle, sparse->num_values, kernel<T, I>, sparse->num_values,                            \
                        (const I *) sparse->indices, sparse->base, (const T *) from->values, (T *) to->values);  \
        });                                                                                                      \
    }
GPUCOH_CUSPARSE_MOVE(Gather, gather, cusparseConstDnVecDescr_t, y, cusparseSpVecDescr_t, x, x)
GPUCOH_CUSPARSE_MOVE(Scatter, scatter, cusparseConstSpVecDescr_t, x, cusparseDnVecDescr_t, y, x)
} // namespace api
} // namespace gpucoh_sparse
