/* SPDX-License-Identifier: MIT
 *
 * Scales and biases of groups, in files: numbers of fp32, fp16 or bf16, which arrive as fp32. */
#include <string.h>

#include "files/rewrite/quantize.h"
#include "files/transcode/transcode_grouped.h"

/* Replaces numbers by their codes, little-endian. Returns the bytes of one. */
static size_t encode(enum dti_dtype number, float *numbers, size_t n)
{
    unsigned char *const bytes = (unsigned char *)numbers;
    const size_t item = number == DTI_FP32 ? 4 : 2;
    for (size_t i = 0; i < n; i++) {
        float value;
        memcpy(&value, bytes + 4 * i, sizeof value);
        dti_grouped_put(number, bytes + item * i, value);
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
