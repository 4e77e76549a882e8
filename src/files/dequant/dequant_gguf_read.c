/* SPDX-License-Identifier: MIT
 *
 * Reads numbers from blocks of GGUF, which have codes and scales in one. */
#include "files/dequant/dequant_piece.h"

/* The bytes of some blocks, little-endian. */
static enum dti_status look_at_blocks(const struct dti_dequant_tensor *tensor, uint64_t first,
                                      size_t count, struct dti_dequant_scratch *scratch,
                                      const void **ret, struct dti_error *reterr)
{
    const size_t each = tensor->gguf->bytes, size = count * each;
    const uint64_t offset = tensor->codes.offset + first * each;
    const struct dti_input *const input = tensor->codes.input;
    if (!tensor->codes_swapped)
        return dti_window_look(scratch->view, input, scratch->raw, size, offset, ret, reterr);
    const enum dti_status status = dti_input_read_at(input, scratch->raw, size, offset, reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        dti_dequant_reverse(scratch->raw + i * each, 1, 2);
    *ret = scratch->raw;
    return status;
}

/* The tensor scale of an element, and how many more have it. */
static enum dti_status find_part(const struct dti_dequant_tensor *tensor, uint64_t first,
                                 struct dti_dequant_window *window, float *ret_scale,
                                 uint64_t *ret_left, struct dti_error *reterr)
{
    const uint64_t part = tensor->elements / tensor->scale_count, at = first / part;
    *ret_scale = 1;
    *ret_left = part - first % part;
    if (!tensor->scales.container)
        return DTI_OK;
    const enum dti_status status = dti_dequant_load(tensor, window, at, 1, reterr);
    if (status == DTI_OK)
        *ret_scale = window->scale[at - window->first];
    return status;
}

/* Elements first to first + n - 1; blocks: from that of `first` on. Of the first and the last block
 * maybe not all are wanted. */
static void decode(const struct dti_dequant_tensor *tensor, const unsigned char *blocks,
                   uint64_t first, size_t n, float scale, float *numbers,
                   struct dti_dequant_scratch *scratch)
{
    const size_t elements = tensor->gguf->elements, bytes = tensor->gguf->bytes;
    dti_gguf_decode_fn *const run = tensor->method->decode;
    for (size_t skip = (size_t)(first % elements), taken; n > 0; skip = 0, n -= taken) {
        const bool whole = skip == 0 && n >= elements;
        const size_t count = whole ? n / elements : 1, left = elements - skip;
        taken = whole ? count * elements : n < left ? n : left;
        run(whole ? numbers : scratch->head, blocks, count, scale);
        if (!whole)
            memcpy(numbers, scratch->head + skip, taken * sizeof *numbers);
        numbers += taken;
        blocks += count * bytes;
    }
}

enum dti_status dti_dequant_gguf_read(const struct dti_dequant_tensor *tensor,
                                      const struct dti_dequant_segment *segment,
                                      struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const uint64_t elements = tensor->gguf->elements, first = segment->column / elements;
    const uint64_t last = (segment->column + segment->n - 1) / elements;
    const void *raw;
    enum dti_status status =
        look_at_blocks(tensor, first, (size_t)(last - first + 1), scratch, &raw, reterr);
    if (status != DTI_OK)
        return status;
    for (size_t done = 0; done < segment->n && status == DTI_OK;) {
        const uint64_t at = segment->column + done;
        float scale;
        uint64_t left;
        status = find_part(tensor, at, &scratch->window, &scale, &left, reterr);
        const size_t n = left < segment->n - done ? (size_t)left : segment->n - done;
        if (status == DTI_OK)
            decode(tensor,
                   (const unsigned char *)raw + (at / elements - first) * tensor->gguf->bytes, at,
                   n, scale, segment->numbers + done, scratch);
        done += n;
    }
    return dti_window_done(scratch->view, status, reterr);
}
