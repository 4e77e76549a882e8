/* SPDX-License-Identifier: MIT
 *
 * `--like` an instruction set. If this processor has the instruction (F16C, AVX512-BF16), it is
 * run on the same operands. The others are compared with models that share nothing with the
 * core: the quotient by the dtype's step, rounded by the C library's rint(), and, for AVX10.2,
 * the bit operations in Intel's specification. Operands: all fp16, all upper halves of fp32 with
 * several lower halves, and random fp32. Usage: test_instructions [COUNT] */
#include <math.h>
#include <stdbool.h>

#include "core/code/stack.h"
#include "judged.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAVE_X86 1
#endif

enum { UNKNOWN = -1, SHOWN = 10 };

static unsigned long long compared, failed;

static int64_t like(enum dti_stack stack, enum dti_dtype dtype, enum dti_dtype from, uint64_t code)
{
    const struct dti_format *const format = dti_format_get(dtype);
    struct dti_value value;
    struct dti_cast cast;
    struct dti_scalar scalar;
    dti_decode(dti_format_get(from), code, &value);
    return dti_stack_cast(dti_stack_find(stack, format), format, false, &value, &cast, &scalar)
               ? (int64_t)scalar.code
               : UNKNOWN;
}

static void compare(enum dti_stack stack, enum dti_dtype dtype, enum dti_dtype from, uint64_t code,
                    int64_t expected)
{
    const int64_t got = like(stack, dtype, from, code);
    compared++;
    if (got == expected)
        return;
    if (failed++ < SHOWN)
        printf("%s: 0x%llx to %s: 0x%llx, expected 0x%llx\n", dti_stack_name(stack),
               (unsigned long long)code, dti_format_get(dtype)->name, (unsigned long long)got,
               (unsigned long long)expected);
}

static double number_of(enum dti_dtype from, uint64_t code)
{
    if (from == DTI_FP32) {
        const uint32_t bits = (uint32_t)code;
        float x;
        memcpy(&x, &bits, sizeof x);
        return (double)x;
    }
    const int exponent = (int)(code >> 10 & 31), fraction = (int)(code & 1023);
    double x = ldexp(exponent ? fraction + 1024 : fraction, (exponent ? exponent : 1) - 25);
    if (exponent == 31)
        x = fraction ? (double)NAN : (double)INFINITY;
    return code >> 15 ? -x : x;
}

/* A float with 1 + width bits. nan: magnitude of a NaN, whose sign is kept if `sign` is set;
 * over: magnitude of values beyond max. */
struct model {
    enum dti_stack stack;
    enum dti_dtype dtype, from;
    int mantissa, bias;
    double max;
    int64_t over, nan;
    int width;
    bool sign, no_minus_zero;
};

enum { E5M2_INF = 0x7c, E5M2_MAX = 0x7b, E4M3_NAN = 0x7f, E4M3_MAX = 0x7e };

static const struct model models[] = {
    {DTI_STACK_F16C, DTI_FP16, DTI_FP32, 10, 15, 65504, 0x7c00, UNKNOWN, 15, false, false},
    {DTI_STACK_AVX10_2, DTI_FP8_E5M2, DTI_FP16, 2, 15, 57344, E5M2_INF, UNKNOWN, 7, false, false},
    {DTI_STACK_AVX10_2, DTI_FP8_E4M3FN, DTI_FP16, 3, 7, 448, E4M3_NAN, 0x7f, 7, true, false},
    {DTI_STACK_AVX10_2_SAT, DTI_FP8_E5M2, DTI_FP16, 2, 15, 57344, E5M2_MAX, UNKNOWN, 7, false,
     false},
    {DTI_STACK_AVX10_2_SAT, DTI_FP8_E4M3FN, DTI_FP16, 3, 7, 448, E4M3_MAX, 0x7f, 7, true, false},
    {DTI_STACK_ARM, DTI_FP16, DTI_FP32, 10, 15, 65504, 0x7c00, UNKNOWN, 15, false, false},
    {DTI_STACK_ARM, DTI_BF16, DTI_FP32, 7, 127, 0x1.fep127, 0x7f80, UNKNOWN, 15, false, false},
    {DTI_STACK_ARM_FP8, DTI_FP8_E5M2, DTI_FP32, 2, 15, 57344, E5M2_INF, 0x7e, 7, false, false},
    {DTI_STACK_ARM_FP8, DTI_FP8_E4M3FN, DTI_FP32, 3, 7, 448, E4M3_NAN, 0x7f, 7, false, false},
    {DTI_STACK_ARM_FP8_SAT, DTI_FP8_E5M2, DTI_FP32, 2, 15, 57344, E5M2_MAX, 0x7e, 7, false, false},
    {DTI_STACK_ARM_FP8_SAT, DTI_FP8_E4M3FN, DTI_FP32, 3, 7, 448, E4M3_MAX, 0x7f, 7, false, false},
    {DTI_STACK_RISCV, DTI_FP16, DTI_FP32, 10, 15, 65504, 0x7c00, 0x7e00, 15, false, false},
    {DTI_STACK_RISCV, DTI_BF16, DTI_FP32, 7, 127, 0x1.fep127, 0x7f80, 0x7fc0, 15, false, false},
    {DTI_STACK_RISCV, DTI_FP8_E5M2, DTI_FP32, 2, 15, 57344, E5M2_INF, 0x7f, 7, false, false},
    {DTI_STACK_RISCV, DTI_FP8_E4M3FN, DTI_FP32, 3, 7, 448, UNKNOWN, 0x7f, 7, false, false},
    {DTI_STACK_RISCV_SAT, DTI_FP8_E5M2, DTI_FP32, 2, 15, 57344, E5M2_MAX, 0x7f, 7, false, false},
    {DTI_STACK_RISCV_SAT, DTI_FP8_E4M3FN, DTI_FP32, 3, 7, 448, E4M3_MAX, 0x7f, 7, false, false},
    {DTI_STACK_PTX_SATFINITE, DTI_FP16, DTI_FP32, 10, 15, 65504, 0x7bff, UNKNOWN, 15, false, false},
    {DTI_STACK_PTX_SATFINITE, DTI_BF16, DTI_FP32, 7, 127, 0x1.fep127, 0x7f7f, UNKNOWN, 15, false,
     false},
    {DTI_STACK_PTX_SATFINITE, DTI_FP8_E5M2, DTI_FP32, 2, 15, 57344, E5M2_MAX, UNKNOWN, 7, false,
     false},
    {DTI_STACK_PTX_SATFINITE, DTI_FP8_E4M3FN, DTI_FP32, 3, 7, 448, E4M3_MAX, UNKNOWN, 7, false,
     false},
    {DTI_STACK_PTX_SATFINITE, DTI_FP6_E3M2, DTI_FP32, 2, 3, 28, 0x1f, 0x1f, 5, false, false},
    {DTI_STACK_PTX_SATFINITE, DTI_FP6_E2M3, DTI_FP32, 3, 1, 7.5, 0x1f, 0x1f, 5, false, false},
    {DTI_STACK_PTX_SATFINITE, DTI_FP4_E2M1, DTI_FP32, 1, 1, 6, 7, 7, 3, false, false},
    {DTI_STACK_CDNA3, DTI_FP8_E4M3FNUZ, DTI_FP32, 3, 8, 240, UNKNOWN, 0x80, 7, false, true},
    {DTI_STACK_CDNA3, DTI_FP8_E5M2FNUZ, DTI_FP32, 2, 16, 57344, UNKNOWN, 0x80, 7, false, true},
    {DTI_STACK_CDNA4, DTI_FP8_E4M3FN, DTI_FP32, 3, 7, 448, UNKNOWN, UNKNOWN, 7, false, false},
    {DTI_STACK_CDNA4, DTI_FP8_E5M2, DTI_FP32, 2, 15, 57344, UNKNOWN, UNKNOWN, 7, false, false},
};

/* A NaN that keeps its payload, quieted and narrowed: only where the model says UNKNOWN and the
 * stack does not. */
static bool keeps_payload(enum dti_stack stack)
{
    return stack == DTI_STACK_F16C || stack == DTI_STACK_ARM || stack == DTI_STACK_AVX10_2 ||
           stack == DTI_STACK_AVX10_2_SAT;
}

static int64_t quiet_nan(const struct model *model, uint64_t code)
{
    const int from_mantissa = model->from == DTI_FP32 ? 23 : 10;
    const int from_width = model->from == DTI_FP32 ? 32 : 16;
    const uint64_t fraction = code & ((UINT64_C(1) << from_mantissa) - 1);
    const uint64_t top = fraction >> (from_mantissa - model->mantissa);
    const uint64_t quiet = UINT64_C(1) << (model->mantissa - 1);
    const uint64_t exponent = (UINT64_C(1) << (model->width - model->mantissa)) - 1;
    const uint64_t negative = code >> (from_width - 1);
    return (int64_t)(negative << model->width | exponent << model->mantissa | quiet | top);
}

static int64_t modelled(const struct model *model, uint64_t code)
{
    const double x = number_of(model->from, code), magnitude = fabs(x);
    const int64_t sign = signbit(x) ? INT64_C(1) << model->width : 0;
    int exponent;
    if (isnan(x) && model->nan == UNKNOWN)
        return keeps_payload(model->stack) ? quiet_nan(model, code) : UNKNOWN;
    if (isnan(x))
        return model->nan | (model->sign ? sign : 0);
    if (isinf(x))
        return model->over == UNKNOWN ? UNKNOWN : model->over | sign;
    (void)frexp(magnitude, &exponent);
    exponent = magnitude == 0 || exponent < 2 - model->bias ? 1 - model->bias : exponent - 1;
    double kept = rint(ldexp(magnitude, model->mantissa - exponent));
    if (ldexp(kept, exponent - model->mantissa) > model->max)
        return model->over == UNKNOWN ? UNKNOWN : model->over | sign;
    /* a carry into the next binade increments the exponent field */
    const int64_t field = exponent + model->bias - 1;
    const int64_t result = (field << model->mantissa) + (int64_t)kept;
    return result | (result == 0 && model->no_minus_zero ? 0 : sign);
}

/* As in the AVX10.2 specification, 5.1. */
static unsigned avx10_bf8(unsigned x, bool saturate)
{
    const unsigned sign = x >> 8 & 0x80;
    if ((x & 0x7fff) == 0x7c00)
        return saturate ? sign | 0x7b : x >> 8;
    if ((x & 0x7fff) > 0x7c00)
        return x >> 8 | 2;
    const unsigned rounded = (x + 0x7f + (x >> 8 & 1)) >> 8 & 0xff;
    return saturate && (rounded & 0x7f) == 0x7c ? sign | 0x7b : rounded;
}

static unsigned avx10_hf8(unsigned x, bool saturate)
{
    const unsigned sign = x >> 8 & 0x80, exponent = x >> 10 & 31, fraction = x & 1023;
    const unsigned beyond = sign | (saturate ? 0x7e : 0x7f);
    if (exponent == 31)
        return fraction ? sign | 0x7f : beyond;
    if (exponent > 23 || (exponent == 23 && fraction > 0x340))
        return beyond;
    if (exponent > 8)
        return sign | ((((x & 0x7fff) + 0x3f + (fraction >> 7 & 1)) >> 7) - (8 << 3));
    const unsigned significand = exponent ? fraction | 0x400 : fraction;
    const unsigned shift = 9 - (exponent ? exponent : 1);
    unsigned kept = significand >> shift;
    kept |= (significand & ((1u << shift) - 1)) != 0;
    return sign | ((kept + 0x3f + (kept >> 7 & 1)) >> 7);
}

static void compare_models(enum dti_dtype from, uint64_t code)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (models[i].from == from)
            compare(models[i].stack, models[i].dtype, from, code, modelled(&models[i], code));
    }
}

#ifdef HAVE_X86
__attribute__((target("f16c"))) static uint64_t run_f16c(uint32_t code)
{
    const __m128i result = _mm_cvtps_ph(_mm_castsi128_ps(_mm_set1_epi32((int)code)), 0);
    return (uint64_t)_mm_cvtsi128_si32(result) & 0xffff;
}

__attribute__((target("avx512bf16,avx512vl"))) static uint64_t run_bf16(uint32_t code)
{
    const __m128bh result = _mm_cvtneps_pbh(_mm_castsi128_ps(_mm_set1_epi32((int)code)));
    uint16_t first;
    memcpy(&first, &result, sizeof first);
    return first;
}

static bool has_f16c, has_bf16;

static void find_instructions(void)
{
    __builtin_cpu_init();
    has_f16c = __builtin_cpu_supports("avx2"); /* AVX2 implies F16C; clang 14 lacks "f16c" */
    has_bf16 = __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl");
}

static void compare_instructions(uint32_t code)
{
    if (has_f16c)
        compare(DTI_STACK_F16C, DTI_FP16, DTI_FP32, code, (int64_t)run_f16c(code));
    if (has_bf16)
        compare(DTI_STACK_AVX512_BF16, DTI_BF16, DTI_FP32, code, (int64_t)run_bf16(code));
}
#else
static const bool has_f16c = false, has_bf16 = false;
static void find_instructions(void)
{
}
static void compare_instructions(uint32_t code)
{
    (void)code;
}
#endif

static void compare_fp32(uint32_t code)
{
    compare_models(DTI_FP32, code);
    compare_instructions(code);
}

int main(int argc, char **argv)
{
    static const uint32_t lower[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x1000, 0xf000};
    const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    uint64_t state = 20;
    find_instructions();
    for (uint32_t x = 0; x < 0x10000; x++) {
        compare_models(DTI_FP16, x);
        for (int saturate = 0; saturate < 2; saturate++) {
            const enum dti_stack stack = saturate ? DTI_STACK_AVX10_2_SAT : DTI_STACK_AVX10_2;
            compare(stack, DTI_FP8_E5M2, DTI_FP16, x, (int64_t)avx10_bf8(x, saturate != 0));
            compare(stack, DTI_FP8_E4M3FN, DTI_FP16, x, (int64_t)avx10_hf8(x, saturate != 0));
        }
        for (size_t i = 0; i < sizeof lower / sizeof *lower; i++)
            compare_fp32(x << 16 | lower[i]);
    }
    for (unsigned long i = 0; i < count; i++) {
        compare_fp32((uint32_t)(random_u64(&state) >> 32));
    }
    printf("%llu comparisons, %llu failed; F16C %s, AVX512-BF16 %s\n", compared, failed,
           has_f16c ? "run" : "absent", has_bf16 ? "run" : "absent");
    return failed > 0;
}
