/* SPDX-License-Identifier: MIT
 *
 * Converts an exact number to an array element that a device can take, without a second rounding
 * that could change the result, and compares the results. */
#include "convert/cross_check.h"
#include "util/run/allocate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The source format of a number on the device. */
enum form { FORM_FP64, FORM_I64, FORM_U64, FORM_COUNT };

static const enum dti_dtype dtypes[FORM_COUNT] = {DTI_FP64, DTI_INT64, DTI_UINT64};
static const struct dti_layout layout = {.packing = DTI_PACKING_BYTES};

static const char not_exact[] =
    "neither an fp64 nor a 64-bit integer, so it would be rounded twice";

struct dti_cross_check {
    struct dti_request request;
    struct dti_runner *runner;
    enum dti_level level;
    bool takes_odd; /* fp64 rounded to odd may represent numbers that fp64 lacks */
    struct dti_plan *plans[FORM_COUNT];
    char why_not[FORM_COUNT][DTI_PLAN_TEXT_SIZE]; /* why the device cannot run that plan */
    /* buffers for one tile */
    uint64_t src[DTI_TILE], dst[DTI_TILE];
    enum form forms[DTI_TILE]; /* FORM_COUNT: not checked */
};

enum dti_status dti_cross_check_new(struct dti_cross_check **ret, const struct dti_cast *cast,
                                    const struct dti_stack_rule *rule, struct dti_runner *runner,
                                    enum dti_level level, struct dti_error *reterr)
{
    struct dti_cross_check *const cross_check = dti_calloc(1, sizeof *cross_check);
    if (!cross_check)
        return dti_no_memory(reterr);
    struct dti_encoder first; /* for the first rounding; later ones see only its results */
    struct dti_policy policy = cast->policy;
    policy.round = dti_cast_round(cast, dti_cast_stage(cast, 0));
    dti_encoder_init(&first, dti_cast_stage(cast, 0), &policy);
    cross_check->request = (struct dti_request){
        .src_layout = layout, .dst_layout = layout, .cast = *cast, .rule = rule};
    cross_check->takes_odd = !rule && dti_encoder_takes_odd_hub64(&first);
    cross_check->runner = runner;
    cross_check->level = level;
    *ret = cross_check;
    return DTI_OK;
}

void dti_cross_check_free(struct dti_cross_check *cross_check)
{
    for (size_t i = 0; cross_check && i < FORM_COUNT; i++)
        dti_plan_free(cross_check->plans[i]);
    dti_free(cross_check);
}

static bool same_value(const struct dti_value *a, const struct dti_value *b)
{
    if (a->kind != b->kind || a->negative != b->negative)
        return false;
    return a->kind != DTI_CLASS_FINITE || (a->hi == b->hi && a->lo == b->lo && !a->sticky &&
                                           !b->sticky && a->exponent == b->exponent);
}

/* The code of exactly this number; false if there is none. */
static bool is_code(const struct dti_value *value, enum dti_dtype dtype, uint64_t *ret_code)
{
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    const struct dti_format *const format = dti_format_get(dtype);
    struct dti_outcome outcome;
    struct dti_value back;
    dti_encode(format, value, &policy, 0, &outcome);
    dti_decode(format, outcome.code, &back);
    *ret_code = outcome.code;
    return same_value(&back, value) && (value->kind != DTI_CLASS_NAN || back.hi == value->hi);
}

/* The form these stacks use: int64 for an integer literal (no -0), fp64 for anything else. */
static enum form form_by_rule(const struct dti_stored_number *number, uint64_t *ret_code)
{
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_outcome outcome;
    dti_encode(dti_format_get(DTI_INT64), &number->value, &policy, 0, &outcome);
    if (number->integer_literal && outcome.flags == 0) {
        *ret_code = outcome.code;
        return FORM_I64;
    }
    dti_encode(dti_format_get(DTI_FP64), &number->value, &policy, 0, &outcome);
    *ret_code = outcome.code;
    return FORM_FP64;
}

static enum form choose_form(const struct dti_cross_check *cross_check,
                             const struct dti_stored_number *number, uint64_t *ret_code)
{
    static const struct dti_policy odd = {.round = DTI_ROUND_ODD,
                                          .overflow = DTI_OVERFLOW_SATURATE_FINITE};
    struct dti_outcome outcome;
    if (cross_check->request.rule)
        return form_by_rule(number, ret_code);
    for (enum form form = FORM_FP64; form < FORM_COUNT; form++) {
        if (is_code(&number->value, dtypes[form], ret_code))
            return form;
    }
    if (!cross_check->takes_odd || number->value.kind == DTI_CLASS_NAN)
        return FORM_COUNT;
    dti_encode(dti_format_get(DTI_FP64), &number->value, &odd, 0, &outcome);
    *ret_code = outcome.code;
    return FORM_FP64;
}

/* The plan of a form; NULL, with why_not set, if the device cannot run it. */
static enum dti_status find_plan(struct dti_cross_check *cross_check, enum form form,
                                 const struct dti_plan **ret, struct dti_error *reterr)
{
    char *const why_not = cross_check->why_not[form];
    const size_t size = sizeof cross_check->why_not[form];
    *ret = cross_check->plans[form];
    if (*ret || why_not[0] != '\0')
        return DTI_OK;
    struct dti_plan *plan;
    const char *why = NULL;
    struct dti_error error;
    cross_check->request.src = *dti_format_get(dtypes[form]);
    enum dti_status status = dti_plan_new(&plan, &cross_check->request, cross_check->level, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_plan_set_runner(plan, cross_check->runner, &why, &error);
    if (status == DTI_OK && !why) {
        *ret = cross_check->plans[form] = plan;
        return DTI_OK;
    }
    dti_plan_free(plan);
    if (status != DTI_OK && status != DTI_UNAVAILABLE) {
        *reterr = error;
        return status;
    }
    (void)snprintf(why_not, size, "%s", why ? why : error.text);
    why_not[strcspn(why_not, ";")] = '\0'; /* cut what only concerns casts of arrays */
    return DTI_OK;
}

static enum dti_status disagree(const struct dti_cross_check *cross_check, uint64_t src,
                                const struct dti_format *from, uint64_t got, uint64_t want,
                                struct dti_error *reterr)
{
    char number[DTI_TEXT_SIZE], other[DTI_TEXT_SIZE], exact[DTI_TEXT_SIZE];
    const struct dti_format *const dst = &cross_check->request.cast.dst;
    dti_spell_code(number, src, from->width);
    dti_spell_code(other, got, dst->width);
    dti_spell_code(exact, want, dst->width);
    return dti_fail(
        reterr, DTI_BUG,
        "%s casts the %s %s to the %s %s, but the exact result is %s; please report this",
        dti_runner_device(cross_check->runner), from->name, number, dst->name, other, exact);
}

/* Casts the tile's numbers of one form on the device and compares. `at`: position of the first
 * one in the tile. */
static enum dti_status ask_form(struct dti_cross_check *cross_check, enum form form,
                                const struct dti_stored_number *numbers, size_t at, size_t n,
                                uint64_t index, size_t *asked, const char **why,
                                struct dti_error *reterr)
{
    const struct dti_format *const from = dti_format_get(dtypes[form]);
    const struct dti_format *const to = &cross_check->request.cast.dst;
    const struct dti_plan *plan;
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += cross_check->forms[at + i] == form;
    if (count == 0)
        return DTI_OK;
    enum dti_status status = find_plan(cross_check, form, &plan, reterr);
    if (status != DTI_OK)
        return status;
    if (!plan) {
        *why = cross_check->why_not[form];
        return DTI_OK;
    }
    uint64_t src[DTI_TILE];
    for (size_t i = 0; i < at + n; i++)
        src[i] = i >= at && cross_check->forms[i] == form ? cross_check->src[i] : 0;
    status =
        dti_plan_run(plan, cross_check->dst, src, at + n, index, DTI_STORES_CACHED, NULL, reterr);
    for (size_t i = 0; i < n && status == DTI_OK; i++) {
        const uint64_t got = dti_storage_get(to, &layout, cross_check->dst, at + i);
        if (cross_check->forms[at + i] == form && got != numbers[i].code)
            return disagree(cross_check, src[at + i], from, got, numbers[i].code, reterr);
    }
    *asked += count;
    return status;
}

enum dti_status dti_cross_check_ask(struct dti_cross_check *cross_check,
                                    const struct dti_stored_number *numbers, size_t n,
                                    uint64_t index, size_t *ret_asked, const char **ret_why,
                                    struct dti_error *reterr)
{
    const char *why = NULL;
    size_t asked = 0;
    enum dti_status status = DTI_OK;
    /* the index matters only for stochastic rounding */
    if (cross_check->request.cast.policy.round != DTI_ROUND_STOCHASTIC)
        index = 0;
    while (n > 0 && status == DTI_OK) {
        const size_t at = (size_t)(index % DTI_TILE);
        const size_t part = n < DTI_TILE - at ? n : DTI_TILE - at;
        for (size_t i = 0; i < part; i++) {
            cross_check->forms[at + i] =
                choose_form(cross_check, &numbers[i], &cross_check->src[at + i]);
            if (cross_check->forms[at + i] == FORM_COUNT)
                why = not_exact;
        }
        for (enum form form = FORM_FP64; form < FORM_COUNT && status == DTI_OK; form++)
            status =
                ask_form(cross_check, form, numbers, at, part, index - at, &asked, &why, reterr);
        numbers += part;
        index += part;
        n -= part;
    }
    if (status == DTI_OK) {
        *ret_asked = asked;
        *ret_why = why;
    }
    return status;
}
