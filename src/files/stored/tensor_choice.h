/* SPDX-License-Identifier: MIT
 *
 * Selecting tensors of a container by patterns, and naming them in messages. */
#ifndef FILES_STORED_TENSOR_CHOICE_H
#define FILES_STORED_TENSOR_CHOICE_H

#include "containers/container.h"

/* Whether one of a list of patterns fits the tensor's name; not when list is NULL. */
bool dti_tensor_fits(const char *list, const struct dti_tensor *tensor);

/* "'model.safetensors': tensor 'wte'", for messages. */
enum { DTI_TENSOR_PLACE = 2 * DTI_QUOTE_SIZE + 16 };
const char *dti_tensor_place(const struct dti_container *container, size_t tensor,
                             char buffer[DTI_TENSOR_PLACE]);
/* Puts that before an error of one of its elements. */
void dti_error_of_tensor(const struct dti_container *container, size_t tensor,
                         struct dti_error *reterr);

#endif
