/* SPDX-License-Identifier: MIT
 *
 * The search for what new files replace besides the files of their names. */
#ifndef DTINFO_OLD_FORM_SEARCH_H
#define DTINFO_OLD_FORM_SEARCH_H

#include <sys/stat.h>

#include "dtinfo/new_files.h"

struct dti_old_search {
    struct dti_new_files *files;
    const char *folder; /* "" or with a slash at its end */
    const char **own;   /* the last parts of the new files' paths, sorted */
    size_t own_count;
    size_t capacity; /* of files->old.paths */
};

bool dti_old_is_own(const struct dti_old_search *search, const char *name);
/* folder/name, of the pool; NULL: memory ran out. */
char *dti_old_join(const struct dti_old_search *search, const char *name);
/* A plain file, or a link. */
bool dti_old_is_there(const char *path, struct stat *ret);
/* False: memory ran out. */
bool dti_old_add(struct dti_old_search *search, const char *path);

/* The GGUF "name", and the parts of split ones of that name, of any count. What is read stays, and
 * is only counted. */
enum dti_status dti_old_parts(struct dti_old_search *search, const char *name,
                              struct dti_error *reterr);

#endif
