/* SPDX-License-Identifier: MIT
 *
 * Encodes numbers to blocks of GGUF, and looks at scales that fp16 may not hold. */
#include "convert/gguf_coder.h"

#include <math.h>

void dti_gguf_coder_init(struct dti_gguf_coder *ret, const struct dti_gguf_type *type,
                         enum dti_level level)
{
    *ret = (struct dti_gguf_coder){.type = type,
                                   .encode = dti_gguf_find_encoder(type->blocks, level),
                                   .weigher = dti_gguf_find_weigher(type->blocks, level),
                                   .decode = dti_gguf_find(type->blocks, level),
                                   .range = dti_quant_find_range(false, level)};
}

bool dti_gguf_encodes(const struct dti_gguf_type *type)
{
    return type->blocks == DTI_GGUF_NVFP4 ||
           dti_gguf_find_encoder(type->blocks, DTI_LEVEL_SCALAR) != NULL;
}

size_t dti_gguf_find_special(const float *x, size_t count)
{
    size_t i = 0;
    while (i < count && isfinite(x[i]))
        i++;
    return i;
}

static struct dti_range range_of(const struct dti_gguf_coder *coder, const float *x, size_t count)
{
    struct dti_range range;
    dti_range_init(&range);
    coder->range->run.range(x, count, &range);
    return range;
}

static bool has_specials(const struct dti_range *range)
{
    return range->nan > 0 || range->inf > 0;
}

/* Row by row: the weights start again. */
static void encode_weighted(const struct dti_gguf_coder *coder, unsigned char *blocks,
                            const float *x, size_t count, const struct dti_gguf_weighted *weighted)
{
    const struct dti_gguf_weights *const weights = weighted->weights;
    const uint64_t first_row = weighted->first / weights->row;
    size_t done = 0;
    while (done < count) {
        const uint64_t at = weighted->first + done, row = at / weights->row;
        const uint64_t column = at % weights->row, left = weights->row - column;
        const size_t n = left < count - done ? (size_t)left : count - done;
        const size_t matrix = (size_t)(row / weights->rows * weights->row);
        coder->weigher->run(blocks + done / coder->type->elements * coder->type->bytes, x + done,
                            n / coder->type->elements, weights->columns + matrix + column,
                            coder->weigher->of_row ? weighted->means[row - first_row] : 0);
        done += n;
    }
}

/* Without weights a scale or minimum is at most a few times the largest magnitude of its block, so
 * below 2^10 none comes near 65504, and decoding can be saved. */
enum { LARGE = 1 << 10 };

enum dti_gguf_coded dti_gguf_code(const struct dti_gguf_coder *coder, unsigned char *blocks,
                                  const float *x, size_t count,
                                  const struct dti_gguf_weighted *weighted, float *back,
                                  bool decoded, size_t *ret_at)
{
    const size_t block_count = count / coder->type->elements;
    struct dti_range range = range_of(coder, x, count);
    const bool large = weighted || range.min <= -LARGE || range.max >= LARGE;
    *ret_at = count;
    if (has_specials(&range)) {
        *ret_at = dti_gguf_find_special(x, count);
        return DTI_GGUF_SPECIAL;
    }
    if (coder->nv)
        dti_nvfp4_encode(coder->nv, blocks, x, block_count, (unsigned char *)back);
    else if (weighted)
        encode_weighted(coder, blocks, x, count, weighted);
    else
        coder->encode(blocks, x, block_count);
    if (!large && !decoded)
        return DTI_GGUF_CODED;
    coder->decode(back, blocks, block_count, coder->nv ? coder->nv->scale : 1);
    if (!large)
        return DTI_GGUF_CODED;
    range = range_of(coder, back, count);
    if (!has_specials(&range))
        return DTI_GGUF_CODED;
    *ret_at = dti_gguf_find_special(back, count);
    return DTI_GGUF_SCALE_LARGE;
}

enum dti_status dti_gguf_refuse(const struct dti_gguf_type *type, enum dti_gguf_coded coded,
                                const char *place, uint64_t element, struct dti_error *reterr)
{
    if (coded == DTI_GGUF_SCALE_LARGE)
        return dti_fail_remedy(reterr, DTI_NOT_REPRESENTABLE, DTI_REMEDY_TYPE_OR_KEEP,
                               "%s: the block of element %llu needs a scale beyond fp16, which %s "
                               "has no room for",
                               place, (unsigned long long)element, type->word);
    return dti_fail_remedy(reterr, DTI_NOT_REPRESENTABLE, DTI_REMEDY_TYPE_OR_KEEP,
                           "%s: element %llu is NaN or infinite, or beyond fp32; %s has none of "
                           "these",
                           place, (unsigned long long)element, type->word);
}
