/* SPDX-License-Identifier: MIT
 *
 * Quantized weights of ONNX models: codes that a node of the graph dequantizes.
 *
 *                          codes                               scales            zero points
 *   DequantizeLinear       integers, floats of 8 bits or less  one, [D], [.. ceil(D / block) ..]
 *   MatMulNBits            U8 [N, blocks, bytes of a block]    [N, blocks]       U8, or floats
 *   GatherBlockQuantized   INT4, UINT4, or U8 in rows          [.. ceil(D / block) ..]
 *
 * Zero points have the shape of the scales and the dtype of the codes; where a U8 holds several
 * codes, they are packed the same way. A number is (code - zero point) x scale in fp32, rounded to
 * the dtype of the node's output, as in onnx.reference (1.23, op_dequantize_linear.py) and
 * onnxruntime (1.32). Where zero points are floats, onnxruntime adds -(scale x zero point) to code
 * x scale, each rounded. */
#include <string.h>

#include "files/dequant/dequant_layouts.h"
#include "util/checked.h"

/* A match in progress. */
struct onnx_match {
    struct dti_file_dequant *dequant;
    const struct dti_dequant_group *group;
    const struct dti_onnx_weight *weight;
    const struct dti_tensor *codes, *scales, *zeros; /* zeros: NULL if there are none */
    unsigned bits;
    unsigned rank;
    uint64_t shape[DTI_QUANT_RANK_MAX]; /* of the numbers */
    struct dti_dequant_found *ret;
    struct dti_error *error;
};

static enum dti_status refuse(const struct onnx_match *match, enum dti_quant_part part,
                              const char *text)
{
    return dti_dequant_refuse(&match->group->part[part], match->error, DTI_REMEDY_KEEP, "%s", text);
}

static enum dti_status too_large(const struct onnx_match *match)
{
    return refuse(match, DTI_PART_CODES, "its dimensions are too large");
}

/* Whether a shape equals that of the numbers, with `size` in place of the axis. */
static bool has_shape(const struct onnx_match *match, const struct dti_tensor *tensor,
                      unsigned axis, uint64_t size)
{
    bool same = tensor->rank == match->rank;
    for (unsigned i = 0; i < match->rank && same; i++)
        same = tensor->shape[i] == (i == axis ? size : match->shape[i]);
    return same;
}

static bool find_axis(const struct onnx_match *match, unsigned *ret)
{
    const int64_t rank = match->rank, axis = match->weight->axis;
    *ret = (unsigned)(axis < 0 ? axis + rank : axis);
    return axis >= -rank && axis < rank;
}

/* Sets how numbers follow from codes of match->bits bits; codes packed in bytes are unsigned. */
static enum dti_status set_codes(const struct onnx_match *match, const struct dti_format *code)
{
    struct dti_dequant_tensor *const how = &match->ret->how;
    const struct dti_format *const scale = match->scales->format;
    const struct dti_format *const number = match->weight->output ? match->weight->output : scale;
    const bool small = match->bits < 8, sign = code->kind == DTI_KIND_INT;
    DTI_SET_PART(how, codes, match->group->part[DTI_PART_CODES]);
    DTI_SET_PART(how, scales, match->group->part[DTI_PART_SCALE]);
    how->is->bits = match->bits;
    how->is->order = small ? DTI_BLOCK_LOW : DTI_BLOCK_BYTES;
    how->is->codes_swapped = match->codes->layout.swapped;
    how->tensor_scale = 1;
    how->is->affine.code = *code;
    if (small && !dti_format_is_float(code)) { /* two's complement becomes unsigned */
        how->is->affine.code = *dti_format_get(DTI_UINT8);
        how->is->affine.high = (INT32_C(1) << match->bits) - 1;
        how->is->flip = sign ? (unsigned char)(1U << (match->bits - 1)) : 0;
        how->is->zero_offset = how->is->flip;
    } else if (!dti_format_is_float(code) && match->bits < 32) { /* others have zero points of 0 */
        how->is->affine.low = sign ? -(INT32_C(1) << (match->bits - 1)) : 0;
        how->is->affine.high = (INT32_C(1) << (sign ? match->bits - 1 : match->bits)) - 1;
    }
    how->is->scale_plan = dti_dequant_scale_plan(match->dequant, scale, &match->scales->layout);
    match->ret->form.is->number = number;
    if (number->id != DTI_FP32) {
        static const struct dti_layout own = {.swapped = false};
        how->is->narrow = dti_dequant_narrow_plan(match->dequant, number);
        how->is->widen = dti_dequant_scale_plan(match->dequant, number, &own);
    }
    return how->is->scale_plan && (number->id == DTI_FP32 || (how->is->narrow && how->is->widen))
               ? DTI_OK
               : dti_no_memory(match->error);
}

/* Sets the map; scales: their shape, if it differs from the stored one. */
static enum dti_status place(const struct onnx_match *match, const struct dti_tensor *scales,
                             enum dti_quant_per per, unsigned axis)
{
    struct dti_dequant_found *const ret = match->ret;
    const struct dti_dequant_shape shape = {
        .rank = match->rank, .shape = match->shape, .scales = scales};
    ret->how.is->elements = 1;
    for (unsigned i = 0; i < match->rank; i++) {
        if (!dti_mul_u64(ret->how.is->elements, match->shape[i], &ret->how.is->elements))
            return too_large(match);
    }
    dti_dequant_place_known(&shape, per, axis, (uint64_t)match->weight->block, ret);
    return DTI_OK;
}

/* Sets zero points that are packed in rows of `row` each. */
static void set_packed_zeros(const struct onnx_match *match, uint64_t row)
{
    struct dti_dequant_tensor *const how = &match->ret->how;
    DTI_SET_PART(how, zeros, match->group->part[DTI_PART_ZERO_POINT]);
    how->is->zero_form = DTI_ZERO_BYTES;
    how->is->scale_columns = row;
}

static enum dti_status check_scales(const struct onnx_match *match)
{
    const enum dti_dtype id = match->scales->format->id;
    const bool power = id == DTI_FP8_E8M0 && match->weight->op == DTI_ONNX_DEQUANTIZE_LINEAR;
    if (power && !match->weight->output)
        return refuse(match, DTI_PART_CODES,
                      "its scales are powers of two, and its node has no output_dtype");
    if (power || id == DTI_FP32 || id == DTI_FP16 || id == DTI_BF16)
        return DTI_OK;
    return refuse(match, DTI_PART_SCALE, "expected scales of FLOAT, FLOAT16 or BFLOAT16");
}

/* Zero points in the dtype of the codes and the shape of the scales. Those of fp4 codes are
 * ignored. */
static enum dti_status set_zeros(const struct onnx_match *match)
{
    const struct dti_format *const code = match->codes->format;
    struct dti_dequant_tensor *const how = &match->ret->how;
    if (!match->zeros)
        return DTI_OK;
    if (match->zeros->format != code || match->zeros->elements != match->scales->elements)
        return refuse(match, DTI_PART_ZERO_POINT,
                      "expected a zero point for each scale, in the dtype of codes");
    if (match->scales->elements > 1 &&
        (match->zeros->rank != match->scales->rank ||
         memcmp(match->zeros->shape, match->scales->shape,
                match->zeros->rank * sizeof *match->zeros->shape) != 0))
        return refuse(match, DTI_PART_ZERO_POINT, "expected the shape of the scales");
    if (code->width == 6)
        return refuse(match, DTI_PART_ZERO_POINT, "codes of 6 bits have no zero points");
    match->ret->form.is->zero_points = !dti_format_is_float(code);
    if (code->width < 8 && !dti_format_is_float(code)) {
        set_packed_zeros(match, match->scales->elements);
    } else if (code->width >= 8) {
        DTI_SET_PART(how, zeros, match->group->part[DTI_PART_ZERO_POINT]);
        how->is->zero_form = DTI_ZERO_PLAIN;
    }
    return DTI_OK;
}

/* Codes in the dtype of the tensor, contiguous. */
static enum dti_status match_elements(struct onnx_match *match)
{
    const struct dti_onnx_weight *const weight = match->weight;
    const struct dti_tensor *const codes = match->codes, *const scales = match->scales;
    struct dti_dequant_tensor *const how = &match->ret->how;
    enum dti_quant_per per = DTI_PER_TENSOR;
    unsigned axis = 0;
    if (weight->block < 0)
        return refuse(match, DTI_PART_CODES, "the block_size of its node is negative");
    if (weight->block > 0 || scales->elements != 1 || scales->rank > 1) {
        if (!find_axis(match, &axis))
            return refuse(match, DTI_PART_CODES,
                          "the axis of its node is not one of its dimensions");
        per = weight->block > 0 ? DTI_PER_GROUP : DTI_PER_CHANNEL;
    }
    if (per == DTI_PER_GROUP &&
        !has_shape(match, scales, axis, dti_divide_up(match->shape[axis], (uint64_t)weight->block)))
        return refuse(match, DTI_PART_SCALE,
                      "expected a scale for each block along the axis of its node");
    if (per == DTI_PER_CHANNEL && (scales->rank != 1 || scales->elements != match->shape[axis]))
        return refuse(match, DTI_PART_SCALE,
                      "expected one scale, or one for each place along the axis of its node");
    how->is->stream = true;
    how->is->row_bytes = 0;
    match->bits = codes->format->width;
    enum dti_status status = place(match, scales, per, axis);
    if (status == DTI_OK)
        status = set_codes(match, codes->format);
    return status == DTI_OK ? set_zeros(match) : status;
}

static bool are_codes(const struct dti_format *format)
{
    const bool integer =
        dti_format_is_integer(format) && format->width <= 32 && format->id != DTI_UINT32;
    return integer ||
           (dti_format_is_float(format) && format->width <= 8 && format->id != DTI_FP8_E8M0);
}

static enum dti_status match_linear(struct onnx_match *match)
{
    if (!are_codes(match->codes->format))
        return refuse(match, DTI_PART_CODES, "DequantizeLinear has no codes of this dtype");
    return match_elements(match);
}

/* Several codes in a byte, in rows that start on a byte, with a scale for each block. */
static enum dti_status match_rows(struct onnx_match *match, uint64_t row_bytes, uint64_t blocks)
{
    const struct dti_tensor *const zeros = match->zeros;
    struct dti_dequant_tensor *const how = &match->ret->how;
    struct dti_tensor scales = *match->scales;
    uint64_t shape[DTI_QUANT_RANK_MAX], packed, bits;
    const unsigned last = match->rank - 1;
    memcpy(shape, match->shape, last * sizeof *shape);
    shape[last] = blocks;
    scales.rank = match->rank;
    scales.shape = shape;
    if (!dti_mul_u64(blocks, match->bits, &bits))
        return too_large(match);
    how->is->row_bytes = row_bytes;
    how->is->bits = match->bits;
    enum dti_status status = place(match, &scales, DTI_PER_GROUP, last);
    if (status == DTI_OK)
        status = set_codes(match, dti_format_get(DTI_UINT8));
    how->is->affine.high = (INT32_C(1) << match->bits) - 1;
    how->is->zero_offset = zeros ? 0 : INT32_C(1) << (match->bits - 1);
    if (status != DTI_OK || !zeros)
        return status;
    match->ret->form.is->zero_points = true;
    const uint64_t rows = blocks > 0 ? match->scales->elements / blocks : 0;
    if (zeros->format->id == DTI_UINT8 && dti_mul_u64(rows, dti_divide_up(bits, 8), &packed) &&
        zeros->elements == packed) {
        set_packed_zeros(match, blocks);
        return DTI_OK;
    }
    if (match->weight->op != DTI_ONNX_MATMUL_NBITS || zeros->format != match->scales->format ||
        zeros->elements != match->scales->elements)
        return refuse(match, DTI_PART_ZERO_POINT,
                      "expected a zero point for each scale, packed as codes are");
    DTI_SET_PART(how, biases, match->group->part[DTI_PART_ZERO_POINT]);
    how->is->number = DTI_FP32;
    how->is->centers = true;
    return DTI_OK;
}

static bool set_bits(struct onnx_match *match)
{
    const int64_t bits = match->weight->bits;
    match->bits = (unsigned)bits;
    return bits == 2 || bits == 4 || bits == 8;
}

static enum dti_status match_matmul(struct onnx_match *match)
{
    const struct dti_onnx_weight *const weight = match->weight;
    const struct dti_tensor *const codes = match->codes;
    uint64_t block_bits, row_bytes, scales;
    if (codes->format->id != DTI_UINT8 || !set_bits(match))
        return refuse(match, DTI_PART_CODES, "expected UINT8 with codes of 2, 4 or 8 bits");
    if (weight->n <= 0 || weight->k <= 0 || weight->block <= 0)
        return refuse(match, DTI_PART_CODES, "its node has no K, N and block_size above 0");
    const uint64_t blocks = dti_divide_up((uint64_t)weight->k, (uint64_t)weight->block);
    match->rank = 2;
    match->shape[0] = (uint64_t)weight->n;
    match->shape[1] = (uint64_t)weight->k;
    if (!dti_mul_u64((uint64_t)weight->block, match->bits, &block_bits) || block_bits % 8 != 0 ||
        !dti_mul_u64(blocks, block_bits / 8, &row_bytes) || codes->rank < 2 ||
        codes->shape[0] != match->shape[0] || codes->elements / match->shape[0] != row_bytes)
        return refuse(match, DTI_PART_CODES,
                      "its shape is not [N, blocks, bytes of a block] of its node");
    if (!dti_mul_u64(match->shape[0], blocks, &scales) || match->scales->elements != scales)
        return refuse(match, DTI_PART_SCALE, "expected a scale for each block");
    return match_rows(match, row_bytes, blocks);
}

static enum dti_status match_gather(struct onnx_match *match)
{
    const struct dti_onnx_weight *const weight = match->weight;
    const struct dti_tensor *const codes = match->codes;
    const unsigned last = codes->rank - 1;
    unsigned axis;
    if (weight->block <= 0)
        return refuse(match, DTI_PART_CODES, "the block_size of its node is not above 0");
    if (codes->format->id == DTI_INT4 || codes->format->id == DTI_UINT4)
        return match_elements(match);
    if (codes->format->id != DTI_UINT8 || !set_bits(match))
        return refuse(match, DTI_PART_CODES, "expected INT4, UINT4, or UINT8 with 2, 4 or 8 bits");
    if (!find_axis(match, &axis) || axis != last)
        return refuse(match, DTI_PART_CODES,
                      "the quantize_axis of its node is not its last dimension");
    if (!dti_mul_u64(match->shape[last], 8 / match->bits, &match->shape[last]))
        return too_large(match);
    const uint64_t blocks = dti_divide_up(match->shape[last], (uint64_t)weight->block);
    if (!has_shape(match, match->scales, last, blocks))
        return refuse(match, DTI_PART_SCALE, "expected a scale for each block of a row");
    return match_rows(match, codes->shape[last], blocks);
}

/* Counts the bytes of a shared part only for the first tensor, or for the part itself if it stays
 * in the view. */
static void count_parts(const struct onnx_match *match)
{
    for (unsigned i = 0; i < DTI_PART_COUNT; i++) {
        const struct dti_dequant_part *const part = &match->group->part[i];
        if (part->container && (match->dequant->states[part->tensor] == DTI_DEQUANT_PART ||
                                dti_dequant_part_tensor(part)->scales_activations))
            match->ret->form.is->stored_bytes -= dti_dequant_part_tensor(part)->bytes;
    }
}

static const char *dtype_of(const struct onnx_match *match)
{
    static const enum dti_dtype packed[] = {[2] = DTI_UINT2, [4] = DTI_UINT4, [8] = DTI_UINT8};
    const struct dti_format *const format = match->codes->format;
    return match->bits < format->width ? dti_format_get(packed[match->bits])->name : format->name;
}

/* Whether a part consists of codes of a node. */
static bool dequantized(const struct onnx_match *match, enum dti_quant_part part)
{
    return dti_container_weight(match->dequant->container, match->group->part[part].tensor) != NULL;
}

/* Refuses parts that are codes of other nodes. */
static enum dti_status check_parts(const struct onnx_match *match)
{
    if (match->weight->problem)
        return refuse(match, DTI_PART_CODES, match->weight->problem);
    if (dequantized(match, DTI_PART_SCALE))
        return refuse(match, DTI_PART_SCALE, "it is a scale of one node and codes of another");
    if (match->zeros && dequantized(match, DTI_PART_ZERO_POINT))
        return refuse(match, DTI_PART_ZERO_POINT,
                      "it is a zero point of one node and codes of another");
    return DTI_OK;
}

static enum dti_status match_onnx(struct dti_file_dequant *dequant,
                                  const struct dti_dequant_group *group,
                                  const struct dti_quant_config *config,
                                  struct dti_dequant_found *ret, struct dti_error *reterr)
{
    enum dti_status (*const by_node[])(struct onnx_match *) = {
        [DTI_ONNX_DEQUANTIZE_LINEAR] = match_linear,
        [DTI_ONNX_MATMUL_NBITS] = match_matmul,
        [DTI_ONNX_GATHER_BLOCK_QUANTIZED] = match_gather};
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const bool has_scales = dti_dequant_has(group, DTI_PART_SCALE);
    const bool has_zeros = dti_dequant_has(group, DTI_PART_ZERO_POINT);
    struct onnx_match match = {.dequant = dequant,
                               .group = group,
                               .weight = dti_container_weight(dequant->container, group->at),
                               .codes = codes,
                               .scales = has_scales ? dti_dequant_of(group, DTI_PART_SCALE) : codes,
                               .zeros =
                                   has_zeros ? dti_dequant_of(group, DTI_PART_ZERO_POINT) : NULL,
                               .rank = codes->rank,
                               .ret = ret,
                               .error = reterr};
    (void)config;
    memcpy(match.shape, codes->shape, codes->rank * sizeof *codes->shape);
    enum dti_status status = check_parts(&match);
    if (status == DTI_OK)
        status = check_scales(&match);
    if (status == DTI_OK)
        status = by_node[match.weight->op](&match);
    if (status != DTI_OK)
        return status;
    ret->form.is->dtype = dtype_of(&match);
    ret->form.is->layout = group->layout_read->name;
    status = dti_dequant_show(dequant, group, match.rank, match.shape, ret, reterr);
    if (status == DTI_OK)
        count_parts(&match);
    return status;
}

const struct dti_layout_ops dti_layout_onnx = {.name = "onnx", .match = match_onnx};

enum dti_status dti_dequant_onnx(struct dti_file_dequant *dequant, size_t at,
                                 struct dti_dequant_found **ret, struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = &dequant->container->tensors[at];
    const struct dti_onnx_weight *const weight = dti_container_weight(dequant->container, at);
    struct dti_dequant_group group = {.name = tensor->name,
                                      .name_length = tensor->name_length,
                                      .at = at,
                                      .layout_read = &dti_layout_onnx,
                                      .view = dequant};
    if (tensor->scales_activations && dequant->states[at] < DTI_DEQUANT_KEPT)
        dequant->states[at] = DTI_DEQUANT_KEPT;
    if (!weight || dequant->request.layout_given)
        return DTI_OK;
    const size_t parts[] = {[DTI_PART_CODES] = at,
                            [DTI_PART_SCALE] = weight->scale,
                            [DTI_PART_ZERO_POINT] = weight->zero};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i] != SIZE_MAX)
            group.part[i] =
                (struct dti_dequant_part){.container = dequant->container, .tensor = parts[i]};
    }
    return dti_dequant_take(dequant, &group, ret, reterr);
}
