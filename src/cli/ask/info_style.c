/* SPDX-License-Identifier: MIT
 *
 * The text of torch.finfo, torch.iinfo, numpy.finfo and numpy.iinfo. torch prints everything as C's
 * %g does, six digits, integers too; numpy prints fixed numbers of digits that depend on the dtype.
 */
#include "cli/ask/info_forms.h"

#include <stdio.h>

#include "dtinfo/limits.h"
#include "dtinfo/spell.h"

const struct dti_choice dti_info_styles[] = {
    {.name = "torch",
     .value = DTI_INFO_STYLE_TORCH,
     .help = "as torch.finfo and torch.iinfo print it"},
    {.name = "numpy",
     .value = DTI_INFO_STYLE_NUMPY,
     .help = "as numpy.finfo and numpy.iinfo print it"},
    {.name = "pytorch", .value = DTI_INFO_STYLE_TORCH, .help = ""},
    {.name = NULL},
};

const struct dti_option dti_info_options[] = {
    OPT_CHOICE(0, "style", struct dti_info_args, style, style_given, "LIBRARY", dti_info_styles,
               "print what this library prints"),
    OPT_END,
};

enum { TORCH_DIGITS = 6 };

/* torch has float4_e2m1fn_x2 and the intN below 8 bits, but neither finfo nor iinfo of them. */
static bool torch_has(const struct dti_format *format)
{
    return dti_dtype_name_in(format, DTI_SYSTEM_TORCH) != NULL && format->width >= 8;
}

static bool in_torch_finfo(const struct dti_format *format)
{
    return !dti_format_is_integer(format) && torch_has(format);
}

static bool in_torch_iinfo(const struct dti_format *format)
{
    return dti_format_is_integer(format) && format->kind != DTI_KIND_BOOL && torch_has(format);
}

static bool in_numpy_finfo(const struct dti_format *format)
{
    return !dti_format_is_integer(format) && dti_dtype_name_in(format, DTI_SYSTEM_NUMPY) != NULL;
}

static bool in_numpy_iinfo(const struct dti_format *format)
{
    return dti_format_is_integer(format) && format->kind != DTI_KIND_BOOL &&
           dti_dtype_name_in(format, DTI_SYSTEM_NUMPY) != NULL;
}

static void print_torch_finfo(const struct dti_format *dtype, struct dti_context *cx)
{
    const struct dti_format *format = dti_real_format(dtype);
    struct dti_limits limits;
    char resolution[DTI_RESOLUTION_SIZE], min[DTI_TEXT_SIZE], max[DTI_TEXT_SIZE];
    char eps[DTI_TEXT_SIZE], normal[DTI_TEXT_SIZE];
    dti_limits_compute(&limits, format);
    dti_resolution_text(resolution, limits.digits10);
    (void)dti_spell_digits(min, &limits.lowest.value, TORCH_DIGITS);
    (void)dti_spell_digits(max, &limits.max.value, TORCH_DIGITS);
    (void)dti_spell_digits(eps, &limits.eps.value, TORCH_DIGITS);
    (void)dti_spell_digits(normal, &limits.smallest_normal.value, TORCH_DIGITS);
    (void)fprintf(cx->out,
                  "finfo(resolution=%s, min=%s, max=%s, eps=%s, smallest_normal=%s, tiny=%s, "
                  "dtype=%s)\n",
                  resolution, min, max, eps, normal, normal,
                  dti_dtype_name_in(format, DTI_SYSTEM_TORCH));
    if (format->id == DTI_FP8_E5M2FNUZ)
        dti_warn(cx, "torch 2.15 prints this; older versions print eps=0.125 for "
                     "float8_e5m2fnuz, half of the truth");
}

static void print_numpy_finfo(const struct dti_format *dtype, struct dti_context *cx)
{
    const struct dti_format *format = dti_real_format(dtype);
    struct dti_limits limits;
    char resolution[DTI_RESOLUTION_SIZE], min[DTI_TEXT_SIZE], max[DTI_TEXT_SIZE];
    dti_limits_compute(&limits, format);
    /* numpy/_core/getlimits.py has %12.5e, %15.7e and %24.16e. */
    unsigned decimals = format->id == DTI_FP16 ? 5 : format->id == DTI_FP32 ? 7 : 16;
    dti_resolution_text(resolution, limits.digits10);
    (void)dti_spell_scientific(min, &limits.lowest.value, decimals);
    (void)dti_spell_scientific(max, &limits.max.value, decimals);
    (void)fprintf(cx->out, "finfo(resolution=%s, min=%s, max=%s, dtype=%s)\n", resolution, min, max,
                  dti_dtype_name_in(format, DTI_SYSTEM_NUMPY));
}

static void print_torch_iinfo(const struct dti_format *format, struct dti_context *cx)
{
    struct dti_limit min, max;
    char min_text[DTI_TEXT_SIZE], max_text[DTI_TEXT_SIZE];
    dti_integer_limits(format, &min, &max);
    (void)dti_spell_digits(min_text, &min.value, TORCH_DIGITS);
    (void)dti_spell_digits(max_text, &max.value, TORCH_DIGITS);
    (void)fprintf(cx->out, "iinfo(min=%s, max=%s, dtype=%s)\n", min_text, max_text,
                  dti_dtype_name_in(format, DTI_SYSTEM_TORCH));
}

static void print_numpy_iinfo(const struct dti_format *format, struct dti_context *cx)
{
    struct dti_limit min, max;
    char min_text[DTI_TEXT_SIZE], max_text[DTI_TEXT_SIZE];
    dti_integer_limits(format, &min, &max);
    (void)dti_spell_shortest(min_text, format, min.code);
    (void)dti_spell_shortest(max_text, format, max.code);
    (void)fprintf(cx->out, "iinfo(min=%s, max=%s, dtype=%s)\n", min_text, max_text,
                  dti_dtype_name_in(format, DTI_SYSTEM_NUMPY));
}

/* What one library's finfo or iinfo knows and how it prints. */
struct style {
    const char *where;
    dti_dtype_filter *has;
    void (*print)(const struct dti_format *format, struct dti_context *cx);
};

static enum dti_status print_all(const struct style *style, const struct dti_dtype_operand *list,
                                 size_t count, bool all, struct dti_context *cx,
                                 struct dti_error *reterr)
{
    if (cx->output != DTI_OUTPUT_HUMAN)
        return dti_fail(reterr, DTI_USAGE, "--style prints text; leave it out for JSON");
    for (size_t i = 0; i < count && !all; i++) {
        if (!style->has(&list[i].format))
            return dti_dtype_not_there(&list[i].format, style->where, style->has, reterr);
    }
    for (size_t i = 0; i < count; i++) {
        bool repeats = all && list[i].format.kind == DTI_KIND_COMPLEX;
        if (style->has(&list[i].format) && !repeats)
            style->print(&list[i].format, cx);
    }
    return DTI_OK;
}

enum dti_status dti_finfo_in_style(enum dti_info_style style, const struct dti_dtype_operand *list,
                                   size_t count, bool all, struct dti_context *cx,
                                   struct dti_error *reterr)
{
    static const struct style styles[] = {
        [DTI_INFO_STYLE_TORCH] = {.where = "torch.finfo",
                                  .has = in_torch_finfo,
                                  .print = print_torch_finfo},
        [DTI_INFO_STYLE_NUMPY] = {.where = "numpy.finfo",
                                  .has = in_numpy_finfo,
                                  .print = print_numpy_finfo},
    };
    return print_all(&styles[style], list, count, all, cx, reterr);
}

enum dti_status dti_iinfo_in_style(enum dti_info_style style, const struct dti_dtype_operand *list,
                                   size_t count, bool all, struct dti_context *cx,
                                   struct dti_error *reterr)
{
    static const struct style styles[] = {
        [DTI_INFO_STYLE_TORCH] = {.where = "torch.iinfo",
                                  .has = in_torch_iinfo,
                                  .print = print_torch_iinfo},
        [DTI_INFO_STYLE_NUMPY] = {.where = "numpy.iinfo",
                                  .has = in_numpy_iinfo,
                                  .print = print_numpy_iinfo},
    };
    return print_all(&styles[style], list, count, all, cx, reterr);
}
