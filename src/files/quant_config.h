/* SPDX-License-Identifier: MIT
 *
 * What a checkpoint's configuration says about its quantized tensors: config.json (its member
 * quantization_config or compression_config), else hf_quant_config.json, quantize_config.json or
 * quant_config.json. It is as untrusted as the
 * files, and is parsed as strictly. */
#ifndef DTINFO_FILES_QUANT_CONFIG_H
#define DTINFO_FILES_QUANT_CONFIG_H

#include "dtinfo/container.h"

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
    uint64_t group[2]; /* GROUP: 0 and how many share a scale; BLOCK: rows and columns; OPEN: both
                        * of any that are not of one place or all; 0: not said */
    bool asymmetric;   /* there are zero points */
};

enum { DTI_QUANT_HINTS_MAX = 32, DTI_CONFIG_NAME = 24 };
struct dti_quant_config {
    const char *file; /* "config.json"; NULL: there is none, or it says nothing of quantization */
    char unread[32];  /* the name of a format that is not read; "": none */
    char method[32];  /* "gptq"; "": it is not said */
    char checkpoint_format[32], version[32]; /* of gptq and awq; "": likewise */
    unsigned bits;                           /* of all tensors; 0: likewise */
    uint64_t group_size;
    size_t count; /* of different hints; 0: nothing that is known here */
    struct dti_quant_hint hints[DTI_QUANT_HINTS_MAX]; /* each tensor is by one of them */
};

/* The text of a file called `file`; label: of it, for messages. */
enum dti_status dti_quant_config_parse(const char *label, const char *file, const char *text,
                                       size_t length, struct dti_quant_config *ret,
                                       struct dti_error *reterr);
/* Reads the configuration in the folder of the container's file or index, or in the container's
 * folder. Fails with DTI_BAD_INPUT for a file that is there and cannot be read, is larger than 16
 * MiB, or is not JSON; for members of other types than they should have; for more than
 * DTI_QUANT_HINTS_MAX different groups. */
enum dti_status dti_quant_config_read(const struct dti_container *container,
                                      struct dti_quant_config *ret, struct dti_error *reterr);

/* "num_bits 4, group_size 128"; for messages. */
enum { DTI_QUANT_HINT_TEXT = 128 };
const char *dti_quant_hint_words(const struct dti_quant_hint *hint,
                                 char buffer[DTI_QUANT_HINT_TEXT]);

#endif
