/* SPDX-License-Identifier: MIT
 *
 * Tensors chosen by patterns, named in messages, put into order: what all that makes new files of
 * a container shares. */
#ifndef DTINFO_FILES_TENSOR_CHOICE_H
#define DTINFO_FILES_TENSOR_CHOICE_H

#include "dtinfo/container.h"

/* Whether one of a list of patterns fits the tensor's name; not when list is NULL. */
bool dti_tensor_fits(const char *list, const struct dti_tensor *tensor);

/* Warns of patterns that fit nothing, which most likely are misspelt. fits (may be NULL) knows
 * more names than those of the container; warn may be NULL. */
struct dti_idle_patterns {
    const struct dti_container *container;
    bool (*fits)(void *context, const char *pattern, size_t length);
    void *fits_context;
    dti_warn_fn *warn;
    void *warn_context;
    enum dti_remedy correct_only; /* what to do about idle patterns of `only` */
};
void dti_warn_idle_choices(const struct dti_idle_patterns *idle, const char *select,
                           const char *only, const char *keep);

/* Which tensors are written: those that fit select (NULL: all), as an array to be freed of
 * their places in the container. Fails with DTI_BAD_INPUT when the values of one are out of reach,
 * naming the first of them, with DTI_USAGE when select fits nothing. */
enum dti_status dti_choose_tensors(const struct dti_container *container, const char *select,
                                   size_t **ret_places, size_t *ret_count,
                                   struct dti_error *reterr);

/* "'model.safetensors': tensor 'wte'", for messages. */
enum { DTI_TENSOR_PLACE = 2 * DTI_QUOTE_SIZE + 16 };
const char *dti_tensor_place(const struct dti_container *container, size_t tensor,
                             char buffer[DTI_TENSOR_PLACE]);
/* Puts that before an error of one of its elements. */
void dti_tensor_blame(const struct dti_container *container, size_t tensor,
                      struct dti_error *reterr);

/* The elements of a tensor in Fortran order, put into row-major order: a temporary file, to be
 * closed. See dti_transpose(). */
enum dti_status dti_tensor_reorder(const struct dti_tensor *tensor, const struct dti_input *input,
                                   uint64_t offset, uint64_t max_memory, struct dti_input *ret,
                                   struct dti_error *reterr);

#endif
