/* SPDX-License-Identifier: MIT
 *
 * Lists the shards of an index without opening them. */
#ifndef CONTAINERS_SHARDED_SHARDED_INDEX_H
#define CONTAINERS_SHARDED_SHARDED_INDEX_H

#include "util/error.h"
#include "util/run/memory_pool.h"

/* The distinct files that the index at PATH names, sorted, all in its folder; allocated from the
 * pool. Fails with DTI_BAD_INPUT if it is not an index, DTI_NO_MEMORY. */
enum dti_status dti_index_shard_names(const char *path, struct dti_pool *pool,
                                      const char ***ret_names, size_t *ret_count,
                                      struct dti_error *reterr);

#endif
