/* SPDX-License-Identifier: MIT
 *
 * The steps of a rewrite, and the operations that make a recipe. Each works on a struct dti_rewrite
 * that dti_rewrite_free() can free at any time. */
#ifndef FILES_REWRITE_REWRITE_PARTS_H
#define FILES_REWRITE_REWRITE_PARTS_H

#include "convert/batch.h"
#include "files/rewrite/rewrite.h"
#include "files/stored/quant_names.h"
#include "files/stored/tensor_choice.h"

/* What differs between recipes. Of several operations the one that is NULL has nothing to do. */
struct dti_recipe_ops {
    /* An element becomes an element: so what is written may stay in column-major order, codes may
     * be packed as requested, and tensors are in the order of the output. */
    bool elementwise;
    bool names;              /* choose() looks at the names of all tensors, put in order */
    enum dti_remedy unnamed; /* of a kept tensor whose dtype has no name in the output */
    /* What is required of all tensors, before one is examined. */
    enum dti_status (*begin)(struct dti_rewrite *rewrite, struct dti_error *reterr);
    /* Whether a tensor of the container is one of those that are written whatever patterns say. */
    bool (*selects)(const struct dti_rewrite *rewrite, size_t tensor);
    /* Whether a tensor of the container keeps its dtype whatever patterns say, and why. */
    bool (*keeps)(const struct dti_rewrite *rewrite, size_t tensor, enum dti_fate *ret_fate);
    /* Whether it has the recipe, where no pattern says that it has not. It is not complex. */
    enum dti_fate (*choose)(const struct dti_rewrite *rewrite, const struct dti_quant_names *names,
                            size_t tensor);
    /* Whether a pattern fits a name that the tensors of the container were made of. */
    bool (*fits)(const struct dti_rewrite *rewrite, const char *pattern, size_t length);
    /* Warnings about the choice. */
    enum dti_status (*warn)(const struct dti_rewrite *rewrite, struct dti_error *reterr);
    /* How a tensor is changed; then, for all of them, what is left to be planned or refused. */
    enum dti_status (*plan)(struct dti_rewrite *rewrite, size_t at, struct dti_error *reterr);
    enum dti_status (*planned)(struct dti_rewrite *rewrite, struct dti_error *reterr);
    /* Errors and warnings once the new files are laid out. */
    enum dti_status (*laid_out)(const struct dti_rewrite *rewrite, struct dti_error *reterr);
    /* What dti_rewrite_open() refuses besides. */
    enum dti_status (*opens)(const struct dti_rewrite *rewrite, struct dti_error *reterr);
    /* Where the elements of a tensor come from, if not from its file, by its place in the container
     * or in the whole of which that is a choice. */
    enum dti_status (*data)(const struct dti_rewrite *rewrite, size_t tensor,
                            const struct dti_batch_source **ret_source,
                            const struct dti_input **ret_input, uint64_t *ret_offset,
                            struct dti_error *reterr);
    /* Before the tensor at `at` is read: where data() of one without a plan adds its loss. */
    void (*counts)(struct dti_rewrite *rewrite, size_t at, struct dti_loss *loss);
};
extern const struct dti_recipe_ops dti_recipe_cast, dti_recipe_dequantize, dti_recipe_quantize,
    dti_recipe_transcode, dti_recipe_encode;

/* rewrite_choose.c: fills tensors with source and fate, in the container's order. */
enum dti_status dti_rewrite_choose(struct dti_rewrite *rewrite, struct dti_error *reterr);
/* Whether a tensor is the X_scale or the like of codes X, or X_packed; or codes with a state, which
 * may look like floats. names: empty where no tensor may be codes. */
bool dti_rewrite_is_part(const struct dti_quant_names *names, size_t tensor);
/* What quantizing makes of a tensor that is not complex and can be read, by itself; at:
 * its place in the container of the names, which may be empty where no tensor may be codes. */
enum dti_fate dti_quantize_fate(const struct dti_quant_names *names,
                                const struct dti_tensor *tensor, size_t at);

/* gguf_encoder.c: what recipe_encode.c needs to make blocks; frees NULL. */
struct dti_gguf_encoder;
enum dti_status dti_gguf_encoder_new(struct dti_gguf_encoder **ret, struct dti_rewrite *rewrite,
                                     struct dti_error *reterr);
void dti_gguf_encoder_free(struct dti_gguf_encoder *encoder);
/* Makes the source of a tensor that has a type. */
enum dti_status dti_gguf_encoder_add(struct dti_gguf_encoder *encoder, size_t at,
                                     struct dti_error *reterr);
/* The source of what is at that place of the whole, ready to be read; NULL: it is not encoded. */
enum dti_status dti_gguf_encoder_open(struct dti_gguf_encoder *encoder, size_t place,
                                      const struct dti_batch_source **ret,
                                      struct dti_error *reterr);
void dti_gguf_encoder_count(struct dti_gguf_encoder *encoder, size_t place, struct dti_loss *loss);

/* rewrite_plan.c: fills plan or quant, format and layout. */
enum dti_status dti_rewrite_plan(struct dti_rewrite *rewrite, struct dti_error *reterr);
/* The same of one tensor, whose elements become `to` one by one: by the cast, or as they are. */
enum dti_status dti_rewrite_plan_elements(struct dti_rewrite *rewrite, size_t at,
                                          const struct dti_format *to, struct dti_error *reterr);

/* rewrite_layout.c: fills files, and the parts of the tensors. */
enum dti_status dti_rewrite_layout(struct dti_rewrite *rewrite, struct dti_error *reterr);
/* Whether a tensor of the container stays in column-major order. */
static inline bool dti_rewrite_is_fortran(const struct dti_rewrite *rewrite,
                                          const struct dti_tensor *source)
{
    return source->fortran && !rewrite->request.row_major && dti_is_numpy(rewrite->request.kind) &&
           rewrite->ops->elementwise;
}

/* The input's, except entries about the tensors of `quantized`, plus what the
 * parts of new ones leave ambiguous. To be freed in any case. */
struct dti_rewrite_metadata {
    struct dti_metadata *entries;
    size_t count;
    struct dti_buffer texts; /* of entries that are not the input's */
    /* shards: */
    size_t common;               /* entries about no tensor, which come first */
    struct dti_name_order named; /* the tensors of the others */
    struct dti_metadata *chosen; /* of one shard */
};

/* rewrite_tensor.c: where the elements of a tensor are, in the order in which they are written: in
 * its file, or in a temporary one. To be closed; must not be copied. */
struct dti_rewrite_input {
    const struct dti_batch_source *source; /* not NULL: in place of input */
    const struct dti_input *input;
    uint64_t offset;
    struct dti_input reordered; /* row-major, when the file is not */
    bool is_reordered;
};
enum dti_status dti_rewrite_input_open(struct dti_rewrite *rewrite, size_t at, uint64_t max_memory,
                                       struct dti_rewrite_input *ret, struct dti_error *reterr);
void dti_rewrite_input_close(struct dti_rewrite_input *input);

/* Keeps the figures of a tensor that has been changed, and adds its loss to the whole. */
void dti_rewrite_add_loss(struct dti_rewrite *rewrite, size_t at, const struct dti_loss *loss);
/* The same of a cast; fails with DTI_NOT_REPRESENTABLE for a NaN that has no code. */
enum dti_status dti_rewrite_add_cast(struct dti_rewrite *rewrite, size_t at,
                                     const struct dti_loss *loss, struct dti_error *reterr);

/* The work on its way. */
struct dti_rewrite_run {
    struct dti_rewrite *rewrite;
    const struct dti_rewrite_options *options;
    uint64_t done; /* bytes that were read for what is finished */
};
/* With a struct dti_rewrite_run: bytes that were read besides. */
void dti_rewrite_progress(void *run, uint64_t done);

/* quantize_plan.c: the plans of the tensors that have the recipe, whose axis is known. */
enum dti_status dti_quantize_plan(struct dti_rewrite *rewrite, struct dti_error *reterr);

/* quantize_run.c: tensors that become codes and scales together. */
struct dti_quantizer;
enum dti_status dti_quantizer_new(struct dti_quantizer **ret, struct dti_rewrite_run *run,
                                  struct dti_error *reterr);
void dti_quantizer_free(struct dti_quantizer *quantizer); /* NULL is fine */
/* Whether there is room for one more of so many bytes; then it is opened. *ret_last: it takes disk
 * space, and should be the last. */
bool dti_quantizer_has_room(const struct dti_quantizer *quantizer, uint64_t bytes);
enum dti_status dti_quantizer_add(struct dti_quantizer *quantizer, size_t at, bool *ret_last,
                                  struct dti_error *reterr);
/* Does those that were added; then there are none. */
enum dti_status dti_quantizer_run(struct dti_quantizer *quantizer, struct dti_error *reterr);

#endif
