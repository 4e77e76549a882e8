/* SPDX-License-Identifier: MIT
 *
 * For rows: files that are read, and the shapes of tensors. */
#ifndef DTINFO_ANSWERS_FILES_H
#define DTINFO_ANSWERS_FILES_H

#include "answers/document.h"
#include "dtinfo/container.h"
#include "dtinfo/json.h"

struct dti_file_part {
    const char *path;
    uint64_t bytes;
};

struct dti_container_answer {
    const char *path; /* as it was given */
    const struct dti_container *container;
    uint64_t data_bytes;
};

extern const struct dti_object dti_object_file_part, dti_object_container;

void dti_put_file_part(struct dti_json *json, const char *key, const struct dti_file_part *part);
void dti_put_container(struct dti_json *json, const char *key,
                       const struct dti_container_answer *container);

#endif
