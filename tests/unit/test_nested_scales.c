/* SPDX-License-Identifier: MIT
 *
 * Scales that are themselves quantized: the map, the limits between codes, and zeros without a
 * reciprocal. tests/oracle compares the map with bitsandbytes. */
#include "kernels/quant/nested_scales.h"

#include <math.h>

#include "unit.h"

static bool is(float a, float b)
{
    return a >= b && a <= b;
}

static void the_map_rises_and_is_symmetric_below_one(void)
{
    float map[DTI_NESTED_CODES];
    dti_nested_map(map);
    for (unsigned i = 1; i < DTI_NESTED_CODES; i++)
        CHECK(map[i] > map[i - 1]);
    for (unsigned i = 0; i < 127; i++)
        CHECK(is(map[i], -map[254 - i]));
    CHECK(is(map[127], 0) && is(map[255], 1));
    CHECK(fabsf(map[128] - 5.5e-7F) < 1e-12F && fabsf(map[254] - 0.99296875F) < 1e-6F);
}

static void a_midpoint_belongs_to_the_lower_number(void)
{
    float map[DTI_NESTED_CODES];
    unsigned char codes[5];
    dti_nested_map(map);
    const float middle = map[128] / 2; /* midpoint of 0 and that value */
    const float scales[] = {1, middle, nextafterf(middle, 1), -middle, nextafterf(-middle, 1)};
    CHECK(is(dti_nested_quantize(scales, 5, 0, codes), 1));
    CHECK_U64(codes[0], 255);
    CHECK_U64(codes[1], 127);
    CHECK_U64(codes[2], 128);
    CHECK_U64(codes[3], 126);
    CHECK_U64(codes[4], 127);
}

static void the_offset_comes_off_and_comes_back(void)
{
    const float scales[] = {2, 3, 5};
    float map[DTI_NESTED_CODES];
    unsigned char codes[3];
    dti_nested_map(map);
    const float own = dti_nested_quantize(scales, 3, 3.5F, codes);
    CHECK(is(own, 1.5F));
    CHECK_U64(codes[0], 0); /* -1 is not in the map */
    CHECK_U64(codes[2], 255);
    CHECK(is(dti_nested_back(map[codes[2]], own, 3.5F), 5));
    CHECK(is(dti_nested_back(map[codes[0]], own, 3.5F), map[0] * 1.5F + 3.5F));
}

static void what_has_no_reciprocal_has_codes_all_the_same(void)
{
    const float equal[] = {0.25F, 0.25F}, tiny[] = {0, 0x1p-149F, 0x1p-148F};
    unsigned char codes[3] = {9, 9, 9};
    CHECK(is(dti_nested_quantize(equal, 2, 0.25F, codes), 0));
    CHECK(codes[0] == 0 && codes[1] == 0);
    CHECK(is(dti_nested_quantize(tiny, 3, 0x1p-149F, codes), 0x1p-149F));
    CHECK(codes[0] == 0 && codes[1] == 127 && codes[2] == 255);
}

UNIT_MAIN(the_map_rises_and_is_symmetric_below_one, a_midpoint_belongs_to_the_lower_number,
          the_offset_comes_off_and_comes_back, what_has_no_reciprocal_has_codes_all_the_same)
