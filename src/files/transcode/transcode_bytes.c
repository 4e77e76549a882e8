/* SPDX-License-Identifier: MIT
 *
 * Bytes of transcoded tensors: see transcode_bytes.h. */
#include "files/transcode/transcode_bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "files/stored/quant_names.h"
#include "kernels/scan/loss.h"
#include "util/little_endian.h"

/* Callback for the batch: reads whole units directly into the buffer, partial ones through a
 * temporary. */
static enum dti_status read_units(void *context, void *buffer, size_t size, uint64_t offset,
                                  struct dti_window *window, void *scratch,
                                  struct dti_error *reterr)
{
    const struct dti_transcode_units *const units = context;
    unsigned char *out = buffer, room[DTI_TRANSCODE_UNIT];
    enum dti_status status = DTI_OK;
    (void)window;
    while (size > 0 && status == DTI_OK) {
        const uint64_t first = offset / units->bytes;
        const size_t skip = (size_t)(offset % units->bytes);
        size_t count = size / units->bytes, taken;
        if (skip > 0 || count == 0) {
            taken = units->bytes - skip < size ? units->bytes - skip : size;
            status = units->fill(units->context, room, first, 1, scratch, reterr);
            if (status == DTI_OK)
                memcpy(out, room + skip, taken);
        } else {
            count = count < DTI_TRANSCODE_ROOM ? count : DTI_TRANSCODE_ROOM;
            taken = count * units->bytes;
            status = units->fill(units->context, out, first, count, scratch, reterr);
        }
        out += taken;
        offset += taken;
        size -= taken;
    }
    return status;
}

bool dti_transcode_set_units(struct dti_pool *pool, struct dti_transcode_part *part,
                             const struct dti_transcode_units *units)
{
    struct dti_transcode_units *const copy = dti_pool_alloc(pool, sizeof *copy);
    if (!copy)
        return false;
    *copy = *units;
    part->source = (struct dti_batch_source){
        .read = read_units, .context = copy, .scratch_bytes = DTI_TRANSCODE_SCRATCH};
    return true;
}

/* Swaps the two codes of each byte. */
static enum dti_status fill_swapped(const void *context, unsigned char *units, uint64_t first,
                                    size_t count, unsigned char *memory, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = context;
    const enum dti_status status =
        dti_dequant_read_part(DTI_PART_OF(how, codes), units, count, first, reterr);
    (void)memory;
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        units[i] = (unsigned char)(units[i] << 4 | units[i] >> 4);
    return status;
}

enum dti_status dti_transcode_fill_scales(const void *context, unsigned char *units, uint64_t first,
                                          size_t count, unsigned char *memory,
                                          struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = context;
    (void)memory;
    return dti_dequant_raw_scales(how, DTI_PART_OF(how, scales), NULL, units, first, count, reterr);
}

enum dti_status dti_transcode_count_scales(struct dti_dequant_tensor *how, uint64_t ret[256],
                                           struct dti_error *reterr)
{
    unsigned char scales[16 * DTI_TRANSCODE_ROOM];
    enum dti_status status = dti_dequant_open(how, reterr);
    memset(ret, 0, 256 * sizeof *ret);
    for (uint64_t first = 0; first < how->is->scale_count && status == DTI_OK;) {
        const uint64_t left = how->is->scale_count - first;
        const size_t n = left < sizeof scales ? (size_t)left : sizeof scales;
        status = dti_dequant_raw_scales(how, DTI_PART_OF(how, scales), how->is->ahead, scales,
                                        first, n, reterr);
        for (size_t i = 0; i < n && status == DTI_OK; i++)
            ret[scales[i]]++;
        first += n;
    }
    return status;
}

/* Scales of any float as fp32. */
static enum dti_status fill_wider(const void *context, unsigned char *units, uint64_t first,
                                  size_t count, unsigned char *memory, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = context;
    float numbers[DTI_TRANSCODE_ROOM];
    _Static_assert((int)DTI_TRANSCODE_ROOM <= (int)DTI_TILE &&
                       DTI_TRANSCODE_ROOM * 4 <= (int)DTI_TRANSCODE_SCRATCH,
                   "a tile, of at most 4 bytes an element");
    enum dti_status status =
        dti_dequant_raw_scales(how, DTI_PART_OF(how, scales), NULL, memory, first, count, reterr);
    if (status == DTI_OK)
        status = dti_plan_run(how->is->scale_plan, numbers, memory, count, 0, DTI_STORES_CACHED,
                              NULL, reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        dti_little_put(units + 4 * i, 4, dti_dequant_bits(numbers[i]));
    return status;
}

static enum dti_status read_number(void *context, void *buffer, size_t size, uint64_t offset,
                                   struct dti_window *window, void *scratch,
                                   struct dti_error *reterr)
{
    const unsigned char *const number = context;
    unsigned char *const bytes = buffer;
    (void)window;
    (void)scratch;
    (void)reterr;
    for (size_t i = 0; i < size; i++)
        bytes[i] = number[(offset + i) % 4];
    return DTI_OK;
}

struct dti_batch_source dti_transcode_number(const unsigned char *bytes)
{
    return (struct dti_batch_source){.read = read_number, .context = (void *)(uintptr_t)bytes};
}

bool dti_transcode_is_number(const struct dti_batch_source *source)
{
    return source->read == read_number;
}

bool dti_transcode_set_codes(struct dti_pool *pool, const struct dti_dequant_found *found,
                             struct dti_transcode_part *part)
{
    part->copied = *DTI_PART_OF(&found->how, codes);
    if (found->how.is->order != DTI_BLOCK_HIGH)
        return true;
    part->copied.container = NULL;
    return dti_transcode_set_units(
        pool, part,
        &(struct dti_transcode_units){.fill = fill_swapped, .context = &found->how, .bytes = 1});
}

bool dti_transcode_set_scales(struct dti_pool *pool, const struct dti_dequant_found *found,
                              struct dti_transcode_part *part)
{
    const struct dti_dequant_tensor *const how = &found->how;
    const enum dti_dtype stored = dti_dequant_part_tensor(DTI_PART_OF(how, scales))->format->id;
    const bool wider = part->dtype == DTI_FP32 && stored != DTI_FP32;
    part->copied = *DTI_PART_OF(how, scales);
    if (!wider && !how->is->tiled)
        return true;
    part->copied.container = NULL;
    return dti_transcode_set_units(pool, part,
                                   &(struct dti_transcode_units){
                                       .fill = wider ? fill_wider : dti_transcode_fill_scales,
                                       .context = how,
                                       .bytes = wider ? 4 : 1,
                                   });
}

void dti_transcode_set_number(float number, struct dti_transcode_part *part)
{
    dti_little_put(part->number, sizeof part->number, dti_dequant_bits(number));
    part->source = dti_transcode_number(NULL);
}

static enum dti_status refuse(const struct dti_dequant_found *found, struct dti_error *reterr,
                              enum dti_remedy remedy, const char *format, va_list args)
{
    char place[DTI_TENSOR_PLACE], what[256];
    (void)vsnprintf(what, sizeof what, format, args);
    return dti_fail_remedy(reterr, DTI_WRONG_KIND, remedy, "%s: %s",
                           dti_tensor_place(found->how.is->from.codes, found->how.at.codes, place),
                           what);
}

enum dti_status dti_transcode_refuse(const struct dti_dequant_found *found,
                                     struct dti_error *reterr, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const enum dti_status status = refuse(found, reterr, DTI_REMEDY_FLOATS_OR_KEEP, format, args);
    va_end(args);
    return status;
}

enum dti_status dti_transcode_refuse_for(const struct dti_dequant_found *found,
                                         struct dti_error *reterr, enum dti_remedy remedy,
                                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const enum dti_status status = refuse(found, reterr, remedy, format, args);
    va_end(args);
    return status;
}

bool dti_transcode_has_blocks(const struct dti_dequant_found *found)
{
    const struct dti_dequant_tensor *const how = &found->how;
    const struct dti_block_format *const block = how->is->block;
    if (!block || how->is->gguf || how->nested || how->is->spread || how->is->factor != 1 ||
        found->form.is->flat || found->shown->rank == 0)
        return false;
    const unsigned axis = found->shown->rank - 1;
    const uint64_t bytes = dti_dequant_part_tensor(DTI_PART_OF(how, codes))->bytes;
    const bool packed = how->is->bits < 8 && how->is->order != DTI_BLOCK_BYTES;
    return found->form.is->axis == axis && (packed || how->is->bits == 8) &&
           bytes % how->is->bits == 0 && bytes / how->is->bits * 8 == how->is->elements &&
           how->is->elements % block->length == 0 &&
           how->is->scale_count == how->is->elements / block->length;
}

void dti_transcode_set_shape(const struct dti_dequant_found *found, uint64_t divisor,
                             struct dti_transcode_part *part)
{
    part->rank = found->shown->rank;
    if (part->rank > 0)
        memcpy(part->shape, found->shown->shape, part->rank * sizeof *part->shape);
    if (part->rank > 0)
        part->shape[part->rank - 1] /= divisor;
}

struct dti_transcode_part *dti_transcode_add(struct dti_transcoded *ret, const char *suffix,
                                             enum dti_dtype dtype)
{
    struct dti_transcode_part *const part = &ret->part[ret->count++];
    *part = (struct dti_transcode_part){.suffix = suffix, .dtype = dtype};
    return part;
}

void dti_transcode_begin(const struct dti_dequant_found *found, struct dti_transcoded *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->stem_length = found->shown->name_length;
}

void dti_transcode_add_number(float number, const char *suffix, unsigned rank,
                              struct dti_transcoded *ret)
{
    struct dti_transcode_part *const part = dti_transcode_add(ret, suffix, DTI_FP32);
    part->rank = rank;
    part->shape[0] = 1;
    dti_transcode_set_number(number, part);
}

bool dti_transcode_is_module(const struct dti_dequant_found *found)
{
    return found->how.is->matrix == 0 &&
           dti_quant_name_ends(found->shown->name, found->shown->name_length, ".weight");
}

enum dti_status dti_transcode_require_lossless(bool required, const struct dti_dequant_found *found,
                                               uint64_t blocks, uint64_t lossless,
                                               struct dti_error *reterr)
{
    char place[DTI_TENSOR_PLACE];
    if (!required || lossless == blocks)
        return DTI_OK;
    return dti_fail(reterr, DTI_ANSWER_NO,
                    "%s: %llu of its %llu blocks would have other numbers; nothing is written",
                    dti_tensor_place(found->how.is->from.codes, found->how.at.codes, place),
                    (unsigned long long)(blocks - lossless), (unsigned long long)blocks);
}
