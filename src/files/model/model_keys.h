/* SPDX-License-Identifier: MIT
 *
 * The key-values of a language model from its config.json, and the tensors that llama.cpp computes
 * from it: factors of rope. */
#ifndef FILES_MODEL_MODEL_KEYS_H
#define FILES_MODEL_MODEL_KEYS_H

#include "containers/gguf/gguf_edits.h"
#include "files/model/model_config.h"
#include "files/model/model_names.h"

/* A tensor of one dimension that no file has. */
struct dti_model_made {
    const char *name;
    float *numbers;
    uint64_t count;
};
enum { DTI_MODEL_MADE_MOST = 2 };

struct dti_model_keys {
    struct dti_pool pool;
    struct dti_gguf_edits edits;
    size_t made_count;
    struct dti_model_made made[DTI_MODEL_MADE_MOST];
};

/* given: key-values that are stated otherwise and count more; a key that they have needs no member.
 * Free it in any case. Fails with DTI_BAD_INPUT, in one line that names the member and the key,
 * where one is missing or no such value. */
enum dti_status dti_model_keys_read(struct dti_model_keys *ret,
                                    const struct dti_model_config *config, enum dti_model_arch arch,
                                    const struct dti_container *given, struct dti_error *reterr);
void dti_model_keys_free(struct dti_model_keys *keys);

/* The architecture that config.json names; DTI_MODEL_ARCHS: none, or none in the table. *ret_class
 * (may be NULL): the first class that it names; its length is 0 without any. */
enum dti_model_arch dti_model_config_arch(const struct dti_model_config *config,
                                          const char **ret_class, size_t *ret_length);

#endif
