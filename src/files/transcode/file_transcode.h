/* SPDX-License-Identifier: MIT
 *
 * Translation of files from one layout of quantized tensors to another, with their codes and scales
 * carried over: a view of the dequantization's view (file_dequant.h) in which each quantized tensor
 * is replaced by the parts that another layout has for it. DTI_RECIPE_TRANSCODE copies the tensors
 * of the view. */
#ifndef FILES_TRANSCODE_FILE_TRANSCODE_H
#define FILES_TRANSCODE_FILE_TRANSCODE_H

#include "files/dequant/file_dequant.h"
#include "util/buffer.h"

enum dti_transcode_layout {
#define TRANSCODE_LAYOUT(id, ...) DTI_TRANSCODE_##id,
#include "files/transcode/transcode_layouts.def"
#undef TRANSCODE_LAYOUT
    DTI_TRANSCODE_COUNT
};
/* Names in messages: the layout that stores zero points as they are, of those whose loaders expect
 * them minus one; those whose scales of integers have 16 bits or fp32. */
#define DTI_TRANSCODE_PLAIN_ZEROS "gptq_v2"
#define DTI_TRANSCODE_SCALES_16   "gptq, gptq_v2, awq and compressed-tensors"
const char *dti_transcode_layout_name(enum dti_transcode_layout layout);
/* Whether nvfp4 is made of mxfp4 for it. */
bool dti_transcode_layout_has_nvfp4(enum dti_transcode_layout layout);
/* Whether it has integers with groups. */
bool dti_transcode_layout_has_integers(enum dti_transcode_layout layout);

struct dti_file_transcode_request {
    enum dti_transcode_layout layout;
    bool nvfp4;           /* mxfp4 becomes nvfp4 */
    bool lossless;        /* fails unless all numbers stay what they are */
    bool narrow;          /* integers: scales of fp32 are rounded to `scale` */
    enum dti_dtype scale; /* fp16 or bf16 */
};

/* What a tensor of the dequantization's view became. */
struct dti_transcode_verdict {
    bool changed;              /* it is quantized; otherwise it is copied */
    const char *dtype;         /* of codes or blocks: "nvfp4" */
    uint64_t blocks, lossless; /* with a scale of their own; those whose numbers are the same */
    double worst;              /* of the others: the largest |new - old| / |old| of a number */
    size_t first, count;       /* its tensors in the view */
};

struct dti_file_transcode;
/* The dequantization must live longer: of a safetensors file or shards, not logical. Reads scales,
 * and codes where the verdict depends on them. Fails with DTI_WRONG_KIND where the layout cannot
 * have a tensor, or, if that is required, with DTI_ANSWER_NO where it would get other numbers; the
 * message names the tensor. */
enum dti_status dti_file_transcode_new(struct dti_file_transcode **ret,
                                       struct dti_file_dequant *dequant,
                                       const struct dti_file_transcode_request *request,
                                       struct dti_error *reterr);
void dti_file_transcode_free(struct dti_file_transcode *transcode); /* NULL is fine */

/* The view, for dti_rewrite_new(). */
struct dti_container *dti_file_transcode_container(struct dti_file_transcode *transcode);
/* As dti_file_dequant_data(), of bytes. */
enum dti_status dti_file_transcode_data(struct dti_file_transcode *transcode, size_t tensor,
                                        const struct dti_batch_source **ret_source,
                                        const struct dti_input **ret_input, uint64_t *ret_offset,
                                        struct dti_error *reterr);
/* Which tensor of the dequantization's view a tensor came from, and what came of one of those. */
size_t dti_file_transcode_origin(const struct dti_file_transcode *transcode, size_t tensor);
const struct dti_transcode_verdict *dti_file_transcode_verdict(
    const struct dti_file_transcode *transcode, size_t origin);
const struct dti_file_transcode_request *dti_file_transcode_request(
    const struct dti_file_transcode *transcode);
/* Whether a pattern fits a name that tensors of the view were made of. */
bool dti_file_transcode_fits(const struct dti_file_transcode *transcode, const char *pattern,
                             size_t length);

/* The value of quantization_config by which loaders read the view; kept: see
 * quant_config_forms.h. Where there is none *ret_why says so, and nothing is written. */
enum dti_status dti_file_transcode_config(const struct dti_file_transcode *transcode,
                                          const char *kept, struct dti_buffer *ret,
                                          const char **ret_why, struct dti_error *reterr);

#endif
