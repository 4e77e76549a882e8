/* SPDX-License-Identifier: MIT
 *
 * Types of GGUF in options: "q4_k", and "GLOB=TYPE,..." of --type. */
#ifndef REQUESTS_REWRITE_TYPE_RULES_H
#define REQUESTS_REWRITE_TYPE_RULES_H

#include "files/stored/tensor_choice.h"
#include "util/error.h"

enum { DTI_TYPE_RULES_MAX = 1024 };

/* The block types that an option takes. */
struct dti_type_words {
    const struct dti_gguf_type *(*at)(size_t index); /* NULL at the end */
    const char *what;                                /* "encoded in gguf files" */
};

/* A type by its name; with `numbers`, also the one that stores a float dtype. Fails with
 * DTI_WRONG_KIND or DTI_UNKNOWN_DTYPE. */
enum dti_status dti_type_word_read(const struct dti_type_words *words, const char *word,
                                   size_t length, bool numbers, const struct dti_gguf_type **ret,
                                   struct dti_error *reterr);
/* list: may be NULL; must outlive the rules, of which there are at most DTI_TYPE_RULES_MAX. Fails
 * with DTI_USAGE, too. */
enum dti_status dti_type_rules_read(const struct dti_type_words *words, const char *list,
                                    struct dti_type_rule *rules, size_t *ret_count,
                                    struct dti_error *reterr);

#endif
