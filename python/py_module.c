/* SPDX-License-Identifier: MIT
 *
 * The module dtinfo._dtinfo: its state, and how calls work without the interpreter's lock. */
#include "py_state.h"

#include <string.h>

/* The thread state that this thread gave up in dti_py_pause(). */
static _Thread_local PyThreadState *paused_state;

enum { PAUSE_BYTES = 32768 }; /* below, releasing the lock takes longer than the work */

bool dti_py_pause(size_t bytes)
{
    if (bytes < PAUSE_BYTES)
        return false;
    paused_state = PyEval_SaveThread();
    return true;
}

void dti_py_resume(bool paused)
{
    if (!paused)
        return;
    PyThreadState *const state = paused_state;
    paused_state = NULL;
    PyEval_RestoreThread(state);
}

/* Runs signal handlers, which may call this module in turn: nothing of this call is in
 * `paused_state` meanwhile. */
static bool interrupted(void *unused)
{
    (void)unused;
    PyThreadState *const state = paused_state;
    if (!state)
        return PyErr_CheckSignals() < 0;
    paused_state = NULL;
    PyEval_RestoreThread(state);
    const bool stop = PyErr_CheckSignals() < 0;
    paused_state = PyEval_SaveThread();
    return stop;
}

bool dti_py_lock_new(struct dti_py_lock *lock)
{
    atomic_init(&lock->owner, 0);
    lock->lock = PyThread_allocate_lock();
    return lock->lock != NULL;
}

void dti_py_lock_free(struct dti_py_lock *lock)
{
    if (lock->lock)
        PyThread_free_lock(lock->lock);
}

bool dti_py_lock_take(struct dti_py_lock *lock)
{
    const unsigned long self = PyThread_get_thread_ident();
    if (!PyThread_acquire_lock(lock->lock, NOWAIT_LOCK)) {
        if (atomic_load(&lock->owner) == self) {
            PyErr_SetString(PyExc_RuntimeError, "a call of this thread is using it");
            return false;
        }
        PyThreadState *const state = PyEval_SaveThread();
        (void)PyThread_acquire_lock(lock->lock, WAIT_LOCK);
        PyEval_RestoreThread(state);
    }
    atomic_store(&lock->owner, self);
    return true;
}

void dti_py_lock_give(struct dti_py_lock *lock)
{
    atomic_store(&lock->owner, 0);
    PyThread_release_lock(lock->lock);
}

struct dti_py_state *dti_py_state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

static bool new_context(struct dti_py_state *state)
{
    const struct dti_context_options options = {.size = sizeof options, .interrupted = interrupted};
    struct dti_error error;
    if (dti_context_new(&state->context, &options, &error) == DTI_OK)
        return true;
    PyErr_SetString(PyExc_RuntimeError, error.text);
    return false;
}

static bool add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **ret)
{
    PyObject *const type = PyType_FromModuleAndSpec(module, spec, NULL);
    *ret = (PyTypeObject *)type;
    return type && PyModule_AddType(module, *ret) == 0;
}

static int execute(PyObject *module)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    memset(state, 0, sizeof *state);
    state->dtypes = PyDict_New();
    state->kinds = PyDict_New();
    if (!state->dtypes || !state->kinds || !new_context(state))
        return -1;
#define INTERN(name, text)                                       \
    if (!(state->names.name = PyUnicode_InternFromString(text))) \
        return -1;
    DTI_PY_NAMES(INTERN)
#undef INTERN
    if (!add_type(module, &dti_py_dtype_spec, &state->dtype_type) ||
        !add_type(module, &dti_py_array_spec, &state->array_type) ||
        !add_type(module, &dti_py_file_spec, &state->file_type) ||
        !add_type(module, &dti_py_writer_spec, &state->writer_type))
        return -1;
    PyMethodDef *const tables[] = {
        dti_py_format_functions,  dti_py_value_functions,  dti_py_cast_functions,
        dti_py_measure_functions, dti_py_block_functions,  dti_py_calc_functions,
        dti_py_file_functions,    dti_py_writer_functions, dti_py_made_functions,
        dti_py_rewrite_functions,
    };
    for (size_t i = 0; i < DTI_PY_COUNT(tables); i++)
        if (PyModule_AddFunctions(module, tables[i]) < 0)
            return -1;
    return PyModule_AddStringConstant(module, "__version__", dti_version());
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    Py_VISIT(state->dtypes);
    Py_VISIT(state->kinds);
    Py_VISIT(state->helpers);
    Py_VISIT(state->numpy_empty);
    Py_VISIT(state->dtype_type);
    Py_VISIT(state->array_type);
    Py_VISIT(state->file_type);
    Py_VISIT(state->writer_type);
    return 0;
}

static int clear(PyObject *module)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    if (state->kinds)
        dti_py_kinds_free(state->kinds);
    Py_CLEAR(state->kinds);
    Py_CLEAR(state->dtypes);
    Py_CLEAR(state->helpers);
    Py_CLEAR(state->numpy_empty);
    Py_CLEAR(state->dtype_type);
    Py_CLEAR(state->array_type);
    Py_CLEAR(state->file_type);
    Py_CLEAR(state->writer_type);
#define DROP(name, text) Py_CLEAR(state->names.name);
    DTI_PY_NAMES(DROP)
#undef DROP
    return 0;
}

static void release(void *module)
{
    (void)clear(module);
    dti_context_free(dti_py_state_of(module)->context);
}

/* In a child after fork(), where the threads of the old context are gone: it stays as it is, with
 * the formats that it made. */
static PyObject *renew(PyObject *module, PyObject *unused)
{
    (void)unused;
    if (!new_context(dti_py_state_of(module)))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *machine(PyObject *module, PyObject *unused)
{
    (void)unused;
    const struct dti_context *const context = dti_py_state_of(module)->context;
    return Py_BuildValue("(sn)", dti_context_cpu_level(context),
                         (Py_ssize_t)dti_context_threads(context));
}

static PyMethodDef functions[] = {
    {"_renew", renew, METH_NOARGS, "_renew()\n--\n\nA new context, for a child after fork()."},
    {"machine", machine, METH_NOARGS,
     "machine()\n--\n\nThe instruction set level in use, and how many threads work on a call."},
    {NULL, NULL, 0, NULL},
};

/* The limited API of 3.11 does not name these slots, and an interpreter older than they are refuses
 * them; their numbers are part of the stable ABI, so that the version at run time decides. */
enum { MULTIPLE_INTERPRETERS = 3, GIL = 4 };
static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, DTI_PY_SLOT(execute)}, {0, NULL}, {0, NULL}, {0, NULL}};

static void set_slots(void)
{
    if (Py_Version >= 0x030c0000)
        slots[1] = (PyModuleDef_Slot){MULTIPLE_INTERPRETERS, (void *)2}; /* a lock for each */
    if (Py_Version >= 0x030d0000)
        slots[2] = (PyModuleDef_Slot){GIL, (void *)1}; /* not needed */
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "dtinfo._dtinfo",
    .m_doc = "What dtinfo does in C; use the module dtinfo.",
    .m_size = sizeof(struct dti_py_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__dtinfo(void); /* Python.h does not declare it */

PyMODINIT_FUNC PyInit__dtinfo(void)
{
    set_slots();
    return PyModuleDef_Init(&definition);
}
