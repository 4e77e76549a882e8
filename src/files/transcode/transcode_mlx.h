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

/* What the configuration says of a matrix. */
struct dti_mlx_scheme {
    uint64_t group;
    unsigned bits;
    const char *mode; /* "affine", or that of a mode above */
};
/* The block is one of a mode above. */
struct dti_mlx_scheme dti_mlx_scheme_of_block(enum dti_block block);
/* The configuration: begins with the usual scheme; then modules, of which those with another scheme
 * (NULL: it is not quantized) get a member; then "\n}". */
void dti_mlx_config_begin(struct dti_buffer *ret, const struct dti_mlx_scheme *usual);
void dti_mlx_config_add(struct dti_buffer *ret, const struct dti_mlx_scheme *usual,
                        const struct dti_mlx_scheme *own, const char *module, size_t length);

/* Implements a target's config(). Tensors that differ from the first one get their own members. */
void dti_mlx_config(const struct dti_transcode_target *target,
                    const struct dti_dequant_found *const *all, size_t count, const char *kept,
                    struct dti_config_texts *texts, const char **ret_why);

extern const struct dti_transcode_target dti_target_mlx_blocks, dti_target_mlx_nvfp4;

#endif
