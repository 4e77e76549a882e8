/* SPDX-License-Identifier: MIT
 *
 * The steps of a rewrite, and the operations that define a recipe. Each works on a struct
 * dti_rewrite that dti_rewrite_free() can free at any time. */
#ifndef FILES_REWRITE_REWRITE_PARTS_H
#define FILES_REWRITE_REWRITE_PARTS_H

#include "convert/batch.h"
#include "files/rewrite/rewrite.h"
#include "files/stored/quant_names.h"
#include "files/stored/tensor_choice.h"

/* What differs between recipes. A NULL operation does nothing. */
struct dti_recipe_ops {
    /* Maps elements one to one: the output may stay in column-major order, codes may be packed as
     * requested, and tensors are in the order of the output. */
    bool elementwise;
    bool names;              /* choose() needs an index of all tensor names */
    enum dti_remedy unnamed; /* for a kept tensor whose dtype has no name in the output */
    /* Checks and setup for the whole rewrite, before any tensor is examined. */
    enum dti_status (*begin)(struct dti_rewrite *rewrite, struct dti_error *reterr);
    /* Whether a tensor of the container is written regardless of patterns. */
    bool (*selects)(const struct dti_rewrite *rewrite, size_t tensor);
    /* Whether a tensor of the container keeps its dtype regardless of patterns, and why. */
    bool (*keeps)(const struct dti_rewrite *rewrite, size_t tensor, enum dti_fate *ret_fate);
    /* Whether the recipe applies to a tensor that no pattern excludes. It is not complex. */
    enum dti_fate (*choose)(const struct dti_rewrite *rewrite, const struct dti_quant_names *names,
                            size_t tensor);
    /* Whether a pattern matches a name that the container's tensors were derived from. */
    bool (*fits)(const struct dti_rewrite *rewrite, const char *pattern, size_t length);
    /* Warnings about the choice. */
    enum dti_status (*warn)(const struct dti_rewrite *rewrite, struct dti_error *reterr);
    /* plan: how a tensor is changed; planned: the remaining planning and checks for all of them. */
    enum dti_status (*plan)(struct dti_rewrite *rewrite, size_t at, struct dti_error *reterr);
    enum dti_status (*planned)(struct dti_rewrite *rewrite, struct dti_error *reterr);
    /* Errors and warnings once the new files are laid out. */
    enum dti_status (*laid_out)(const struct dti_rewrite *rewrite, struct dti_error *reterr);
    /* Additional checks of dti_rewrite_open(). */
    enum dti_status (*opens)(const struct dti_rewrite *rewrite, struct dti_error *reterr);
    /* The source of a tensor's elements, if not its file, by its index in the container or in the
     * whole it was selected from. */
    enum dti_status (*data)(const struct dti_rewrite *rewrite, size_t tensor,
                            struct dti_batch_source *ret_source, const struct dti_input **ret_input,
                            uint64_t *ret_offset, struct dti_error *reterr);
    /* Called before the tensor at `at` is read: where data() adds the loss of a tensor without a
     * plan. */
    void (*counts)(struct dti_rewrite *rewrite, size_t at, struct dti_loss *loss);
    /* Frees what begin() or planned() made. */
    void (*free)(struct dti_rewrite *rewrite);
};
extern const struct dti_recipe_ops dti_recipe_cast, dti_recipe_dequantize, dti_recipe_quantize,
    dti_recipe_transcode, dti_recipe_encode;

/* The index of a tensor of the container in request.model_view. */
static inline size_t dti_rewrite_model_place(const struct dti_rewrite *rewrite, size_t tensor)
{
    const uint32_t *const places = rewrite->request.model_places;
    return places ? places[tensor] : tensor;
}
/* Whether a convention of GGUF stores a tensor of the container as fp32; never encodes it. */
static inline bool dti_rewrite_is_fp32(const struct dti_rewrite *rewrite, size_t tensor)
{
    const struct dti_model_view *const view = rewrite->request.model_view;
    return view && dti_model_view_is_fp32(view, dti_rewrite_model_place(rewrite, tensor));
}
static inline bool dti_rewrite_is_plain(const struct dti_rewrite *rewrite, size_t tensor)
{
    const struct dti_model_view *const view = rewrite->request.model_view;
    return view && dti_model_view_is_plain(view, dti_rewrite_model_place(rewrite, tensor));
}
/* Where a tensor's elements are once the view has changed them. */
static inline enum dti_status dti_rewrite_model_data(const struct dti_rewrite *rewrite,
                                                     size_t tensor, struct dti_batch_source *source,
                                                     const struct dti_input **input,
                                                     uint64_t *offset, struct dti_error *reterr)
{
    struct dti_model_view *const view = rewrite->request.model_view;
    return view ? dti_model_view_data(view, dti_rewrite_model_place(rewrite, tensor), source, input,
                                      offset, reterr)
                : DTI_OK;
}

/* rewrite_choose.c: sets source and fate of the tensors, in the container's order. */
enum dti_status dti_rewrite_choose(struct dti_rewrite *rewrite, struct dti_error *reterr);
/* Whether a tensor is a part, such as X_scale of codes X or X_packed; or codes with a state, which
 * may look like floats. names: empty if no tensor can be codes. */
bool dti_rewrite_is_part(const struct dti_quant_names *names, size_t tensor);
/* The columns of each group of a quantized tensor that is rotated first; 0: it is not. */
unsigned dti_rewrite_rotation(const struct dti_rewrite *rewrite, size_t tensor);
/* The fate of a single readable, non-complex tensor under quantization; at: its index in the
 * container of the names, which may be empty if no tensor can be codes. */
enum dti_fate dti_quantize_fate(const struct dti_quant_names *names,
                                const struct dti_tensor *tensor, size_t at);

/* gguf_encoder.c: the block encoder for recipe_encode.c; dti_gguf_encoder_free() accepts NULL. */
struct dti_gguf_encoder;
enum dti_status dti_gguf_encoder_new(struct dti_gguf_encoder **ret, struct dti_rewrite *rewrite,
                                     struct dti_error *reterr);
void dti_gguf_encoder_free(struct dti_gguf_encoder *encoder);
/* Creates the source of a tensor that has a type. */
enum dti_status dti_gguf_encoder_add(struct dti_gguf_encoder *encoder, size_t at,
                                     struct dti_error *reterr);
/* The source of the tensor at this index of the whole, ready to be read; NULL: not encoded. */
enum dti_status dti_gguf_encoder_open(struct dti_gguf_encoder *encoder, size_t place,
                                      struct dti_batch_source *ret, struct dti_error *reterr);
/* The scale of a whole tensor that has been opened; false: it has none. */
bool dti_gguf_encoder_scale(const struct dti_gguf_encoder *encoder, size_t place, float *ret);
void dti_gguf_encoder_count(struct dti_gguf_encoder *encoder, size_t place, struct dti_loss *loss);

/* rewrite_plan.c: sets plan or quant, format and layout. */
enum dti_status dti_rewrite_plan(struct dti_rewrite *rewrite, struct dti_error *reterr);
/* Sets the way of a tensor. Fails with DTI_NO_MEMORY. */
enum dti_status dti_rewrite_go(struct dti_rewrite *rewrite, size_t at,
                               const struct dti_rewrite_way *way, struct dti_error *reterr);
/* The same for one tensor whose elements become `to` one by one: cast or copied. */
enum dti_status dti_rewrite_plan_elements(struct dti_rewrite *rewrite, size_t at,
                                          const struct dti_format *to, struct dti_error *reterr);
/* A tensor whose shape the dtype cannot hold stays as it is, in a request that skips those. */
enum dti_status dti_rewrite_skip(struct dti_rewrite *rewrite, size_t at, struct dti_error *reterr);

/* rewrite_layout.c: sets files, and the parts of the tensors. */
enum dti_status dti_rewrite_layout(struct dti_rewrite *rewrite, struct dti_error *reterr);
/* Frees the list, once the heads are written. */
void dti_rewrite_list_free(struct dti_rewrite *rewrite);
/* Whether a tensor of the container stays in column-major order. */
static inline bool dti_rewrite_is_fortran(const struct dti_rewrite *rewrite,
                                          const struct dti_tensor *source)
{
    return source->fortran && !rewrite->request.row_major && dti_is_numpy(rewrite->request.kind) &&
           rewrite->ops->elementwise;
}

/* The input's metadata, except entries about the tensors of `quantized`, plus what the parts of new
 * ones leave ambiguous. Free it in any case. */
struct dti_rewrite_metadata {
    struct dti_metadata *entries;
    size_t count;
    struct dti_buffer texts; /* of entries that are not the input's */
    /* shards: */
    size_t common;               /* number of entries about no tensor, which come first */
    struct dti_name_order named; /* index of the tensors of the other entries */
    struct dti_metadata *chosen; /* of one shard */
    struct dti_buffer marks;     /* of one file: the text of dti_rewrite_put_marks() */
};
/* rewrite_marks.c: adds the entry about the layers of a file with these tensors, or extends that of
 * the input; entries has room for one more. Its value is *text. Returns false if memory ran out. */
bool dti_rewrite_put_marks(const struct dti_rewrite *rewrite, const struct dti_new_source *source,
                           struct dti_metadata *entries, size_t *entry_count,
                           struct dti_buffer *text);

/* rewrite_tensor.c: where the elements of a tensor are, in the order in which they are written: in
 * its file or a temporary one. Must be closed; must not be copied. */
struct dti_rewrite_input {
    struct dti_batch_source source; /* if there is one, replaces input */
    const struct dti_input *input;
    uint64_t offset;
    struct dti_input reordered; /* row-major, if the file is not */
    bool is_reordered;
};
enum dti_status dti_rewrite_input_open(struct dti_rewrite *rewrite, size_t at, uint64_t max_memory,
                                       struct dti_rewrite_input *ret, struct dti_error *reterr);
void dti_rewrite_input_close(struct dti_rewrite_input *input);

/* Stores the figures of a tensor that has been changed, and adds its loss to the total. */
void dti_rewrite_add_loss(struct dti_rewrite *rewrite, size_t at, const struct dti_loss *loss);
/* The same for a cast; fails with DTI_NOT_REPRESENTABLE for a NaN that has no code. */
enum dti_status dti_rewrite_add_cast(struct dti_rewrite *rewrite, size_t at,
                                     const struct dti_loss *loss, struct dti_error *reterr);

/* A rewrite in progress. */
struct dti_rewrite_run {
    struct dti_rewrite *rewrite;
    const struct dti_rewrite_options *options;
    uint64_t done; /* bytes read for finished work */
};
/* Callback, whose context is a struct dti_rewrite_run: bytes read in addition to its `done`. */
void dti_rewrite_progress(void *context, uint64_t done);

/* quantize_plan.c: the plans of the tensors that the recipe applies to, whose axis is known. */
enum dti_status dti_quantize_plan(struct dti_rewrite *rewrite, struct dti_error *reterr);

/* quantize_run.c: quantizes tensors in groups. */
struct dti_quantize_job;
enum dti_status dti_quantize_job_new(struct dti_quantize_job **ret, struct dti_rewrite_run *run,
                                     struct dti_error *reterr);
void dti_quantize_job_free(struct dti_quantize_job *job); /* NULL is allowed */
/* dti_quantize_job_has_room(): whether another tensor of this size fits. dti_quantize_job_add()
 * opens it; *ret_last: it uses disk space, so it should be the last of the group. */
bool dti_quantize_job_has_room(const struct dti_quantize_job *job, uint64_t bytes);
enum dti_status dti_quantize_job_add(struct dti_quantize_job *job, size_t at, bool *ret_last,
                                     struct dti_error *reterr);
/* Quantizes the tensors that were added, and clears the group. */
enum dti_status dti_quantize_job_run(struct dti_quantize_job *job, struct dti_error *reterr);

#endif
