/* SPDX-License-Identifier: MIT
 *
 * Arguments of functions, from rows; and errors, which become exceptions in Python. */
#include "py_state.h" /* Python.h comes before all others */

#include <stdarg.h>
#include <string.h>

#include "core/code/policies.def"

#define WORD(value, word)      {value, word},
#define ROW(value, word, help) {value, word},
const struct dti_py_word dti_py_rounds[] = {DTI_ROUNDS(ROW, ROW) DTI_ROUND_WORDS(WORD){0, NULL}};
const struct dti_py_word dti_py_overflows[] = {DTI_OVERFLOWS(ROW)
                                                   DTI_OVERFLOW_WORDS(WORD){0, NULL}};
const struct dti_py_word dti_py_nans[] = {DTI_NANS(ROW){0, NULL}};

static const char *text_of(const char *name, PyObject *object)
{
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s must be a str", name);
        return NULL;
    }
    Py_ssize_t length;
    const char *const text = PyUnicode_AsUTF8AndSize(object, &length);
    if (text && strlen(text) != (size_t)length) {
        PyErr_Format(PyExc_ValueError, "%s contains a NUL", name);
        return NULL;
    }
    return text;
}

static bool take_word(const struct dti_py_parameter *row, PyObject *object, int *ret)
{
    const char *const text = text_of(row->name, object);
    if (!text)
        return false;
    for (const struct dti_py_word *word = row->words; word->word; word++)
        if (strcmp(word->word, text) == 0) {
            *ret = word->value;
            return true;
        }
    PyObject *const list = PyUnicode_FromString(row->words->word);
    PyObject *all = list;
    for (const struct dti_py_word *word = row->words + 1;
         all && word->word && word->value > word[-1].value; word++) { /* not the aliases */
        PyObject *const longer = PyUnicode_FromFormat("%U, %s", all, word->word);
        Py_DECREF(all);
        all = longer;
    }
    if (all)
        PyErr_Format(PyExc_ValueError, "%s='%s' is not one of %U", row->name, text, all);
    Py_XDECREF(all);
    return false;
}

static bool take_route(struct dti_py_state *state, PyObject *object, struct dti_py_route *ret)
{
    ret->count = 0;
    if (!PyTuple_Check(object) && !PyList_Check(object)) {
        ret->stages[0] = dti_py_dtype_from(state, object);
        ret->count = 1;
        return ret->stages[0] != NULL;
    }
    const Py_ssize_t count = PySequence_Size(object);
    if (count > DTI_ROUTE_MAX) {
        PyErr_Format(PyExc_ValueError, "via has more than %d stages", DTI_ROUTE_MAX);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *const item = PySequence_GetItem(object, i);
        if (!item)
            return false;
        ret->stages[i] = dti_py_dtype_from(state, item);
        Py_DECREF(item);
        if (!ret->stages[i])
            return false;
        ret->count++;
    }
    return true;
}

static bool take_u64(const char *name, PyObject *object, uint64_t *ret)
{
    PyObject *const index = PyNumber_Index(object);
    if (!index)
        return false;
    const unsigned long long number = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    if (number == (unsigned long long)-1 && PyErr_Occurred()) {
        PyErr_Format(PyExc_ValueError, "%s must be from 0 to 2**64 - 1", name);
        return false;
    }
    *ret = number;
    return true;
}

static bool take_int(const char *name, PyObject *object, int *ret)
{
    const long number = PyLong_AsLong(object);
    if (number == -1 && PyErr_Occurred())
        return false;
    if (number < INT_MIN || number > INT_MAX) {
        PyErr_Format(PyExc_ValueError, "%s is out of range", name);
        return false;
    }
    *ret = (int)number;
    return true;
}

static bool take(struct dti_py_state *state, const struct dti_py_parameter *row, PyObject *object,
                 void *ret)
{
    void *const place = (char *)ret + row->offset;
    int truth;
    switch (row->take) {
    case DTI_PY_OBJECT:
        *(PyObject **)place = object;
        return true;
    case DTI_PY_TEXT:
        return (*(const char **)place = text_of(row->name, object)) != NULL;
    case DTI_PY_DTYPE:
        return (*(struct dti_py_dtype **)place = dti_py_dtype_from(state, object)) != NULL;
    case DTI_PY_DTYPES:
        return take_route(state, object, place);
    case DTI_PY_WORD:
        return take_word(row, object, place);
    case DTI_PY_U64:
        return take_u64(row->name, object, place);
    case DTI_PY_INT:
        return take_int(row->name, object, place);
    case DTI_PY_FLAG:
        truth = PyObject_IsTrue(object);
        *(bool *)place = truth > 0;
        return truth >= 0;
    case DTI_PY_DOUBLE:
        *(double *)place = PyFloat_AsDouble(object);
        return !PyErr_Occurred();
    }
    return false;
}

/* The row of a keyword. Names are interned as a rule, but need not be. */
static const struct dti_py_parameter *find(const struct dti_py_signature *signature, PyObject *name)
{
    for (unsigned i = 0; i < signature->count; i++)
        if (PyUnicode_CompareWithASCIIString(name, signature->rows[i].name) == 0)
            return &signature->rows[i];
    PyErr_Format(PyExc_TypeError, "%s() has no argument '%U'", signature->name, name);
    return NULL;
}

bool dti_py_arguments(struct dti_py_state *state, const struct dti_py_signature *signature,
                      PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, void *ret)
{
    if (nargs > (Py_ssize_t)signature->positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %u positional arguments, not %zd",
                     signature->name, signature->positional, nargs);
        return false;
    }
    uint64_t given = 0;
    for (Py_ssize_t i = 0; i < nargs; i++) {
        given |= UINT64_C(1) << i;
        if (args[i] != Py_None && !take(state, &signature->rows[i], args[i], ret))
            return false;
    }
    const Py_ssize_t keywords = kwnames ? PyTuple_Size(kwnames) : 0;
    for (Py_ssize_t i = 0; i < keywords; i++) {
        PyObject *const name = PyTuple_GetItem(kwnames, i);
        const struct dti_py_parameter *const row = name ? find(signature, name) : NULL;
        if (!row)
            return false;
        const uint64_t bit = UINT64_C(1) << (row - signature->rows);
        if (given & bit) {
            PyErr_Format(PyExc_TypeError, "%s() got '%U' twice", signature->name, name);
            return false;
        }
        given |= bit;
        if (args[nargs + i] != Py_None && !take(state, row, args[nargs + i], ret))
            return false;
    }
    for (unsigned i = 0; i < signature->required; i++)
        if (!(given >> i & 1)) {
            PyErr_Format(PyExc_TypeError, "%s() needs '%s'", signature->name,
                         signature->rows[i].name);
            return false;
        }
    return true;
}

void dti_py_spec(struct dti_cast_spec *spec, const struct dti_py_policies *policies)
{
    spec->round_given = policies->round >= 0;
    if (policies->round >= 0)
        spec->round = (enum dti_round)policies->round;
    if (policies->overflow >= 0)
        spec->overflow = (enum dti_overflow)policies->overflow;
    if (policies->nan >= 0)
        spec->nan = (enum dti_nan)policies->nan;
    spec->seed = policies->seed;
    spec->like = policies->like;
    spec->via_count = policies->via.count;
    for (size_t i = 0; i < policies->via.count; i++)
        spec->via[i] = policies->via.stages[i]->format;
}

PyObject *dti_py_helper(struct dti_py_state *state, const char *name)
{
    if (!state->helpers) {
        PyObject *const helpers = PyImport_ImportModule("dtinfo._helpers");
        if (!helpers)
            return NULL;
        if (!state->helpers)
            state->helpers = helpers;
        else
            Py_DECREF(helpers);
    }
    return PyObject_GetAttrString(state->helpers, name);
}

PyObject *dti_py_help(struct dti_py_state *state, const char *name, const char *format, ...)
{
    PyObject *const helper = dti_py_helper(state, name);
    if (!helper)
        return NULL;
    va_list arguments;
    va_start(arguments, format);
    PyObject *const tuple = Py_VaBuildValue(format, arguments);
    va_end(arguments);
    PyObject *const result = tuple ? PyObject_Call(helper, tuple, NULL) : NULL;
    Py_XDECREF(tuple);
    Py_DECREF(helper);
    return result;
}

PyObject *dti_py_fail(struct dti_py_state *state, const struct dti_error *error)
{
    if (PyErr_Occurred()) /* a signal handler's exception, which ended the call */
        return NULL;
    if (error->status == DTI_NO_MEMORY)
        return PyErr_NoMemory();
    PyObject *const suggestions = PyList_New(0);
    for (size_t i = 0; suggestions && i < DTI_ERROR_SUGGESTIONS && error->suggestions[i][0]; i++) {
        PyObject *const text = PyUnicode_FromString(error->suggestions[i]);
        if (!text || PyList_Append(suggestions, text) < 0)
            PyErr_Clear();
        Py_XDECREF(text);
    }
    PyObject *const argument =
        PyUnicode_DecodeUTF8(error->argument, (Py_ssize_t)strlen(error->argument), "replace");
    PyObject *const exception =
        suggestions && argument
            ? dti_py_help(state, "exception", "(ssssOO)", dti_status_code(error->status),
                          error->text, error->remedy ? dti_remedy_word(error->remedy) : "none",
                          error->remedy ? dti_remedy_advice(error->remedy) : "", argument,
                          suggestions)
            : NULL;
    Py_XDECREF(argument);
    Py_XDECREF(suggestions);
    if (exception) {
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
        Py_DECREF(exception);
    }
    return NULL;
}

PyObject *dti_py_refuse(struct dti_py_state *state, enum dti_status status, const char *format, ...)
{
    struct dti_error error = {.status = status};
    va_list arguments;
    va_start(arguments, format);
    (void)PyOS_vsnprintf(error.text, sizeof error.text, format, arguments);
    va_end(arguments);
    return dti_py_fail(state, &error);
}

void dti_py_append(PyObject **list, PyObject *item)
{
    if (!item || PyList_Append(*list, item) < 0)
        Py_CLEAR(*list);
    Py_XDECREF(item);
}
