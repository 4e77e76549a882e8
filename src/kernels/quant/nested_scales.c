/* SPDX-License-Identifier: MIT
 *
 * Quantizes scales to codes of the dynamic map. There is only one scale per 64 numbers, so this
 * is not in a kernel's inner loop. */
#include "kernels/quant/nested_scales.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { ZERO = 127, LAST = DTI_NESTED_CODES - 1 };

/* create_dynamic_map() of bitsandbytes 0.50, as torch 2.15 computes it: the positive numbers
 * except 1, as fp32 codes. */
static const uint32_t positive[ZERO] = {
    0x3513a3b7, 0x365a1a94, 0x370205ff, 0x37b24206, 0x38378034, 0x388aefb3, 0x38ba1f4b, 0x3923d70b,
    0x398ce705, 0x39c7e283, 0x3a016f01, 0x3a1eecc1, 0x3a3c6a80, 0x3a59e83e, 0x3a7765ff, 0x3aa7ef9d,
    0x3af1a9fc, 0x3b1db22d, 0x3b428f5c, 0x3b676c8a, 0x3b8624dd, 0x3b989374, 0x3bab020d, 0x3bbd70a4,
    0x3bcfdf3b, 0x3be24dd3, 0x3bf4bc6a, 0x3c039581, 0x3c0ccccd, 0x3c160418, 0x3c1f3b64, 0x3c3ae148,
    0x3c68f5c3, 0x3c8b851f, 0x3ca28f5d, 0x3cb9999a, 0x3cd0a3d7, 0x3ce7ae15, 0x3cfeb852, 0x3d0ae148,
    0x3d166667, 0x3d21eb85, 0x3d2d70a3, 0x3d38f5c3, 0x3d447ae1, 0x3d500000, 0x3d5b851f, 0x3d670a3d,
    0x3d728f5d, 0x3d7e147b, 0x3d84cccd, 0x3d8a8f5d, 0x3d9051eb, 0x3d96147b, 0x3d9bd70a, 0x3da1999a,
    0x3da75c2a, 0x3dad1eb8, 0x3db2e148, 0x3db8a3d7, 0x3dbe6667, 0x3dc428f7, 0x3dc9eb85, 0x3ddb3334,
    0x3df80000, 0x3e0a6666, 0x3e18cccd, 0x3e273333, 0x3e35999a, 0x3e440000, 0x3e526666, 0x3e60cccd,
    0x3e6f3333, 0x3e7d9999, 0x3e860000, 0x3e8d3334, 0x3e946666, 0x3e9b999a, 0x3ea2cccc, 0x3eaa0000,
    0x3eb13333, 0x3eb86666, 0x3ebf999a, 0x3ec6cccc, 0x3ece0000, 0x3ed53333, 0x3edc6666, 0x3ee3999a,
    0x3eeacccc, 0x3ef20000, 0x3ef93332, 0x3f003333, 0x3f03cccc, 0x3f076666, 0x3f0b0000, 0x3f0e999a,
    0x3f123334, 0x3f15cccd, 0x3f196666, 0x3f1d0000, 0x3f20999a, 0x3f243334, 0x3f27cccd, 0x3f2b6666,
    0x3f2f0000, 0x3f32999a, 0x3f363334, 0x3f39cccd, 0x3f3d6666, 0x3f410000, 0x3f44999a, 0x3f483333,
    0x3f4bcccd, 0x3f4f6666, 0x3f530000, 0x3f56999a, 0x3f5a3333, 0x3f5dcccd, 0x3f616666, 0x3f650000,
    0x3f68999a, 0x3f6c3333, 0x3f6fcccd, 0x3f736666, 0x3f770000, 0x3f7a999a, 0x3f7e3333,
};

static float number_of(unsigned code)
{
    float number = 0;
    if (code == LAST)
        return 1;
    if (code != ZERO)
        memcpy(&number, &positive[code > ZERO ? code - ZERO - 1 : ZERO - 1 - code], sizeof number);
    return code < ZERO ? -number : number;
}

void dti_nested_map(float ret[DTI_NESTED_CODES])
{
    for (unsigned i = 0; i < DTI_NESTED_CODES; i++)
        ret[i] = number_of(i);
}

/* The number of midpoints below the quotient. */
static unsigned char code_of(float quotient)
{
    unsigned low = 0, high = LAST; /* the code is in low..high */
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        const float midpoint = (number_of(middle) + number_of(middle + 1)) / 2;
        if (quotient > midpoint)
            low = middle + 1;
        else
            high = middle;
    }
    return (unsigned char)low;
}

float dti_nested_quantize(const float *scales, size_t n, float offset, unsigned char *codes)
{
    float largest = 0;
    for (size_t i = 0; i < n; i++) {
        const float magnitude = fabsf(scales[i] - offset);
        largest = magnitude > largest ? magnitude : largest;
    }
    const float inverse = 1 / largest;
    for (size_t i = 0; i < n; i++) {
        const float difference = scales[i] - offset;
        const float quotient = isfinite(inverse) ? difference * inverse : difference / largest;
        codes[i] = largest > 0 ? code_of(quotient) : 0;
    }
    return largest;
}
