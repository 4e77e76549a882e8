/* SPDX-License-Identifier: MIT
 *
 * What the files of the module dtinfo._dtinfo share. Written for the limited API of Python 3.11;
 * everything goes through the public headers of the library. */
#ifndef PY_STATE_H
#define PY_STATE_H

#include <Python.h>

#include <stdatomic.h>

#include <dtinfo.h>

#include "py_dlpack.h"

/* Names that are looked up often, interned once. */
#define DTI_PY_NAMES(NAME)                      \
    NAME(dtype, "dtype")                        \
    NAME(dlpack, "__dlpack__")                  \
    NAME(dlpack_device, "__dlpack_device__")    \
    NAME(exchange, "__dlpack_c_exchange_api__") \
    NAME(interface, "__array_interface__")      \
    NAME(requires_grad, "requires_grad")        \
    NAME(is_conj, "is_conj")                    \
    NAME(is_neg, "is_neg")                      \
    NAME(max_version, "max_version")

/* The state of a module: one for each interpreter that imports it. */
struct dti_py_state {
    struct dti_context *context;
    PyObject *dtypes;             /* text -> Dtype */
    PyObject *kinds;              /* dtype of another library -> address of a struct dti_py_kind */
    PyObject *helpers;            /* the module dtinfo._helpers; NULL until needed */
    struct dl_exchange *exchange; /* torch's, once a tensor came in */
    PyObject *numpy_empty;        /* numpy.empty; NULL until needed */
    PyTypeObject *dtype_type, *array_type, *file_type, *writer_type;
    struct {
#define DTI_PY_MEMBER(name, text) PyObject *name;
        DTI_PY_NAMES(DTI_PY_MEMBER)
#undef DTI_PY_MEMBER
    } names;
};
struct dti_py_state *dti_py_state_of(PyObject *module);

/* Whose array came in: results have the same kind where that library has their dtype. */
enum dti_py_library { DTI_PY_OWN, DTI_PY_NUMPY, DTI_PY_TORCH };

/* dtinfo.Dtype: one object for each format. */
struct dti_py_dtype {
    PyObject_HEAD struct dti_py_state *state;
    const struct dti_format *format;
    enum dti_kind kind;
    unsigned bits, bytes; /* bytes of an element that is not packed */
    bool packs;
    struct dl_type dl;       /* bits 0: DLPack has no such type */
    const char *letter;      /* of the buffer protocol, for numbers or else for codes */
    PyObject *numpy, *torch; /* its dtype there; None: there is none; NULL: not looked up yet */
};

/* A dtype of another library. */
struct dti_py_kind {
    struct dti_py_dtype *dtype; /* NULL: bytes without a meaning, such as numpy's V2 */
    enum dti_py_library library;
    bool swapped, pairs; /* pairs: two codes below 8 bits are one element, as torch has them */
};

/* Memory that Arrays and what is made of them share; counted without Python's lock. */
struct dti_py_block;
struct dti_py_block *dti_py_block_share(struct dti_py_block *block);
void dti_py_block_drop(struct dti_py_block *block);

/* dtinfo.Array: codes of one or more bytes each, row-major, without gaps. */
struct dti_py_array {
    PyObject_HEAD struct dti_py_state *state;
    struct dti_py_dtype *dtype;
    Py_ssize_t count, rank;
    Py_ssize_t *shape, *strides; /* strides in bytes; one block with shape */
    struct dti_py_block *block;
    unsigned char *codes; /* within it */
};

enum { DTI_PY_RANK = 64 };

/* An array that came in, whatever it is, until dti_py_view_close(). */
struct dti_py_view {
    struct dti_py_dtype *dtype;
    enum dti_py_library library;
    const unsigned char *data;
    size_t rank, count;
    size_t shape[DTI_PY_RANK];
    ptrdiff_t strides[DTI_PY_RANK]; /* in bytes; without meaning for packed codes */
    bool contiguous, swapped, packed, read_only;
    Py_buffer buffer; /* buffer.obj NULL: not held */
    PyObject *holder; /* the array, or a capsule */
    void *copy;       /* dti_py_view_straighten() */
};

/* Opens an array. src NULL: what the array says; else the array holds codes of that format. Returns
 * false with an exception. */
bool dti_py_view_open(struct dti_py_state *state, PyObject *object, struct dti_py_dtype *src,
                      struct dti_py_view *ret);
/* Fills view from a pointer. elements' strides may be NULL. */
bool dti_py_view_set(struct dti_py_view *view, const void *data, size_t rank,
                     const Py_ssize_t *shape, const Py_ssize_t *strides, Py_ssize_t unit);
bool dti_py_view_dlpack(struct dti_py_state *state, PyObject *object, struct dti_py_kind *kind,
                        struct dti_py_view *view);
/* Copies codes that are strided, swapped or packed to a plain array. */
bool dti_py_view_straighten(struct dti_py_view *view);
void dti_py_view_close(struct dti_py_view *view);

/* An array that goes out. */
struct dti_py_output {
    PyObject *object;
    void *data;
    enum dti_py_library library;
    Py_buffer buffer; /* buffer.obj NULL: not held */
};
bool dti_py_output_new(struct dti_py_state *state, enum dti_py_library library,
                       struct dti_py_dtype *dtype, size_t rank, const size_t *shape,
                       struct dti_py_output *ret);
/* A buffer of the caller, for `count` elements in `view`'s shape. */
bool dti_py_output_open(struct dti_py_state *state, PyObject *object, struct dti_py_dtype *dtype,
                        const struct dti_py_view *input, struct dti_py_output *ret);
PyObject *dti_py_output_finish(struct dti_py_output *output); /* the object; NULL: an exception */
void dti_py_output_drop(struct dti_py_output *output);

struct dti_py_array *dti_py_array_new(struct dti_py_state *state, struct dti_py_dtype *dtype,
                                      size_t rank, const size_t *shape);
/* The same with the memory of another Array, which must be as long; NULL: new memory. */
struct dti_py_array *dti_py_array_shared(struct dti_py_state *state, struct dti_py_dtype *dtype,
                                         size_t rank, const size_t *shape,
                                         struct dti_py_block *shared);
/* The tensor or array of another library with the memory of *array, or a new reference to it. */
PyObject *dti_py_array_as(struct dti_py_array *array, enum dti_py_library library);
PyObject *dti_py_array_dlpack(struct dti_py_array *array, bool versioned);
struct dl_managed_versioned *dti_py_array_managed(struct dti_py_array *array);
struct dl_exchange *dti_py_exchange(struct dti_py_state *state, PyObject *type);

/* Dtypes; the result is borrowed from the state. */
struct dti_py_dtype *dti_py_dtype_of_format(struct dti_py_state *state,
                                            const struct dti_format *format);
struct dti_py_dtype *dti_py_dtype_named(struct dti_py_state *state, const char *name);
struct dti_py_dtype *dti_py_dtype_from(struct dti_py_state *state, PyObject *object);
/* NULL: an exception. */
const struct dti_py_kind *dti_py_kind_of(struct dti_py_state *state, PyObject *dtype);
void dti_py_kinds_free(PyObject *kinds);
/* Its dtype in a library, borrowed; None: that library has none. NULL: an exception. */
PyObject *dti_py_dtype_in(struct dti_py_dtype *dtype, enum dti_py_library library);

/* dtinfo._helpers.name(...), with objects up to a NULL. */
PyObject *dti_py_helper(struct dti_py_state *state, const char *name);
PyObject *dti_py_help(struct dti_py_state *state, const char *name, const char *format, ...);

/* Sets the exception for an error and returns NULL. */
PyObject *dti_py_fail(struct dti_py_state *state, const struct dti_error *error);
/* The same for an error that this module finds. */
PyObject *dti_py_refuse(struct dti_py_state *state, enum dti_status status, const char *format,
                        ...);

/* Lets other threads run until dti_py_resume(); the context's `interrupted` handles signals. Small
 * work (bytes) keeps the lock. Returns whether it was released. */
bool dti_py_pause(size_t bytes);
void dti_py_resume(bool paused);

/* The lock of an object that serves one thread at a time. */
struct dti_py_lock {
    PyThread_type_lock lock;
    atomic_ulong owner; /* the thread that has it; 0: none */
};
bool dti_py_lock_new(struct dti_py_lock *lock);
void dti_py_lock_free(struct dti_py_lock *lock);
/* Takes it, and lets other threads run while it waits. Returns false with an exception if this
 * thread has it already: a signal handler that uses the object which it interrupted. */
bool dti_py_lock_take(struct dti_py_lock *lock);
void dti_py_lock_give(struct dti_py_lock *lock);

/* Arguments: a row for each parameter, in the order of their positions. */
enum dti_py_take {
    DTI_PY_OBJECT, /* PyObject *, borrowed; NULL if absent */
    DTI_PY_TEXT,   /* const char *; NULL if absent */
    DTI_PY_DTYPE,  /* struct dti_py_dtype *; NULL if absent */
    DTI_PY_DTYPES, /* struct dti_py_route */
    DTI_PY_WORD,   /* int; unchanged if absent */
    DTI_PY_U64,    /* uint64_t; unchanged if absent */
    DTI_PY_INT,    /* int; unchanged if absent */
    DTI_PY_FLAG,   /* bool; false if absent */
    DTI_PY_DOUBLE, /* double; unchanged if absent */
};
struct dti_py_word {
    int value;
    const char *word; /* NULL after the last */
};
struct dti_py_parameter {
    const char *name;
    enum dti_py_take take;
    size_t offset;
    const struct dti_py_word *words;
};
struct dti_py_route {
    struct dti_py_dtype *stages[DTI_ROUTE_MAX];
    size_t count;
};
struct dti_py_signature {
    const char *name;
    const struct dti_py_parameter *rows;
    unsigned count, required, positional; /* the first `required` must be given */
};
/* Fills *ret, which the caller has set to the defaults. Returns false with an exception. */
bool dti_py_arguments(struct dti_py_state *state, const struct dti_py_signature *signature,
                      PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, void *ret);
extern const struct dti_py_word dti_py_rounds[], dti_py_overflows[], dti_py_nans[];

/* Policies of a cast as arguments. */
struct dti_py_policies {
    int round, overflow, nan; /* -1: not given */
    uint64_t seed;
    const char *like;
    struct dti_py_route via;
};
#define DTI_PY_POLICY_ROWS(type, member)                                              \
    {"round", DTI_PY_WORD, offsetof(type, member.round), dti_py_rounds},              \
        {"overflow", DTI_PY_WORD, offsetof(type, member.overflow), dti_py_overflows}, \
        {"nan", DTI_PY_WORD, offsetof(type, member.nan), dti_py_nans},                \
        {"like", DTI_PY_TEXT, offsetof(type, member.like), NULL},                     \
        {"via", DTI_PY_DTYPES, offsetof(type, member.via), NULL},                     \
    {                                                                                 \
        "seed", DTI_PY_U64, offsetof(type, member.seed), NULL                         \
    }
#define DTI_PY_POLICIES      \
    {                        \
        -1, -1, -1, 0, NULL, \
        {                    \
            {NULL}, 0        \
        }                    \
    }
void dti_py_spec(struct dti_cast_spec *spec, const struct dti_py_policies *policies);

/* Structs as dicts: a row for each member. */
enum dti_py_type {
    DTI_PY_IS_BOOL,
    DTI_PY_IS_INT,   /* int32_t, int or enum */
    DTI_PY_IS_UINT,  /* unsigned */
    DTI_PY_IS_U64,   /* uint64_t, size_t */
    DTI_PY_IS_INDEX, /* uint64_t; UINT64_MAX: None */
    DTI_PY_IS_DOUBLE,
    DTI_PY_IS_VALUE,  /* struct dti_value */
    DTI_PY_IS_TEXT,   /* const char *; NULL: None */
    DTI_PY_IS_FORMAT, /* const struct dti_format *; NULL: None */
};
struct dti_py_member {
    const char *name;
    enum dti_py_type type;
    size_t offset;
};
PyObject *dti_py_dict(struct dti_py_state *state, const struct dti_py_member *rows, size_t count,
                      const void *structure);
/* (kind, negative, sticky, exponent, hi, lo). */
PyObject *dti_py_value(const struct dti_value *value);
bool dti_py_value_from(PyObject *tuple, struct dti_value *ret);
#define DTI_PY_COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* A function or a text in a slot of a type. */
#define DTI_PY_SLOT(thing) ((void *)(uintptr_t)(thing))

/* What each file gives the module. */
extern PyType_Spec dti_py_dtype_spec, dti_py_array_spec, dti_py_file_spec, dti_py_writer_spec;
extern PyMethodDef dti_py_format_functions[], dti_py_value_functions[], dti_py_cast_functions[],
    dti_py_measure_functions[], dti_py_block_functions[], dti_py_calc_functions[],
    dti_py_file_functions[], dti_py_writer_functions[], dti_py_rewrite_functions[],
    dti_py_made_functions[];

/* Appends an item, which it takes; without one, or memory, *list becomes NULL with the error set.
 */
void dti_py_append(PyObject **list, PyObject *item);

#endif
