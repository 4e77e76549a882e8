/* SPDX-License-Identifier: MIT
 *
 * Kernels without arithmetic in AVX-512 registers: copies, reading, writing, and traffic shapes.
 * What the casts reach is given in per cent of these. */
#include "dtinfo/copy.h"
#include "kernels/x86/avx512.h"

enum { VECTOR = 64 };

#define COPY(fn, ...) dti_copy_fn fn;
#include "kernels/copies.def"
#undef COPY

/* Loads every vector of the block's source and stores every vector of its result; several loads
 * for one store are joined by OR, one load for several stores is stored again. */
DTI_INLINE void move(unsigned char *dst, const unsigned char *src, size_t in, size_t out,
                     bool stream)
{
    const size_t loads = in > out ? in / out : 1, stores = in > out ? 1 : out / in;
    for (size_t part = 0; part < (in > out ? out : in); part++) {
        __m512i all = load512(src + part * loads * VECTOR);
        for (size_t i = 1; i < loads; i++)
            all = _mm512_or_si512(all, load512(src + (part * loads + i) * VECTOR));
        for (size_t i = 0; i < stores; i++)
            store512(dst + (part * stores + i) * VECTOR, all, stream);
    }
}

/* A block is VECTOR elements of `in` and `out` bytes. */
#define SHAPE(in, out)                                                                           \
    static inline void block_##in##_##out(const void *constants, unsigned char *dst,             \
                                          const unsigned char *src, bool stream)                 \
    {                                                                                            \
        (void)constants;                                                                         \
        move(dst, src, in, out, stream);                                                         \
    }                                                                                            \
    static const struct dti_blocks shape_##in##_##out = {block_##in##_##out, VECTOR, in, out,    \
                                                         false};                                 \
    void dti_shape_##in##_##out##_avx512(void *restrict dst, const void *restrict src, size_t n) \
    {                                                                                            \
        dti_blocks_run(shape_##in##_##out, NULL, dst, src, n, false);                            \
    }                                                                                            \
    void dti_shape_##in##_##out##_nt_avx512(void *restrict dst, const void *restrict src,        \
                                            size_t n)                                            \
    {                                                                                            \
        dti_blocks_run(shape_##in##_##out, NULL, dst, src, n, true);                             \
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

void dti_copy_avx512(void *restrict dst, const void *restrict src, size_t n)
{
    dti_blocks_run(copies, NULL, dst, src, n, false);
}

void dti_copy_nt_avx512(void *restrict dst, const void *restrict src, size_t n)
{
    dti_blocks_run(copies, NULL, dst, src, n, true);
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
            store512(out + at + i * VECTOR, load512(nothing), stream);
    }
    if (stream)
        __asm__ volatile("sfence" ::: "memory");
    memset(out + at, 0, n - at);
}

void dti_fill_avx512(void *restrict dst, const void *restrict src, size_t n)
{
    (void)src;
    fill(dst, n, false);
}

void dti_fill_nt_avx512(void *restrict dst, const void *restrict src, size_t n)
{
    (void)src;
    fill(dst, n, true);
}

void dti_read_avx512(void *restrict dst, const void *restrict src, size_t n)
{
    const unsigned char *in = src;
    __m512i sum[4] = {load512(nothing), load512(nothing), load512(nothing), load512(nothing)};
    unsigned char words[VECTOR];
    uint64_t all = 0;
    size_t at = 0;
    for (; n - at >= sizeof sum; at += sizeof sum) {
        for (size_t i = 0; i < 4; i++)
            sum[i] = _mm512_add_epi64(sum[i], load512(in + at + i * VECTOR));
    }
    sum[0] = _mm512_add_epi64(_mm512_add_epi64(sum[0], sum[1]), _mm512_add_epi64(sum[2], sum[3]));
    store512(words, sum[0], false);
    for (size_t i = 0; i < VECTOR; i += sizeof all) {
        uint64_t word;
        memcpy(&word, words + i, sizeof word);
        all += word;
    }
    for (; at < n; at++)
        all += in[at];
    memcpy(dst, &all, sizeof all);
}
