/* SPDX-License-Identifier: MIT
 *
 * Integers with groups in compressed-tensors: a matrix [N, K] with G groups per row, or a stack of
 * those.
 *
 *   pack-quantized   weight_packed [N, K bits / 32], weight_scale [N, G],
 *                    weight_zero_point [N bits / 32, G], weight_shape, weight_g_idx [K] if columns
 *                    have a custom group order
 *   int-quantized    weight [N, K] int8, weight_scale and weight_zero_point [N, G]
 *
 * Zero points that are all in the middle of the codes are omitted. Source: compressed-tensors 0.20
 * (compressors/pack_quantized, compressors/naive_quantized). */
#include <stdio.h>

#include "files/stored/quant_reading.h"
#include "files/transcode/transcode_grouped.h"
#include "util/checked.h"
#include "util/little_endian.h"

static enum dti_status read_shape(void *context, void *buffer, size_t size, uint64_t offset,
                                  struct dti_window *window, void *scratch,
                                  struct dti_error *reterr)
{
    const struct dti_dequant_found *const found = context;
    unsigned char bytes[8 * DTI_QUANT_RANK_MAX];
    (void)window;
    (void)scratch;
    (void)reterr;
    for (size_t i = 0; i < found->shown->rank; i++)
        dti_little_put(bytes + 8 * i, 8, found->shown->shape[i]);
    memcpy(buffer, bytes + offset, size);
    return DTI_OK;
}

/* Versions of compressed-tensors pack these in two ways under one name. */
static bool is_packed_in_two_ways(unsigned bits)
{
    return bits == 3 || bits == 5 || bits == 6 || bits == 7;
}

static bool is_int8(const struct dti_grouped *grouped)
{
    return grouped->bits == 8 && grouped->sign;
}

static enum dti_status check_compressed(const struct dti_grouped *grouped, struct dti_error *reterr)
{
    if (is_packed_in_two_ways(grouped->bits))
        return dti_transcode_refuse(
            grouped->found, reterr,
            "its codes have %u bits, which versions of compressed-tensors from "
            "before and after June 2026 pack differently under one name; 2, 4 "
            "and 8 bits are written",
            grouped->bits);
    if (grouped->bits == 1)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "its codes have 1 bit; compressed-tensors has 2, 4 and 8");
    return dti_grouped_check_groups(grouped, reterr);
}

/* Adds a metadata entry if neither shapes nor names are sufficient, as dti_quant_entry() does. */
static void tell(const struct dti_grouped *grouped, struct dti_transcoded *ret)
{
    const uint64_t columns = grouped->columns;
    const unsigned bits = grouped->bits;
    const bool groups = dti_quant_lengths_of(columns, grouped->groups, false).other > 0;
    if (!groups && dti_quant_widths(columns, dti_divide_up(columns * bits, 32)) == 1U << bits)
        return;
    const int used = snprintf(ret->entry, sizeof ret->entry, "uint%u low", bits);
    if (groups)
        (void)snprintf(ret->entry + used, sizeof ret->entry - (size_t)used, " %llu",
                       (unsigned long long)grouped->length);
}

/* Adds scales, and zero points unless all are in the middle. */
static enum dti_status add_compressed_groups(struct dti_pool *pool,
                                             const struct dti_grouped *grouped,
                                             struct dti_transcoded *ret, struct dti_error *reterr)
{
    const uint64_t rows = grouped->one ? 1 : grouped->height;
    const unsigned bits = grouped->bits;
    const bool plain = is_int8(grouped);
    struct dti_transcode_part *part =
        dti_grouped_add(ret, grouped, "_scale", grouped->scale, rows, grouped->groups);
    if (grouped->one) {
        part->rank = 1;
        part->shape[0] = 1;
    }
    enum dti_status status =
        dti_grouped_values(pool, grouped, DTI_GROUP_SCALES, false, 0, part, reterr);
    if (status != DTI_OK || grouped->symmetric)
        return status;
    if (grouped->one && !plain)
        return dti_transcode_refuse(
            grouped->found, reterr,
            "it has one zero point, which compressed-tensors does not pack");
    part = dti_grouped_add(ret, grouped, "_zero_point", plain ? DTI_INT8 : DTI_INT32,
                           plain ? rows : dti_divide_up(rows * bits, 32), grouped->groups);
    if (grouped->one) {
        part->rank = 1;
        part->shape[0] = 1;
    }
    return dti_grouped_values(pool, grouped, plain ? DTI_GROUP_ZEROS : DTI_GROUP_ZEROS_DOWN, false,
                              plain ? 128 : 0, part, reterr);
}

static enum dti_status plan_compressed(const struct dti_transcode_target *target,
                                       struct dti_pool *pool, struct dti_dequant_found *found,
                                       struct dti_transcoded *ret, struct dti_error *reterr)
{
    static const struct dti_grouped_wants wants = {.biases = false};
    struct dti_grouped *grouped = NULL;
    dti_transcode_begin(found, ret);
    enum dti_status status = dti_grouped_new(&grouped, pool, found, target->name, reterr);
    if (status == DTI_OK)
        status = check_compressed(grouped, reterr);
    if (status == DTI_OK)
        status = dti_grouped_look(found, grouped, &wants, ret, reterr);
    if (status != DTI_OK)
        return status;
    const bool plain = is_int8(grouped);
    const uint64_t columns =
        plain ? grouped->columns : dti_divide_up(grouped->columns * grouped->bits, 32);
    struct dti_transcode_part *part =
        dti_grouped_add(ret, grouped, plain ? "" : "_packed", plain ? DTI_INT8 : DTI_INT32,
                        grouped->height, columns);
    status = dti_grouped_codes(pool, grouped, DTI_ORDER_ALONG, plain, part, reterr);
    if (status == DTI_OK)
        status = add_compressed_groups(pool, grouped, ret, reterr);
    if (status == DTI_OK && dti_dequant_order(grouped->how))
        dti_grouped_add_order(ret, grouped, "_g_idx");
    if (status != DTI_OK || plain)
        return status;
    tell(grouped, ret);
    part = dti_grouped_add(ret, grouped, "_shape", DTI_INT64, 0, 0);
    part->shape[0] = found->shown->rank;
    part->rank = 1;
    part->source = (struct dti_batch_source){.read = read_shape, .context = found};
    return DTI_OK;
}

static bool form(const struct dti_dequant_found *found, struct dti_config_form *ret)
{
    struct dti_grouped grouped;
    if (found->shown->rank != 2 ||
        !dti_quant_name_ends(found->shown->name, found->shown->name_length, ".weight") ||
        dti_grouped_facts(&grouped, found, "compressed-tensors", NULL) != DTI_OK)
        return false;
    const bool groups = found->form.is->per == DTI_PER_GROUP && grouped.length < grouped.columns;
    *ret = (struct dti_config_form){
        .format = is_int8(&grouped) ? "int-quantized" : "pack-quantized",
        .strategy = grouped.one ? "tensor"
                    : groups    ? "group"
                                : "channel",
        .bits = grouped.bits,
        .zero_points = !found->form.symmetric,
        .ordered = dti_dequant_order(&found->how) != NULL,
        .group = {0, groups ? grouped.length : 0},
        .scale = grouped.scale,
    };
    return true;
}

const struct dti_transcode_target dti_target_compressed_words = {.name = "compressed-tensors",
                                                                 .takes = DTI_TAKES_INTEGERS,
                                                                 .plan = plan_compressed,
                                                                 .form = form};
