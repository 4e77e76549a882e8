/* SPDX-License-Identifier: MIT
 *
 * Several files that belong together. Until all are complete they are in one folder
 * ".NAME.dtinfo-XXXXXX", so that a signal, or the next run, has one thing to remove. */
#ifndef IO_OUTPUT_GROUP_H
#define IO_OUTPUT_GROUP_H

#include "io/output.h"

struct dti_output_group; /* opaque */

struct dti_output_member {
    const char *path;
    uint64_t size; /* as for dti_output_open() */
};

/* Begins the files of `members`, whose paths must live as long as the group and differ in their
 * last parts; each is judged, and will be replaced, as dti_output_open() has it, but pipes and
 * devices are refused. folder: the one that holds them all, which is made when it is not there, and
 * in whose place the folder of new files then comes, complete and by one renaming; NULL when they
 * may be anywhere. lead: otherwise the member whose folder gets the folder of new files; all
 * members must be on its file system. Fails as dti_output_open() does. */
enum dti_status dti_output_group_open(struct dti_output_group **ret, const char *folder,
                                      const struct dti_output_member *members, size_t count,
                                      size_t lead, bool force, struct dti_error *reterr);

/* To be written to; never committed or discarded by itself. */
struct dti_output_file *dti_output_group_file(const struct dti_output_group *group, size_t at);

/* Syncs all, then gives them their names in order; frees the group in any case. A failure before
 * the first has its name leaves everything as it was; one between two of them says which files are
 * new. A folder that has appeared in the meantime is filled. */
enum dti_status dti_output_group_commit(struct dti_output_group *group, struct dti_error *reterr);
/* Leaves everything as it was; NULL is fine. */
void dti_output_group_discard(struct dti_output_group *group);

/* Makes the folder where there is none; *ret_made: it was not there. Fails as
 * dti_output_group_open() does. */
enum dti_status dti_output_folder_make(const char *folder, bool *ret_made,
                                       struct dti_error *reterr);
/* Removes it again where it is empty. */
void dti_output_folder_unmake(const char *folder);

/* Whether there is such a folder; what dti_output_group_open() would say of it otherwise. */
enum dti_status dti_output_folder_check(const char *folder, bool *ret_there,
                                        struct dti_error *reterr);

#endif
