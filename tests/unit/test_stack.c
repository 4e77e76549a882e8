/* SPDX-License-Identifier: MIT
 *
 * The codes that other stacks store. Expected values were measured with the stacks themselves
 * (torch 2.15, ml_dtypes 0.6, numpy 2.4 on x86-64, x86 instructions) or are quoted from their
 * documentation, never computed here. */
#include "core/code/stack.h"
#include "core/number/number.h"
#include "unit.h"

enum { UNKNOWN = 1 << 20, MISSING = 1 << 21 };

static uint64_t stored(enum dti_stack stack, enum dti_dtype dtype, const char *text, bool integer)
{
    const struct dti_format *f = dti_format_get(dtype);
    const struct dti_stack_rule *rule = dti_stack_find(stack, f);
    struct dti_value value;
    struct dti_cast cast;
    struct dti_scalar scalar;
    if (!rule)
        return MISSING;
    if (dti_value_parse(&value, text, strlen(text), NULL) != DTI_OK)
        return MISSING;
    return dti_stack_cast(rule, f, integer, &value, &cast, &scalar) ? scalar.code : UNKNOWN;
}

static void each_stack_stores_what_was_measured(void)
{
    static const struct {
        enum dti_stack stack;
        enum dti_dtype dtype;
        const char *text;
        bool integer;
        uint64_t code;
    } rows[] = {
        {DTI_STACK_TORCH, DTI_FP8_E4M3FN, "500", true, 0x7e},
        {DTI_STACK_TORCH, DTI_FP8_E4M3FN, "-inf", false, 0xfe},
        {DTI_STACK_TORCH, DTI_FP8_E4M3FN, "nan", false, 0x7f},
        {DTI_STACK_TORCH_2_12, DTI_FP8_E4M3FN, "500", true, 0x7f},
        {DTI_STACK_ML_DTYPES, DTI_FP8_E4M3FN, "-500", true, 0xff},
        {DTI_STACK_ONNX, DTI_FP8_E4M3FN, "500", true, 0x7e},
        {DTI_STACK_ONNX_NOSAT, DTI_FP8_E4M3FN, "500", true, 0x7f},
        {DTI_STACK_CUDA, DTI_FP8_E4M3FN, "inf", false, 0x7e},
        {DTI_STACK_TORCH, DTI_FP8_E5M2, "nan", false, 0x7f},
        {DTI_STACK_TORCH, DTI_FP8_E5M2, "61440", true, 0x7c},
        {DTI_STACK_ML_DTYPES, DTI_FP8_E5M2, "nan", false, 0x7e},
        {DTI_STACK_TORCH, DTI_FP8_E4M3FNUZ, "1e6", false, 0x80},
        {DTI_STACK_TORCH, DTI_FP8_E8M0, "0", true, 0x00},
        {DTI_STACK_TORCH, DTI_FP8_E8M0, "-1", true, 0x7f},
        {DTI_STACK_TORCH, DTI_FP8_E8M0, "6e-39", false, 0x01},
        {DTI_STACK_TORCH, DTI_FP8_E8M0, "3e-39", false, 0x00},
        {DTI_STACK_ML_DTYPES, DTI_FP8_E8M0, "0", true, 0xff},
        {DTI_STACK_ML_DTYPES, DTI_FP8_E8M0, "0x1.000002p-127", false, 0x00},
        {DTI_STACK_ML_DTYPES, DTI_FP8_E8M0, "0x1.000004p-127", false, 0x01},
        {DTI_STACK_ML_DTYPES, DTI_FP4_E2M1, "nan", false, 0x8},
        {DTI_STACK_ML_DTYPES, DTI_FP6_E3M2, "-inf", false, 0x3f},
        {DTI_STACK_TORCH, DTI_FP16, "0x1.0020000001p+0", false, 0x3c00},
        {DTI_STACK_NUMPY, DTI_FP16, "0x1.0020000001p+0", false, 0x3c01},
        {DTI_STACK_TORCH, DTI_BF16, "1157425104234217473", true, 0x5d80},
        {DTI_STACK_ML_DTYPES, DTI_FP8_E4M3FN, "0x1.1000000001p+0", false, 0x38},
        {DTI_STACK_TORCH, DTI_INT8, "300", true, 44},
        {DTI_STACK_TORCH, DTI_INT32, "1e20", false, UNKNOWN},
        {DTI_STACK_NUMPY, DTI_INT32, "nan", false, UNKNOWN},
        {DTI_STACK_ML_DTYPES, DTI_INT4, "9.0", false, 9},
        {DTI_STACK_ML_DTYPES, DTI_INT4, "3e9", false, 0},
        {DTI_STACK_ML_DTYPES, DTI_INT4, "2147483647.0", false, 15},
        {DTI_STACK_ML_DTYPES, DTI_INT4, "2147483647.5", false, 0},
        {DTI_STACK_ML_DTYPES, DTI_INT4, "1099511627777", true, 1},
        {DTI_STACK_CUDA, DTI_INT32, "1e20", false, 0x7fffffff},
        {DTI_STACK_CUDA, DTI_TF32, "0x1.002p+0", false, 0x1fc01},
        {DTI_STACK_CUDA, DTI_FP4_E2M1, "nan", false, 0x7},
        /* __internal_float2half of cuda_fp16.hpp, __internal_float2bfloat16 of cuda_bf16.hpp */
        {DTI_STACK_CUDA, DTI_FP16, "nan", false, 0x7fff},
        {DTI_STACK_CUDA, DTI_BF16, "-nan", false, 0x7fff},
        {DTI_STACK_F16C, DTI_FP16, "0x1.0020000001p+0", false, 0x3c00},
        {DTI_STACK_F16C, DTI_FP16, "3e-8", false, 0x0001},
        {DTI_STACK_F16C, DTI_BF16, "1", true, MISSING},
        {DTI_STACK_AVX512_BF16, DTI_BF16, "1e-38", false, 0x0000},
        {DTI_STACK_AVX512_BF16, DTI_BF16, "-0x1.fffffcp-127", false, 0x8000},
        {DTI_STACK_AVX512_BF16, DTI_BF16, "0x1p-126", false, 0x0080},
        {DTI_STACK_AVX512_BF16, DTI_BF16, "-nan", false, 0xffc0},
        {DTI_STACK_AVX10_2, DTI_FP8_E4M3FN, "0x1.1001p+0", false, 0x38},
        {DTI_STACK_AVX10_2, DTI_FP8_E4M3FN, "464", true, 0x7e},
        {DTI_STACK_AVX10_2, DTI_FP8_E4M3FN, "465", true, 0x7f},
        {DTI_STACK_AVX10_2, DTI_FP8_E5M2, "-1e9", false, 0xfc},
        {DTI_STACK_AVX10_2_SAT, DTI_FP8_E5M2, "-1e9", false, 0xfb},
        {DTI_STACK_AVX10_2_SAT, DTI_FP8_E4M3FN, "inf", false, 0x7e},
        {DTI_STACK_ARM, DTI_BF16, "1e-38", false, 0x006d},
        {DTI_STACK_ARM_FP8, DTI_FP8_E4M3FN, "0x1.1001p+0", false, 0x39},
        {DTI_STACK_ARM_FP8, DTI_FP8_E5M2, "-nan", false, 0x7e},
        {DTI_STACK_ARM_FP8, DTI_FP8_E4M3FN, "-inf", false, 0xff},
        {DTI_STACK_ARM_FP8_SAT, DTI_FP8_E4M3FN, "-inf", false, 0xfe},
        {DTI_STACK_RISCV, DTI_BF16, "-nan", false, 0x7fc0},
        {DTI_STACK_RISCV, DTI_FP8_E5M2, "nan", false, 0x7f},
        {DTI_STACK_RISCV, DTI_FP8_E4M3FN, "464", true, 0x7e},
        {DTI_STACK_RISCV, DTI_FP8_E4M3FN, "465", true, UNKNOWN},
        {DTI_STACK_RISCV_SAT, DTI_FP8_E4M3FN, "465", true, 0x7e},
        {DTI_STACK_PTX, DTI_FP16, "nan", false, UNKNOWN},
        {DTI_STACK_PTX_SATFINITE, DTI_FP16, "inf", false, 0x7bff},
        {DTI_STACK_PTX_SATFINITE, DTI_FP4_E2M1, "-nan", false, 0x7},
        {DTI_STACK_CDNA3, DTI_FP8_E4M3FNUZ, "247.9", false, 0x7f},
        {DTI_STACK_CDNA3, DTI_FP8_E4M3FNUZ, "248", true, UNKNOWN},
        {DTI_STACK_CDNA4, DTI_FP8_E5M2, "inf", false, UNKNOWN},
        {DTI_STACK_TORCH, DTI_BF16, "nan", false, UNKNOWN},
        {DTI_STACK_NUMPY, DTI_BF16, "1", true, MISSING},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t code = stored(rows[i].stack, rows[i].dtype, rows[i].text, rows[i].integer);
        if (!CHECK_U64(code, rows[i].code))
            printf("  %s: %s as %s\n", dti_stack_name(rows[i].stack), rows[i].text,
                   dti_format_get(rows[i].dtype)->name);
    }
}

static void every_rule_names_dtypes_that_exist(void)
{
    for (size_t i = 0; i < dti_stack_rule_count; i++) {
        char name[DTI_NAME_SIZE];
        const char *at = dti_stack_dtypes(&dti_stack_rules[i]);
        while (*at) {
            size_t length = strcspn(at, " ");
            struct dti_format format;
            memcpy(name, at, length);
            name[length] = '\0';
            CHECK(dti_format_lookup(name, &format, NULL, NULL) == DTI_OK);
            CHECK_STR(format.name, name);
            CHECK(dti_stack_find(dti_stack_rules[i].stack, &format) == &dti_stack_rules[i]);
            at += length + (at[length] == ' ');
        }
    }
}

static void an_unknown_answer_has_a_reason(void)
{
    for (size_t i = 0; i < dti_stack_rule_count; i++)
        CHECK((dti_stack_rules[i].unknown == 0) ==
              (dti_stack_why_unknown(&dti_stack_rules[i])[0] == '\0'));
}

UNIT_MAIN(each_stack_stores_what_was_measured, every_rule_names_dtypes_that_exist,
          an_unknown_answer_has_a_reason)
