/* SPDX-License-Identifier: MIT
 *
 * The other form of a model in the folder of new files: programs load "model.safetensors", or
 * "model.safetensors.index.json" with the shards that it names, and whichever of them they look for
 * first; or a GGUF, as one file or in parts, by the name that they are given. New files in one form
 * leave nothing of the old model in the other. */
#ifndef FILES_REWRITE_OLD_FORM_H
#define FILES_REWRITE_OLD_FORM_H

#include <stdbool.h>

#include "util/run/memory_pool.h"

struct dti_old_form {
    struct dti_pool pool;
    const char *folder;
    const char **paths;
    size_t count;
    size_t entries; /* the first of them: what programs look for; then shards */
    /* of GGUF: */
    size_t kept; /* not of them, since they are read */
    const char *kept_path;
    bool unlisted; /* the folder may not be listed, so that parts are not found */
};

#endif
