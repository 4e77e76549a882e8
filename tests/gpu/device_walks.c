/* SPDX-License-Identifier: MIT
 *
 * The casts to compare: pairs of formats, layouts, all fp32 codes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_device.h"

enum { NAN_COUNT = DTI_NAN_CANONICAL + 1, CODES_MAX = 1 << 17, LAYOUTS = 3000, THOUSAND = 1000 };

static const struct dti_layout low = {.packing = DTI_PACKING_LOW};
static const struct dti_layout bytes = {.packing = DTI_PACKING_BYTES};

/* The codes of a pool as an array of at most CODES_MAX elements; the caller frees it. */
static void *array_of(const struct pool *pool, const struct dti_layout *layout, size_t *ret_n)
{
    const size_t n = pool->count < CODES_MAX ? pool->count : CODES_MAX;
    void *const array = calloc(n, 8);
    if (!array)
        exit(1);
    for (size_t i = 0; i < n; i++)
        dti_storage_put(&pool->format, layout, array, i, pool->code[i]);
    *ret_n = n;
    return array;
}

static bool compare_policy(struct device_check *gpu, struct dti_request *request, const void *src,
                           size_t n, unsigned choice)
{
    struct dti_policy *const policy = &request->cast.policy;
    policy->round = (enum dti_round)(choice % ROUND_COUNT);
    policy->overflow = (enum dti_overflow)(choice / ROUND_COUNT % OVERFLOW_COUNT);
    policy->nan = (enum dti_nan)(choice / ROUND_COUNT / OVERFLOW_COUNT % NAN_COUNT);
    policy->seed = policy->round == DTI_ROUND_STOCHASTIC ? check_random(&gpu->check) : 0;
    request->cast.round_given = choice != 0;
    if (policy->overflow == DTI_OVERFLOW_WRAP && !dti_format_is_integer(&request->cast.dst))
        policy->overflow = DTI_OVERFLOW_SATURATE;
    return device_compare(gpu, request, src, n,
                          DTI_TILE * (uint64_t)check_below(&gpu->check, 1 << 20));
}

static bool check_pair(struct device_check *gpu, const struct dti_format *src,
                       const struct dti_format *dst)
{
    const unsigned all = ROUND_COUNT * OVERFLOW_COUNT * NAN_COUNT;
    const unsigned drawn = gpu->check.effort == EFFORT_QUICK ? 1 : 3;
    struct dti_request request = {
        .src = *src, .src_layout = bytes, .dst_layout = bytes, .cast = {.dst = *dst}};
    size_t n;
    void *const array = array_of(pool_get(&gpu->check, src, dst), &bytes, &n);
    bool passed = compare_policy(gpu, &request, array, n, 0);
    if (gpu->check.effort == EFFORT_LONG) {
        for (unsigned choice = 1; choice < all && passed; choice++)
            passed = compare_policy(gpu, &request, array, n, choice);
    } else {
        for (unsigned i = 0; i < drawn && passed; i++)
            passed =
                compare_policy(gpu, &request, array, n, (unsigned)check_below(&gpu->check, all));
    }
    free(array);
    return passed;
}

bool device_check_pairs(struct device_check *gpu)
{
    const struct dti_format *formats;
    const size_t count = check_formats(&formats), named = check_named_formats();
    bool passed = true;
    for (size_t src = 0; src < count; src++) {
        for (size_t dst = 0; dst < count; dst++) {
            const bool usual = src < named && dst < named;
            if (gpu->check.effort == EFFORT_QUICK &&
                check_below(&gpu->check, usual ? 12 : 120) != 0)
                continue;
            if (gpu->check.effort == EFFORT_PUSH && !usual && check_below(&gpu->check, 4) != 0)
                continue;
            passed = check_pair(gpu, &formats[src], &formats[dst]) && passed;
        }
    }
    return passed;
}

static struct dti_layout random_layout(struct check *check)
{
    return (struct dti_layout){.packing = (enum dti_packing)check_below(check, 3),
                               .swapped = check_below(check, 3) == 0};
}

bool device_check_layouts(struct device_check *gpu)
{
    struct check *const check = &gpu->check;
    const struct dti_format *formats;
    const size_t count = check_formats(&formats), named = check_named_formats();
    const int rounds = check->effort == EFFORT_QUICK ? LAYOUTS / 20 : LAYOUTS;
    bool passed = true;
    (void)count;
    for (int i = 0; i < rounds; i++) {
        const struct dti_format *const src = &formats[check_below(check, named)];
        const struct dti_format *const dst = &formats[check_below(check, named)];
        struct dti_request request = {.src = *src,
                                      .src_layout = random_layout(check),
                                      .dst_layout = random_layout(check),
                                      .cast = {.dst = *dst}};
        if (check_below(check, 4) == 0)
            request.cast.via[request.cast.via_count++] = formats[check_below(check, named)];
        size_t n;
        void *const array = array_of(pool_get(check, src, dst), &request.src_layout, &n);
        n = check_below(check, n + 1);
        passed = compare_policy(gpu, &request, array, n,
                                (unsigned)check_below(check, ROUND_COUNT * OVERFLOW_COUNT)) &&
                 passed;
        free(array);
    }
    return passed;
}

bool device_check_all_fp32(struct device_check *gpu)
{
    static const enum dti_dtype targets[] = {DTI_BF16,     DTI_FP16, DTI_FP8_E4M3FN,
                                             DTI_FP8_E5M2, DTI_INT8, DTI_FP4_E2M1};
    enum { BLOCK = 1 << 24, BLOCKS = 1 << 8, QUICK = 1 << 12 };
    const bool quick = gpu->check.effort == EFFORT_QUICK;
    const size_t n = quick ? QUICK : BLOCK;
    uint32_t *const array = malloc(n * sizeof *array);
    bool passed = true;
    if (!array)
        exit(1);
    for (uint32_t block = 0; block < BLOCKS; block++) {
        if (quick && block % 16 != 0 && block % 128 != 127)
            continue;
        for (size_t i = 0; i < n; i++)
            array[i] = block << 24 | (uint32_t)(i * (BLOCK / n) + (quick ? block : 0));
        for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
            const struct dti_request request = {.src = *dti_format_get(DTI_FP32),
                                                .src_layout = low,
                                                .dst_layout = low,
                                                .cast = {.dst = *dti_format_get(targets[i])}};
            passed = device_compare(gpu, &request, array, n, (uint64_t)block * BLOCK) && passed;
        }
    }
    free(array);
    return passed;
}

bool device_check_memory(struct device_check *gpu)
{
    struct dti_gpu *const device = dti_runner_gpu(gpu->runner);
    const int casts = gpu->check.effort == EFFORT_QUICK ? THOUSAND / 10 : THOUSAND;
    uint64_t before = 0, after = 0;
    struct dti_error error;
    float array[3 * DTI_TILE] = {1};
    const struct dti_request request = {.src = *dti_format_get(DTI_FP32),
                                        .src_layout = low,
                                        .dst_layout = low,
                                        .cast = {.dst = *dti_format_get(DTI_BF16)}};
    bool passed = device_compare(gpu, &request, array, 3 * DTI_TILE, 0) &&
                  dti_gpu_free_bytes(device, &before, &error) == DTI_OK;
    for (int i = 0; i < casts && passed; i++)
        passed = device_compare(gpu, &request, array, 3 * DTI_TILE, 0);
    passed = passed && dti_gpu_free_bytes(device, &after, &error) == DTI_OK;
    if (passed && after < before) {
        check_fail(&gpu->check, "%d casts took %llu bytes of the device's memory", casts,
                   (unsigned long long)(before - after));
        return false;
    }
    return passed;
}
