/* SPDX-License-Identifier: MIT
 *
 * Blocks of mxfp4 as blocks of nvfp4: 32 codes with a power of two become two times 16 with a scale
 * of fp8_e4m3fn each, and a power of two for the whole tensor. Codes stay what they are where a
 * block's power of two, divided by the tensor's, is one of the 18 that fp8_e4m3fn has; otherwise a
 * block gets the scale and codes that are nearest, which may be the same numbers. */
#ifndef FILES_TRANSCODE_TRANSCODE_NVFP4_H
#define FILES_TRANSCODE_TRANSCODE_NVFP4_H

#include "files/transcode/transcode_bytes.h"

enum { DTI_NV_LENGTH = 16 };

struct dti_nvfp4_plan {
    const struct dti_dequant_tensor *how; /* dti_transcode_has_blocks(), of mxfp4 */
    int power;                            /* the tensor scale is 2 to it */
    bool same_codes;                      /* of all blocks, so that codes need not be read */
    uint64_t blocks, lossless;            /* of 16 */
    double worst;                         /* see struct dti_transcoded */
};

/* Chooses the tensor scale by which most blocks keep their numbers. Reads scales, and codes where
 * the former are too far apart. */
enum dti_status dti_nvfp4_plan(struct dti_dequant_tensor *how, struct dti_nvfp4_plan *ret,
                               struct dti_error *reterr);

/* Fills units of a byte, a scale each, and of 8 bytes, the codes of a block each. The context is
 * the plan. */
dti_transcode_fill dti_nvfp4_fill_scales, dti_nvfp4_fill_codes;

#endif
