/* SPDX-License-Identifier: MIT
 *
 * Writes what a flattened tensor has in addition to codes and scales: the state, the maps, and
 * scales that are themselves quantized. */
#include <math.h>
#include <string.h>

#include "files/rewrite/quantize.h"
#include "files/stored/quant_state.h"
#include "kernels/quant/nested_scales.h"

static enum dti_status write_floats(const struct dti_quant_task *task, enum dti_quant_part part,
                                    float *numbers, size_t n, struct dti_error *reterr)
{
    dti_quant_little(numbers, sizeof *numbers, n);
    return dti_quant_task_write(task, part, numbers, n * sizeof *numbers, 0, reterr);
}

/* Scale codes cannot represent NaN, and one NaN would corrupt 256 blocks. */
static enum dti_status refuse_special(const struct dti_quant_task *task, struct dti_error *reterr)
{
    char place[DTI_TENSOR_PLACE];
    return dti_fail_remedy(
        reterr, DTI_NOT_REPRESENTABLE, DTI_REMEDY_KEEP,
        "%s has a NaN or an infinity, and nested scales can hold neither",
        dti_tensor_place(task->rewrite->container, task->rewrite->tensors[task->at].source, place));
}

enum dti_status dti_quant_task_state(const struct dti_quant_task *task, struct dti_error *reterr)
{
    const struct dti_quant_stored *const stored = &task->stored;
    const struct dti_block_format *const block = stored->row->block;
    float map[DTI_QUANT_MAP_SIZE], nested[DTI_NESTED_CODES];
    char text[DTI_QUANT_STATE_SIZE_MAX];
    if (stored->nested && !isfinite(task->scales->offset))
        return refuse_special(task, reterr);
    const size_t length = dti_quant_state_text(stored, task->scales->offset, text);
    memcpy(map, dti_block_table(block), sizeof map);
    enum dti_status status = write_floats(task, DTI_PART_MAP, map, DTI_QUANT_MAP_SIZE, reterr);
    if (status == DTI_OK)
        status = dti_quant_task_write(task, DTI_PART_STATE, text, length, 0, reterr);
    if (status != DTI_OK || !stored->nested)
        return status;
    dti_nested_map(nested);
    return write_floats(task, DTI_PART_NESTED_MAP, nested, DTI_NESTED_CODES, reterr);
}

void dti_quant_task_fill(const struct dti_quant_task *task, unsigned char *codes, uint64_t end,
                         size_t size)
{
    const struct dti_block_format *const block = task->stored.row->block;
    if (end == task->sizes.elements && end % 2 != 0)
        codes[size - 1] |= (unsigned char)dti_block_zero(block);
}

enum dti_status dti_quant_task_nest(const struct dti_quant_task *task, float *scales, float *own,
                                    uint64_t first, size_t n, struct dti_error *reterr)
{
    const size_t blocks = (n + DTI_NESTED_BLOCK - 1) / DTI_NESTED_BLOCK;
    unsigned char *const bytes = (unsigned char *)scales;
    dti_quant_little(scales, sizeof *scales, n);
    for (size_t i = 0; i < blocks; i++) {
        unsigned char codes[DTI_NESTED_BLOCK];
        const size_t at = i * DTI_NESTED_BLOCK;
        const size_t count = n - at < DTI_NESTED_BLOCK ? n - at : DTI_NESTED_BLOCK;
        own[i] = dti_nested_quantize(scales + at, count, task->scales->offset, codes);
        memcpy(bytes + at, codes, count); /* overwrites scales that have already been used */
    }
    dti_quant_little(own, sizeof *own, blocks);
    const enum dti_status status =
        dti_quant_task_write(task, DTI_PART_SCALE, bytes, n, first, reterr);
    if (status != DTI_OK)
        return status;
    return dti_quant_task_write(task, DTI_PART_NESTED_SCALE, own, blocks * sizeof *own,
                                first / DTI_NESTED_BLOCK * sizeof *own, reterr);
}
