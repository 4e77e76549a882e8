/* SPDX-License-Identifier: MIT
 *
 * Between the halves of the reader of safetensors: what a header says, tensor by tensor in its
 * order, before it is held against itself and the file. */
#ifndef DTINFO_CONTAINERS_SAFETENSORS_PARTS_H
#define DTINFO_CONTAINERS_SAFETENSORS_PARTS_H

#include "containers/containers.h"
#include "containers/safetensors.h"

struct dti_safetensors_record {
    const char *name; /* with a NUL behind it; it may hold others */
    size_t name_length;
    const struct dti_format *format;
    const char *type; /* its name here */
    const uint64_t *shape;
    uint64_t begin, end; /* data_offsets */
    unsigned rank;
};

struct dti_safetensors_header {
    size_t count;
    struct dti_safetensors_record *records; /* in the scratch pool */
    size_t metadata_count;
    struct dti_metadata *metadata;
};

/* Reads the JSON: what is of use later comes from pool, what is not from scratch. */
enum dti_status dti_safetensors_header_read(struct dti_pool *pool, struct dti_pool *scratch,
                                            const char *label, const char *text, size_t length,
                                            struct dti_safetensors_header *ret,
                                            struct dti_error *reterr);

/* Refuses records whose names or data_offsets collide or whose shapes do not fit, and fills ret
 * with the order of their data and their sizes. */
struct dti_safetensors_place {
    size_t record;
    uint64_t elements;
};
enum dti_status dti_safetensors_header_check(struct dti_pool *scratch, const char *label,
                                             const struct dti_safetensors_header *header,
                                             struct dti_safetensors_place **ret, uint64_t *ret_size,
                                             struct dti_error *reterr);

/* "F32[2,3]", a long shape cut, for messages. Returns buffer. */
enum { DTI_SHAPE_TEXT_SIZE = 256 };
const char *dti_safetensors_spell(char buffer[DTI_SHAPE_TEXT_SIZE], const char *type,
                                  const uint64_t *shape, unsigned rank);

#endif
