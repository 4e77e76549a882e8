/* SPDX-License-Identifier: MIT
 *
 * Codes of 4 bits <-> one a byte, and byte order, in AVX2. */
#include "kernels/kernels.h"
#include "kernels/x86/avx2.h"

DTI_INLINE void unpack_block(unsigned char *dst, const unsigned char *src, bool stream,
                             bool high_first)
{
    for (size_t i = 0; i < 4; i++) {
        const __m256i both = _mm256_cvtepu8_epi16(load128(src + 16 * i));
        const __m256i low = high_first ? _mm256_srli_epi16(both, 4) : both;
        const __m256i high = _mm256_slli_epi16(both, high_first ? 8 : 4);
        const __m256i codes = _mm256_and_si256(_mm256_or_si256(low, high), _mm256_set1_epi8(15));
        store256(dst + 32 * i, codes, stream);
    }
}

/* Two codes in 16 bits -> 8 bits: the earlier in the lower 4 or in the upper. */
DTI_INLINE void pack_block(unsigned char *dst, const unsigned char *src, bool stream,
                           bool high_first)
{
    const __m256i factors = _mm256_set1_epi16(high_first ? 0x0110 : 0x1001);
    const __m256i mask = _mm256_set1_epi8(15);
    for (size_t i = 0; i < 2; i++) {
        const __m256i a = _mm256_and_si256(load256(src + 64 * i), mask);
        const __m256i b = _mm256_and_si256(load256(src + 64 * i + 32), mask);
        const __m256i packed =
            _mm256_packus_epi16(_mm256_maddubs_epi16(a, factors), _mm256_maddubs_epi16(b, factors));
        store256(dst + 32 * i, _mm256_permute4x64_epi64(packed, 0xd8), stream);
    }
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

void dti_unpack4_avx2(const struct dti_kernel_args *args, void *restrict dst,
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

void dti_pack4_avx2(const struct dti_kernel_args *args, void *restrict dst,
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

/* constants: where each byte of 32 comes from. */
DTI_INLINE void swap_block(const void *constants, unsigned char *dst, const unsigned char *src,
                           bool stream)
{
    const __m256i *from = constants;
    for (size_t i = 0; i < 8; i++)
        store256(dst + 32 * i, _mm256_shuffle_epi8(load256(src + 32 * i), *from), stream);
}

void dti_swap_bytes_avx2(const struct dti_kernel_args *args, void *restrict dst,
                         const void *restrict src, size_t n)
{
    const unsigned size = args->bits;
    unsigned char places[32];
    for (unsigned i = 0; i < 32; i++)
        places[i] = (unsigned char)((i ^ (size - 1)) & 15);
    const __m256i from = load256(places);
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
    for (size_t i = 0; i < 8; i++)
        store256(dst + 32 * i, load256(src + 32 * i), stream);
}

/* Within the caches nothing beats the C library. */
void dti_copy_bytes_avx2(const struct dti_kernel_args *args, void *restrict dst,
                         const void *restrict src, size_t n)
{
    const struct dti_blocks bytes = {copy_block, 256, 1, 1, false};
    if (args->stream)
        dti_blocks_run(bytes, NULL, dst, src, n * args->bits, true);
    else if (n > 0)
        memcpy(dst, src, n * args->bits);
}
