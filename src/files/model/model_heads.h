/* SPDX-License-Identifier: MIT
 *
 * How many heads a language model has: llama.cpp's converter orders rows of q and k by them. */
#ifndef FILES_MODEL_MODEL_HEADS_H
#define FILES_MODEL_MODEL_HEADS_H

#include "containers/container.h"
#include "files/model/model_names.h"

struct dti_model_heads {
    uint64_t heads, kv_heads; /* 0: not known */
    bool differ;              /* layers have different numbers, which is not supported */
};

/* The architecture that a GGUF states; DTI_MODEL_ARCHS: none that model_names.h has. *ret_name and
 * *ret_length: its general.architecture, NULL and 0 without one. */
enum dti_model_arch dti_model_arch_of(const struct dti_container *gguf, const char **ret_name,
                                      size_t *ret_length);

/* From the key-values ARCH.attention.head_count and .head_count_kv of the GGUF; what they leave
 * open from num_attention_heads and num_key_value_heads in the config.json next to the
 * checkpoint, or in its text_config. Without a number of key-value heads there are as many as
 * heads. Fails with DTI_BAD_INPUT if config.json cannot be read, and with DTI_NO_MEMORY. */
enum dti_status dti_model_heads_read(struct dti_model_heads *ret, const struct dti_container *gguf,
                                     enum dti_model_arch arch,
                                     const struct dti_container *checkpoint,
                                     struct dti_error *reterr);

#endif
