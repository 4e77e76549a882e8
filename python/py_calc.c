/* SPDX-License-Identifier: MIT
 *
 * calc(): expressions over arrays. */
#include "py_state.h" /* Python.h comes before all others */

#include <string.h>

enum { OPERANDS = 64 };

struct calc_arguments {
    const char *expression, *order;
    struct dti_py_dtype *dtype, *accumulate;
    PyObject *operands; /* dict: name -> array */
    struct dti_py_policies policies;
    bool flush, fma, truth;
};

struct operands {
    struct dti_operand rows[OPERANDS];
    struct dti_py_view views[OPERANDS];
    size_t count;
    size_t bytes; /* of all */
    enum dti_py_library library;
};

static void close_operands(struct operands *all)
{
    for (size_t i = 0; i < all->count; i++)
        dti_py_view_close(&all->views[i]);
}

static bool add_operand(struct dti_py_state *state, struct operands *all, PyObject *name,
                        PyObject *array)
{
    const char *const text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text || all->count == OPERANDS) {
        if (text)
            PyErr_Format(PyExc_ValueError, "calc() takes at most %d arrays", OPERANDS);
        return false;
    }
    struct dti_py_view *const view = &all->views[all->count];
    if (!dti_py_view_open(state, array, NULL, view))
        return false;
    struct dti_operand *const row = &all->rows[all->count++];
    if (view->rank > DTI_RANK_MAX) {
        PyErr_Format(PyExc_ValueError, "%s has more than %d dimensions", text, DTI_RANK_MAX);
        return false;
    }
    if (!dti_py_view_straighten(view))
        return false;
    *row = (struct dti_operand){.size = sizeof *row,
                                .name = text,
                                .format = view->dtype->format,
                                .rank = view->rank,
                                .codes = view->data};
    for (size_t i = 0; i < view->rank; i++)
        row->shape[i] = view->shape[i];
    all->bytes += view->count * view->dtype->bytes;
    if (all->library == DTI_PY_OWN)
        all->library = view->library;
    return true;
}

#define MEMBER(name, type)                                              \
    {                                                                   \
#name, DTI_PY_IS_##type, offsetof(struct dti_calc_output, name) \
    }
static const struct dti_py_member output_members[] = {
    MEMBER(format, FORMAT),         MEMBER(roundings, U64),
    MEMBER(overflows, U64),         MEMBER(nans, U64),
    MEMBER(divisions_by_zero, U64), MEMBER(to_zero, U64),
    MEMBER(subnormals, U64),        MEMBER(absorbed, U64),
    MEMBER(cancellations, U64),     MEMBER(first, TEXT),
    MEMBER(has_truth, BOOL),        MEMBER(different, U64),
    MEMBER(max_relative, DOUBLE),
};

/* (result, facts). */
static PyObject *give(struct dti_py_state *state, enum dti_py_library library,
                      const struct dti_calc_output *output)
{
    struct dti_py_dtype *const dtype = dti_py_dtype_of_format(state, output->format);
    size_t shape[DTI_RANK_MAX];
    for (size_t i = 0; i < output->rank; i++)
        shape[i] = (size_t)output->shape[i];
    struct dti_py_output array;
    if (!dtype || !dti_py_output_new(state, library, dtype, output->rank, shape, &array))
        return NULL;
    memcpy(array.data, output->codes, output->count * dtype->bytes);
    PyObject *const facts =
        dti_py_dict(state, output_members, DTI_PY_COUNT(output_members), output);
    PyObject *const result = dti_py_output_finish(&array);
    if (facts && result)
        return Py_BuildValue("(NN)", result, facts);
    Py_XDECREF(facts);
    Py_XDECREF(result);
    return NULL;
}

static PyObject *evaluate(struct dti_py_state *state, const struct calc_arguments *given,
                          const struct operands *all)
{
    struct dti_calc_spec spec = {
        .size = sizeof spec,
        .format = given->dtype->format,
        .operands = all->rows,
        .operand_count = all->count,
        .round_given = given->policies.round >= 0,
        .seed = given->policies.seed,
        .accumulate = given->accumulate ? given->accumulate->format : NULL,
        .order = given->order,
        .flush = given->flush,
        .fma = given->fma,
        .truth = given->truth,
    };
    if (given->policies.round >= 0)
        spec.round = (enum dti_round)given->policies.round;
    if (given->policies.overflow >= 0)
        spec.overflow = (enum dti_overflow)given->policies.overflow;
    if (given->policies.nan >= 0)
        spec.nan = (enum dti_nan)given->policies.nan;
    struct dti_calc_output output = {.size = sizeof output};
    struct dti_error error;
    const bool paused = dti_py_pause(SIZE_MAX);
    const enum dti_status status = dti_calc_evaluate(
        state->context, given->expression, strlen(given->expression), &spec, &output, &error);
    dti_py_resume(paused);
    if (status != DTI_OK)
        return dti_py_fail(state, &error);
    PyObject *const result = give(state, all->library, &output);
    dti_calc_free(state->context, &output);
    return result;
}

static PyObject *calc(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct calc_arguments given = {.policies = DTI_PY_POLICIES};
    static const struct dti_py_parameter rows[] = {
        {"expression", DTI_PY_TEXT, offsetof(struct calc_arguments, expression), NULL},
        {"dtype", DTI_PY_DTYPE, offsetof(struct calc_arguments, dtype), NULL},
        {"operands", DTI_PY_OBJECT, offsetof(struct calc_arguments, operands), NULL},
        {"round", DTI_PY_WORD, offsetof(struct calc_arguments, policies.round), dti_py_rounds},
        {"overflow", DTI_PY_WORD, offsetof(struct calc_arguments, policies.overflow),
         dti_py_overflows},
        {"nan", DTI_PY_WORD, offsetof(struct calc_arguments, policies.nan), dti_py_nans},
        {"seed", DTI_PY_U64, offsetof(struct calc_arguments, policies.seed), NULL},
        {"accumulate", DTI_PY_DTYPE, offsetof(struct calc_arguments, accumulate), NULL},
        {"order", DTI_PY_TEXT, offsetof(struct calc_arguments, order), NULL},
        {"flush", DTI_PY_FLAG, offsetof(struct calc_arguments, flush), NULL},
        {"fma", DTI_PY_FLAG, offsetof(struct calc_arguments, fma), NULL},
        {"truth", DTI_PY_FLAG, offsetof(struct calc_arguments, truth), NULL},
    };
    static const struct dti_py_signature signature = {"calc", rows, DTI_PY_COUNT(rows), 3, 3};
    if (!dti_py_arguments(state, &signature, args, nargs, kwnames, &given))
        return NULL;
    if (!given.expression || !given.dtype || !given.operands || !PyDict_Check(given.operands)) {
        PyErr_SetString(PyExc_TypeError, "calc() needs an expression, a dtype and a dict");
        return NULL;
    }
    struct operands *const all = PyMem_Calloc(1, sizeof *all);
    if (!all)
        return PyErr_NoMemory();
    PyObject *name, *array, *result = NULL;
    bool fine = true;
    for (Py_ssize_t at = 0; fine && PyDict_Next(given.operands, &at, &name, &array);)
        fine = add_operand(state, all, name, array);
    if (fine)
        result = evaluate(state, &given, all);
    close_operands(all);
    PyMem_Free(all);
    return result;
}

PyMethodDef dti_py_calc_functions[] = {
    {"calc", (PyCFunction)(void (*)(void))calc, METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};
