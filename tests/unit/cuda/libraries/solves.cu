// solves.cu: cuBLAS's triangles and batches of matrices. Each line has a name and what a call left; test_cublas.py
// computes the same by NumPy.
#include <cstdio>
#include <cublas_v2.h>
#include <string>
#include <vector>

#include "library.h"

#define RIGHT(call) check(call, CUBLAS_STATUS_SUCCESS, #call)

// Matrices of `rows` rows in columns of ld elements; `diagonal` is added to theirs.
template <class T>
static T *
drawn(int rows, int ld, int columns, int batches, int seed, float diagonal)
{
    std::vector<T> values(ld * columns * batches);
    for (size_t i = 0; i < values.size(); i++) {
        int at = i % (ld * columns);
        bool on_diagonal = at % ld == at / ld && at % ld < rows;
        values[i] = T(int((i * 37 + seed * 11) % 23) - 11) / 4 + T(on_diagonal ? diagonal : 0);
    }
    T *made;
    cudaMalloc(&made, values.size() * sizeof(T));
    cudaMemcpy(made, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return made;
}

template <class T>
static T **
pointers(T *first, int size, int batches)
{
    std::vector<T *> values(batches);
    for (int i = 0; i < batches; i++)
        values[i] = first + i * size;
    T **made;
    cudaMalloc(&made, batches * sizeof *made);
    cudaMemcpy(made, values.data(), batches * sizeof *made, cudaMemcpyHostToDevice);
    return made;
}

template <class T, class Trsm, class Getrf, class Getrs, class Getri>
static void
solves(cublasHandle_t h, const std::string &letter, Trsm trsm, Getrf getrf, Getrs getrs, Getri getri)
{
    const int m = 12, n = 9, ld = 15, batches = 3, size = ld * m;
    T alpha = 0.5;
    for (int one = 0; one < 16; one++) {
        bool right = one & 1, upper = one & 2, transposed = one & 4, unit = one & 8;
        T *A = drawn<T>(m, ld, m, 1, 1, 20), *B = drawn<T>(m, ld, n, 1, 2, 0);
        RIGHT(trsm(h, right ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT,
                   upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER, transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                   unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, m, n, &alpha, A, ld, B, ld));
        print(letter + "trsm" + std::to_string(one), B, ld * n);
    }
    check(trsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, m, n, &alpha, nullptr, m - 1,
               nullptr, ld),
          CUBLAS_STATUS_INVALID_VALUE, "lda");
    T *A = drawn<T>(m, ld, m, batches, 3, 1), *B = drawn<T>(m, ld, n, batches, 4, 0),
      *C = drawn<T>(m, ld, m, batches, 5, 0);
    T **places = pointers(A, size, batches), **sides = pointers(B, ld * n, batches);
    T **inverses = pointers(C, size, batches);
    int *pivots, *info, host_info = 5;
    cudaMalloc(&pivots, m * batches * sizeof *pivots);
    cudaMalloc(&info, batches * sizeof *info);
    RIGHT(getrf(h, m, places, ld, pivots, info, batches));
    print(letter + "factors", A, size * batches);
    print(letter + "pivots", pivots, m * batches);
    print(letter + "info", info, batches);
    RIGHT(getrs(h, CUBLAS_OP_N, m, n, places, ld, pivots, sides, ld, &host_info, batches));
    print(letter + "solution", B, ld * n * batches);
    RIGHT(getrs(h, CUBLAS_OP_T, m, n, places, ld, pivots, sides, ld, &host_info, batches));
    print(letter + "second", B, ld * n * batches);
    RIGHT(getri(h, m, places, ld, pivots, inverses, ld, info, batches));
    print(letter + "inverse", C, size * batches);
    cudaMemset(A, 0, size * sizeof(T)); // the first matrix is singular
    RIGHT(getrf(h, m, places, ld, nullptr, info, batches));
    print(letter + "singular", info, batches);
    check(host_info, 0, "info");
}

int
main()
{
    cublasHandle_t h;
    RIGHT(cublasCreate(&h));
    solves<float>(h, "S", cublasStrsm<>, cublasSgetrfBatched<>, cublasSgetrsBatched<>, cublasSgetriBatched<>);
    solves<double>(h, "D", cublasDtrsm<>, cublasDgetrfBatched<>, cublasDgetrsBatched<>, cublasDgetriBatched<>);
    RIGHT(cublasDestroy(h));
}
