/* SPDX-License-Identifier: MIT
 *
 * What is in a checkpoint's folder besides its tensors: the configuration, the tokenizer and other
 * small files, which a rewrite into another folder takes along. */
#ifndef FILES_REWRITE_MODEL_FOLDER_H
#define FILES_REWRITE_MODEL_FOLDER_H

#include "files/rewrite/rewrite.h"

enum { DTI_SMALL_FILE = 64 << 20 }; /* bytes of the largest that is copied */

/* Adds to the rewrite's new files, which are laid out but for the index: a copy of each small
 * regular file in the folder of the container's first file, links followed, by name; config.json
 * with the quantization_config that is true of the new files. Not copied: tensors of any format,
 * their indexes, hidden files, folders, and configurations of quantization that would be wrong.
 * Warns of what was left out that a loader needs. Fails with DTI_BAD_INPUT where a file cannot be
 * read or config.json is not JSON, DTI_NO_MEMORY. */
enum dti_status dti_rewrite_add_companions(struct dti_rewrite *rewrite, struct dti_error *reterr);

#endif
