/* SPDX-License-Identifier: MIT
 *
 * The header of a .npy file, from its magic bytes to what the array is. Nothing is evaluated: the
 * Python literal is read by a grammar that knows just these dictionaries. */
#ifndef CONTAINERS_NPY_NPY_H
#define CONTAINERS_NPY_NPY_H

#include "containers/gather.h"
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

/* A field of a structured type that is not structured itself. */
enum {
    DTI_NPY_FIELD_RANK = 8,
    DTI_NPY_FIELDS_MAX = 4096,
    DTI_NPY_FIELDS_FORTRAN = 64, /* of an array in that order, which is read once for each */
    DTI_NPY_FIELDS_ALL = 16384,  /* of a file */
    DTI_NPY_FIELD_NAME = 1024,
};
struct dti_npy_field {
    size_t name_at, name_length; /* in names: "a", or "a.b" of one within another */
    const char *descr;           /* in the text, as of a dictionary */
    size_t descr_length;
    uint64_t offset; /* in an item */
    /* What it adds to the dimensions of the array, the last one first; strides in bytes. */
    unsigned rank;
    uint64_t shape[DTI_NPY_FIELD_RANK], strides[DTI_NPY_FIELD_RANK];
};
struct dti_npy_fields {
    struct dti_npy_field *list;
    size_t count, capacity;
    struct dti_buffer names;
    const char *problem; /* why they are not all here, or NULL */
};
void dti_npy_fields_init(struct dti_npy_fields *ret);
void dti_npy_fields_free(struct dti_npy_fields *fields);

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
/* NULL, or what is wrong with the text: "the key 'shape' is missing". The fields of a structured
 * type without Python objects go to ret_fields, without padding. */
const char *dti_npy_parse(const char *text, size_t length, unsigned major,
                          struct dti_npy_dictionary *ret, struct dti_npy_fields *ret_fields);

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

/* Headers are read one after another. */
struct dti_npy_reading {
    struct dti_opening *opening;
    struct dti_npy_fields fields; /* of the last one; none: it is a tensor as a whole */
    size_t field_count;           /* of all so far */
    struct dti_npy_dictionary header;
    bool guessed; /* the type of any of them, as above */
};
/* Reads a header and fills *ret with the array, of which there are that many bytes: its name and
 * place are left to the caller. text must live until the next call. */
bool dti_npy_describe(struct dti_npy_reading *reading, const char *text,
                      const struct dti_npy_preamble *preamble, uint64_t there,
                      struct dti_tensor *ret);
bool dti_npy_note_guess(const struct dti_npy_reading *reading); /* says so, if there is any */

/* npy_read.c: the tensors that an array is: *whole itself, or "whole.field" for each field that
 * it has; as many as dti_npy_count() says. Their names are not compared. */
static inline size_t dti_npy_count(const struct dti_npy_reading *reading)
{
    return reading->fields.count > 0 ? reading->fields.count : 1;
}
bool dti_npy_tensors(struct dti_npy_reading *reading, const struct dti_tensor *whole,
                     struct dti_tensor *ret, struct dti_gather_place *ret_places);
bool dti_npy_check_names(struct dti_opening *opening); /* of all tensors of the file */
/* npy_type.c: how many elements and bytes; false: they are too many. */
bool dti_npy_measure(const uint64_t *shape, unsigned rank, uint64_t item_bytes,
                     struct dti_tensor *ret);
/* What a type is; fills stored_as, format, layout and refusal. */
bool dti_npy_settle(struct dti_npy_reading *reading, const char *descr, size_t length,
                    const struct dti_npy_type *type, struct dti_tensor *ret);

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
