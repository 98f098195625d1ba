/* protocols.c: the protocols of the binding: the built-in ones, and those of libraries that it has loaded. */
#define _GNU_SOURCE /* dladdr */
#include "python/module.h"

#include <dlfcn.h>

#include "check/explore/explore.h"
#include "controller/admit.h"
#include "controller/describe.h"
#include "controller/outside.h"
#include "protocols/registry.h"

/* One that is loaded. A library is never unloaded: GPUs and snapshots may use its protocols. */
struct gpc_loaded {
    const gpc_protocol_t *protocol;
    gpc_loaded_t *before;
};

void
gpc_loaded_free(gpc_loaded_t *last)
{
    while (last != NULL) {
        gpc_loaded_t *before = last->before;
        PyMem_RawFree(last);
        last = before;
    }
}

/* A protocol that is loaded again under its id is another version: the last one counts. */
static const gpc_protocol_t *
find(gpc_module_state_t *state, const char *id)
{
    for (gpc_loaded_t *one = atomic_load(&state->loaded); one != NULL; one = one->before) {
        if (strcmp(one->protocol->id, id) == 0) {
            return one->protocol;
        }
    }
    return gpc_protocol_find(id);
}

int
gpc_get_protocol(gpc_module_state_t *state, PyObject *object, const gpc_protocol_t **out)
{
    const char *id;
    if (gpc_get_text(state, object, "protocol", &id) != 0) {
        return -1;
    }
    *out = find(state, id);
    if (*out == NULL) {
        gpc_raise_argument(state, "unknown protocol %R", object);
        return -1;
    }
    return 0;
}

static int
add_id(PyObject *ids, Py_ssize_t at, const gpc_protocol_t *protocol)
{
    PyObject *id = PyUnicode_FromString(protocol->id);
    int known = id == NULL ? -1 : PySequence_Contains(ids, id);
    int result = known == 0 ? PyList_Insert(ids, at, id) : known < 0 ? -1 : 0;
    Py_XDECREF(id);
    return result;
}

PyObject *
gpc_python_protocol_ids(PyObject *module, PyObject *Py_UNUSED(ignored))
{
    gpc_module_state_t *state = PyModule_GetState(module);
    PyObject *ids = PyList_New(0);
    Py_ssize_t built_in = (Py_ssize_t) gpc_protocol_count();

    for (Py_ssize_t i = 0; ids != NULL && i < built_in; i++) {
        if (add_id(ids, i, gpc_protocol_at((uint32_t) i)) != 0) {
            Py_CLEAR(ids);
        }
    }
    for (gpc_loaded_t *one = atomic_load(&state->loaded); ids != NULL && one != NULL; one = one->before) {
        if (add_id(ids, built_in, one->protocol) != 0) {
            Py_CLEAR(ids);
        }
    }
    return ids;
}

PyObject *
gpc_python_describe_protocol(PyObject *module, PyObject *object)
{
    gpc_module_state_t *state = PyModule_GetState(module);
    const gpc_protocol_t *protocol;
    PyObject *result = NULL;
    gpc_text_t text;

    if (gpc_get_protocol(state, object, &protocol) != 0) {
        return NULL;
    }
    gpc_text_init(&text);
    gpc_describe_whole_protocol(&text, protocol);
    int code = gpc_text_status(&text);
    if (code != 0) {
        gpc_raise(state, code, NULL);
    } else {
        result = PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t) text.length, "replace");
    }
    gpc_text_free(&text);
    return result;
}

PyObject *
gpc_python_check_causes(PyObject *module, PyObject *object)
{
    gpc_module_state_t *state = PyModule_GetState(module);
    const gpc_protocol_t *protocol;
    gpc_failure_t failure = {0};

    if (gpc_get_protocol(state, object, &protocol) != 0) {
        return NULL;
    }
    int code = gpc_explore_check_causes(protocol, &failure);
    if (code != 0) {
        gpc_raise(state, code == GPC_ERROR_MEMORY ? code : GPC_ERROR_ARGUMENT, failure.text);
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- libraries --------------------------------------------------------------------------------------------------- */

/* What a library refers to is found in this extension: Python has loaded it for itself alone. */
static bool
let_others_find_this(void)
{
    Dl_info here;
    return dladdr((void *) (uintptr_t) let_others_find_this, &here) != 0 &&
           dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL) != NULL;
}

static bool
is_compatible(const gpc_interface_t *theirs)
{
    static const gpc_interface_t ours = GPC_INTERFACE(GPC_VERSION);
    return strcmp(theirs->version, ours.version) == 0 && memcmp(theirs->sizes, ours.sizes, sizeof(ours.sizes)) == 0;
}

/* The protocols of a library; NULL, and an exception is set. */
static const gpc_protocol_t *const *
protocols_of(const gpc_module_state_t *state, const char *path)
{
    void *library = let_others_find_this() ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL) {
        gpc_raise_argument(state, "%s", dlerror());
        return NULL;
    }
    const gpc_interface_t *theirs = dlsym(library, GPC_INTERFACE_NAME);
    union {
        void *object;
        gpc_protocols_of_t *function;
    } found = {.object = dlsym(library, GPC_PROTOCOLS_NAME)}; /* ISO C converts neither into the other */
    if (theirs == NULL || found.object == NULL) {
        gpc_raise_argument(state, "it exports no protocol: end the file with GPC_EXPORT_PROTOCOLS(&the_protocol);");
        return NULL;
    }
    if (!is_compatible(theirs)) {
        bool same = strcmp(theirs->version, GPC_VERSION) == 0;
        gpc_raise_argument(state, "it is compiled for gpucoh %s, and this is gpucoh %s%s", theirs->version, GPC_VERSION,
                           same ? ", with other structs" : "");
        return NULL;
    }
    return found.function();
}

static int
add(gpc_module_state_t *state, const gpc_protocol_t *protocol)
{
    gpc_loaded_t *one = PyMem_RawMalloc(sizeof(*one));
    if (one == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    one->protocol = protocol;
    one->before = atomic_load(&state->loaded);
    while (!atomic_compare_exchange_weak(&state->loaded, &one->before, one)) {
    }
    return 0;
}

/* Their ids; `adds`: the module then knows them. */
static PyObject *
read_library(PyObject *module, PyObject *object, bool adds)
{
    gpc_module_state_t *state = PyModule_GetState(module);
    const gpc_protocol_t *const *protocols;
    gpc_failure_t failure = {0};
    const char *path;

    if (gpc_get_text(state, object, "path", &path) != 0 || (protocols = protocols_of(state, path)) == NULL) {
        return NULL;
    }
    PyObject *ids = PyList_New(0);
    for (uint32_t i = 0; ids != NULL && protocols[i] != NULL; i++) {
        int code = gpc_protocol_admit(protocols[i], &failure);
        if (code != 0) {
            gpc_raise(state, code == GPC_ERROR_MEMORY ? code : GPC_ERROR_ARGUMENT, failure.text);
        }
        if (code != 0 || add_id(ids, PyList_GET_SIZE(ids), protocols[i]) != 0 ||
            (adds && add(state, protocols[i]) != 0)) {
            Py_CLEAR(ids);
        }
    }
    return ids;
}

PyObject *
gpc_python_library_protocols(PyObject *module, PyObject *path)
{
    return read_library(module, path, false);
}

PyObject *
gpc_python_add_protocols(PyObject *module, PyObject *path)
{
    return read_library(module, path, true);
}
