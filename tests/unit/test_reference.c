/* SPDX-License-Identifier: MIT
 *
 * The array reference and the plans, with worked examples from external sources: the NaN rules of
 * F16C, published double roundings, the layouts of ONNX. */
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

enum { BYTES_MAX = 256 };

/* The reference and the plan at the highest level must both give these bytes. */
static void check_bytes(const struct dti_request *request, const void *src, size_t n,
                        const void *want, size_t bytes)
{
    unsigned char stored[BYTES_MAX];
    struct dti_plan *plan = NULL;
    enum dti_level level = DTI_LEVEL_SCALAR;
    memset(stored, 0xee, sizeof stored);
    CHECK(dti_reference_run(request, stored, src, n, 0, NULL, NULL) == DTI_OK);
    CHECK(memcmp(stored, want, bytes) == 0);
    CHECK(stored[bytes] == 0xee);
    CHECK(dti_level_choose(NULL, &level, NULL) == DTI_OK);
    memset(stored, 0xee, sizeof stored);
    if (CHECK(dti_plan_new(&plan, request, level, NULL) == DTI_OK))
        CHECK(dti_plan_run(plan, stored, src, n, 0, DTI_STORES_AUTO, NULL, NULL) == DTI_OK);
    CHECK(memcmp(stored, want, bytes) == 0);
    CHECK(stored[bytes] == 0xee);
    dti_plan_free(plan);
}

/* Intel SDM, VCVTPS2PH: payloads keep their top bits, and the quiet bit is set. */
static void nans_become_quiet_and_keep_the_top_of_their_payload(void)
{
    static const uint32_t src[] = {0x7f800001, 0x7fa12345, 0x7fc00000, 0xffc00000, 0x7f800000};
    static const uint16_t fp16[] = {0x7e00, 0x7f09, 0x7e00, 0xfe00, 0x7c00};
    static const uint16_t bf16[] = {0x7fc0, 0x7fe1, 0x7fc0, 0xffc0, 0x7f80};
    const struct dti_request to_fp16 = request_of(DTI_FP32, DTI_FP16);
    const struct dti_request to_bf16 = request_of(DTI_FP32, DTI_BF16);
    check_bytes(&to_fp16, src, 5, fp16, sizeof fp16);
    check_bytes(&to_bf16, src, 5, bf16, sizeof bf16);
}

/* Numbers that other tools round twice (Julia #40315, boa #5238, and constructed cases). */
static void fp64_is_rounded_once_and_through_fp32_twice(void)
{
    static const double src[] = {0x1.0020000001p+0, 0x1.005fffffffp+0, 65519.99999999907,
                                 0x1.00000004p-25, 63343.99805};
    static const uint16_t once[] = {0x3c01, 0x3c01, 0x7bff, 0x0001, 0x7bbb};
    static const uint16_t twice[] = {0x3c00, 0x3c02, 0x7c00, 0x0000, 0x7bbc};
    struct dti_request request = request_of(DTI_FP64, DTI_FP16);
    check_bytes(&request, src, 5, once, sizeof once);
    request.cast.via[request.cast.via_count++] = *dti_format_get(DTI_FP32);
    check_bytes(&request, src, 5, twice, sizeof twice);
    request = request_of(DTI_FP64, DTI_FP16);
    request.rule = dti_stack_find(DTI_STACK_TORCH, &request.cast.dst);
    check_bytes(&request, src, 5, twice, sizeof twice);
    request.rule = dti_stack_find(DTI_STACK_NUMPY, &request.cast.dst);
    check_bytes(&request, src, 5, once, sizeof once);
}

static void integers_are_rounded_once_and_through_fp32_twice(void)
{
    static const int64_t src[] = {INT64_C(1157425104234217473), 16842753, -257};
    static const uint16_t once[] = {0x5d81, 0x4b81, 0xc380};
    static const uint16_t twice[] = {0x5d80, 0x4b80, 0xc380};
    struct dti_request request = request_of(DTI_INT64, DTI_BF16);
    check_bytes(&request, src, 3, once, sizeof once);
    request.cast.via[request.cast.via_count++] = *dti_format_get(DTI_FP32);
    check_bytes(&request, src, 3, twice, sizeof twice);
}

/* 2^63 + 2^39 + 1 is above the midpoint of two fp32 numbers. Integers that fit in int64 enter other
 * stacks as int64, others as fp64, where the 1 is lost. */
static void large_unsigned_integers_enter_other_stacks_as_fp64(void)
{
    static const uint64_t src[] = {UINT64_C(0x8000008000000001), UINT64_C(0x4000004000000001)};
    static const uint32_t once[] = {0x5f000001, 0x5e800001}, entered[] = {0x5f000000, 0x5e800001};
    struct dti_request request = request_of(DTI_UINT64, DTI_FP32);
    check_bytes(&request, src, 2, once, sizeof once);
    request.rule = dti_stack_find(DTI_STACK_NUMPY, &request.cast.dst);
    check_bytes(&request, src, 2, entered, sizeof entered);
}

static void overflow_is_what_was_asked_for(void)
{
    static const float src[] = {464, 465, -1000, 0.0009765625f};
    static const uint8_t native[] = {0x7e, 0x7f, 0xff, 0x00};
    static const uint8_t saturated[] = {0x7e, 0x7e, 0xfe, 0x00};
    struct dti_request request = request_of(DTI_FP32, DTI_FP8_E4M3FN);
    check_bytes(&request, src, 4, native, sizeof native);
    request.cast.policy.overflow = DTI_OVERFLOW_SATURATE;
    check_bytes(&request, src, 4, saturated, sizeof saturated);
}

static void floats_become_integers_by_truncation_clamping_or_wrapping(void)
{
    static const float src[] = {300, -1.5f, 1.5f, 2.5f, -129, (float)0x1p40};
    static const int8_t truncated[] = {127, -1, 1, 2, -128, 127};
    static const int8_t rounded[] = {127, -2, 2, 2, -128, 127};
    static const int8_t wrapped[] = {44, -1, 1, 2, 127, 0};
    struct dti_request request = request_of(DTI_FP32, DTI_INT8);
    check_bytes(&request, src, 6, truncated, sizeof truncated);
    request.cast.round_given = true;
    check_bytes(&request, src, 6, rounded, sizeof rounded);
    request.cast.round_given = false;
    request.cast.policy.overflow = DTI_OVERFLOW_WRAP;
    check_bytes(&request, src, 6, wrapped, sizeof wrapped);
}

/* ONNX, "4 bit types": the first element is in the low half of the byte; an odd last one is padded.
 */
static void four_bits_are_packed_from_the_low_end_or_the_high_one(void)
{
    static const float src[] = {1, 6, -0.5f};
    static const uint8_t from_low[] = {0x72, 0x09}, from_high[] = {0x27, 0x90};
    static const uint8_t in_bytes[] = {0x02, 0x07, 0x09};
    struct dti_request request = request_of(DTI_FP32, DTI_FP4_E2M1), back;
    check_bytes(&request, src, 3, from_low, sizeof from_low);
    request.dst_layout.packing = DTI_PACKING_HIGH;
    check_bytes(&request, src, 3, from_high, sizeof from_high);
    request.dst_layout.packing = DTI_PACKING_BYTES;
    check_bytes(&request, src, 3, in_bytes, sizeof in_bytes);
    back = request_of(DTI_FP4_E2M1, DTI_FP32);
    check_bytes(&back, from_low, 3, src, sizeof src);
    back.src_layout.packing = DTI_PACKING_HIGH;
    check_bytes(&back, from_high, 3, src, sizeof src);
}

/* Nonzero padding bits of the source must not be copied. */
static void copies_of_packed_elements_end_with_zero_bits(void)
{
    static const uint8_t src[] = {0x72, 0xf9}, same[] = {0x72, 0x09}, reordered[] = {0x27, 0x90};
    struct dti_request request = request_of(DTI_FP4_E2M1, DTI_FP4_E2M1);
    check_bytes(&request, src, 3, same, sizeof same);
    request.dst_layout.packing = DTI_PACKING_HIGH;
    check_bytes(&request, src, 3, reordered, sizeof reordered);
}

static void bytes_in_the_other_order_are_turned(void)
{
    const uint32_t number = UINT32_C(0x4788b800); /* 70000 */
    const uint32_t reordered = UINT32_C(0x00b88847);
    const uint16_t bf16 = 0x4789, bf16_reordered = 0x8947;
    struct dti_request request = request_of(DTI_FP32, DTI_BF16);
    check_bytes(&request, &number, 1, &bf16, 2);
    request.src_layout.swapped = true;
    check_bytes(&request, &reordered, 1, &bf16, 2);
    request.dst_layout.swapped = true;
    check_bytes(&request, &reordered, 1, &bf16_reordered, 2);
}

/* tf32 is stored in the top bits of its container, so that it is also an fp32 number. */
static void tf32_is_the_top_of_an_fp32(void)
{
    static const uint32_t fp32[] = {0x3f800fff, 0x3f801000, 0x3f803000};
    static const uint32_t tf32[] = {0x3f800000, 0x3f800000, 0x3f804000};
    const struct dti_request request = request_of(DTI_FP32, DTI_TF32);
    const struct dti_request back = request_of(DTI_TF32, DTI_FP32);
    check_bytes(&request, fp32, 3, tf32, sizeof tf32);
    check_bytes(&back, tf32, 3, tf32, sizeof tf32);
    check_bytes(&back, fp32, 1, tf32, 4);
}

static void a_part_of_an_array_rounds_as_it_does_in_the_whole(void)
{
    enum { COUNT = 2 * DTI_TILE };
    static float src[COUNT];
    static uint16_t whole[COUNT], parts[COUNT];
    struct dti_request request = request_of(DTI_FP32, DTI_BF16);
    size_t up = 0;
    request.cast.policy.round = DTI_ROUND_STOCHASTIC;
    request.cast.policy.seed = 7;
    for (size_t i = 0; i < COUNT; i++)
        src[i] = 1.001953125f; /* a quarter of the way to the next bf16 */
    dti_reference_run(&request, whole, src, COUNT, 0, NULL, NULL);
    dti_reference_run(&request, parts, src, DTI_TILE, 0, NULL, NULL);
    dti_reference_run(&request, parts + DTI_TILE, src + DTI_TILE, DTI_TILE, DTI_TILE, NULL, NULL);
    CHECK(memcmp(whole, parts, sizeof whole) == 0);
    for (size_t i = 0; i < COUNT; i++)
        up += whole[i] == 0x3f81;
    CHECK(up > COUNT / 4 - 150 && up < COUNT / 4 + 150); /* 5 standard deviations */
}

static void the_loss_is_that_of_the_definition(void)
{
    static const uint32_t special[] = {0x7fc00000, 0xff800000};
    float src[8] = {257, 259, 1, 0, 1e-45f, 3.4e38f};
    uint16_t stored[8];
    struct dti_loss loss;
    const struct dti_request request = request_of(DTI_FP32, DTI_BF16);
    memcpy(src + 6, special, sizeof special);
    dti_loss_init(&loss);
    dti_reference_run(&request, stored, src, 8, DTI_TILE, &loss, NULL);
    CHECK_U64(loss.elements, 8);
    CHECK_U64(loss.nan_in, 1);
    CHECK_U64(loss.inf_in, 1);
    CHECK_U64(loss.overflowed, 1); /* above 2^128 - 2^119 = 0x1.ffp+127 */
    CHECK_U64(loss.to_zero, 1);
    CHECK_U64(loss.inexact, 4);
    CHECK_U64(loss.compared, 5);
    CHECK_U64(loss.max_index, DTI_TILE);
    CHECK(loss.max_absolute == 1);
    CHECK(loss.max_relative == 1); /* the number that became zero */
    const double mean = (2 + 0x1p-149) / 5;
    CHECK(dti_loss_mean_absolute(&loss) == mean);
}

UNIT_MAIN(nans_become_quiet_and_keep_the_top_of_their_payload,
          fp64_is_rounded_once_and_through_fp32_twice,
          integers_are_rounded_once_and_through_fp32_twice,
          large_unsigned_integers_enter_other_stacks_as_fp64, overflow_is_what_was_asked_for,
          floats_become_integers_by_truncation_clamping_or_wrapping,
          four_bits_are_packed_from_the_low_end_or_the_high_one,
          copies_of_packed_elements_end_with_zero_bits, bytes_in_the_other_order_are_turned,
          tf32_is_the_top_of_an_fp32, a_part_of_an_array_rounds_as_it_does_in_the_whole,
          the_loss_is_that_of_the_definition)
