/* SPDX-License-Identifier: MIT
 *
 * Transcodes files from one layout of quantized tensors to another, keeping their codes and scales:
 * a view on top of the dequantization's view (file_dequant.h) in which each quantized tensor is
 * replaced by its parts in the target layout. DTI_RECIPE_TRANSCODE copies the tensors of the
 * view. */
#ifndef FILES_TRANSCODE_FILE_TRANSCODE_H
#define FILES_TRANSCODE_FILE_TRANSCODE_H

#include "files/config/quant_config_forms.h"
#include "files/dequant/file_dequant.h"
#include "files/dequant/fused_scales.h"
#include "files/stored/fused_modules.h"
#include "util/buffer.h"

enum dti_transcode_layout {
#define TRANSCODE_LAYOUT(id, ...) DTI_TRANSCODE_##id,
#include "files/transcode/transcode_layouts.def"
#undef TRANSCODE_LAYOUT
    DTI_TRANSCODE_COUNT
};
/* Names for messages: the layout that stores zero points unchanged, for loaders that otherwise
 * expect them minus one; and the layouts whose scales of integers have 16 bits or fp32. */
#define DTI_TRANSCODE_PLAIN_ZEROS "gptq_v2"
#define DTI_TRANSCODE_SCALES_16   "gptq, gptq_v2, awq and compressed-tensors"
const char *dti_transcode_layout_name(enum dti_transcode_layout layout);
/* The name of a mode of mlx; DTI_BLOCK_COUNT: affine. */
const char *dti_transcode_mode_name(enum dti_block mode);
/* Whether mxfp4 is converted to nvfp4 for it. */
bool dti_transcode_layout_has_nvfp4(enum dti_transcode_layout layout);
/* Whether it supports integers with groups. */
bool dti_transcode_layout_has_integers(enum dti_transcode_layout layout);

/* The types of blocks that tensors become in GGUF; NULL at the end. */
const struct dti_gguf_type *dti_transcode_gguf_type(size_t index);

struct dti_file_transcode_request {
    enum dti_transcode_layout layout;
    bool nvfp4;              /* convert mxfp4 to nvfp4 */
    bool moded;              /* fail for codes of another mode than `mode` */
    enum dti_block mode;     /* of mlx; DTI_BLOCK_COUNT: affine integers */
    bool lossless;           /* fail unless all numbers stay the same */
    bool reconcile;          /* instead of all that: each tensor keeps its layout, and those that
                              * loaders fuse get one tensor scale. The dequantization has no
                              * patterns; these do: */
    const char *only, *keep; /* lists of patterns, or NULL */
    const struct dti_fused_own *own;   /* a group of fused modules that the user gives, or NULL */
    bool narrow;                       /* integers: round fp32 scales to `scale` */
    enum dti_dtype scale;              /* fp16 or bf16 */
    const struct dti_type_rule *types; /* DTI_TRANSCODE_GGUF: types of these tensors */
    size_t type_count;
};

struct dti_transcode_target;
/* The result for a tensor of the dequantization's view; those that are alike share one. */
struct dti_transcode_verdict {
    const struct dti_transcode_target *target; /* private; or NULL */
    const char *dtype;                         /* of codes or blocks: "nvfp4" */
    uint64_t blocks, lossless; /* blocks have their own scale; lossless: those whose numbers are
                                * unchanged */
    double worst;              /* for the others: the largest |new - old| / |old| of a number */
    uint64_t bytes;            /* of its tensors in the view, as they are written */
    uint32_t count;            /* of these */
    bool changed; /* it is quantized; otherwise it is copied. Reconciled: it is one of those with
                   * different scales */
};

/* What was reconciled: matrices that loaders make of tensors with several scales, and those with
 * several scales of activations. */
struct dti_reconciled {
    struct dti_fused_tally weights, inputs;
    size_t left; /* matrices of both that differ, and that patterns leave as they are */
};

struct dti_file_transcode;
/* The dequantization must outlive the result; it must be of a safetensors file or shards, and not
 * logical. Reads scales, and codes where the verdict depends on them. Fails with DTI_WRONG_KIND if
 * the layout cannot hold a tensor or, if lossless is requested, with DTI_ANSWER_NO if numbers would
 * change; the message names the tensor. */
enum dti_status dti_file_transcode_new(struct dti_file_transcode **ret,
                                       struct dti_file_dequant *dequant,
                                       const struct dti_file_transcode_request *request,
                                       struct dti_error *reterr);
void dti_file_transcode_free(struct dti_file_transcode *transcode); /* NULL is fine */

/* The view, for dti_rewrite_new(). */
struct dti_container *dti_file_transcode_container(struct dti_file_transcode *transcode);
/* As dti_file_dequant_data(), for bytes. */
enum dti_status dti_file_transcode_data(struct dti_file_transcode *transcode, size_t tensor,
                                        struct dti_batch_source *ret_source,
                                        const struct dti_input **ret_input, uint64_t *ret_offset,
                                        struct dti_error *reterr);
/* The text of a tensor that is the mark of a matrix (quant_marks.h); NULL: it is not one; and
 * whether there are any. */
bool dti_file_transcode_has_marks(const struct dti_file_transcode *transcode);
const char *dti_file_transcode_mark(const struct dti_file_transcode *transcode, size_t tensor);
/* The dtype that the numbers of a tensor of the view are cast to; DTI_NONE: it is copied. */
enum dti_dtype dti_file_transcode_cast(const struct dti_file_transcode *transcode, size_t tensor);
/* dti_file_transcode_origin(): the tensor of the dequantization's view that a tensor was made from;
 * reconciled: if it is not changed, a number above, which stands for the tensor itself.
 * dti_file_transcode_verdict(), dti_file_transcode_numbers(), dti_file_transcode_form(): the result
 * for an origin, the tensor, and how it was stored. */
size_t dti_file_transcode_origin(const struct dti_file_transcode *transcode, size_t tensor);
const struct dti_tensor *dti_file_transcode_numbers(const struct dti_file_transcode *transcode,
                                                    size_t origin);
const struct dti_dequant_form *dti_file_transcode_form(const struct dti_file_transcode *transcode,
                                                       size_t origin);
const struct dti_transcode_verdict *dti_file_transcode_verdict(
    const struct dti_file_transcode *transcode, size_t origin);
/* The first of its tensors in the view; they are a range, unless reconciled. UINT32_MAX: none. */
size_t dti_file_transcode_first(const struct dti_file_transcode *transcode, size_t origin);
/* Number of scales of activations that are not in the view, since the layout has none. */
size_t dti_file_transcode_inputs_left_out(const struct dti_file_transcode *transcode);
const struct dti_file_transcode_request *dti_file_transcode_request(
    const struct dti_file_transcode *transcode);
const struct dti_reconciled *dti_file_transcode_reconciled(
    const struct dti_file_transcode *transcode);
/* Reconciled: whether a list of patterns names the quantized tensor that a tensor of the view is a
 * part of. */
bool dti_file_transcode_names_whole(const struct dti_file_transcode *transcode, const char *list,
                                    size_t tensor);
/* Whether a pattern matches a name that tensors of the view were made from. */
bool dti_file_transcode_fits(const struct dti_file_transcode *transcode, const char *pattern,
                             size_t length);

/* Writes the configuration for loaders of the view; kept: see quant_config_forms.h.
 * If there is none, *ret_why has the reason, and nothing is written. */
enum dti_status dti_file_transcode_config(const struct dti_file_transcode *transcode,
                                          const char *kept, struct dti_config_texts *ret,
                                          const char **ret_why, struct dti_error *reterr);

#endif
