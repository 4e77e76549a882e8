/* SPDX-License-Identifier: MIT
 *
 * Recipes of quantization in words. */
#include "cli/quant/quant_words.h"

#include <stdio.h>

#include "core/block/quant_parts.h"

/* The codes that the largest magnitude is spread over: "127", "127.5". */
static void spell_steps(char buffer[DTI_TEXT_SIZE], const struct dti_quant_target *target)
{
    const struct dti_affine *const affine = &target->scheme.affine.affine;
    const unsigned width = target->code.width;
    struct dti_value steps;
    uint64_t code = 0;
    if (!dti_format_is_integer(&target->code)) {
        (void)dti_code_max(&affine->code, &code);
        dti_decode(&affine->code, code, &steps);
    } else if (target->scheme.affine.symmetry == DTI_SYMMETRY_HALF) {
        dti_value_set(&steps, false, (UINT64_C(1) << width) - 1, -1);
    } else {
        dti_value_set(&steps, false, (UINT64_C(1) << (width - 1)) - 1, 0);
    }
    dti_spell_text(buffer, &steps);
}

const char *dti_quant_kind_words(const struct dti_quant_target *target,
                                 char buffer[QUANT_WORDS_SIZE])
{
    const struct dti_block_format *const block = target->scheme.block;
    const struct dti_quant_scheme *const scheme = &target->scheme;
    char steps[DTI_TEXT_SIZE];
    if (block) {
        (void)snprintf(buffer, QUANT_WORDS_SIZE, "blocks of %u, %s with %s scales",
                       (unsigned)block->length, block->element, dti_format_get(block->scale)->name);
        return buffer;
    }
    if (scheme->biased) {
        (void)snprintf(buffer, QUANT_WORDS_SIZE, "MLX's rule, range / %u, with a bias",
                       (unsigned)(scheme->affine.affine.high - scheme->affine.affine.low));
        return buffer;
    }
    const bool integer = dti_format_is_integer(&target->code);
    const bool affine = integer && scheme->affine.symmetry == DTI_SYMMETRY_NONE;
    spell_steps(steps, target);
    if (dti_quant_scale_given(target))
        (void)snprintf(buffer, QUANT_WORDS_SIZE, "with the given scale");
    else if (affine)
        (void)snprintf(buffer, QUANT_WORDS_SIZE, "affine, range / %u",
                       (unsigned)(scheme->affine.affine.high - scheme->affine.affine.low));
    else
        (void)snprintf(buffer, QUANT_WORDS_SIZE, "%slargest magnitude / %s",
                       integer ? "symmetric, " : "", steps);
    return buffer;
}

const char *dti_quant_division_words(const struct dti_quant_target *target)
{
    const struct dti_block_format *const block = target->scheme.block;
    if (target->scheme.biased)
        return "(x - bias) / scale in fp32, to nearest even";
    if (block && block->family == DTI_BLOCKS_MX)
        return "x / scale, to nearest even";
    if (block && block->family == DTI_BLOCKS_Q8)
        return "x times 1 / d in fp32, to nearest, halves away from zero";
    if (block && block->family == DTI_BLOCKS_Q4)
        return "x times 1 / d in fp32, plus 8.5, cut";
    const enum dti_quant_division division =
        block ? target->scheme.blocks.division : target->scheme.affine.affine.division;
    if (block && block->family == DTI_BLOCKS_NF)
        return division == DTI_DIVIDE_RECIPROCAL ? "x times 1 / scale in fp32, to the nearest entry"
               : division == DTI_DIVIDE_EXACT    ? "x / scale exactly, to the nearest entry"
                                                 : "x / scale in fp32, to the nearest entry";
    return division == DTI_DIVIDE_RECIPROCAL ? "x times 1 / scale in fp32, to nearest even"
           : division == DTI_DIVIDE_EXACT    ? "x / scale exactly, to nearest even"
                                             : "x / scale in fp32, to nearest even";
}

/* The same for an MX block. */
static const char *mx_words(const struct dti_quant_target *target, char buffer[QUANT_WORDS_SIZE])
{
    static const char *const logarithms[] = {
        [DTI_MX_FLOOR] = "floor(log2 amax)",
        [DTI_MX_CEIL] = "ceil(log2 amax)",
        [DTI_MX_EVEN] = "floor(log2 of amax, rounded as an element)",
    };
    char max_text[DTI_TEXT_SIZE], less[16] = "";
    struct dti_value max;
    uint64_t code = 0;
    (void)dti_code_max(&target->code, &code);
    dti_quant_code_number(target, (uint32_t)code, &max);
    dti_spell_text(max_text, &max);
    if (max.exponent > 0)
        (void)snprintf(less, sizeof less, " - %d", (int)max.exponent);
    if (target->scheme.blocks.mx == DTI_MX_RCEIL)
        (void)snprintf(buffer, QUANT_WORDS_SIZE, "ceil(log2(amax / %s))", max_text);
    else if (target->scheme.blocks.mx == DTI_MX_RFLOOR)
        (void)snprintf(buffer, QUANT_WORDS_SIZE, "floor(log2(amax / %s))", max_text);
    else
        (void)snprintf(buffer, QUANT_WORDS_SIZE, "%s%s", logarithms[target->scheme.blocks.mx],
                       less);
    return buffer;
}

const char *dti_quant_scale_words(const struct dti_quant_target *target,
                                  char buffer[QUANT_WORDS_SIZE])
{
    switch (target->scheme.block->family) {
    case DTI_BLOCKS_MX:
        return mx_words(target, buffer);
    case DTI_BLOCKS_NV:
        (void)snprintf(buffer, QUANT_WORDS_SIZE, "amax / %s%s%s",
                       target->scheme.blocks.nv == DTI_NV_FOUR_SIX ? "(6 or 4)" : "6",
                       target->tensor_scale == DTI_TENSOR_SCALE_NONE ? "" : " / tensor scale",
                       target->scheme.blocks.nv == DTI_NV_UNROUNDED ? ", unrounded for codes" : "");
        return buffer;
    case DTI_BLOCKS_NF:
        return "amax";
    case DTI_BLOCKS_Q8:
        return "d = amax / 127, stored as fp16";
    case DTI_BLOCKS_Q4:
        break;
    }
    return "d = the number of largest magnitude / -8, stored as fp16";
}
