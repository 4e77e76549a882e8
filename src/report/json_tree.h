/* SPDX-License-Identifier: MIT
 *
 * A read-only JSON tree. */
#ifndef REPORT_JSON_TREE_H
#define REPORT_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* A JSON value (cJSON's type). */
struct cJSON;

/* Parses a document. It must be strict JSON (util/json/json_read.h), with at most
 * DTI_TREE_VALUES values and no number longer than DTI_TREE_DIGITS characters. DTI_BAD_INPUT:
 * *ret_problem (static, no full stop) and *ret_at, a byte offset, describe the error. Otherwise
 * fails with DTI_NO_MEMORY. */
enum { DTI_TREE_VALUES = 1 << 22, DTI_TREE_DIGITS = 60 };
enum dti_status dti_tree_read(struct cJSON **ret, const char *text, size_t length,
                              const char **ret_problem, size_t *ret_at);
void dti_tree_free(struct cJSON *tree);

/* Missing values, values of another type and NULL give NULL, 0 or false. */

/* The last member with that name. */
const struct cJSON *dti_tree_member(const struct cJSON *object, const char *key);
/* Iterates over an array: the first element, and the one after an element. */
const struct cJSON *dti_tree_first(const struct cJSON *array);
const struct cJSON *dti_tree_next(const struct cJSON *element);

const char *dti_tree_text(const struct cJSON *value);
double dti_tree_number(const struct cJSON *value);
/* An integer from 0 to 2^53. */
uint64_t dti_tree_uint(const struct cJSON *value);
bool dti_tree_is_true(const struct cJSON *value);

#endif
