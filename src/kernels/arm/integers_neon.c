/* SPDX-License-Identifier: MIT
 *
 * fp32 -> integers of 8, 16 and 32 bits. FCVT to integers has an instruction for each rounding,
 * saturates, and makes 0 of NaN; narrowing saturates too. */
#include "kernels/arm/neon.h"
#include "kernels/kernels.h"

DTI_INLINE int32x4_t whole(const unsigned char *src, enum dti_round round)
{
    const float32x4_t x = neon_load_f32(src);
    switch (round) {
    case DTI_ROUND_ZERO:
        return vcvtq_s32_f32(x);
    case DTI_ROUND_UP:
        return vcvtpq_s32_f32(x);
    case DTI_ROUND_DOWN:
        return vcvtmq_s32_f32(x);
    case DTI_ROUND_NEAREST_AWAY:
        return vcvtaq_s32_f32(x);
    default:
        return vcvtnq_s32_f32(x);
    }
}

DTI_INLINE uint32x4_t whole_unsigned(const unsigned char *src, enum dti_round round)
{
    const float32x4_t x = neon_load_f32(src);
    switch (round) {
    case DTI_ROUND_ZERO:
        return vcvtq_u32_f32(x);
    case DTI_ROUND_UP:
        return vcvtpq_u32_f32(x);
    case DTI_ROUND_DOWN:
        return vcvtmq_u32_f32(x);
    case DTI_ROUND_NEAREST_AWAY:
        return vcvtaq_u32_f32(x);
    default:
        return vcvtnq_u32_f32(x);
    }
}

DTI_INLINE int16x8_t words(const unsigned char *src, enum dti_round round)
{
    return vqmovn_high_s32(vqmovn_s32(whole(src, round)), whole(src + 16, round));
}

DTI_INLINE uint16x8_t words_unsigned(const unsigned char *src, enum dti_round round)
{
    return vqmovun_high_s32(vqmovun_s32(whole(src, round)), whole(src + 16, round));
}

DTI_INLINE void to_int8(unsigned char *dst, const unsigned char *src, enum dti_round round)
{
    const int8x8_t low = vqmovn_s16(words(src, round));
    vst1q_u8(dst, vreinterpretq_u8_s8(vqmovn_high_s16(low, words(src + 32, round))));
}

DTI_INLINE void to_uint8(unsigned char *dst, const unsigned char *src, enum dti_round round)
{
    const uint8x8_t low = vqmovn_u16(words_unsigned(src, round));
    vst1q_u8(dst, vqmovn_high_u16(low, words_unsigned(src + 32, round)));
}

DTI_INLINE void to_int16(unsigned char *dst, const unsigned char *src, enum dti_round round)
{
    for (unsigned i = 0; i < 2; i++)
        neon_store16(dst + 16 * i, vreinterpretq_u16_s16(words(src + 32 * i, round)));
}

DTI_INLINE void to_uint16(unsigned char *dst, const unsigned char *src, enum dti_round round)
{
    for (unsigned i = 0; i < 2; i++)
        neon_store16(dst + 16 * i, words_unsigned(src + 32 * i, round));
}

DTI_INLINE void to_int32(unsigned char *dst, const unsigned char *src, enum dti_round round)
{
    for (unsigned i = 0; i < 4; i++)
        neon_store32(dst + 16 * i, vreinterpretq_u32_s32(whole(src + 16 * i, round)));
}

DTI_INLINE void to_uint32(unsigned char *dst, const unsigned char *src, enum dti_round round)
{
    for (unsigned i = 0; i < 4; i++)
        neon_store32(dst + 16 * i, whole_unsigned(src + 16 * i, round));
}

#define MODE(type, bytes, mode)                                              \
    DTI_INLINE void type##_##mode(const void *constants, unsigned char *dst, \
                                  const unsigned char *src)                  \
    {                                                                        \
        (void)constants;                                                     \
        to_##type(dst, src, DTI_ROUND_##mode);                               \
    }
#define CASE(type, bytes, mode)                               \
    case DTI_ROUND_##mode:                                    \
        neon_run(type##_##mode, NULL, dst, src, n, 4, bytes); \
        break;
#define MODES(EACH, type, bytes) \
    EACH(type, bytes, ZERO)      \
    EACH(type, bytes, UP) EACH(type, bytes, DOWN) EACH(type, bytes, NEAREST_AWAY)
#define TYPE(type, bytes)                                                     \
    MODE(type, bytes, NEAREST_EVEN)                                           \
    MODES(MODE, type, bytes)                                                  \
    static void run_##type(enum dti_round round, unsigned char *restrict dst, \
                           const unsigned char *restrict src, size_t n)       \
    {                                                                         \
        switch (round) {                                                      \
            MODES(CASE, type, bytes)                                          \
        default:                                                              \
            neon_run(type##_NEAREST_EVEN, NULL, dst, src, n, 4, bytes);       \
        }                                                                     \
    }
TYPE(int8, 1)
TYPE(uint8, 1)
TYPE(int16, 2)
TYPE(uint16, 2)
TYPE(int32, 4)
TYPE(uint32, 4)

void dti_fp32_to_integer_neon(const struct dti_kernel_args *args, void *restrict dst,
                              const void *restrict src, size_t n)
{
    typedef void run_fn(enum dti_round round, unsigned char *restrict dst,
                        const unsigned char *restrict src, size_t n);
    static run_fn *const runs[2][3] = {{run_int8, run_int16, run_int32},
                                       {run_uint8, run_uint16, run_uint32}};
    const struct dti_encoder *const e = args->encoder;
    const bool is_unsigned = e->format.kind != DTI_KIND_INT;
    runs[is_unsigned][e->container / 2](e->policy.round, dst, src, n);
}
