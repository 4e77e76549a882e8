/* SPDX-License-Identifier: MIT
 *
 * From one layout of quantized tensors to another, or to plain floats. */
#ifndef REQUESTS_TRANSCODE_TRANSCODE_REQUEST_H
#define REQUESTS_TRANSCODE_TRANSCODE_REQUEST_H

#include "files/transcode/transcode.h"
#include "requests/rewrite/rewrite_job.h"

struct transcode_args {
    int to; /* enum dti_transcode_layout; then, from DTI_TRANSCODE_COUNT on, of floats */
    int dtype;
    int mode;  /* enum dti_block; DTI_BLOCK_COUNT: affine */
    int scale; /* enum dti_dtype */
    uint64_t bits, block;
    int like;
    const char *fused, *types; /* types: "GLOB=TYPE,..." */
    bool to_given, dtype_given, mode_given, scale_given, bits_given, block_given, like_given,
        lossless;
    bool reconcile;
    struct dti_transfer_args transfer;
    struct dti_tensor_args tensors;
};

extern const struct dti_option dti_transcode_options[];

static inline bool dti_transcode_to_floats(const struct transcode_args *args)
{
    return args->to_given && args->to >= DTI_TRANSCODE_COUNT;
}

/* path: of the input. */
enum dti_status dti_transcode_file_run(const struct transcode_args *args,
                                       const struct dti_rewrite_front *front, const char *path,
                                       struct dti_error *reterr);

#endif
