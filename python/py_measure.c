/* SPDX-License-Identifier: MIT
 *
 * stats() and compare() of arrays. */
#include "py_state.h" /* Python.h comes before all others */

#include <string.h>

struct measure_arguments {
    PyObject *a, *b;
    struct dti_py_dtype *src, *src_b;
    double atol, rtol;
};

#define MEMBER(name, type)                                              \
    {                                                                   \
#name, DTI_PY_IS_##type, offsetof(struct dti_array_stats, name) \
    }
static const struct dti_py_member stats_members[] = {
    MEMBER(elements, U64),     MEMBER(nan, U64),          MEMBER(inf, U64),
    MEMBER(negative_inf, U64), MEMBER(zeros, U64),        MEMBER(negative, U64),
    MEMBER(subnormals, U64),   MEMBER(finite, U64),       MEMBER(min, VALUE),
    MEMBER(max, VALUE),        MEMBER(absmax, VALUE),     MEMBER(min_index, U64),
    MEMBER(max_index, U64),    MEMBER(absmax_index, U64), MEMBER(first_nan, INDEX),
    MEMBER(first_inf, INDEX),  MEMBER(mean, DOUBLE),      MEMBER(deviation, DOUBLE),
};
#undef MEMBER
#define MEMBER(name, type)                                                   \
    {                                                                        \
#name, DTI_PY_IS_##type, offsetof(struct dti_array_difference, name) \
    }
static const struct dti_py_member difference_members[] = {
    MEMBER(elements, U64),
    MEMBER(differing, U64),
    MEMBER(unmatched, U64),
    MEMBER(exceeding, U64),
    MEMBER(compared, U64),
    MEMBER(max_absolute, DOUBLE),
    MEMBER(max_index, U64),
    MEMBER(max_relative, DOUBLE),
    MEMBER(max_ulp, DOUBLE),
    MEMBER(first_differing, INDEX),
    MEMBER(first_unmatched, INDEX),
    MEMBER(mean_absolute, DOUBLE),
    MEMBER(root_mean_square, DOUBLE),
    MEMBER(sqnr_db, DOUBLE),
    MEMBER(nmse, DOUBLE),
    MEMBER(cosine, DOUBLE),
};

/* The shape of an array that came in. */
static PyObject *shape_of(const struct dti_py_view *view)
{
    PyObject *const tuple = PyTuple_New((Py_ssize_t)view->rank);
    for (size_t i = 0; tuple && i < view->rank; i++)
        (void)PyTuple_SetItem(tuple, (Py_ssize_t)i, PyLong_FromSize_t(view->shape[i]));
    return tuple;
}

static PyObject *stats(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct measure_arguments given = {.a = NULL};
    static const struct dti_py_parameter rows[] = {
        {"array", DTI_PY_OBJECT, offsetof(struct measure_arguments, a), NULL},
        {"src", DTI_PY_DTYPE, offsetof(struct measure_arguments, src), NULL},
    };
    static const struct dti_py_signature signature = {"stats", rows, DTI_PY_COUNT(rows), 1, 1};
    struct dti_py_view view;
    if (!dti_py_arguments(state, &signature, args, nargs, kwnames, &given) ||
        !dti_py_view_open(state, given.a ? given.a : Py_None, given.src, &view))
        return NULL;
    struct dti_array_stats found = {.size = sizeof found};
    struct dti_error error = {.status = DTI_OK};
    if (dti_py_view_straighten(&view)) {
        const bool paused = dti_py_pause(view.count * view.dtype->bytes);
        (void)dti_array_stats(state->context, view.dtype->format, DTI_PACKING_BYTES, view.data,
                              view.count, &found, &error);
        dti_py_resume(paused);
    }
    PyObject *result = NULL;
    if (error.status != DTI_OK)
        (void)dti_py_fail(state, &error);
    else if (!PyErr_Occurred()) {
        PyObject *const dict =
            dti_py_dict(state, stats_members, DTI_PY_COUNT(stats_members), &found);
        PyObject *const raw = PyBytes_FromStringAndSize((const char *)&found, sizeof found);
        if (dict && raw)
            result = dti_py_help(state, "stats", "(OOON)", dict, (PyObject *)view.dtype, raw,
                                 shape_of(&view));
        Py_XDECREF(dict);
        Py_XDECREF(raw);
    }
    dti_py_view_close(&view);
    return result;
}

/* Whether what stats() found fits a dtype; the first argument is the struct, which only stats()
 * makes. */
static PyObject *stats_fit(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    struct dti_array_stats found;
    if (nargs != 2 || !PyBytes_Check(args[0]) || PyBytes_Size(args[0]) != sizeof found) {
        PyErr_SetString(PyExc_TypeError, "stats_fit() takes statistics and a dtype");
        return NULL;
    }
    const struct dti_py_dtype *const dtype = dti_py_dtype_from(dti_py_state_of(module), args[1]);
    if (!dtype)
        return NULL;
    memcpy(&found, PyBytes_AsString(args[0]), sizeof found);
    return PyBool_FromLong(dti_array_stats_fit(&found, dtype->format));
}

static bool same_shape(const struct dti_py_view *a, const struct dti_py_view *b)
{
    if (a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0)
        return true;
    PyErr_SetString(PyExc_ValueError, "the arrays have different shapes");
    return false;
}

static PyObject *compare_views(struct dti_py_state *state, const struct measure_arguments *given,
                               struct dti_py_view *a, struct dti_py_view *b)
{
    if (!same_shape(a, b) || !dti_py_view_straighten(a) || !dti_py_view_straighten(b))
        return NULL;
    struct dti_array_difference found = {.size = sizeof found};
    struct dti_error error;
    const bool paused = dti_py_pause(a->count * a->dtype->bytes);
    const enum dti_status status =
        dti_array_compare(state->context, a->dtype->format, a->data, b->dtype->format, b->data,
                          a->count, given->atol, given->rtol, &found, &error);
    dti_py_resume(paused);
    if (status != DTI_OK)
        return dti_py_fail(state, &error);
    PyObject *const dict =
        dti_py_dict(state, difference_members, DTI_PY_COUNT(difference_members), &found);
    PyObject *const result = dict ? dti_py_help(state, "difference", "(OOO)", dict,
                                                (PyObject *)a->dtype, (PyObject *)b->dtype)
                                  : NULL;
    Py_XDECREF(dict);
    return result;
}

static PyObject *compare(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct measure_arguments given = {.a = NULL};
    static const struct dti_py_parameter rows[] = {
        {"a", DTI_PY_OBJECT, offsetof(struct measure_arguments, a), NULL},
        {"b", DTI_PY_OBJECT, offsetof(struct measure_arguments, b), NULL},
        {"atol", DTI_PY_DOUBLE, offsetof(struct measure_arguments, atol), NULL},
        {"rtol", DTI_PY_DOUBLE, offsetof(struct measure_arguments, rtol), NULL},
        {"src", DTI_PY_DTYPE, offsetof(struct measure_arguments, src), NULL},
        {"src_b", DTI_PY_DTYPE, offsetof(struct measure_arguments, src_b), NULL},
    };
    static const struct dti_py_signature signature = {"compare_arrays", rows, DTI_PY_COUNT(rows), 2,
                                                      2};
    struct dti_py_view a, b;
    if (!dti_py_arguments(state, &signature, args, nargs, kwnames, &given) ||
        !dti_py_view_open(state, given.a ? given.a : Py_None, given.src, &a))
        return NULL;
    PyObject *result = NULL;
    if (dti_py_view_open(state, given.b ? given.b : Py_None, given.src_b, &b)) {
        result = compare_views(state, &given, &a, &b);
        dti_py_view_close(&b);
    }
    dti_py_view_close(&a);
    return result;
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function)), METH_FASTCALL | METH_KEYWORDS
PyMethodDef dti_py_measure_functions[] = {
    {"stats", FAST(stats),
     "stats($module, array, *, src=None)\n--\n\nStatistics of an array: counts, the smallest and "
     "largest number and where they are, mean and deviation. Returns Stats."},
    {"stats_fit", (PyCFunction)(void (*)(void))stats_fit, METH_FASTCALL, NULL},
    {"compare_arrays", FAST(compare), NULL},
    {NULL, NULL, 0, NULL},
};
