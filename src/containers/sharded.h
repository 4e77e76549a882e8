/* SPDX-License-Identifier: MIT
 *
 * The parts of the reader of sharded checkpoints: what an index says, what a folder holds. */
#ifndef DTINFO_CONTAINERS_SHARDED_H
#define DTINFO_CONTAINERS_SHARDED_H

#include "containers/containers.h"

/* One member of the index's weight_map. */
struct dti_mapping {
    const char *tensor;
    size_t tensor_length;
    size_t shard; /* index into shards */
};

/* The files of a checkpoint by name, in the order of their names, and what the index says. */
struct dti_shards {
    size_t count;
    const char **names; /* in their folder; no NUL, no separators */
    bool indexed;       /* the rest is from an index */
    size_t mapping_count;
    struct dti_mapping *mappings;
    bool has_total_size, has_total_parameters;
    uint64_t total_size, total_parameters;
};

/* Reads an index; label names it. Fails with DTI_BAD_INPUT, DTI_NO_MEMORY. */
enum dti_status dti_index_read(struct dti_pool *pool, const struct dti_input *input,
                               struct dti_shards *ret, struct dti_error *reterr);
/* The same for text in memory. */
enum dti_status dti_index_parse(struct dti_pool *pool, const char *label, const char *text,
                                size_t length, struct dti_shards *ret, struct dti_error *reterr);

/* Looks into a folder: its index (*ret_index, then ret->count is 0), or else the names of all its
 * shards. */
enum dti_status dti_folder_read(struct dti_pool *pool, const char *path, const char **ret_index,
                                struct dti_shards *ret, struct dti_error *reterr);

#endif
