/* SPDX-License-Identifier: MIT
 *
 * Self-test: deliberately wrong quantization kernels, built on the definition, must all be caught
 * even by the reduced run, and correct ones must pass. */
#include <math.h>
#include <stdio.h>

#include "check_quant.h"

enum fault {
    RIGHT,
    TIES_AWAY,
    OTHER_DIVISION,
    NAN_IS_LOW,
    INFINITY_IS_CLIPPED,
    CLIPPED_FORGOTTEN,
    ZERO_BEFORE_ROUNDING,
    LOWEST_USED,
    SCALE_OF_FIRST,
    LAST_FORGOTTEN,
    READS_BEYOND,
    WRITES_BEYOND,
    ZERO_IGNORED,
    SUBNORMALS_LOST,
    INFINITY_KEPT,
    RANGE_STARTS_ANEW,
    RULE_IGNORED,
    TENSOR_SCALE_IGNORED,
    SHORT_BLOCK_IS_WHOLE,
    ORDER_IGNORED,
    STRIDE_IGNORED,
    PADDING_LEFT,
    SCALE_BYTES_REVERSED,
    CODES_OF_SPECIALS_LEFT,
    BLOCKS_NOT_COUNTED,
    LAST_OF_LARGEST,
    TENSOR_SCALE_LAST,
    NAN_SCALE_IGNORED,
    ONE_ROUNDING,
    BIAS_OF_FIRST,
    CODES_OF_ROUNDED_SCALE,
    OTHER_ORDER,
    MIDDLE_IGNORED,
};

static enum fault fault; /* injected into the kernels below */

static uint32_t number_at(const float *x, size_t i)
{
    return (uint32_t)get_container(x, 4, i);
}

static void range(const float *x, size_t n, struct dti_range *total)
{
    if (fault == RANGE_STARTS_ANEW && n > 0) {
        total->min = INFINITY;
        total->max = -INFINITY;
    }
    for (size_t i = 0; i < n; i++) {
        const float number = float_of(number_at(x, i));
        total->nan += isnan(number) != 0;
        total->inf += isinf(number) != 0;
        if ((isinf(number) && fault != INFINITY_KEPT) || isnan(number) ||
            (fault == LAST_FORGOTTEN && i + 1 == n && n % 32 == 7))
            continue;
        total->min = number < total->min ? number : total->min;
        total->max = number > total->max ? number : total->max;
    }
}

static struct dti_affine_scale scale_at(const struct dti_affine_args *args, size_t i)
{
    struct dti_affine_scale scale = {bits_of(args->scale), args->zero_point};
    const size_t at = fault == SCALE_OF_FIRST ? i / 16 * 16 : i;
    if (args->scales)
        scale.scale = number_at(args->scales, at);
    if (args->scales && args->zero_points)
        scale.zero_point = (int32_t)number_at((const float *)(const void *)args->zero_points, i);
    if (fault == SUBNORMALS_LOST && scale.scale < 0x800000)
        scale.scale = 0x800000;
    return scale;
}

static void quantize(const struct dti_affine_args *args, void *codes, const float *x, size_t n,
                     struct dti_quant_count *count)
{
    struct dti_affine affine = *args->affine;
    if (fault == OTHER_DIVISION)
        affine.division =
            affine.division == DTI_DIVIDE_TRUE ? DTI_DIVIDE_RECIPROCAL : DTI_DIVIDE_TRUE;
    if (fault == LOWEST_USED && affine.low == -127)
        affine.low = -128;
    for (size_t i = 0; i < n; i++) {
        const struct dti_affine_scale scale = scale_at(args, i);
        const uint32_t bits = number_at(x, i);
        struct dti_quantized_number number;
        dti_affine_quantize(&affine, &scale, bits, &number);
        const float half = float_of(bits) / float_of(scale.scale) + 0.5f;
        if (fault == TIES_AWAY && half <= 100 && half >= 1 && floorf(half) >= half &&
            affine.division == DTI_DIVIDE_TRUE && (int32_t)half + scale.zero_point <= affine.high)
            number.code = (uint32_t)((int32_t)half + scale.zero_point) & 0xff;
        const float sum = half - 0.5f + (float)scale.zero_point;
        if (fault == ZERO_BEFORE_ROUNDING && sum >= (float)affine.low && sum <= (float)affine.high)
            number.code = (uint32_t)(int32_t)rintf(sum) & (uint32_t)dti_low_bits(affine.code.width);
        if (fault == NAN_IS_LOW && isnan(float_of(bits)) && affine.specials == DTI_QUANT_CLAMP)
            number.code = (uint32_t)affine.low & (uint32_t)dti_low_bits(affine.code.width);
        if (fault == LAST_FORGOTTEN && n % 32 == 7 && i + 1 == n)
            continue;
        put_container(codes, 1, i, number.code);
        count->clipped +=
            (number.clipped && fault != CLIPPED_FORGOTTEN) ||
            (fault == INFINITY_IS_CLIPPED && number.special && !isnan(float_of(bits)));
        count->special += number.special;
    }
    if (fault == READS_BEYOND && n % 32 == 5)
        (void)((const volatile float *)x)[n];
    if (fault == WRITES_BEYOND && n % 32 == 5)
        put_container(codes, 1, n, 0);
}

static void dequantize(const struct dti_affine_args *args, float *x, const void *codes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct dti_affine_scale scale = scale_at(args, i);
        if (fault == ZERO_IGNORED)
            scale.zero_point = 0;
        put_container(
            x, 4, i,
            dti_affine_dequantize(args->affine, &scale, (uint32_t)get_container(codes, 1, i)));
    }
}

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void spoil_block(const struct dti_block_recipe *recipe, const uint32_t *x, size_t n,
                        struct dti_quantized_block *block)
{
    const bool is_q4 = recipe->format->family == DTI_BLOCKS_Q4;
    uint32_t reordered[DTI_BLOCK_LENGTH_MAX];
    struct dti_quantized_block other;
    for (size_t i = 0; i < n; i++)
        reordered[i] = x[n - 1 - i];
    dti_block_quantize(recipe, reordered, n, &other);
    for (size_t i = 0; i < n && fault == LAST_OF_LARGEST && is_q4; i++) {
        block->scale = other.scale;
        block->code[i] = other.code[n - 1 - i];
    }
    for (size_t i = 0; i < n && fault == CODES_OF_SPECIALS_LEFT && block->special; i++)
        block->code[i] = 1;
}

static void quantize_blocks(const struct dti_block_args *args, void *codes, void *scales,
                            const float *x, size_t n, struct dti_quant_count *count)
{
    struct dti_block_recipe recipe = *args->recipe;
    const struct dti_block_format *format = recipe.format;
    const size_t length = format->length, scale_bytes = quant_scale_bytes(format);
    const enum dti_block_order order =
        fault == ORDER_IGNORED && args->order == DTI_BLOCK_HIGH ? DTI_BLOCK_LOW : args->order;
    uint8_t *to = codes, *scale_to = scales;
    recipe.mx = fault == RULE_IGNORED && recipe.mx == DTI_MX_EVEN ? DTI_MX_FLOOR : recipe.mx;
    recipe.tensor_scale = fault == TENSOR_SCALE_IGNORED ? 0x3f800000 : recipe.tensor_scale;
    for (size_t at = 0; at < n; at += length) {
        uint32_t numbers[DTI_BLOCK_LENGTH_MAX] = {0};
        struct dti_quantized_block block;
        const size_t some = lesser(length, n - at), bytes = quant_code_bytes(format, order, some);
        for (size_t i = 0; i < some; i++)
            numbers[i] = number_at(x, at + i);
        dti_block_quantize(&recipe, numbers, some, &block);
        spoil_block(&recipe, numbers, some, &block);
        quant_put_codes(format, order, to, block.code, some);
        if (fault == PADDING_LEFT && some * quant_code_bits(format, order) % 8 != 0)
            to[bytes - 1] |= order == DTI_BLOCK_HIGH ? 1 : 0x80;
        if (fault == SHORT_BLOCK_IS_WHOLE && some < length && some > 8)
            memset(to + bytes, 0, 1);
        quant_put_scale(format, scale_to, block.scale);
        if (fault == SCALE_BYTES_REVERSED && scale_bytes == 2) {
            scale_to[0] = (uint8_t)(block.scale >> 8);
            scale_to[1] = (uint8_t)block.scale;
        }
        to += fault == STRIDE_IGNORED ? bytes : args->code_stride;
        scale_to += args->scale_stride;
        count->clipped += block.clipped;
        count->blocks += block.clipped > 0 && fault != BLOCKS_NOT_COUNTED;
        count->special += block.special;
    }
}

static uint32_t code_at(const struct dti_block_args *args, const uint8_t *codes, size_t i)
{
    const struct dti_block_format *format = args->recipe->format;
    const unsigned bits = quant_code_bits(format, args->order);
    uint32_t code = 0;
    for (unsigned bit = 0; bit < bits; bit++) {
        const bool high = args->order == DTI_BLOCK_HIGH;
        const size_t at = i * bits + (high ? bits - 1 - bit : bit);
        code |= (uint32_t)(codes[at / 8] >> (high ? 7 - at % 8 : at % 8) & 1) << bit;
    }
    return code;
}

static void dequantize_blocks(const struct dti_block_args *args, float *x, const void *codes,
                              const void *scales, size_t n)
{
    const struct dti_block_format *format = args->recipe->format;
    for (size_t i = 0; i < n; i++) {
        const size_t block = i / format->length;
        const uint8_t *from = (const uint8_t *)scales + block * args->scale_stride;
        struct dti_block_recipe recipe = *args->recipe;
        uint32_t scale = 0;
        for (size_t byte = 0; byte < quant_scale_bytes(format); byte++)
            scale |= (uint32_t)from[byte] << 8 * byte;
        if (fault == NAN_SCALE_IGNORED && format->scale == DTI_FP8_E8M0 && scale == 255)
            scale = 254;
        if (fault == TENSOR_SCALE_LAST && format->family == DTI_BLOCKS_NV)
            recipe.tensor_scale = 0x3f800000;
        const uint32_t code =
            code_at(args, (const uint8_t *)codes + block * args->code_stride, i % format->length);
        uint32_t number = dti_block_dequantize(&recipe, scale, code);
        if (fault == TENSOR_SCALE_LAST && format->family == DTI_BLOCKS_NV)
            number = bits_of(float_of(number) * float_of(args->recipe->tensor_scale));
        if (fault == TENSOR_SCALE_LAST && isnan(float_of(number)))
            number = 0x7fc00000;
        put_container(x, 4, i, number);
    }
}

/* Injects faults for fp32 only; other formats use the correct code. */
static void add_bias(const struct dti_biased_args *args, float *x, const unsigned char *codes,
                     size_t n)
{
    for (size_t i = 0; i < n - (fault == LAST_FORGOTTEN && n % 32 == 7); i++) {
        const float scale = float_of(number_at(args->scales, i / args->group));
        const float bias =
            float_of(number_at(args->biases, fault == BIAS_OF_FIRST ? 0 : i / args->group));
        float number;
        if (fault == ONE_ROUNDING && args->number == DTI_FP32) {
            number = (float)((double)codes[i] * (double)scale + (double)bias);
        } else {
            const struct dti_biased_args own = {
                .number = args->number, .group = 1, .scales = &scale, .biases = &bias};
            dti_quant_find_biased(true, DTI_LEVEL_SCALAR)
                ->run.biased_back(&own, &number, codes + i, 1);
        }
        put_container(x, 4, i, isnan(number) ? 0x7fc00000 : bits_of(number));
    }
}

/* Quantizes to codes with a bias, with one fault. */
static void add_biases(const struct dti_biased_args *args, unsigned char *codes, float *scales,
                       float *biases, const float *x, size_t n, struct dti_quant_count *count)
{
    const struct dti_quant_kernel *const good = dti_quant_find_biased(false, DTI_LEVEL_SCALAR);
    good->run.biased(args, codes, scales, biases, x, n, count);
    if (fault == CLIPPED_FORGOTTEN)
        count->clipped = 0;
    for (size_t i = 0; i < n / args->group && fault == BIAS_OF_FIRST; i++)
        put_container(biases, 4, i, number_at(biases, 0));
    for (size_t i = 0; i < n && fault == CODES_OF_ROUNDED_SCALE; i++) {
        const float scale = float_of(number_at(scales, i / args->group));
        const float bias = float_of(number_at(biases, i / args->group));
        const float place = nearbyintf((float_of(number_at(x, i)) - bias) / scale);
        const float most = (float)((1 << args->bits) - 1);
        codes[i] = (unsigned char)(place > 0 ? place < most ? place : most : 0);
    }
}

/* Rotates with one fault. */
static void rotate(float *y, const float *x, size_t groups, unsigned group)
{
    const struct dti_quant_kernel *const good = dti_quant_find_rotate(false, DTI_LEVEL_SCALAR);
    if (fault != OTHER_ORDER || group < 256) {
        good->run.rotate(y, x, groups, group);
        return;
    }
    for (size_t i = 0; i < groups * group; i++) { /* without a second sum after 128 columns */
        float sum = 0;
        for (size_t k = 0; k < group; k++) {
            size_t row = i % group, column = k, odd = 0;
            for (; row > 0 || column > 0; row /= 4, column /= 4)
                odd += row % 4 + column % 4 == 3;
            const float term = float_of(number_at(x, i / group * group + k)) / 16;
            sum += odd % 2 == 1 ? -term : term;
        }
        put_container(y, 4, i, bits_of(sum));
    }
}

static void unrotate(const struct dti_unrotate_args *args, float *y, const unsigned char *codes,
                     size_t groups)
{
    struct dti_unrotate_args own = *args;
    if (fault == MIDDLE_IGNORED)
        own.middle = 0;
    dti_quant_find_rotate(true, DTI_LEVEL_SCALAR)->run.unrotate(&own, y, codes, groups);
}

enum {
    SOME_BLOCKS = 1 << DTI_BLOCK_MXFP6_E2M3 | 1 << DTI_BLOCK_MXFP4 | 1 << DTI_BLOCK_NVFP4 |
                  1 << DTI_BLOCK_Q4_0,
    SOME_ORDERS = 15,
};

static const struct dti_quant_kernel range_row = {
    .name = "range", .work = DTI_QUANT_RANGE, .run = {.range = range}};
static const struct dti_quant_kernel affine_row = {.name = "affine",
                                                   .work = DTI_QUANT_AFFINE,
                                                   .codes = DTI_QUANT_CODES_8,
                                                   .run = {.affine = quantize}};
static const struct dti_quant_kernel columns_row = {.name = "columns",
                                                    .work = DTI_QUANT_AFFINE,
                                                    .codes = DTI_QUANT_CODES_8,
                                                    .columns = true,
                                                    .run = {.affine = quantize}};
static const struct dti_quant_kernel back_row = {.name = "back",
                                                 .work = DTI_QUANT_AFFINE_BACK,
                                                 .codes = DTI_QUANT_CODES_8,
                                                 .columns = true,
                                                 .run = {.affine_back = dequantize}};
static const struct dti_quant_kernel biases_row = {
    .name = "biases", .work = DTI_QUANT_BIASED, .run = {.biased = add_biases}};
static const struct dti_quant_kernel biased_row = {
    .name = "biased", .work = DTI_QUANT_BIASED_BACK, .run = {.biased_back = add_bias}};
static const struct dti_quant_kernel rotate_row = {
    .name = "rotate", .work = DTI_QUANT_ROTATE, .run = {.rotate = rotate}};
static const struct dti_quant_kernel unrotate_row = {
    .name = "unrotate", .work = DTI_QUANT_UNROTATE, .run = {.unrotate = unrotate}};
static const struct dti_quant_kernel blocks_row = {.name = "blocks",
                                                   .work = DTI_QUANT_BLOCKS,
                                                   .blocks = SOME_BLOCKS,
                                                   .orders = SOME_ORDERS,
                                                   .run = {.blocks = quantize_blocks}};
static const struct dti_quant_kernel blocks_back_row = {.name = "blocks back",
                                                        .work = DTI_QUANT_BLOCKS_BACK,
                                                        .blocks = SOME_BLOCKS,
                                                        .orders = SOME_ORDERS,
                                                        .run = {.blocks_back = dequantize_blocks}};

static const struct {
    enum fault fault;
    const char *name;
    const struct dti_quant_kernel *row;
} faults[] = {
    {LAST_FORGOTTEN, "range: last number forgotten", &range_row},
    {INFINITY_KEPT, "range: infinity kept", &range_row},
    {RANGE_STARTS_ANEW, "range: what was there is forgotten", &range_row},
    {TIES_AWAY, "affine: ties go away", &affine_row},
    {OTHER_DIVISION, "affine: the other division", &affine_row},
    {NAN_IS_LOW, "affine: NaN is the lowest code", &affine_row},
    {INFINITY_IS_CLIPPED, "affine: infinities count as clipped", &affine_row},
    {CLIPPED_FORGOTTEN, "affine: clipped are not counted", &affine_row},
    {ZERO_BEFORE_ROUNDING, "affine: zero point added before rounding", &affine_row},
    {LOWEST_USED, "affine: -128 used though -127 is the lowest", &affine_row},
    {SUBNORMALS_LOST, "affine: subnormal scales flushed", &affine_row},
    {SCALE_OF_FIRST, "columns: one scale for 16", &columns_row},
    {LAST_FORGOTTEN, "affine: last code forgotten", &affine_row},
    {READS_BEYOND, "affine: reads past the end", &affine_row},
    {WRITES_BEYOND, "affine: writes past the end", &affine_row},
    {ZERO_IGNORED, "back: zero point ignored", &back_row},
    {SUBNORMALS_LOST, "back: subnormal scales flushed", &back_row},
    {CLIPPED_FORGOTTEN, "biases: clipped are not counted", &biases_row},
    {BIAS_OF_FIRST, "biases: the first bias for all groups", &biases_row},
    {CODES_OF_ROUNDED_SCALE, "biases: codes by the scale as it is stored", &biases_row},
    {ONE_ROUNDING, "biased: one rounding instead of two", &biased_row},
    {BIAS_OF_FIRST, "biased: the first bias for all groups", &biased_row},
    {LAST_FORGOTTEN, "biased: last code forgotten", &biased_row},
    {OTHER_ORDER, "rotate: 256 columns in one sum", &rotate_row},
    {MIDDLE_IGNORED, "unrotate: the middle of unsigned codes ignored", &unrotate_row},
    {RULE_IGNORED, "blocks: scale rule ignored", &blocks_row},
    {TENSOR_SCALE_IGNORED, "blocks: tensor scale ignored", &blocks_row},
    {SHORT_BLOCK_IS_WHOLE, "blocks: short block written as a whole one", &blocks_row},
    {ORDER_IGNORED, "blocks: high-first order ignored", &blocks_row},
    {STRIDE_IGNORED, "blocks: stride ignored", &blocks_row},
    {PADDING_LEFT, "blocks: padding is not zero", &blocks_row},
    {SCALE_BYTES_REVERSED, "blocks: bytes of scales swapped", &blocks_row},
    {CODES_OF_SPECIALS_LEFT, "blocks: codes of a NaN block are not zero", &blocks_row},
    {BLOCKS_NOT_COUNTED, "blocks: clipped blocks not counted", &blocks_row},
    {LAST_OF_LARGEST, "blocks: q4_0 takes the last of the largest", &blocks_row},
    {TENSOR_SCALE_LAST, "blocks back: tensor scale multiplied last", &blocks_back_row},
    {NAN_SCALE_IGNORED, "blocks back: NaN scale ignored", &blocks_back_row},
};

static bool passes(const struct check *check, enum fault planted,
                   const struct dti_quant_kernel *row)
{
    struct check trial = *check;
    trial.silent = planted != RIGHT;
    trial.effort = EFFORT_QUICK;
    fault = planted;
    return check_quant_row(&trial, row);
}

bool check_quant_selftest(struct check *check)
{
    static const struct dti_quant_kernel *const right[] = {
        &range_row, &affine_row, &columns_row, &back_row, &blocks_row, &blocks_back_row};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        check->arrays++;
        if (!passes(check, RIGHT, right[i]))
            check_fail(check, "the right kernel %s does not pass", right[i]->name);
    }
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const bool caught = !passes(check, faults[i].fault, faults[i].row);
        check->arrays++;
        check->told = 0;
        printf("%s %s\n", caught ? "caught  " : "SURVIVED", faults[i].name);
        if (!caught)
            check_fail(check, "not caught: %s", faults[i].name);
    }
    return check->failures == 0;
}
