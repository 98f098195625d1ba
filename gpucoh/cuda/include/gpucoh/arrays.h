/* arrays.h: CUDA arrays, copies of boxes, texture objects, and bindings of texture references. */
#ifndef GPUCOH_ARRAYS_H
#define GPUCOH_ARRAYS_H

#include <stdlib.h>

#define GPUCOH_RUNTIME extern "C" __attribute__((weak)) cudaError_t
#define GPUCOH_ROW_BYTES 32 /* of which a row of an array has a multiple */

static inline size_t
gpucoh_texel_bytes(const cudaChannelFormatDesc &format)
{
    return (size_t) (format.x + format.y + format.z + format.w) / 8;
}

static inline gpucoh_image
gpucoh_image_of(const void *texels, const cudaChannelFormatDesc &format, size_t width, size_t height, size_t depth,
                size_t pitch)
{
    gpucoh_image image = {};
    image.texels = (char *) texels;
    image.format = format;
    image.pitch = pitch;
    image.slice = pitch * (height ? height : 1);
    size_t most = 1u << 28, extent[3] = {width, height, depth}; /* the most texels of linear memory */
    for (int d = 0; d < 3; d++) {
        image.extent[d] = (int) (extent[d] < most ? extent[d] : most);
    }
    return image;
}

extern "C" __attribute__((weak)) cudaChannelFormatDesc
cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f)
{
    return {x, y, z, w, f};
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

GPUCOH_RUNTIME
cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *format, cudaExtent extent, unsigned flags)
{
    size_t bytes = gpucoh_texel_bytes(*format);
    size_t pitch = (extent.width * bytes + GPUCOH_ROW_BYTES - 1) / GPUCOH_ROW_BYTES * GPUCOH_ROW_BYTES;
    gpucoh_image image = gpucoh_image_of(NULL, *format, extent.width, extent.height, extent.depth, pitch);
    if (!extent.width || !bytes) {
        return cudaErrorInvalidValue;
    }
    cudaError_t status = cudaMalloc((void **) &image.texels, image.slice * (extent.depth ? extent.depth : 1));
    if (status == cudaSuccess) {
        *array = (cudaArray_t) calloc(1, sizeof(cudaArray));
        (*array)->image = image;
        (*array)->flags = flags;
    }
    return status;
}

GPUCOH_RUNTIME
cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *format, size_t width, size_t height, unsigned flags)
{
    return cudaMalloc3DArray(array, format, cudaExtent{width, height, 0}, flags);
}

GPUCOH_RUNTIME
cudaFreeArray(cudaArray_t array)
{
    cudaError_t status = array ? cudaFree(array->image.texels) : cudaSuccess;
    free(array);
    return status;
}

GPUCOH_RUNTIME
cudaArrayGetInfo(cudaChannelFormatDesc *format, cudaExtent *extent, unsigned *flags, cudaArray_t array)
{
    const int *of = array->image.extent;
    if (format) {
        *format = array->image.format;
    }
    if (extent) {
        *extent = cudaExtent{(size_t) of[0], (size_t) of[1], (size_t) of[2]};
    }
    if (flags) {
        *flags = array->flags;
    }
    return cudaSuccess;
}

GPUCOH_RUNTIME
cudaGetChannelDesc(cudaChannelFormatDesc *format, cudaArray_const_t array)
{
    *format = array->image.format;
    return cudaSuccess;
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

static inline char *
gpucoh_in(cudaArray_const_t array, size_t x, size_t y)
{
    return array->image.texels + y * array->image.pitch + x;
}

GPUCOH_RUNTIME
cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
                    cudaMemcpyKind kind)
{
    return cudaMemcpy2D(gpucoh_in(to, x, y), to->image.pitch, from, pitch, width, height, kind);
}

GPUCOH_RUNTIME
cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                         size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    return cudaMemcpy2DAsync(gpucoh_in(to, x, y), to->image.pitch, from, pitch, width, height, kind, stream);
}

GPUCOH_RUNTIME
cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
                      cudaMemcpyKind kind)
{
    return cudaMemcpy2D(to, pitch, gpucoh_in(from, x, y), from->image.pitch, width, height, kind);
}

GPUCOH_RUNTIME
cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                           size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    return cudaMemcpy2DAsync(to, pitch, gpucoh_in(from, x, y), from->image.pitch, width, height, kind, stream);
}

/* Bytes that follow each other outside, and in an array go on in its next row. */
static inline cudaError_t
gpucoh_copy_on(cudaArray_const_t array, size_t x, size_t y, char *outside, size_t bytes, bool to_array,
               cudaMemcpyKind kind)
{
    size_t row = array->image.extent[0] * gpucoh_texel_bytes(array->image.format);
    while (bytes) {
        size_t part = row - x < bytes ? row - x : bytes;
        char *inside = gpucoh_in(array, x, y++);
        cudaError_t status = cudaMemcpy(to_array ? inside : outside, to_array ? outside : inside, part, kind);
        if (status != cudaSuccess) {
            return status;
        }
        outside += part;
        bytes -= part;
        x = 0;
    }
    return cudaSuccess;
}

GPUCOH_RUNTIME
cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    return gpucoh_copy_on(to, x, y, (char *) from, bytes, true, kind);
}

GPUCOH_RUNTIME
cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind)
{
    return gpucoh_copy_on(from, x, y, (char *) to, bytes, false, kind);
}

/* One end of a copy of a box: an array, whose positions and width are texels, or memory with rows. */
struct gpucoh_end {
    char *at;
    size_t pitch, slice;
};

static inline gpucoh_end
gpucoh_end_of(cudaArray_const_t array, const cudaPitchedPtr &memory, const cudaPos &at)
{
    if (array) {
        const gpucoh_image &image = array->image;
        char *first = image.texels + at.z * image.slice + at.y * image.pitch + at.x * gpucoh_texel_bytes(image.format);
        return {first, image.pitch, image.slice};
    }
    size_t slice = memory.pitch * (memory.ysize ? memory.ysize : 1);
    return {(char *) memory.ptr + at.z * slice + at.y * memory.pitch + at.x, memory.pitch, slice};
}

GPUCOH_RUNTIME
cudaMemcpy3D(const cudaMemcpy3DParms *copy)
{
    gpucoh_end to = gpucoh_end_of(copy->dstArray, copy->dstPtr, copy->dstPos);
    gpucoh_end from = gpucoh_end_of(copy->srcArray, copy->srcPtr, copy->srcPos);
    cudaArray_const_t array = copy->dstArray ? copy->dstArray : copy->srcArray;
    size_t width = copy->extent.width * (array ? gpucoh_texel_bytes(array->image.format) : 1);
    cudaError_t status = cudaSuccess;
    for (size_t z = 0; z < copy->extent.depth && status == cudaSuccess; z++) {
        status = cudaMemcpy2D(to.at + z * to.slice, to.pitch, from.at + z * from.slice, from.pitch, width,
                              copy->extent.height, copy->kind);
    }
    return status;
}

/* ---- texture objects --------------------------------------------------------------------------------------------- */

static inline bool
gpucoh_of_resource(gpucoh_image *image, const cudaResourceDesc *from)
{
    size_t bytes;
    switch (from->resType) {
        case cudaResourceTypeArray:
            *image = from->res.array.array->image;
            return true;
        case cudaResourceTypeLinear:
            bytes = gpucoh_texel_bytes(from->res.linear.desc);
            if (!bytes) {
                return false;
            }
            *image = gpucoh_image_of(from->res.linear.devPtr, from->res.linear.desc,
                                     from->res.linear.sizeInBytes / bytes, 0, 0, 0);
            return true;
        case cudaResourceTypePitch2D:
            *image = gpucoh_image_of(from->res.pitch2D.devPtr, from->res.pitch2D.desc, from->res.pitch2D.width,
                                     from->res.pitch2D.height, 0, from->res.pitch2D.pitchInBytes);
            return true;
        default:
            return false;
    }
}

GPUCOH_RUNTIME
cudaCreateTextureObject(cudaTextureObject_t *made, const cudaResourceDesc *from, const cudaTextureDesc *as,
                        const cudaResourceViewDesc *view)
{
    gpucoh_image image;
    if (view || as->sRGB || !gpucoh_of_resource(&image, from)) {
        return cudaErrorNotSupported;
    }
    for (int d = 0; d < 3; d++) {
        image.address[d] = as->addressMode[d];
    }
    image.is_linear = as->filterMode == cudaFilterModeLinear;
    image.normalized = as->normalizedCoords;
    memcpy(image.border, as->borderColor, sizeof image.border);
    void *place;
    cudaError_t status = cudaMalloc(&place, sizeof image);
    *made = (cudaTextureObject_t) place;
    return status == cudaSuccess ? cudaMemcpy(place, &image, sizeof image, cudaMemcpyHostToDevice) : status;
}

GPUCOH_RUNTIME
cudaDestroyTextureObject(cudaTextureObject_t one)
{
    return cudaFree((void *) one);
}

/* ---- texture references ------------------------------------------------------------------------------------------ */

/* What the host has set, else what the reference was declared with, which the device's variable has. */
template <class T, int by_default>
static inline T
gpucoh_set(const gpucoh_setting<T, by_default> &host, const gpucoh_setting<T, by_default> &declared)
{
    return host.is_set ? host : declared;
}

static inline cudaError_t
gpucoh_bind(const textureReference *to, gpucoh_image image)
{
    textureReference declared;
    cudaError_t status = cudaMemcpyFromSymbol(&declared, (const void *) to, sizeof declared, 0, cudaMemcpyDeviceToHost);
    for (int d = 0; d < 3; d++) {
        image.address[d] = gpucoh_set(to->addressMode[d], declared.addressMode[d]);
    }
    image.is_linear = gpucoh_set(to->filterMode, declared.filterMode) == cudaFilterModeLinear;
    image.normalized = gpucoh_set(to->normalized, declared.normalized);
    return status == cudaSuccess
               ? cudaMemcpyToSymbol((const void *) to, &image, sizeof image, 0, cudaMemcpyHostToDevice)
               : status;
}

static inline cudaError_t
cudaBindTexture(size_t *offset, const textureReference *to, const void *from, const cudaChannelFormatDesc *format,
                size_t bytes = (unsigned) -1)
{
    if (offset) {
        *offset = 0;
    }
    return gpucoh_bind(to, gpucoh_image_of(from, *format, bytes / gpucoh_texel_bytes(*format), 0, 0, 0));
}

static inline cudaError_t
cudaBindTexture2D(size_t *offset, const textureReference *to, const void *from, const cudaChannelFormatDesc *format,
                  size_t width, size_t height, size_t pitch)
{
    if (offset) {
        *offset = 0;
    }
    return gpucoh_bind(to, gpucoh_image_of(from, *format, width, height, 0, pitch));
}

static inline cudaError_t
cudaBindTextureToArray(const textureReference *to, cudaArray_const_t from, const cudaChannelFormatDesc *format = NULL)
{
    gpucoh_image image = from->image;
    image.format = format ? *format : image.format;
    return gpucoh_bind(to, image);
}

static inline cudaError_t
cudaUnbindTexture(const textureReference *)
{
    return cudaSuccess;
}

template <class T, int D, cudaTextureReadMode mode>
static inline cudaError_t
cudaBindTexture(size_t *offset, const gpucoh_texture<T, D, mode> &to, const void *from,
                const cudaChannelFormatDesc &format, size_t bytes = (unsigned) -1)
{
    return cudaBindTexture(offset, &to, from, &format, bytes);
}

template <class T, int D, cudaTextureReadMode mode>
static inline cudaError_t
cudaBindTexture(size_t *offset, const gpucoh_texture<T, D, mode> &to, const void *from, size_t bytes = (unsigned) -1)
{
    return cudaBindTexture(offset, to, from, cudaCreateChannelDesc<T>(), bytes);
}

template <class T, int D, cudaTextureReadMode mode>
static inline cudaError_t
cudaBindTexture2D(size_t *offset, const gpucoh_texture<T, D, mode> &to, const void *from,
                  const cudaChannelFormatDesc &format, size_t width, size_t height, size_t pitch)
{
    return cudaBindTexture2D(offset, &to, from, &format, width, height, pitch);
}

template <class T, int D, cudaTextureReadMode mode>
static inline cudaError_t
cudaBindTextureToArray(const gpucoh_texture<T, D, mode> &to, cudaArray_const_t from)
{
    return cudaBindTextureToArray(&to, from);
}

template <class T, int D, cudaTextureReadMode mode>
static inline cudaError_t
cudaBindTextureToArray(const gpucoh_texture<T, D, mode> &to, cudaArray_const_t from,
                       const cudaChannelFormatDesc &format)
{
    return cudaBindTextureToArray(&to, from, &format);
}

template <class T, int D, cudaTextureReadMode mode>
static inline cudaError_t
cudaUnbindTexture(const gpucoh_texture<T, D, mode> &)
{
    return cudaSuccess;
}

#endif
