/* SPDX-License-Identifier: MIT
 *
 * What identifies a failure from one run to the next. */
#include <string.h>

#include "answers/check/check_answer.h"

const char *const dti_check_field_names[DTI_CHECK_FIELDS] = {
    [DTI_FIELD_PATH] = "path",         [DTI_FIELD_NAME] = "name",
    [DTI_FIELD_ARGUMENT] = "argument", [DTI_FIELD_AS] = "as",
    [DTI_FIELD_TENSOR] = "tensor",     [DTI_FIELD_RULE] = "rule",
    [DTI_FIELD_SUBJECT] = "subject"};

void dti_check_identify(struct dti_check_identity *ret, const struct dti_check_report *report,
                        size_t assertion)
{
    const struct dti_check_assertion *const of = &report->request->assertions[assertion];
    *ret = (struct dti_check_identity){
        .fields = {[DTI_FIELD_PATH] = dti_spelled(report->path),
                   [DTI_FIELD_NAME] = dti_spelled(dti_check_name(of->kind)),
                   [DTI_FIELD_ARGUMENT] = dti_spelled(of->argument),
                   [DTI_FIELD_AS] =
                       dti_spelled(of->kind > DTI_CHECK_FITS ? of->format.name : NULL)}};
}

void dti_check_identify_failure(struct dti_check_identity *ret, const struct dti_check_words *words)
{
    ret->fields[DTI_FIELD_TENSOR] =
        dti_spelled_if(words->tensor != NULL, words->tensor, words->tensor_length);
    ret->fields[DTI_FIELD_RULE] = dti_spelled(words->rule ? words->rule->word : NULL);
    ret->fields[DTI_FIELD_SUBJECT] = dti_spelled(words->subject);
}

void dti_check_identity_bytes(struct dti_buffer *ret, const struct dti_check_identity *identity,
                              size_t fields)
{
    dti_buffer_clear(ret);
    for (size_t i = 0; i < fields; i++) {
        struct dti_spelled field = identity->fields[i];
        while (i == DTI_FIELD_PATH && field.length > 2 && memcmp(field.text, "./", 2) == 0)
            field.text += 2, field.length -= 2;
        if (!field.text) {
            dti_buffer_puts(ret, "-");
            continue;
        }
        dti_buffer_print(ret, "%zu:", field.length);
        dti_buffer_append(ret, field.text, field.length);
    }
}
