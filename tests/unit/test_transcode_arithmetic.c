/* SPDX-License-Identifier: MIT
 *
 * Conversion of zero points to biases and back: rounding, codes, and cached errors. */
#include <math.h>

#include "files/transcode/transcode_grouped.h"
#include "util/little_endian.h"

#include "unit.h"

static uint64_t state;

static unsigned next(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33);
}

/* A matrix for which only the bits and the dtype of scales matter. */
static struct dti_grouped arithmetic(struct dti_dequant_tensor *how, enum dti_dtype scale,
                                     unsigned bits, bool biased)
{
    static struct dti_dequant_traits traits;
    memset(how, 0, sizeof *how);
    how->is = &traits;
    how->is->level = DTI_LEVEL_SCALAR;
    how->is->factor = 1;
    return (struct dti_grouped){.how = how, .bits = bits, .scale = scale, .biased = biased};
}

static void biases_are_rounded_to_nearest_even(void)
{
    static const struct {
        enum dti_dtype dtype;
        float scale;
        unsigned zero;
        float bias;
    } rows[] = {
        {DTI_FP32, 0.1f, 8, -0.8f},
        {DTI_FP16, 0x1.004p0f, 3, -0x1.808p1f},  /* a tie: up, to even */
        {DTI_FP16, 0x1.00cp0f, 3, -0x1.81p1f},   /* a tie: down */
        {DTI_FP16, 0x1p-24f, 255, -0x1.fep-17f}, /* subnormal numbers are exact */
        {DTI_FP16, 32768, 2, -INFINITY},         /* too large */
        {DTI_BF16, 0x1.02p0f, 3, -0x1.84p1f},    /* a tie: up */
        {DTI_BF16, -0x1.02p0f, 5, 0x1.42p2f},    /* down */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dti_dequant_tensor how;
        const struct dti_grouped grouped = arithmetic(&how, rows[i].dtype, 8, false);
        const float bias = dti_grouped_bias(&grouped, rows[i].scale, rows[i].zero);
        if (!CHECK(bias == rows[i].bias))
            fprintf(stderr, "    row %zu: %a\n", i, (double)bias);
    }
}

/* Numbers and their fp16 codes. */
static void numbers_are_stored_as_codes(void)
{
    static const struct {
        float number;
        unsigned code;
    } rows[] = {{1, 0x3c00},
                {-2.5f, 0xc100},
                {0x1p-14f, 0x0400},
                {0x1p-24f, 1},
                {-0x3p-24f, 0x8003},
                {65504, 0x7bff},
                {0, 0},
                {-0.0f, 0x8000},
                {INFINITY, 0x7c00},
                {-INFINITY, 0xfc00},
                {0x1.ffcp-15f, 0x03ff}};
    unsigned char bytes[4];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dti_grouped_put(DTI_FP16, bytes, rows[i].number);
        CHECK(dti_little_get(bytes, 2) == rows[i].code);
    }
    dti_grouped_put(DTI_FP16, bytes, NAN);
    CHECK((dti_little_get(bytes, 2) & 0x7fff) > 0x7c00);
    dti_grouped_put(DTI_BF16, bytes, -1.5f);
    CHECK(dti_little_get(bytes, 2) == 0xbfc0);
}

static void zero_points_follow_from_biases(void)
{
    struct dti_dequant_tensor how;
    const struct dti_grouped grouped = arithmetic(&how, DTI_FP16, 4, true);
    unsigned zero = 99;
    CHECK(dti_grouped_zero(&grouped, 0.5f, -1.5f, &zero) && zero == 3);
    CHECK(dti_grouped_zero(&grouped, -0.5f, 1.5f, &zero) && zero == 3);
    CHECK(dti_grouped_zero(&grouped, 0.5f, 0, &zero) && zero == 0);
    CHECK(dti_grouped_zero(&grouped, 0.5f, -0.0f, &zero) && zero == 0);
    CHECK(dti_grouped_zero(&grouped, 0, 0, &zero) && zero == 8);
    CHECK(dti_grouped_zero(&grouped, 0.5f, -7.5f, &zero) && zero == 15);
    CHECK(!dti_grouped_zero(&grouped, 0.5f, -8, &zero));
    CHECK(!dti_grouped_zero(&grouped, 0.5f, 0.5f, &zero)); /* wrong sign */
    CHECK(!dti_grouped_zero(&grouped, 0.5f, -1.25f, &zero));
    CHECK(!dti_grouped_zero(&grouped, 0, 1, &zero));
    CHECK(!dti_grouped_zero(&grouped, NAN, 1, &zero) && !dti_grouped_zero(&grouped, 1, NAN, &zero));
    CHECK(!dti_grouped_zero(&grouped, INFINITY, -INFINITY, &zero));
}

/* Errors from the cache must equal newly computed ones. */
static void errors_of_scales_are_alike(void)
{
    static const enum dti_dtype dtypes[] = {DTI_FP16, DTI_BF16};
    for (size_t d = 0; d < 2; d++) {
        for (unsigned bits = 2; bits <= 8; bits++) {
            struct dti_dequant_tensor how;
            const struct dti_grouped grouped = arithmetic(&how, dtypes[d], bits, bits % 2 == 0);
            struct dti_grouped_memory memory = {NULL};
            size_t lossless = 0;
            for (unsigned i = 0; i < 2000; i++) {
                const unsigned top = d == 0 ? 1024 : 128, fraction = next() % (i % 4 ? top : 4);
                const int exponent = (int)(next() % 34) - 26;
                const unsigned zero = next() % (1U << bits);
                const float scale =
                    (i % 2 ? -1.0f : 1.0f) * ldexpf((float)(top + fraction) / (float)top, exponent);
                if (d == 0 && exponent < -14)
                    continue;
                const float bias = dti_grouped_bias(&grouped, scale, zero);
                struct dti_grouped_memory none = {NULL};
                double one = 0, other = 0;
                const bool same = dti_grouped_same(&grouped, &memory, scale, zero, bias, &one);
                const bool anew = dti_grouped_same(&grouped, &none, scale, zero, bias, &other);
                free(none.errors);
                lossless += same;
                const bool equal = one == other || (isinf(one) && isinf(other));
                if (!CHECK(same == anew && equal && (!same || one == 0)))
                    fprintf(stderr, "    %u bits, %a, %u\n", bits, (double)scale, zero);
            }
            CHECK(lossless > 50);
            free(memory.errors);
        }
    }
}

UNIT_MAIN(biases_are_rounded_to_nearest_even, numbers_are_stored_as_codes,
          zero_points_follow_from_biases, errors_of_scales_are_alike)
