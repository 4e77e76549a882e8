/* SPDX-License-Identifier: MIT
 *
 * Saturation of quantized tensors: how many codes have the largest magnitude, how many scales of
 * blocks are at the ends of their range, and how many blocks are zero. Codes and scales are counted
 * as stored, without computing numbers. */
#ifndef FILES_SCAN_CODE_LIMITS_H
#define FILES_SCAN_CODE_LIMITS_H

#include "containers/container.h"
#include "files/scan/scan.h"

struct dti_code_limits {
    uint64_t codes, at_largest; /* all codes; those with the largest magnitude of either sign (of
                                 * integers with zero points: at either end of the range) */
    bool has_scales;            /* scales of blocks, in one byte; without them these are 0: */
    uint64_t scales;
    uint64_t lowest, highest, nan; /* e8m0: codes 0, 254 and 255; e4m3: 0, 448 and NaN */
    bool has_blocks;               /* whole blocks along rows; without them these are 0: */
    uint64_t blocks, zero_blocks;  /* zero: all codes are 0 or -0 */
};

/* Whether a tensor has codes to be counted: MX formats and nvfp4, also of GGUF; floats of 8 bits
 * and integers of up to 8 bits with scales. */
bool dti_code_limits_apply(const struct dti_tensor *tensor);

/* Counts of a tensor of a view, for which dti_code_limits_apply() holds. */
struct dti_limited_tensor {
    const struct dti_tensor *tensor;
    struct dti_code_limits limits; /* set by dti_scan_code_limits() */
};
/* Fills all of them; options->level is ignored. Fails with DTI_BAD_INPUT and DTI_NO_MEMORY. */
enum dti_status dti_scan_code_limits(struct dti_limited_tensor *tensors, size_t count,
                                     const struct dti_scan_options *options,
                                     struct dti_error *reterr);

void dti_code_limits_add(struct dti_code_limits *all, const struct dti_code_limits *one);

#endif
