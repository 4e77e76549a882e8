/* SPDX-License-Identifier: MIT
 *
 * Dequantization of files: a view of a container in which codes, scales and other parts appear as
 * one fp32 tensor, computed while it is read. DTI_RECIPE_DEQUANTIZE casts the tensors of the view
 * like any others. Recognised are block tensors of GGUF, ONNX weights by the nodes that use them
 * (onnx_weight.h), and the layouts of quant_layout.h by names, dtypes and shapes. What those leave
 * open comes from the metadata or from config.json in the file's folder; a tensor that is still
 * ambiguous is refused. */
#ifndef FILES_DEQUANT_FILE_DEQUANT_H
#define FILES_DEQUANT_FILE_DEQUANT_H

#include "containers/container.h"
#include "convert/batch.h"
#include "files/stored/quant_layout.h"
#include "kernels/cpu.h"

struct dti_file_dequant_request {
    bool layout_given;
    enum dti_quant_layout layout; /* the only one to look for */
    bool high;                    /* packed codes have element 0 in the high bits */
    unsigned bits;                /* of a code; 0: as in the file or its configuration */
    uint64_t block;               /* neighbours that share a scale, or the sides of rectangles, for
                                   * tensors with several scales; 0: as in the file or its
                                   * configuration */
    bool reciprocal;       /* as vLLM: scales are multiplied by the reciprocal of the divisor */
    const char *stated_by; /* how the caller names bits and block in messages; or NULL */
    const char *only, *keep, *select;  /* pattern lists, or NULL: as in a rewrite */
    enum dti_level level;              /* the highest to use */
    struct dti_container_options open; /* options for opening npy files next to the first one */
    /* The view is for inspection (logical_tensors.h): its tensors have the byte counts of the file,
     * metadata and files are those of the container, and tensors that would be refused stay as
     * stored, with a note. */
    bool logical;
    bool lint; /* dti_lint_new() will use the view: keep all refusals */
    /* GGUF: whether a tensor's blocks are kept as they are, next to the numbers; NULL: kept tensors
     * must be plain numbers. */
    bool (*stays)(const void *context, const struct dti_tensor *tensor);
    const void *stays_context;
};

/* How the numbers of a tensor of the view were stored: what tensors that are alike share. */
struct dti_form_traits {
    const char *dtype;      /* "int8", "nvfp4"; NULL: the tensor is unchanged from the file */
    const char *layout;     /* "compressed-tensors", "gguf" */
    enum dti_quant_per per; /* what has its own scale */
    unsigned axis;          /* DTI_PER_CHANNEL, DTI_PER_GROUP */
    uint64_t group[2];      /* DTI_PER_GROUP: 0 and the elements along the axis; for rectangles, the
                             * sizes along the previous axis and along the axis */
    unsigned rotation; /* columns of each group that was rotated before it was quantized; 0: none */
    bool zero_points, tensor_scale;
    bool flat;   /* groups cover all elements in order, and cross rows; axis is 0 */
    bool nested; /* scales are quantized too */
    const struct dti_format *number;                /* original dtype, if a state has it; or NULL */
    uint64_t stored_bytes;                          /* of all its parts */
    const struct dti_container *of[DTI_PART_COUNT]; /* where each part is; NULL: there is none */
};
/* What is a tensor's own. */
struct dti_dequant_tensor;
struct dti_dequant_form {
    struct dti_form_traits *is;
    const uint32_t *listed; /* indices of the parts that exist, in order: see dti_form_part() */
    uint16_t part_set;      /* of 1 << enum dti_quant_part */
    /* of a transcoding: */
    bool input_scale; /* a scale for activations is stored with it */
    bool symmetric;   /* all zero points are in the middle; set once it is planned to become
                       * integers with groups of another layout */
    enum dti_dtype narrow : 8; /* if so: the dtype that its fp32 scales are rounded to; DTI_NONE:
                                * not rounded */
    uint8_t gguf_row;          /* once it is planned to become GGUF: for dti_form_type() */
};
/* The type of blocks that was asked for, or NULL. */
static inline const struct dti_gguf_type *dti_form_type(const struct dti_dequant_form *form)
{
    return form->gguf_row > 0 ? dti_gguf_type_of((enum dti_gguf_blocks)(form->gguf_row - 1)) : NULL;
}
/* How it is read, for code in this layer; of a tensor that is quantized. */
struct dti_dequant_tensor *dti_form_how(const struct dti_dequant_form *form);
/* part: of enum dti_quant_part, as dti_container_tensor(). NULL: there is none. */
const struct dti_tensor *dti_form_part(const struct dti_dequant_form *form, size_t part);
size_t dti_form_part_count(const struct dti_dequant_form *form);

struct dti_file_dequant;
/* The container and the strings of the patterns must outlive the view. Reads tensor scales. Fails
 * with DTI_BAD_INPUT, in one line that names the tensors, if parts do not fit together. */
enum dti_status dti_file_dequant_new(struct dti_file_dequant **ret, struct dti_container *container,
                                     const struct dti_file_dequant_request *request,
                                     struct dti_error *reterr);
void dti_file_dequant_free(struct dti_file_dequant *dequant); /* NULL is fine */

/* The view, for dti_rewrite_new(); its request must have the same patterns. */
struct dti_container *dti_file_dequant_container(struct dti_file_dequant *dequant);
/* Where the elements of a tensor of the view come from: a source that lives as long as the view or,
 * if there is none, a range of a file. Not thread-safe. */
enum dti_status dti_file_dequant_data(struct dti_file_dequant *dequant, size_t tensor,
                                      struct dti_batch_source *ret_source,
                                      const struct dti_input **ret_input, uint64_t *ret_offset,
                                      struct dti_error *reterr);

/* The form of a tensor of the view. */
const struct dti_dequant_form *dti_file_dequant_form(const struct dti_file_dequant *dequant,
                                                     size_t tensor);
/* The number of NaNs and infinities that codes decoded to, after the tensor was read. */
void dti_file_dequant_specials(const struct dti_file_dequant *dequant, size_t tensor,
                               uint64_t *ret_nan, uint64_t *ret_inf);
/* The configuration file that was used, such as "config.json"; NULL: none. */
const char *dti_file_dequant_config(const struct dti_file_dequant *dequant);
size_t dti_file_dequant_count(const struct dti_file_dequant *dequant); /* number of tensors with a
                                                                        * form */

#endif
