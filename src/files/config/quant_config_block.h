/* SPDX-License-Identifier: MIT
 *
 * Reading members of a configuration: shared by quant_config.c, which reads the file,
 * quant_config_block.c, which reads the object in it, quant_config_groups.c and
 * quant_config_lists.c, which read its members about modules, and quant_config_rules.c, which makes
 * rules of them. All fail with DTI_BAD_INPUT in one line that names the file, or with
 * DTI_NO_MEMORY. */
#ifndef FILES_CONFIG_QUANT_CONFIG_BLOCK_H
#define FILES_CONFIG_QUANT_CONFIG_BLOCK_H

#include "files/config/quant_config.h"
#include "files/config/quant_config_modules.h"
#include "files/config/quant_modules.h"
#include "util/json/json_read.h"

enum { DTI_CONFIG_WORD = 32 };
_Static_assert(DTI_QUANT_HINTS_MAX <= 32, "sets of hints have 32 bits");

struct dti_config_reading {
    struct dti_json_reader json;
    char label[DTI_QUOTE_SIZE];
    struct dti_pool *pool; /* of names and lists */
};

/* Texts about modules, as the configuration has them. */
enum dti_config_list {
    DTI_LIST_TARGETS, /* of groups */
    DTI_LIST_IGNORE,  /* the rest: members of their names */
    DTI_LIST_EXCLUDED,
    DTI_LIST_IGNORED_LAYERS,
    DTI_LIST_NOT_CONVERTED,
    DTI_LIST_SKIPPED,
    DTI_LIST_DYNAMIC,
    DTI_LIST_LAYERS,
    DTI_CONFIG_LISTS
};
enum { DTI_CONFIG_ENTRIES_MAX = 1 << 18 };
struct dti_config_entries {
    struct dti_module_rule *list; /* `ignore` is only set in DTI_LIST_DYNAMIC */
    size_t count, capacity;
};

/* The object, unchanged. */
struct dti_config_block {
    bool there;
    char method[DTI_CONFIG_WORD], format[DTI_CONFIG_WORD], algorithm[DTI_CONFIG_WORD];
    char expert[DTI_CONFIG_WORD];
    char checkpoint_format[DTI_CONFIG_WORD], version[DTI_CONFIG_WORD], packing[DTI_CONFIG_WORD];
    bool marlin, own_order; /* "is_marlin_format", "desc_act" */
    char linear_class[DTI_CONFIG_WORD];
    struct dti_quark_config quark;
    unsigned bits;
    uint64_t group_size, side[2];
    bool no_groups; /* the group size is 0, and neither -1 nor null */
    bool grouped;   /* there are "config_groups" */
    size_t count;
    char mode[DTI_CONFIG_WORD]; /* MLX's, as are modules */
    struct dti_config_modules modules;
    struct dti_quant_hint hints[DTI_QUANT_HINTS_MAX]; /* of its groups and layers */
    struct dti_config_entries lists[DTI_CONFIG_LISTS];
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
/* quant_config_model.c: the value of a member that may be about the model itself; what is not as it
 * should be says nothing, and others are skipped. */
enum dti_status dti_config_read_model(struct dti_config_reading *reading, const char *key,
                                      struct dti_config_model *model, struct dti_error *reterr);
/* The rest of a value, after its first token. */
enum dti_status dti_config_skip_rest(struct dti_config_reading *reading, enum dti_json_token first,
                                     struct dti_error *reterr);
/* Any value. */
enum dti_status dti_config_skip(struct dti_config_reading *reading, struct dti_error *reterr);
/* A token. */
enum dti_status dti_config_next(struct dti_config_reading *reading, enum dti_json_token *ret,
                                struct dti_error *reterr);

/* quant_config_quark.c: the value of a member; *ret_mine is false, and nothing is read, where it is
 * none of Quark's. At the end of the object, what all of it says. */
enum dti_status dti_config_read_quark(struct dti_config_reading *reading, const char *key,
                                      struct dti_quark_config *quark, bool *ret_mine,
                                      struct dti_error *reterr);
void dti_config_end_quark(struct dti_quark_config *quark);

/* true or false */
enum dti_status dti_config_read_flag(struct dti_config_reading *reading, const char *key, bool *ret,
                                     struct dti_error *reterr);
/* -1 and null are 0; *ret_minus, which may be NULL: it is -1. Bits are from 0 to 16. */
enum dti_status dti_config_read_count(struct dti_config_reading *reading, const char *key,
                                      bool *ret_minus, uint64_t *ret, struct dti_error *reterr);
enum dti_status dti_config_read_bits(struct dti_config_reading *reading, const char *key,
                                     unsigned *ret, struct dti_error *reterr);
/* [128, 128] or "128x128"; null leaves *ret as it is. */
enum dti_status dti_config_read_sides(struct dti_config_reading *reading, const char *key,
                                      uint64_t ret[2], struct dti_error *reterr);
/* "... is not a count" */
enum dti_status dti_config_fail_type(struct dti_config_reading *reading, const char *key,
                                     const char *wanted, struct dti_error *reterr);

/* The index of a hint of the block, which is added if need be. */
enum dti_status dti_config_add_hint(struct dti_config_reading *reading,
                                    struct dti_config_block *block,
                                    const struct dti_quant_hint *hint, unsigned *ret,
                                    struct dti_error *reterr);
enum dti_status dti_config_read_groups(struct dti_config_reading *reading,
                                       struct dti_config_block *block, struct dti_error *reterr);

/* Whether a member is one of the lists; it is read then, instead of what was there. */
bool dti_config_is_list(const char *key, enum dti_config_list *ret);
enum dti_status dti_config_read_list(struct dti_config_reading *reading,
                                     struct dti_config_block *block, const char *key,
                                     enum dti_config_list which, struct dti_error *reterr);
/* An array of strings, of which the beginning was read, behind what is there. */
enum dti_status dti_config_read_strings(struct dti_config_reading *reading, const char *key,
                                        struct dti_config_entries *entries,
                                        struct dti_error *reterr);

/* quant_algorithms.c: what "quant_algo" says of a scheme; false: nothing that the parts do not. */
bool dti_config_algorithm(const char *name, uint64_t group_size, struct dti_quant_hint *ret);
/* Whether there is such a word, or none is said. */
bool dti_config_knows_algorithm(const char *name);

/* quant_config_valid.c: refuses what no loader of the method takes. */
enum dti_status dti_config_check_block(const struct dti_config_reading *reading,
                                       const struct dti_config_block *block,
                                       struct dti_error *reterr);
/* quant_config_repeats.c: refuses members that are there twice, where they say something of
 * quantization: which one counts is up to the parser. whole: all members do. */
enum dti_status dti_config_check_repeats(struct dti_config_reading *reading, const char *text,
                                         size_t length, bool whole, struct dti_error *reterr);

/* Fills what the configuration says of modules by their names. */
enum dti_status dti_config_make_rules(const struct dti_config_reading *reading,
                                      const struct dti_config_block *block,
                                      struct dti_quant_config *config, struct dti_error *reterr);

#endif
