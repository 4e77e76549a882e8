/* SPDX-License-Identifier: MIT
 *
 * Reads members of a configuration. Shared by quant_config.c, which reads the file;
 * quant_config_block.c, which reads the object in it; quant_config_groups.c and
 * quant_config_lists.c, which read its members about modules; and quant_config_rules.c, which turns
 * them into rules. All functions fail with DTI_BAD_INPUT, in one line that names the file, or with
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
    struct dti_pool *pool; /* holds names and lists */
};

/* Lists of texts about modules, as in the configuration. */
enum dti_config_list {
    DTI_LIST_TARGETS, /* of groups */
    DTI_LIST_IGNORE,  /* this and the rest: members of these names */
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

/* The object as parsed, unchanged. */
struct dti_config_block {
    bool there;
    char method[DTI_CONFIG_WORD], format[DTI_CONFIG_WORD], algorithm[DTI_CONFIG_WORD];
    char expert[DTI_CONFIG_WORD];
    char checkpoint_format[DTI_CONFIG_WORD], version[DTI_CONFIG_WORD], packing[DTI_CONFIG_WORD];
    bool marlin, own_order; /* "is_marlin_format", "desc_act" */
    char linear_class[DTI_CONFIG_WORD];
    struct dti_quark_config quark;
    unsigned bits;
    bool average_bits; /* "bits" is not a whole number: an average over all weights */
    uint64_t group_size, side[2];
    bool no_groups; /* the group size is 0, not -1 or null */
    bool grouped;   /* "config_groups" is present */
    size_t count;
    char mode[DTI_CONFIG_WORD]; /* MLX's; so are `modules` */
    struct dti_config_modules modules;
    struct dti_quant_hint hints[DTI_QUANT_HINTS_MAX]; /* of its groups and layers */
    struct dti_config_entries lists[DTI_CONFIG_LISTS];
};
enum dti_status dti_config_read_block(struct dti_config_reading *reading, const char *name,
                                      struct dti_config_block *block, struct dti_error *reterr);
/* Reads the members of an object that has begun, and its end. */
enum dti_status dti_config_read_members(struct dti_config_reading *reading,
                                        struct dti_config_block *block, struct dti_error *reterr);

/* The next key of an object, truncated to fit; *ret_key is "" at the end of the object. */
enum dti_status dti_config_next_key(struct dti_config_reading *reading,
                                    char ret_key[DTI_CONFIG_WORD], struct dti_error *reterr);
/* Reads the value after a key: the beginning of an object, or null (*ret_there is false). */
enum dti_status dti_config_open_object(struct dti_config_reading *reading, const char *key,
                                       bool *ret_there, struct dti_error *reterr);
/* Reads a string; null becomes "". */
enum dti_status dti_config_read_word(struct dti_config_reading *reading, const char *key,
                                     char ret[DTI_CONFIG_WORD], struct dti_error *reterr);
/* quant_config_model.c: reads the value of a member that may describe the model itself. Ignores
 * values of the wrong type and skips other members. */
enum dti_status dti_config_read_model(struct dti_config_reading *reading, const char *key,
                                      struct dti_config_model *model, struct dti_error *reterr);
/* Skips the rest of a value after its first token. */
enum dti_status dti_config_skip_rest(struct dti_config_reading *reading, enum dti_json_token first,
                                     struct dti_error *reterr);
/* Skips any value. */
enum dti_status dti_config_skip(struct dti_config_reading *reading, struct dti_error *reterr);
/* Reads a token. */
enum dti_status dti_config_next(struct dti_config_reading *reading, enum dti_json_token *ret,
                                struct dti_error *reterr);

/* quant_config_quark.c: reads the value of a Quark member. For other members *ret_mine is false and
 * nothing is read. dti_config_end_quark() combines the members at the end of the object. */
enum dti_status dti_config_read_quark(struct dti_config_reading *reading, const char *key,
                                      struct dti_quark_config *quark, bool *ret_mine,
                                      struct dti_error *reterr);
void dti_config_end_quark(struct dti_quark_config *quark);

/* true or false */
enum dti_status dti_config_read_flag(struct dti_config_reading *reading, const char *key, bool *ret,
                                     struct dti_error *reterr);
/* -1 and null are read as 0; *ret_minus (may be NULL) tells whether it was -1. Bits are from 0 to
 * 16. */
enum dti_status dti_config_read_count(struct dti_config_reading *reading, const char *key,
                                      bool *ret_minus, uint64_t *ret, struct dti_error *reterr);
enum dti_status dti_config_read_bits(struct dti_config_reading *reading, const char *key,
                                     unsigned *ret, struct dti_error *reterr);
/* [128, 128] or "128x128"; null leaves *ret unchanged. */
enum dti_status dti_config_read_sides(struct dti_config_reading *reading, const char *key,
                                      uint64_t ret[2], struct dti_error *reterr);
/* "... is not a count" */
enum dti_status dti_config_fail_type(struct dti_config_reading *reading, const char *key,
                                     const char *wanted, struct dti_error *reterr);

/* The index of a hint in the block; adds the hint if it is new. */
enum dti_status dti_config_add_hint(struct dti_config_reading *reading,
                                    struct dti_config_block *block,
                                    const struct dti_quant_hint *hint, unsigned *ret,
                                    struct dti_error *reterr);
enum dti_status dti_config_read_groups(struct dti_config_reading *reading,
                                       struct dti_config_block *block, struct dti_error *reterr);

/* Whether a member is one of the lists. Reading a list replaces any earlier content. */
bool dti_config_is_list(const char *key, enum dti_config_list *ret);
enum dti_status dti_config_read_list(struct dti_config_reading *reading,
                                     struct dti_config_block *block, const char *key,
                                     enum dti_config_list which, struct dti_error *reterr);
/* Reads an array of strings whose start was already read, and appends them. */
enum dti_status dti_config_read_strings(struct dti_config_reading *reading, const char *key,
                                        struct dti_config_entries *entries,
                                        struct dti_error *reterr);

/* quant_algorithms.c: the scheme that a "quant_algo" names; false: none beyond what the parts
 * show. */
bool dti_config_algorithm(const char *name, uint64_t group_size, struct dti_quant_hint *ret);
/* Whether the word is known, or empty. */
bool dti_config_knows_algorithm(const char *name);

/* quant_config_valid.c: rejects what no loader of the method accepts. */
enum dti_status dti_config_check_block(const struct dti_config_reading *reading,
                                       const struct dti_config_block *block,
                                       struct dti_error *reterr);
/* quant_config_repeats.c: rejects duplicate members that concern quantization, since parsers differ
 * in which one they use. whole: all members concern it. */
enum dti_status dti_config_check_repeats(struct dti_config_reading *reading, const char *text,
                                         size_t length, bool whole, struct dti_error *reterr);

/* Turns what the configuration says about modules by name into rules. */
enum dti_status dti_config_make_rules(const struct dti_config_reading *reading,
                                      const struct dti_config_block *block,
                                      struct dti_quant_config *config, struct dti_error *reterr);

#endif
