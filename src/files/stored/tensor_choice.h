/* SPDX-License-Identifier: MIT
 *
 * Selects tensors of a container by patterns, and names them in messages. */
#ifndef FILES_STORED_TENSOR_CHOICE_H
#define FILES_STORED_TENSOR_CHOICE_H

#include "containers/container.h"

/* Whether a pattern of the list matches the tensor's name; false if list is NULL. */
bool dti_tensor_fits(const char *list, const struct dti_tensor *tensor);

/* The GGUF type for tensors whose names match: blocks, or numbers of a dtype. */
struct dti_type_rule {
    const char *pattern;
    size_t length;
    const struct dti_gguf_type *type;
};
/* The rule that matches first; NULL: none. */
const struct dti_type_rule *dti_type_rule_of(const struct dti_type_rule *rules, size_t count,
                                             const struct dti_tensor *tensor);

/* "'model.safetensors': tensor 'wte'", for messages. */
enum { DTI_TENSOR_PLACE = 2 * DTI_QUOTE_SIZE + 16 };
const char *dti_tensor_place(const struct dti_container *container, size_t tensor,
                             char buffer[DTI_TENSOR_PLACE]);
/* Prefixes an error about an element of the tensor with that; that a call is cancelled is none. */
void dti_error_of_tensor(const struct dti_container *container, size_t tensor,
                         struct dti_error *reterr);

#endif
