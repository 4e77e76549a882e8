/* SPDX-License-Identifier: MIT
 *
 * Targets for blocks and, with transcode_fp8.c, for fp8. Codes are unchanged:
 *
 *                       codes                  scales                       tensor scale
 *   compressed-tensors  X_packed U8 [N, K/2]   X_scale F8_E4M3 [N, K/16]    X_global_scale F32 [1],
 *                                                                           a divisor
 *                       X_packed U8 [N, K/2]   X_scale U8 [N, K/32]
 *                       X F8_E4M3 [N, K]       X_scale U8 [N, K/32]
 *                       X F8_E4M3 [N, K]       X_scale of any float: [1], [N, 1], [N/n, K/k]
 *   others              X U8 [N, K/2]          X_scale F8_E4M3 [N, K/16]    X_scale_2 F32 [],
 *                                                                           a factor
 *                       X U8 [N, K/2]          X_scale U8 [N, K/32]
 *                       X F8_E4M3 [N, K]       X_scale U8 [N, K/32], or F32 []
 *
 * Source: compressed-tensors 0.20. */
#include <math.h>
#include <string.h>

#include "files/dequant/dequant_find.h"
#include "files/transcode/transcode_nvfp4.h"

/* Adds codes, then one-byte scales. */
static enum dti_status add_blocks(struct dti_pool *pool, const struct dti_dequant_found *found,
                                  const char *codes, struct dti_transcoded *ret,
                                  struct dti_error *reterr)
{
    const struct dti_block_format *const block = found->how.is->block;
    const bool pairs = found->how.is->bits < 8;
    struct dti_transcode_part *const first = dti_transcode_add(
        ret, codes,
        pairs ? DTI_UINT8 : dti_dequant_part_tensor(DTI_PART_OF(&found->how, codes))->format->id);
    struct dti_transcode_part *const second = dti_transcode_add(
        ret, "_scale", block->family == DTI_BLOCKS_NV ? DTI_FP8_E4M3FN : DTI_UINT8);
    dti_transcode_set_shape(found, pairs ? 2 : 1, first);
    dti_transcode_set_shape(found, block->length, second);
    ret->blocks = ret->lossless = found->how.is->scale_count;
    if (!pairs)
        first->dtype = DTI_FP8_E4M3FN;
    return dti_transcode_set_codes(pool, found, first) &&
                   dti_transcode_set_scales(pool, found, second)
               ? DTI_OK
               : dti_no_memory(reterr);
}

/* Decodes fp8_e4m3fn without a sign: digits times a power of two. */
static float scale_of(unsigned code)
{
    const unsigned exponent = code >> 3, digits = code & 7;
    const float below = 1.0f / 512; /* the smallest subnormal */
    return exponent > 0 ? (float)(8 + digits) * (float)(1u << (exponent - 1)) * below
                        : (float)digits * below;
}

/* How a layout computes an nvfp4 number: with a divisor, unless that is read as a factor. */
static struct dti_nv_tensor rule_of(const struct dti_dequant_found *found, float scale,
                                    bool divides)
{
    const bool reciprocal = divides && found->how.is->reciprocal;
    return (struct dti_nv_tensor){reciprocal ? 1 / scale
                                  : divides  ? 1
                                             : scale,
                                  divides && !reciprocal ? scale : 1};
}

static const float elements[] = {0.5f, 1, 1.5f, 2, 3, 4, 6};
enum { ELEMENTS = sizeof elements / sizeof *elements, SCALES = 0x7f /* without sign and NaN */ };

/* A number of a block as loaders compute it: each operation is rounded to fp32. The variables see
 * to that where C evaluates floats in double (FLT_EVAL_METHOD), as on s390x. First what all numbers
 * of the block have in common. */
static float quotient_of(struct dti_nv_tensor tensor, float scale)
{
    const float product = scale * tensor.factor;
    const float quotient = product / tensor.divisor;
    return quotient;
}

static float number_of(float quotient, float element)
{
    const float number = quotient * element;
    return number;
}

/* Numbers of a block with this scale: before and after. */
struct change {
    float before[ELEMENTS], after[ELEMENTS];
};
static void change_of(struct dti_nv_tensor old, struct dti_nv_tensor new, unsigned code,
                      struct change *ret)
{
    const float scale = scale_of(code);
    const float before = quotient_of(old, scale), after = quotient_of(new, scale);
    for (size_t i = 0; i < ELEMENTS; i++) {
        ret->before[i] = number_of(before, elements[i]);
        ret->after[i] = number_of(after, elements[i]);
    }
}

/* Whether no product with a scale and an element leaves the normal numbers: then how it is rounded
 * depends on the digits of the scale alone. */
static bool is_moderate(struct dti_nv_tensor tensor)
{
    const float low = 0x1p-100f, high = 0x1p100f, both = tensor.factor / tensor.divisor;
    return tensor.factor >= low && tensor.factor <= high && both >= low && both <= high;
}

/* Whether any number changes. */
static bool is_other(struct dti_nv_tensor old, struct dti_nv_tensor new)
{
    const bool moderate = is_moderate(old) && is_moderate(new);
    const unsigned first = moderate ? 8 : 0, end = moderate ? 16 : SCALES; /* all digits once */
    if (old.factor == new.factor && old.divisor == new.divisor)
        return false;
    for (unsigned code = first; code < end; code++) {
        struct change change;
        change_of(old, new, code, &change);
        for (size_t i = 0; i < ELEMENTS; i++) {
            if (change.before[i] != change.after[i])
                return true;
        }
    }
    return false;
}

/* The largest relative error of any number in a block with this scale; 0 for NaN. */
static double worst_of(struct dti_nv_tensor old, struct dti_nv_tensor new, unsigned code)
{
    struct change change;
    double worst = 0;
    change_of(old, new, code, &change);
    for (size_t i = 0; i < ELEMENTS && code < SCALES; i++) {
        const double before = (double)change.before[i];
        if (change.before[i] == change.after[i])
            continue;
        const double error = fabs((double)change.after[i] - before) / before;
        if (!isfinite(error)) /* from 0, or from or to infinity */
            worst = worst > 1 ? worst : 1;
        else if (error > worst)
            worst = error;
    }
    return worst;
}

/* Counts blocks as lossless if all numbers that their scale allows stay the same. */
static enum dti_status count_errors(struct dti_dequant_tensor *how, struct dti_nv_tensor old,
                                    struct dti_nv_tensor new, struct dti_transcoded *ret,
                                    struct dti_error *reterr)
{
    uint64_t counts[256];
    const enum dti_status status = dti_transcode_count_scales(how, counts, reterr);
    for (unsigned code = 0; code < 0x80 && status == DTI_OK; code++) {
        const uint64_t count = counts[code] + counts[code | 0x80];
        if (count == 0)
            continue;
        const double error = worst_of(old, new, code);
        ret->lossless -= error > 0 ? count : 0;
        ret->worst = error > ret->worst ? error : ret->worst;
    }
    return status;
}

enum dti_status dti_transcode_count_nv(struct dti_dequant_found *found, struct dti_nv_tensor new,
                                       struct dti_transcoded *ret, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = &found->how;
    const bool divided = how->tensor_divisor != 0;
    const float stored = divided ? how->tensor_divisor : how->tensor_scale;
    const struct dti_nv_tensor old = rule_of(found, stored, divided);
    return is_other(old, new) ? count_errors(&found->how, old, new, ret, reterr) : DTI_OK;
}

enum dti_status dti_transcode_add_nv_scale(struct dti_dequant_found *found, bool divides,
                                           struct dti_transcoded *ret, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = &found->how;
    const bool divided = how->tensor_divisor != 0;
    const float stored = divided ? how->tensor_divisor : how->tensor_scale;
    const float scale = divides == divided ? stored : 1 / stored;
    if (!(scale > 0) || !isfinite(scale))
        return dti_transcode_refuse(found, reterr, "its tensor scale has no reciprocal in fp32");
    const enum dti_status status =
        dti_transcode_count_nv(found, rule_of(found, scale, divides), ret, reterr);
    if (status != DTI_OK)
        return status;
    dti_transcode_add_number(scale, divides ? "_global_scale" : "_scale_2", divides ? 1 : 0, ret);
    return DTI_OK;
}

/* Converts mxfp4 to nvfp4. */
static enum dti_status add_nvfp4(struct dti_pool *pool, struct dti_dequant_found *found,
                                 const char *codes, bool divides, struct dti_transcoded *ret,
                                 struct dti_error *reterr)
{
    struct dti_nvfp4_plan *const plan = dti_pool_alloc(pool, sizeof *plan);
    struct dti_transcode_part *const first = dti_transcode_add(ret, codes, DTI_UINT8);
    struct dti_transcode_part *const second = dti_transcode_add(ret, "_scale", DTI_FP8_E4M3FN);
    if (!plan)
        return dti_no_memory(reterr);
    const enum dti_status status = dti_nvfp4_plan(&found->how, false, plan, reterr);
    if (status != DTI_OK)
        return status;
    dti_transcode_set_shape(found, 2, first);
    dti_transcode_set_shape(found, DTI_NV_LENGTH, second);
    const struct dti_transcode_units of_codes = {dti_nvfp4_fill_codes, plan, DTI_NV_LENGTH / 2};
    const struct dti_transcode_units of_scales = {dti_nvfp4_fill_scales, plan, 1};
    const bool made = plan->same_codes ? dti_transcode_set_codes(pool, found, first)
                                       : dti_transcode_set_units(pool, first, &of_codes);
    if (!made || !dti_transcode_set_units(pool, second, &of_scales))
        return dti_no_memory(reterr);
    ret->blocks = plan->blocks;
    ret->lossless = plan->lossless;
    ret->worst = plan->worst;
    const float scale = ldexpf(1, divides ? -plan->power : plan->power);
    dti_transcode_add_number(scale, divides ? "_global_scale" : "_scale_2", divides ? 1 : 0, ret);
    return DTI_OK;
}

static bool is_block(const struct dti_dequant_found *found, enum dti_block id)
{
    return found->how.is->block && found->how.is->block->id == id;
}

/* Whether it has blocks that both layouts support. */
static bool has_common(const struct dti_dequant_found *found)
{
    return is_block(found, DTI_BLOCK_NVFP4) || is_block(found, DTI_BLOCK_MXFP4) ||
           is_block(found, DTI_BLOCK_MXFP8_E4M3);
}

static enum dti_status refuse_blocks(const struct dti_dequant_found *found, const char *layout,
                                     struct dti_error *reterr)
{
    if (has_common(found))
        return dti_transcode_refuse(found, reterr,
                                    "its blocks of %s are filled up, or not along the last axis, "
                                    "and %s has whole ones along rows",
                                    found->form.is->dtype, layout);
    return dti_transcode_refuse(
        found, reterr, "it is %s of %s, and %s has nvfp4, mxfp4, mxfp8_e4m3 and fp8_e4m3fn",
        found->form.is->dtype, found->form.is->layout, layout);
}

/* Adds blocks for compressed-tensors, which divides by the tensor scale, or for others. */
static enum dti_status add_all_blocks(const struct dti_transcode_target *target,
                                      struct dti_pool *pool, struct dti_dequant_found *found,
                                      struct dti_transcoded *ret, struct dti_error *reterr)
{
    const bool compressed = target->form != NULL, packed = compressed && found->how.is->bits < 8;
    if (!has_common(found) || !dti_transcode_has_blocks(found))
        return refuse_blocks(found, target->name, reterr);
    const enum dti_status status = add_blocks(pool, found, packed ? "_packed" : "", ret, reterr);
    return status == DTI_OK && is_block(found, DTI_BLOCK_NVFP4)
               ? dti_transcode_add_nv_scale(found, compressed, ret, reterr)
               : status;
}

enum dti_status dti_transcode_to_nvfp4(const struct dti_transcode_target *target,
                                       struct dti_pool *pool, struct dti_dequant_found *found,
                                       struct dti_transcoded *ret, struct dti_error *reterr)
{
    const bool compressed = target->form != NULL;
    dti_transcode_begin(found, ret);
    if (is_block(found, DTI_BLOCK_MXFP4) && dti_transcode_has_blocks(found))
        return add_nvfp4(pool, found, compressed ? "_packed" : "", compressed, ret, reterr);
    if (found->how.is->block && has_common(found) && !is_block(found, DTI_BLOCK_MXFP8_E4M3))
        return add_all_blocks(target, pool, found, ret, reterr);
    return dti_transcode_refuse(found, reterr, "it is %s, and only mxfp4 becomes nvfp4",
                                found->form.is->dtype);
}

enum dti_status dti_transcode_blocks(const struct dti_transcode_target *target,
                                     struct dti_pool *pool, struct dti_dequant_found *found,
                                     struct dti_transcoded *ret, struct dti_error *reterr)
{
    dti_transcode_begin(found, ret);
    if (!dti_transcode_is_fp8(found))
        return add_all_blocks(target, pool, found, ret, reterr);
    return target->form ? dti_transcode_compressed_fp8(pool, found, ret, reterr)
                        : dti_transcode_whole_fp8(target, found, ret, reterr);
}

static bool form_compressed(const struct dti_dequant_found *found, struct dti_config_form *ret)
{
    const struct dti_dequant_tensor *const how = &found->how;
    const struct dti_block_format *const block = how->is->block;
    if (!dti_transcode_is_module(found))
        return false;
    *ret = (struct dti_config_form){.format = dti_config_format(block, how->is->affine.code.id),
                                    .bits = how->is->bits,
                                    .floats = true,
                                    .inputs = found->form.input_scale &&
                                              (!block || block->family == DTI_BLOCKS_NV)};
    if (block) {
        const bool nv = block->family == DTI_BLOCKS_NV;
        ret->strategy = nv ? "tensor_group" : "group";
        ret->group[1] = block->length;
        ret->scale = nv ? DTI_FP8_E4M3FN : DTI_UINT8;
        return ret->format != NULL;
    }
    dti_transcode_fp8_form(found, ret);
    return true;
}

static bool form_compressed_nvfp4(const struct dti_dequant_found *found,
                                  struct dti_config_form *ret)
{
    *ret = (struct dti_config_form){.format = "nvfp4-pack-quantized",
                                    .strategy = "tensor_group",
                                    .bits = 4,
                                    .floats = true,
                                    .inputs = found->form.input_scale,
                                    .group[1] = DTI_NV_LENGTH,
                                    .scale = DTI_FP8_E4M3FN};
    return dti_transcode_is_module(found);
}

const struct dti_transcode_target dti_target_compressed_blocks = {
    .name = "compressed-tensors", .plan = dti_transcode_blocks, .form = form_compressed};
const struct dti_transcode_target dti_target_compressed_nvfp4 = {.name = "compressed-tensors",
                                                                 .takes = DTI_TAKES_FOR_NVFP4,
                                                                 .plan = dti_transcode_to_nvfp4,
                                                                 .form = form_compressed_nvfp4};
