/* SPDX-License-Identifier: MIT
 *
 * MLX's layout: its modes without biases, and what is written for all modes. Reading, and writing
 * of affine codes: files/layouts/mlx.c. */
#ifndef FILES_TRANSCODE_TRANSCODE_MLX_H
#define FILES_TRANSCODE_TRANSCODE_MLX_H

#include "files/transcode/transcode.h"

/* Modes without biases; the number of bits per scale identifies the mode. */
struct dti_mlx_mode {
    const char *name;
    enum dti_block block;
    unsigned bits, group;
};
enum { DTI_MLX_MODES = 3 };
extern const struct dti_mlx_mode dti_mlx_modes[DTI_MLX_MODES];

/* X.global_scale of nvfp4 is the tensor scale times the largest element and the largest block
 * scale: 6 x 448. */
enum { DTI_MLX_LARGEST = 2688 };

/* Implements a target's config(). Tensors that differ from the first one get their own members. */
void dti_mlx_config(const struct dti_transcode_target *target,
                    const struct dti_dequant_found *const *all, size_t count, const char *kept,
                    struct dti_buffer *ret, const char **ret_why);

extern const struct dti_transcode_target dti_target_mlx_blocks, dti_target_mlx_nvfp4;

#endif
