/* SPDX-License-Identifier: MIT
 *
 * What the commands that make files of tensors write, and where: a choice that follows from --as,
 * from the name of the output and from the input. */
#ifndef DTINFO_CLI_FILE_TARGET_H
#define DTINFO_CLI_FILE_TARGET_H

#include <stdbool.h>

#include "dtinfo/container.h"

/* --as */
enum dti_as { DTI_AS_RAW, DTI_AS_TEXT, DTI_AS_NPY, DTI_AS_SAFETENSORS };

struct dti_file_target {
    enum dti_container_kind kind;
    char *folder;      /* of a sharded output */
    const char *index; /* its index, in the folder, or NULL */
};

/* Names that ask for a kind of file: "x.npy". */
bool dti_names_file(const char *path);

/* path: of the output; NULL with --dry-run only. form: what --as says; DTI_CONTAINER_COUNT without.
 * To be freed on success. */
enum dti_status dti_file_target_choose(const struct dti_container *input, const char *path,
                                       enum dti_container_kind form, struct dti_file_target *ret,
                                       struct dti_error *reterr);
void dti_file_target_free(struct dti_file_target *target);

/* What the files are made with: the folder, the path, or "" without one. */
const char *dti_file_target_path(const struct dti_file_target *target, const char *path);

#endif
