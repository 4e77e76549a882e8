/* SPDX-License-Identifier: MIT
 *
 * New files of tensors. */
#include "py_state.h" /* Python.h comes before all others */

#include <string.h>

struct writer_object {
    PyObject_HEAD struct dti_py_state *state;
    struct dti_writer *writer; /* NULL once ended */
    struct dti_py_lock lock;
};

struct writer_arguments {
    PyObject *path, *array, *shape, *name;
    const char *container, *key, *value;
    struct dti_py_dtype *dtype;
    bool replace;
    uint64_t tensor, first;
};
#define ROW(name, take)                                                     \
    {                                                                       \
#name, DTI_PY_##take, offsetof(struct writer_arguments, name), NULL \
    }

static struct writer_object *self_of(PyObject *self)
{
    return (struct writer_object *)self;
}

static struct writer_object *begin(PyObject *self)
{
    struct writer_object *const object = self_of(self);
    if (!dti_py_lock_take(&object->lock))
        return NULL;
    if (object->writer)
        return object;
    dti_py_lock_give(&object->lock);
    PyErr_SetString(PyExc_ValueError, "the writer is closed");
    return NULL;
}

/* None, or the exception of an error; gives the lock back. */
static PyObject *finish(struct writer_object *object, enum dti_status status,
                        const struct dti_error *error)
{
    dti_py_lock_give(&object->lock);
    if (status != DTI_OK)
        return dti_py_fail(object->state, error);
    Py_RETURN_NONE;
}

static PyObject *writer_new(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct writer_arguments given = {.path = NULL};
    static const struct dti_py_parameter rows[] = {ROW(path, OBJECT), ROW(container, TEXT),
                                                   ROW(replace, FLAG)};
    static const struct dti_py_signature signature = {"Writer", rows, DTI_PY_COUNT(rows), 1, 1};
    PyObject *path = NULL;
    if (!dti_py_arguments(state, &signature, args, nargs, kwnames, &given) ||
        !PyUnicode_FSConverter(given.path ? given.path : Py_None, &path))
        return NULL;
    struct writer_object *object = PyObject_New(struct writer_object, state->writer_type);
    if (object) {
        object->state = state;
        object->writer = NULL;
        struct dti_error error;
        if (!dti_py_lock_new(&object->lock)) {
            PyErr_NoMemory();
            Py_CLEAR(object);
        } else if (dti_writer_new(&object->writer, state->context, PyBytes_AsString(path),
                                  given.container, given.replace, &error) != DTI_OK) {
            (void)dti_py_fail(state, &error);
            Py_CLEAR(object);
        }
    }
    Py_DECREF(path);
    return (PyObject *)object;
}

static PyObject *declare(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    struct writer_arguments given = {.path = NULL};
    static const struct dti_py_parameter rows[] = {ROW(name, OBJECT), ROW(dtype, DTYPE),
                                                   ROW(shape, OBJECT)};
    static const struct dti_py_signature signature = {"tensor", rows, DTI_PY_COUNT(rows), 3, 3};
    if (!dti_py_arguments(self_of(self)->state, &signature, args, nargs, kwnames, &given))
        return NULL;
    uint64_t shape[DTI_PY_RANK];
    const Py_ssize_t rank = given.shape ? PySequence_Size(given.shape) : -1;
    if (rank < 0 || rank > DTI_PY_RANK || !given.dtype || !given.name) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "tensor() needs a name, a dtype and a shape");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < rank; i++) {
        PyObject *const item = PySequence_GetItem(given.shape, i);
        shape[i] = item ? PyLong_AsUnsignedLongLong(item) : 0;
        Py_XDECREF(item);
        if (PyErr_Occurred())
            return NULL;
    }
    PyObject *const name = PyUnicode_AsEncodedString(given.name, "utf-8", "surrogateescape");
    struct writer_object *const object = name ? begin(self) : NULL;
    if (!object) {
        Py_XDECREF(name);
        return NULL;
    }
    struct dti_error error;
    const enum dti_status status =
        dti_writer_tensor(object->writer, PyBytes_AsString(name), (size_t)PyBytes_Size(name),
                          given.dtype->format, (size_t)rank, shape, &error);
    Py_DECREF(name);
    return finish(object, status, &error);
}

static PyObject *metadata(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames)
{
    struct writer_arguments given = {.path = NULL};
    static const struct dti_py_parameter rows[] = {ROW(key, TEXT), ROW(value, TEXT)};
    static const struct dti_py_signature signature = {"metadata", rows, DTI_PY_COUNT(rows), 2, 2};
    if (!dti_py_arguments(self_of(self)->state, &signature, args, nargs, kwnames, &given))
        return NULL;
    struct writer_object *const object = begin(self);
    if (!object)
        return NULL;
    struct dti_error error;
    return finish(object, dti_writer_metadata(object->writer, given.key, given.value, &error),
                  &error);
}

static PyObject *write_range(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *kwnames)
{
    struct writer_arguments given = {.path = NULL};
    static const struct dti_py_parameter rows[] = {ROW(tensor, U64), ROW(first, U64),
                                                   ROW(array, OBJECT), ROW(dtype, DTYPE)};
    static const struct dti_py_signature signature = {"write", rows, DTI_PY_COUNT(rows), 3, 4};
    struct dti_py_view view;
    if (!dti_py_arguments(self_of(self)->state, &signature, args, nargs, kwnames, &given) ||
        !dti_py_view_open(self_of(self)->state, given.array, given.dtype, &view))
        return NULL;
    struct writer_object *const object = dti_py_view_straighten(&view) ? begin(self) : NULL;
    if (!object) {
        dti_py_view_close(&view);
        return NULL;
    }
    struct dti_error error;
    const bool paused = dti_py_pause(SIZE_MAX);
    const enum dti_status status = dti_writer_write(object->writer, (size_t)given.tensor,
                                                    given.first, view.count, view.data, &error);
    dti_py_resume(paused);
    dti_py_view_close(&view);
    return finish(object, status, &error);
}

static PyObject *commit(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct writer_object *const object = begin(self);
    if (!object)
        return NULL;
    struct dti_error error;
    const bool paused = dti_py_pause(SIZE_MAX);
    const enum dti_status status = dti_writer_commit(object->writer, &error);
    dti_py_resume(paused);
    return finish(object, status, &error);
}

static PyObject *close_writer(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct writer_object *const object = self_of(self);
    if (!dti_py_lock_take(&object->lock))
        return NULL;
    dti_writer_free(object->writer);
    object->writer = NULL;
    dti_py_lock_give(&object->lock);
    Py_RETURN_NONE;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *const type = Py_TYPE(self);
    dti_writer_free(self_of(self)->writer);
    dti_py_lock_free(&self_of(self)->lock);
    PyObject_Free(self);
    Py_DECREF(type);
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function)), METH_FASTCALL | METH_KEYWORDS
static PyMethodDef methods[] = {
    {"tensor", FAST(declare), NULL},
    {"metadata", FAST(metadata), NULL},
    {"write", FAST(write_range), NULL},
    {"commit", commit, METH_NOARGS, NULL},
    {"close", close_writer, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, DTI_PY_SLOT("A new file; dtinfo.Writer wraps it.")},
    {Py_tp_methods, methods},
    {Py_tp_dealloc, DTI_PY_SLOT(dealloc)},
    {0, NULL},
};

PyType_Spec dti_py_writer_spec = {
    .name = "dtinfo._dtinfo.Writer",
    .basicsize = sizeof(struct writer_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

PyMethodDef dti_py_writer_functions[] = {
    {"writer_new", FAST(writer_new), NULL},
    {NULL, NULL, 0, NULL},
};
