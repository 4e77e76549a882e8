/* SPDX-License-Identifier: MIT
 *
 * A view of a container for use with a template, another model file: it lists the container's
 * tensors in the order in which the template has tensors of the same names and shapes, then scales
 * of whole tensors and of their inputs, which a template may lack or have in addition. */
#ifndef FILES_STORED_MODEL_TEMPLATE_H
#define FILES_STORED_MODEL_TEMPLATE_H

#include "containers/container.h"

struct dti_model_template {
    struct dti_container view; /* never pass it to dti_container_free() */
    uint32_t *places;          /* index of each of its tensors in the container */
};

/* Both containers must outlive the result. Fails with DTI_WRONG_KIND where a name is missing on
 * either side or a shape differs, in one line that gives the count and the first name; and with
 * DTI_NO_MEMORY. */
enum dti_status dti_model_template_init(struct dti_model_template *ret,
                                        struct dti_container *container,
                                        const struct dti_container *model,
                                        struct dti_error *reterr);
void dti_model_template_free(struct dti_model_template *match); /* a zeroed struct is fine */

#endif
