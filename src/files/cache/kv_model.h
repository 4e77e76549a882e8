/* SPDX-License-Identifier: MIT
 *
 * What a language model keeps of its context, layer by layer: keys and values of tokens, or states
 * of a fixed size. It follows from config.json, or from the key-values of a GGUF, by the rules of
 * kv_models.def. What they do not say is an error that names it: nothing is assumed. */
#ifndef FILES_CACHE_KV_MODEL_H
#define FILES_CACHE_KV_MODEL_H

#include "containers/container.h"

enum dti_kv_kind {
    DTI_KV_FULL,      /* keys and values of all tokens */
    DTI_KV_SLIDING,   /* of the last `window` tokens */
    DTI_KV_CHUNKED,   /* of the tokens of the current chunk of `window` tokens */
    DTI_KV_LATENT,    /* MLA: one compressed row for each token, shared by all heads */
    DTI_KV_INDEXER,   /* a key of an indexer that chooses tokens, for each token */
    DTI_KV_CONV,      /* last inputs of a convolution */
    DTI_KV_RECURRENT, /* state of a linear attention or state space layer */
    DTI_KV_KINDS
};
static inline bool dti_kv_is_state(enum dti_kv_kind kind)
{
    return kind >= DTI_KV_CONV;
}

/* Layers that keep the same. Of tokens: `heads` x `key` and `heads` x `value` elements for each
 * token. A state: `heads` x `key` x `value` elements for each sequence. */
struct dti_kv_group {
    enum dti_kv_kind kind;
    bool fp32; /* a state that is kept in fp32, whatever the dtype of the model */
    uint64_t layers;
    uint64_t window; /* tokens; 0: all */
    uint64_t heads, key, value;
};

enum { DTI_KV_GROUPS = 64, DTI_KV_WORD = 64 };
struct dti_kv_model {
    char type[DTI_KV_WORD]; /* "llama": model_type, or general.architecture */
    const char *like;       /* the type whose rule is followed */
    const char *source;     /* where that rule comes from */
    bool gguf;
    char defaults[256]; /* members that are missing and have a documented default: "head_dim 256" */
    uint64_t layers;    /* of the model */
    uint64_t shared;    /* of these, how many use the cache of an earlier layer */
    uint64_t without;   /* and how many keep nothing */
    uint64_t context;   /* the longest that the model is made for; 0: not stated */
    const char *context_member;
    bool scheme;             /* the quantization's configuration names a dtype for the cache, too */
    char dtype[DTI_KV_WORD]; /* of the model, as config.json spells it; "": not stated */
    size_t count;
    struct dti_kv_group groups[DTI_KV_GROUPS];
};

/* Reads the model of a container: from its own key-values if it is a GGUF, else from the
 * config.json next to it. like: follow the rule of this type, or NULL. Fails with DTI_BAD_INPUT,
 * DTI_USAGE (no such type), DTI_NO_MEMORY. */
enum dti_status dti_kv_model_read(struct dti_container *container, const char *like,
                                  struct dti_kv_model *ret, struct dti_error *reterr);
/* Reads it from this config.json. */
enum dti_status dti_kv_config_read(const char *path, const char *like, struct dti_kv_model *ret,
                                   struct dti_error *reterr);
/* The same for text in memory. */
enum dti_status dti_kv_config_parse(const char *label, const char *text, size_t length,
                                    const char *like, struct dti_kv_model *ret,
                                    struct dti_error *reterr);

#endif
