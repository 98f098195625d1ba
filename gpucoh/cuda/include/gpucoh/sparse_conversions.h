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
count_columns(Sparse<T, I> A, Sparse<T, I> B)
{
    I place = own_index();
    if (place < A.num_values)
        atomicAdd(&B.rows[A.column_of(place) + 1], 1);
}

/* A thread has a value: its place among those of its column is the next of `taken`, in no order. */
template <class T, class I>
__global__ void
transpose_values(Sparse<T, I> A, Sparse<T, I> B, I *taken)
{
    I from = own_index();
    if (from >= A.num_values)
        return;
    I column = A.column_of(from), to = B.first_of(column) + atomicAdd(&taken[column], 1);
    B.columns[to] = A.row_of(from) + A.base;
    if (B.values)
        B.values[to] = A.values[from];
}

/* A thread has a row, whose values it sorts by their columns. */
template <class T, class I>
__global__ void
sort_rows(Sparse<T, I> A)
{
    I row = own_index();
    if (row >= A.num_rows)
        return;
    for (I first = A.first_of(row), last = first + 1; last < A.first_of(row + 1); last++)
        for (I at = last; at > first && A.columns[at - 1] > A.columns[at]; at--) {
            I column = A.columns[at];
            A.columns[at] = A.columns[at - 1], A.columns[at - 1] = column;
            if (A.values) {
                T value = A.values[at];
                A.values[at] = A.values[at - 1], A.values[at - 1] = value;
            }
        }
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

GPUCOH_CUSPARSE
cusparseCsr2cscEx2_bufferSize(cusparseHandle_t handle, int m, int n, int nnz, const void *, const int *, const int *,
                              void *, int *, int *, cudaDataType, cusparseAction_t, cusparseIndexBase_t,
                              cusparseCsr2CscAlg_t, size_t *bytes)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!bytes || m < 0 || n < 0 || nnz < 0)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *bytes = (size_t) (n + 1) * sizeof(int);
    return CUSPARSE_STATUS_SUCCESS;
}

/* The rows of each column come in order. */
GPUCOH_CUSPARSE
cusparseCsr2cscEx2(cusparseHandle_t handle, int m, int n, int nnz, const void *values, const int *rows,
                   const int *columns, void *new_values, int *new_columns, int *new_rows, cudaDataType type,
                   cusparseAction_t action, cusparseIndexBase_t base, cusparseCsr2CscAlg_t, void *buffer)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || nnz < 0 || !buffer)
        return CUSPARSE_STATUS_INVALID_VALUE;
    return typed(type, CUSPARSE_INDEX_32I, [&](auto value, auto) {
        typedef decltype(value) T;
        Sparse<T, int> A{true, m, n, nnz, (int) base, (int *) rows, (int *) columns, (T *) values};
        Sparse<T, int> B{true, n, m, nnz, (int) base, new_columns, new_rows,
                         action == CUSPARSE_ACTION_NUMERIC ? (T *) new_values : nullptr};
        size_t bytes = (size_t) (n + 1) * sizeof(int);
        cudaMemsetAsync(new_columns, 0, bytes, handle->stream);
        cudaMemsetAsync(buffer, 0, bytes, handle->stream);
        cusparseStatus_t status = each(handle, nnz, count_columns<T, int>, A, B);
        if (status == CUSPARSE_STATUS_SUCCESS)
            status = each(handle, THREADS, add_counts<T, int>, B);
        if (status == CUSPARSE_STATUS_SUCCESS)
            status = each(handle, nnz, transpose_values<T, int>, A, B, (int *) buffer);
        return status == CUSPARSE_STATUS_SUCCESS ? each(handle, n, sort_rows<T, int>, B) : status;
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
