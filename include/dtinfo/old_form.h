/* SPDX-License-Identifier: MIT
 *
 * The other form of a model in the folder of new files: programs load "model.safetensors", or
 * "model.safetensors.index.json" with the shards that it names, and whichever of them they look for
 * first. New files in one form leave nothing of the old model in the other. */
#ifndef DTINFO_OLD_FORM_H
#define DTINFO_OLD_FORM_H

#include "dtinfo/memory_pool.h"

struct dti_old_form {
    struct dti_pool pool;
    const char *folder;
    const char **paths;
    size_t count;
    size_t entries; /* the first of them: what programs look for; then shards */
};

#endif
