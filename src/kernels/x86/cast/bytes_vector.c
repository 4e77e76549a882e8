/* SPDX-License-Identifier: MIT
 *
 * 4-bit codes <-> one per byte, and byte order; the same code for AVX2 and AVX-512. */
#include "kernels/kernels.h"
#include "kernels/x86/vector.h"

DTI_INLINE void unpack_block(unsigned char *dst, const unsigned char *src, bool stream,
                             bool high_first)
{
    for (size_t i = 0; i < 128 / VECTOR; i++) {
        const vector both = widen_bytes(src + i * VECTOR / 2);
        const vector low = high_first ? VECTOR_BITS(srli_epi16)(both, 4) : both;
        const vector high = VECTOR_BITS(slli_epi16)(both, high_first ? 8 : 4);
        const vector codes =
            VECTOR_WHOLE(and)(VECTOR_WHOLE(or)(low, high), VECTOR_BITS(set1_epi8)(15));
        store_vector(dst + i * VECTOR, codes, stream);
    }
}

/* Packs two codes in 16 bits into 8 bits: the first in the lower 4 bits or in the upper. */
DTI_INLINE void pack_block(unsigned char *dst, const unsigned char *src, bool stream,
                           bool high_first)
{
    const vector factors = VECTOR_BITS(set1_epi16)(high_first ? 0x0110 : 0x1001);
    const vector mask = VECTOR_BITS(set1_epi8)(15);
    for (size_t i = 0; i < 64 / VECTOR; i++) {
        const unsigned char *const from = src + 2 * i * VECTOR;
        const vector a = VECTOR_WHOLE(and)(load_vector(from), mask);
        const vector b = VECTOR_WHOLE(and)(load_vector(from + VECTOR), mask);
        const vector packed = narrow_words(VECTOR_BITS(maddubs_epi16)(a, factors),
                                           VECTOR_BITS(maddubs_epi16)(b, factors));
        store_vector(dst + i * VECTOR, packed, stream);
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

void VECTOR_NAME(dti_unpack4)(const struct dti_kernel_args *args, void *restrict dst,
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

void VECTOR_NAME(dti_pack4)(const struct dti_kernel_args *args, void *restrict dst,
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

/* constants: the shuffle that swaps the bytes of a vector. */
DTI_INLINE void swap_block(const void *constants, unsigned char *dst, const unsigned char *src,
                           bool stream)
{
    const vector *from = constants;
    for (size_t at = 0; at < 256; at += VECTOR)
        store_vector(dst + at, VECTOR_BITS(shuffle_epi8)(load_vector(src + at), *from), stream);
}

void VECTOR_NAME(dti_swap_bytes)(const struct dti_kernel_args *args, void *restrict dst,
                                 const void *restrict src, size_t n)
{
    const unsigned size = args->bits;
    unsigned char places[VECTOR];
    for (unsigned i = 0; i < VECTOR; i++)
        places[i] = (unsigned char)((i ^ (size - 1)) & 15);
    const vector from = load_vector(places);
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
    for (size_t at = 0; at < 256; at += VECTOR)
        store_vector(dst + at, load_vector(src + at), stream);
}

/* For cached stores the C library is the fastest. */
void VECTOR_NAME(dti_copy_bytes)(const struct dti_kernel_args *args, void *restrict dst,
                                 const void *restrict src, size_t n)
{
    const struct dti_blocks bytes = {copy_block, 256, 1, 1, false};
    if (args->stream)
        dti_blocks_run(bytes, NULL, dst, src, n * args->bits, args->stream);
    else if (n > 0)
        memcpy(dst, src, n * args->bits);
}
