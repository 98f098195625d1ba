/* gpu_memory.c: methods of a GPU for memory allocation, host accesses and snapshots. */
#include "python/gpu_object.h"

PyObject *
gpc_method_allocate(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"words", "on_gpu", NULL};
    PyObject *words_object, *on_gpu_object = NULL;
    gpc_address_t address = 0;
    uint64_t words = 0;
    uint32_t on_gpu = 0;
    gpc_gpu_object_t *self = NULL;
    int code = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:allocate", (char **) (uintptr_t) names, &words_object,
                                     &on_gpu_object) ||
        gpc_get_u64(gpc_state_of(object), words_object, "words", UINT64_MAX, &words) != 0 ||
        (on_gpu_object != NULL && gpc_get_u32(gpc_state_of(object), on_gpu_object, "on_gpu", &on_gpu) != 0) ||
        (self = gpc_enter(object)) == NULL) {
        return NULL;
    }
    code = on_gpu ? gpc_gpu_allocate_on(self->gpu, words, on_gpu - 1, &address)
                  : gpc_gpu_allocate(self->gpu, words, &address);
    return gpc_leave(self, code, code == 0 ? PyLong_FromUnsignedLongLong(address) : NULL);
}

PyObject *
gpc_method_allocate_from(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"address", NULL};
    PyObject *address_object;
    gpc_address_t address = 0;
    gpc_gpu_object_t *self = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:allocate_from", (char **) (uintptr_t) names, &address_object) ||
        gpc_get_u64(gpc_state_of(object), address_object, "address", UINT64_MAX, &address) != 0 ||
        (self = gpc_enter(object)) == NULL) {
        return NULL;
    }
    return gpc_leave(self, gpc_gpu_allocate_from(self->gpu, address), Py_NewRef(Py_None));
}

PyObject *
gpc_method_release(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"address", NULL};
    PyObject *address_object;
    gpc_address_t address = 0;
    gpc_gpu_object_t *self = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:release", (char **) (uintptr_t) names, &address_object) ||
        gpc_get_u64(gpc_state_of(object), address_object, "address", UINT64_MAX, &address) != 0 ||
        (self = gpc_enter(object)) == NULL) {
        return NULL;
    }
    return gpc_leave(self, gpc_gpu_release(self->gpu, address), Py_NewRef(Py_None));
}

PyObject *
gpc_method_host_read(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"address", "out", NULL};
    PyObject *address_object, *out, *result = NULL;
    gpc_address_t address = 0;
    gpc_gpu_object_t *self = NULL;
    Py_buffer view;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:host_read", (char **) (uintptr_t) names, &address_object,
                                     &out) ||
        gpc_get_u64(gpc_state_of(object), address_object, "address", UINT64_MAX, &address) != 0 ||
        gpc_get_words(gpc_state_of(object), out, "out", true, &view) != 0) {
        return NULL;
    }
    self = gpc_enter(object);
    if (self != NULL) {
        int code = 0;

        Py_BEGIN_ALLOW_THREADS code = gpc_gpu_host_read(self->gpu, address, (uint64_t) view.len / 4, view.buf);
        Py_END_ALLOW_THREADS result = gpc_leave(self, code, Py_NewRef(Py_None));
    }
    PyBuffer_Release(&view);
    return result;
}

PyObject *
gpc_method_host_write(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"address", "data", NULL};
    PyObject *address_object, *data, *result = NULL;
    gpc_address_t address = 0;
    gpc_gpu_object_t *self = NULL;
    Py_buffer view;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:host_write", (char **) (uintptr_t) names, &address_object,
                                     &data) ||
        gpc_get_u64(gpc_state_of(object), address_object, "address", UINT64_MAX, &address) != 0 ||
        gpc_get_words(gpc_state_of(object), data, "data", false, &view) != 0) {
        return NULL;
    }
    self = gpc_enter(object);
    if (self != NULL) {
        int code = 0;

        Py_BEGIN_ALLOW_THREADS code = gpc_gpu_host_write(self->gpu, address, (uint64_t) view.len / 4, view.buf);
        Py_END_ALLOW_THREADS result = gpc_leave(self, code, Py_NewRef(Py_None));
    }
    PyBuffer_Release(&view);
    return result;
}

PyObject *
gpc_method_host_write_places(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"address", "places", "data", NULL};
    const gpc_module_state_t *state = gpc_state_of(object);
    PyObject *address_object, *places_object, *data, *result = NULL;
    gpc_address_t address = 0;
    Py_buffer places, words;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO:host_write_places", (char **) (uintptr_t) names,
                                     &address_object, &places_object, &data) ||
        gpc_get_u64(state, address_object, "address", UINT64_MAX, &address) != 0 ||
        gpc_get_words(state, places_object, "places", false, &places) != 0) {
        return NULL;
    }
    if (gpc_get_words(state, data, "data", false, &words) != 0) {
        PyBuffer_Release(&places);
        return NULL;
    }
    if (places.len != words.len) {
        (void) gpc_raise_argument(state, "data has %zd words, places %zd", words.len / 4, places.len / 4);
    } else {
        gpc_gpu_object_t *self = gpc_enter(object);
        if (self != NULL) {
            int code = 0;

            Py_BEGIN_ALLOW_THREADS code =
                gpc_gpu_host_write_places(self->gpu, address, (uint64_t) places.len / 4, places.buf, words.buf);
            Py_END_ALLOW_THREADS result = gpc_leave(self, code, Py_NewRef(Py_None));
        }
    }
    PyBuffer_Release(&words);
    PyBuffer_Release(&places);
    return result;
}

/* ---- snapshots --------------------------------------------------------------------------------------------------- */

PyObject *
gpc_method_snapshot(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    PyTypeObject *type = gpc_state_of(object)->snapshot_type;
    gpc_snapshot_object_t *result = NULL;
    gpc_gpu_object_t *self = gpc_enter(object);

    if (self == NULL) {
        return NULL;
    }
    result = (gpc_snapshot_object_t *) type->tp_alloc(type, 0);
    if (result == NULL) {
        return gpc_leave(self, 0, NULL);
    }
    return gpc_leave(self, gpc_gpu_snapshot(self->gpu, &result->snapshot), (PyObject *) result);
}

PyObject *
gpc_method_restore(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"snapshot", NULL};
    const gpc_module_state_t *state = gpc_state_of(object);
    PyObject *snapshot;
    gpc_gpu_object_t *self = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:restore", (char **) (uintptr_t) names, &snapshot)) {
        return NULL;
    }
    if (!Py_IS_TYPE(snapshot, state->snapshot_type)) {
        return gpc_raise_argument(state, "snapshot must come from GPU.snapshot(), got %s", Py_TYPE(snapshot)->tp_name);
    }
    self = gpc_enter(object);
    if (self == NULL) {
        return NULL;
    }
    return gpc_leave(self, gpc_gpu_restore(self->gpu, ((gpc_snapshot_object_t *) snapshot)->snapshot),
                     Py_NewRef(Py_None));
}

/* ---- traces ------------------------------------------------------------------------------------------------------ */

PyObject *
gpc_method_trace(PyObject *object, PyObject *args, PyObject *keywords)
{
    enum { FIRST, LAST, WORD, BEGIN, END, KINDS, RECORDS, COUNT };
    static const char *const names[] = {"first", "last", "word", "begin", "end", "kinds", "records", NULL};
    static const uint64_t most[COUNT] = {UINT64_MAX, UINT64_MAX, GPC_MAX_LINE_WORDS - 1, UINT64_MAX, UINT64_MAX,
                                         UINT32_MAX, 1u << 24};
    const gpc_module_state_t *state = gpc_state_of(object);
    PyObject *given[COUNT];
    uint64_t numbers[COUNT];

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOOOOO:trace", (char **) (uintptr_t) names, &given[FIRST],
                                     &given[LAST], &given[WORD], &given[BEGIN], &given[END], &given[KINDS],
                                     &given[RECORDS])) {
        return NULL;
    }
    for (int i = 0; i < COUNT; i++) {
        if (gpc_get_u64(state, given[i], names[i], most[i], &numbers[i]) != 0) {
            return NULL;
        }
    }
    gpc_gpu_object_t *self = gpc_enter(object);
    if (self == NULL) {
        return NULL;
    }
    const gpc_trace_filter_t filter = {.first = numbers[FIRST],
                                       .last = numbers[LAST],
                                       .word = (uint32_t) numbers[WORD],
                                       .begin = numbers[BEGIN],
                                       .end = numbers[END],
                                       .kinds = (uint32_t) numbers[KINDS],
                                       .records = (uint32_t) numbers[RECORDS]};
    return gpc_leave(self, gpc_gpu_trace(self->gpu, &filter), Py_NewRef(Py_None));
}

PyObject *
gpc_method_traced(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    gpc_gpu_object_t *self = gpc_enter(object);
    if (self == NULL) {
        return NULL;
    }
    const gpc_trace_t *trace = gpc_gpu_traced(self->gpu);
    uint64_t count = trace == NULL ? 0 : gpc_trace_count(trace);
    uint64_t first = trace == NULL ? 0 : gpc_trace_first(trace);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t) ((count - first) * sizeof(gpc_trace_record_t)));
    if (bytes == NULL) {
        return gpc_leave(self, 0, NULL);
    }
    char *to = PyBytes_AS_STRING(bytes);
    for (uint64_t i = first; i < count; i++) {
        memcpy(to + (i - first) * sizeof(gpc_trace_record_t), gpc_trace_record(trace, i), sizeof(gpc_trace_record_t));
    }
    return gpc_leave(self, 0, Py_BuildValue("NK", bytes, (unsigned long long) count));
}
