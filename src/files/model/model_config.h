/* SPDX-License-Identifier: MIT
 *
 * The members of a model's config.json as a flat list: "hidden_size", "text_config.hidden_size". */
#ifndef FILES_MODEL_MODEL_CONFIG_H
#define FILES_MODEL_MODEL_CONFIG_H

#include "containers/container.h"
#include "util/run/memory_pool.h"

/* A member that is no object. */
struct dti_model_member {
    const char *path, *json; /* json: as the file has it; not NUL-terminated */
    size_t path_length, length;
};
struct dti_model_config {
    bool there; /* the file exists */
    char label[DTI_QUOTE_SIZE];
    struct dti_pool pool;
    struct dti_model_member *list;
    size_t count;
};
/* Reads config.json from the folder of the container's first file. A missing one is no error. Free
 * it on success. Fails with DTI_BAD_INPUT in a line that names the file, DTI_NO_MEMORY. */
enum dti_status dti_model_config_read(struct dti_model_config *ret,
                                      const struct dti_container *container,
                                      struct dti_error *reterr);
void dti_model_config_free(struct dti_model_config *config); /* a zeroed struct is fine */

/* The first member of a list of paths, "a,b.c", each looked up in "text_config" first. NULL: there
 * is none, or it is null. */
const struct dti_model_member *dti_model_config_find(const struct dti_model_config *config,
                                                     const char *paths);
/* Its value: an integer from 0 to 2^63 - 1 (false: it is another), a string without escapes (false
 * likewise), the nearest double (NAN: it is no number). */
bool dti_model_member_integer(const struct dti_model_member *member, uint64_t *ret);
bool dti_model_member_string(const struct dti_model_member *member, const char **ret,
                             size_t *ret_length);
double dti_model_member_double(const struct dti_model_member *member);

#endif
