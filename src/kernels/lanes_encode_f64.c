/* SPDX-License-Identifier: MIT
 *
 * fp64 arrays into any format that dti_encoder_takes_hub64() allows. Compiled once a level. */
#include "kernels/kernels.h"
#include "kernels/lanes_float.h"
#include "kernels/lanes_integer.h"
#include "kernels/lanes_piece.h"

DTI_LANE void float_loop(const struct dti_encoder *encoder, uint64_t *restrict codes,
                         const unsigned char *restrict src, size_t n,
                         const uint32_t *restrict random, enum dti_round round)
{
    const struct dti_encoder e = *encoder;
    for (size_t i = 0; i < n; i++)
        codes[i] = dti_lane_float_f64(&e, dti_lane_load64(src + 8 * i), round,
                                      round == DTI_ROUND_STOCHASTIC ? random[i] : 0);
}

DTI_LANE void integer_loop(const struct dti_encoder *encoder, uint64_t *restrict codes,
                           const unsigned char *restrict src, size_t n,
                           const uint32_t *restrict random, enum dti_round round)
{
    const struct dti_encoder e = *encoder;
    for (size_t i = 0; i < n; i++)
        codes[i] = dti_lane_integer_f64(&e, dti_lane_load64(src + 8 * i), round,
                                        round == DTI_ROUND_STOCHASTIC ? random[i] : 0);
}

static void to_float(const struct dti_encoder *e, unsigned char *dst, const unsigned char *src,
                     size_t n, const uint32_t *random)
{
    uint64_t codes[DTI_PIECE];
    DTI_LANES_BY_ROUND(e->policy.round, float_loop, e, codes, src, n, random)
    dti_piece_narrow64(dst, codes, n, e->container, e->code_shift);
}

static void to_integer(const struct dti_encoder *e, unsigned char *dst, const unsigned char *src,
                       size_t n, const uint32_t *random)
{
    uint64_t codes[DTI_PIECE];
    DTI_LANES_BY_ROUND(e->policy.round, integer_loop, e, codes, src, n, random)
    dti_piece_narrow64(dst, codes, n, e->container, 0);
}

static void to_bool(unsigned char *restrict dst, const unsigned char *restrict src, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = dti_lane_load64(src + 8 * i) << 1 != 0;
}

void DTI_LANES_NAME(dti_encode_f64)(const struct dti_kernel_args *args, void *restrict dst,
                                    const void *restrict src, size_t n)
{
    const struct dti_encoder *e = args->encoder;
    uint32_t block[DTI_PIECE_RANDOM];
    for (size_t done = 0; done < n; done += DTI_PIECE) {
        const size_t count = n - done < DTI_PIECE ? n - done : DTI_PIECE;
        const unsigned char *from = (const unsigned char *)src + 8 * done;
        unsigned char *to = (unsigned char *)dst + e->container * done;
        const uint32_t *random = dti_piece_random(block, &e->policy, args->index + done, count);
        if (e->format.kind == DTI_KIND_BOOL)
            to_bool(to, from, count);
        else if (dti_format_is_integer(&e->format))
            to_integer(e, to, from, count, random);
        else
            to_float(e, to, from, count, random);
    }
}
