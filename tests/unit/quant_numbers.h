/* SPDX-License-Identifier: MIT
 *
 * fp32 numbers of the quantization tests, written as readable values. */
#ifndef DTINFO_TESTS_QUANT_NUMBERS_H
#define DTINFO_TESTS_QUANT_NUMBERS_H

#include <stdint.h>
#include <string.h>

static inline uint32_t fp32_code(float number)
{
    uint32_t code;
    memcpy(&code, &number, sizeof code);
    return code;
}

#define FP32_INF UINT32_C(0x7f800000)
#define FP32_NAN UINT32_C(0x7fc00000)

#endif
