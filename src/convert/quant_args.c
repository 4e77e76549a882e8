/* SPDX-License-Identifier: MIT
 *
 * What quantizing and the way back have in common: arguments of kernels, and where in its arrays a
 * piece begins. */
#include <string.h>

#include "convert/plan_parts.h"
#include "convert/quant_plan_parts.h"

struct dti_affine_args dti_quant_affine_args(const struct dti_quant_job *job,
                                             const struct dti_affine_scale *scale)
{
    struct dti_affine_args args = job->plan->affine_args;
    args.scale = dti_quant_float(scale->scale);
    args.inverse = 1 / args.scale;
    args.zero_point = scale->zero_point;
    args.stream = job->stream;
    return args;
}

struct dti_affine_args dti_quant_channel_args(const struct dti_quant_job *job, size_t channel)
{
    struct dti_affine_args args = job->plan->affine_args;
    args.scale = job->known->scale[channel];
    args.inverse = job->known->inverse[channel];
    args.zero_point = job->known->zero_point[channel];
    args.stream = job->stream;
    return args;
}

struct dti_block_args dti_quant_block_args(const struct dti_quant_job *job, bool bytes)
{
    struct dti_block_args args = job->plan->block_args;
    args.recipe = &job->recipe;
    args.stream = job->stream;
    if (bytes) {
        args.order = DTI_BLOCK_BYTES;
        args.code_stride = (size_t)job->plan->group;
        args.stream = NULL;
    }
    return args;
}

const struct dti_streaming *dti_quant_streaming(const struct dti_quant_plan *plan,
                                                enum dti_stores stores, uint64_t n)
{
    const uint64_t bytes = n / 8 * (plan->number_bits + plan->code_bits);
    return dti_stores_stream(stores, bytes) ? dti_streaming_for(bytes) : NULL;
}

void dti_quant_spread(const struct dti_quant_job *job, uint64_t at, size_t n)
{
    const uint64_t inner = job->plan->request.inner, e = job->first + at;
    struct dti_quant_scratch *const scratch = job->scratch;
    size_t channel = (size_t)(e / inner % job->known->count);
    uint64_t left = inner - e % inner;
    for (size_t i = 0; i < n; i++) {
        scratch->scale[i] = job->known->scale[channel];
        scratch->inverse[i] = job->known->inverse[channel];
        scratch->zero_point[i] = job->known->zero_point[channel];
        if (--left == 0) {
            left = inner;
            channel = channel + 1 == job->known->count ? 0 : channel + 1;
        }
    }
}

struct dti_affine_args dti_quant_spread_args(const struct dti_quant_job *job)
{
    struct dti_affine_args args = job->plan->affine_args;
    args.scales = job->scratch->scale;
    args.inverses = job->scratch->inverse;
    args.zero_points = job->scratch->zero_point;
    args.stream = job->stream;
    return args;
}

size_t dti_quant_block_offset(const struct dti_quant_plan *plan, uint64_t first, uint64_t at)
{
    const uint64_t length = plan->request.length, end = first + at;
    if (plan->whole) /* rows do not matter */
        return (size_t)(at / plan->group) * plan->block_bytes;
    const uint64_t rows = end / length - first / length;
    return (size_t)(rows * plan->row_bytes) +
           (size_t)(end % length / plan->group - first % length / plan->group) * plan->block_bytes;
}

void dti_quant_clear(const struct dti_quant_job *job)
{
    const struct dti_quant_plan *const plan = job->plan;
    const uint64_t codes = dti_quant_code_place(plan, job->first, job->n);
    if (plan->code_bits < 8)
        memset(job->codes, 0, (size_t)((codes * plan->code_bits + 7) / 8));
}
