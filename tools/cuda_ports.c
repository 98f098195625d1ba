/* cuda_ports.c: what tools/cuda_ports.py compiles into an original program, in place of its copies between host and
 * device (-DcudaMemcpy=ported_copy), and, with PORTED_MARGIN, of its allocations.
 *
 * The K-th copy to the device takes the bytes of the file in-K.bin, if there is one, and else writes given-K.bin. The
 * K-th copy to the host also writes out-K.bin. Files are in the working directory.
 *
 * PORTED_MARGIN (-DcudaMalloc=ported_malloc -DcudaFree=ported_free) is the size in bytes of a margin on both sides of
 * an allocation, for a program that reads beyond its arrays and does not use what it reads. */

#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

#undef cudaMemcpy
#undef cudaMalloc
#undef cudaFree
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);

static int n_to_device, n_to_host;

static void
keep(const char *form, int k, const void *from, size_t bytes)
{
    char name[40];
    snprintf(name, sizeof name, form, k);
    FILE *file = fopen(name, "wb");
    if (!file || fwrite(from, 1, bytes, file) != bytes || fclose(file)) {
        fprintf(stderr, "cuda_ports: cannot write %s\n", name);
        exit(3);
    }
}

static void *
replaced(int k, size_t bytes)
{
    char name[40];
    snprintf(name, sizeof name, "in-%d.bin", k);
    FILE *file = fopen(name, "rb");
    if (!file)
        return NULL;
    void *data = malloc(bytes + 1);
    size_t found = data ? fread(data, 1, bytes + 1, file) : 0;
    fclose(file);
    if (found != bytes) {
        fprintf(stderr, "cuda_ports: copy %d has %zu bytes, %s has %zu or more\n", k, bytes, name, found);
        exit(3);
    }
    return data;
}

cudaError_t
ported_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyHostToDevice) {
        int k = n_to_device++;
        void *data = replaced(k, bytes);
        if (!data)
            keep("given-%d.bin", k, from, bytes);
        cudaError_t error = cudaMemcpy(to, data ? data : from, bytes, kind);
        free(data);
        return error;
    }
    cudaError_t error = cudaMemcpy(to, from, bytes, kind);
    if (kind == cudaMemcpyDeviceToHost && !error)
        keep("out-%d.bin", n_to_host++, to, bytes);
    return error;
}

#ifdef PORTED_MARGIN
cudaError_t
ported_malloc(void **p, size_t bytes)
{
    cudaError_t error = cudaMalloc(p, bytes + 2 * PORTED_MARGIN);
    if (!error)
        *p = (char *) *p + PORTED_MARGIN;
    return error;
}

cudaError_t
ported_free(void *p)
{
    return cudaFree(p ? (char *) p - PORTED_MARGIN : NULL);
}
#endif
