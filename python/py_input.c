/* SPDX-License-Identifier: MIT
 *
 * Arrays that come in: DLPack, the buffer protocol, __array_interface__, or an Array of our own.
 *
 * DLPack is the richest of them, because it names the small floats; it comes first for torch and
 * for libraries that we do not know. numpy cannot export those by DLPack (nor arrays that are not
 * native-endian), and its buffers cost 40 ns where a capsule costs 100 and its interface 1800: for
 * numpy, whose dtype we read by name, the buffer protocol comes first. */
#include "py_state.h" /* Python.h comes before all others */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool dti_py_view_set(struct dti_py_view *view, const void *data, size_t rank,
                     const Py_ssize_t *shape, const Py_ssize_t *strides, Py_ssize_t unit)
{
    if (rank > DTI_PY_RANK) {
        PyErr_Format(PyExc_ValueError, "the array has more than %d dimensions", DTI_PY_RANK);
        return false;
    }
    view->data = data;
    view->rank = rank;
    view->count = 1;
    view->contiguous = true;
    Py_ssize_t step = unit;
    for (size_t i = rank; i-- > 0;) {
        view->shape[i] = (size_t)shape[i];
        view->strides[i] = strides ? strides[i] : step;
        if (shape[i] != 1 && view->strides[i] != step)
            view->contiguous = false;
        if (shape[i] > 0 && (step > PY_SSIZE_T_MAX / shape[i])) {
            PyErr_SetString(PyExc_ValueError, "the array is too large");
            return false;
        }
        step *= shape[i] > 0 ? shape[i] : 1;
        view->count *= view->shape[i];
    }
    if (view->count == 0)
        view->contiguous = true;
    return true;
}

static bool wrong_type(PyObject *object)
{
    PyObject *const name = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
    if (name)
        PyErr_Format(PyExc_TypeError,
                     "%U is not an array: give a numpy array, a torch tensor, or an object with "
                     "__dlpack__, a buffer or __array_interface__",
                     name);
    Py_XDECREF(name);
    return false;
}

/* The format of a letter of the struct module; ret_name "" for bytes without a meaning. */
static bool name_letter(const char *format, Py_ssize_t itemsize, char ret_name[16],
                        bool *ret_swapped)
{
    const char *letter = format ? format : "B";
    const uint16_t one = 1;
    const bool little = *(const unsigned char *)&one == 1;
    *ret_swapped = (*letter == '<' && !little) || ((*letter == '>' || *letter == '!') && little);
    letter += strspn(letter, "<>!=@");
    const bool complex = *letter == 'Z';
    letter += complex;
    const char *const kind = strchr("bhilqn", *letter)   ? "int"
                             : strchr("BHILQN", *letter) ? "uint"
                             : strchr("efd", *letter)    ? (complex ? "complex" : "fp")
                             : strchr("FD", *letter)     ? "complex"
                             : *letter == '?'            ? "bool"
                                                         : NULL;
    if (!*letter || letter[1] || !kind)
        return false;
    *ret_swapped = *ret_swapped && itemsize > 1;
    (void)PyOS_snprintf(ret_name, 16, *letter == '?' ? "%s" : "%s%d", kind, (int)itemsize * 8);
    return true;
}

static bool hold_buffer(PyObject *object, int flags, struct dti_py_view *view)
{
    if (PyObject_GetBuffer(object, &view->buffer, flags) < 0) {
        view->buffer.obj = NULL;
        return false;
    }
    const Py_buffer *const buffer = &view->buffer;
    const Py_ssize_t bytes = buffer->itemsize > 0 ? buffer->len / buffer->itemsize : 0;
    view->read_only = buffer->readonly;
    if (buffer->ndim == 1 && !buffer->shape)
        return dti_py_view_set(view, buffer->buf, 1, &bytes, NULL, buffer->itemsize);
    return dti_py_view_set(view, buffer->buf, (size_t)buffer->ndim, buffer->shape, buffer->strides,
                           buffer->itemsize);
}

/* An object whose buffer says what it holds: memoryview, array.array, ctypes. */
static bool open_buffer(struct dti_py_state *state, PyObject *object, bool raw,
                        struct dti_py_view *view)
{
    if (!hold_buffer(object, PyBUF_STRIDES | PyBUF_FORMAT, view))
        return false;
    if (raw)
        return true;
    char name[16];
    if (!name_letter(view->buffer.format, view->buffer.itemsize, name, &view->swapped)) {
        PyErr_Format(
            PyExc_TypeError,
            "a buffer of format '%s' has no dtype of dtinfo; src= gives the dtype of codes",
            view->buffer.format);
        return false;
    }
    view->dtype = dti_py_dtype_named(state, name);
    return view->dtype != NULL;
}

/* Fills view->shape and so on from the dict of __array_interface__. */
static bool read_interface(struct dti_py_state *state, PyObject *dict, struct dti_py_view *view)
{
    PyObject *const place = dti_py_help(state, "interface", "(O)", dict);
    if (!place)
        return false;
    unsigned long long address;
    Py_ssize_t unit;
    int read_only;
    PyObject *name, *shape, *strides;
    Py_ssize_t sizes[DTI_PY_RANK], steps[DTI_PY_RANK];
    bool fine =
        PyArg_ParseTuple(place, "KnpOOO", &address, &unit, &read_only, &name, &shape, &strides);
    const Py_ssize_t rank = fine ? PyTuple_Size(shape) : 0;
    fine = fine && rank >= 0 && rank <= DTI_PY_RANK;
    for (Py_ssize_t i = 0; fine && i < rank; i++) {
        sizes[i] = PyLong_AsSsize_t(PyTuple_GetItem(shape, i));
        steps[i] = PyLong_AsSsize_t(PyTuple_GetItem(strides, i));
        fine = !PyErr_Occurred() && sizes[i] >= 0;
    }
    const struct dti_py_kind *kind = NULL;
    if (fine && name != Py_None) {
        kind = dti_py_kind_of(state, name);
        fine = kind != NULL;
    }
    if (kind) {
        view->dtype = kind->dtype;
        view->swapped = kind->swapped;
    }
    view->read_only = read_only;
    fine = fine && dti_py_view_set(view, (const void *)(uintptr_t)address, (size_t)rank, sizes,
                                   steps, unit);
    Py_DECREF(place);
    if (!fine && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "invalid __array_interface__");
    return fine;
}

static bool open_interface(struct dti_py_state *state, PyObject *object, struct dti_py_view *view)
{
    PyObject *const dict = PyObject_GetAttr(object, state->names.interface);
    if (!dict) {
        PyErr_Clear();
        return wrong_type(object);
    }
    view->holder = dict; /* its tuple may own the memory */
    return PyDict_Check(dict) ? read_interface(state, dict, view) : wrong_type(object);
}

static bool has(PyObject *object, PyObject *name)
{
    PyObject *const found = PyObject_GetAttr(object, name);
    if (!found)
        PyErr_Clear();
    Py_XDECREF(found);
    return found != NULL;
}

/* An object of a library that we do not know. */
static bool open_other(struct dti_py_state *state, PyObject *object, bool raw,
                       struct dti_py_view *view)
{
    if (has(object, state->names.dlpack)) {
        if (dti_py_view_dlpack(state, object, NULL, view))
            return true;
        if (!PyErr_ExceptionMatches(PyExc_BufferError) || !PyObject_CheckBuffer(object))
            return false;
        PyErr_Clear();
    }
    if (PyObject_CheckBuffer(object))
        return open_buffer(state, object, raw, view);
    return open_interface(state, object, view);
}

static bool open_numpy(struct dti_py_state *state, PyObject *object, const struct dti_py_kind *kind,
                       struct dti_py_view *view)
{
    view->dtype = kind->dtype;
    view->swapped = kind->swapped;
    view->library = DTI_PY_NUMPY;
    if (hold_buffer(object, PyBUF_STRIDES, view))
        return true;
    PyErr_Clear();
    return open_interface(state, object, view);
}

static bool open_array(struct dti_py_array *array, struct dti_py_view *view)
{
    view->dtype = array->dtype;
    return dti_py_view_set(view, array->codes, (size_t)array->rank, array->shape, array->strides,
                           (Py_ssize_t)array->dtype->bytes);
}

static bool open_any(struct dti_py_state *state, PyObject *object, bool raw,
                     struct dti_py_view *view)
{
    if (Py_TYPE(object) == state->array_type)
        return open_array((struct dti_py_array *)object, view);
    if (PyMemoryView_Check(object))
        return open_buffer(state, object, raw, view);
    if (PyBytes_Check(object) || PyByteArray_Check(object)) {
        if (raw)
            return hold_buffer(object, PyBUF_STRIDES, view);
        PyErr_SetString(PyExc_TypeError, "bytes have no dtype; src= gives the dtype of codes");
        return false;
    }
    PyObject *const dtype = PyObject_GetAttr(object, state->names.dtype);
    if (!dtype) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return false;
        PyErr_Clear();
        return open_other(state, object, raw, view);
    }
    const struct dti_py_kind *const kind = dti_py_kind_of(state, dtype);
    Py_DECREF(dtype);
    if (!kind)
        return false;
    if (kind->library == DTI_PY_NUMPY)
        return open_numpy(state, object, kind, view);
    if (kind->library == DTI_PY_TORCH) {
        view->library = DTI_PY_TORCH;
        struct dti_py_kind known = *kind;
        return dti_py_view_dlpack(state, object, &known, view);
    }
    return open_other(state, object, raw, view);
}

/* The array's elements are codes of src: integers, or bytes, of its width. */
static bool reinterpret(struct dti_py_view *view, struct dti_py_dtype *src)
{
    const struct dti_py_dtype *const has_dtype = view->dtype;
    const Py_ssize_t unit = has_dtype          ? (Py_ssize_t)has_dtype->bytes
                            : view->buffer.obj ? view->buffer.itemsize
                                               : (Py_ssize_t)src->bytes;
    if (has_dtype && has_dtype != src && has_dtype->kind != DTI_KIND_INT &&
        has_dtype->kind != DTI_KIND_UINT) {
        PyErr_Format(PyExc_ValueError,
                     "src= is for codes in integers or bytes, but the array holds %s",
                     dti_format_name(has_dtype->format));
        return false;
    }
    view->dtype = src;
    if (unit == (Py_ssize_t)src->bytes)
        return true;
    if (unit != 1 || view->rank != 1 || !view->contiguous || view->count % src->bytes != 0) {
        PyErr_Format(PyExc_ValueError, "elements of %zd bytes are no codes of %s, which take %u",
                     unit, dti_format_name(src->format), src->bytes);
        return false;
    }
    const Py_ssize_t count = (Py_ssize_t)(view->count / src->bytes);
    return dti_py_view_set(view, view->data, 1, &count, NULL, (Py_ssize_t)src->bytes);
}

bool dti_py_view_open(struct dti_py_state *state, PyObject *object, struct dti_py_dtype *src,
                      struct dti_py_view *view)
{
    view->dtype = NULL;
    view->library = DTI_PY_OWN;
    view->swapped = view->packed = view->read_only = false;
    view->buffer.obj = NULL;
    view->holder = NULL;
    view->copy = NULL;
    bool fine = open_any(state, object, src != NULL, view) && (!src || reinterpret(view, src));
    if (fine && !view->dtype) {
        PyErr_SetString(PyExc_TypeError,
                        "the array's elements have no dtype; src= gives the dtype of codes");
        fine = false;
    }
    if (!fine)
        dti_py_view_close(view);
    return fine;
}

void dti_py_view_close(struct dti_py_view *view)
{
    if (view->buffer.obj)
        PyBuffer_Release(&view->buffer);
    Py_CLEAR(view->holder);
    free(view->copy);
    view->copy = NULL;
}

static void copy_code(unsigned char *to, const unsigned char *from, size_t bytes, bool swapped,
                      size_t part)
{
    if (!swapped) {
        memcpy(to, from, bytes);
        return;
    }
    for (size_t i = 0; i < bytes; i++) /* both parts of a complex number on their own */
        to[i] = from[i / part * part + part - 1 - i % part];
}

bool dti_py_view_straighten(struct dti_py_view *view)
{
    const size_t bytes = view->dtype->bytes, bits = view->dtype->bits;
    if (!view->packed && view->contiguous && !view->swapped)
        return true;
    unsigned char *const copy = malloc(view->count > 0 ? view->count * bytes : 1);
    if (!copy) {
        PyErr_NoMemory();
        return false;
    }
    const size_t part = view->dtype->kind == DTI_KIND_COMPLEX ? bytes / 2 : bytes;
    size_t index[DTI_PY_RANK] = {0};
    const unsigned char *from = view->data;
    for (size_t i = 0; i < view->count; i++) {
        if (view->packed) {
            const size_t at = i * bits;
            unsigned code = (unsigned)view->data[at / 8] >> at % 8;
            if (at % 8 + bits > 8)
                code |= (unsigned)view->data[at / 8 + 1] << (8 - at % 8);
            copy[i] = (unsigned char)(code & ((1U << bits) - 1));
            continue;
        }
        copy_code(copy + i * bytes, from, bytes, view->swapped, part);
        for (size_t d = view->rank; d-- > 0;) {
            from += view->strides[d];
            if (++index[d] < view->shape[d])
                break;
            from -= view->strides[d] * (ptrdiff_t)view->shape[d];
            index[d] = 0;
        }
    }
    free(view->copy);
    view->copy = copy;
    view->data = copy;
    view->packed = view->swapped = false;
    view->contiguous = true;
    return true;
}
