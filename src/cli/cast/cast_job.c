/* SPDX-License-Identifier: MIT
 *
 * What a cast is asked to do: destinations, route and policies from the command line; and doing it
 * to one operand. */
#include "cli/cast/cast.h"

#include <stdlib.h>
#include <string.h>

#include "cli/shared/dtype_operands.h"
#include "dtinfo/spell.h"

/* `all`: from wide to narrow, what people train, convert and serve with. */
static const enum dti_dtype ladder[] = {
    DTI_FP64,         DTI_FP32,       DTI_TF32,     DTI_BF16,
    DTI_FP16,         DTI_FP8_E4M3FN, DTI_FP8_E5M2, DTI_FP8_E4M3FNUZ,
    DTI_FP8_E5M2FNUZ, DTI_FP8_E4M3,   DTI_FP8_E3M4, DTI_FP8_E4M3B11FNUZ,
    DTI_FP8_E8M0,     DTI_FP6_E3M2,   DTI_FP6_E2M3, DTI_FP4_E2M1,
    DTI_INT64,        DTI_INT32,      DTI_INT16,    DTI_INT8,
    DTI_UINT8,        DTI_INT4,       DTI_UINT4,
};

enum { DTYPES_MAX = 256 };

/* A name of a list that is empty or longer than any dtype's. */
static enum dti_status bad_list(const char *list, const char *name, size_t length,
                                struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    if (list[0] == '\0') {
        length = 0;
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE,
                       "an empty text is no dtype; 'dtinfo list' shows them all");
    } else if (length == 0) {
        name = list;
        length = strlen(list);
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE, "%s has a comma without a dtype beside it",
                       dti_quote(quoted, name, length));
    } else {
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE, "unknown dtype %s",
                       dti_quote(quoted, name, length));
    }
    dti_error_argument(reterr, name, length);
    return DTI_UNKNOWN_DTYPE;
}

/* Calls add(context, name) for each name of a comma-separated list. */
static enum dti_status for_each_name(const char *list,
                                     enum dti_status (*add)(struct cast_job *, const char *,
                                                            struct dti_error *),
                                     struct cast_job *job, struct dti_error *reterr)
{
    char name[128];
    const char *at = list;
    for (;;) {
        size_t length = strcspn(at, ",");
        if (length == 0 || length >= sizeof name)
            return bad_list(list, at, length, reterr);
        memcpy(name, at, length);
        name[length] = '\0';
        enum dti_status status = add(job, name, reterr);
        if (status != DTI_OK)
            return status;
        if (at[length] == '\0')
            return DTI_OK;
        at += length + 1;
    }
}

static enum dti_status lookup(struct cast_job *job, const char *name, struct dti_format *ret,
                              struct dti_error *reterr)
{
    struct dti_dtype_operand operand;
    enum dti_status status = dti_dtype_operand_read(name, NULL, job->cx, &operand, reterr);
    if (status != DTI_OK)
        return status;
    *ret = operand.format;
    if (operand.note)
        dti_cast_json_warn(job, "dtype_name", ret->name, 0, operand.note);
    return DTI_OK;
}

static enum dti_status add_via(struct cast_job *job, const char *name, struct dti_error *reterr)
{
    struct dti_format *via = &job->via[job->via_count];
    if (job->via_count == DTI_VIA_MAX)
        return dti_fail(reterr, DTI_USAGE, "--via takes at most %d dtypes", DTI_VIA_MAX);
    enum dti_status status = lookup(job, name, via, reterr);
    if (status == DTI_OK && via->kind == DTI_KIND_COMPLEX)
        return dti_fail(reterr, DTI_WRONG_KIND, "--via takes real dtypes; %s is complex; use '%s'",
                        via->name, dti_format_get(via->component)->name);
    if (status == DTI_OK)
        job->via_count++;
    return status;
}

static enum dti_status add_target(struct cast_job *job, const struct dti_format *dtype, bool named,
                                  struct dti_error *reterr)
{
    const struct cast_args *args = job->args;
    struct cast_target *target = &job->targets[job->target_count];
    struct dti_cast *cast = &target->cast;
    if (job->target_count == DTYPES_MAX)
        return dti_fail(reterr, DTI_USAGE, "at most %d dtypes at once", DTYPES_MAX);
    memset(target, 0, sizeof *target);
    target->dtype = *dtype;
    target->named = named;
    cast->dst = dtype->kind == DTI_KIND_COMPLEX ? *dti_format_get(dtype->component) : *dtype;
    cast->policy.round = (enum dti_round)args->round;
    cast->policy.overflow = (enum dti_overflow)args->overflow;
    cast->policy.nan = (enum dti_nan)args->nan;
    cast->policy.seed = args->seed;
    cast->round_given = args->round_given;
    cast->via_count = job->via_count;
    memcpy(cast->via, job->via, sizeof job->via);
    if (args->overflow == DTI_OVERFLOW_WRAP && named && !dti_format_is_integer(&cast->dst))
        return dti_fail(reterr, DTI_USAGE,
                        "--overflow wrap is for integer dtypes; %s is a float: use saturate",
                        dtype->name);
    if (args->like_given) {
        enum dti_stack stack = (enum dti_stack)args->like;
        target->rule = dti_stack_find(stack, &cast->dst);
        if (!target->rule && named)
            return dti_fail(reterr, DTI_WRONG_KIND,
                            "%s has no %s, or nothing is known of it; --stacks shows who has it",
                            dti_stack_name(stack), dtype->name);
        if (!target->rule)
            return DTI_OK;
    }
    job->target_count++;
    return DTI_OK;
}

static enum dti_status add_named_target(struct cast_job *job, const char *name,
                                        struct dti_error *reterr)
{
    struct dti_format dtype;
    enum dti_status status = DTI_OK;
    if (strcmp(name, "all") == 0) {
        for (size_t i = 0; i < sizeof ladder / sizeof ladder[0] && status == DTI_OK; i++)
            status = add_target(job, dti_format_get(ladder[i]), false, reterr);
        return status;
    }
    status = lookup(job, name, &dtype, reterr);
    return status == DTI_OK ? add_target(job, &dtype, true, reterr) : status;
}

static enum dti_status check_conflicts(const struct cast_args *args, struct dti_error *reterr)
{
    const char *clash = args->round_given      ? "--round"
                        : args->overflow_given ? "--overflow"
                        : args->nan_given      ? "--nan"
                        : args->via            ? "--via"
                                               : NULL;
    if (args->like_given && clash)
        return dti_fail(reterr, DTI_USAGE, "--like sets all policies; leave out %s", clash);
    if (args->seed_given && args->round != DTI_ROUND_STOCHASTIC)
        return dti_fail(reterr, DTI_USAGE, "--seed needs --round stochastic");
    return DTI_OK;
}

enum dti_status dti_cast_job_init(struct cast_job *ret, const struct cast_args *args,
                                  const struct dti_context *cx, const char *dtypes,
                                  struct dti_error *reterr)
{
    memset(ret, 0, sizeof *ret);
    ret->args = args;
    ret->cx = cx;
    enum dti_status status = check_conflicts(args, reterr);
    if (status == DTI_OK)
        status = dti_cast_device_read(&ret->device, args->device, reterr);
    if (status != DTI_OK)
        return status;
    ret->targets = calloc(DTYPES_MAX, sizeof *ret->targets);
    ret->results = calloc(DTYPES_MAX, sizeof *ret->results);
    ret->warnings = calloc(CAST_WARNINGS_MAX, sizeof *ret->warnings);
    if (!ret->targets || !ret->results || !ret->warnings) {
        dti_cast_job_free(ret);
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    }
    if (args->via)
        status = for_each_name(args->via, add_via, ret, reterr);
    if (status == DTI_OK)
        status = for_each_name(dtypes, add_named_target, ret, reterr);
    if (status == DTI_OK && cx->output != DTI_OUTPUT_HUMAN) {
        ret->json = dti_json_new();
        if (!ret->json)
            status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    }
    if (status != DTI_OK)
        dti_cast_job_free(ret);
    return status;
}

void dti_cast_job_free(struct cast_job *job)
{
    for (size_t i = 0; job->targets && i < job->target_count; i++) {
        dti_cross_check_free(job->targets[i].cross_check[0]);
        dti_cross_check_free(job->targets[i].cross_check[1]);
    }
    dti_cast_device_close(&job->device);
    dti_json_free(job->json);
    free(job->targets);
    free(job->results);
    free(job->warnings);
    memset(job, 0, sizeof *job);
}

/* `all` shows what has no counterpart as such; a dtype that was asked for by name deserves an
 * error. */
static enum dti_status no_nan_error(const struct dti_format *dtype, struct dti_error *reterr)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value max;
    uint64_t code = 0;
    (void)dti_code_max(dtype, &code);
    dti_decode(dtype, code, &max);
    dti_spell_stored(text, dtype, code, &max);
    return dti_fail(reterr, DTI_NOT_REPRESENTABLE,
                    "%s has no NaN; --overflow saturate stores %s in its place", dtype->name, text);
}

static enum dti_status unknown_error(const struct cast_target *target,
                                     const struct cast_operand *operand, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    return dti_fail(reterr, DTI_NOT_REPRESENTABLE, "what %s stores for %s in %s is not known: %s",
                    dti_stack_name(target->rule->stack),
                    dti_quote(quoted, operand->text, operand->length), target->dtype.name,
                    target->rule->note);
}

void dti_cast_by_rule(const struct dti_stack_rule *rule, const struct cast_operand *operand,
                      struct cast_result *ret)
{
    const struct dti_format *dst = &ret->target->cast.dst;
    ret->note = rule->note;
    ret->known = true;
    for (size_t i = 0; i < ret->components && ret->known; i++) {
        struct dti_value zero;
        const struct dti_value *value = i < operand->components ? &operand->value[i] : &zero;
        dti_value_set(&zero, false, 0, 0);
        ret->known = dti_stack_cast(rule, dst, operand->integer_literal, value, &ret->route,
                                    &ret->component[i]);
    }
}

enum dti_status dti_cast_job_run(struct cast_job *job, const struct cast_target *target,
                                 const struct cast_operand *operand, struct cast_result *ret,
                                 struct dti_error *reterr)
{
    bool complex = target->dtype.kind == DTI_KIND_COMPLEX;
    ret->target = target;
    ret->known = true;
    ret->no_code = false;
    ret->note = NULL;
    ret->device = NULL;
    ret->device_reason = NULL;
    ret->route = target->cast;
    ret->components = complex ? 2 : 1;
    if (operand->components == 2 && !complex)
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "%s is a real dtype; a complex number needs "
                        "complex64 or complex128",
                        target->dtype.name);

    if (target->rule) {
        dti_cast_by_rule(target->rule, operand, ret);
        if (!ret->known)
            return target->named ? unknown_error(target, operand, reterr)
                                 : dti_cast_device_ask(job, operand, ret, reterr);
    }
    for (size_t i = 0; i < ret->components; i++) {
        struct dti_value zero;
        const struct dti_number *number = i < operand->components ? &operand->number[i] : NULL;
        const struct dti_value *value = i < operand->components ? &operand->value[i] : &zero;
        dti_value_set(&zero, false, 0, 0);
        ret->route.policy.stream = (uint32_t)i;
        if (!target->rule)
            dti_scalar_cast(&ret->route, value, number, operand->index, &ret->component[i]);
        unsigned flags = ret->component[i].flags;
        bool refused = !target->rule && !job->args->stacks &&
                       target->cast.policy.overflow == DTI_OVERFLOW_NATIVE;
        if ((flags & DTI_FLAG_NO_NAN) && refused && target->named)
            return no_nan_error(dti_cast_stage(&ret->route, ret->component[i].no_nan_stage),
                                reterr);
        ret->no_code = ret->no_code || ((flags & DTI_FLAG_NO_NAN) && refused);
        job->flags |= flags;
    }
    return dti_cast_device_ask(job, operand, ret, reterr);
}

const char *dti_cast_result_text(const struct cast_result *result, char buffer[CAST_TEXT_SIZE])
{
    if (!result->known || result->no_code) {
        memcpy(buffer, "-", 2);
        return buffer;
    }
    const struct dti_format *f = &result->target->cast.dst;
    size_t length =
        dti_spell_stored(buffer, f, result->component[0].code, &result->component[0].stored);
    if (result->components == 2) {
        if (!result->component[1].stored.negative ||
            result->component[1].stored.class == DTI_CLASS_NAN)
            buffer[length++] = '+';
        length += dti_spell_text(buffer + length, &result->component[1].stored);
        memcpy(buffer + length, "j", 2);
    }
    return buffer;
}

const char *dti_cast_result_bits(const struct cast_result *result, char buffer[CAST_TEXT_SIZE])
{
    unsigned width = result->target->cast.dst.width;
    if (!result->known || result->no_code) {
        memcpy(buffer, "-", 2);
        return buffer;
    }
    size_t length = dti_spell_code(buffer, result->component[0].code, width);
    if (result->components == 2) { /* real part first, as in memory */
        char imaginary[DTI_TEXT_SIZE];
        size_t more = dti_spell_code(imaginary, result->component[1].code, width);
        memcpy(buffer + length, imaginary + 2, more - 1);
    }
    return buffer;
}

bool dti_cast_result_saturated(const struct cast_result *result, const struct cast_operand *operand,
                               char ret_text[DTI_TEXT_SIZE])
{
    struct dti_cast cast = result->route;
    struct dti_scalar other;
    if (!result->known || result->components != 1 || operand->value[0].class == DTI_CLASS_NAN ||
        dti_format_is_integer(&cast.dst) || !(result->component[0].flags & DTI_FLAG_OVERFLOW))
        return false;
    cast.policy.overflow = DTI_OVERFLOW_SATURATE;
    dti_scalar_store(&cast, &operand->value[0], &operand->number[0], operand->index, &other);
    if (other.code == result->component[0].code)
        return false;
    dti_spell_text(ret_text, &other.stored);
    return true;
}
