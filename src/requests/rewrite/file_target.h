/* SPDX-License-Identifier: MIT
 *
 * The kind and place of the files that a command writes, determined by --as, the name of the output
 * and the input. */
#ifndef REQUESTS_REWRITE_FILE_TARGET_H
#define REQUESTS_REWRITE_FILE_TARGET_H

#include <stdbool.h>

#include "containers/container.h"

/* --as */
enum dti_as {
#define ARRAY_FORM(id, ...) DTI_AS_##id,
#define FORM(id, ...)       DTI_AS_##id,
#include "requests/rewrite/file_forms.def"
#undef ARRAY_FORM
#undef FORM
};

struct dti_file_target {
    enum dti_container_kind kind;
    char *folder;      /* folder of a sharded output */
    const char *index; /* its index, in the folder, or NULL */
};

/* Names that select a kind of file: "x.npy". */
bool dti_names_file(const char *path);

/* ".safetensors, .npy or .npz": files of tensors made of the input; NULL: of any tensors. */
enum { DTI_ENDINGS_SIZE = 128 };
const char *dti_file_endings(char text[DTI_ENDINGS_SIZE], const struct dti_container *input,
                             const struct dti_container *model);

struct dti_target_way {
    bool states; /* the caller makes the metadata of GGUF */
    bool cuts;   /* it makes files of at most some size: shards of one file, too */
};

/* path: of the output; NULL with --dry-run only. form: of --as; none is known without it. model:
 * the --template, or NULL. Free *ret on success. */
enum dti_status dti_file_target_choose(const struct dti_container *input,
                                       const struct dti_container *model, const char *path,
                                       enum dti_container_kind form, struct dti_target_way way,
                                       struct dti_file_target *ret, struct dti_error *reterr);
void dti_file_target_free(struct dti_file_target *target);

/* The path of the output: the folder, the file, or "" without one. */
const char *dti_file_target_path(const struct dti_file_target *target, const char *path);

#endif
