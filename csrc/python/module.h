/* module.h: declarations shared by the files of the binding. Only csrc/python includes Python.h.
 *
 * Arrays are passed by the buffer protocol, so that the build does not need NumPy.
 */
#ifndef GPC_PYTHON_MODULE_H
#define GPC_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdatomic.h>

#include "machine/gpu.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "only little-endian hosts are supported: instructions are packed little-endian and not converted"
#endif

typedef struct gpc_loaded gpc_loaded_t;

typedef struct {
    PyObject *exceptions[GPC_NUM_ERRORS]; /* owned: by the index of errors.def; 0 is unused */
    PyTypeObject *gpu_type;               /* owned */
    PyTypeObject *snapshot_type;          /* owned */
    gpc_stock_t *stock;                   /* owned; of all GPUs and snapshots, whose types keep the module */
    _Atomic(gpc_loaded_t *) loaded;       /* owned; protocols from outside, the last one first */
} gpc_module_state_t;

/* ---- raise.c ---- */

/* Sets the Python exception of a core error, with `text` (one line) or the error's message. Always returns NULL. */
PyObject *gpc_raise(const gpc_module_state_t *state, int code, const char *text);
/* The same with the failure's text and its facts: the exception's `place` (file, line) and `address`, where it has
 * them. */
PyObject *gpc_raise_failure(const gpc_module_state_t *state, int code, const gpc_failure_t *failure);
/* Sets a ConfigError with a formatted line. Always returns NULL. */
PyObject *gpc_raise_argument(const gpc_module_state_t *state, const char *format, ...);

/* ---- protocols.c ---- */

/* The protocol of an id. -1, and an exception is set: there is none. */
int gpc_get_protocol(gpc_module_state_t *state, PyObject *object, const gpc_protocol_t **out);
PyObject *gpc_python_protocol_ids(PyObject *module, PyObject *ignored);
PyObject *gpc_python_describe_protocol(PyObject *module, PyObject *id);
PyObject *gpc_python_library_protocols(PyObject *module, PyObject *path);
PyObject *gpc_python_add_protocols(PyObject *module, PyObject *path);
PyObject *gpc_python_check_causes(PyObject *module, PyObject *id);
void gpc_loaded_free(gpc_loaded_t *last);

/* ---- arguments.c: converts Python objects; each function sets an exception and returns -1 on failure ---- */

int gpc_get_u64(const gpc_module_state_t *state, PyObject *object, const char *what, uint64_t largest, uint64_t *out);
int gpc_get_u32(const gpc_module_state_t *state, PyObject *object, const char *what, uint32_t *out);
int gpc_get_text(const gpc_module_state_t *state, PyObject *object, const char *what, const char **out);
int gpc_get_rule(const gpc_module_state_t *state, PyObject *object, gpc_rule_t *out);
int gpc_get_machine(const gpc_module_state_t *state, PyObject *object, gpc_machine_t *out);
/* A C-contiguous view of 32-bit unsigned words; on success PyBuffer_Release it. */
int gpc_get_words(const gpc_module_state_t *state, PyObject *object, const char *what, bool writable, Py_buffer *out);

typedef struct {
    PyObject *items;                            /* owned: keeps the names alive */
    gpc_option_value_t values[GPC_MAX_OPTIONS]; /* names borrowed from items */
    uint32_t count;
} gpc_options_argument_t;

int gpc_get_options(const gpc_module_state_t *state, PyObject *object, gpc_options_argument_t *out);
void gpc_options_argument_free(gpc_options_argument_t *self);

typedef struct {
    PyObject *items;       /* owned tuple: keeps the names alive */
    gpc_buffer_t *buffers; /* owned */
    uint32_t count;
} gpc_buffers_argument_t;

int gpc_get_buffers(const gpc_module_state_t *state, PyObject *object, gpc_buffers_argument_t *out);
void gpc_buffers_argument_free(gpc_buffers_argument_t *self);

typedef struct {
    gpc_source_t *files;  /* owned; the names belong to the tuple */
    const char **reports; /* likewise */
    uint32_t num_files, num_reports;
} gpc_sources_argument_t;

/* files: a tuple of (name, first line); reports: a tuple of texts; either may be NULL. */
int gpc_get_sources(const gpc_module_state_t *state, PyObject *files, PyObject *reports, gpc_sources_argument_t *out);
void gpc_sources_argument_free(gpc_sources_argument_t *self);
int gpc_get_extent(const gpc_module_state_t *state, PyObject *object, const char *what, uint32_t out[3]);

/* ---- explore.c, gpu_type.c ---- */

PyObject *gpc_python_explore(PyObject *module, PyObject *args, PyObject *keywords);
int gpc_add_types(PyObject *module, gpc_module_state_t *state);

#endif
