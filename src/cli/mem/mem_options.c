/* SPDX-License-Identifier: MIT
 *
 * What --train and --fit ask for. */
#include <string.h>

#include "cli/mem/mem_job.h"
#include "dtinfo/ascii.h"
#include "dtinfo/checked.h"

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
    *ret =
        (struct overrides){.no_master = args->mem.master && strcmp(args->mem.master, "none") == 0};
    if (args->mem.gradients)
        status = read_float(job, "--gradients", args->mem.gradients, &ret->gradients, reterr);
    if (status == DTI_OK && args->mem.master && !ret->no_master)
        status = read_float(job, "--master", args->mem.master, &ret->master, reterr);
    if (status == DTI_OK && args->mem.states)
        status = read_float(job, "--states", args->mem.states, &ret->state, reterr);
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
    if (job->args->mem.states && row->block > 0)
        return dti_fail(reterr, DTI_USAGE,
                        "the states of %s are codes of 8 bits; leave --states out", row->name);
    return DTI_OK;
}

static enum dti_status train(struct mem_job *job, const struct overrides *overrides,
                             enum dti_training training, const struct dti_stored *weights,
                             struct dti_error *reterr)
{
    const struct mem_args *const args = job->args;
    struct dti_training_plan plan;
    const enum dti_status status = check_plan(job, weights, dti_training_get(training), reterr);
    if (status != DTI_OK)
        return status;
    dti_training_defaults(&plan, training, weights);
    if (args->mem.gradients)
        plan.gradients = overrides->gradients;
    if (args->mem.master)
        plan.has_master = !overrides->no_master;
    if (args->mem.master && plan.has_master)
        plan.master = overrides->master;
    if (args->mem.states)
        plan.state = overrides->state;
    return dti_mem_add_training(&job->mem, &plan, reterr);
}

enum dti_status dti_mem_train(struct mem_job *job, struct dti_error *reterr)
{
    struct overrides overrides;
    enum dti_status status = read_overrides(job, &overrides, reterr);
    for (size_t i = 0; i < job->mem.size_count && status == DTI_OK; i++) {
        for (unsigned t = 0; t < DTI_TRAINING_COUNT && status == DTI_OK; t++) {
            if (job->args->train & 1 << t)
                status =
                    train(job, &overrides, (enum dti_training)t, &job->mem.sizes[i].as, reterr);
        }
    }
    return status;
}

/* digits[.digits] as an integer and how many digits are behind the point. */
static bool read_decimal(const char **text, size_t *length, uint64_t *ret_digits,
                         uint64_t *ret_scale)
{
    uint64_t digits = 0, scale = 1;
    size_t seen = 0;
    bool behind = false;
    for (; *length > 0 && (dti_ascii_digit(**text) || (**text == '.' && !behind));
         (*text)++, (*length)--) {
        if (**text == '.') {
            behind = true;
            continue;
        }
        seen++;
        if (!dti_mul_u64(digits, 10, &digits) ||
            !dti_add_u64(digits, (uint64_t)(**text - '0'), &digits) ||
            (behind && !dti_mul_u64(scale, 10, &scale)))
            return false;
    }
    *ret_digits = digits;
    *ret_scale = scale;
    return seen > 0;
}

static enum dti_status read_bytes(const char *text, uint64_t *ret_bytes, struct dti_error *reterr)
{
    static const struct {
        const char *name;
        uint64_t factor;
    } units[] = {
        {"", 1},
        {"B", 1},
        {"kB", 1000},
        {"MB", 1000000},
        {"GB", 1000000000},
        {"TB", UINT64_C(1000000000000)},
        {"KiB", 1 << 10},
        {"MiB", 1 << 20},
        {"GiB", 1 << 30},
        {"TiB", UINT64_C(1) << 40},
    };
    const char *at = text;
    size_t length = strlen(text);
    uint64_t digits, scale, product;
    char quoted[DTI_QUOTE_SIZE];
    if (read_decimal(&at, &length, &digits, &scale) && digits > 0) {
        if (length > 0 && *at == ' ')
            at++, length--;
        for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
            if (dti_ascii_equal(at, units[i].name) &&
                dti_mul_u64(digits, units[i].factor, &product) && product >= scale) {
                *ret_bytes = product / scale;
                return DTI_OK;
            }
        }
    }
    (void)dti_fail(reterr, DTI_USAGE,
                   "--fit takes a device (cpu, cuda:0, auto) or bytes, as in 80GB or 24GiB; %s is "
                   "neither",
                   dti_quote(quoted, text, strlen(text)));
    dti_error_argument(reterr, text, strlen(text));
    return DTI_USAGE;
}

static enum dti_status capacity_of_device(struct dti_mem_capacity *ret, const char *text,
                                          struct dti_error *reterr)
{
    struct dti_device_wish wish;
    char quoted[DTI_QUOTE_SIZE];
    enum dti_status status = dti_device_wish_parse(&wish, text, reterr);
    if (status == DTI_OK && wish.kind == DTI_DEVICE_ALL)
        return dti_fail(reterr, DTI_USAGE,
                        "--fit takes one device (cpu, cuda:0, auto) or bytes, as in 80GB or 24GiB");
    if (status == DTI_OK)
        status = dti_mem_device_capacity(ret, &wish, text, reterr);
    if (status != DTI_OK || ret->bytes != DTI_UNKNOWN)
        return status;
    if (strcmp(ret->device, "cpu") == 0)
        return dti_fail(reterr, DTI_UNAVAILABLE,
                        "this system does not tell how much memory is free; give bytes, as in "
                        "--fit 64GiB");
    return dti_fail(reterr, DTI_UNAVAILABLE, "device %s does not tell its memory; give bytes",
                    dti_quote(quoted, text, strlen(text)));
}

enum { FEW_BYTES = 1 << 20 }; /* a number without a unit that is smaller probably lacks it */

enum dti_status dti_mem_capacity(struct mem_job *job, struct dti_error *reterr)
{
    const char *const text = job->args->mem.fit;
    struct dti_mem_capacity *const capacity = &job->mem.capacity;
    if (!text)
        return DTI_OK;
    if (!dti_mem_is_amount(text))
        return capacity_of_device(capacity, text, reterr);
    *capacity = (struct dti_mem_capacity){.asked = true, .all = DTI_UNKNOWN};
    const enum dti_status status = read_bytes(text, &capacity->bytes, reterr);
    if (status == DTI_OK && capacity->bytes < FEW_BYTES && dti_ascii_digit(text[strlen(text) - 1]))
        dti_warn(job->cx, "--fit %s is %llu bytes; for gigabytes write %sGB or %sGiB", text,
                 (unsigned long long)capacity->bytes, text, text);
    return status;
}
