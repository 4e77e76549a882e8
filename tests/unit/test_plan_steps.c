/* SPDX-License-Identifier: MIT
 *
 * The steps of a plan, because a slow plan would also be correct; and which requests are copies,
 * refused or unknown. */
#include "convert/plan.h"

#include "unit.h"

static const struct dti_layout low = {.packing = DTI_PACKING_LOW};

static struct dti_request request_of(enum dti_dtype src, enum dti_dtype dst)
{
    return (struct dti_request){.src = *dti_format_get(src),
                                .src_layout = low,
                                .dst_layout = low,
                                .cast = {.dst = *dti_format_get(dst)}};
}

static enum dti_level highest_level(void)
{
    enum dti_level level = DTI_LEVEL_SCALAR;
    CHECK(dti_level_choose(NULL, &level, NULL) == DTI_OK);
    return level;
}

static struct dti_format format_of(const char *name)
{
    struct dti_format format = {.name = ""};
    CHECK(dti_format_lookup(name, &format, NULL, NULL) == DTI_OK);
    return format;
}

static void an_unknown_answer_names_the_element(void)
{
    struct dti_request request = request_of(DTI_FP32, DTI_INT8);
    const float numbers[] = {1, 2, 300, 4};
    signed char stored[4];
    struct dti_error error;
    struct dti_plan *plan = NULL;
    request.rule = dti_stack_find(DTI_STACK_NUMPY, &request.cast.dst);
    if (!CHECK(request.rule != NULL) ||
        !CHECK(dti_plan_new(&plan, &request, highest_level(), &error) == DTI_OK))
        return;
    CHECK(dti_plan_run(plan, stored, numbers, 4, 2 * DTI_TILE, DTI_STORES_AUTO, NULL, &error) ==
          DTI_NOT_REPRESENTABLE);
    CHECK_STR(error.text, "element 4098, 300: what numpy stores in int8 is unknown; undefined for "
                          "NaN and floats out of range: it depends on the processor");
    CHECK(dti_plan_run(plan, stored, numbers, 2, 0, DTI_STORES_AUTO, NULL, &error) == DTI_OK);
    CHECK(stored[0] == 1 && stored[1] == 2);
    dti_plan_free(plan);
}

static void a_copy_keeps_signalling_nans_and_a_cast_does_not(void)
{
    const uint32_t signalling = UINT32_C(0x7fa12345);
    uint32_t stored = 0;
    struct dti_request request = request_of(DTI_FP32, DTI_FP32);
    struct dti_plan *plan = NULL;
    CHECK(dti_request_is_copy(&request));
    if (CHECK(dti_plan_new(&plan, &request, highest_level(), NULL) == DTI_OK))
        dti_plan_run(plan, &stored, &signalling, 1, 0, DTI_STORES_AUTO, NULL, NULL);
    CHECK_U64(stored, signalling);
    dti_plan_free(plan);

    request.cast.via[request.cast.via_count++] = *dti_format_get(DTI_FP64);
    CHECK(!dti_request_is_copy(&request));
    if (CHECK(dti_plan_new(&plan, &request, highest_level(), NULL) == DTI_OK))
        dti_plan_run(plan, &stored, &signalling, 1, 0, DTI_STORES_AUTO, NULL, NULL);
    CHECK_U64(stored, UINT32_C(0x7fe12345));
    dti_plan_free(plan);
}

static void policies_that_change_numbers_are_no_copy(void)
{
    struct dti_request request = request_of(DTI_FP16, DTI_FP16);
    request.cast.policy.overflow = DTI_OVERFLOW_SATURATE_FINITE;
    CHECK(dti_request_is_copy(&request));
    request.cast.policy.overflow = DTI_OVERFLOW_SATURATE;
    CHECK(!dti_request_is_copy(&request));
    request = request_of(DTI_FP16, DTI_FP16);
    request.cast.policy.nan = DTI_NAN_CANONICAL;
    CHECK(!dti_request_is_copy(&request));
    request = request_of(DTI_FP4_E2M1, DTI_FP4_E2M1);
    request.cast.policy.overflow = DTI_OVERFLOW_SATURATE;
    request.cast.policy.nan = DTI_NAN_CANONICAL;
    CHECK(dti_request_is_copy(&request));
    request = request_of(DTI_BOOL, DTI_BOOL);
    CHECK(!dti_request_is_copy(&request));
    request = request_of(DTI_TF32, DTI_TF32);
    CHECK(!dti_request_is_copy(&request));
    request = request_of(DTI_FP16, DTI_BF16);
    CHECK(!dti_request_is_copy(&request));
    request = request_of(DTI_FP16, DTI_FP16);
    request.src = format_of("e5m10");
    CHECK(dti_request_is_copy(&request));
}

/* Operations of a plan, as words. */
static void check_steps(const struct dti_request *request, const char *want)
{
    struct dti_plan *plan = NULL;
    char text[256] = "";
    if (!CHECK(dti_plan_new(&plan, request, DTI_LEVEL_SCALAR, NULL) == DTI_OK))
        return;
    for (size_t i = 0; i < dti_plan_step_count(plan); i++) {
        const struct dti_step *const step = dti_plan_step(plan, i);
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? " " : "",
                 step->kernel ? dti_operation_name(step->kernel->op) : "elements");
    }
    if (!CHECK_STR(text, want))
        printf("  %s to %s\n", request->src.name, request->cast.dst.name);
    dti_plan_free(plan);
}

static void plans_take_the_shortest_way_that_rounds_once(void)
{
    static const struct {
        const char *src, *dst, *steps;
    } rows[] = {
        {"fp32", "bf16", "encode_f32"},
        {"fp32", "fp32", "copy"},
        {"bf16", "fp32", "decode_f32"},
        {"fp16", "bf16", "decode_f32 encode_f32"},
        {"fp32", "fp64", "decode_f64"},
        {"bf16", "fp64", "decode_f64"},
        {"fp64", "fp32", "encode_f64"},
        {"fp64", "bf16", "odd_f64_f32 encode_f32"},
        {"fp64", "e11m20", "encode_f64"},
        {"fp64", "int8", "odd_f64_f32 encode_f32"},
        {"fp64", "int32", "encode_f64"},
        {"fp32", "int8", "encode_f32"},
        {"fp8_e4m3fn", "fp32", "table"},
        {"fp8_e4m3fn", "fp8_e5m2", "table"},
        {"bool", "bool", "table"},
        {"fp4_e2m1", "bf16", "unpack table"},
        {"bf16", "fp4_e2m1", "decode_f32 encode_f32 pack"},
        {"int4", "int4", "copy"},
        {"int64", "bf16", "odd_i64_f64 odd_f64_f32 encode_f32"},
        {"int64", "fp64", "encode_i64"},
        {"int64", "fp32", "odd_i64_f64 encode_f64"},
        {"uint64", "fp16", "odd_u64_f64 odd_f64_f32 encode_f32"},
        {"uint64", "int8", "encode_u64"},
        {"int32", "int64", "decode_i64"},
        {"int32", "int8", "decode_i64 encode_i64"},
        {"int32", "fp32", "decode_f64 encode_f64"},
        {"int16", "bf16", "decode_f32 encode_f32"},
        {"int32", "fp64", "decode_f64"},
        {"fp64", "e15m48", "elements"},
        {"e15m48", "fp32", "elements"},
        {"int32", "e15m48", "decode_i64 encode_i64"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dti_request request = request_of(DTI_FP32, DTI_FP32);
        request.src = format_of(rows[i].src);
        request.cast.dst = format_of(rows[i].dst);
        check_steps(&request, rows[i].steps);
    }
}

static void layouts_and_policies_add_the_steps_they_need(void)
{
    struct dti_request request = request_of(DTI_FP32, DTI_BF16);
    request.src_layout.swapped = true;
    check_steps(&request, "swap encode_f32");
    request.dst_layout.swapped = true;
    check_steps(&request, "swap encode_f32 swap");
    request = request_of(DTI_FP32, DTI_FP32);
    request.dst_layout.swapped = true;
    check_steps(&request, "swap");
    request.src_layout.swapped = true;
    check_steps(&request, "copy");
    request = request_of(DTI_INT4, DTI_INT4);
    request.dst_layout.packing = DTI_PACKING_BYTES;
    check_steps(&request, "unpack");
    request.dst_layout.packing = DTI_PACKING_HIGH;
    check_steps(&request, "unpack pack");
    request = request_of(DTI_FP8_E4M3FN, DTI_BF16);
    request.cast.policy.round = DTI_ROUND_STOCHASTIC;
    check_steps(&request, "table encode_f32");
    request = request_of(DTI_FP64, DTI_BF16);
    request.cast.policy.round = DTI_ROUND_STOCHASTIC;
    check_steps(&request, "encode_f64");
    request = request_of(DTI_BF16, DTI_FP32);
    request.cast.policy.nan = DTI_NAN_CANONICAL;
    check_steps(&request, "decode_f32 encode_f32");
    request = request_of(DTI_FP64, DTI_BF16);
    request.cast.via[request.cast.via_count++] = *dti_format_get(DTI_FP32);
    check_steps(&request, "encode_f64 encode_f32");
    request = request_of(DTI_FP64, DTI_FP16);
    request.rule = dti_stack_find(DTI_STACK_TORCH, &request.cast.dst);
    check_steps(&request, "encode_f64 encode_f32");
    request = request_of(DTI_FP32, DTI_BF16);
    request.rule = dti_stack_find(DTI_STACK_TORCH, &request.cast.dst);
    check_steps(&request, "elements"); /* the stack's NaNs are not known */
}

static void complex_arrays_are_refused(void)
{
    const struct dti_request to = request_of(DTI_FP32, DTI_COMPLEX64);
    const struct dti_request from = request_of(DTI_COMPLEX64, DTI_FP32);
    struct dti_plan *plan = NULL;
    struct dti_error error;
    CHECK(dti_plan_new(&plan, &to, DTI_LEVEL_SCALAR, &error) == DTI_WRONG_KIND);
    CHECK_STR(error.text, "arrays of complex64 cannot be cast; cast their parts, fp32");
    CHECK(dti_plan_new(&plan, &from, DTI_LEVEL_SCALAR, &error) == DTI_WRONG_KIND);
    CHECK(dti_reference_run(&from, NULL, NULL, 0, 0, NULL, &error) == DTI_WRONG_KIND);
    CHECK(plan == NULL);
}

UNIT_MAIN(an_unknown_answer_names_the_element, a_copy_keeps_signalling_nans_and_a_cast_does_not,
          policies_that_change_numbers_are_no_copy, plans_take_the_shortest_way_that_rounds_once,
          layouts_and_policies_add_the_steps_they_need, complex_arrays_are_refused)
