/* SPDX-License-Identifier: MIT
 *
 * The header of a .npy file, from its magic bytes to what the array is. Nothing is evaluated: the
 * Python literal is read by a grammar that knows just these dictionaries. */
#ifndef DTINFO_NPY_H
#define DTINFO_NPY_H

#include "containers/opening.h"

enum {
    DTI_NPY_PREAMBLE = 12, /* bytes that give the header's length; version 1.0 needs 10 of them */
    DTI_NPY_HEADER_MAX = 1 << 20, /* bytes of a header; numpy's own limit is 10,000 characters */
    DTI_NPY_RANK_MAX = 64,        /* numpy's */
};

/* What the first bytes say. */
struct dti_npy_preamble {
    unsigned major;
    const char *version;  /* "1.0" */
    size_t start, length; /* of the header; the data begin after it */
};

/* head: the first bytes, DTI_NPY_PREAMBLE of them or all that there are; size: of the whole file.
 */
bool dti_npy_preamble(struct dti_opening *opening, const unsigned char *head, size_t head_size,
                      uint64_t size, struct dti_npy_preamble *ret);

/* A field of a structured type. */
struct dti_npy_field {
    const char *name, *type; /* in the text; the type as it is spelled there: "'>i2', (2, 3)" */
    size_t name_length, type_length;
    uint64_t offset; /* in an item */
};
enum { DTI_NPY_FIELDS = 8 }; /* that are told */

/* The dictionary. */
struct dti_npy_dictionary {
    const char *descr; /* in the text: a string without its quotes, or a list or tuple */
    size_t descr_length;
    bool structured;     /* it is a list or a tuple: fields, or arrays of arrays */
    bool objects;        /* of a structured one: a Python object is among them */
    uint64_t item_bytes; /* of a structured one */
    size_t field_count;  /* likewise, without padding; the first ones are in fields */
    struct dti_npy_field fields[DTI_NPY_FIELDS];
    bool fortran;
    unsigned rank;
    uint64_t shape[DTI_NPY_RANK_MAX];
};
/* NULL, or what is wrong with the text: "the key 'shape' is missing". */
const char *dti_npy_parse(const char *text, size_t length, unsigned major,
                          struct dti_npy_dictionary *ret);

/* What a descr means. */
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

/* Reads a header and fills *ret with the array, of which there are that many bytes: its name and
 * place are left to the caller. *guessed becomes true as above. text need not live on. */
bool dti_npy_describe(struct dti_opening *opening, const char *text,
                      const struct dti_npy_preamble *preamble, uint64_t there,
                      struct dti_tensor *ret, bool *guessed);
bool dti_npy_note_guess(struct dti_opening *opening); /* says so */

/* npy_write.c: appends what precedes the data of an array, and fills its bytes, which are at most
 * INT64_MAX. The text is a multiple of 64 bytes. Fails as dti_container_layout() does. */
enum dti_status dti_npy_head(struct dti_new_tensor *tensor, struct dti_buffer *ret_text,
                             struct dti_error *reterr);
/* dti_container_layout() and dti_container_stores(). Metadata has no place in it. */
enum dti_status dti_npy_layout(struct dti_new_tensor *tensors, size_t count,
                               const struct dti_metadata *metadata, size_t metadata_count,
                               struct dti_new_head *ret_head, uint64_t *ret_size,
                               struct dti_error *reterr);
bool dti_npy_stores(const struct dti_format *format, struct dti_layout *ret_layout);

#endif
