/* SPDX-License-Identifier: MIT
 *
 * Converts blocks of mxfp4 to nvfp4: 32 codes with a power of two become two blocks of 16 with an
 * fp8_e4m3fn scale each, and the whole tensor gets a power of two as its scale. Codes are unchanged
 * if the block's power of two, divided by the tensor's, is one of the 18 in fp8_e4m3fn; otherwise a
 * block gets the nearest scale and codes, which may give the same numbers. */
#ifndef FILES_TRANSCODE_TRANSCODE_NVFP4_H
#define FILES_TRANSCODE_TRANSCODE_NVFP4_H

#include <math.h>

#include "files/transcode/transcode_bytes.h"

enum { DTI_NV_LENGTH = 16 };

struct dti_nvfp4_plan {
    const struct dti_dequant_tensor *how; /* mxfp4 with dti_transcode_has_blocks() */
    int power;                            /* the tensor scale is 2^power */
    bool same_codes;                      /* for all blocks, so codes need not be read */
    uint64_t blocks, lossless;            /* of 16 codes */
    double worst;                         /* see struct dti_transcoded */
};

/* transcode_blocks.c: adds the tensor scale of nvfp4 for a target that divides or multiplies by it,
 * and counts the blocks whose numbers change. */
enum dti_status dti_transcode_add_nv_scale(struct dti_dequant_found *found, bool divides,
                                           struct dti_transcoded *ret, struct dti_error *reterr);

/* Chooses the tensor scale that preserves the numbers of most blocks; plain: 1, if that preserves
 * all without reading codes. Reads scales, and codes if the scales are too far apart. */
enum dti_status dti_nvfp4_plan(struct dti_dequant_tensor *how, bool plain,
                               struct dti_nvfp4_plan *ret, struct dti_error *reterr);

/* The tensor scale, a factor. */
static inline float dti_nvfp4_scale(const struct dti_nvfp4_plan *plan)
{
    return ldexpf(1, plan->power);
}

/* Fill units of one byte, a scale each, and of 8 bytes, the codes of a block each. The context is
 * the plan. */
dti_transcode_fill dti_nvfp4_fill_scales, dti_nvfp4_fill_codes;

#endif
