/* SPDX-License-Identifier: MIT
 *
 * Arrays that are made of codes, or for codes, without a cast. */
#include "py_state.h" /* Python.h comes before all others */

#include <string.h>

struct made_arguments {
    PyObject *codes, *shape;
    struct dti_py_dtype *dtype;
};
#define ROW(name, take)                                                   \
    {                                                                     \
#name, DTI_PY_##take, offsetof(struct made_arguments, name), NULL \
    }

/* A shape of Python, and its number of elements. */
static bool take_shape(PyObject *object, size_t shape[DTI_PY_RANK], size_t *ret_rank,
                       size_t *ret_count)
{
    const Py_ssize_t rank = PySequence_Size(object);
    if (rank < 0)
        return false;
    size_t count = 1;
    bool fine = rank <= DTI_PY_RANK;
    for (Py_ssize_t i = 0; fine && i < rank; i++) {
        PyObject *const item = PySequence_GetItem(object, i);
        shape[i] = item ? PyLong_AsSize_t(item) : 0;
        Py_XDECREF(item);
        if (PyErr_Occurred())
            return false;
        fine = shape[i] == 0 || count <= (size_t)PY_SSIZE_T_MAX / shape[i];
        count *= shape[i];
    }
    if (!fine)
        PyErr_Format(PyExc_ValueError, "the shape has more than %d dimensions or 2**63 elements",
                     DTI_PY_RANK);
    *ret_rank = (size_t)rank;
    *ret_count = count;
    return fine;
}

static bool wrong_count(size_t count, size_t there)
{
    PyErr_Format(PyExc_ValueError, "the shape has %zu elements, but there are %zu", count, there);
    return false;
}

static PyObject *from_codes(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct made_arguments given = {.codes = NULL};
    static const struct dti_py_parameter rows[] = {ROW(codes, OBJECT), ROW(dtype, DTYPE),
                                                   ROW(shape, OBJECT)};
    static const struct dti_py_signature signature = {"from_codes", rows, DTI_PY_COUNT(rows), 2, 3};
    if (!dti_py_arguments(state, &signature, args, nargs, kwnames, &given))
        return NULL;
    if (!given.codes || !given.dtype) {
        PyErr_SetString(PyExc_TypeError, "from_codes() needs codes and a dtype, not None");
        return NULL;
    }
    struct dti_py_view view;
    if (!dti_py_view_open(state, given.codes, given.dtype, &view))
        return NULL;
    size_t shape[DTI_PY_RANK], rank = view.rank, count = view.count;
    bool fine = dti_py_view_straighten(&view);
    if (fine && given.shape)
        fine = take_shape(given.shape, shape, &rank, &count) &&
               (count == view.count || wrong_count(count, view.count));
    struct dti_py_array *const array =
        fine ? dti_py_array_new(state, given.dtype, rank, given.shape ? shape : view.shape) : NULL;
    if (array && count > 0)
        memcpy(array->codes, view.data, count * given.dtype->bytes);
    dti_py_view_close(&view);
    return (PyObject *)array;
}

static PyObject *empty(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct made_arguments given = {.codes = NULL};
    static const struct dti_py_parameter rows[] = {ROW(dtype, DTYPE), ROW(shape, OBJECT)};
    static const struct dti_py_signature signature = {"empty", rows, DTI_PY_COUNT(rows), 2, 2};
    size_t shape[DTI_PY_RANK], rank, count;
    if (!dti_py_arguments(state, &signature, args, nargs, kwnames, &given))
        return NULL;
    if (!given.dtype || !given.shape) {
        PyErr_SetString(PyExc_TypeError, "empty() needs a dtype and a shape, not None");
        return NULL;
    }
    if (!take_shape(given.shape, shape, &rank, &count))
        return NULL;
    struct dti_py_array *const array = dti_py_array_new(state, given.dtype, rank, shape);
    if (array)
        memset(array->codes, 0, count * given.dtype->bytes);
    return (PyObject *)array;
}

static PyObject *reshape(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    size_t shape[DTI_PY_RANK], rank, count;
    if (nargs != 2 || Py_TYPE(args[0]) != state->array_type) {
        PyErr_SetString(PyExc_TypeError, "reshape() takes an Array and a shape");
        return NULL;
    }
    const struct dti_py_array *const array = (struct dti_py_array *)args[0];
    if (!take_shape(args[1], shape, &rank, &count) ||
        (count != (size_t)array->count && !wrong_count(count, (size_t)array->count)))
        return NULL;
    return (PyObject *)dti_py_array_shared(state, array->dtype, rank, shape, array->block);
}

static PyObject *describe(PyObject *module, PyObject *object)
{
    struct dti_py_view view;
    if (!dti_py_view_open(dti_py_state_of(module), object, NULL, &view))
        return NULL;
    PyObject *const shape = PyTuple_New((Py_ssize_t)view.rank);
    for (size_t i = 0; shape && i < view.rank; i++)
        (void)PyTuple_SetItem(shape, (Py_ssize_t)i, PyLong_FromSize_t(view.shape[i]));
    PyObject *const result = Py_BuildValue("(ON)", (PyObject *)view.dtype, shape);
    dti_py_view_close(&view);
    return result;
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function))
PyMethodDef dti_py_made_functions[] = {
    {"from_codes", FAST(from_codes), METH_FASTCALL | METH_KEYWORDS,
     "from_codes($module, codes, dtype, shape=None)\n--\n\n"
     "An Array with these codes, which are integers or bytes of the dtype's width: a copy."},
    {"empty", FAST(empty), METH_FASTCALL | METH_KEYWORDS,
     "empty($module, dtype, shape)\n--\n\nAn Array of codes 0, to be filled: an out= of cast()."},
    {"reshape", FAST(reshape), METH_FASTCALL,
     "reshape($module, array, shape, /)\n--\n\nThe same memory as an Array of another shape."},
    {"describe", describe, METH_O,
     "describe($module, array, /)\n--\n\n(dtype, shape) of an array of any kind."},
    {NULL, NULL, 0, NULL},
};
