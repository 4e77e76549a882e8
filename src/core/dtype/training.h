/* SPDX-License-Identifier: MIT
 *
 * Memory that training needs for a model's parameters: weights, gradients, higher-precision
 * copies (master weights), optimizer states. Not activations, which depend on the model, the
 * batch and recomputation. */
#ifndef CORE_DTYPE_TRAINING_H
#define CORE_DTYPE_TRAINING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/dtype/footprint.h"

enum dti_training {
#define TRAINING(id, ...) DTI_TRAINING_##id,
#include "core/dtype/trainings.def"
#undef TRAINING
    DTI_TRAINING_COUNT
};
enum { DTI_TRAINING_STATES = 2 };
struct dti_training_row {
    const char *name;
    unsigned states;
    const char *state_name[DTI_TRAINING_STATES];
    enum dti_dtype state;
    uint32_t block, least;
    const char *source;
};
const struct dti_training_row *dti_training_get(enum dti_training training);

struct dti_training_plan {
    enum dti_training training;
    struct dti_stored weights;
    struct dti_format gradients;
    bool has_master;
    struct dti_format master;
    struct dti_format state; /* for optimizers without blocks */
};
/* Fills in the usual mixed-precision setup: gradients in the dtype of the weights, or in bf16 if
 * that is not a float of 16 bits or more; master weights in fp32 if the weights are not floats
 * or have less than 32 bits; states in the optimizer's own dtype. weights must not be complex. */
void dti_training_defaults(struct dti_training_plan *ret, enum dti_training training,
                           const struct dti_stored *weights);

enum dti_training_part {
    DTI_TRAINING_WEIGHTS,
    DTI_TRAINING_GRADIENTS,
    DTI_TRAINING_MASTER,
    DTI_TRAINING_STATE_1,
    DTI_TRAINING_STATE_2,
    DTI_TRAINING_PARTS
};
/* Whether the plan includes the part. */
bool dti_training_has(const struct dti_training_plan *plan, enum dti_training_part part);
/* Adds the bytes of one parameter tensor to the sums; false if that exceeds 64 bits. */
bool dti_training_add(const struct dti_training_plan *plan, const struct dti_extent *extent,
                      struct dti_footprint sums[DTI_TRAINING_PARTS]);

#endif
