/* SPDX-License-Identifier: MIT
 *
 * The parts of the reader of sharded checkpoints: the contents of an index and of a folder. */
#ifndef CONTAINERS_SHARDED_SHARDED_H
#define CONTAINERS_SHARDED_SHARDED_H

#include "containers/opening.h"

/* One member of the index's weight_map. */
struct dti_mapping {
    const char *tensor;
    size_t tensor_length;
    size_t shard; /* index into shards */
};

/* The files of a checkpoint, sorted by name, and the contents of the index. */
struct dti_shards {
    size_t count;
    const char **names; /* in their folder; no NUL, no separators */
    const char *part;   /* a folder without shards: the first part of a split GGUF; or NULL */
    bool indexed;       /* the fields below come from an index */
    size_t mapping_count;
    struct dti_mapping *mappings;
    bool has_total_size, has_total_parameters;
    uint64_t total_size, total_parameters;
};

/* Reads the index in the opening's file. */
bool dti_index_read(struct dti_opening *opening, struct dti_shards *ret);
/* The same for text in memory. */
bool dti_index_parse(struct dti_opening *opening, const char *text, size_t length,
                     struct dti_shards *ret);

/* Examines the folder that is the container's path: its index, or NULL, and the names of all its
 * safetensors files; without either, a part of a split GGUF. */
bool dti_folder_read(struct dti_opening *opening, const char **ret_index, struct dti_shards *ret);
/* Raises the limit on open files for this many, for the owner of the process. */
void dti_shards_allow(size_t count);
/* Adds notes about files in the folder that the index does not list: "x.safetensors" for
 * "x.safetensors.index.json", and those named like its shards. */
bool dti_folder_note_others(struct dti_opening *opening, const char *index,
                            const struct dti_shards *named, const struct dti_shards *there);
/* folder/name; the folder is that of the index `path`, or the path itself. NULL: out of memory. */
const char *dti_shard_path(struct dti_opening *opening, const char *path, bool path_is_folder,
                           const char *name);
/* Opens these files, whose paths are known, up to the first that fails: *ret_opened is its index.
 * Remote files are opened concurrently, and their headers fetched. Fails like
 * dti_input_open_file().
 */
enum dti_status dti_open_files(struct dti_opening *opening, struct dti_container_file *files,
                               size_t count, size_t *ret_opened, struct dti_error *reterr);
/* By dti_text_order(). */
void dti_shards_sort(const char **names, size_t count);

#endif
