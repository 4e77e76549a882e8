/* SPDX-License-Identifier: MIT
 *
 * The squared errors of tensors while they are quantized: of each tensor, and of its worst row. All
 * sums are of fp64 squares of exact fp32 numbers: within 1e-13 of the true ones, and the same for
 * every number of threads. */
#ifndef FILES_ADVISE_TENSOR_ERRORS_H
#define FILES_ADVISE_TENSOR_ERRORS_H

#include "containers/container.h"
#include "convert/quant_plan.h"

struct dti_tensor_error {
    bool there;             /* the tensor was seen as a whole, and is finite before and after */
    double squared, signal; /* sums of (stored - source)^2 and of source^2 */
    double worst;           /* the largest quotient of the two for a row */
    uint64_t worst_row;     /* the first row that has it */
};

struct dti_tensor_errors;
/* For tensors of the container, which must outlive the result; a row is the last dimension. */
enum dti_status dti_tensor_errors_new(struct dti_tensor_errors **ret,
                                      const struct dti_container *container,
                                      struct dti_error *reterr);
void dti_tensor_errors_free(struct dti_tensor_errors *errors); /* NULL is allowed */
/* The watch of a rewrite; its context is the result above. A tensor has memory for its rows only
 * while its numbers come. */
void dti_tensor_errors_add(void *context, size_t tensor, const float *numbers, const float *stored,
                           size_t n, uint64_t index);
/* After the run. Fails with DTI_NO_MEMORY if memory ran out meanwhile. */
enum dti_status dti_tensor_errors_end(const struct dti_tensor_errors *errors,
                                      struct dti_error *reterr);
const struct dti_tensor_error *dti_tensor_errors_of(const struct dti_tensor_errors *errors,
                                                    size_t tensor);

#endif
