/* SPDX-License-Identifier: MIT
 *
 * Files of tensors that are read. A file of the library serves one thread at a time: each File has
 * a lock, which a thread waits for without the interpreter's. */
#include "py_state.h" /* Python.h comes before all others */

#include <string.h>

struct file_object {
    PyObject_HEAD struct dti_py_state *state;
    struct dti_file *file; /* NULL once closed */
    struct dti_py_lock lock;
    Py_buffer memory; /* that it reads; memory.obj NULL: none */
};

struct open_arguments {
    PyObject *source;
    const char *name;
    bool stored, lenient;
    struct dti_py_dtype *assume;
    uint64_t bits, block;
};

static struct file_object *self_of(PyObject *self)
{
    return (struct file_object *)self;
}

/* Takes the lock of an open file. */
static struct file_object *begin(PyObject *self)
{
    struct file_object *const object = self_of(self);
    if (!dti_py_lock_take(&object->lock))
        return NULL;
    if (object->file)
        return object;
    dti_py_lock_give(&object->lock);
    PyErr_SetString(PyExc_ValueError, "the file is closed");
    return NULL;
}

static enum dti_status open_source(struct file_object *object, const struct open_arguments *given,
                                   const char *path, int fd, struct dti_error *error)
{
    struct dti_context *const context = object->state->context;
    const struct dti_file_options options = {
        .size = sizeof options,
        .stored = given->stored,
        .lenient = given->lenient,
        .assume = given->assume ? given->assume->format : NULL,
        .bits = (unsigned)given->bits,
        .block = given->block,
    };
    const bool paused = dti_py_pause(SIZE_MAX);
    const enum dti_status status =
        path ? dti_file_open(&object->file, context, path, &options, error)
        : object->memory.obj
            ? dti_file_open_memory(&object->file, context, object->memory.buf,
                                   (size_t)object->memory.len, given->name, &options, error)
            : dti_file_open_fd(&object->file, context, fd, given->name, &options, error);
    dti_py_resume(paused);
    return status;
}

/* Opens the source: a path, a descriptor, or bytes. */
static bool open_object(struct file_object *object, const struct open_arguments *given)
{
    const char *path = NULL;
    PyObject *bytes = NULL;
    int fd = -1;
    if (PyLong_Check(given->source)) {
        fd = (int)PyLong_AsLong(given->source);
    } else if (PyUnicode_Check(given->source)) {
        if (PyUnicode_FSConverter(given->source, &bytes))
            path = PyBytes_AsString(bytes);
    } else if (PyObject_GetBuffer(given->source, &object->memory, PyBUF_SIMPLE) < 0) {
        object->memory.obj = NULL;
    }
    struct dti_error error;
    const bool fine = !PyErr_Occurred() && given->bits <= 64;
    enum dti_status status = DTI_OK;
    if (fine)
        status = open_source(object, given, path, fd, &error);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "bits must be from 1 to 64");
    Py_XDECREF(bytes);
    if (status != DTI_OK)
        (void)dti_py_fail(object->state, &error);
    return fine && status == DTI_OK;
}

static PyObject *file_open(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct open_arguments given = {.name = NULL};
    static const struct dti_py_parameter rows[] = {
        {"source", DTI_PY_OBJECT, offsetof(struct open_arguments, source), NULL},
        {"name", DTI_PY_TEXT, offsetof(struct open_arguments, name), NULL},
        {"stored", DTI_PY_FLAG, offsetof(struct open_arguments, stored), NULL},
        {"lenient", DTI_PY_FLAG, offsetof(struct open_arguments, lenient), NULL},
        {"assume", DTI_PY_DTYPE, offsetof(struct open_arguments, assume), NULL},
        {"bits", DTI_PY_U64, offsetof(struct open_arguments, bits), NULL},
        {"block", DTI_PY_U64, offsetof(struct open_arguments, block), NULL},
    };
    static const struct dti_py_signature signature = {"open", rows, DTI_PY_COUNT(rows), 1, 1};
    if (!dti_py_arguments(state, &signature, args, nargs, kwnames, &given))
        return NULL;
    struct file_object *const object = PyObject_New(struct file_object, state->file_type);
    if (!object)
        return NULL;
    object->state = state;
    object->file = NULL;
    object->memory.obj = NULL;
    const bool locks = dti_py_lock_new(&object->lock);
    if (locks && given.source && open_object(object, &given))
        return (PyObject *)object;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "open() needs a path, a descriptor or bytes");
    Py_DECREF(object);
    return NULL;
}

static void end(struct file_object *object)
{
    dti_file_close(object->file);
    object->file = NULL;
    if (object->memory.obj)
        PyBuffer_Release(&object->memory);
}

static PyObject *close_file(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (!dti_py_lock_take(&self_of(self)->lock))
        return NULL;
    end(self_of(self));
    dti_py_lock_give(&self_of(self)->lock);
    Py_RETURN_NONE;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *const type = Py_TYPE(self);
    end(self_of(self));
    dti_py_lock_free(&self_of(self)->lock);
    PyObject_Free(self);
    Py_DECREF(type);
}

#define MEMBER(name, type)                                            \
    {                                                                 \
#name, DTI_PY_IS_##type, offsetof(struct dti_file_info, name) \
    }
static const struct dti_py_member info_members[] = {
    MEMBER(container, TEXT),   MEMBER(version, TEXT),       MEMBER(file_count, U64),
    MEMBER(tensor_count, U64), MEMBER(metadata_count, U64), MEMBER(note_count, U64),
};
#undef MEMBER
#define MEMBER(name, type)                                              \
    {                                                                   \
#name, DTI_PY_IS_##type, offsetof(struct dti_tensor_info, name) \
    }
static const struct dti_py_member tensor_members[] = {
    MEMBER(stored_as, TEXT), MEMBER(format, FORMAT),    MEMBER(refusal, TEXT),
    MEMBER(elements, U64),   MEMBER(stored_bytes, U64), MEMBER(quantized, TEXT),
    MEMBER(layout, TEXT),    MEMBER(offset, U64),       MEMBER(packing, INT),
};

static PyObject *describe(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct file_object *const object = begin(self);
    if (!object)
        return NULL;
    struct dti_file_info info = {.size = sizeof info};
    dti_file_describe(object->file, &info);
    PyObject *const dict =
        dti_py_dict(object->state, info_members, DTI_PY_COUNT(info_members), &info);
    dti_py_lock_give(&object->lock);
    return dict;
}

static bool set(PyObject *dict, const char *key, PyObject *value)
{
    const bool fine = dict && value && PyDict_SetItemString(dict, key, value) == 0;
    Py_XDECREF(value);
    return fine;
}

static PyObject *name_of(const char *name, size_t length)
{
    return PyUnicode_DecodeUTF8(name, (Py_ssize_t)length, "surrogateescape");
}

static size_t tensor_count(const struct file_object *object)
{
    struct dti_file_info info = {.size = sizeof info};
    dti_file_describe(object->file, &info);
    return info.tensor_count;
}

/* Fills the facts of a tensor; the file's lock is held. */
static bool look(const struct file_object *object, size_t index, struct dti_tensor_info *ret)
{
    if (index >= tensor_count(object)) {
        PyErr_SetString(PyExc_IndexError, "the file has fewer tensors");
        return false;
    }
    ret->size = sizeof *ret;
    dti_file_tensor(object->file, index, ret);
    return true;
}

static PyObject *tensor(PyObject *self, PyObject *number)
{
    const size_t index = PyLong_AsSize_t(number);
    struct file_object *const object = PyErr_Occurred() ? NULL : begin(self);
    if (!object)
        return NULL;
    struct dti_tensor_info info;
    PyObject *dict = NULL;
    if (look(object, index, &info))
        dict = dti_py_dict(object->state, tensor_members, DTI_PY_COUNT(tensor_members), &info);
    if (dict) {
        PyObject *const shape = PyTuple_New((Py_ssize_t)info.rank);
        for (size_t i = 0; shape && i < info.rank; i++)
            (void)PyTuple_SetItem(shape, (Py_ssize_t)i, PyLong_FromUnsignedLongLong(info.shape[i]));
        PyObject *const path =
            info.path ? PyUnicode_DecodeFSDefault(info.path) : Py_NewRef(Py_None);
        if (!set(dict, "shape", shape) || !set(dict, "path", path) ||
            !set(dict, "name", name_of(info.name, info.name_length)))
            Py_CLEAR(dict);
    }
    dti_py_lock_give(&object->lock);
    return dict;
}

/* A list of what a file has. count: the offset of its number in struct dti_file_info. */
static PyObject *list_of(PyObject *self, size_t count,
                         PyObject *(*item)(struct dti_file *file, size_t at))
{
    struct file_object *const object = begin(self);
    if (!object)
        return NULL;
    struct dti_file_info info = {.size = sizeof info};
    size_t length;
    dti_file_describe(object->file, &info);
    memcpy(&length, (const unsigned char *)&info + count, sizeof length);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < length; i++)
        dti_py_append(&list, item(object->file, i));
    dti_py_lock_give(&object->lock);
    return list;
}

static PyObject *name_at(struct dti_file *file, size_t at)
{
    struct dti_tensor_info info = {.size = sizeof info};
    dti_file_tensor(file, at, &info);
    return name_of(info.name, info.name_length);
}

static PyObject *pair_at(struct dti_file *file, size_t at)
{
    struct dti_pair pair;
    dti_file_metadata(file, at, &pair);
    return Py_BuildValue("(NNi)", name_of(pair.key, pair.key_length),
                         name_of(pair.value, pair.value_length), pair.kind);
}

static PyObject *note_at(struct dti_file *file, size_t at)
{
    const char *const text = dti_file_note(file, at);
    return name_of(text, strlen(text));
}

static PyObject *names(PyObject *self, PyObject *unused)
{
    (void)unused;
    return list_of(self, offsetof(struct dti_file_info, tensor_count), name_at);
}

static PyObject *metadata(PyObject *self, PyObject *unused)
{
    (void)unused;
    return list_of(self, offsetof(struct dti_file_info, metadata_count), pair_at);
}

static PyObject *notes(PyObject *self, PyObject *unused)
{
    (void)unused;
    return list_of(self, offsetof(struct dti_file_info, note_count), note_at);
}

/* Reads count elements from first on into a new Array of one dimension. */
static PyObject *read_range(struct file_object *object, size_t index, uint64_t first,
                            uint64_t count)
{
    struct dti_tensor_info info;
    if (!look(object, index, &info))
        return NULL;
    if (!info.format)
        return dti_py_refuse(object->state, DTI_WRONG_KIND, "cannot read %s: %s", info.stored_as,
                             info.refusal ? info.refusal : "unknown type");
    struct dti_py_dtype *const dtype = dti_py_dtype_of_format(object->state, info.format);
    const size_t shape[] = {count < SIZE_MAX ? (size_t)count : SIZE_MAX};
    struct dti_py_array *const array =
        dtype ? dti_py_array_new(object->state, dtype, 1, shape) : NULL;
    if (!array)
        return NULL;
    struct dti_error error;
    const bool paused = dti_py_pause(SIZE_MAX);
    const enum dti_status status =
        dti_file_read(object->file, index, first, count, array->codes, &error);
    dti_py_resume(paused);
    if (status == DTI_OK)
        return (PyObject *)array;
    Py_DECREF((PyObject *)array);
    return dti_py_fail(object->state, &error);
}

static PyObject *read_file(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    unsigned long long numbers[3];
    for (Py_ssize_t i = 0; i < 3; i++) {
        numbers[i] = i < nargs ? PyLong_AsUnsignedLongLong(args[i]) : 0;
        if (PyErr_Occurred())
            return NULL;
    }
    struct file_object *const object = begin(self);
    if (!object)
        return NULL;
    PyObject *const array = read_range(object, (size_t)numbers[0], numbers[1], numbers[2]);
    dti_py_lock_give(&object->lock);
    return array;
}

static PyMethodDef methods[] = {
    {"describe", describe, METH_NOARGS, NULL},
    {"tensor", tensor, METH_O, NULL},
    {"names", names, METH_NOARGS, NULL},
    {"metadata", metadata, METH_NOARGS, NULL},
    {"notes", notes, METH_NOARGS, NULL},
    {"read", (PyCFunction)(void (*)(void))read_file, METH_FASTCALL,
     "read($self, tensor, first, count, /)\n--\n\n"},
    {"close", close_file, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, DTI_PY_SLOT("An open file; dtinfo.open() wraps it.")},
    {Py_tp_methods, methods},
    {Py_tp_dealloc, DTI_PY_SLOT(dealloc)},
    {0, NULL},
};

PyType_Spec dti_py_file_spec = {
    .name = "dtinfo._dtinfo.File",
    .basicsize = sizeof(struct file_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

PyMethodDef dti_py_file_functions[] = {
    {"file_open", (PyCFunction)(void (*)(void))file_open, METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};
