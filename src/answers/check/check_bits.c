/* SPDX-License-Identifier: MIT
 *
 * The assertion on the bits a weight: the bytes of all tensors of float numbers, with scales, zero
 * points and all other parts, divided by how many numbers they hold, as in mem. */
#include "answers/check/check_answer.h"

#include <stdio.h>
#include <string.h>

#include "answers/tensors.h"
#include "core/wide.h"
#include "util/checked.h"

/* What tensors of one dtype take. */
struct bits_kind {
    const char *dtype;
    uint64_t bytes, weights;
    size_t tensors;
};
enum { KINDS = 64, SHOWN = 4 };
struct bits_sum {
    struct bits_kind all, kinds[KINDS];
    size_t count; /* the last of many is for all the others */
};

static const char *dtype_of(const struct dti_tensor *tensor)
{
    return dti_tensor_form(tensor) ? dti_tensor_form(tensor)->is->dtype : dti_tensor_dtype(tensor);
}

static bool add_to(struct bits_kind *kind, const struct dti_tensor *tensor)
{
    kind->tensors++;
    return dti_add_u64(kind->bytes, tensor->bytes, &kind->bytes) &&
           dti_add_u64(kind->weights, tensor->elements, &kind->weights);
}

static enum dti_status add(struct bits_sum *sum, const struct dti_tensor *tensor,
                           struct dti_error *reterr)
{
    const char *const dtype = dtype_of(tensor);
    size_t at = 0;
    while (at < sum->count && strcmp(sum->kinds[at].dtype, dtype) != 0)
        at++;
    if (at == KINDS)
        sum->kinds[--at].dtype = "others";
    else if (at == sum->count)
        sum->kinds[sum->count++] = (struct bits_kind){.dtype = dtype};
    return add_to(&sum->all, tensor) && add_to(&sum->kinds[at], tensor)
               ? DTI_OK
               : dti_fail(reterr, DTI_BAD_INPUT, "the bytes of its tensors exceed 64 bits");
}

/* Whether bytes x 8 <= bound x weights, exactly. */
static bool holds(const struct bits_kind *all, const struct dti_check_bits *bound)
{
    uint64_t left[2] = {0, all->bytes}, right[2] = {0, all->weights};
    bool fits = dti_wide_scale(&left[0], &left[1], 8);
    for (unsigned i = 0; i < bound->places; i++)
        fits = fits && dti_wide_scale(&left[0], &left[1], 10);
    if (!fits || !dti_wide_scale(&right[0], &right[1], bound->digits))
        return !fits ? false : true; /* beyond 128 bits: digits has 64, so that left is smaller */
    return left[0] != right[0] ? left[0] < right[0] : left[1] <= right[1];
}

/* As mem has it. */
static const char *each(char ret[DTI_TEXT_SIZE], const struct bits_kind *kind)
{
    enum { DIGITS = 7 };
    return dti_figure_words(ret, (double)kind->bytes * 8 / (double)kind->weights, DIGITS);
}

/* "6.12 bits a weight: fp8_e4m3fn 8 (512 tensors), nvfp4 4.5 (64 tensors)", the largest first. */
static void put_kinds(char ret[DTI_CHECK_DETAIL], struct bits_sum *sum)
{
    char figure[DTI_TEXT_SIZE];
    size_t used =
        (size_t)snprintf(ret, DTI_CHECK_DETAIL, "%s bits a weight", each(figure, &sum->all));
    for (size_t i = 0; i < sum->count && i < SHOWN && used < DTI_CHECK_DETAIL; i++) {
        struct bits_kind *most = &sum->kinds[i];
        for (size_t k = i + 1; k < sum->count; k++) {
            if (sum->kinds[k].bytes > most->bytes)
                most = &sum->kinds[k];
        }
        const struct bits_kind kind = *most;
        *most = sum->kinds[i];
        sum->kinds[i] = kind;
        used += (size_t)snprintf(ret + used, DTI_CHECK_DETAIL - used,
                                 "%s%.24s %s (%zu tensor%s, %llu bytes)", i == 0 ? ": " : ", ",
                                 kind.dtype, each(figure, &kind), kind.tensors,
                                 kind.tensors == 1 ? "" : "s", (unsigned long long)kind.bytes);
    }
    if (sum->count > SHOWN && used < DTI_CHECK_DETAIL)
        (void)snprintf(ret + used, DTI_CHECK_DETAIL - used, ", and %zu more dtypes",
                       sum->count - SHOWN);
}

enum dti_status dti_check_bits(struct dti_check_report *report, size_t at, const size_t *tensors,
                               size_t count, struct dti_error *reterr)
{
    const struct dti_container *const container = report->container;
    struct dti_check_tally *const tally = &report->tally[at];
    struct dti_check_failure failure = {
        .assertion = at, .tensor = SIZE_MAX, .fault = DTI_CHECK_UNCLEAR, .index = UINT64_MAX};
    struct bits_sum sum = {.count = 0};
    char text[DTI_CHECK_DETAIL];
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = &container->tensors[tensors[i]];
        const char *const ambiguity = dti_logical_ambiguity(container, tensor);
        failure.tensor = tensors[i];
        if (ambiguity)
            status =
                dti_check_fail_text(report, &failure, reterr,
                                    "how many weights it holds is not known: %.400s", ambiguity);
        else if (dti_tensor_holds_floats(container, tensor))
            status = add(&sum, tensor, reterr);
    }
    tally->tensors = sum.all.tensors;
    if (status != DTI_OK || tally->failures > 0)
        return status;
    tally->figured = sum.all.weights > 0;
    if (tally->figured)
        tally->figure = (double)sum.all.bytes * 8 / (double)sum.all.weights;
    if (holds(&sum.all, &report->request->assertions[at].bits))
        return DTI_OK;
    failure.tensor = SIZE_MAX;
    failure.fault = DTI_CHECK_BITS;
    failure.figure = tally->figure;
    put_kinds(text, &sum);
    return dti_check_fail_text(report, &failure, reterr, "%s", text);
}
