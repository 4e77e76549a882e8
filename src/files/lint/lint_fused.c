/* SPDX-License-Identifier: MIT
 *
 * Projections that loaders fuse into one matrix. A fused nvfp4 matrix has one tensor scale: for
 * linear layers vLLM uses one of the parts' scales for all of them, and warns about reduced
 * accuracy; for experts it uses the first one's. Block scales are not adapted. Per-matrix fp8
 * scales are: the parts are requantized. A fused matrix has one scheme. */
#include <string.h>

#include "files/lint/lint_parts.h"
#include "files/stored/layouts.h"
#include "files/stored/tensor_choice.h"

/* Methods for which loaders need one scheme for all parts. */
static bool is_strict(const struct dti_file_dequant *dequant)
{
    const char *const method = dequant->config.method;
    const struct dti_layout_ops *const layout = dti_layout_of_method(method);
    bool strict = false;
    for (unsigned i = 0; layout && i < layout->one_scheme; i++)
        strict |= strcmp(method, layout->methods[i]) == 0;
    return strict && dequant->has_config && dequant->config.file;
}

static bool is_plain(const struct dti_lint *lint, size_t at)
{
    const struct dti_tensor *const tensor = &lint->view->tensors[at];
    return !dti_lint_found(lint, at) && tensor->format && dti_format_is_float(tensor->format) &&
           tensor->format->width > 8;
}

static bool is_same_scheme(const struct dti_dequant_form *a, const struct dti_dequant_form *b)
{
    return strcmp(a->is->dtype, b->is->dtype) == 0 && a->is->per == b->is->per &&
           a->is->group[0] == b->is->group[0] && a->is->group[1] == b->is->group[1] &&
           a->is->zero_points == b->is->zero_points && a->is->tensor_scale == b->is->tensor_scale;
}

static enum dti_status compare(struct dti_lint *lint, size_t first, size_t other, bool strict,
                               struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = &lint->view->tensors[other];
    const struct dti_tensor *const base = &lint->view->tensors[first];
    const struct dti_dequant_found *const a = dti_lint_found(lint, first);
    const struct dti_dequant_found *const b = dti_lint_found(lint, other);
    struct dti_fused_scale scales[2];
    char quoted[DTI_QUOTE_SIZE], one[DTI_LINT_NUMBER], two[DTI_LINT_NUMBER];
    (void)dti_quote(quoted, base->name, base->name_length);
    if (strict && ((a && is_plain(lint, other)) || (b && is_plain(lint, first))))
        return dti_lint_add(lint, DTI_LINT_FUSED_SCHEME, tensor, reterr,
                            b ? "it is quantized, and %s, with which it is fused, is not"
                              : "it is not quantized, and %s, with which it is fused, is",
                            quoted);
    if (strict && a && b && !is_same_scheme(&a->form, &b->form))
        return dti_lint_add(lint, DTI_LINT_FUSED_SCHEME, tensor, reterr,
                            "it is %s, and %s, with which it is fused, is %s%s", b->form.is->dtype,
                            quoted, a->form.is->dtype,
                            strcmp(a->form.is->dtype, b->form.is->dtype) == 0 ? " with other scales"
                                                                              : "");
    if (!dti_fused_scale_of(a, &scales[0]) || !dti_fused_scale_of(b, &scales[1]) ||
        !dti_fused_scales_of(scales, 2).differ)
        return DTI_OK;
    return dti_lint_add(lint, DTI_LINT_FUSED_SCALE, tensor, reterr,
                        "its tensor scale is %s, and that of %s, with which it is fused, is %s",
                        dti_lint_number(two, b->how.tensor_scale), quoted,
                        dti_lint_number(one, a->how.tensor_scale));
}

static bool is_chosen(const struct dti_lint *lint, const struct dti_fused_match *match)
{
    bool chosen = !lint->only;
    for (size_t i = 0; i < match->count && !chosen; i++)
        chosen = dti_tensor_fits(lint->only, &lint->view->tensors[match->members[i]]);
    return chosen;
}

static void count(struct dti_lint *lint, const struct dti_fused_match *match)
{
    struct dti_fused_scale scales[DTI_FUSED_MOST];
    size_t scaled = 0;
    for (size_t i = 0; i < match->count; i++)
        scaled += dti_fused_scale_of(dti_lint_found(lint, match->members[i]), &scales[scaled]);
    if (scaled < 2 || !is_chosen(lint, match))
        return;
    const struct dti_fused_scales all = dti_fused_scales_of(scales, scaled);
    dti_fused_tally_add(&lint->fused, &all);
}

enum dti_status dti_lint_fused(struct dti_lint *lint, struct dti_error *reterr)
{
    const bool strict = is_strict(lint->dequant);
    enum dti_status status = DTI_OK;
    bool own = false;
    for (size_t i = 0; i < lint->view->tensor_count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = &lint->view->tensors[i];
        struct dti_fused_match match;
        if (!dti_fused_find(lint->own, &lint->names, tensor->name, tensor->name_length, &match))
            continue;
        own = own || match.own;
        if (match.self == 0)
            count(lint, &match);
        else
            status = compare(lint, match.members[0], i, strict, reterr);
    }
    return status == DTI_OK && lint->own && !own ? dti_fused_own_refuse(lint->own, reterr) : status;
}

const struct dti_fused_tally *dti_lint_tally(const struct dti_lint *lint)
{
    return &lint->fused;
}
