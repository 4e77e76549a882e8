/* SPDX-License-Identifier: MIT
 *
 * Scales and biases of groups, in files: numbers of fp32, fp16 or bf16, which arrive as fp32. */
#include <string.h>

#include "files/rewrite/quantize.h"

/* The code of a number that fp16 has. */
static uint32_t fp16_code(uint32_t bits)
{
    const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & UINT32_C(0x7fffffff);
    if (magnitude > UINT32_C(0x7f800000))
        return 0x7e00;
    if (magnitude == UINT32_C(0x7f800000))
        return sign | 0x7c00;
    if (magnitude >= UINT32_C(0x38800000)) /* 2^-14 */
        return sign | ((magnitude >> 13) - ((127 - 15) << 10));
    if (magnitude < UINT32_C(0x33800000)) /* 2^-24 */
        return sign;
    const uint32_t significand = (magnitude & UINT32_C(0x7fffff)) | UINT32_C(0x800000);
    return sign | significand >> (126 - (magnitude >> 23));
}

/* Replaces numbers by their codes, little-endian. Returns the bytes of one. */
static size_t encode(enum dti_dtype number, float *numbers, size_t n)
{
    unsigned char *const bytes = (unsigned char *)numbers;
    const size_t item = number == DTI_FP32 ? 4 : 2;
    for (size_t i = 0; i < n; i++) {
        uint32_t code;
        memcpy(&code, bytes + 4 * i, sizeof code);
        code = number == DTI_FP16 ? fp16_code(code) : number == DTI_BF16 ? code >> 16 : code;
        for (size_t j = 0; j < item; j++)
            bytes[item * i + j] = (unsigned char)(code >> 8 * j);
    }
    return item;
}

enum dti_status dti_quant_task_biased(const struct dti_quant_task *task, float *scales,
                                      float *biases, uint64_t first, size_t n,
                                      struct dti_error *reterr)
{
    const enum dti_dtype number = dti_quant_biased_number(task->stored.number);
    const size_t item = encode(number, scales, n);
    (void)encode(number, biases, n);
    const enum dti_status status =
        dti_quant_task_write(task, DTI_PART_SCALE, scales, n * item, first * item, reterr);
    if (status != DTI_OK)
        return status;
    return dti_quant_task_write(task, DTI_PART_BIAS, biases, n * item, first * item, reterr);
}
