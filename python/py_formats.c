/* SPDX-License-Identifier: MIT
 *
 * What formats can hold, and structs of the library as dicts. */
#include "py_state.h" /* Python.h comes before all others */

#include <string.h>

PyObject *dti_py_value(const struct dti_value *value)
{
    return Py_BuildValue("(iOOiKK)", (int)value->kind, value->negative ? Py_True : Py_False,
                         value->sticky ? Py_True : Py_False, (int)value->exponent,
                         (unsigned long long)value->hi, (unsigned long long)value->lo);
}

bool dti_py_value_from(PyObject *tuple, struct dti_value *ret)
{
    int kind, negative, sticky, exponent;
    unsigned long long hi, lo;
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "a value is a tuple of six");
        return false;
    }
    if (!PyArg_ParseTuple(tuple, "ippiKK", &kind, &negative, &sticky, &exponent, &hi, &lo))
        return false;
    const bool finite = kind == DTI_CLASS_FINITE;
    if (kind < DTI_CLASS_ZERO || kind > DTI_CLASS_NAN || finite != (bool)(hi >> 63) ||
        (!finite && (sticky || exponent || lo))) {
        if (kind != DTI_CLASS_NAN) {
            PyErr_SetString(PyExc_ValueError, "no value of dtinfo");
            return false;
        }
    }
    *ret = (struct dti_value){(enum dti_class)kind, negative, sticky, exponent, hi, lo};
    return true;
}

static PyObject *text_or_none(const char *text)
{
    if (text)
        return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    Py_RETURN_NONE;
}

static PyObject *member_of(struct dti_py_state *state, const struct dti_py_member *row,
                           const void *structure)
{
    const char *const place = (const char *)structure + row->offset;
    const struct dti_format *format;
    PyObject *dtype;
    uint64_t number;
    switch (row->type) {
    case DTI_PY_IS_BOOL:
        return PyBool_FromLong(*(const bool *)place);
    case DTI_PY_IS_INT:
        return PyLong_FromLong(*(const int *)place);
    case DTI_PY_IS_UINT:
        return PyLong_FromUnsignedLong(*(const unsigned *)place);
    case DTI_PY_IS_U64:
    case DTI_PY_IS_INDEX:
        memcpy(&number, place, sizeof number);
        if (row->type == DTI_PY_IS_INDEX && number == UINT64_MAX)
            Py_RETURN_NONE;
        return PyLong_FromUnsignedLongLong(number);
    case DTI_PY_IS_DOUBLE:
        return PyFloat_FromDouble(*(const double *)place);
    case DTI_PY_IS_VALUE:
        return dti_py_value((const struct dti_value *)place);
    case DTI_PY_IS_TEXT:
        return text_or_none(*(const char *const *)place);
    case DTI_PY_IS_FORMAT:
        format = *(const struct dti_format *const *)place;
        if (!format)
            Py_RETURN_NONE;
        dtype = (PyObject *)dti_py_dtype_of_format(state, format);
        Py_XINCREF(dtype);
        return dtype;
    }
    return NULL;
}

PyObject *dti_py_dict(struct dti_py_state *state, const struct dti_py_member *rows, size_t count,
                      const void *structure)
{
    PyObject *const dict = PyDict_New();
    for (size_t i = 0; dict && i < count; i++) {
        PyObject *const member = member_of(state, &rows[i], structure);
        if (!member || PyDict_SetItemString(dict, rows[i].name, member) < 0) {
            Py_XDECREF(member);
            Py_DECREF(dict);
            return NULL;
        }
        Py_DECREF(member);
    }
    return dict;
}

#define MEMBER(name, type)                                              \
    {                                                                   \
#name, DTI_PY_IS_##type, offsetof(struct dti_format_info, name) \
    }
static const struct dti_py_member info_members[] = {
    MEMBER(component, FORMAT),
    MEMBER(bits, UINT),
    MEMBER(container_bits, UINT),
    MEMBER(packs, BOOL),
    MEMBER(exponent_bits, UINT),
    MEMBER(mantissa_bits, UINT),
    MEMBER(bias, INT),
    MEMBER(is_signed, BOOL),
    MEMBER(has_inf, BOOL),
    MEMBER(has_nan, BOOL),
    MEMBER(has_minus_zero, BOOL),
    MEMBER(has_subnormals, BOOL),
    MEMBER(has_nan_code, BOOL),
    MEMBER(max, VALUE),
    MEMBER(lowest, VALUE),
    MEMBER(smallest_normal, VALUE),
    MEMBER(smallest_subnormal, VALUE),
    MEMBER(eps, VALUE),
    MEMBER(epsneg, VALUE),
    MEMBER(overflow_from, VALUE),
    MEMBER(overflow_inclusive, BOOL),
    MEMBER(to_zero_up_to, VALUE),
    MEMBER(to_zero_inclusive, BOOL),
    MEMBER(max_code, U64),
    MEMBER(lowest_code, U64),
    MEMBER(smallest_normal_code, U64),
    MEMBER(smallest_subnormal_code, U64),
    MEMBER(nan_code, U64),
    MEMBER(integers_up_to, U64),
    MEMBER(min_exponent, INT),
    MEMBER(max_exponent, INT),
    MEMBER(precision, UINT),
    MEMBER(digits10, UINT),
    MEMBER(max_digits10, UINT),
    MEMBER(nan_codes, U64),
    MEMBER(inf_codes, U64),
    MEMBER(finite_codes, U64),
};

static PyObject *format_info(PyObject *module, PyObject *object)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct dti_py_dtype *const dtype = dti_py_dtype_from(state, object);
    if (!dtype)
        return NULL;
    struct dti_format_info info = {.size = sizeof info};
    dti_format_describe(dtype->format, &info);
    return dti_py_dict(state, info_members, DTI_PY_COUNT(info_members), &info);
}

static PyObject *dtype(PyObject *module, PyObject *object)
{
    PyObject *const found = (PyObject *)dti_py_dtype_from(dti_py_state_of(module), object);
    Py_XINCREF(found);
    return found;
}

static PyObject *dtypes(PyObject *module, PyObject *unused)
{
    (void)unused;
    PyObject *const list = PyList_New(0);
    for (const struct dti_format *format = NULL; list && (format = dti_format_next(format));) {
        PyObject *const one = (PyObject *)dti_py_dtype_of_format(dti_py_state_of(module), format);
        if (!one || PyList_Append(list, one) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *stacks(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *list = PyList_New(0);
    const char *word;
    for (size_t i = 0; list && (word = dti_stack_word(i)); i++)
        dti_py_append(&list, PyUnicode_FromString(word));
    return list;
}

static PyObject *holds(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    if (nargs != 2) {
        PyErr_SetString(PyExc_TypeError, "holds() takes two dtypes");
        return NULL;
    }
    const struct dti_py_dtype *const dst = dti_py_dtype_from(state, args[0]);
    const struct dti_py_dtype *const src = dst ? dti_py_dtype_from(state, args[1]) : NULL;
    return src ? PyBool_FromLong(dti_format_holds(dst->format, src->format)) : NULL;
}

PyMethodDef dti_py_format_functions[] = {
    {"dtype", dtype, METH_O,
     "dtype($module, name, /)\n--\n\nThe Dtype of a name of dtinfo or of another system "
     "('torch.bfloat16', 'F8_E4M3', '<f4'), of a name that defines a float ('e5m3', 'uint3'), or "
     "of a dtype of numpy, ml_dtypes or torch."},
    {"dtypes", dtypes, METH_NOARGS, "dtypes($module, /)\n--\n\nAll Dtypes, in a list."},
    {"stacks", stacks, METH_NOARGS,
     "stacks($module, /)\n--\n\nThe words that like= takes: libraries and instruction sets."},
    {"holds", (PyCFunction)(void (*)(void))holds, METH_FASTCALL,
     "holds($module, dtype, src, /)\n--\n\nWhether each number of src is one of dtype: whether a "
     "cast can never change a number."},
    {"format_info", format_info, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
