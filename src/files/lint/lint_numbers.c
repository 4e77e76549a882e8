/* SPDX-License-Identifier: MIT
 *
 * Checks the dequantized numbers of a tensor: NaN codes, scales that are too large, tensor scales
 * that divide where they should multiply, zero scales over nonzero codes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/lint/lint_parts.h"

/* The dtype in which a loader holds the numbers; NULL: unknown. */
static const struct dti_format *model_format(const struct dti_lint *lint,
                                             const struct dti_dequant_found *found)
{
    static const struct {
        const char *name;
        enum dti_dtype dtype;
    } names[] = {{"float16", DTI_FP16}, {"bfloat16", DTI_BF16}, {"float32", DTI_FP32}};
    const struct dti_file_dequant *const dequant = lint->dequant;
    const char *const stated = dequant->has_config ? dequant->config.model.dtype : "";
    const char *const name = strncmp(stated, "torch.", 6) == 0 ? stated + 6 : stated;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i].name) == 0)
            return dti_format_get(names[i].dtype);
    }
    if (found->form.is->number)
        return found->form.is->number;
    const struct dti_tensor *const scales = dti_form_part(&found->form, DTI_PART_SCALE);
    const bool half = scales && scales->format &&
                      (scales->format->id == DTI_FP16 || scales->format->id == DTI_BF16);
    return half && !found->how.is->block ? scales->format : NULL;
}

static double number_of(const struct dti_tensor_stats *stats, uint64_t code)
{
    struct dti_value value;
    struct dti_outcome outcome;
    static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    double number;
    dti_decode(dti_stats_hub_format(stats->rule.hub), code, &value);
    dti_encode(dti_format_get(DTI_FP64), &value, &nearest, 0, &outcome);
    memcpy(&number, &outcome.code, sizeof number);
    return number;
}

static bool is_usual(double magnitude)
{
    return magnitude >= 0x1p-16 && magnitude <= 0x1p16;
}

/* Depending on the layout the tensor scale divides or multiplies; a writer that confused the two is
 * off by the square of the scale. MLX is exempt: it stores the largest magnitude, which is neither.
 */
static enum dti_status look_at_direction(struct dti_lint *lint, size_t at, double largest,
                                         bool *ret_other, struct dti_error *reterr)
{
    const struct dti_dequant_found *const found = dti_lint_found(lint, at);
    const double factor = found->how.tensor_scale;
    const double other = largest / factor / factor;
    char one[DTI_LINT_NUMBER], two[DTI_LINT_NUMBER];
    *ret_other = found->how.is->block && found->how.is->block->family == DTI_BLOCKS_NV &&
                 found->form.is->tensor_scale && strcmp(found->form.is->layout, "mlx") != 0 &&
                 largest > 0 && !is_usual(largest) && is_usual(other);
    if (!*ret_other)
        return DTI_OK;
    return dti_lint_add(lint, DTI_LINT_DIRECTION, &lint->view->tensors[at], reterr,
                        "its largest magnitude is %s; by the reciprocal of its tensor scale it "
                        "would be %s",
                        dti_lint_number(one, largest), dti_lint_number(two, other));
}

static enum dti_status add_codes(struct dti_lint *lint, size_t at, uint64_t count, const char *what,
                                 uint64_t first, struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = &lint->view->tensors[at];
    char place[DTI_LINT_PLACE];
    const bool one = count == 1;
    return dti_lint_add(lint, DTI_LINT_CODE_NOT_FINITE, tensor, reterr,
                        "%llu code%s %s, the first at %s", (unsigned long long)count,
                        one ? " is" : "s are", what, dti_lint_place(place, tensor, first));
}

/* Reports NaNs and infinities that do not come from scales. */
static enum dti_status look_at_specials(struct dti_lint *lint, size_t at,
                                        const struct dti_tensor_stats *stats,
                                        struct dti_error *reterr)
{
    const struct dti_dequant_found *const found = dti_lint_found(lint, at);
    const struct dti_stats *const counted = &stats->stats;
    const struct dti_tensor *const tensor = &lint->view->tensors[at];
    const struct dti_format *const code = found->how.is->block
                                              ? dti_format_get(found->how.is->block->code)
                                              : &found->how.is->affine.code;
    char place[DTI_LINT_PLACE];
    enum dti_status status = DTI_OK;
    if (counted->nan > 0 && (found->how.is->gguf || !dti_format_has_nan(code)))
        status = dti_lint_add(lint, DTI_LINT_SCALE_NOT_FINITE, tensor, reterr,
                              "%llu of its numbers are NaN, the first at %s",
                              (unsigned long long)counted->nan,
                              dti_lint_place(place, tensor, counted->first_nan));
    else if (counted->nan > 0)
        status = add_codes(lint, at, counted->nan, "NaN", counted->first_nan, reterr);
    if (status == DTI_OK && counted->inf > 0 && dti_format_has_inf(code))
        status = add_codes(lint, at, counted->inf, "infinite", counted->first_inf, reterr);
    return status;
}

static enum dti_status add_overflow(struct dti_lint *lint, size_t at,
                                    const struct dti_tensor_stats *stats,
                                    const struct dti_format *format, struct dti_error *reterr)
{
    const struct dti_stats *const counted = &stats->stats;
    const struct dti_tensor *const tensor = &lint->view->tensors[at];
    char place[DTI_LINT_PLACE], number[DTI_LINT_NUMBER];
    if (counted->inf > 0)
        return dti_lint_add(lint, DTI_LINT_OVERFLOW, tensor, reterr,
                            "%llu of its numbers are infinite in fp32, the first at %s",
                            (unsigned long long)counted->inf,
                            dti_lint_place(place, tensor, counted->first_inf));
    return dti_lint_add(lint, DTI_LINT_OVERFLOW, tensor, reterr,
                        "its largest magnitude is %s, at %s, and the model's dtype is %s",
                        dti_lint_number(number, number_of(stats, counted->absmax)),
                        dti_lint_place(place, tensor, counted->absmax_index), format->name);
}

enum dti_status dti_lint_numbers(struct dti_lint *lint, const struct dti_tensor_stats *stats,
                                 struct dti_error *reterr)
{
    const size_t at = stats->tensor;
    const struct dti_dequant_found *const found = dti_lint_found(lint, at);
    const struct dti_stats *const counted = &stats->stats;
    const struct dti_format *const format = model_format(lint, found);
    bool other = false;
    enum dti_status status = DTI_OK;
    if (!lint->tensors[at].scales_bad)
        status = look_at_specials(lint, at, stats, reterr);
    if (status == DTI_OK && counted->finite > 0)
        status =
            look_at_direction(lint, at, fabs(number_of(stats, counted->absmax)), &other, reterr);
    if (status != DTI_OK || other || lint->tensors[at].scales_bad)
        return status;
    const bool infinite =
        counted->inf > 0 &&
        !(found->how.is->block ? dti_format_has_inf(dti_format_get(found->how.is->block->code))
                               : dti_format_has_inf(&found->how.is->affine.code));
    if (infinite || (format && counted->finite > 0 && counted->inf == 0 &&
                     !dti_stats_fit(counted, &stats->rule, format)))
        return add_overflow(lint, at, stats, format, reterr);
    return DTI_OK;
}

static void begin_probe(struct dti_lint *lint, size_t at)
{
    struct lint_probe *const probe = &lint->probes[lint->probed++];
    struct dti_dequant_tensor *const how = &dti_lint_quantized(lint, at)->how;
    how->probe = true;
    probe->tensor = at;
    probe->before = how->method;
    dti_dequant_method_init(&probe->method, how);
    how->method = &probe->method;
}

/* Restores the regular methods. */
static void end_probes(struct dti_lint *lint)
{
    for (size_t i = 0; i < lint->probed; i++) {
        const struct lint_probe *const probe = &lint->probes[i];
        struct dti_dequant_tensor *const how = &dti_lint_quantized(lint, probe->tensor)->how;
        how->probe = false;
        how->method = probe->before;
    }
    lint->probed = 0;
}

size_t dti_lint_probe(struct dti_lint *lint, size_t ret_tensors[DTI_LINT_PROBES])
{
    end_probes(lint);
    while (lint->probe < lint->view->tensor_count && lint->probed < DTI_LINT_PROBES) {
        const size_t at = lint->probe++;
        if (!dti_lint_wants(lint, at) || !lint->tensors[at].zero_scales)
            continue;
        ret_tensors[lint->probed] = at;
        begin_probe(lint, at);
    }
    dti_stripes_free(&lint->dequant->stripes); /* drop what was cached by another method */
    dti_stripes_init(&lint->dequant->stripes);
    return lint->probed;
}

enum dti_status dti_lint_probed(struct dti_lint *lint, const struct dti_tensor_stats *stats,
                                struct dti_error *reterr)
{
    const struct dti_stats *const counted = &stats->stats;
    const struct dti_tensor *const tensor = &lint->view->tensors[stats->tensor];
    const uint64_t some = counted->elements - counted->zeros;
    char place[DTI_LINT_PLACE];
    if (some == 0)
        return DTI_OK;
    return dti_lint_add(
        lint, DTI_LINT_SCALE_ZERO, tensor, reterr,
        "%llu code%s not 0 and ha%s a scale of 0, one of them at %s", (unsigned long long)some,
        some == 1 ? " is" : "s are", some == 1 ? "s" : "ve",
        dti_lint_place(place, tensor,
                       counted->finite > 0 ? counted->absmax_index : counted->first_nan));
}
