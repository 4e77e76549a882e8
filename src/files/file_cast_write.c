/* SPDX-License-Identifier: MIT
 *
 * The new files of a cast as files: opened under other names, and given theirs at the end. */
#include <string.h>

#include "files/file_cast_parts.h"
#include "util/descriptor.h"

enum { FEW_FILES = 16, SOME_OTHERS = 64 };

/* Standard output that is one of the files that are read. */
static enum dti_status check_not_input(const struct dti_file_cast *cast,
                                       const struct dti_output_file *output,
                                       struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    for (size_t i = 0; i < cast->container->file_count; i++) {
        const struct dti_input *const input = &cast->container->files[i].input;
        if (dti_output_is_file(output, input->device, input->inode))
            return dti_fail(reterr, DTI_USAGE,
                            "%s is also the output, which would change it while it is read; give "
                            "-o with another name",
                            dti_input_label(input, label));
    }
    return DTI_OK;
}

enum dti_status dti_file_cast_check(const struct dti_file_cast *cast, bool force,
                                    struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (cast->request.kind == DTI_CONTAINER_SHARDED) {
        bool there = false;
        status = dti_output_folder_check(cast->request.path, &there, reterr);
        if (status != DTI_OK || !there)
            return status;
    }
    for (size_t i = 0; i < cast->file_count && status == DTI_OK; i++)
        status = dti_output_check(cast->files[i].path, force, reterr);
    return status;
}

enum dti_status dti_file_cast_open(struct dti_file_cast *cast, bool force, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (cast->file_count > FEW_FILES) /* a new file and its folder, beside what is open already */
        dti_descriptor_allow(cast->container->file_count + 2 * cast->file_count + SOME_OTHERS);
    if (cast->request.kind == DTI_CONTAINER_SHARDED)
        status = dti_output_folder_make(&cast->folder, cast->request.path, reterr);
    for (size_t i = 0; i < cast->file_count && status == DTI_OK; i++) {
        struct dti_file_cast_file *const file = &cast->files[i];
        status = dti_output_open(&file->output, file->path, force, file->size, reterr);
        if (status == DTI_OK)
            status = check_not_input(cast, file->output, reterr);
    }
    return status;
}

enum dti_status dti_file_cast_commit(struct dti_file_cast *cast, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < cast->file_count && status == DTI_OK && cast->file_count > 1; i++)
        status = dti_output_sync(cast->files[i].output, reterr);
    for (size_t i = 0; i < cast->file_count && status == DTI_OK; i++) {
        status = dti_output_commit(cast->files[i].output, reterr);
        cast->files[i].output = NULL;
    }
    if (status == DTI_OK)
        dti_output_folder_keep(&cast->folder);
    return status;
}
