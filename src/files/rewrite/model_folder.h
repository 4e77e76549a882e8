/* SPDX-License-Identifier: MIT
 *
 * Files in a checkpoint's folder other than tensors: the configuration, the tokenizer and other
 * small files, which a rewrite into another folder copies. */
#ifndef FILES_REWRITE_MODEL_FOLDER_H
#define FILES_REWRITE_MODEL_FOLDER_H

#include "files/rewrite/rewrite.h"

enum { DTI_SMALL_FILE = 64 << 20 }; /* maximum bytes of a file that is copied */

/* Adds files to the rewrite's new files, which are already laid out except for the index: a copy of
 * each small regular file in the folder of the container's first file, in name order, following
 * links; and config.json with a quantization_config that matches the new files. Not copied: tensor
 * files of any format, their indexes, hidden files, folders, and quantization configs that would be
 * wrong. From one file, only the config.json next to it. Warns if a file that a
 * loader needs was left out. Fails with DTI_BAD_INPUT if a file cannot be read or config.json is
 * not JSON, DTI_NO_MEMORY. */
enum dti_status dti_rewrite_add_companions(struct dti_rewrite *rewrite, struct dti_error *reterr);

#endif
