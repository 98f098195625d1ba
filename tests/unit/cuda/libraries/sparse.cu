// sparse.cu: calls of cuSPARSE. Its input are sizes, the CSR and COO arrays of a matrix, and vectors; each line of its
// output has a name and a vector, which test_cusparse.py computes by SciPy. Values are quarters: sums are exact.
#include <cstdio>
#include <string>
#include <vector>
#include <cusparse.h>

#include "library.h"

#define RIGHT(call) check(call, CUSPARSE_STATUS_SUCCESS, #call)

template <class T>
static void
products(cusparseHandle_t h, const char *letter, cudaDataType type)
{
    int rows, columns, nnz, base;
    if (scanf("%d %d %d %d", &rows, &columns, &nnz, &base) != 4)
        printf("status of the input\n");
    int *offsets = given<int>(rows + 1), *row_of_each = given<int>(nnz), *column_of_each = given<int>(nnz);
    T *values = given<T>(nnz), *x = given<T>(columns), *y = given<T>(rows), *scalars = given<T>(2), *result;
    const auto first = base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
    const auto index = CUSPARSE_INDEX_32I;
    cusparseSpMatDescr_t A[2], wide;
    RIGHT(cusparseCreateCsr(&A[0], rows, columns, nnz, offsets, column_of_each, values, index, index, first, type));
    RIGHT(cusparseCreateCoo(&A[1], rows, columns, nnz, row_of_each, column_of_each, values, index, first, type));
    cudaMalloc(&result, (rows + columns) * sizeof(T));
    for (int one = 0; one < 8; one++) {
        bool transposed = one & 2, on_device = one & 4;
        auto operation = transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
        int size = transposed ? columns : rows;
        cusparseDnVecDescr_t from, to;
        RIGHT(cusparseCreateDnVec(&from, transposed ? rows : columns, transposed ? y : x, type));
        RIGHT(cusparseCreateDnVec(&to, size, result, type));
        cudaMemcpy(result, transposed ? x : y, size * sizeof(T), cudaMemcpyDeviceToDevice);
        T host[2] = {T(1.5), T(on_device ? 0 : -2)};
        cudaMemcpy(scalars, host, sizeof host, cudaMemcpyHostToDevice);
        RIGHT(cusparseSetPointerMode(h, on_device ? CUSPARSE_POINTER_MODE_DEVICE : CUSPARSE_POINTER_MODE_HOST));
        T *alpha = on_device ? scalars : host, *beta = alpha + 1;
        size_t bytes;
        RIGHT(cusparseSpMV_bufferSize(h, operation, alpha, A[one & 1], from, beta, to, type, CUSPARSE_SPMV_ALG_DEFAULT,
                                      &bytes));
        RIGHT(cusparseSpMV(h, operation, alpha, A[one & 1], from, beta, to, type, CUSPARSE_SPMV_ALG_DEFAULT, nullptr));
        std::vector<T> found(size);
        cudaMemcpy(found.data(), result, size * sizeof(T), cudaMemcpyDeviceToHost);
        printf("%s%d", letter, one);
        for (T value : found)
            printf(" %.17g", double(value));
        printf("\n");
        check(cusparseSpMV(h, operation, alpha, A[0], from, beta, to, type == CUDA_R_32F ? CUDA_R_64F : CUDA_R_32F,
                           CUSPARSE_SPMV_ALG_DEFAULT, nullptr),
              CUSPARSE_STATUS_NOT_SUPPORTED, "another type");
        check(cusparseSpMV(h, operation, alpha, A[0], to, beta, from, type, CUSPARSE_SPMV_ALG_DEFAULT, nullptr),
              CUSPARSE_STATUS_INVALID_VALUE, "sizes");
        check(cusparseSpMV(nullptr, operation, alpha, A[0], from, beta, to, type, CUSPARSE_SPMV_ALG_DEFAULT, nullptr),
              CUSPARSE_STATUS_NOT_INITIALIZED, "no handle");
        RIGHT(cusparseDestroyDnVec(from));
        RIGHT(cusparseDestroyDnVec(to));
    }
    RIGHT(cusparseCreateCoo(&wide, 1, 1, 0, nullptr, nullptr, nullptr, CUSPARSE_INDEX_16U, first, type));
    cusparseDnVecDescr_t one;
    RIGHT(cusparseCreateDnVec(&one, 1, result, type));
    check(cusparseSpMV(h, CUSPARSE_OPERATION_NON_TRANSPOSE, scalars, wide, one, scalars, one, type,
                       CUSPARSE_SPMV_ALG_DEFAULT, nullptr),
          CUSPARSE_STATUS_NOT_SUPPORTED, "16 bits");
    RIGHT(cusparseDestroySpMat(A[0]));
    RIGHT(cusparseDestroySpMat(A[1]));
    check(cusparseCreateCsr(&A[0], -1, 1, 1, offsets, column_of_each, values, index, index, first, type),
          CUSPARSE_STATUS_INVALID_VALUE, "rows");
}

int
main()
{
    cusparseHandle_t h;
    RIGHT(cusparseCreate(&h));
    products<float>(h, "S", CUDA_R_32F);
    products<double>(h, "D", CUDA_R_64F);
    RIGHT(cusparseDestroy(h));
    printf("names %s, %s\n", cusparseGetErrorName(CUSPARSE_STATUS_INVALID_VALUE),
           cusparseGetErrorString(CUSPARSE_STATUS_SUCCESS));
}
