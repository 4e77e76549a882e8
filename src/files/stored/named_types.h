/* SPDX-License-Identifier: MIT
 *
 * Types of tensors by their whole names, for plans that name each tensor. */
#ifndef FILES_STORED_NAMED_TYPES_H
#define FILES_STORED_NAMED_TYPES_H

#include "containers/container.h"

struct dti_named_type {
    const char *name;
    size_t length;
    uint32_t type; /* an index that the caller gives */
};
struct dti_named_types {
    struct dti_named_type *list; /* sorted by dti_named_types_sort() */
    size_t count;
    const char *source; /* what names them, for messages: the path of a plan, or NULL */
};

/* Returns the index of a name that is there twice; count: none is. */
size_t dti_named_types_sort(struct dti_named_types *types);
/* NULL: none. */
const struct dti_named_type *dti_named_type_of(const struct dti_named_types *types,
                                               const struct dti_tensor *tensor);
/* Fails with DTI_BAD_INPUT if a name is that of no tensor, with DTI_NO_MEMORY. */
enum dti_status dti_named_types_check(const struct dti_named_types *types,
                                      const struct dti_container *container,
                                      struct dti_error *reterr);

#endif
