/* SPDX-License-Identifier: MIT
 *
 * One tensor being quantized: its source, its memory, and the scales that apply to all of it. */
#include <stdlib.h>
#include <string.h>

#include "files/rewrite/quantize.h"
#include "files/stored/quant_marks.h"
#include "util/checked.h"
#include "util/run/allocate.h"

enum { CHUNK = 1024 }; /* numbers converted to file byte order at once */

static uint64_t last_dimension(const struct dti_quant_stored *stored)
{
    const uint64_t last = stored->shape[stored->rank - 1];
    const bool padded =
        stored->pad && stored->per == DTI_PER_GROUP && stored->axis + 1 == stored->rank;
    return padded ? dti_divide_up(last, stored->group) * stored->group : last;
}

void dti_quant_task_init(struct dti_quant_task *ret, struct dti_rewrite *rewrite, size_t at,
                         uint64_t piece_bytes)
{
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    const struct dti_quant_row *const row = rewrite->tensors[at].way->by->row;
    const struct dti_quant_scheme *const scheme = &rewrite->tensors[at].way->by->recipe->scheme;
    const struct dti_format *const code = scheme->block ? NULL : &scheme->affine.affine.code;
    memset(ret, 0, sizeof *ret);
    ret->rewrite = rewrite;
    ret->at = at;
    ret->plan = rewrite->tensors[at].way->quant;
    ret->item = dti_format_container(source->format);
    ret->bits = dti_quant_row_bits(row);
    dti_rewrite_stored(rewrite, at, &ret->stored);
    dti_quant_plan_sizes(ret->plan, &ret->sizes);
    dti_quant_report_init(&ret->report);
    ret->report.watch = rewrite->request.watch;
    ret->report.watched = rewrite->tensors[at].source;
    ret->fused = dti_rewrite_fused(rewrite, at);
    for (size_t i = 0; ret->fused && i < ret->fused->count; i++) {
        if (ret->fused->members[i].tensor ==
            dti_rewrite_place(rewrite, rewrite->tensors[at].source))
            ret->member = &ret->fused->members[i];
    }
    const bool words = row->packing == DTI_QUANT_WORDS;
    ret->flips = words && code && code->kind == DTI_KIND_INT;
    if (words && dti_quant_plan_request(ret->plan)->order == DTI_BLOCK_BYTES)
        ret->columns = last_dimension(&ret->stored);
    const uint64_t grain = ret->sizes.grain > 0 ? ret->sizes.grain : 1;
    const uint64_t grains = piece_bytes / ret->item / grain;
    ret->piece = (grains > 0 ? grains : 1) * grain;
    if (ret->piece > ret->sizes.elements)
        ret->piece = dti_divide_up(ret->sizes.elements, grain) * grain;
    if (ret->piece < grain)
        ret->piece = grain;
    if (ret->stored.rotation > 0) /* whole groups; any grain divides a row or is whole rows */
        ret->piece = dti_divide_up(ret->piece, ret->stored.rotation * grain) *
                     (ret->stored.rotation * grain);
}

/* Saturates, so that a size over the limit stays over it with 32-bit addresses. */
static void raise_to(struct dti_quant_needs *needs, enum dti_quant_buffer buffer, uint64_t bytes)
{
    const uint64_t most = DTI_QUANT_NEEDS_MAX;
    const size_t wanted = (size_t)(bytes < most ? bytes : most);
    if (wanted > needs->bytes[buffer])
        needs->bytes[buffer] = wanted;
}

void dti_quant_task_needs(const struct dti_quant_task *task, struct dti_quant_needs *needs)
{
    const struct dti_quant_sizes *const sizes = &task->sizes;
    const uint64_t n = task->piece < sizes->elements ? task->piece : sizes->elements;
    const uint64_t grains = task->piece / (sizes->grain > 0 ? sizes->grain : 1);
    const uint64_t codes = grains * sizes->grain_code_bytes < sizes->code_bytes
                               ? grains * sizes->grain_code_bytes
                               : sizes->code_bytes;
    const uint64_t scales =
        grains * sizes->grain_scales < sizes->scales ? grains * sizes->grain_scales : sizes->scales;
    const bool known = sizes->grain_scales == 0;
    const size_t scale = sizes->scales > 0 ? (size_t)(sizes->scale_bytes / sizes->scales) : 0;
    raise_to(needs, DTI_QUANT_INPUT, n * task->item);
    raise_to(needs, DTI_QUANT_CODES, codes);
    if (task->columns > 0) /* every word of a piece has a code of it */
        raise_to(needs, DTI_QUANT_PACKED, 4 * codes);
    raise_to(needs, DTI_QUANT_PACKED, dti_quant_tiles_room(task, scales));
    raise_to(needs, DTI_QUANT_SCALES, known ? 0 : scales * scale);
    raise_to(needs, DTI_QUANT_ZERO_POINTS, known ? 0 : scales * sizeof(int32_t));
    raise_to(needs, DTI_QUANT_FP32, task->stored.rotation > 0 ? n * sizeof(float) : 0);
    raise_to(needs, DTI_QUANT_TURNED, task->stored.rotation > 0 ? n * sizeof(float) : 0);
    raise_to(needs, DTI_QUANT_SCRATCH, dti_quant_plan_scratch(task->plan));
}

static enum dti_status open_rotation(struct dti_quant_task *task, struct dti_error *reterr)
{
    const struct dti_tensor *const source = dti_rewrite_source(task->rewrite, task->at);
    const struct dti_request request = {.src = *source->format,
                                        .src_layout = source->layout,
                                        .cast = {.dst = *dti_format_get(DTI_FP32)}};
    const enum dti_level level = task->rewrite->request.level;
    task->rotate = dti_quant_find_rotate(false, level);
    return dti_plan_new(&task->to_fp32, &request, level, reterr);
}

enum dti_status dti_quant_task_open(struct dti_quant_task *task, uint64_t max_memory,
                                    struct dti_error *reterr)
{
    const struct dti_quant_stored *const stored = &task->stored;
    enum dti_status status =
        dti_rewrite_input_open(task->rewrite, task->at, max_memory, &task->input, reterr);
    if (status != DTI_OK)
        return status;
    if (stored->rotation > 0)
        status = open_rotation(task, reterr);
    if (status != DTI_OK)
        return status;
    const bool known = task->member && task->member->known;
    if (dti_quant_plan_needs_range(task->plan) && !known)
        status = dti_quant_ranges_new(&task->ranges, task->plan, reterr);
    const uint64_t pieces = dti_divide_up(task->sizes.elements, task->piece);
    if (task->columns > 0 && pieces > 0) {
        if (pieces <= SIZE_MAX)
            task->borders = dti_calloc((size_t)pieces, 2 * sizeof *task->borders);
        if (!task->borders)
            return dti_no_memory(reterr);
    }
    const bool packed = stored->zero_points && stored->row->packing == DTI_QUANT_WORDS &&
                        stored->per != DTI_PER_TENSOR && stored->rank >= 2;
    if (packed && task->sizes.scales > 0) {
        if (task->sizes.scales <= SIZE_MAX)
            task->zero_points = dti_malloc((size_t)task->sizes.scales);
        if (!task->zero_points)
            return dti_no_memory(reterr);
    }
    return status;
}

void dti_quant_task_close(struct dti_quant_task *task)
{
    dti_rewrite_input_close(&task->input);
    dti_quant_ranges_free(task->ranges);
    dti_quant_scales_free(task->scales);
    dti_quant_plan_free(task->range_plan);
    dti_plan_free(task->to_fp32);
    task->to_fp32 = NULL;
    dti_quant_stripes_free(task);
    dti_free(task->borders);
    dti_free(task->zero_points);
    task->ranges = NULL;
    task->scales = NULL;
    task->range_plan = NULL;
    task->borders = NULL;
    task->zero_points = NULL;
}

enum dti_status dti_quant_task_zero_points(struct dti_quant_task *task, int32_t *numbers,
                                           uint64_t first, size_t n, struct dti_error *reterr)
{
    const struct dti_quant_row *const row = task->stored.row;
    unsigned char *const bytes = (unsigned char *)numbers;
    const bool words = row->packing == DTI_QUANT_WORDS;
    const size_t item = words ? 1 : dti_format_container(dti_format_get(row->codes));
    /* in WORDS like signed codes, unless they are packed later */
    const int32_t less =
        words && !task->flips && !task->zero_points ? INT32_C(1) << (task->bits - 1) : 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t number = (uint32_t)(numbers[i] - less);
        if (task->zero_points) {
            const unsigned char byte = (unsigned char)number;
            memcpy(&task->zero_points[first + i], &byte, 1);
            continue;
        }
        for (size_t j = 0; j < item; j++)
            bytes[i * item + j] = (unsigned char)(number >> 8 * j);
    }
    if (task->zero_points)
        return DTI_OK;
    return dti_quant_task_write(task, DTI_PART_ZERO_POINT, bytes, n * item, first * item, reterr);
}

/* Writes the scales of the tensor or of all channels. */
static enum dti_status write_scales(struct dti_quant_task *task, struct dti_error *reterr)
{
    const struct dti_quant_scales *const scales = task->scales;
    enum dti_status status = DTI_OK;
    for (size_t first = 0, n; first < scales->count && status == DTI_OK; first += n) {
        float scale[CHUNK];
        int32_t zero_point[CHUNK];
        n = scales->count - first < CHUNK ? scales->count - first : CHUNK;
        memcpy(scale, scales->scale + first, n * sizeof scale[0]);
        dti_quant_little(scale, sizeof scale[0], n);
        status = dti_quant_task_write(task, DTI_PART_SCALE, scale, n * sizeof scale[0],
                                      first * sizeof scale[0], reterr);
        if (status != DTI_OK || !task->stored.zero_points)
            continue;
        memcpy(zero_point, scales->zero_point + first, n * sizeof zero_point[0]);
        status = dti_quant_task_zero_points(task, zero_point, first, n, reterr);
    }
    return status;
}

/* For nvfp4: codes are computed with the scale as it will be read back from the file. */
static enum dti_status write_tensor_scale(struct dti_quant_task *task, struct dti_error *reterr)
{
    const float largest = 0x1.fffffep127f;
    struct dti_quant_scales *const scales = task->scales;
    float stored = scales->tensor_scale;
    if ((task->stored.row->flags & DTI_QUANT_INVERSE) != 0) {
        stored = 1 / scales->tensor_scale;
        stored = stored < largest ? stored : largest;
        scales->tensor_scale = 1 / stored;
        scales->tensor_divisor = stored;
    }
    dti_rewrite_outcome(task->rewrite, task->at)->quantized.scale = scales->tensor_scale;
    dti_quant_little(&stored, sizeof stored, 1);
    return dti_quant_task_write(task, DTI_PART_TENSOR_SCALE, &stored, sizeof stored, 0, reterr);
}

static enum dti_status write_shape(const struct dti_quant_task *task, struct dti_error *reterr)
{
    const struct dti_quant_stored *const stored = &task->stored;
    uint64_t shape[DTI_QUANT_RANK_MAX];
    memcpy(shape, stored->shape, stored->rank * sizeof shape[0]);
    dti_quant_little(shape, sizeof shape[0], stored->rank);
    return dti_quant_task_write(task, DTI_PART_SHAPE, shape, stored->rank * sizeof shape[0], 0,
                                reterr);
}

enum dti_status dti_quant_task_scales(struct dti_quant_task *task, struct dti_error *reterr)
{
    const struct dti_rewrite_tensor *const tensor = &task->rewrite->tensors[task->at];
    struct dti_quantized_tensor *const figures =
        &dti_rewrite_outcome(task->rewrite, task->at)->quantized;
    enum dti_status status = dti_quant_scales_new(&task->scales, task->plan, task->ranges, reterr);
    if (status == DTI_OK && dti_quant_is_flat(task->stored.row))
        status = dti_quant_task_state(task, reterr);
    if (status == DTI_OK && dti_quant_mark(task->stored.row))
        status = dti_quant_task_mark(task, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_quant_scales *const scales = task->scales;
    const struct dti_range *const range = task->member ? &task->member->range : &scales->range;
    figures->min = range->min + 0.0F; /* either -0 or 0 may have been kept: normalize to 0 */
    figures->max = range->max + 0.0F;
    if (task->stored.per == DTI_PER_TENSOR && scales->count == 1) {
        figures->scale = scales->scale[0];
        figures->zero_point = scales->zero_point[0];
    }
    status = write_scales(task, reterr);
    if (status == DTI_OK && task->stored.tensor_scale)
        status = write_tensor_scale(task, reterr);
    if (status == DTI_OK && (tensor->parts >> DTI_PART_SHAPE & 1) != 0)
        status = write_shape(task, reterr);
    return status;
}

/* Writes the words that two pieces share. */
static enum dti_status write_borders(const struct dti_quant_task *task, struct dti_error *reterr)
{
    const struct dti_quant_sizes *const sizes = &task->sizes;
    const uint64_t codes = task->piece / sizes->grain * sizes->grain_code_bytes;
    enum dti_status status = DTI_OK;
    for (uint64_t i = 1; i * codes < sizes->code_bytes && status == DTI_OK; i++) {
        if (i * codes % task->columns % (32 / task->bits) == 0)
            continue; /* it starts a word of its own */
        uint32_t word = task->borders[2 * i - 1] | task->borders[2 * i];
        dti_quant_little(&word, sizeof word, 1);
        status = dti_quant_task_write(task, DTI_PART_CODES, &word, sizeof word,
                                      4 * dti_quant_word_of(i * codes, task->columns, task->bits),
                                      reterr);
    }
    return status;
}

/* Zero points of WORDS are packed along the second to last dimension. */
static enum dti_status pack_zero_points(const struct dti_quant_task *task, struct dti_error *reterr)
{
    const struct dti_quant_stored *const stored = &task->stored;
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    enum dti_status status = dti_quant_parts(stored, parts, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_quant_part_shape *const scale = &parts[DTI_PART_SCALE];
    const size_t columns = (size_t)scale->shape[scale->rank - 1]; /* an array in memory */
    const uint64_t rows = scale->shape[scale->rank - 2], in_word = 32 / task->bits;
    const uint64_t slices = task->sizes.scales / rows / columns;
    unsigned char *const words = dti_calloc(columns, 4);
    uint64_t offset = 0;
    if (!words)
        return dti_no_memory(reterr);
    const int8_t *codes = task->zero_points;
    for (uint64_t slice = 0; slice < slices && status == DTI_OK; slice++) {
        for (uint64_t row = 0; row < rows && status == DTI_OK; row += in_word) {
            const size_t n = (size_t)(rows - row < in_word ? rows - row : in_word);
            dti_quant_pack_down(words, codes, n, columns, task->bits, task->flips);
            status =
                dti_quant_task_write(task, DTI_PART_ZERO_POINT, words, 4 * columns, offset, reterr);
            codes += n * columns;
            offset += 4 * columns;
        }
    }
    dti_free(words);
    return status;
}

enum dti_status dti_quant_task_end(struct dti_quant_task *task, struct dti_error *reterr)
{
    struct dti_rewrite *const rewrite = task->rewrite;
    const struct dti_quant_count *const count = &task->report.count;
    enum dti_status status = DTI_OK;
    if (task->borders)
        status = write_borders(task, reterr);
    if (status == DTI_OK && task->zero_points)
        status = pack_zero_points(task, reterr);
    if (status == DTI_OK && dti_quant_mark(task->stored.row))
        status = dti_quant_task_fill_rows(task, reterr);
    dti_rewrite_outcome(rewrite, task->at)->quantized.count = *count;
    dti_rewrite_add_loss(rewrite, task->at, &task->report.loss);
    rewrite->count.clipped += count->clipped;
    rewrite->count.blocks += count->blocks;
    rewrite->count.special += count->special;
    return status;
}
