/* SPDX-License-Identifier: MIT
 *
 * The new files of a cast: see new_files.h. */
#include "files/file_cast_parts.h"

enum dti_status dti_file_cast_check(const struct dti_file_cast *cast, bool force,
                                    struct dti_error *reterr)
{
    return dti_new_files_check(&cast->files, force, reterr);
}

enum dti_status dti_file_cast_open(struct dti_file_cast *cast, bool force, struct dti_error *reterr)
{
    return dti_new_files_open(&cast->files, force, reterr);
}

enum dti_status dti_file_cast_commit(struct dti_file_cast *cast, struct dti_error *reterr)
{
    return dti_new_files_commit(&cast->files, reterr);
}
