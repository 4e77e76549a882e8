/* SPDX-License-Identifier: MIT
 *
 * Groups along the last axis that have a bias instead of a zero point, and the way back. Biases
 * are in the array of zero points, as floats. */
#include "convert/quant_plan_parts.h"

static struct dti_biased_args args_of(const struct dti_quant_plan *plan)
{
    return (struct dti_biased_args){.number = plan->biased_number,
                                    .group = (size_t)plan->group,
                                    .bits = plan->request.scheme.affine.affine.code.width};
}

static float *floats_at(void *array, uint64_t place)
{
    return (float *)(void *)((unsigned char *)array + place * sizeof(float));
}

void dti_quant_run_biased(const struct dti_quant_job *job)
{
    const struct dti_quant_plan *const plan = job->plan;
    const struct dti_biased_args args = args_of(plan);
    const bool packed = plan->code_bits < 8;
    for (size_t at = 0, part; at < job->n; at += part) {
        part = job->n - at < DTI_QUANT_TILE ? job->n - at : DTI_QUANT_TILE;
        const float *const x = dti_quant_load(plan, job->numbers, at, part, job->scratch->x);
        const uint64_t place = at / plan->group;
        plan->biased->run.biased(&args, packed ? job->scratch->codes : job->codes + at,
                                 floats_at(job->scales, place), floats_at(job->zero_points, place),
                                 x, part, job->count);
        if (packed)
            dti_quant_put(plan, job->codes, at, job->scratch->codes, part, false);
    }
}

void dti_quant_back_biased(const struct dti_quant_job *job, size_t at, size_t n, float *y)
{
    const struct dti_quant_plan *const plan = job->plan;
    struct dti_biased_args args = args_of(plan);
    for (size_t done = 0, part; done < n; done += part) {
        const unsigned char *codes = job->codes + at + done;
        const uint64_t place = (at + done) / plan->group;
        part = n - done < DTI_QUANT_TILE ? n - done : DTI_QUANT_TILE;
        if (plan->code_bits < 8) {
            dti_quant_get(plan, job->scratch->codes, job->codes, at + done, part);
            codes = job->scratch->codes;
        }
        args.scales = floats_at(job->scales, place);
        args.biases = floats_at(job->zero_points, place);
        plan->biased_back->run.biased_back(&args, floats_at(y, done), codes, part);
    }
}
