/* SPDX-License-Identifier: MIT
 *
 * What an index of shards names, without opening them. */
#ifndef CONTAINERS_SHARDED_SHARDED_INDEX_H
#define CONTAINERS_SHARDED_SHARDED_INDEX_H

#include "dtinfo/error.h"
#include "util/run/memory_pool.h"

/* The different files that the index at PATH names, in the order of their names, from the pool: all
 * are in its folder. Fails with DTI_BAD_INPUT where it is no index, DTI_NO_MEMORY. */
enum dti_status dti_index_shard_names(const char *path, struct dti_pool *pool,
                                      const char ***ret_names, size_t *ret_count,
                                      struct dti_error *reterr);

#endif
