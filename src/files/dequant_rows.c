/* SPDX-License-Identifier: MIT
 *
 * Which row of the table of layouts a tensor's parts are by: dtypes, names and shapes must fit. */
#include <stdio.h>
#include <string.h>

#include "dtinfo/checked.h"
#include "files/dequant_find.h"

/* What is read besides: codes of 8 bits in words, and FP4 under its own name. */
static const struct dti_quant_row more_rows[] = {
    {DTI_LAYOUT_COMPRESSED_TENSORS, "uint8", DTI_INT32, DTI_QUANT_WORDS, DTI_FP32, 0},
    {DTI_LAYOUT_COMPRESSED_TENSORS, "mxfp4", DTI_FP4_E2M1, DTI_QUANT_PLAIN, DTI_UINT8, 0},
    {DTI_LAYOUT_COMPRESSED_TENSORS, "nvfp4", DTI_FP4_E2M1, DTI_QUANT_PLAIN, DTI_FP8_E4M3FN,
     DTI_QUANT_INVERSE},
    {DTI_LAYOUT_MODELOPT, "nvfp4", DTI_FP4_E2M1, DTI_QUANT_PLAIN, DTI_FP8_E4M3FN, 0},
};
enum { MORE = sizeof more_rows / sizeof more_rows[0] };

/* Scales of integers and floats come in any float; those of blocks as the table says. */
static bool scale_fits(const struct dti_quant_row *row, const struct dti_block_format *block,
                       const struct dti_format *scale)
{
    if (!block)
        return scale->id == DTI_FP32 || scale->id == DTI_FP16 || scale->id == DTI_BF16;
    return scale->id == row->scale || (row->scale == DTI_UINT8 && scale->id == DTI_FP8_E8M0);
}

static bool name_fits(const struct dti_dequant_group *group, const struct dti_quant_row *row)
{
    const char *const suffix = dti_quant_suffix(row, DTI_PART_CODES);
    return group->free_name || group->packed_name == (suffix[0] != '\0');
}

/* Whether dtypes, names and what is told allow a row. */
static bool row_fits(const struct dti_dequant_group *group, const struct dti_quant_row *row,
                     struct dti_dequant_scheme *ret)
{
    const struct dti_block_format *const block = dti_block_lookup(row->dtype);
    const bool tensor_scale = dti_dequant_has(group, DTI_PART_TENSOR_SCALE);
    if (dti_dequant_of(group, DTI_PART_CODES)->format->id != row->codes ||
        !scale_fits(row, block, dti_dequant_of(group, DTI_PART_SCALE)->format) ||
        !name_fits(group, row) || (group->bound && row->layout != group->layout) ||
        (tensor_scale && (!block || block->family != DTI_BLOCKS_NV)) || (group->inverse && block))
        return false;
    if (group->told ? strcmp(group->told_dtype, row->dtype) != 0
                    : (row->flags & DTI_QUANT_TOLD) != 0)
        return false;
    *ret = (struct dti_dequant_scheme){.row = row, .block = block};
    if (block)
        ret->code = *dti_format_get(block->code);
    else if (dti_format_lookup(row->dtype, &ret->code, NULL, NULL) != DTI_OK)
        return false;
    ret->bits = ret->code.width;
    if (row->packing == DTI_QUANT_WORDS && ret->code.kind == DTI_KIND_INT)
        ret->code = *dti_format_get(ret->bits == 2 ? DTI_UINT2 : DTI_UINT4);
    return true;
}

/* Whether two rows read the same numbers. q8_0 is int8 in groups. */
static bool same(const struct dti_dequant_scheme *a, const struct dti_dequant_scheme *b)
{
    const bool plain_a = !a->block || a->block->id == DTI_BLOCK_Q8_0;
    const bool plain_b = !b->block || b->block->id == DTI_BLOCK_Q8_0;
    if (plain_a && plain_b)
        return a->code.id == b->code.id;
    return a->block == b->block;
}

/* The last dimension of the codes in elements; false: it is no whole number of them. */
static bool unpack(const struct dti_dequant_scheme *scheme, uint64_t *last)
{
    const unsigned unit = scheme->row->packing == DTI_QUANT_BITS    ? 8
                          : scheme->row->packing == DTI_QUANT_WORDS ? 32
                                                                    : scheme->bits;
    if (*last > UINT64_MAX / unit || *last * unit % scheme->bits != 0)
        return false;
    *last = *last * unit / scheme->bits;
    return true;
}

/* Every dimension is that of the codes, save that those along one axis, and in the last word of a
 * row, may be padded. */
static bool is_within(const struct dti_dequant_shape *shape)
{
    unsigned padded = 0;
    for (unsigned i = 0; i < shape->rank; i++) {
        if (shape->shape[i] > shape->stored[i] || (shape->shape[i] == 0) != (shape->stored[i] == 0))
            return false;
        padded += i + 1 < shape->rank && shape->shape[i] != shape->stored[i];
    }
    return padded <= 1;
}

/* Padding is less than a group. */
static bool is_little(const struct dti_dequant_shape *shape, const struct dti_dequant_form *form)
{
    for (unsigned i = 0; i < shape->rank; i++) {
        const bool groups = form->per == DTI_PER_GROUP && form->axis == i && form->group[0] == 0;
        if (shape->stored[i] - shape->shape[i] >= (groups ? form->group[1] : 1))
            return false;
    }
    return true;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* How long the groups of a row are, `count` of them for `last` numbers, filled up to so many words
 * of `per_word`: of several lengths the one that needs no filling, else a power of two; 0: none. */
static uint64_t group_length(uint64_t last, uint64_t count, uint64_t words, uint64_t per_word)
{
    uint64_t found = 0, lengths = 0, first = divide_up(last, count);
    if (last % count == 0 && divide_up(last, per_word) == words)
        return last / count;
    if (words > 0 && divide_up((words - 1) * per_word + 1, count) > first)
        first = divide_up((words - 1) * per_word + 1, count);
    for (uint64_t length = first; length > 0; length++) { /* a few of them */
        uint64_t all;
        if (!dti_mul_u64(length, count, &all) || all - last >= length ||
            divide_up(all, per_word) > words)
            break;
        if (divide_up(all, per_word) != words)
            continue;
        if ((length & (length - 1)) == 0)
            return length;
        found = length;
        lengths++;
    }
    return lengths == 1 ? found : 0;
}

/* The same where it is said: whether that is what there is. */
static bool are_groups(uint64_t length, uint64_t last, uint64_t count, uint64_t words,
                       uint64_t per_word)
{
    uint64_t all;
    return dti_mul_u64(length, count, &all) && divide_up(last, length) == count &&
           divide_up(all, per_word) == words;
}

/* Words may go beyond the last group: the last dimension becomes that of whole groups. */
static bool end_groups(const struct dti_dequant_group *group,
                       const struct dti_dequant_scheme *scheme, const uint64_t *told, unsigned rank,
                       uint64_t *stored)
{
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    if (scheme->row->packing != DTI_QUANT_WORDS)
        return true;
    const uint64_t per_word = 32 / scheme->bits, last = told[rank - 1];
    const uint64_t words = stored[rank - 1] / per_word;
    const uint64_t groups = scales->rank == rank ? scales->shape[rank - 1] : 1;
    uint64_t length = groups > 0 ? group_length(last, groups, words, per_word) : 0;
    if (group->told && group->told_group > 0 && last > 0)
        length =
            are_groups(group->told_group, last, groups, words, per_word) ? group->told_group : 0;
    if (last > 0)
        stored[rank - 1] = length * groups;
    return last == 0 || length > 0;
}

/* Fills found from a row; false: the shapes do not fit it. */
static bool try_row(const struct dti_dequant_group *group, const struct dti_dequant_scheme *scheme,
                    const uint64_t *told, uint64_t stored[DTI_QUANT_RANK_MAX],
                    struct dti_dequant_found *found)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_dequant_shape shape = {.rank = codes->rank,
                                            .shape = told ? told : stored,
                                            .stored = stored,
                                            .scales = dti_dequant_of(group, DTI_PART_SCALE)};
    struct dti_dequant_tensor *const how = &found->how;
    for (unsigned i = 0; i < codes->rank; i++)
        stored[i] = codes->shape[i];
    if (scheme->row->packing != DTI_QUANT_PLAIN &&
        (codes->rank == 0 || !unpack(scheme, &stored[codes->rank - 1])))
        return false;
    if (scheme->row->packing == DTI_QUANT_WORDS && !told)
        return false;
    if (codes->rank > 0 && codes->format->width < 8 &&
        codes->shape[codes->rank - 1] % 8 * codes->format->width % 8 != 0)
        return false; /* rows that end within a byte */
    if (!is_within(&shape))
        return false;
    how->block = scheme->block;
    how->bits = scheme->bits;
    how->elements = 1;
    for (unsigned i = 0; i < codes->rank; i++)
        how->elements *= shape.shape[i]; /* no more than those of the codes */
    const uint64_t rows = codes->rank > 0 ? codes->shape[codes->rank - 1] : 1;
    how->row_bytes = codes->elements > 0 ? codes->bytes / (codes->elements / rows) : 0;
    return end_groups(group, scheme, told, codes->rank, stored) &&
           dti_dequant_place_scales(&shape, scheme->block ? scheme->block->length : 0,
                                    group->inverse, found) &&
           is_little(&shape, &found->form);
}

static const char *shape_words(const struct dti_tensor *tensor, char buffer[160])
{
    size_t used = (size_t)snprintf(buffer, 160, "[");
    for (unsigned i = 0; i < tensor->rank && used < 120; i++)
        used += (size_t)snprintf(buffer + used, 160 - used, "%s%llu", i > 0 ? ", " : "",
                                 (unsigned long long)tensor->shape[i]);
    (void)snprintf(buffer + used, 160 - used, "]");
    return buffer;
}

/* Says what was expected in place of what is there. */
static enum dti_status refuse(const struct dti_dequant_group *group, bool shapes, bool told,
                              struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scale = dti_dequant_of(group, DTI_PART_SCALE);
    char codes_shape[160], scale_shape[160];
    if (!shapes)
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr,
                                  "holds %s, which are no scales of %s codes%s%s",
                                  scale->format->name, codes->format->name,
                                  group->told ? " of " : "", group->told ? group->told_dtype : "");
    if (codes->format->id == DTI_INT32 && !told)
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr,
                                  "packed codes need a tensor '..._shape' beside them, with the "
                                  "dimensions that they had before");
    return dti_dequant_refuse(
        &group->part[DTI_PART_SCALE], reterr,
        "its shape %s does not fit %s codes of shape %s: one scale, one for each place along an "
        "axis or one for each group of equal length was expected",
        shape_words(scale, scale_shape), codes->format->name, shape_words(codes, codes_shape));
}

enum dti_status dti_dequant_choose(const struct dti_dequant_group *group, const uint64_t *told,
                                   uint64_t shape[DTI_QUANT_RANK_MAX],
                                   struct dti_dequant_scheme *ret_scheme,
                                   struct dti_dequant_found *ret, struct dti_error *reterr)
{
    uint64_t stored[DTI_QUANT_RANK_MAX];
    bool any = false, candidates = false;
    for (size_t i = 0; i < dti_quant_row_count + MORE; i++) {
        const struct dti_quant_row *const row =
            i < dti_quant_row_count ? &dti_quant_rows[i] : &more_rows[i - dti_quant_row_count];
        struct dti_dequant_scheme scheme;
        struct dti_dequant_found trial = *ret;
        if (!row_fits(group, row, &scheme))
            continue;
        candidates = true;
        if (!try_row(group, &scheme, told, stored, &trial))
            continue;
        if (any && !group->free_name && scheme.row->packing == DTI_QUANT_WORDS &&
            ret_scheme->row->packing == DTI_QUANT_WORDS && ret_scheme->bits == 4)
            continue; /* a row in a word: other widths are told */
        if (any && dti_dequant_of(group, DTI_PART_CODES)->elements > 0 &&
            !same(ret_scheme, &scheme))
            return dti_dequant_refuse(
                &group->part[DTI_PART_CODES], reterr,
                "may hold %s or %s: neither dtypes nor shapes tell, and no entry '%s...' of the "
                "metadata does",
                ret_scheme->row->dtype, row->dtype, DTI_QUANT_KEY);
        if (any)
            continue;
        any = true;
        *ret_scheme = scheme;
        *ret = trial;
        for (unsigned k = 0; k < dti_dequant_of(group, DTI_PART_CODES)->rank; k++)
            shape[k] = told ? told[k] : stored[k];
    }
    return any ? DTI_OK : refuse(group, candidates, told != NULL, reterr);
}
