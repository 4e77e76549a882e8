/* SPDX-License-Identifier: MIT
 *
 * The files that are written from a container: laid out, opened under temporary names, filled, and
 * renamed at the end, all of them or none. Until then nothing visible has changed. */
#ifndef FILES_REWRITE_NEW_FILES_H
#define FILES_REWRITE_NEW_FILES_H

#include "containers/container.h"
#include "files/rewrite/old_form.h"
#include "io/output_group.h"
#include "io/output_leftovers.h"
#include "util/buffer.h"

struct dti_new_file {
    char *path;
    struct dti_new_head head; /* everything but the data; all of a text */
    char *from;               /* it is a copy of that file; or NULL */
    uint64_t size;
    struct dti_output_file *output; /* open, or NULL; the group's, if there is one */
};

/* What the shards of a divided run are made of, as text: SHA-256 in hexadecimal digits; the sample
 * may be dashes. See part_records.h. */
struct dti_part_digests {
    char input[65], sample[65], recipe[65];
};
struct dti_part_sum;

struct dti_new_files {
    const struct dti_container *container; /* what they are made of */
    const struct dti_container *model;     /* whose metadata are taken over as they are */
    bool encodes;                          /* see struct dti_new_head; set before files are added */
    struct dti_head_part part;             /* likewise, of the file that is added next */
    enum dti_container_kind kind;
    const char *path; /* of the output; DTI_CONTAINER_SHARDED: its folder; "": a dry run without */
    size_t count;
    struct dti_new_file *list;
    size_t others;     /* after those of the list: written by other runs, which share the folder */
    bool shared;       /* by such runs: dti_new_files_share() */
    size_t shards;     /* then: files with tensors, of all runs */
    bool made;         /* the shared folder was made for files that have no names yet */
    size_t companions; /* of them, without tensors, before the index */
    bool has_index;    /* the last one of a sharded output */
    uint64_t bytes;    /* of all, heads and index included */
    struct dti_output_group *group;  /* of several files, or of a folder; or NULL */
    struct dti_part_digests digests; /* shared: of this run */
    struct dti_part_sum *sums;       /* shared, open: of the shards of this run */
    struct dti_old_form old;         /* what they replace besides, once checked or opened */
};
void dti_new_files_init(struct dti_new_files *ret, const struct dti_container *container,
                        enum dti_container_kind kind, const char *path);
/* What their metadata say otherwise than those that they take over: the first file has some. */
static inline size_t dti_new_files_changes(const struct dti_new_files *files)
{
    return files->count > 0 ? files->list[0].head.change_count : 0;
}
/* Removes what was not committed. */
void dti_new_files_free(struct dti_new_files *files);

/* The metadata of the container that the new files can hold, and room for `more` entries after it;
 * the array is to be freed, the texts are the container's. warn (may be NULL) is called when some
 * are left out. */
enum dti_status dti_new_files_metadata(const struct dti_new_files *files, size_t more,
                                       dti_warn_fn *warn, void *warn_context,
                                       struct dti_metadata **ret, size_t *ret_count,
                                       struct dti_error *reterr);

/* Adds one that holds these tensors, and fills their bytes and offset; they may be sorted (see
 * dti_container_layout()). name: of a file in the output's folder; NULL: the output itself. */
enum dti_status dti_new_files_add(struct dti_new_files *files, const char *name,
                                  struct dti_new_tensor *tensors, size_t count,
                                  const struct dti_metadata *metadata, size_t metadata_count,
                                  struct dti_error *reterr);
/* The same next to the output: OUT.npy and "_scale" make OUT_scale.npy. */
enum dti_status dti_new_files_add_beside(struct dti_new_files *files, const char *suffix,
                                         struct dti_new_tensor *tensor, struct dti_error *reterr);
/* The output as one file, or where that has more than `most` bytes as several next to it that make
 * a split GGUF: ends[i] is the end of the tensors of file i, in an array of count + 1. *ret_large:
 * files that have more bytes all the same, since a tensor or the key-values do. */
enum dti_status dti_new_files_add_parts(struct dti_new_files *files, uint64_t most,
                                        struct dti_new_tensor *tensors, size_t count, size_t *ends,
                                        size_t *ret_large, struct dti_error *reterr);
/* The shards that the container's file becomes: its name without the folder. */
enum { DTI_SHARD_NAME = 64 };
const char *dti_new_files_shard(const struct dti_new_files *files, unsigned file,
                                char buffer[DTI_SHARD_NAME]);
/* The index as the last file; file[i] is the place of the one with tensors[i]. */
enum dti_status dti_new_files_add_index(struct dti_new_files *files, const char *name,
                                        const struct dti_new_tensor *tensors, const size_t *file,
                                        size_t count, struct dti_error *reterr);

/* A file of that name in the output's folder: a text, which is taken over in any case; a copy. */
enum dti_status dti_new_files_add_text(struct dti_new_files *files, const char *name,
                                       struct dti_buffer *text, struct dti_error *reterr);
enum dti_status dti_new_files_add_copy(struct dti_new_files *files, const char *name,
                                       const char *from, struct dti_error *reterr);

/* Leaves this run those files whose own[i] is set; the others are for other runs, which write into
 * the same folder at any time. Files of this run that are there already, just as it would write
 * them, are replaced without `force`. ret_place[i]: the new place of file i; others come last.
 * Nothing is added afterwards. Fails with DTI_NO_MEMORY. */
enum dti_status dti_new_files_share(struct dti_new_files *files, const bool *own, size_t *ret_place,
                                    struct dti_error *reterr);

/* What is at the path of one of the files. */
enum dti_new_file_state {
    DTI_NEW_FILE_THERE, /* a file of its size, with the same bytes before the data */
    DTI_NEW_FILE_MISSING,
    DTI_NEW_FILE_OTHER_SIZE,
    DTI_NEW_FILE_OTHER_HEAD, /* or another copy */
};
/* Before heads are written. *ret_bytes: the size of what is there, or 0. Fails with DTI_BAD_INPUT
 * where it cannot be read, with DTI_NO_MEMORY. */
enum dti_status dti_new_file_look(const struct dti_new_file *file, enum dti_new_file_state *ret,
                                  uint64_t *ret_bytes, struct dti_error *reterr);
/* Whether all files of other runs are there, and of this input and recipe, as their records say;
 * data: and have the bytes that were written, which reads all of them. Once they were finished, and
 * nothing was made again, there are no records. warn is called for the first ones that are missing
 * or others; then fails with DTI_ANSWER_NO. */
enum dti_status dti_new_files_complete(const struct dti_new_files *files, bool data,
                                       dti_warn_fn *warn, void *warn_context,
                                       struct dti_error *reterr);

/* Finds files.old: of an output "x.safetensors" the index of that name and its shards; of shards
 * with the index "x.safetensors.index.json" the file "x.safetensors", and what an older index of
 * that name lists; of a folder also "model.safetensors" and its index; of "x.gguf", or its parts,
 * that file and parts of any other count, but none that are read. Shards are those names of an
 * index that are safetensors files in the folder; an index that cannot be read, or that another
 * user has put into a folder that is open to all, names none. Without force anything that programs
 * would look for is refused: DTI_WRITE_FAILED. For dti_new_files_check() and
 * dti_new_files_open(). */
enum dti_status dti_new_files_find_old(struct dti_new_files *files, bool force,
                                       struct dti_error *reterr);
/* Removes them, once the new files are there: links themselves, and no new file that is also known
 * by an old name. */
enum dti_status dti_new_files_remove_old(const struct dti_new_files *files,
                                         struct dti_error *reterr);

/* Says which old files stay that dti_new_files_find_old() would find but for what they are. */
void dti_new_files_warn_old(const struct dti_new_files *files, dti_warn_fn *warn, void *context);

/* What dti_new_files_open() would say, without making anything. */
enum dti_status dti_new_files_check(struct dti_new_files *files, bool force,
                                    struct dti_error *reterr);
/* Opens all under temporary names, in a new folder where requested, and sets their space aside. */
enum dti_status dti_new_files_open(struct dti_new_files *files, bool force,
                                   struct dti_error *reterr);
/* What killed runs that made the same have left: see output_leftovers.h. */
enum dti_status dti_new_files_leftovers(const struct dti_new_files *files, bool remove,
                                        struct dti_output_leftovers *ret, struct dti_error *reterr);
static inline bool dti_new_files_are_open(const struct dti_new_files *files)
{
    return files->count > 0 && files->list[0].output != NULL;
}
/* What can be written before the data; the rest is by dti_new_files_commit(). */
enum dti_status dti_new_files_write_heads(struct dti_new_files *files, struct dti_error *reterr);
/* All are completed and synced; then each takes its name, the last of them last; a new folder comes
 * with all in it. A failure before the first of them has it changes nothing. One between two of
 * them, or a crash, leaves some old and some new, each complete. Then files.old is removed. */
enum dti_status dti_new_files_commit(struct dti_new_files *files, struct dti_error *reterr);

#endif
