/* SPDX-License-Identifier: MIT
 *
 * Single numbers: text, value and code, as tuples that Python's part turns into fractions. */
#include "py_state.h" /* Python.h comes before all others */

#include <string.h>

struct value_arguments {
    PyObject *value; /* a str, or a tuple of dti_py_value() */
    struct dti_py_dtype *dtype;
    struct dti_py_policies policies;
    uint64_t code;
    int spelling;
};

#define MEMBER(name, type)                                             \
    {                                                                  \
#name, DTI_PY_IS_##type, offsetof(struct dti_cast_facts, name) \
    }
static const struct dti_py_member fact_members[] = {
    MEMBER(code, U64),       MEMBER(flags, UINT),     MEMBER(exact, BOOL),
    MEMBER(direction, INT),  MEMBER(given, VALUE),    MEMBER(stored, VALUE),
    MEMBER(has_error, BOOL), MEMBER(error, VALUE),    MEMBER(relative, VALUE),
    MEMBER(ulps, VALUE),     MEMBER(has_below, BOOL), MEMBER(has_above, BOOL),
    MEMBER(below_code, U64), MEMBER(above_code, U64), MEMBER(below, VALUE),
    MEMBER(above, VALUE),
};

static bool take_value(const struct value_arguments *given, const char **ret_text,
                       size_t *ret_length, struct dti_value *ret)
{
    *ret_text = NULL;
    if (!given->value || !PyUnicode_Check(given->value))
        return dti_py_value_from(given->value ? given->value : Py_None, ret);
    Py_ssize_t length;
    *ret_text = PyUnicode_AsUTF8AndSize(given->value, &length);
    *ret_length = (size_t)length;
    return *ret_text != NULL;
}

static PyObject *value_cast(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct value_arguments given = {.policies = DTI_PY_POLICIES};
    static const struct dti_py_parameter rows[] = {
        {"value", DTI_PY_OBJECT, offsetof(struct value_arguments, value), NULL},
        {"dtype", DTI_PY_DTYPE, offsetof(struct value_arguments, dtype), NULL},
        DTI_PY_POLICY_ROWS(struct value_arguments, policies),
    };
    static const struct dti_py_signature signature = {"cast_value", rows, DTI_PY_COUNT(rows), 2, 2};
    const char *text;
    size_t length = 0;
    struct dti_value value;
    if (!dti_py_arguments(state, &signature, args, nargs, kwnames, &given) ||
        !take_value(&given, &text, &length, &value))
        return NULL;
    if (!given.dtype) {
        PyErr_SetString(PyExc_TypeError, "cast_value() needs a dtype, not None");
        return NULL;
    }
    struct dti_cast_spec spec = {.size = sizeof spec, .dst = given.dtype->format};
    dti_py_spec(&spec, &given.policies);
    struct dti_cast_facts facts = {.size = sizeof facts};
    struct dti_error error;
    if (dti_value_cast(state->context, &spec, text, length, text ? NULL : &value, &facts, &error) !=
        DTI_OK)
        return dti_py_fail(state, &error);
    return dti_py_dict(state, fact_members, DTI_PY_COUNT(fact_members), &facts);
}

static PyObject *value_read(PyObject *module, PyObject *text)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    Py_ssize_t length;
    const char *const bytes = PyUnicode_AsUTF8AndSize(text, &length);
    struct dti_value value;
    struct dti_error error;
    if (!bytes)
        return NULL;
    if (dti_value_read(state->context, bytes, (size_t)length, &value, &error) != DTI_OK)
        return dti_py_fail(state, &error);
    return dti_py_value(&value);
}

static PyObject *value_of_code(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct value_arguments given = {.code = 0};
    static const struct dti_py_parameter rows[] = {
        {"code", DTI_PY_U64, offsetof(struct value_arguments, code), NULL},
        {"dtype", DTI_PY_DTYPE, offsetof(struct value_arguments, dtype), NULL},
    };
    static const struct dti_py_signature signature = {"bits", rows, DTI_PY_COUNT(rows), 2, 2};
    if (!dti_py_arguments(state, &signature, args, nargs, kwnames, &given))
        return NULL;
    if (!given.dtype || given.dtype->kind == DTI_KIND_COMPLEX) {
        PyErr_SetString(PyExc_ValueError, "a code needs a dtype that is not complex");
        return NULL;
    }
    if (given.dtype->bits < 64 && given.code >> given.dtype->bits != 0)
        return dti_py_refuse(state, DTI_BAD_PATTERN, "0x%llx has more than the %u bits of %s",
                             (unsigned long long)given.code, given.dtype->bits,
                             dti_format_name(given.dtype->format));
    struct dti_value value;
    dti_value_of_code(given.dtype->format, given.code, &value);
    return dti_py_value(&value);
}

static PyObject *value_spell(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct value_arguments given = {.spelling = DTI_SPELL_SHORTEST};
    static const struct dti_py_word spellings[] = {{DTI_SPELL_SHORTEST, "shortest"},
                                                   {DTI_SPELL_EXACT, "exact"},
                                                   {DTI_SPELL_HEX, "hex"},
                                                   {0, NULL}};
    static const struct dti_py_parameter rows[] = {
        {"value", DTI_PY_OBJECT, offsetof(struct value_arguments, value), NULL},
        {"dtype", DTI_PY_DTYPE, offsetof(struct value_arguments, dtype), NULL},
        {"spelling", DTI_PY_WORD, offsetof(struct value_arguments, spelling), spellings},
    };
    static const struct dti_py_signature signature = {"value_spell", rows, DTI_PY_COUNT(rows), 1,
                                                      3};
    struct dti_value value;
    if (!dti_py_arguments(state, &signature, args, nargs, kwnames, &given) ||
        !dti_py_value_from(given.value ? given.value : Py_None, &value))
        return NULL;
    const struct dti_format *const format = given.dtype ? given.dtype->format : NULL;
    char small[256];
    const enum dti_spelling spelling = (enum dti_spelling)given.spelling;
    const size_t length =
        dti_value_spell(state->context, &value, format, spelling, small, sizeof small);
    if (length == 0)
        Py_RETURN_NONE;
    if (length < sizeof small)
        return PyUnicode_FromStringAndSize(small, (Py_ssize_t)length);
    PyObject *const bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)length);
    PyObject *text = NULL;
    if (bytes && dti_value_spell(state->context, &value, format, spelling, PyBytes_AsString(bytes),
                                 length + 1) == length)
        text = PyUnicode_FromEncodedObject(bytes, "ascii", "strict");
    Py_XDECREF(bytes);
    return text;
}

/* The picture of a code, and of a number that was rounded to it; "" if there is none. */
static PyObject *value_picture(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct value_arguments given = {.code = 0};
    static const struct dti_py_parameter rows[] = {
        {"code", DTI_PY_U64, offsetof(struct value_arguments, code), NULL},
        {"dtype", DTI_PY_DTYPE, offsetof(struct value_arguments, dtype), NULL},
        {"value", DTI_PY_OBJECT, offsetof(struct value_arguments, value), NULL},
    };
    static const struct dti_py_signature signature = {"picture", rows, DTI_PY_COUNT(rows), 2, 3};
    struct dti_value value;
    if (!dti_py_arguments(state, &signature, args, nargs, kwnames, &given) ||
        (given.value && !dti_py_value_from(given.value, &value)))
        return NULL;
    if (!given.dtype) {
        PyErr_SetString(PyExc_TypeError, "a picture needs a dtype");
        return NULL;
    }
    char text[4096];
    const size_t length =
        dti_value_picture(state->context, given.dtype->format, given.code,
                          given.value ? &value : NULL, 0, false, text, sizeof text);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)(length < sizeof text ? length : sizeof text - 1),
                                "replace");
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function)), METH_FASTCALL | METH_KEYWORDS
PyMethodDef dti_py_value_functions[] = {
    {"value_cast", FAST(value_cast), NULL},       {"value_read", value_read, METH_O, NULL},
    {"value_of_code", FAST(value_of_code), NULL}, {"value_spell", FAST(value_spell), NULL},
    {"value_picture", FAST(value_picture), NULL}, {NULL, NULL, 0, NULL},
};
