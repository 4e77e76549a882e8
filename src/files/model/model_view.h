/* SPDX-License-Identifier: MIT
 *
 * A view of a checkpoint as llama.cpp and ComfyUI-GGUF hold it in GGUF: other names, rows of q and
 * k in another order, norms with 1 added, at most four dimensions, and tensors that no file has.
 * Data are changed while they are read; nothing is copied beforehand. */
#ifndef FILES_MODEL_MODEL_VIEW_H
#define FILES_MODEL_MODEL_VIEW_H

#include "convert/batch.h"
#include "files/model/model_keys.h"

struct dti_model_view_request {
    const char *select; /* patterns of tensors to write, by either name; or NULL */
    /* The names are llama.cpp's for this architecture; DTI_MODEL_ARCHS: they stay as they are. */
    enum dti_model_arch arch;
    const char *word; /* general.architecture */
    size_t word_length;
    bool untied;                       /* the output is no copy of the embeddings */
    const struct dti_model_made *made; /* must outlive the view */
    size_t made_count;
};

struct dti_model_view;
/* The container must outlive the view. edits: receives the shapes of tensors with more than four
 * dimensions, "comfy.gguf.orig_shape.NAME". Fails with DTI_WRONG_KIND (a tensor that has no name),
 * DTI_BAD_INPUT, DTI_NO_MEMORY. */
enum dti_status dti_model_view_new(struct dti_model_view **ret, struct dti_container *container,
                                   const struct dti_model_view_request *request,
                                   struct dti_gguf_edits *edits, struct dti_error *reterr);
/* The reverse for a GGUF file: the shapes that its keys "comfy.gguf.orig_shape.NAME" record. *ret
 * is NULL if it has none that fits. */
enum dti_status dti_model_view_shapes(struct dti_model_view **ret, struct dti_container *container,
                                      const char *select, struct dti_error *reterr);
void dti_model_view_free(struct dti_model_view *view); /* NULL is fine */

/* Tensors that are left out because llama.cpp computes them. */
size_t dti_model_view_computed(const struct dti_model_view *view);

/* Before data are read: compares the tensors with the key-values of the new file, and takes from
 * them the numbers of heads, for the order of rows. Fails with DTI_BAD_INPUT. */
enum dti_status dti_model_view_settle(struct dti_model_view *view,
                                      const struct dti_container *pairs, struct dti_error *reterr);

/* Whether a container has names of its own for an architecture: true if one is a checkpoint's name
 * that the table translates. */
bool dti_model_names_apply(const struct dti_container *container, enum dti_model_arch arch);
/* Whether general.architecture is that of an image model. */
bool dti_model_is_image(const char *word, size_t length);

/* The view, and the index in the container of each of its tensors (that of any tensor for one that
 * no file has). */
struct dti_container *dti_model_view_container(struct dti_model_view *view);
const uint32_t *dti_model_view_places(const struct dti_model_view *view);

/* The tensor of the container that a tensor of the view is made of; itself for one that no file
 * has. */
const struct dti_tensor *dti_model_view_stored(const struct dti_model_view *view, size_t tensor);

/* By convention, whatever the dtype or type of the others: it is stored as fp32; it is not encoded
 * as blocks. */
bool dti_model_view_is_fp32(const struct dti_model_view *view, size_t tensor);
bool dti_model_view_is_plain(const struct dti_model_view *view, size_t tensor);

/* Changes where the elements of a tensor of the view come from: given the source, or input and
 * offset, of its place. What is set lives as long as the view. */
enum dti_status dti_model_view_data(struct dti_model_view *view, size_t tensor,
                                    struct dti_batch_source *source, const struct dti_input **input,
                                    uint64_t *offset, struct dti_error *reterr);

#endif
