/* SPDX-License-Identifier: MIT
 *
 * A complete cast by table, for sources of at most 8 bits, and the portable kernels that move
 * codes without arithmetic: the lookup and the copy. */
#include "kernels/kernel.h"

#include <string.h>

#include "kernels/kernels.h"

void dti_code_table_init(struct dti_code_table *ret, const struct dti_format *src,
                         const struct dti_format *dst, const struct dti_policy *policy)
{
    memset(ret, 0, sizeof *ret);
    ret->container = (unsigned)dti_format_container(dst);
    ret->dst = *dst;
    dti_decoder_init(&ret->src, src);
    for (unsigned code = 0; code < 256; code++) {
        struct dti_value value;
        struct dti_outcome outcome;
        dti_decode(src, code, &value);
        dti_encode(dst, &value, policy, 0, &outcome);
        ret->word[code] = outcome.code << dti_format_code_shift(dst);
        for (unsigned i = 0; i < 8; i++) {
            ret->plane[i][code] = (uint8_t)(ret->word[code] >> (8 * i));
            if (ret->plane[i][code] != 0 && ret->planes < ret->container - i)
                ret->planes = ret->container - i;
        }
    }
}

void dti_table_scalar(const struct dti_kernel_args *args, void *restrict dst,
                      const void *restrict src, size_t n)
{
    const struct dti_code_table *table = args->table;
    const uint8_t *from = src;
    unsigned char *to = dst;
    switch (table->container) {
    case 1:
        for (size_t i = 0; i < n; i++)
            to[i] = (unsigned char)table->word[from[i]];
        break;
    case 2:
        for (size_t i = 0; i < n; i++) {
            const uint16_t word = (uint16_t)table->word[from[i]];
            memcpy(to + 2 * i, &word, sizeof word);
        }
        break;
    case 4:
        for (size_t i = 0; i < n; i++) {
            const uint32_t word = (uint32_t)table->word[from[i]];
            memcpy(to + 4 * i, &word, sizeof word);
        }
        break;
    default:
        for (size_t i = 0; i < n; i++)
            memcpy(to + 8 * i, &table->word[from[i]], 8);
        break;
    }
}

void dti_copy_scalar(const struct dti_kernel_args *args, void *restrict dst,
                     const void *restrict src, size_t n)
{
    if (n > 0)
        memcpy(dst, src, n * args->bits);
}
