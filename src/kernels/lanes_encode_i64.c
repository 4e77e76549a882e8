/* SPDX-License-Identifier: MIT
 *
 * int64 and uint64 arrays into any format. Compiled once a level. */
#include "kernels/kernels.h"
#include "kernels/lanes_float.h"
#include "kernels/lanes_integer.h"
#include "kernels/lanes_piece.h"

DTI_LANE void float_loop(const struct dti_encoder *encoder, uint64_t *restrict codes,
                         const unsigned char *restrict src, size_t n,
                         const uint32_t *restrict random, bool has_sign, enum dti_round round)
{
    const struct dti_encoder e = *encoder;
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = dti_lane_load64(src + 8 * i);
        codes[i] = dti_lane_float_u64(&e, dti_lane_magnitude(bits, has_sign),
                                      dti_lane_negative(bits, has_sign), round,
                                      round == DTI_ROUND_STOCHASTIC ? random[i] : 0);
    }
}

DTI_LANE void to_float(const struct dti_encoder *e, unsigned char *dst, const unsigned char *src,
                       size_t n, const uint32_t *random, bool has_sign)
{
    uint64_t codes[DTI_PIECE];
    DTI_LANES_BY_ROUND(e->policy.round, float_loop, e, codes, src, n, random, has_sign)
    dti_piece_narrow64(dst, codes, n, e->container, e->code_shift);
}

DTI_LANE void to_integer(const struct dti_encoder *encoder, unsigned char *dst,
                         const unsigned char *restrict src, size_t n, bool has_sign)
{
    const struct dti_encoder e = *encoder;
    uint64_t codes[DTI_PIECE];
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = dti_lane_load64(src + 8 * i);
        codes[i] = dti_lane_integer_u64(&e, dti_lane_magnitude(bits, has_sign),
                                        dti_lane_negative(bits, has_sign));
    }
    dti_piece_narrow64(dst, codes, n, e.container, 0);
}

static void to_bool(unsigned char *restrict dst, const unsigned char *restrict src, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = dti_lane_load64(src + 8 * i) != 0;
}

DTI_LANE void encode(const struct dti_kernel_args *args, unsigned char *dst,
                     const unsigned char *src, size_t n, bool has_sign)
{
    const struct dti_encoder *e = args->encoder;
    uint32_t block[DTI_PIECE_RANDOM];
    for (size_t done = 0; done < n; done += DTI_PIECE) {
        const size_t count = n - done < DTI_PIECE ? n - done : DTI_PIECE;
        const unsigned char *from = src + 8 * done;
        unsigned char *to = dst + e->container * done;
        if (e->format.kind == DTI_KIND_BOOL)
            to_bool(to, from, count);
        else if (dti_format_is_integer(&e->format))
            to_integer(e, to, from, count, has_sign);
        else
            to_float(e, to, from, count,
                     dti_piece_random(block, &e->policy, args->index + done, count), has_sign);
    }
}

void DTI_LANES_NAME(dti_encode_i64)(const struct dti_kernel_args *args, void *restrict dst,
                                    const void *restrict src, size_t n)
{
    encode(args, dst, src, n, true);
}

void DTI_LANES_NAME(dti_encode_u64)(const struct dti_kernel_args *args, void *restrict dst,
                                    const void *restrict src, size_t n)
{
    encode(args, dst, src, n, false);
}
