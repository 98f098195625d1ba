/* runtime.c: CUDA's runtime for programs that run in the simulator's process: a shared library of the functions of
 * runtime.def. Compiled by the user's compiler with CUDA's headers, when a program is first run.
 *
 * Device and host have one address space: the simulated memory begins at an address where the process has none, and
 * memory that both use is at the same address in both.
 *
 * Any thread may call: the host's functions wait for each other, and what is here is each thread's own. */
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ADDRESS(p) ((uint64_t) (uintptr_t) (p))
#define POINTER(a) ((void *) (uintptr_t) (a))

enum { DEVICE, SHARED };

/* The process that simulates, in the order of runtime.py. Errors are values of cudaError_t. */
typedef struct {
    void (*function)(uint64_t file, uint64_t function, const char *name); /* files count from 1 */
    void (*variable)(uint64_t file, uint64_t variable, const char *name, uint64_t bytes);
    uint64_t (*managed)(uint64_t file, const char *name, uint64_t bytes);
    uint64_t (*symbol)(uint64_t variable, int device); /* 0: unknown */
    uint64_t (*symbol_bytes)(uint64_t variable);
    uint64_t (*allocate)(uint64_t bytes, int kind, int device); /* 0: no memory */
    int (*release)(uint64_t address);
    int (*is_shared)(uint64_t address);
    int (*device_of)(uint64_t address); /* -1: of no device */
    uint64_t (*allocated)(int device);
    int (*copy)(uint64_t to, uint64_t from, uint64_t bytes, int device);
    int (*fill)(uint64_t address, int value, uint64_t bytes, int device);
    int (*launch)(uint64_t function, const unsigned *grid, const unsigned *block, void **arguments, uint64_t shared,
                  int cooperative, int device, uint64_t stream);
    int (*occupancy)(uint64_t function, int threads, uint64_t shared);
    void (*settle)(int device);                        /* runs the kernels that wait for the device */
    uint64_t (*record)(int device, uint64_t stream);   /* the number of a recorded time, from 1 */
    void (*after)(uint64_t stream, uint64_t recorded); /* the stream's next kernel follows it */
    void (*settle_recorded)(uint64_t recorded);
    double (*milliseconds)(uint64_t recorded); /* negative: not yet known */
    int64_t (*property)(const char *name);
    void (*missing)(const char *name);     /* does not return */
    void (*unknown_attribute)(int number); /* of the device */
    void (*end)(int status);               /* does not return */
    int (*enlist)(uint64_t address, uint64_t bytes);
    int (*delist)(uint64_t address);
    uint64_t (*device_address)(uint64_t address); /* 0: of host memory that is not shared */
    uint64_t (*heap)(void);                       /* bytes of the heap of the kernels' malloc */
    int (*resize_heap)(uint64_t bytes);
} host_t;

static host_t host;
static _Thread_local cudaError_t last_error;
static _Thread_local struct {
    dim3 grid, block;
    size_t shared;
    void *stream;
} pushed[16];
static _Thread_local unsigned num_pushed;
static _Thread_local bool is_main;
static _Thread_local int current; /* device */
static uint64_t num_files;        /* with code for the device, which register in their order */

void gpucoh_runtime(void *const *functions);
void gpucoh_missing(const char *name);
void gpucoh_end(int status);
void gpucoh_main(int (*program)(int, char **, char **), int argc, char **argv);

void
gpucoh_runtime(void *const *functions)
{
    memcpy(&host, functions, sizeof host);
}

/* What a call of a function that is not in runtime.def does. */
void
gpucoh_missing(const char *name)
{
    host.missing(name);
}

/* What _exit, _Exit and quick_exit do. */
void
gpucoh_end(int status)
{
    host.end(status);
}

/* Call the program's main, and exit. A protected part of the stack precedes the frames of the simulator, so that a
 * program that overwrites the stack ends there: in damaged frames the process may run for ever. */
void
gpucoh_main(int (*program)(int, char **, char **), int argc, char **argv)
{
    enum { GUARD = 1 << 16 }; /* a multiple of every page size */
    volatile char room[4 * GUARD];
    uint64_t guard = (ADDRESS(room) + 3 * GUARD - 1) / GUARD * GUARD;
    (void) mprotect(POINTER(guard), GUARD, PROT_NONE);
    is_main = true;
    exit(program(argc, argv, environ));
}

/* What a cudaStream_t points to, but NULL and the constants of CUDA, which are of the current device. */
typedef struct {
    int device;
} stream_t;

/* What a cudaEvent_t points to. */
typedef struct {
    int device;
    uint64_t recorded; /* 0: not yet */
} event_t;

static int
device_of(cudaStream_t s)
{
    return ADDRESS(s) <= ADDRESS(cudaStreamPerThread) ? current : ((const stream_t *) s)->device;
}

/* The stream's number for the host: that of its device for the default streams. */
static uint64_t
number_of(cudaStream_t s)
{
    return ADDRESS(s) <= ADDRESS(cudaStreamPerThread) ? (uint64_t) current : ADDRESS(s);
}

static bool
is_device(int d)
{
    return d >= 0 && d < host.property("gpus");
}

static cudaError_t
note(int error)
{
    if (error != cudaSuccess) {
        last_error = (cudaError_t) error;
    }
    return (cudaError_t) error;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static cudaError_t
allocate(void **p, size_t bytes, int kind, int device)
{
    if (bytes == 0) {
        *p = NULL;
        return cudaSuccess;
    }
    uint64_t address = host.allocate(bytes, kind, device);
    *p = POINTER(address);
    return address != 0 ? cudaSuccess : note(cudaErrorMemoryAllocation);
}

static cudaError_t
release(void *p)
{
    return p == NULL ? cudaSuccess : note(host.release(ADDRESS(p)));
}

static cudaError_t
copy(void *to, const void *from, size_t bytes, cudaStream_t s)
{
    return bytes == 0 ? cudaSuccess : note(host.copy(ADDRESS(to), ADDRESS(from), bytes, device_of(s)));
}

/* Whether a copy has the direction that its kind says; where memory is shared, every kind has. */
static bool
has_kind(const void *to, const void *from, enum cudaMemcpyKind kind)
{
    int target = host.is_shared(ADDRESS(to)), source = host.is_shared(ADDRESS(from)); /* 0: device, -1: host */
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    return kind == cudaMemcpyDefault || (target != (to_device ? -1 : 0) && source != (from_device ? -1 : 0));
}

static cudaError_t
copy_kind(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s)
{
    return bytes == 0 || has_kind(to, from, kind) ? copy(to, from, bytes, s) : note(cudaErrorInvalidValue);
}

static cudaError_t
copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
          enum cudaMemcpyKind kind, cudaStream_t s)
{
    if (height > 1 && (width > to_pitch || width > from_pitch)) {
        return note(cudaErrorInvalidPitchValue);
    }
    for (size_t row = 0; row < height; row++) {
        cudaError_t error =
            copy_kind((char *) to + row * to_pitch, (const char *) from + row * from_pitch, width, kind, s);
        if (error != cudaSuccess) {
            return error;
        }
    }
    return cudaSuccess;
}

static cudaError_t
copy_symbol(const void *symbol, size_t offset, void *other, size_t bytes, bool to_symbol, cudaStream_t s)
{
    uint64_t at = host.symbol(ADDRESS(symbol), device_of(s));
    if (at == 0) {
        return note(cudaErrorInvalidSymbol);
    }
    uint64_t size = host.symbol_bytes(ADDRESS(symbol));
    if (offset > size || bytes > size - offset) {
        return note(cudaErrorInvalidValue);
    }
    void *inside = POINTER(at + offset);
    return to_symbol ? copy(inside, other, bytes, s) : copy(other, inside, bytes, s);
}

static cudaError_t
fill(void *p, int value, size_t bytes, cudaStream_t s)
{
    return bytes == 0 ? cudaSuccess : note(host.fill(ADDRESS(p), value, bytes, device_of(s)));
}

static cudaError_t
fill_rows(void *p, size_t pitch, int value, size_t width, size_t height)
{
    for (size_t row = 0; row < height; row++) {
        cudaError_t error = fill((char *) p + row * pitch, value, width, NULL);
        if (error != cudaSuccess) {
            return error;
        }
    }
    return cudaSuccess;
}

static cudaError_t
enlist(void *p, size_t bytes)
{
    return p == NULL || bytes == 0 ? note(cudaErrorInvalidValue) : note(host.enlist(ADDRESS(p), bytes));
}

static cudaError_t
device_pointer(void **d, void *h)
{
    *d = POINTER(host.device_address(ADDRESS(h)));
    return *d != NULL ? cudaSuccess : note(cudaErrorInvalidValue);
}

static cudaError_t
pointer_attributes(struct cudaPointerAttributes *a, const void *p)
{
    memset(a, 0, sizeof *a);
    int shared = host.is_shared(ADDRESS(p));
    a->type = shared > 0 ? cudaMemoryTypeManaged : shared == 0 ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
    a->device = host.device_of(ADDRESS(p)) > 0 ? host.device_of(ADDRESS(p)) : 0;
    a->devicePointer = shared >= 0 ? POINTER(ADDRESS(p)) : NULL;
    a->hostPointer = shared != 0 ? POINTER(ADDRESS(p)) : NULL;
    return cudaSuccess;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static unsigned
push(dim3 grid, dim3 block, size_t shared, void *stream)
{
    if (num_pushed == sizeof pushed / sizeof *pushed) {
        return 1;
    }
    pushed[num_pushed].grid = grid;
    pushed[num_pushed].block = block;
    pushed[num_pushed].shared = shared;
    pushed[num_pushed++].stream = stream;
    return 0;
}

static cudaError_t
pop(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    if (num_pushed == 0) {
        return note(cudaErrorInvalidValue);
    }
    num_pushed--;
    *grid = pushed[num_pushed].grid;
    *block = pushed[num_pushed].block;
    *shared = pushed[num_pushed].shared;
    *(void **) stream = pushed[num_pushed].stream;
    return cudaSuccess;
}

static cudaError_t
launch(const void *f, dim3 grid, dim3 block, void **arguments, size_t shared, bool cooperative, cudaStream_t s)
{
    if (device_of(s) != current) {
        return note(cudaErrorInvalidResourceHandle);
    }
    unsigned grid3[3] = {grid.x, grid.y, grid.z}, block3[3] = {block.x, block.y, block.z};
    return note(host.launch(ADDRESS(f), grid3, block3, arguments, shared, cooperative, current, number_of(s)));
}

static cudaError_t
function_attributes(struct cudaFuncAttributes *a, const void *f)
{
    (void) f;
    memset(a, 0, sizeof *a);
    a->maxThreadsPerBlock = (int) host.property("maxThreadsPerBlock");
    a->ptxVersion = a->binaryVersion = 75;
    return cudaSuccess;
}

/* ---- errors, devices, events ------------------------------------------------------------------------------------- */

static const struct {
    int number;
    const char *name, *text;
} errors[] = {
#define ERROR(number, name, text) {number, #name, text},
#include "errors.def"
};

static const char *
error_text(cudaError_t error, bool is_name)
{
    for (size_t k = 0; k < sizeof errors / sizeof *errors; k++) {
        if (errors[k].number == (int) error) {
            return is_name ? errors[k].name : errors[k].text;
        }
    }
    return "unrecognized error code";
}

static cudaError_t
properties(struct cudaDeviceProp *p, int device)
{
    if (!is_device(device)) {
        return note(cudaErrorInvalidDevice);
    }
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "gpucoh");
    p->totalGlobalMem = (size_t) 4 << 30;
    p->sharedMemPerBlock = p->sharedMemPerMultiprocessor = (size_t) host.property("sharedMemPerBlock");
    p->regsPerBlock = p->regsPerMultiprocessor = (int) host.property("regsPerBlock");
    p->warpSize = (int) host.property("warpSize");
    p->maxThreadsPerBlock = (int) host.property("maxThreadsPerBlock");
    p->maxThreadsPerMultiProcessor = (int) host.property("maxThreadsPerMultiProcessor");
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = p->maxThreadsPerBlock;
    p->maxThreadsDim[2] = (int) host.property("maxBlockDimZ");
    p->maxGridSize[0] = (int) host.property("maxGridDimX");
    p->maxGridSize[1] = p->maxGridSize[2] = (int) host.property("maxGridDimY");
    p->totalConstMem = (size_t) host.property("totalConstMem");
    p->memPitch = (size_t) host.property("maxPitch");
    p->pciBusID = device;
    p->major = 7;
    p->minor = 5;
    p->multiProcessorCount = (int) host.property("multiProcessorCount");
    p->l2CacheSize = (int) host.property("l2CacheSize");
    p->canMapHostMemory = p->unifiedAddressing = p->managedMemory = p->concurrentManagedAccess = 1;
    p->maxBlocksPerMultiProcessor = (int) host.property("maxBlocksPerMultiProcessor");
    p->cooperativeLaunch = p->hostRegisterSupported = 1;
    return cudaSuccess;
}

static cudaError_t
attribute(int *value, enum cudaDeviceAttr which, int device)
{
    static const struct {
        enum cudaDeviceAttr which;
        const char *name;
    } known[] = {{cudaDevAttrMaxThreadsPerBlock, "maxThreadsPerBlock"},
                 {cudaDevAttrMaxBlockDimX, "maxThreadsPerBlock"},
                 {cudaDevAttrMaxBlockDimY, "maxThreadsPerBlock"},
                 {cudaDevAttrMaxBlockDimZ, "maxBlockDimZ"},
                 {cudaDevAttrMaxGridDimX, "maxGridDimX"},
                 {cudaDevAttrMaxGridDimY, "maxGridDimY"},
                 {cudaDevAttrMaxGridDimZ, "maxGridDimY"},
                 {cudaDevAttrMaxSharedMemoryPerBlock, "sharedMemPerBlock"},
                 {cudaDevAttrMaxSharedMemoryPerBlockOptin, "sharedMemPerBlock"},
                 {cudaDevAttrMaxSharedMemoryPerMultiprocessor, "sharedMemPerBlock"},
                 {cudaDevAttrReservedSharedMemoryPerBlock, "zero"},
                 {cudaDevAttrTotalConstantMemory, "totalConstMem"},
                 {cudaDevAttrWarpSize, "warpSize"},
                 {cudaDevAttrMaxPitch, "maxPitch"},
                 {cudaDevAttrMaxRegistersPerBlock, "regsPerBlock"},
                 {cudaDevAttrMaxRegistersPerMultiprocessor, "regsPerBlock"},
                 {cudaDevAttrClockRate, "clockRate"},
                 {cudaDevAttrMemoryClockRate, "memoryClockRate"},
                 {cudaDevAttrMultiProcessorCount, "multiProcessorCount"},
                 {cudaDevAttrL2CacheSize, "l2CacheSize"},
                 {cudaDevAttrMaxThreadsPerMultiProcessor, "maxThreadsPerMultiProcessor"},
                 {cudaDevAttrMaxBlocksPerMultiprocessor, "maxBlocksPerMultiProcessor"},
                 {cudaDevAttrComputeCapabilityMajor, "major"},
                 {cudaDevAttrComputeCapabilityMinor, "minor"},
                 {cudaDevAttrGpuOverlap, "one"},
                 {cudaDevAttrCanMapHostMemory, "one"},
                 {cudaDevAttrCooperativeLaunch, "one"},
                 {cudaDevAttrUnifiedAddressing, "one"},
                 {cudaDevAttrManagedMemory, "one"},
                 {cudaDevAttrConcurrentManagedAccess, "one"},
                 {cudaDevAttrHostRegisterSupported, "one"},
                 {cudaDevAttrGlobalL1CacheSupported, "one"},
                 {cudaDevAttrLocalL1CacheSupported, "one"},
                 {cudaDevAttrIntegrated, "zero"},
                 {cudaDevAttrKernelExecTimeout, "zero"},
                 {cudaDevAttrComputeMode, "zero"},
                 {cudaDevAttrConcurrentKernels, "zero"},
                 {cudaDevAttrEccEnabled, "zero"},
                 {cudaDevAttrPciDeviceId, "zero"},
                 {cudaDevAttrPciDomainId, "zero"},
                 {cudaDevAttrTccDriver, "zero"},
                 {cudaDevAttrAsyncEngineCount, "zero"},
                 {cudaDevAttrStreamPrioritiesSupported, "zero"},
                 {cudaDevAttrIsMultiGpuBoard, "zero"},
                 {cudaDevAttrHostNativeAtomicSupported, "zero"},
                 {cudaDevAttrPageableMemoryAccess, "zero"},
                 {cudaDevAttrCanUseHostPointerForRegisteredMem, "zero"},
                 {cudaDevAttrComputePreemptionSupported, "zero"},
                 {cudaDevAttrDirectManagedMemAccessFromHost, "zero"},
                 {cudaDevAttrPageableMemoryAccessUsesHostPageTables, "zero"},
                 {cudaDevAttrClusterLaunch, "zero"},
                 {cudaDevAttrMemoryPoolsSupported, "one"}};
    if (!is_device(device)) {
        return note(cudaErrorInvalidDevice);
    }
    if (which == cudaDevAttrPciBusId) {
        *value = device;
        return cudaSuccess;
    }
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (known[k].which == which) {
            *value = (int) host.property(known[k].name);
            return cudaSuccess;
        }
    }
    host.unknown_attribute(which);
    return note(cudaErrorInvalidValue);
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static _Atomic bool peers[64][64]; /* whether the first may access the second, which kernels are not held to */

static cudaError_t
set_device(int device)
{
    if (!is_device(device)) {
        return note(cudaErrorInvalidDevice);
    }
    current = device;
    return cudaSuccess;
}

static cudaError_t
can_access(int *can, int device, int peer)
{
    if (!is_device(device) || !is_device(peer)) {
        return note(cudaErrorInvalidDevice);
    }
    *can = device != peer;
    return cudaSuccess;
}

static cudaError_t
set_access(int peer, bool enabled)
{
    if (!is_device(peer) || peer == current) {
        return note(cudaErrorInvalidDevice);
    }
    if (peers[current][peer] == enabled) {
        return note(enabled ? cudaErrorPeerAccessAlreadyEnabled : cudaErrorPeerAccessNotEnabled);
    }
    peers[current][peer] = enabled;
    return cudaSuccess;
}

static cudaError_t
p2p_attribute(int *value, enum cudaDeviceP2PAttr which, int from, int to)
{
    if (!is_device(from) || !is_device(to) || from == to) {
        return note(cudaErrorInvalidDevice);
    }
    *value = which == cudaDevP2PAttrAccessSupported || which == cudaDevP2PAttrNativeAtomicSupported;
    return cudaSuccess;
}

static cudaError_t
copy_peer(void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t s)
{
    return is_device(to_device) && is_device(from_device) ? copy(to, from, bytes, s) : note(cudaErrorInvalidDevice);
}

/* Handles of one process: the pointer itself. */
static cudaError_t
ipc_get(cudaIpcMemHandle_t *handle, void *p)
{
    if (host.device_of(ADDRESS(p)) < 0) {
        return note(cudaErrorInvalidValue);
    }
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &p, sizeof p);
    return cudaSuccess;
}

static cudaError_t
ipc_open(void **p, cudaIpcMemHandle_t handle)
{
    memcpy(p, &handle, sizeof *p);
    return host.device_of(ADDRESS(*p)) < 0 ? note(cudaErrorInvalidValue) : cudaSuccess;
}

/* ---- streams and events ------------------------------------------------------------------------------------------ */

static cudaError_t
stream_new(cudaStream_t *s)
{
    stream_t *stream = calloc(1, sizeof *stream);
    *s = (cudaStream_t) stream;
    if (stream == NULL) {
        return note(cudaErrorMemoryAllocation);
    }
    stream->device = current;
    return cudaSuccess;
}

static cudaError_t
stream_free(cudaStream_t s)
{
    if (ADDRESS(s) <= ADDRESS(cudaStreamPerThread)) {
        return s == NULL ? cudaSuccess : note(cudaErrorInvalidResourceHandle);
    }
    host.settle(device_of(s));
    free(s);
    return cudaSuccess;
}

static cudaError_t
settle(int device)
{
    host.settle(device);
    return cudaSuccess;
}

static cudaError_t
stream_wait(cudaStream_t s, cudaEvent_t e)
{
    if (e == NULL) {
        return note(cudaErrorInvalidResourceHandle);
    }
    host.after(number_of(s), ((const event_t *) e)->recorded);
    return cudaSuccess;
}

static cudaError_t
event_new(cudaEvent_t *e)
{
    event_t *event = calloc(1, sizeof *event);
    *e = (cudaEvent_t) event;
    if (event == NULL) {
        return note(cudaErrorMemoryAllocation);
    }
    event->device = current;
    return cudaSuccess;
}

static cudaError_t
event_record(cudaEvent_t e, cudaStream_t s)
{
    event_t *event = (event_t *) e;
    if (event == NULL || event->device != device_of(s)) {
        return note(cudaErrorInvalidResourceHandle);
    }
    event->recorded = host.record(event->device, number_of(s));
    return cudaSuccess;
}

static cudaError_t
event_wait(cudaEvent_t e)
{
    if (e == NULL) {
        return note(cudaErrorInvalidResourceHandle);
    }
    host.settle_recorded(((const event_t *) e)->recorded);
    return cudaSuccess;
}

static cudaError_t
event_elapsed(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    const event_t *first = (const event_t *) from, *last = (const event_t *) to;
    if (first == NULL || last == NULL || !first->recorded || !last->recorded || first->device != last->device) {
        return note(cudaErrorInvalidResourceHandle);
    }
    double begin = host.milliseconds(first->recorded), end = host.milliseconds(last->recorded);
    *ms = (float) (end - begin);
    return begin < 0 || end < 0 ? note(cudaErrorNotReady) : cudaSuccess;
}

static cudaError_t
event_free(cudaEvent_t e)
{
    if (e == NULL) {
        return note(cudaErrorInvalidResourceHandle);
    }
    free(e);
    return cudaSuccess;
}

/* ---- the functions ----------------------------------------------------------------------------------------------- */

/* Clear what the simulator's frames have left on the stack, 15 KiB at a first launch: addresses that differ from run to
 * run, which a program would find in variables that it reads before it writes them. */
static __attribute__((noinline)) void
clear_stack(const char *returning)
{
    volatile uint64_t below[1 << 13];
    (void) returning;
    for (size_t k = 0; is_main && k < sizeof below / sizeof *below; k++) {
        below[k] = 0;
    }
}

#define CUDA(result, name, parameters, body)                           \
    result name parameters;                                            \
    result name parameters                                             \
    {                                                                  \
        __attribute__((cleanup(clear_stack))) const char returning = 0; \
        body                                                           \
    }
#include "runtime.def"

/* The same under the names that programs of a default stream for each thread call. */
#undef CUDA
#define CUDA(result, name, parameters, body)                                  \
    extern __typeof__(name) name##_ptds __attribute__((alias(#name)));        \
    extern __typeof__(name) name##_ptsz __attribute__((alias(#name)));
#include "runtime.def"
