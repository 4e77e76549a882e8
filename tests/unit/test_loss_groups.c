/* SPDX-License-Identifier: MIT
 *
 * The loss of ordinary arrays, where whole groups are added at once: compares plans at all levels
 * with the reference, and numbers that are far apart with the definition. */
#include <math.h>
#include <stdlib.h>

#include "convert/plan.h"
#include "kernels/fp64.h"
#include "unit.h"

enum { COUNT = 2 * DTI_TILE + 300, WIDTH = 8 };

static const struct dti_layout low = {.packing = DTI_PACKING_LOW};
static uint64_t random_state = 1;

/* Uniform in 0 to 1. */
static double chance(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(random_state >> 11) * 0x1p-53;
}

static bool same_figures(const struct dti_loss *got, const struct dti_loss *want)
{
    const uint64_t counts[][2] = {
        {got->inexact, want->inexact},    {got->overflowed, want->overflowed},
        {got->to_zero, want->to_zero},    {got->to_subnormal, want->to_subnormal},
        {got->nan_in, want->nan_in},      {got->compared, want->compared},
        {got->max_index, want->max_index}};
    const double figures[][2] = {
        {got->max_absolute, want->max_absolute},
        {got->max_relative, want->max_relative},
        {dti_exact_sum_value(&got->sum_absolute), dti_exact_sum_value(&want->sum_absolute)},
        {dti_exact_sum_value(&got->sum_squared), dti_exact_sum_value(&want->sum_squared)},
        {dti_exact_sum_value(&got->sum_source_squared),
         dti_exact_sum_value(&want->sum_source_squared)}};
    bool ok = true;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        ok = CHECK_U64(counts[i][0], counts[i][1]) && ok;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        ok = CHECK_U64(dti_fp64_bits(figures[i][0]), dti_fp64_bits(figures[i][1])) && ok;
    return ok;
}

/* What an array contains besides numbers close to its scale, one in 1000 each. */
struct mixture {
    double scale;
    bool zeros, specials, tiny;
};

static void fill(void *codes, const struct dti_format *src, const struct mixture *mixture)
{
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    for (size_t i = 0; i < COUNT; i++) {
        const double kind = chance();
        double x = (chance() + chance() + chance() - 1.5) * mixture->scale;
        struct dti_value value;
        struct dti_outcome outcome;
        if (kind < 0.001 && mixture->zeros)
            x = 0;
        else if (kind < 0.002 && mixture->specials)
            x = kind < 0.0015 ? NAN : mixture->scale * 1e30;
        else if (kind < 0.003 && mixture->tiny)
            x *= 1e-12;
        dti_fp64_to_value(x, &value);
        dti_encode(src, &value, &nearest, 0, &outcome);
        dti_storage_put(src, &low, codes, i, outcome.code);
    }
}

static void check_array(enum dti_dtype src, enum dti_dtype dst, enum dti_round round,
                        const struct mixture *mixture)
{
    static _Alignas(64) unsigned char source[COUNT * WIDTH], want[COUNT * WIDTH];
    static _Alignas(64) unsigned char got[COUNT * WIDTH + 1];
    const struct dti_request request = {
        .src = *dti_format_get(src),
        .src_layout = low,
        .dst_layout = low,
        .cast = {.dst = *dti_format_get(dst), .policy = {.round = round}, .round_given = true}};
    struct dti_loss wanted;
    dti_loss_init(&wanted);
    fill(source, &request.src, mixture);
    CHECK(dti_reference_run(&request, want, source, COUNT, 0, &wanted, NULL) == DTI_OK);
    for (unsigned level = 0; level < DTI_LEVEL_COUNT; level++) {
        struct dti_plan *plan = NULL;
        uint64_t bytes = 0;
        if (!dti_level_present((enum dti_level)level) ||
            !CHECK(dti_plan_new(&plan, &request, (enum dti_level)level, NULL) == DTI_OK))
            continue;
        CHECK(dti_plan_dst_bytes(plan, COUNT, &bytes));
        for (unsigned way = 0; way < 4; way++) { /* stores, alignment */
            unsigned char *const to = got + way % 2;
            struct dti_loss loss;
            dti_loss_init(&loss);
            CHECK(dti_plan_run(plan, to, source, COUNT, 0,
                               way < 2 ? DTI_STORES_CACHED : DTI_STORES_STREAMED, &loss,
                               NULL) == DTI_OK);
            if (!CHECK(memcmp(to, want, (size_t)bytes) == 0) || !same_figures(&loss, &wanted))
                printf("  %s -> %s, round %d, %s, scale %g, way %u\n", request.src.name,
                       request.cast.dst.name, (int)round, dti_level_name((enum dti_level)level),
                       mixture->scale, way);
        }
        dti_plan_free(plan);
    }
}

static void plans_count_ordinary_arrays_as_the_reference_does(void)
{
    static const enum dti_dtype pairs[][2] = {
        {DTI_FP32, DTI_BF16},       {DTI_FP32, DTI_FP16},     {DTI_FP32, DTI_FP8_E4M3FN},
        {DTI_FP32, DTI_FP8_E5M2},   {DTI_FP32, DTI_FP8_E4M3}, {DTI_FP32, DTI_FP4_E2M1},
        {DTI_FP32, DTI_INT8},       {DTI_FP32, DTI_UINT8},    {DTI_FP64, DTI_FP32},
        {DTI_BF16, DTI_FP32},       {DTI_FP16, DTI_FP32},     {DTI_BF16, DTI_FP8_E4M3FN},
        {DTI_FP16, DTI_FP8_E4M3FN}, {DTI_FP16, DTI_BF16},     {DTI_BF16, DTI_FP16},
        {DTI_FP32, DTI_FP32},       {DTI_FP16, DTI_INT8}};
    static const struct mixture mixtures[] = {
        {1, false, false, false},   {1, true, false, false},     {40, true, true, true},
        {1e-3, false, false, true}, {1e-17, false, false, true}, {1e-30, true, false, true},
        {1e15, false, true, false}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        for (size_t j = 0; j < sizeof mixtures / sizeof *mixtures; j++) {
            check_array(pairs[i][0], pairs[i][1], DTI_ROUND_NEAREST_EVEN, &mixtures[j]);
            check_array(pairs[i][0], pairs[i][1], DTI_ROUND_ZERO, &mixtures[j]);
        }
    }
}

/* Clipped by quantization or otherwise far from the source: y - x has more bits than fp32. */
static void numbers_far_apart_count_as_the_definition_says(void)
{
    static float x[DTI_TILE], y[DTI_TILE];
    static struct dti_value value[DTI_TILE];
    static uint64_t code[DTI_TILE];
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_loss_rule rule;
    struct dti_loss want;
    dti_loss_rule_init(&rule, dti_format_get(DTI_FP32), dti_format_get(DTI_FP32), &nearest);
    dti_loss_init(&want);
    for (size_t i = 0; i < DTI_TILE; i++) {
        uint32_t bits;
        x[i] = (float)(4 + chance());
        y[i] = i % 128 == 5 || i < 128 ? (float)chance() : x[i];
        if (i == 7 || i == 1000) { /* both errors round to one fp32 number */
            x[i] = 5;
            y[i] = i == 7 ? -1e-8F : -3e-8F;
        }
        memcpy(&bits, &x[i], sizeof bits);
        dti_decode(&rule.src, bits, &value[i]);
        memcpy(&bits, &y[i], sizeof bits);
        code[i] = bits;
    }
    dti_loss_add_values(&rule, value, code, DTI_TILE, 0, &want);
    for (size_t k = 0; k < dti_loss_kernel_count; k++) {
        const struct dti_loss_kernel *const kernel = &dti_loss_kernels[k];
        struct dti_loss got;
        if (kernel->hub != DTI_LOSS_HUB32 || !dti_level_present(kernel->level))
            continue;
        dti_loss_init(&got);
        kernel->run(&rule, x, y, DTI_TILE, 0, &got);
        if (!same_figures(&got, &want))
            printf("  %s\n", kernel->name);
    }
}

UNIT_MAIN(plans_count_ordinary_arrays_as_the_reference_does,
          numbers_far_apart_count_as_the_definition_says)
