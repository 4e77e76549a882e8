/* SPDX-License-Identifier: MIT
 *
 * The other form of a model in the folder of new files. Programs load "model.safetensors", or
 * "model.safetensors.index.json" with the shards that it names, whichever they look for first; or a
 * GGUF, as one file or in parts, by name. Writing one form must not leave the old model behind in
 * the other. */
#ifndef FILES_REWRITE_OLD_FORM_H
#define FILES_REWRITE_OLD_FORM_H

#include <stdbool.h>

#include "util/run/memory_pool.h"

struct dti_old_form {
    struct dti_pool pool;
    const char *folder;
    const char **paths;
    size_t count;
    size_t entries; /* the first entries are what programs look for; shards follow */
    /* for GGUF: */
    size_t kept; /* files kept because they are being read */
    const char *kept_path;
    bool unlisted; /* the folder cannot be listed, so parts are not found */
};

#endif
