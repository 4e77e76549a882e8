/* SPDX-License-Identifier: MIT
 *
 * Packed codes of 1 to 7 bits <-> one per byte with AVX-512 VBMI. 8 codes of `bits` bits take
 * `bits` whole bytes; 8 such groups form a block:
 *
 *   packed, lowest first    h..hg..gf..f ... b..ba..a     as one number, byte 0 lowest
 *   packed, highest first   a..ab..bc..c ... g..gh..h     as one number, byte 0 highest
 *
 * so both orders need the same operations, with the bytes in either order. */
#include "kernels/kernels.h"
#include "kernels/x86/avx512.h"

enum { GROUPS = 8, CODES = 8 }; /* per block; per group */

struct packing_vectors {
    __m512i spread;     /* unpack: source byte of each position */
    __m512i offsets;    /* unpack: bit offset of each code in its 64 bits */
    __m512i order;      /* pack: order of the codes of a group, and of its bytes */
    __m512i pair, quad; /* pack: factors that combine 2 codes, and 2 pairs */
    __m128i half;       /* pack: right shift for the upper 4 codes of a group */
    __m512i lower;      /* pack: mask of the lower 4 codes */
    __mmask64 bytes;    /* pack: mask of the used bytes of the groups */
    __m512i mask;
};

/* A block of packed bytes has no fixed size, so these kernels have their own loops: whole blocks
 * while 64-byte loads and stores stay inside the array, then masked ones. */
DTI_INLINE __m512i unpack_groups(const struct packing_vectors *p, __m512i packed)
{
    const __m512i groups = _mm512_permutexvar_epi8(p->spread, packed);
    return _mm512_and_si512(_mm512_multishift_epi64_epi8(p->offsets, groups), p->mask);
}

DTI_INLINE __m512i pack_groups(const struct packing_vectors *p, __m512i codes)
{
    const __m512i ordered = _mm512_shuffle_epi8(_mm512_and_si512(codes, p->mask), p->order);
    const __m512i pairs = _mm512_maddubs_epi16(p->pair, ordered);
    const __m512i quads = _mm512_madd_epi16(pairs, p->quad);
    const __m512i upper = _mm512_srl_epi64(quads, p->half);
    /* upper still contains the bits of the lower four codes; they are masked out */
    const __m512i all = _mm512_ternarylogic_epi64(p->lower, quads, upper, 0xca);
    return _mm512_maskz_compress_epi8(p->bytes, _mm512_shuffle_epi8(all, p->order));
}

DTI_INLINE __mmask64 first(size_t n)
{
    return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

/* Position of byte `at` of a group in the order that makes it one number. */
static unsigned place(unsigned at, unsigned bytes, bool high_first)
{
    return high_first ? bytes - 1 - at : at;
}

void dti_unpack_avx512vbmi(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    const unsigned bits = args->bits;
    const size_t block_bytes = GROUPS * (size_t)bits, block = GROUPS * CODES;
    unsigned char spread[64], offsets[64], *out = dst;
    const unsigned char *in = src;
    struct packing_vectors p;
    for (unsigned i = 0; i < 64; i++) {
        const unsigned at = i % 8, group = i / 8;
        spread[i] =
            (unsigned char)(at < bits ? group * bits + place(at, bits, args->high_first) : 0);
        offsets[i] = (unsigned char)(place(at, CODES, args->high_first) * bits);
    }
    p.spread = load512(spread);
    p.offsets = load512(offsets);
    p.mask = _mm512_set1_epi8((char)((1u << bits) - 1));
    const size_t bytes = n / CODES * bits + (n % CODES * bits + 7) / 8;
    size_t done = 0, taken = 0;
    const bool stream = args->stream && (uintptr_t)out % DTI_CACHE_LINE == 0;
    if (stream) {
        for (; bytes - taken >= 64; taken += block_bytes, done += block)
            store512(out + done, unpack_groups(&p, load512(in + taken)), true);
    } else {
        for (; bytes - taken >= 64; taken += block_bytes, done += block)
            store512(out + done, unpack_groups(&p, load512(in + taken)), false);
    }
    for (; done < n; taken += block_bytes, done += block) {
        const __m512i packed =
            _mm512_maskz_loadu_epi8(first(bytes - taken), (const void *)(in + taken));
        _mm512_mask_storeu_epi8((void *)(out + done), first(n - done), unpack_groups(&p, packed));
    }
}

void dti_pack_avx512vbmi(const struct dti_kernel_args *args, void *restrict dst,
                         const void *restrict src, size_t n)
{
    const unsigned bits = args->bits;
    const size_t block_bytes = GROUPS * (size_t)bits, block = GROUPS * CODES;
    const unsigned used = (1u << bits) - 1;
    unsigned char *out = dst;
    const unsigned char *in = src;
    struct packing_vectors p;
    /* highest first: the codes in reverse order form the number, whose bytes, reversed, start at
     * the top */
    if (args->high_first)
        p.order = _mm512_set4_epi64(0x08090a0b0c0d0e0f, 0x0001020304050607, 0x08090a0b0c0d0e0f,
                                    0x0001020304050607);
    else
        p.order = _mm512_set4_epi64(0x0f0e0d0c0b0a0908, 0x0706050403020100, 0x0f0e0d0c0b0a0908,
                                    0x0706050403020100);
    p.bytes = UINT64_C(0x0101010101010101) * (args->high_first ? used << (8 - bits) : used);
    p.mask = _mm512_set1_epi8((char)used);
    p.pair = _mm512_set1_epi16((short)(1u | (256u << bits)));
    p.quad = _mm512_set1_epi32((int)(1u | (UINT32_C(65536) << 2 * bits)));
    p.half = _mm_cvtsi32_si128((int)(32 - 4 * bits));
    p.lower = _mm512_set1_epi64((long long)((UINT64_C(1) << 4 * bits) - 1));
    const size_t bytes = n / CODES * bits + (n % CODES * bits + 7) / 8;
    size_t done = 0, given = 0;
    /* stores 64 bytes; the next store overwrites the excess */
    for (; n - done >= block && bytes - given >= 64; given += block_bytes, done += block)
        store512(out + given, pack_groups(&p, load512(in + done)), false);
    for (; done < n; given += block_bytes, done += block) {
        const __m512i codes = _mm512_maskz_loadu_epi8(first(n - done), (const void *)(in + done));
        const size_t left = bytes - given < block_bytes ? bytes - given : block_bytes;
        _mm512_mask_storeu_epi8((void *)(out + given), first(left), pack_groups(&p, codes));
    }
}
