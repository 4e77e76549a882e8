/* SPDX-License-Identifier: MIT
 *
 * Which architectures compute natively with which dtype, selected by name or by dtype. */
#ifndef ANSWERS_DEVICES_ARCH_H
#define ANSWERS_DEVICES_ARCH_H

#include "answers/ask.h"
#include "devices/machine/architecture.h"
#include "report/json.h"
#include "util/buffer.h"

struct dti_arch_answer {
    char *const *names; /* as given; none: all architectures */
    size_t name_count;
    const struct dti_dtype_operand *dtypes; /* asked for; none: all */
    size_t dtype_count;
    const struct dti_architecture **shown; /* in table order */
    size_t count;
};
/* Selects what is shown: the named architectures; with dtypes, those that support any of them. Free
 * the answer after use. Fails with DTI_USAGE for an unknown name. */
enum dti_status dti_arch_find(struct dti_arch_answer *answer, struct dti_error *reterr);
void dti_arch_free(struct dti_arch_answer *answer);

/* The capabilities with facts, strongest first; terminated by DTI_CAPABLE_SOFTWARE. */
extern const enum dti_capability dti_arch_capabilities[];
/* Whether the answer shows facts about a dtype. */
bool dti_arch_shows(const struct dti_arch_answer *answer, enum dti_dtype dtype);
/* Appends the shown architectures of a group that support the dtype: "Ampere and newer", "all",
 * "M2, M4"; nothing if none does. */
void dti_arch_summary(struct dti_buffer *text, const struct dti_arch_answer *answer,
                      enum dti_architecture_group group, const struct dti_format *format);

void dti_document_arch(struct dti_json *json, const struct dti_arch_answer *answer);

#endif
