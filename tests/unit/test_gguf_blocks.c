/* SPDX-License-Identifier: MIT
 *
 * Blocks of GGUF: their grids, and some numbers of each type. */
#include "kernels/gguf/gguf_grids.h"
#include "kernels/gguf/gguf_kernel.h"
#include "unit.h"

/* As lists they are in order, and each element has a digit for which there is a value. */
static void grids_are_lists_of_points(void)
{
    static const struct {
        const uint16_t *points;
        size_t count;
        unsigned elements, bits, values;
        uint32_t first, last; /* read off the tables of ggml-common.h */
    } grids[] = {
        {dti_gguf_grid_iq2_xxs, 256, 8, 2, 3, 0, 0xa904},
        {dti_gguf_grid_iq2_xs, 512, 8, 2, 3, 0, 0xaaaa},
        {dti_gguf_grid_iq2_s, 1024, 8, 2, 3, 0, 0xaaaa},
        {dti_gguf_grid_iq3_xxs, 256, 4, 3, 8, 0, 07630},
        {dti_gguf_grid_iq3_s, 512, 4, 3, 8, 0, 07700},
        {dti_gguf_grid_iq1_s, 2048, 8, 2, 3, 0, 0xaaaa},
    };
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) {
        const uint16_t *const points = grids[i].points;
        CHECK_U64(points[0], grids[i].first);
        CHECK_U64(points[grids[i].count - 1], grids[i].last);
        for (size_t k = 0; k < grids[i].count; k++) {
            CHECK(k == 0 || points[k] > points[k - 1]);
            CHECK_U64(points[k] >> (grids[i].elements * grids[i].bits), 0);
            for (unsigned e = 0; e < grids[i].elements; e++)
                CHECK((points[k] >> (e * grids[i].bits) & ((1u << grids[i].bits) - 1)) <
                      grids[i].values);
        }
    }
}

static uint32_t bits_of(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits << 1 > UINT32_C(0xff000000) ? UINT32_C(0x7fc00000) : bits;
}

/* Of three blocks of made bytes; what comes out is from tests/oracle/kernels/test_ggml.py --hashes. */
static void numbers_are_those_of_ggml(void)
{
    enum { BLOCKS = 3, BYTES_MAX = 292 };
    static const struct {
        enum dti_gguf_blocks blocks;
        uint32_t hash;
    } cases[] = {
        {DTI_GGUF_Q4_0, 0x7f3fcd45},    {DTI_GGUF_Q4_1, 0x309e0589},
        {DTI_GGUF_Q5_0, 0xd9745945},    {DTI_GGUF_Q5_1, 0xfade2ae5},
        {DTI_GGUF_Q8_0, 0x26dba045},    {DTI_GGUF_Q8_1, 0x8c55a045},
        {DTI_GGUF_Q2_K, 0x55f963e8},    {DTI_GGUF_Q3_K, 0xdb3e7285},
        {DTI_GGUF_Q4_K, 0xd25a1c3f},    {DTI_GGUF_Q5_K, 0x227e78b8},
        {DTI_GGUF_Q6_K, 0x6dc4388f},    {DTI_GGUF_Q8_K, 0x55c6fae0},
        {DTI_GGUF_IQ2_XXS, 0x1ac4a1ad}, {DTI_GGUF_IQ2_XS, 0xc6329049},
        {DTI_GGUF_IQ3_XXS, 0x3ff7b965}, {DTI_GGUF_IQ1_S, 0x8bfd1cc5},
        {DTI_GGUF_IQ4_NL, 0x9d3edb45},  {DTI_GGUF_IQ3_S, 0xa2788df5},
        {DTI_GGUF_IQ2_S, 0x6bfb0ad5},   {DTI_GGUF_IQ4_XS, 0xb9bf4939},
        {DTI_GGUF_IQ1_M, 0x0b3fe145},   {DTI_GGUF_TQ1_0, 0x9c0939c5},
        {DTI_GGUF_TQ2_0, 0x272879c5},   {DTI_GGUF_MXFP4, 0xe2973145},
        {DTI_GGUF_NVFP4, 0x9d5d04c5},   {DTI_GGUF_Q1_0, 0x89866bc5},
        {DTI_GGUF_Q2_0, 0x20d304c5},
    };
    static float numbers[BLOCKS * DTI_GGUF_BLOCK_MAX];
    static unsigned char bytes[BLOCKS * BYTES_MAX];
    CHECK_SIZE(sizeof cases / sizeof cases[0], DTI_GGUF_BLOCKS_COUNT);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct dti_gguf_type *const type = dti_gguf_type_of(cases[i].blocks);
        uint32_t state = type->id, hash = UINT32_C(0x811c9dc5);
        CHECK(type->blocks == cases[i].blocks && type->bytes <= BYTES_MAX);
        for (size_t k = 0; k < BLOCKS * (size_t)type->bytes; k++) {
            state = state * UINT32_C(1664525) + UINT32_C(1013904223);
            bytes[k] = (unsigned char)(state >> 24);
        }
        dti_gguf_find(type->blocks, DTI_LEVEL_SCALAR)(numbers, bytes, BLOCKS, 1);
        for (size_t k = 0; k < BLOCKS * (size_t)type->elements; k++)
            hash = (hash ^ bits_of(numbers[k])) * UINT32_C(0x01000193);
        if (!CHECK_U64(hash, cases[i].hash))
            fprintf(stderr, "    %s\n", type->name);
    }
}

static void types_are_found(void)
{
    CHECK_STR(dti_gguf_type_find(12)->name, "Q4_K");
    CHECK(dti_gguf_type_find(30)->dtype == DTI_BF16 && dti_gguf_type_find(30)->elements == 1);
    CHECK(!dti_gguf_type_find(4) && !dti_gguf_type_find(UINT64_C(1) << 32));
    CHECK(dti_gguf_type_named("IQ4_nl")->blocks == DTI_GGUF_IQ4_NL);
    CHECK(!dti_gguf_type_named("q4_k_m") && !dti_gguf_type_named("q4_") &&
          !dti_gguf_type_named(""));
}

UNIT_MAIN(grids_are_lists_of_points, numbers_are_those_of_ggml, types_are_found)
