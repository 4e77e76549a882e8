/* SPDX-License-Identifier: MIT
 *
 * Selects tensors by patterns, and names them in messages. */
#include "files/stored/tensor_choice.h"

#include <stdio.h>
#include <string.h>

#include "util/text/glob.h"

bool dti_tensor_fits(const char *list, const struct dti_tensor *tensor)
{
    return list && dti_glob_list_match(list, tensor->name, tensor->name_length);
}

const struct dti_type_rule *dti_type_rule_of(const struct dti_type_rule *rules, size_t count,
                                             const struct dti_tensor *tensor)
{
    for (size_t i = 0; i < count; i++) {
        if (dti_glob_match(rules[i].pattern, rules[i].length, tensor->name, tensor->name_length))
            return &rules[i];
    }
    return NULL;
}

const char *dti_tensor_place(const struct dti_container *container, size_t tensor,
                             char buffer[DTI_TENSOR_PLACE])
{
    const struct dti_tensor *const named = dti_container_tensor(container, tensor);
    char label[DTI_QUOTE_SIZE], name[DTI_QUOTE_SIZE];
    dti_input_label(&container->files[named->file].input, label);
    dti_quote(name, named->name, named->name_length);
    (void)snprintf(buffer, DTI_TENSOR_PLACE, "%s: tensor %s", label, name);
    return buffer;
}

void dti_error_of_tensor(const struct dti_container *container, size_t tensor,
                         struct dti_error *reterr)
{
    char place[DTI_TENSOR_PLACE];
    if (!reterr || reterr->status == DTI_CANCELLED)
        return;
    const struct dti_error error = *reterr;
    (void)dti_fail_remedy(reterr, error.status, error.remedy, "%s: %s",
                          dti_tensor_place(container, tensor, place), error.text);
    dti_error_argument(reterr, error.argument, strlen(error.argument));
}
