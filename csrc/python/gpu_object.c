/* gpu_object.c: begins and ends the methods of a GPU.
 *
 * One thread at a time may use a GPU: every method sets the busy flag first, and raises SimulationError if another
 * thread has set it. Long methods release the GIL.
 */
#include "python/gpu_object.h"

const gpc_module_state_t *
gpc_state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

gpc_gpu_object_t *
gpc_enter(PyObject *object)
{
    gpc_gpu_object_t *self = (gpc_gpu_object_t *) object;

    if (atomic_exchange_explicit(&self->busy, true, memory_order_acquire)) {
        gpc_raise(gpc_state_of(object), GPC_ERROR_BUSY, NULL);
        return NULL;
    }
    return self;
}

gpc_gpu_object_t *
gpc_enter_waiting(PyObject *object)
{
    gpc_gpu_object_t *self = (gpc_gpu_object_t *) object;

    while (atomic_exchange_explicit(&self->busy, true, memory_order_acquire)) {
        Py_BEGIN_ALLOW_THREADS /* the other thread may need the GIL to leave */
            Py_END_ALLOW_THREADS
    }
    return self;
}

PyObject *
gpc_leave(gpc_gpu_object_t *self, int code, PyObject *result)
{
    if (code < 0) {
        gpc_raise_failure(gpc_state_of((PyObject *) self), code, gpc_gpu_failure(self->gpu));
        Py_CLEAR(result);
    }
    atomic_store_explicit(&self->busy, false, memory_order_release);
    return result;
}
