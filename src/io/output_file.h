/* SPDX-License-Identifier: MIT
 *
 * Internals of an output file, for output.c and output_group.c. */
#ifndef IO_OUTPUT_FILE_H
#define IO_OUTPUT_FILE_H

#include <stdatomic.h>

#include "io/output.h"
#include "io/output_path.h"
#include "io/output_temp.h"

struct dti_output_file {
    int fd;
    bool in_place; /* a pipe, a device, standard output: nothing is renamed */
    bool force;
    uint64_t size;          /* expected; 0 when unknown */
    uint64_t position;      /* of dti_output_write() */
    atomic_size_t behind;   /* bytes written by dti_output_write_at() since the last writeback */
    uint64_t device, inode; /* of a regular file that is written in place */
    struct dti_output_path target;
    struct dti_output_temp temp; /* temp.name is "" if there is none */
    dti_output_take *take;       /* not NULL: an output without a file, with its context */
    void *take_context;
    struct dti_output_watch *watch; /* or NULL */
    char label[DTI_QUOTE_SIZE];
};

/* output.c: makes one without a descriptor or target; NULL if memory ran out. */
struct dti_output_file *dti_output_new(const char *path, bool force, uint64_t size);
/* Finds out what exists at PATH, and whether it may be replaced. */
enum dti_status dti_output_find(struct dti_output_file *output, const char *path,
                                struct dti_error *reterr);
/* Gives the open new file the permissions of the file it replaces, and reserves space. */
enum dti_status dti_output_prepare(struct dti_output_file *output, struct dti_error *reterr);
enum dti_status dti_output_fail_exists(const char *label, struct dti_error *reterr);
/* Whether PATH is standard output, or a pipe or a character device. */
bool dti_output_is_stream(const char *path);

/* All three return 0 or an errno value. This one syncs and closes. */
int dti_output_finish(struct dti_output_file *output);
/* Renames the complete file. Never replaces anything unless forced. */
int dti_output_rename(const struct dti_output_temp *from, const struct dti_output_path *to,
                      bool force, bool is_folder);
int dti_output_sync_folder(int fd);

#endif
