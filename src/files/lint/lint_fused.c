/* SPDX-License-Identifier: MIT
 *
 * Projections that loaders store as one matrix. An nvfp4 matrix has one tensor scale: of linear
 * layers vLLM takes one of the parts' scales for all of them, and warns that accuracy is reduced;
 * of experts the first one's. Block scales are not adapted. Scales of whole fp8 matrices are: they
 * are requantized. A fused matrix has one scheme. */
#include <string.h>

#include "files/lint/lint_parts.h"
#include "files/stored/fused_modules.h"
#include "files/stored/layouts.h"

/* Methods of which loaders need one scheme for all parts. */
static bool is_strict(const struct dti_file_dequant *dequant)
{
    const char *const method = dequant->config.method;
    const struct dti_layout_ops *const layout = dti_layout_of_method(method);
    bool strict = false;
    for (unsigned i = 0; layout && i < layout->one_scheme; i++)
        strict |= strcmp(method, layout->methods[i]) == 0;
    return strict && dequant->has_config && dequant->config.file;
}

/* The first part of the same matrix before that one. */
static bool find_first(const struct dti_lint *lint, const struct dti_tensor *tensor,
                       const struct dti_fused_name *name, size_t *ret)
{
    char *const other = lint->dequant->names.buffer; /* with room for that */
    memcpy(other, tensor->name, name->prefix);
    for (unsigned part = 0; part < name->part; part++) {
        const size_t length = strlen(name->endings[part]);
        memcpy(other + name->prefix, name->endings[part], length);
        if (dti_name_order_find(&lint->names, other, name->prefix + length, ret))
            return true;
    }
    return false;
}

static bool is_plain(const struct dti_lint *lint, size_t at)
{
    const struct dti_tensor *const tensor = &lint->view->tensors[at];
    return !dti_lint_found(lint, at) && tensor->format && dti_format_is_float(tensor->format) &&
           tensor->format->width > 8;
}

static bool is_same_scheme(const struct dti_dequant_form *a, const struct dti_dequant_form *b)
{
    return strcmp(a->dtype, b->dtype) == 0 && a->per == b->per && a->group[0] == b->group[0] &&
           a->group[1] == b->group[1] && a->zero_points == b->zero_points &&
           a->tensor_scale == b->tensor_scale;
}

static enum dti_status compare(struct dti_lint *lint, size_t first, size_t other, bool strict,
                               struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = &lint->view->tensors[other];
    const struct dti_tensor *const base = &lint->view->tensors[first];
    const struct dti_dequant_found *const a = dti_lint_found(lint, first);
    const struct dti_dequant_found *const b = dti_lint_found(lint, other);
    char quoted[DTI_QUOTE_SIZE], one[DTI_LINT_NUMBER], two[DTI_LINT_NUMBER];
    (void)dti_quote(quoted, base->name, base->name_length);
    if (strict && ((a && is_plain(lint, other)) || (b && is_plain(lint, first))))
        return dti_lint_add(lint, DTI_LINT_FUSED_SCHEME, tensor, reterr,
                            b ? "it is quantized, and %s, with which it is fused, is not"
                              : "it is not quantized, and %s, with which it is fused, is",
                            quoted);
    if (strict && a && b && !is_same_scheme(&a->form, &b->form))
        return dti_lint_add(lint, DTI_LINT_FUSED_SCHEME, tensor, reterr,
                            "it is %s, and %s, with which it is fused, is %s%s", b->form.dtype,
                            quoted, a->form.dtype,
                            strcmp(a->form.dtype, b->form.dtype) == 0 ? " with other scales" : "");
    if (!a || !b || !a->how.block || !b->how.block || !a->form.tensor_scale ||
        !b->form.tensor_scale || a->how.block->family != DTI_BLOCKS_NV ||
        memcmp(&a->how.tensor_scale, &b->how.tensor_scale, sizeof a->how.tensor_scale) == 0)
        return DTI_OK;
    return dti_lint_add(lint, DTI_LINT_FUSED_SCALE, tensor, reterr,
                        "its tensor scale is %s, and that of %s, with which it is fused, is %s",
                        dti_lint_number(two, b->how.tensor_scale), quoted,
                        dti_lint_number(one, a->how.tensor_scale));
}

enum dti_status dti_lint_fused(struct dti_lint *lint, struct dti_error *reterr)
{
    const bool strict = is_strict(lint->dequant);
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < lint->view->tensor_count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = &lint->view->tensors[i];
        struct dti_fused_name name;
        size_t first;
        if (dti_fused_name_read(&name, tensor->name, tensor->name_length) &&
            find_first(lint, tensor, &name, &first))
            status = compare(lint, first, i, strict, reterr);
    }
    return status;
}
