/* SPDX-License-Identifier: MIT
 *
 * dtinfo.Dtype: a number format, and what other libraries call it. */
#include "py_state.h" /* Python.h comes before all others */

#include <stdlib.h>
#include <string.h>

/* Types of DLPack that have no rule; the others follow from kind and width. */
static const struct {
    const char *name;
    enum dl_code code;
} special[] = {
    {"bf16", DL_BFLOAT},
    {"fp8_e3m4", DL_FP8_E3M4},
    {"fp8_e4m3", DL_FP8_E4M3},
    {"fp8_e4m3b11fnuz", DL_FP8_E4M3B11FNUZ},
    {"fp8_e4m3fn", DL_FP8_E4M3FN},
    {"fp8_e4m3fnuz", DL_FP8_E4M3FNUZ},
    {"fp8_e5m2", DL_FP8_E5M2},
    {"fp8_e5m2fnuz", DL_FP8_E5M2FNUZ},
    {"fp8_e8m0", DL_FP8_E8M0FNU},
    {"fp6_e2m3", DL_FP6_E2M3FN},
    {"fp6_e3m2", DL_FP6_E3M2FN},
    {"fp4_e2m1", DL_FP4_E2M1FN},
    {"fp16", DL_FLOAT},
    {"fp32", DL_FLOAT},
    {"fp64", DL_FLOAT},
};

static struct dl_type dl_type_of(const char *name, const struct dti_format_info *info)
{
    struct dl_type type = {.bits = (uint8_t)info->bits, .lanes = 1};
    switch (info->kind) {
    case DTI_KIND_INT:
        type.code = DL_INT;
        return type;
    case DTI_KIND_UINT:
        type.code = DL_UINT;
        return type;
    case DTI_KIND_BOOL:
        type.code = DL_BOOL;
        return type;
    case DTI_KIND_COMPLEX:
        type.code = DL_COMPLEX;
        return type;
    default:
        for (size_t i = 0; i < DTI_PY_COUNT(special); i++)
            if (strcmp(special[i].name, name) == 0) {
                type.code = (uint8_t)special[i].code;
                return type;
            }
        return (struct dl_type){0};
    }
}

/* Letters of the struct module for numbers of that kind and width in bytes; else for codes. */
static const char *letter_of(const struct dti_format_info *info, struct dl_type dl)
{
    const bool whole = info->bits == info->container_bits;
    switch (info->container_bits) {
    case 8:
        return info->kind == DTI_KIND_BOOL ? "?" : whole && info->kind == DTI_KIND_INT ? "b" : "B";
    case 16:
        if (dl.bits == 16 && dl.code == DL_FLOAT)
            return "e";
        return whole && info->kind == DTI_KIND_INT ? "h" : "H";
    case 32:
        if (dl.bits == 32 && dl.code == DL_FLOAT)
            return "f";
        return whole && info->kind == DTI_KIND_INT ? "i" : "I"; /* complex32: a code */
    case 64:
        if (dl.bits == 64 && (dl.code == DL_FLOAT || dl.code == DL_COMPLEX))
            return dl.code == DL_FLOAT ? "d" : "Zf";
        return whole && info->kind == DTI_KIND_INT ? "q" : "Q";
    default:
        return "Zd";
    }
}

struct dti_py_dtype *dti_py_dtype_of_format(struct dti_py_state *state,
                                            const struct dti_format *format)
{
    const char *const name = dti_format_name(format);
    PyObject *const key = PyUnicode_InternFromString(name);
    if (!key)
        return NULL;
    PyObject *found = PyDict_GetItemWithError(state->dtypes, key);
    if (!found && !PyErr_Occurred()) {
        struct dti_py_dtype *const dtype = PyObject_GC_New(struct dti_py_dtype, state->dtype_type);
        if (dtype) {
            struct dti_format_info info = {.size = sizeof info};
            dti_format_describe(format, &info);
            dtype->state = state;
            dtype->format = format;
            dtype->kind = info.kind;
            dtype->bits = info.bits;
            dtype->bytes = info.container_bits / 8;
            dtype->packs = info.packs;
            dtype->dl = dl_type_of(name, &info);
            dtype->letter = letter_of(&info, dtype->dl);
            dtype->numpy = dtype->torch = NULL;
            PyObject_GC_Track(dtype);
            if (PyDict_SetItem(state->dtypes, key, (PyObject *)dtype) == 0)
                found = (PyObject *)dtype;
            Py_DECREF(dtype); /* the dict keeps it */
        }
    }
    Py_DECREF(key);
    return (struct dti_py_dtype *)found;
}

struct dti_py_dtype *dti_py_dtype_named(struct dti_py_state *state, const char *name)
{
    PyObject *const known = PyDict_GetItemString(state->dtypes, name);
    if (known)
        return (struct dti_py_dtype *)known;
    const struct dti_format *format;
    struct dti_error error;
    if (dti_format_find(state->context, name, &format, NULL, &error) == DTI_OK)
        return dti_py_dtype_of_format(state, format);
    return (struct dti_py_dtype *)dti_py_fail(state, &error);
}

static struct dti_py_dtype *find_text(struct dti_py_state *state, PyObject *text)
{
    Py_ssize_t length;
    const char *const name = PyUnicode_AsUTF8AndSize(text, &length);
    if (!name)
        return NULL;
    if (strlen(name) != (size_t)length) {
        PyErr_SetString(PyExc_ValueError, "the name of a dtype contains a NUL");
        return NULL;
    }
    const struct dti_format *format;
    const char *note = NULL;
    struct dti_error error;
    if (dti_format_find(state->context, name, &format, &note, &error) != DTI_OK)
        return (struct dti_py_dtype *)dti_py_fail(state, &error);
    if (note && PyErr_WarnEx(PyExc_UserWarning, note, 1) < 0)
        return NULL;
    struct dti_py_dtype *const dtype = dti_py_dtype_of_format(state, format);
    if (!dtype || PyDict_SetItem(state->dtypes, text, (PyObject *)dtype) < 0)
        return NULL;
    return dtype;
}

struct dti_py_dtype *dti_py_dtype_from(struct dti_py_state *state, PyObject *object)
{
    if (Py_TYPE(object) == state->dtype_type)
        return (struct dti_py_dtype *)object;
    if (PyUnicode_Check(object)) {
        PyObject *const found = PyDict_GetItemWithError(state->dtypes, object);
        if (found || PyErr_Occurred())
            return (struct dti_py_dtype *)found;
        return find_text(state, object);
    }
    const struct dti_py_kind *const kind = dti_py_kind_of(state, object);
    if (!kind)
        return NULL;
    if (kind->dtype && !kind->swapped && !kind->pairs)
        return kind->dtype;
    PyErr_Format(PyExc_ValueError, "%R names no single dtype; give its name as a str", object);
    return NULL;
}

/* Asks dtinfo._helpers about a dtype that was never seen before. */
static const struct dti_py_kind *new_kind(struct dti_py_state *state, PyObject *dtype)
{
    PyObject *const facts = dti_py_help(state, "foreign", "(O)", dtype);
    if (!facts)
        return NULL;
    const char *name;
    int library, swapped, pairs;
    struct dti_py_kind *kind = NULL;
    if (PyArg_ParseTuple(facts, "zipp", &name, &library, &swapped, &pairs)) {
        struct dti_py_dtype *const own = name ? dti_py_dtype_named(state, name) : NULL;
        kind = own || !name ? malloc(sizeof *kind) : NULL;
        if (kind)
            *kind = (struct dti_py_kind){own, (enum dti_py_library)library, swapped, pairs};
        else if (!PyErr_Occurred())
            PyErr_NoMemory();
    }
    Py_DECREF(facts);
    PyObject *const address = kind ? PyLong_FromVoidPtr(kind) : NULL;
    if (!address || PyDict_SetItem(state->kinds, dtype, address) < 0) {
        free(kind);
        kind = NULL;
    }
    Py_XDECREF(address);
    return kind;
}

const struct dti_py_kind *dti_py_kind_of(struct dti_py_state *state, PyObject *dtype)
{
    PyObject *const known = PyDict_GetItemWithError(state->kinds, dtype);
    if (known)
        return PyLong_AsVoidPtr(known);
    return PyErr_Occurred() ? NULL : new_kind(state, dtype);
}

void dti_py_kinds_free(PyObject *kinds)
{
    PyObject *key, *value;
    for (Py_ssize_t position = 0; PyDict_Next(kinds, &position, &key, &value);)
        free(PyLong_AsVoidPtr(value));
    PyDict_Clear(kinds);
}

PyObject *dti_py_dtype_in(struct dti_py_dtype *dtype, enum dti_py_library library)
{
    PyObject **const place = library == DTI_PY_NUMPY ? &dtype->numpy : &dtype->torch;
    if (library == DTI_PY_OWN)
        return Py_None;
    if (*place)
        return *place;
    PyObject *const found =
        dti_py_help(dtype->state, "native", "(si)", dti_format_name(dtype->format), (int)library);
    if (found == Py_NotImplemented) { /* ask again */
        Py_DECREF(found);
        return Py_None;
    }
    return *place = found;
}

static struct dti_py_dtype *self_of(PyObject *self)
{
    return (struct dti_py_dtype *)self;
}

static PyObject *represent(PyObject *self)
{
    return PyUnicode_FromFormat("dtinfo.dtype('%s')", dti_format_name(self_of(self)->format));
}

static PyObject *spell(PyObject *self)
{
    return PyUnicode_FromString(dti_format_name(self_of(self)->format));
}

static PyObject *get_name(PyObject *self, void *unused)
{
    (void)unused;
    return spell(self);
}

static PyObject *get_kind(PyObject *self, void *unused)
{
    static const char *const words[] = {"float", "unsigned float", "int",
                                        "uint",  "bool",           "complex"};
    (void)unused;
    return PyUnicode_FromString(words[self_of(self)->kind]);
}

static PyObject *get_bits(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong((long)self_of(self)->bits);
}

static PyObject *get_itemsize(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong((long)self_of(self)->bytes);
}

static PyObject *get_numpy(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *const found = dti_py_dtype_in(self_of(self), DTI_PY_NUMPY);
    Py_XINCREF(found);
    return found;
}

static PyObject *get_torch(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *const found = dti_py_dtype_in(self_of(self), DTI_PY_TORCH);
    Py_XINCREF(found);
    return found;
}

static PyObject *names(PyObject *self, PyObject *system)
{
    const char *const word = PyUnicode_AsUTF8AndSize(system, NULL);
    PyObject *list = word ? PyList_New(0) : NULL;
    const char *name;
    for (size_t i = 0; list && (name = dti_format_alias(self_of(self)->format, word, i)); i++)
        dti_py_append(&list, PyUnicode_FromString(name));
    return list;
}

static PyObject *reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *const make = dti_py_helper(self_of(self)->state, "dtype");
    return make ? Py_BuildValue("N(s)", make, dti_format_name(self_of(self)->format)) : NULL;
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self_of(self)->numpy);
    Py_VISIT(self_of(self)->torch);
    return 0;
}

static int clear(PyObject *self)
{
    Py_CLEAR(self_of(self)->numpy);
    Py_CLEAR(self_of(self)->torch);
    return 0;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    (void)clear(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyGetSetDef attributes[] = {
    {"name", get_name, NULL, "Its name in dtinfo: 'bf16'.", NULL},
    {"kind", get_kind, NULL, "'float', 'unsigned float', 'int', 'uint', 'bool' or 'complex'.",
     NULL},
    {"bits", get_bits, NULL, "Bits of a code.", NULL},
    {"itemsize", get_itemsize, NULL, "Bytes of an element of an array.", NULL},
    {"numpy", get_numpy, NULL, "The dtype of numpy or ml_dtypes; None if they have none.", NULL},
    {"torch", get_torch, NULL, "The dtype of torch; None if it has none, or is not imported.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"names", names, METH_O,
     "names($self, system, /)\n--\n\nIts names in 'torch', 'numpy', 'ml_dtypes', 'onnx', "
     "'safetensors', 'gguf', 'cuda' ..."},
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     DTI_PY_SLOT(
         "A number format. dtinfo.dtype(name) gives it; equal formats are the same object.")},
    {Py_tp_repr, DTI_PY_SLOT(represent)},
    {Py_tp_str, DTI_PY_SLOT(spell)},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {Py_tp_traverse, DTI_PY_SLOT(traverse)},
    {Py_tp_clear, DTI_PY_SLOT(clear)},
    {Py_tp_dealloc, DTI_PY_SLOT(dealloc)},
    {0, NULL},
};

PyType_Spec dti_py_dtype_spec = {
    .name = "dtinfo.Dtype",
    .basicsize = sizeof(struct dti_py_dtype),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
