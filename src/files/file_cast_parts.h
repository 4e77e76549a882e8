/* SPDX-License-Identifier: MIT
 *
 * What the steps of a file's cast show each other: choosing tensors, planning their casts, laying
 * out files. Each works on a struct dti_file_cast that dti_file_cast_free() can free at any time.
 */
#ifndef DTINFO_FILES_FILE_CAST_PARTS_H
#define DTINFO_FILES_FILE_CAST_PARTS_H

#include "dtinfo/file_cast.h"
#include "files/tensor_choice.h"

/* file_cast_choose.c: fills tensors with source and fate, in the container's order. */
enum dti_status dti_file_cast_choose(struct dti_file_cast *cast, struct dti_error *reterr);

/* file_cast_plan.c: fills plan and format, and *ret_new, an array to be freed that describes the
 * tensors to be written; its `source` is the index into cast->tensors. */
enum dti_status dti_file_cast_plan(struct dti_file_cast *cast, struct dti_new_tensor **ret_new,
                                   struct dti_error *reterr);

/* file_cast_layout.c: fills files, and of the tensors file, bytes and offset; brings both arrays
 * into the order of the data. */
enum dti_status dti_file_cast_layout(struct dti_file_cast *cast, struct dti_new_tensor *tensors,
                                     struct dti_error *reterr);

/* file_cast_source.c: where the elements of a tensor are, in the order in which they are written:
 * in its file, or in a temporary one. To be closed; must not be copied. */
struct dti_file_cast_source {
    const struct dti_batch_source *source; /* not NULL: in place of input */
    const struct dti_input *input;
    uint64_t offset;
    struct dti_input reordered; /* row-major, when the file is not */
    bool is_reordered;
};
enum dti_status dti_file_cast_source_open(struct dti_file_cast *cast, size_t at,
                                          uint64_t max_memory, struct dti_file_cast_source *ret,
                                          struct dti_error *reterr);
void dti_file_cast_source_close(struct dti_file_cast_source *source);

/* Keeps the figures of a tensor that has been cast, and adds its loss to the whole. Fails with
 * DTI_NOT_REPRESENTABLE for a NaN that has no code. */
enum dti_status dti_file_cast_add_loss(struct dti_file_cast *cast, size_t at,
                                       const struct dti_loss *loss, struct dti_error *reterr);

enum dti_status dti_file_cast_no_memory(struct dti_error *reterr);

static inline const struct dti_tensor *dti_file_cast_source(const struct dti_file_cast *cast,
                                                            size_t tensor)
{
    return &cast->container->tensors[cast->tensors[tensor].source];
}

#endif
