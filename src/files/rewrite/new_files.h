/* SPDX-License-Identifier: MIT
 *
 * The files written from a container: laid out, opened under temporary names, filled, and renamed
 * at the end, all or none. Until then nothing visible changes. */
#ifndef FILES_REWRITE_NEW_FILES_H
#define FILES_REWRITE_NEW_FILES_H

#include "containers/container.h"
#include "files/rewrite/old_form.h"
#include "io/output_group.h"
#include "io/output_leftovers.h"
#include "util/buffer.h"

struct dti_new_file {
    char *path;
    struct dti_new_head head; /* everything but the data; all of a text file */
    char *from;               /* it is a copy of this file; or NULL */
    uint64_t size;
    struct dti_output_file *output; /* open, or NULL; owned by the group, if there is one */
};

/* What the shards of a divided run are made of, as SHA-256 in hexadecimal digits; the sample may be
 * dashes. See part_records.h. */
struct dti_part_digests {
    char input[65], sample[65], recipe[65];
};
struct dti_part_sum;

struct dti_new_files {
    const struct dti_container *container; /* the source */
    const struct dti_container *model;     /* whose metadata are copied unchanged */
    bool encodes;                          /* see struct dti_new_head; set before files are added */
    struct dti_head_part part;             /* likewise, for the file that is added next */
    bool waits;                            /* see struct dti_new_head; set before files are added */
    enum dti_container_kind kind;
    const char *path; /* of the output; DTI_CONTAINER_SHARDED: its folder; "": a dry run */
    size_t count;
    struct dti_new_file *list;
    size_t others; /* files after those of the list, written by other runs into the same folder */
    bool shared;   /* with such runs: dti_new_files_share() */
    size_t shards; /* then: files with tensors, over all runs */
    bool made; /* this run created the shared folder, and no file in it has its final name yet */
    size_t companions;               /* number of files without tensors, before the index */
    bool has_index;                  /* the last file of a sharded output */
    uint64_t bytes;                  /* total, including heads and index */
    struct dti_output_group *group;  /* of several files, or of a folder; or NULL */
    struct dti_part_digests digests; /* shared: of this run */
    struct dti_part_sum *sums;       /* shared and open: of this run's shards */
    struct dti_old_form old;         /* what else they replace; set once checked or opened */
};
void dti_new_files_init(struct dti_new_files *ret, const struct dti_container *container,
                        enum dti_container_kind kind, const char *path);
/* Metadata numbers that differ from the source's; they are in the first file. */
static inline size_t dti_new_files_changes(const struct dti_new_files *files)
{
    return files->count > 0 ? files->list[0].head.change_count : 0;
}
/* Removes what was not committed. */
void dti_new_files_free(struct dti_new_files *files);

/* Returns the metadata of the container that the new files can hold, with room for `more` entries;
 * free the array, but not the texts, which belong to the container. warn (may be NULL) is called if
 * some are dropped. */
enum dti_status dti_new_files_metadata(const struct dti_new_files *files, size_t more,
                                       dti_warn_fn *warn, void *warn_context,
                                       struct dti_metadata **ret, size_t *ret_count,
                                       struct dti_error *reterr);

/* Adds a file with these tensors, and sets their bytes and offset; they may be sorted (see
 * dti_container_layout()). name: of a file in the output's folder; NULL: the output itself. */
enum dti_status dti_new_files_add(struct dti_new_files *files, const char *name,
                                  struct dti_new_tensor *tensors, size_t count,
                                  const struct dti_metadata *metadata, size_t metadata_count,
                                  struct dti_error *reterr);
/* The same for the output itself, of a kind with texts, if the tensors need not be sorted;
 * *ret_added: false: they do, and nothing is added. */
enum dti_status dti_new_files_add_each(struct dti_new_files *files,
                                       const struct dti_new_source *source,
                                       const struct dti_metadata *metadata, size_t metadata_count,
                                       bool *ret_added, struct dti_error *reterr);
/* The same next to the output: OUT.npy and "_scale" make OUT_scale.npy. */
enum dti_status dti_new_files_add_sibling(struct dti_new_files *files, const char *suffix,
                                          struct dti_new_tensor *tensor, struct dti_error *reterr);
/* Adds the output as one file or, if it would have more than `most` bytes, as several files next to
 * it that form a split GGUF: ends[i] is the end of the tensors of file i, in an array of count + 1.
 * *ret_large: the number of files that are still larger, because of a single tensor or the
 * key-values. */
enum dti_status dti_new_files_add_parts(struct dti_new_files *files, uint64_t most,
                                        struct dti_new_tensor *tensors, size_t count, size_t *ends,
                                        size_t *ret_large, struct dti_error *reterr);
/* The file name of the shard made from the container's file `file`, without its folder. */
enum { DTI_SHARD_NAME = 64 };
const char *dti_new_files_shard(const struct dti_new_files *files, unsigned file,
                                char buffer[DTI_SHARD_NAME]);
/* Adds the index as the last file; file[i] is the index of the file with tensors[i]. */
enum dti_status dti_new_files_add_index(struct dti_new_files *files, const char *name,
                                        const struct dti_new_tensor *tensors, const size_t *file,
                                        size_t count, struct dti_error *reterr);

/* Adds a file with this name to the output's folder: a text, whose ownership passes in any case; a
 * copy. */
enum dti_status dti_new_files_add_text(struct dti_new_files *files, const char *name,
                                       struct dti_buffer *text, struct dti_error *reterr);
enum dti_status dti_new_files_add_copy(struct dti_new_files *files, const char *name,
                                       const char *from, struct dti_error *reterr);

/* Keeps the files with own[i] set for this run; the others are written by other runs into the same
 * folder, at any time. Existing files that this run would write identically are replaced without
 * `force`. ret_place[i]: the new index of file i; files of other runs come last. Nothing may be
 * added afterwards. Fails with DTI_NO_MEMORY. */
enum dti_status dti_new_files_share(struct dti_new_files *files, const bool *own, size_t *ret_place,
                                    struct dti_error *reterr);

/* What exists at the path of a file. */
enum dti_new_file_state {
    DTI_NEW_FILE_THERE, /* a file of the same size, with the same bytes before the data */
    DTI_NEW_FILE_MISSING,
    DTI_NEW_FILE_OTHER_SIZE,
    DTI_NEW_FILE_OTHER_HEAD, /* or a different copy */
};
/* Call before heads are written. *ret_bytes: size of the existing file, or 0. Fails with
 * DTI_BAD_INPUT if it cannot be read, with DTI_NO_MEMORY. */
enum dti_status dti_new_file_look(const struct dti_new_file *file, enum dti_new_file_state *ret,
                                  uint64_t *ret_bytes, struct dti_error *reterr);
/* Checks that all files of other runs exist and, according to their records, come from this input
 * and recipe; data: also that they have the bytes that were written, which reads all of them. After
 * a finished run in which nothing was remade, there are no records. warn is called for the first
 * files that are missing or different; then fails with DTI_ANSWER_NO. */
enum dti_status dti_new_files_complete(const struct dti_new_files *files, bool data,
                                       dti_warn_fn *warn, void *warn_context,
                                       struct dti_error *reterr);

/* Finds files.old. For an output "x.safetensors": the index of that name and its shards. For shards
 * with the index "x.safetensors.index.json": the file "x.safetensors", and the files that an older
 * index of that name lists. For a folder: also "model.safetensors" and its index. For "x.gguf" or
 * its parts: that file and parts of any other count, except files that are being read. Shards are
 * only those names of an index that are safetensors files in the folder. An index that cannot be
 * read, or that another user put into a world-writable folder, is ignored. Without `force`,
 * anything that programs would load is refused: DTI_WRITE_FAILED. Used by dti_new_files_check() and
 * dti_new_files_open(). */
enum dti_status dti_new_files_find_old(struct dti_new_files *files, bool force,
                                       struct dti_error *reterr);
/* Removes them once the new files exist: links themselves are removed, and never a new file that
 * also has an old name. */
enum dti_status dti_new_files_remove_old(const struct dti_new_files *files,
                                         struct dti_error *reterr);

/* Warns of old files that stay: those that are also inputs, and those in a folder that cannot be
 * listed. */
void dti_new_files_warn_old(const struct dti_new_files *files, dti_warn_fn *warn, void *context);

/* Reports what dti_new_files_open() would, without creating anything. */
enum dti_status dti_new_files_check(struct dti_new_files *files, bool force,
                                    struct dti_error *reterr);
/* Opens all files under temporary names, in a new folder where requested, and reserves their space.
 */
enum dti_status dti_new_files_open(struct dti_new_files *files, bool force,
                                   struct dti_error *reterr);
/* Leftovers of killed runs that made the same output: see output_leftovers.h. */
enum dti_status dti_new_files_leftovers(const struct dti_new_files *files, bool remove,
                                        struct dti_output_leftovers *ret, struct dti_error *reterr);
static inline bool dti_new_files_are_open(const struct dti_new_files *files)
{
    return files->count > 0 && files->list[0].output != NULL;
}
/* Writes what is known before the data; dti_new_files_commit() writes the rest. */
enum dti_status dti_new_files_write_heads(struct dti_new_files *files, struct dti_error *reterr);
/* Completes and syncs all files, then renames each to its final name, the last one last; a new
 * folder appears with all its files. A failure before the first rename changes nothing. A failure
 * or crash between renames leaves some old and some new files, each complete. Finally removes
 * files.old. */
enum dti_status dti_new_files_commit(struct dti_new_files *files, struct dti_error *reterr);

#endif
