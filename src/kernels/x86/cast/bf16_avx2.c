/* SPDX-License-Identifier: MIT
 *
 * fp32 <-> bf16 with AVX2, by integer arithmetic. */
#include "kernels/kernels.h"
#include "kernels/x86/cast/odd_vector.h"
#include "kernels/x86/cast/saturate.h"
#include "kernels/x86/modes.h"
#include "kernels/x86/scan/loss_cast_vector.h"
#include "kernels/x86/vector.h"

/* A bf16 is the upper half of an fp32. */
/* Rounds so that the upper half is the result; a carry moves into the exponent, and turns the
 * largest finite number into infinity. */
DTI_INLINE __m256i round_to_half(__m256i bits, enum dti_round round)
{
    const __m256i rest = _mm256_set1_epi32(0xffff), one = _mm256_set1_epi32(1);
    __m256i odd, exact;
    switch (round) {
    case DTI_ROUND_NEAREST_EVEN: /* bits + 0x7fff, plus 1 if the kept part is odd */
        odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), one);
        return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
    case DTI_ROUND_NEAREST_AWAY:
        return _mm256_add_epi32(bits, _mm256_set1_epi32(0x8000));
    case DTI_ROUND_UP:
        return _mm256_add_epi32(bits, _mm256_andnot_si256(_mm256_srai_epi32(bits, 31), rest));
    case DTI_ROUND_DOWN:
        return _mm256_add_epi32(bits, _mm256_and_si256(_mm256_srai_epi32(bits, 31), rest));
    case DTI_ROUND_ODD:
        exact = _mm256_cmpeq_epi32(_mm256_and_si256(bits, rest), _mm256_setzero_si256());
        return _mm256_or_si256(bits, _mm256_andnot_si256(exact, _mm256_set1_epi32(0x10000)));
    case DTI_ROUND_ZERO:
    case DTI_ROUND_STOCHASTIC:
        break;
    }
    return bits;
}

/* Returns the result in the lower half of each 32 bits. plain: NaNs keep sign and upper payload
 * and become quiet; otherwise they all become the positive NaN without payload. */
DTI_INLINE __m256i bf16_of(__m256i bits, enum dti_round round, bool plain)
{
    const __m256i quiet = _mm256_set1_epi32(plain ? 0x400000 : 0x7fc00000);
    const __m256 x = _mm256_castsi256_ps(bits);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    const __m256i answer = plain ? _mm256_or_si256(bits, quiet) : quiet;
    return _mm256_srli_epi32(_mm256_blendv_epi8(round_to_half(bits, round), answer, nan), 16);
}

/* limits: NULL for none. */
DTI_INLINE __m256i bf16_load(const struct saturation *limits, const unsigned char *src,
                             enum dti_round round, bool plain)
{
    const __m256 x = load256_ps(src);
    return bf16_of(_mm256_castps_si256(limits ? saturated(limits, x) : x), round, plain);
}

DTI_INLINE void bf16_pack(const struct saturation *limits, unsigned char *dst,
                          const unsigned char *src, bool stream, enum dti_round round, bool plain)
{
    for (size_t i = 0; i < 4; i++) {
        const __m256i a = bf16_load(limits, src + 64 * i, round, plain);
        const __m256i b = bf16_load(limits, src + 64 * i + 32, round, plain);
        const __m256i packed = _mm256_packus_epi32(a, b); /* a0 b0 a1 b1 in 64-bit parts */
        store256(dst + 32 * i, _mm256_permute4x64_epi64(packed, 0xd8), stream);
    }
}

DTI_INLINE void bf16_encode_block(const void *constants, unsigned char *dst,
                                  const unsigned char *src, bool stream, enum dti_round round,
                                  bool plain)
{
    (void)constants;
    bf16_pack(NULL, dst, src, stream, round, plain);
}
DTI_SIX_MODES(bf16_encode, 64, 4, 2)

DTI_INLINE void bf16_clamped_block(const void *constants, unsigned char *dst,
                                   const unsigned char *src, bool stream, enum dti_round round,
                                   bool plain)
{
    bf16_pack(constants, dst, src, stream, round, plain);
}
DTI_ONE_MODE(bf16_clamped, 64, 4, 2)

void dti_fp32_to_bf16_avx2(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    bf16_encode_by_mode(NULL, args, dti_keeps_nan(args), dst, src, n);
}

void dti_fp32_to_bf16_saturating_avx2(const struct dti_kernel_args *args, void *restrict dst,
                                      const void *restrict src, size_t n)
{
    const struct saturation limits = saturation_init(args, 0x1.fep127F);
    bf16_clamped_by_mode(&limits, args, dti_keeps_nan(args), dst, src, n);
}

DTI_NOINLINE static void fp64_to_bf16_block(const void *constants, unsigned char *dst,
                                            const unsigned char *src, bool stream)
{
    const struct dti_mode *const how = constants;
    _Alignas(VECTOR) unsigned char between[4 * ODD_NUMBERS];
    if (odd_normal(between, src))
        odd_exact(between, src);
    if (how->plain)
        bf16_pack(NULL, dst, between, stream, DTI_ROUND_NEAREST_EVEN, true);
    else
        bf16_pack(NULL, dst, between, stream, DTI_ROUND_NEAREST_EVEN, false);
}

void dti_fp64_to_bf16_avx2(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    const struct dti_mode how = {NULL, DTI_ROUND_NEAREST_EVEN, dti_keeps_nan(args)};
    const struct dti_blocks blocks = {fp64_to_bf16_block, ODD_NUMBERS, 8, 2, false};
    dti_blocks_run(blocks, &how, dst, src, n, args->stream);
}

/* Only receives numbers that do not overflow. */
DTI_INLINE __m256 bf16_number(const void *constants, const struct loss_bars *bars, __m256 x,
                              __m256i size, __m256i *ret_code, __m256i *ret_error)
{
    const __m256i sum = round_to_half(loss_bits(x), DTI_ROUND_NEAREST_EVEN);
    const __m256 y = (__m256)_mm256_and_si256(sum, loss_all(0xffff0000));
    (void)constants, (void)size;
    *ret_code = _mm256_srli_epi32(sum, 16);
    *ret_error = loss_size_by(bars, _mm256_sub_ps(y, x));
    return y;
}

DTI_INLINE void bf16_put(const void *constants, unsigned char *dst, const __m256i code[4],
                         const __m256i x[4], bool stream, bool count, struct loss_group *group)
{
    (void)constants, (void)x, (void)count, (void)group;
    for (size_t i = 0; i < 2; i++) {
        const __m256i packed = _mm256_packus_epi32(code[2 * i], code[2 * i + 1]);
        store256(dst + i * VECTOR, _mm256_permute4x64_epi64(packed, 0xd8), stream);
    }
}
#define bf16_number_beyond loss_none_beyond
LOSS_CAST_ROUNDED(bf16_loss, struct loss_no_constants, LOSS_BY_SIZE, 2, bf16_number, bf16_put)

void dti_fp32_to_bf16_loss_avx2(LOSS_CAST_PARAMETERS)
{
    const struct loss_no_constants none = {0};
    LOSS_CAST_RUN(bf16_loss_add, &none, false, LOSS_BY_SIZE);
}

/* NaNs become quiet, as in all casts. */
DTI_INLINE __m256i fp32_of_bf16(const unsigned char *src)
{
    const __m256i bits = _mm256_slli_epi32(_mm256_cvtepu16_epi32(load128(src)), 16);
    const __m256 x = _mm256_castsi256_ps(bits);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    return _mm256_or_si256(bits, _mm256_and_si256(nan, _mm256_set1_epi32(0x400000)));
}
VECTOR_KERNEL(dti_bf16_to_fp32, 64, 2, 4, fp32_of_bf16)
LOSS_CAST_EXACT(fp32_loss, 2, fp32_of_bf16)

void dti_bf16_to_fp32_loss_avx2(LOSS_CAST_PARAMETERS)
{
    LOSS_CAST_RUN(fp32_loss_add, NULL, true, LOSS_BY_SIZE);
}
