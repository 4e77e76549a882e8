/* SPDX-License-Identifier: MIT
 *
 * An open file, as the functions of dtinfo/file.h share it. */
#ifndef LIBRARY_FILE_H
#define LIBRARY_FILE_H

#include "containers/name_order.h"
#include "dtinfo/file.h"
#include "files/dequant/logical_tensors.h"
#include "io/input_memory.h"
#include "library/context.h"

struct dti_file {
    struct dti_context *context;
    struct dti_container
        *container;                 /* a view with quantized tensors, unless they were not wanted */
    struct dti_input_state *states; /* of its files when they were opened */
    struct dti_name_order names;    /* from the first dti_file_find() on */
    bool is_named;
    struct dti_input *rows; /* by tensor: column-major arrays in row-major order, from the first
                               dti_file_read() on; NULL: none yet */
    char *name;             /* of bytes and descriptors, in messages */
};

/* Why the numbers of a tensor cannot be read; NULL: they can. */
const char *dti_file_refusal(const struct dti_file *file, size_t tensor);

#endif
