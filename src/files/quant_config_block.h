/* SPDX-License-Identifier: MIT
 *
 * Reading members of a configuration: shared by quant_config.c, which reads the file, and
 * quant_config_block.c, which reads the object in it. All fail with DTI_BAD_INPUT in one line that
 * names the file, or with DTI_NO_MEMORY. */
#ifndef DTINFO_FILES_QUANT_CONFIG_BLOCK_H
#define DTINFO_FILES_QUANT_CONFIG_BLOCK_H

#include "dtinfo/json_read.h"
#include "files/quant_config.h"

enum { DTI_CONFIG_WORD = 32 };

struct dti_config_reading {
    struct dti_json_reader json;
    char label[DTI_QUOTE_SIZE];
};

/* The object, unchanged; the last of equal members counts, as for Python. */
struct dti_config_block {
    bool there;
    char method[DTI_CONFIG_WORD], format[DTI_CONFIG_WORD], algorithm[DTI_CONFIG_WORD];
    char expert[DTI_CONFIG_WORD];
    char checkpoint_format[DTI_CONFIG_WORD], version[DTI_CONFIG_WORD];
    unsigned bits;
    char unread[DTI_CONFIG_WORD]; /* the format of a group that is not read */
    uint64_t group_size, side[2];
    size_t count;
    struct dti_quant_hint hints[DTI_QUANT_HINTS_MAX]; /* of its config_groups */
};
enum dti_status dti_config_read_block(struct dti_config_reading *reading, const char *name,
                                      struct dti_config_block *block, struct dti_error *reterr);
/* The members of one that has begun, and its end. */
enum dti_status dti_config_read_members(struct dti_config_reading *reading,
                                        struct dti_config_block *block, struct dti_error *reterr);

/* The next key of an object, cut to fit; *ret_key is "" at its end. */
enum dti_status dti_config_next_key(struct dti_config_reading *reading,
                                    char ret_key[DTI_CONFIG_WORD], struct dti_error *reterr);
/* The value after a key: the beginning of an object, or null, which is none. */
enum dti_status dti_config_open_object(struct dti_config_reading *reading, const char *key,
                                       bool *ret_there, struct dti_error *reterr);
/* A string; null is "". */
enum dti_status dti_config_read_word(struct dti_config_reading *reading, const char *key,
                                     char ret[DTI_CONFIG_WORD], struct dti_error *reterr);
/* Any value. */
enum dti_status dti_config_skip(struct dti_config_reading *reading, struct dti_error *reterr);
/* A token. */
enum dti_status dti_config_next(struct dti_config_reading *reading, enum dti_json_token *ret,
                                struct dti_error *reterr);

/* Notes a format of compressed-tensors that is not read. */
void dti_config_look_at_format(const char *format, struct dti_config_block *block);

#endif
