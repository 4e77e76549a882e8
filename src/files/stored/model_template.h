/* SPDX-License-Identifier: MIT
 *
 * Tensors for the place of another file's: a view of a container in which they are in the order in
 * which that file, the template, has tensors of the same names and shapes. */
#ifndef FILES_STORED_MODEL_TEMPLATE_H
#define FILES_STORED_MODEL_TEMPLATE_H

#include "containers/container.h"

struct dti_model_template {
    struct dti_container view; /* never given to dti_container_free() */
    size_t *places;            /* of its tensors in the container */
};

/* Both containers must live longer. Fails with DTI_WRONG_KIND where a name is missing on either
 * side, or a shape is another, in one line that says how many and names the first; with
 * DTI_NO_MEMORY. */
enum dti_status dti_model_template_init(struct dti_model_template *ret,
                                        struct dti_container *container,
                                        const struct dti_container *model,
                                        struct dti_error *reterr);
void dti_model_template_free(struct dti_model_template *match); /* zeros are fine */

#endif
