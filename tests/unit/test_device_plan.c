/* SPDX-License-Identifier: MIT
 *
 * Plans on a device: every pair of dtypes, every policy, layout and route gives the same bytes and
 * losses as on the CPU. */
#include "device_plans.h"

static bool is_castable(unsigned dtype)
{
    return dti_format_get((enum dti_dtype)dtype)->kind != DTI_KIND_COMPLEX;
}

static bool is_p3109(unsigned dtype)
{
    return strncmp(dti_format_get((enum dti_dtype)dtype)->name, "binary", 6) == 0;
}

/* Tapered dtypes are encoded and, with more than 8 bits, decoded on the CPU alone. */
static bool has_kernels(enum dti_dtype src, enum dti_dtype dst)
{
    const struct dti_format *const from = dti_format_get(src), *const to = dti_format_get(dst);
    return !dti_format_is_tapered(to) && (!dti_format_is_tapered(from) || from->width <= 8);
}

/* The P3109 dtypes are many and similar: they run either with or without a loss, and only an eighth
 * of the pairs of two P3109 dtypes runs, except in long tests. */
static void every_pair_of_dtypes_is_the_same_on_the_device(void)
{
    struct dti_runner *const runner = runner_new(DTI_DEVICE_CUDA, 0);
    bool ok = true;
    for (unsigned src = 0; src < DTI_DTYPE_COUNT && ok; src++) {
        for (unsigned dst = 0; dst < DTI_DTYPE_COUNT && ok; dst++) {
            const struct dti_request request = request_of((enum dti_dtype)src, (enum dti_dtype)dst);
            const unsigned ways =
                is_p3109(src) || is_p3109(dst) ? 1 << (src + dst) % 2 : WITHOUT_LOSS | WITH_LOSS;
            const bool alike = is_p3109(src) && is_p3109(dst);
            if (is_castable(src) && is_castable(dst) && has_kernels(src, dst) &&
                ((!alike && !unit_quick()) || (src * 5 + dst) % (8 * unit_each(3)) == 0 ||
                 getenv("DTINFO_TEST_LONG")))
                ok = check_ways(ways, &request, runner, NULL, 301, 0);
        }
    }
    CHECK_STR(dti_runner_device(runner), "cuda:0");
    dti_runner_close(runner);
}

static const enum dti_dtype sources[] = {DTI_FP64,     DTI_FP32,  DTI_BF16,
                                         DTI_FP8_E5M2, DTI_INT32, DTI_UINT64};
static const enum dti_dtype targets[] = {DTI_FP32,     DTI_FP16, DTI_FP8_E4M3FN, DTI_FP4_E2M1,
                                         DTI_FP8_E8M0, DTI_INT8, DTI_TF32};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void every_policy_is_the_same_on_the_device(void)
{
    struct dti_runner *const runner = runner_new(DTI_DEVICE_CUDA, 0);
    bool ok = true;
    for (size_t i = 0; i < COUNT(sources) * COUNT(targets); i++) {
        for (unsigned round = (unsigned)i % unit_each(3); round <= DTI_ROUND_STOCHASTIC && ok;
             round += unit_each(3)) {
            struct dti_request request =
                request_of(sources[i / COUNT(targets)], targets[i % COUNT(targets)]);
            request.cast.policy.round = (enum dti_round)round;
            request.cast.round_given = true;
            request.cast.policy.seed = UINT64_C(0x123456789) * (i + 1);
            request.cast.policy.overflow = (enum dti_overflow)((i + round) % 4);
            request.cast.policy.nan = i % 2 ? DTI_NAN_CANONICAL : DTI_NAN_QUIET;
            ok = check_on_device(&request, runner, NULL, 3 * DTI_TILE + round,
                                 (UINT64_C(1) << 34) + 5 * DTI_TILE);
        }
    }
    CHECK_STR(dti_runner_device(runner), "cuda:0");
    dti_runner_close(runner);
}

static void packed_and_swapped_arrays_of_any_length_are_the_same(void)
{
    static const enum dti_dtype narrow[] = {DTI_FP4_E2M1, DTI_FP6_E3M2, DTI_INT4, DTI_UINT4};
    static const enum dti_dtype wide[] = {DTI_FP32, DTI_BF16, DTI_FP64, DTI_INT64, DTI_FP4_E2M1};
    struct dti_runner *const runner = runner_new(DTI_DEVICE_CUDA, 0);
    bool ok = true;
    for (size_t i = 0; i < COUNT(narrow) * COUNT(wide) * 3 * 2 && ok; i++) {
        const enum dti_dtype a = narrow[i / 6 % COUNT(narrow)], b = wide[i / 6 / COUNT(narrow)];
        struct dti_request request = i % 2 ? request_of(a, b) : request_of(b, a);
        const struct dti_layout layouts[] = {
            {DTI_PACKING_LOW, true}, {DTI_PACKING_HIGH, true}, {DTI_PACKING_BYTES, true}};
        request.src_layout = layouts[i / 2 % 3];
        request.dst_layout = layouts[(i / 2 + i) % 3];
        for (size_t n = 1; n <= 9 && ok; n += 2)
            ok = check_on_device(&request, runner, NULL, n == 9 ? DTI_TILE + 9 : n, 0);
    }
    CHECK_STR(dti_runner_device(runner), "cuda:0");
    dti_runner_close(runner);
}

static void routes_are_the_same(void)
{
    struct dti_runner *const runner = runner_new(DTI_DEVICE_CUDA, 0);
    for (size_t i = 0; i < COUNT(sources); i++) {
        struct dti_request request = request_of(sources[i], DTI_FP8_E4M3FN);
        request.cast.via[0] = *dti_format_get(DTI_FP32);
        request.cast.via[1] = *dti_format_get(DTI_FP16);
        request.cast.via_count = 2;
        check_on_device(&request, runner, NULL, 2 * DTI_TILE, 0);
        request.cast.via[0] = *dti_format_get(DTI_INT8); /* loss on the CPU */
        request.cast.via_count = 1;
        check_on_device(&request, runner, NULL, 2 * DTI_TILE, 0);
    }
    CHECK_STR(dti_runner_device(runner), "cuda:0");
    dti_runner_close(runner);
}

static void flags_are_the_same(void)
{
    struct dti_runner *const runner = runner_new(DTI_DEVICE_CUDA, 0);
    struct dti_request request = request_of(DTI_FP32, DTI_FP8_E5M2);
    request.flags = true;
    check_on_device(&request, runner, NULL, 2 * DTI_TILE, 0);
    dti_runner_close(runner);
}

static void what_has_no_kernel_stays_on_the_cpu_or_is_refused(void)
{
    struct dti_request request = request_of(DTI_FP32, DTI_BF16);
    struct dti_plan *plan = NULL;
    const char *why = NULL;
    CHECK(dti_format_lookup("e15m48", &request.src, NULL, &error) == DTI_OK);
    struct dti_runner *const demanded = runner_new(DTI_DEVICE_CUDA, 0);
    struct dti_runner *const automatic = runner_new(DTI_DEVICE_AUTO, 0);
    CHECK(dti_plan_new(&plan, &request, DTI_LEVEL_SCALAR, &error) == DTI_OK);
    CHECK(dti_plan_set_runner(plan, demanded, &why, &error) == DTI_UNAVAILABLE);
    CHECK_STR(error.text, "no CUDA kernel for e15m48 to bf16");
    CHECK(error.remedy == DTI_REMEDY_USE_CPU);
    CHECK(dti_plan_set_runner(plan, automatic, &why, &error) == DTI_OK);
    CHECK_STR(why, "no CUDA kernel for e15m48 to bf16");
    CHECK_STR(dti_runner_device(automatic), "cuda:0");
    dti_plan_free(plan);
    check_on_device(&request, automatic, NULL, DTI_TILE + 1, 0);
    request = request_of(DTI_FP32, DTI_POSIT16);
    CHECK(dti_plan_new(&plan, &request, DTI_LEVEL_SCALAR, &error) == DTI_OK);
    CHECK(dti_plan_set_runner(plan, demanded, &why, &error) == DTI_UNAVAILABLE);
    CHECK_STR(error.text, "no CUDA kernel for fp32 to posit16");
    dti_plan_free(plan);
    dti_runner_close(automatic);
    dti_runner_close(demanded);
}

static void a_plan_names_the_kernels_of_its_device(void)
{
    struct dti_runner *const runner = runner_new(DTI_DEVICE_CUDA, 0);
    struct dti_request request = request_of(DTI_FP32, DTI_BF16);
    struct dti_plan *plan = NULL;
    const char *why = NULL;
    char text[DTI_PLAN_TEXT_SIZE];
    CHECK(dti_plan_new(&plan, &request, DTI_LEVEL_SCALAR, &error) == DTI_OK);
    CHECK(strstr(dti_plan_describe_device(plan, text), "scalar") != NULL);
    CHECK(dti_plan_set_runner(plan, runner, &why, &error) == DTI_OK);
    CHECK(why == NULL);
    CHECK(dti_plan_runner(plan) == runner);
    CHECK(strncmp(dti_plan_describe_device(plan, text), "gpu_", 4) == 0);
    dti_plan_free(plan);
    dti_runner_close(runner);
}

UNIT_MAIN(every_pair_of_dtypes_is_the_same_on_the_device, every_policy_is_the_same_on_the_device,
          packed_and_swapped_arrays_of_any_length_are_the_same, routes_are_the_same,
          flags_are_the_same, what_has_no_kernel_stays_on_the_cpu_or_is_refused,
          a_plan_names_the_kernels_of_its_device)
