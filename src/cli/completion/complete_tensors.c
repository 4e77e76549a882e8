/* SPDX-License-Identifier: MIT
 *
 * Names of tensors as completion offers them: those of the first operand that is a container, with
 * a backslash before what a pattern would not take for itself. */
#include <string.h>

#include "cli/completion/completion.h"
#include "cli/shared/tensor_words.h"
#include "dtinfo/container.h"
#include "dtinfo/escape.h"
#include "dtinfo/glob.h"

enum { OFFERED = 300, DESCRIPTION = 224 };

/* Goes on behind the last comma that separates patterns. */
static void keep_patterns(struct dti_completion *c)
{
    if (c->kept_length == 0)
        c->kept = c->typed;
    for (;;) {
        const size_t length = dti_glob_list_item(c->typed);
        if (c->typed[length] == '\0')
            return;
        c->kept_length += length + 1;
        c->typed += length + 1;
    }
}

/* False for a name that no terminal should see, or that memory did not suffice for. */
static bool spell_pattern(struct dti_buffer *pattern, struct dti_buffer *safe,
                          const struct dti_tensor *tensor)
{
    dti_buffer_clear(safe);
    dti_escape(safe, tensor->name, tensor->name_length);
    if (safe->length != tensor->name_length ||
        memcmp(safe->data, tensor->name, tensor->name_length) != 0)
        return false;
    dti_buffer_clear(pattern);
    for (size_t i = 0; i < tensor->name_length; i++) {
        if (strchr("*?[\\,", tensor->name[i]))
            dti_buffer_append(pattern, "\\", 1);
        dti_buffer_append(pattern, &tensor->name[i], 1);
    }
    return !pattern->failed && !safe->failed;
}

static void offer_all(const struct dti_completion *c, const struct dti_container *container)
{
    struct dti_buffer pattern, safe;
    size_t offered = 0;
    dti_buffer_init(&pattern);
    dti_buffer_init(&safe);
    for (size_t i = 0; i < container->tensor_count && offered < OFFERED; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        char shape[DTI_SHAPE_SIZE], description[DESCRIPTION];
        if (!spell_pattern(&pattern, &safe, tensor))
            continue;
        (void)snprintf(description, sizeof description, "%.40s %s", dti_tensor_dtype(tensor),
                       dti_shape_words(shape, tensor));
        offered += dti_completion_offer(c, "", pattern.data, description);
    }
    dti_buffer_free(&pattern);
    dti_buffer_free(&safe);
}

void dti_complete_tensors(struct dti_completion *c, const char *const *operands, size_t count)
{
    struct dti_container *container;
    keep_patterns(c);
    for (size_t i = 0; i < count; i++) {
        if (!dti_container_is(operands[i]))
            continue;
        if (dti_container_open(&container, operands[i], NULL, NULL) == DTI_OK) {
            offer_all(c, container);
            dti_container_free(container);
        }
        return;
    }
}
