/* SPDX-License-Identifier: MIT
 *
 * Sums over all arrays: what their numbers take as each dtype, and what training takes. */
#include <stdlib.h>
#include <string.h>

#include "cli/mem/mem.h"
#include "dtinfo/checked.h"

static enum dti_status too_large(const struct mem_job *job, const char *dtype,
                                 struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_BAD_VALUE, "%llu numbers take more bytes in %s than 64 bits count",
                    (unsigned long long)job->numbers, dtype);
}

static bool sum_size(const struct mem_job *job, struct mem_size *size)
{
    if (size->as_stored) {
        size->numbers.bytes = job->stored_bytes - job->other_bytes;
        size->bytes = job->stored_bytes;
        return true;
    }
    for (size_t i = 0; i < job->item_count; i++) {
        const struct mem_item *const item = &job->items[i];
        struct dti_footprint footprint;
        if (item->takes_dtype && (!dti_footprint_of(&size->as, &item->extent, &footprint) ||
                                  !dti_footprint_add(&size->numbers, &footprint)))
            return false;
    }
    return dti_add_u64(size->numbers.bytes, job->other_bytes, &size->bytes);
}

enum dti_status dti_mem_sum(struct mem_job *job, struct dti_error *reterr)
{
    for (size_t i = 0; i < job->size_count; i++) {
        if (!sum_size(job, &job->sizes[i]))
            return too_large(job, dti_stored_name(&job->sizes[i].as), reterr);
    }
    return DTI_OK;
}

/* A dtype of --gradients and the like. */
static enum dti_status read_float(const struct mem_job *job, const char *option, const char *name,
                                  struct dti_format *ret, struct dti_error *reterr)
{
    const char *note;
    const enum dti_status status = dti_format_lookup(name, ret, &note, reterr);
    if (status != DTI_OK)
        return status;
    if (ret->kind != DTI_KIND_FLOAT) {
        (void)dti_fail(reterr, DTI_WRONG_KIND, "%s takes a float dtype; %s is not", option,
                       ret->name);
        dti_error_argument(reterr, name, strlen(name));
        return DTI_WRONG_KIND;
    }
    if (note)
        dti_warn(job->cx, "%s", note);
    return DTI_OK;
}

/* What the options say instead of the defaults. */
struct overrides {
    bool no_master;
    struct dti_format gradients, master, state;
};

static enum dti_status read_overrides(const struct mem_job *job, struct overrides *ret,
                                      struct dti_error *reterr)
{
    const struct mem_args *const args = job->args;
    enum dti_status status = DTI_OK;
    *ret = (struct overrides){.no_master = args->master && strcmp(args->master, "none") == 0};
    if (args->gradients)
        status = read_float(job, "--gradients", args->gradients, &ret->gradients, reterr);
    if (status == DTI_OK && args->master && !ret->no_master)
        status = read_float(job, "--master", args->master, &ret->master, reterr);
    if (status == DTI_OK && args->states)
        status = read_float(job, "--states", args->states, &ret->state, reterr);
    return status;
}

static enum dti_status check_plan(const struct mem_job *job, const struct dti_stored *weights,
                                  const struct dti_training_row *row, struct dti_error *reterr)
{
    if (!weights->block && weights->format.kind == DTI_KIND_COMPLEX)
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "training of %s weights is not accounted for; say %s, and twice the "
                        "parameters",
                        weights->format.name, dti_format_get(weights->format.component)->name);
    if (job->args->states && row->block > 0)
        return dti_fail(reterr, DTI_USAGE,
                        "the states of %s are codes of 8 bits; leave --states out", row->name);
    return DTI_OK;
}

static enum dti_status train(const struct mem_job *job, const struct overrides *overrides,
                             enum dti_training training, const struct dti_stored *weights,
                             struct mem_training *ret, struct dti_error *reterr)
{
    const struct mem_args *const args = job->args;
    const enum dti_status status = check_plan(job, weights, dti_training_get(training), reterr);
    if (status != DTI_OK)
        return status;
    *ret = (struct mem_training){.bytes = job->other_bytes};
    struct dti_training_plan *const plan = &ret->plan;
    dti_training_defaults(plan, training, weights);
    if (args->gradients)
        plan->gradients = overrides->gradients;
    if (args->master)
        plan->has_master = !overrides->no_master;
    if (args->master && plan->has_master)
        plan->master = overrides->master;
    if (args->states)
        plan->state = overrides->state;
    bool fits = true;
    for (size_t i = 0; i < job->item_count && fits; i++)
        fits =
            !job->items[i].takes_dtype || dti_training_add(plan, &job->items[i].extent, ret->parts);
    for (unsigned part = 0; part < DTI_TRAINING_PARTS && fits; part++)
        fits = dti_add_u64(ret->bytes, ret->parts[part].bytes, &ret->bytes);
    return fits ? DTI_OK : too_large(job, "training", reterr);
}

enum dti_status dti_mem_train(struct mem_job *job, struct dti_error *reterr)
{
    struct overrides overrides;
    enum dti_status status = read_overrides(job, &overrides, reterr);
    if (status != DTI_OK)
        return status;
    job->trainings = calloc(job->size_count * DTI_TRAINING_COUNT, sizeof *job->trainings);
    if (!job->trainings)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < job->size_count && status == DTI_OK; i++) {
        for (unsigned t = 0; t < DTI_TRAINING_COUNT && status == DTI_OK; t++) {
            if (job->args->train & 1 << t)
                status = train(job, &overrides, (enum dti_training)t, &job->sizes[i].as,
                               &job->trainings[job->training_count++], reterr);
        }
    }
    return status;
}
