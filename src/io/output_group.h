/* SPDX-License-Identifier: MIT
 *
 * Several files that are published together. Until all are complete they are in one folder
 * ".NAME.dtinfo-XXXXXX", so that a signal handler, or the next run, has one thing to remove. */
#ifndef IO_OUTPUT_GROUP_H
#define IO_OUTPUT_GROUP_H

#include "io/output.h"

struct dti_output_group; /* opaque */

struct dti_output_member {
    const char *path;
    uint64_t size; /* as in dti_output_open() */
};

/* Opens the files of `members`. Their paths must outlive the group and differ in their last
 * components. Each is checked, and later replaced, as by dti_output_open(), but pipes and
 * devices are refused. folder: holds them all; if it does not exist, the complete folder of new
 * files becomes it by one atomic rename. NULL: files may be anywhere. lead: without folder, the
 * member whose folder gets the folder of new files; all members must be on its file system.
 * Fails as dti_output_open() does. */
enum dti_status dti_output_group_open(struct dti_output_group **ret, const char *folder,
                                      const struct dti_output_member *members, size_t count,
                                      size_t lead, bool force, struct dti_error *reterr);

/* For writing only; must not be committed or discarded by itself. */
struct dti_output_file *dti_output_group_file(const struct dti_output_group *group, size_t at);

/* Syncs all files, then renames them in order; always frees the group. A failure before the
 * first rename leaves everything as it was; a later one reports which files are new. If the
 * folder has appeared in the meantime, the files are moved into it. */
enum dti_status dti_output_group_commit(struct dti_output_group *group, struct dti_error *reterr);
/* Discards all new files and leaves everything as it was; NULL is fine. */
void dti_output_group_discard(struct dti_output_group *group);

/* Makes the folder if it does not exist; *ret_made: it did not. Fails as dti_output_group_open()
 * does. */
enum dti_status dti_output_folder_make(const char *folder, bool *ret_made,
                                       struct dti_error *reterr);
/* Removes the folder if it is empty. */
void dti_output_folder_unmake(const char *folder);

/* Whether the folder exists; otherwise the error that dti_output_group_open() would report. */
enum dti_status dti_output_folder_check(const char *folder, bool *ret_there,
                                        struct dti_error *reterr);

#endif
