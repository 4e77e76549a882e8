/* SPDX-License-Identifier: MIT
 *
 * Blocks -> fp32: the value of a code times the block's scale. 4-bit codes are looked up in a
 * table of 16 numbers, whatever the format; 8-bit codes are integers, or floats converted
 * through fp16. Blocks with a scale or a code that is not finite go to the portable kernel. */
#include "kernels/x86/quant/quant_back.h"

#ifdef __AVX2__
enum { LENGTH_MAX = 64, PARTS_MAX = LENGTH_MAX / LANES };

/* The location of the 4-bit codes of each vector of a block: the doubleword of 16 bytes, and the
 * first bit. */
struct nibbles {
    vector word[PARTS_MAX], shift[PARTS_MAX];
};

struct blocks_back {
    struct nibbles nibbles;
    struct numbers16 numbers;
    const struct dti_block_args *args;
    struct dti_nv_tensor tensor; /* NVFP4 */
    bool stream;
};

static struct nibbles nibbles_init(const struct dti_block_format *format,
                                   enum dti_block_order order)
{
    const unsigned length = format->length;
    struct nibbles n;
    for (unsigned part = 0; part < length / LANES; part++) {
        uint32_t word[LANES], shift[LANES];
        for (unsigned i = 0; i < LANES; i++) {
            const unsigned at = part * LANES + i;
            const unsigned nibble = order == DTI_BLOCK_HIGH ? at ^ 1 : at;
            word[i] = nibble / 8 % 4;
            shift[i] = 4 * (nibble % 8);
        }
        n.word[part] = load_vector((const unsigned char *)word);
        n.shift[part] = load_vector((const unsigned char *)shift);
    }
    return n;
}

/* Replicates 16 bytes, or `bytes` if a block has fewer, in each 128 bits. */
DTI_INLINE vector spread(const unsigned char *codes, unsigned bytes)
{
    const __m128i part =
        bytes == 8 ? _mm_loadl_epi64((const void *)codes) : _mm_loadu_si128((const void *)codes);
#ifdef __AVX512BW__
    return _mm512_broadcast_i32x4(part);
#else
    return _mm256_broadcastsi128_si256(part);
#endif
}

DTI_INLINE vector pick_words(vector from, vector which)
{
#ifdef __AVX512BW__
    return _mm512_permutexvar_epi32(which, from);
#else
    return _mm256_permutevar8x32_epi32(from, which);
#endif
}

/* One block of packed codes; length is a constant after inlining. */
DTI_INLINE void packed_block(const struct blocks_back *c, unsigned char *x,
                             const unsigned char *codes, float scale, unsigned length, bool stream)
{
    const floats by = floats_of(scale);
    for (unsigned part = 0; part < length / LANES; part++) {
        /* with 64 codes, the vectors of the second half are in the other 16 bytes */
        const unsigned bytes = length / 2, sixteen = part * LANES / 32;
        const size_t at = length <= 32 ? 0 : 16 * (size_t)sixteen;
        const vector from = spread(codes + at, bytes);
        const vector code = VECTOR_BITS(srlv_epi32)(pick_words(from, c->nibbles.word[part]),
                                                    c->nibbles.shift[part]);
        store_floats(x + (size_t)part * VECTOR, VECTOR_BITS(mul_ps)(look_up(c->numbers, code), by),
                     stream);
    }
}

DTI_INLINE void bytes_block(const struct blocks_back *c, unsigned char *x,
                            const unsigned char *codes, float scale, unsigned length, bool stream)
{
    const floats by = floats_of(scale);
    for (unsigned part = 0; part < length / LANES; part++) {
        const vector code = bytes_to_numbers(codes + (size_t)part * LANES);
        store_floats(x + (size_t)part * VECTOR, VECTOR_BITS(mul_ps)(look_up(c->numbers, code), by),
                     stream);
    }
}

/* Whole blocks, and the remainder. family and length are constants after inlining. */
DTI_INLINE void packed_blocks(const struct blocks_back *c, unsigned char *x,
                              const unsigned char *codes, const unsigned char *scales, size_t n,
                              enum dti_block_family family, unsigned length, bool bytes,
                              bool stream)
{
    const size_t code_stride = c->args->code_stride, scale_stride = c->args->scale_stride;
    for (; n >= length; n -= length) {
        const float scale = scale_of(c->args, c->tensor, scales, family);
        if (!is_number(scale))
            blocks_portable(c->args, x, codes, scales, length);
        else if (bytes)
            bytes_block(c, x, codes, scale, length, stream);
        else
            packed_block(c, x, codes, scale, length, stream);
        x += (size_t)4 * length;
        codes += code_stride;
        scales += scale_stride;
    }
    if (n > 0)
        blocks_portable(c->args, x, codes, scales, n);
}

#define KERNEL(name, family, length)                                                         \
    static DTI_NOINLINE void name##_cached(const struct blocks_back *c, unsigned char *x,    \
                                           const unsigned char *codes,                       \
                                           const unsigned char *scales, size_t n)            \
    {                                                                                        \
        if (c->args->order == DTI_BLOCK_BYTES)                                               \
            packed_blocks(c, x, codes, scales, n, family, length, true, false);              \
        else                                                                                 \
            packed_blocks(c, x, codes, scales, n, family, length, false, false);             \
    }                                                                                        \
    static DTI_NOINLINE void name##_streamed(const struct blocks_back *c, unsigned char *x,  \
                                             const unsigned char *codes,                     \
                                             const unsigned char *scales, size_t n)          \
    {                                                                                        \
        if (c->args->order == DTI_BLOCK_BYTES)                                               \
            packed_blocks(c, x, codes, scales, n, family, length, true, true);               \
        else                                                                                 \
            packed_blocks(c, x, codes, scales, n, family, length, false, true);              \
    }                                                                                        \
    void VECTOR_NAME(dti_dequantize_##name)(const struct dti_block_args *args, float *x,     \
                                            const void *codes, const void *scales, size_t n) \
    {                                                                                        \
        const struct blocks_back c = back_init(args, x);                                     \
        if (c.stream)                                                                        \
            name##_streamed(&c, (unsigned char *)x, codes, scales, n);                       \
        else                                                                                 \
            name##_cached(&c, (unsigned char *)x, codes, scales, n);                         \
    }

static struct blocks_back back_init(const struct dti_block_args *args, const float *x)
{
    const unsigned char *numbers = (const unsigned char *)args->parts->numbers;
    const struct dti_block_format *format = args->recipe->format;
    struct blocks_back c = {.args = args};
    c.numbers.low = load_floats(numbers);
    c.numbers.high = load_floats(numbers + 32);
    c.nibbles = nibbles_init(format, args->order);
    c.tensor = dti_nv_tensor(args->recipe);
    c.stream = args->stream && (uintptr_t)x % VECTOR == 0;
    return c;
}

KERNEL(mxfp4, DTI_BLOCKS_MX, 32)
KERNEL(nvfp4, DTI_BLOCKS_NV, 16)
KERNEL(nf4, DTI_BLOCKS_NF, 64)
KERNEL(q4_0, DTI_BLOCKS_Q4, 32)
#endif
