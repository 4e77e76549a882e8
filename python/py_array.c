/* SPDX-License-Identifier: MIT
 *
 * dtinfo.Array, and arrays that go out as those of numpy and torch. */
#include "py_state.h" /* Python.h comes before all others */

#include <stdlib.h>
#include <string.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

enum { BLOCK_HEAD = 64, LARGE = 1 << 22, PAGE = 1 << 21 };

struct dti_py_block {
    atomic_size_t references;
};
_Static_assert(sizeof(struct dti_py_block) <= BLOCK_HEAD, "codes begin at a cache line");

/* Large arrays get huge pages where the system has them, as numpy's do: faults take less time. */
static struct dti_py_block *new_block(size_t bytes)
{
    void *memory;
    const bool large = bytes >= LARGE;
    if (bytes > SIZE_MAX - PAGE ||
        posix_memalign(&memory, large ? PAGE : BLOCK_HEAD, bytes + BLOCK_HEAD) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (large)
        (void)madvise(memory, bytes + BLOCK_HEAD, MADV_HUGEPAGE);
#endif
    struct dti_py_block *const block = memory;
    atomic_init(&block->references, 1);
    return block;
}

struct dti_py_block *dti_py_block_share(struct dti_py_block *block)
{
    atomic_fetch_add_explicit(&block->references, 1, memory_order_relaxed);
    return block;
}

void dti_py_block_drop(struct dti_py_block *block)
{
    if (block && atomic_fetch_sub_explicit(&block->references, 1, memory_order_acq_rel) == 1)
        free(block);
}

struct dti_py_array *dti_py_array_shared(struct dti_py_state *state, struct dti_py_dtype *dtype,
                                         size_t rank, const size_t *shape,
                                         struct dti_py_block *shared)
{
    size_t bytes = dtype->bytes;
    for (size_t i = 0; i < rank; i++) {
        const size_t size = shape[i] > 0 ? shape[i] : 1;
        if (bytes > (size_t)PY_SSIZE_T_MAX / size) {
            PyErr_NoMemory();
            return NULL;
        }
        bytes *= size;
    }
    struct dti_py_array *const array = PyObject_New(struct dti_py_array, state->array_type);
    if (!array)
        return NULL;
    array->state = state;
    array->dtype = dtype;
    Py_INCREF((PyObject *)dtype);
    array->rank = (Py_ssize_t)rank;
    array->count = 1;
    array->shape = malloc((2 * rank + 1) * sizeof *array->shape);
    array->block = shared ? dti_py_block_share(shared) : new_block(bytes);
    if (!array->shape || !array->block) {
        Py_DECREF(array);
        PyErr_NoMemory();
        return NULL;
    }
    array->strides = array->shape + rank;
    array->codes = (unsigned char *)array->block + BLOCK_HEAD;
    Py_ssize_t step = (Py_ssize_t)dtype->bytes;
    for (size_t i = rank; i-- > 0;) {
        array->shape[i] = (Py_ssize_t)shape[i];
        array->strides[i] = step;
        step *= shape[i] > 0 ? (Py_ssize_t)shape[i] : 1;
        array->count *= (Py_ssize_t)shape[i];
    }
    return array;
}

struct dti_py_array *dti_py_array_new(struct dti_py_state *state, struct dti_py_dtype *dtype,
                                      size_t rank, const size_t *shape)
{
    return dti_py_array_shared(state, dtype, rank, shape, NULL);
}

static struct dti_py_array *self_of(PyObject *self)
{
    return (struct dti_py_array *)self;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *const type = Py_TYPE(self);
    dti_py_block_drop(self_of(self)->block);
    free(self_of(self)->shape);
    Py_DECREF(self_of(self)->dtype);
    PyObject_Free(self);
    Py_DECREF(type);
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    struct dti_py_array *const array = self_of(self);
    view->buf = array->codes;
    view->obj = self;
    Py_INCREF(self);
    view->itemsize = (Py_ssize_t)array->dtype->bytes;
    view->len = array->count * view->itemsize;
    view->readonly = 0;
    view->ndim = (int)array->rank;
    view->format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)array->dtype->letter : NULL;
    view->shape = flags & PyBUF_ND ? array->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? array->strides : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    if (!view->shape) /* as plain bytes */
        view->ndim = 1;
    return 0;
}

static PyObject *get_dtype(PyObject *self, void *unused)
{
    (void)unused;
    Py_INCREF((PyObject *)self_of(self)->dtype);
    return (PyObject *)self_of(self)->dtype;
}

static PyObject *shape_tuple(const struct dti_py_array *array)
{
    PyObject *const tuple = PyTuple_New(array->rank);
    for (Py_ssize_t i = 0; tuple && i < array->rank; i++)
        (void)PyTuple_SetItem(tuple, i, PyLong_FromSsize_t(array->shape[i]));
    return tuple;
}

static PyObject *get_shape(PyObject *self, void *unused)
{
    (void)unused;
    return shape_tuple(self_of(self));
}

static PyObject *get_size(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(self_of(self)->count);
}

static PyObject *get_nbytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(self_of(self)->count * (Py_ssize_t)self_of(self)->dtype->bytes);
}

static PyObject *get_ndim(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(self_of(self)->rank);
}

static Py_ssize_t length(PyObject *self)
{
    if (self_of(self)->rank > 0)
        return self_of(self)->shape[0];
    PyErr_SetString(PyExc_TypeError, "an array without dimensions has no len()");
    return -1;
}

static PyObject *represent(PyObject *self)
{
    return dti_py_help(self_of(self)->state, "array_repr", "(O)", self);
}

static PyObject *tolist(PyObject *self, PyObject *unused)
{
    (void)unused;
    return dti_py_help(self_of(self)->state, "array_list", "(O)", self);
}

static PyObject *to_numpy(PyObject *self, PyObject *unused)
{
    (void)unused;
    return dti_py_array_as(self_of(self), DTI_PY_NUMPY);
}

static PyObject *to_torch(PyObject *self, PyObject *unused)
{
    (void)unused;
    return dti_py_array_as(self_of(self), DTI_PY_TORCH);
}

PyObject *dti_py_array_as(struct dti_py_array *array, enum dti_py_library library)
{
    PyObject *const native = dti_py_dtype_in(array->dtype, library);
    if (!native)
        return NULL;
    if (native == Py_None)
        return dti_py_refuse(
            array->state, DTI_UNAVAILABLE, "%s has no dtype for %s here; x.codes has the codes",
            library == DTI_PY_NUMPY ? "numpy" : "torch", dti_format_name(array->dtype->format));
    return dti_py_help(array->state, library == DTI_PY_NUMPY ? "numpy_of" : "torch_of", "(OO)",
                       (PyObject *)array, native);
}

static PyObject *dlpack(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    struct {
        PyObject *stream, *version, *device;
        bool copy;
    } given = {NULL, NULL, NULL, false};
    static const struct dti_py_parameter rows[] = {
        {"stream", DTI_PY_OBJECT, 0, NULL},
        {"max_version", DTI_PY_OBJECT, sizeof(PyObject *), NULL},
        {"dl_device", DTI_PY_OBJECT, 2 * sizeof(PyObject *), NULL},
        {"copy", DTI_PY_FLAG, 3 * sizeof(PyObject *), NULL},
    };
    static const struct dti_py_signature signature = {"__dlpack__", rows, DTI_PY_COUNT(rows), 0, 1};
    if (!dti_py_arguments(self_of(self)->state, &signature, args, nargs, kwnames, &given))
        return NULL;
    int major = 0, minor = 0, type = DL_CPU, id = 0;
    if ((given.version && !PyArg_ParseTuple(given.version, "ii", &major, &minor)) ||
        (given.device && !PyArg_ParseTuple(given.device, "ii", &type, &id)))
        return NULL;
    if (type != DL_CPU || given.copy) {
        PyErr_SetString(PyExc_BufferError, "an Array can only be shared where it is, on the CPU");
        return NULL;
    }
    return dti_py_array_dlpack(self_of(self), major >= 1);
}

static PyObject *dlpack_device(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return Py_BuildValue("(ii)", DL_CPU, 0);
}

/* The same memory as unsigned integers; two of them for a number of 16 bytes. */
static PyObject *get_codes(PyObject *self, void *unused)
{
    static const char *const names[] = {
        [1] = "uint8", [2] = "uint16", [4] = "uint32", [8] = "uint64", [16] = "uint64"};
    const struct dti_py_array *const array = self_of(self);
    (void)unused;
    struct dti_py_dtype *const dtype = dti_py_dtype_named(array->state, names[array->dtype->bytes]);
    size_t shape[DTI_PY_RANK + 1] = {0};
    for (Py_ssize_t i = 0; i < array->rank; i++)
        shape[i] = (size_t)array->shape[i];
    shape[array->rank] = 2;
    const size_t rank = (size_t)array->rank + (array->dtype->bytes == 16);
    PyObject *const codes =
        dtype ? (PyObject *)dti_py_array_shared(array->state, dtype, rank, shape, array->block)
              : NULL;
    PyObject *const view = codes ? PyMemoryView_FromObject(codes) : NULL;
    Py_XDECREF(codes);
    return view;
}

static PyGetSetDef attributes[] = {
    {"dtype", get_dtype, NULL, "The Dtype of its numbers.", NULL},
    {"shape", get_shape, NULL, "A tuple.", NULL},
    {"size", get_size, NULL, "The number of elements.", NULL},
    {"ndim", get_ndim, NULL, "The number of dimensions.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of all codes.", NULL},
    {"codes", get_codes, NULL,
     "A memoryview of the codes as unsigned integers, one for each element, in shared memory.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define FAST(function) ((PyCFunction)(void (*)(void))(function))
static PyMethodDef methods[] = {
    {"numpy", to_numpy, METH_NOARGS,
     "numpy($self, /)\n--\n\nThe same memory as an array of numpy, with a dtype of ml_dtypes if "
     "need be."},
    {"torch", to_torch, METH_NOARGS,
     "torch($self, /)\n--\n\nThe same memory as a tensor of torch."},
    {"tolist", tolist, METH_NOARGS,
     "tolist($self, /)\n--\n\nThe numbers as Python's, in lists for dimensions."},
    {"__dlpack__", FAST(dlpack), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__dlpack_device__", dlpack_device, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     DTI_PY_SLOT(
         "Numbers of a format: codes of one or more bytes each, row-major, without gaps.\n\n"
         "Exports its memory by DLPack, and by the buffer protocol as numbers where the "
         "struct module has a letter for them, else as codes.")},
    {Py_tp_repr, DTI_PY_SLOT(represent)},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {Py_sq_length, DTI_PY_SLOT(length)},
    {Py_bf_getbuffer, DTI_PY_SLOT(get_buffer)},
    {Py_tp_dealloc, DTI_PY_SLOT(dealloc)},
    {0, NULL},
};

PyType_Spec dti_py_array_spec = {
    .name = "dtinfo.Array",
    .basicsize = sizeof(struct dti_py_array),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
