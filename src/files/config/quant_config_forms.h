/* SPDX-License-Identifier: MIT
 *
 * The content of a quantization_config, and its text for the loaders: for matrices that were
 * quantized, and for those that were transcoded from another layout. */
#ifndef FILES_CONFIG_QUANT_CONFIG_FORMS_H
#define FILES_CONFIG_QUANT_CONFIG_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dtype/dtype.h"
#include "kernels/quant/quant_kernel.h"
#include "util/buffer.h"

/* The value of quantization_config, and the layout's own file next to config.json; "": none. */
struct dti_config_texts {
    struct dti_buffer value, file;
};
static inline void dti_config_texts_init(struct dti_config_texts *texts)
{
    dti_buffer_init(&texts->value);
    dti_buffer_init(&texts->file);
}
static inline void dti_config_texts_free(struct dti_config_texts *texts)
{
    dti_buffer_free(&texts->value);
    dti_buffer_free(&texts->file);
}

/* How matrices are quantized, in compressed-tensors terms. */
struct dti_config_form {
    const char *format;   /* "nvfp4-pack-quantized" */
    const char *strategy; /* "tensor", "channel", "group", "block", "tensor_group" */
    unsigned bits;        /* of a code */
    bool floats, zero_points;
    bool ordered;         /* weight_g_idx gives the groups of columns */
    bool inputs;          /* layer inputs have a scale of their own, which is stored */
    uint64_t group[2];    /* elements along the last axis; "block" also has rows before it. 0:
                           * none */
    enum dti_dtype scale; /* dtype of scales; DTI_UINT8: fp8_e8m0 */
};

/* Matrices of one form: of all modules, or of those in targets, a JSON array. */
struct dti_config_group {
    struct dti_config_form form;
    const char *targets; /* NULL: all of them */
};

/* The compressed-tensors name of the format; NULL: it has no format for such codes. */
const char *dti_config_format(const struct dti_block_format *block, enum dti_dtype number);

/* kept: a JSON array of the modules whose matrices stay unquantized, indented as a member. */
void dti_config_put_compressed(struct dti_buffer *out, const struct dti_config_group *groups,
                               size_t count, const char *kept);

/* Adds the module of a matrix to a JSON array that starts out empty: the matrix name without
 * ".weight". dti_config_end_modules() ends the array. indent: spaces before an element; the end has
 * two fewer. */
void dti_config_add_module(struct dti_buffer *array, unsigned indent, const char *name,
                           size_t length);
void dti_config_end_modules(struct dti_buffer *array, unsigned indent);

#endif
