/* SPDX-License-Identifier: MIT
 *
 * Metadata for the shards of an output: entries that are about one tensor go where that tensor
 * goes, all others into every shard. Otherwise shards of many tensors would all tell of all. */
#ifndef DTINFO_FILES_TOLD_METADATA_H
#define DTINFO_FILES_TOLD_METADATA_H

#include "containers/name_order.h"
#include "dtinfo/container.h"
#include "dtinfo/quant_layout.h"

struct dti_told_metadata {
    struct dti_metadata *entries; /* those about no tensor first */
    size_t common, count;
    struct dti_metadata *chosen; /* of one shard */
    struct dti_name_order told;  /* the X of the others */
};
/* Takes entries, an array that free() frees, also on failure; brings them into its order. False:
 * memory ran out. */
bool dti_told_metadata_init(struct dti_told_metadata *ret, struct dti_metadata *entries,
                            size_t count);
void dti_told_metadata_free(struct dti_told_metadata *metadata);

/* The entries for a shard with these tensors; they hold until the next call. */
const struct dti_metadata *dti_told_metadata_of(struct dti_told_metadata *metadata,
                                                const struct dti_new_tensor *tensors, size_t count,
                                                size_t *ret_count);

/* Whether an entry is about a tensor: the X of it stands behind DTI_QUANT_KEY. */
bool dti_is_told(const struct dti_metadata *entry);

#endif
