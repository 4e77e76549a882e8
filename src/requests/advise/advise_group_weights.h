/* SPDX-License-Identifier: MIT
 *
 * Weights of groups of layers, as other programs measure them: a group has one weight, which its
 * tensors share by their elements. */
#ifndef REQUESTS_ADVISE_ADVISE_GROUP_WEIGHTS_H
#define REQUESTS_ADVISE_ADVISE_GROUP_WEIGHTS_H

#include "answers/advise/measured.h"
#include "files/stored/named_types.h"
#include "util/run/memory_pool.h"

struct dti_group_weight {
    double weight;
    uint64_t elements; /* of its tensors that are quantized */
};
struct dti_group_weights {
    struct dti_pool pool; /* names of layers */
    struct dti_group_weight *groups;
    size_t count, room, layer_room;
    struct dti_named_types layers; /* type: the group */
};

/* Adds a layer to the group that is added next; the name is copied. False: out of memory. */
bool dti_group_weights_layer(struct dti_group_weights *weights, const char *name, size_t length);
/* Ends a group of the layers that were added since the last one. */
bool dti_group_weights_add(struct dti_group_weights *weights, double weight);
/* Sets the weights of tensors X.weight, where X is a layer. label: of the file, quoted. Fails with
 * DTI_BAD_INPUT: a layer is there twice, or a tensor has no group. */
enum dti_status dti_group_weights_apply(struct dti_group_weights *weights,
                                        struct dti_measured *measured, const char *label,
                                        struct dti_error *reterr);
void dti_group_weights_free(struct dti_group_weights *weights); /* a zeroed struct is fine */

#endif
