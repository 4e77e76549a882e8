/* SPDX-License-Identifier: MIT
 *
 * DLPack in both directions: tensors that come in, and Arrays that go out. */
#include "py_state.h" /* Python.h comes before all others */

#include <stdlib.h>
#include <string.h>

static struct dti_py_dtype *dtype_of_dl(struct dti_py_state *state, struct dl_type type)
{
    static const char *const floats[] = {
        [DL_FP8_E3M4] = "fp8_e3m4",
        [DL_FP8_E4M3] = "fp8_e4m3",
        [DL_FP8_E4M3B11FNUZ] = "fp8_e4m3b11fnuz",
        [DL_FP8_E4M3FN] = "fp8_e4m3fn",
        [DL_FP8_E4M3FNUZ] = "fp8_e4m3fnuz",
        [DL_FP8_E5M2] = "fp8_e5m2",
        [DL_FP8_E5M2FNUZ] = "fp8_e5m2fnuz",
        [DL_FP8_E8M0FNU] = "fp8_e8m0",
        [DL_FP6_E2M3FN] = "fp6_e2m3",
        [DL_FP6_E3M2FN] = "fp6_e3m2",
        [DL_FP4_E2M1FN] = "fp4_e2m1",
    };
    static const char *const kinds[] = {
        [DL_INT] = "int%d",   [DL_UINT] = "uint%d",       [DL_FLOAT] = "fp%d",
        [DL_BFLOAT] = "bf%d", [DL_COMPLEX] = "complex%d", [DL_BOOL] = "bool"};
    char name[24] = "";
    const char *word = NULL;
    if (type.code < DTI_PY_COUNT(floats) && floats[type.code])
        word = floats[type.code];
    else if (type.code < DTI_PY_COUNT(kinds) && kinds[type.code])
        word = kinds[type.code];
    if (word)
        (void)PyOS_snprintf(name, sizeof name, word, (int)type.bits);
    struct dti_py_dtype *const dtype = word ? dti_py_dtype_named(state, name) : NULL;
    const bool pair = type.lanes == 2 && type.bits == 4;
    if (dtype && dtype->bits == type.bits && (type.lanes == 1 || pair))
        return dtype;
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "DLPack's type with code %d, %d bits, %d lanes has no dtype",
                     (int)type.code, (int)type.bits, (int)type.lanes);
    return NULL;
}

/* Whether a type is that of a dtype, one number for each element. */
static bool is_dl(struct dl_type type, const struct dti_py_dtype *dtype)
{
    return dtype && dtype->dl.bits == type.bits && dtype->dl.code == type.code && type.lanes == 1;
}

/* padded: codes below 8 bits have a byte each. expected: its dtype in all likelihood; or NULL. */
static bool take_tensor(struct dti_py_state *state, const struct dl_tensor *tensor, bool padded,
                        struct dti_py_dtype *expected, struct dti_py_view *view)
{
    if (tensor->device.type != DL_CPU && tensor->device.type != DL_CUDA_HOST &&
        tensor->device.type != DL_ROCM_HOST) {
        PyErr_SetString(PyExc_ValueError,
                        "the array is not in the CPU's memory; copy it there first: x.cpu()");
        return false;
    }
    struct dti_py_dtype *const dtype =
        is_dl(tensor->type, expected) ? expected : dtype_of_dl(state, tensor->type);
    if (!dtype)
        return false;
    view->dtype = dtype;
    const bool pairs = tensor->type.lanes == 2;
    const size_t rank = tensor->rank > 0 ? (size_t)tensor->rank : 0;
    const Py_ssize_t unit = (Py_ssize_t)dtype->bytes;
    Py_ssize_t shape[DTI_PY_RANK], strides[DTI_PY_RANK], step = unit;
    if (rank > DTI_PY_RANK) {
        PyErr_Format(PyExc_ValueError, "the array has more than %d dimensions", DTI_PY_RANK);
        return false;
    }
    for (size_t i = rank; i-- > 0;) {
        shape[i] = (Py_ssize_t)tensor->shape[i];
        strides[i] = tensor->strides ? (Py_ssize_t)tensor->strides[i] * unit : step;
        step *= shape[i] > 0 ? shape[i] : 1;
    }
    const unsigned char *const data = (const unsigned char *)tensor->data + tensor->byte_offset;
    if (!dti_py_view_set(view, data, rank, shape, strides, unit))
        return false;
    if (pairs && rank == 0) {
        PyErr_SetString(PyExc_ValueError, "a tensor of pairs has no dimension for them");
        return false;
    }
    view->packed = dtype->bits < 8 && !padded && dtype->packs;
    if (view->packed && !view->contiguous) {
        PyErr_SetString(PyExc_ValueError,
                        "packed codes must be contiguous; copy them first: x.contiguous()");
        return false;
    }
    if (pairs) {
        view->shape[rank - 1] *= 2;
        view->count *= 2;
    }
    return true;
}

static void end_versioned(PyObject *capsule)
{
    struct dl_managed_versioned *const managed = PyCapsule_GetPointer(capsule, "versioned");
    if (managed && managed->deleter)
        managed->deleter(managed);
}

static void end_legacy(PyObject *capsule)
{
    struct dl_managed *const managed = PyCapsule_GetPointer(capsule, "legacy");
    if (managed && managed->deleter)
        managed->deleter(managed);
}

/* Takes the tensor out of a capsule; a capsule of ours holds it from now on. */
static bool take_capsule(struct dti_py_state *state, PyObject *capsule, struct dti_py_view *view)
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        struct dl_managed_versioned *const managed =
            PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (managed->version.major != 1) {
            PyErr_Format(PyExc_BufferError, "version %u of DLPack is not supported",
                         managed->version.major);
            return false;
        }
        view->holder = PyCapsule_New(managed, "versioned", end_versioned);
        if (!view->holder)
            return false;
        (void)PyCapsule_SetName(capsule, "used_dltensor_versioned");
        view->read_only = managed->flags & DL_READ_ONLY;
        return take_tensor(state, &managed->tensor, managed->flags & DL_PADDED, NULL, view);
    }
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        struct dl_managed *const managed = PyCapsule_GetPointer(capsule, "dltensor");
        view->holder = PyCapsule_New(managed, "legacy", end_legacy);
        if (!view->holder)
            return false;
        (void)PyCapsule_SetName(capsule, "used_dltensor");
        return take_tensor(state, &managed->tensor, false, NULL, view);
    }
    PyErr_SetString(PyExc_TypeError, "__dlpack__() gave no capsule of DLPack");
    return false;
}

/* Refuses devices before anything is exported, which may copy or wait. */
static bool on_cpu(struct dti_py_state *state, PyObject *object)
{
    PyObject *const device = PyObject_CallMethodObjArgs(object, state->names.dlpack_device, NULL);
    if (!device)
        return false;
    int type = 0;
    PyObject *id = NULL;
    const bool fine = PyTuple_Check(device) && PyArg_ParseTuple(device, "iO", &type, &id);
    Py_DECREF(device);
    if (fine && (type == DL_CPU || type == DL_CUDA_HOST || type == DL_ROCM_HOST))
        return true;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_BufferError, "the array is not in the CPU's memory; copy it there "
                                           "first: x.cpu()");
    return false;
}

static bool open_capsule(struct dti_py_state *state, PyObject *object, struct dti_py_view *view)
{
    if (!on_cpu(state, object))
        return false;
    PyObject *const method = PyObject_GetAttr(object, state->names.dlpack);
    PyObject *const none = PyTuple_New(0), *const options =
                                               Py_BuildValue("{s(ii)}", "max_version", 1, 0);
    PyObject *capsule = method && none && options ? PyObject_Call(method, none, options) : NULL;
    if (!capsule && method && PyErr_ExceptionMatches(PyExc_TypeError)) { /* before version 1 */
        PyErr_Clear();
        capsule = PyObject_Call(method, none, NULL);
    }
    Py_XDECREF(method);
    Py_XDECREF(none);
    Py_XDECREF(options);
    const bool fine = capsule && take_capsule(state, capsule, view);
    Py_XDECREF(capsule);
    return fine;
}

struct dl_exchange *dti_py_exchange(struct dti_py_state *state, PyObject *type)
{
    PyObject *const capsule = PyObject_GetAttr(type, state->names.exchange);
    struct dl_exchange *exchange = NULL;
    if (capsule && PyCapsule_IsValid(capsule, "dlpack_exchange_api"))
        exchange = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    Py_XDECREF(capsule);
    PyErr_Clear();
    return exchange && exchange->version.major == 1 ? exchange : NULL;
}

/* Whether a tensor of torch is what its memory says: without a gradient to lose, and not a view
 * whose numbers are conjugated or negated when they are read. */
static bool plain_tensor(struct dti_py_state *state, PyObject *object, bool complex)
{
    PyObject *const grad = PyObject_GetAttr(object, state->names.requires_grad);
    PyObject *const conj =
        grad && complex ? PyObject_CallMethodObjArgs(object, state->names.is_conj, NULL) : NULL;
    PyObject *const neg = grad && (conj || !complex)
                              ? PyObject_CallMethodObjArgs(object, state->names.is_neg, NULL)
                              : NULL;
    if (neg && grad == Py_True)
        PyErr_SetString(PyExc_ValueError,
                        "the tensor requires a gradient, which dtinfo cannot follow; detach it "
                        "first: x.detach()");
    else if (neg && (conj == Py_True || neg == Py_True))
        PyErr_SetString(PyExc_ValueError, "the tensor is a lazy conjugate or negative; compute it "
                                          "first: x.resolve_conj().resolve_neg()");
    Py_XDECREF(grad);
    Py_XDECREF(conj);
    Py_XDECREF(neg);
    return !PyErr_Occurred();
}

bool dti_py_view_dlpack(struct dti_py_state *state, PyObject *object, struct dti_py_kind *kind,
                        struct dti_py_view *view)
{
    if (!kind)
        return open_capsule(state, object, view);
    if (!plain_tensor(state, object, !kind->dtype || kind->dtype->kind == DTI_KIND_COMPLEX))
        return false;
    struct dl_exchange *const exchange = dti_py_exchange(state, (PyObject *)Py_TYPE(object));
    struct dl_tensor tensor;
    if (!exchange || !exchange->export_borrowed)
        return open_capsule(state, object, view);
    state->exchange = exchange;
    if (exchange->export_borrowed(object, &tensor) != 0)
        return false;
    Py_INCREF(object);
    view->holder = object;
    return take_tensor(state, &tensor, false, kind->dtype, view);
}

/* Out: the deleter gives the memory back, from any thread and without Python. */
struct managed_array {
    union {
        struct dl_managed legacy;
        struct dl_managed_versioned versioned;
    } managed;
    struct dti_py_block *block;
    int64_t sizes[];
};

static void release_array(struct managed_array *own)
{
    dti_py_block_drop(own->block);
    free(own);
}

static void delete_versioned(struct dl_managed_versioned *managed)
{
    release_array((struct managed_array *)managed->owner);
}

static void delete_legacy(struct dl_managed *managed)
{
    release_array((struct managed_array *)managed->owner);
}

static struct managed_array *manage(struct dti_py_array *array, struct dl_tensor *ret)
{
    const size_t rank = (size_t)array->rank;
    struct managed_array *const own = malloc(sizeof *own + 2 * rank * sizeof(int64_t));
    if (!own) {
        PyErr_NoMemory();
        return NULL;
    }
    own->block = dti_py_block_share(array->block);
    for (size_t i = 0; i < rank; i++) {
        own->sizes[i] = array->shape[i];
        own->sizes[rank + i] = array->strides[i] / (Py_ssize_t)array->dtype->bytes;
    }
    *ret = (struct dl_tensor){
        .data = array->codes,
        .device = {DL_CPU, 0},
        .rank = (int32_t)rank,
        .type = array->dtype->dl,
        .shape = own->sizes,
        .strides = own->sizes + rank,
    };
    return own;
}

struct dl_managed_versioned *dti_py_array_managed(struct dti_py_array *array)
{
    struct dl_tensor tensor;
    struct managed_array *const own = manage(array, &tensor);
    if (!own)
        return NULL;
    own->managed.versioned = (struct dl_managed_versioned){
        .version = {1, 0},
        .owner = own,
        .deleter = delete_versioned,
        .flags = array->dtype->bits < 8 && array->dtype->kind != DTI_KIND_BOOL ? DL_PADDED : 0,
        .tensor = tensor,
    };
    return &own->managed.versioned;
}

/* A capsule that nobody took frees what it holds; a taken one has another name. */
static void drop_versioned(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        struct dl_managed_versioned *const managed =
            PyCapsule_GetPointer(capsule, "dltensor_versioned");
        managed->deleter(managed);
    }
}

static void drop_legacy(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        struct dl_managed *const managed = PyCapsule_GetPointer(capsule, "dltensor");
        managed->deleter(managed);
    }
}

PyObject *dti_py_array_dlpack(struct dti_py_array *array, bool versioned)
{
    PyObject *capsule;
    if (array->dtype->dl.bits == 0 || (!versioned && array->dtype->bits < 8)) {
        PyErr_Format(PyExc_BufferError, "DLPack%s has no type for %s; x.codes has the codes",
                     versioned ? "" : " before version 1", dti_format_name(array->dtype->format));
        return NULL;
    }
    if (versioned) {
        struct dl_managed_versioned *const managed = dti_py_array_managed(array);
        capsule = managed ? PyCapsule_New(managed, "dltensor_versioned", drop_versioned) : NULL;
        if (managed && !capsule)
            managed->deleter(managed);
        return capsule;
    }
    struct dl_tensor tensor;
    struct managed_array *const own = manage(array, &tensor);
    if (!own)
        return NULL;
    own->managed.legacy = (struct dl_managed){tensor, own, delete_legacy};
    capsule = PyCapsule_New(&own->managed.legacy, "dltensor", drop_legacy);
    if (!capsule)
        release_array(own);
    return capsule;
}
