/* SPDX-License-Identifier: MIT
 *
 * Codes of 4 bits <-> one a byte, and byte order, in AVX-512. */
#include "kernels/kernels.h"
#include "kernels/x86/avx512.h"

DTI_INLINE void unpack_block(unsigned char *dst, const unsigned char *src, bool stream,
                             bool high_first)
{
    for (size_t i = 0; i < 2; i++) {
        const __m512i both = _mm512_cvtepu8_epi16(load256(src + 32 * i));
        const __m512i low = high_first ? _mm512_srli_epi16(both, 4) : both;
        const __m512i high = _mm512_slli_epi16(both, high_first ? 8 : 4);
        const __m512i codes = _mm512_and_si512(_mm512_or_si512(low, high), _mm512_set1_epi8(15));
        store512(dst + 64 * i, codes, stream);
    }
}

/* Two codes in 16 bits -> 8 bits: the earlier in the lower 4 or in the upper. */
DTI_INLINE void pack_block(unsigned char *dst, const unsigned char *src, bool stream,
                           bool high_first)
{
    const __m512i factors = _mm512_set1_epi16(high_first ? 0x0110 : 0x1001);
    const __m512i mask = _mm512_set1_epi8(15);
    const __m512i a = _mm512_maddubs_epi16(_mm512_and_si512(load512(src), mask), factors);
    const __m512i b = _mm512_maddubs_epi16(_mm512_and_si512(load512(src + 64), mask), factors);
    store512(dst, join256(_mm512_cvtepi16_epi8(a), _mm512_cvtepi16_epi8(b)), stream);
}

#define BOTH_ORDERS(name)                                                  \
    DTI_INLINE void name##_low(const void *constants, unsigned char *dst,  \
                               const unsigned char *src, bool stream)      \
    {                                                                      \
        (void)constants;                                                   \
        name##_block(dst, src, stream, false);                             \
    }                                                                      \
    DTI_INLINE void name##_high(const void *constants, unsigned char *dst, \
                                const unsigned char *src, bool stream)     \
    {                                                                      \
        (void)constants;                                                   \
        name##_block(dst, src, stream, true);                              \
    }
BOTH_ORDERS(unpack)
BOTH_ORDERS(pack)

void dti_unpack4_avx512(const struct dti_kernel_args *args, void *restrict dst,
                        const void *restrict src, size_t n)
{
    const struct dti_blocks low = {unpack_low, 64, 1, 2, false};
    const struct dti_blocks high = {unpack_high, 64, 1, 2, false};
    if (args->high_first)
        dti_blocks_run(high, NULL, dst, src, n / 2, args->stream);
    else
        dti_blocks_run(low, NULL, dst, src, n / 2, args->stream);
    if (n % 2 != 0) {
        const unsigned last = ((const unsigned char *)src)[n / 2];
        ((unsigned char *)dst)[n - 1] = (unsigned char)(args->high_first ? last >> 4 : last & 15);
    }
}

void dti_pack4_avx512(const struct dti_kernel_args *args, void *restrict dst,
                      const void *restrict src, size_t n)
{
    const struct dti_blocks low = {pack_low, 64, 2, 1, false};
    const struct dti_blocks high = {pack_high, 64, 2, 1, false};
    if (args->high_first)
        dti_blocks_run(high, NULL, dst, src, n / 2, args->stream);
    else
        dti_blocks_run(low, NULL, dst, src, n / 2, args->stream);
    if (n % 2 != 0) {
        const unsigned last = ((const unsigned char *)src)[n - 1] & 15u;
        ((unsigned char *)dst)[n / 2] = (unsigned char)(args->high_first ? last << 4 : last);
    }
}

/* constants: where each byte of 64 comes from. */
DTI_INLINE void swap_block(const void *constants, unsigned char *dst, const unsigned char *src,
                           bool stream)
{
    const __m512i *from = constants;
    for (size_t i = 0; i < 4; i++)
        store512(dst + 64 * i, _mm512_shuffle_epi8(load512(src + 64 * i), *from), stream);
}

void dti_swap_bytes_avx512(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    const unsigned size = args->bits;
    unsigned char places[64];
    for (unsigned i = 0; i < 64; i++)
        places[i] = (unsigned char)((i ^ (size - 1)) & 15);
    const __m512i from = load512(places);
    const struct dti_blocks two = {swap_block, 128, 2, 2, false};
    const struct dti_blocks four = {swap_block, 64, 4, 4, false};
    const struct dti_blocks eight = {swap_block, 32, 8, 8, false};
    if (size == 2)
        dti_blocks_run(two, &from, dst, src, n, args->stream);
    else if (size == 4)
        dti_blocks_run(four, &from, dst, src, n, args->stream);
    else
        dti_blocks_run(eight, &from, dst, src, n, args->stream);
}

DTI_INLINE void copy_block(const void *constants, unsigned char *dst, const unsigned char *src,
                           bool stream)
{
    (void)constants;
    for (size_t i = 0; i < 4; i++)
        store512(dst + 64 * i, load512(src + 64 * i), stream);
}

/* Within the caches nothing beats the C library. */
void dti_copy_bytes_avx512(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    const struct dti_blocks bytes = {copy_block, 256, 1, 1, false};
    if (args->stream)
        dti_blocks_run(bytes, NULL, dst, src, n * args->bits, true);
    else if (n > 0)
        memcpy(dst, src, n * args->bits);
}
