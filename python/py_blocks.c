/* SPDX-License-Identifier: MIT
 *
 * quantize() and dequantize(): an array becomes parts, and parts an array. */
#include "py_state.h" /* Python.h comes before all others */

#include <string.h>

struct block_arguments {
    PyObject *array, *shape, *parts;
    struct dti_py_dtype *number;
    const char *format, *per, *symmetry, *division, *like, *mx_scale, *nv_scale, *tensor_scale;
    const char *min, *max, *scale, *zero_point, *packing;
    PyObject *axis;
    uint64_t block;
    bool gguf, symmetric, affine, nested, pad, report;
};
#define ROW(name, take)                                                    \
    {                                                                      \
#name, DTI_PY_##take, offsetof(struct block_arguments, name), NULL \
    }
#define SPEC_ROWS                                                                              \
    ROW(gguf, FLAG), ROW(per, TEXT), ROW(axis, OBJECT), ROW(block, U64), ROW(symmetric, FLAG), \
        ROW(affine, FLAG), ROW(symmetry, TEXT), ROW(division, TEXT), ROW(like, TEXT),          \
        ROW(mx_scale, TEXT), ROW(nv_scale, TEXT), ROW(tensor_scale, TEXT), ROW(min, TEXT),     \
        ROW(max, TEXT), ROW(scale, TEXT), ROW(zero_point, TEXT), ROW(packing, TEXT),           \
        ROW(nested, FLAG), ROW(pad, FLAG)

/* The parts, in the order of their buffers. */
enum { CODES, SCALES, ZERO_POINTS, NESTED_SCALES, NESTED_MAP, PARTS };
static const char *const part_names[PARTS] = {"codes", "scales", "zero_points", "nested_scales",
                                              "nested_map"};

static bool plan(struct dti_py_state *state, const struct block_arguments *given,
                 const struct dti_format *number, size_t rank, const uint64_t *shape,
                 struct dti_quantizer **ret)
{
    struct dti_quantize_spec spec = {
        .size = sizeof spec,
        .format = given->format,
        .gguf = given->gguf,
        .number = number,
        .rank = rank,
        .shape = shape,
        .per = given->per,
        .axis_given = given->axis != NULL,
        .block = given->block,
        .symmetric = given->symmetric,
        .affine = given->affine,
        .symmetry = given->symmetry,
        .division = given->division,
        .like = given->like,
        .mx_scale = given->mx_scale,
        .nv_scale = given->nv_scale,
        .tensor_scale = given->tensor_scale,
        .min = given->min,
        .max = given->max,
        .scale = given->scale,
        .zero_point = given->zero_point,
        .packing = given->packing,
        .nested = given->nested,
        .pad = given->pad,
    };
    if (given->axis)
        spec.axis = (int)PyLong_AsLong(given->axis);
    if (PyErr_Occurred())
        return false;
    struct dti_error error;
    if (dti_quantizer_new(ret, state->context, &spec, &error) == DTI_OK)
        return true;
    (void)dti_py_fail(state, &error);
    return false;
}

/* An Array of a shape if that takes these bytes, else of bytes. */
static PyObject *part_array(struct dti_py_state *state, const struct dti_format *format,
                            size_t rank, const uint64_t *shape, size_t bytes)
{
    size_t sizes[DTI_RANK_MAX] = {bytes};
    struct dti_py_dtype *dtype = format ? dti_py_dtype_of_format(state, format) : NULL;
    if (PyErr_Occurred())
        return NULL;
    size_t total = dtype ? dtype->bytes : 1;
    for (size_t i = 0; i < rank; i++)
        total *= (size_t)shape[i];
    const bool fits = total == bytes && (dtype || rank > 0);
    for (size_t i = 0; fits && i < rank; i++)
        sizes[i] = (size_t)shape[i];
    if (!fits || !dtype)
        dtype = dti_py_dtype_named(state, "uint8");
    return dtype ? (PyObject *)dti_py_array_new(state, dtype, fits ? rank : 1, sizes) : NULL;
}

/* New Arrays for all parts, in a dict. */
static PyObject *new_parts(struct dti_py_state *state, const struct dti_quantized_sizes *sizes,
                           struct dti_quantized *ret)
{
    const struct dti_format *const int32 = dti_py_dtype_named(state, "int32")->format;
    const struct dti_format *const fp32 = dti_py_dtype_named(state, "fp32")->format;
    const uint64_t nested = sizes->nested_scales / 4, map = sizes->nested_map / 4;
    const struct {
        size_t bytes, rank;
        const struct dti_format *format;
        const uint64_t *shape;
        void **buffer;
    } rows[PARTS] = {
        {sizes->codes, sizes->code_rank, sizes->code_format, sizes->code_shape, &ret->codes},
        {sizes->scales, sizes->scale_rank, sizes->scale_format, sizes->scale_shape, &ret->scales},
        {sizes->zero_points, sizes->scale_rank, int32, sizes->scale_shape, NULL},
        {sizes->nested_scales, 1, fp32, &nested, &ret->nested_scales},
        {sizes->nested_map, 1, fp32, &map, &ret->nested_map},
    };
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < PARTS; i++) {
        if (rows[i].bytes == 0 && i != CODES)
            continue;
        PyObject *const array =
            part_array(state, rows[i].format, rows[i].rank, rows[i].shape, rows[i].bytes);
        if (!array || PyDict_SetItemString(dict, part_names[i], array) < 0) {
            Py_CLEAR(dict);
        } else {
            void *const codes = ((struct dti_py_array *)array)->codes;
            if (rows[i].buffer)
                *rows[i].buffer = codes;
            else
                ret->zero_points = codes;
        }
        Py_XDECREF(array);
    }
    return dict;
}

#define MEMBER(name, type)                                                  \
    {                                                                       \
#name, DTI_PY_IS_##type, offsetof(struct dti_quantize_report, name) \
    }
static const struct dti_py_member report_members[] = {
    MEMBER(elements, U64),         MEMBER(inexact, U64),
    MEMBER(clipped, U64),          MEMBER(special, U64),
    MEMBER(compared, U64),         MEMBER(max_absolute, DOUBLE),
    MEMBER(max_index, U64),        MEMBER(max_relative, DOUBLE),
    MEMBER(mean_absolute, DOUBLE), MEMBER(root_mean_square, DOUBLE),
    MEMBER(sqnr_db, DOUBLE),
};

/* (parts, tensor scale or None, report or None). */
static PyObject *run(struct dti_py_state *state, const struct block_arguments *given,
                     const struct dti_quantizer *quantizer, const struct dti_py_view *view)
{
    struct dti_quantized_sizes sizes = {.size = sizeof sizes};
    dti_quantizer_sizes(quantizer, &sizes);
    struct dti_quantized parts = {.size = sizeof parts};
    PyObject *const dict = new_parts(state, &sizes, &parts);
    if (!dict)
        return NULL;
    struct dti_quantize_report report = {.size = sizeof report};
    struct dti_error error;
    const bool paused = dti_py_pause(view->count * view->dtype->bytes);
    const enum dti_status status =
        dti_quantizer_run(quantizer, view->data, &parts, given->report ? &report : NULL, &error);
    dti_py_resume(paused);
    if (status != DTI_OK) {
        Py_DECREF(dict);
        return dti_py_fail(state, &error);
    }
    PyObject *const scale = sizes.has_tensor_scale ? PyFloat_FromDouble((double)parts.tensor_scale)
                                                   : Py_NewRef(Py_None);
    PyObject *const loss =
        given->report ? dti_py_dict(state, report_members, DTI_PY_COUNT(report_members), &report)
                      : Py_NewRef(Py_None);
    return Py_BuildValue("(NNN)", dict, scale, loss);
}

static PyObject *quantize(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct block_arguments given = {.array = NULL};
    static const struct dti_py_parameter rows[] = {ROW(array, OBJECT), ROW(format, TEXT), SPEC_ROWS,
                                                   ROW(report, FLAG)};
    static const struct dti_py_signature signature = {"quantize", rows, DTI_PY_COUNT(rows), 2, 2};
    struct dti_py_view view;
    if (!dti_py_arguments(state, &signature, args, nargs, kwnames, &given) ||
        !dti_py_view_open(state, given.array ? given.array : Py_None, NULL, &view))
        return NULL;
    uint64_t shape[DTI_RANK_MAX];
    PyObject *result = NULL;
    struct dti_quantizer *quantizer = NULL;
    if (view.rank > DTI_RANK_MAX) {
        PyErr_Format(PyExc_ValueError, "the array has more than %d dimensions", DTI_RANK_MAX);
    } else {
        for (size_t i = 0; i < view.rank; i++)
            shape[i] = view.shape[i];
        if (dti_py_view_straighten(&view) &&
            plan(state, &given, view.dtype->format, view.rank, shape, &quantizer))
            result = run(state, &given, quantizer, &view);
    }
    dti_quantizer_free(quantizer);
    dti_py_view_close(&view);
    return result;
}

/* Opens the buffers of parts; each must have the size that the plan expects. */
static bool open_parts(struct dti_py_state *state, PyObject *dict,
                       const struct dti_quantized_sizes *sizes, struct dti_py_view views[PARTS],
                       size_t *ret_open, struct dti_quantized *ret)
{
    const size_t bytes[PARTS] = {sizes->codes, sizes->scales, sizes->zero_points,
                                 sizes->nested_scales, sizes->nested_map};
    const void *data[PARTS] = {NULL};
    for (*ret_open = 0; *ret_open < PARTS; (*ret_open)++) {
        const size_t i = *ret_open;
        struct dti_py_view *const view = &views[i];
        memset(view, 0, sizeof *view);
        PyObject *const part = PyDict_GetItemString(dict, part_names[i]);
        if (bytes[i] == 0 && !part)
            continue;
        if (!part) {
            PyErr_Format(PyExc_ValueError, "the format has %s, which are missing", part_names[i]);
            return false;
        }
        if (!dti_py_view_open(state, part, NULL, view) || !dti_py_view_straighten(view)) {
            dti_py_view_close(view);
            return false;
        }
        if (view->count * view->dtype->bytes != bytes[i]) {
            PyErr_Format(PyExc_ValueError, "%s have %zu bytes, but the format and shape need %zu",
                         part_names[i], view->count * view->dtype->bytes, bytes[i]);
            dti_py_view_close(view);
            return false;
        }
        data[i] = view->data;
    }
    ret->codes = (void *)(uintptr_t)data[CODES];
    ret->scales = (void *)(uintptr_t)data[SCALES];
    ret->zero_points = (int32_t *)(uintptr_t)data[ZERO_POINTS];
    ret->nested_scales = (void *)(uintptr_t)data[NESTED_SCALES];
    ret->nested_map = (void *)(uintptr_t)data[NESTED_MAP];
    return true;
}

static PyObject *back(struct dti_py_state *state, const struct block_arguments *given,
                      const struct dti_quantizer *quantizer, size_t rank, const size_t *shape)
{
    struct dti_quantized_sizes sizes = {.size = sizeof sizes};
    dti_quantizer_sizes(quantizer, &sizes);
    struct dti_quantized parts = {.size = sizeof parts};
    struct dti_py_view *const views = PyMem_Calloc(PARTS, sizeof *views);
    if (!views)
        return PyErr_NoMemory();
    size_t open = 0;
    struct dti_py_array *array = NULL;
    PyObject *const scale = PyDict_GetItemString(given->parts, "tensor_scale");
    if (scale)
        parts.tensor_scale = (float)PyFloat_AsDouble(scale);
    if (!PyErr_Occurred() && open_parts(state, given->parts, &sizes, views, &open, &parts))
        array = dti_py_array_new(state, given->number, rank, shape);
    if (array) {
        struct dti_error error;
        const bool paused = dti_py_pause((size_t)array->count * given->number->bytes);
        const enum dti_status status = dti_quantizer_back(quantizer, &parts, array->codes, &error);
        dti_py_resume(paused);
        if (status != DTI_OK) {
            Py_DECREF((PyObject *)array);
            array = (struct dti_py_array *)dti_py_fail(state, &error);
        }
    }
    for (size_t i = 0; i < open; i++)
        dti_py_view_close(&views[i]);
    PyMem_Free(views);
    return (PyObject *)array;
}

static PyObject *dequantize(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct block_arguments given = {.array = NULL};
    static const struct dti_py_parameter rows[] = {
        ROW(parts, OBJECT), ROW(format, TEXT), ROW(shape, OBJECT), ROW(number, DTYPE), SPEC_ROWS};
    static const struct dti_py_signature signature = {"dequantize", rows, DTI_PY_COUNT(rows), 4, 4};
    if (!dti_py_arguments(state, &signature, args, nargs, kwnames, &given))
        return NULL;
    const Py_ssize_t rank = given.shape ? PySequence_Size(given.shape) : -1;
    if (rank < 0 || rank > DTI_RANK_MAX || !given.number || !given.parts ||
        !PyDict_Check(given.parts)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "dequantize() needs parts, a format, a shape of at "
                                             "most 8 dimensions, and a dtype");
        return NULL;
    }
    uint64_t shape[DTI_RANK_MAX];
    size_t sizes[DTI_RANK_MAX];
    for (Py_ssize_t i = 0; i < rank; i++) {
        PyObject *const item = PySequence_GetItem(given.shape, i);
        sizes[i] = item ? PyLong_AsSize_t(item) : 0;
        shape[i] = sizes[i];
        Py_XDECREF(item);
        if (PyErr_Occurred())
            return NULL;
    }
    struct dti_quantizer *quantizer = NULL;
    PyObject *result = NULL;
    if (plan(state, &given, given.number->format, (size_t)rank, shape, &quantizer))
        result = back(state, &given, quantizer, (size_t)rank, sizes);
    dti_quantizer_free(quantizer);
    return result;
}

#undef MEMBER
#define MEMBER(name, type)                                             \
    {                                                                  \
#name, DTI_PY_IS_##type, offsetof(struct dti_block_info, name) \
    }
static const struct dti_py_member info_members[] = {
    MEMBER(name, TEXT),   MEMBER(summary, TEXT), MEMBER(code, FORMAT), MEMBER(scale, FORMAT),
    MEMBER(length, UINT), MEMBER(bytes, UINT),   MEMBER(gguf, BOOL),   MEMBER(encodes, BOOL),
};

static PyObject *blocks(PyObject *module, PyObject *unused)
{
    (void)unused;
    struct dti_block_info info = {.size = sizeof info};
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && dti_block_at(i, &info); i++) {
        PyObject *const dict =
            dti_py_dict(dti_py_state_of(module), info_members, DTI_PY_COUNT(info_members), &info);
        if (!dict || PyList_Append(list, dict) < 0)
            Py_CLEAR(list);
        Py_XDECREF(dict);
    }
    return list;
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function)), METH_FASTCALL | METH_KEYWORDS
PyMethodDef dti_py_block_functions[] = {
    {"quantize", FAST(quantize), NULL},
    {"dequantize", FAST(dequantize), NULL},
    {"blocks", blocks, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
