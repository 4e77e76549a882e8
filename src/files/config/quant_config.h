/* SPDX-License-Identifier: MIT
 *
 * What a checkpoint's configuration says about its quantized tensors: config.json (its member
 * quantization_config or compression_config), else hf_quant_config.json, quantize_config.json or
 * quant_config.json. It is as untrusted as the model files, and is parsed as strictly. */
#ifndef FILES_CONFIG_QUANT_CONFIG_H
#define FILES_CONFIG_QUANT_CONFIG_H

#include "containers/container.h"
#include "files/config/quant_config_modules.h"
#include "files/config/quant_modules.h"
#include "util/run/memory_pool.h"

enum dti_quant_strategy {
    DTI_STRATEGY_OPEN, /* not specified */
    DTI_STRATEGY_TENSOR,
    DTI_STRATEGY_CHANNEL,
    DTI_STRATEGY_GROUP,
    DTI_STRATEGY_BLOCK,
};
enum dti_quant_number { DTI_NUMBER_OPEN, DTI_NUMBER_INT, DTI_NUMBER_FLOAT };

/* What is known about a tensor apart from its parts; all zeros: nothing. */
struct dti_quant_hint {
    unsigned bits; /* of a number; 0: not specified */
    enum dti_quant_number number;
    enum dti_quant_strategy strategy;
    uint64_t group[2];  /* GROUP: 0 and the number of elements that share a scale; BLOCK: rows and
                         * columns; OPEN: both hold the length along any axis that has neither a
                         * single scale nor one per element; 0: not specified */
    bool asymmetric;    /* there are zero points */
    bool ordered;       /* columns are assigned to groups in a custom order */
    bool inputs;        /* of an algorithm: the scale of activations is stored, too */
    bool spread;        /* likewise: scales of rectangles are [rows, 1, columns, 1] */
    const char *format; /* of the group; NULL: the configuration's format */
};

/* AMD Quark's weights; "": not specified. */
struct dti_quark_weight {
    char dtype[32], scheme[32]; /* "int4", "per_group" */
    uint64_t group;
};
struct dti_quark_config {
    struct dti_quark_weight weight, layer; /* weight: of all layers; layer: of the last layer with
                                            * its own (private) */
    char packing[32];
    bool mixed; /* there are several kinds */
};

/* What else the configuration says about the model. */
struct dti_config_model {
    char dtype[32]; /* "bfloat16"; "": not specified */
    bool tied;      /* the output layer shares its weights with the embedding */
};

/* The algorithm of a model whose modules have several. */
#define DTI_MIXED_PRECISION "MIXED_PRECISION"
enum { DTI_QUANT_HINTS_MAX = 32, DTI_CONFIG_NAME = 24 };
struct dti_quant_config {
    const char *file;   /* "config.json"; NULL: no file, or none that mentions quantization */
    char conflict[128]; /* how another file contradicts this one, as text; "": none does */
    char unread[32];    /* the name of an unsupported format, used by all tensors; "": none */
    char method[32];    /* "awq"; "": not specified */
    char algorithm[32]; /* "quant_algo"; "": not specified */
    bool layered;       /* "quantized_layers" states one for each of some modules */
    char checkpoint_format[32], version[32]; /* how codes are packed into words; "": not
                                              * specified */
    bool own_order;                          /* groups may have a custom order */
    char linear_class[32];                   /* for bitnet */
    struct dti_quark_config quark;
    unsigned bits; /* of all tensors; 0: not specified */
    uint64_t group_size;
    size_t count; /* number of different hints; 0: nothing that is supported */
    struct dti_quant_hint hints[DTI_QUANT_HINTS_MAX]; /* each tensor follows one of them */
    struct dti_config_model model; /* from config.json, even if another file describes the
                                    * quantization */
    bool mlx;                      /* the configuration is MLX's: each module follows one of
                                    * these */
    struct dti_module_scheme all;
    struct dti_config_modules own;
    /* dti_quant_config_module() picks the hint. The remaining members are its own. */
    bool whole;         /* one scheme applies to all modules, regardless of groups */
    bool targeted;      /* modules that match no rule are not quantized */
    bool linear;        /* a group applies to all modules of class Linear */
    size_t class_count; /* groups for classes of modules: */
    struct dti_quant_hint of_classes[DTI_QUANT_HINTS_MAX];
    struct dti_quant_modules *modules; /* or NULL */
    struct dti_pool pool;
};
/* A zeroed struct is fine. A copy must not be freed separately. */
void dti_quant_config_free(struct dti_quant_config *config);

/* Parses the text of a file named `file`; label: names it in messages. *ret needs
 * dti_quant_config_free().
 */
enum dti_status dti_quant_config_parse(const char *label, const char *file, const char *text,
                                       size_t length, struct dti_quant_config *ret,
                                       struct dti_error *reterr);
/* Reads the configuration in the folder of the container's file or index, or in the container's
 * folder. Fails with DTI_BAD_INPUT for a file that exists but cannot be read, is larger than 16
 * MiB, or is not JSON; for members of the wrong type; and for more than DTI_QUANT_HINTS_MAX
 * different groups. */
enum dti_status dti_quant_config_read(const struct dti_container *container,
                                      struct dti_quant_config *ret, struct dti_error *reterr);

/* Whether the folder has no config.json; false for a container that is alone. Fails with
 * DTI_NO_MEMORY. */
enum dti_status dti_quant_config_is_missing(const struct dti_container *container, bool *ret,
                                            struct dti_error *reterr);

/* Sets `conflict` if the algorithms or the group sizes differ. */
void dti_quant_config_compare(struct dti_quant_config *config,
                              const struct dti_quant_config *other);

/* What the configuration says about a module, such as "model.layers.0.mlp.up_proj". */
enum dti_quant_statement {
    DTI_STATED_QUANTIZED, /* it is quantized, or the configuration mentions no modules */
    DTI_STATED_IGNORED,   /* a list excludes it from quantization */
    DTI_STATED_NOTHING,   /* the configuration names other modules, but not this one */
};
struct dti_quant_module {
    enum dti_quant_statement stated;
    const struct dti_quant_hint *hints; /* QUANTIZED: the module follows one of them; may point into
                                         * this struct */
    size_t count;
    unsigned bits;       /* from the configuration, or overridden for the module */
    uint64_t group_size; /* same */
    const char *rule;    /* the name or pattern that decided; NULL: none */
    size_t rule_length;
    struct dti_quant_hint picked[2];
};
/* Not thread-safe. Once dti_quant_config_judge() has succeeded, fails only with DTI_NO_MEMORY. */
enum dti_status dti_quant_config_module(const struct dti_quant_config *config, const char *name,
                                        size_t length, struct dti_quant_module *ret,
                                        struct dti_error *reterr);
/* The length of the name of the module that owns the tensor. */
size_t dti_quant_module_length(const struct dti_tensor *tensor);

/* Matches all modules that own tensors, and all others that are looked up later (parent modules, a
 * tied output layer). Fails with DTI_BAD_INPUT if patterns take too long, with text that continues
 * the file's name. After success, later lookups never fail for that reason, so all readers and
 * checks give the same answer. */
enum dti_status dti_quant_config_judge(const struct dti_quant_config *config,
                                       const struct dti_container *container,
                                       struct dti_error *reterr);
/* dti_quant_config_use() marks the names and patterns that match a module of the container as used.
 * dti_quant_config_unused() returns the next unused one, starting at *at (initially 0), or NULL
 * after the last; it omits names of classes. Fails as dti_quant_config_module() does. */
enum dti_status dti_quant_config_use(const struct dti_quant_config *config,
                                     const struct dti_container *container,
                                     struct dti_error *reterr);
const struct dti_module_rule *dti_quant_config_unused(const struct dti_quant_config *config,
                                                      size_t *at);

/* Whether a compressed-tensors format is supported. The tensors of other formats are already
 * arranged for kernels. */
bool dti_quant_config_reads(const char *format);

/* "num_bits 4, group_size 128"; for messages. */
enum { DTI_QUANT_HINT_TEXT = 128 };
const char *dti_quant_hint_words(const struct dti_quant_hint *hint,
                                 char buffer[DTI_QUANT_HINT_TEXT]);

#endif
