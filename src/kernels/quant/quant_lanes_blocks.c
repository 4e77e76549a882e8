/* SPDX-License-Identifier: MIT
 *
 * Portable quantization of fp32 to block formats, for all formats and orders. Each tile of
 * blocks is processed in separate loops: largest magnitudes, scales, quotients, codes. Compiled
 * once per level. */
#include "kernels/quant/quant_lanes_blocks.h"
#include "kernels/quant/quant_lanes_table.h"

/* A tile of blocks, the last one padded with zeros. */
struct lane_blocks {
    float x[DTI_PIECE], q[DTI_PIECE]; /* numbers, quotients */
    uint32_t amax[DTI_BLOCKS_AT_ONCE];
    uint32_t scale[DTI_BLOCKS_AT_ONCE]; /* codes */
    float by[DTI_BLOCKS_AT_ONCE];       /* divisor or factor of each block */
    bool zero[DTI_BLOCKS_AT_ONCE];      /* all codes of the block are that of 0 */
    unsigned char codes[DTI_PIECE];
    size_t blocks, elements, length, last; /* last: number of elements in the last block */
};

static bool is_special(const struct lane_blocks *t, size_t block)
{
    return t->amax[block] >= DTI_LANE_INF;
}

static void load_tile(struct lane_blocks *t, const unsigned char *x, size_t n)
{
    t->blocks = (n + t->length - 1) / t->length;
    t->elements = n;
    t->last = n - (t->blocks - 1) * t->length;
    memcpy(t->x, x, 4 * n);
    for (size_t i = n; i < t->blocks * t->length; i++)
        t->x[i] = 0;
    for (size_t b = 0; b < t->blocks; b++) {
        const float *const block = t->x + b * t->length;
        uint32_t amax = 0;
        for (size_t i = 0; i < t->length; i++)
            amax = dti_lane_max32(amax, dti_lane_magnitude_f32(block[i]));
        t->amax[b] = amax;
        t->zero[b] = amax >= DTI_LANE_INF;
    }
}

/* The exponent of an MX block's scale, from its largest magnitude. Exponents of subnormals below
 * 2^-127 are not distinguished, because all of them give -127. max: the bits after the leading
 * one of the largest element. */
static int32_t mx_exponent(enum dti_mx_scale rule, uint32_t amax, unsigned man_bits, uint32_t max)
{
    const bool normal = amax >> 23 != 0;
    if (!normal && amax < UINT32_C(0x400000))
        return -128;
    /* shift the leading one of a subnormal to bit 23, as for 2^-127 */
    const uint32_t mantissa = (normal ? amax : amax << 1) & UINT32_C(0x7fffff);
    const int32_t exponent = normal ? (int32_t)(amax >> 23) - 127 : -127;
    switch (rule) {
    case DTI_MX_FLOOR:
        break;
    case DTI_MX_CEIL:
        return exponent + (mantissa != 0);
    case DTI_MX_RCEIL:
        return exponent + (mantissa > max);
    case DTI_MX_EVEN:
        return exponent + (int32_t)((mantissa + (UINT32_C(1) << (22 - man_bits))) >> 23);
    case DTI_MX_RFLOOR:
        return exponent - (mantissa < max);
    }
    return exponent;
}

static void scale_mx(const struct dti_block_args *args, struct lane_blocks *t)
{
    const struct dti_block_recipe *const recipe = args->recipe;
    const bool integer = recipe->format->code == DTI_INT8;
    const struct dti_encoder *const e = &args->parts->encoder;
    const unsigned man_bits = integer ? 6 : e->man_bits;
    const uint32_t largest = integer ? 127 : (uint32_t)e->max_magnitude;
    const uint32_t max = largest << (23 - man_bits) & UINT32_C(0x7fffff);
    const int32_t emax =
        integer ? 0 : (int32_t)(e->max_magnitude >> man_bits) + e->min_exponent - 1;
    for (size_t b = 0; b < t->blocks; b++) {
        int32_t exponent = mx_exponent(recipe->mx, t->amax[b], man_bits, max) - emax;
        exponent = exponent < -127 ? -127 : exponent;
        exponent = exponent > 127 ? 127 : exponent;
        const uint32_t inverse = (uint32_t)(127 - exponent);
        t->scale[b] = is_special(t, b) ? 0xff : (uint32_t)(exponent + 127);
        t->by[b] = dti_lane_f32(inverse > 0 ? inverse << 23 : UINT32_C(1) << 22);
    }
    /* exact, except for numbers far below every element */
    for (size_t b = 0; b < t->blocks; b++)
        for (size_t i = b * t->length; i < (b + 1) * t->length; i++)
            t->q[i] = t->x[i] * t->by[b];
}

/* x / by for a block. An inverse that overflows is not used. */
static void divide(const struct lane_blocks *t, size_t block, enum dti_quant_division division,
                   float inverse, float *q)
{
    const float *const x = t->x + block * t->length, by = t->by[block];
    if (division == DTI_DIVIDE_RECIPROCAL && dti_lane_magnitude_f32(inverse) < DTI_LANE_INF) {
        for (size_t i = 0; i < t->length; i++)
            q[i] = x[i] * inverse;
    } else if (division == DTI_DIVIDE_EXACT) {
        for (size_t i = 0; i < t->length; i++)
            q[i] = dti_lane_quotient_odd(x[i], (double)by);
    } else {
        for (size_t i = 0; i < t->length; i++)
            q[i] = x[i] / by;
    }
}

/* Encodes one number per block in the format of the scales. */
static void encode_scales(const struct dti_block_args *args, struct lane_blocks *t,
                          const float *numbers)
{
    const struct dti_encoder *const encoder = &args->parts->scale_encoder;
    const struct dti_kernel_args encode = {.encoder = encoder};
    unsigned char containers[2 * DTI_BLOCKS_AT_ONCE];
    DTI_LANES_NAME(dti_encode_f32)(&encode, containers, numbers, t->blocks);
    dti_piece_widen32(t->scale, containers, t->blocks, encoder->container);
    for (size_t b = 0; b < t->blocks; b++)
        if (is_special(t, b))
            t->scale[b] = (uint32_t)encoder->nan[0];
}

/* Sets scales so that the largest magnitude of each block becomes 6, or 4 if `four`. */
static void scale_nv_to(const struct dti_block_args *args, struct lane_blocks *t, bool four)
{
    const float tensor_scale = dti_lane_f32(args->recipe->tensor_scale);
    const float inverse = 1 / tensor_scale;
    const struct dti_nv_tensor tensor = dti_nv_tensor(args->recipe);
    const enum dti_quant_division division = args->recipe->division;
    const bool unrounded = args->recipe->nv == DTI_NV_UNROUNDED;
    float wanted[DTI_BLOCKS_AT_ONCE];
    for (size_t b = 0; b < t->blocks; b++) {
        const float amax = dti_lane_f32(t->amax[b]), sixth = amax / 6, share = sixth / tensor_scale;
        wanted[b] = division == DTI_DIVIDE_EXACT
                        ? dti_lane_quotient_odd(amax, (four ? 4 : 6) * (double)tensor_scale)
                        : share * (four ? 1.5F : 1);
    }
    encode_scales(args, t, wanted);
    for (size_t b = 0; b < t->blocks; b++) {
        const float sixth = dti_lane_f32(t->amax[b]) / 6;
        const float scale = unrounded ? sixth / tensor_scale : args->parts->scales[t->scale[b]];
        t->by[b] = unrounded && division == DTI_DIVIDE_EXACT
                       ? sixth
                       : scale * tensor.factor / tensor.divisor;
        t->zero[b] = is_special(t, b) || !(t->by[b] > 0);
        divide(t, b, division, inverse / scale, t->q + b * t->length);
    }
}

static void clear_blocks(struct lane_blocks *t)
{
    for (size_t b = 0; b < t->blocks; b++)
        for (size_t i = b * t->length; t->zero[b] && i < (b + 1) * t->length; i++)
            t->q[i] = 0;
}

/* Computes the squared error of each block. */
static void find_errors(const struct dti_block_args *args, struct lane_blocks *t, double *ret)
{
    const struct dti_kernel_args encode = {.encoder = &args->parts->encoder};
    clear_blocks(t);
    DTI_LANES_NAME(dti_encode_f32)(&encode, t->codes, t->q, t->elements);
    for (size_t b = 0; b < t->blocks; b++) {
        const size_t first = b * t->length, count = b + 1 < t->blocks ? t->length : t->last;
        ret[b] = 0;
        for (size_t i = first; i < first + count; i++) {
            const float back = args->parts->numbers[t->codes[i]] * t->by[b];
            const float error = back - t->x[i];
            ret[b] += (double)error * (double)error;
        }
    }
}

static void scale_nv(const struct dti_block_args *args, struct lane_blocks *t)
{
    double errors[DTI_BLOCKS_AT_ONCE], errors_of_four[DTI_BLOCKS_AT_ONCE];
    scale_nv_to(args, t, false);
    if (args->recipe->nv != DTI_NV_FOUR_SIX)
        return;
    struct lane_blocks four = *t;
    scale_nv_to(args, &four, true);
    find_errors(args, t, errors);
    find_errors(args, &four, errors_of_four);
    for (size_t b = 0; b < t->blocks; b++) {
        if (!(errors_of_four[b] < errors[b]))
            continue;
        t->scale[b] = four.scale[b];
        t->zero[b] = four.zero[b];
        memcpy(t->q + b * t->length, four.q + b * t->length, sizeof *t->q * t->length);
    }
}

static void scale_nf(const struct dti_block_args *args, struct lane_blocks *t)
{
    for (size_t b = 0; b < t->blocks; b++) {
        t->scale[b] = is_special(t, b) ? DTI_LANE_NAN : t->amax[b];
        t->by[b] = dti_lane_f32(t->scale[b]);
        t->zero[b] = t->zero[b] || t->amax[b] == 0;
        divide(t, b, args->recipe->division, 1 / t->by[b], t->q + b * t->length);
    }
}

/* The first number with the largest magnitude; +0 if all are zeros. */
static float extreme(const struct lane_blocks *t, size_t block)
{
    const float *const x = t->x + block * t->length;
    size_t i = 0;
    while (t->amax[block] > 0 && dti_lane_magnitude_f32(x[i]) != t->amax[block])
        i++;
    return t->amax[block] > 0 ? x[i] : 0;
}

static void scale_ggml(const struct dti_block_args *args, struct lane_blocks *t)
{
    const bool q4 = args->recipe->format->family == DTI_BLOCKS_Q4;
    float scale[DTI_BLOCKS_AT_ONCE];
    for (size_t b = 0; b < t->blocks; b++) {
        scale[b] = q4 ? extreme(t, b) / -8 : dti_lane_f32(t->amax[b]) / 127;
        t->by[b] = 1 / scale[b];
        t->zero[b] = t->zero[b] || dti_lane_magnitude_f32(t->by[b]) >= DTI_LANE_INF;
        for (size_t i = b * t->length; i < (b + 1) * t->length; i++)
            t->q[i] = t->x[i] * t->by[b];
    }
    encode_scales(args, t, scale);
}

/* These convert quotients to codes and return how many of a block exceed the largest code. */

static uint32_t clipped_floats(const struct lane_blocks *t, size_t block, uint32_t beyond)
{
    const float *const q = t->q + block * t->length;
    uint32_t clipped = 0;
    for (size_t i = 0; i < t->length; i++)
        clipped += dti_lane_magnitude_f32(q[i]) >= beyond;
    return clipped;
}

/* mxint8, in steps of 1/64. */
static uint32_t encode_steps(struct lane_blocks *t, size_t block)
{
    const float *const q = t->q + block * t->length;
    unsigned char *const codes = t->codes + block * t->length;
    uint32_t clipped = 0;
    for (size_t i = 0; i < t->length; i++) {
        const int32_t steps = dti_lane_nearest(q[i] * 64);
        int32_t code = steps < -128 ? -128 : steps;
        code = code > 127 ? 127 : code;
        clipped += code != steps;
        codes[i] = (unsigned char)code;
    }
    return clipped;
}

/* q8_0: rounds halves away from zero. */
static uint32_t encode_q8(struct lane_blocks *t, size_t block)
{
    const float *const q = t->q + block * t->length;
    unsigned char *const codes = t->codes + block * t->length;
    for (size_t i = 0; i < t->length; i++) {
        const float size = dti_lane_f32(dti_lane_magnitude_f32(q[i]));
        const int32_t whole = (int32_t)size;
        const int32_t away = whole + (size - (float)whole >= 0.5F);
        codes[i] = (unsigned char)(q[i] < 0 ? -away : away);
    }
    return 0;
}

static uint32_t encode_q4(struct lane_blocks *t, size_t block)
{
    const float *const q = t->q + block * t->length;
    unsigned char *const codes = t->codes + block * t->length;
    uint32_t clipped = 0;
    for (size_t i = 0; i < t->length; i++) {
        const float sum = q[i] + 8.5F;
        const int32_t whole = (int32_t)sum;
        clipped += whole > 15;
        codes[i] = (unsigned char)(whole > 15 ? 15 : whole);
    }
    return clipped;
}

/* Codes of a table; none is clipped. */
static uint32_t encode_table(struct lane_blocks *t, size_t block,
                             const struct dti_block_recipe *recipe)
{
    const size_t at = block * t->length;
    const bool bnb_fp4 = recipe->format->id == DTI_BLOCK_BNB_FP4;
    const double by = (double)t->by[block];
    if (recipe->division == DTI_DIVIDE_EXACT) {
        for (size_t i = at; i < at + t->length; i++) {
            const double quotient = t->zero[block] ? 0 : (double)t->x[i] / by;
            t->codes[i] = bnb_fp4 ? dti_lane_bnb_fp4_of(quotient) : dti_lane_nf4_of(quotient);
        }
    } else if (bnb_fp4) {
        dti_lane_bnb_fp4(t->codes + at, t->q + at, t->length);
    } else {
        dti_lane_nf4(t->codes + at, t->q + at, t->length);
    }
    return 0;
}

static uint32_t encode_block(const struct dti_block_args *args, struct lane_blocks *t, size_t block,
                             uint32_t beyond)
{
    switch (args->recipe->format->family) {
    case DTI_BLOCKS_Q8:
        return encode_q8(t, block);
    case DTI_BLOCKS_Q4:
        return encode_q4(t, block);
    case DTI_BLOCKS_NF:
        return encode_table(t, block, args->recipe);
    case DTI_BLOCKS_MX:
    case DTI_BLOCKS_NV:
        break;
    }
    return beyond > 0 ? clipped_floats(t, block, beyond) : encode_steps(t, block);
}

/* Whether the scale is infinite, which leaves nothing of the block. */
static bool scale_is_infinite(const struct dti_block_args *args, uint32_t scale)
{
    const struct dti_encoder *const e = &args->parts->scale_encoder;
    return dti_format_has_inf(&e->format) && (scale == e->inf[0] || scale == e->inf[1]);
}

static void encode_tile(const struct dti_block_args *args, struct lane_blocks *t,
                        struct dti_quant_count *count)
{
    const struct dti_encoder *const encoder = &args->parts->encoder;
    const bool is_float = dti_format_is_float(dti_format_get(args->recipe->format->code));
    const uint32_t beyond = is_float ? dti_lane_beyond(encoder) : 0;
    if (is_float) {
        const struct dti_kernel_args encode = {.encoder = encoder};
        DTI_LANES_NAME(dti_encode_f32)(&encode, t->codes, t->q, t->elements);
    }
    for (size_t b = 0; b < t->blocks; b++) {
        uint32_t clipped = encode_block(args, t, b, beyond);
        if (scale_is_infinite(args, t->scale[b]))
            clipped = (uint32_t)(b + 1 < t->blocks ? t->length : t->last);
        count->clipped += clipped;
        count->blocks += clipped > 0;
        count->special += is_special(t, b);
    }
}

static void save_scales(const struct dti_block_shape *shape, const struct lane_blocks *t,
                        unsigned char *to)
{
    for (size_t b = 0; b < t->blocks; b++)
        for (unsigned i = 0; i < shape->scale_bytes; i++)
            to[b * shape->scale_stride + i] = (unsigned char)(t->scale[b] >> (8 * i));
}

void DTI_LANES_NAME(dti_quantize_blocks)(const struct dti_block_args *args, void *codes,
                                         void *scales, const float *x, size_t n,
                                         struct dti_quant_count *count)
{
    static void (*const scale_of[])(const struct dti_block_args *, struct lane_blocks *) = {
        [DTI_BLOCKS_MX] = scale_mx,   [DTI_BLOCKS_NV] = scale_nv,   [DTI_BLOCKS_NF] = scale_nf,
        [DTI_BLOCKS_Q8] = scale_ggml, [DTI_BLOCKS_Q4] = scale_ggml,
    };
    const struct dti_block_shape shape = dti_block_shape(args);
    const size_t at_once = DTI_PIECE / shape.length * shape.length;
    const unsigned char *const from = (const unsigned char *)x;
    unsigned char *code = codes, *scale = scales;
    struct lane_blocks t = {.length = shape.length};
    for (size_t at = 0; at < n; at += at_once) {
        load_tile(&t, from + 4 * at, n - at < at_once ? n - at : at_once);
        scale_of[args->recipe->format->family](args, &t);
        clear_blocks(&t);
        encode_tile(args, &t, count);
        save_scales(&shape, &t, scale);
        dti_blocks_save(&shape, code, t.codes, t.elements);
        code += t.blocks * shape.code_stride;
        scale += t.blocks * shape.scale_stride;
    }
}
