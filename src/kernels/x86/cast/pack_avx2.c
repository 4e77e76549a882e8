/* SPDX-License-Identifier: MIT
 *
 * Packed codes of 1 to 7 bits -> one per byte with AVX2, and codes of 6 bits back: fp6. Eight codes
 * of `bits` bits, a group, take `bits` bytes. Unpacking gives each code the two bytes that it is
 * in, moves it to the top of these 16 bits by a multiplication, and to the bottom by a shift. */
#include "kernels/kernels.h"
#include "kernels/x86/avx2.h"

enum { GROUPS = 16, CODES = 8 }; /* per block; per group */

struct unpacking {
    __m256i spread[4][2]; /* 32 codes each: source bytes of the first and of the second groups */
    size_t at[8];         /* where 16 source bytes are loaded: for two groups each */
    __m256i factors;
    __m128i shift;
};

static struct unpacking unpacking_of(unsigned bits, bool high_first)
{
    struct unpacking u;
    unsigned char from[16];
    uint16_t factors[16];
    const size_t last = GROUPS * (size_t)bits - 16; /* where the last 16 bytes of a block start */
    for (unsigned i = 0; i < CODES; i++) {
        const unsigned byte = i * bits / 8, offset = i * bits % 8;
        from[2 * i + (high_first ? 1 : 0)] = (unsigned char)byte;
        from[2 * i + (high_first ? 0 : 1)] = (unsigned char)(byte + 1); /* unused in the last */
        factors[i] = (uint16_t)(1u << (high_first ? offset : 16 - bits - offset));
        factors[i + CODES] = factors[i];
    }
    for (unsigned i = 0; i < 8; i++) {
        const size_t start = 2 * i * (size_t)bits;
        u.at[i] = start < last ? start : last;
    }
    for (unsigned i = 0; i < 4; i++) {
        const size_t start = 4 * i * (size_t)bits;
        const __m256i moved = join128(
            _mm_set1_epi8((char)(unsigned char)(start - u.at[2 * i])),
            _mm_set1_epi8((char)(unsigned char)(start + 2 * (size_t)bits - u.at[2 * i + 1])));
        u.spread[i][0] = _mm256_add_epi8(_mm256_broadcastsi128_si256(load128(from)), moved);
        u.spread[i][1] =
            _mm256_add_epi8(u.spread[i][0], _mm256_set1_epi8((char)(unsigned char)bits));
    }
    u.factors = load256((const unsigned char *)factors);
    u.shift = _mm_cvtsi32_si128((int)(16 - bits));
    return u;
}

DTI_INLINE __m256i unpack_groups(const struct unpacking *u, __m256i bytes, __m256i spread)
{
    const __m256i words = _mm256_mullo_epi16(_mm256_shuffle_epi8(bytes, spread), u->factors);
    return _mm256_srl_epi16(words, u->shift);
}

DTI_INLINE void unpack_block(const void *constants, unsigned char *dst, const unsigned char *src,
                             bool stream)
{
    const struct unpacking *const u = constants;
    for (size_t i = 0; i < 4; i++) {
        const __m256i bytes = join128(load128(src + u->at[2 * i]), load128(src + u->at[2 * i + 1]));
        const __m256i first = unpack_groups(u, bytes, u->spread[i][0]);
        const __m256i second = unpack_groups(u, bytes, u->spread[i][1]);
        store256(dst + 32 * i, _mm256_packus_epi16(first, second), stream);
    }
}

void dti_unpack_avx2(const struct dti_kernel_args *args, void *restrict dst,
                     const void *restrict src, size_t n)
{
    const size_t groups = n / CODES;
    const struct unpacking u = unpacking_of(args->bits, args->high_first);
    const struct dti_blocks blocks = {unpack_block, GROUPS, args->bits, CODES, false};
    dti_blocks_run(blocks, &u, dst, src, groups, args->stream);
    if (n % CODES > 0)
        dti_unpack_scalar(args, (unsigned char *)dst + CODES * groups,
                          (const unsigned char *)src + args->bits * groups, n % CODES);
}

struct packing6 {
    __m256i pair, quad; /* factors that combine 2 codes, and 2 pairs */
    __m256i order;      /* of the 3 bytes of each 4 codes */
};

/* 32 codes to 24 bytes, whose 6 doublewords go to the places that `places` gives them. */
DTI_INLINE __m256i pack6(const struct packing6 *p, const unsigned char *src, __m256i places)
{
    const __m256i codes = _mm256_and_si256(load256(src), _mm256_set1_epi8(63));
    const __m256i quads = _mm256_madd_epi16(_mm256_maddubs_epi16(p->pair, codes), p->quad);
    return _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(quads, p->order), places);
}

/* The doublewords 0 1 2 4 5 6 of each vector are in use. */
DTI_INLINE void pack6_block(const void *constants, unsigned char *dst, const unsigned char *src,
                            bool stream)
{
    const struct packing6 *const p = constants;
    const __m256i a = pack6(p, src, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 0, 0));
    const __m256i b = pack6(p, src + 32, _mm256_setr_epi32(2, 4, 5, 6, 0, 0, 0, 1));
    const __m256i c = pack6(p, src + 64, _mm256_setr_epi32(5, 6, 0, 0, 0, 1, 2, 4));
    const __m256i d = pack6(p, src + 96, _mm256_setr_epi32(0, 0, 0, 1, 2, 4, 5, 6));
    store256(dst, _mm256_blend_epi32(a, b, 0xc0), stream);
    store256(dst + 32, _mm256_blend_epi32(b, c, 0xf0), stream);
    store256(dst + 64, _mm256_blend_epi32(c, d, 0xfc), stream);
}

/* Groups of other widths do not end at doublewords, and AVX2 has no stores of single bytes: those
 * are left to the portable code. */
void dti_pack_avx2(const struct dti_kernel_args *args, void *restrict dst, const void *restrict src,
                   size_t n)
{
    const size_t groups = n / CODES;
    const bool high = args->high_first;
    const __m128i low_order = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    const __m128i high_order =
        _mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1);
    const struct packing6 p = {
        .pair = _mm256_set1_epi16(high ? 0x0140 : 0x4001),
        .quad = _mm256_set1_epi32(high ? 0x00011000 : 0x10000001),
        .order = _mm256_broadcastsi128_si256(high ? high_order : low_order),
    };
    const struct dti_blocks blocks = {pack6_block, GROUPS, CODES, 6, false};
    if (args->bits != 6) {
        dti_pack_scalar(args, dst, src, n);
        return;
    }
    dti_blocks_run(blocks, &p, dst, src, groups, args->stream);
    if (n % CODES > 0)
        dti_pack_scalar(args, (unsigned char *)dst + 6 * groups,
                        (const unsigned char *)src + CODES * groups, n % CODES);
}
