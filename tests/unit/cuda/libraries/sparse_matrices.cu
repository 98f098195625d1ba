// sparse_matrices.cu: cuSPARSE's functions of matrices. Its input are the sizes and CSR arrays of a square matrix; each
// line of its output has a name and numbers, which test_cusparse.py computes by SciPy. Values are quarters.
#include <cstdint>
#include <cstdio>
#include <cusparse.h>
#include <string>
#include <vector>

#include "library.h"

#define RIGHT(call) check(call, CUSPARSE_STATUS_SUCCESS, #call)

template <class T>
static T *
drawn(int size, int seed)
{
    std::vector<T> values(size);
    for (int i = 0; i < size; i++)
        values[i] = T((i * 37 + seed * 11) % 23 - 11) / 4;
    return device(values);
}

static const auto N = CUSPARSE_OPERATION_NON_TRANSPOSE, T_ = CUSPARSE_OPERATION_TRANSPOSE;

template <class T, class I> struct Test {
    cusparseHandle_t h;
    std::string letter;
    cudaDataType type;
    cusparseIndexType_t index;
    cusparseIndexBase_t base;
    int n, nnz, columns = 7;
    I *offsets, *column_of_each;
    T *values, alpha = 1.5, beta = -2;
    cusparseSpMatDescr_t A;

    void
    products()
    {
        cusparseDnMatDescr_t B, C;
        for (int one = 0; one < 8; one++) {
            bool transposed = one & 1, b_transposed = one & 2, by_rows = one & 4;
            auto order = by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
            int ld = n + 3; // of either shape and order
            T *b = drawn<T>(ld * ld, 1), *c = drawn<T>(ld * ld, 2);
            RIGHT(cusparseCreateDnMat(&B, b_transposed ? columns : n, b_transposed ? n : columns, ld, b, type, order));
            RIGHT(cusparseCreateDnMat(&C, n, columns, ld, c, type, order));
            size_t bytes;
            auto opA = transposed ? T_ : N, opB = b_transposed ? T_ : N;
            RIGHT(
                cusparseSpMM_bufferSize(h, opA, opB, &alpha, A, B, &beta, C, type, CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
            RIGHT(cusparseSpMM(h, opA, opB, &alpha, A, B, &beta, C, type, CUSPARSE_SPMM_ALG_DEFAULT, nullptr));
            print(letter + "spmm" + std::to_string(one), c, ld * ld);
            if (one == 0)
                check(cusparseSpMM(h, N, T_, &alpha, A, B, &beta, C, type, CUSPARSE_SPMM_ALG_DEFAULT, nullptr),
                      CUSPARSE_STATUS_INVALID_VALUE, "sizes");
            RIGHT(cusparseDestroyDnMat(B));
            RIGHT(cusparseDestroyDnMat(C));
        }
        RIGHT(cusparseCreateDnMat(&B, n, columns, columns, drawn<T>(n * columns, 3), type, CUSPARSE_ORDER_ROW));
        RIGHT(cusparseCreateDnMat(&C, columns, n, n, drawn<T>(n * columns, 4), type, CUSPARSE_ORDER_ROW));
        T *sums = drawn<T>(nnz, 5);
        RIGHT(cusparseCsrSetPointers(A, offsets, column_of_each, sums));
        RIGHT(cusparseSDDMM(h, N, N, &alpha, B, C, &beta, A, type, CUSPARSE_SDDMM_ALG_DEFAULT, nullptr));
        print(letter + "sddmm", sums, nnz);
        RIGHT(cusparseCsrSetPointers(A, offsets, column_of_each, values));
    }

    void
    conversions()
    {
        T *dense = drawn<T>(n * (n + 1), 6), *found;
        I *rows, *found_columns;
        size_t bytes;
        int64_t num_rows, num_columns, num_values;
        cusparseDnMatDescr_t D;
        cusparseSpMatDescr_t S;
        RIGHT(cusparseCreateDnMat(&D, n, n, n + 1, dense, type, CUSPARSE_ORDER_ROW));
        RIGHT(cusparseSparseToDense(h, A, D, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr));
        print(letter + "dense", dense, n * (n + 1));
        cudaMalloc(&rows, (n + 1) * sizeof(I));
        RIGHT(cusparseCreateCsr(&S, n, n, 0, rows, nullptr, nullptr, index, index, base, type));
        RIGHT(cusparseDenseToSparse_bufferSize(h, D, S, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &bytes));
        RIGHT(cusparseDenseToSparse_analysis(h, D, S, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
        RIGHT(cusparseSpMatGetSize(S, &num_rows, &num_columns, &num_values));
        cudaMalloc(&found_columns, num_values * sizeof(I));
        cudaMalloc(&found, num_values * sizeof(T));
        RIGHT(cusparseCsrSetPointers(S, rows, found_columns, found));
        RIGHT(cusparseDenseToSparse_convert(h, D, S, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
        print(letter + "offsets", rows, n + 1);
        print(letter + "columns", found_columns, num_values);
        print(letter + "values", found, num_values);
        if constexpr (sizeof(I) == 4) {
            void *buffer;
            const auto action = CUSPARSE_ACTION_NUMERIC;
            const auto how = CUSPARSE_CSR2CSC_ALG1;
            RIGHT(cusparseCsr2cscEx2_bufferSize(h, n, n, nnz, values, offsets, column_of_each, found, rows,
                                                found_columns, type, action, base, how, &bytes));
            cudaMalloc(&buffer, bytes);
            cudaMalloc(&found_columns, nnz * sizeof(I));
            cudaMalloc(&found, nnz * sizeof(T));
            RIGHT(cusparseCsr2cscEx2(h, n, n, nnz, values, offsets, column_of_each, found, rows, found_columns, type,
                                     action, base, how, buffer));
            print(letter + "csc_offsets", rows, n + 1);
            print(letter + "csc_rows", found_columns, nnz);
            print(letter + "csc_values", found, nnz);
        }
    }

    void
    solutions()
    {
        for (int one = 0; one < 4; one++) {
            auto fill = one & 1 ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
            auto diagonal = one & 2 ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
            RIGHT(cusparseSpMatSetAttribute(A, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
            RIGHT(cusparseSpMatSetAttribute(A, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
            cusparseDnVecDescr_t x, y;
            cusparseSpSVDescr_t work;
            T *out = drawn<T>(n * columns, 7);
            RIGHT(cusparseSpSV_createDescr(&work));
            RIGHT(cusparseCreateDnVec(&x, n, drawn<T>(n, 8), type));
            RIGHT(cusparseCreateDnVec(&y, n, out, type));
            RIGHT(cusparseSpSV_analysis(h, N, &alpha, A, x, y, type, CUSPARSE_SPSV_ALG_DEFAULT, work, nullptr));
            RIGHT(cusparseSpSV_solve(h, N, &alpha, A, x, y, type, CUSPARSE_SPSV_ALG_DEFAULT, work));
            RIGHT(cusparseSpSV_destroyDescr(work));
            print(letter + "spsv" + std::to_string(one), out, n);
            cusparseDnMatDescr_t B, C;
            cusparseSpSMDescr_t works;
            RIGHT(cusparseSpSM_createDescr(&works));
            RIGHT(cusparseCreateDnMat(&B, columns, n, columns, drawn<T>(n * columns, 9), type, CUSPARSE_ORDER_COL));
            RIGHT(cusparseCreateDnMat(&C, n, columns, columns, out, type, CUSPARSE_ORDER_ROW));
            RIGHT(cusparseSpSM_solve(h, N, T_, &alpha, A, B, C, type, CUSPARSE_SPSM_ALG_DEFAULT, works));
            RIGHT(cusparseSpSM_destroyDescr(works));
            print(letter + "spsm" + std::to_string(one), out, n * columns);
        }
    }

    void
    square()
    {
        T none = 0, *found;
        I *rows, *found_columns;
        size_t bytes;
        int64_t num_rows, num_columns, num_values;
        cusparseSpMatDescr_t S;
        cusparseSpGEMMDescr_t work;
        const auto how = CUSPARSE_SPGEMM_DEFAULT;
        cudaMalloc(&rows, (n + 1) * sizeof(I));
        RIGHT(cusparseSpGEMM_createDescr(&work));
        RIGHT(cusparseCreateCsr(&S, n, n, 0, nullptr, nullptr, nullptr, index, index, base, type));
        RIGHT(cusparseSpGEMM_workEstimation(h, N, N, &alpha, A, A, &none, S, type, how, work, &bytes, nullptr));
        RIGHT(cusparseSpGEMM_compute(h, N, N, &alpha, A, A, &none, S, type, how, work, &bytes, rows));
        RIGHT(cusparseSpMatGetSize(S, &num_rows, &num_columns, &num_values));
        cudaMalloc(&found_columns, num_values * sizeof(I));
        cudaMalloc(&found, num_values * sizeof(T));
        RIGHT(cusparseCsrSetPointers(S, rows, found_columns, found));
        RIGHT(cusparseSpGEMM_copy(h, N, N, &alpha, A, A, &none, S, type, how, work));
        RIGHT(cusparseSpGEMM_destroyDescr(work));
        print(letter + "square_offsets", rows, n + 1);
        print(letter + "square_columns", found_columns, num_values);
        print(letter + "square_values", found, num_values);
    }

    void
    vectors()
    {
        T *y = drawn<T>(n, 10), *x = drawn<T>(columns, 11);
        std::vector<I> places(columns);
        for (int i = 0; i < columns; i++)
            places[i] = 3 * i + base;
        cusparseSpVecDescr_t sparse;
        cusparseDnVecDescr_t dense;
        RIGHT(cusparseCreateSpVec(&sparse, n, columns, device(places), x, index, base, type));
        RIGHT(cusparseCreateDnVec(&dense, n, y, type));
        RIGHT(cusparseAxpby(h, &alpha, sparse, &beta, dense));
        print(letter + "axpby", y, n);
        RIGHT(cusparseGather(h, dense, sparse));
        print(letter + "gather", x, columns);
        cudaMemset(y, 0, n * sizeof(T));
        RIGHT(cusparseScatter(h, sparse, dense));
        print(letter + "scatter", y, n);
        RIGHT(cusparseDestroySpVec(sparse));
    }

    void
    run()
    {
        int one;
        if (scanf("%d %d %d", &n, &nnz, &one) != 3)
            printf("status of the input\n");
        base = one ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
        offsets = given<I>(n + 1);
        column_of_each = given<I>(nnz);
        values = given<T>(nnz);
        RIGHT(cusparseCreateCsr(&A, n, n, nnz, offsets, column_of_each, values, index, index, base, type));
        products();
        conversions();
        solutions();
        square();
        vectors();
    }
};

int
main()
{
    cusparseHandle_t h;
    RIGHT(cusparseCreate(&h));
    Test<float, int>{h, "S", CUDA_R_32F, CUSPARSE_INDEX_32I}.run();
    Test<double, int64_t>{h, "D", CUDA_R_64F, CUSPARSE_INDEX_64I}.run();
    RIGHT(cusparseDestroy(h));
}
