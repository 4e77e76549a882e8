/* SPDX-License-Identifier: MIT
 *
 * Kernels without arithmetic, the same code for AVX2 and AVX-512: copies, reads, writes, and
 * traffic shapes. The speed of casts is given as a percentage of these. */
#include "kernels/cast/copy.h"
#include "kernels/x86/vector.h"

#define COPY(name, fn, ...) dti_copy_fn fn;
#include "kernels/cast/copies.def"
#undef COPY

/* Loads every vector of the block's source and stores every vector of its result. Several loads
 * per store are combined by OR; one load for several stores is stored repeatedly. */
DTI_INLINE void move(unsigned char *dst, const unsigned char *src, size_t in, size_t out,
                     bool stream)
{
    const size_t loads = in > out ? in / out : 1, stores = in > out ? 1 : out / in;
    for (size_t part = 0; part < (in > out ? out : in); part++) {
        vector all = load_vector(src + part * loads * VECTOR);
        for (size_t i = 1; i < loads; i++)
            all = VECTOR_WHOLE(or)(all, load_vector(src + (part * loads + i) * VECTOR));
        for (size_t i = 0; i < stores; i++)
            store_vector(dst + (part * stores + i) * VECTOR, all, stream);
    }
}

/* A block is VECTOR elements of `in` and `out` bytes. */
#define SHAPE(in, out)                                                                        \
    static inline void block_##in##_##out(const void *constants, unsigned char *dst,          \
                                          const unsigned char *src, bool stream)              \
    {                                                                                         \
        (void)constants;                                                                      \
        move(dst, src, in, out, stream);                                                      \
    }                                                                                         \
    static const struct dti_blocks shape_##in##_##out = {block_##in##_##out, VECTOR, in, out, \
                                                         false};                              \
    void VECTOR_NAME(dti_shape_##in##_##out)(void *restrict dst, const void *restrict src,    \
                                             size_t n, const struct dti_streaming *streaming) \
    {                                                                                         \
        dti_blocks_run(shape_##in##_##out, NULL, dst, src, n, streaming);                     \
    }
SHAPE(8, 4)
SHAPE(8, 2)
SHAPE(8, 1)
SHAPE(4, 8)
SHAPE(4, 2)
SHAPE(4, 1)
SHAPE(2, 8)
SHAPE(2, 4)
SHAPE(2, 1)
SHAPE(1, 8)
SHAPE(1, 4)
SHAPE(1, 2)

static inline void copy_block(const void *constants, unsigned char *dst, const unsigned char *src,
                              bool stream)
{
    (void)constants;
    move(dst, src, 4, 4, stream);
}
static const struct dti_blocks copies = {copy_block, (size_t)4 * VECTOR, 1, 1, false};

void VECTOR_NAME(dti_copy)(void *restrict dst, const void *restrict src, size_t n,
                           const struct dti_streaming *streaming)
{
    dti_blocks_run(copies, NULL, dst, src, n, streaming);
}

static const unsigned char nothing[VECTOR];

DTI_INLINE void fill(void *dst, size_t n, bool stream)
{
    unsigned char *out = dst;
    size_t before = (DTI_CACHE_LINE - (uintptr_t)out % DTI_CACHE_LINE) % DTI_CACHE_LINE, at;
    before = before < n ? before : n;
    memset(out, 0, before);
    for (at = before; n - at >= 4 * VECTOR; at += 4 * VECTOR) {
        for (size_t i = 0; i < 4; i++)
            store_vector(out + at + i * VECTOR, load_vector(nothing), stream);
    }
    if (stream)
        __asm__ volatile("sfence" ::: "memory");
    memset(out + at, 0, n - at);
}

void VECTOR_NAME(dti_fill)(void *restrict dst, const void *restrict src, size_t n,
                           const struct dti_streaming *streaming)
{
    (void)src;
    if (streaming)
        fill(dst, n, true);
    else
        fill(dst, n, false);
}

void VECTOR_NAME(dti_read)(void *restrict dst, const void *restrict src, size_t n,
                           const struct dti_streaming *streaming)
{
    (void)streaming;
    const unsigned char *in = src;
    vector sum[4] = {load_vector(nothing), load_vector(nothing), load_vector(nothing),
                     load_vector(nothing)};
    unsigned char words[VECTOR];
    uint64_t all = 0;
    size_t at = 0;
    for (; n - at >= sizeof sum; at += sizeof sum) {
        for (size_t i = 0; i < 4; i++)
            sum[i] = VECTOR_BITS(add_epi64)(sum[i], load_vector(in + at + i * VECTOR));
    }
    sum[0] = VECTOR_BITS(add_epi64)(VECTOR_BITS(add_epi64)(sum[0], sum[1]),
                                    VECTOR_BITS(add_epi64)(sum[2], sum[3]));
    store_vector(words, sum[0], false);
    for (size_t i = 0; i < VECTOR; i += sizeof all) {
        uint64_t word;
        memcpy(&word, words + i, sizeof word);
        all += word;
    }
    for (; at < n; at++)
        all += in[at];
    memcpy(dst, &all, sizeof all);
}
