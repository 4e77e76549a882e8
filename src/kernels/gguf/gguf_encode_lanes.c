/* SPDX-License-Identifier: MIT
 *
 * The GGUF block types that can be written, and their encoders. Each one gives the same bytes as
 * the function of ggml-quants.c named in its comment, compiled without contraction
 * (-ffp-contract=off) and without assertions. Compiled once per level. */
#include "kernels/gguf/gguf_encode_affine.h"
#include "kernels/gguf/gguf_encode_scale.h"
#include "kernels/gguf/gguf_encode_small.h"
#include "kernels/gguf/gguf_encode_table.h"
#include "kernels/gguf/gguf_encode_weighted.h"
#include "kernels/gguf/gguf_kernels.h"
#include "kernels/lanes_piece.h"

/* ONE: the encoder takes one block. MANY: it takes as many blocks as have GGUF_LANES groups, or
 * fewer. */
#define ENCODERS(ONE, MANY) \
    ONE(Q4_0, q4_0)         \
    ONE(Q4_1, q4_1)         \
    ONE(Q5_0, q5_0)         \
    ONE(Q5_1, q5_1)         \
    MANY(Q8_0, q8_0)        \
    MANY(Q2_K, q2_k)        \
    MANY(Q3_K, q3_k)        \
    MANY(Q4_K, q4_k)        \
    MANY(Q5_K, q5_k)        \
    MANY(Q6_K, q6_k)        \
    MANY(IQ4_NL, iq4_nl)    \
    MANY(IQ4_XS, iq4_xs)    \
    ONE(TQ1_0, tq1_0)       \
    ONE(TQ2_0, tq2_0)       \
    ONE(MXFP4, mxfp4)       \
    MANY(Q1_0, q1_0)        \
    ONE(Q2_0, q2_0)

/* Those with weights, which take as many blocks as MANY: whether they use the mean square of the
 * row. */
#define WEIGHERS(WEIGHER)          \
    WEIGHER(Q4_0, q4_0, true)      \
    WEIGHER(Q4_1, q4_1, true)      \
    WEIGHER(Q5_0, q5_0, true)      \
    WEIGHER(Q5_1, q5_1, true)      \
    WEIGHER(Q2_K, q2_k, false)     \
    WEIGHER(Q3_K, q3_k, false)     \
    WEIGHER(Q4_K, q4_k, false)     \
    WEIGHER(Q5_K, q5_k, false)     \
    WEIGHER(Q6_K, q6_k, false)     \
    WEIGHER(IQ4_NL, iq4_nl, false) \
    WEIGHER(IQ4_XS, iq4_xs, false)

#define GGUF_DTYPE(...)
#define GGUF_BLOCKS(id, name, word, elements, bytes, group, ...) \
    name##_ELEMENTS = (elements), name##_BYTES = (bytes),        \
    name##_MANY = (group)*GGUF_LANES / (elements),
enum {
#include "core/dtype/gguf_types.def"
};
#undef GGUF_DTYPE
#undef GGUF_BLOCKS

#define ONE(name, word)                                                            \
    static void encode_##word(unsigned char *blocks, const float *x, size_t count) \
    {                                                                              \
        const unsigned char *from = (const unsigned char *)x;                      \
        for (; count > 0; count--, blocks += name##_BYTES) {                       \
            word##_encode(blocks, from);                                           \
            from += name##_ELEMENTS * sizeof *x;                                   \
        }                                                                          \
    }
#define MANY(name, word)                                                           \
    static void encode_##word(unsigned char *blocks, const float *x, size_t count) \
    {                                                                              \
        enum { BLOCK = name##_ELEMENTS * sizeof *x };                              \
        const unsigned char *from = (const unsigned char *)x;                      \
        unsigned char rest[BLOCK * name##_MANY] = {0};                             \
        while (count > 0) {                                                        \
            const size_t n = count < name##_MANY ? count : name##_MANY;            \
            if (n < name##_MANY)                                                   \
                memcpy(rest, from, n *BLOCK);                                      \
            word##_encode(blocks, n < name##_MANY ? rest : from, n);               \
            from += n * BLOCK;                                                     \
            blocks += n * name##_BYTES;                                            \
            count -= n;                                                            \
        }                                                                          \
    }
ENCODERS(ONE, MANY)
#undef ONE
#undef MANY

#define WEIGHER(name, word, of_row)                                               \
    static void weigh_##word(unsigned char *blocks, const float *x, size_t count, \
                             const float *weights, float mean)                    \
    {                                                                             \
        enum { BLOCK = name##_ELEMENTS * sizeof *x, STEP = BLOCK * name##_MANY }; \
        const unsigned char *from = (const unsigned char *)x;                     \
        const unsigned char *columns = (const unsigned char *)weights;            \
        unsigned char rest[2][BLOCK * name##_MANY] = {{0}};                       \
        for (; count >= name##_MANY; count -= name##_MANY) {                      \
            word##_weigh(blocks, from, name##_MANY, columns, mean);               \
            from += STEP;                                                         \
            columns += STEP;                                                      \
            blocks += (size_t)name##_BYTES * name##_MANY;                         \
        }                                                                         \
        if (count > 0) {                                                          \
            memcpy(rest[0], from, count *BLOCK);                                  \
            memcpy(rest[1], columns, count *BLOCK);                               \
            word##_weigh(blocks, rest[0], count, rest[1], mean);                  \
        }                                                                         \
    }
WEIGHERS(WEIGHER)
#undef WEIGHER

#define ROW(name, word) [DTI_GGUF_##name] = encode_##word,
dti_gguf_encode_fn *const DTI_LANES_NAME(dti_gguf_encode)[DTI_GGUF_BLOCKS_COUNT] = {
    ENCODERS(ROW, ROW)};

#define WEIGHER(name, word, of_row_) [DTI_GGUF_##name] = {.run = weigh_##word, .of_row = (of_row_)},
const struct dti_gguf_weigher DTI_LANES_NAME(dti_gguf_weigh)[DTI_GGUF_BLOCKS_COUNT] = {
    WEIGHERS(WEIGHER)};
