/* gpu_object.h: what the methods of the type GPU share, a file an idea: gpu_memory.c, gpu_launch.c, gpu_type.c. */
#ifndef GPC_PYTHON_GPU_OBJECT_H
#define GPC_PYTHON_GPU_OBJECT_H

#include "python/module.h"

#include <stdatomic.h>

typedef struct {
    PyObject ob_base;
    gpc_gpu_t *gpu; /* owned; never null once __new__ has returned */
    atomic_bool busy;
} gpc_gpu_object_t;

typedef struct {
    PyObject ob_base;
    gpc_snapshot_t *snapshot; /* owned; never changed, so any thread may read it */
} gpc_snapshot_object_t;

const gpc_module_state_t *gpc_state_of(PyObject *self);
/* Takes the busy flag; NULL, with SimulationError raised, when another thread has it. */
gpc_gpu_object_t *gpc_enter(PyObject *object);
/* Ends what gpc_enter began: raises what the core says, or returns `result`, which it takes over. */
PyObject *gpc_leave(gpc_gpu_object_t *self, int code, PyObject *result);

/* ---- gpu_memory.c ---- */

PyObject *gpc_method_allocate(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_release(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_host_read(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_host_write(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_snapshot(PyObject *object, PyObject *ignored);
PyObject *gpc_method_restore(PyObject *object, PyObject *args, PyObject *keywords);

/* ---- gpu_launch.c ---- */

PyObject *gpc_method_launch(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_run(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_abort(PyObject *object, PyObject *ignored);

#endif
