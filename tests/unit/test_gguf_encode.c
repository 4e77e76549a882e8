/* SPDX-License-Identifier: MIT
 *
 * Encoders of GGUF blocks: the same bytes as ggml for generated numbers, with and without weights,
 * at every CPU level and in parts of every size. */
#include "kernels/gguf/gguf_kernel.h"
#include "unit.h"

enum {
    RUN = 6, /* blocks of a kind: encoders search several blocks side by side */
    KINDS = 8,
    BLOCKS = RUN * KINDS + 1,
    NUMBERS = BLOCKS * DTI_GGUF_BLOCK_MAX,
    BYTES_MAX = 300,
    GUARD = 0xa5,
    SKEW = 2
};

static unsigned char numbers[NUMBERS * sizeof(float) + SKEW];
static unsigned char weights[NUMBERS * sizeof(float) + SKEW];
static unsigned char bytes[BLOCKS * BYTES_MAX + 1], part[BLOCKS * BYTES_MAX + 1];

/* ggml's own code of these stops where squares overflow. */
static bool needs_weights(const struct dti_gguf_type *type)
{
    return !dti_gguf_find_encoder(type->blocks, DTI_LEVEL_SCALAR);
}

/* Runs of eight kinds of blocks: ordinary magnitude; small; large for fp16; mostly subnormal;
 * large; 0, 1, -0 and -1, some times 0.3; coarse, for ties; zeros with a few exceptions. */
static float made(uint32_t random, size_t block, float large)
{
    const float scales[] = {1, 0x1p-20F, 0x1p20F, 0x1p-130F, large};
    const int32_t top = (int32_t)(random >> 8) - (1 << 23);
    const size_t kind = block / RUN % KINDS;
    if (kind == 5)
        return (float)(random >> 30 & 1) * (random >> 31 ? -1 : 1) * (block % 2 ? 0.3F : 1);
    if (kind == 6)
        return (float)(top / (1 << 17)) * 0x1p-6F;
    if (kind == 7)
        return random >> 28 == 0 ? (float)top * 0x1p-24F : 0;
    return (float)top * 0x1p-24F * scales[kind];
}

static void make_numbers(const struct dti_gguf_type *type)
{
    const float large = needs_weights(type) ? 0x1p8F : 0x1p126F; /* so that squares overflow */
    uint32_t state = type->id;
    for (size_t i = 0; i < BLOCKS * (size_t)type->elements; i++) {
        state = state * UINT32_C(1664525) + UINT32_C(1013904223);
        const float number = made(state, i / type->elements, large);
        memcpy(numbers + SKEW + i * sizeof number, &number, sizeof number);
    }
}

/* Weights of 12 bits: some zeros, and blocks of zeros. */
static void make_weights(const struct dti_gguf_type *type)
{
    uint32_t state = type->id + 1000;
    for (size_t i = 0; i < BLOCKS * (size_t)type->elements; i++) {
        state = state * UINT32_C(1664525) + UINT32_C(1013904223);
        const bool zero = (state >> 8 & 7) == 0 || i / type->elements % 11 == 10;
        const float weight = zero ? 0 : (float)(state >> 20) * 0x1p-6F;
        memcpy(weights + SKEW + i * sizeof weight, &weight, sizeof weight);
    }
}

struct hashed {
    enum dti_gguf_blocks blocks;
    uint32_t hash;
};
/* Both from tests/oracle/kernels/test_ggml_encode.py --hashes. */
static const struct hashed cases[] = {
    {DTI_GGUF_Q4_0, 0x534e56a5},  {DTI_GGUF_Q4_1, 0x34af25ce},   {DTI_GGUF_Q5_0, 0x28ecca3a},
    {DTI_GGUF_Q5_1, 0xaead6c47},  {DTI_GGUF_Q8_0, 0x4fc74c36},   {DTI_GGUF_Q2_K, 0x550b5aea},
    {DTI_GGUF_Q3_K, 0xc8831800},  {DTI_GGUF_Q4_K, 0x4bae5509},   {DTI_GGUF_Q5_K, 0x1daa693b},
    {DTI_GGUF_Q6_K, 0xb7485058},  {DTI_GGUF_IQ4_NL, 0x8c94705c}, {DTI_GGUF_IQ4_XS, 0xfa2d8037},
    {DTI_GGUF_TQ1_0, 0xcfc47d30}, {DTI_GGUF_TQ2_0, 0x23db2f27},  {DTI_GGUF_MXFP4, 0x3192dc88},
    {DTI_GGUF_Q1_0, 0xaa9eb64f},  {DTI_GGUF_Q2_0, 0xd0cdb147},
};
static const struct hashed weighted_cases[] = {
    {DTI_GGUF_Q4_0, 0xc1073df9},   {DTI_GGUF_Q4_1, 0x99693837},    {DTI_GGUF_Q5_0, 0x42e6d930},
    {DTI_GGUF_Q5_1, 0xb783cbbd},   {DTI_GGUF_Q2_K, 0x62e9cd5a},    {DTI_GGUF_Q3_K, 0x15732d07},
    {DTI_GGUF_Q4_K, 0x5b3b2f0d},   {DTI_GGUF_Q5_K, 0x9b0bc579},    {DTI_GGUF_Q6_K, 0x34ad5ee8},
    {DTI_GGUF_IQ4_NL, 0x69f68183}, {DTI_GGUF_IQ4_XS, 0xbc4df146},  {DTI_GGUF_IQ1_S, 0x4052d3cc},
    {DTI_GGUF_IQ1_M, 0x15ac353f},  {DTI_GGUF_IQ2_XXS, 0xce50466f}, {DTI_GGUF_IQ2_XS, 0x378cf85f},
    {DTI_GGUF_IQ2_S, 0x64989eb0},  {DTI_GGUF_IQ3_XXS, 0x2b579b6f}, {DTI_GGUF_IQ3_S, 0xaf3b4bfd},
};
enum {
    CASES = sizeof cases / sizeof cases[0],
    WEIGHTED = sizeof weighted_cases / sizeof weighted_cases[0]
};

static void encode(const struct dti_gguf_type *type, enum dti_level level, unsigned char *to,
                   size_t from, size_t count)
{
    const unsigned char *const x = numbers + SKEW + from * type->elements * sizeof(float);
    dti_gguf_find_encoder(type->blocks, level)(to, (const float *)(const void *)x, count);
}

static uint32_t hash_of(const struct dti_gguf_type *type)
{
    uint32_t hash = UINT32_C(0x811c9dc5);
    for (size_t k = 0; k < BLOCKS * (size_t)type->bytes; k++)
        hash = (hash ^ bytes[k]) * UINT32_C(0x01000193);
    return hash;
}

static void bytes_are_those_of_ggml_at_every_level(void)
{
    for (size_t i = 0; i < CASES; i++)
        for (enum dti_level level = 0; level < DTI_LEVEL_COUNT; level++) {
            const struct dti_gguf_type *const type = dti_gguf_type_of(cases[i].blocks);
            if (!dti_level_present(level))
                continue;
            make_numbers(type);
            encode(type, level, bytes, 0, BLOCKS);
            if (!CHECK_U64(hash_of(type), cases[i].hash))
                fprintf(stderr, "    %s, %s\n", type->name, dti_level_name(level));
        }
}

static void parts_are_the_same_bytes(void)
{
    for (size_t i = 0; i < CASES; i += unit_each(3))
        for (enum dti_level level = 0; level < DTI_LEVEL_COUNT; level++) {
            const struct dti_gguf_type *const type = dti_gguf_type_of(cases[i].blocks);
            if (!dti_level_present(level))
                continue;
            make_numbers(type);
            encode(type, level, bytes, 0, BLOCKS);
            for (size_t n = 0; n < BLOCKS; n = n < 3 ? n + 1 : 2 * n + 9) { /* 0 1 2 3 15 */
                const size_t from = BLOCKS - n, size = n * type->bytes;
                memset(part, GUARD, sizeof part);
                encode(type, level, part, from, n);
                CHECK(memcmp(part, bytes + from * type->bytes, size) == 0 && part[size] == GUARD);
            }
        }
}

static void weigh(const struct dti_gguf_type *type, enum dti_level level, unsigned char *to,
                  size_t from, size_t count, float mean)
{
    const size_t at = SKEW + from * type->elements * sizeof(float);
    CHECK(dti_gguf_prepare(type->blocks));
    dti_gguf_find_weigher(type->blocks, level)
        ->run(to, (const float *)(const void *)(numbers + at), count,
              (const float *)(const void *)(weights + at), mean);
}

/* The mean square of a row. */
static float mean_of(const struct dti_gguf_type *type, size_t from, size_t count)
{
    const size_t n = count * type->elements;
    float sum = 0;
    for (size_t i = 0; i < n; i++) {
        float number;
        memcpy(&number, numbers + SKEW + (from * type->elements + i) * sizeof number,
               sizeof number);
        const float square = number * number;
        sum += square;
    }
    return sum / (float)n;
}

/* Rows are the runs of blocks, and each has weights of its own. */
static void weighted_bytes_are_those_of_ggml_at_every_level(void)
{
    for (size_t i = 0; i < WEIGHTED; i++)
        for (enum dti_level level = 0; level < DTI_LEVEL_COUNT; level++) {
            const struct dti_gguf_type *const type = dti_gguf_type_of(weighted_cases[i].blocks);
            if (!dti_level_present(level))
                continue;
            make_numbers(type);
            make_weights(type);
            for (size_t from = 0; from < BLOCKS; from += RUN) {
                const size_t count = BLOCKS - from < RUN ? BLOCKS - from : RUN;
                weigh(type, level, bytes + from * type->bytes, from, count,
                      mean_of(type, from, count));
            }
            if (!CHECK_U64(hash_of(type), weighted_cases[i].hash))
                fprintf(stderr, "    %s, %s\n", type->name, dti_level_name(level));
        }
}

static void weighted_parts_are_the_same_bytes(void)
{
    for (size_t i = 0; i < WEIGHTED; i += unit_each(3))
        for (enum dti_level level = 0; level < DTI_LEVEL_COUNT; level++) {
            const struct dti_gguf_type *const type = dti_gguf_type_of(weighted_cases[i].blocks);
            if (!dti_level_present(level))
                continue;
            make_numbers(type);
            make_weights(type);
            weigh(type, level, bytes, 0, BLOCKS, 0.5F);
            for (size_t n = 0; n < BLOCKS; n = n < 3 ? n + 1 : 2 * n + 9) {
                const size_t from = BLOCKS - n, size = n * type->bytes;
                memset(part, GUARD, sizeof part);
                weigh(type, level, part, from, n, 0.5F);
                CHECK(memcmp(part, bytes + from * type->bytes, size) == 0 && part[size] == GUARD);
            }
        }
}

static bool is_case(const struct hashed *list, size_t count, enum dti_gguf_blocks blocks)
{
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found |= list[i].blocks == blocks;
    return found;
}

/* Types without a test case have no encoder, or take no weights. */
static void others_are_read_only(void)
{
    for (enum dti_gguf_blocks blocks = 0; blocks < DTI_GGUF_BLOCKS_COUNT; blocks++) {
        CHECK((dti_gguf_find_encoder(blocks, DTI_LEVEL_SCALAR) != NULL) ==
              is_case(cases, CASES, blocks));
        CHECK((dti_gguf_find_weigher(blocks, DTI_LEVEL_SCALAR) != NULL) ==
              is_case(weighted_cases, WEIGHTED, blocks));
    }
}

UNIT_MAIN(bytes_are_those_of_ggml_at_every_level, parts_are_the_same_bytes,
          weighted_bytes_are_those_of_ggml_at_every_level, weighted_parts_are_the_same_bytes,
          others_are_read_only)
