/* arguments.c: converts Python objects to the C types of gpu.h. An invalid argument raises a ConfigError that names
 * it. */
#include "python/module.h"

int
gpc_get_u64(const gpc_module_state_t *state, PyObject *object, const char *what, uint64_t largest, uint64_t *out)
{
    PyObject *index = PyNumber_Index(object);
    unsigned long long value = 0;

    if (index != NULL) {
        value = PyLong_AsUnsignedLongLong(index); /* refuses negative numbers too */
        Py_DECREF(index);
    }
    if (PyErr_Occurred() != NULL) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_OverflowError)) {
            return -1; /* the object's own __index__ raised it */
        }
        PyErr_Clear();
    } else if (value <= largest) {
        *out = value;
        return 0;
    }
    gpc_raise_argument(state, "%s must be a whole number from 0 to %llu, got %R", what, (unsigned long long) largest,
                       object);
    return -1;
}

int
gpc_get_u32(const gpc_module_state_t *state, PyObject *object, const char *what, uint32_t *out)
{
    uint64_t value = 0;

    if (gpc_get_u64(state, object, what, UINT32_MAX, &value) != 0) {
        return -1;
    }
    *out = (uint32_t) value;
    return 0;
}

int
gpc_get_text(const gpc_module_state_t *state, PyObject *object, const char *what, const char **out)
{
    Py_ssize_t length = 0;
    const char *text = NULL;

    if (PyUnicode_Check(object)) {
        text = PyUnicode_AsUTF8AndSize(object, &length);
        if (text == NULL && !PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
            return -1;
        }
        PyErr_Clear(); /* a lone surrogate: reported below */
    }
    if (text == NULL || strlen(text) != (size_t) length) {
        gpc_raise_argument(state, "%s must be a string without null characters, got %R", what, object);
        return -1;
    }
    *out = text;
    return 0;
}

int
gpc_get_rule(const gpc_module_state_t *state, PyObject *object, gpc_rule_t *out)
{
    static const char *const names[] = {
#define X(name, text) text,
        GPC_RULES(X)
#undef X
    };

    if (object == Py_None) {
        *out = GPC_RULE_DEFAULT;
        return 0;
    }
    for (uint32_t i = 0; PyUnicode_Check(object) && i < GPC_NUM_RULES; i++) {
        if (PyUnicode_CompareWithASCIIString(object, names[i]) == 0) {
            *out = (gpc_rule_t) i;
            return 0;
        }
    }
    gpc_raise_argument(state, "unknown consistency %R: must be sc, rc, drf, hrf, or None for the protocol's default",
                       object);
    return -1;
}

static bool
is_machine_field(PyObject *name)
{
    for (const gpc_machine_field_t *field = gpc_machine_fields; PyUnicode_Check(name) && field->name != NULL; field++) {
        if (PyUnicode_CompareWithASCIIString(name, field->name) == 0) {
            return true;
        }
    }
    return false;
}

/* Requires every field and accepts no unknown ones. gpc_machine_check checks ranges and relations between fields. */
int
gpc_get_machine(const gpc_module_state_t *state, PyObject *object, gpc_machine_t *out)
{
    PyObject *fields = NULL, *name = NULL, *value = NULL;
    Py_ssize_t at = 0;
    int result = -1;

    memset(out, 0, sizeof(*out));
    if (!PyDict_Check(object)) {
        gpc_raise_argument(state, "machine must be a dict of machine fields, got %R", object);
        return -1;
    }
    fields = PyDict_Copy(object); /* a private copy: no other thread can change it */
    if (fields == NULL) {
        return -1;
    }
    while (PyDict_Next(fields, &at, &name, &value)) {
        if (!is_machine_field(name)) {
            gpc_raise_argument(state, "unknown machine field %R", name);
            goto out;
        }
    }
    for (const gpc_machine_field_t *field = gpc_machine_fields; field->name != NULL; field++) {
        uint64_t number = 0;

        value = PyDict_GetItemString(fields, field->name);
        if (value == NULL) {
            gpc_raise_argument(state, "missing machine field %s", field->name);
            goto out;
        }
        if (gpc_get_u64(state, value, field->name, UINT64_MAX, &number) != 0) {
            goto out;
        }
        if (number < field->smallest || number > field->largest) {
            gpc_raise_argument(state, "machine field %s must be from %lu to %lu, got %S", field->name,
                               (unsigned long) field->smallest, (unsigned long) field->largest, value);
            goto out;
        }
        *(uint32_t *) (void *) ((char *) out + field->offset) = (uint32_t) number;
    }
    result = 0;
out:
    Py_DECREF(fields);
    return result;
}

void
gpc_options_argument_free(gpc_options_argument_t *self)
{
    Py_CLEAR(self->items);
}

static int
get_option(const gpc_module_state_t *state, PyObject *pair, gpc_option_value_t *out)
{
    PyObject *index = NULL;
    long long number = 0;

    if (gpc_get_text(state, PyTuple_GET_ITEM(pair, 0), "the name of an option", &out->name) != 0) {
        return -1;
    }
    index = PyNumber_Index(PyTuple_GET_ITEM(pair, 1));
    if (index != NULL) {
        number = PyLong_AsLongLong(index);
        Py_DECREF(index);
    }
    if (PyErr_Occurred() != NULL) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_OverflowError)) {
            return -1;
        }
        PyErr_Clear();
        gpc_raise_argument(state, "option %s must be a 64-bit whole number, got %R", out->name,
                           PyTuple_GET_ITEM(pair, 1));
        return -1;
    }
    out->value = number;
    return 0;
}

int
gpc_get_options(const gpc_module_state_t *state, PyObject *object, gpc_options_argument_t *out)
{
    *out = (gpc_options_argument_t){0};
    if (!PyDict_Check(object)) {
        gpc_raise_argument(state, "options must be a dict of whole numbers, got %R", object);
        return -1;
    }
    out->items = PyDict_Items(object);
    if (out->items == NULL) {
        return -1;
    }
    if (PyList_GET_SIZE(out->items) > (Py_ssize_t) GPC_MAX_OPTIONS) {
        gpc_raise_argument(state, "%zd options: a protocol has at most %d", PyList_GET_SIZE(out->items),
                           (int) GPC_MAX_OPTIONS);
        goto failed;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(out->items); i++) {
        if (get_option(state, PyList_GET_ITEM(out->items, i), &out->values[i]) != 0) {
            goto failed;
        }
        out->count++;
    }
    return 0;
failed:
    gpc_options_argument_free(out);
    return -1;
}

static bool
is_word_format(const Py_buffer *view)
{
    const char *format = view->format == NULL ? "B" : view->format;

    if (format[0] == '@' || format[0] == '=' || format[0] == '<') {
        format++; /* the host is little-endian: see module.h */
    }
    return view->itemsize == 4 && (format[0] == 'I' || format[0] == 'L') && format[1] == 0;
}

int
gpc_get_words(const gpc_module_state_t *state, PyObject *object, const char *what, bool writable, Py_buffer *out)
{
    int flags = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);

    if (PyObject_GetBuffer(object, out, flags) != 0) {
        if (PyErr_ExceptionMatches(PyExc_MemoryError)) {
            return -1;
        }
        PyErr_Clear();
        gpc_raise_argument(state, "%s must be a %sC-contiguous array of uint32, got %s", what,
                           writable ? "writable, " : "", Py_TYPE(object)->tp_name);
        return -1;
    }
    if (!is_word_format(out)) {
        gpc_raise_argument(state, "%s must be a C-contiguous array of uint32, got elements of format '%s'", what,
                           out->format == NULL ? "B" : out->format);
        PyBuffer_Release(out);
        return -1;
    }
    return 0;
}

void
gpc_buffers_argument_free(gpc_buffers_argument_t *self)
{
    PyMem_Free(self->buffers);
    self->buffers = NULL;
    Py_CLEAR(self->items);
}

static int
get_buffer(const gpc_module_state_t *state, PyObject *item, gpc_buffer_t *out)
{
    int read_only = 0;
    uint64_t bytes = 4;

    /* Tuples are immutable: the name is used while other threads run. */
    if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) < 4 || PyTuple_GET_SIZE(item) > 5) {
        gpc_raise_argument(state, "a buffer must be a tuple (address, elements, read_only, name[, bytes]), got %R",
                           item);
        return -1;
    }
    if (gpc_get_u64(state, PyTuple_GET_ITEM(item, 0), "the address of a buffer", UINT64_MAX, &out->address) != 0 ||
        gpc_get_u64(state, PyTuple_GET_ITEM(item, 1), "the elements of a buffer", UINT64_MAX, &out->elements) != 0 ||
        gpc_get_text(state, PyTuple_GET_ITEM(item, 3), "the name of a buffer", &out->name) != 0 ||
        (PyTuple_GET_SIZE(item) == 5 &&
         gpc_get_u64(state, PyTuple_GET_ITEM(item, 4), "the bytes of a buffer's element", 4, &bytes) != 0)) {
        return -1;
    }
    if (bytes != 1 && bytes != 2 && bytes != 4) {
        gpc_raise_argument(state, "the bytes of a buffer's element must be 1, 2 or 4, got %R",
                           PyTuple_GET_ITEM(item, 4));
        return -1;
    }
    out->bytes = bytes == 4 ? 0 : (uint8_t) bytes;
    read_only = PyObject_IsTrue(PyTuple_GET_ITEM(item, 2));
    if (read_only < 0) {
        return -1;
    }
    out->read_only = read_only != 0;
    return 0;
}

int
gpc_get_buffers(const gpc_module_state_t *state, PyObject *object, gpc_buffers_argument_t *out)
{
    Py_ssize_t count = 0;

    *out = (gpc_buffers_argument_t){0};
    out->items = PySequence_Tuple(object);
    if (out->items == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            gpc_raise_argument(state, "buffers must be a sequence of tuples, got %R", object);
        }
        return -1;
    }
    count = PyTuple_GET_SIZE(out->items);
    out->buffers = PyMem_Calloc((size_t) count + 1, sizeof(*out->buffers));
    if (out->buffers == NULL) {
        PyErr_NoMemory();
        goto failed;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (get_buffer(state, PyTuple_GET_ITEM(out->items, i), &out->buffers[i]) != 0) {
            goto failed;
        }
    }
    out->count = (uint32_t) count;
    return 0;
failed:
    gpc_buffers_argument_free(out);
    return -1;
}

void
gpc_sources_argument_free(gpc_sources_argument_t *self)
{
    PyMem_Free(self->files);
    PyMem_Free((void *) self->reports);
    *self = (gpc_sources_argument_t){0};
}

static int
get_source(const gpc_module_state_t *state, PyObject *item, gpc_source_t *out)
{
    if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != 2) {
        gpc_raise_argument(state, "a file must be a tuple (name, first line), got %R", item);
        return -1;
    }
    return gpc_get_text(state, PyTuple_GET_ITEM(item, 0), "the name of a file", &out->name) != 0
               ? -1
               : gpc_get_u32(state, PyTuple_GET_ITEM(item, 1), "the first line of a file", &out->first);
}

int
gpc_get_sources(const gpc_module_state_t *state, PyObject *files, PyObject *reports, gpc_sources_argument_t *out)
{
    *out = (gpc_sources_argument_t){0};
    if ((files && !PyTuple_Check(files)) || (reports && !PyTuple_Check(reports))) {
        gpc_raise_argument(state, "files and reports must be tuples");
        return -1;
    }
    out->num_files = files ? (uint32_t) PyTuple_GET_SIZE(files) : 0;
    out->num_reports = reports ? (uint32_t) PyTuple_GET_SIZE(reports) : 0;
    out->files = PyMem_Calloc(out->num_files + 1u, sizeof(*out->files));
    out->reports = PyMem_Calloc(out->num_reports + 1u, sizeof(*out->reports));
    int result = 0;
    if (out->files == NULL || out->reports == NULL) {
        PyErr_NoMemory();
        result = -1;
    }
    for (uint32_t i = 0; i < out->num_files && result == 0; i++) {
        result = get_source(state, PyTuple_GET_ITEM(files, i), &out->files[i]);
    }
    for (uint32_t i = 0; i < out->num_reports && result == 0; i++) {
        result = gpc_get_text(state, PyTuple_GET_ITEM(reports, i), "a report", &out->reports[i]);
    }
    if (result != 0) {
        gpc_sources_argument_free(out);
    }
    return result;
}

int
gpc_get_extent(const gpc_module_state_t *state, PyObject *object, const char *what, uint32_t out[3])
{
    if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) != 3) {
        gpc_raise_argument(state, "%s must be a tuple of three whole numbers, got %R", what, object);
        return -1;
    }
    for (Py_ssize_t i = 0; i < 3; i++) {
        if (gpc_get_u32(state, PyTuple_GET_ITEM(object, i), what, &out[i]) != 0) {
            return -1;
        }
    }
    return 0;
}
