/* raise.c: raises the exceptions of core errors and of bad arguments. */
#include "python/module.h"

/* An instance of the exception of a core error. NULL, with another exception set, if there is none. */
static PyObject *
error_of(const gpc_module_state_t *state, int code, const char *text)
{
    int index = code < 0 && code > -GPC_NUM_ERRORS ? -code : 0;
    PyObject *message, *error;

    if (index == 0) {
        PyErr_Format(PyExc_SystemError, "gpucoh: the core returned the unknown error code %d", code);
        return NULL;
    }
    if (text == NULL || text[0] == 0) {
        text = gpc_error_message(code);
    }
    message = PyUnicode_DecodeUTF8(text, (Py_ssize_t) strlen(text), "replace");
    error = message == NULL ? NULL : PyObject_CallOneArg(state->exceptions[index], message);
    Py_XDECREF(message);
    return error;
}

/* Raises the error, whose reference it steals. */
static PyObject *
raise(PyObject *error)
{
    if (error != NULL) {
        PyErr_SetObject((PyObject *) Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return NULL;
}

PyObject *
gpc_raise(const gpc_module_state_t *state, int code, const char *text)
{
    return raise(error_of(state, code, text));
}

/* Sets an attribute of the error; steals the value's reference. */
static int
set_fact(PyObject *error, const char *name, PyObject *value)
{
    int result = value == NULL ? -1 : PyObject_SetAttrString(error, name, value);
    Py_XDECREF(value);
    return result;
}

PyObject *
gpc_raise_failure(const gpc_module_state_t *state, int code, const gpc_failure_t *failure)
{
    PyObject *error = error_of(state, code, failure->text);
    int result = 0;

    if (error != NULL && failure->place.known) {
        result = set_fact(error, "place", Py_BuildValue("(II)", failure->place.file, failure->place.line));
    }
    if (error != NULL && failure->line != GPC_NEVER && result == 0) {
        result = set_fact(error, "address", PyLong_FromUnsignedLongLong(failure->line));
    }
    if (result != 0) {
        Py_CLEAR(error);
    }
    return raise(error);
}

PyObject *
gpc_raise_argument(const gpc_module_state_t *state, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    PyErr_FormatV(state->exceptions[-GPC_ERROR_ARGUMENT], format, arguments);
    va_end(arguments);
    return NULL;
}
