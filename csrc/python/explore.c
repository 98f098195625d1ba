/* explore.c: _core.explore(): converts the arguments of the explorer. */
#include "python/module.h"

/* One thread: (core, [(kind, order, scope, variable, value, read_only, source, adds), ...]); an operation may go on
 * with (.., atomic, word, replacement). */
enum { FEWEST_NUMBERS = 8, MOST_NUMBERS = 11 };

static int
get_operation(const gpc_module_state_t *state, PyObject *item, gpc_explore_op_t *out)
{
    uint64_t numbers[MOST_NUMBERS] = {0};

    if (!PyTuple_Check(item) || (PyTuple_GET_SIZE(item) != FEWEST_NUMBERS && PyTuple_GET_SIZE(item) != MOST_NUMBERS)) {
        gpc_raise_argument(state,
                           "an operation must be a tuple (kind, order, scope, variable, value, read_only, source, "
                           "adds[, atomic, word, replacement]), got %R",
                           item);
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(item); i++) {
        uint64_t largest = i == 4 || i == 10 ? UINT64_MAX : UINT8_MAX;
        if (gpc_get_u64(state, PyTuple_GET_ITEM(item, i), "a number of an operation", largest, &numbers[i]) != 0) {
            return -1;
        }
    }
    if (numbers[0] >= GPC_NUM_EXPLORE_OPERATIONS || numbers[1] >= GPC_NUM_ORDERS || numbers[2] >= GPC_NUM_SCOPES) {
        gpc_raise_argument(state, "unknown kind, order or scope of an operation: %R", item);
        return -1;
    }
    *out = (gpc_explore_op_t){(uint8_t) numbers[0], (uint8_t) numbers[1], (uint8_t) numbers[2], (uint8_t) numbers[3],
                              numbers[4],           numbers[5] != 0,      (uint8_t) numbers[6], numbers[7] != 0,
                              (uint8_t) numbers[8], (uint8_t) numbers[9], numbers[10]};
    return 0;
}

static int
get_thread(const gpc_module_state_t *state, PyObject *item, gpc_explore_thread_t *out)
{
    PyObject *list = NULL;
    gpc_explore_op_t *ops = NULL;
    Py_ssize_t count = 0;

    if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != 2) {
        gpc_raise_argument(state, "a thread must be a tuple (core, operations), got %R", item);
        return -1;
    }
    if (gpc_get_u32(state, PyTuple_GET_ITEM(item, 0), "the core of a thread", &out->core) != 0) {
        return -1;
    }
    list = PySequence_Tuple(PyTuple_GET_ITEM(item, 1));
    if (list == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            gpc_raise_argument(state, "the operations of a thread must be a sequence, got %R",
                               PyTuple_GET_ITEM(item, 1));
        }
        return -1;
    }
    count = PyTuple_GET_SIZE(list);
    ops = PyMem_Calloc((size_t) count + 1, sizeof(*ops));
    if (ops == NULL) {
        Py_DECREF(list);
        PyErr_NoMemory();
        return -1;
    }
    out->ops = ops; /* the caller frees it, even after a failure */
    for (Py_ssize_t i = 0; i < count; i++) {
        if (get_operation(state, PyTuple_GET_ITEM(list, i), &ops[i]) != 0) {
            Py_DECREF(list);
            return -1;
        }
    }
    out->num_ops = (uint32_t) count;
    Py_DECREF(list);
    return 0;
}

static void
free_threads(gpc_explore_thread_t *threads, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; threads != NULL && i < count; i++) {
        PyMem_Free((void *) (uintptr_t) threads[i].ops);
    }
    PyMem_Free(threads);
}

static gpc_explore_thread_t *
get_threads(const gpc_module_state_t *state, PyObject *object, uint32_t *num_threads)
{
    PyObject *list = PySequence_Tuple(object);
    gpc_explore_thread_t *threads = NULL;
    Py_ssize_t count = 0;

    if (list == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            gpc_raise_argument(state, "threads must be a sequence of tuples, got %R", object);
        }
        return NULL;
    }
    count = PyTuple_GET_SIZE(list);
    threads = PyMem_Calloc((size_t) count + 1, sizeof(*threads));
    if (threads == NULL) {
        PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; threads != NULL && i < count; i++) {
        if (get_thread(state, PyTuple_GET_ITEM(list, i), &threads[i]) != 0) {
            free_threads(threads, count);
            threads = NULL;
        }
    }
    *num_threads = (uint32_t) count;
    Py_DECREF(list);
    return threads;
}

/* Rows of one length, each a tuple of values. */
static int
get_row(const gpc_module_state_t *state, PyObject *row, gpc_explore_t *what, uint32_t *out)
{
    if (!PyTuple_Check(row) || PyTuple_GET_SIZE(row) != (Py_ssize_t) what->allowed_width) {
        gpc_raise_argument(state, "an allowed outcome must be a tuple as long as the first, got %R", row);
        return -1;
    }
    for (uint32_t i = 0; i < what->allowed_width; i++) {
        if (gpc_get_u32(state, PyTuple_GET_ITEM(row, i), "a value of an allowed outcome", &out[i]) != 0) {
            return -1;
        }
    }
    return 0;
}

/* The caller frees *out, even after a failure. None: every outcome is allowed. */
static int
get_allowed(const gpc_module_state_t *state, PyObject *object, gpc_explore_t *what, uint32_t **out)
{
    PyObject *rows = NULL;
    Py_ssize_t count = 0;
    int result = 0;

    if (object == Py_None) {
        return 0;
    }
    rows = PySequence_Tuple(object);
    if (rows == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            gpc_raise_argument(state, "allowed must be a sequence of tuples or None, got %R", object);
        }
        return -1;
    }
    count = PyTuple_GET_SIZE(rows);
    if (count == 0 || !PyTuple_Check(PyTuple_GET_ITEM(rows, 0))) {
        gpc_raise_argument(state, "allowed must name at least one outcome, each a tuple, got %R", object);
        Py_DECREF(rows);
        return -1;
    }
    what->num_allowed = (uint32_t) count;
    what->allowed_width = (uint32_t) PyTuple_GET_SIZE(PyTuple_GET_ITEM(rows, 0));
    *out = PyMem_Calloc((size_t) count * what->allowed_width + 1, sizeof(**out));
    if (*out == NULL) {
        PyErr_NoMemory();
        result = -1;
    }
    for (Py_ssize_t i = 0; result == 0 && i < count; i++) {
        result = get_row(state, PyTuple_GET_ITEM(rows, i), what, *out + (size_t) i * what->allowed_width);
    }
    Py_DECREF(rows);
    return result;
}

/* Runs the exploration without the GIL; `options` keeps the names alive. */
static PyObject *
explore(const gpc_module_state_t *state, const gpc_explore_t *what)
{
    gpc_text_t text;
    PyObject *result = NULL;
    int code = 0;

    gpc_text_init(&text);
    Py_BEGIN_ALLOW_THREADS code = gpc_explore(what, &text);
    Py_END_ALLOW_THREADS if (code != 0)
    {
        gpc_raise(state, code, text.length != 0 ? text.bytes : NULL);
    }
    else
    {
        result = PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t) text.length, "replace");
    }
    gpc_text_free(&text);
    return result;
}

PyObject *
gpc_python_explore(PyObject *module, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {
        "protocol", "rule",  "options", "cores",     "variables", "threads", "warm",        "evictions", "max_states",
        "packed",   "tight", "allowed", "unwatched", "fields",    "named",   "every_order", "wide",      NULL,
    };
    gpc_module_state_t *state = PyModule_GetState(module);
    PyObject *protocol, *rule, *options_object, *cores, *variables, *threads_object, *warm, *evictions, *max_states,
        *allowed_object = Py_None, *fields_object = NULL, *wide = NULL, *result = NULL;
    gpc_options_argument_t options = {0}, fields = {0};
    gpc_explore_thread_t *threads = NULL;
    gpc_explore_t what = {0};
    uint32_t *allowed = NULL;
    int packed = 0, tight = 0, unwatched = 0, named = 0, every_order = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOOOOOOO|ppOpOppO:explore", (char **) (uintptr_t) names,
                                     &protocol, &rule, &options_object, &cores, &variables, &threads_object, &warm,
                                     &evictions, &max_states, &packed, &tight, &allowed_object, &unwatched,
                                     &fields_object, &named, &every_order, &wide)) {
        return NULL;
    }
    if (gpc_get_protocol(state, protocol, &what.protocol) != 0 || gpc_get_rule(state, rule, &what.rule) != 0 ||
        gpc_get_u32(state, cores, "cores", &what.cores) != 0 ||
        gpc_get_u32(state, variables, "variables", &what.variables) != 0 ||
        gpc_get_u32(state, warm, "warm", &what.warm) != 0 ||
        (wide != NULL && gpc_get_u32(state, wide, "wide", &what.wide) != 0) ||
        gpc_get_u32(state, evictions, "evictions", &what.evictions) != 0 ||
        gpc_get_u64(state, max_states, "max_states", UINT64_MAX, &what.max_states) != 0 ||
        gpc_get_options(state, options_object, &options) != 0) {
        return NULL;
    }
    if (fields_object != NULL && gpc_get_options(state, fields_object, &fields) != 0) {
        gpc_options_argument_free(&options);
        return NULL;
    }
    threads = get_threads(state, threads_object, &what.num_threads);
    if (threads != NULL && get_allowed(state, allowed_object, &what, &allowed) == 0) {
        what.options = options.values;
        what.num_options = options.count;
        what.fields = fields.values;
        what.num_fields = fields.count;
        what.threads = threads;
        what.packed = packed != 0;
        what.tight = tight != 0;
        what.unwatched = unwatched != 0;
        what.named = named != 0;
        what.every_order = every_order != 0;
        what.allowed = allowed;
        result = explore(state, &what);
    }
    PyMem_Free(allowed);
    free_threads(threads, threads == NULL ? 0 : (Py_ssize_t) what.num_threads);
    gpc_options_argument_free(&options);
    gpc_options_argument_free(&fields);
    return result;
}
