/* SPDX-License-Identifier: MIT
 *
 * What a checkpoint's configuration says about its quantized tensors: config.json (its member
 * quantization_config or compression_config), else hf_quant_config.json, quantize_config.json or
 * quant_config.json. It is as untrusted as the
 * files, and is parsed as strictly. */
#ifndef FILES_CONFIG_QUANT_CONFIG_H
#define FILES_CONFIG_QUANT_CONFIG_H

#include "containers/container.h"
#include "files/config/quant_config_modules.h"
#include "files/config/quant_modules.h"
#include "util/run/memory_pool.h"

enum dti_quant_strategy {
    DTI_STRATEGY_OPEN, /* not said */
    DTI_STRATEGY_TENSOR,
    DTI_STRATEGY_CHANNEL,
    DTI_STRATEGY_GROUP,
    DTI_STRATEGY_BLOCK,
};
enum dti_quant_number { DTI_NUMBER_OPEN, DTI_NUMBER_INT, DTI_NUMBER_FLOAT };

/* What is known of a tensor besides its parts; all zeros: nothing. */
struct dti_quant_hint {
    unsigned bits; /* of a number; 0: not said */
    enum dti_quant_number number;
    enum dti_quant_strategy strategy;
    uint64_t group[2];  /* GROUP: 0 and how many share a scale; BLOCK: rows and columns; OPEN: both
                         * of any that are not of one place or all; 0: not said */
    bool asymmetric;    /* there are zero points */
    bool ordered;       /* columns have groups in an order of their own */
    const char *format; /* that of the group; NULL: that of the configuration */
};

/* AMD Quark's weights; "": it is not said. */
struct dti_quark_weight {
    char dtype[32], scheme[32]; /* "int4", "per_group" */
    uint64_t group;
};
struct dti_quark_config {
    struct dti_quark_weight weight, layer; /* of all; private: of the last layer with its own */
    char packing[32];
    bool mixed; /* there are several kinds */
};

/* What is said of the model besides. */
struct dti_config_model {
    char dtype[32]; /* "bfloat16"; "": it is not said */
    bool tied;      /* the output layer is the embedding */
};

enum { DTI_QUANT_HINTS_MAX = 32, DTI_CONFIG_NAME = 24 };
struct dti_quant_config {
    const char *file;   /* "config.json"; NULL: there is none, or it says nothing of quantization */
    char conflict[128]; /* another file says something else, in words; "": none does */
    char unread[32];    /* the name of a format that is not read, of all tensors; "": none */
    char method[32];    /* "awq"; "": it is not said */
    char algorithm[32]; /* "quant_algo"; "": likewise */
    char checkpoint_format[32], version[32]; /* how codes lie in words; "": likewise */
    bool own_order;                          /* groups may be in an order of their own */
    char linear_class[32];                   /* of bitnet */
    struct dti_quark_config quark;
    unsigned bits; /* of all tensors; 0: likewise */
    uint64_t group_size;
    size_t count; /* of different hints; 0: nothing that is known here */
    struct dti_quant_hint hints[DTI_QUANT_HINTS_MAX]; /* each tensor is by one of them */
    struct dti_config_model model; /* by config.json, whichever file says how it is quantized */
    bool mlx;                      /* it is MLX's: modules are by one of these */
    struct dti_module_scheme all;
    struct dti_config_modules own;
    /* Which one: dti_quant_config_module(). The rest is its own. */
    bool whole;         /* one scheme is for all modules, whatever groups there are */
    bool targeted;      /* modules that no rule names are not quantized */
    bool linear;        /* a group is for all modules of class Linear */
    size_t class_count; /* groups for classes of modules: */
    struct dti_quant_hint of_classes[DTI_QUANT_HINTS_MAX];
    struct dti_quant_modules *modules; /* or NULL */
    struct dti_pool pool;
};
/* One that holds nothing is fine, and a copy needs none of its own. */
void dti_quant_config_free(struct dti_quant_config *config);

/* The text of a file called `file`; label: of it, for messages. *ret needs dti_quant_config_free().
 */
enum dti_status dti_quant_config_parse(const char *label, const char *file, const char *text,
                                       size_t length, struct dti_quant_config *ret,
                                       struct dti_error *reterr);
/* Reads the configuration in the folder of the container's file or index, or in the container's
 * folder. Fails with DTI_BAD_INPUT for a file that is there and cannot be read, is larger than 16
 * MiB, or is not JSON; for members of other types than they should have; for more than
 * DTI_QUANT_HINTS_MAX different groups. */
enum dti_status dti_quant_config_read(const struct dti_container *container,
                                      struct dti_quant_config *ret, struct dti_error *reterr);

/* Sets `conflict` where the algorithms or the group sizes differ. */
void dti_quant_config_compare(struct dti_quant_config *config,
                              const struct dti_quant_config *other);

/* What is said of a module, "model.layers.0.mlp.up_proj". */
enum dti_quant_said {
    DTI_SAID_QUANTIZED, /* it is, or nothing is said of any module */
    DTI_SAID_IGNORED,   /* it is not, by a list of those that are not */
    DTI_SAID_NOTHING,   /* others are said to be, and this one is not named */
};
struct dti_quant_module {
    enum dti_quant_said said;
    const struct dti_quant_hint *hints; /* QUANTIZED: the module is by one of them; may point into
                                         * this struct */
    size_t count;
    unsigned bits;       /* those of the configuration, or its own */
    uint64_t group_size; /* likewise */
    const char *rule;    /* the name or pattern that decided; NULL: none did */
    size_t rule_length;
    struct dti_quant_hint picked[2];
};
/* Not from several threads. Fails with DTI_NO_MEMORY alone once the tensors were judged. */
enum dti_status dti_quant_config_module(const struct dti_quant_config *config, const char *name,
                                        size_t length, struct dti_quant_module *ret,
                                        struct dti_error *reterr);
/* The length of the name of the module that has the tensor. */
size_t dti_quant_module_length(const struct dti_tensor *tensor);

/* Matches all modules that have tensors, and all others that anybody asks for. Fails with
 * DTI_BAD_INPUT where patterns take too long, in words that follow the name of the file; where they
 * do not, nothing does later: all readers and the checks say the same. */
enum dti_status dti_quant_config_judge(const struct dti_quant_config *config,
                                       const struct dti_container *container,
                                       struct dti_error *reterr);
/* Lets names and patterns that match a module of the container count as used. Then the next of
 * those that are not, from *at on, which is 0 at first; NULL: there is no more. Names of classes
 * are left out. Fails as dti_quant_config_module() does. */
enum dti_status dti_quant_config_use(const struct dti_quant_config *config,
                                     const struct dti_container *container,
                                     struct dti_error *reterr);
const struct dti_module_rule *dti_quant_config_unused(const struct dti_quant_config *config,
                                                      size_t *at);

/* Whether a format of compressed-tensors is read, by its tensors. Others are already as kernels
 * need them. */
bool dti_quant_config_reads(const char *format);

/* "num_bits 4, group_size 128"; for messages. */
enum { DTI_QUANT_HINT_TEXT = 128 };
const char *dti_quant_hint_words(const struct dti_quant_hint *hint,
                                 char buffer[DTI_QUANT_HINT_TEXT]);

#endif
