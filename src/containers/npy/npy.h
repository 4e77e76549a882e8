/* SPDX-License-Identifier: MIT
 *
 * Parses the header of a .npy file, from the magic bytes to the array's type. Nothing is evaluated:
 * a grammar that accepts only these dictionaries reads the Python literal. */
#ifndef CONTAINERS_NPY_NPY_H
#define CONTAINERS_NPY_NPY_H

#include "containers/gather.h"
#include "containers/opening.h"

enum {
    DTI_NPY_PREAMBLE = 12,        /* up to and including the header length; version 1.0 uses 10 */
    DTI_NPY_HEADER_MAX = 1 << 20, /* maximum header bytes; numpy's own limit is 10,000 characters */
    DTI_NPY_RANK_MAX = 64,        /* numpy's limit */
};

/* The decoded preamble. */
struct dti_npy_preamble {
    unsigned major;
    const char *version;  /* "1.0" */
    size_t start, length; /* of the header; the data follow it */
};

/* head: the first DTI_NPY_PREAMBLE bytes, or the whole file if it is shorter; size: of the whole
 * file. */
bool dti_npy_preamble(struct dti_opening *opening, const unsigned char *head, size_t head_size,
                      uint64_t size, struct dti_npy_preamble *ret);

/* A leaf field of a structured type. */
enum {
    DTI_NPY_FIELD_RANK = 8,
    DTI_NPY_FIELDS_MAX = 4096,
    DTI_NPY_FIELDS_FORTRAN = 64, /* of a column-major array, which is read once per field */
    DTI_NPY_FIELDS_ALL = 16384,  /* per file */
    DTI_NPY_FIELD_NAME = 1024,
};
struct dti_npy_field {
    size_t name_at, name_length; /* in names: "a", or "a.b" for a nested field */
    const char *descr;           /* in the text, as in a dictionary */
    size_t descr_length;
    uint64_t offset; /* in an item */
    /* The dimensions it adds to those of the array, last one first; strides in bytes. */
    unsigned rank;
    uint64_t shape[DTI_NPY_FIELD_RANK], strides[DTI_NPY_FIELD_RANK];
};
struct dti_npy_fields {
    struct dti_npy_field *list;
    size_t count, capacity;
    struct dti_buffer names;
    const char *problem; /* why the list is incomplete, or NULL */
};
void dti_npy_fields_init(struct dti_npy_fields *ret);
void dti_npy_fields_free(struct dti_npy_fields *fields);

/* The header dictionary. */
struct dti_npy_dictionary {
    const char *descr; /* in the text: a string without quotes, or a list or tuple */
    size_t descr_length;
    bool structured;     /* a list or tuple: fields, or subarrays */
    bool objects;        /* structured: contains a Python object */
    uint64_t item_bytes; /* structured: bytes of an item */
    bool fortran;
    unsigned rank;
    uint64_t shape[DTI_NPY_RANK_MAX];
};
/* NULL on success, else what is wrong with the text: "the key 'shape' is missing". ret_fields
 * receives the fields of a structured type without Python objects, excluding padding. */
const char *dti_npy_parse(const char *text, size_t length, unsigned major,
                          struct dti_npy_dictionary *ret, struct dti_npy_fields *ret_fields);

/* What a descr denotes. */
enum dti_npy_sort {
    DTI_NPY_DTYPE,   /* a dtype: format and byte order are set */
    DTI_NPY_LOST,    /* bytes whose dtype numpy could not name */
    DTI_NPY_FOREIGN, /* known to numpy but not supported here; refusal says what it is */
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
/* False: not a valid descr. */
bool dti_npy_type(const char *descr, size_t length, struct dti_npy_type *ret);

/* State for reading one header after another. */
struct dti_npy_reading {
    struct dti_opening *opening;
    struct dti_npy_fields fields; /* of the last header; empty: the array is one tensor */
    size_t field_count;           /* total so far */
    struct dti_npy_dictionary header;
    bool guessed; /* whether any type was guessed, as above */
};
/* Parses a header and fills *ret with the array, whose data have `there` bytes; the caller sets
 * name and place. text must live until the next call. */
bool dti_npy_describe(struct dti_npy_reading *reading, const char *text,
                      const struct dti_npy_preamble *preamble, uint64_t there,
                      struct dti_tensor *ret);
bool dti_npy_note_guess(const struct dti_npy_reading *reading); /* notes a guessed type, if any */

/* npy_read.c: the tensors of an array: *whole itself, or "whole.field" for each of its fields;
 * dti_npy_count() gives their number. Duplicate names are not checked. */
static inline size_t dti_npy_count(const struct dti_npy_reading *reading)
{
    return reading->fields.count > 0 ? reading->fields.count : 1;
}
bool dti_npy_tensors(struct dti_npy_reading *reading, const struct dti_tensor *whole,
                     struct dti_tensor *ret, struct dti_gather_place *ret_places);
bool dti_npy_check_names(struct dti_opening *opening); /* of all tensors of the file */
/* npy_type.c: sets the number of elements and bytes; false: too many. */
bool dti_npy_measure(const uint64_t *shape, unsigned rank, uint64_t item_bytes,
                     struct dti_tensor *ret);
/* Resolves a type; sets stored_as, format, layout and refusal. */
bool dti_npy_settle(struct dti_npy_reading *reading, const char *descr, size_t length,
                    const struct dti_npy_type *type, struct dti_tensor *ret);

/* npy_write.c: appends what precedes the data of an array, and sets tensor->bytes, at most
 * INT64_MAX. The text length is a multiple of 64 bytes. Fails as dti_container_layout() does. */
enum dti_status dti_npy_head(struct dti_new_tensor *tensor, struct dti_buffer *ret_text,
                             struct dti_error *reterr);
/* dti_container_layout() and dti_container_stores() for npy, which cannot hold metadata. */
enum dti_status dti_npy_layout(struct dti_new_tensor *tensors, size_t count,
                               const struct dti_metadata *metadata, size_t metadata_count,
                               struct dti_new_head *ret_head, uint64_t *ret_size,
                               struct dti_error *reterr);
bool dti_npy_stores(const struct dti_format *format, struct dti_layout *ret_layout);

#endif
