/* gpu_launch.c: methods of a GPU that begin, run and abort a launch. */
#include "python/gpu_object.h"

typedef struct {
    PyObject *kernel, *program, *vector_registers, *uniform_registers, *shared_words, *constants, *buffers, *grid,
        *block;
    PyObject *placement, *local_address, *local_bytes, *on_gpu, *after, *spilled_registers, *barrier_words;
} launch_objects_t;

/* Converts the program and the numbers of a launch; the caller converts and releases constants and buffers. */
static int
get_launch(const gpc_module_state_t *state, const launch_objects_t *objects, gpc_launch_t *out)
{
    uint64_t vector_registers = 0, uniform_registers = 0, spilled_registers = 0, barrier_words = 0, placement = 0;
    out->local_bytes = 0;
    if ((objects->local_address != NULL &&
         gpc_get_u64(state, objects->local_address, "local_address", UINT64_MAX, &out->local_address) != 0) ||
        (objects->local_bytes != NULL &&
         gpc_get_u32(state, objects->local_bytes, "local_bytes", &out->local_bytes) != 0) ||
        (objects->barrier_words != NULL &&
         gpc_get_u64(state, objects->barrier_words, "barrier_words", UINT16_MAX, &barrier_words) != 0) ||
        (objects->spilled_registers != NULL &&
         gpc_get_u64(state, objects->spilled_registers, "spilled_registers", UINT16_MAX, &spilled_registers) != 0) ||
        (objects->on_gpu != NULL && gpc_get_u32(state, objects->on_gpu, "on_gpu", &out->on_gpu) != 0) ||
        (objects->after != NULL && gpc_get_u64(state, objects->after, "after", UINT64_MAX, &out->after) != 0)) {
        return -1;
    }

    if (!PyBytes_Check(objects->program) ||
        PyBytes_GET_SIZE(objects->program) % (Py_ssize_t) sizeof(gpc_instruction_t) != 0) {
        gpc_raise_argument(state, "program must be bytes, %zu per instruction", sizeof(gpc_instruction_t));
        return -1;
    }
    if (gpc_get_text(state, objects->kernel, "kernel", &out->kernel) != 0 ||
        gpc_get_u64(state, objects->vector_registers, "vector_registers", UINT16_MAX, &vector_registers) != 0 ||
        gpc_get_u64(state, objects->uniform_registers, "uniform_registers", UINT16_MAX, &uniform_registers) != 0 ||
        gpc_get_u32(state, objects->shared_words, "shared_words", &out->program.shared_words) != 0 ||
        gpc_get_extent(state, objects->grid, "grid", out->grid) != 0 ||
        gpc_get_extent(state, objects->block, "block", out->block) != 0 ||
        gpc_get_u64(state, objects->placement, "placement", GPC_NUM_PLACEMENTS - 1, &placement) != 0) {
        return -1;
    }
    out->program.instructions = (const gpc_instruction_t *) (const void *) PyBytes_AS_STRING(objects->program);
    out->program.count = (uint32_t) ((size_t) PyBytes_GET_SIZE(objects->program) / sizeof(gpc_instruction_t));
    out->program.vector_registers = (uint16_t) vector_registers;
    out->program.spilled_registers = (uint16_t) spilled_registers;
    out->program.barrier_words = (uint16_t) barrier_words;
    out->program.uniform_registers = (uint16_t) uniform_registers;
    out->placement = (gpc_placement_t) placement;
    return 0;
}

static void
set_lists(gpc_launch_t *out, const gpc_sources_argument_t *sources, const gpc_buffers_argument_t *buffers,
          const Py_buffer *constants)
{
    out->files = sources->files;
    out->num_files = sources->num_files;
    out->reports = sources->reports;
    out->num_reports = sources->num_reports;
    out->constants = constants->buf;
    out->num_constants = (uint32_t) ((size_t) constants->len / 4);
    out->buffers = buffers->buffers;
    out->num_buffers = buffers->count;
    out->program.constants = out->num_constants;
    out->program.buffers = out->num_buffers;
}

static PyObject *
begin_launch(PyObject *object, const gpc_launch_t *launch)
{
    gpc_gpu_object_t *self = gpc_enter(object);
    int code = 0;

    if (self == NULL) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS code = gpc_gpu_launch(self->gpu, launch);
    Py_END_ALLOW_THREADS return gpc_leave(self, code, Py_NewRef(Py_None));
}

PyObject *
gpc_method_launch(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {
        "kernel",
        "program",
        "vector_registers",
        "uniform_registers",
        "shared_words",
        "constants",
        "buffers",
        "grid",
        "block",
        "placement",
        "files",
        "reports",
        "local_address",
        "local_bytes",
        "independent_lanes",
        "on_gpu",
        "after",
        "more",
        "functional",
        "spilled_registers",
        "barrier_words",
        NULL,
    };
    const gpc_module_state_t *state = gpc_state_of(object);
    launch_objects_t o = {0};
    gpc_buffers_argument_t buffers = {0};
    gpc_sources_argument_t sources = {0};
    PyObject *files = NULL, *reports = NULL;
    int independent_lanes = 0, more = 0, functional = 0;
    gpc_launch_t launch = {0};
    PyObject *result = NULL;
    Py_buffer constants;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOOOOOOOO|OOOOpOOppOO:launch", (char **) (uintptr_t) names,
                                     &o.kernel, &o.program, &o.vector_registers, &o.uniform_registers, &o.shared_words,
                                     &o.constants, &o.buffers, &o.grid, &o.block, &o.placement, &files, &reports,
                                     &o.local_address, &o.local_bytes, &independent_lanes, &o.on_gpu, &o.after, &more,
                                     &functional, &o.spilled_registers, &o.barrier_words)) {
        return NULL;
    }
    if (get_launch(state, &o, &launch) != 0 || gpc_get_words(state, o.constants, "constants", false, &constants) != 0) {
        return NULL;
    }
    if (gpc_get_buffers(state, o.buffers, &buffers) == 0 && gpc_get_sources(state, files, reports, &sources) == 0) {
        set_lists(&launch, &sources, &buffers, &constants);
        launch.program.independent_lanes = independent_lanes != 0;
        launch.more = more != 0;
        launch.functional = functional != 0;
        result = begin_launch(object, &launch);
    }
    gpc_sources_argument_free(&sources);
    gpc_buffers_argument_free(&buffers);
    PyBuffer_Release(&constants);
    return result;
}

PyObject *
gpc_method_run(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"events", NULL};
    PyObject *events_object;
    uint64_t events = 0;
    gpc_gpu_object_t *self = NULL;
    int code = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:run", (char **) (uintptr_t) names, &events_object) ||
        gpc_get_u64(gpc_state_of(object), events_object, "events", UINT64_MAX, &events) != 0 ||
        (self = gpc_enter(object)) == NULL) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS code = gpc_gpu_run(self->gpu, events);
    Py_END_ALLOW_THREADS return gpc_leave(self, code, PyBool_FromLong(code == GPC_RUN_DONE));
}

PyObject *
gpc_method_deadlock_after(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"cycles", NULL};
    PyObject *cycles_object;
    uint64_t cycles = 0;
    gpc_gpu_object_t *self = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:deadlock_after", (char **) (uintptr_t) names, &cycles_object) ||
        gpc_get_u64(gpc_state_of(object), cycles_object, "cycles", UINT64_MAX / 2, &cycles) != 0) {
        return NULL;
    }
    if (cycles == 0) {
        return gpc_raise_argument(gpc_state_of(object), "cycles = 0: must be at least 1");
    }
    self = gpc_enter(object);
    if (self == NULL) {
        return NULL;
    }
    gpc_gpu_set_deadlock_after(self->gpu, cycles);
    return gpc_leave(self, 0, Py_NewRef(Py_None));
}

PyObject *
gpc_method_pause_at(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"cycle", NULL};
    PyObject *cycle_object;
    uint64_t cycle = 0;
    gpc_gpu_object_t *self = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:pause_at", (char **) (uintptr_t) names, &cycle_object) ||
        gpc_get_u64(gpc_state_of(object), cycle_object, "cycle", UINT64_MAX, &cycle) != 0 ||
        (self = gpc_enter(object)) == NULL) {
        return NULL;
    }
    return gpc_leave(self, gpc_gpu_pause_at(self->gpu, cycle), Py_NewRef(Py_None));
}

PyObject *
gpc_method_paused(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    gpc_gpu_object_t *self = gpc_enter(object);

    return self == NULL ? NULL : gpc_leave(self, 0, PyBool_FromLong(gpc_gpu_is_paused(self->gpu)));
}

PyObject *
gpc_method_abort(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    gpc_gpu_object_t *self = gpc_enter_waiting(object);

    if (gpc_gpu_is_running(self->gpu)) {
        gpc_gpu_abort(self->gpu);
    } else {
        gpc_gpu_drop_added(self->gpu);
    }
    return gpc_leave(self, 0, Py_NewRef(Py_None));
}
