/* SPDX-License-Identifier: MIT
 *
 * Bytes of weights, gradients, master weights and optimizer states. */
#include "core/dtype/training.h"

#include "core/dtype/storage.h"
#include "util/checked.h"

enum { BLOCK_SCALE_BYTES = 4, MASTER_BITS = 32, GRADIENT_BITS = 16 };

static const struct dti_training_row rows[DTI_TRAINING_COUNT] = {
#define TRAINING(id, name_, states_, first, second, state_, block_, least_, source_) \
    [DTI_TRAINING_##id] = {.name = (name_),                                          \
                           .states = (states_),                                      \
                           .state_name = {first, second},                            \
                           .state = DTI_##state_,                                    \
                           .block = (block_),                                        \
                           .least = (least_),                                        \
                           .source = (source_)},
#include "core/dtype/trainings.def"
#undef TRAINING
};

const struct dti_training_row *dti_training_get(enum dti_training training)
{
    return &rows[training];
}

void dti_training_defaults(struct dti_training_plan *ret, enum dti_training training,
                           const struct dti_stored *weights)
{
    const struct dti_format *const format = &weights->format;
    const struct dti_layout packed = {.packing = DTI_PACKING_LOW};
    const unsigned bits = weights->block ? 0 : dti_format_stored_bits(format, &packed);
    const bool floats = !weights->block && dti_format_is_float(format);
    *ret = (struct dti_training_plan){
        .training = training,
        .weights = *weights,
        .gradients = floats && bits >= GRADIENT_BITS ? *format : *dti_format_get(DTI_BF16),
        .has_master = !floats || bits < MASTER_BITS,
        .master = *dti_format_get(DTI_FP32),
        .state = *dti_format_get(rows[training].state),
    };
}

bool dti_training_has(const struct dti_training_plan *plan, enum dti_training_part part)
{
    switch (part) {
    case DTI_TRAINING_WEIGHTS:
    case DTI_TRAINING_GRADIENTS:
        return true;
    case DTI_TRAINING_MASTER:
        return plan->has_master;
    case DTI_TRAINING_STATE_1:
    case DTI_TRAINING_STATE_2:
        return rows[plan->training].states > (unsigned)part - DTI_TRAINING_STATE_1;
    case DTI_TRAINING_PARTS:
        break;
    }
    return false;
}

/* Codes for the whole tensor, with one scale per block; the last block may be short. */
static bool blocked_state(const struct dti_training_row *row, const struct dti_extent *extent,
                          struct dti_footprint *ret)
{
    const struct dti_stored codes = {.format = *dti_format_get(row->state)};
    if (!dti_footprint_of(&codes, extent, ret))
        return false;
    ret->blocks = extent->elements / row->block + (extent->elements % row->block != 0);
    return dti_mul_u64(ret->blocks, BLOCK_SCALE_BYTES, &ret->scale_bytes) &&
           dti_add_u64(ret->bytes, ret->scale_bytes, &ret->bytes);
}

static bool part_footprint(const struct dti_training_plan *plan, enum dti_training_part part,
                           const struct dti_extent *extent, struct dti_footprint *ret)
{
    const struct dti_training_row *const row = &rows[plan->training];
    struct dti_stored stored = {.block = NULL};
    if (part == DTI_TRAINING_WEIGHTS)
        stored = plan->weights;
    else if (part == DTI_TRAINING_GRADIENTS)
        stored.format = plan->gradients;
    else if (part == DTI_TRAINING_MASTER)
        stored.format = plan->master;
    else if (row->block == 0)
        stored.format = plan->state;
    else if (extent->elements < row->least)
        stored.format = *dti_format_get(DTI_FP32);
    else
        return blocked_state(row, extent, ret);
    return dti_footprint_of(&stored, extent, ret);
}

bool dti_training_add(const struct dti_training_plan *plan, const struct dti_extent *extent,
                      struct dti_footprint sums[DTI_TRAINING_PARTS])
{
    for (unsigned i = 0; i < DTI_TRAINING_PARTS; i++) {
        const enum dti_training_part part = (enum dti_training_part)i;
        struct dti_footprint footprint;
        if (dti_training_has(plan, part) && (!part_footprint(plan, part, extent, &footprint) ||
                                             !dti_footprint_add(&sums[part], &footprint)))
            return false;
    }
    return true;
}
