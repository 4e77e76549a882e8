/* SPDX-License-Identifier: MIT
 *
 * finfo and iinfo; with --like the text of torch.finfo, torch.iinfo, numpy.finfo and numpy.iinfo.
 * torch prints everything as C's %g does, six digits, integers too; numpy prints fixed numbers of
 * digits that depend on the dtype.
 */
#include "cli/ask/info_forms.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/ask/answer_fields.h"
#include "core/dtype/limits.h"
#include "core/number/spell.h"
#include "requests/option_rows.h"
#include "util/run/allocate.h"

/* Indexed by style. */
static const enum dti_system systems[] = {DTI_SYSTEM_TORCH, DTI_SYSTEM_NUMPY};

static const struct dti_choice styles[] = {
    {"torch", 0, "as torch.finfo and torch.iinfo print it"},
    {"numpy", 1, "as numpy.finfo and numpy.iinfo print it"},
    {"pytorch", 0, ""},
    {.name = NULL},
};

const struct dti_option dti_info_options[] = {
    DTI_ROW_ALL(struct dti_info_args, all), /* must be first: only finfo has it */
    OPT_CHOICE(0, "like", struct dti_info_args, style, style_given, "STACK", styles,
               "print what this library prints", DTI_MORE(.alias = "style")),
    DTI_ROW_FIELD(struct dti_info_args, field, "results"),
    OPT_END,
};

enum { TORCH_DIGITS = 6 };

/* The first name of a dtype in a system, or NULL. */
static const char *name_in(const struct dti_format *format, enum dti_system system)
{
    for (size_t i = 0; i < dti_dtype_name_count && format->id != DTI_NONE; i++) {
        if (dti_dtype_names[i].dtype == format->id && dti_dtype_names[i].system == system)
            return dti_dtype_names[i].name;
    }
    return NULL;
}

/* torch has float4_e2m1fn_x2 and the intN below 8 bits, but no finfo or iinfo for them. */
static bool has(enum dti_system system, bool integers, const struct dti_format *format)
{
    return dti_format_is_integer(format) == integers && format->kind != DTI_KIND_BOOL &&
           name_in(format, system) && (system != DTI_SYSTEM_TORCH || format->width >= 8);
}

/* "torch.finfo has no tf32; it has fp64, fp32, ..." */
static enum dti_status not_there(const char *style, enum dti_system system, bool integers,
                                 const struct dti_format *format, struct dti_error *reterr)
{
    char list[384] = "";
    size_t length = 0;
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++) {
        const struct dti_format *const row = dti_format_get((enum dti_dtype)id);
        if (!has(system, integers, row) || length + DTI_NAME_SIZE + 2 > sizeof list)
            continue;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                   length > 0 ? ", " : "", row->name);
    }
    return dti_fail(reterr, DTI_WRONG_KIND, "%s.%s has no %s; it has %s", style,
                    integers ? "iinfo" : "finfo", format->name, list);
}

static void print_torch_finfo(const struct dti_format *dtype, struct dti_command_context *cx)
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
                  resolution, min, max, eps, normal, normal, name_in(format, DTI_SYSTEM_TORCH));
    if (format->id == DTI_FP8_E5M2FNUZ)
        dti_warn(cx, "torch 2.15 prints this; older versions print eps=0.125 for float8_e5m2fnuz, "
                     "half the correct value");
}

static void print_numpy_finfo(const struct dti_format *dtype, struct dti_command_context *cx)
{
    const struct dti_format *format = dti_real_format(dtype);
    struct dti_limits limits;
    char resolution[DTI_RESOLUTION_SIZE], min[DTI_TEXT_SIZE], max[DTI_TEXT_SIZE];
    dti_limits_compute(&limits, format);
    /* formats of numpy/_core/getlimits.py: %12.5e, %15.7e and %24.16e */
    unsigned decimals = format->id == DTI_FP16 ? 5 : format->id == DTI_FP32 ? 7 : 16;
    dti_resolution_text(resolution, limits.digits10);
    (void)dti_spell_scientific(min, &limits.lowest.value, decimals);
    (void)dti_spell_scientific(max, &limits.max.value, decimals);
    (void)fprintf(cx->out, "finfo(resolution=%s, min=%s, max=%s, dtype=%s)\n", resolution, min, max,
                  name_in(format, DTI_SYSTEM_NUMPY));
}

static void print_iinfo(enum dti_system system, const struct dti_format *format,
                        struct dti_command_context *cx)
{
    struct dti_limit limits[2];
    char texts[2][DTI_TEXT_SIZE];
    dti_integer_limits(format, &limits[0], &limits[1]);
    for (size_t i = 0; i < 2; i++) {
        if (system == DTI_SYSTEM_TORCH)
            (void)dti_spell_digits(texts[i], &limits[i].value, TORCH_DIGITS);
        else
            (void)dti_spell_shortest(texts[i], format, limits[i].code);
    }
    (void)fprintf(cx->out, "iinfo(min=%s, max=%s, dtype=%s)\n", texts[0], texts[1],
                  name_in(format, system));
}

static enum dti_status print_all(int style, bool integers, const struct dti_dtype_operand *list,
                                 size_t count, bool all, struct dti_command_context *cx,
                                 struct dti_error *reterr)
{
    const enum dti_system system = systems[style];
    if (cx->output != DTI_OUTPUT_HUMAN)
        return dti_fail(reterr, DTI_USAGE, "--like prints text; leave it out for JSON");
    for (size_t i = 0; i < count && !all; i++) {
        if (!has(system, integers, &list[i].format))
            return not_there(styles[style].name, system, integers, &list[i].format, reterr);
    }
    for (size_t i = 0; i < count; i++) {
        const struct dti_format *const format = &list[i].format;
        if (!has(system, integers, format) || (all && format->kind == DTI_KIND_COMPLEX))
            continue;
        if (integers)
            print_iinfo(system, format, cx);
        else
            (system == DTI_SYSTEM_TORCH ? print_torch_finfo : print_numpy_finfo)(format, cx);
    }
    return DTI_OK;
}

/* One document, or one per dtype with JSON Lines. */
static enum dti_status print_documents(const struct dti_info *info,
                                       const struct dti_dtype_operand *list, size_t count,
                                       struct dti_command_context *cx, struct dti_error *reterr)
{
    const size_t step = cx->output == DTI_OUTPUT_JSONL ? 1 : count;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < count && status == DTI_OK; i += step) {
        info->document(cx->json, &(struct dti_dtypes_answer){list + i, step});
        status = dti_document_write(cx->json, cx->out, reterr);
    }
    return status;
}

/* Removes the P3109 formats from a list and returns how many there were. */
static size_t leave_out_p3109(struct dti_dtype_operand *list, size_t *count)
{
    size_t kept = 0, hidden;
    for (size_t i = 0; i < *count; i++) {
        if (!dti_format_is_p3109(&list[i].format))
            list[kept++] = list[i];
    }
    hidden = *count - kept;
    *count = kept;
    return hidden;
}

enum dti_status dti_info_run(const struct dti_info *info, const struct dti_info_args *args,
                             char **operands, int operand_count, struct dti_command_context *cx,
                             struct dti_error *reterr)
{
    struct dti_dtype_operand *list = NULL;
    size_t count = 0, hidden = 0;
    const char *fields;
    const bool all = operand_count == 0;
    enum dti_status status =
        dti_fields_wanted(cx, args->field, info->bare, operands, &operand_count, &fields, reterr);
    if (status == DTI_OK)
        status = dti_dtype_operands_read(operands, operand_count,
                                         all ? info->takes_for_all : info->takes, cx, &list, &count,
                                         reterr);
    if (status != DTI_OK)
        return status;
    if (all && !args->all && !args->style_given && !fields && cx->output == DTI_OUTPUT_HUMAN)
        hidden = leave_out_p3109(list, &count);
    if (args->style_given) {
        status = print_all(args->style, info->integers, list, count, all, cx, reterr);
    } else if (cx->output != DTI_OUTPUT_HUMAN) {
        status = print_documents(info, list, count, cx, reterr);
    } else if (fields) {
        info->document(cx->json, &(struct dti_dtypes_answer){list, count});
        status = dti_fields_print(cx, "results", fields, reterr);
    } else {
        status = info->human(list, count, all ? &hidden : NULL, cx, reterr);
    }
    dti_free(list);
    return status;
}
