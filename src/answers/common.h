/* SPDX-License-Identifier: MIT
 *
 * For rows: the objects that several documents have. */
#ifndef DTINFO_ANSWERS_COMMON_H
#define DTINFO_ANSWERS_COMMON_H

#include "answers/document.h"
#include "answers/spelled.h"
#include "dtinfo/dtype.h"

extern const struct dti_object dti_object_number, dti_object_neighbour, dti_object_fields,
    dti_object_name, dti_object_warning, dti_object_dtype_names, dti_object_layout,
    dti_object_plain_number;

void dti_put_neighbour(struct dti_json *json, const char *key,
                       const struct dti_number_answer *number);
void dti_put_members_layout(struct dti_json *json, const struct dti_format *format);

/* Without the code, of numbers that are no dtype's. */
void dti_put_plain_number(struct dti_json *json, const char *key,
                          const struct dti_number_answer *number);

const char *dti_kind_words(size_t index);

#endif
