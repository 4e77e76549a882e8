/* SPDX-License-Identifier: MIT
 *
 * The parts of an output file, for output.c and output_group.c. */
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
    atomic_size_t behind;   /* bytes written by dti_output_write_at() and not sent yet */
    uint64_t device, inode; /* of a regular file that is written in place */
    struct dti_output_path target;
    struct dti_output_temp temp; /* temp.name is "" when there is none any more */
    dti_output_take *take;       /* not NULL: of an output that is no file, with its context */
    void *take_context;
    struct dti_output_watch *watch; /* or NULL */
    char label[DTI_QUOTE_SIZE];
};

/* output.c: one without a descriptor or a target yet; NULL without memory. */
struct dti_output_file *dti_output_new(const char *path, bool force, uint64_t size);
/* Finds out what is at PATH, and whether it may be replaced. */
enum dti_status dti_output_find(struct dti_output_file *output, const char *path,
                                struct dti_error *reterr);
/* Gives the new file, which is open, the permissions of the one it replaces, and space. */
enum dti_status dti_output_prepare(struct dti_output_file *output, struct dti_error *reterr);
enum dti_status dti_output_fail_exists(const char *label, struct dti_error *reterr);
/* Whether PATH is standard output, or a pipe or a character device. */
bool dti_output_is_stream(const char *path);

/* 0 or an errno value, all three. Syncs and closes. */
int dti_output_finish(struct dti_output_file *output);
/* Gives what is complete its name, never replacing anything unless forced. */
int dti_output_rename(const struct dti_output_temp *from, const struct dti_output_path *to,
                      bool force, bool is_folder);
int dti_output_sync_folder(int fd);

#endif
