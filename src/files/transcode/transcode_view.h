/* SPDX-License-Identifier: MIT
 *
 * The view of a transcoded file, shared by the files that create and describe it. */
#ifndef FILES_TRANSCODE_TRANSCODE_VIEW_H
#define FILES_TRANSCODE_TRANSCODE_VIEW_H

#include "files/transcode/file_transcode.h"
#include "files/transcode/transcode_bytes.h"

/* Where the bytes of a tensor of the view come from. */
struct dti_transcode_entry {
    uint32_t origin;         /* index in the dequantization's view, or as in file_transcode.h */
    enum dti_dtype cast : 8; /* the numbers of the origin, to be cast to it; DTI_NONE: no cast */
    bool made : 1;           /* from the source */
    bool number : 1;         /* from a number; many tensors are a single one */
    bool copied : 1;         /* from a tensor of the container, as it is; else from the origin */
    union {
        const struct dti_batch_source *source;
        unsigned char *number; /* for dti_transcode_number() */
        uint32_t tensor;
    } from;
};

struct dti_file_transcode {
    struct dti_file_transcode_request request;
    struct dti_file_dequant *dequant;
    struct dti_pool pool;
    struct dti_container view; /* never pass it to dti_container_free() */
    struct dti_transcode_entry *entries;
    const char **marks; /* of its tensors: the text of the mark that it is, or NULL; or NULL */
    struct dti_transcode_verdict *verdicts; /* of the dequantization's tensors */
    struct dti_transcode_input *inputs;     /* same, until the view is made: inputs that become
                                             * their reciprocals */
    unsigned char *replaced;                /* flags for the container's tensors: which of them are
                                             * such inputs */
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

/* For a tensor of the dequantization's view; NULL: it is copied. */
static inline struct dti_dequant_found *dti_transcode_found(
    const struct dti_file_transcode *transcode, size_t origin)
{
    return origin < transcode->dequant->view.tensor_count
               ? dti_dequant_found_in(transcode->dequant, origin)
               : NULL;
}

#endif
