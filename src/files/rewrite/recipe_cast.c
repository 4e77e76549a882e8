/* SPDX-License-Identifier: MIT
 *
 * The recipes that cast element by element: to a dtype, or from codes with scales, which a view of
 * the file turns into numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/dequant/dequant_parts.h"
#include "files/rewrite/rewrite_parts.h"
#include "files/scan/scaled_codes.h"
#include "util/run/allocate.h"

/* Whether a NaN may have no code in a dtype of the cast: detected by counting losses. */
static bool may_refuse(const struct dti_cast *cast)
{
    return cast->via_count > 0 ||
           (dti_format_is_float(&cast->dst) && !dti_format_has_nan(&cast->dst) &&
            cast->policy.overflow == DTI_OVERFLOW_NATIVE);
}

static enum dti_status begin(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    const struct dti_cast_recipe *const recipe = &rewrite->request.cast;
    (void)reterr;
    rewrite->counts = rewrite->counts || recipe->flags || may_refuse(&recipe->cast);
    return DTI_OK;
}

static enum dti_fate choose(const struct dti_rewrite *rewrite, const struct dti_quant_names *names,
                            size_t tensor)
{
    const struct dti_cast_recipe *const recipe = &rewrite->request.cast;
    const struct dti_format *const format = rewrite->container->tensors[tensor].format;
    if (dti_format_is_integer(format) && !recipe->ints)
        return DTI_FATE_INTEGER;
    if (!rewrite->request.only && dti_rewrite_is_fp32(rewrite, tensor))
        return format->id == DTI_FP32 ? DTI_FATE_CONVENTION : DTI_FATE_CHANGED;
    /* rounded scales would change all numbers of their tensor: cast them only if a pattern names
     * them */
    if (!rewrite->request.only && dti_rewrite_is_part(names, tensor))
        return DTI_FATE_PART;
    /* in every framework a cast to the same dtype returns the tensor unchanged */
    if (recipe->rule && format->id < DTI_DTYPE_COUNT && format->id == recipe->cast.dst.id)
        return DTI_FATE_SAME;
    const struct dti_request plan = {.src = *format, .cast = recipe->cast, .rule = recipe->rule};
    return dti_request_is_copy(&plan) ? DTI_FATE_SAME : DTI_FATE_CHANGED;
}

/* Warns once; otherwise it would look as if nothing had happened. */
static void warn_of_no_cast(const struct dti_rewrite *rewrite)
{
    bool integers = true;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        if (rewrite->tensors[i].fate == DTI_FATE_SAME)
            return;
        integers = integers && rewrite->tensors[i].fate == DTI_FATE_INTEGER;
    }
    const struct dti_note note = {
        .code = "nothing_cast",
        .text = integers ? "nothing is cast: all tensors are integers"
                         : "nothing is cast: all tensors keep their dtypes",
        .remedy = integers ? DTI_REMEDY_CAST_INTEGERS : DTI_REMEDY_NONE,
    };
    if (rewrite->tensor_count > 0 && rewrite->changed_count == 0)
        rewrite->request.warn(rewrite->request.warn_context, &note);
}

/* Weights are far below 1 in magnitude and become 0 in integers. */
static void warn_of_integers(const struct dti_rewrite *rewrite)
{
    const struct dti_format *const to = &rewrite->request.cast.cast.dst;
    char text[160];
    size_t at = 0;
    if (!dti_format_is_integer(to) || to->kind == DTI_KIND_BOOL)
        return;
    while (at < rewrite->tensor_count &&
           (rewrite->tensors[at].fate != DTI_FATE_CHANGED ||
            !dti_format_is_float(dti_rewrite_source(rewrite, at)->format)))
        at++;
    (void)snprintf(text, sizeof text,
                   "floats lose their fractions: %s holds whole numbers, without "
                   "a scale",
                   to->name);
    const struct dti_note note = {
        .code = "floats_to_integers", .text = text, .remedy = DTI_REMEDY_QUANTIZE};
    if (at < rewrite->tensor_count)
        rewrite->request.warn(rewrite->request.warn_context, &note);
}

/* Warns of tensors that are quantized, in any layout. */
static void warn_of_parts(const struct dti_rewrite *rewrite)
{
    char name[DTI_QUOTE_SIZE], text[DTI_QUOTE_SIZE + 128];
    size_t count = 0, first = 0;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        if (rewrite->tensors[i].fate == DTI_FATE_PART && count++ == 0)
            first = i;
    }
    if (count == 0)
        return;
    const struct dti_tensor *const tensor = dti_rewrite_source(rewrite, first);
    (void)snprintf(text, sizeof text,
                   "the input is quantized: %zu scale%s or the like %s as %s, the first is %s",
                   count, count == 1 ? "" : "s", count == 1 ? "stays" : "stay",
                   count == 1 ? "it is" : "they are",
                   dti_quote(name, tensor->name, tensor->name_length));
    const struct dti_note note = {
        .code = "quantized_kept", .text = text, .remedy = DTI_REMEDY_APPLY_SCALES};
    rewrite->request.warn(rewrite->request.warn_context, &note);
}

/* Warns of tensors in blocks, which are copied. */
static void warn_of_blocks(const struct dti_rewrite *rewrite)
{
    char text[96];
    size_t count = 0;
    for (size_t i = 0; i < rewrite->tensor_count; i++)
        count += rewrite->tensors[i].fate == DTI_FATE_BLOCKS;
    (void)snprintf(text, sizeof text, "the input is quantized: %zu tensor%s of blocks %s", count,
                   count == 1 ? "" : "s", count == 1 ? "stays as it is" : "stay as they are");
    const struct dti_note note = {
        .code = "quantized_kept", .text = text, .remedy = DTI_REMEDY_APPLY_SCALES};
    if (count > 0)
        rewrite->request.warn(rewrite->request.warn_context, &note);
}

/* Warns of codes that are cast without their scales. */
static enum dti_status warn_of_codes(const struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    struct dti_scaled_codes codes = {.count = 0};
    char text[DTI_SCALED_CODES_TEXT];
    size_t count = 0;
    const struct dti_tensor **const those = dti_calloc(rewrite->tensor_count + 1, sizeof *those);
    for (size_t i = 0; i < rewrite->tensor_count && those; i++) {
        if (rewrite->tensors[i].fate == DTI_FATE_CHANGED)
            those[count++] = dti_rewrite_source(rewrite, i);
    }
    const bool done = those && dti_scaled_codes_find(&codes, rewrite->container, those, count);
    dti_free((void *)those);
    if (!done)
        return dti_no_memory(reterr);
    if (codes.count == 0) {
        warn_of_parts(rewrite);
        return DTI_OK;
    }
    const struct dti_note note = dti_scaled_codes_note(&codes, text);
    rewrite->request.warn(rewrite->request.warn_context, &note);
    return DTI_OK;
}

/* The Python index of the tensor in a .npz: "['a.weight']". */
static void put_key(const struct dti_rewrite *rewrite, size_t at, char text[DTI_QUOTE_SIZE + 2])
{
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    char name[DTI_QUOTE_SIZE];
    const bool plain = !memchr(source->name, '\'', source->name_length) &&
                       !memchr(source->name, '\\', source->name_length);
    text[0] = '\0';
    if (!dti_is_array(rewrite->request.kind))
        (void)snprintf(text, DTI_QUOTE_SIZE + 2, "[%s]",
                       plain ? dti_quote(name, source->name, source->name_length) : "NAME");
}

/* numpy loads such a file without warning, but shows raw bytes. */
static enum dti_status warn_of_bytes(const struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    const struct dti_rewrite_request *const request = &rewrite->request;
    const char *dtype;
    char path[DTI_QUOTE_SIZE] = "FILE", key[DTI_QUOTE_SIZE + 2], text[2 * DTI_QUOTE_SIZE + 192];
    size_t at = 0;
    (void)reterr;
    if (!request->warn || !dti_is_numpy(request->kind))
        return DTI_OK;
    while (at < rewrite->tensor_count &&
           !dti_npy_is_bytes(rewrite->tensors[at].way->format, &dtype))
        at++;
    if (at == rewrite->tensor_count)
        return DTI_OK;
    put_key(rewrite, at, key);
    if (request->path[0] != '\0' && strcmp(request->path, "-") != 0 &&
        !strpbrk(request->path, "'\\")) /* safe inside a Python string */
        dti_quote(path, request->path, strlen(request->path));
    const char *const name = rewrite->tensors[at].way->format->name;
    if (dtype)
        (void)snprintf(text, sizeof text,
                       "numpy has no %s and loads it as bytes; in Python: "
                       "import ml_dtypes, numpy; numpy.load(%s)%s.view(ml_dtypes.%s)",
                       name, path, key, dtype);
    else
        (void)snprintf(text, sizeof text, "numpy and ml_dtypes have no %s: numpy loads it as bytes",
                       name);
    const struct dti_note note = {.code = "npy_bytes", .text = text};
    request->warn(request->warn_context, &note);
    return DTI_OK;
}

static enum dti_status warn_of_cast(const struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    warn_of_no_cast(rewrite);
    warn_of_integers(rewrite);
    warn_of_blocks(rewrite);
    return warn_of_codes(rewrite, reterr);
}

/* The tensors of a view are already numbers. */
static enum dti_status warn_of_view(const struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    (void)reterr;
    warn_of_no_cast(rewrite);
    return DTI_OK;
}

static enum dti_status plan(struct dti_rewrite *rewrite, size_t at, struct dti_error *reterr)
{
    const bool fp32 =
        !rewrite->request.only && dti_rewrite_is_fp32(rewrite, rewrite->tensors[at].source);
    return dti_rewrite_plan_elements(
        rewrite, at, fp32 ? dti_format_get(DTI_FP32) : &rewrite->request.cast.cast.dst, reterr);
}

/* Refuses a packing in the request if no code needs one. */
static enum dti_status check_packing(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    const struct dti_cast_recipe *const recipe = &rewrite->request.cast;
    const enum dti_container_kind from = rewrite->container->kind, to = rewrite->request.kind;
    bool source = false, result = false;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        source = source || dti_format_packs(dti_rewrite_source(rewrite, i)->format);
        result = result || dti_format_packs(rewrite->tensors[i].way->format);
    }
    source = source && dti_container_has(from, DTI_TRAIT_TEXTS | DTI_TRAIT_BARE);
    if (recipe->from_packing_given && !source)
        return dti_fail_remedy(
            reterr, DTI_USAGE, DTI_REMEDY_DROP_INPUT_PACKING,
            "the input has no sub-byte codes whose packing the file leaves open");
    if (recipe->packing_given && result && dti_is_numpy(to) && recipe->packing != DTI_PACKING_BYTES)
        return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_DROP_PACKING_OR_RAW,
                               "%s files hold one code per byte", dti_container_name(to));
    if (recipe->packing_given && !source && !result)
        return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_DROP_PACKING,
                               "there are no sub-byte codes");
    const bool bytes = (recipe->packing_given && recipe->packing == DTI_PACKING_BYTES && result &&
                        dti_holds_texts(to)) ||
                       (recipe->from_packing_given && dti_holds_texts(from) &&
                        recipe->from_packing == DTI_PACKING_BYTES);
    if (bytes)
        return dti_fail(reterr, DTI_USAGE,
                        "safetensors files pack sub-byte codes without gaps; use low or high");
    return DTI_OK;
}

static enum dti_status check_nan(const struct dti_rewrite *rewrite, size_t at,
                                 const struct dti_loss *loss, struct dti_error *reterr)
{
    const struct dti_cast_recipe *const recipe = &rewrite->request.cast;
    const struct dti_format *const without =
        dti_loss_without_nan(loss, &recipe->cast, recipe->rule);
    char place[DTI_TENSOR_PLACE], element[48] = "a NaN";
    if (!without)
        return DTI_OK;
    if (loss->first_no_code != UINT64_MAX)
        (void)snprintf(element, sizeof element, "element %llu is NaN",
                       (unsigned long long)loss->first_no_code);
    return dti_fail_remedy(reterr, DTI_NOT_REPRESENTABLE, DTI_REMEDY_SATURATE,
                           "%s: %s; %s has no NaN",
                           dti_tensor_place(rewrite->container, rewrite->tensors[at].source, place),
                           element, without->name);
}

enum dti_status dti_rewrite_add_cast(struct dti_rewrite *rewrite, size_t at,
                                     const struct dti_loss *loss, struct dti_error *reterr)
{
    const enum dti_status status = check_nan(rewrite, at, loss, reterr);
    if (status == DTI_OK)
        dti_rewrite_add_loss(rewrite, at, loss);
    return status;
}

const struct dti_recipe_ops dti_recipe_cast = {
    .elementwise = true,
    .names = true,
    .unnamed = DTI_REMEDY_CAST_OR_LEAVE_OUT,
    .begin = begin,
    .choose = choose,
    .warn = warn_of_cast,
    .plan = plan,
    .planned = check_packing,
    .laid_out = warn_of_bytes,
};

static bool keeps(const struct dti_rewrite *rewrite, size_t tensor, enum dti_fate *ret_fate)
{
    const enum dti_dequant_state state =
        dti_dequant_state_of(rewrite->request.dequant, dti_rewrite_place(rewrite, tensor));
    *ret_fate = state == DTI_DEQUANT_ONLY ? DTI_FATE_ONLY : DTI_FATE_KEEP;
    return state == DTI_DEQUANT_ONLY || state == DTI_DEQUANT_KEPT;
}

static bool fits(const struct dti_rewrite *rewrite, const char *pattern, size_t length)
{
    return dti_dequant_fits(rewrite->request.dequant, pattern, length);
}

static enum dti_status data(const struct dti_rewrite *rewrite, size_t tensor,
                            struct dti_batch_source *ret_source, const struct dti_input **ret_input,
                            uint64_t *ret_offset, struct dti_error *reterr)
{
    return dti_file_dequant_data(rewrite->request.dequant, tensor, ret_source, ret_input,
                                 ret_offset, reterr);
}

const struct dti_recipe_ops dti_recipe_dequantize = {
    .elementwise = true,
    .unnamed = DTI_REMEDY_CAST_OR_LEAVE_OUT,
    .begin = begin,
    .keeps = keeps,
    .choose = choose,
    .fits = fits,
    .warn = warn_of_view,
    .plan = plan,
    .planned = check_packing,
    .laid_out = warn_of_bytes,
    .data = data,
};
