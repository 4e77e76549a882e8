/* SPDX-License-Identifier: MIT
 *
 * Dequantization of files: a view of a container in which codes, scales and other parts appear as
 * one tensor of fp32, computed while it is read. DTI_RECIPE_DEQUANTIZE casts the tensors of the
 * view like any others. What is recognised: block tensors of GGUF, weights of ONNX by the nodes
 * that use them (onnx_weight.h), and the layouts of quant_layout.h by names, dtypes and shapes.
 * What those leave open is taken from metadata or from config.json in the file's folder; a tensor
 * that may still be read in two ways is refused. */
#ifndef FILES_DEQUANT_FILE_DEQUANT_H
#define FILES_DEQUANT_FILE_DEQUANT_H

#include "containers/container.h"
#include "convert/batch.h"
#include "files/stored/quant_layout.h"
#include "kernels/cpu.h"

struct dti_file_dequant_request {
    bool layout_given;
    enum dti_quant_layout layout; /* the only one that is looked for */
    bool high;                    /* packed codes have element 0 in the highest bits */
    unsigned bits;                /* of a code; 0: as the file or its configuration says */
    uint64_t block;               /* neighbours that share a scale, or the sides of rectangles,
                                   * of tensors that have several scales; 0: likewise */
    bool reciprocal; /* as vLLM: scales are multiplied with the reciprocal of what divides them */
    const char *said_by; /* the caller's words for bits and block, in messages; or NULL */
    const char *only, *keep, *select;  /* lists of patterns, or NULL: as in a rewrite */
    enum dti_level level;              /* the highest to use */
    struct dti_container_options open; /* how npy files next to the first one are opened */
    /* The view is for looking at (logical_tensors.h): its tensors have the bytes that they take in
     * the file, metadata and files are those of the container, and what would be refused stays as
     * it is stored, with a note. */
    bool logical;
    bool lint; /* and dti_lint_new() will look at it: all that is refused is kept */
    /* GGUF: whether blocks stay what they are, beside the numbers; NULL: what is kept beside
     * numbers has to be numbers. */
    bool (*stays)(const void *context, const struct dti_tensor *tensor);
    const void *stays_context;
};

/* How the numbers of a tensor of the view were stored. */
struct dti_dequant_tensor;
struct dti_dequant_form {
    const char *dtype;      /* "int8", "nvfp4"; NULL: the tensor is one of the file as it is */
    const char *layout;     /* "compressed-tensors", "gguf" */
    enum dti_quant_per per; /* what has a scale of its own */
    unsigned axis;          /* DTI_PER_CHANNEL, DTI_PER_GROUP */
    uint64_t group[2];      /* DTI_PER_GROUP: elements along the axis; rectangles have two numbers,
                             * the first of which is that of the axis before; else 0 and elements */
    bool zero_points, tensor_scale;
    bool flat;        /* groups are of all elements in order, and cross rows; axis is 0 */
    bool nested;      /* scales are codes with scales themselves */
    bool input_scale; /* of a translation: activations have a scale beside it */
    const struct dti_format *number; /* what it was before, where a state tells; or NULL */
    uint64_t stored_bytes;           /* of all its parts */
    size_t part_count;
    const struct dti_tensor *parts[DTI_PART_COUNT]; /* by enum dti_quant_part, or NULL */
    struct dti_dequant_tensor *how;                 /* for those who read it, in the layer */
};

struct dti_file_dequant;
/* The container must live longer, and so must what the patterns point at. Reads tensor scales.
 * Fails with DTI_BAD_INPUT in one line that names the tensors, where parts do not fit together. */
enum dti_status dti_file_dequant_new(struct dti_file_dequant **ret, struct dti_container *container,
                                     const struct dti_file_dequant_request *request,
                                     struct dti_error *reterr);
void dti_file_dequant_free(struct dti_file_dequant *dequant); /* NULL is fine */

/* The view, for dti_rewrite_new(), whose request is given the same patterns. */
struct dti_container *dti_file_dequant_container(struct dti_file_dequant *dequant);
/* Where the elements of a tensor of the view come from: a source that lives as long as the view,
 * or, with *ret_source NULL, a range of a file. Not from several threads. */
enum dti_status dti_file_dequant_data(struct dti_file_dequant *dequant, size_t tensor,
                                      const struct dti_batch_source **ret_source,
                                      const struct dti_input **ret_input, uint64_t *ret_offset,
                                      struct dti_error *reterr);

/* Of a tensor of the view. */
const struct dti_dequant_form *dti_file_dequant_form(const struct dti_file_dequant *dequant,
                                                     size_t tensor);
/* NaNs and infinities that came out of codes, once it has been read. */
void dti_file_dequant_specials(const struct dti_file_dequant *dequant, size_t tensor,
                               uint64_t *ret_nan, uint64_t *ret_inf);
/* "config.json": the configuration file that was used; NULL: there is none. */
const char *dti_file_dequant_config(const struct dti_file_dequant *dequant);
size_t dti_file_dequant_count(const struct dti_file_dequant *dequant); /* tensors with a form */

#endif
