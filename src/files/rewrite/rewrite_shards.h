/* SPDX-License-Identifier: MIT
 *
 * Where a safetensors output is cut into shards, by their size and that of their headers. Needs
 * nothing but names, dtypes and shapes. */
#ifndef FILES_REWRITE_REWRITE_SHARDS_H
#define FILES_REWRITE_REWRITE_SHARDS_H

#include "files/rewrite/rewrite.h"

struct dti_shard_cut {
    const struct dti_new_tensor *tensors; /* source / DTI_PART_COUNT: what they are parts of */
    size_t count;
    uint64_t most; /* bytes of a shard */
    size_t large;  /* counted: shards that are larger, because of one tensor with its parts */
};
/* The end of the shard that starts with this tensor; parts of one tensor stay together. */
size_t dti_shard_end(struct dti_shard_cut *cut, size_t first);
size_t dti_shard_count(struct dti_shard_cut cut);
/* "model-00002-of-00005.safetensors"; number: from 1 on. Returns buffer. */
const char *dti_shard_name(size_t number, size_t count, char buffer[DTI_SHARD_NAME]);

/* Before anything is planned: fails with DTI_BAD_INPUT if a header of the output is certain to be
 * longer than safetensors allows. */
enum dti_status dti_rewrite_check_headers(const struct dti_rewrite *rewrite,
                                          struct dti_error *reterr);

#endif
