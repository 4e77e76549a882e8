/* SPDX-License-Identifier: MIT
 *
 * Arrays that go out: those of the library that the input came from, or the caller's own. */
#include "py_state.h"

/* numpy.empty() of a shape; its buffer is open until the output is finished. */
static bool new_numpy(struct dti_py_state *state, PyObject *dtype, size_t rank, const size_t *shape,
                      struct dti_py_output *ret)
{
    if (!state->numpy_empty) {
        state->numpy_empty = dti_py_help(state, "numpy_empty", "()");
        if (!state->numpy_empty)
            return false;
    }
    PyObject *const sizes = rank == 1 ? PyLong_FromSize_t(shape[0]) : PyTuple_New((Py_ssize_t)rank);
    for (size_t i = 0; sizes && rank != 1 && i < rank; i++)
        (void)PyTuple_SetItem(sizes, (Py_ssize_t)i, PyLong_FromSize_t(shape[i]));
    ret->object =
        sizes ? PyObject_CallFunctionObjArgs(state->numpy_empty, sizes, dtype, NULL) : NULL;
    Py_XDECREF(sizes);
    if (!ret->object || PyObject_GetBuffer(ret->object, &ret->buffer, PyBUF_WRITABLE) < 0) {
        Py_CLEAR(ret->object);
        ret->buffer.obj = NULL;
        return false;
    }
    ret->data = ret->buffer.buf;
    return true;
}

bool dti_py_output_new(struct dti_py_state *state, enum dti_py_library library,
                       struct dti_py_dtype *dtype, size_t rank, const size_t *shape,
                       struct dti_py_output *ret)
{
    PyObject *const native = dti_py_dtype_in(dtype, library);
    if (!native)
        return false;
    ret->buffer.obj = NULL;
    ret->library = native == Py_None ? DTI_PY_OWN : library;
    if (ret->library == DTI_PY_NUMPY)
        return new_numpy(state, native, rank, shape, ret);
    struct dti_py_array *const array = dti_py_array_new(state, dtype, rank, shape);
    ret->object = (PyObject *)array;
    ret->data = array ? array->codes : NULL;
    return array != NULL;
}

/* Whether an array's elements, wherever its strides lead, come near a buffer. */
static bool overlap(const struct dti_py_view *view, const unsigned char *data, size_t bytes)
{
    if (view->count == 0)
        return false;
    uintptr_t low = (uintptr_t)view->data, high = low + view->dtype->bytes;
    if (view->contiguous)
        high = low + view->count * view->dtype->bytes;
    for (size_t i = 0; !view->contiguous && i < view->rank; i++) {
        const ptrdiff_t reach = view->strides[i] * (ptrdiff_t)(view->shape[i] - 1);
        if (reach < 0)
            low -= (uintptr_t)-reach;
        else
            high += (uintptr_t)reach;
    }
    return low < (uintptr_t)data + bytes && (uintptr_t)data < high;
}

bool dti_py_output_open(struct dti_py_state *state, PyObject *object, struct dti_py_dtype *dtype,
                        const struct dti_py_view *input, struct dti_py_output *ret)
{
    struct dti_py_view view;
    if (!dti_py_view_open(state, object, NULL, &view)) {
        PyErr_Clear(); /* bytes without a dtype: codes */
        if (!dti_py_view_open(state, object, dtype, &view))
            return false;
    }
    const size_t bytes = view.count * view.dtype->bytes;
    bool fine = false;
    if (view.dtype != dtype &&
        (view.dtype->bytes != dtype->bytes || view.dtype->kind != DTI_KIND_UINT))
        PyErr_Format(PyExc_ValueError, "out holds %s, not %s or unsigned integers of its width",
                     dti_format_name(view.dtype->format), dti_format_name(dtype->format));
    else if (view.count != input->count)
        PyErr_Format(PyExc_ValueError, "out has %zu elements, not %zu", view.count, input->count);
    else if (!view.contiguous || view.swapped || view.packed || view.read_only)
        PyErr_SetString(PyExc_ValueError,
                        "out must be contiguous, writable, in native byte order, not packed");
    else if (overlap(input, view.data, bytes))
        PyErr_SetString(PyExc_ValueError, "out overlaps the array");
    else
        fine = true;
    if (!fine) {
        dti_py_view_close(&view);
        return false;
    }
    ret->library = DTI_PY_OWN;
    ret->object = object;
    Py_INCREF(object);
    ret->data = (void *)(uintptr_t)view.data;
    ret->buffer = view.buffer; /* it moves */
    view.buffer.obj = NULL;
    dti_py_view_close(&view);
    return true;
}

void dti_py_output_drop(struct dti_py_output *output)
{
    if (output->buffer.obj)
        PyBuffer_Release(&output->buffer);
    Py_CLEAR(output->object);
}

PyObject *dti_py_output_finish(struct dti_py_output *output)
{
    if (output->buffer.obj)
        PyBuffer_Release(&output->buffer);
    PyObject *const object = output->object;
    if (output->library != DTI_PY_TORCH)
        return object;
    struct dti_py_array *const array = (struct dti_py_array *)object;
    struct dl_exchange *const exchange = array->state->exchange;
    PyObject *tensor = NULL;
    if (exchange && exchange->import_managed && array->dtype->dl.bits >= 8) {
        struct dl_managed_versioned *const managed = dti_py_array_managed(array);
        void *made = NULL;
        if (managed && exchange->import_managed(managed, &made) == 0)
            tensor = made;
        else
            PyErr_Clear(); /* a version that does not know the type */
    }
    if (!tensor)
        tensor = dti_py_array_as(array, DTI_PY_TORCH);
    Py_DECREF(object);
    return tensor;
}
