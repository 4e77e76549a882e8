/* SPDX-License-Identifier: MIT
 *
 * The shapes of a quantized tensor's parts in a layout, the parts of flattened tensors, and the
 * text of their states. */
#include "files/stored/quant_layout.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "convert/quant_plan.h"
#include "core/number/spell.h"
#include "files/stored/quant_marks.h"
#include "files/stored/quant_reading.h"
#include "files/stored/quant_state.h"
#include "kernels/quant/nested_scales.h"
#include "util/checked.h"

bool dti_quant_layout_has_state(enum dti_quant_layout layout)
{
    return dti_quant_layout_is_flat(layout) || dti_quant_layout_marks(layout);
}

size_t dti_quant_part_stem(const struct dti_quant_row *row, enum dti_quant_part part, size_t length,
                           const char **ret_suffix)
{
    const bool marked = part == DTI_PART_STATE && dti_quant_mark(row);
    const bool stem = part != DTI_PART_CODES && dti_quant_layout_has_stems(row->layout);
    *ret_suffix = marked ? DTI_QUANT_MARK_SUFFIX : dti_quant_suffix(row, part);
    return marked || stem ? dti_quant_mark_stem(length) : length;
}

/* Packs the last dimension. */
static enum dti_status pack(const struct dti_quant_stored *stored, unsigned bits,
                            struct dti_quant_part_shape *codes, struct dti_error *reterr)
{
    uint64_t *const last = codes->rank > 0 ? &codes->shape[codes->rank - 1] : NULL;
    uint64_t all;
    if (!last || !dti_mul_u64(*last, bits, &all))
        return dti_fail(reterr, DTI_WRONG_KIND, "has no last dimension to pack");
    if (stored->row->packing == DTI_QUANT_WORDS) {
        *last = dti_divide_up(all, 32);
        return DTI_OK;
    }
    const unsigned item = dti_format_get(stored->row->codes)->width;
    if (all % item != 0)
        return dti_fail(
            reterr, DTI_WRONG_KIND,
            "has %llu codes of %u bits in its last dimension, which do not fill whole %s",
            (unsigned long long)*last, bits, item == 8 ? "bytes" : "words");
    *last = all / item;
    return DTI_OK;
}

static enum dti_status find_groups(const struct dti_quant_stored *stored,
                                   struct dti_quant_part_shape *codes,
                                   struct dti_quant_part_shape *scale, struct dti_error *reterr)
{
    const uint64_t length = stored->shape[stored->axis];
    const uint64_t groups = dti_divide_up(length, stored->group);
    if (length % stored->group != 0 && !stored->pad)
        return dti_fail(
            reterr, DTI_WRONG_KIND,
            "has %llu elements along axis %u, which is not a multiple of the block of %lu",
            (unsigned long long)length, stored->axis, (unsigned long)stored->group);
    if (!dti_mul_u64(groups, stored->group, &codes->shape[stored->axis]))
        return dti_fail(reterr, DTI_WRONG_KIND, "is too large to be padded");
    scale->shape[stored->axis] = groups;
    return DTI_OK;
}

/* The shape of the scales, before their dtype is set: the tensor's shape with smaller
 * dimensions. */
static enum dti_status shape_scale(const struct dti_quant_stored *stored,
                                   struct dti_quant_part_shape *codes,
                                   struct dti_quant_part_shape *scale, struct dti_error *reterr)
{
    const enum dti_quant_scale_shapes shapes = dti_quant_layout_scales(stored->row->layout);
    const bool bare = shapes != DTI_QUANT_SCALES_FULL, vector = shapes == DTI_QUANT_SCALES_BARE;
    switch (stored->per) {
    case DTI_PER_TENSOR:
        scale->rank = bare ? 0 : 1;
        scale->shape[0] = 1;
        return DTI_OK;
    case DTI_PER_CHANNEL:
        if (bare && stored->axis != 0)
            return dti_fail(reterr, DTI_WRONG_KIND,
                            "has channels along axis %u; %s supports only axis 0", stored->axis,
                            dti_quant_layout_name(stored->row->layout));
        for (unsigned i = 0; i < stored->rank; i++)
            scale->shape[i] = i == stored->axis ? stored->shape[i] : 1;
        scale->rank = vector ? 1 : stored->rank;
        return DTI_OK;
    default:
        return find_groups(stored, codes, scale, reterr);
    }
}

static uint64_t words_of(uint64_t codes, unsigned bits)
{
    return codes / 32 * bits + dti_divide_up(codes % 32 * bits, 32);
}

static void shape_zero_point(const struct dti_quant_stored *stored, unsigned bits,
                             const struct dti_quant_part_shape *scale,
                             struct dti_quant_part_shape *zero_point)
{
    *zero_point = *scale;
    zero_point->dtype = stored->row->codes;
    if (stored->row->packing != DTI_QUANT_WORDS)
        return;
    if (stored->per == DTI_PER_TENSOR || scale->rank < 2) {
        zero_point->dtype = DTI_INT8;
        return;
    }
    uint64_t *const rows = &zero_point->shape[zero_point->rank - 2];
    *rows = words_of(*rows, bits);
}

static struct dti_quant_part_shape vector(enum dti_dtype dtype, uint64_t length)
{
    return (struct dti_quant_part_shape){
        .there = true, .dtype = dtype, .rank = 1, .shape = {length}};
}

/* The parts of a flattened tensor. */
static void quant_flat_parts(const struct dti_quant_stored *stored,
                             struct dti_quant_part_shape ret[DTI_PART_COUNT])
{
    const struct dti_quant_row *const row = stored->row;
    char state[DTI_QUANT_STATE_SIZE_MAX];
    uint64_t n = 1;
    for (unsigned i = 0; i < stored->rank; i++)
        n *= stored->shape[i]; /* elements of the tensor; cannot overflow */
    const uint64_t blocks = dti_divide_up(n, stored->group);
    for (size_t i = 0; i < DTI_PART_COUNT; i++)
        ret[i].there = false;
    ret[DTI_PART_CODES] = (struct dti_quant_part_shape){
        .there = true, .dtype = row->codes, .rank = 2, .shape = {dti_divide_up(n, 2), 1}};
    ret[DTI_PART_SCALE] = vector(stored->nested ? DTI_UINT8 : row->scale, blocks);
    ret[DTI_PART_MAP] = vector(DTI_FP32, DTI_QUANT_MAP_SIZE);
    ret[DTI_PART_STATE] = vector(DTI_UINT8, dti_quant_state_text(stored, 0, state));
    if (!stored->nested)
        return;
    ret[DTI_PART_NESTED_SCALE] = vector(DTI_FP32, dti_divide_up(blocks, DTI_NESTED_BLOCK));
    ret[DTI_PART_NESTED_MAP] = vector(DTI_FP32, DTI_NESTED_CODES);
}

enum dti_status dti_quant_parts(const struct dti_quant_stored *stored,
                                struct dti_quant_part_shape ret[DTI_PART_COUNT],
                                struct dti_error *reterr)
{
    const struct dti_quant_row *const row = stored->row;
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    struct dti_quant_part_shape *const codes = &parts[DTI_PART_CODES];
    struct dti_quant_part_shape *const scale = &parts[DTI_PART_SCALE];
    const unsigned bits = dti_quant_row_bits(row);
    for (size_t i = 0; i < DTI_PART_COUNT; i++)
        parts[i].there = false; /* then nothing else of it is looked at */
    if (stored->rank > DTI_QUANT_RANK_MAX)
        return dti_fail(reterr, DTI_WRONG_KIND, "has %u dimensions; the limit is %d", stored->rank,
                        (int)DTI_QUANT_RANK_MAX);
    if (dti_quant_is_flat(row)) {
        quant_flat_parts(stored, ret);
        return DTI_OK;
    }
    *codes =
        (struct dti_quant_part_shape){.there = true, .dtype = row->codes, .rank = stored->rank};
    if (stored->rank > 0)
        memcpy(codes->shape, stored->shape, stored->rank * sizeof stored->shape[0]);
    *scale = *codes;
    scale->dtype = row->scale == DTI_NONE ? dti_quant_biased_number(stored->number) : row->scale;
    if (stored->rank == 0 && stored->per != DTI_PER_TENSOR)
        return dti_fail(reterr, DTI_WRONG_KIND, "has no dimension for scales");
    enum dti_status status = shape_scale(stored, codes, scale, reterr);
    const bool padded =
        stored->rank > 0 && codes->shape[stored->axis] != stored->shape[stored->axis];
    if (status == DTI_OK && row->packing != DTI_QUANT_PLAIN)
        status = pack(stored, bits, codes, reterr);
    if (status != DTI_OK)
        return status;
    if (stored->zero_points)
        shape_zero_point(stored, bits, scale, &parts[DTI_PART_ZERO_POINT]);
    if (stored->biases)
        parts[DTI_PART_BIAS] = *scale;
    if (stored->tensor_scale)
        parts[DTI_PART_TENSOR_SCALE] = (struct dti_quant_part_shape){
            .there = true,
            .dtype = DTI_FP32,
            .rank = dti_quant_layout_scales(row->layout) == DTI_QUANT_SCALES_FULL,
            .shape = {1}};
    if (dti_quant_mark(row)) {
        status = dti_quant_mark_parts(stored, parts, reterr);
        if (status != DTI_OK)
            return status;
    } else if (padded || row->packing == DTI_QUANT_WORDS) {
        if (!dti_quant_suffix(row, DTI_PART_SHAPE))
            return dti_fail(reterr, DTI_WRONG_KIND,
                            "would be padded with zeros, but %s cannot store its original shape",
                            dti_quant_layout_name(row->layout));
        parts[DTI_PART_SHAPE] = (struct dti_quant_part_shape){
            .there = true, .dtype = DTI_INT64, .rank = 1, .shape = {stored->rank}};
    }
    for (size_t i = 0; i < DTI_PART_COUNT; i++) {
        ret[i].there = parts[i].there;
        if (parts[i].there)
            ret[i] = parts[i];
    }
    return DTI_OK;
}

bool dti_quant_hides_groups(const struct dti_quant_stored *stored)
{
    return stored->row->packing == DTI_QUANT_WORDS && stored->rank > 0 && stored->pad &&
           stored->per == DTI_PER_GROUP && stored->axis + 1 == stored->rank &&
           stored->shape[stored->axis] % stored->group != 0;
}

/* Whether the words of a row could also hold codes of another width. */
static bool is_open_width(const struct dti_quant_stored *stored)
{
    if (stored->row->packing != DTI_QUANT_WORDS || stored->rank == 0)
        return false;
    const unsigned bits = dti_quant_row_bits(stored->row);
    const uint64_t last = stored->shape[stored->rank - 1];
    return dti_quant_widths(last, words_of(last, bits)) != 1U << bits;
}

/* Whether the shape of the scales also fits groups of another length. Padded rows have equal
 * groups. */
static bool is_open_group(const struct dti_quant_stored *stored)
{
    const struct dti_block_format *const block = stored->row->block;
    if (stored->per != DTI_PER_GROUP || stored->rank == 0 ||
        (block && block->id != DTI_BLOCK_Q8_0)) /* q8_0 looks like int8 in groups */
        return false;
    const uint64_t length = stored->shape[stored->axis];
    const bool either = stored->row->packing == DTI_QUANT_PLAIN &&
                        dti_quant_is_thin(stored->shape, stored->rank, stored->axis);
    return length % stored->group == 0 &&
           dti_quant_lengths_of(length, length / stored->group, either).other > 0;
}

void dti_quant_biased_entry(unsigned bits, uint64_t length, char *buffer, size_t size)
{
    (void)snprintf(buffer, size, "affine %u %llu", bits, (unsigned long long)length);
}

static bool is_high(const struct dti_quant_stored *stored)
{
    return stored->row->packing == DTI_QUANT_BITS && stored->high;
}

static bool states_groups(const struct dti_quant_stored *stored)
{
    return dti_quant_hides_groups(stored) || is_open_group(stored);
}

bool dti_quant_needs_entry(const struct dti_quant_stored *stored)
{
    const bool bare = stored->row->codes == DTI_UINT8 && stored->row->packing == DTI_QUANT_PLAIN &&
                      !stored->zero_points; /* could be narrower codes */
    if (dti_quant_layout_has_stems(stored->row->layout))
        return stored->biases; /* the bits of a scale tell blocks apart */
    if (dti_quant_layout_has_state(stored->row->layout))
        return false; /* its state contains everything */
    const bool unscaled = stored->row->block && stored->row->block->family == DTI_BLOCKS_NV &&
                          !stored->tensor_scale; /* could have lost its tensor scale */
    return is_high(stored) || states_groups(stored) || bare || unscaled ||
           (stored->row->flags & DTI_QUANT_IN_METADATA) != 0 || is_open_width(stored);
}

void dti_quant_entry(const struct dti_quant_stored *stored, char buffer[DTI_QUANT_ENTRY_SIZE])
{
    const int used = snprintf(buffer, DTI_QUANT_ENTRY_SIZE, "%s %s",
                              dti_quant_row_name(stored->row), is_high(stored) ? "high" : "low");
    if (stored->biases)
        dti_quant_biased_entry(dti_quant_row_bits(stored->row), stored->group, buffer,
                               DTI_QUANT_ENTRY_SIZE);
    else if (states_groups(stored))
        (void)snprintf(buffer + used, DTI_QUANT_ENTRY_SIZE - (size_t)used, " %lu",
                       (unsigned long)stored->group);
}

/* Parses " 32"; an empty text is 0. Returns false if it is not a group length. */
static bool parse_group(const char *text, size_t length, uint64_t *ret_group)
{
    uint64_t group = 0;
    if (length == 1 || length > 10 || (length > 0 && text[0] != ' '))
        return false;
    for (size_t i = 1; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        group = 10 * group + (uint64_t)(text[i] - '0');
    }
    if (length > 0 && group == 0)
        return false;
    *ret_group = group;
    return true;
}

bool dti_quant_entry_parse(const char *value, size_t length, const char **ret_dtype, bool *ret_high,
                           uint64_t *ret_group)
{
    for (size_t i = 0; i < dti_quant_row_count; i++) {
        const char *const dtype = dti_quant_row_name(&dti_quant_rows[i]);
        const size_t own = strlen(dtype);
        if (length <= own || memcmp(value, dtype, own) != 0)
            continue;
        const bool high = length >= own + 5 && memcmp(value + own, " high", 5) == 0;
        const bool low = length >= own + 4 && memcmp(value + own, " low", 4) == 0;
        const size_t end = own + (high ? 5 : 4);
        if ((!high && !low) || !parse_group(value + end, length - end, ret_group))
            continue;
        *ret_dtype = dtype;
        *ret_high = high;
        return true;
    }
    return false;
}

const char *dti_quant_state_dtype(const struct dti_format *number)
{
    return number && number->id == DTI_FP16   ? "float16"
           : number && number->id == DTI_BF16 ? "bfloat16"
                                              : "float32";
}

/* Formats a finite float as Python's json.dumps does after conversion to fp64. */
static void spell_offset(float offset, char buffer[DTI_TEXT_SIZE])
{
    uint32_t code;
    struct dti_value value;
    memcpy(&code, &offset, sizeof code);
    dti_decode(dti_format_get(DTI_FP32), code, &value);
    const size_t length = dti_spell_text(buffer, &value);
    if (strcspn(buffer, ".e") == length)
        memcpy(buffer + length, ".0", 3);
}

static size_t add_text(char *buffer, size_t used, const char *text)
{
    const size_t length = strlen(text);
    assert(used + length < DTI_QUANT_STATE_SIZE_MAX); /* 16 dimensions of at most 22 characters
                                                       * each */
    if (used + length >= DTI_QUANT_STATE_SIZE_MAX)
        return used;
    memcpy(buffer + used, text, length + 1);
    return used + length;
}

size_t dti_quant_state_text(const struct dti_quant_stored *stored, float offset,
                            char buffer[DTI_QUANT_STATE_SIZE_MAX])
{
    static const char widest[] = "-1.1754943508222875e-38"; /* the longest possible text */
    char text[160], number[DTI_TEXT_SIZE];
    (void)snprintf(text, sizeof text,
                   "{\"quant_type\": \"%s\", \"blocksize\": %lu, \"dtype\": \"%s\", \"shape\": [",
                   dti_quant_state_name(stored->row)->word, (unsigned long)stored->group,
                   dti_quant_state_dtype(stored->number));
    size_t used = add_text(buffer, 0, text);
    for (unsigned i = 0; i < stored->rank; i++) {
        (void)snprintf(text, sizeof text, "%s%llu", i > 0 ? ", " : "",
                       (unsigned long long)stored->shape[i]);
        used = add_text(buffer, used, text);
    }
    used = add_text(buffer, used, "]");
    if (!stored->nested)
        return add_text(buffer, used, "}");
    (void)snprintf(text, sizeof text,
                   ", \"nested_blocksize\": %d, \"nested_dtype\": \"float32\", \"nested_offset\": ",
                   (int)DTI_NESTED_BLOCK);
    used = add_text(buffer, used, text);
    const size_t end = used + sizeof widest;
    spell_offset(offset, number);
    used = add_text(buffer, add_text(buffer, used, number), "}");
    memset(buffer + used, ' ', end - used);
    buffer[end] = '\0';
    return end;
}
