/* SPDX-License-Identifier: MIT
 *
 * A read-only JSON tree. */
#ifndef REPORT_JSON_TREE_H
#define REPORT_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct dti_tree; /* a JSON value */

/* Parses a document. It must be strict JSON (util/json/json_read.h), with at most
 * DTI_TREE_VALUES values and no number longer than DTI_TREE_DIGITS characters. DTI_BAD_INPUT:
 * *ret_problem (static, no full stop) and *ret_at, a byte offset, describe the error. Otherwise
 * fails with DTI_NO_MEMORY. */
enum { DTI_TREE_VALUES = 1 << 22, DTI_TREE_DIGITS = 60 };
enum dti_status dti_tree_read(struct dti_tree **ret, const char *text, size_t length,
                              const char **ret_problem, size_t *ret_at);
void dti_tree_free(struct dti_tree *tree);

/* Missing values, values of another type and NULL give NULL or false. */

/* The last member with that name. */
const struct dti_tree *dti_tree_member(const struct dti_tree *object, const char *key);
/* Iterates over an array: the first element, and the one after an element. */
const struct dti_tree *dti_tree_first(const struct dti_tree *array);
const struct dti_tree *dti_tree_next(const struct dti_tree *element);

const char *dti_tree_text(const struct dti_tree *value);
const char *dti_tree_number(const struct dti_tree *value); /* as the document has it */
bool dti_tree_is_true(const struct dti_tree *value);

#endif
