/* SPDX-License-Identifier: MIT
 *
 * Tensors that loaders fuse into one matrix with one tensor scale, which must fit the numbers of
 * all of them. Sets are those of the whole container, whatever part of it is written, so they do
 * not depend on patterns or on how a run is divided. Known ranges are cached: several rewrites of
 * the container read a tensor at most once for its range. */
#ifndef FILES_REWRITE_FUSED_RANGES_H
#define FILES_REWRITE_FUSED_RANGES_H

#include "containers/container.h"
#include "files/stored/fused_modules.h"
#include "kernels/quant/quant_kernel.h"

struct dti_fused_member {
    size_t tensor; /* index in the container */
    bool known;    /* the range is known: of its finite numbers in fp32 */
    bool asked;    /* it is being computed */
    struct dti_range range;
};
struct dti_fused_set {
    size_t count; /* 2 or more */
    struct dti_fused_member members[DTI_FUSED_MOST];
};
struct dti_fused_ranges {
    struct dti_container *container;
    struct dti_fused_set *sets;
    size_t set_count;
    size_t *set_of; /* per tensor; SIZE_MAX: not in a set */
};

/* Finds the sets of a container, by name, among tensors that can be quantized; own: a group that
 * the user gives, or NULL. The container must outlive the result. Fails with DTI_NO_MEMORY, and
 * with DTI_USAGE if nothing has two modules of that group. */
enum dti_status dti_fused_ranges_new(struct dti_fused_ranges **ret, struct dti_container *container,
                                     const struct dti_fused_own *own, struct dti_error *reterr);
void dti_fused_ranges_free(struct dti_fused_ranges *ranges); /* NULL is allowed */
/* The set that a tensor is in, or NULL. */
struct dti_fused_set *dti_fused_set_of(const struct dti_fused_ranges *ranges, size_t tensor);

#endif
