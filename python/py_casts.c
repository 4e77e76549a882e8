/* SPDX-License-Identifier: MIT
 *
 * cast(): arrays, and numbers of Python, which Python's part sends one by one. */
#include "py_state.h"

struct cast_arguments {
    PyObject *array;
    struct dti_py_dtype *dtype, *src;
    struct dti_py_policies policies;
    bool report;
    PyObject *out;
};

static const struct dti_py_parameter cast_rows[] = {
    {"array", DTI_PY_OBJECT, offsetof(struct cast_arguments, array), NULL},
    {"dtype", DTI_PY_DTYPE, offsetof(struct cast_arguments, dtype), NULL},
    DTI_PY_POLICY_ROWS(struct cast_arguments, policies),
    {"report", DTI_PY_FLAG, offsetof(struct cast_arguments, report), NULL},
    {"out", DTI_PY_OBJECT, offsetof(struct cast_arguments, out), NULL},
    {"src", DTI_PY_DTYPE, offsetof(struct cast_arguments, src), NULL},
};
static const struct dti_py_signature cast_signature = {"cast", cast_rows, DTI_PY_COUNT(cast_rows),
                                                       2, 2};

#define MEMBER(name, type)                                              \
    {                                                                   \
#name, DTI_PY_IS_##type, offsetof(struct dti_cast_report, name) \
    }
static const struct dti_py_member report_members[] = {
    MEMBER(elements, U64),        MEMBER(inexact, U64),          MEMBER(overflowed, U64),
    MEMBER(to_zero, U64),         MEMBER(to_subnormal, U64),     MEMBER(nan_in, U64),
    MEMBER(inf_in, U64),          MEMBER(no_code, U64),          MEMBER(stray, U64),
    MEMBER(compared, U64),        MEMBER(max_absolute, DOUBLE),  MEMBER(max_index, U64),
    MEMBER(max_relative, DOUBLE), MEMBER(mean_absolute, DOUBLE), MEMBER(root_mean_square, DOUBLE),
    MEMBER(sqnr_db, DOUBLE),      MEMBER(first_no_code, INDEX),
};

static enum dti_status run(const struct dti_caster *caster, void *dst,
                           const struct dti_py_view *view, struct dti_cast_report *report,
                           struct dti_error *error)
{
    const bool paused =
        dti_py_pause(view->count > SIZE_MAX / 16 ? SIZE_MAX : view->count * view->dtype->bytes);
    const enum dti_status status =
        view->contiguous ? dti_caster_run(caster, dst, view->data, view->count, report, error)
                         : dti_caster_run_strided(caster, dst, view->data, view->rank, view->shape,
                                                  view->strides, report, error);
    dti_py_resume(paused);
    return status;
}

static PyObject *with_report(struct dti_py_state *state, const struct cast_arguments *given,
                             const struct dti_py_view *view, PyObject *result,
                             const struct dti_cast_report *report)
{
    PyObject *const dict = dti_py_dict(state, report_members, DTI_PY_COUNT(report_members), report);
    PyObject *const object = dict ? dti_py_help(state, "cast_report", "(OOO)", dict,
                                                (PyObject *)view->dtype, (PyObject *)given->dtype)
                                  : NULL;
    Py_XDECREF(dict);
    return object ? Py_BuildValue("(NN)", result, object) : (Py_DECREF(result), NULL);
}

/* Runs a planned cast of an open array. */
static PyObject *cast_view(struct dti_py_state *state, const struct cast_arguments *given,
                           const struct dti_caster *caster, const struct dti_py_view *view)
{
    struct dti_py_output output;
    if (given->out ? !dti_py_output_open(state, given->out, given->dtype, view, &output)
                   : !dti_py_output_new(state, view->library, given->dtype, view->rank, view->shape,
                                        &output))
        return NULL;
    struct dti_cast_report report = {.size = sizeof report};
    struct dti_error error;
    if (run(caster, output.data, view, given->report ? &report : NULL, &error) != DTI_OK) {
        dti_py_output_drop(&output);
        return dti_py_fail(state, &error);
    }
    PyObject *const result = dti_py_output_finish(&output);
    return result && given->report ? with_report(state, given, view, result, &report) : result;
}

static PyObject *cast_array(struct dti_py_state *state, const struct cast_arguments *given)
{
    struct dti_py_view view;
    if (!dti_py_view_open(state, given->array, given->src, &view))
        return NULL;
    struct dti_cast_spec spec = {.size = sizeof spec,
                                 .src = view.dtype->format,
                                 .dst = given->dtype->format,
                                 .src_packing = view.packed ? DTI_PACKING_LOW : DTI_PACKING_BYTES,
                                 .dst_packing = DTI_PACKING_BYTES,
                                 .src_swapped = view.swapped};
    dti_py_spec(&spec, &given->policies);
    struct dti_caster *caster = NULL;
    struct dti_error error;
    PyObject *result = NULL;
    if (dti_caster_new(&caster, state->context, &spec, &error) == DTI_OK)
        result = cast_view(state, given, caster, &view);
    else
        (void)dti_py_fail(state, &error);
    dti_caster_free(caster);
    dti_py_view_close(&view);
    return result;
}

/* Numbers of Python, which are not arrays of anything. */
static bool is_number(PyObject *object)
{
    return PyList_Check(object) || PyTuple_Check(object) || PyFloat_CheckExact(object) ||
           PyLong_CheckExact(object) || PyUnicode_Check(object);
}

/* Python's part makes an array of them, or casts them one by one. */
static PyObject *cast_numbers(struct dti_py_state *state, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *kwnames)
{
    PyObject *const helper = dti_py_helper(state, "cast_numbers");
    PyObject *const positional = PyTuple_New(nargs), *const options = PyDict_New();
    bool fine = helper && positional && options;
    for (Py_ssize_t i = 0; fine && i < nargs; i++) {
        Py_INCREF(args[i]);
        fine = PyTuple_SetItem(positional, i, args[i]) == 0;
    }
    for (Py_ssize_t i = 0; fine && kwnames && i < PyTuple_Size(kwnames); i++)
        fine = PyDict_SetItem(options, PyTuple_GetItem(kwnames, i), args[nargs + i]) == 0;
    PyObject *const result = fine ? PyObject_Call(helper, positional, options) : NULL;
    Py_XDECREF(helper);
    Py_XDECREF(positional);
    Py_XDECREF(options);
    return result;
}

static PyObject *cast(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct cast_arguments given = {.policies = DTI_PY_POLICIES};
    if (!dti_py_arguments(state, &cast_signature, args, nargs, kwnames, &given))
        return NULL;
    if (!given.dtype || !given.array) {
        PyErr_SetString(PyExc_TypeError, "cast() needs an array and a dtype, not None");
        return NULL;
    }
    return is_number(given.array) ? cast_numbers(state, args, nargs, kwnames)
                                  : cast_array(state, &given);
}

static PyObject *kernels(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct cast_arguments given = {.policies = DTI_PY_POLICIES};
    static const struct dti_py_parameter rows[] = {
        {"src", DTI_PY_DTYPE, offsetof(struct cast_arguments, src), NULL},
        {"dtype", DTI_PY_DTYPE, offsetof(struct cast_arguments, dtype), NULL},
        DTI_PY_POLICY_ROWS(struct cast_arguments, policies),
    };
    static const struct dti_py_signature signature = {"kernels", rows, DTI_PY_COUNT(rows), 2, 2};
    if (!dti_py_arguments(state, &signature, args, nargs, kwnames, &given))
        return NULL;
    if (!given.src || !given.dtype) {
        PyErr_SetString(PyExc_TypeError, "kernels() needs two dtypes");
        return NULL;
    }
    struct dti_cast_spec spec = {.size = sizeof spec,
                                 .src = given.src->format,
                                 .dst = given.dtype->format,
                                 .src_packing = DTI_PACKING_BYTES,
                                 .dst_packing = DTI_PACKING_BYTES};
    dti_py_spec(&spec, &given.policies);
    struct dti_caster *caster = NULL;
    struct dti_error error;
    if (dti_caster_new(&caster, state->context, &spec, &error) != DTI_OK)
        return dti_py_fail(state, &error);
    PyObject *const names = PyUnicode_FromString(dti_caster_kernels(caster));
    dti_caster_free(caster);
    return names;
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function)), METH_FASTCALL | METH_KEYWORDS
#define POLICIES       "round=None, overflow=None, nan=None, like=None, via=None, seed=0"
PyMethodDef dti_py_cast_functions[] = {
    {"cast", FAST(cast),
     "cast($module, array, dtype, *, " POLICIES ", report=False, out=None, src=None)\n--\n\n"
     "Casts an array of any shape to a dtype, with one rounding for each element.\n\n"
     "array: of numpy, torch, or anything with __dlpack__, a buffer or __array_interface__; or\n"
     "    numbers of Python, nested lists of them included, which are cast exactly.\n"
     "round: 'nearest-even' (to integers: 'zero'), 'nearest-away', 'zero', 'up', 'down', 'odd',\n"
     "    'stochastic'.\n"
     "overflow: 'native', 'saturate', 'saturate-finite', 'wrap'. nan: 'quiet', 'canonical'.\n"
     "like: as a library does it: 'torch', 'numpy' ...; via: dtypes on the way.\n"
     "report: also return what was lost: (result, CastReport).\n"
     "out: an array to fill, of the same number of elements; it is returned.\n"
     "src: the array holds codes of that dtype, in integers or bytes.\n\n"
     "Returns an array of the same library and shape if it has the dtype (numpy's through\n"
     "ml_dtypes), else an Array. Raises Error, TypeError, ValueError."},
    {"kernels", FAST(kernels),
     "kernels($module, src, dtype, *, " POLICIES ")\n--\n\n"
     "The functions that a cast of arrays uses here, as text: 'fp32_to_bf16_avx512'."},
    {NULL, NULL, 0, NULL},
};
