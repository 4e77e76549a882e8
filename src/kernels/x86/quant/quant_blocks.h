/* SPDX-License-Identifier: MIT
 *
 * Quantizes as many blocks at once as a vector has lanes (a "tile"): one tree of maxima gives
 * the largest magnitudes of all blocks, and their scales are computed in vectors; then the same
 * numbers, still in the L1 cache, are encoded. Tiles with special numbers (NaN, infinity,
 * extreme magnitudes) go to the portable kernel. */
#ifndef KERNELS_X86_QUANT_QUANT_BLOCKS_H
#define KERNELS_X86_QUANT_QUANT_BLOCKS_H

#include "kernels/x86/quant/quant_vector.h"

#ifdef __AVX2__
enum { DTI_TILE_NUMBERS_MAX = 64 * LANES, DTI_GROUP = 4 * LANES }; /* elements */

/* The shape of a tile's blocks and the layout of their codes; constants after inlining. */
struct tile_shape {
    unsigned length, scale_bytes;
    unsigned bits; /* bits per code as stored */
    enum dti_block_order order;
};

DTI_INLINE size_t tile_numbers(struct tile_shape shape)
{
    return (size_t)shape.length * LANES;
}

DTI_INLINE size_t block_bytes(struct tile_shape shape)
{
    return (size_t)shape.length * shape.bits / 8;
}

/* The maximum of each of LANES vectors, as integers, one per lane; take(x, i, length) returns
 * vector i. */
typedef vector take_fn(const unsigned char *x, unsigned i, unsigned length);
typedef vector larger_fn(vector a, vector b);

DTI_INLINE vector larger(vector a, vector b)
{
    return VECTOR_BITS(max_epu32)(a, b);
}

DTI_INLINE vector larger_signed(vector a, vector b)
{
    return VECTOR_BITS(max_epi32)(a, b);
}

DTI_INLINE vector pair_of(larger_fn *op, vector a, vector b)
{
    return op(VECTOR_BITS(unpacklo_epi32)(a, b), VECTOR_BITS(unpackhi_epi32)(a, b));
}

/* For four vectors: the maximum of each 128 bits, in these 128 bits. */
DTI_INLINE vector four_of(larger_fn *op, take_fn *take, const unsigned char *x, unsigned i,
                          unsigned length)
{
    const vector a = pair_of(op, take(x, i, length), take(x, i + 1, length));
    const vector b = pair_of(op, take(x, i + 2, length), take(x, i + 3, length));
    return op(VECTOR_BITS(unpacklo_epi64)(a, b), VECTOR_BITS(unpackhi_epi64)(a, b));
}

DTI_INLINE vector largest_of(larger_fn *op, take_fn *take, const unsigned char *x, unsigned length)
{
    const vector a = four_of(op, take, x, 0, length), b = four_of(op, take, x, 4, length);
#ifdef __AVX512BW__
    const vector c = four_of(op, take, x, 8, length), d = four_of(op, take, x, 12, length);
    const vector ab = op(_mm512_shuffle_i32x4(a, b, 0x44), _mm512_shuffle_i32x4(a, b, 0xee));
    const vector cd = op(_mm512_shuffle_i32x4(c, d, 0x44), _mm512_shuffle_i32x4(c, d, 0xee));
    return op(_mm512_shuffle_i32x4(ab, cd, 0x88), _mm512_shuffle_i32x4(ab, cd, 0xdd));
#else
    return op(_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31));
#endif
}

/* The magnitudes of block i, with its vectors reduced to one; or its bits. */
DTI_INLINE vector take_magnitudes(const unsigned char *x, unsigned i, unsigned length)
{
    const vector magnitude = lanes_of(0x7fffffff);
    const unsigned char *from = x + (size_t)4 * length * i;
    vector most = VECTOR_WHOLE(and)(load_vector(from), magnitude);
    for (unsigned at = LANES; at < length; at += LANES)
        most = larger(most, VECTOR_WHOLE(and)(load_vector(from + (size_t)4 * at), magnitude));
    return most;
}

DTI_INLINE vector take_bits(const unsigned char *x, unsigned i, unsigned length)
{
    const unsigned char *from = x + (size_t)4 * length * i;
    vector most = load_vector(from);
    for (unsigned at = LANES; at < length; at += LANES)
        most = larger(most, load_vector(from + (size_t)4 * at));
    return most;
}

DTI_INLINE vector take_signed_bits(const unsigned char *x, unsigned i, unsigned length)
{
    const unsigned char *from = x + (size_t)4 * length * i;
    vector most = load_vector(from);
    for (unsigned at = LANES; at < length; at += LANES)
        most = larger_signed(most, load_vector(from + (size_t)4 * at));
    return most;
}

/* The largest magnitude of each block of a tile. */
DTI_INLINE vector tile_amax(const unsigned char *x, unsigned length)
{
    return largest_of(larger, take_magnitudes, x, length);
}

/* The result of a tile's scales: a divisor or a factor for each block. */
struct factors {
    float of[LANES];
    float inverse[LANES]; /* if refined */
    bool whole;           /* no special treatment of codes */
    bool refined;         /* quotients as in quant_refined.h */
};

DTI_INLINE void keep_factors(struct factors *ret, floats factors)
{
    store_floats((unsigned char *)ret->of, factors, false);
}

/* Prefetches as much as a group has, one tile and more ahead: scales are computed for the next
 * tile. Group by group, because a whole tile's prefetches at once fill the buffers of the cache. */
DTI_INLINE void prefetch_group(const unsigned char *x, unsigned group, unsigned length)
{
    prefetch(x + 4 * ((size_t)length * LANES + (size_t)group * DTI_GROUP), 4 * DTI_GROUP);
}

/* Multiplies the numbers of a group by their factors. */
DTI_INLINE void take_group(const unsigned char *x, unsigned group, const struct factors *factors,
                           unsigned length, floats ret[4])
{
    prefetch_group(x, group, length);
    for (unsigned i = 0; i < 4; i++) {
        const unsigned at = (4 * group + i) * LANES;
        ret[i] = VECTOR_BITS(mul_ps)(load_floats(x + (size_t)4 * at),
                                     floats_of(factors->of[at / length]));
    }
}

/* A tile takes two steps, so that the first step of the next tile overlaps with the second step
 * of this one. Scales and codes are written to dense arrays. False: this kernel cannot process
 * the tile. */
typedef bool tile_scales_fn(const void *constants, const unsigned char *x, unsigned char *scales,
                            struct factors *ret_factors);
typedef void tile_codes_fn(const void *constants, const unsigned char *x,
                           const struct factors *factors, unsigned char *codes,
                           struct dti_quant_count *count, bool stream);

struct tile_job {
    tile_scales_fn *scales;
    tile_codes_fn *codes;
    struct tile_shape shape;
    bool pads; /* zeros that pad a block have codes of zero bits */
};

DTI_INLINE const float *numbers_at(const unsigned char *x)
{
    return (const float *)(const void *)x;
}

/* Copies `blocks` blocks, the last of which has `last` elements, from buffers to their
 * destination. */
DTI_INLINE void place_codes(const struct dti_block_args *args, struct tile_shape shape,
                            unsigned char *codes, const unsigned char *code, size_t blocks,
                            size_t last)
{
    const size_t bytes = block_bytes(shape);
    for (size_t i = 0; i + 1 < blocks; i++)
        memcpy(codes + i * args->code_stride, code + i * bytes, bytes);
    memcpy(codes + (blocks - 1) * args->code_stride, code + (blocks - 1) * bytes,
           (last * shape.bits + 7) / 8);
}

DTI_INLINE void place_scales(const struct dti_block_args *args, struct tile_shape shape,
                             unsigned char *scales, const unsigned char *scale, size_t blocks)
{
    for (size_t i = 0; i < blocks; i++)
        memcpy(scales + i * args->scale_stride, scale + i * shape.scale_bytes, shape.scale_bytes);
}

/* Fewer elements than a tile. */
DTI_INLINE void tile_rest(struct tile_job job, const void *constants,
                          const struct dti_block_args *args, unsigned char *codes,
                          unsigned char *scales, const unsigned char *x, size_t n,
                          struct dti_quant_count *count)
{
    const struct tile_shape shape = job.shape;
    unsigned char numbers[4 * DTI_TILE_NUMBERS_MAX], code[DTI_TILE_NUMBERS_MAX], scale[4 * LANES];
    struct dti_quant_count some = {0};
    const size_t blocks = (n + shape.length - 1) / shape.length, whole = tile_numbers(shape);
    if (n % shape.length == 0 || job.pads) {
        struct factors factors;
        memcpy(numbers, x, 4 * n);
        memset(numbers + 4 * n, 0, 4 * (whole - n));
        if (job.scales(constants, numbers, scale, &factors)) {
            job.codes(constants, numbers, &factors, code, &some, false);
            place_codes(args, shape, codes, code, blocks, n - (blocks - 1) * shape.length);
            place_scales(args, shape, scales, scale, blocks);
            count->clipped += some.clipped;
            count->blocks += some.blocks;
            return;
        }
    }
    VECTOR_NAME(dti_quantize_blocks)(args, codes, scales, numbers_at(x), n, count);
}

/* stream: codes are dense and start at a cache line. */
DTI_INLINE void tiles_run_as(struct tile_job job, const void *constants,
                             const struct dti_block_args *args, unsigned char *codes,
                             unsigned char *scales, const unsigned char *x, size_t n,
                             struct dti_quant_count *count, bool stream)
{
    const struct tile_shape shape = job.shape;
    const size_t whole = tile_numbers(shape);
    const bool dense = args->code_stride == block_bytes(shape);
    const bool together = args->scale_stride == shape.scale_bytes;
    unsigned char code[DTI_TILE_NUMBERS_MAX], scale[2][4 * LANES];
    struct factors factors[2];
    bool ready[2] = {false, false};
    if (n >= whole)
        ready[0] = job.scales(constants, x, scale[0], &factors[0]);
    for (size_t tile = 0; n >= whole; n -= whole, tile++) {
        const size_t now = tile % 2, then = 1 - now;
        if (n >= 2 * whole)
            ready[then] = job.scales(constants, x + 4 * whole, scale[then], &factors[then]);
        if (ready[now]) {
            job.codes(constants, x, &factors[now], dense ? codes : code, count, stream);
            if (!dense)
                place_codes(args, shape, codes, code, LANES, shape.length);
            if (together)
                memcpy(scales, scale[now], (size_t)shape.scale_bytes * LANES);
            else
                place_scales(args, shape, scales, scale[now], LANES);
        } else {
            VECTOR_NAME(dti_quantize_blocks)(args, codes, scales, numbers_at(x), whole, count);
        }
        x += 4 * whole;
        codes += LANES * args->code_stride;
        scales += LANES * args->scale_stride;
    }
    if (n > 0)
        tile_rest(job, constants, args, codes, scales, x, n, count);
}

DTI_INLINE void tiles_run(struct tile_job job, const void *constants,
                          const struct dti_block_args *args, void *codes, void *scales,
                          const float *x, size_t n, struct dti_quant_count *count)
{
    const unsigned char *from = (const unsigned char *)x;
    if (args->stream && args->code_stride == block_bytes(job.shape) &&
        (uintptr_t)codes % DTI_CACHE_LINE == 0)
        tiles_run_as(job, constants, args, codes, scales, from, n, count, true);
    else
        tiles_run_as(job, constants, args, codes, scales, from, n, count, false);
}

/* Counts the clipped bytes of a group. In the mask its vectors are in vpackus order: four bits
 * of the first, four of the second, and so on. */
DTI_INLINE void count_clipped(byte_mask over, unsigned length, struct dti_quant_count *count)
{
    const unsigned vectors = length / LANES; /* per block: 1, 2 or 4 */
    const byte_mask some = vectors == 4   ? ~(byte_mask)0
                           : vectors == 2 ? (byte_mask)UINT64_C(0x00ff00ff00ff00ff)
                                          : (byte_mask)UINT64_C(0x000f000f000f000f);
    count->clipped += (unsigned)__builtin_popcountll(over);
    for (unsigned i = 0; i < 4; i += vectors)
        count->blocks += (over >> 4 * i & some) != 0;
}

/* Stores the codes of a group, given in order and one per byte; `group` is its index in the
 * tile. Packed orders are for 4-bit codes. */
DTI_INLINE void store_codes(unsigned char *codes, unsigned group, vector code,
                            struct tile_shape shape, bool stream)
{
    unsigned char *const to = codes + (size_t)group * DTI_GROUP * shape.bits / 8;
    const vector low = VECTOR_BITS(set1_epi16)(0x1001), high = VECTOR_BITS(set1_epi16)(0x0110);
    switch (shape.order) {
    case DTI_BLOCK_BYTES:
        store_vector(to, code, stream);
        break;
    case DTI_BLOCK_LOW: /* words with the first code and 16 times the second */
        store_words_as_bytes(to, VECTOR_BITS(maddubs_epi16)(code, low), stream);
        break;
    case DTI_BLOCK_HIGH:
        store_words_as_bytes(to, VECTOR_BITS(maddubs_epi16)(code, high), stream);
        break;
    }
}
#endif

/* Defines name_bytes(), name_low_first() and name_high_first(): jobs with codes_of(), for which
 * `bits` and order are constants; and name(), which selects by the order in args. */
#define TILE_ORDER(name, scales_of, codes_of, scale_bytes, pads, bits, order)               \
    DTI_INLINE void name##_codes(const void *constants, const unsigned char *x,             \
                                 const struct factors *factors, unsigned char *codes,       \
                                 struct dti_quant_count *count, bool stream)                \
    {                                                                                       \
        const struct tile_shape shape = {LENGTH, scale_bytes, bits, order};                 \
        codes_of(constants, x, factors, codes, count, stream, shape);                       \
    }                                                                                       \
    static DTI_NOINLINE void name(const void *constants, const struct dti_block_args *args, \
                                  void *codes, void *scales, const float *x, size_t n,      \
                                  struct dti_quant_count *count)                            \
    {                                                                                       \
        const struct tile_job job = {                                                       \
            scales_of, name##_codes, {LENGTH, scale_bytes, bits, order}, pads};             \
        tiles_run(job, constants, args, codes, scales, x, n, count);                        \
    }
#define TILE_ORDERS(name, scales_of, codes_of, scale_bytes, pads)                            \
    TILE_ORDER(name##_bytes, scales_of, codes_of, scale_bytes, pads, 8, DTI_BLOCK_BYTES)     \
    TILE_ORDER(name##_low_first, scales_of, codes_of, scale_bytes, pads, 4, DTI_BLOCK_LOW)   \
    TILE_ORDER(name##_high_first, scales_of, codes_of, scale_bytes, pads, 4, DTI_BLOCK_HIGH) \
    static void name(const void *constants, const struct dti_block_args *args, void *codes,  \
                     void *scales, const float *x, size_t n, struct dti_quant_count *count)  \
    {                                                                                        \
        switch (args->order) {                                                               \
        case DTI_BLOCK_LOW:                                                                  \
            name##_low_first(constants, args, codes, scales, x, n, count);                   \
            break;                                                                           \
        case DTI_BLOCK_HIGH:                                                                 \
            name##_high_first(constants, args, codes, scales, x, n, count);                  \
            break;                                                                           \
        case DTI_BLOCK_BYTES:                                                                \
            name##_bytes(constants, args, codes, scales, x, n, count);                       \
            break;                                                                           \
        }                                                                                    \
    }

#endif
