/* module.c: gpucoh._core, the binding: module functions and module state. See gpucoh/_core.pyi.
 *
 * Multi-phase initialisation, heap types, all state in the module: the module can be loaded more than once in a
 * process.
 */
#include "python/module.h"

#include "core/execute/extended.h"

/* ---- the instruction set of isa.h --------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    unsigned number;
} name_t;

static const name_t opcodes[] = {
#define X(name, operands, group, unit, text) {#name, GPC_OP_##name},
#include "lang/operations.def"
#undef X
};
static const name_t types[] = {
#define X(name) {#name, GPC_##name},
    GPC_TYPES(X)
#undef X
};
static const name_t atomics[] = {
#define X(name) {#name, GPC_ATOMIC_##name},
    GPC_ATOMICS(X)
#undef X
};
static const name_t specials[] = {
#define X(name) {#name, GPC_SPECIAL_##name},
    GPC_SPECIALS(X)
#undef X
};
static const name_t orders[] = {
#define X(name) {#name, GPC_ORDER_##name},
    GPC_ORDERS(X)
#undef X
};
static const name_t scopes[] = {
#define X(name) {#name, GPC_SCOPE_##name},
    GPC_SCOPES(X)
#undef X
};
static const name_t flags[] = {
    {"TO_MASK", GPC_FLAG_TO_MASK},
    {"IF_ZERO", GPC_FLAG_IF_ZERO},
    {"HIGH", GPC_FLAG_HIGH},
    {"FLAT", GPC_FLAG_FLAT},
    {"ATOMIC_SHIFT", GPC_FLAG_ATOMIC_SHIFT},
    {"BYTES", GPC_FLAG_BYTES},
    {"ROUND_MASK", GPC_FLAG_ROUND_MASK},
    {"FTZ", GPC_FLAG_FTZ},
    {"SAT", GPC_FLAG_SAT},
    {"SHUFFLE_SHIFT", GPC_FLAG_SHUFFLE_SHIFT},
    {"SHUFFLE_MODE", GPC_FLAG_SHUFFLE_MODE},
};
static const name_t operand_kinds[] = {
    {"VECTOR", GPC_OPERAND_VECTOR}, {"UNIFORM", GPC_OPERAND_UNIFORM}, {"CONSTANT", GPC_OPERAND_CONSTANT},
    {"KIND", GPC_OPERAND_KIND},     {"NUMBER", GPC_OPERAND_NUMBER},   {"NONE", GPC_OPERAND_NONE},
};

/* dict[key] = value; steals the value's reference. A null value means that an exception is set. */
static int
put(PyObject *dict, const char *key, PyObject *value)
{
    int result = value == NULL ? -1 : PyDict_SetItemString(dict, key, value);

    Py_XDECREF(value);
    return result;
}

static PyObject *
dict_of_names(const name_t *names, size_t count)
{
    PyObject *dict = PyDict_New();

    for (size_t i = 0; dict != NULL && i < count; i++) {
        if (put(dict, names[i].name, PyLong_FromUnsignedLong(names[i].number)) != 0) {
            Py_CLEAR(dict);
        }
    }
    return dict;
}

static PyObject *
dict_of_operands(void)
{
    PyObject *dict = PyDict_New();

#define X(name, operands, group, unit, text)                                                                           \
    if (dict != NULL && put(dict, #name, PyUnicode_FromString(operands)) != 0) {                                       \
        Py_CLEAR(dict);                                                                                                \
    }
#include "lang/operations.def"
#undef X
    return dict;
}

/* Name -> number, words of d, a, b and c, unit, whether it takes flags. */
static PyObject *
dict_of_extended(void)
{
    PyObject *dict = PyDict_New();

    for (uint32_t i = 0; dict != NULL && i < gpc_num_extended; i++) {
        const gpc_extended_t *row = &gpc_extended[i];
        if (put(dict, row->name,
                Py_BuildValue("(IiiiiiN)", i, row->d, row->a, row->b, row->c, row->unit,
                              PyBool_FromLong(row->takes_flags))) != 0) {
            Py_CLEAR(dict);
        }
    }
    return dict;
}

static PyObject *
python_isa(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    PyObject *isa = PyDict_New();

    if (isa == NULL) {
        return NULL;
    }
    if (put(isa, "opcodes", dict_of_names(opcodes, GPC_COUNT_OF(opcodes))) != 0 ||
        put(isa, "operands", dict_of_operands()) != 0 || put(isa, "extended", dict_of_extended()) != 0 ||
        put(isa, "types", dict_of_names(types, GPC_COUNT_OF(types))) != 0 ||
        put(isa, "atomics", dict_of_names(atomics, GPC_COUNT_OF(atomics))) != 0 ||
        put(isa, "specials", dict_of_names(specials, GPC_COUNT_OF(specials))) != 0 ||
        put(isa, "orders", dict_of_names(orders, GPC_COUNT_OF(orders))) != 0 ||
        put(isa, "scopes", dict_of_names(scopes, GPC_COUNT_OF(scopes))) != 0 ||
        put(isa, "flags", dict_of_names(flags, GPC_COUNT_OF(flags))) != 0 ||
        put(isa, "operand_kinds", dict_of_names(operand_kinds, GPC_COUNT_OF(operand_kinds))) != 0 ||
        put(isa, "format", PyUnicode_FromString("<BBBBBBHHHHHIIIHH")) != 0 ||
        put(isa, "size", PyLong_FromSize_t(sizeof(gpc_instruction_t))) != 0) {
        Py_CLEAR(isa);
    }
    return isa;
}

/* ---- machines -------------------------------------------------------------------------------------- */

static PyObject *
python_machine_fields(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    PyObject *fields = PyDict_New();

    for (const gpc_machine_field_t *field = gpc_machine_fields; fields != NULL && field->name != NULL; field++) {
        if (put(fields, field->name, Py_BuildValue("IIs", field->smallest, field->largest, field->text)) != 0) {
            Py_CLEAR(fields);
        }
    }
    return fields;
}

/* ---- the module -------------------------------------------------------------------------------------------------- */

/* Until use_exceptions: a built-in exception for every row of errors.def. */
static void
take_builtin_exceptions(gpc_module_state_t *state)
{
    for (int i = 1; i < GPC_NUM_ERRORS; i++) {
        bool memory = strcmp(gpc_error_exception(-i), "MemoryError") == 0;
        state->exceptions[i] = Py_NewRef(memory ? PyExc_MemoryError : PyExc_RuntimeError);
    }
}

/* The package imports this module, so this module does not import the package's exceptions: it is given them. */
static PyObject *
python_use_exceptions(PyObject *module, PyObject *errors)
{
    gpc_module_state_t *state = PyModule_GetState(module);

    for (int i = 1; i < GPC_NUM_ERRORS; i++) {
        const char *name = gpc_error_exception(-i);
        PyObject *found =
            strcmp(name, "MemoryError") == 0 ? Py_NewRef(PyExc_MemoryError) : PyObject_GetAttrString(errors, name);
        if (found == NULL) {
            return NULL;
        }
        Py_SETREF(state->exceptions[i], found);
    }
    return Py_NewRef(Py_None);
}

static int
module_exec(PyObject *module)
{
    gpc_module_state_t *state = PyModule_GetState(module);

    take_builtin_exceptions(state);
    atomic_init(&state->loaded, NULL);
    state->stock = gpc_stock_create();
    if (state->stock == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (gpc_add_types(module, state) != 0) {
        return -1;
    }
    return PyModule_AddStringConstant(module, "VERSION", GPC_VERSION);
}

static int
module_traverse(PyObject *module, visitproc visit, void *arg)
{
    gpc_module_state_t *state = PyModule_GetState(module);

    for (int i = 1; i < GPC_NUM_ERRORS; i++) {
        Py_VISIT(state->exceptions[i]);
    }
    Py_VISIT(state->gpu_type);
    Py_VISIT(state->snapshot_type);
    return 0;
}

static int
module_clear(PyObject *module)
{
    gpc_module_state_t *state = PyModule_GetState(module);

    for (int i = 1; i < GPC_NUM_ERRORS; i++) {
        Py_CLEAR(state->exceptions[i]);
    }
    Py_CLEAR(state->gpu_type);
    Py_CLEAR(state->snapshot_type);
    return 0;
}

static void
module_free(void *module)
{
    gpc_module_state_t *state = PyModule_GetState(module);

    (void) module_clear(module);
    gpc_loaded_free(atomic_load(&state->loaded));
    gpc_stock_free(state->stock);
}

#define WITH_KEYWORDS(function) ((PyCFunction) (void (*)(void)) (function)), METH_VARARGS | METH_KEYWORDS

static PyMethodDef module_methods[] = {
    {"use_exceptions", python_use_exceptions, METH_O,
     "use_exceptions($module, errors)\n--\n\nRaises the exceptions of a module from now on, by the names of "
     "errors.def."},
    {"isa", python_isa, METH_NOARGS, "isa($module)\n--\n\nThe instruction set: opcodes, operands and encoding."},
    {"machine_fields", python_machine_fields, METH_NOARGS,
     "machine_fields($module)\n--\n\nMachine fields: name -> (smallest, largest, text)."},
    {"protocol_ids", gpc_python_protocol_ids, METH_NOARGS, "protocol_ids($module)\n--\n\nThe ids of all protocols."},
    {"library_protocols", gpc_python_library_protocols, METH_O,
     "library_protocols($module, path)\n--\n\nThe ids of the protocols of a library."},
    {"add_protocols", gpc_python_add_protocols, METH_O,
     "add_protocols($module, path)\n--\n\nAdds the protocols of a library; their ids."},
    {"describe_protocol", gpc_python_describe_protocol, METH_O,
     "describe_protocol($module, id)\n--\n\nJSON of one protocol: its tables, options and messages."},
    {"check_causes", gpc_python_check_causes, METH_O,
     "check_causes($module, id)\n--\n\nWhether something brings each cause that a protocol's tables have events for. "
     "It executes the protocol's code."},
    {"explore", WITH_KEYWORDS(gpc_python_explore),
     "explore($module, protocol, rule, options, cores, variables, threads, warm, evictions, max_states)\n--\n\n"
     "JSON of an exploration of all interleavings."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec}, /* no Py_mod_gil: no test has run without the GIL yet (docs/release.md) */
    {0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "gpucoh._core",
    .m_doc = "The C core of gpucoh; see gpucoh/_core.pyi.",
    .m_size = sizeof(gpc_module_state_t),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC
PyInit__core(void)
{
    return PyModuleDef_Init(&module_definition);
}
