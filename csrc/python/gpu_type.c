/* gpu_type.c: the types GPU and Snapshot. */
#include "python/gpu_object.h"

/* ---- creation and end -------------------------------------------------------------------------------------------- */

static int
create(gpc_gpu_object_t *self, const gpc_setup_t *setup)
{
    const gpc_module_state_t *state = gpc_state_of((PyObject *) self);
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
    gpc_module_state_t *state = PyType_GetModuleState(type);
    PyObject *machine_object, *protocol, *rule, *options_object, *seed, *budget, *check;
    gpc_options_argument_t options = {0};
    gpc_machine_t machine;
    gpc_setup_t setup = {0};
    gpc_gpu_object_t *self = NULL;
    uint64_t checks = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOOOOO:GPU", (char **) (uintptr_t) names, &machine_object,
                                     &protocol, &rule, &options_object, &seed, &budget, &check)) {
        return NULL;
    }
    if (gpc_get_machine(state, machine_object, &machine) != 0 ||
        gpc_get_protocol(state, protocol, &setup.protocol) != 0 || gpc_get_rule(state, rule, &setup.rule) != 0 ||
        gpc_get_u64(state, seed, "seed", UINT64_MAX, &setup.seed) != 0 ||
        gpc_get_u64(state, budget, "budget", UINT64_MAX, &setup.budget) != 0 ||
        gpc_get_u64(state, check, "check", GPC_CHECK_PROTOCOL | GPC_CHECK_RACES | GPC_CHECK_KERNEL, &checks) != 0 ||
        gpc_get_options(state, options_object, &options) != 0) {
        return NULL;
    }
    setup.machine = &machine;
    setup.options = options.values;
    setup.num_options = options.count;
    setup.check = (uint32_t) checks;
    setup.stock = state->stock;
    self = (gpc_gpu_object_t *) type->tp_alloc(type, 0);
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

    gpc_gpu_free(((gpc_gpu_object_t *) object)->gpu);
    type->tp_free(object);
    Py_DECREF(type);
}

static void
snapshot_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    gpc_snapshot_free(((gpc_snapshot_object_t *) object)->snapshot);
    type->tp_free(object);
    Py_DECREF(type);
}

/* ---- state and statistics ---------------------------------------------------------------------------------------- */

static PyObject *
gpu_rule(PyObject *object, void *Py_UNUSED(closure))
{
    static const char *const names[] = {
#define X(name, text) text,
        GPC_RULES(X)
#undef X
    };
    gpc_rule_t rule = gpc_gpu_rule(((gpc_gpu_object_t *) object)->gpu); /* fixed at creation */

    return PyUnicode_FromString(rule < GPC_NUM_RULES ? names[rule] : "");
}

static PyObject *
gpu_cycles(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    gpc_gpu_object_t *self = gpc_enter(object);

    return self == NULL ? NULL : gpc_leave(self, 0, PyLong_FromUnsignedLongLong(gpc_gpu_cycles(self->gpu)));
}

static PyObject *
gpu_clock(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    gpc_gpu_object_t *self = gpc_enter(object);

    return self == NULL ? NULL : gpc_leave(self, 0, PyLong_FromUnsignedLongLong(gpc_gpu_clock(self->gpu)));
}

static PyObject *
gpu_instructions(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    gpc_gpu_object_t *self = gpc_enter(object);

    return self == NULL ? NULL : gpc_leave(self, 0, PyLong_FromUnsignedLongLong(gpc_gpu_instructions(self->gpu)));
}

static PyObject *
gpu_progress(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    gpc_gpu_object_t *self = gpc_enter(object);
    uint32_t blocks_done = 0, blocks = 0;

    if (self == NULL) {
        return NULL;
    }
    gpc_gpu_occupancy(self->gpu, &blocks_done, &blocks);
    return gpc_leave(self, 0, Py_BuildValue("II", blocks_done, blocks));
}

static PyObject *
gpu_kernel_end(PyObject *object, PyObject *number_object)
{
    uint64_t number;
    if (gpc_get_u64(gpc_state_of(object), number_object, "number", GPC_MOST_KERNELS - 1, &number) != 0) {
        return NULL;
    }
    gpc_gpu_object_t *self = gpc_enter(object);
    return self == NULL
               ? NULL
               : gpc_leave(self, 0, PyLong_FromUnsignedLongLong(gpc_gpu_kernel_end(self->gpu, (uint32_t) number)));
}

static PyObject *
gpu_printed(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    const gpc_print_t *records = NULL;
    uint32_t count = 0;
    gpc_gpu_object_t *self = gpc_enter(object);

    if (self == NULL) {
        return NULL;
    }
    uint64_t lost = gpc_gpu_printed(self->gpu, &records, &count);
    PyObject *result = Py_BuildValue("y#K", count != 0 ? (const char *) records : "",
                                     (Py_ssize_t) (count * sizeof(*records)), (unsigned long long) lost);
    return gpc_leave(self, 0, result);
}

/* Returns the text that `write` produces. */
static PyObject *
text_of(PyObject *object, int (*write)(const gpc_gpu_t *, gpc_text_t *))
{
    gpc_gpu_object_t *self = gpc_enter(object);
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
    return gpc_leave(self, code, result);
}

static PyObject *
gpu_statistics(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    return text_of(object, gpc_gpu_statistics);
}

static PyObject *
gpu_core_statistics(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    return text_of(object, gpc_gpu_core_statistics);
}

static PyObject *
gpu_print_state(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    return text_of(object, gpc_gpu_print_state);
}

static PyObject *
gpu_trace_names(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    return text_of(object, gpc_gpu_trace_names);
}

static PyObject *
gpu_profile(PyObject *object, PyObject *on)
{
    int wanted = PyObject_IsTrue(on);
    gpc_gpu_object_t *self = wanted < 0 ? NULL : gpc_enter(object);

    return self == NULL ? NULL : gpc_leave(self, gpc_gpu_profile(self->gpu, wanted == 1), Py_NewRef(Py_None));
}

static PyObject *
gpu_print_profile(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    return text_of(object, gpc_gpu_print_profile);
}

static PyObject *
gpu_reset_statistics(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    gpc_gpu_object_t *self = gpc_enter(object);

    if (self == NULL) {
        return NULL;
    }
    gpc_gpu_reset_statistics(self->gpu);
    return gpc_leave(self, 0, Py_NewRef(Py_None));
}

static PyObject *
gpu_verify(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    gpc_gpu_object_t *self = gpc_enter(object);

    return self == NULL ? NULL : gpc_leave(self, gpc_gpu_verify(self->gpu), Py_NewRef(Py_None));
}

/* ---- the types --------------------------------------------------------------------------------------------------- */

/* METH_KEYWORDS functions are stored as PyCFunction; the cast through void (*)(void) marks that as intended. */
#define WITH_KEYWORDS(function) ((PyCFunction) (void (*)(void)) (function)), METH_VARARGS | METH_KEYWORDS

static PyMethodDef gpu_methods[] = {
    {"allocate", WITH_KEYWORDS(gpc_method_allocate),
     "allocate($self, words, on_gpu=0)\n--\n\nAddress of new, zeroed global memory, with on_gpu of that GPU - 1."},
    {"allocate_from", WITH_KEYWORDS(gpc_method_allocate_from),
     "allocate_from($self, address)\n--\n\nLater allocations begin at this address or behind it."},
    {"release", WITH_KEYWORDS(gpc_method_release), "release($self, address)\n--\n\nFrees an allocation."},
    {"host_read", WITH_KEYWORDS(gpc_method_host_read),
     "host_read($self, address, out)\n--\n\nFills out (C-contiguous, uint32)."},
    {"host_write", WITH_KEYWORDS(gpc_method_host_write),
     "host_write($self, address, data)\n--\n\nWrites data (C-contiguous, uint32)."},
    {"host_write_places", WITH_KEYWORDS(gpc_method_host_write_places),
     "host_write_places($self, address, places, data)\n--\n\nWrites data[i] to the word places[i] from address on "
     "(C-contiguous, uint32)."},
    {"launch", WITH_KEYWORDS(gpc_method_launch),
     "launch($self, kernel, program, vector_registers, uniform_registers, shared_words, constants, buffers, grid, "
     "block, "
     "placement, files=(), reports=(), independent_lanes=False)\n--\n\nBegins a launch. buffers: (address, words, "
     "read_only, name); files: "
     "(name, "
     "first line); reports: texts of assertions and prints."},
    {"run", WITH_KEYWORDS(gpc_method_run),
     "run($self, events)\n--\n\nSimulates at most `events` events without the GIL; True when the launch has ended."},
    {"deadlock_after", WITH_KEYWORDS(gpc_method_deadlock_after),
     "deadlock_after($self, cycles)\n--\n\nCore cycles without progress that end the following launches."},
    {"pause_at", WITH_KEYWORDS(gpc_method_pause_at),
     "pause_at($self, cycle)\n--\n\nThe running launch pauses before this core cycle, as cycles() counts."},
    {"paused", gpc_method_paused, METH_NOARGS,
     "paused($self)\n--\n\nWhether run() has returned because of pause_at()."},
    {"abort", gpc_method_abort, METH_NOARGS,
     "abort($self)\n--\n\nEnds the running launch, if any, once no other thread uses the GPU; the GPU remains usable."},
    {"cycles", gpu_cycles, METH_NOARGS, "cycles($self)\n--\n\nCore cycles of all launches since creation."},
    {"clock", gpu_clock, METH_NOARGS,
     "clock($self)\n--\n\nThe core clock's cycle, which also counts between launches."},
    {"instructions", gpu_instructions, METH_NOARGS, "instructions($self)\n--\n\nWarp instructions since creation."},
    {"progress", gpu_progress, METH_NOARGS, "progress($self)\n--\n\n(blocks done, blocks of the launch)."},
    {"kernel_end", gpu_kernel_end, METH_O,
     "kernel_end($self, number)\n--\n\nCore cycles from the begin of the last launch to the end of a kernel of it."},
    {"printed", gpu_printed, METH_NOARGS,
     "printed($self)\n--\n\n(words that the last launch printed as bytes, number of those that found no room)."},
    {"statistics", gpu_statistics, METH_NOARGS, "statistics($self)\n--\n\nAll statistics as JSON."},
    {"core_statistics", gpu_core_statistics, METH_NOARGS,
     "core_statistics($self)\n--\n\nStatistics of each core and its L1 as JSON."},
    {"reset_statistics", gpu_reset_statistics, METH_NOARGS,
     "reset_statistics($self)\n--\n\nSets all statistics to zero."},
    {"verify", gpu_verify, METH_NOARGS,
     "verify($self)\n--\n\nChecks the invariants of every part; raises the first violation."},
    {"print_state", gpu_print_state, METH_NOARGS,
     "print_state($self)\n--\n\nThe state of every part as readable text."},
    {"trace", WITH_KEYWORDS(gpc_method_trace),
     "trace($self, first, last, word, begin, end, kinds, records)\n--\n\nTraces lines, cycles and kinds of record; "
     "records=0 "
     "ends the trace."},
    {"traced", gpc_method_traced, METH_NOARGS,
     "traced($self)\n--\n\n(the records that are kept as bytes, number of all records)."},
    {"trace_names", gpu_trace_names, METH_NOARGS,
     "trace_names($self)\n--\n\nNames of nodes, messages, states, events and actions as JSON."},
    {"profile", gpu_profile, METH_O, "profile($self, on)\n--\n\nProfiles the following launches, or not."},
    {"print_profile", gpu_print_profile, METH_NOARGS, "print_profile($self)\n--\n\nThe profile as JSON, or null."},
    {"snapshot", gpc_method_snapshot, METH_NOARGS,
     "snapshot($self)\n--\n\nA copy of the whole state, between launches."},
    {"restore", WITH_KEYWORDS(gpc_method_restore), "restore($self, snapshot)\n--\n\nRestores the state of a snapshot."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef gpu_properties[] = {
    {"rule", gpu_rule, NULL, "The consistency model: sc, rc, drf or hrf.", NULL},
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
    .basicsize = sizeof(gpc_gpu_object_t),
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
    .basicsize = sizeof(gpc_snapshot_object_t),
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
