/* SPDX-License-Identifier: MIT
 *
 * The progress bar of commands that read files of tensors. */
#ifndef CLI_SHARED_FILE_BAR_H
#define CLI_SHARED_FILE_BAR_H

#include "answers/reading.h"
#include "cli/shared/progress.h"
#include "requests/file_source.h"

struct dti_file_bar {
    struct dti_progress progress;
    FILE *out;
    const struct dti_tensor *const *tensors; /* the tensors read, for their names */
    size_t count, at;
    uint64_t before; /* bytes of the tensors before that one */
};

/* Shows the progress of a reading, if the options ask for it. bar must not move during the reading.
 */
void dti_file_bar_attach(struct dti_file_bar *bar, struct dti_reading *reading,
                         const struct dti_file_args *args, const struct dti_command_context *cx);

#endif
