/* SPDX-License-Identifier: MIT
 *
 * Expressions over arrays of the caller, which they name. */
#include "dtinfo/array.h"

#include <math.h>
#include <string.h>

#include "answers/calc/calc_answer.h"
#include "core/dtype/storage.h"
#include "library/context.h"
#include "util/checked.h"
#include "util/run/allocate.h"

static const struct dti_layout unpacked = {.packing = DTI_PACKING_BYTES};

/* A call: what it was given, and what it has made. */
struct evaluation {
    const char *text;
    size_t length;
    struct dti_calc_spec spec;
    struct dti_calc_options options;
    struct dti_operand *operands;
    const char **names; /* of the operands; NULL after the last */
    struct dti_calc_output output;
};

static enum dti_status out_of_range(struct dti_error *reterr, const char *member, int value)
{
    return dti_fail(reterr, DTI_USAGE, "dti_calc_spec.%s is %d, which is no enumerator", member,
                    value);
}

static enum dti_status check_operand(const struct dti_operand *operand, struct dti_error *reterr)
{
    uint64_t count = 1;
    bool fits = operand->rank <= DTI_RANK_MAX;
    if (!operand->name || !operand->format)
        return dti_fail(reterr, DTI_USAGE, "an operand lacks a name or a format");
    for (size_t i = 0; i < operand->rank && fits; i++)
        fits = dti_mul_u64(count, operand->shape[i], &count);
    if (!fits)
        return dti_fail_word(reterr, DTI_BAD_VALUE, operand->name, strlen(operand->name),
                             "the shape of %.40s has more than %d dimensions or 2^64 elements",
                             operand->name, DTI_RANK_MAX);
    if (!operand->codes && count > 0)
        return dti_fail_word(reterr, DTI_USAGE, operand->name, strlen(operand->name),
                             "the codes of %.40s are NULL", operand->name);
    return DTI_OK;
}

static enum dti_status take_operands(struct evaluation *e, struct dti_error *reterr)
{
    const struct dti_calc_spec *const spec = &e->spec;
    const unsigned char *at = (const unsigned char *)spec->operands;
    e->operands = dti_calloc(spec->operand_count + 1, sizeof *e->operands);
    e->names = dti_calloc(spec->operand_count + 1, sizeof *e->names);
    if (!e->operands || !e->names)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < spec->operand_count; i++) {
        struct dti_operand *const operand = &e->operands[i];
        size_t size;
        memcpy(&size, spec->operands, sizeof size);
        if (!dti_struct_take(operand, sizeof *operand, at))
            return dti_struct_newer(reterr, "dti_operand");
        const enum dti_status status = check_operand(operand, reterr);
        if (status != DTI_OK)
            return status;
        e->names[i] = operand->name;
        at += size;
    }
    return DTI_OK;
}

/* Copies an operand's codes: dti_calc_options.load. */
static enum dti_status load(void *context, const char *name, const char *tensor,
                            struct dti_calc_taker *taker, struct dti_calc_array *ret,
                            struct dti_error *reterr)
{
    const struct evaluation *const e = (const struct evaluation *)context;
    const struct dti_operand *operand = e->operands;
    (void)tensor, (void)taker;
    while (strcmp(operand->name, name) != 0)
        operand++;
    const struct dti_format *const format = operand->format;
    *ret = (struct dti_calc_array){.format = *format, .rank = (unsigned)operand->rank, .count = 1};
    for (size_t i = 0; i < operand->rank; i++) {
        ret->shape[i] = operand->shape[i];
        ret->count *= (size_t)operand->shape[i];
    }
    if (ret->count > DTI_CALC_ELEMENTS_MAX)
        return dti_fail(reterr, DTI_BAD_VALUE,
                        "%.40s has %zu elements; all arrays together may have %d", name, ret->count,
                        DTI_CALC_ELEMENTS_MAX);
    if (format->kind == DTI_KIND_COMPLEX)
        return dti_fail_word(reterr, DTI_WRONG_KIND, name, strlen(name),
                             "%.40s holds %s, which has no arithmetic here", name, format->name);
    const size_t bytes = ret->count * dti_calc_code_bytes(format);
    ret->codes = dti_calc_codes_new(format, ret->count);
    if (!ret->codes)
        return dti_no_memory(reterr);
    if (dti_format_container(format) * 8 == format->width && format->kind != DTI_KIND_BOOL) {
        if (bytes > 0)
            memcpy(ret->codes, operand->codes, bytes);
        return DTI_OK;
    }
    for (size_t i = 0; i < ret->count; i++) {
        const uint64_t code = dti_storage_get(format, &unpacked, operand->codes, i);
        dti_calc_put(ret, i, format->kind == DTI_KIND_BOOL ? code != 0 : code);
    }
    return DTI_OK;
}

static enum dti_status check_policies(const struct dti_calc_spec *spec, struct dti_error *reterr)
{
    if (!spec->format)
        return dti_fail(reterr, DTI_USAGE, "dti_calc_spec.format is NULL");
    if ((unsigned)spec->round > DTI_ROUND_STOCHASTIC)
        return out_of_range(reterr, "round", (int)spec->round);
    if ((unsigned)spec->overflow > DTI_OVERFLOW_WRAP)
        return out_of_range(reterr, "overflow", (int)spec->overflow);
    if ((unsigned)spec->nan > DTI_NAN_CANONICAL)
        return out_of_range(reterr, "nan", (int)spec->nan);
    for (int i = 0; i < 2; i++) {
        const struct dti_format *const format = i == 0 ? spec->format : spec->accumulate;
        if (format && format->kind == DTI_KIND_COMPLEX)
            return dti_fail_word(reterr, DTI_WRONG_KIND, format->name, strlen(format->name),
                                 "expressions are real, and %s is complex; use '%s'", format->name,
                                 dti_real_format(format)->name);
    }
    if (spec->accumulate && dti_calc_drops_fractions(spec->format, spec->accumulate))
        return dti_fail_word(reterr, DTI_WRONG_KIND, spec->accumulate->name,
                             strlen(spec->accumulate->name),
                             "the accumulator %s drops the fractions of %s; use a float such as "
                             "fp32",
                             spec->accumulate->name, spec->format->name);
    return DTI_OK;
}

static enum dti_status take_spec(struct evaluation *e, const struct dti_calc_spec *given,
                                 struct dti_error *reterr)
{
    struct dti_calc_spec *const spec = &e->spec;
    struct dti_calc_options *const options = &e->options;
    if (!dti_struct_take(spec, sizeof *spec, given))
        return dti_struct_newer(reterr, "dti_calc_spec");
    const enum dti_status status = check_policies(spec, reterr);
    if (status != DTI_OK)
        return status;
    *options = (struct dti_calc_options){
        .policy = {.round = spec->round_given ? spec->round : DTI_ROUND_NEAREST_EVEN,
                   .overflow = spec->overflow,
                   .nan = spec->nan,
                   .seed = spec->seed},
        .round_given = spec->round_given,
        .flush = spec->flush,
        .fma = spec->fma,
        .accumulates = spec->accumulate != NULL,
        .accumulate = spec->accumulate ? *spec->accumulate : *spec->format,
        .block = 1,
        .truth = spec->truth ? DTI_CALC_TRUTH_YES : DTI_CALC_TRUTH_NO,
        .load = load,
        .load_context = e};
    if (spec->order && !dti_calc_order_read(spec->order, &options->order, &options->block))
        return dti_fail_word(reterr, DTI_UNKNOWN_OPTION, spec->order, strlen(spec->order),
                             "the order of a sum is sequential, pairwise, blocked:N (N from 1 on) "
                             "or kahan; got %s",
                             DTI_QUOTED(spec->order, strlen(spec->order)));
    return take_operands(e, reterr);
}

static double to_double(const struct dti_value *value)
{
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_outcome outcome;
    double number;
    dti_encode(dti_format_get(DTI_FP64), value, &nearest, 0, &outcome);
    memcpy(&number, &outcome.code, sizeof number);
    return number;
}

static char *kept_text(struct dti_buffer *buffer)
{
    return buffer->failed ? NULL : dti_strdup(buffer->data);
}

static enum dti_status give_truth(struct dti_calc_output *output,
                                  const struct dti_calc_result *result, struct dti_error *reterr)
{
    struct dti_calc_true truth;
    struct dti_buffer text;
    size_t worst = 0;
    output->has_truth = dti_calc_worst(result, &worst, &output->different);
    if (!output->has_truth || output->count == 0)
        return DTI_OK;
    output->worst = worst;
    dti_calc_true_get(result, worst, &truth);
    const bool measured = truth.has_error && truth.relative.kind <= DTI_CLASS_FINITE;
    if (output->different > 0)
        output->max_relative = measured ? fabs(to_double(&truth.relative)) : INFINITY;
    if (!truth.known)
        return DTI_OK;
    dti_buffer_init(&text);
    const bool spelled = dti_calc_true_text(result, worst, &text);
    output->worst_truth = spelled ? kept_text(&text) : NULL;
    const bool failed = text.failed || (spelled && !output->worst_truth);
    dti_buffer_free(&text);
    return failed ? dti_no_memory(reterr) : DTI_OK;
}

static enum dti_status give_first(struct dti_calc_output *output,
                                  const struct dti_calc_result *result, struct dti_error *reterr)
{
    struct dti_buffer text;
    if (!result->went_wrong)
        return DTI_OK;
    dti_buffer_init(&text);
    dti_calc_sentence(&text, result, &result->first_step, &result->first);
    output->first = kept_text(&text);
    dti_buffer_free(&text);
    return output->first ? DTI_OK : dti_no_memory(reterr);
}

/* Moves the codes of the result. */
static enum dti_status give_result(struct dti_calc_output *output, struct dti_calc_result *result,
                                   struct dti_error *reterr)
{
    const struct dti_format *const format = &result->value.format;
    const uint64_t *const events = result->events;
    output->rank = result->value.rank;
    output->count = result->value.count;
    memcpy(output->shape, result->value.shape, sizeof output->shape);
    output->roundings = result->operations;
    output->flags = result->flags;
    output->overflows = events[DTI_CALC_OVERFLOW];
    output->nans = events[DTI_CALC_NAN];
    output->divisions_by_zero = events[DTI_CALC_DIVIDE_BY_ZERO];
    output->to_zero = events[DTI_CALC_TO_ZERO];
    output->subnormals = events[DTI_CALC_SUBNORMAL];
    output->absorbed = events[DTI_CALC_ABSORBED];
    output->cancellations = events[DTI_CALC_CANCELLATION];
    enum dti_status status = give_truth(output, result, reterr);
    if (status == DTI_OK)
        status = give_first(output, result, reterr);
    if (dti_format_code_shift(format) > 0) /* the codes become containers, in place */
        for (size_t i = 0; i < output->count; i++)
            dti_storage_put(format, &unpacked, result->value.codes, i,
                            dti_calc_code(&result->value, i));
    output->codes = result->value.codes;
    result->value.codes = NULL;
    return status;
}

static void free_output(struct dti_calc_output *output)
{
    dti_free(output->codes);
    dti_free(output->first);
    dti_free(output->worst_truth);
    output->codes = NULL;
    output->first = output->worst_truth = NULL;
}

/* Runs guarded: MPFR cannot report that memory ran out. What is allocated here is then freed, so
 * nothing of it is seen outside unless all is done. */
static enum dti_status evaluate(void *context, struct dti_error *reterr)
{
    struct evaluation *const e = (struct evaluation *)context;
    struct dti_calc_output output = {.size = sizeof output, .format = e->spec.format};
    struct dti_calc_tree *tree = NULL;
    struct dti_calc_result result;
    enum dti_status status = dti_calc_parse_bound(&tree, e->text, e->length, e->names, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_calc_run(tree, e->spec.format, &e->options, &result, reterr);
    if (status == DTI_OK) {
        status = give_result(&output, &result, reterr);
        dti_calc_result_free(&result);
    }
    dti_calc_tree_free(tree);
    if (status == DTI_OK)
        e->output = output;
    else
        free_output(&output);
    return status;
}

enum dti_status dti_calc_evaluate(struct dti_context *context, const char *expression,
                                  size_t length, const struct dti_calc_spec *spec,
                                  struct dti_calc_output *ret, struct dti_error *reterr)
{
    struct dti_call call;
    struct evaluation e = {.text = expression, .length = length};
    if (length == SIZE_MAX)
        e.length = strlen(expression);
    dti_call_begin(&call, &context->caller);
    enum dti_status status = take_spec(&e, spec, reterr);
    if (status == DTI_OK)
        status = dti_calc_guarded(evaluate, &e, reterr);
    dti_free(e.names);
    dti_free(e.operands);
    if (status == DTI_OK)
        dti_struct_give(ret, &e.output, sizeof e.output);
    dti_call_end(&call);
    return status;
}

void dti_calc_free(struct dti_context *context, struct dti_calc_output *output)
{
    struct dti_call call;
    if (!output)
        return;
    dti_call_begin(&call, &context->caller);
    free_output(output);
    dti_call_end(&call);
}
