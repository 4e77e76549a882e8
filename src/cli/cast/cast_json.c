/* SPDX-License-Identifier: MIT
 *
 * Cast results as JSON: schema dtinfo.cast/1. */
#include <string.h>

#include "cli/cast/cast.h"
#include "cli/shared/choices.h"
#include "cli/shared/number_json.h"
#include "dtinfo/spell.h"

static void put_names(struct dti_json *json, const char *key, const struct dti_format *formats,
                      size_t count)
{
    char list[DTI_VIA_MAX * DTI_NAME_SIZE];
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        size_t more = strlen(formats[i].name);
        if (i > 0)
            list[length++] = ',';
        memcpy(list + length, formats[i].name, more);
        length += more;
    }
    dti_json_text(json, key, count > 0 ? list : NULL, length);
}

static void put_choice(struct dti_json *json, const char *key, const struct dti_choice *table,
                       int value)
{
    const char *name = dti_choice_name(table, value);
    dti_json_string(json, key, name);
}

static void put_policy(struct dti_json *json, const struct dti_policy *policy)
{
    put_choice(json, "round", dti_choice_round, (int)policy->round);
    put_choice(json, "overflow", dti_choice_overflow, (int)policy->overflow);
    put_choice(json, "nan", dti_choice_nan, (int)policy->nan);
}

/* As text too: many readers hold a number in fp64, which does not have all of its digits. */
static void put_seed(struct dti_json *json, const struct cast_args *args)
{
    char text[DTI_TEXT_SIZE];
    if (args->round != DTI_ROUND_STOCHASTIC) {
        dti_json_null(json, "seed");
        dti_json_null(json, "seed_text");
        return;
    }
    dti_spell_u64(text, args->seed);
    dti_json_uint(json, "seed", args->seed);
    dti_json_string(json, "seed_text", text);
}

void dti_cast_json_options(const struct cast_job *job, const struct dti_policy *policy)
{
    const struct cast_args *args = job->args;
    struct dti_json *json = job->json;
    dti_json_object(json, "options");
    if (args->like_given) { /* the policies then differ from dtype to dtype */
        dti_json_null(json, "round");
        dti_json_null(json, "overflow");
        dti_json_null(json, "nan");
    } else {
        put_policy(json, policy);
    }
    put_names(json, "via", job->via, job->via_count);
    if (args->like_given)
        put_choice(json, "like", dti_choice_stack, args->like);
    else
        dti_json_null(json, "like");
    put_seed(json, args);
    dti_json_end(json);
}

void dti_cast_json_begin(struct cast_job *job)
{
    const struct cast_args *args = job->args;
    const struct dti_policy policy = {.round = (enum dti_round)args->round,
                                      .overflow = (enum dti_overflow)args->overflow,
                                      .nan = (enum dti_nan)args->nan};
    dti_json_begin(job->json, "dtinfo.cast/1");
    dti_cast_json_options(job, &policy);
    dti_json_array(job->json, "results");
    if (job->cx->output == DTI_OUTPUT_JSON && !job->single)
        dti_json_stream(job->json, job->cx->out);
    job->open = true;
}

static enum dti_status put_input(struct dti_json *json, const struct cast_operand *operand,
                                 struct dti_error *reterr)
{
    struct dti_buffer exact;
    dti_buffer_init(&exact);
    dti_json_object(json, "input");
    dti_json_text(json, "text", operand->text, operand->length);
    bool finite = operand->components == 1 && (operand->value[0].class == DTI_CLASS_ZERO ||
                                               operand->value[0].class == DTI_CLASS_FINITE);
    bool has_exact = finite && dti_number_exact(&operand->number[0], &exact);
    dti_json_text(json, "exact", has_exact ? exact.data : NULL, exact.length);
    dti_json_end(json);
    bool failed = exact.failed;
    dti_buffer_free(&exact);
    return failed ? dti_fail(reterr, DTI_NO_MEMORY, "out of memory") : DTI_OK;
}

static void put_rounded(struct dti_json *json, const char *key, const struct dti_value *value)
{
    char text[DTI_TEXT_SIZE];
    size_t length = value->class <= DTI_CLASS_FINITE ? dti_spell_rounded(text, value) : 0;
    bool lost = value->class == DTI_CLASS_FINITE && length > 0 && text[text[0] == '-'] == '0' &&
                length == 1u + (text[0] == '-');
    bool fits = length > 0 && text[length - 1] != 'f' && !lost; /* "inf" and "0": beyond fp64 */
    dti_json_number(json, key, fits ? text : NULL, length);
}

static enum dti_status put_error(struct dti_json *json, const struct cast_operand *operand,
                                 size_t part, const struct dti_scalar *scalar,
                                 struct dti_error *reterr)
{
    struct dti_difference difference;
    struct dti_buffer exact;
    bool has_exact;
    bool finite =
        scalar->has_step && part < operand->components &&
        (scalar->input.class == DTI_CLASS_ZERO || scalar->input.class == DTI_CLASS_FINITE);
    if (!finite) {
        dti_json_null(json, "error");
        return DTI_OK;
    }
    dti_buffer_init(&exact);
    bool done = dti_number_difference(&operand->number[part], &scalar->stored, &difference, &exact,
                                      &has_exact) &&
                !exact.failed;
    if (done) {
        struct dti_value ulp = dti_scalar_ulps(scalar, &difference.absolute);
        dti_json_object(json, "error");
        put_rounded(json, "absolute", &difference.absolute);
        dti_json_text(json, "absolute_exact", has_exact ? exact.data : NULL, exact.length);
        put_rounded(json, "relative", &difference.relative);
        put_rounded(json, "ulp", &ulp);
        dti_json_end(json);
    }
    dti_buffer_free(&exact);
    return done ? DTI_OK : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

static void put_neighbour(struct dti_json *json, const char *key, const struct dti_format *f,
                          bool there, uint64_t code)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value value;
    if (!there) {
        dti_json_null(json, key);
        return;
    }
    dti_decode(f, code, &value);
    dti_json_object(json, key);
    dti_json_number_text(json, f, code, &value);
    dti_json_text(json, "bits", text, dti_spell_code(text, code, f->width));
    dti_json_end(json);
}

static void put_flags(struct dti_json *json, unsigned flags)
{
    dti_json_bool(json, "exact_match", !(flags & DTI_FLAG_INEXACT));
    dti_json_bool(json, "overflow", (flags & DTI_FLAG_OVERFLOW) != 0);
    dti_json_bool(json, "underflow", (flags & DTI_FLAG_UNDERFLOW) != 0);
    dti_json_bool(json, "saturated", (flags & DTI_FLAG_SATURATED) != 0);
    dti_json_bool(json, "invalid", (flags & DTI_FLAG_INVALID) != 0);
}

/* The members of one real number in one dtype. */
static enum dti_status put_scalar(struct dti_json *json, const struct cast_operand *operand,
                                  size_t part, const struct dti_format *f,
                                  const struct dti_scalar *scalar, struct dti_error *reterr)
{
    static const char *const directions[] = {"down", "none", "up"};
    const char *direction = directions[dti_scalar_direction(scalar) + 1];
    const char *class = dti_number_class_name(dti_code_class(f, scalar->code));
    char text[DTI_TEXT_SIZE];

    enum dti_status status =
        dti_json_number_members(json, f, scalar->code, &scalar->stored, reterr);
    if (status != DTI_OK)
        return status;
    dti_json_fields(json, f, scalar->code);
    dti_json_string(json, "class", class);
    put_flags(json, scalar->flags);
    dti_json_string(json, "direction", direction);
    status = put_error(json, operand, part, scalar, reterr);
    if (status != DTI_OK)
        return status;

    struct dti_value step;
    dti_value_set(&step, false, scalar->has_step, scalar->step_exponent);
    bool has_step = scalar->has_step && dti_value_fits_json(&step);
    size_t length = has_step ? dti_spell_text(text, &step) : 0;
    dti_json_number(json, "step", has_step ? text : NULL, length);
    put_neighbour(json, "below", f, scalar->has_below, scalar->below);
    put_neighbour(json, "above", f, scalar->has_above, scalar->above);
    return DTI_OK;
}

/* A result without a single number of its own: complex, or unknown. */
static void put_no_number(struct dti_json *json, const char *text, const char *bits)
{
    dti_json_null(json, "value");
    dti_json_string(json, "text", text);
    dti_json_null(json, "shortest");
    dti_json_null(json, "exact");
    dti_json_null(json, "hexfloat");
    dti_json_string(json, "bits", bits);
    dti_json_null(json, "fields");
    dti_json_null(json, "class");
}

static void put_no_context(struct dti_json *json)
{
    dti_json_null(json, "direction");
    dti_json_null(json, "error");
    dti_json_null(json, "step");
    dti_json_null(json, "below");
    dti_json_null(json, "above");
}

static enum dti_status put_complex(struct dti_json *json, const struct cast_operand *operand,
                                   const struct cast_result *result, struct dti_error *reterr)
{
    static const char *const names[] = {"real", "imaginary"};
    char text[CAST_TEXT_SIZE], bits[CAST_TEXT_SIZE];
    enum dti_status status = DTI_OK;
    put_no_number(json, dti_cast_result_text(result, text), dti_cast_result_bits(result, bits));
    put_flags(json, result->component[0].flags | result->component[1].flags);
    put_no_context(json);
    for (size_t i = 0; i < 2 && status == DTI_OK; i++) {
        dti_json_object(json, names[i]);
        status =
            put_scalar(json, operand, i, &result->target->cast.dst, &result->component[i], reterr);
        dti_json_end(json);
    }
    return status;
}

static void put_unknown(struct dti_json *json)
{
    static const char *const flags[] = {"exact_match", "overflow", "underflow", "saturated",
                                        "invalid"};
    put_no_number(json, NULL, NULL);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        dti_json_null(json, flags[i]);
    put_no_context(json);
}

static void put_route(struct dti_json *json, const struct cast_result *result)
{
    dti_json_object(json, "policy");
    put_names(json, "via", result->route.via, result->route.via_count);
    put_policy(json, &result->route.policy);
    dti_json_string(json, "note", result->note);
    dti_json_end(json);
}

enum dti_status dti_cast_json_result(const struct cast_job *job, const struct cast_operand *operand,
                                     const struct cast_result *result, struct dti_error *reterr)
{
    struct dti_json *json = job->json;
    const struct dti_format *dtype = &result->target->dtype;
    dti_json_object(json, NULL);
    enum dti_status status = put_input(json, operand, reterr);
    dti_json_string(json, "dtype", dtype->name);
    if (status == DTI_OK && (!result->known || result->no_code))
        put_unknown(json);
    else if (status == DTI_OK && result->components == 2)
        status = put_complex(json, operand, result, reterr);
    else if (status == DTI_OK)
        status = put_scalar(json, operand, 0, dtype, &result->component[0], reterr);
    dti_json_string(json, "device", result->device);
    dti_json_string(json, "device_reason", result->device_reason);
    if (result->target->rule)
        put_route(json, result);
    if (status == DTI_OK && job->args->digits_given) {
        struct dti_buffer digits;
        dti_buffer_init(&digits);
        status = dti_cast_digits_append(&digits, result, (size_t)job->args->digits);
        dti_json_text(json, "digits", digits.data, digits.length);
        dti_buffer_free(&digits);
        if (status != DTI_OK)
            status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    }
    if (job->args->stacks)
        dti_cast_json_stacks(job, operand, result);
    dti_json_end(json);
    return status;
}

void dti_cast_json_warn(struct cast_job *job, const char *code, const char *dtype, uint64_t line,
                        const char *message)
{
    if (job->warning_total++ >= CAST_WARNINGS_MAX)
        return;
    struct cast_warning *warning = &job->warnings[job->warning_count++];
    warning->code = code;
    (void)snprintf(warning->dtype, sizeof warning->dtype, "%s", dtype ? dtype : "");
    warning->line = line;
    (void)snprintf(warning->message, sizeof warning->message, "%s", message);
}

void dti_cast_json_hints(struct cast_job *job, const struct cast_operand *operand)
{
    char text[DTI_TEXT_SIZE], message[DTI_TEXT_SIZE + DTI_NAME_SIZE + 40];
    for (size_t i = 0; i < job->target_count; i++) {
        const char *dtype = job->targets[i].dtype.name;
        if (!dti_cast_result_saturated(&job->results[i], operand, text))
            continue;
        (void)snprintf(message, sizeof message, "%s: --overflow saturate gives %s", dtype, text);
        dti_cast_json_warn(job, "saturate_differs", dtype, 0, message);
    }
}

static void put_warning(struct dti_json *json, const struct cast_warning *warning)
{
    const char *dtype = warning->dtype[0] != '\0' ? warning->dtype : NULL;
    dti_json_warning(json, warning->code, dtype, warning->line, warning->message);
}

enum dti_status dti_cast_json_close(struct cast_job *job, struct dti_error *reterr)
{
    struct dti_json *json = job->json;
    dti_json_array(json, "warnings");
    for (size_t i = 0; i < job->warning_count; i++)
        put_warning(json, &job->warnings[i]);
    if (job->warning_total > job->warning_count) {
        char more[64];
        (void)snprintf(more, sizeof more, "%zu more warnings are left out",
                       job->warning_total - job->warning_count);
        dti_json_warning(json, "more_warnings", NULL, 0, more);
    }
    dti_json_end(json);
    job->warning_count = job->warning_total = 0;
    job->open = false;
    return dti_json_write(json, job->cx->out, reterr);
}

enum dti_status dti_cast_json_end(struct cast_job *job, struct dti_error *reterr)
{
    dti_json_end(job->json);
    return dti_cast_json_close(job, reterr);
}
