/* SPDX-License-Identifier: MIT
 *
 * The view of a transcoded file, shared by the files that create and describe it. */
#ifndef FILES_TRANSCODE_TRANSCODE_VIEW_H
#define FILES_TRANSCODE_TRANSCODE_VIEW_H

#include "files/transcode/file_transcode.h"
#include "files/transcode/transcode_bytes.h"
#include "util/shared_list.h"

/* What tensors of the view that are alike share; other bytes are 0. Where their bytes come from is
 * one of these, else from the origin: */
struct dti_transcode_like {
    struct dti_tensor tensor; /* without a name */
    enum dti_dtype cast;      /* the numbers of the origin, to be cast to it; DTI_NONE: no cast */
    bool made;                /* from a source */
    bool number;              /* from a number; many tensors are a single one */
    bool copied;              /* from a tensor of the container, as it is */
};
/* A tensor of the view. */
struct dti_transcode_entry {
    const char *name;
    uint32_t name_length;
    uint32_t origin; /* index in the dequantization's view, or as in file_transcode.h */
    uint32_t like;   /* an index; UINT32_MAX: it is its origin */
    union {
        uint32_t index; /* made: of the source; copied: of the tensor */
        unsigned char number[4];
    } from;
};

/* transcode_tensors.c: what the tensors of a view are made of. */
struct dti_transcode_tensors {
    struct dti_shared_list likes;    /* struct dti_transcode_like */
    struct dti_shared_list sources;  /* struct dti_batch_source */
    struct dti_shared_list verdicts; /* struct dti_transcode_verdict */
};
void dti_transcode_tensors_free(struct dti_transcode_tensors *tensors);
/* The same shape of a recent one; NULL: there is none. */
const uint64_t *dti_transcode_recent_shape(const struct dti_transcode_tensors *tensors,
                                           unsigned rank, const uint64_t *shape);

/* Of a tensor of the dequantization's view. */
struct dti_transcode_outcome {
    uint32_t first;   /* as dti_file_transcode_first() */
    uint32_t verdict; /* an index */
};

struct dti_file_transcode {
    struct dti_file_transcode_request request;
    struct dti_file_dequant *dequant;
    struct dti_pool pool;
    struct dti_container view; /* never pass it to dti_container_free() */
    struct dti_transcode_entry *entries;
    struct dti_transcode_tensors tensors;
    size_t most;        /* tensors that it may get */
    const char **marks; /* of its tensors: the text of the mark that it is, or NULL; or NULL */
    struct dti_transcode_outcome *outcomes; /* of the dequantization's tensors */
    struct dti_transcode_input *inputs;     /* same, until the view is made: inputs that become
                                             * their reciprocals */
    unsigned char *replaced;                /* same: bits for the container's tensors: which of
                                             * them are such inputs */
    size_t inputs_left_out;                 /* the layout has none */
    const struct dti_transcode_target *of_layout[DTI_TAKES_COUNT]; /* or NULL: none */
    struct dti_reconciled reconciled;
    size_t *wholes; /* reconciled, for the tensors of the view: the quantized tensor of the
                     * dequantization's view that each is a part of; SIZE_MAX: none */
};

/* reconcile.c: creates the view of tensors that keep their layout. */
enum dti_status dti_transcode_reconcile(struct dti_file_transcode *transcode,
                                        struct dti_error *reterr);

/* transcode_numbers.c: counts the numbers that a cast of a tensor to the dtype of a part changes; a
 * block is a row of numbers. Reads all of them. */
enum dti_status dti_transcode_count_numbers(const struct dti_file_transcode *transcode,
                                            size_t origin, struct dti_transcoded *plan,
                                            struct dti_error *reterr);

/* NULL: it is its origin. */
static inline const struct dti_transcode_like *dti_transcode_like_of(
    const struct dti_file_transcode *transcode, size_t tensor)
{
    const uint32_t like = transcode->entries[tensor].like;
    const struct dti_transcode_like *const likes = transcode->tensors.likes.items;
    return like != UINT32_MAX ? &likes[like] : NULL;
}
/* Two ways to a tensor, for struct dti_container; an array of all of them; false: out of memory. */
const struct dti_tensor *dti_transcode_alike(const struct dti_container *view, size_t at);
const struct dti_tensor *dti_transcode_make_tensor(const struct dti_container *view, size_t at);
bool dti_transcode_make_tensors(struct dti_file_transcode *transcode);

/* For a tensor of the dequantization's view; NULL: it is copied. */
static inline struct dti_dequant_found *dti_transcode_found(
    const struct dti_file_transcode *transcode, size_t origin)
{
    return origin < transcode->dequant->view.tensor_count
               ? dti_dequant_found_in(transcode->dequant, origin)
               : NULL;
}

#endif
