/* SPDX-License-Identifier: MIT
 *
 * Reads numbers from blocks that run along rows, with their scales in an array of their own. */
#include "dtinfo/little_endian.h"
#include "files/dequant/dequant_piece.h"

/* Scales that are not stored as kernels take them, one for each block of the format. */
static enum dti_status spread_scales(const struct dti_dequant_tensor *tensor,
                                     const struct dti_dequant_segment *segment, size_t blocks,
                                     struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const uint64_t length = tensor->block->length, column = segment->column;
    const uint64_t first = dti_dequant_scale_of(&tensor->map, segment->row, column);
    const uint64_t last =
        dti_dequant_scale_of(&tensor->map, segment->row, column + (blocks - 1) * length);
    struct dti_dequant_window *const window = &scratch->window;
    const enum dti_status status =
        dti_dequant_load(tensor, window, first, last - first + 1, reterr);
    for (size_t i = 0; i < blocks && status == DTI_OK; i++) {
        const uint64_t at = dti_dequant_scale_of(&tensor->map, segment->row, column + i * length);
        dti_little_put(scratch->scales + i * sizeof(float), sizeof(float),
                       dti_dequant_bits(window->scale[at - window->first]));
    }
    return status;
}

static enum dti_status read_scales(const struct dti_dequant_tensor *tensor,
                                   const struct dti_dequant_segment *segment, size_t blocks,
                                   struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const uint64_t first = dti_dequant_scale_of(&tensor->map, segment->row, segment->column);
    if (tensor->spread)
        return spread_scales(tensor, segment, blocks, scratch, reterr);
    return dti_dequant_raw_scales(tensor, &tensor->scales, scratch->scales, first, blocks, reterr);
}

/* Whole blocks along rows, the last of which may be short. The segment begins with a block. */
static enum dti_status read_whole_blocks(const struct dti_dequant_tensor *tensor,
                                         const struct dti_dequant_segment *segment, float *numbers,
                                         size_t n, struct dti_dequant_scratch *scratch,
                                         struct dti_error *reterr)
{
    const unsigned length = tensor->block->length;
    const size_t blocks = (n + length - 1) / length;
    const unsigned bits = tensor->order == DTI_BLOCK_BYTES ? 8 : tensor->bits;
    const void *codes;
    enum dti_status status = read_scales(tensor, segment, blocks, scratch, reterr);
    if (status == DTI_OK)
        status =
            dti_window_look(scratch->view, tensor->codes.input, scratch->raw, (n * bits + 7) / 8,
                            dti_dequant_row(tensor, segment->row) + segment->column / 8 * bits +
                                segment->column % 8 * bits / 8,
                            &codes, reterr);
    if (status != DTI_OK)
        return status;
    tensor->method->kernel->run.blocks_back(&tensor->method->block_args, numbers, codes,
                                            scratch->scales, n);
    return dti_window_done(scratch->view, DTI_OK, reterr);
}

enum dti_status dti_dequant_blocks(const struct dti_dequant_tensor *tensor,
                                   struct dti_dequant_segment *segment,
                                   struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const size_t skip = (size_t)(segment->column % tensor->block->length);
    if (skip > 0) { /* a block that is begun in the piece before */
        const size_t left = tensor->block->length - skip;
        const size_t n = segment->n < left ? segment->n : left;
        segment->column -= skip;
        const enum dti_status status =
            read_whole_blocks(tensor, segment, scratch->head, skip + n, scratch, reterr);
        if (status != DTI_OK)
            return status;
        memcpy(segment->numbers, scratch->head + skip, n * sizeof *segment->numbers);
        segment->column += skip + n;
        segment->numbers += n;
        segment->n -= n;
        if (segment->n == 0)
            return DTI_OK;
    }
    return read_whole_blocks(tensor, segment, segment->numbers, segment->n, scratch, reterr);
}

/* Blocks along rows have kernels. */
void dti_dequant_init_blocks(struct dti_dequant_method *ret,
                             const struct dti_dequant_tensor *tensor)
{
    ret->recipe = (struct dti_block_recipe){
        .format = tensor->block,
        .tensor_scale = dti_dequant_bits(tensor->tensor_scale),
        .tensor_divisor = tensor->reciprocal ? 0 : dti_dequant_bits(tensor->tensor_divisor)};
    const unsigned bits = tensor->order == DTI_BLOCK_BYTES ? 8 : tensor->bits;
    ret->block_args = (struct dti_block_args){
        .recipe = &ret->recipe,
        .parts = tensor->parts,
        .order = tensor->order,
        .code_stride = tensor->block->length * bits / 8,
        .scale_stride = dti_format_container(dti_format_get(tensor->block->scale)),
    };
    ret->kernel = dti_quant_find_blocks(true, &ret->block_args, tensor->level);
}
