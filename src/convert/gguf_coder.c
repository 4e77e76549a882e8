/* SPDX-License-Identifier: MIT
 *
 * Encodes numbers to blocks of GGUF, and looks at scales that fp16 may not hold. */
#include "convert/gguf_coder.h"

#include <string.h>

#define EXPONENT  UINT32_C(0x7f800000)
#define MAGNITUDE UINT32_C(0x7fffffff)

void dti_gguf_coder_init(struct dti_gguf_coder *ret, const struct dti_gguf_type *type,
                         enum dti_level level)
{
    *ret = (struct dti_gguf_coder){.type = type,
                                   .encode = dti_gguf_find_encoder(type->blocks, level),
                                   .decode = dti_gguf_find(type->blocks, level)};
}

bool dti_gguf_encodes(const struct dti_gguf_type *type)
{
    return type->blocks == DTI_GGUF_NVFP4 ||
           dti_gguf_find_encoder(type->blocks, DTI_LEVEL_SCALAR) != NULL;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Whether the exponent of a number is at least `exponent`. */
static bool reaches(const float *x, size_t count, uint32_t exponent)
{
    const uint32_t carry = (256 - exponent) << 23;
    uint32_t any = 0;
    for (size_t i = 0; i < count; i++)
        any |= (bits_of(x[i]) & EXPONENT) + carry;
    return any >> 31 != 0;
}

size_t dti_gguf_find_special(const float *x, size_t count)
{
    if (!reaches(x, count, 255))
        return count;
    for (size_t i = 0; i < count; i++)
        if ((bits_of(x[i]) & EXPONENT) == EXPONENT)
            return i;
    return count;
}

/* A scale or minimum is at most a few times the largest magnitude of its block, so below 2^10 none
 * comes near 65504, and decoding can be saved. */
enum { EXPONENT_LARGE = 127 + 10 };

enum dti_gguf_coded dti_gguf_code(const struct dti_gguf_coder *coder, unsigned char *blocks,
                                  const float *x, size_t count, float *back, bool decoded,
                                  size_t *ret_at)
{
    const size_t block_count = count / coder->type->elements;
    const bool large = reaches(x, count, EXPONENT_LARGE);
    *ret_at = large ? dti_gguf_find_special(x, count) : count;
    if (*ret_at < count)
        return DTI_GGUF_SPECIAL;
    if (coder->nv)
        dti_nvfp4_encode(coder->nv, blocks, x, block_count, (unsigned char *)back);
    else
        coder->encode(blocks, x, block_count);
    if (!large && !decoded)
        return DTI_GGUF_CODED;
    coder->decode(back, blocks, block_count, coder->nv ? coder->nv->scale : 1);
    *ret_at = dti_gguf_find_special(back, count);
    return *ret_at < count ? DTI_GGUF_SCALE_LARGE : DTI_GGUF_CODED;
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
