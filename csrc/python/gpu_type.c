/* gpu_type.c: the types GPU and Snapshot.
 *
 * A GPU is used by one thread at a time: every method takes the busy flag first, and a second thread gets SimulationError
 * at once. The methods that may take long let go of the GIL meanwhile.
 */
#include "python/module.h"

#include <stdatomic.h>

typedef struct {
    PyObject ob_base;
    gpc_gpu_t *gpu; /* owned; never null once __new__ has returned */
    atomic_bool busy;
} gpu_object_t;

typedef struct {
    PyObject ob_base;
    gpc_snapshot_t *snapshot; /* owned; never changed, so any thread may read it */
} snapshot_object_t;

static const gpc_module_state_t *
state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

static gpu_object_t *
enter(PyObject *object)
{
    gpu_object_t *self = (gpu_object_t *) object;

    if (atomic_exchange_explicit(&self->busy, true, memory_order_acquire)) {
        gpc_raise(state_of(object), GPC_ERROR_BUSY, NULL);
        return NULL;
    }
    return self;
}

/* Ends what enter() began: raises what the core says, or returns `result`, which it takes over. */
static PyObject *
leave(gpu_object_t *self, int code, PyObject *result)
{
    if (code < 0) {
        gpc_raise(state_of((PyObject *) self), code, gpc_gpu_error_text(self->gpu));
        Py_CLEAR(result);
    }
    atomic_store_explicit(&self->busy, false, memory_order_release);
    return result;
}

/* ---- creation and end ----------------------------------------------------------------------------------------------- */

static int
create(gpu_object_t *self, const gpc_setup_t *setup)
{
    const gpc_module_state_t *state = state_of((PyObject *) self);
    int code = gpc_gpu_create(setup, &self->gpu);

    if (code != 0) {
        gpc_raise(state, code, self->gpu == NULL ? NULL : gpc_gpu_error_text(self->gpu));
        return -1;
    }
    return 0;
}

static PyObject *
gpu_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"machine", "protocol", "rule", "options", "seed", "budget", "check", NULL};
    const gpc_module_state_t *state = PyType_GetModuleState(type);
    PyObject *machine_object, *protocol, *rule, *options_object, *seed, *budget, *check;
    gpc_options_argument_t options = {0};
    gpc_machine_t machine;
    gpc_setup_t setup = {0};
    gpu_object_t *self = NULL;
    uint64_t checks = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOOOOO:GPU", (char **) (uintptr_t) names, &machine_object,
                                     &protocol, &rule, &options_object, &seed, &budget, &check)) {
        return NULL;
    }
    if (gpc_get_machine(state, machine_object, &machine) != 0 ||
        gpc_get_text(state, protocol, "protocol", &setup.protocol) != 0 ||
        gpc_get_rule(state, rule, &setup.rule) != 0 || gpc_get_u64(state, seed, "seed", UINT64_MAX, &setup.seed) != 0 ||
        gpc_get_u64(state, budget, "budget", UINT64_MAX, &setup.budget) != 0 ||
        gpc_get_u64(state, check, "check", GPC_CHECK_PROTOCOL | GPC_CHECK_RACES, &checks) != 0 ||
        gpc_get_options(state, options_object, &options) != 0) {
        return NULL;
    }
    setup.machine = &machine;
    setup.options = options.values;
    setup.num_options = options.count;
    setup.check = (uint32_t) checks;
    self = (gpu_object_t *) type->tp_alloc(type, 0);
    if (self != NULL) {
        atomic_init(&self->busy, false);
        if (create(self, &setup) != 0) {
            Py_CLEAR(self);
        }
    }
    gpc_options_argument_free(&options);
    return (PyObject *) self;
}

static void
gpu_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    gpc_gpu_free(((gpu_object_t *) object)->gpu);
    type->tp_free(object);
    Py_DECREF(type);
}

static void
snapshot_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    gpc_snapshot_free(((snapshot_object_t *) object)->snapshot);
    type->tp_free(object);
    Py_DECREF(type);
}

/* ---- memory --------------------------------------------------------------------------------------------------------- */

static PyObject *
gpu_allocate(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"words", NULL};
    PyObject *words_object;
    gpc_address_t address = 0;
    uint64_t words = 0;
    gpu_object_t *self = NULL;
    int code = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:allocate", (char **) (uintptr_t) names, &words_object) ||
        gpc_get_u64(state_of(object), words_object, "words", UINT64_MAX, &words) != 0 ||
        (self = enter(object)) == NULL) {
        return NULL;
    }
    code = gpc_gpu_allocate(self->gpu, words, &address);
    return leave(self, code, code == 0 ? PyLong_FromUnsignedLongLong(address) : NULL);
}

static PyObject *
gpu_release(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"address", NULL};
    PyObject *address_object;
    gpc_address_t address = 0;
    gpu_object_t *self = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:release", (char **) (uintptr_t) names, &address_object) ||
        gpc_get_u64(state_of(object), address_object, "address", UINT64_MAX, &address) != 0 ||
        (self = enter(object)) == NULL) {
        return NULL;
    }
    return leave(self, gpc_gpu_release(self->gpu, address), Py_NewRef(Py_None));
}

static PyObject *
gpu_host_read(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"address", "out", NULL};
    PyObject *address_object, *out, *result = NULL;
    gpc_address_t address = 0;
    gpu_object_t *self = NULL;
    Py_buffer view;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:host_read", (char **) (uintptr_t) names, &address_object,
                                     &out) ||
        gpc_get_u64(state_of(object), address_object, "address", UINT64_MAX, &address) != 0 ||
        gpc_get_words(state_of(object), out, "out", true, &view) != 0) {
        return NULL;
    }
    self = enter(object);
    if (self != NULL) {
        int code = 0;

        Py_BEGIN_ALLOW_THREADS code = gpc_gpu_host_read(self->gpu, address, (uint64_t) view.len / 4, view.buf);
        Py_END_ALLOW_THREADS result = leave(self, code, Py_NewRef(Py_None));
    }
    PyBuffer_Release(&view);
    return result;
}

static PyObject *
gpu_host_write(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"address", "data", NULL};
    PyObject *address_object, *data, *result = NULL;
    gpc_address_t address = 0;
    gpu_object_t *self = NULL;
    Py_buffer view;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:host_write", (char **) (uintptr_t) names, &address_object,
                                     &data) ||
        gpc_get_u64(state_of(object), address_object, "address", UINT64_MAX, &address) != 0 ||
        gpc_get_words(state_of(object), data, "data", false, &view) != 0) {
        return NULL;
    }
    self = enter(object);
    if (self != NULL) {
        int code = 0;

        Py_BEGIN_ALLOW_THREADS code = gpc_gpu_host_write(self->gpu, address, (uint64_t) view.len / 4, view.buf);
        Py_END_ALLOW_THREADS result = leave(self, code, Py_NewRef(Py_None));
    }
    PyBuffer_Release(&view);
    return result;
}

/* ---- launches ------------------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject *kernel, *program, *vector_registers, *uniform_registers, *shared_words, *constants, *buffers, *grid,
        *block;
    PyObject *placement;
} launch_objects_t;

/* The numbers and the program; constants and buffers are the caller's, who must give them back. */
static int
get_launch(const gpc_module_state_t *state, const launch_objects_t *objects, gpc_launch_t *out)
{
    uint64_t vector_registers = 0, uniform_registers = 0, placement = 0;

    if (!PyBytes_Check(objects->program) ||
        PyBytes_GET_SIZE(objects->program) % (Py_ssize_t) sizeof(gpc_instruction_t) != 0) {
        gpc_raise_argument(state, "program must be bytes, %zu an instruction", sizeof(gpc_instruction_t));
        return -1;
    }
    if (gpc_get_text(state, objects->kernel, "kernel", &out->kernel) != 0 ||
        gpc_get_u64(state, objects->vector_registers, "vector_registers", UINT16_MAX, &vector_registers) != 0 ||
        gpc_get_u64(state, objects->uniform_registers, "uniform_registers", UINT16_MAX, &uniform_registers) != 0 ||
        gpc_get_u32(state, objects->shared_words, "shared_words", &out->program.shared_words) != 0 ||
        gpc_get_extent(state, objects->grid, "grid", out->grid) != 0 ||
        gpc_get_extent(state, objects->block, "block", out->block) != 0 ||
        gpc_get_u64(state, objects->placement, "placement", GPC_PLACE_FIRST_FREE, &placement) != 0) {
        return -1;
    }
    out->program.instructions = (const gpc_instruction_t *) (const void *) PyBytes_AS_STRING(objects->program);
    out->program.count = (uint32_t) ((size_t) PyBytes_GET_SIZE(objects->program) / sizeof(gpc_instruction_t));
    out->program.vector_registers = (uint16_t) vector_registers;
    out->program.uniform_registers = (uint16_t) uniform_registers;
    out->placement = (gpc_placement_t) placement;
    return 0;
}

static PyObject *
begin_launch(PyObject *object, const gpc_launch_t *launch)
{
    gpu_object_t *self = enter(object);
    int code = 0;

    if (self == NULL) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS code = gpc_gpu_launch(self->gpu, launch);
    Py_END_ALLOW_THREADS return leave(self, code, Py_NewRef(Py_None));
}

static PyObject *
gpu_launch(PyObject *object, PyObject *args, PyObject *keywords)
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
        NULL,
    };
    const gpc_module_state_t *state = state_of(object);
    launch_objects_t o;
    gpc_buffers_argument_t buffers = {0};
    gpc_launch_t launch = {0};
    PyObject *result = NULL;
    Py_buffer constants;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOOOOOOOO:launch", (char **) (uintptr_t) names, &o.kernel,
                                     &o.program, &o.vector_registers, &o.uniform_registers, &o.shared_words,
                                     &o.constants, &o.buffers, &o.grid, &o.block, &o.placement)) {
        return NULL;
    }
    if (get_launch(state, &o, &launch) != 0 || gpc_get_words(state, o.constants, "constants", false, &constants) != 0) {
        return NULL;
    }
    if (gpc_get_buffers(state, o.buffers, &buffers) == 0) {
        launch.constants = constants.buf;
        launch.num_constants = (uint32_t) ((size_t) constants.len / 4);
        launch.buffers = buffers.buffers;
        launch.num_buffers = buffers.count;
        launch.program.constants = launch.num_constants;
        launch.program.buffers = launch.num_buffers;
        result = begin_launch(object, &launch);
    }
    gpc_buffers_argument_free(&buffers);
    PyBuffer_Release(&constants);
    return result;
}

static PyObject *
gpu_run(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"events", NULL};
    PyObject *events_object;
    uint64_t events = 0;
    gpu_object_t *self = NULL;
    int code = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:run", (char **) (uintptr_t) names, &events_object) ||
        gpc_get_u64(state_of(object), events_object, "events", UINT64_MAX, &events) != 0 ||
        (self = enter(object)) == NULL) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS code = gpc_gpu_run(self->gpu, events);
    Py_END_ALLOW_THREADS return leave(self, code, PyBool_FromLong(code == GPC_RUN_DONE));
}

static PyObject *
gpu_abort(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    gpu_object_t *self = enter(object);

    if (self == NULL) {
        return NULL;
    }
    gpc_gpu_abort(self->gpu);
    return leave(self, 0, Py_NewRef(Py_None));
}

/* ---- what a GPU tells ----------------------------------------------------------------------------------------------- */

static PyObject *
gpu_rule(PyObject *object, void *Py_UNUSED(closure))
{
    static const char *const names[] = {
#define X(name, text) text,
        GPC_RULES(X)
#undef X
    };
    gpc_rule_t rule = gpc_gpu_rule(((gpu_object_t *) object)->gpu); /* fixed at creation */

    return PyUnicode_FromString(rule < GPC_NUM_RULES ? names[rule] : "");
}

static PyObject *
gpu_cycles(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    gpu_object_t *self = enter(object);

    return self == NULL ? NULL : leave(self, 0, PyLong_FromUnsignedLongLong(gpc_gpu_cycles(self->gpu)));
}

static PyObject *
gpu_instructions(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    gpu_object_t *self = enter(object);

    return self == NULL ? NULL : leave(self, 0, PyLong_FromUnsignedLongLong(gpc_gpu_instructions(self->gpu)));
}

static PyObject *
gpu_progress(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    gpu_object_t *self = enter(object);
    uint32_t blocks_done = 0, blocks = 0;

    if (self == NULL) {
        return NULL;
    }
    gpc_gpu_occupancy(self->gpu, &blocks_done, &blocks);
    return leave(self, 0, Py_BuildValue("II", blocks_done, blocks));
}

/* A text that the core writes. */
static PyObject *
text_of(PyObject *object, int (*write)(gpc_gpu_t *, gpc_text_t *))
{
    gpu_object_t *self = enter(object);
    PyObject *result = NULL;
    gpc_text_t text;
    int code = 0;

    if (self == NULL) {
        return NULL;
    }
    gpc_text_init(&text);
    code = write(self->gpu, &text);
    if (code == 0) {
        result = PyUnicode_DecodeUTF8(text.length == 0 ? "" : text.bytes, (Py_ssize_t) text.length, "replace");
    }
    gpc_text_free(&text);
    return leave(self, code, result);
}

static int
write_statistics(gpc_gpu_t *gpu, gpc_text_t *out)
{
    return gpc_gpu_statistics(gpu, out);
}

static int
write_state(gpc_gpu_t *gpu, gpc_text_t *out)
{
    return gpc_gpu_print_state(gpu, out);
}

static PyObject *
gpu_statistics(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    return text_of(object, write_statistics);
}

static PyObject *
gpu_print_state(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    return text_of(object, write_state);
}

static int
write_trace(gpc_gpu_t *gpu, gpc_text_t *out)
{
    return gpc_gpu_print_trace(gpu, out);
}

static PyObject *
gpu_print_trace(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    return text_of(object, write_trace);
}

static PyObject *
gpu_trace(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"address", "records", NULL};
    PyObject *address_object, *records_object;
    gpc_address_t address = 0;
    uint64_t records = 0;
    gpu_object_t *self = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:trace", (char **) (uintptr_t) names, &address_object,
                                     &records_object) ||
        gpc_get_u64(state_of(object), address_object, "address", UINT64_MAX, &address) != 0 ||
        gpc_get_u64(state_of(object), records_object, "records", 1u << 24, &records) != 0 ||
        (self = enter(object)) == NULL) {
        return NULL;
    }
    return leave(self, gpc_gpu_trace(self->gpu, address, (uint32_t) records), Py_NewRef(Py_None));
}

static PyObject *
gpu_reset_statistics(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    gpu_object_t *self = enter(object);

    if (self == NULL) {
        return NULL;
    }
    gpc_gpu_reset_statistics(self->gpu);
    return leave(self, 0, Py_NewRef(Py_None));
}

static PyObject *
gpu_verify(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    gpu_object_t *self = enter(object);

    return self == NULL ? NULL : leave(self, gpc_gpu_verify(self->gpu), Py_NewRef(Py_None));
}

/* ---- snapshots ------------------------------------------------------------------------------------------------------ */

static PyObject *
gpu_snapshot(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    PyTypeObject *type = state_of(object)->snapshot_type;
    snapshot_object_t *result = NULL;
    gpu_object_t *self = enter(object);

    if (self == NULL) {
        return NULL;
    }
    result = (snapshot_object_t *) type->tp_alloc(type, 0);
    if (result == NULL) {
        return leave(self, 0, NULL);
    }
    return leave(self, gpc_gpu_snapshot(self->gpu, &result->snapshot), (PyObject *) result);
}

static PyObject *
gpu_restore(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"snapshot", NULL};
    const gpc_module_state_t *state = state_of(object);
    PyObject *snapshot;
    gpu_object_t *self = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:restore", (char **) (uintptr_t) names, &snapshot)) {
        return NULL;
    }
    if (!Py_IS_TYPE(snapshot, state->snapshot_type)) {
        return gpc_raise_argument(state, "snapshot must come from GPU.snapshot(), got %s", Py_TYPE(snapshot)->tp_name);
    }
    self = enter(object);
    if (self == NULL) {
        return NULL;
    }
    return leave(self, gpc_gpu_restore(self->gpu, ((snapshot_object_t *) snapshot)->snapshot), Py_NewRef(Py_None));
}

/* ---- the types ------------------------------------------------------------------------------------------------------ */

/* METH_KEYWORDS functions are stored under the plain function type; void (*)(void) says that this is meant. */
#define WITH_KEYWORDS(function) ((PyCFunction) (void (*)(void)) (function)), METH_VARARGS | METH_KEYWORDS

static PyMethodDef gpu_methods[] = {
    {"allocate", WITH_KEYWORDS(gpu_allocate), "allocate($self, words)\n--\n\nAddress of fresh, zeroed global memory."},
    {"release", WITH_KEYWORDS(gpu_release), "release($self, address)\n--\n\nGives back what allocate gave."},
    {"host_read", WITH_KEYWORDS(gpu_host_read),
     "host_read($self, address, out)\n--\n\nFills out (C-contiguous, uint32)."},
    {"host_write", WITH_KEYWORDS(gpu_host_write),
     "host_write($self, address, data)\n--\n\nWrites data (C-contiguous, uint32)."},
    {"launch", WITH_KEYWORDS(gpu_launch),
     "launch($self, kernel, program, vector_registers, uniform_registers, shared_words, constants, buffers, grid, "
     "block, "
     "placement)\n--\n\nBegins a launch. buffers: (address, words, read_only, name)."},
    {"run", WITH_KEYWORDS(gpu_run),
     "run($self, events)\n--\n\nCarries out at most that many events without the GIL; True when the launch has ended."},
    {"abort", gpu_abort, METH_NOARGS, "abort($self)\n--\n\nEnds a launch at once; the GPU stays usable."},
    {"cycles", gpu_cycles, METH_NOARGS, "cycles($self)\n--\n\nCore cycles since creation, launches only."},
    {"instructions", gpu_instructions, METH_NOARGS, "instructions($self)\n--\n\nWarp instructions so far."},
    {"progress", gpu_progress, METH_NOARGS, "progress($self)\n--\n\n(blocks done, blocks of the launch)."},
    {"statistics", gpu_statistics, METH_NOARGS, "statistics($self)\n--\n\nAll statistics as JSON."},
    {"reset_statistics", gpu_reset_statistics, METH_NOARGS,
     "reset_statistics($self)\n--\n\nStarts them at zero again."},
    {"verify", gpu_verify, METH_NOARGS, "verify($self)\n--\n\nEvery part's own checks; raises what does not hold."},
    {"print_state", gpu_print_state, METH_NOARGS, "print_state($self)\n--\n\nThe state of every part, for people."},
    {"trace", WITH_KEYWORDS(gpu_trace),
     "trace($self, address, records)\n--\n\nWrites down the last so many records about the address's line; 0: no "
     "more."},
    {"print_trace", gpu_print_trace, METH_NOARGS, "print_trace($self)\n--\n\nThese records as columns, for people."},
    {"snapshot", gpu_snapshot, METH_NOARGS, "snapshot($self)\n--\n\nA copy of the whole state, between launches."},
    {"restore", WITH_KEYWORDS(gpu_restore), "restore($self, snapshot)\n--\n\nBack to that state."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef gpu_properties[] = {
    {"rule", gpu_rule, NULL, "The core rule in force: sc, rc, drf or hrf.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot gpu_slots[] = {
    {Py_tp_new, gpu_new},
    {Py_tp_dealloc, gpu_dealloc},
    {Py_tp_methods, gpu_methods},
    {Py_tp_getset, gpu_properties},
    {Py_tp_doc,
     "GPU(machine, protocol, rule, options, seed, budget, check)\n--\n\nOne simulated GPU, for one thread at a time."},
    {0, NULL},
};

static PyType_Spec gpu_spec = {
    .name = "gpucoh._core.GPU",
    .basicsize = sizeof(gpu_object_t),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = gpu_slots,
};

static PyType_Slot snapshot_slots[] = {
    {Py_tp_dealloc, snapshot_dealloc},
    {Py_tp_doc, "The state of a GPU, from GPU.snapshot()."},
    {0, NULL},
};

static PyType_Spec snapshot_spec = {
    .name = "gpucoh._core.Snapshot",
    .basicsize = sizeof(snapshot_object_t),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = snapshot_slots,
};

int
gpc_add_types(PyObject *module, gpc_module_state_t *state)
{
    state->gpu_type = (PyTypeObject *) PyType_FromModuleAndSpec(module, &gpu_spec, NULL);
    if (state->gpu_type == NULL || PyModule_AddType(module, state->gpu_type) != 0) {
        return -1;
    }
    state->snapshot_type = (PyTypeObject *) PyType_FromModuleAndSpec(module, &snapshot_spec, NULL);
    if (state->snapshot_type == NULL || PyModule_AddType(module, state->snapshot_type) != 0) {
        return -1;
    }
    return 0;
}
