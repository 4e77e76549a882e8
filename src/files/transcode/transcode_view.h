/* SPDX-License-Identifier: MIT
 *
 * The view of a translated file, shared by the files that make and describe it. */
#ifndef FILES_TRANSCODE_TRANSCODE_VIEW_H
#define FILES_TRANSCODE_TRANSCODE_VIEW_H

#include "files/transcode/file_transcode.h"
#include "files/transcode/transcode_bytes.h"

/* Where the bytes of a tensor of the view come from. */
struct dti_transcode_entry {
    size_t origin;                         /* in the dequantization's view */
    const struct dti_batch_source *source; /* of a part: that, or a tensor as it is */
    const struct dti_dequant_part *copied;
};

struct dti_file_transcode {
    struct dti_file_transcode_request request;
    struct dti_file_dequant *dequant;
    struct dti_pool pool;
    struct dti_container view; /* never given to dti_container_free() */
    struct dti_transcode_entry *entries;
    struct dti_transcode_verdict *verdicts; /* of the dequantization's tensors */
    struct dti_transcode_input *inputs;     /* likewise: those that become their reciprocals */
    unsigned char *replaced;                /* of the container's tensors: those */
    const struct dti_transcode_target **targets;
};

/* Of a tensor of the dequantization's view; NULL: it is copied. */
static inline struct dti_dequant_found *dti_transcode_found(
    const struct dti_file_transcode *transcode, size_t origin)
{
    return transcode->dequant->entries[origin].found;
}

#endif
