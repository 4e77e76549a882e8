/* SPDX-License-Identifier: MIT
 *
 * ComfyUI's layout as a target (quant_marks.h). Codes keep their values: those of 4 bits swap
 * places in their bytes, and scales of blocks go into tiles. Rows of zeros fill up a matrix with
 * blocks, whose original shape is then in its mark. int8 in squares is int8_blockwise, which only
 * forks of ComfyUI load. Sources: comfy-kitchen 0.2.40 (tensor/nvfp4.py, mxfp8.py, int8.py),
 * ComfyUI (comfy/quant_ops.py). */
#include <string.h>

#include "files/dequant/dequant_find.h"
#include "files/stored/quant_marks.h"
#include "files/stored/scale_tiles.h"
#include "files/transcode/transcode_nvfp4.h"

enum {
    UNIT = 8,     /* bytes of codes: every row has a multiple of it */
    OF_TILE = 16, /* bytes of scales: 4 rows of a tile */
};

/* Codes of a matrix, then rows of zeros. */
struct filled_codes {
    const struct dti_dequant_tensor *how;
    uint64_t bytes; /* without the rows of zeros */
    bool swapped;   /* the first of two is in the low bits */
};

static enum dti_status fill_codes(const void *context, unsigned char *units, uint64_t first,
                                  size_t count, unsigned char *memory, struct dti_error *reterr)
{
    const struct filled_codes *const codes = context;
    const uint64_t offset = first * UNIT;
    const size_t size = count * UNIT;
    const uint64_t left = offset < codes->bytes ? codes->bytes - offset : 0;
    const size_t n = left < size ? (size_t)left : size;
    enum dti_status status = DTI_OK;
    (void)memory;
    if (n > 0)
        status = dti_dequant_read_part(DTI_PART_OF(codes->how, codes), units, n, offset, reterr);
    memset(units + n, 0, size - n);
    for (size_t i = 0; i < n && status == DTI_OK && codes->swapped; i++)
        units[i] = (unsigned char)(units[i] << 4 | units[i] >> 4);
    return status;
}

/* Scales in rows, from which tiles are made. */
struct scale_rows {
    dti_transcode_fill *fill; /* of one byte each, in order */
    const void *context;
    uint64_t rows, columns;
};

/* Bytes of one stripe from `begin` to `end`, offsets from its start. */
struct stripe_bytes {
    uint64_t row, begin, end; /* row: the first one of the stripe */
    unsigned char *out;
};

/* Puts scales of one row into place, as far as they are wanted. */
static void put_row(const struct stripe_bytes *stripe, uint64_t row, uint64_t column,
                    const unsigned char *scales, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t at = dti_tile_offset(row, column + i);
        if (at >= stripe->begin && at < stripe->end)
            stripe->out[at - stripe->begin] = scales[i];
    }
}

/* Reads the rows of whole tiles: several at once if the tiles have all columns. */
static enum dti_status fill_stripe(const struct scale_rows *scales,
                                   const struct stripe_bytes *stripe, unsigned char *memory,
                                   struct dti_error *reterr)
{
    unsigned char bytes[DTI_TRANSCODE_ROOM];
    const uint64_t from = stripe->begin / DTI_TILE_BYTES * DTI_TILE_COLUMNS;
    uint64_t to = dti_divide_up(stripe->end, DTI_TILE_BYTES) * DTI_TILE_COLUMNS;
    to = to < scales->columns ? to : scales->columns;
    const uint64_t left = scales->rows - stripe->row;
    const uint64_t rows = left < DTI_TILE_ROWS ? left : DTI_TILE_ROWS, span = to - from;
    const bool whole = span == scales->columns && span <= DTI_TRANSCODE_ROOM;
    const uint64_t most = whole ? DTI_TRANSCODE_ROOM / span : 1;
    enum dti_status status = DTI_OK;
    memset(stripe->out, 0, (size_t)(stripe->end - stripe->begin));
    for (uint64_t row = 0, n; row < rows && status == DTI_OK; row += n) {
        n = rows - row < most ? rows - row : most;
        status = scales->fill(scales->context, bytes, (stripe->row + row) * scales->columns + from,
                              (size_t)(n * span), memory, reterr);
        for (uint64_t i = 0; i < n && status == DTI_OK; i++)
            put_row(stripe, row + i, from, bytes + i * span, (size_t)span);
    }
    return status;
}

static enum dti_status fill_tiles(const void *context, unsigned char *units, uint64_t first,
                                  size_t count, unsigned char *memory, struct dti_error *reterr)
{
    const struct scale_rows *const scales = context;
    const uint64_t size = DTI_TILE_ROWS * dti_tiled_columns(scales->columns);
    const uint64_t end = (first + count) * OF_TILE;
    enum dti_status status = DTI_OK;
    for (uint64_t at = first * OF_TILE; at < end && status == DTI_OK;) {
        const uint64_t number = at / size, rest = end - number * size;
        const struct stripe_bytes stripe = {.row = number * DTI_TILE_ROWS,
                                            .begin = at % size,
                                            .end = rest < size ? rest : size,
                                            .out = units};
        status = fill_stripe(scales, &stripe, memory, reterr);
        at += stripe.end - stripe.begin;
        units += stripe.end - stripe.begin;
    }
    return status;
}

static enum dti_status fill_text(const void *context, unsigned char *units, uint64_t first,
                                 size_t count, unsigned char *memory, struct dti_error *reterr)
{
    (void)memory;
    (void)reterr;
    memcpy(units, (const char *)context + first, count);
    return DTI_OK;
}

/* Adds the mark, whose text is in *ret. */
static enum dti_status add_mark(struct dti_pool *pool, const struct dti_dequant_found *found,
                                struct dti_transcoded *ret, struct dti_error *reterr)
{
    struct dti_transcode_part *const part =
        dti_transcode_add(ret, DTI_QUANT_MARK_SUFFIX, DTI_UINT8);
    const size_t length = strlen(ret->mark);
    const char *const text = dti_pool_text(pool, ret->mark, length);
    part->less = found->shown->name_length - dti_quant_mark_stem(found->shown->name_length);
    part->rank = 1;
    part->shape[0] = length;
    return text && dti_transcode_set_units(pool, part,
                                           &(struct dti_transcode_units){
                                               .fill = fill_text, .context = text, .bytes = 1})
               ? DTI_OK
               : dti_no_memory(reterr);
}

/* Blocks with the codes and scales that the fills make; both NULL: as they are stored. */
static enum dti_status add_tiled(struct dti_pool *pool, const struct dti_dequant_found *found,
                                 const struct dti_quant_row *row,
                                 const struct dti_transcode_units *codes_of,
                                 const struct scale_rows *scales_of, struct dti_transcoded *ret,
                                 struct dti_error *reterr)
{
    const struct dti_tensor *const shown = found->shown;
    const struct dti_quant_stored stored = {.row = row,
                                            .per = DTI_PER_GROUP,
                                            .group = row->block->length,
                                            .pad = true,
                                            .high = true,
                                            .rank = shown->rank,
                                            .axis = shown->rank - 1,
                                            .shape = shown->shape};
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    struct dti_error why;
    if (dti_quant_parts(&stored, parts, &why) != DTI_OK)
        return dti_transcode_refuse(found, reterr, "it %s", why.text);
    const struct dti_quant_part_shape *const sides[] = {&parts[DTI_PART_CODES],
                                                        &parts[DTI_PART_SCALE]};
    struct dti_transcode_part *part[2];
    for (size_t i = 0; i < 2; i++) {
        part[i] = dti_transcode_add(ret, i == 0 ? "" : "_scale", sides[i]->dtype);
        part[i]->rank = sides[i]->rank;
        memcpy(part[i]->shape, sides[i]->shape, sides[i]->rank * sizeof *part[i]->shape);
    }
    (void)dti_quant_mark_text(&stored, dti_quant_is_filled_up(&stored, sides[0]), ret->mark);
    struct scale_rows *const scales = dti_pool_alloc(pool, sizeof *scales);
    if (!scales)
        return dti_no_memory(reterr);
    *scales = *scales_of;
    const struct dti_transcode_units tiles = {fill_tiles, scales, OF_TILE};
    return dti_transcode_set_units(pool, part[0], codes_of) &&
                   dti_transcode_set_units(pool, part[1], &tiles)
               ? DTI_OK
               : dti_no_memory(reterr);
}

static enum dti_status add_blocks(struct dti_pool *pool, struct dti_dequant_found *found,
                                  struct dti_transcoded *ret, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = &found->how;
    const struct dti_quant_row *const row =
        dti_quant_row_find(DTI_LAYOUT_COMFY, how->is->block->name);
    struct filled_codes *const codes = dti_pool_alloc(pool, sizeof *codes);
    if (!codes)
        return dti_no_memory(reterr);
    *codes =
        (struct filled_codes){.how = how,
                              .bytes = dti_dequant_part_tensor(DTI_PART_OF(how, codes))->bytes,
                              .swapped = how->is->bits < 8 && how->is->order != DTI_BLOCK_HIGH};
    const uint64_t columns = found->shown->shape[found->shown->rank - 1] / how->is->block->length;
    const struct scale_rows scales = {dti_transcode_fill_scales, how,
                                      columns > 0 ? how->is->scale_count / columns : 0, columns};
    const struct dti_transcode_units units = {fill_codes, codes, UNIT};
    ret->blocks = ret->lossless = how->is->scale_count;
    enum dti_status status = add_tiled(pool, found, row, &units, &scales, ret, reterr);
    if (status == DTI_OK && how->is->block->family == DTI_BLOCKS_NV)
        status = dti_transcode_add_nv_scale(found, false, ret, reterr);
    return status == DTI_OK ? add_mark(pool, found, ret, reterr) : status;
}

/* nvfp4 from mxfp4. */
struct swapped_codes {
    const struct dti_nvfp4_plan *plan;
    uint64_t blocks; /* without the rows of zeros */
};

static enum dti_status fill_nvfp4(const void *context, unsigned char *units, uint64_t first,
                                  size_t count, unsigned char *memory, struct dti_error *reterr)
{
    const struct swapped_codes *const codes = context;
    const uint64_t left = first < codes->blocks ? codes->blocks - first : 0;
    const size_t n = left < count ? (size_t)left : count;
    enum dti_status status = DTI_OK;
    if (n > 0)
        status = dti_nvfp4_fill_codes(codes->plan, units, first, n, memory, reterr);
    memset(units + n * UNIT, 0, (count - n) * UNIT);
    for (size_t i = 0; i < n * UNIT && status == DTI_OK; i++)
        units[i] = (unsigned char)(units[i] << 4 | units[i] >> 4);
    return status;
}

static enum dti_status add_nvfp4(struct dti_pool *pool, struct dti_dequant_found *found,
                                 struct dti_transcoded *ret, struct dti_error *reterr)
{
    struct dti_nvfp4_plan *const plan = dti_pool_alloc(pool, sizeof *plan);
    struct swapped_codes *const codes = dti_pool_alloc(pool, sizeof *codes);
    if (!plan || !codes)
        return dti_no_memory(reterr);
    enum dti_status status = dti_nvfp4_plan(&found->how, false, plan, reterr);
    if (status != DTI_OK)
        return status;
    *codes = (struct swapped_codes){.plan = plan, .blocks = plan->blocks};
    const uint64_t columns = found->shown->shape[found->shown->rank - 1] / DTI_NV_LENGTH;
    const struct scale_rows scales = {dti_nvfp4_fill_scales, plan,
                                      columns > 0 ? plan->blocks / columns : 0, columns};
    const struct dti_transcode_units units = {fill_nvfp4, codes, UNIT};
    ret->blocks = plan->blocks;
    ret->lossless = plan->lossless;
    ret->worst = plan->worst;
    status = add_tiled(pool, found, dti_quant_row_find(DTI_LAYOUT_COMFY, "nvfp4"), &units, &scales,
                       ret, reterr);
    if (status == DTI_OK)
        dti_transcode_add_number(dti_nvfp4_scale(plan), "_scale_2", 0, ret);
    return status == DTI_OK ? add_mark(pool, found, ret, reterr) : status;
}

/* Whether its float scales have a place: one, one for each row (int8), one for each square (int8).
 * Sets the shape of the part, and the mark. */
static bool has_place(const struct dti_dequant_found *found, struct dti_transcode_part *scales,
                      char mark[DTI_QUANT_MARK_SIZE])
{
    const enum dti_transcode_sharing sharing = dti_transcode_sharing(found);
    const struct dti_tensor *const stored =
        dti_dequant_part_tensor(DTI_PART_OF(&found->how, scales));
    const bool integers = found->how.is->affine.code.id == DTI_INT8;
    const struct dti_quant_stored plain = {
        .row = dti_quant_row_find(DTI_LAYOUT_COMFY, found->form.is->dtype)};
    (void)dti_quant_mark_text(&plain, false, mark);
    scales->rank = 0;
    if (sharing == DTI_SHARED_BY_TENSOR)
        return true;
    if (!integers || found->shown->rank != 2)
        return false;
    scales->rank = 2;
    if (sharing == DTI_SHARED_BY_ROW) {
        scales->shape[0] = found->shown->shape[0];
        scales->shape[1] = 1;
        return true;
    }
    if (sharing != DTI_SHARED_BY_RECTANGLE ||
        found->form.is->group[0] != found->form.is->group[1] || stored->rank != 2)
        return false;
    memcpy(scales->shape, stored->shape, 2 * sizeof *stored->shape);
    dti_quant_mark_squares(found->form.is->group[0], mark);
    return true;
}

static enum dti_status add_scaled(struct dti_pool *pool, struct dti_dequant_found *found,
                                  struct dti_transcoded *ret, struct dti_error *reterr)
{
    struct dti_transcode_part *const codes =
        dti_transcode_add(ret, "", found->how.is->affine.code.id);
    struct dti_transcode_part *const scales = dti_transcode_add(ret, "_scale", DTI_FP32);
    dti_transcode_set_shape(found, 1, codes);
    codes->copied = *DTI_PART_OF(&found->how, codes);
    ret->blocks = ret->lossless = found->how.is->scale_count;
    if (!has_place(found, scales, ret->mark))
        return dti_transcode_refuse(
            found, reterr, "it is %s whose scales have another arrangement; comfy has one scale%s",
            found->form.is->dtype,
            found->how.is->affine.code.id == DTI_INT8
                ? ", or one for each row or square of a matrix"
                : "");
    if (!dti_transcode_set_scales(pool, found, scales))
        return dti_no_memory(reterr);
    return add_mark(pool, found, ret, reterr);
}

/* Rotated integers: codes as they are stored, and scales in the shape of theirs. */
static enum dti_status add_rotated(struct dti_pool *pool, struct dti_dequant_found *found,
                                   struct dti_transcoded *ret, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = &found->how;
    struct dti_transcode_part *const codes = dti_transcode_add(ret, "", DTI_INT8);
    struct dti_transcode_part *const scales = dti_transcode_add(ret, "_scale", DTI_FP32);
    const struct dti_quant_stored stored = {
        .row = dti_quant_row_find(DTI_LAYOUT_COMFY, found->form.is->dtype),
        .rotation = how->is->rotation};
    codes->copied = *DTI_PART_OF(how, codes);
    codes->rank = 2;
    codes->shape[0] = how->is->rows;
    codes->shape[1] = how->is->row_bytes;
    const struct dti_tensor *const theirs = dti_form_part(&found->form, DTI_PART_SCALE);
    scales->rank = theirs->rank;
    for (unsigned axis = 0; axis < theirs->rank; axis++)
        scales->shape[axis] = theirs->shape[axis];
    ret->blocks = ret->lossless = how->is->scale_count;
    (void)dti_quant_mark_text(&stored, false, ret->mark);
    if (!dti_transcode_set_scales(pool, found, scales))
        return dti_no_memory(reterr);
    return add_mark(pool, found, ret, reterr);
}

static enum dti_status plan_comfy(const struct dti_transcode_target *target, struct dti_pool *pool,
                                  struct dti_dequant_found *found, struct dti_transcoded *ret,
                                  struct dti_error *reterr)
{
    const struct dti_tensor *const shown = found->shown;
    const struct dti_block_format *const block = found->how.is->block;
    const enum dti_dtype code = found->how.is->affine.code.id;
    dti_transcode_begin(found, ret);
    if (found->how.is->matrix > 0 ||
        !dti_quant_can_mark(shown->name, shown->name_length, shown->rank))
        return dti_transcode_refuse(found, reterr,
                                    "comfy has matrices of modules, called X.weight");
    if (found->how.is->rotation > 0)
        return add_rotated(pool, found, ret, reterr);
    if (block && block->id == DTI_BLOCK_MXFP4 && target->takes == DTI_TAKES_FOR_NVFP4 &&
        dti_transcode_has_blocks(found))
        return add_nvfp4(pool, found, ret, reterr);
    if (block && (block->id == DTI_BLOCK_NVFP4 || block->id == DTI_BLOCK_MXFP8_E4M3) &&
        dti_transcode_has_blocks(found))
        return add_blocks(pool, found, ret, reterr);
    if ((code == DTI_FP8_E4M3FN || code == DTI_FP8_E5M2 || code == DTI_INT8) &&
        dti_transcode_is_plain(found, code))
        return add_scaled(pool, found, ret, reterr);
    return dti_transcode_refuse(
        found, reterr,
        "it is %s of %s, and comfy has whole blocks of nvfp4 and mxfp8_e4m3 "
        "along rows, fp8, and int8 without zero points",
        found->form.is->dtype, found->form.is->layout);
}

const struct dti_transcode_target dti_target_comfy = {
    .name = "comfy", .marks = true, .plan = plan_comfy};
const struct dti_transcode_target dti_target_comfy_nvfp4 = {
    .name = "comfy", .takes = DTI_TAKES_FOR_NVFP4, .marks = true, .plan = plan_comfy};
const struct dti_transcode_target dti_target_comfy_integers = {
    .name = "comfy", .takes = DTI_TAKES_INTEGERS, .marks = true, .plan = plan_comfy};
