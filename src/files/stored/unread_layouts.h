/* SPDX-License-Identifier: MIT
 *
 * Layouts of quantized checkpoints that are recognised but not decoded: rows of unread_layouts.def.
 * Their tensors stay as stored, and whatever needs their numbers says what they are. */
#ifndef FILES_STORED_UNREAD_LAYOUTS_H
#define FILES_STORED_UNREAD_LAYOUTS_H

#include "files/stored/quant_names.h"

struct dti_unread_layout {
    const char *name;
    const char *codes, *other; /* suffixes; NULL: tensors do not show it */
    const char *method;        /* "quant_method" of the configuration */
    const char *reader;        /* "exllamav3 loads it" */
};

/* The first row with that method, case-insensitively; NULL: none. */
const struct dti_unread_layout *dti_unread_layout_of_method(const char *method);

/* The row whose codes a tensor is; NULL: none. */
const struct dti_unread_layout *dti_unread_layout_of(const struct dti_quant_names *names,
                                                     size_t tensor);
/* Whether a tensor belongs to codes of EXL3: signs or scales of their inputs or outputs, or a
 * multiplier. */
bool dti_unread_is_side(const struct dti_quant_names *names, size_t tensor);

/* Rows, columns and bits per weight of the matrix that a tensor holds; false if they do not follow
 * from its shape. */
bool dti_unread_shape(const struct dti_unread_layout *layout, const struct dti_tensor *tensor,
                      uint64_t ret_shape[2], uint64_t *ret_bits);

#endif
