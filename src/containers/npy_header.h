/* SPDX-License-Identifier: MIT
 *
 * The header of a .npy file, from its magic bytes to what the array is. Nothing is evaluated: the
 * Python literal is read by a grammar that knows just these dictionaries. */
#ifndef DTINFO_NPY_HEADER_H
#define DTINFO_NPY_HEADER_H

#include "containers/containers.h"
#include "dtinfo/memory_pool.h"

enum {
    DTI_NPY_PREAMBLE = 12, /* bytes that tell the header's length; version 1.0 needs 10 of them */
    DTI_NPY_HEADER_MAX = 1 << 20, /* bytes of a header; numpy's own limit is 10,000 characters */
    DTI_NPY_RANK_MAX = 64,        /* numpy's */
};

/* What the first bytes say. */
struct dti_npy_preamble {
    unsigned major;
    const char *version;  /* "1.0" */
    size_t start, length; /* of the header; the data begin behind it */
};

/* head: the first bytes, DTI_NPY_PREAMBLE of them or all that there are; size: of the whole file.
 * label names it, quoted. Fails with DTI_BAD_INPUT. */
enum dti_status dti_npy_preamble(const char *label, const unsigned char *head, size_t head_size,
                                 uint64_t size, struct dti_npy_preamble *ret,
                                 struct dti_error *reterr);

/* The dictionary. */
struct dti_npy_dictionary {
    const char *descr; /* in the text: a string without its quotes, or a list or tuple */
    size_t descr_length;
    bool structured;     /* it is a list or a tuple: fields, or arrays of arrays */
    bool objects;        /* of a structured one: a Python object is among them */
    uint64_t item_bytes; /* of a structured one */
    bool fortran;
    unsigned rank;
    uint64_t shape[DTI_NPY_RANK_MAX];
};
/* NULL, or what is wrong with the text: "the key 'shape' is missing". */
const char *dti_npy_parse(const char *text, size_t length, unsigned major,
                          struct dti_npy_dictionary *ret);

/* What a descr stands for. */
enum dti_npy_sort {
    DTI_NPY_DTYPE,   /* format, swapped */
    DTI_NPY_LOST,    /* bytes whose dtype numpy could not name */
    DTI_NPY_FOREIGN, /* known to numpy and not to us; refusal says what */
    DTI_NPY_OBJECT,  /* Python objects */
};
struct dti_npy_type {
    enum dti_npy_sort sort;
    const struct dti_format *format;
    bool big_endian;
    bool guessed; /* "<f1" taken as fp8_e5m2 */
    uint64_t item_bytes;
    const char *refusal;
};
/* False: it is no descr. */
bool dti_npy_type(const char *descr, size_t length, struct dti_npy_type *ret);

/* Reads a header and fills *ret with the array: its name and place are left to the caller, and
 * bytes is UINT64_MAX when only reading the data would tell. *ret_guessed: as above. text need not
 * live on. Fails with DTI_BAD_INPUT, DTI_NO_MEMORY. */
enum dti_status dti_npy_describe(struct dti_pool *pool, const char *label, const char *text,
                                 const struct dti_npy_preamble *preamble,
                                 const struct dti_format *assume, struct dti_tensor *ret,
                                 bool *ret_guessed, struct dti_error *reterr);
/* Says so among the container's notes. False: memory ran out. */
bool dti_npy_note_guess(struct dti_notes *notes);

/* "'x.npy': truncated: 6 elements of type <f4 need 24 bytes, there are 20" */
enum dti_status dti_npy_fail_short(const char *label, const struct dti_tensor *tensor,
                                   uint64_t there, struct dti_error *reterr);

#endif
