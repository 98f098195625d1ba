/* gpu_object.h: the GPU object, shared by its methods in gpu_memory.c, gpu_launch.c and gpu_type.c. */
#ifndef GPC_PYTHON_GPU_OBJECT_H
#define GPC_PYTHON_GPU_OBJECT_H

#include "python/module.h"

#include <stdatomic.h>

typedef struct {
    PyObject ob_base;
    gpc_gpu_t *gpu; /* owned; not null after __new__ */
    atomic_bool busy;
} gpc_gpu_object_t;

typedef struct {
    PyObject ob_base;
    gpc_snapshot_t *snapshot; /* owned; immutable, so any thread may read it */
} gpc_snapshot_object_t;

/* ---- gpu_object.c ---- */

const gpc_module_state_t *gpc_state_of(PyObject *self);
/* Sets the busy flag; NULL, with SimulationError raised, when another thread has set it. */
gpc_gpu_object_t *gpc_enter(PyObject *object);
/* Sets the busy flag once no other thread has set it; never fails. */
gpc_gpu_object_t *gpc_enter_waiting(PyObject *object);
/* Clears the busy flag; raises the exception of `code`, or returns `result`, whose reference it steals. */
PyObject *gpc_leave(gpc_gpu_object_t *self, int code, PyObject *result);

/* ---- gpu_memory.c ---- */

PyObject *gpc_method_allocate(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_allocate_from(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_release(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_host_read(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_host_write(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_host_write_places(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_trace(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_traced(PyObject *object, PyObject *ignored);
PyObject *gpc_method_snapshot(PyObject *object, PyObject *ignored);
PyObject *gpc_method_restore(PyObject *object, PyObject *args, PyObject *keywords);

/* ---- gpu_launch.c ---- */

PyObject *gpc_method_launch(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_run(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_deadlock_after(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_pause_at(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *gpc_method_paused(PyObject *object, PyObject *ignored);
PyObject *gpc_method_abort(PyObject *object, PyObject *ignored);

#endif
