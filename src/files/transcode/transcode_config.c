/* SPDX-License-Identifier: MIT
 *
 * The quantization_config of a transcoded file. */
#include <stdlib.h>
#include <string.h>

#include "files/transcode/transcode_view.h"
#include "util/run/allocate.h"

/* Groups matrices of equal form, with the names of their modules. */
enum { FORMS = 16 };
struct config_forms {
    size_t count;
    struct dti_config_group groups[FORMS];
    struct dti_buffer targets[FORMS];
};

static bool is_same(const struct dti_config_form *a, const struct dti_config_form *b)
{
    return strcmp(a->format, b->format) == 0 && strcmp(a->strategy, b->strategy) == 0 &&
           a->bits == b->bits && a->floats == b->floats && a->zero_points == b->zero_points &&
           a->inputs == b->inputs && a->ordered == b->ordered && a->group[0] == b->group[0] &&
           a->group[1] == b->group[1] && a->scale == b->scale;
}

/* Returns false if there are too many. */
static bool add_form(struct config_forms *forms, const struct dti_config_form *form,
                     const struct dti_tensor *tensor)
{
    size_t at = 0;
    while (at < forms->count && !is_same(&forms->groups[at].form, form))
        at++;
    if (at == FORMS)
        return false;
    if (at == forms->count) {
        forms->groups[at].form = *form;
        dti_buffer_init(&forms->targets[at]);
        forms->count++;
    }
    dti_config_add_module(&forms->targets[at], 8, tensor->name, tensor->name_length);
    return true;
}

/* Config groups of compressed-tensors: one for all modules, or several that list their modules. */
static void put_groups(const struct dti_file_transcode *transcode, const char *kept,
                       struct dti_buffer *ret, const char **ret_why)
{
    struct config_forms forms = {.count = 0};
    const size_t count = dti_file_dequant_container(transcode->dequant)->tensor_count;
    for (size_t i = 0; i < count && !*ret_why; i++) {
        const struct dti_dequant_found *const found = dti_transcode_found(transcode, i);
        struct dti_config_form form;
        if (!found)
            continue;
        if (!dti_file_transcode_verdict(transcode, i)->target->form)
            *ret_why = "integers and floats are in one checkpoint";
        else if (!dti_file_transcode_verdict(transcode, i)->target->form(found, &form))
            *ret_why = "its loaders have no module for some of the tensors";
        else if (!add_form(&forms, &form, found->shown))
            *ret_why = "the tensors are quantized in too many ways";
    }
    for (size_t i = 0; i < forms.count; i++) {
        dti_config_end_modules(&forms.targets[i], 8);
        forms.groups[i].targets = forms.count > 1 ? forms.targets[i].data : NULL;
        ret->failed = ret->failed || forms.targets[i].failed;
    }
    if (!*ret_why && forms.count > 0 && !ret->failed)
        dti_config_put_compressed(ret, forms.groups, forms.count, kept);
    for (size_t i = 0; i < forms.count; i++)
        dti_buffer_free(&forms.targets[i]);
}

/* Whether some quantized matrices stay unchanged. Scales of activations, which are not matrices, do
 * not count. */
static bool keeps_others(const struct dti_file_transcode *transcode)
{
    const struct dti_container *const numbers = dti_file_dequant_container(transcode->dequant);
    for (size_t i = 0; i < numbers->tensor_count; i++) {
        if (dti_dequant_state_of(transcode->dequant, i) != DTI_DEQUANT_PLAIN &&
            numbers->tensors[i].rank >= 2)
            return true;
    }
    return false;
}

enum dti_status dti_file_transcode_config(const struct dti_file_transcode *transcode,
                                          const char *kept, struct dti_config_texts *ret,
                                          const char **ret_why, struct dti_error *reterr)
{
    const size_t count = dti_file_dequant_container(transcode->dequant)->tensor_count;
    const struct dti_dequant_found **const all =
        dti_malloc((count + 1) * sizeof(const struct dti_dequant_found *));
    const struct dti_transcode_target *target = NULL;
    size_t used = 0;
    bool several = false;
    if (!all)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        if (!dti_transcode_found(transcode, i))
            continue;
        const struct dti_transcode_target *const own =
            dti_file_transcode_verdict(transcode, i)->target;
        several = several || (target && own->config != target->config);
        target = target && own->takes == DTI_TAKES_INTEGERS ? target : own;
        all[used++] = dti_transcode_found(transcode, i);
    }
    *ret_why = keeps_others(transcode)
                   ? "quantized tensors that are kept as they were are of another layout"
                   : NULL;
    if (*ret_why)
        used = 0;
    if (target && target->marks) {
        *ret_why = NULL;
        used = 0;
    }
    if (used > 0 && !several && !target->form)
        target->config(target, all, used, kept, ret, ret_why);
    else if (used > 0)
        put_groups(transcode, kept, &ret->value, ret_why);
    dti_free((void *)all);
    return ret->value.failed || ret->file.failed ? dti_no_memory(reterr) : DTI_OK;
}
